// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A shared receive queue's entries, and the event when few are left, by which a
 * program sees that a peer takes too many (RFC 5040 8.1.2, RDMAP-157).
 */
#include "srq.h"

static void raise_limit(struct tern_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/*
 * Disarm the limit when it is reached; true when the event is due. The core
 * keeps memory for an event until the program fetches it, so a program that
 * arms again and again below the limit gets the next event only after another
 * receive is taken. The level cannot bound this: the program can write its
 * index at will.
 */
static bool limit_reached(struct tern_srq *srq)
{
	bool reached;

	lockdep_assert_held(&srq->rq.lock);
	reached = srq->limit && srq->rq.cons != srq->told &&
		  tern_recvq_level(&srq->rq) < srq->limit;
	if (reached) {
		WRITE_ONCE(srq->limit, 0);
		srq->told = srq->rq.cons;
	}
	return reached;
}

int tern_srq_take(struct tern_srq *srq, struct tern_recv *recv)
{
	unsigned long flags;
	bool reached;
	int ret;

	spin_lock_irqsave(&srq->rq.lock, flags);
	ret = tern_recvq_take(&srq->rq, recv);
	reached = limit_reached(srq);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (reached)
		raise_limit(srq);
	return ret;
}

void tern_srq_arm(struct tern_srq *srq, u32 limit)
{
	unsigned long flags;
	bool reached;

	spin_lock_irqsave(&srq->rq.lock, flags);
	WRITE_ONCE(srq->limit, limit);
	reached = limit_reached(srq);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (reached)
		raise_limit(srq);
}
