/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Are the posts of a kernel user sent one by one, or by a worker that finds many? A packet
 * costs more than a message, so many are better; but a worker makes each wait for its turn. So it
 * is tried from time to time, and goes on for as long as posts do come together.
 */
#ifndef TERN_CORE_COLLECT_H
#define TERN_CORE_COLLECT_H

#include "env.h"

/**
 * struct tern_collect - how the posts of a send queue are sent
 * @runs: of the worker, in this trial
 * @joined: posts in this trial that found the worker queued by another
 * @vain: trials in a row in which few joined
 * @late: times that the worker did not run in time, since a whole trial in which it did
 * @alone: posts that are sent at once, until the next trial
 *
 * Zeroed at the start of a QP. No lock guards it: a count may be lost.
 */
struct tern_collect {
	u8 runs;
	u8 joined;
	u8 vain;
	u8 late;
	u16 alone;
};

/* Return: a worker sends this post; else it is sent at once */
bool tern_collect_post(struct tern_collect *c);

/* a post found the worker queued */
void tern_collect_joined(struct tern_collect *c);

/* the worker runs */
void tern_collect_ran(struct tern_collect *c);

/* the worker did not run in time */
void tern_collect_late(struct tern_collect *c);

#endif /* TERN_CORE_COLLECT_H */
