// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The receive engine: finds and verifies FPDUs in TCP's receive queue (RFC 5044
 * 4 and 6), and checks their segments (RFC 5041 7.1, RFC 5040 7.2).
 */
#include "rx.h"

#include <net/tcp.h>

#include "core/term.h"
#include "observe/trace.h"
#include "place.h"
#include "rx_msg.h"
#include "rx_series.h"
#include "sock.h"
#include "state.h"
#include "stream.h"

/* what the peer's next FPDU may be, by the hello */
static void set_version(struct tern_stream *s)
{
	s->rx.ddp.rv = tern_hello_rx_rv(&s->agree.hello);
	s->rx.ddp.sets = tern_hello_rx_sets(&s->agree.hello);
}

void tern_rx_init(struct tern_stream *s)
{
	const struct tern_mpa_params *p = &s->params;
	struct tern_rx *rx = &s->rx;

	tern_fpdu_rx_init(&rx->fpdu, p->crc, p->rx_markers);
	tern_ddp_rx_init(&rx->ddp, p->version);
	tern_series_end(&rx->series);
	rx->fence = !p->initiator;
	rx->rtr_accept = p->rtr_accept;
	set_version(s);
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
	struct tern_term_seg seg = { .rv = s->rx.ddp.rv };

	if (f) {
		seg.hdr = f->hdr;
		seg.hdr_len = f->hdr_len;
		seg.len = f->ulpdu_len;
	}
	count_error(s, term);
	if (term == TERN_TERM_DU_TOO_LONG && s->rx.seg.qn == TERN_QN_SEND)
		tern_rq_fail(&s->rq, IB_WC_LOC_LEN_ERR);
	tern_stream_error(s, term, f && TERN_TERM_LAYER(term) != 2 ? &seg : NULL);
	/* a Terminate goes out at once: at the event a ULP may abort the QP, as NFS does */
	s->rx.reply = true;
	tern_stream_async_event(s, error_event(term));
}

/* R6: the first FPDU with good CRC and markers opens the fence */
static void open_fence(struct tern_stream *s, const struct tern_fpdu *f, int term)
{
	/* F69: a Terminate does not open the fence: it has moved the stream to ERROR */
	if (!s->rx.fence || tern_stream_is_over(s))
		return;
	s->rx.fence = false;
	if (term == TERN_TERM_NONE)
		WRITE_ONCE(s->rx.rtr, tern_rx_rtr_of(&s->rx, f));
	s->rx.reply = true;
	tern_stream_opened(s);
}

/* for the Immediate Data that may follow a Write */
static void count_write(struct tern_rx *rx, const struct tern_seg *seg)
{
	if (seg->opcode != TERN_OP_WRITE)
		rx->write_len = 0;
	else if (rx->ddp.tagged_open)
		rx->write_len += seg->len;
	else
		rx->write_len = seg->len;
}

/* what this FPDU says of the peer: it is a hello, or no hello will come any more */
static void take_hello(struct tern_stream *s, const struct tern_seg *seg, bool whole)
{
	struct tern_hello *hello = &s->agree.hello;
	struct tern_hello_msg msg;
	bool is_hello = seg->opcode == TERN_OP_WRITE && whole && !seg->len &&
			tern_hello_parse(seg->stag, seg->to, &msg);

	tern_hello_fpdu(hello, is_hello ? &msg : NULL);
	set_version(s);
	/* an answer or a go is due, or an entry that waited may start */
	if (is_hello || s->agree.waiting)
		s->rx.reply = true;
}

/*
 * What a program waits for is news from its peer: Sends, and changes of its memory, which
 * it may poll. The peer's Reads change nothing here, and the Responses to its own
 * requests are seen in the CQ.
 */
#define NO_NEWS	(BIT(TERN_OP_READ_REQ) | BIT(TERN_OP_READ_REQ_V2) |		\
		 BIT(TERN_OP_READ_RESP) | BIT(TERN_OP_READ_RESP_V2) |		\
		 BIT(TERN_OP_ATOMIC_RESP))

/* a Send goes on in the buffer that it has, which is large enough */
static bool has_room(const struct tern_stream *s, const struct tern_seg *seg)
{
	u64 end = (u64)seg->mo + seg->len;

	return seg->qn == TERN_QN_SEND && !seg->first && s->rq.have_recv &&
	       end <= s->rq.recv.len && end <= U32_MAX;
}

static int check_segment(struct tern_stream *s, const struct tern_fpdu *f)
{
	const struct tern_ddp_rx *ddp = &s->rx.ddp;
	struct tern_seg *seg = &s->rx.seg;
	int term;

	if (tern_ddp_repeats(ddp, f->hdr, f->hdr_len, f->ulpdu_len, seg)) {
		if (seg->tagged || has_room(s, seg))
			return TERN_TERM_NONE;
		return tern_rx_take_buffer(s, seg);
	}
	term = tern_ddp_segment(ddp, f->hdr, f->hdr_len, f->ulpdu_len, seg);
	if (term == TERN_TERM_NONE && !seg->tagged)
		term = tern_rx_take_buffer(s, seg);
	if (term == TERN_TERM_NONE)
		term = tern_rdmap_segment(ddp, f->hdr, f->hdr_len, seg);
	return term;
}

static int handle_segment(struct tern_stream *s, const struct tern_fpdu *f)
{
	struct tern_rx *rx = &s->rx;
	struct tern_seg *seg = &rx->seg;
	int term = check_segment(s, f);
	bool whole;

	if (term != TERN_TERM_NONE)
		return term;
	trace_tern_fpdu_rx(s->qpn, seg->opcode, f->ulpdu_len, seg->last);
	/* the program may have waited for this: see is_batching() */
	if (!(BIT(seg->opcode) & NO_NEWS))
		WRITE_ONCE(s->sched.doorbells, 0);
	term = seg->opcode == TERN_OP_WRITE ? tern_place_write(s) :
					      tern_rx_message(s, f, seg);
	if (term != TERN_TERM_NONE)
		return term;
	whole = seg->last && !rx->ddp.tagged_open;
	count_write(rx, seg);
	tern_ddp_advance(&rx->ddp, seg);
	rx->messages += seg->last;
	if (s->agree.hello.state != TERN_HELLO_OVER)
		take_hello(s, seg, whole);
	if (seg->last)
		tern_series_end(&rx->series);
	else
		tern_rx_expect(s, f);
	return TERN_TERM_NONE;
}

/* an error of this end, that no RFC has a code for */
static void rx_local_error(struct tern_stream *s)
{
	tern_stream_error(s, TERN_TERM_MPA_LOCAL, NULL);
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
static noinline int parse_split(struct tern_rx *rx, struct tern_fpdu *f, int *term)
{
	u32 n = min_t(u32, tern_skb_cursor_avail(&rx->at), TERN_FPDU_PEEK);
	u8 front[TERN_FPDU_PEEK];

	if (tern_skb_cursor_copy(&rx->at, front, n) < n)
		return -EFAULT;
	return tern_fpdu_rx_header(&rx->fpdu, front, n, f, term);
}

/*
 * Return: 0: the FPDU at the cursor is whole; positive: wait until so many of its bytes
 * came; -EPROTO with @term set; -EFAULT: the CPU cannot read it
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
	return f->total;
}

static noinline bool pass_pieces(struct tern_rx *rx, struct tern_fpdu *f, int *term)
{
	struct tern_skb_cursor *at = &rx->at;
	u32 n, left = f->total;

	rx->whole = NULL;
	rx->payload = *at;
	if (!f->verify)
		return tern_skb_cursor_advance(at, left);
	while (left && at->left) {
		n = min(left, at->left);
		tern_fpdu_rx_verify(&rx->fpdu, f, at->data, n);
		tern_skb_cursor_step(at, n);
		left -= n;
		if (left)
			tern_skb_cursor_fill(at);
	}
	*term = tern_fpdu_rx_finish(&rx->fpdu, f);
	return !left;
}

/*
 * Move to the end of the FPDU, and verify it on the way; @term is set if a marker or its CRC
 * is bad. Return: it could be read
 */
static bool pass_fpdu(struct tern_rx *rx, struct tern_fpdu *f, int *term)
{
	if (rx->at.left < f->total || rx->fpdu.markers)
		return pass_pieces(rx, f, term);
	rx->whole = rx->at.data;
	if (!tern_fpdu_rx_is_good(&rx->fpdu, rx->whole, f->total))
		*term = TERN_TERM_MPA_CRC;
	tern_skb_cursor_step(&rx->at, f->total);
	return true;
}

static int take_fpdu(struct tern_stream *s, struct tern_fpdu *f, int term)
{
	if (term == TERN_TERM_NONE) {
		tern_stat_inc(s->stats, RX_FPDU);
		tern_stat_add(s->stats, RX_BYTES, f->total);
		tern_rx_charge(&s->rx, max(f->total, TERN_RX_LEAST));
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

	if (ret > 0) {
		rx->want = ret;
		return 0;
	}
	if (!ret) {
		if (pass_fpdu(rx, f, &term))
			return take_fpdu(s, f, term);
		ret = -EFAULT;
	}
	if (ret == -EFAULT)
		refuse_unreadable(s);
	else
		rx_error(s, term, NULL);
	return ret;
}

/* @len: bytes of the buffer that are left. Return: as handle_fpdu(), for one or more FPDUs */
static int next_fpdus(struct tern_stream *s, u32 len)
{
	struct tern_rx *rx = &s->rx;
	u32 taken = 0;

	/* most messages are one FPDU, for which a call would be too much */
	if (rx->at.left >= rx->series.total)
		taken = tern_rx_take_series(s, len);
	return taken ?: handle_fpdu(s);
}

/* Return: how many of @len bytes are of an FPDU that was handled */
static u32 pass_handled(struct tern_rx *rx, u32 len)
{
	u32 n = min(rx->skip, len);

	rx->skip -= n;
	return n;
}

/*
 * tcp_read_sock() offers the queue buffer by buffer. An FPDU that spans several
 * is checked and placed by looking ahead; its bytes are then consumed as they
 * are offered.
 */
static u32 take_skb(struct tern_stream *s, struct sk_buff *skb, u32 offset, u32 len)
{
	struct tern_rx *rx = &s->rx;
	u32 used = pass_handled(rx, len);
	int ret;

	while (used < len && rx->budget) {
		if (tern_stream_is_over(s)) {
			tern_stat_add(s->stats, RX_LATE, len - used);
			return len;
		}
		if (!tern_skb_cursor_is_at(&rx->at, TCP_SKB_CB(skb)->seq + offset + used))
			tern_skb_cursor_start(&rx->at, &s->sock->sk->sk_receive_queue,
					      skb, offset + used);
		tern_skb_cursor_fill(&rx->at);
		ret = next_fpdus(s, len - used);
		if (!ret)
			break;
		if (ret > 0) {
			rx->skip = ret;
			used += pass_handled(rx, len - used);
		}
	}
	tern_skb_cursor_park(&rx->at);
	return used;
}

/* one section for one buffer: what waits for a grace period waits for no more */
static int rx_actor(read_descriptor_t *desc, struct sk_buff *skb,
		    unsigned int offset, size_t len)
{
	struct tern_stream *s = desc->arg.data;
	u32 used;

	tern_rx_charge(&s->rx, TERN_RX_SKB);
	rcu_read_lock();
	tern_mem_slot_enter(&s->rx.slot, s->scope.keys);
	used = take_skb(s, skb, offset, len);
	rcu_read_unlock();
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
	s->rx.want = 1;
	s->rx.budget = TERN_RX_BUDGET;
	tern_sock_read_locked(s->sock, rx_actor, s);
	tern_sock_expect_locked(s->sock, s->rx.want);
	/* TCP has freed what was consumed, and may merge or drop the rest */
	tern_skb_cursor_reset(&s->rx.at);
	tern_rq_publish(&s->rq);
	s->rx.more = !s->rx.budget && tern_sock_pending_locked(s->sock);
	if (s->rx.more) {
		tern_stat_inc(s->stats, RX_MORE);
		tern_tx_sched_worker(s);
	} else {
		check_eof(s);
	}
}
