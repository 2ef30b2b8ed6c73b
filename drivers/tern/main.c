// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Module init, and exit, which undoes it in reverse order. */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "cm/cm.h"
#include "device/device.h"
#include "nl/nl.h"
#include "stream/block.h"
#include "stream/tx_sched.h"
#include "link.h"

static int __init tern_init(void)
{
	int ret;

	ret = tern_compat_init();
	if (ret)
		return ret;
	ret = tern_block_init();
	if (ret)
		goto err_compat;
	ret = tern_tx_sched_init();
	if (ret)
		goto err_block;
	ret = tern_cm_init();
	if (ret)
		goto err_sched;
	ret = tern_nl_init();
	if (ret)
		goto err_cm;
	ret = tern_link_init();
	if (ret)
		goto err_nl;
	return 0;

err_nl:
	tern_nl_exit();
err_cm:
	tern_cm_exit();
err_sched:
	tern_tx_sched_exit();
err_block:
	tern_block_exit();
err_compat:
	tern_compat_exit();
	return ret;
}

static void __exit tern_exit(void)
{
	tern_link_exit();
	tern_nl_exit();
	tern_cm_exit();
	tern_tx_sched_exit();
	tern_block_exit();
	tern_compat_exit();
}

module_init(tern_init);
module_exit(tern_exit);

MODULE_DESCRIPTION("Software RNIC: RDMA over TCP (iWARP) on any netdev");
MODULE_VERSION(TERN_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("tern");
