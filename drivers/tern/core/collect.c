// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Posts of a kernel user: whether a worker that sends many at once is worth its delay. */
#include "collect.h"

/* a trial is so many runs of the worker, and not in vain if so many posts joined another */
#define RUNS		8
#define JOINED		4
/* in vain, too, if the worker was late so often without RUNS runs in time in between */
#define LATE		2

/* posts sent at once, by the trials in vain before them; the first may have been bad luck */
static const u16 alone[] = { 0, 0, 64, 512, 4096 };

bool tern_collect_post(struct tern_collect *c)
{
	u16 left = READ_ONCE(c->alone);

	if (left)
		WRITE_ONCE(c->alone, left - 1);
	return !left;
}

void tern_collect_joined(struct tern_collect *c)
{
	u8 joined = READ_ONCE(c->joined);

	if (joined < JOINED)
		WRITE_ONCE(c->joined, joined + 1);
}

static void end_trial(struct tern_collect *c)
{
	u8 vain = 0;

	if (READ_ONCE(c->joined) < JOINED)
		vain = min_t(u8, READ_ONCE(c->vain) + 1, ARRAY_SIZE(alone) - 1);
	WRITE_ONCE(c->runs, 0);
	WRITE_ONCE(c->joined, 0);
	WRITE_ONCE(c->vain, vain);
	WRITE_ONCE(c->alone, alone[vain]);
}

void tern_collect_ran(struct tern_collect *c)
{
	u8 runs = READ_ONCE(c->runs) + 1;

	WRITE_ONCE(c->runs, runs);
	if (runs < RUNS)
		return;
	WRITE_ONCE(c->late, 0);
	end_trial(c);
}

/*
 * Whatever the trial had before: a lone post that comes next must not wait for its end. And on a
 * CPU that has no time for the worker, posts that join wait longer than it is worth.
 */
void tern_collect_late(struct tern_collect *c)
{
	u8 late = min_t(u8, READ_ONCE(c->late) + 1, LATE);

	WRITE_ONCE(c->late, late);
	if (late == LATE)
		WRITE_ONCE(c->joined, 0);
	end_trial(c);
}
