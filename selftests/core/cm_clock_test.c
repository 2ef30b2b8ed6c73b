// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The time limit of a close: it moves with the data that arrives. */
#include "cm_clock.h"
#include "tap.h"

#define SPAN	2000
#define START	1000000

static struct tern_cm_clock begin(u32 spans)
{
	struct tern_cm_clock c = {};

	tern_cm_clock_close(&c, START, SPAN, spans, 7);
	return c;
}

TEST(clock__no_progress_ends_the_wait_after_one_span, "DDP-067")
{
	struct tern_cm_clock c = begin(1);

	for (u64 now = START; now < START + SPAN; now += 100)
		tern_cm_clock_look(&c, now, SPAN, 7);
	expect_eq(c.due, START + SPAN);
}

TEST(clock__each_byte_restarts_the_span, "DDP-067 RDMAP-118")
{
	struct tern_cm_clock c = begin(1);

	tern_cm_clock_look(&c, START + 1500, SPAN, 8);
	expect_eq(c.due, START + 3500);
	tern_cm_clock_look(&c, START + 3400, SPAN, 8);
	expect_eq(c.due, START + 3500);
	tern_cm_clock_look(&c, START + 3499, SPAN, 9);
	expect_eq(c.due, START + 5499);
}

TEST(clock__byte_count_may_wrap, "DDP-067")
{
	struct tern_cm_clock c = {};

	tern_cm_clock_close(&c, START, SPAN, 1, ~0U);
	tern_cm_clock_look(&c, START + 1000, SPAN, 0);
	expect_eq(c.due, START + 3000);
}

TEST(clock__progress_never_shortens_the_limit, "DDP-067")
{
	struct tern_cm_clock c = begin(TERN_CM_DRAIN_SPANS);

	tern_cm_clock_look(&c, START + 100, SPAN, 8);
	expect_eq(c.due, START + 15 * SPAN);
	tern_cm_clock_look(&c, START + 15 * SPAN - 1, SPAN, 9);
	expect_eq(c.due, START + 16 * SPAN - 1);
}

/* a byte at each poll for ever: a step of the close does not restart the limit */
TEST(clock__slow_progress_ends_at_the_total_limit, "DDP-067")
{
	struct tern_cm_clock c = begin(TERN_CM_DRAIN_SPANS);
	u64 now = START;
	u32 moved = 7;

	while (now < c.due && now < START + 1000 * SPAN) {
		now += SPAN / 2;
		tern_cm_clock_look(&c, now, SPAN, ++moved);
		if (now == START + 100 * SPAN)
			tern_cm_clock_close(&c, now, SPAN, 1, moved);
	}
	expect_eq(now, START + 150 * SPAN);
}

TEST(clock__late_close_does_not_extend_the_limit, "DDP-067")
{
	struct tern_cm_clock c = begin(TERN_CM_DRAIN_SPANS);

	tern_cm_clock_close(&c, START + 149 * SPAN, SPAN, TERN_CM_DRAIN_SPANS, 8);
	expect_eq(c.due, START + 150 * SPAN);
}
