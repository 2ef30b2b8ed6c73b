// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Indices of the rings that are shared with programs. */
#include "ring.h"
#include "tap.h"

TEST(ring_avail__any_fill_at_any_index, "level and room at each wrap")
{
	static const u32 starts[] = { 0, 1, 63, 64, ~0U - 64, ~0U - 1, ~0U };

	for (u32 i = 0; i < ARRAY_SIZE(starts); i++)
		for (u32 fill = 0; fill <= 64; fill++) {
			u32 cons = starts[i], prod = cons + fill;

			expect_eq(tern_ring_avail(&prod, cons, 64), fill);
			expect_eq(tern_ring_space(prod, &cons, 64), 64 - fill);
		}
}

TEST(ring_avail__index_out_of_range_is_an_error, "an index of the other side")
{
	static const u32 lies[] = { 65, 66, 128, 1U << 31, ~0U - 1, ~0U };

	for (u32 i = 0; i < ARRAY_SIZE(lies); i++) {
		u32 cons = 5, prod = cons + lies[i];

		expect_eq(tern_ring_avail(&prod, cons, 64), -EOVERFLOW);
		expect_eq(tern_ring_space(prod, &cons, 64), -EOVERFLOW);
	}
}

TEST(ring_publish__is_seen_by_the_other_side, "entry before index")
{
	u32 index = 0;

	tern_ring_publish(&index, 7);
	expect_eq(tern_ring_avail(&index, 0, 8), 7);
}
