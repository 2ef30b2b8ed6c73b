/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Queue pairs: qp.c makes them, post.c and wr.c post to them. */
#ifndef TERN_PROVIDER_QP_H
#define TERN_PROVIDER_QP_H

#include <infiniband/driver.h>

#include "lazy.h"
#include "queue.h"

struct tern_wr_op;

/**
 * struct tern_wr_batch - the work requests between ibv_wr_start() and
 *	ibv_wr_complete()
 * @sqe: the entry that the setters fill, the last one begun, or NULL
 * @op: its row in the table of opcodes
 * @next: index of the next entry
 * @err: the first error, which drops the whole batch
 */
struct tern_wr_batch {
	struct tern_sqe *sqe;
	const struct tern_wr_op *op;
	uint32_t next;
	int err;
};

/**
 * struct tern_qp - a queue pair
 * @vqp: what libibverbs sees
 * @pd: as the program named it
 * @sq: send queue
 * @rq: receive queue; unused with an SRQ
 * @batch: guarded by @sq's lock
 * @lazy: requests without a doorbell
 * @qpn: QP number, the argument of the doorbell
 * @max_inline: largest inline payload in bytes
 * @always: enum tern_wr_flags added to each send
 * @features: enum tern_feature of the kernel: the opcodes that may be posted
 */
struct tern_qp {
	struct verbs_qp vqp;
	struct tern_pd *pd;
	struct tern_queue sq;
	struct tern_queue rq;
	struct tern_wr_batch batch;
	struct tern_lazy lazy;
	uint32_t qpn;
	uint32_t max_inline;
	uint32_t always;
	uint32_t features;
};

static inline struct tern_qp *to_tern_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct tern_qp, vqp.qp);
}

static inline struct tern_qp *ex_to_tern_qp(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct tern_qp, vqp.qp_ex);
}

struct ibv_qp *tern_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *tern_qp_create_ex(struct ibv_context *ctx,
				 struct ibv_qp_init_attr_ex *attr);
int tern_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
int tern_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int tern_qp_destroy(struct ibv_qp *qp);

int tern_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		      struct ibv_send_wr **bad_wr);
int tern_qp_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		    struct ibv_mw_bind *bind);
int tern_qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr);
int tern_qp_publish_sends(struct tern_qp *qp, uint32_t next, bool full);

int tern_qp_set_wr_ops(struct tern_qp *qp, uint64_t send_ops_flags);

#endif /* TERN_PROVIDER_QP_H */
