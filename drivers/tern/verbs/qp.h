/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A queue pair, and its verbs. */
#ifndef TERN_QP_H
#define TERN_QP_H

#include <linux/completion.h>
#include <rdma/ib_verbs.h>

#include "leave.h"
#include "stream/stream.h"

/**
 * struct tern_qp - queue pair
 * @ibqp: the core's part
 * @released: completed with the last reference on @stream
 * @rights_said: modify_qp has set the peer's rights; guarded by @stream's lock
 * @ib_state: IB_QPS_RESET, INIT or RTR while @stream is IDLE
 * @owned: its program's
 * @stream: all that moves data
 */
struct tern_qp {
	struct ib_qp ibqp;
	struct completion released;
	bool rights_said;
	enum ib_qp_state ib_state;
	struct tern_owned owned;
	struct tern_stream stream;
};

static inline struct tern_qp *to_tern_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct tern_qp, ibqp);
}

/* the QP of a stream */
static inline struct tern_qp *tern_qp_of(struct tern_stream *s)
{
	return container_of(s, struct tern_qp, stream);
}

/* the stream of a QP */
static inline struct tern_stream *tern_stream_of(struct ib_qp *ibqp)
{
	return &to_tern_qp(ibqp)->stream;
}

int tern_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		   struct ib_udata *udata);
int tern_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);
int tern_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int tern_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int tern_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int tern_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);

#endif /* TERN_QP_H */
