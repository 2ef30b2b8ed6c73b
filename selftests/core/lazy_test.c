// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Posts that ring later: when a program counts as one that stopped, and what follows. The
 * backstop, the engine and the clock are played by the tests.
 */
#include "lazy.h"
#include "tap.h"

#define TURN	1000

static struct tern_lazy begin(void)
{
	struct tern_lazy lazy = {};

	tern_lazy_init(&lazy);
	return lazy;
}

/* a doorbell with MORE, and the engine takes all before @taken; is LAZY shown? */
static bool ring(struct tern_lazy *lazy, u32 taken)
{
	bool on = tern_lazy_doorbell(lazy, true, lazy->on, TURN);

	if (on)
		tern_lazy_idle(lazy, taken);
	return on;
}

/* it leaves a post, and stops: the backstop looks until it sends */
static void leave_one(struct tern_lazy *lazy, u32 *posted)
{
	(*posted)++;
	while (tern_lazy_look(lazy, *posted))
		;
	tern_lazy_stop(lazy, true);
}

/* Return: doorbells until LAZY is shown again */
static int banned(struct tern_lazy *lazy, u32 *posted)
{
	int n = 0;

	while (!ring(lazy, ++*posted))
		n++;
	return n;
}

TEST(lazy__only_a_doorbell_with_more_turns_it_on, "posts that ring later")
{
	struct tern_lazy lazy = begin();

	expect(!lazy.on);
	expect(!tern_lazy_doorbell(&lazy, false, false, TURN) && !lazy.on);
	expect(tern_lazy_doorbell(&lazy, true, false, TURN) && lazy.on);
	expect(!tern_lazy_doorbell(&lazy, false, true, TURN) && !lazy.on);
}

TEST(lazy__a_stopped_program_is_found_at_the_second_look, "posts that ring later")
{
	struct tern_lazy lazy = begin();

	ring(&lazy, 10);
	expect(tern_lazy_look(&lazy, 13));
	expect(!tern_lazy_look(&lazy, 13));
	tern_lazy_stop(&lazy, true);
	expect(!lazy.on);
}

TEST(lazy__few_new_posts_are_a_stop_and_more_are_none, "posts that ring later")
{
	struct tern_lazy lazy = begin();

	ring(&lazy, 10);
	expect(tern_lazy_look(&lazy, 13));
	expect(tern_lazy_look(&lazy, 17));
	expect(tern_lazy_look(&lazy, 20));
	expect(!tern_lazy_look(&lazy, 23));
}

TEST(lazy__the_first_post_waits_for_eight_looks_at_most, "posts that ring later")
{
	struct tern_lazy lazy = begin();
	u32 i, posted = 0;

	ring(&lazy, posted);
	for (i = 1; i < 8; i++)
		expect(tern_lazy_look(&lazy, posted += 100));
	expect(!tern_lazy_look(&lazy, posted += 100));
}

TEST(lazy__the_looks_begin_again_when_the_engine_takes_entries, "posts that ring later")
{
	struct tern_lazy lazy = begin();

	ring(&lazy, 10);
	expect(tern_lazy_look(&lazy, 11));
	expect(tern_lazy_idle(&lazy, 11));
	expect(tern_lazy_look(&lazy, 11));
	expect(!tern_lazy_look(&lazy, 11));
}

/* received data runs the engine, too: it must not put the second look off */
TEST(lazy__an_engine_that_takes_nothing_changes_nothing, "posts that ring later")
{
	struct tern_lazy lazy = begin();

	ring(&lazy, 10);
	expect(tern_lazy_look(&lazy, 10));
	expect(!tern_lazy_idle(&lazy, 10));
	expect(!tern_lazy_look(&lazy, 10));
}

TEST(lazy__indices_may_wrap, "posts that ring later")
{
	struct tern_lazy lazy = begin();

	ring(&lazy, ~0U - 9);
	expect(tern_lazy_look(&lazy, 1));
	expect(tern_lazy_look(&lazy, 2));
	expect(!tern_lazy_look(&lazy, 3));
	expect(tern_lazy_idle(&lazy, 3));
}

TEST(lazy__the_span_follows_the_fastest_turn, "posts that ring later")
{
	struct tern_lazy lazy = begin();

	expect_eq(tern_lazy_span(&lazy), TERN_LAZY_SPAN_MAX);
	tern_lazy_doorbell(&lazy, false, false, ~0U);
	expect_eq(tern_lazy_span(&lazy), TERN_LAZY_SPAN_MAX);
	tern_lazy_doorbell(&lazy, false, false, 12000);
	expect_eq(tern_lazy_span(&lazy), 96000);
	tern_lazy_doorbell(&lazy, true, true, 50000);
	expect_eq(tern_lazy_span(&lazy), 96000);
	tern_lazy_doorbell(&lazy, true, true, 0);
	expect_eq(tern_lazy_span(&lazy), TERN_LAZY_SPAN_MIN);
}

TEST(lazy__two_strikes_are_free_and_each_further_one_bans_longer, "posts that ring later")
{
	static const int expected[] = { 0, 0, 64, 512, 4096, 4096, 4096 };
	struct tern_lazy lazy = begin();
	u32 i, posted = 0;

	expect(ring(&lazy, posted));
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		leave_one(&lazy, &posted);
		expect_eq(banned(&lazy, &posted), expected[i]);
	}
}

TEST(lazy__sixteen_doorbells_in_time_take_all_strikes_back, "posts that ring later")
{
	struct tern_lazy lazy = begin();
	u32 i, round, posted = 0;

	expect(ring(&lazy, posted));
	for (round = 0; round < 10; round++) {
		leave_one(&lazy, &posted);
		expect_eq(banned(&lazy, &posted), 0);
		for (i = 0; i < 16; i++)
			ring(&lazy, posted += 64);
	}
}

TEST(lazy__fifteen_doorbells_in_time_between_strikes_forgive_none, "posts that ring later")
{
	struct tern_lazy lazy = begin();
	u32 i, round, posted = 0;

	expect(ring(&lazy, posted));
	for (round = 0; round < 3; round++) {
		expect_eq(banned(&lazy, &posted), 0);
		for (i = 0; i < 15 - !round; i++)
			ring(&lazy, posted += 64);
		leave_one(&lazy, &posted);
	}
	expect_eq(banned(&lazy, &posted), 64);
}

TEST(lazy__doorbells_that_ring_each_time_forgive_nothing, "posts that ring later")
{
	struct tern_lazy lazy = begin();
	u32 i, posted = 0;

	expect(ring(&lazy, posted));
	leave_one(&lazy, &posted);
	banned(&lazy, &posted);
	leave_one(&lazy, &posted);
	for (i = 0; i < 100; i++)
		tern_lazy_doorbell(&lazy, false, false, TURN);
	banned(&lazy, &posted);
	leave_one(&lazy, &posted);
	expect_eq(banned(&lazy, &posted), 64);
}

TEST(lazy__a_program_that_left_nothing_gets_no_strike, "posts that ring later")
{
	struct tern_lazy lazy = begin();
	u32 i, posted = 0;

	for (i = 0; i < 10; i++) {
		expect(ring(&lazy, ++posted));
		while (tern_lazy_look(&lazy, posted))
			;
		tern_lazy_stop(&lazy, false);
		expect(!lazy.on);
	}
}
