/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Shared receive queues; post.c posts to them. */
#ifndef TERN_PROVIDER_SRQ_H
#define TERN_PROVIDER_SRQ_H

#include <infiniband/driver.h>

#include "queue.h"

/**
 * struct tern_srq - a shared receive queue
 * @srq: what libibverbs sees
 * @pd: as the program named it
 * @rq: its entries
 */
struct tern_srq {
	struct ibv_srq srq;
	struct tern_pd *pd;
	struct tern_queue rq;
};

static inline struct tern_srq *to_tern_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct tern_srq, srq);
}

struct ibv_srq *tern_srq_create(struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr);
int tern_srq_modify(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int tern_srq_query(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int tern_srq_destroy(struct ibv_srq *srq);
int tern_srq_post_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr);

#endif /* TERN_PROVIDER_SRQ_H */
