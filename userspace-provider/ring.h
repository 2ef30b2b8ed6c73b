/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * One queue shared with the kernel: the provider's side of the rules in tern-abi.h.
 *
 * The provider keeps its own index in private memory and checks the range of the
 * kernel's: when the device is removed, zero pages may replace the mapping, and a
 * queue then only looks full (producer) or broken (consumer).
 */
#ifndef TERN_PROVIDER_RING_H
#define TERN_PROVIDER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/tern-abi.h>

/**
 * struct tern_ring - a mapped queue
 * @hdr: the mapping: control words, then the entries
 * @size: bytes mapped
 * @mask: entries - 1
 * @stride: bytes from one entry to the next
 * @limit: entries that may be in flight, at most mask + 1
 * @index: the provider's index: next to publish (SQ, RQ, SRQ) or to consume (CQ)
 * @peer: the kernel's index when it was last read; of an SQ or RQ with @polled: the
 *	entries before this index made room
 * @polled: completions of an SQ or RQ that were polled; else NULL
 */
struct tern_ring {
	struct tern_ring_hdr *hdr;
	size_t size;
	uint32_t mask;
	uint32_t stride;
	uint32_t limit;
	uint32_t index;
	uint32_t peer;
	const uint32_t *polled;
};

/*
 * @place: a mapping of the program's, as long as the ring in pages, which the ring replaces; or
 * NULL: anywhere. On failure it may be mapped still, or not.
 */
int tern_ring_map(struct tern_ring *ring, void *place, int cmd_fd,
		  const struct tern_uring *uring, uint32_t min_stride,
		  uint32_t limit);
void tern_ring_unmap(struct tern_ring *ring);
int tern_ring_attach(struct tern_ring *ring, void *base,
		     const struct tern_uring *uring, uint32_t min_stride,
		     uint32_t limit);

static inline void *tern_ring_entry(const struct tern_ring *ring,
				    uint32_t index)
{
	return (uint8_t *)ring->hdr + TERN_RING_DATA +
	       (size_t)(index & ring->mask) * ring->stride;
}

/*
 * Producer: the entries before this index made room, see struct tern_ring_hdr. None that
 * the kernel still has: a QP may have the number, and so the completions, of one that
 * was destroyed.
 */
static inline uint32_t tern_ring_ended(const struct tern_ring *ring)
{
	uint32_t ended, cons;

	if (!ring->polled)
		return __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE);
	ended = __atomic_load_n(ring->polled, __ATOMIC_ACQUIRE) +
		__atomic_load_n(&ring->hdr->silent, __ATOMIC_RELAXED);
	cons = __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE);
	return (int32_t)(cons - ended) < 0 ? cons : ended;
}

/* Producer: has the kernel ended all entries before @next, which was published? */
static inline bool tern_ring_has_ended(const struct tern_ring *ring, uint32_t next)
{
	return __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE) - next <= ring->mask;
}

/*
 * Producer: is there no room for an entry at @next? What others write is read only when
 * @peer says that the ring is full.
 */
static inline bool tern_ring_full(struct tern_ring *ring, uint32_t next)
{
	if (next - ring->peer < ring->limit)
		return false;
	ring->peer = tern_ring_ended(ring);
	return next - ring->peer >= ring->limit;
}

/* Producer: publish all entries before @next. */
static inline void tern_ring_publish(struct tern_ring *ring, uint32_t next)
{
	ring->index = next;
	__atomic_store_n(&ring->hdr->prod, next, __ATOMIC_RELEASE);
}

/* Producer: what the kernel asks for; call this after publishing. */
static inline uint32_t tern_ring_flags(const struct tern_ring *ring)
{
	/* pairs with the kernel's barrier between its @flags and @prod */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->hdr->flags, __ATOMIC_RELAXED);
}

/* Consumer: entries to consume; more than mask + 1 when the ring is broken. */
static inline uint32_t tern_ring_avail(struct tern_ring *ring)
{
	ring->peer = __atomic_load_n(&ring->hdr->prod, __ATOMIC_ACQUIRE);
	return ring->peer - ring->index;
}

/* Consumer: release all entries before @index. */
static inline void tern_ring_release(struct tern_ring *ring)
{
	__atomic_store_n(&ring->hdr->cons, ring->index, __ATOMIC_RELEASE);
}

#endif /* TERN_PROVIDER_RING_H */
