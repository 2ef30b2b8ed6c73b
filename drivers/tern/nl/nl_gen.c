// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/tern.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/ynl-check.sh --update */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "nl_gen.h"

#include <uapi/rdma/tern-nl.h>

/* Integer value ranges */
static const struct netlink_range_validation tern_a_settings_request_ms_range = {
	.min	= 1ULL,
	.max	= TERN_MAX_MS,
};

static const struct netlink_range_validation tern_a_settings_reply_ms_range = {
	.min	= 1ULL,
	.max	= TERN_MAX_MS,
};

static const struct netlink_range_validation tern_a_settings_rtr_ms_range = {
	.min	= 1ULL,
	.max	= TERN_MAX_MS,
};

static const struct netlink_range_validation tern_a_settings_close_ms_range = {
	.min	= 1ULL,
	.max	= TERN_MAX_MS,
};

static const struct netlink_range_validation tern_a_settings_half_open_range = {
	.min	= 1ULL,
	.max	= TERN_MAX_HALF_OPEN,
};

static const struct netlink_range_validation tern_a_settings_max_fpdu_range = {
	.max	= TERN_MAX_FPDU,
};

/* Common nested types */
const struct nla_policy tern_settings_nl_policy[TERN_A_SETTINGS_MAX_FPDU + 1] = {
	[TERN_A_SETTINGS_MPA_REV] = NLA_POLICY_RANGE(NLA_U32, 1, 2),
	[TERN_A_SETTINGS_CRC] = NLA_POLICY_MAX(NLA_U32, 1),
	[TERN_A_SETTINGS_MARKERS] = NLA_POLICY_MAX(NLA_U32, 1),
	[TERN_A_SETTINGS_P2P] = NLA_POLICY_MAX(NLA_U32, 1),
	[TERN_A_SETTINGS_RTR] = NLA_POLICY_RANGE(NLA_U32, 1, 3),
	[TERN_A_SETTINGS_REQUEST_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &tern_a_settings_request_ms_range),
	[TERN_A_SETTINGS_REPLY_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &tern_a_settings_reply_ms_range),
	[TERN_A_SETTINGS_RTR_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &tern_a_settings_rtr_ms_range),
	[TERN_A_SETTINGS_CLOSE_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &tern_a_settings_close_ms_range),
	[TERN_A_SETTINGS_HALF_OPEN] = NLA_POLICY_FULL_RANGE(NLA_U32, &tern_a_settings_half_open_range),
	[TERN_A_SETTINGS_RNIC] = NLA_POLICY_MAX(NLA_U32, 2),
	[TERN_A_SETTINGS_ENHANCED] = NLA_POLICY_MAX(NLA_U32, 1),
	[TERN_A_SETTINGS_EARLY_OCTETS] = NLA_POLICY_MAX(NLA_U32, 1),
	[TERN_A_SETTINGS_KEEPALIVE_S] = NLA_POLICY_MAX(NLA_U32, TERN_MAX_KEEPALIVE_S),
	[TERN_A_SETTINGS_EXTENSIONS] = NLA_POLICY_MAX(NLA_U32, 2),
	[TERN_A_SETTINGS_FEATURES] = NLA_POLICY_MASK(NLA_U32, 0x7),
	[TERN_A_SETTINGS_MAX_FPDU] = NLA_POLICY_FULL_RANGE(NLA_U32, &tern_a_settings_max_fpdu_range),
};

/* TERN_CMD_DEV_GET - do */
static const struct nla_policy tern_dev_get_nl_policy[TERN_A_DEV_NAME + 1] = {
	[TERN_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* TERN_CMD_DEV_SET - do */
static const struct nla_policy tern_dev_set_nl_policy[TERN_A_DEV_SETTINGS + 1] = {
	[TERN_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[TERN_A_DEV_SETTINGS] = NLA_POLICY_NESTED(tern_settings_nl_policy),
};

/* TERN_CMD_CONN_GET - dump */
static const struct nla_policy tern_conn_get_nl_policy[TERN_A_CONN_DEVICE + 1] = {
	[TERN_A_CONN_DEVICE] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* Ops table for tern */
static const struct genl_split_ops tern_nl_ops[] = {
	{
		.cmd		= TERN_CMD_DEV_GET,
		.doit		= tern_nl_dev_get_doit,
		.policy		= tern_dev_get_nl_policy,
		.maxattr	= TERN_A_DEV_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= TERN_CMD_DEV_GET,
		.dumpit	= tern_nl_dev_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= TERN_CMD_DEV_SET,
		.doit		= tern_nl_dev_set_doit,
		.policy		= tern_dev_set_nl_policy,
		.maxattr	= TERN_A_DEV_SETTINGS,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= TERN_CMD_CONN_GET,
		.dumpit		= tern_nl_conn_get_dumpit,
		.policy		= tern_conn_get_nl_policy,
		.maxattr	= TERN_A_CONN_DEVICE,
		.flags		= GENL_CMD_CAP_DUMP,
	},
};

static const struct genl_multicast_group tern_nl_mcgrps[] = {
	[TERN_NLGRP_EVENTS] = { "events", },
	[TERN_NLGRP_CONNECTIONS] = { "connections", },
};

struct genl_family tern_nl_family __ro_after_init = {
	.name		= TERN_FAMILY_NAME,
	.version	= TERN_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= tern_nl_ops,
	.n_split_ops	= ARRAY_SIZE(tern_nl_ops),
	.mcgrps		= tern_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(tern_nl_mcgrps),
};
