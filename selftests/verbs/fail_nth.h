/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Refuse each allocation of a call in turn: fail_nth.c. */
#ifndef VERBS_FAIL_NTH_H
#define VERBS_FAIL_NTH_H

#include "pair.h"

/**
 * struct call - a call whose allocations are refused, one at a time
 * @make: makes the call between arm() and disarm(). Return: whether it worked; if not, errno
 * @undo: after each @make, whether that worked or not. May be NULL.
 */
struct call {
	bool (*make)(void);
	void (*undo)(void);
};

/* the kernel refuses one allocation of this task from now on */
void arm(void);
/* none any more; keeps errno */
void disarm(void);

#define ARMED(call) ({ arm(); typeof(call) ret_ = (call); disarm(); ret_; })

/* @c for the 1st, 2nd ... allocation, until all come through, and then without a refusal */
void each_nth(const struct call *c);

extern const struct tap_theme fail_nth_link_theme;

#endif /* VERBS_FAIL_NTH_H */
