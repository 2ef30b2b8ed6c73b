/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long a state of a connection endpoint may take. A close may take as long as
 * octets move, up to a limit: who closes well loses nothing that TCP had taken, and
 * who acknowledges an octet now and then does not hold a socket for ever.
 */
#ifndef TERN_CORE_CM_CLOCK_H
#define TERN_CORE_CM_CLOCK_H

#include "env.h"

/* a close that waits for what was posted, too, begins with so many spans */
#define TERN_CM_DRAIN_SPANS	15
/* spans from the first that was set, however many octets move */
#define TERN_CM_LIMIT_SPANS	150

/**
 * struct tern_cm_clock - the end of a state's time
 * @due: when it is
 * @limit: a close: when it is at the latest, 0 before
 * @moved: octets that had moved at the last look
 *
 * Times are in any unit, of one clock that is never 0.
 */
struct tern_cm_clock {
	u64 due;
	u64 limit;
	u32 moved;
};

/**
 * tern_cm_clock_close() - a close begins, or comes a step further
 * @clock: set already, or zero
 * @now: time
 * @span: how long octets may stand still
 * @spans: how many of these it has at first
 * @moved: octets that have moved, modulo 2^32
 */
void tern_cm_clock_close(struct tern_cm_clock *clock, u64 now, u64 span,
			 u32 spans, u32 moved);

/**
 * tern_cm_clock_look() - a look at a close, at any time
 * @clock: set by tern_cm_clock_close()
 * @now: time
 * @span: as above
 * @moved: octets that have moved
 *
 * When more have moved than at the last look, @clock->due is @span from now, or the
 * limit.
 */
void tern_cm_clock_look(struct tern_cm_clock *clock, u64 now, u64 span,
			u32 moved);

#endif /* TERN_CORE_CM_CLOCK_H */
