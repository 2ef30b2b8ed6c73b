/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The context of a process for one device. */
#ifndef TERN_PROVIDER_TERN_H
#define TERN_PROVIDER_TERN_H

#include <stdbool.h>
#include <infiniband/driver.h>
#include <rdma/tern-abi.h>

#include "polled.h"

/**
 * struct tern_context - an open device
 * @vctx: what libibverbs sees
 * @doorbell: file descriptor of the doorbell
 * @features: enum tern_feature that the kernel knows
 * @lazy: the kernel knows TERN_DOORBELL_MORE
 * @counts_silent: the kernel counts @silent of struct tern_ring_hdr
 * @polled: used if it does
 */
struct tern_context {
	struct verbs_context vctx;
	int doorbell;
	uint32_t features;
	bool lazy;
	bool counts_silent;
	struct tern_polled_table polled;
};

static inline struct tern_context *to_tern_context(struct ibv_context *ctx)
{
	return container_of(ctx, struct tern_context, vctx.context);
}

/* is this device driven by this provider? */
bool tern_is_ours(struct ibv_device *device);

int tern_device_query(struct ibv_context *ctx,
		      const struct ibv_query_device_ex_input *input,
		      struct ibv_device_attr_ex *attr, size_t attr_size);
int tern_port_query(struct ibv_context *ctx, uint8_t port,
		    struct ibv_port_attr *attr);
int tern_clock_query(struct ibv_context *ctx, struct ibv_values_ex *values);

#endif /* TERN_PROVIDER_TERN_H */
