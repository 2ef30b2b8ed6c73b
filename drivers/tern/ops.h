/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The creation of a device. */
#ifndef TERN_OPS_H
#define TERN_OPS_H

struct net_device;

/**
 * tern_device_create() - create a device and register it
 * @name: of the device, not a pattern
 * @netdev: checked by the caller
 *
 * Context: process, RTNL not held. Return: 0, -EEXIST for a name in use, or the
 * core's error.
 */
int tern_device_create(const char *name, struct net_device *netdev);

#endif /* TERN_OPS_H */
