/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The context of a program. */
#ifndef TERN_UCONTEXT_H
#define TERN_UCONTEXT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct tern_device;

/**
 * struct tern_ucontext - a program's context
 * @ibctx: the core's part
 * @dev: its device
 * @lock: guards the others
 * @qps: QPs of the program, by their struct tern_owned
 * @mrs: MRs of the program, likewise
 * @mws: its memory windows
 */
struct tern_ucontext {
	struct ib_ucontext ibctx;
	struct tern_device *dev;
	struct mutex lock; /* of all others */
	struct list_head qps;
	struct list_head mrs;
	struct list_head mws;
};

static inline struct tern_ucontext *to_tern_uctx(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct tern_ucontext, ibctx);
}

/* the context of the program whose PD it is, NULL for a kernel user's */
static inline struct tern_ucontext *tern_uctx_of(struct ib_pd *pd)
{
	return pd->uobject ? to_tern_uctx(pd->uobject->context) : NULL;
}

/* the context of the program that calls the verb, NULL for a kernel user */
static inline struct ib_ucontext *tern_udata_context(struct ib_udata *udata)
{
	struct tern_ucontext *uctx = rdma_udata_to_drv_context(udata,
						struct tern_ucontext, ibctx);

	return uctx ? &uctx->ibctx : NULL;
}

int tern_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void tern_dealloc_ucontext(struct ib_ucontext *ibctx);

/*
 * Nothing is left to do: the core disconnects the program's files, its rings
 * are plain memory that stays mapped, and its doorbells fail with EIO.
 */
void tern_disassociate_ucontext(struct ib_ucontext *ibctx);

#endif /* TERN_UCONTEXT_H */
