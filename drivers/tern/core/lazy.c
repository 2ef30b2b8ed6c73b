// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Posts that ring later: when a program has stopped, and for how long it is not believed. */
#include "lazy.h"

/*
 * The span between two looks is so many turns of the program, as it takes them from one
 * doorbell to the next: where system calls are slow, a program that goes on does so slowly, too.
 */
#define TURNS		8
/* a program posts so many between two looks; it has stopped after so many looks with fewer */
#define POSTS		4
#define QUIET		2
/* what was posted first waits for so many looks at most */
#define LOOKS		8
/*
 * So many doorbells in time take the strikes back, of 64 posts each if the program streams.
 * And by how many strikes there were, so many doorbells pass until posts may ring later
 * again. Two are free: the program may have been preempted.
 */
#define FORGIVE		16
static const u16 bans[] = { 0, 0, 64, 512, 4096 };

void tern_lazy_init(struct tern_lazy *lazy)
{
	lazy->turn = TERN_LAZY_SPAN_MAX;
}

static void forgive(struct tern_lazy *lazy)
{
	if (++lazy->in_time < FORGIVE)
		return;
	lazy->in_time = 0;
	lazy->strikes = 0;
}

bool tern_lazy_doorbell(struct tern_lazy *lazy, bool more, bool in_time, u32 turn)
{
	lazy->turn = min(lazy->turn, turn);
	if (in_time)
		forgive(lazy);
	lazy->on = more && !lazy->banned;
	if (lazy->banned)
		lazy->banned--;
	return lazy->on;
}

bool tern_lazy_idle(struct tern_lazy *lazy, u32 taken)
{
	if (lazy->taken == taken)
		return false;
	lazy->taken = taken;
	lazy->looked_at = taken;
	lazy->looks = 0;
	lazy->quiet = 0;
	return true;
}

u32 tern_lazy_span(const struct tern_lazy *lazy)
{
	return clamp_t(u32, lazy->turn * TURNS, TERN_LAZY_SPAN_MIN, TERN_LAZY_SPAN_MAX);
}

bool tern_lazy_look(struct tern_lazy *lazy, u32 posted)
{
	bool few = posted - lazy->looked_at < POSTS;

	lazy->looked_at = posted;
	lazy->looks++;
	lazy->quiet = few ? lazy->quiet + 1 : 0;
	return lazy->quiet < QUIET && lazy->looks < LOOKS;
}

void tern_lazy_stop(struct tern_lazy *lazy, bool left)
{
	lazy->on = false;
	if (!left)
		return;
	lazy->banned = bans[lazy->strikes];
	lazy->strikes = min_t(u8, lazy->strikes + 1, ARRAY_SIZE(bans) - 1);
	lazy->in_time = 0;
}
