/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Index rules of the rings that the kernel shares with programs: free-running
 * 32-bit indices, a power of two of entries, release to publish, acquire to
 * consume. The other side's index is not trusted: a fill level above the size
 * is an error and no entry is read.
 */
#ifndef TERN_CORE_RING_H
#define TERN_CORE_RING_H

#include "env.h"

/**
 * tern_ring_avail() - entries that the producer has published
 * @prod: the shared producer index
 * @cons: our private consumer index
 * @size: entries, a power of two
 *
 * Return: 0..@size, or -EOVERFLOW when the producer's index is invalid.
 */
static inline int tern_ring_avail(const u32 *prod, u32 cons, u32 size)
{
	/* pairs with the producer's release: the entries are written */
	u32 n = smp_load_acquire(prod) - cons;

	return n <= size ? (int)n : -EOVERFLOW;
}

/**
 * tern_ring_space() - entries that the producer may still fill
 * @prod: our private producer index
 * @cons: the shared consumer index
 * @size: entries, a power of two
 *
 * Return: 0..@size, or -EOVERFLOW when the consumer's index is invalid.
 */
static inline int tern_ring_space(u32 prod, const u32 *cons, u32 size)
{
	/* pairs with the consumer's release: the entries are free */
	u32 n = prod - smp_load_acquire(cons);

	return n <= size ? (int)(size - n) : -EOVERFLOW;
}

/**
 * tern_ring_ended() - where the entries begin that make no room
 * @cons: the shared consumer index
 * @counted: entries that made room, by counts
 *
 * A count may be too large, by completions of a QP that had the number before: no entry
 * that the consumer has not taken makes room. Return: @counted, or *@cons if that is earlier.
 */
static inline u32 tern_ring_ended(const u32 *cons, u32 counted)
{
	/* pairs with the consumer's release: the entries are free */
	u32 taken = smp_load_acquire(cons);

	return (s32)(taken - counted) < 0 ? taken : counted;
}

/* publish entries that were written, or give back entries that were read */
static inline void tern_ring_publish(u32 *index, u32 value)
{
	/* pairs with the acquire of the other side */
	smp_store_release(index, value);
}

#endif /* TERN_CORE_RING_H */
