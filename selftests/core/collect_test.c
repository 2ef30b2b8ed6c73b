// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Posts of a kernel user: when a worker sends them. The tests play the worker. */
#include "collect.h"
#include "tap.h"

#define TRIAL	8
#define TOO_MANY	100000

/*
 * A trial: each run of the worker follows a post, and @joined more that come before it runs.
 * Return: posts that are sent at once in it.
 */
static int trial(struct tern_collect *c, int joined)
{
	int alone = 0, i, run;

	for (run = 0; run < TRIAL; run++) {
		while (!tern_collect_post(c) && alone < TOO_MANY)
			alone++;
		for (i = 0; i < joined; i++)
			tern_collect_joined(c);
		tern_collect_ran(c);
	}
	return alone;
}

static void in_vain(struct tern_collect *c, int trials)
{
	while (trials--)
		trial(c, 0);
}

TEST(collect__a_worker_sends_posts_that_come_together, "posts of a kernel user")
{
	struct tern_collect c = {};
	int i;

	for (i = 0; i < 100; i++)
		expect_eq(trial(&c, 1), 0);
}

TEST(collect__every_second_one_is_enough, "posts of a kernel user")
{
	struct tern_collect c = {};
	int i, run;

	for (i = 0; i < 100; i++) {
		for (run = 0; run < TRIAL; run++) {
			expect(tern_collect_post(&c));
			if (run % 2)
				tern_collect_joined(&c);
			tern_collect_ran(&c);
		}
	}
	expect(tern_collect_post(&c));
}

TEST(collect__lone_posts_are_sent_at_once_for_longer_and_longer, "posts of a kernel user")
{
	static const int alone[] = { 0, 0, 64, 512, 4096, 4096 };
	struct tern_collect c = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(alone); i++)
		expect_eq(trial(&c, 0), alone[i]);
}

TEST(collect__one_good_trial_makes_up_for_all, "posts of a kernel user")
{
	struct tern_collect c = {};

	in_vain(&c, 5);
	expect_eq(trial(&c, 1), 4096);
	expect_eq(trial(&c, 0), 0);
	expect_eq(trial(&c, 0), 0);
	expect_eq(trial(&c, 0), 64);
}

TEST(collect__a_late_worker_ends_a_trial, "posts of a kernel user")
{
	struct tern_collect c = {};

	in_vain(&c, 2);
	expect_eq(trial(&c, 1), 64);
	tern_collect_late(&c);
	tern_collect_late(&c);
	expect_eq(trial(&c, 0), 64);
}

/* many posts join, and the worker does not run in time */
static void be_late(struct tern_collect *c)
{
	int n;

	for (n = 0; n < TRIAL; n++)
		tern_collect_joined(c);
	tern_collect_late(c);
}

TEST(collect__a_late_worker_forgets_who_joined, "posts of a kernel user")
{
	struct tern_collect c = {};

	be_late(&c);
	expect_eq(trial(&c, 0), 0);
	expect_eq(trial(&c, 0), 0);
	expect_eq(trial(&c, 0), 64);
}

TEST(collect__a_late_worker_that_many_wait_for_goes_on, "posts of a kernel user")
{
	struct tern_collect c = {};
	int i;

	for (i = 0; i < 10; i++) {
		be_late(&c);
		expect_eq(trial(&c, 0), 0);
	}
}

TEST(collect__a_worker_that_is_late_now_and_then_is_in_vain, "posts of a kernel user")
{
	struct tern_collect c = {};
	int i, run;

	for (i = 0; i < 3; i++) {
		for (run = 1; run < TRIAL; run++) {
			expect(tern_collect_post(&c));
			tern_collect_joined(&c);
			tern_collect_ran(&c);
		}
		be_late(&c);
	}
	expect(!tern_collect_post(&c));
}

TEST(collect__a_worker_that_is_late_again_and_again_is_in_vain, "posts of a kernel user")
{
	struct tern_collect c = {};
	int i;

	for (i = 0; i < 3; i++)
		be_late(&c);
	expect_eq(trial(&c, 1), 64);
	/* more often than a counter counts */
	for (i = 0; i < 300; i++)
		be_late(&c);
	expect_eq(trial(&c, 1), 4096);
	be_late(&c);
	expect(tern_collect_post(&c));
}
