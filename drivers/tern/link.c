// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Add and delete devices, and follow the netdev below each.
 *
 * tern is an ib_client of its own devices. Its add and remove callbacks mark
 * the time in which a device is registered, whatever ends it: `rdma link
 * delete`, the end of the netdev, a change of the RDMA namespace, or rmmod.
 * Clients are removed in the reverse order of their registration. So tern
 * aborts the endpoints before clients that registered earlier, mostly rdma_cm
 * and uverbs, wait for them. Those that registered later are removed first: see
 * is_leaving() in cep_timer.c.
 */
#include "link.h"

#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/ip.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#include "cm/ceps.h"
#include "device/device.h"
#include "device/devices.h"
#include "uapi/rdma/tern-abi.h"
#include "ops.h"

/* ---- the client ----------------------------------------------------------- */

static int client_add(struct ib_device *ibdev)
{
	struct tern_device *dev = to_tern_dev(ibdev);

	if (ibdev->ops.driver_id != (enum rdma_driver_id)TERN_DRIVER_ID)
		return -EOPNOTSUPP;
	tern_device_list(dev);
	return 0;
}

static void client_remove(struct ib_device *ibdev, void *client_data)
{
	struct tern_device *dev = to_tern_dev(ibdev);

	tern_device_unlist(dev);
	tern_cep_abort_device(dev);
}

static void client_rename(struct ib_device *ibdev, void *client_data)
{
	tern_device_rename(to_tern_dev(ibdev));
}

static struct ib_client client = {
	.name = "tern",
	.add = client_add,
	.remove = client_remove,
	.rename = client_rename,
};

/* ---- rdma link add ---------------------------------------------------------- */

/* is this a type of netdev that carries IP, and so TCP? */
static bool carries_ip(const struct net_device *netdev)
{
	switch (netdev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
	case ARPHRD_INFINIBAND:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return netdev->mtu >= IPV4_MIN_MTU;
	default:
		return false;
	}
}

static void port_changed(struct tern_device *dev, struct net_device *netdev)
{
	bool up = netif_running(netdev) && netif_carrier_ok(netdev);

	ASSERT_RTNL();
	if (up == dev->port_up)
		return;
	dev->port_up = up;
	tern_compat_port_event(&dev->ibdev, netdev, up);
}

/*
 * While its device is being registered the netdev may be unregistered, move to another
 * netns than @net or change its state. The notifier finds no device then; and the netdev
 * would wait forever for the reference that the device holds.
 */
static int look_again(struct net_device *netdev, const struct net *net)
{
	struct ib_device *ibdev;
	bool stayed;

	ibdev = ib_device_get_by_netdev(netdev, (enum rdma_driver_id)TERN_DRIVER_ID);
	if (!ibdev)
		return -ENODEV;
	WRITE_ONCE(to_tern_dev(ibdev)->added, true);
	rtnl_lock();
	stayed = netdev->reg_state == NETREG_REGISTERED && net_eq(dev_net(netdev), net);
	if (stayed)
		port_changed(to_tern_dev(ibdev), netdev);
	rtnl_unlock();
	if (stayed)
		ib_device_put(ibdev);
	else
		ib_unregister_device_and_put(ibdev);
	return stayed ? 0 : -ENODEV;
}

/* one at a time: two calls for the same netdev would both find it free */
static DEFINE_MUTEX(newlink_lock);

static int newlink(const char *name, struct net_device *netdev)
{
	/* to compare with, not to follow */
	const struct net *net = dev_net(netdev);
	struct ib_device *ibdev;
	int ret;

	if (!carries_ip(netdev))
		return -EOPNOTSUPP;
	mutex_lock(&newlink_lock);
	ibdev = ib_device_get_by_netdev(netdev,
					(enum rdma_driver_id)TERN_DRIVER_ID);
	if (ibdev) {
		ib_device_put(ibdev);
		ret = -EEXIST;
	} else {
		ret = tern_device_create(name, netdev);
	}
	mutex_unlock(&newlink_lock);
	return ret ?: look_again(netdev, net);
}

static struct rdma_link_ops link_ops = {
	.type = "tern",
	.newlink = newlink,
};

/* ---- what happens to the netdev --------------------------------------------- */

static void address_changed(struct tern_device *dev)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = IB_EVENT_GID_CHANGE,
	};

	tern_device_set_gid(dev);
	ib_dispatch_event(&event);
}

/* a new MTU needs no action: each burst asks TCP for its segment size */
static void netdev_changed(struct tern_device *dev, struct net_device *netdev,
			   unsigned long event)
{
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		port_changed(dev, netdev);
		break;
	case NETDEV_CHANGEADDR:
		address_changed(dev);
		break;
	case NETDEV_CHANGENAME:
		strscpy(dev->ibdev.iw_ifname, netdev->name);
		break;
	case NETDEV_UNREGISTER:
		/* also when the netdev moves to another namespace */
		ib_unregister_device_queued(&dev->ibdev);
		break;
	}
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct ib_device *ibdev;

	ibdev = ib_device_get_by_netdev(netdev,
					(enum rdma_driver_id)TERN_DRIVER_ID);
	if (ibdev) {
		netdev_changed(to_tern_dev(ibdev), netdev, event);
		ib_device_put(ibdev);
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

/* ---- life -------------------------------------------------------------------- */

int tern_link_init(void)
{
	int ret;

	ret = ib_register_client(&client);
	if (ret)
		return ret;
	ret = register_netdevice_notifier(&netdev_nb);
	if (ret)
		goto err_client;
	rdma_link_register(&link_ops);
	return 0;

err_client:
	ib_unregister_client(&client);
	return ret;
}

void tern_link_exit(void)
{
	/* from here on no device is added */
	rdma_link_unregister(&link_ops);
	/* from here on no netdev event queues an unregistration */
	unregister_netdevice_notifier(&netdev_nb);
	/* unregister the devices that are left, and wait for those queued */
	ib_unregister_driver((enum rdma_driver_id)TERN_DRIVER_ID);
	ib_unregister_client(&client);
}
