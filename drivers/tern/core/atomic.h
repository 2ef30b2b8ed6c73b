/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Arithmetic of atomics: RFC 7306 5.1. Values are in CPU order; to read, change and
 * write memory as one step is the caller's work.
 */
#ifndef TERN_CORE_ATOMIC_H
#define TERN_CORE_ATOMIC_H

#include "wire.h"

/**
 * struct tern_atomic - an Atomic Request, in CPU order
 * @op: AOpCode; a received one is TERN_ATOMIC_FETCH_ADD or TERN_ATOMIC_CMP_SWAP after
 *	tern_rdmap_segment()
 * @id: Request Identifier; the Response repeats it
 * @stag: Remote STag
 * @to: Remote Tagged Offset; its memory address is a multiple of 8 (S20)
 * @data: Add Data, or Swap Data
 * @data_mask: Add Mask, or Swap Mask
 * @compare: CmpSwap: Compare Data
 * @compare_mask: CmpSwap: Compare Mask
 */
struct tern_atomic {
	u32 op;
	u32 id;
	u32 stag;
	u64 to;
	u64 data;
	u64 data_mask;
	u64 compare;
	u64 compare_mask;
};

/**
 * tern_atomic_add() - masked FetchAdd (RFC 7306 5.1.1)
 * @old: value before
 * @add: Add Data
 * @mask: Add Mask: each set bit is the highest one of a field, whose carry is
 *	dropped; 0: one field of 64 bits
 *
 * Return: the value after.
 */
u64 tern_atomic_add(u64 old, u64 add, u64 mask);

/**
 * tern_atomic_swap() - masked CmpSwap (RFC 7306 5.1.2)
 * @old: value before
 * @a: Swap Data and Mask, Compare Data and Mask
 * @new: result: the value after; @old when they are not equal
 *
 * Return: true when the bits of @old in the Compare Mask are those of Compare Data.
 */
bool tern_atomic_swap(u64 old, const struct tern_atomic *a, u64 *new);

/* the value after @a, either operation; the Response carries @old */
u64 tern_atomic_apply(u64 old, const struct tern_atomic *a);

#endif /* TERN_CORE_ATOMIC_H */
