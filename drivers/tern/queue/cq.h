/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A completion queue's ring: write completions, and raise the event. */
#ifndef TERN_QUEUE_CQ_H
#define TERN_QUEUE_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "queue.h"

struct tern_stats;

/* completions written under one hold of the CQ's lock */
#define TERN_CQE_BATCH		8

/* entries flushed or completed under one hold of the stream lock: some 100 us */
#define TERN_FLUSH_ENTRIES	256

/**
 * struct tern_cq_losses - the search for the QPs of CQs that overflowed, for all of a device
 * @work: the search
 * @not_before: when the next one may begin, in jiffies: it looks at each QP
 */
struct tern_cq_losses {
	struct delayed_work work;
	unsigned long not_before;
};

/* from the beginning of one search to that of the next */
#define TERN_CQ_LOSS_PAUSE	msecs_to_jiffies(100)

/**
 * struct tern_cq - completion queue
 * @ibcq: the core's part
 * @stats: counters of the device
 * @losses: likewise, moves the QPs that complete here to ERROR when it overflows
 * @lock: guards @q, @prod, @told, @solicited, @cons, @overflow, moderation and
 *	the ring; taken with interrupts off (kernel users poll and post from any
 *	context)
 * @resize_lock: one resize at a time; @q changes under both locks
 * @q: the ring
 * @prod: next index to fill; the copy in the ring can be written by the program
 * @told: @prod when the last event was raised; @event in the ring is its copy
 * @solicited: index after the last completion that was solicited or failed; when the provider
 *	moves it towards @prod, as it drops those of a QP, it arms for any completion
 * @cons: kernel users: next index to poll (a program keeps its own)
 * @overflow: a completion was lost; all after it are lost too
 * @overflow_told: an event was raised for the overflow
 * @timestamps: fill in struct tern_cqe.timestamp
 * @cqn: number for traces
 * @hold_count: hold an event until there are so many completions, 0: do not
 *	hold
 * @hold_us: and for so many microseconds at most
 * @held: completions whose event is held back, or 0
 * @hold_timer: raises the held event
 */
struct tern_cq {
	struct ib_cq ibcq;
	struct tern_stats __percpu *stats;
	struct tern_cq_losses *losses;
	spinlock_t lock;		/* see above */
	struct mutex resize_lock;	/* see above */
	struct tern_queue q;
	u32 prod;
	u32 told;
	u32 solicited;
	u32 cons;
	bool overflow;
	bool overflow_told;
	bool timestamps;
	u32 cqn;
	u16 hold_count;
	u16 hold_us;
	u32 held;
	struct hrtimer hold_timer;
};

static inline struct tern_cq *to_tern_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct tern_cq, ibcq);
}

/**
 * struct tern_cq_batch - completions that are being written, under the lock of the CQ
 * @cq: the queue
 * @irq: of spin_lock_irqsave()
 * @n: completions so far
 * @room: how many of them the ring takes
 * @solicited: one of them was solicited or failed
 * @now: their timestamp, 0 if the CQ did not ask for timestamps
 */
struct tern_cq_batch {
	struct tern_cq *cq;
	unsigned long irq;
	u32 n;
	u32 room;
	bool solicited;
	u64 now;
};

/**
 * tern_cq_begin() - begin to write completions
 * @cq: the queue
 * @b: result; the lock of @cq is held until tern_cq_end()
 *
 * Context: any, interrupts on or off; no lock of a CQ held.
 */
void tern_cq_begin(struct tern_cq *cq, struct tern_cq_batch *b);

/**
 * tern_cq_next() - where the next completion goes
 * @b: batch
 * @flags: enum tern_cqe_flags of the completion
 * @status: enum ib_wc_status of it
 *
 * The caller writes all of the entry, with @b->now as its timestamp. Return: the entry,
 * not published yet, or NULL: the ring is full, and the completion is lost.
 */
static inline struct tern_cqe *tern_cq_next(struct tern_cq_batch *b, u16 flags, u8 status)
{
	struct tern_cq *cq = b->cq;
	struct tern_cqe *cqe;

	if (b->n++ >= b->room)
		return NULL;
	cqe = tern_queue_entry(&cq->q, cq->prod++);
	if (flags & TERN_CQE_SOLICITED || status != IB_WC_SUCCESS) {
		b->solicited = true;
		cq->solicited = cq->prod;
	}
	return cqe;
}

/**
 * tern_cq_end() - publish what was written
 * @b: batch; nothing happens if it is empty
 *
 * Publishes once and notifies once: for TERN_CQ_ARM_SOLICITED only when one of
 * them has TERN_CQE_SOLICITED or a status other than success. When the ring is
 * full the CQ overflows: async event IB_EVENT_CQ_ERR, one last notification if
 * the CQ is armed, now or at a later batch, and every QP on it goes to ERROR.
 * Moderation may delay the notification.
 *
 * Calls the user's completion handler after the CQ lock is dropped.
 */
void tern_cq_end(struct tern_cq_batch *b);

/* a batch of @n completions, without timestamps; Context: as tern_cq_begin(). Return: lost */
u32 tern_cq_push(struct tern_cq *cq, const struct tern_cqe *cqes, u32 n);

/**
 * tern_cq_polled() - how far a program has polled
 * @cq: the queue
 * @backlog: how many completions it has not polled
 *
 * Both come from an index that the program can write. Context: as
 * tern_cq_begin(). Return: the index of the oldest completion that is not
 * polled.
 */
u32 tern_cq_polled(struct tern_cq *cq, u32 *backlog);

/**
 * tern_cq_init() - set up the ring, the locks and the timer
 * @cq: the rest of it is zero, or set
 * @ctx: the program's context, NULL for a kernel user
 * @entries: wanted
 *
 * Context: process. Return: 0 or as tern_queue_create().
 */
int tern_cq_init(struct tern_cq *cq, struct ib_ucontext *ctx, u32 entries);

/* undo tern_cq_init(), when no QP completes here any more; Context: process */
void tern_cq_exit(struct tern_cq *cq);

/**
 * tern_cq_arm() - ask for an event
 * @cq: the queue
 * @arm: enum tern_cq_arm; a wider one that was asked for before stays
 *
 * A program gets the event at once for unpolled completions that had no event.
 * Context: any, interrupts on or off. Return: true when a completion is unpolled.
 */
bool tern_cq_arm(struct tern_cq *cq, u32 arm);

/**
 * tern_cq_switch() - replace the ring, for a resize
 * @cq: the queue, its @resize_lock held
 * @new: the new ring; the old one after success
 *
 * The indices keep their values. Context: process, may sleep. Return: 0; -EINVAL when
 * @new is too small for the unpolled completions; or -EBUSY when completions came so fast,
 * or this thread ran so seldom, that too many would have to be copied with interrupts off.
 */
int tern_cq_switch(struct tern_cq *cq, struct tern_queue *new);

#endif /* TERN_QUEUE_CQ_H */
