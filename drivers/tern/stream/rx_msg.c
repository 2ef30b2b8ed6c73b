// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * What the receive engine does with a checked segment: the buffer that it needs, its
 * placement and its delivery (RFC 5040 5, RFC 7306 5 and 6, RDMAP version 2).
 */
#include "rx_msg.h"

#include "core/mem_check.h"
#include "core/read_open.h"
#include "core/term.h"
#include "mem/map.h"
#include "mem/scope.h"
#include "mem/stags.h"
#include "observe/trace.h"
#include "queue/srq.h"
#include "place.h"
#include "state.h"
#include "stream.h"

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
	tern_sgl_start(&s->rx.sgl, s->rq.recv.sge, s->rq.recv.num_sge);
	return TERN_TERM_NONE;
}

/* Q7: the RTR Send uses MSN 1, but no receive entry */
static inline bool is_rtr_send(const struct tern_stream *s, const struct tern_seg *seg)
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
	return is_rtr_read(s) || !tern_readq_in_full(&s->readq, false);
}

/* our oldest request, if it waits for its Response, or NULL */
static const struct tern_read_open *first_open(struct tern_stream *s)
{
	struct tern_read_out *out = tern_readq_out_first(&s->readq);

	return out ? &out->open : NULL;
}

static int take_send_buffer(struct tern_stream *s, const struct tern_seg *seg)
{
	int term;

	if (is_rtr_send(s, seg))
		return TERN_TERM_NONE;
	term = take_recv(s, seg);
	if (term != TERN_TERM_NONE)
		return term;
	return tern_ddp_untagged(&s->rx.ddp, seg, s->rq.have_recv, s->rq.recv.len);
}

int tern_rx_take_buffer(struct tern_stream *s, const struct tern_seg *seg)
{
	const struct tern_ddp_rx *ddp = &s->rx.ddp;
	const struct tern_read_open *open;
	u64 len;

	if (seg->qn == TERN_QN_SEND)
		return take_send_buffer(s, seg);
	switch (tern_ddp_slot(seg, &len)) {
	case TERN_SLOT_READ:
		return tern_ddp_untagged(ddp, seg, have_read_slot(s), len);
	case TERN_SLOT_ATOMIC:
		return tern_ddp_untagged(ddp, seg,
					 !tern_readq_in_full(&s->readq, true), len);
	case TERN_SLOT_RESPONSE:
		open = first_open(s);
		return tern_ddp_untagged(ddp, seg, open, tern_response_room(open, seg));
	default:
		return tern_ddp_untagged(ddp, seg, true, len);
	}
}

/*
 * The RTR that this FPDU is (F64: an empty Write or Read that was listed; F65: an
 * empty Send), or NONE.
 */
u8 tern_rx_rtr_of(const struct tern_rx *rx, const struct tern_fpdu *f)
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

/* ---- messages ----------------------------------------------------------- */

/* check the STag to invalidate for each segment, before placement (RFC 5040 7.2) */
static noinline int check_invalidate(struct tern_stream *s, const struct tern_seg *seg)
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

static u16 recvd_flags(const struct tern_op_row *row)
{
	u16 flags = 0;

	if (row->has_inv)
		flags |= TERN_CQE_WITH_INV;
	if (row->imm)
		flags |= TERN_CQE_WITH_IMM;
	if (row->solicited)
		flags |= TERN_CQE_SOLICITED;
	return flags;
}

static noinline int deliver_send(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_recvd recvd = {
		.opcode = TERN_WR_RECV,
		.flags = recvd_flags(seg->row),
		.byte_len = seg->mo + seg->len,
		.imm = seg->imm,
	};

	if (seg->row->has_inv) {
		if (tern_mem_invalidate_remote(&s->scope, seg->inv_stag))
			return TERN_TERM_RP_CANT_INV;
		recvd.inv_stag = seg->inv_stag;
	}
	tern_rq_complete(&s->rq, &recvd);
	return TERN_TERM_NONE;
}

/*
 * RFC 7306 1.1 leaves it to the ULPs whether its opcodes are used. Kernel ULPs that expect
 * Sends look at no opcode: they would take what their buffer held before, or the length
 * of the Write, for a message of the peer. RTRS, which uses Immediate Data, posts entries
 * without a buffer for it at its server. (At its client it may post buffers; it cannot
 * run here for other reasons, see Documentation/decisions.rst.)
 */
static bool expects_send(const struct tern_stream *s)
{
	return !s->ctx && s->rq.recv.num_sge;
}

/*
 * RFC 7306 6: with a Write directly before it, Immediate Data makes an RDMA Write with
 * Immediate, and its completion tells the length of that Write.
 */
static noinline int handle_imm(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_recvd recvd = {
		.opcode = TERN_WR_RECV_IMM,
		.flags = recvd_flags(seg->row),
		.byte_len = s->rx.write_len,
		.imm = seg->imm,
	};

	if (expects_send(s))
		return TERN_TERM_RO_OPCODE;
	tern_rq_complete(&s->rq, &recvd);
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

/*
 * A Response has come: an entry that waited for an ORD slot or a fence may start, or CLOSING is
 * at its end. Most often nothing waits, and a run would find nothing.
 */
static void go_on_sending(struct tern_stream *s)
{
	if (s->tx.stalled || s->state != QP_RTS || tern_sq_pending(&s->sq))
		s->rx.reply = true;
	else
		tern_tx_rest(s);
}

static noinline int read_done(struct tern_stream *s, struct tern_read_out *out)
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
	tern_stream_complete(s);
	go_on_sending(s);
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

/* queue 3: @seg fits the oldest request, which is of its kind */
static int handle_response(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_read_out *out = tern_readq_out_first(&s->readq);
	int ret = 0, term;

	term = tern_response_match(out ? &out->open : NULL, seg);
	if (term != TERN_TERM_NONE)
		return term;
	/* the value before the atomic: in the byte order of this host (RFC 7306 5.1) */
	if (seg->opcode == TERN_OP_ATOMIC_RESP)
		ret = tern_sgl_write(&s->scope, &s->rx.slot, &out->sgl,
				     &seg->aresp.old, sizeof(seg->aresp.old));
	else if (seg->len)
		ret = tern_place_sgl(s, &s->scope, &out->sgl);
	if (ret) {
		tern_sq_done(&s->sq, out->slot, IB_WC_LOC_PROT_ERR);
		return TERN_TERM_LOCAL;
	}
	out->open.got += seg->len;
	return seg->last ? read_done(s, out) : TERN_TERM_NONE;
}

/*
 * iw_cm gives a QP the rights to be read and written, and has no word for atomics: a QP
 * with both rights has that one.
 */
static u32 qp_rights(const struct tern_stream *s)
{
	const u32 both = TERN_ACCESS_REMOTE_READ | TERN_ACCESS_REMOTE_WRITE;
	u32 access = READ_ONCE(s->access);

	return (access & both) == both ? access | TERN_ACCESS_REMOTE_ATOMIC : access;
}

/* RFC 5040 7.2(4), RFC 7306 8.2; the Response checks again */
static int check_source(struct tern_stream *s, const struct tern_read_in *rd)
{
	bool atomic = rd->kind == TERN_OPEN_ATOMIC;
	struct tern_mem_slot *slot = &s->rx.slot;
	struct tern_mem_view view;

	if (!rd->src.length)
		return TERN_TERM_NONE;
	tern_mem_peek(slot, &s->scope, rd->src.lkey, s->scope.stream);
	view = slot->view;
	view.access &= qp_rights(s);
	if (!atomic && tern_mem_allows(&view, TERN_ACCESS_REMOTE_READ, rd->src.addr,
				       rd->src.length))
		return TERN_TERM_NONE;
	if (atomic)
		view.skew = tern_mem_skew(&slot->map);
	return tern_mem_check(&view, atomic ? TERN_USE_ATOMIC : TERN_USE_READ_SRC,
			      rd->src.addr, rd->src.length);
}

/* a Request, in the order of its arrival: RFC 7306 7 */
static int push_request(struct tern_stream *s, struct tern_read_in *rd)
{
	const struct tern_fpdu *f = &s->rx.cur;
	int term = check_source(s, rd);

	if (term != TERN_TERM_NONE)
		return term;
	rd->msn = s->rx.seg.msn;
	rd->seg_len = f->ulpdu_len;
	memcpy(&rd->hdr, f->hdr, sizeof(rd->hdr));
	tern_readq_in_push(&s->readq);
	s->rx.reply = true;
	return TERN_TERM_NONE;
}

static noinline int handle_read_req(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_read_in *rd = tern_readq_in_next(&s->readq);
	int term;

	rd->kind = seg->opcode == TERN_OP_READ_REQ ? TERN_OPEN_READ : TERN_OPEN_READ_V2;
	rd->sink_stag = seg->rreq.sink_stag;
	rd->sink_to = seg->rreq.sink_to;
	rd->src.lkey = seg->rreq.src_stag;
	rd->src.addr = seg->rreq.src_to;
	rd->src.length = seg->rreq.size;
	term = push_request(s, rd);
	if (term == TERN_TERM_NONE)
		s->readq.in_rtr |= is_rtr_read(s);
	return term;
}

static noinline int handle_atomic_req(struct tern_stream *s, const struct tern_seg *seg)
{
	struct tern_read_in *rd = tern_readq_in_next(&s->readq);

	rd->kind = TERN_OPEN_ATOMIC;
	rd->src.lkey = seg->atomic.stag;
	rd->src.addr = seg->atomic.to;
	rd->src.length = TERN_ATOMIC_LEN;
	rd->atomic = seg->atomic;
	return push_request(s, rd);
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
static noinline void handle_terminate(struct tern_stream *s, const struct tern_fpdu *f,
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

int tern_rx_message(struct tern_stream *s, const struct tern_fpdu *f,
		    const struct tern_seg *seg)
{
	switch (seg->opcode) {
	case TERN_OP_READ_REQ:
	case TERN_OP_READ_REQ_V2:
		return handle_read_req(s, seg);
	case TERN_OP_READ_RESP:
		return handle_read_resp(s, seg);
	case TERN_OP_ATOMIC_REQ:
		return handle_atomic_req(s, seg);
	case TERN_OP_ATOMIC_RESP:
	case TERN_OP_READ_RESP_V2:
		return handle_response(s, seg);
	case TERN_OP_IMM:
	case TERN_OP_IMM_SE:
		return handle_imm(s, seg);
	case TERN_OP_TERMINATE:
		handle_terminate(s, f, seg);
		return TERN_TERM_NONE;
	default:
		return handle_send(s, seg);
	}
}
