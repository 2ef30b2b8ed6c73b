// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The generic netlink family "tern": dump connections, and multicast their news. */
#include "nl_gen.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <net/genetlink.h>
#include <net/netlink.h>

#include "cm/cep.h"
#include "cm/conn.h"
#include "device/device.h"
#include "device/devices.h"
#include "nl.h"

/* ---- one connection --------------------------------------------------------- */

static int put_addr(struct sk_buff *skb, const struct sockaddr_storage *addr,
		    int addr_attr, int port_attr)
{
	const struct sockaddr_in *in = (const void *)addr;
	const struct sockaddr_in6 *in6 = (const void *)addr;

	if (addr->ss_family == AF_INET)
		return nla_put(skb, addr_attr, sizeof(in->sin_addr),
			       &in->sin_addr) ?:
		       nla_put_u32(skb, port_attr, ntohs(in->sin_port));
	return nla_put(skb, addr_attr, sizeof(in6->sin6_addr),
		       &in6->sin6_addr) ?:
	       nla_put_u32(skb, port_attr, ntohs(in6->sin6_port));
}

static int put_frame(struct sk_buff *skb, int attr,
		     const struct tern_mpa_side *frame)
{
	struct nlattr *nest;

	if (!frame->there)
		return 0;
	nest = nla_nest_start(skb, attr);
	if (!nest ||
	    nla_put_u32(skb, TERN_A_FRAME_FLAGS, frame->flags) ||
	    nla_put_u32(skb, TERN_A_FRAME_REV, frame->rev) ||
	    nla_put_u32(skb, TERN_A_FRAME_PD_LEN, frame->pd_len))
		return -EMSGSIZE;
	if (frame->enhanced &&
	    (nla_put_u32(skb, TERN_A_FRAME_IRD, frame->ird) ||
	     nla_put_u32(skb, TERN_A_FRAME_ORD, frame->ord)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_agreed(struct sk_buff *skb, const struct tern_conn *conn)
{
	const struct tern_mpa_params *p = &conn->params;
	struct nlattr *nest;

	if (!conn->agreed)
		return 0;
	nest = nla_nest_start(skb, TERN_A_CONN_AGREED);
	if (!nest ||
	    nla_put_u32(skb, TERN_A_AGREED_VERSION, p->version) ||
	    nla_put_u32(skb, TERN_A_AGREED_CRC, p->crc) ||
	    nla_put_u32(skb, TERN_A_AGREED_TX_MARKERS, p->tx_markers) ||
	    nla_put_u32(skb, TERN_A_AGREED_RX_MARKERS, p->rx_markers) ||
	    nla_put_u32(skb, TERN_A_AGREED_P2P, p->p2p) ||
	    (p->rtr && nla_put_u32(skb, TERN_A_AGREED_RTR, p->rtr)) ||
	    nla_put_u32(skb, TERN_A_AGREED_IRD, p->ird) ||
	    nla_put_u32(skb, TERN_A_AGREED_ORD, p->ord))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_extensions(struct sk_buff *skb, const struct tern_conn *conn)
{
	if (!conn->agreed)
		return 0;
	if (nla_put_u32(skb, TERN_A_CONN_FEATURES, conn->features))
		return -EMSGSIZE;
	return conn->decided ? nla_put_flag(skb, TERN_A_CONN_DECIDED) : 0;
}

static int put_term(struct sk_buff *skb, int attr, int term)
{
	return term == TERN_TERM_NONE ? 0 : nla_put_u32(skb, attr, term);
}

static int put_outcome(struct sk_buff *skb, const struct tern_conn *conn)
{
	if (conn->mss &&
	    (nla_put_u32(skb, TERN_A_CONN_MSS, conn->mss) ||
	     nla_put_u32(skb, TERN_A_CONN_MULPDU, conn->mulpdu)))
		return -EMSGSIZE;
	if (conn->error && nla_put_u32(skb, TERN_A_CONN_ERROR, -conn->error))
		return -EMSGSIZE;
	return put_term(skb, TERN_A_CONN_TERM_SENT, conn->terms.sent) ?:
	       put_term(skb, TERN_A_CONN_TERM_RECEIVED, conn->terms.received) ?:
	       put_term(skb, TERN_A_CONN_TERM_FOUND, conn->terms.found);
}

static int put_flow(struct sk_buff *skb, const struct tern_conn *conn)
{
	const struct tern_sock_flow *flow = &conn->flow;
	struct nlattr *nest;

	if (!conn->mss)
		return 0;
	nest = nla_nest_start(skb, TERN_A_CONN_FLOW);
	if (!nest ||
	    nla_put_uint(skb, TERN_A_FLOW_TX_BYTES, flow->tx_bytes) ||
	    nla_put_uint(skb, TERN_A_FLOW_RX_BYTES, flow->rx_bytes) ||
	    nla_put_uint(skb, TERN_A_FLOW_TX_MESSAGES, conn->messages.sent) ||
	    nla_put_uint(skb, TERN_A_FLOW_RX_MESSAGES, conn->messages.received) ||
	    nla_put_u32(skb, TERN_A_FLOW_RETRANSMITS, flow->retransmits) ||
	    nla_put_u32(skb, TERN_A_FLOW_RTT_US, flow->rtt_us) ||
	    nla_put_u32(skb, TERN_A_FLOW_RTTVAR_US, flow->rttvar_us) ||
	    nla_put_u32(skb, TERN_A_FLOW_CWND, flow->cwnd) ||
	    (flow->path_error &&
	     nla_put_u32(skb, TERN_A_FLOW_PATH_ERROR, flow->path_error)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_times(struct sk_buff *skb, const struct tern_conn *conn)
{
	ktime_t now = ktime_get_boottime();

	if (nla_put_uint(skb, TERN_A_CONN_BEGAN_MS, ktime_ms_delta(now, conn->began)))
		return -EMSGSIZE;
	if (!conn->over)
		return 0;
	return nla_put_uint(skb, TERN_A_CONN_ENDED_MS, ktime_ms_delta(now, conn->over));
}

static int put_who(struct sk_buff *skb, struct tern_device *dev,
		   const struct tern_conn *conn)
{
	u32 role = conn->active ? TERN_ROLE_INITIATOR : TERN_ROLE_RESPONDER;
	char name[IB_DEVICE_NAME_MAX];

	tern_device_name(dev, name);
	if (nla_put_u32(skb, TERN_A_CONN_NR, conn->nr) ||
	    nla_put_string(skb, TERN_A_CONN_DEVICE, name) ||
	    nla_put_u32(skb, TERN_A_CONN_INDEX, dev->ibdev.index) ||
	    (conn->qpn && nla_put_u32(skb, TERN_A_CONN_QPN, conn->qpn)) ||
	    nla_put_string(skb, TERN_A_CONN_STATE, conn->state) ||
	    (conn->ended && nla_put_flag(skb, TERN_A_CONN_ENDED)) ||
	    nla_put_u32(skb, TERN_A_CONN_ROLE, role))
		return -EMSGSIZE;
	return put_addr(skb, &conn->addr.local, TERN_A_CONN_LOCAL,
			TERN_A_CONN_LOCAL_PORT) ?:
	       put_addr(skb, &conn->addr.remote, TERN_A_CONN_REMOTE,
			TERN_A_CONN_REMOTE_PORT);
}

static int put_conn(struct sk_buff *skb, void *hdr, struct tern_device *dev,
		    const struct tern_conn *conn)
{
	if (!hdr)
		return -EMSGSIZE;
	if (put_who(skb, dev, conn) ||
	    put_frame(skb, TERN_A_CONN_OWN, &conn->own) ||
	    put_frame(skb, TERN_A_CONN_PEER, &conn->peer) ||
	    put_agreed(skb, conn) || put_outcome(skb, conn) ||
	    put_extensions(skb, conn) || put_times(skb, conn) || put_flow(skb, conn)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* ---- all of them ------------------------------------------------------------- */

/**
 * struct walk - where a dump continues
 * @dev: lowest index of a device to dump
 * @conn: lowest number of a connection to dump on that device
 * @last_dev: highest index of a device to dump
 * @begun: the fields above are set
 */
struct walk {
	int dev;
	int last_dev;
	unsigned long conn;
	bool begun;
};

static int begin_walk(struct walk *walk, const struct genl_info *info)
{
	struct nlattr *name = info->attrs[TERN_A_CONN_DEVICE];
	struct tern_device *dev;

	walk->last_dev = INT_MAX;
	if (name) {
		dev = tern_device_get(genl_info_net(info), nla_data(name));
		if (!dev) {
			NL_SET_ERR_MSG_ATTR(info->extack, name,
					    "no tern device of this name");
			return -ENODEV;
		}
		walk->dev = dev->ibdev.index;
		walk->last_dev = walk->dev;
		tern_device_put(dev);
	}
	walk->begun = true;
	return 0;
}

/* with a reference; the walk's device may be gone, then the next one */
static struct tern_device *walk_device(struct walk *walk, struct net *net)
{
	struct tern_device *dev = tern_device_next(net, walk->dev - 1);
	int index;

	if (!dev)
		return NULL;
	index = dev->ibdev.index;
	if (index > walk->last_dev) {
		tern_device_put(dev);
		return NULL;
	}
	if (index != walk->dev) {
		walk->dev = index;
		walk->conn = 0;
	}
	return dev;
}

/*
 * While devices are shared, each netns sees all of them, but has to do with the connections
 * of its own only: they are in the netns of the netdev.
 */
static bool may_see(const struct tern_device *dev, const struct net *net)
{
	return net_eq(net, &init_net) || tern_device_is_in(dev, net);
}

/* when a netdev moves, its device with the connections until then is removed later */
static bool may_see_conn(const struct tern_conn *conn, const struct net *net)
{
	return net_eq(net, &init_net) || conn->net_cookie == net->net_cookie;
}

static int put_conns(struct sk_buff *skb, const struct genl_info *info,
		     struct tern_device *dev, struct walk *walk)
{
	const struct net *net = genl_info_net(info);
	struct tern_conn conn;
	void *hdr;
	int ret;

	for (; tern_conn_next(dev, walk->conn, &conn); walk->conn = (unsigned long)conn.nr + 1) {
		if (!may_see_conn(&conn, net))
			continue;
		hdr = genlmsg_put(skb, info->snd_portid, info->snd_seq,
				  &tern_nl_family, NLM_F_MULTI,
				  TERN_CMD_CONN_GET);
		ret = put_conn(skb, hdr, dev, &conn);
		if (ret)
			return ret;
	}
	return 0;
}

int tern_nl_conn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct walk *walk = (void *)cb->ctx;
	struct tern_device *dev;
	int ret = 0;

	static_assert(sizeof(*walk) <= sizeof(cb->ctx));
	if (!walk->begun)
		ret = begin_walk(walk, info);
	while (!ret) {
		dev = walk_device(walk, genl_info_net(info));
		if (!dev)
			break;
		if (may_see(dev, genl_info_net(info)))
			ret = put_conns(skb, info, dev, walk);
		tern_device_put(dev);
		if (!ret) {
			walk->dev++;
			walk->conn = 0;
		}
	}
	return ret && !skb->len ? ret : skb->len;
}

/* ---- news ------------------------------------------------------------------------ */

static const struct {
	u8 cmd;
	u8 group;
} news_rows[] = {
	[TERN_CONN_START] = { TERN_CMD_CONN_START_NTF, TERN_NLGRP_CONNECTIONS },
	[TERN_CONN_END] = { TERN_CMD_CONN_END_NTF, TERN_NLGRP_CONNECTIONS },
	[TERN_CONN_ERROR] = { TERN_CMD_CONN_NTF, TERN_NLGRP_EVENTS },
};

/* without a listener it costs no copy */
static void notify_net(struct tern_cep *cep, struct net *net, enum tern_conn_news news)
{
	u8 group = news_rows[news].group;
	struct tern_conn conn;
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&tern_nl_family, net, group))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_NOWAIT);
	if (!skb)
		return;
	tern_conn_copy(cep, &conn);
	hdr = genlmsg_put(skb, 0, 0, &tern_nl_family, 0, news_rows[news].cmd);
	if (put_conn(skb, hdr, cep->dev, &conn))
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(&tern_nl_family, net, skb, 0, group, GFP_NOWAIT);
}

/* notify the connection's netns, and init_net if the device is visible there */
static void notify(struct tern_cep *cep, enum tern_conn_news news)
{
	notify_net(cep, cep->net, news);
	if (!net_eq(cep->net, &init_net) &&
	    rdma_dev_access_netns(&cep->dev->ibdev, &init_net))
		notify_net(cep, &init_net, news);
}

void tern_nl_conn_init(void)
{
	tern_conn_set_listener(notify);
}

void tern_nl_conn_exit(void)
{
	tern_conn_set_listener(NULL);
}
