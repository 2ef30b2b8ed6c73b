/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Index rules of the rings that the kernel shares with programs: free-running
 * 32-bit indices, a power of two of entries, release to publish, acquire to
 * consume. The other side's index is hostile: a fill level over the size is an
 * error, never an access.
 */
#ifndef TERN_CORE_RING_H
#define TERN_CORE_RING_H

#include "env.h"

/**
 * tern_ring_avail() - entries that the producer published
 * @prod: the shared producer index
 * @cons: our private consumer index
 * @size: entries, a power of two
 *
 * Return: 0..@size, or -EOVERFLOW when the producer lies.
 */
static inline int tern_ring_avail(const u32 *prod, u32 cons, u32 size)
{
	/* pairs with the producer's release: the entries are there */
	u32 n = smp_load_acquire(prod) - cons;

	return n <= size ? (int)n : -EOVERFLOW;
}

/**
 * tern_ring_space() - entries the producer may still fill
 * @prod: our private producer index
 * @cons: the shared consumer index
 * @size: entries, a power of two
 *
 * Return: 0..@size, or -EOVERFLOW when the consumer lies.
 */
static inline int tern_ring_space(u32 prod, const u32 *cons, u32 size)
{
	/* pairs with the consumer's release: it is done with the entries */
	u32 n = prod - smp_load_acquire(cons);

	return n <= size ? (int)(size - n) : -EOVERFLOW;
}

/* make what was written to the entries, or read from them, final */
static inline void tern_ring_publish(u32 *index, u32 value)
{
	/* pairs with the acquire of the other side */
	smp_store_release(index, value);
}

#endif /* TERN_CORE_RING_H */
