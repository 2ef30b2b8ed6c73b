/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* RCU grace periods that a program can ask for. */
#ifndef TERN_GRACE_H
#define TERN_GRACE_H

#include <linux/types.h>

struct tern_device;

/**
 * tern_grace_period() - wait until all present RCU readers are done
 * @dev: device, whose counters count both kinds
 * @program: a program asks, and may do so in a loop
 *
 * Context: process, sleeps: for microseconds, by interrupting each busy CPU;
 * for some tens of milliseconds where programs asked for too many of these.
 */
void tern_grace_period(struct tern_device *dev, bool program);

#endif /* TERN_GRACE_H */
