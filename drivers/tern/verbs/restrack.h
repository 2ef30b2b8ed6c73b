/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Driver details of `rdma resource show -dd`. */
#ifndef TERN_RESTRACK_H
#define TERN_RESTRACK_H

struct ib_cq;
struct ib_mr;
struct ib_qp;
struct ib_srq;
struct sk_buff;

/* Context: process, the object is held. Return: 0 or -EMSGSIZE. */
int tern_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int tern_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int tern_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int tern_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif /* TERN_RESTRACK_H */
