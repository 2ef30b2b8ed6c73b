// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * iw_cm does not hand down the netns of an id, but a context, which for rdma_cm, the
 * only user of iw_cm, is its own id.
 */
#include "rdma_id.h"

#include <net/net_namespace.h>
#include <rdma/rdma_cm.h>

#include "device.h"

/* NULL if it is none of rdma_cm's: both name the device while iw_cm calls us */
static const struct rdma_cm_id *rdma_id(const struct iw_cm_id *iw)
{
	const struct rdma_cm_id *id = iw->context;

	return WARN_ON_ONCE(!id || id->device != iw->device) ? NULL : id;
}

/* ---- netns -------------------------------------------------------------- */

/*
 * (The caller's netns is not it: when a device appears, a worker puts the servers
 * on it.)
 */
struct net *tern_rdma_id_net(const struct iw_cm_id *iw)
{
	const struct rdma_cm_id *id = rdma_id(iw);

	return id ? id->route.addr.dev_addr.net : NULL;
}

/*
 * rdma_cm sees to this but for a wildcard: it puts a server on each device, and
 * a connection to the host itself on the first device that is up.
 */
bool tern_rdma_id_is_local(const struct iw_cm_id *iw)
{
	const struct net *net = tern_rdma_id_net(iw);
	bool is_local;

	rcu_read_lock();
	is_local = net && net_eq(net, dev_net(to_tern_dev(iw->device)->netdev));
	rcu_read_unlock();
	return is_local;
}
