// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The send engine: builds FPDUs of the message in progress into a burst, hands
 * it to TCP and completes what was sent (RFC 5041 5.2, RFC 5044 4 and 5.1).
 */
#include "tx.h"

#include "core/mem_check.h"
#include "core/rdmap.h"
#include "core/term.h"
#include "mem/map.h"
#include "mem/scope.h"
#include "mem/sgl.h"
#include "mem/stags.h"
#include "observe/trace.h"
#include "queue/sq.h"
#include "sock.h"
#include "state.h"
#include "stream.h"
#include "tx_msg.h"
#include "tx_reply.h"

void tern_tx_init(struct tern_stream *s, u32 mss)
{
	struct tern_tx *tx = &s->tx;

	tern_fpdu_tx_init(&tx->fpdu, s->params.crc, s->params.tx_markers,
			  mss);
	tx->send_msn = 1;
	tx->read_msn = 1;
	tx->resp_msn = 1;
	tx->term_code = TERN_TERM_NONE;
	tx->rtr = s->params.rtr;
}

void tern_tx_end(struct tern_stream *s)
{
	/* TCP may be reading it: the run that called TCP drops it */
	if (!s->tx.active)
		tern_burst_reset(&s->tx.burst);
}

/* ---- building FPDUs ----------------------------------------------------- */

/* copy payload of the message, from @done on; TERN_TERM_NONE or the error */
static inline int read_payload(struct tern_stream *s, u32 done, u8 *dst, u32 len)
{
	struct tern_tx *tx = &s->tx;
	struct tern_wqe *wqe = &tx->wqe;

	if (tern_sgl_is_open(&tx->sgl, &tx->slot, len)) {
		tern_sgl_read_open(&tx->slot, &tx->sgl, dst, len);
		return TERN_TERM_NONE;
	}
	if (tx->source == TERN_TX_RESPONSE)
		return tern_tx_read_response(s, dst, len);
	if (wqe->flags & TERN_WR_INLINE) {
		memcpy(dst, wqe->inl + done, len);
		return TERN_TERM_NONE;
	}
	if (tern_sgl_read(&s->scope, &tx->slot, &tx->sgl, dst, len))
		return TERN_TERM_LOCAL;
	return TERN_TERM_NONE;
}

/* the common case: contiguous memory for the whole FPDU, whose headers have @len bytes */
static int emit_whole(struct tern_stream *s, u8 *fpdu, u32 len, u32 done)
{
	struct tern_fpdu_tx *tx = &s->tx.fpdu;
	u32 run;

	while ((run = tern_fpdu_tx_run(tx))) {
		int term = read_payload(s, done, fpdu + len, run);

		if (term != TERN_TERM_NONE)
			return term;
		len += run;
		len += tern_fpdu_tx_payload(tx, run, fpdu + len);
		done += run;
	}
	tern_fpdu_tx_finish(tx, fpdu, len);
	return TERN_TERM_NONE;
}

static int emit_payload(struct tern_stream *s, struct tern_burst_pos *pos,
			u32 done)
{
	struct tern_tx *tx = &s->tx;
	u8 marker[TERN_MARKER_SIZE];
	u32 run, len;

	while ((run = tern_fpdu_tx_run(&tx->fpdu))) {
		u32 room;
		u8 *dst = tern_burst_at(&tx->burst, pos, &room);
		int term;

		run = min(run, room);
		term = read_payload(s, done, dst, run);
		if (term != TERN_TERM_NONE)
			return term;
		tern_burst_advance(&tx->burst, pos, run);
		len = tern_fpdu_tx_payload(&tx->fpdu, run, marker);
		if (len)
			tern_burst_write(&tx->burst, pos, marker, len);
		done += run;
	}
	return TERN_TERM_NONE;
}

/* sum the @len bytes from @pos on, as they will be sent */
static void sum_fpdu(struct tern_tx *tx, struct tern_burst_pos pos, u32 len)
{
	while (len) {
		u32 room;
		const u8 *data = tern_burst_at(&tx->burst, &pos, &room);
		u32 n = min(len, room);

		tern_fpdu_tx_sum(&tx->fpdu, data, n);
		tern_burst_advance(&tx->burst, &pos, n);
		len -= n;
	}
}

/* an FPDU of @size bytes at @start, whose headers have @len bytes */
static noinline int emit_split(struct tern_stream *s, const struct tern_burst_pos *start,
			       u32 size, u32 len, u32 done)
{
	struct tern_burst_pos pos = *start;
	struct tern_tx *tx = &s->tx;
	u8 tail[TERN_FPDU_TX_TAIL];
	int term;

	tern_burst_advance(&tx->burst, &pos, len);
	term = emit_payload(s, &pos, done);
	if (term != TERN_TERM_NONE)
		return term;
	if (tern_fpdu_pad(tx->fpdu.ulpdu_len))
		tern_burst_write(&tx->burst, &pos, tail, tern_fpdu_tx_pad(&tx->fpdu, tail));
	if (tx->fpdu.crc)
		sum_fpdu(tx, *start, size - TERN_FPDU_CRC_SIZE);
	tern_burst_write(&tx->burst, &pos, tail, tern_fpdu_tx_end(&tx->fpdu, tail));
	return TERN_TERM_NONE;
}

static void payload_failed(struct tern_stream *s, int term, u32 done)
{
	struct tern_tx *tx = &s->tx;
	enum tern_tx_source source = tx->source;

	/* the rest of the message is not sent: a Terminate follows */
	tx->source = TERN_TX_NONE;
	if (source == TERN_TX_RESPONSE) {
		tern_tx_response_failed(s, term, done);
		return;
	}
	tern_sq_done(&s->sq, tx->wqe.index, IB_WC_LOC_PROT_ERR);
	tern_stream_error(s, term, NULL);
}

/*
 * An entry fails only after the burst built before it was sent and completed. Its list is
 * checked when it is read, but for several elements in several FPDUs: see must_check_first().
 */
static bool failure_waits(struct tern_tx *tx, u32 done)
{
	if (tx->source != TERN_TX_WQE || done || !tx->burst.nr)
		return false;
	tern_tx_msg_rewind(&tx->msg);
	tern_sgl_rewind(&tx->sgl);
	return true;
}

/*
 * Add the next FPDU of the message, of @size bytes. Return: 0; -ENOMEM; -EAGAIN: try
 * again with an empty burst; -EFAULT: the message has failed
 */
static int emit_fpdu(struct tern_stream *s, u32 size)
{
	struct tern_tx *tx = &s->tx;
	u32 len, room = size, was = tx->fpdu.pos, done = tx->msg.sent;
	u8 *fpdu = tern_burst_extend(&tx->burst, size);
	struct tern_burst_pos start;
	int term;

	if (!fpdu) {
		fpdu = tern_burst_reserve(&tx->burst, size, &start, &room);
		if (!fpdu)
			return -ENOMEM;
	}
	len = tern_fpdu_tx_begin(&tx->fpdu, &tx->msg, fpdu);
	term = room >= size ? emit_whole(s, fpdu, len, done) :
			      emit_split(s, &start, size, len, done);
	if (term != TERN_TERM_NONE) {
		tern_burst_trim(&tx->burst, size);
		tx->fpdu.pos = was;
		if (failure_waits(tx, done))
			return -EAGAIN;
		payload_failed(s, term, done);
		return -EFAULT;
	}
	tern_stat_inc(s->stats, TX_FPDU);
	trace_tern_fpdu_tx(s->qpn, tx->msg.hdr[1] & TERN_RDMAP_OPCODE_MASK_V2,
			   tx->fpdu.ulpdu_len, tern_tx_msg_done(&tx->msg));
	return 0;
}

static void message_done(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;

	tx->messages++;
	switch (tx->source) {
	case TERN_TX_WQE:
		if (!tx->imm_follows)
			tx->burst_head = tx->wqe.index + 1;
		break;
	case TERN_TX_RESPONSE:
		tern_readq_in_pop(&s->readq);
		break;
	case TERN_TX_HELLO:
		tern_hello_sent(&s->agree.hello, tx->hello_role);
		break;
	case TERN_TX_TERMINATE:
		tx->term_sent = true;
		tern_stat_inc(s->stats, TX_TERMINATE);
		trace_tern_term_tx(s->qpn, tx->term_code,
				   tern_term_name(tx->term_code));
		break;
	default:
		break;
	}
	tx->source = TERN_TX_NONE;
}

/* inline, without a call: after a lone message there is most often none */
static inline bool may_have_message(const struct tern_stream *s)
{
	const struct tern_sq *sq = &s->sq;
	const struct tern_tx *tx = &s->tx;

	return sq->known != sq->head || READ_ONCE(sq->q.hdr->prod) != sq->head ||
	       s->readq.in_count || tx->imm_follows || tx->rtr || s->rx.fence ||
	       s->state != QP_RTS || s->agree.hello.state != TERN_HELLO_OVER;
}

/*
 * Fill the burst; it may stay empty. Return: 0 when nothing more is due, 1 when
 * more may be, or -ENOMEM. Context: rcu_read_lock() held, for @slot.
 */
static int fill_burst(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_burst *b = &tx->burst;
	u32 size;
	int ret;

	tx->burst_head = s->sq.sent;
	tx->locals = 0;
	tx->stalled = false;
	tx->yielded = false;
	tx->fpdu.mulpdu = tern_agree_mulpdu(s);
	for (;;) {
		if (tx->source == TERN_TX_NONE &&
		    (!may_have_message(s) || !tern_tx_start_message(s)))
			return tx->yielded;
		size = tern_fpdu_tx_next(&tx->fpdu, &tx->msg);
		if (b->nr && b->len + size > TERN_BURST_BYTES)
			return 1;
		ret = emit_fpdu(s, size);
		if (ret == -EFAULT)
			continue;
		if (ret)
			return b->nr ? 1 : ret;
		if (tern_tx_msg_done(&tx->msg))
			message_done(s);
	}
}

/* ---- sending ------------------------------------------------------------ */

static void burst_done(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;

	tern_stat_add(s->stats, TX_BYTES, tx->burst.len);
	tern_stat_inc(s->stats, TX_BURST);
	tern_burst_reset(&tx->burst);
	/* a burst of Responses alone completes no entry */
	if (tx->burst_head != s->sq.sent) {
		tern_sq_sent(&s->sq, tx->burst_head);
		tern_stream_complete(s);
	}
	if (tx->term_sent) {
		s->terms.sent = tx->term_code;
		tern_stream_step(s, QP_EV_TERM_SENT);
	}
}

/* 0 when no burst is left, -EAGAIN when TCP is full, or the socket's error */
static int send_burst(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_burst *b = &tx->burst;
	bool more = tx->source != TERN_TX_NONE;
	int n;

	if (!b->nr)
		return 0;
	while (b->sent < b->len) {
		/* the error would end the stream; the worker takes what TCP has received first */
		if (s->rx.more && tern_sock_dead_locked(s->sock))
			return -EAGAIN;
		n = tern_sock_send_locked(s->sock, b->bv, b->nr, b->sent,
					  b->len - b->sent, more);
		if (n < 0)
			return n;
		b->sent += n;
	}
	burst_done(s);
	return 0;
}

static bool is_drained(const struct tern_stream *s)
{
	const struct tern_tx *tx = &s->tx;

	if (tx->source != TERN_TX_NONE || tx->imm_follows || s->readq.in_count)
		return false;
	/* after the peer's FIN no Response comes */
	return s->rx.eof || (!tx->stalled && !s->readq.out_count);
}

void tern_tx_rest(struct tern_stream *s)
{
	/* reading the clock costs: skip it unless batching may begin */
	if (READ_ONCE(s->sched.doorbells))
		WRITE_ONCE(s->tx.idle_at, tern_tx_now());
}

/*
 * Nothing is due. A stalled entry needs no doorbell: the event that it waits
 * for runs the engine.
 */
static bool go_idle(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;

	if (s->state == QP_CLOSING && is_drained(s)) {
		tern_stream_step(s, QP_EV_DRAINED);
		return true;
	}
	if (s->state != QP_RTS || tx->stalled)
		return true;
	tern_tx_rest(s);
	return tern_tx_go_idle(s);
}

/* FIN_WAIT and ERROR send nothing; IDLE has no connection */
static bool may_send(const struct tern_stream *s)
{
	return s->state == QP_RTS || s->state == QP_CLOSING ||
	       s->state == QP_TERMINATE;
}

/*
 * Each pass counts against @bursts, even if an entry failed or sent nothing. @sent: a pass
 * had something to send.
 */
static enum tern_tx_result send_all(struct tern_stream *s, u32 *bursts, bool *sent)
{
	struct tern_tx *tx = &s->tx;
	enum tern_qp_state state;
	int ret, more;

	do {
		/* after a burst of an earlier run, more may be due by now */
		more = 1;
		if (!tx->burst.nr) {
			if (!tern_sock_writable_locked(s->sock)) {
				tern_stat_inc(s->stats, TX_FULL);
				return TERN_TX_IDLE;
			}
			rcu_read_lock();
			tern_mem_slot_enter(&tx->slot, s->scope.keys);
			more = fill_burst(s);
			rcu_read_unlock();
			if (more < 0)
				return TERN_TX_NOMEM;
		}
		*sent |= tx->burst.nr;
		state = s->state;
		ret = send_burst(s);
		if (ret == -EAGAIN)
			return TERN_TX_IDLE;
		if (ret) {
			tern_stream_step(s, QP_EV_RESET);
			return TERN_TX_IDLE;
		}
		--*bursts;
		/* TCP may have delivered data that changed the state */
		if (!more && s->state == state && go_idle(s))
			return TERN_TX_IDLE;
		/* the peer's Terminate may have come */
		if (!may_send(s))
			return TERN_TX_IDLE;
	} while (*bursts);
	/* else local entries, an atomic without a turn, or entries hidden for a moment */
	return *sent ? TERN_TX_MORE : TERN_TX_LOCAL;
}

enum tern_tx_result tern_tx_run(struct tern_stream *s, u32 bursts)
{
	struct tern_tx *tx = &s->tx;
	/* the kernel's own entries are trusted */
	bool sent = !s->ctx;
	enum tern_tx_result result;

	tern_stream_assert_locked(s);
	if (tx->active) {
		tx->again = true;
		return TERN_TX_IDLE;
	}
	if (!may_send(s))
		return TERN_TX_IDLE;
	tx->active = true;
	if (s->state == QP_RTS)
		tern_sq_set_busy(&s->sq);
	do {
		tx->again = false;
		result = send_all(s, &bursts, &sent);
		if (result != TERN_TX_IDLE || !tx->again || !may_send(s))
			break;
		result = TERN_TX_MORE;
	} while (bursts);
	tern_burst_leave(&tx->burst);
	tx->active = false;
	if (s->state == QP_ERROR)
		tern_tx_end(s);
	return result;
}
