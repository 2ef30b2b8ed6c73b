/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The verbs of shared receive queues. */
#ifndef TERN_VERBS_SRQ_H
#define TERN_VERBS_SRQ_H

#include <rdma/ib_verbs.h>

int tern_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		    struct ib_udata *udata);
int tern_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		    enum ib_srq_attr_mask mask, struct ib_udata *udata);
int tern_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int tern_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int tern_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

#endif /* TERN_VERBS_SRQ_H */
