// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A completion queue's ring: write completions, raise the event. An overflow is
 * confined to the QPs of this CQ (RFC 5040 8.1.1, RDMAP-147).
 */
#include "cq.h"

#include "core/ring.h"
#include "observe/stats.h"
#include "observe/trace.h"

/* ---- completions in ----------------------------------------------------- */

/* unpolled completions, by an index that the program can write */
static u32 unpolled(const struct tern_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	return cq->prod - READ_ONCE(cq->q.hdr->cons);
}

/* would a completion, a solicited one or any, raise the event now? */
static bool is_due(const struct tern_cq *cq, bool solicited)
{
	u32 arm;

	lockdep_assert_held(&cq->lock);
	/*
	 * We store the producer index, then read the arm word; the program
	 * stores the word, then reads the index: at least one sees the other's
	 * store.
	 */
	smp_mb();
	arm = READ_ONCE(cq->q.hdr->flags);
	return arm != TERN_CQ_ARM_NONE &&
	       (arm != TERN_CQ_ARM_SOLICITED || solicited);
}

/* disarm for an event that the caller raises, in place of a held one, too */
static void take_arm(struct tern_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	xchg(&cq->q.hdr->flags, TERN_CQ_ARM_NONE);
	cq->told = cq->prod;
	WRITE_ONCE(cq->q.hdr->event, cq->told);
	if (cq->held)
		hrtimer_try_to_cancel(&cq->hold_timer);
	cq->held = 0;
}

static void search_qps(struct tern_cq_losses *losses)
{
	long delay = READ_ONCE(losses->not_before) - jiffies;

	queue_delayed_work(system_dfl_wq, &losses->work,
			   clamp_t(long, delay, 0, TERN_CQ_LOSS_PAUSE));
}

static noinline void raise_overflow(struct tern_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

static void call_handler(struct tern_cq *cq)
{
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/*
 * The event is due for @n completions: hold it back for more? Not once the ring
 * is half full: it would overflow while the user sleeps until the event.
 */
static bool hold_event(struct tern_cq *cq, u32 n)
{
	lockdep_assert_held(&cq->lock);
	if (cq->held + n >= cq->hold_count || unpolled(cq) >= cq->q.size / 2)
		return false;
	if (!cq->held)
		hrtimer_start(&cq->hold_timer,
			      ns_to_ktime(cq->hold_us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	cq->held += n;
	return true;
}

/* completions that find room; none after one was lost */
static u32 room(const struct tern_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	if (cq->overflow)
		return 0;
	return max(tern_ring_space(cq->prod, &cq->q.hdr->cons, cq->q.size), 0);
}

void tern_cq_begin(struct tern_cq *cq, struct tern_cq_batch *b)
	__acquires(&cq->lock)
{
	spin_lock_irqsave(&cq->lock, b->irq);
	b->cq = cq;
	b->n = 0;
	b->room = room(cq);
	b->solicited = false;
	b->now = cq->timestamps ? ktime_get_ns() : 0;
}

void tern_cq_end(struct tern_cq_batch *b)
	__releases(&b->cq->lock)
{
	bool notify = false, first = false, full = b->n > b->room, untold;
	struct tern_cq *cq = b->cq;

	if (!b->n) {
		spin_unlock_irqrestore(&cq->lock, b->irq);
		return;
	}
	tern_ring_publish(&cq->q.hdr->prod, cq->prod);
	if (full) {
		first = !cq->overflow;
		WRITE_ONCE(cq->overflow, true);
	}
	/*
	 * An overflow raises one event, for any arming, also a later one. A
	 * second event would find no new completion.
	 */
	untold = full && !cq->overflow_told;
	if (full == untold &&
	    is_due(cq, b->solicited || untold || cq->held))
		notify = untold || !hold_event(cq, b->n);
	if (notify) {
		cq->overflow_told |= untold;
		take_arm(cq);
	}
	spin_unlock_irqrestore(&cq->lock, b->irq);

	if (notify)
		call_handler(cq);
	if (!full)
		return;
	tern_stat_inc(cq->stats, CQ_OVERFLOW);
	if (first)
		raise_overflow(cq);
	/* at each loss, for QPs created since */
	search_qps(cq->losses);
}

u32 tern_cq_push(struct tern_cq *cq, const struct tern_cqe *cqes, u32 n)
{
	struct tern_cq_batch b;
	struct tern_cqe *cqe;
	u32 lost;

	tern_cq_begin(cq, &b);
	for (; n; n--, cqes++) {
		cqe = tern_cq_next(&b, cqes->flags, cqes->status);
		if (!cqe)
			continue;
		*cqe = *cqes;
		cqe->timestamp = b.now;
		trace_tern_cqe(cq->cqn, cqes->qpn, cqes->opcode, cqes->status,
			       cqes->byte_len);
	}
	lost = b.n > b.room ? b.n - b.room : 0;
	tern_cq_end(&b);
	return lost;
}

u32 tern_cq_polled(struct tern_cq *cq, u32 *backlog)
{
	unsigned long flags;
	u32 prod;

	/* a resize may replace the ring */
	spin_lock_irqsave(&cq->lock, flags);
	prod = cq->prod;
	*backlog = unpolled(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	return prod - *backlog;
}

/* ---- events -------------------------------------------------------------- */

/*
 * Is there an unpolled completion that had no event yet and that the CQ is
 * armed for? A false consumer index costs the program that writes it at most
 * its own event. The core keeps memory for an event until the program fetches
 * it, so none is raised without a completion written after the last one.
 */
static bool has_news(const struct tern_cq *cq)
{
	u32 level = min(unpolled(cq), cq->prod - cq->told);

	/* when the provider moves completions, it writes the word before its index */
	smp_rmb();
	if (READ_ONCE(cq->q.hdr->flags) == TERN_CQ_ARM_NEXT)
		return level;
	return cq->prod - cq->solicited < level;
}

bool tern_cq_arm(struct tern_cq *cq, u32 arm)
{
	unsigned long flags;
	bool missed, notify;

	spin_lock_irqsave(&cq->lock, flags);
	if (READ_ONCE(cq->q.hdr->flags) < arm)
		xchg(&cq->q.hdr->flags, arm);
	missed = READ_ONCE(cq->q.hdr->cons) != cq->prod;
	/* enum tern_cq_arm: a program calls for an event for what is there */
	notify = cq->ibcq.uobject && has_news(cq);
	if (notify)
		take_arm(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		call_handler(cq);
	return missed;
}

/* the hold time is over: raise the event, unless all was polled until now */
static enum hrtimer_restart hold_timer_fn(struct hrtimer *timer)
{
	struct tern_cq *cq = container_of(timer, struct tern_cq, hold_timer);
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&cq->lock, flags);
	notify = cq->held && is_due(cq, true) && has_news(cq);
	cq->held = 0;
	if (notify)
		take_arm(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		call_handler(cq);
	return HRTIMER_NORESTART;
}

/* ---- life ---------------------------------------------------------------- */

int tern_cq_init(struct tern_cq *cq, struct ib_ucontext *ctx, u32 entries)
{
	int ret = tern_queue_create(&cq->q, ctx, entries,
				    sizeof(struct tern_cqe));

	if (ret)
		return ret;
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	hrtimer_setup(&cq->hold_timer, hold_timer_fn, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	return 0;
}

void tern_cq_exit(struct tern_cq *cq)
{
	/* no one waits for a held event any more */
	hrtimer_cancel(&cq->hold_timer);
	tern_queue_retire(&cq->q, &cq->lock);
	mutex_destroy(&cq->resize_lock);
}

/* ---- another ring --------------------------------------------------------- */

/* copy the @n entries before @end; @n fits both rings */
static void copy_entries(const struct tern_queue *to,
			 const struct tern_queue *from, u32 end, u32 n)
{
	u32 i;

	for (i = end - n; i != end; i++)
		memcpy(tern_queue_entry(to, i), tern_queue_entry(from, i),
		       sizeof(struct tern_cqe));
}

/* entries to copy at once, at last with interrupts off; how often to try until no more are left */
#define COPY_STEP	1024
#define COPY_TRIES	16

/*
 * Copy the entries from @done on without the lock, while completions are written and polled.
 * An entry changes only after it was polled, and then its copy is not used. (The provider also
 * moves entries when a QP is destroyed, but not while it resizes: one lock of its own does both.)
 * Return: the index after the last one copied.
 */
static u32 copy_early(struct tern_cq *cq, const struct tern_queue *new, u32 done)
{
	unsigned long flags;
	u32 end, n, step;

	lockdep_assert_held(&cq->resize_lock);
	spin_lock_irqsave(&cq->lock, flags);
	end = cq->prod;
	n = min(unpolled(cq), end - done);
	spin_unlock_irqrestore(&cq->lock, flags);
	for (n = min3(n, cq->q.size, new->size); n; n -= step) {
		step = min(n, COPY_STEP);
		copy_entries(new, &cq->q, end - n + step, step);
		cond_resched();
	}
	return end;
}

/*
 * Copy the entries from @done on, and swap the rings: @new gets the old one. Return: 0,
 * -EINVAL if @new is too small, or -EBUSY if too many are left
 */
static int switch_rings(struct tern_cq *cq, struct tern_queue *new, u32 done)
{
	struct tern_ring_hdr *from = cq->q.hdr, *to = new->hdr;
	u32 n = unpolled(cq), late = min(n, cq->prod - done);

	if (n > cq->q.size || n > new->size)
		return -EINVAL;
	if (late > COPY_STEP)
		return -EBUSY;
	copy_entries(new, &cq->q, cq->prod, late);
	to->prod = cq->prod;
	to->cons = cq->prod - n;
	to->flags = READ_ONCE(from->flags);
	to->event = cq->told;
	swap(cq->q, *new);
	cq->ibcq.cqe = cq->q.size;
	return 0;
}

int tern_cq_switch(struct tern_cq *cq, struct tern_queue *new)
{
	int ret, tries = COPY_TRIES;
	unsigned long flags;
	/* no older entry is polled any more; of a moment ago, without the lock */
	u32 done = data_race(cq->prod) - cq->q.size;

	do {
		done = copy_early(cq, new, done);
		spin_lock_irqsave(&cq->lock, flags);
		ret = switch_rings(cq, new, done);
		spin_unlock_irqrestore(&cq->lock, flags);
	} while (ret == -EBUSY && --tries);
	return ret;
}
