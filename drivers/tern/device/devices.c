// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The registered devices: a list, in which each netns finds those it may see. */
#include "devices.h"

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "device.h"

static LIST_HEAD(devices);
/* guards devices and the @name of each; never held with RTNL */
static DEFINE_MUTEX(devices_lock);

void tern_device_list(struct tern_device *dev)
{
	mutex_lock(&devices_lock);
	strscpy(dev->name, dev_name(&dev->ibdev.dev));
	list_add_tail(&dev->link, &devices);
	mutex_unlock(&devices_lock);
}

void tern_device_unlist(struct tern_device *dev)
{
	mutex_lock(&devices_lock);
	list_del(&dev->link);
	mutex_unlock(&devices_lock);
}

void tern_device_rename(struct tern_device *dev)
{
	mutex_lock(&devices_lock);
	strscpy(dev->name, dev_name(&dev->ibdev.dev));
	mutex_unlock(&devices_lock);
}

/* @dev is on the list, so it is registered and its memory is valid */
static bool get_visible(struct tern_device *dev, struct net *net)
{
	lockdep_assert_held(&devices_lock);
	return rdma_dev_access_netns(&dev->ibdev, net) &&
	       ib_device_try_get(&dev->ibdev);
}

struct tern_device *tern_device_get(struct net *net, const char *name)
{
	struct tern_device *dev, *found = NULL;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, link) {
		/* with newer kernels than 6.12 a name is unique in its netns only */
		if (!strcmp(dev->name, name) && get_visible(dev, net)) {
			found = dev;
			break;
		}
	}
	mutex_unlock(&devices_lock);
	return found;
}

struct tern_device *tern_device_next(struct net *net, int after)
{
	struct tern_device *dev, *best = NULL;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, link) {
		if ((int)dev->ibdev.index <= after ||
		    (best && dev->ibdev.index > best->ibdev.index) ||
		    !get_visible(dev, net))
			continue;
		if (best)
			tern_device_put(best);
		best = dev;
	}
	mutex_unlock(&devices_lock);
	return best;
}

void tern_device_put(struct tern_device *dev)
{
	ib_device_put(&dev->ibdev);
}

void tern_device_name(struct tern_device *dev, char *name)
{
	mutex_lock(&devices_lock);
	strscpy(name, dev->name, IB_DEVICE_NAME_MAX);
	mutex_unlock(&devices_lock);
}
