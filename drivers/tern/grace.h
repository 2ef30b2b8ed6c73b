/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef TERN_GRACE_H
#define TERN_GRACE_H

#include <linux/types.h>

struct tern_device;

/**
 * tern_grace_period() - wait until all RCU readers that are there now are done
 * @dev: device, whose counters tell how
 * @program: a program asks, and may do so in a loop
 *
 * Context: process, sleeps: for microseconds, by interrupting each CPU that is busy;
 * for some tens of milliseconds where programs asked for too many of these.
 */
void tern_grace_period(struct tern_device *dev, bool program);

#endif /* TERN_GRACE_H */
