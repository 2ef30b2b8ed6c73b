/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Add and delete devices (`rdma link`), follow the netdev below each, and find
 * a device by its name.
 */
#ifndef TERN_LINK_H
#define TERN_LINK_H

#include <linux/types.h>

struct net;
struct tern_device;

/**
 * tern_link_get() - find a registered device that is visible in a namespace
 * @net: network namespace of the caller
 * @name: of the device
 *
 * Context: process. Return: the device, to be released by tern_link_put(), or
 * NULL.
 */
struct tern_device *tern_link_get(struct net *net, const char *name);

/**
 * tern_link_next() - walk over the devices that are visible in a namespace
 * @net: network namespace of the caller
 * @after: the core's index of the previous device, -1 for the first
 *
 * Context: process. Return: as tern_link_get().
 */
struct tern_device *tern_link_next(struct net *net, int after);
void tern_link_put(struct tern_device *dev);

/* copy the device's present name to @name, of IB_DEVICE_NAME_MAX bytes */
void tern_link_name(struct tern_device *dev, char *name);

/* module init and exit: exit unregisters all devices and waits for them */
int tern_link_init(void);
void tern_link_exit(void);

#endif /* TERN_LINK_H */
