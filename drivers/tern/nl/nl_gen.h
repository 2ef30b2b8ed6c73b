/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/tern.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/ynl-check.sh --update */

#ifndef _LINUX_TERN_GEN_H
#define _LINUX_TERN_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/rdma/tern-nl.h>

/* Common nested types */
extern const struct nla_policy tern_settings_nl_policy[TERN_A_SETTINGS_MAX_FPDU + 1];

int tern_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int tern_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int tern_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info);
int tern_nl_conn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

enum {
	TERN_NLGRP_EVENTS,
	TERN_NLGRP_CONNECTIONS,
};

extern struct genl_family tern_nl_family;

#endif /* _LINUX_TERN_GEN_H */
