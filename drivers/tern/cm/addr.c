// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Local addresses of connections and listeners. */
#include "addr.h"

#include <linux/inetdevice.h>
#include <net/addrconf.h>

#include "device/device.h"

bool tern_is_wildcard(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ipv4_is_zeronet(((struct sockaddr_in *)addr)->sin_addr.s_addr);
	return ipv6_addr_any(&((struct sockaddr_in6 *)addr)->sin6_addr);
}

bool tern_is_loopback(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ipv4_is_loopback(((struct sockaddr_in *)addr)->sin_addr.s_addr);
	return ipv6_addr_loopback(&((struct sockaddr_in6 *)addr)->sin6_addr);
}

static bool owns_ipv4(struct net_device *netdev, __be32 addr)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	bool found = false;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(netdev);
	if (in_dev)
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			found |= ifa->ifa_local == addr;
	rcu_read_unlock();
	return found;
}

static bool owns_ipv6(struct net_device *netdev, const struct in6_addr *addr)
{
	bool found = false;

#if IS_ENABLED(CONFIG_IPV6)
	/* the netdev may change its netns at any time */
	rcu_read_lock();
	found = ipv6_chk_addr(dev_net(netdev), addr, netdev, 1);
	rcu_read_unlock();
#endif
	return found;
}

bool tern_owns_addr(const struct tern_device *dev, const struct sockaddr_storage *addr)
{
	if (tern_is_loopback(addr) && dev->netdev->flags & IFF_LOOPBACK)
		return true;
	if (addr->ss_family == AF_INET)
		return owns_ipv4(dev->netdev,
				 ((struct sockaddr_in *)addr)->sin_addr.s_addr);
	return owns_ipv6(dev->netdev, &((struct sockaddr_in6 *)addr)->sin6_addr);
}

bool tern_same_addr(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (void *)a, *b4 = (void *)b;
	const struct sockaddr_in6 *a6 = (void *)a, *b6 = (void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_port == b4->sin_port &&
		       a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a6->sin6_port == b6->sin6_port &&
	       a6->sin6_scope_id == b6->sin6_scope_id &&
	       ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}
