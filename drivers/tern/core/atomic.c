// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Arithmetic of atomics: RFC 7306 5.1. */
#include "atomic.h"

u64 tern_atomic_add(u64 old, u64 add, u64 mask)
{
	/*
	 * A carry out of a masked bit is dropped: without the masked bits no sum
	 * carries out of a field, and the bits themselves add without carry.
	 */
	return ((old & ~mask) + (add & ~mask)) ^ ((old ^ add) & mask);
}

bool tern_atomic_swap(u64 old, const struct tern_atomic *a, u64 *new)
{
	bool equal = !((a->compare ^ old) & a->compare_mask);

	*new = equal ? (old & ~a->data_mask) | (a->data & a->data_mask) : old;
	return equal;
}

u64 tern_atomic_apply(u64 old, const struct tern_atomic *a)
{
	u64 new;

	if (a->op == TERN_ATOMIC_FETCH_ADD)
		return tern_atomic_add(old, a->data, a->data_mask);
	tern_atomic_swap(old, a, &new);
	return new;
}
