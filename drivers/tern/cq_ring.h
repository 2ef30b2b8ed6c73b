/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A completion queue's ring: what fills it, and the event that tells of it. */
#ifndef TERN_CQ_RING_H
#define TERN_CQ_RING_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "queue.h"

struct tern_stats;

/* completions written with one hold of the CQ's lock */
#define TERN_CQE_BATCH		8

/* completions of a flush with one hold of the stream lock: some 100 us */
#define TERN_FLUSH_ENTRIES	256

/**
 * struct tern_cq - completion queue
 * @ibcq: the core's part
 * @stats: counters of the device
 * @lock: guards @q, @prod, @told, @solicited, @overflow, moderation and the ring;
 *	taken with interrupts off (kernel users poll and post from any context)
 * @resize_lock: one resize at a time; @q changes under both locks
 * @q: the ring
 * @prod: next index to fill, ours
 * @told: @prod when the last event was raised; the ring's @event says the same, but
 *	the program can write it
 * @solicited: index behind the last completion that was solicited or failed
 * @cons: kernel users: next index to poll (a program keeps its own)
 * @overflow: an entry was lost; everything after it is lost too
 * @overflow_told: an event was raised for what was lost
 * @timestamps: fill in struct tern_cqe.timestamp
 * @cqn: number for traces
 * @hold_count: an event may wait for so many completions, 0: for none
 * @hold_us: and for so long
 * @held: completions for which an event is due that waits, or 0
 * @hold_timer: ends its wait
 * @overflow_work: moves the QPs that complete here to ERROR (MPA-223),
 *	by the function that cq.c sets
 */
struct tern_cq {
	struct ib_cq ibcq;
	struct tern_stats __percpu *stats;
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
	struct work_struct overflow_work;
};

static inline struct tern_cq *to_tern_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct tern_cq, ibcq);
}

/**
 * tern_cq_push() - write completions
 * @cq: the queue
 * @cqes: what to write, in order; @timestamp is filled in here if the CQ asked
 *	for timestamps
 * @n: how many
 *
 * Publishes once and notifies once: for TERN_CQ_ARM_SOLICITED only when one of
 * them has TERN_CQE_SOLICITED or a status other than success. When the ring is
 * full the CQ overflows: async event IB_EVENT_CQ_ERR, one last notification if the CQ
 * is armed, then or later, and every QP on it goes to ERROR. Where the CQ is moderated,
 * the notification may come later.
 *
 * Context: any, interrupts on or off; no lock of a CQ held. Calls the user's
 * completion handler after the CQ lock is dropped.
 */
void tern_cq_push(struct tern_cq *cq, const struct tern_cqe *cqes, u32 n);

/**
 * tern_cq_polled() - how far a program has polled
 * @cq: the queue
 * @backlog: how many completions it has left there
 *
 * Both are the program's word. Context: as tern_cq_push().
 */
u32 tern_cq_polled(struct tern_cq *cq, u32 *backlog);

/**
 * tern_cq_init() - set the ring, the locks and the timer up
 * @cq: the rest of it is zero, or set
 * @ctx: the program's context, NULL for a kernel user
 * @entries: wanted
 *
 * Context: process. Return: 0 or as tern_queue_create().
 */
int tern_cq_init(struct tern_cq *cq, struct ib_ucontext *ctx, u32 entries);

/* the mirror of it, when nothing completes here any more; Context: process */
void tern_cq_exit(struct tern_cq *cq);

/**
 * tern_cq_arm() - ask for an event
 * @cq: the queue
 * @arm: for which completion; the wider one of this and what was asked before counts
 *
 * A program that has completions which no event told of gets it here and now.
 * Context: any, interrupts on or off. Return: true when a completion is unpolled.
 */
bool tern_cq_arm(struct tern_cq *cq, u32 arm);

/**
 * tern_cq_switch() - go on in another ring, for a resize
 * @cq: the queue, its @resize_lock held
 * @new: the ring; the old one after success
 *
 * The indices go on where they are. Context: process. Return: 0, -EINVAL when @new is
 * too small for what is unpolled.
 */
int tern_cq_switch(struct tern_cq *cq, struct tern_queue *new);

#endif /* TERN_CQ_RING_H */
