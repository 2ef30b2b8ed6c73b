/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef TERN_SRQ_H
#define TERN_SRQ_H

#include <rdma/ib_verbs.h>

#include "recvq.h"

/**
 * struct tern_srq - shared receive queue
 * @ibsrq: the core's part
 * @dev: device
 * @rq: the queue proper, shared by all QPs; its lock guards @limit and @told too
 * @limit: raise IB_EVENT_SRQ_LIMIT_REACHED when fewer entries are left; 0 when
 *	disarmed
 * @told: how many receives had been taken when the last limit event was raised: there
 *	is none that is new before another one is taken
 * @srqn: number
 */
struct tern_srq {
	struct ib_srq ibsrq;
	struct tern_device *dev;
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
 *
 * As tern_recvq_take(), and raises the limit event. Context: any, interrupts on
 * or off.
 */
int tern_srq_take(struct tern_srq *srq, struct tern_recv *recv);

/* verbs */
int tern_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		    struct ib_udata *udata);
int tern_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		    enum ib_srq_attr_mask mask, struct ib_udata *udata);
int tern_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int tern_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int tern_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

#endif /* TERN_SRQ_H */
