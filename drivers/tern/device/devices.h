/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The registered devices: find them by name, or one after the other. */
#ifndef TERN_DEVICES_H
#define TERN_DEVICES_H

#include <linux/types.h>

struct net;
struct tern_device;

/* @dev was registered, renamed, or is being unregistered; Context: process */
void tern_device_list(struct tern_device *dev);
void tern_device_rename(struct tern_device *dev);
void tern_device_unlist(struct tern_device *dev);

/**
 * tern_device_get() - find a registered device that is visible in a namespace
 * @net: network namespace of the caller
 * @name: of the device
 *
 * Context: process. Return: the device, to be released by tern_device_put(), or
 * NULL.
 */
struct tern_device *tern_device_get(struct net *net, const char *name);

/**
 * tern_device_next() - walk over the devices that are visible in a namespace
 * @net: network namespace of the caller
 * @after: the core's index of the previous device, -1 for the first
 *
 * Context: process. Return: as tern_device_get().
 */
struct tern_device *tern_device_next(struct net *net, int after);
void tern_device_put(struct tern_device *dev);

/* copy the device's present name to @name, of IB_DEVICE_NAME_MAX bytes */
void tern_device_name(struct tern_device *dev, char *name);

#endif /* TERN_DEVICES_H */
