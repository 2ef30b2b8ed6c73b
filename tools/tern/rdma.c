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

/* send @msg if it is @whole, and release it */
static int ask(struct nl_msg *msg, bool whole)
{
	struct talk t;
	int ret;

	if (!whole || talk_open_rdma(&t)) {
		nlmsg_free(msg);
		return whole ? -EOPNOTSUPP : -EMSGSIZE;
	}
	ret = talk_ask(&t, msg, NULL, NULL);
	talk_close(&t);
	return ret;
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
