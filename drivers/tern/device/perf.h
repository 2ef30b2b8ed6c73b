/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The counters of /sys/class/infiniband/DEV/ports/1/counters. */
#ifndef TERN_PERF_H
#define TERN_PERF_H

#include <linux/types.h>

struct ib_device;
struct ib_grh;
struct ib_mad;
struct ib_wc;

/* Context: process. Return: enum ib_mad_result */
int tern_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		     const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_size, u16 *out_pkey_index);

#endif /* TERN_PERF_H */
