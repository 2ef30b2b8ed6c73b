// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "rdma.h"

#include <errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>

#include "talk.h"

#define TYPE(cmd)	RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##cmd)

/* send @msg if it is @whole, and release it; @each is as for talk_ask() */
static int ask_each(struct nl_msg *msg, bool whole,
		    void (*each)(struct nlmsghdr *hdr, void *arg), void *arg)
{
	struct talk t;
	int ret;

	if (!whole || talk_open_rdma(&t)) {
		nlmsg_free(msg);
		return whole ? -EOPNOTSUPP : -EMSGSIZE;
	}
	ret = talk_ask(&t, msg, each, arg);
	talk_close(&t);
	return ret;
}

static int ask(struct nl_msg *msg, bool whole)
{
	return ask_each(msg, whole, NULL, NULL);
}

int rdma_link_add(const char *name, const char *netdev)
{
	struct nl_msg *msg = nlmsg_alloc_simple(TYPE(NEWLINK), NLM_F_ACK);

	if (!msg)
		return -ENOMEM;
	return ask(msg, nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) >= 0 &&
			nla_put_string(msg, RDMA_NLDEV_ATTR_LINK_TYPE, "tern") >= 0 &&
			nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, netdev) >= 0);
}

int rdma_link_delete(uint32_t index)
{
	struct nl_msg *msg = nlmsg_alloc_simple(TYPE(DELLINK), NLM_F_ACK);

	if (!msg)
		return -ENOMEM;
	return ask(msg, nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) >= 0);
}

/* ---- tables ------------------------------------------------------------------------ */

/**
 * struct table - a nest of entries in each message of an answer
 * @attr: the nest
 * @policy: of the message, and of an entry
 * @read: reads the attributes of an entry
 * @arg: what it needs
 */
struct table {
	int attr;
	const struct nla_policy *policy;
	void (*read)(struct nlattr **tb, const void *arg);
	const void *arg;
};

/* @arg: struct table */
static void read_table(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *nest, *entry;
	const struct table *t = arg;
	int rem;

	if (nlmsg_parse(hdr, 0, tb, RDMA_NLDEV_ATTR_MAX - 1, t->policy) < 0 || !tb[t->attr])
		return;
	nest = tb[t->attr];
	nla_for_each_nested(entry, nest, rem)
		if (nla_parse_nested(tb, RDMA_NLDEV_ATTR_MAX - 1, entry, t->policy) >= 0)
			t->read(tb, t->arg);
}

/* ---- owners ------------------------------------------------------------------------ */

static const struct nla_policy qp_policy[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_RES_QP] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_RES_LQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_PID] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_KERN_NAME] = { .type = NLA_STRING },
};

/**
 * struct listing - of QPs
 * @each: what to call
 * @arg: its second argument
 */
struct listing {
	void (*each)(const struct rdma_owner *owner, void *arg);
	void *arg;
};

/* @arg: struct listing */
static void read_owner(struct nlattr **tb, const void *arg)
{
	const struct listing *l = arg;
	struct rdma_owner owner = {};

	if (!tb[RDMA_NLDEV_ATTR_RES_LQPN])
		return;
	owner.qpn = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	if (tb[RDMA_NLDEV_ATTR_RES_PID])
		owner.pid = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_PID]);
	if (tb[RDMA_NLDEV_ATTR_RES_KERN_NAME])
		nla_strlcpy(owner.user, tb[RDMA_NLDEV_ATTR_RES_KERN_NAME], sizeof(owner.user));
	l->each(&owner, l->arg);
}

int rdma_qp_owners(uint32_t index, void (*each)(const struct rdma_owner *owner, void *arg),
		   void *arg)
{
	struct nl_msg *msg = nlmsg_alloc_simple(TYPE(RES_QP_GET), NLM_F_DUMP);
	const struct listing l = { each, arg };
	struct table t = { RDMA_NLDEV_ATTR_RES_QP, qp_policy, read_owner, &l };

	if (!msg)
		return -ENOMEM;
	return ask_each(msg, nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) >= 0, read_table,
			&t);
}

/* ---- counters ---------------------------------------------------------------------- */

static const struct nla_policy counter_policy[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE] = { .type = NLA_U64 },
};

/**
 * struct tally - of counters
 * @each: what to call
 * @arg: its second argument
 */
struct tally {
	void (*each)(const struct rdma_counter *counter, void *arg);
	void *arg;
};

/* @arg: struct tally */
static void read_counter(struct nlattr **tb, const void *arg)
{
	const struct tally *tally = arg;
	struct rdma_counter counter;

	if (!tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] ||
	    !tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE])
		return;
	nla_strlcpy(counter.name, tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME],
		    sizeof(counter.name));
	counter.value = nla_get_u64(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE]);
	tally->each(&counter, tally->arg);
}

int rdma_port_counters(uint32_t index,
		       void (*each)(const struct rdma_counter *counter, void *arg), void *arg)
{
	struct nl_msg *msg = nlmsg_alloc_simple(TYPE(STAT_GET), NLM_F_ACK);
	const struct tally tally = { each, arg };
	struct table t = { RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, counter_policy, read_counter, &tally };

	if (!msg)
		return -ENOMEM;
	return ask_each(msg, nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) >= 0 &&
			     nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, 1) >= 0,
			read_table, &t);
}
