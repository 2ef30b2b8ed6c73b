// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* QPs, MRs and windows that leave, alone or with all others of their program. */
#include "leave.h"

#include <linux/bitmap.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <rdma/uverbs_ioctl.h>

#include "device/device.h"
#include "device/grace.h"
#include "mem/stags.h"
#include "mr.h"
#include "mw.h"
#include "qp.h"
#include "ucontext.h"

void tern_owned_init(struct tern_owned *o, struct tern_ucontext *uctx)
{
	o->uctx = uctx;
	INIT_LIST_HEAD(&o->node);
}

static struct tern_device *dev_of_mr(const struct tern_mr *mr)
{
	return to_tern_dev(mr->mem.map.pd->device);
}

static void join(struct tern_owned *o, struct list_head *list)
{
	mutex_lock(&o->uctx->lock);
	list_add_tail(&o->node, list);
	mutex_unlock(&o->uctx->lock);
}

void tern_qp_joins(struct tern_qp *qp)
{
	if (qp->owned.uctx)
		join(&qp->owned, &qp->owned.uctx->qps);
}

void tern_mr_joins(struct tern_mr *mr)
{
	if (mr->owned.uctx)
		join(&mr->owned, &mr->owned.uctx->mrs);
}

void tern_mw_joins(struct tern_mw *mw)
{
	if (mw->owned.uctx)
		join(&mw->owned, &mw->owned.uctx->mws);
}

/*
 * When a program's file is closed, or its device is removed, uverbs destroys all that the
 * program has, one after another. No command of the program runs then or later, and the verb
 * gets the attributes of no command.
 */
static bool all_leave(struct ib_udata *udata)
{
	const struct uverbs_attr_bundle *attrs =
		container_of(udata, struct uverbs_attr_bundle, driver_udata);

	/* an ioctl has attributes, and sets no @ucore */
	return bitmap_empty(attrs->attr_present, UVERBS_API_ATTR_BKEY_LEN) &&
	       !attrs->ucore.inlen;
}

static void end_qp(struct tern_qp *qp)
{
	struct tern_stream *s = &qp->stream;

	tern_stream_close(s, true);
	tern_stream_detach(s);
	tern_stream_remove(&to_tern_dev(qp->ibqp.device)->streams, s->qpn);
}

static void end_qps(struct tern_ucontext *uctx)
{
	struct tern_qp *qp, *next;

	list_for_each_entry_safe(qp, next, &uctx->qps, owned.node) {
		list_del_init(&qp->owned.node);
		end_qp(qp);
		qp->owned.left = true;
		cond_resched();
	}
}

/* a region cannot be closed before its windows */
static void close_windows(struct tern_ucontext *uctx)
{
	struct tern_mw *mw, *next;

	list_for_each_entry_safe(mw, next, &uctx->mws, owned.node) {
		list_del_init(&mw->owned.node);
		tern_mem_close(mw->mem);
		cond_resched();
	}
}

static void end_mrs(struct tern_ucontext *uctx)
{
	struct tern_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &uctx->mrs, owned.node) {
		list_del_init(&mr->owned.node);
		mr->owned.left = !tern_mem_close(&mr->mem);
		if (mr->owned.left)
			tern_mem_unlist(&uctx->dev->mem, &mr->mem);
		cond_resched();
	}
}

/* The lock is held until the grace period is over: who finds @left set may free at once. */
static void end_all(struct tern_ucontext *uctx)
{
	end_qps(uctx);
	close_windows(uctx);
	end_mrs(uctx);
	tern_grace_period(uctx->dev, true);
}

/* Return: it left with all others */
static bool leave_together(struct tern_owned *o, struct ib_udata *udata)
{
	struct tern_ucontext *uctx = o->uctx;
	bool left;

	if (!uctx)
		return false;
	mutex_lock(&uctx->lock);
	if (!list_empty(&o->node) && udata && all_leave(udata))
		end_all(uctx);
	list_del_init(&o->node);
	left = o->left;
	mutex_unlock(&uctx->lock);
	return left;
}

void tern_qp_leaves(struct tern_qp *qp, struct ib_udata *udata)
{
	if (leave_together(&qp->owned, udata))
		return;
	/* not when all leave: the program may still poll when its device is removed */
	if (qp->owned.uctx)
		tern_stream_be_quiet(&qp->stream);
	end_qp(qp);
	tern_grace_period(to_tern_dev(qp->ibqp.device), qp->owned.uctx);
}

int tern_mr_leaves(struct tern_mr *mr, struct ib_udata *udata)
{
	struct tern_device *dev = dev_of_mr(mr);
	int ret = tern_mem_close(&mr->mem);

	if (ret)
		return ret;
	if (leave_together(&mr->owned, udata))
		return 0;
	tern_mem_unlist(&dev->mem, &mr->mem);
	tern_grace_period(dev, mr->owned.uctx);
	return 0;
}

void tern_mw_leaves(struct tern_mw *mw)
{
	struct tern_ucontext *uctx = mw->owned.uctx;

	if (!uctx)
		return;
	mutex_lock(&uctx->lock);
	list_del_init(&mw->owned.node);
	mutex_unlock(&uctx->lock);
}
