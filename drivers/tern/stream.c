// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The stream of a QP: its lock, the actions of its state machine, the socket's
 * callbacks, and how it starts and ends (RFC 5040 6 and 7.1, RFC 5044 7).
 */
#include "stream.h"

#include "charge.h"
#include "device.h"
#include "qp.h"
#include "rx.h"
#include "sock.h"
#include "sq.h"
#include "trace.h"
#include "tx.h"
#include "tx_sched.h"

/* ---- the lock ----------------------------------------------------------- */

void tern_qp_lock(struct tern_qp *qp)
{
	/* pairs with the release in switch_lock() */
	struct tern_sock *s = smp_load_acquire(&qp->sock);

	if (!s) {
		mutex_lock(&qp->idle_lock);
		s = qp->sock;
		if (!s)
			return;
		mutex_unlock(&qp->idle_lock);
	}
	tern_sock_lock(s);
}

/* @sock cannot have changed: tern_qp_attach() sets it with both locks held */
void tern_qp_unlock(struct tern_qp *qp)
{
	if (qp->sock)
		tern_sock_unlock(qp->sock);
	else
		mutex_unlock(&qp->idle_lock);
}

void tern_qp_assert_locked(const struct tern_qp *qp)
{
	if (qp->sock)
		lockdep_assert(lockdep_sock_is_held(qp->sock->sk));
	else
		lockdep_assert_held(&qp->idle_lock);
}

/* ---- states ------------------------------------------------------------- */

void tern_qp_async_event(struct tern_qp *qp, enum ib_event_type type)
{
	qp->ops->async_event(qp, type);
}

bool tern_flush(struct tern_qp *qp, bool rung)
{
	bool more;

	tern_qp_assert_locked(qp);
	more = tern_sq_flush(&qp->sq, rung);
	more |= tern_rq_flush(&qp->rq, rung);
	if (more)
		tern_stat_inc(qp->dev->stats, FLUSH_MORE);
	return more;
}

static void tell_user(struct tern_qp *qp, enum tern_stream_event event)
{
	/* the Terminate may be in a burst that still waits for TCP */
	bool sent = qp->tx.term_sent && !qp->tx.burst.nr;
	struct tern_stream_terms terms = {
		.found = qp->term_tx,
		.sent = sent ? qp->term_tx : TERN_TERM_NONE,
		.received = qp->term_rx,
	};

	if (qp->user)
		qp->user->ops->event(qp->user, event, &terms);
}

void tern_qp_opened(struct tern_qp *qp)
{
	tell_user(qp, TERN_STREAM_OPEN);
}

static void end_stream(struct tern_qp *qp, u32 actions)
{
	if (actions & QP_ACT_FAILED ||
	    (actions & QP_ACT_END && !tern_tx_at_boundary(qp)))
		tell_user(qp, TERN_STREAM_FAILED);
	else if (actions & (QP_ACT_FINISHED | QP_ACT_END))
		tell_user(qp, TERN_STREAM_FINISHED);
}

static void act(struct tern_qp *qp, u32 actions)
{
	if (actions & QP_ACT_CLOSING)
		tell_user(qp, TERN_STREAM_CLOSING);
	if (actions & QP_ACT_FLUSH) {
		qp->rx.discard = true;
		tern_tx_cut(qp);
		if (tern_flush(qp, true))
			tern_tx_kick(qp);
		/* ib_drain_qp() waits for this event */
		if (qp->rq.srq)
			tern_qp_async_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
	}
	if (!qp->sock)
		return;
	if (actions & QP_ACT_FIN && tern_tx_at_boundary(qp))
		tern_sock_shutdown_locked(qp->sock);
	if (actions & QP_ACT_FIN_SENT)
		tell_user(qp, TERN_STREAM_FIN_SENT);
	if (actions & QP_ACT_KICK)
		tern_tx_kick(qp);
	end_stream(qp, actions);
}

void tern_qp_event(struct tern_qp *qp, enum tern_qp_event event)
{
	struct tern_qp_step step;
	enum tern_qp_state from = qp->state;

	tern_qp_assert_locked(qp);
	step = tern_qp_fsm(from, event, qp->rx.eof);
	if (!step.valid)
		return;
	trace_tern_qp_state(tern_qpn(qp), tern_qp_state_name(from),
			    tern_qp_state_name(step.next),
			    tern_qp_event_name(event));
	if (from == QP_RTS && step.next == QP_CLOSING)
		qp->sq.stop = qp->sq.head + max(tern_sq_pending(&qp->sq), 0);
	WRITE_ONCE(qp->state, step.next);
	act(qp, step.actions);
}

void tern_qp_error(struct tern_qp *qp, int code, const u8 *seg,
		   u32 seg_hdr_len, u32 seg_len)
{
	struct tern_tx *tx = &qp->tx;

	if (tx->term_code != TERN_TERM_NONE)
		return;
	qp->term_tx = code;
	/* Q4: while the fence is shut no FPDU may go out, nor a Terminate */
	if (qp->rx.fence) {
		tern_stat_inc(qp->dev->stats, TERM_WITHHELD);
		tern_qp_event(qp, QP_EV_RESET);
		return;
	}
	/* nothing can be sent after our FIN */
	if (qp->state == QP_FIN_WAIT)
		tern_stat_inc(qp->dev->stats, TERM_WITHHELD);
	else
		tern_stat_term(qp->dev->stats, code);
	tx->term_code = code;
	tx->term_seg_len = seg_len;
	tx->term_hdr_len = seg ? min_t(u32, seg_hdr_len, TERN_HDR_MAX) : 0;
	if (seg)
		memcpy(tx->term_hdr, seg, tx->term_hdr_len);
	tern_qp_event(qp, QP_EV_LOCAL_ERROR);
}

/* ---- callbacks of the socket -------------------------------------------- */

static void stream_data_ready(void *owner)
{
	struct tern_qp *qp = owner;

	tern_rx_run(qp);
	if (!qp->rx.reply)
		return;
	qp->rx.reply = false;
	/* reply at once, but with one burst only: this may be softirq */
	tern_tx_sched(qp, tern_tx_run(qp, 1));
}

static void stream_write_space(void *owner)
{
	tern_tx_kick(owner);
}

static void stream_state_change(void *owner)
{
	struct tern_qp *qp = owner;

	stream_data_ready(qp);
	if (tern_sock_dead_locked(qp->sock))
		tern_qp_event(qp, QP_EV_RESET);
}

static const struct tern_sock_ops stream_ops = {
	.data_ready = stream_data_ready,
	.write_space = stream_write_space,
	.state_change = stream_state_change,
};

/* ---- start and end ------------------------------------------------------ */

static int init_engines(struct tern_qp *qp, struct tern_sock *sock,
			const struct tern_mpa_params *params)
{
	/* a worker may run this: charge the cgroup of the program's socket */
	struct mem_cgroup *old = tern_sock_charge(sock);
	int ret = tern_readq_init(&qp->readq, params->ird, params->ord);

	tern_charge_end(old);
	if (ret)
		return ret;
	qp->params = *params;
	tern_tx_init(qp, tern_sock_mss_locked(sock));
	tern_rx_init(qp);
	return 0;
}

/*
 * Both locks are held while the stream lock changes from one to the other, and
 * until the callbacks come to the QP. tern_destroy_qp() ends the stream under
 * this lock: if it comes first, this fails; if it comes later, its
 * tern_stream_detach() sees the socket. Either way no callback comes to the QP
 * after tern_stream_detach().
 */
static int switch_lock(struct tern_qp *qp, struct tern_sock *sock,
		       const struct tern_mpa_params *params)
{
	int ret = -EINVAL;

	mutex_lock(&qp->idle_lock);
	tern_sock_lock(sock);
	if (qp->state == QP_IDLE && !qp->sock)
		ret = init_engines(qp, sock, params);
	if (!ret) {
		tern_sock_get(sock);
		/* release: the engines are set up before @sock is visible */
		smp_store_release(&qp->sock, sock);
		tern_qp_event(qp, QP_EV_ATTACH);
		tern_sock_set_owner(sock, &stream_ops, qp);
	}
	tern_sock_unlock(sock);
	mutex_unlock(&qp->idle_lock);
	return ret;
}

int tern_qp_attach(struct tern_qp *qp, struct tern_sock *sock,
		   const struct tern_mpa_params *params)
{
	int ret = switch_lock(qp, sock, params);

	if (ret)
		return ret;
	/* receive what came before the callbacks, and send what was posted */
	tern_sock_lock(sock);
	tern_rx_run(qp);
	qp->rx.reply = false;
	tern_tx_sched(qp, tern_tx_run(qp, 1));
	if (tern_sock_dead_locked(sock))
		tern_qp_event(qp, QP_EV_RESET);
	tern_sock_unlock(sock);
	return 0;
}

static void abort_startup(struct tern_qp *qp)
{
	struct tern_stream_user *user;

	spin_lock_bh(&qp->state_lock);
	user = qp->user;
	if (user)
		user->ops->get(user);
	spin_unlock_bh(&qp->state_lock);
	if (!user)
		return;
	user->ops->abort(user, qp);
	user->ops->put(user);
}

void tern_qp_close(struct tern_qp *qp, bool abrupt)
{
	bool idle;

	tern_qp_lock(qp);
	idle = !qp->sock;
	if (abrupt)
		tern_qp_event(qp, QP_EV_ABORT);
	else
		tern_qp_event(qp, QP_EV_LOCAL_CLOSE);
	tern_qp_unlock(qp);
	/* a process can wait: finish the flush of a deep queue here */
	if (abrupt)
		tern_tx_run_here(qp);
	if (idle && abrupt)
		abort_startup(qp);
}

void tern_qp_fatal(struct tern_qp *qp)
{
	/* an overflown CQ calls this for each completion that it loses */
	if (READ_ONCE(qp->state) == QP_ERROR)
		return;
	tern_qp_async_event(qp, IB_EVENT_QP_FATAL);
	tern_qp_close(qp, true);
}

void tern_stream_detach(struct tern_qp *qp)
{
	/* pairs with the release in switch_lock() */
	struct tern_sock *sock = smp_load_acquire(&qp->sock);

	if (sock)
		tern_sock_clear_owner(sock, qp);
}
