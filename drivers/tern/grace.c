// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "grace.h"

#include <linux/ratelimit.h>
#include <linux/rcupdate.h>

#include "device.h"

/*
 * An expedited grace period interrupts the other CPUs, which are not the program's. So
 * many a second cost each of them a thousandth of its time, and are enough for programs
 * that end with all their objects. It is one budget for all programs, since a program
 * can have as many contexts as it likes. Whoever is over it shares RCU's own grace
 * periods with all others.
 */
#define EXPEDITED_PER_SECOND	1000

static struct ratelimit_state budget =
	RATELIMIT_STATE_INIT_FLAGS(budget, HZ, EXPEDITED_PER_SECOND,
				   RATELIMIT_MSG_ON_RELEASE);

/* what ends with the device is no loop of a program's, and others wait for it */
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
