// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* A queue that the program fills: a send queue, a receive queue or an SRQ. */

#include "queue.h"

/*
 * @max_wr and @max_sge are what the kernel granted. The ring may have more entries
 * than @max_wr: the rest stays unused. @list_offset is the offset of the
 * scatter/gather list in an entry.
 */
int tern_queue_create(struct tern_queue *queue, int cmd_fd,
		      const struct tern_uring *uring, uint32_t list_offset,
		      uint32_t max_wr, uint32_t max_sge, bool locks)
{
	int err;

	if (max_sge > TERN_MAX_SGE)
		max_sge = TERN_MAX_SGE;
	queue->max_sge = max_sge;

	err = tern_lock_init(&queue->lock, locks);
	if (err)
		return err;
	err = tern_ring_map(&queue->ring, NULL, cmd_fd, uring,
			    list_offset + max_sge * sizeof(struct tern_sge),
			    max_wr);
	if (err)
		tern_lock_destroy(&queue->lock);
	return err;
}

/* A queue that was never created (the RQ of a QP with an SRQ) has no ring. */
void tern_queue_destroy(struct tern_queue *queue)
{
	if (!queue->ring.hdr)
		return;
	tern_ring_unmap(&queue->ring);
	tern_lock_destroy(&queue->lock);
}
