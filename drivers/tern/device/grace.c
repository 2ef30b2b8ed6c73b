// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* RCU grace periods for objects of programs, and the limit for fast ones. */
#include "grace.h"

#include <linux/ratelimit.h>
#include <linux/rcupdate.h>

#include "device.h"

/*
 * An expedited grace period interrupts the other CPUs, which are not the
 * program's. This many per second cost each of them a thousandth of its time.
 * The budget is one for all programs, since a program can have any number of
 * contexts. Above it, programs share RCU's normal grace periods.
 */
#define EXPEDITED_PER_SECOND	1000

static struct ratelimit_state budget =
	RATELIMIT_STATE_INIT_FLAGS(budget, HZ, EXPEDITED_PER_SECOND,
				   RATELIMIT_MSG_ON_RELEASE);

/* a device removal is not a program's loop, and others wait for it */
static bool is_limited(struct tern_device *dev, bool program)
{
	return program && !mutex_is_locked(&dev->ibdev.unregistration_lock);
}

void tern_grace_period(struct tern_device *dev, bool program)
{
	if (!is_limited(dev, program) || __ratelimit(&budget)) {
		tern_stat_inc(dev->stats, GRACE_EXPEDITED);
		synchronize_rcu_expedited();
	} else {
		tern_stat_inc(dev->stats, GRACE_WAITED);
		synchronize_rcu();
	}
}
