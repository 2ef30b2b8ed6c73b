/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Devices as users add and delete them: `rdma link`, what happens to the netdev
 * below, and finding a device by its name.
 */
#ifndef TERN_LINK_H
#define TERN_LINK_H

#include <linux/types.h>

struct net;
struct tern_device;

/**
 * tern_link_get() - find a registered device that a namespace may see
 * @net: network namespace of the caller
 * @name: of the device
 *
 * Context: process. Return: the device, to be released by tern_link_put(), or
 * NULL.
 */
struct tern_device *tern_link_get(struct net *net, const char *name);

/**
 * tern_link_next() - walk over the devices that a namespace may see
 * @net: network namespace of the caller
 * @after: core's index of the one before, -1 for the first
 *
 * Context: process. Return: as tern_link_get().
 */
struct tern_device *tern_link_next(struct net *net, int after);
void tern_link_put(struct tern_device *dev);

/* the device's name now, in IB_DEVICE_NAME_MAX octets */
void tern_link_name(struct tern_device *dev, char *name);

/* module init and exit: exit unregisters all devices and waits for them */
int tern_link_init(void);
void tern_link_exit(void);

#endif /* TERN_LINK_H */
