/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The verbs of completion queues. */
#ifndef TERN_VERBS_CQ_H
#define TERN_VERBS_CQ_H

#include <rdma/ib_verbs.h>

int tern_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int tern_resize_cq(struct ib_cq *ibcq, TERN_RESIZE_CQE cqe,
		   struct ib_udata *udata);
int tern_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int tern_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int tern_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int tern_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* TERN_VERBS_CQ_H */
