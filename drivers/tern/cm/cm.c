// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The iw_cm operations: connect, accept, reject and listen. iw_cm calls them
 * from process context without a lock of its own, also from the work that
 * delivers our events. The MPA startup that they begin (RFC 5044 7.1, RFC 6581)
 * is startup.c's.
 */
#include "cm.h"

#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "device/device.h"
#include "device/options.h"
#include "stream/stream.h"
#include "stream/table.h"
#include "stream/user.h"
#include "addr.h"
#include "cep.h"
#include "cep_timer.h"
#include "ceps.h"
#include "event.h"
#include "listen.h"
#include "peer.h"
#include "rdma_id.h"
#include "startup.h"

static int check_param(const struct iw_cm_conn_param *param, u16 room)
{
	if (param->private_data_len > room)
		return -EMSGSIZE;
	if (param->ird > TERN_MAX_RD_ATOM || param->ord > TERN_MAX_RD_ATOM)
		return -EINVAL;
	return 0;
}

static void unbind_stream(struct tern_cep *cep)
{
	lockdep_assert_held(&cep->lock);
	tern_stream_unbind(cep->stream, &cep->user);
	tern_stream_put(cep->stream);
	cep->stream = NULL;
}

/*
 * A QP that the id may not use is reported like one that does not exist. The search
 * may look at all of the program's files, so no endpoint's lock is held: the end of
 * its netns or device would wait for the search.
 */
static struct tern_stream *find_stream(struct iw_cm_id *id, u32 qpn)
{
	struct tern_device *dev = to_tern_dev(id->device);
	struct tern_stream *s = tern_stream_find(&dev->streams, qpn);

	if (!s || tern_rdma_id_may_have(id, s))
		return s;
	tern_stat_inc(dev->stats, CM_DENIED);
	tern_stream_put(s);
	return NULL;
}

/* take the endpoint's reference on its stream, and the stream's on it */
static int bind_stream(struct tern_cep *cep, struct tern_stream *s)
{
	int rc;

	lockdep_assert_held(&cep->lock);
	cep->qpn = s->qpn;
	rc = tern_stream_bind(s, &cep->user);
	if (rc)
		return rc;
	tern_stream_get(s);
	cep->stream = s;
	rc = tern_cep_take_options(cep);
	if (rc)
		unbind_stream(cep);
	return rc;
}

/* put_id() in cep.c undoes this */
static void take_id(struct tern_cep *cep, struct iw_cm_id *id)
{
	id->add_ref(id);
	cep->id = id;
	tern_cep_watch_program(cep);
}

/* ---- connect ------------------------------------------------------------ */

static void set_up_initiator(struct tern_cep *cep, struct iw_cm_id *id,
			     const struct iw_cm_conn_param *param)
{
	cep->active = true;
	cep->addr.local = id->local_addr;
	/*
	 * If the peer's device shares its ports with the host's TCP, the peer
	 * listens at another port than its program asked for. iw_cm asks iwpmd
	 * for that port, although tern maps none of its own; without iwpmd it
	 * is remote_addr.
	 */
	cep->addr.remote = id->m_remote_addr;
	tern_rdma_id_sock_options(id, &cep->sock_options);
	cep->opt.ird = param->ird;
	cep->opt.ord = param->ord;
	if (!tern_options_p2p(&cep->stream->setup.options) &&
	    tern_peer_is_plain(cep->net, &cep->addr.remote))
		tern_mpa_fall_back(&cep->opt);
}

static int take_private_data(struct tern_cep *cep, const struct iw_cm_conn_param *param)
{
	if (!param->private_data_len)
		return 0;
	cep->pd = kmemdup(param->private_data, param->private_data_len, GFP_KERNEL_ACCOUNT);
	if (!cep->pd)
		return -ENOMEM;
	cep->pd_len = param->private_data_len;
	return 0;
}

static int start_connect(struct tern_cep *cep, struct iw_cm_id *id,
			 const struct iw_cm_conn_param *param,
			 struct tern_stream *s)
{
	int rc;

	rc = take_private_data(cep, param);
	if (rc)
		return rc;
	rc = bind_stream(cep, s);
	if (rc)
		return rc;
	set_up_initiator(cep, id, param);
	rc = tern_startup_connect(cep);
	if (rc) {
		unbind_stream(cep);
		return rc;
	}
	take_id(cep, id);
	tern_cep_step(cep, CM_EV_CONNECT);
	tern_startup_look_on(cep);
	return 0;
}

/* the id holds its netns, whose exit later finds the endpoint listed */
static int begin_connect(struct iw_cm_id *id, const struct iw_cm_conn_param *param,
			 struct tern_stream *s)
{
	struct tern_cep *cep = tern_cep_create(to_tern_dev(id->device),
					       tern_rdma_id_net(id));
	int rc;

	if (IS_ERR(cep))
		return PTR_ERR(cep);
	/* drop may put the list's reference: keep one for the unlock */
	tern_cep_get(cep);
	tern_stat_inc(cep->dev->stats, CM_CONNECT);
	rc = start_connect(cep, id, param, s);
	if (rc)
		tern_cep_drop(cep);
	mutex_unlock(&cep->lock);
	tern_cep_put(cep);
	return rc;
}

int tern_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct tern_stream *s;
	int rc;

	rc = check_param(param, TERN_MPA_ENHANCED_PD);
	if (rc)
		return rc;
	if (id->local_addr.ss_family != id->m_remote_addr.ss_family)
		return -EAFNOSUPPORT;
	/* a route through a netdev without an address: no reply could arrive */
	if (tern_is_wildcard(&id->local_addr))
		return -EADDRNOTAVAIL;
	if (!tern_rdma_id_is_local(id)) {
		tern_stat_inc(to_tern_dev(id->device)->stats, CM_DENIED);
		return -EADDRNOTAVAIL;
	}
	s = find_stream(id, param->qpn);
	if (!s)
		return -EINVAL;
	rc = begin_connect(id, param, s);
	tern_stream_put(s);
	return rc;
}

/* ---- accept and reject -------------------------------------------------- */

static int accept_request(struct tern_cep *cep, struct tern_stream *s,
			  const struct iw_cm_conn_param *param)
{
	int rc;

	rc = check_param(param, tern_startup_room(&cep->request));
	if (rc)
		return rc;
	if (!s)
		return -EINVAL;
	rc = bind_stream(cep, s);
	if (rc)
		return rc;
	cep->opt.ird = param->ird;
	cep->opt.ord = param->ord;
	rc = tern_startup_accept(cep, param->private_data,
				 param->private_data_len);
	if (rc)
		unbind_stream(cep);
	return rc;
}

static void confirm_accept(struct tern_cep *cep, struct iw_cm_id *id)
{
	tern_stat_inc(cep->dev->stats, CM_ACCEPT);
	take_id(cep, id);
	tern_cep_step(cep, cep->params.p2p ? CM_EV_ACCEPT_P2P : CM_EV_ACCEPT);
}

static void deny_request(struct tern_cep *cep, const void *pd, u8 pd_len)
{
	tern_startup_reject(cep, pd, pd_len);
	tern_cep_step(cep, CM_EV_REJECT);
}

/* iw_cm gives the id up if this fails, so a failure rejects the connection */
int tern_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct tern_cep *cep = tern_event_find(id);
	int rc = -ECONNRESET;
	struct tern_stream *s;

	if (!cep)
		return rc;
	s = find_stream(id, param->qpn);
	mutex_lock(&cep->lock);
	/* K7: bytes after the Request, or its end, count before the answer */
	tern_startup_look_on(cep);
	if (cep->state == CM_ULP_WAIT) {
		rc = accept_request(cep, s, param);
		if (rc)
			deny_request(cep, NULL, 0);
		else
			confirm_accept(cep, id);
	}
	mutex_unlock(&cep->lock);
	if (s)
		tern_stream_put(s);
	tern_cep_put(cep);
	return rc;
}

static void reject_with(struct tern_cep *cep, const void *pd, u8 pd_len)
{
	mutex_lock(&cep->lock);
	tern_startup_look_on(cep);
	if (cep->state == CM_ULP_WAIT)
		deny_request(cep, pd, pd_len);
	mutex_unlock(&cep->lock);
}

/*
 * iw_cm also calls this for an id that is destroyed unanswered, in the one thread that
 * delivers the events of all: what the Reply costs is charged to a program, whose cgroup
 * may be full, so the endpoint's own work sends it.
 */
int tern_cm_reject(struct iw_cm_id *id, const void *pdata, u8 pdata_len)
{
	struct tern_cep *cep = tern_event_find(id);

	if (!cep)
		return 0;
	if (pdata_len)
		reject_with(cep, pdata, pdata_len);
	else
		tern_cep_decline(cep);
	tern_cep_put(cep);
	return 0;
}

/* ---- listen ------------------------------------------------------------- */

int tern_cm_create_listen(struct iw_cm_id *id, int backlog)
{
	return tern_listen_create(id, backlog);
}

int tern_cm_destroy_listen(struct iw_cm_id *id)
{
	tern_listen_destroy(id);
	return 0;
}

/* ---- module ------------------------------------------------------------- */

/* our sockets hold no reference on their netns: release them before it ends */
static void __net_exit net_pre_exit(struct net *net)
{
	tern_listen_abort_net(net);
	tern_cep_abort_net(net);
}

static struct pernet_operations net_ops = {
	.init = tern_ceps_net_init,
	.pre_exit = net_pre_exit,
	.id = &tern_ceps_net_id,
	.size = sizeof(struct tern_ceps_net),
};

/*
 * An endpoint calls iw_cm by the pointers in its id, whose reference it may hold for longer than
 * iw_cm waits for: a close drains for minutes after the id was destroyed. A symbol in use keeps
 * iw_cm loaded.
 */
static const void *const needs_iw_cm __used = iwcm_reject_msg;

int tern_cm_init(void)
{
	int rc;

	rc = tern_sock_init();
	if (rc)
		return rc;
	rc = tern_cep_init();
	if (rc)
		goto err_sock;
	rc = tern_listen_init();
	if (rc)
		goto err_cep;
	rc = register_pernet_subsys(&net_ops);
	if (rc)
		goto err_listen;
	return 0;

err_listen:
	tern_listen_exit();
err_cep:
	tern_cep_exit();
err_sock:
	tern_sock_exit();
	return rc;
}

void tern_cm_exit(void)
{
	unregister_pernet_subsys(&net_ops);
	tern_listen_exit();
	tern_cep_exit();
	tern_sock_exit();
}
