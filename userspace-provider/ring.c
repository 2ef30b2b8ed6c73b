// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Map a queue, and check the sizes that the kernel reported. */

#include <errno.h>
#include <sys/mman.h>
#include <infiniband/driver.h>

#include "ring.h"

static_assert(sizeof(struct tern_ring_hdr) == TERN_RING_DATA,
	      "the entries follow the control words");
static_assert(sizeof(struct tern_cqe) == TERN_CACHELINE,
	      "one completion per cache line");

static bool plausible(const struct tern_uring *uring, uint32_t min_stride)
{
	uint64_t bytes = TERN_RING_DATA +
			 (uint64_t)uring->entries * uring->stride;

	return uring->entries && !(uring->entries & (uring->entries - 1)) &&
	       uring->stride >= min_stride &&
	       uring->stride % TERN_CACHELINE == 0 &&
	       uring->size >= bytes && uring->size <= SIZE_MAX;
}

/*
 * The consumer index is where both roles start: a new queue is empty, and a resized
 * CQ continues there.
 */
int tern_ring_attach(struct tern_ring *ring, void *base,
		     const struct tern_uring *uring, uint32_t min_stride,
		     uint32_t limit)
{
	if (!plausible(uring, min_stride))
		return EPROTO;

	ring->hdr = base;
	ring->size = uring->size;
	ring->mask = uring->entries - 1;
	ring->stride = uring->stride;
	ring->limit = limit < uring->entries ? limit : uring->entries;
	ring->index = __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE);
	ring->peer = ring->index;
	return 0;
}

/*
 * Keep the ring out of a child of fork(). libibverbs decides, as for registered
 * memory, whether this program and kernel need that.
 */
int tern_ring_map(struct tern_ring *ring, void *place, int cmd_fd,
		  const struct tern_uring *uring, uint32_t min_stride,
		  uint32_t limit)
{
	int err, fixed = place ? MAP_FIXED : 0;
	void *base;

	if (!plausible(uring, min_stride))
		return EPROTO;

	base = mmap(place, uring->size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | fixed, cmd_fd, uring->key);
	if (base == MAP_FAILED)
		return errno;
	if (ibv_dontfork_range(base, uring->size)) {
		err = errno;
		munmap(base, uring->size);
		return err;
	}
	return tern_ring_attach(ring, base, uring, min_stride, limit);
}

void tern_ring_unmap(struct tern_ring *ring)
{
	if (!ring->hdr)
		return;
	ibv_dofork_range(ring->hdr, ring->size);
	munmap(ring->hdr, ring->size);
	ring->hdr = NULL;
}
