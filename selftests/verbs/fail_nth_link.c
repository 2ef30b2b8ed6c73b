// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The n-th allocation of what an administrator's tool asks of the kernel by netlink. */
#include <string.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>

#include "fail_nth.h"
#include "tern-nl.h"

#define DEVICE	"tern_nth"	/* a link at the netdev NETDEV in netns a */
#define NETDEV	"nth0"

static struct nl_sock *sk;
static int family, protocol;

/* in netns a; what an earlier socket was not told, this one is not */
static void new_socket(void)
{
	if (sk)
		nl_socket_free(sk);
	sk = nl_socket_alloc();
	must(sk);
	must(!nl_connect(sk, protocol));
}

static struct nl_msg *rdma_message(int op, int flags)
{
	struct nl_msg *msg =
		nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op), NLM_F_REQUEST | flags);

	must(msg);
	return msg;
}

static bool exists(void)
{
	return !access("/sys/class/infiniband/" DEVICE, F_OK);
}

/* Return: 0 or libnl's error; also when it is the answer that was refused */
static int ask(struct nl_msg *msg)
{
	return ARMED(nl_send_sync(sk, msg));
}

static struct nl_msg *creation(void)
{
	struct nl_msg *msg = rdma_message(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);

	must(!nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, DEVICE));
	must(!nla_put_string(msg, RDMA_NLDEV_ATTR_LINK_TYPE, "tern"));
	must(!nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV));
	return msg;
}

static bool adds(void)
{
	return !ask(creation()) && exists();
}

static int dev_index;	/* of DEVICE */

static int find(struct nl_msg *msg, void *unused)
{
	struct nlattr *name = nlmsg_find_attr(nlmsg_hdr(msg), 0, RDMA_NLDEV_ATTR_DEV_NAME);
	struct nlattr *at = nlmsg_find_attr(nlmsg_hdr(msg), 0, RDMA_NLDEV_ATTR_DEV_INDEX);

	if (name && at && !strcmp(nla_get_string(name), DEVICE))
		dev_index = nla_get_u32(at);
	return NL_OK;
}

static int device_index(void)
{
	dev_index = -1;
	must(!nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, find, NULL));
	must(nl_send_auto(sk, rdma_message(RDMA_NLDEV_CMD_GET, NLM_F_DUMP)) > 0);
	must_eq(nl_recvmsgs_default(sk), 0);
	must(dev_index >= 0);
	return dev_index;
}

static struct nl_msg *deletion(void)
{
	struct nl_msg *msg = rdma_message(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);

	must(!nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, device_index()));
	return msg;
}

static void gone(void)
{
	new_socket();
	if (exists())
		must(!nl_send_sync(sk, deletion()));
	must(!exists());
}

static void in_a(int of)
{
	must(!enter_netns("a"));
	protocol = of;
	new_socket();
}

/* a device of any driver leaks when uverbs has no memory for its tables; and it takes minutes */
static void need_all(void)
{
	if (!getenv("TERN_SET_FAIL_NTH_LINKS"))
		skip("uverbs leaks then: reliability.rst");
}

static void add_test(void)
{
	need_all();
	in_a(NETLINK_RDMA);
	each_nth(&(struct call) { adds, gone });
}

static bool deletes(void)
{
	must(!nl_send_sync(sk, creation()));
	return !ask(deletion());
}

static void delete_test(void)
{
	in_a(NETLINK_RDMA);
	each_nth(&(struct call) { deletes, gone });
}

static int seen;	/* messages of a dump */

static int count(struct nl_msg *msg, void *unused)
{
	seen++;
	return NL_OK;
}

static bool dumps(int cmd)
{
	seen = 0;
	must(!nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, count, NULL));
	arm();
	if (genl_send_simple(sk, family, cmd, TERN_FAMILY_VERSION, NLM_F_DUMP) >= 0)
		nl_recvmsgs_default(sk);
	disarm();
	return seen;
}

static bool dumps_devices(void) { return dumps(TERN_CMD_DEV_GET); }
static bool dumps_connections(void) { return dumps(TERN_CMD_CONN_GET); }

static void dump_test(void)
{
	pair_up(NULL, NULL);
	in_a(NETLINK_GENERIC);
	family = genl_ctrl_resolve(sk, TERN_FAMILY_NAME);
	must(family > 0);
	each_nth(&(struct call) { dumps_devices, new_socket });
	each_nth(&(struct call) { dumps_connections, new_socket });
	pair_down();
}

static const struct tap_test tests[] = {
	{ "rdma link add", add_test, 60 },
	{ "rdma link delete", delete_test, 60 },
	{ "tern show", dump_test, 60 },
};

const struct tap_theme fail_nth_link_theme = { tests, ARRAY_LEN(tests) };
