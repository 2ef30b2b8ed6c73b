/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef TERN_CQ_H
#define TERN_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "queue.h"

struct tern_stats;

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
 * @overflow_work: moves the QPs that complete here to ERROR (MPA-223)
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

/* verbs */
int tern_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int tern_resize_cq(struct ib_cq *ibcq, TERN_RESIZE_CQE cqe,
		   struct ib_udata *udata);
int tern_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int tern_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int tern_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int tern_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* TERN_CQ_H */
