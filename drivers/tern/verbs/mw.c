// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The verbs of memory windows. A bind is a work request: see window.c. */
#include "mw.h"

#include <linux/slab.h>

#include "device/device.h"
#include "mem/mem.h"
#include "mem/stags.h"
#include "ucontext.h"

static int insert_window(struct tern_device *dev, struct tern_mw *mw)
{
	struct ib_mw *ibmw = &mw->ibmw;
	int ret;

	mw->mem = kzalloc_obj(*mw->mem, GFP_KERNEL_ACCOUNT);
	if (!mw->mem)
		return -ENOMEM;
	tern_mem_init(mw->mem, ibmw->type == IB_MW_TYPE_1 ? TERN_MEM_MW1 :
							    TERN_MEM_MW2,
		      ibmw->pd);
	mw->mem->map.window = true;
	ret = tern_mem_insert(&dev->mem, mw->mem);
	if (ret)
		kfree(mw->mem);
	return ret;
}

int tern_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct tern_mw *mw = container_of(ibmw, struct tern_mw, ibmw);
	struct tern_device *dev = to_tern_dev(ibmw->device);
	int ret;

	if (!atomic_add_unless(&dev->num_mw, 1, TERN_MAX_MW))
		return -ENOMEM;
	ret = insert_window(dev, mw);
	if (ret) {
		atomic_dec(&dev->num_mw);
		return ret;
	}
	ibmw->rkey = mw->mem->map.stag;
	tern_owned_init(&mw->owned, tern_uctx_of(ibmw->pd));
	tern_mw_joins(mw);
	return 0;
}

/*
 * No wait is needed: tern_mem_close() waits for copies through the window,
 * whose pages are the region's. RCU readers may still use the entry:
 * kfree_rcu().
 */
int tern_dealloc_mw(struct ib_mw *ibmw)
{
	struct tern_mw *mw = container_of(ibmw, struct tern_mw, ibmw);
	struct tern_device *dev = to_tern_dev(ibmw->device);
	int ret = tern_mem_close(mw->mem);

	if (ret)
		return ret;
	tern_mw_leaves(mw);
	tern_mem_unlist(&dev->mem, mw->mem);
	kfree_rcu(mw->mem, rcu);
	atomic_dec(&dev->num_mw);
	return 0;
}
