// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The endpoint's only timer: how long each state may take (RFC 5044 7.1.2 rules
 * 8 and 10). A close that makes no progress for the time of a setting is reset (Q18).
 */
#include "cep_timer.h"

#include <linux/math.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <rdma/ib_verbs.h>

#include "device/device.h"
#include "stream/stream.h"
#include "cep.h"
#include "listen.h"

/* checks per span of a close without progress */
#define CHECKS_PER_SPAN	4
/*
 * A program may take this many times longer to answer a Request than we wait for a
 * Reply: longer than any known initiator waits. Bounds the lifetime of requests
 * that iw_cm has silently dropped.
 */
#define ULP_FACTOR	20

static void timer_fn(struct work_struct *work)
{
	struct tern_cep *cep = container_of(to_delayed_work(work),
					    struct tern_cep, timer.work);

	tern_cep_post(cep, CM_EV_TIMER);
	tern_cep_put(cep);
}

void tern_cep_timer_init(struct tern_cep *cep)
{
	INIT_DELAYED_WORK(&cep->timer.work, timer_fn);
}

void tern_cep_watch_program(struct tern_cep *cep)
{
	cep->timer.kernel = !cep->stream->ctx;
	if (!cep->timer.kernel)
		cep->timer.program = get_pid(task_tgid(current));
}

void tern_cep_unwatch_program(struct tern_cep *cep)
{
	put_pid(cep->timer.program);
	cep->timer.program = NULL;
}

/*
 * A kernel user that gave its stream up may connect again and resend the same
 * or other requests for the same blocks. What it sent before must not arrive
 * after them, so TCP may lose that data but not retransmit it. Returns the
 * jiffies until TCP would retransmit, or until the next check.
 */
static long resend_in(struct tern_cep *cep)
{
	s64 usecs;

	if (cep->state != CM_LINGER || !cep->timer.kernel)
		return HZ;
	tern_sock_lock(cep->sock);
	usecs = tern_sock_resend_locked(cep->sock);
	tern_sock_unlock(cep->sock);
	/* more jiffies make the timer less exact, and it may run too late */
	usecs = min_t(s64, usecs, USEC_PER_SEC / 4);
	return DIV_ROUND_UP((long)usecs, USEC_PER_SEC / HZ);
}

/* how long a close may make no progress */
static u64 close_span(const struct tern_cep *cep)
{
	return msecs_to_jiffies(cep->settings.close_ms);
}

/*
 * Check at least every second: the conditions of is_orphan() and is_leaving()
 * raise no event, and neither does an acknowledgment from the peer.
 */
static long check_in(struct tern_cep *cep)
{
	long delay = resend_in(cep);

	if (!cep->timer.clock.limit)
		return delay;
	return min_t(u64, delay, close_span(cep) / CHECKS_PER_SPAN + 1);
}

static void arm_timer(struct tern_cep *cep)
{
	s64 left = cep->timer.clock.due - get_jiffies_64();
	long delay = clamp_t(s64, left, 0, check_in(cep));

	tern_cep_get(cep);
	/* if it was armed, its reference serves the new run */
	if (mod_delayed_work(tern_cep_wq, &cep->timer.work, delay))
		tern_cep_put(cep);
}

static bool has_term(struct tern_cep *cep)
{
	struct tern_stream_terms terms = tern_cep_terms(cep);

	return terms.found != TERN_TERM_NONE ||
	       terms.received != TERN_TERM_NONE;
}

/*
 * Received bytes count while the stream consumes them, not when they are
 * discarded.
 */
static u32 bytes_moved(struct tern_cep *cep)
{
	return tern_sock_moved(cep->sock, cep->state == CM_CLOSING &&
					  !has_term(cep));
}

/*
 * The program was killed or has exited. It may hang in the close of its rdma_cm
 * file or in rdma_destroy_id(): iw_cm waits there until the startup is decided,
 * and the QP, whose destruction would end the startup, is closed only
 * afterwards. A close that began goes on without the program.
 */
static bool is_orphan(const struct tern_cep *cep)
{
	const struct task_struct *leader;
	bool dead;

	if (!cep->timer.program || cep->state == CM_CLOSING)
		return false;
	rcu_read_lock();
	leader = pid_task(cep->timer.program, PIDTYPE_TGID);
	dead = !leader ||
	       READ_ONCE(leader->signal->flags) & SIGNAL_GROUP_EXIT;
	rcu_read_unlock();
	return dead;
}

/*
 * The device is being removed. The core removes its clients in the reverse
 * order of their registration; those that registered after tern's own client,
 * which aborts all endpoints, may wait for a startup, like rpcrdma. `rdma dev
 * set DEV netns` holds the lock too and also ends connections; if it fails, it
 * may end a startup for nothing.
 */
static bool is_leaving(struct tern_cep *cep)
{
	return mutex_is_locked(&cep->dev->ibdev.unregistration_lock);
}

void tern_cep_count_close(struct tern_cep *cep)
{
	bool lost;

	lockdep_assert_held(&cep->lock);
	if (!cep->timer.clock.limit)
		return;
	tern_sock_lock(cep->sock);
	lost = tern_sock_unacked_locked(cep->sock);
	tern_sock_unlock(cep->sock);
	if (lost)
		tern_stat_inc(cep->dev->stats, CM_CLOSE_LOST);
	if (time_after_eq64(get_jiffies_64(), cep->timer.clock.limit))
		tern_stat_inc(cep->dev->stats, CM_CLOSE_SLOW);
}

/*
 * iw_cm may have dropped the request along with its listening id. If the
 * program destroyed the id itself, it has some time left to accept.
 */
static void hurry_without_listener(struct tern_cep *cep)
{
	u64 soon = get_jiffies_64() + msecs_to_jiffies(cep->settings.reply_ms);

	if (cep->state == CM_ULP_WAIT && !tern_listen_iw(cep->listen))
		cep->timer.clock.due = min(cep->timer.clock.due, soon);
}

bool tern_cep_too_early(struct tern_cep *cep, enum tern_cm_event event)
{
	if (event != CM_EV_TIMER)
		return false;
	if (!cep->timer.clock.due)
		return true;
	hurry_without_listener(cep);
	if (cep->timer.clock.limit)
		tern_cm_clock_look(&cep->timer.clock, get_jiffies_64(),
				   close_span(cep), bytes_moved(cep));
	if (time_after_eq64(get_jiffies_64(), cep->timer.clock.due) ||
	    is_orphan(cep) || is_leaving(cep) || !resend_in(cep)) {
		tern_cep_count_close(cep);
		return false;
	}
	arm_timer(cep);
	return true;
}

static u32 startup_ms(const struct tern_cep *cep, enum tern_cm_timer timer)
{
	const struct tern_settings *s = &cep->settings;

	switch (timer) {
	case CM_TIMER_REQUEST:
		return s->request_ms;
	case CM_TIMER_REPLY:
		return s->reply_ms;
	case CM_TIMER_ULP:
		return s->reply_ms * ULP_FACTOR;
	case CM_TIMER_RTR:
		return s->rtr_ms;
	default:
		return s->close_ms;
	}
}

static void set_clock(struct tern_cep *cep, enum tern_cm_timer timer)
{
	u64 now = get_jiffies_64();
	u32 spans = 1;

	switch (timer) {
	case CM_TIMER_DRAIN:
		if (!has_term(cep))
			spans = TERN_CM_DRAIN_SPANS;
		fallthrough;
	case CM_TIMER_FIN:
		tern_cm_clock_close(&cep->timer.clock, now, close_span(cep), spans,
				    bytes_moved(cep));
		break;
	default:
		cep->timer.clock.due = now + msecs_to_jiffies(startup_ms(cep, timer));
	}
}

void tern_cep_set_timer(struct tern_cep *cep, enum tern_cm_timer timer)
{
	lockdep_assert_held(&cep->lock);
	if (timer == CM_TIMER_KEEP)
		return;
	if (timer == CM_TIMER_OFF) {
		cep->timer.clock.due = 0;
		if (cancel_delayed_work(&cep->timer.work))
			tern_cep_put(cep);
		return;
	}
	set_clock(cep, timer);
	arm_timer(cep);
}
