/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A QP or MR that is destroyed waits for a grace period of RCU, after which nothing finds it
 * any more. A program that ends may take thousands with it, which share one.
 */
#ifndef TERN_LEAVE_H
#define TERN_LEAVE_H

#include <linux/list.h>
#include <linux/types.h>

struct ib_udata;
struct tern_mr;
struct tern_mw;
struct tern_qp;
struct tern_ucontext;

/**
 * struct tern_owned - what a QP, MR or window belongs to
 * @uctx: the context of its program, NULL for a kernel user's; never changes
 * @node: in a list of @uctx, until it leaves
 * @left: it left with all others
 *
 * @uctx's lock guards @node and @left.
 */
struct tern_owned {
	struct tern_ucontext *uctx;
	struct list_head node;
	bool left;
};

/* @o is that of an object of @uctx, which may be NULL; it is in no list yet */
void tern_owned_init(struct tern_owned *o, struct tern_ucontext *uctx);

/* it can be found from now on; Context: process, may sleep */
void tern_qp_joins(struct tern_qp *qp);
void tern_mr_joins(struct tern_mr *mr);
void tern_mw_joins(struct tern_mw *mw);

/**
 * tern_qp_leaves() - close a QP's stream; afterwards no look-up finds it
 * @qp: QP that its user destroys
 * @udata: the verb's
 *
 * Look-ups that found it before have a reference. Context: process, sleeps.
 */
void tern_qp_leaves(struct tern_qp *qp, struct ib_udata *udata);

/**
 * tern_mr_leaves() - revoke an MR; afterwards nothing reads or writes its memory
 * @mr: MR that its user deregisters
 * @udata: the verb's
 *
 * Context: process, sleeps. Return: 0, or -EBUSY: windows are bound to it.
 */
int tern_mr_leaves(struct tern_mr *mr, struct ib_udata *udata);

/* its user deallocates it; Context: process, may sleep */
void tern_mw_leaves(struct tern_mw *mw);

#endif /* TERN_LEAVE_H */
