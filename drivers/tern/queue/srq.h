/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A shared receive queue's entries, and the event when few are left. */
#ifndef TERN_QUEUE_SRQ_H
#define TERN_QUEUE_SRQ_H

#include <rdma/ib_verbs.h>

#include "recvq.h"

/**
 * struct tern_srq - shared receive queue
 * @ibsrq: the core's part
 * @rq: the queue, shared by all QPs; its lock guards @limit and @told too
 * @limit: raise IB_EVENT_SRQ_LIMIT_REACHED when fewer entries are left; 0 when
 *	disarmed
 * @told: @rq.cons when the last limit event was raised; no further one is
 *	raised until another entry is taken
 * @srqn: number
 */
struct tern_srq {
	struct ib_srq ibsrq;
	struct tern_recvq rq;
	u32 limit;
	u32 told;
	u32 srqn;
};

static inline struct tern_srq *to_tern_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct tern_srq, ibsrq);
}

/**
 * tern_srq_take() - take the next receive entry
 * @srq: the SRQ
 * @recv: private copy
 *
 * Takes the lock that tern_recvq_take() wants, and raises the limit event after it. Context: any,
 * interrupts on or off. Return: as tern_recvq_take().
 */
int tern_srq_take(struct tern_srq *srq, struct tern_recv *recv);

/**
 * tern_srq_arm() - arm the limit event
 * @srq: the queue
 * @limit: raise it when fewer entries are left; 0 for never
 *
 * Raises it at once when fewer are left already, and an entry was taken since
 * the last one. Context: any, interrupts on or off.
 */
void tern_srq_arm(struct tern_srq *srq, u32 limit);

#endif /* TERN_QUEUE_SRQ_H */
