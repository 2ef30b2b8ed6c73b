/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The doorbell: the system call of a post. */
#ifndef TERN_PROVIDER_DOORBELL_H
#define TERN_PROVIDER_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

struct ibv_context;
struct tern_context;

int tern_doorbell_open(struct tern_context *ctx);
void tern_doorbell_close(struct tern_context *ctx);
/* @more: TERN_DOORBELL_MORE, which the kernel must know */
int tern_doorbell_ring(struct ibv_context *ctx, uint32_t qpn, bool more);

#endif /* TERN_PROVIDER_DOORBELL_H */
