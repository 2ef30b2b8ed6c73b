/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Counters of the core that QPs are bound to: `rdma statistic qp`. */
#ifndef TERN_COUNTER_H
#define TERN_COUNTER_H

#include <rdma/ib_verbs.h>

struct tern_device;

/* operations; the core calls them with its counter's lock held, but for init and alloc_stats */
void tern_counter_init(struct rdma_counter *counter);
struct rdma_hw_stats *tern_counter_alloc_stats(struct rdma_counter *counter);
int tern_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int tern_counter_unbind_qp(struct ib_qp *ibqp);
int tern_counter_update_stats(struct rdma_counter *counter);
int tern_counter_dealloc(struct rdma_counter *counter);

/* those that the core has left; no QP is */
void tern_counters_exit(struct tern_device *dev);

#endif /* TERN_COUNTER_H */
