// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The receive engine: finds and verifies FPDUs in TCP's receive queue (RFC 5044
 * 4 and 6), checks their segments (RFC 5041 7.1, RFC 5040 7.2), places them and
 * delivers messages (RFC 5040 5).
 */
#include "rx.h"

#include <net/tcp.h>

#include "core/mem_check.h"
#include "core/read_open.h"
#include "core/term.h"
#include "mem/map.h"
#include "mem/scope.h"
#include "mem/stags.h"
#include "observe/trace.h"
#include "queue/srq.h"
#include "place.h"
#include "sock.h"
#include "state.h"
#include "stream.h"

void tern_rx_init(struct tern_stream *s)
{
	const struct tern_mpa_params *p = &s->params;
	struct tern_rx *rx = &s->rx;

	tern_fpdu_rx_init(&rx->fpdu, p->crc, p->rx_markers);
	tern_ddp_rx_init(&rx->ddp, p->version);
	rx->fence = !p->initiator;
	rx->rtr_accept = p->rtr_accept;
}

/* ---- buffers ------------------------------------------------------------ */

/* the program wrote a bad receive entry */
static int recv_broken(struct tern_stream *s, int err)
{
	tern_stat_inc(s->stats, RQ_BAD_ENTRY);
	if (err == -EINVAL)
		tern_rq_fail(&s->rq, IB_WC_LOC_QP_OP_ERR);
	return TERN_TERM_LOCAL;
}

/* QN 0: the first segment of a message takes an entry */
static int take_recv(struct tern_stream *s, const struct tern_seg *seg)
{
	int ret;

	if (!seg->first || s->rq.have_recv)
		return TERN_TERM_NONE;
	ret = tern_rq_take(&s->rq);
	if (ret == -ENOENT) {
		tern_stat_inc(s->stats, RX_NO_BUFFER);
		return TERN_TERM_NONE;
	}
	if (ret)
		return recv_broken(s, ret);
	s->rx.sgl = (struct tern_sgl) {
		.sge = s->rq.recv.sge,
		.num = s->rq.recv.num_sge,
	};
	return TERN_TERM_NONE;
}

/* Q7: the RTR Send uses MSN 1, but no receive entry */
static bool is_rtr_send(const struct tern_stream *s, const struct tern_seg *seg)
{
	return s->rx.fence && s->rx.rtr_accept & BIT(TERN_MPA_RTR_SEND) &&
	       seg->opcode == TERN_OP_SEND && !seg->tagged &&
	       seg->qn == TERN_QN_SEND && seg->last && !seg->len && !seg->mo;
}

/* is a Read Request of size 0? It is not checked yet and may be truncated */
static bool reads_nothing(const struct tern_fpdu *f)
{
	const u32 ddp_len = sizeof(struct tern_ddp_untagged);
	const struct tern_read_req *rreq = (const void *)(f->hdr + ddp_len);

	return f->hdr_len >= ddp_len + sizeof(*rreq) && !rreq->size;
}

/* is this FPDU, a Read Request, the RTR? Plain peers send one unasked */
static bool is_rtr_read(const struct tern_stream *s)
{
	return s->rx.fence && s->rx.rtr_accept & BIT(TERN_MPA_RTR_READ) &&
	       reads_nothing(&s->rx.cur);
}

/* Q7: the RTR Read has a slot beyond the IRD */
static bool have_read_slot(const struct tern_stream *s)
{
	return is_rtr_read(s) || !tern_readq_in_full(&s->readq);
}

/* RFC 5041 7.1: an untagged segment has a buffer, and fits into it */
static int take_buffer(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_rx *rx = &s->rx;
	int term;

	switch (seg->qn) {
	case TERN_QN_SEND:
		if (is_rtr_send(s, seg))
			return TERN_TERM_NONE;
		term = take_recv(s, seg);
		if (term != TERN_TERM_NONE)
			return term;
		return tern_ddp_untagged(&rx->ddp, seg, s->rq.have_recv,
					 s->rq.recv.len);
	case TERN_QN_READ_REQ:
		return tern_ddp_untagged(&rx->ddp, seg, have_read_slot(s),
					 sizeof(struct tern_read_req));
	default:
		return tern_ddp_untagged(&rx->ddp, seg, true,
					 TERN_TERMINATE_MAX);
	}
}

/* ---- messages ----------------------------------------------------------- */

/* check the STag to invalidate for each segment, before placement (RFC 5040 7.2) */
static int check_invalidate(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_mem_view view;
	struct tern_mem_map map;
	int term;

	rcu_read_lock();
	tern_mem_find(s->scope.keys, seg->inv_stag, &map);
	tern_mem_view(&map, s->scope.pd, s->scope.stream, &view);
	term = tern_mem_check(&view, TERN_USE_INVALIDATE, 0, 0);
	rcu_read_unlock();
	return term;
}

static int deliver_send(struct tern_stream *s, const struct tern_seg *seg)
{
	u32 flags = 0;

	if (seg->row->has_inv) {
		if (tern_mem_invalidate_remote(&s->scope, seg->inv_stag))
			return TERN_TERM_RP_CANT_INV;
		flags |= TERN_CQE_WITH_INV;
	}
	if (seg->row->solicited)
		flags |= TERN_CQE_SOLICITED;
	tern_rq_complete(&s->rq, IB_WC_SUCCESS, seg->mo + seg->len, flags,
			 seg->row->has_inv ? seg->inv_stag : 0);
	return TERN_TERM_NONE;
}

static int handle_send(struct tern_stream *s, const struct tern_seg *seg)
{
	int term = TERN_TERM_NONE;

	if (is_rtr_send(s, seg))
		return TERN_TERM_NONE;
	if (seg->row->has_inv)
		term = check_invalidate(s, seg);
	if (term != TERN_TERM_NONE)
		return term;
	if (seg->len && tern_place_sgl(s, &s->recv_scope, &s->rx.sgl)) {
		tern_rq_fail(&s->rq, IB_WC_LOC_PROT_ERR);
		return TERN_TERM_LOCAL;
	}
	return seg->last ? deliver_send(s, seg) : TERN_TERM_NONE;
}

static int read_done(struct tern_stream *s, struct tern_read_out *out)
{
	if (!out->hidden) {
		if (out->inv_stag &&
		    tern_mem_invalidate_local(&s->scope, out->inv_stag)) {
			tern_sq_done(&s->sq, out->slot, IB_WC_LOC_PROT_ERR);
			return TERN_TERM_LOCAL;
		}
		tern_sq_done(&s->sq, out->slot, IB_WC_SUCCESS);
	}
	tern_readq_out_pop(&s->readq);
	tern_sq_complete(&s->sq);
	/* an ORD slot is free, or a fenced entry may start */
	s->rx.reply = true;
	return TERN_TERM_NONE;
}

static int handle_read_resp(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_read_out *out = tern_readq_out_first(&s->readq);
	int term;

	term = tern_read_match(out ? &out->open : NULL, seg);
	if (term != TERN_TERM_NONE)
		return term;
	if (seg->len && tern_place_sgl(s, &s->scope, &out->sgl)) {
		tern_sq_done(&s->sq, out->slot, IB_WC_LOC_PROT_ERR);
		return TERN_TERM_LOCAL;
	}
	out->open.got += seg->len;
	return seg->last ? read_done(s, out) : TERN_TERM_NONE;
}

/* RFC 5040 7.2(4); read_response() checks the source again when it reads */
static int check_read_source(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_mem_view view;
	struct tern_mem_map map;
	int term;

	if (!seg->rreq.size)
		return TERN_TERM_NONE;
	rcu_read_lock();
	tern_mem_find(s->scope.keys, seg->rreq.src_stag, &map);
	tern_mem_view(&map, s->scope.pd, s->scope.stream, &view);
	view.access &= s->access;
	term = tern_mem_check(&view, TERN_USE_READ_SRC, seg->rreq.src_to,
			      seg->rreq.size);
	rcu_read_unlock();
	return term;
}

static int handle_read_req(struct tern_stream *s, const struct tern_seg *seg)
{
	int term = check_read_source(s, seg);
	struct tern_read_in rd = {
		.sink_stag = seg->rreq.sink_stag,
		.sink_to = seg->rreq.sink_to,
		.src_stag = seg->rreq.src_stag,
		.src_to = seg->rreq.src_to,
		.size = seg->rreq.size,
		.msn = seg->msn,
	};

	if (term != TERN_TERM_NONE)
		return term;
	tern_readq_in_push(&s->readq, &rd);
	s->readq.in_rtr |= is_rtr_read(s);
	s->rx.reply = true;
	return TERN_TERM_NONE;
}

/* the open Read that a Terminate's copied headers name, or NULL */
static struct tern_read_out *find_failed_read(struct tern_stream *s,
					      const struct tern_term_info *info)
{
	struct tern_readq *readq = &s->readq;
	u32 i, msn;

	if (!tern_term_names_read(info, &msn))
		return NULL;
	for (i = 0; i < readq->out_count; i++) {
		struct tern_read_out *out = tern_readq_out_at(readq, i);

		if (out->msn == msn && !out->hidden)
			return out;
	}
	return NULL;
}

static enum ib_wc_status term_status(int code)
{
	if (code == TERN_TERM_RO_OPCODE)
		return IB_WC_REM_INV_REQ_ERR;
	if (TERN_TERM_LAYER(code) == 0 && TERN_TERM_ETYPE(code) == 1)
		return IB_WC_REM_ACCESS_ERR;
	return IB_WC_REM_OP_ERR;
}

/* fail the Read that the Terminate names, else the oldest entry; then flush */
static void handle_terminate(struct tern_stream *s, const struct tern_fpdu *f,
			     const struct tern_seg *seg)
{
	struct tern_term_info info;
	struct tern_read_out *out;

	tern_stat_inc(s->stats, RX_TERMINATE);
	if (tern_term_parse(f->hdr + sizeof(struct tern_ddp_untagged), seg->len,
			    &info))
		info.code = TERN_TERM_RO_UNSPEC;
	trace_tern_term_rx(s->qpn, info.code, tern_term_name(info.code));
	s->terms.received = info.code;
	s->sq.vendor_err = info.code;
	out = find_failed_read(s, &info);
	if (out)
		tern_sq_done(&s->sq, out->slot, term_status(info.code));
	else
		tern_sq_fail_oldest(&s->sq, IB_WC_REM_OP_ERR);
	tern_stream_step(s, QP_EV_TERM_RX);
	/* RFC 5040 5.4: "The RDMAP layer MUST Deliver the Terminate Message to the ULP" */
	tern_stream_async_event(s, IB_EVENT_QP_FATAL);
}

static int handle_message(struct tern_stream *s, const struct tern_fpdu *f,
			  const struct tern_seg *seg)
{
	switch (seg->opcode) {
	case TERN_OP_WRITE:
		return tern_place_write(s);
	case TERN_OP_READ_REQ:
		return handle_read_req(s, seg);
	case TERN_OP_READ_RESP:
		return handle_read_resp(s, seg);
	case TERN_OP_TERMINATE:
		handle_terminate(s, f, seg);
		return TERN_TERM_NONE;
	default:
		return handle_send(s, seg);
	}
}

/* ---- FPDUs -------------------------------------------------------------- */

static void count_error(struct tern_stream *s, int term)
{
	if (term == TERN_TERM_MPA_CRC)
		tern_stat_inc(s->stats, RX_CRC_ERR);
	else if (TERN_TERM_LAYER(term) == 2)
		tern_stat_inc(s->stats, RX_MARKER_ERR);
	else if (TERN_TERM_LAYER(term) == 1)
		tern_stat_inc(s->stats, RX_DDP_ERR);
	else
		tern_stat_inc(s->stats, RX_RDMAP_ERR);
}

/* error type 1: RDMAP's Remote Protection, or DDP's Tagged Buffer Error */
static enum ib_event_type error_event(int term)
{
	if (TERN_TERM_LAYER(term) == 2 || TERN_TERM_ETYPE(term) == 0)
		return IB_EVENT_QP_FATAL;
	return TERN_TERM_ETYPE(term) == 1 ? IB_EVENT_QP_ACCESS_ERR :
					    IB_EVENT_QP_REQ_ERR;
}

/*
 * RFC 5044 8: after an error MPA "MUST NOT pass or deliver any additional FPDUs
 * on that half connection" (MPA-130).
 */
static void rx_error(struct tern_stream *s, int term, const struct tern_fpdu *f)
{
	count_error(s, term);
	if (term == TERN_TERM_DU_TOO_LONG && s->rx.seg.qn == TERN_QN_SEND)
		tern_rq_fail(&s->rq, IB_WC_LOC_LEN_ERR);
	if (f && TERN_TERM_LAYER(term) != 2)
		tern_stream_error(s, term, f->hdr, f->hdr_len, f->ulpdu_len);
	else
		tern_stream_error(s, term, NULL, 0, 0);
	tern_stream_async_event(s, error_event(term));
}

/*
 * The RTR that this FPDU is (F64: an empty Write or Read that was listed; F65: an
 * empty Send), or NONE.
 */
static u8 rtr_of(const struct tern_rx *rx, const struct tern_fpdu *f)
{
	u8 rtr = TERN_MPA_RTR_NONE;

	switch (f->hdr[1] & TERN_RDMAP_OPCODE_MASK) {
	case TERN_OP_WRITE:
		if (f->ulpdu_len == sizeof(struct tern_ddp_tagged))
			rtr = TERN_MPA_RTR_WRITE;
		break;
	case TERN_OP_READ_REQ:
		if (reads_nothing(f))
			rtr = TERN_MPA_RTR_READ;
		break;
	case TERN_OP_SEND:
		if (f->ulpdu_len == sizeof(struct tern_ddp_untagged))
			rtr = TERN_MPA_RTR_SEND;
		break;
	}
	return rx->rtr_accept & BIT(rtr) ? rtr : TERN_MPA_RTR_NONE;
}

/* R6: the first FPDU with good CRC and markers opens the fence */
static void open_fence(struct tern_stream *s, const struct tern_fpdu *f, int term)
{
	/* F69: a Terminate does not open the fence: it has moved the stream to ERROR */
	if (!s->rx.fence || tern_stream_is_over(s))
		return;
	s->rx.fence = false;
	if (term == TERN_TERM_NONE)
		WRITE_ONCE(s->rx.rtr, rtr_of(&s->rx, f));
	s->rx.reply = true;
	tern_stream_opened(s);
}

static int handle_segment(struct tern_stream *s, const struct tern_fpdu *f)
{
	struct tern_rx *rx = &s->rx;
	struct tern_seg *seg = &rx->seg;
	int term;

	term = tern_ddp_segment(&rx->ddp, f->hdr, f->hdr_len, f->ulpdu_len,
				seg);
	if (term == TERN_TERM_NONE && !seg->tagged)
		term = take_buffer(s, seg);
	if (term == TERN_TERM_NONE)
		term = tern_rdmap_segment(&rx->ddp, f->hdr, f->hdr_len, seg);
	if (term != TERN_TERM_NONE)
		return term;
	trace_tern_fpdu_rx(s->qpn, seg->opcode, f->ulpdu_len, seg->last);
	/* the program may have waited for this: see is_batching() */
	if (seg->opcode != TERN_OP_READ_REQ && seg->opcode != TERN_OP_READ_RESP)
		WRITE_ONCE(s->sched.doorbells, 0);
	term = handle_message(s, f, seg);
	if (term == TERN_TERM_NONE)
		tern_ddp_advance(&rx->ddp, seg);
	return term;
}

/* an error of this end, that no RFC has a code for */
static void rx_local_error(struct tern_stream *s)
{
	tern_stream_error(s, TERN_TERM_MPA_LOCAL, NULL, 0, 0);
	tern_stream_async_event(s, IB_EVENT_QP_FATAL);
}

/* the NIC put payload into a device's memory, or see can_follow() in skb_cursor.c */
static void refuse_unreadable(struct tern_stream *s)
{
	tern_stat_inc(s->stats, RX_UNREADABLE);
	rx_local_error(s);
}

/*
 * The front of the next FPDU is not contiguous, or not complete. An FPDU with less than
 * TERN_FPDU_PEEK bytes in front of what cannot be read is refused with that.
 */
static int parse_split(struct tern_rx *rx, struct tern_fpdu *f, int *term)
{
	u32 n = min_t(u32, tern_skb_cursor_avail(&rx->at), TERN_FPDU_PEEK);
	u8 front[TERN_FPDU_PEEK];

	if (tern_skb_cursor_copy(&rx->at, front, n) < n)
		return -EFAULT;
	return tern_fpdu_rx_header(&rx->fpdu, front, n, f, term);
}

/*
 * Return: 0: the FPDU at the cursor is whole; positive: wait; -EPROTO with @term set;
 * -EFAULT: the CPU cannot read it
 */
static int find_fpdu(struct tern_stream *s, struct tern_fpdu *f, int *term)
{
	struct tern_rx *rx = &s->rx;
	int ret = tern_fpdu_rx_header(&rx->fpdu, rx->at.data, rx->at.left, f, term);

	if (ret > 0)
		ret = parse_split(rx, f, term);
	if (ret)
		return ret;
	if (rx->at.left >= f->total || tern_skb_cursor_avail(&rx->at) >= f->total)
		return 0;
	tern_sock_expect_locked(s->sock, f->total);
	return f->total;
}

/* move to the end of the FPDU; verify it on the way. Return: it could be read */
static bool pass_fpdu(struct tern_rx *rx, struct tern_fpdu *f)
{
	struct tern_skb_cursor *at = &rx->at;
	u32 n, left = f->total;

	if (!f->verify)
		return tern_skb_cursor_advance(at, left);
	while (left && at->left) {
		n = min(left, at->left);
		tern_fpdu_rx_verify(&rx->fpdu, f, at->data, n);
		tern_skb_cursor_advance(at, n);
		left -= n;
	}
	return !left;
}

static int take_fpdu(struct tern_stream *s, struct tern_fpdu *f)
{
	int term = tern_fpdu_rx_finish(&s->rx.fpdu, f);

	if (term == TERN_TERM_NONE) {
		tern_stat_inc(s->stats, RX_FPDU);
		tern_stat_add(s->stats, RX_BYTES, f->total);
		term = handle_segment(s, f);
		open_fence(s, f, term);
	}
	if (term == TERN_TERM_NONE)
		return f->total;
	rx_error(s, term, f);
	return -EPROTO;
}

/* Return: bytes of the FPDU at the cursor, 0: wait, negative: the stream is over */
static int handle_fpdu(struct tern_stream *s)
{
	struct tern_rx *rx = &s->rx;
	struct tern_fpdu *f = &rx->cur;
	int term = TERN_TERM_NONE;
	int ret = find_fpdu(s, f, &term);

	if (ret > 0)
		return 0;
	if (!ret) {
		rx->payload = rx->at;
		if (pass_fpdu(rx, f))
			return take_fpdu(s, f);
		ret = -EFAULT;
	}
	if (ret == -EFAULT)
		refuse_unreadable(s);
	else
		rx_error(s, term, NULL);
	return ret;
}

/*
 * tcp_read_sock() offers the queue buffer by buffer. An FPDU that spans several
 * is checked and placed by looking ahead; its bytes are then consumed as they
 * are offered.
 */
static int rx_actor(read_descriptor_t *desc, struct sk_buff *skb,
		    unsigned int offset, size_t len)
{
	struct tern_stream *s = desc->arg.data;
	struct tern_rx *rx = &s->rx;
	u32 used = 0;
	int ret;

	while (used < len) {
		if (tern_stream_is_over(s)) {
			tern_stat_add(s->stats, RX_LATE, len - used);
			rx->skip = 0;
			return len;
		}
		if (rx->skip) {
			u32 n = min_t(u32, rx->skip, len - used);

			rx->skip -= n;
			used += n;
			continue;
		}
		if (!tern_skb_cursor_is_at(&rx->at, TCP_SKB_CB(skb)->seq + offset + used))
			tern_skb_cursor_start(&rx->at, &s->sock->sk->sk_receive_queue,
					      skb, offset + used);
		ret = handle_fpdu(s);
		if (!ret)
			break;
		if (ret > 0)
			rx->skip = ret;
	}
	return used;
}

/* RFC 5044 7.2, 8: a FIN between FPDUs is a graceful close, in one an error */
static void check_eof(struct tern_stream *s)
{
	struct tern_rx *rx = &s->rx;

	if (rx->eof || !tern_sock_fin_seen_locked(s->sock))
		return;
	rx->eof = true;
	if (tern_sock_pending_locked(s->sock) && !tern_stream_is_over(s))
		tern_stream_step(s, QP_EV_RESET);
	else
		tern_stream_step(s, QP_EV_PEER_CLOSE);
}

/*
 * RFC 5044 does not mention TCP's urgent pointer, so an urgent byte may or may
 * not belong to an FPDU: end the stream.
 */
static void refuse_urgent(struct tern_stream *s)
{
	tern_stat_inc(s->stats, RX_URGENT);
	rx_local_error(s);
}

void tern_rx_run(struct tern_stream *s)
{
	tern_stream_assert_locked(s);
	if (tern_sock_take_urgent_locked(s->sock) && !tern_stream_is_over(s))
		refuse_urgent(s);
	tern_sock_read_locked(s->sock, rx_actor, s);
	/* TCP has freed what was consumed, and may merge or drop the rest */
	tern_skb_cursor_reset(&s->rx.at);
	tern_rq_publish(&s->rq);
	check_eof(s);
}
