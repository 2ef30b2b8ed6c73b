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
#include "tx_reply.h"

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
	tern_stream_error(s, TERN_TERM_LOCAL, NULL);
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
	tern_stream_error(s, TERN_TERM_LOCAL, NULL);
	return false;
}

struct tern_rdmap_version tern_tx_version(const struct tern_stream *s)
{
	return (struct tern_rdmap_version) {
		.dv = s->params.version,
		.rv = tern_hello_tx_rv(&s->agree.hello),
	};
}

static bool has_inv(const struct tern_wqe *wqe)
{
	return wqe->opcode == TERN_WR_SEND_WITH_INV ||
	       wqe->opcode == TERN_WR_SEND_WITH_INV_IMM;
}

static bool is_send_imm(const struct tern_wqe *wqe)
{
	return wqe->opcode == TERN_WR_SEND_WITH_IMM ||
	       wqe->opcode == TERN_WR_SEND_WITH_INV_IMM;
}

static enum tern_rdmap_opcode send_opcode(const struct tern_wqe *wqe)
{
	static const u8 opcodes[2][2][2] = {	/* [immediate][solicited][invalidate] */
		{ { TERN_OP_SEND, TERN_OP_SEND_INV },
		  { TERN_OP_SEND_SE, TERN_OP_SEND_SE_INV } },
		{ { TERN_OP_SEND_IMM, TERN_OP_SEND_INV_IMM },
		  { TERN_OP_SEND_SE_IMM, TERN_OP_SEND_SE_INV_IMM } },
	};
	bool se = wqe->flags & TERN_WR_SOLICITED;

	return opcodes[is_send_imm(wqe)][se][has_inv(wqe)];
}

static void build_send(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_wqe *wqe = &tx->wqe;
	struct tern_rdmap_version v = tern_tx_version(s);
	u32 inv_stag = has_inv(wqe) ? wqe->ex : 0;

	if (is_send_imm(wqe))
		tern_rdmap_build_send_imm(&tx->msg, v, send_opcode(wqe), inv_stag,
					  tx->send_msn++, wqe->len, wqe->imm);
	else
		tern_rdmap_build_send(&tx->msg, v, send_opcode(wqe), inv_stag,
				      tx->send_msn++, wqe->len);
}

/* RFC 7306 6: Immediate Data, alone or after the Write of the same entry */
static void build_imm(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_wqe *wqe = &tx->wqe;

	tern_rdmap_build_imm(&tx->msg, tern_tx_version(s),
			     wqe->flags & TERN_WR_SOLICITED ? TERN_OP_IMM_SE : TERN_OP_IMM,
			     tx->send_msn++, wqe->imm);
}

/* a Write of nothing that looks like a hello is sent with another TO */
static void build_write(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;
	u64 to = wqe->remote_addr;

	if (!wqe->len)
		to = tern_hello_ulp_to(wqe->rkey, to);
	tern_rdmap_build_write(&s->tx.msg, tern_tx_version(s), wqe->rkey, to, wqe->len);
}

static void build_wqe_msg(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;
	bool with_imm = wqe->opcode == TERN_WR_WRITE_WITH_IMM;

	if (with_imm && !wqe->len) {
		build_imm(s);
	} else if (with_imm || wqe->opcode == TERN_WR_RDMA_WRITE) {
		s->tx.imm_follows = with_imm;
		build_write(s);
	} else {
		build_send(s);
	}
}

/* the second message of a Write with Immediate: nothing may come in between */
static noinline bool start_imm(struct tern_stream *s)
{
	s->tx.imm_follows = false;
	build_imm(s);
	s->tx.source = TERN_TX_WQE;
	return true;
}

/* the slot of an entry that waits for its Response */
static struct tern_read_out *push_request(struct tern_stream *s, enum tern_open_kind kind)
{
	struct tern_wqe *wqe = &s->tx.wqe;
	struct tern_read_out *out = tern_readq_out_next(&s->readq);

	out->open = (struct tern_read_open) { .kind = kind, .len = wqe->len };
	out->slot = wqe->index;
	out->hidden = false;
	out->msn = s->tx.read_msn++;
	out->inv_stag = wqe->opcode == TERN_WR_READ_WITH_INV ? wqe->ex : 0;
	memcpy(out->sge, wqe->sge, wqe->num_sge * sizeof(wqe->sge[0]));
	tern_sgl_start(&out->sgl, out->sge, wqe->num_sge);
	tern_readq_out_push(&s->readq);
	return out;
}

/*
 * The sink of a Read is a random STag that is in no table: the Response that
 * names it is scattered to the entry's list. So the peer never learns a local
 * key. In version 2 no sink is named.
 */
static void build_read(struct tern_stream *s)
{
	struct tern_rdmap_version v = tern_tx_version(s);
	struct tern_tx *tx = &s->tx;
	struct tern_wqe *wqe = &tx->wqe;
	struct tern_read_out *out;

	if (v.rv == TERN_HELLO_RV2) {
		out = push_request(s, TERN_OPEN_READ_V2);
		tern_rdmap_build_read_req_v2(&tx->msg, v, out->msn, wqe->len, wqe->rkey,
					     wqe->remote_addr);
		return;
	}
	out = push_request(s, TERN_OPEN_READ);
	out->open.stag = get_random_u32() | 1;
	tern_rdmap_build_read_req(&tx->msg, v, out->msn, out->open.stag, 0, wqe->len,
				  wqe->rkey, wqe->remote_addr);
}

static void build_atomic(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;
	struct tern_read_out *out = push_request(s, TERN_OPEN_ATOMIC);
	struct tern_atomic a = {
		.op = wqe->opcode == TERN_WR_CMP_SWAP ? TERN_ATOMIC_CMP_SWAP :
							TERN_ATOMIC_FETCH_ADD,
		.id = out->msn,
		.stag = wqe->rkey,
		.to = wqe->remote_addr,
		.data = wqe->args.data,
		.data_mask = wqe->args.data_mask,
		.compare = wqe->args.compare,
		.compare_mask = wqe->args.compare_mask,
	};

	out->open.id = a.id;
	tern_rdmap_build_atomic_req(&s->tx.msg, tern_tx_version(s), out->msn, &a);
}

static bool stall_queue(struct tern_stream *s)
{
	s->tx.stalled = true;
	return false;
}

/* a Read or an atomic: both take one of the peer's inbound slots */
static noinline bool start_request(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;

	if (!s->readq.ord)
		return sq_entry_failed(s, IB_WC_LOC_QP_OP_ERR);
	/* after the peer's FIN no Response comes: the flush completes this */
	if (s->rx.eof || tern_readq_out_full(&s->readq))
		return stall_queue(s);
	if (tern_sgl_check(&s->scope, &s->tx.slot, wqe->sge, wqe->num_sge,
			   TERN_USE_LOCAL_WRITE))
		return sq_entry_failed(s, IB_WC_LOC_PROT_ERR);
	if (wqe->row->atomic)
		build_atomic(s);
	else
		build_read(s);
	return true;
}

/*
 * Must the list be checked before the headers are built? A payload of one FPDU is checked
 * when it is read, and so is all of an element when it is opened: nothing of their message was
 * sent before, unless the MSS has shrunk since.
 */
static bool must_check_first(const struct tern_tx *tx)
{
	return tx->wqe.num_sge > 1 && tx->wqe.len > tx->fpdu.mulpdu - TERN_HDR_MAX;
}

static bool start_payload(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;

	if (must_check_first(&s->tx) &&
	    tern_sgl_check(&s->scope, &s->tx.slot, wqe->sge, wqe->num_sge,
			   TERN_USE_LOCAL_READ))
		return sq_entry_failed(s, IB_WC_LOC_PROT_ERR);
	build_wqe_msg(s);
	return true;
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
static noinline bool run_local(struct tern_stream *s)
{
	struct tern_wqe *wqe = &s->tx.wqe;

	if (change_memory(s, wqe))
		return sq_entry_failed(s, IB_WC_MW_BIND_ERR);
	tern_sq_started(&s->sq, wqe);
	tern_sq_done(&s->sq, wqe->index, IB_WC_SUCCESS);
	s->tx.burst_head = s->sq.head;
	/* no burst to wait for: complete it now, unless older entries are to complete first */
	if (!s->tx.burst.nr) {
		tern_sq_sent(&s->sq, s->sq.head);
		if (s->sq.tail == wqe->index)
			tern_stream_complete(s);
	}
	return true;
}

/* start the message of the fetched entry: false when it failed or must wait */
static bool start_wqe_msg(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;

	if (!(tx->wqe.row->response ? start_request(s) : start_payload(s)))
		return false;
	tern_sq_started(&s->sq, &tx->wqe);
	tx->source = TERN_TX_WQE;
	tern_sgl_start(&tx->sgl, tx->wqe.sge, tx->wqe.num_sge);
	tx->prefer_wqe = false;
	return true;
}

/*
 * Send the hello that is due in front of a ULP's message or, without @ulp, of any. On most
 * connections none is left: a call would be too much for each message.
 */
static noinline bool start_due_hello(struct tern_stream *s, bool ulp)
{
	struct tern_tx *tx = &s->tx;
	struct tern_hello_msg hello;

	if (!(ulp ? tern_hello_before_ulp(&s->agree.hello, &hello) :
		    tern_hello_next(&s->agree.hello, &hello)))
		return false;
	tern_rdmap_build_write(&tx->msg, tern_tx_version(s), TERN_HELLO_STAG,
			       tern_hello_to(&hello), 0);
	tx->hello_role = hello.role;
	tx->source = TERN_TX_HELLO;
	return true;
}

static bool may_have_hello(const struct tern_stream *s)
{
	return s->agree.hello.state != TERN_HELLO_OVER;
}

/* a Read of nothing, which no entry waits for */
static bool start_hidden_read(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_read_out *out = tern_readq_out_next(&s->readq);

	memset(out, 0, sizeof(*out));
	out->hidden = true;
	out->msn = tx->read_msn++;
	out->open.stag = RTR_STAG;
	out->open.to = RTR_TO;
	tern_readq_out_push(&s->readq);
	tern_rdmap_build_read_req(&tx->msg, tern_tx_version(s), out->msn, RTR_STAG,
				  RTR_TO, 0, RTR_STAG, RTR_TO);
	tx->source = TERN_TX_RTR;
	return true;
}

/* a CLOSING stream sends what was posted before; a failed one sends nothing */
static bool may_start_wqe(const struct tern_stream *s)
{
	if (s->state == QP_RTS)
		return true;
	return s->state == QP_CLOSING && s->sq.head != s->sq.stop;
}

/* the entry at the head of the queue is one that only some peers take */
static noinline bool wait_for_hello(struct tern_stream *s)
{
	if (!tern_agree_wants_probe(s))
		return stall_queue(s);
	s->agree.probed = true;
	return start_hidden_read(s);
}

static bool start_entry(struct tern_stream *s)
{
	if (may_have_hello(s) && start_due_hello(s, true))
		return true;
	if (s->tx.wqe.row->set != TERN_OPS_BASE) {
		switch (tern_agree_may_send(s, &s->tx.wqe)) {
		case TERN_HELLO_YES:
			break;
		case TERN_HELLO_NO:
			return sq_entry_failed(s, IB_WC_LOC_QP_OP_ERR);
		default:
			return wait_for_hello(s);
		}
	}
	return start_wqe_msg(s);
}

static bool start_wqe(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	int ret;

	while (may_start_wqe(s)) {
		tx->yielded = tx->locals == LOCALS_PER_BURST;
		if (tx->yielded) {
			/* that was a turn */
			tx->prefer_wqe = false;
			return false;
		}
		ret = tern_sq_fetch(&s->sq, &tx->wqe);
		if (ret == -ENOENT)
			return false;
		if (ret)
			return sq_broken(s, ret);
		if (tx->wqe.flags & TERN_WR_FENCE && s->readq.out_count)
			return stall_queue(s);
		if (!tx->wqe.row->local)
			return start_entry(s);
		tx->locals++;
		if (!run_local(s))
			return false;
	}
	return false;
}

static noinline bool start_rtr(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	u8 rtr = tx->rtr;

	tx->rtr = TERN_MPA_RTR_NONE;
	tx->source = TERN_TX_RTR;
	switch (rtr) {
	case TERN_MPA_RTR_WRITE:
		if (start_due_hello(s, false))
			return true;
		tern_rdmap_build_write(&tx->msg, tern_tx_version(s), RTR_STAG, RTR_TO, 0);
		return true;
	case TERN_MPA_RTR_SEND:
		tern_rdmap_build_send(&tx->msg, tern_tx_version(s), TERN_OP_SEND, 0,
				      tx->send_msn++, 0);
		return true;
	default:
		return start_hidden_read(s);
	}
}

static noinline bool start_terminate(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;

	if (tx->term_code == TERN_TERM_NONE || tx->term_sent)
		return false;
	tern_rdmap_build_terminate(&tx->msg, tern_tx_version(s), tx->term_code,
				   tx->term_seg.hdr_len ? &tx->term_seg : NULL);
	tx->source = TERN_TX_TERMINATE;
	return true;
}

/*
 * RFC 5044 7.1.2(4): a responder "MUST receive and validate at least one FPDU
 * before sending any FPDUs". A FIN is none: a close does not wait, unless entries do. In
 * the peer-to-peer model the FPDU is on its way, and iw_cm waits for it.
 */
static bool wait_for_fence(struct tern_stream *s)
{
	if (s->params.p2p || may_start_wqe(s))
		return stall_queue(s);
	return false;
}

bool tern_tx_start_message(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	bool wqe_first;

	if (s->state == QP_TERMINATE)
		return start_terminate(s);
	if (s->state != QP_RTS && s->state != QP_CLOSING)
		return false;
	if (tx->rtr)
		return start_rtr(s);
	if (s->rx.fence)
		return wait_for_fence(s);
	if (tx->imm_follows)
		return start_imm(s);
	if (may_have_hello(s) && start_due_hello(s, false))
		return true;
	wqe_first = !s->readq.in_count || tx->prefer_wqe;
	if (!wqe_first && tern_tx_start_response(s))
		return true;
	if (!tx->yielded && start_wqe(s))
		return true;
	/*
	 * An entry that fails waits for the burst, and no Response begins before it: the burst
	 * would end inside the Response, and the entry wait until the peer asks for no more.
	 */
	return !tx->yielded && wqe_first && s->readq.in_count && tern_tx_start_response(s);
}
