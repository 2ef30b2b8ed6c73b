// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * iw_cm passes neither the netns of an id nor the QP that its user created for
 * it, but a context. For rdma_cm, the only user of iw_cm, the context is its
 * own id.
 */
#include "rdma_id.h"

#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/rdma_cm.h>

#include "device/device.h"
#include "stream/sock_open.h"
#include "stream/stream.h"

/* descriptors to look at before others may run */
#define FDS_AT_ONCE	1024

/*
 * rdma_cm gives a request to the device of the netdev that has the local address, as the
 * first that it finds. If another netdev has the same address, in another VRF, that may be
 * another device than the one that took the connection: NULL then.
 */
static const struct rdma_cm_id *rdma_id(const struct iw_cm_id *iw)
{
	const struct rdma_cm_id *id = iw->context;

	return WARN_ON_ONCE(!id) || id->device != iw->device ? NULL : id;
}

/* ---- netns -------------------------------------------------------------- */

/*
 * Not the caller's netns: when a device appears, the task that registers it creates the
 * servers on it.
 */
struct net *tern_rdma_id_net(const struct iw_cm_id *iw)
{
	const struct rdma_cm_id *id = rdma_id(iw);

	return id ? id->route.addr.dev_addr.net : NULL;
}

/*
 * rdma_cm checks this, except for a wildcard server, which it creates on each
 * device, and for a connection to the host itself, which it gives to the first
 * device that is up.
 */
bool tern_rdma_id_is_local(const struct iw_cm_id *iw)
{
	const struct net *net = tern_rdma_id_net(iw);

	return net && tern_device_is_in(to_tern_dev(iw->device), net);
}

/* the server's own id is the context of those that rdma_cm makes for it */
bool tern_rdma_id_same_server(const struct iw_cm_id *a, const struct iw_cm_id *b)
{
	const struct rdma_cm_id *id_a = rdma_id(a), *id_b = rdma_id(b);

	return id_a && id_b && id_a->context == id_b->context;
}

/* as cma_validate_port() has it: the netdev, one below its VLAN, or a VLAN on it */
static bool is_taken_for(const struct net_device *netdev, struct net *net, int ifindex)
{
	struct net_device *found;
	bool is;

	if (!net_eq(dev_net(netdev), net))
		return false;
	rcu_read_lock();
	found = dev_get_by_index_rcu(net, ifindex);
	is = found == netdev ||
	     (found && is_vlan_dev(found) && vlan_dev_real_dev(found) == netdev) ||
	     (found && is_vlan_dev(netdev) && vlan_dev_real_dev(netdev) == found);
	rcu_read_unlock();
	return is;
}

void tern_rdma_id_set_port(struct iw_cm_id *iw)
{
	struct rdma_cm_id *id = iw->context;

	if (id && !id->port_num)
		id->port_num = 1;
}

bool tern_rdma_id_keeps(const struct iw_cm_id *iw, const struct sockaddr_storage *local)
{
	struct rdma_dev_addr addr = { .net = tern_rdma_id_net(iw) };

	return addr.net && !rdma_translate_ip((const struct sockaddr *)local, &addr) &&
	       addr.dev_type != ARPHRD_INFINIBAND &&
	       is_taken_for(to_tern_dev(iw->device)->netdev, addr.net, addr.bound_dev_if);
}

/*
 * The netdev that rdma_cm found counts: for an address of a VLAN it may choose the device
 * of the netdev below. It found none for the wildcard: then it is the device's.
 */
static int vrf_of(const struct iw_cm_id *iw, const struct rdma_cm_id *id)
{
	const struct rdma_dev_addr *addr = &id->route.addr.dev_addr;
	int ifindex = addr->bound_dev_if ?: to_tern_dev(iw->device)->netdev->ifindex;

	return l3mdev_master_ifindex_by_index(addr->net, ifindex);
}

void tern_rdma_id_sock_options(const struct iw_cm_id *iw,
			       struct tern_sock_options *options)
{
	const struct rdma_cm_id *id = rdma_id(iw);

	*options = (struct tern_sock_options) {
		.vrf = id ? vrf_of(iw, id) : 0,
		.tos = iw->tos,
		.tos_set = iw->tos_set,
	};
}

/* ---- QPs ---------------------------------------------------------------- */

/* the descriptor is the current program's */
static bool is_open_at(unsigned int fd, const struct ib_ucontext *ctx)
{
	struct file *file = fget(fd);
	bool is;

	if (!file)
		return false;
	is = file->private_data == ctx->ufile;
	fput(file);
	return is;
}

/* Return: the next descriptor that is in use, from @fd on and below @end, or @end */
static unsigned int next_in_use(unsigned int fd, unsigned int end)
{
	rcu_read_lock();
	while (fd < end && !files_lookup_fd_raw(current->files, fd))
		fd++;
	rcu_read_unlock();
	return fd;
}

static unsigned int table_size(void)
{
	unsigned int size;

	rcu_read_lock();
	size = files_fdtable(current->files)->max_fds;
	rcu_read_unlock();
	return size;
}

/*
 * Each opening of a uverbs device is one ib_uverbs_file, which its context
 * names as long as it lives. Any process with a descriptor of it may use its
 * objects: threads, children, and receivers of the descriptor over a socket.
 * A table may have 2^30 slots, most of them empty: look at some at a time. The QP may be
 * another program's, whose end waits for the caller's reference.
 */
static bool has_open(const struct tern_stream *s)
{
	unsigned int fd = 0, end, size = table_size();

	might_sleep();
	do {
		end = min(fd + FDS_AT_ONCE, size);
		while ((fd = next_in_use(fd, end)) < end)
			if (is_open_at(fd++, s->ctx))
				return true;
		cond_resched();
	} while (fd < size && !tern_stream_is_over(s) && !fatal_signal_pending(current));
	return false;
}

/*
 * The program names the number; id->qp is set for kernel users only, and is a QP of
 * the id's device, where the number is its alone.
 */
bool tern_rdma_id_may_have(const struct iw_cm_id *iw,
			   const struct tern_stream *s)
{
	const struct rdma_cm_id *id = rdma_id(iw);

	if (!id)
		return false;
	if (id->qp)
		return id->qp->qp_num == s->qpn;
	return s->ctx && current->files && has_open(s);
}
