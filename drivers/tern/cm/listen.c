// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Accept connections (RFC 5044 7.1) and give each to an endpoint of the device
 * that has its local address.
 *
 * Locks: listeners_lock guards the list of listeners and which ids they have. The lock of a
 * listener is held while connections are handed out. That takes memory, which is charged to the
 * cgroup of a program and may take long to get: who waits for this lock holds none that other
 * programs need, but for the end of a netns, which no id outlives. The lock of an id guards its
 * endpoints; it is BH-safe, and only the endpoints' event lock nests inside it.
 */
#include "listen.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>

#include "device/device.h"
#include "stream/charge.h"
#include "stream/sock_listen.h"
#include "stream/sock_open.h"
#include "addr.h"
#include "cep.h"
#include "rdma_id.h"
#include "startup.h"

/* connections to accept before other work gets its turn on the workqueue */
#define ACCEPT_BUDGET	64
#define ACCEPT_AGAIN	msecs_to_jiffies(100)
/* for connections not accepted yet; the ULP's backlog bounds its requests */
#define TCP_BACKLOG	256

/**
 * struct tern_listener - a TCP listener, which the devices of a wildcard server share
 * @node: in listeners
 * @net: its netns, without a reference: the netns' exit closes the listener
 * @addr: local address
 * @options: VRF and TOS of the socket; the TOS is that of its first id
 * @v6only: no IPv4 connections
 * @ref: one for all its ids; one for each that leaves, until no connection is handed out to it
 * @lock: held while connections are handed out; guards @sock
 * @ids_lock: guards @ids; changes need listeners_lock, too
 * @ids: struct tern_listen_id; when it is empty, the listener is about to be closed
 * @sock: NULL once its netns has ended or its last id has left
 * @accept_work: accepts connections
 */
struct tern_listener {
	struct list_head node;
	struct net *net;
	struct sockaddr_storage addr;
	struct tern_sock_options options;
	bool v6only;
	struct kref ref;
	struct mutex lock;	/* see above */
	spinlock_t ids_lock;	/* see above */
	struct list_head ids;
	struct tern_listen_sock *sock;
	struct delayed_work accept_work;
};

/**
 * struct tern_listen_id - iw_cm's listening id of one device
 * @ref: one for iw_cm, one for each endpoint in startup
 * @iw: the id, with a reference
 * @dev: its device
 * @listener: NULL if the id binds nothing
 * @node: in @listener's list
 * @lock: guards what follows
 * @ceps: endpoints in startup
 * @dead: the id is destroyed
 */
struct tern_listen_id {
	struct kref ref;
	struct iw_cm_id *iw;
	struct tern_device *dev;
	struct tern_listener *listener;
	struct list_head node;
	spinlock_t lock;	/* see above */
	struct list_head ceps;
	bool dead;
};

static LIST_HEAD(listeners);
static DEFINE_MUTEX(listeners_lock);
/* not tern_cep_wq: those who wait for memory of their cgroup would hold up all endpoints */
static struct workqueue_struct *accept_wq;

/* ---- ids ---------------------------------------------------------------- */

static void free_id(struct kref *ref)
{
	struct tern_listen_id *lid = container_of(ref, struct tern_listen_id,
						  ref);

	lid->iw->rem_ref(lid->iw);
	kfree(lid);
}

static void put_lid(struct tern_listen_id *lid)
{
	kref_put(&lid->ref, free_id);
}

static struct tern_listen_id *new_id(struct iw_cm_id *iw)
{
	struct tern_listen_id *lid = kzalloc_obj(*lid, GFP_KERNEL);

	if (!lid)
		return NULL;
	kref_init(&lid->ref);
	spin_lock_init(&lid->lock);
	INIT_LIST_HEAD(&lid->ceps);
	lid->dev = to_tern_dev(iw->device);
	iw->add_ref(iw);
	lid->iw = iw;
	return lid;
}

struct iw_cm_id *tern_listen_iw(struct tern_listen_id *lid)
{
	return READ_ONCE(lid->dead) ? NULL : lid->iw;
}

/* who destroys the id waits for the lock, and frees rdma_cm's after it */
bool tern_listen_keeps(struct tern_listen_id *lid, const struct sockaddr_storage *local)
{
	bool keeps;

	spin_lock_bh(&lid->lock);
	keeps = !lid->dead && tern_rdma_id_keeps(lid->iw, local);
	spin_unlock_bh(&lid->lock);
	return keeps;
}

void tern_listen_leave(struct tern_cep *cep)
{
	struct tern_listen_id *lid = cep->listen;

	lockdep_assert_held(&cep->lock);
	cep->listen = NULL;
	spin_lock_bh(&lid->lock);
	list_del_init(&cep->listen_node);
	spin_unlock_bh(&lid->lock);
	put_lid(lid);
}

/*
 * End the startups whose Request the ULP does not know of. Of the others it may know before
 * their state says so: there the event has no meaning.
 */
static void kill_id(struct tern_listen_id *lid)
{
	struct tern_cep *cep;

	spin_lock_bh(&lid->lock);
	list_for_each_entry(cep, &lid->ceps, listen_node)
		tern_cep_post(cep, CM_EV_UNHEARD);
	spin_unlock_bh(&lid->lock);
}

/* ---- connections -------------------------------------------------------- */

static void turn_away(struct tern_sock *sock)
{
	tern_sock_abort(sock);
	tern_sock_release(sock);
	tern_sock_put(sock);
}

/* evict @cep now: its work could run after many more connections */
static void crowd_out(struct tern_cep *cep)
{
	if (!cep)
		return;
	tern_cep_crowd_out(cep);
	tern_cep_put(cep);
}

static void begin_endpoint(struct tern_listen_id *lid, struct tern_sock *sock,
			   const struct tern_sock_addr *addr)
{
	struct tern_cep *cep, *other;

	cep = tern_cep_create(lid->dev, lid->listener->net);
	if (IS_ERR(cep))
		return turn_away(sock);
	/* others may drop the list's reference after the unlock */
	tern_cep_get(cep);
	cep->sock = sock;
	cep->addr = *addr;
	kref_get(&lid->ref);
	cep->listen = lid;
	tern_sock_set_keepalive(sock, cep->settings.keepalive_s);
	spin_lock_bh(&lid->lock);
	list_add_tail(&cep->listen_node, &lid->ceps);
	spin_unlock_bh(&lid->lock);
	other = tern_crowd_let_in(cep);
	tern_cep_step(cep, CM_EV_INBOUND);
	tern_cep_own_sock(cep);
	tern_startup_look_on(cep);
	mutex_unlock(&cep->lock);
	tern_cep_put(cep);
	crowd_out(other);
}

/*
 * rdma_cm chose the device for a certain address; it may be that of another netdev, below
 * a VLAN.
 */
static struct tern_listen_id *find_id(struct tern_listener *l,
				      const struct sockaddr_storage *local, int vrf)
{
	struct tern_listen_id *lid, *found = NULL;

	/* an id that leaves waits for this lock */
	lockdep_assert_held(&l->lock);
	spin_lock(&l->ids_lock);
	list_for_each_entry(lid, &l->ids, node) {
		if (!tern_is_wildcard(&l->addr) ||
		    (l3mdev_master_ifindex(lid->dev->netdev) == vrf &&
		     tern_owns_addr(lid->dev, local))) {
			found = lid;
			break;
		}
	}
	spin_unlock(&l->ids_lock);
	return found;
}

static void hand_out(struct tern_listener *l, struct tern_sock *sock)
{
	struct tern_listen_id *lid;
	struct tern_sock_addr addr;

	if (tern_sock_names(sock, &addr))
		return turn_away(sock);
	lid = find_id(l, &addr.local, tern_sock_vrf(sock));
	if (!lid)
		return turn_away(sock);
	begin_endpoint(lid, sock, &addr);
}

/* Return: how long to wait before the next run, or -1 for the next callback */
static long take_some(struct tern_listener *l)
{
	struct tern_sock *sock;
	int n;

	lockdep_assert_held(&l->lock);
	for (n = 0; n < ACCEPT_BUDGET; n++) {
		sock = tern_listen_sock_accept(l->sock);
		/* the connection is over, or another's */
		if (PTR_ERR(sock) == -ECONNABORTED || PTR_ERR(sock) == -EBUSY)
			continue;
		if (PTR_ERR(sock) == -EAGAIN)
			return -1;
		if (IS_ERR(sock))
			return ACCEPT_AGAIN;
		hand_out(l, sock);
	}
	return 0;
}

/* charge sockets and endpoints to the cgroup of the listener */
static long accept_some(struct tern_listener *l)
{
	struct mem_cgroup *old;
	long again;

	lockdep_assert_held(&l->lock);
	if (!l->sock)
		return -1;
	old = tern_listen_sock_charge(l->sock);
	again = take_some(l);
	tern_charge_end(old);
	return again;
}

static void accept_work(struct work_struct *work)
{
	struct tern_listener *l = container_of(to_delayed_work(work),
					       struct tern_listener,
					       accept_work);
	/* this queue also serves connections of file systems */
	unsigned int scope = memalloc_nofs_save();
	long again;

	mutex_lock(&l->lock);
	again = accept_some(l);
	mutex_unlock(&l->lock);
	memalloc_nofs_restore(scope);
	if (again >= 0)
		queue_delayed_work(accept_wq, &l->accept_work, again);
}

/* softirq */
static void listener_ready(void *arg)
{
	struct tern_listener *l = arg;

	mod_delayed_work(accept_wq, &l->accept_work, 0);
}

/* ---- listeners ---------------------------------------------------------- */

static struct tern_listener *find_listener(const struct net *net,
					   const struct iw_cm_id *iw, int vrf)
{
	struct tern_listener *l;

	lockdep_assert_held(&listeners_lock);
	list_for_each_entry(l, &listeners, node)
		if (l->net == net && !list_empty(&l->ids) && l->sock &&
		    l->v6only == iw->afonly && l->options.vrf == vrf &&
		    tern_same_addr(&l->addr, &iw->local_addr))
			return l;
	return NULL;
}

static bool spans_vrfs(const struct net *net)
{
#ifdef CONFIG_NET_L3_MASTER_DEV
	return READ_ONCE(net->ipv4.sysctl_tcp_l3mdev_accept);
#else
	return false;
#endif
}

/*
 * A wildcard server gets a socket in each VRF that has devices, since a socket outside
 * takes no connections from inside. With tcp_l3mdev_accept it does, and would leave the
 * port to no other.
 */
static void choose_options(const struct net *net, const struct iw_cm_id *iw,
			   struct tern_sock_options *options)
{
	tern_rdma_id_sock_options(iw, options);
	if (tern_is_wildcard(&iw->local_addr) && spans_vrfs(net))
		options->vrf = 0;
}

/*
 * Another server may have the same address: rdma_cm keeps a port for one server of a port
 * space, has several spaces, and gives all of them to any program.
 */
static bool may_join(struct tern_listener *l, const struct iw_cm_id *iw)
{
	const struct tern_listen_id *first;

	/* no id leaves */
	lockdep_assert_held(&listeners_lock);
	first = list_first_entry(&l->ids, struct tern_listen_id, node);
	return tern_is_wildcard(&l->addr) && tern_rdma_id_same_server(first->iw, iw);
}

static void join_listener(struct tern_listener *l, struct tern_listen_id *lid)
{
	lockdep_assert_held(&listeners_lock);
	lid->listener = l;
	spin_lock(&l->ids_lock);
	list_add_tail(&lid->node, &l->ids);
	spin_unlock(&l->ids_lock);
}

/* @lid is its first id */
static struct tern_listener *new_listener(struct net *net,
					  struct tern_listen_id *lid,
					  const struct tern_sock_options *options,
					  int backlog)
{
	struct tern_listener *l = kzalloc_obj(*l, GFP_KERNEL);
	const struct iw_cm_id *iw = lid->iw;
	struct tern_listen_sock *sock;

	lockdep_assert_held(&listeners_lock);
	if (!l)
		return ERR_PTR(-ENOMEM);
	l->net = net;
	l->addr = iw->local_addr;
	l->options = *options;
	l->v6only = iw->afonly;
	kref_init(&l->ref);
	mutex_init(&l->lock);
	spin_lock_init(&l->ids_lock);
	INIT_LIST_HEAD(&l->ids);
	INIT_DELAYED_WORK(&l->accept_work, accept_work);
	/* keep accept_work out until @lid is in the list */
	mutex_lock(&l->lock);
	sock = tern_listen_sock_open(net, &l->addr, options, l->v6only, backlog,
				     listener_ready, l);
	if (!IS_ERR(sock)) {
		l->sock = sock;
		join_listener(l, lid);
	}
	mutex_unlock(&l->lock);
	if (IS_ERR(sock)) {
		cancel_delayed_work_sync(&l->accept_work);
		kfree(l);
		return ERR_CAST(sock);
	}
	list_add_tail(&l->node, &listeners);
	return l;
}

static void free_listener(struct kref *ref)
{
	struct tern_listener *l = container_of(ref, struct tern_listener, ref);

	mutex_destroy(&l->lock);
	kfree(l);
}

/* on return the socket is released, and @accept_work neither runs nor is queued */
static void close_listener(struct tern_listener *l)
{
	mutex_lock(&l->lock);
	if (l->sock)
		tern_listen_sock_close(l->sock);
	l->sock = NULL;
	mutex_unlock(&l->lock);
	cancel_delayed_work_sync(&l->accept_work);
}

static void end_listener(struct tern_listener *l)
{
	close_listener(l);
	mutex_lock(&listeners_lock);
	list_del(&l->node);
	mutex_unlock(&listeners_lock);
	kref_put(&l->ref, free_listener);
}

/*
 * Return: @lid was the last id of @l. Nobody joins it any more, so it gives the port back at once,
 * before it is closed.
 */
static bool take_out(struct tern_listener *l, struct tern_listen_id *lid)
{
	bool last;

	mutex_lock(&listeners_lock);
	kref_get(&l->ref);
	spin_lock(&l->ids_lock);
	list_del(&lid->node);
	spin_unlock(&l->ids_lock);
	last = list_empty(&l->ids);
	if (last && l->sock)
		tern_listen_sock_stop(l->sock);
	mutex_unlock(&listeners_lock);
	return last;
}

/* on return no connection is handed out to @lid */
static void leave_listener(struct tern_listener *l, struct tern_listen_id *lid)
{
	bool last = take_out(l, lid);

	if (last) {
		end_listener(l);
	} else {
		mutex_lock(&l->lock);
		mutex_unlock(&l->lock);
	}
	kref_put(&l->ref, free_listener);
}

static int bind_id(struct tern_listen_id *lid, struct net *net, int backlog)
{
	struct tern_sock_options options;
	struct tern_listener *l;

	choose_options(net, lid->iw, &options);
	mutex_lock(&listeners_lock);
	l = find_listener(net, lid->iw, options.vrf);
	if (l && !may_join(l, lid->iw)) {
		l = ERR_PTR(-EADDRINUSE);
	} else if (l) {
		tern_listen_sock_backlog(l->sock, backlog);
		join_listener(l, lid);
	} else {
		l = new_listener(net, lid, &options, backlog);
	}
	mutex_unlock(&listeners_lock);
	return PTR_ERR_OR_ZERO(l);
}

/*
 * Is this rdma_cm, which the core adds to the device? In the task that registers it: it is
 * new, or moves to another netns, with that lock.
 */
static bool is_registering(struct tern_device *dev)
{
	return READ_ONCE(dev->registrar) == current &&
	       (!READ_ONCE(dev->added) || mutex_is_locked(&dev->ibdev.unregistration_lock));
}

/*
 * rdma_cm creates a server of the wildcard address or of a loopback address on each
 * device, and one failure fails them all: where no connection can arrive, on a device of
 * another netns or on a netdev without that loopback address, succeed without binding. The
 * id holds its netns.
 *
 * When a device registers, rdma_cm creates the servers that are there already. If one fails,
 * it leaves the device out for all that it does, and any user may keep the port of one: succeed,
 * too.
 */
static int bind_or_not(struct tern_listen_id *lid, int backlog)
{
	const struct sockaddr_storage *addr = &lid->iw->local_addr;
	bool everywhere = tern_is_wildcard(addr) || tern_is_loopback(addr);
	int rc;

	if (!tern_rdma_id_is_local(lid->iw))
		return everywhere ? 0 : -EADDRNOTAVAIL;
	if (tern_is_loopback(addr) && !tern_owns_addr(lid->dev, addr))
		return 0;
	rc = bind_id(lid, tern_rdma_id_net(lid->iw), backlog);
	return everywhere && is_registering(lid->dev) ? 0 : rc;
}

static int listen_on(struct iw_cm_id *id, int backlog)
{
	struct tern_listen_id *lid = new_id(id);
	int rc;

	if (!lid)
		return -ENOMEM;
	tern_rdma_id_set_port(id);
	rc = bind_or_not(lid, max(backlog, TCP_BACKLOG));
	if (rc)
		put_lid(lid);
	else
		id->provider_data = lid;
	return rc;
}

/* For a wildcard server rdma_cm holds the lock that it takes for each request, of any server. */
int tern_listen_create(struct iw_cm_id *id, int backlog)
{
	struct mem_cgroup *old = tern_charge_nobody();
	int rc = listen_on(id, backlog);

	tern_charge_end(old);
	return rc;
}

void tern_listen_destroy(struct iw_cm_id *id)
{
	struct tern_listen_id *lid = id->provider_data;

	if (!lid)
		return;
	id->provider_data = NULL;
	/* accept_some() may go on until it has unlocked: iw_cm drops its Requests silently */
	spin_lock_bh(&lid->lock);
	WRITE_ONCE(lid->dead, true);
	spin_unlock_bh(&lid->lock);
	if (lid->listener)
		leave_listener(lid->listener, lid);
	kill_id(lid);
	put_lid(lid);
}

void tern_listen_abort_net(struct net *net)
{
	struct tern_listener *l;

	mutex_lock(&listeners_lock);
	list_for_each_entry(l, &listeners, node)
		if (l->net == net)
			close_listener(l);
	mutex_unlock(&listeners_lock);
}

/* ---- module ------------------------------------------------------------- */

int tern_listen_init(void)
{
	accept_wq = alloc_workqueue("tern_accept", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return accept_wq ? 0 : -ENOMEM;
}

void tern_listen_exit(void)
{
	destroy_workqueue(accept_wq);
}
