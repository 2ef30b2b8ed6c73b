/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The time limit of an endpoint's state. A close (Q18) may go on while TCP
 * moves bytes, up to a limit: a proper close loses nothing that TCP had
 * accepted, and a peer that acknowledges a byte now and then cannot hold a
 * socket forever.
 */
#ifndef TERN_CORE_CM_CLOCK_H
#define TERN_CORE_CM_CLOCK_H

#include "env.h"

/* spans that a close starts with while posted sends still drain */
#define TERN_CM_DRAIN_SPANS	15
/* spans from the start of a close to its limit, whatever TCP moves */
#define TERN_CM_LIMIT_SPANS	150

/**
 * struct tern_cm_clock - when a state has to end
 * @due: when the state's time is up, 0 for a state without a limit
 * @limit: latest end of a close, 0 until one begins
 * @moved: bytes that had moved at the last look
 *
 * Times are in any unit, from a clock that never reads 0.
 */
struct tern_cm_clock {
	u64 due;
	u64 limit;
	u32 moved;
};

/**
 * tern_cm_clock_close() - begin a close, or its next step
 * @clock: in use, or zero
 * @now: time
 * @span: how long a close may stand still
 * @spans: spans until the close is due, if nothing moves
 * @moved: bytes that have moved, modulo 2^32
 */
void tern_cm_clock_close(struct tern_cm_clock *clock, u64 now, u64 span,
			 u32 spans, u32 moved);

/**
 * tern_cm_clock_look() - give a close more time if bytes moved
 * @clock: set by tern_cm_clock_close()
 * @now: time
 * @span: as above
 * @moved: bytes that have moved
 *
 * If bytes moved since the last look, @clock->due is at least @span from now,
 * but never after the limit.
 */
void tern_cm_clock_look(struct tern_cm_clock *clock, u64 now, u64 span,
			u32 moved);

#endif /* TERN_CORE_CM_CLOCK_H */
