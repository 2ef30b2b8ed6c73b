// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Choose the next message of the send engine and build its headers (RFC 5040 4
 * and 5). Send queue entries that put nothing on the wire are executed here.
 */
#include "tx_msg.h"

#include <linux/random.h>

#include "core/rdmap.h"
#include "mem/fastreg.h"
#include "mem/scope.h"
#include "mem/sgl.h"
#include "mem/window.h"
#include "queue/sq.h"
#include "state.h"
#include "stream.h"

/*
 * The STag and TO of the RTR: any value is legal, RFC 5041 5.2: they "MUST NOT
 * be checked for a zero-length Tagged DDP Message".
 */
#define RTR_STAG	1
#define RTR_TO		1

/*
 * Entries of one burst that put nothing on the wire. Unlimited, a program that
 * adds them as fast as they are executed would keep the engine from sending.
 */
#define LOCALS_PER_BURST	64

/* an entry fails only after the burst built before it was sent and completed */
static bool failure_waits(struct tern_stream *s)
{
	s->tx.yielded = s->tx.burst.nr;
	return s->tx.yielded;
}

static bool sq_entry_failed(struct tern_stream *s, enum ib_wc_status status)
{
	struct tern_tx *tx = &s->tx;

	if (failure_waits(s))
		return false;
	tern_sq_started(&s->sq, &tx->wqe);
	tern_sq_done(&s->sq, tx->wqe.index, status);
	/* RFC 5040 7.1(1): the Terminate is "sent instead of the request" */
	tern_stream_error(s, TERN_TERM_LOCAL, NULL, 0, 0);
	return false;
}

/* the program wrote a bad entry, or a bad producer index */
static bool sq_broken(struct tern_stream *s, int err)
{
	if (failure_waits(s))
		return false;
	tern_stat_inc(s->stats, SQ_BAD_ENTRY);
	if (err == -EINVAL)
		return sq_entry_failed(s, IB_WC_LOC_QP_OP_ERR);
	tern_stream_error(s, TERN_TERM_LOCAL, NULL, 0, 0);
	return false;
}

static enum tern_rdmap_opcode send_opcode(const struct tern_wqe *wqe)
{
	bool inv = wqe->opcode == TERN_WR_SEND_WITH_INV;

	if (wqe->flags & TERN_WR_SOLICITED)
		return inv ? TERN_OP_SEND_SE_INV : TERN_OP_SEND_SE;
	return inv ? TERN_OP_SEND_INV : TERN_OP_SEND;
}

static void build_wqe_msg(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_wqe *wqe = &tx->wqe;
	struct tern_rdmap_version v = tern_rdmap_version_of(s->params.version);

	if (wqe->opcode == TERN_WR_RDMA_WRITE) {
		tern_rdmap_build_write(&tx->msg, v, wqe->rkey,
				       wqe->remote_addr, wqe->len);
		return;
	}
	tern_rdmap_build_send(&tx->msg, v, send_opcode(wqe),
			      wqe->opcode == TERN_WR_SEND_WITH_INV ? wqe->ex : 0,
			      tx->send_msn++, wqe->len);
}

/*
 * The sink of a Read is a random STag that is in no table: the Response that
 * names it is scattered to the entry's list. So the peer never learns a local
 * key.
 */
static void build_read(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_wqe *wqe = &tx->wqe;
	struct tern_read_out *out = tern_readq_out_next(&s->readq);
	struct tern_rdmap_version v = tern_rdmap_version_of(s->params.version);

	out->open = (struct tern_read_open) {
		.stag = get_random_u32() | 1,
		.len = wqe->len,
	};
	out->slot = wqe->index;
	out->hidden = false;
	out->msn = tx->read_msn;
	out->inv_stag = wqe->opcode == TERN_WR_READ_WITH_INV ? wqe->ex : 0;
	memcpy(out->sge, wqe->sge, wqe->num_sge * sizeof(wqe->sge[0]));
	out->sgl = (struct tern_sgl) { .sge = out->sge, .num = wqe->num_sge };
	tern_readq_out_push(&s->readq);
	tern_rdmap_build_read_req(&tx->msg, v, tx->read_msn++,
				  out->open.stag, 0, wqe->len, wqe->rkey,
				  wqe->remote_addr);
}

static bool stall_queue(struct tern_stream *s)
{
	s->tx.stalled = true;
	return false;
}

static bool is_read(const struct tern_wqe *wqe)
{
	return wqe->opcode == TERN_WR_RDMA_READ ||
	       wqe->opcode == TERN_WR_READ_WITH_INV;
}

static bool start_read(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;

	if (!s->readq.ord)
		return sq_entry_failed(s, IB_WC_LOC_QP_OP_ERR);
	/* after the peer's FIN no Response comes: the flush completes this */
	if (s->rx.eof || tern_readq_out_full(&s->readq))
		return stall_queue(s);
	if (tern_sgl_check(&s->scope, wqe->sge, wqe->num_sge,
			   TERN_USE_LOCAL_WRITE))
		return sq_entry_failed(s, IB_WC_LOC_PROT_ERR);
	build_read(s);
	return true;
}

/*
 * Must the list be checked before the headers are built? A payload of one FPDU
 * with nothing before it in the burst is checked when it is read:
 * payload_failed() has the same effect then.
 */
static bool must_check_first(const struct tern_stream *s)
{
	const struct tern_tx *tx = &s->tx;

	return !(tx->wqe.flags & TERN_WR_INLINE) &&
	       (tx->burst.nr || tx->wqe.len > tx->fpdu.mulpdu - TERN_HDR_MAX);
}

static bool start_payload(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;

	if (must_check_first(s) &&
	    tern_sgl_check(&s->scope, wqe->sge, wqe->num_sge,
			   TERN_USE_LOCAL_READ))
		return sq_entry_failed(s, IB_WC_LOC_PROT_ERR);
	build_wqe_msg(s);
	return true;
}

static bool is_local(const struct tern_wqe *wqe)
{
	return wqe->opcode == TERN_WR_LOCAL_INV ||
	       wqe->opcode == TERN_WR_BIND_MW ||
	       wqe->opcode == TERN_WR_REG_MR;
}

static int bind_window(struct tern_stream *s, const struct tern_wqe *wqe)
{
	struct tern_bind bind = {
		.key = wqe->rkey,
		.region = wqe->ex,
		.to = wqe->remote_addr,
		.len = wqe->length,
		.access = wqe->access,
	};
	int ret = tern_window_bind(&s->scope, &bind);

	if (!ret)
		tern_stat_inc(s->stats, MW_BIND);
	return ret;
}

static int change_memory(struct tern_stream *s, const struct tern_wqe *wqe)
{
	switch (wqe->opcode) {
	case TERN_WR_LOCAL_INV:
		return tern_mem_invalidate_local(&s->scope, wqe->ex);
	case TERN_WR_BIND_MW:
		return bind_window(s, wqe);
	default:
		return tern_fastreg_register(&s->scope, wqe->ex, wqe->rkey,
					     wqe->remote_addr, wqe->access);
	}
}

/* execute an entry that puts nothing on the wire, in SQ order */
static bool run_local(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;

	if (change_memory(s, wqe))
		return sq_entry_failed(s, IB_WC_MW_BIND_ERR);
	tern_sq_started(&s->sq, wqe);
	tern_sq_done(&s->sq, wqe->index, IB_WC_SUCCESS);
	s->tx.burst_head = s->sq.head;
	/* no burst to wait for: complete it now */
	if (!s->tx.burst.nr)
		tern_sq_sent(&s->sq, s->sq.head);
	return true;
}

/* start the message of the fetched entry: false when it failed or must wait */
static bool start_wqe_msg(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;

	if (!(is_read(&tx->wqe) ? start_read(s) : start_payload(s)))
		return false;
	tern_sq_started(&s->sq, &tx->wqe);
	tx->source = TERN_TX_WQE;
	tx->sgl = (struct tern_sgl) { .sge = tx->wqe.sge, .num = tx->wqe.num_sge };
	tx->prefer_wqe = false;
	return true;
}

/* a CLOSING stream sends what was posted before; a failed one sends nothing */
static bool may_start_wqe(const struct tern_stream *s)
{
	if (s->state == QP_RTS)
		return true;
	return s->state == QP_CLOSING && s->sq.head != s->sq.stop;
}

static bool start_wqe(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	int ret;

	while (may_start_wqe(s)) {
		tx->yielded = tx->locals == LOCALS_PER_BURST;
		if (tx->yielded)
			return false;
		ret = tern_sq_fetch(&s->sq, &tx->wqe);
		if (ret == -ENOENT)
			return false;
		if (ret)
			return sq_broken(s, ret);
		if (tx->wqe.flags & TERN_WR_FENCE && s->readq.out_count)
			return stall_queue(s);
		if (!is_local(&tx->wqe))
			return start_wqe_msg(s);
		tx->locals++;
		if (!run_local(s))
			return false;
	}
	return false;
}

static bool start_response(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_read_in *rd = tern_readq_in_first(&s->readq);
	struct tern_rdmap_version v = tern_rdmap_version_of(s->params.version);

	if (!rd)
		return false;
	tern_rdmap_build_read_resp(&tx->msg, v, rd->sink_stag,
				   rd->sink_to, rd->size);
	tx->source = TERN_TX_RESPONSE;
	tx->prefer_wqe = true;
	return true;
}

static bool start_rtr(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_rdmap_version v = tern_rdmap_version_of(s->params.version);
	struct tern_read_out *out;

	switch (tx->rtr) {
	case TERN_MPA_RTR_WRITE:
		tern_rdmap_build_write(&tx->msg, v, RTR_STAG, RTR_TO, 0);
		break;
	case TERN_MPA_RTR_SEND:
		tern_rdmap_build_send(&tx->msg, v, TERN_OP_SEND, 0,
				      tx->send_msn++, 0);
		break;
	default:
		out = tern_readq_out_next(&s->readq);
		memset(out, 0, sizeof(*out));
		out->hidden = true;
		out->msn = tx->read_msn;
		out->open.stag = RTR_STAG;
		out->open.to = RTR_TO;
		tern_readq_out_push(&s->readq);
		tern_rdmap_build_read_req(&tx->msg, v, tx->read_msn++,
					  RTR_STAG, RTR_TO, 0, RTR_STAG,
					  RTR_TO);
	}
	tx->rtr = TERN_MPA_RTR_NONE;
	tx->source = TERN_TX_RTR;
	return true;
}

static bool start_terminate(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_rdmap_version v = tern_rdmap_version_of(s->params.version);
	struct tern_term_seg seg = {
		.hdr = tx->term_hdr,
		.hdr_len = tx->term_hdr_len,
		.len = tx->term_seg_len,
		.rv = s->rx.ddp.rv,
	};

	if (tx->term_code == TERN_TERM_NONE || tx->term_sent)
		return false;
	tern_rdmap_build_terminate(&tx->msg, v, tx->term_code, &seg);
	tx->source = TERN_TX_TERMINATE;
	return true;
}

/*
 * RFC 5044 7.1.2(4): a responder "MUST receive and validate at least one FPDU
 * before sending any FPDUs".
 */
bool tern_tx_start_message(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;

	tx->stalled = false;
	tx->yielded = false;
	if (s->state == QP_TERMINATE)
		return start_terminate(s);
	if (s->state != QP_RTS && s->state != QP_CLOSING)
		return false;
	if (tx->rtr)
		return start_rtr(s);
	if (s->rx.fence)
		return stall_queue(s);
	if (tx->prefer_wqe)
		return start_wqe(s) || start_response(s);
	return start_response(s) || start_wqe(s);
}
