/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Devices, as the family tern has them. */
#ifndef TERN_TOOL_DEV_H
#define TERN_TOOL_DEV_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "settings.h"

struct nlmsghdr;
struct talk;

/* IB_DEVICE_NAME_MAX of the kernel */
#define DEV_NAME_MAX	64

/**
 * struct device - a device of the kernel
 * @index: the RDMA core's number
 * @ifindex: of the netdev below, or 0
 * @name: name
 * @netdev: name of the netdev, as out_printable() makes it; empty if it is in another network
 *	namespace
 * @settings: all of them
 */
struct device {
	uint32_t index;
	uint32_t ifindex;
	char name[DEV_NAME_MAX];
	char netdev[IFNAMSIZ];
	struct settings settings;
};

/* a copy of a device's name, as out_printable() makes it; Return: @buf */
const char *dev_printable(const char *name, char buf[DEV_NAME_MAX]);

/* read one from an answer; Return: true if it is whole */
bool dev_read(struct nlmsghdr *hdr, struct device *dev);

/* the device of this name; Return: 0 or a negative errno */
int dev_get(struct talk *t, const char *name, struct device *dev);

/* the first device on this netdev, for which @dev is filled; Return: true if there is one */
bool dev_on_netdev(struct talk *t, const char *netdev, struct device *dev);

/**
 * dev_set() - change those settings that are known, all or none
 * @t: socket
 * @name: device
 * @settings: settings
 *
 * Return: 0, or a negative errno after a message on stderr.
 */
int dev_set(struct talk *t, const char *name, const struct settings *settings);

#endif /* TERN_TOOL_DEV_H */
