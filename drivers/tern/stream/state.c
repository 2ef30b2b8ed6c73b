// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The lock of a stream, and the actions of its state machine (RFC 5040 6 and 7.1,
 * RFC 5044 7).
 */
#include "state.h"

#include <linux/workqueue.h>

#include "observe/trace.h"
#include "sock.h"
#include "stream.h"
#include "user.h"

/* ---- the lock ----------------------------------------------------------- */

void tern_stream_lock(struct tern_stream *s)
{
	/* pairs with the release in switch_lock() */
	struct tern_sock *sock = smp_load_acquire(&s->sock);

	might_sleep();
	if (!sock) {
		spin_lock_bh(&s->lock);
		sock = s->sock;
		if (!sock) {
			__release(&s->lock); /* for sparse */
			return;
		}
		spin_unlock_bh(&s->lock);
	}
	tern_sock_lock(sock);
}

/* @sock cannot have changed: switch_lock() sets it with both locks held */
void tern_stream_unlock(struct tern_stream *s)
{
	if (s->sock) {
		tern_sock_unlock(s->sock);
	} else {
		__acquire(&s->lock); /* for sparse */
		spin_unlock_bh(&s->lock);
	}
}

#ifdef CONFIG_LOCKDEP
void tern_stream_assert_locked(const struct tern_stream *s)
{
	if (s->sock)
		lockdep_assert(lockdep_sock_is_held(s->sock->sk));
	else
		lockdep_assert_held(&s->lock);
}
#endif

/* they are set once, with both locks held; a dump of an old core may come without a reference */
struct tern_mpa_params tern_stream_params(struct tern_stream *s)
{
	struct tern_mpa_params params;

	spin_lock_bh(&s->lock);
	params = s->params;
	spin_unlock_bh(&s->lock);
	return params;
}

/* ---- states ------------------------------------------------------------- */

void tern_stream_async_event(struct tern_stream *s, enum ib_event_type type)
{
	s->ops->async_event(s, type);
}

void tern_stream_complete(struct tern_stream *s)
{
	/* the flush decides on the status of what is left */
	if (tern_stream_is_over(s) || !tern_sq_complete(&s->sq))
		return;
	tern_stat_inc(s->stats, COMPLETE_MORE);
	tern_stream_kick(s);
}

bool tern_stream_flush(struct tern_stream *s, bool rung)
{
	bool more;

	tern_stream_assert_locked(s);
	more = tern_sq_flush(&s->sq, rung);
	/* the flush took the entries of a burst that waits, and indices wrap */
	s->tx.burst_head = s->sq.sent;
	more |= tern_rq_flush(&s->rq, rung);
	if (more)
		tern_stat_inc(s->stats, FLUSH_MORE);
	return more;
}

static void report_event(struct tern_stream *s, enum tern_stream_event event)
{
	struct tern_stream_user *user = s->setup.user;

	if (user)
		user->ops->event(user, event, &s->terms);
}

void tern_stream_opened(struct tern_stream *s)
{
	report_event(s, TERN_STREAM_OPEN);
}

/* true when TCP has no part of an FPDU without the rest: a FIN may follow */
static bool at_boundary(const struct tern_stream *s)
{
	/* called from inside the send: how much TCP took is not known yet */
	if (s->sock && s->sock->sending)
		return false;
	return tern_burst_at_boundary(&s->tx.burst);
}

/*
 * A flush completes entries, which returns their memory to the owner: what the owner
 * writes there next must not go to a peer that keeps its window shut. The same holds
 * for a Response, whose memory a kernel user may free when its QP was flushed. The
 * FPDUs in the burst are whole and copied, so they are still sent. A Terminate may
 * follow in the middle of a message: it "ceases all further communications on the
 * underlying DDP Stream" (RFC 5040 5.4).
 */
static void cut_message(struct tern_stream *s)
{
	s->tx.source = TERN_TX_NONE;
	s->tx.imm_follows = false;
}

static void end_stream(struct tern_stream *s, u32 actions)
{
	if (actions & QP_ACT_FAILED ||
	    (actions & QP_ACT_END && !at_boundary(s)))
		report_event(s, TERN_STREAM_FAILED);
	else if (actions & (QP_ACT_FINISHED | QP_ACT_END))
		report_event(s, TERN_STREAM_FINISHED);
}

static void run_actions(struct tern_stream *s, u32 actions)
{
	if (actions & QP_ACT_CLOSING)
		report_event(s, TERN_STREAM_CLOSING);
	if (actions & QP_ACT_FLUSH) {
		cut_message(s);
		if (tern_stream_flush(s, true))
			tern_stream_kick(s);
		/* ib_drain_qp() waits for this event */
		if (s->rq.srq)
			tern_stream_async_event(s, IB_EVENT_QP_LAST_WQE_REACHED);
	}
	if (!s->sock)
		return;
	if (actions & QP_ACT_FIN && at_boundary(s))
		tern_sock_shutdown_locked(s->sock);
	if (actions & QP_ACT_FIN_SENT)
		report_event(s, TERN_STREAM_FIN_SENT);
	if (actions & QP_ACT_KICK)
		tern_stream_kick(s);
	end_stream(s, actions);
}

void tern_stream_step(struct tern_stream *s, enum tern_qp_event event)
{
	struct tern_qp_step step;
	enum tern_qp_state from = s->state;

	tern_stream_assert_locked(s);
	step = tern_qp_fsm(from, event, s->rx.eof);
	if (!step.valid)
		return;
	trace_tern_qp_state(s->qpn, tern_qp_state_name(from),
			    tern_qp_state_name(step.next),
			    tern_qp_event_name(event));
	if (from == QP_RTS && step.next == QP_CLOSING)
		s->sq.stop = s->sq.head + max(tern_sq_pending(&s->sq), 0);
	WRITE_ONCE(s->state, step.next);
	run_actions(s, step.actions);
	/* a program may keep the QP, and the burst refers to blocks that it is not charged for */
	if (step.next == QP_ERROR)
		tern_tx_end(s);
}

void tern_stream_step_if_dead(struct tern_stream *s)
{
	if (!s->rx.more && tern_sock_dead_locked(s->sock))
		tern_stream_step(s, QP_EV_RESET);
}

/* what the Terminate copies; the segment itself may go */
static void keep_segment(struct tern_tx *tx, const struct tern_term_seg *seg)
{
	tx->term_seg = *seg;
	tx->term_seg.hdr_len = min_t(u32, seg->hdr_len, TERN_HDR_MAX);
	memcpy(tx->term_hdr, seg->hdr, tx->term_seg.hdr_len);
	tx->term_seg.hdr = tx->term_hdr;
}

void tern_stream_error(struct tern_stream *s, int code, const struct tern_term_seg *seg)
{
	struct tern_tx *tx = &s->tx;

	if (tx->term_code != TERN_TERM_NONE)
		return;
	s->terms.found = code;
	/* Q4: while the fence is shut no FPDU may go out, nor a Terminate */
	if (s->rx.fence) {
		tern_stat_inc(s->stats, TERM_WITHHELD);
		tern_stream_step(s, QP_EV_RESET);
		return;
	}
	/* nothing can be sent after our FIN */
	if (s->state == QP_FIN_WAIT)
		tern_stat_inc(s->stats, TERM_WITHHELD);
	else
		tern_stat_term(s->stats, code);
	tx->term_code = code;
	if (seg)
		keep_segment(tx, seg);
	tern_stream_step(s, QP_EV_LOCAL_ERROR);
}

void tern_stream_kick(struct tern_stream *s)
{
	queue_work(system_bh_wq, &s->sched.bh_work);
}
