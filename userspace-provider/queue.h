/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A queue that the program fills: a send queue, a receive queue or an SRQ. */
#ifndef TERN_PROVIDER_QUEUE_H
#define TERN_PROVIDER_QUEUE_H

#include "lock.h"
#include "ring.h"

/**
 * struct tern_queue - a queue of work requests
 * @ring: the entries; the provider produces
 * @lock: guards @ring
 * @max_sge: longest scatter/gather list of an entry
 */
struct tern_queue {
	struct tern_ring ring;
	struct tern_lock lock;
	uint32_t max_sge;
};

int tern_queue_create(struct tern_queue *queue, int cmd_fd,
		      const struct tern_uring *uring, uint32_t list_offset,
		      uint32_t max_wr, uint32_t max_sge, bool locks);
void tern_queue_destroy(struct tern_queue *queue);

#endif /* TERN_PROVIDER_QUEUE_H */
