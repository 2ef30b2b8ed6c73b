/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The memory of one ring: SQ, RQ, SRQ or CQ. tern-abi.h defines the layout, for
 * programs and kernel users alike; only a program's ring is mapped.
 */
#ifndef TERN_QUEUE_H
#define TERN_QUEUE_H

#include <rdma/ib_verbs.h>

#include "uapi/rdma/tern-abi.h"

/**
 * struct tern_queue - one ring
 * @hdr: the shared control words
 * @size: entries, a power of two
 * @stride: bytes from entry to entry, a multiple of 64
 * @bytes: bytes of the mapping, a multiple of PAGE_SIZE
 * @mmap_entry: NULL for a kernel user
 */
struct tern_queue {
	struct tern_ring_hdr *hdr;
	u32 size;
	u32 stride;
	size_t bytes;
	struct tern_mmap_entry *mmap_entry;
};

/**
 * struct tern_mmap_entry - memory that a program may map
 * @rdma_entry: the core's part
 * @addr: the ring; freed with the entry's last reference, since an mmap() may
 *	run while the queue is destroyed
 */
struct tern_mmap_entry {
	struct rdma_user_mmap_entry rdma_entry;
	void *addr;
};

/**
 * tern_queue_create() - allocate a ring, zeroed
 * @q: result
 * @ctx: the program's context, NULL for a kernel user
 * @entries: wanted, rounded up to a power of two (at least 1)
 * @entry_size: bytes an entry needs, rounded up to a multiple of 64
 *
 * Context: process, may sleep. Return: 0 or -ENOMEM, -EINVAL.
 */
int tern_queue_create(struct tern_queue *q, struct ib_ucontext *ctx,
		      u32 entries, u32 entry_size);

/**
 * tern_queue_destroy() - free a ring; @q may be zeroed
 * @q: ring
 *
 * Context: process, may sleep. The program's mappings stay valid: they keep the
 * pages.
 */
void tern_queue_destroy(struct tern_queue *q);

/**
 * tern_queue_retire() - destroy the ring of an object that may still be read
 * @q: ring, zeroed under @lock
 * @lock: guards @q
 *
 * `rdma resource` may read an object while it is destroyed: under @lock it
 * finds a ring or none.
 */
void tern_queue_retire(struct tern_queue *q, spinlock_t *lock);

/* fill in the program's description of the ring; all zero if q->size is 0 */
void tern_queue_describe(const struct tern_queue *q, struct tern_uring *out);

int tern_queue_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma);
void tern_queue_mmap_free(struct rdma_user_mmap_entry *rdma_entry);

/* the entry of a free-running @index */
static inline void *tern_queue_entry(const struct tern_queue *q, u32 index)
{
	return (void *)q->hdr + TERN_RING_DATA +
	       (size_t)(index & (q->size - 1)) * q->stride;
}

/*
 * Copy @n elements of an entry; the program may change them at any time, so each word is read
 * only once. Return: their total length, in bytes, as copied.
 */
static inline u64 tern_sges_copy(struct tern_sge *to, const struct tern_sge *from, u32 n)
{
	u64 len = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		u32 length = READ_ONCE(from[i].length);

		to[i].addr = READ_ONCE(from[i].addr);
		to[i].length = length;
		to[i].lkey = READ_ONCE(from[i].lkey);
		len += length;
	}
	return len;
}

#endif /* TERN_QUEUE_H */
