// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The time limit of a close (Q18): RFC 5044 7.2 sets none. */
#include "cm_clock.h"

void tern_cm_clock_close(struct tern_cm_clock *clock, u64 now, u64 span,
			 u32 spans, u32 moved)
{
	if (!clock->limit)
		clock->limit = now + TERN_CM_LIMIT_SPANS * span;
	clock->due = min(now + spans * span, clock->limit);
	clock->moved = moved;
}

void tern_cm_clock_look(struct tern_cm_clock *clock, u64 now, u64 span,
			u32 moved)
{
	if (moved == clock->moved)
		return;
	clock->moved = moved;
	clock->due = max(clock->due, min(now + span, clock->limit));
}
