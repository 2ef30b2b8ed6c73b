// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The contexts of programs, and the ABI version that they are told. */
#include "ucontext.h"
#include "device/device.h"
#include "device/settings.h"
#include "uapi/rdma/tern-abi.h"

int tern_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct tern_uresp_ucontext resp = {
		.abi_version = TERN_ABI_VERSION,
		.max_inline = TERN_MAX_INLINE,
		.features = TERN_FEATURES,
		.doorbell = TERN_DOORBELL_MORE,
		.counts_silent = 1,
	};
	struct tern_ucontext *uctx = to_tern_uctx(ibctx);
	struct tern_device *dev = to_tern_dev(ibctx->device);
	int ret;

	if (udata->outlen < offsetofend(struct tern_uresp_ucontext, max_inline))
		return -EINVAL;
	if (!atomic_add_unless(&dev->num_ctx, 1, TERN_MAX_CTX))
		return -ENOMEM;
	uctx->dev = dev;
	mutex_init(&uctx->lock);
	INIT_LIST_HEAD(&uctx->qps);
	INIT_LIST_HEAD(&uctx->mrs);
	INIT_LIST_HEAD(&uctx->mws);
	ret = ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
	if (ret)
		atomic_dec(&dev->num_ctx);
	return ret;
}

void tern_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	atomic_dec(&to_tern_dev(ibctx->device)->num_ctx);
}

void tern_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}
