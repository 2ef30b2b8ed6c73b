// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * When and where the send engine runs: in the process that rings, in softirq or
 * in a worker; while a program batches, a few microseconds after the doorbell; and
 * when a program that may ring later does not. Also where the receive engine goes on.
 */
#include "tx_sched.h"

#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include "queue/cq.h"
#include "sock.h"
#include "state.h"
#include "stream.h"

/* bursts sent before the socket lock is released to let received data in */
#define BURSTS_PER_LOCK	4

/* batching begins after this many doorbells that do not restart the count */
#define BATCH_DOORBELLS	8
/* a program that leaves this many completions does not wait for them */
#define BATCH_BACKLOG		2
/* batching ends when nothing was to be sent for this long */
#define BATCH_PAUSE_NS		(50 * NSEC_PER_USEC)
/* the delay while batching: some dozen posts, and less than a packet costs */
#define LINGER_NS		(5 * NSEC_PER_USEC)
/* what a worker did not send by then is sent by a timer, see tern_tx_post() */
#define POST_NS			(500 * NSEC_PER_USEC)

/*
 * For runs that have to wait for a socket, which system_bh_wq cannot. Each
 * queue has its own work item: one item must not be on a BH queue and on
 * another.
 *
 * Its workers have the usual priority. The tasks that own sockets have it, too: a worker of a
 * higher one would keep a CPU from the owner that it, or another worker, waits for. So those
 * who post run first, and what no peer's pace bounds has the share of one task.
 */
static struct workqueue_struct *wq;

int tern_tx_sched_init(void)
{
	/* NFS and NVMe write back through this device under memory pressure */
	wq = alloc_workqueue("tern-tx", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	return wq ? 0 : -ENOMEM;
}

void tern_tx_sched_exit(void)
{
	destroy_workqueue(wq);
}

/*
 * @rung: something may have been posted. What the flush leaves is done in
 * further runs, which ignore new posts: a program that fills its ring without a
 * doorbell would keep them going. The stream lock is held.
 */
static enum tern_tx_result run_locked(struct tern_stream *s, bool rung)
{
	enum tern_tx_result result;
	bool more = false;

	if (tern_stream_is_over(s))
		more = tern_stream_flush(s, rung);
	tern_stream_complete(s);
	result = tern_tx_run(s, BURSTS_PER_LOCK);
	return more ? TERN_TX_MORE : result;
}

void tern_tx_sched(struct tern_stream *s, enum tern_tx_result result)
{
	if (result == TERN_TX_MORE)
		tern_stream_kick(s);
	else if (result == TERN_TX_LOCAL || result == TERN_TX_NOMEM)
		queue_delayed_work(wq, &s->sched.work, 1);
}

void tern_tx_sched_worker(struct tern_stream *s)
{
	mod_delayed_work(wq, &s->sched.work, 0);
}

/* the peer's packets bound what a program can do by this: do not delay it */
void tern_tx_reply(struct tern_stream *s)
{
	enum tern_tx_result result = tern_tx_run(s, 1);

	tern_tx_sched(s, result == TERN_TX_LOCAL ? TERN_TX_MORE : result);
}

void tern_tx_sched_at(struct tern_stream *s, unsigned long when)
{
	queue_delayed_work(wq, &s->sched.late, max_t(long, when - jiffies, 1));
}

/* Return: the socket, locked; or NULL: a worker runs the engine */
static struct tern_sock *lock_bh(struct tern_stream *s)
{
	/* pairs with the release in switch_lock() */
	struct tern_sock *sock = smp_load_acquire(&s->sock);

	if (sock && tern_sock_trylock_bh(sock))
		return sock;
	/* a process owns the socket, or there is none: let a worker wait, at once */
	tern_tx_sched_worker(s);
	return NULL;
}

static void run_bh(struct tern_stream *s, bool rung)
{
	struct tern_sock *sock = lock_bh(s);

	if (!sock)
		return;
	tern_tx_sched(s, run_locked(s, rung));
	tern_sock_unlock_bh(sock);
}

static void bh_work_fn(struct work_struct *work)
{
	struct tern_stream *s = container_of(work, struct tern_stream, sched.bh_work);

	/* a kernel user rings by this work, a program by tern_tx_doorbell() */
	run_bh(s, !s->ctx);
}

static enum hrtimer_restart linger_fn(struct hrtimer *timer)
{
	struct tern_stream *s = container_of(timer, struct tern_stream, sched.linger);
	struct tern_sock *sock;
	bool late;

	/* else later posts would count on it, and start no timer */
	late = cancel_work(&s->sched.post);
	tern_sq_look_again(&s->sq);
	sock = lock_bh(s);
	if (!sock) {
		/* the worker is late; without the lock that is a guess */
		if (late && data_race(tern_sq_pending(&s->sq)) > 0)
			tern_collect_late(&s->sched.collect);
		return HRTIMER_NORESTART;
	}
	/* else the engine has run since, for received data */
	if (late && tern_sq_pending(&s->sq) > 0) {
		tern_stat_inc(s->stats, DOORBELL_MISSED);
		tern_collect_late(&s->sched.collect);
	}
	tern_tx_sched(s, run_locked(s, true));
	tern_sock_unlock_bh(sock);
	return HRTIMER_NORESTART;
}

/*
 * Is the program batching? Never delay a post that it may be waiting on:
 * restart the count after a pause, after news from the peer (NO_NEWS in rx.c), or
 * when the CQ was polled nearly empty.
 */
static bool is_batching(struct tern_stream *s, u32 pause)
{
	u32 backlog, polled = tern_cq_polled(s->sq.cq, &backlog);
	u8 n = READ_ONCE(s->sched.doorbells);

	if (pause > BATCH_PAUSE_NS ||
	    (polled != READ_ONCE(s->sched.polled) && backlog < BATCH_BACKLOG))
		n = 0;
	WRITE_ONCE(s->sched.polled, polled);
	WRITE_ONCE(s->sched.doorbells, min(n + 1, BATCH_DOORBELLS));
	return n == BATCH_DOORBELLS;
}

/*
 * Only Writes, Reads and atomics wait: a Send wakes a receiver. A failed QP is flushed
 * at once, and a timer as coarse as the tick comes far too late.
 */
static bool may_linger(const struct tern_stream *s)
{
	return READ_ONCE(s->state) == QP_RTS && tern_sq_is_one_sided(&s->sq) &&
	       hrtimer_resolution <= LINGER_NS;
}

static void run_later(struct tern_stream *s)
{
	/*
	 * Posts ring no doorbell until go_idle() or a flush clears the flag.
	 * The timer starts after the flag is set, and so runs after each post
	 * that saw the flag, even if the engine clears it at this moment.
	 */
	preempt_disable();
	/* RCU's read side for this pointer, too */
	tern_stat_inc(READ_ONCE(s->stats), DOORBELL_LATER);
	tern_sq_set_busy(&s->sq);
	hrtimer_start(&s->sched.linger, LINGER_NS, HRTIMER_MODE_REL_SOFT);
	preempt_enable();
}

/* ---- posts without a doorbell ----------------------------------------------- */

static void start_backstop(struct tern_stream *s)
{
	hrtimer_start(&s->sched.backstop, tern_lazy_span(&s->sched.lazy), HRTIMER_MODE_REL_SOFT);
}

/* The program has stopped: it spins on memory, or waits elsewhere. Send what it left. */
static void end_lazy(struct tern_stream *s)
{
	struct tern_sock *sock = lock_bh(s);
	bool left;

	if (!sock)
		return;
	/* else the engine has run since, and asked for doorbells or started the timer */
	if (tern_sq_is_lazy(&s->sq) && !hrtimer_is_queued(&s->sched.backstop)) {
		left = s->state == QP_RTS && tern_sq_pending(&s->sq) > 0;
		if (left)
			tern_stat_inc(s->stats, DOORBELL_MISSED);
		spin_lock(&s->sched.lazy_lock);
		tern_lazy_stop(&s->sched.lazy, left);
		spin_unlock(&s->sched.lazy_lock);
		/* in CLOSING the engine leaves the flags as they are */
		tern_sq_clear_busy(&s->sq);
		tern_tx_sched(s, run_locked(s, true));
	}
	tern_sock_unlock_bh(sock);
}

static enum hrtimer_restart backstop_fn(struct hrtimer *timer)
{
	struct tern_stream *s = container_of(timer, struct tern_stream, sched.backstop);
	bool lazy, goes_on;

	spin_lock_bh(&s->sched.lazy_lock);
	/* else posts ring, or the engine runs and starts this timer again */
	lazy = tern_sq_is_lazy(&s->sq);
	goes_on = lazy && tern_lazy_look(&s->sched.lazy, READ_ONCE(s->sq.q.hdr->prod));
	if (goes_on)
		start_backstop(s);
	spin_unlock_bh(&s->sched.lazy_lock);
	if (lazy && !goes_on)
		end_lazy(s);
	return HRTIMER_NORESTART;
}

/*
 * TERN_RING_LAZY is shown before the timer starts, so a look follows each post that saw
 * the flag. A timer that runs already does so too, as backstop_fn() holds the lock: it
 * serves those runs of the engine that took nothing, of which received data causes many.
 */
bool tern_tx_go_idle(struct tern_stream *s)
{
	struct tern_lazy *lazy = &s->sched.lazy;
	bool idle;

	/* if it is on, look again with the lock */
	if (!data_race(READ_ONCE(lazy->on)))
		return tern_sq_go_idle(&s->sq, false);
	spin_lock_bh(&s->sched.lazy_lock);
	idle = tern_sq_go_idle(&s->sq, lazy->on);
	if (idle && lazy->on &&
	    (tern_lazy_idle(lazy, s->sq.head) || !hrtimer_is_queued(&s->sched.backstop)))
		start_backstop(s);
	spin_unlock_bh(&s->sched.lazy_lock);
	return idle;
}

/* May the posts after this doorbell ring later? A coarse timer comes too late. */
static bool may_be_lazy(struct tern_stream *s, bool more, bool in_time, u32 turn)
{
	bool may;

	more = more && hrtimer_resolution <= TERN_LAZY_SPAN_MIN;
	spin_lock_bh(&s->sched.lazy_lock);
	may = tern_lazy_doorbell(&s->sched.lazy, more, in_time, turn);
	spin_unlock_bh(&s->sched.lazy_lock);
	return may;
}

/* A program that was to ring later has waited already: do not batch what it left. */
void tern_tx_doorbell(struct tern_stream *s, bool more)
{
	bool in_time = tern_sq_is_lazy(&s->sq);
	/* other CPUs write both: read them before the clock */
	u32 served_at = READ_ONCE(s->sched.served_at), idle_at = READ_ONCE(s->tx.idle_at);
	u32 now = tern_tx_now();

	if (may_be_lazy(s, more, in_time, now - served_at) || in_time || !may_linger(s) ||
	    !is_batching(s, now - idle_at))
		tern_tx_run_here(s);
	else
		run_later(s);
	WRITE_ONCE(s->sched.served_at, tern_tx_now());
}

/* ---- kernel users ------------------------------------------------------------ */

/*
 * The worker is of this CPU: it runs when those who post sleep, or had their share. A timer
 * serves a CPU that has too much else to do, or a user that spins until its request completes.
 */
void tern_tx_post(struct tern_stream *s)
{
	if (hrtimer_resolution > POST_NS || !tern_collect_post(&s->sched.collect)) {
		tern_stream_kick(s);
		return;
	}
	preempt_disable();
	/* RCU's read side for this pointer, too */
	tern_stat_inc(READ_ONCE(s->stats), DOORBELL_LATER);
	if (queue_work(wq, &s->sched.post))
		hrtimer_start(&s->sched.linger, POST_NS, HRTIMER_MODE_REL_SOFT);
	else
		tern_collect_joined(&s->sched.collect);
	preempt_enable();
}

/* ---- in a process ------------------------------------------------------------ */

/* TCP must not sleep while the receive engine reads. What it has to send follows. */
static void receive_more(struct tern_stream *s)
{
	local_bh_disable();
	tern_rx_run(s);
	local_bh_enable();
	s->rx.reply = false;
	tern_stream_step_if_dead(s);
}

static enum tern_tx_result run_turn(struct tern_stream *s, bool rung)
{
	enum tern_tx_result result;

	tern_stream_lock(s);
	/* never in softirq, which would go on with each run's reply */
	if (s->rx.more)
		receive_more(s);
	result = run_locked(s, rung);
	tern_stream_unlock(s);
	return result;
}

/* @turns: at most so many */
static void run_turns(struct tern_stream *s, bool rung, u32 turns)
{
	enum tern_tx_result result;

	do {
		result = run_turn(s, rung);
		rung = false;
		cond_resched();
	} while (--turns && (result == TERN_TX_MORE || result == TERN_TX_LOCAL) &&
		 !signal_pending(current));
	tern_tx_sched(s, result);
}

/* Other threads may post without an end: softirq does the rest, and this one returns. */
#define DOORBELL_TURNS	64

void tern_tx_run_here(struct tern_stream *s)
{
	run_turns(s, true, DOORBELL_TURNS);
}

void tern_tx_finish(struct tern_stream *s, bool rung)
{
	run_turns(s, rung, max(s->sq.q.size, s->rq.own.q.size) / TERN_FLUSH_ENTRIES + 2);
}

/*
 * One turn, and the rest in softirq: a worker has no caller whose time it takes, and would not
 * end for a program that goes on posting. Only a kernel user may have rung for it.
 */
static void run_for_nobody(struct tern_stream *s)
{
	tern_tx_sched(s, run_turn(s, !s->ctx));
}

static void work_fn(struct work_struct *work)
{
	run_for_nobody(container_of(to_delayed_work(work), struct tern_stream, sched.work));
}

static void post_fn(struct work_struct *work)
{
	struct tern_stream *s = container_of(work, struct tern_stream, sched.post);

	tern_collect_ran(&s->sched.collect);
	run_for_nobody(s);
}

static void late_fn(struct work_struct *work)
{
	run_for_nobody(container_of(to_delayed_work(work), struct tern_stream, sched.late));
}

void tern_tx_sched_setup(struct tern_stream *s)
{
	INIT_WORK(&s->sched.bh_work, bh_work_fn);
	INIT_WORK(&s->sched.post, post_fn);
	INIT_DELAYED_WORK(&s->sched.work, work_fn);
	INIT_DELAYED_WORK(&s->sched.late, late_fn);
	hrtimer_setup(&s->sched.linger, linger_fn, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	spin_lock_init(&s->sched.lazy_lock);
	tern_lazy_init(&s->sched.lazy);
	hrtimer_setup(&s->sched.backstop, backstop_fn, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

void tern_tx_sched_cancel(struct tern_stream *s)
{
	/* a post starts the timer if it queues this */
	disable_work_sync(&s->sched.post);
	/* the timers queue work; no doorbell, nor an engine in RTS, can start them any more */
	hrtimer_cancel(&s->sched.linger);
	hrtimer_cancel(&s->sched.backstop);
	/* each work may queue the others: disable all, so that they stay off */
	disable_work_sync(&s->sched.bh_work);
	disable_delayed_work_sync(&s->sched.work);
	disable_delayed_work_sync(&s->sched.late);
	/* a program may still map the ring, and no timer serves it any more */
	tern_sq_clear_busy(&s->sq);
}
