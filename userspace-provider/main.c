// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Match devices of tern and open them. */

#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "compat.h"
#include "cq.h"
#include "doorbell.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "tern.h"

static const struct verbs_match_ent match_table[] = {
	VERBS_DRIVER_ID(TERN_DRIVER_ID),
	VERBS_NAME_MATCH("tern", NULL),
	{},
};

static void context_free(struct ibv_context *ibctx)
{
	struct tern_context *ctx = to_tern_context(ibctx);

	tern_doorbell_close(ctx);
	tern_polled_free(&ctx->polled);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops context_ops = {
	.alloc_mw = tern_mw_alloc,
	.alloc_parent_domain = tern_pd_alloc_parent,
	.alloc_pd = tern_pd_alloc,
	.alloc_td = tern_td_alloc,
	.bind_mw = tern_qp_bind_mw,
	.create_cq = tern_cq_create,
	.create_cq_ex = tern_cq_create_ex,
	.create_qp = tern_qp_create,
	.create_qp_ex = tern_qp_create_ex,
	.create_srq = tern_srq_create,
	.dealloc_mw = tern_mw_dealloc,
	.dealloc_pd = tern_pd_dealloc,
	.dealloc_td = tern_td_dealloc,
	.dereg_mr = tern_mr_dereg,
	.destroy_cq = tern_cq_destroy,
	.destroy_qp = tern_qp_destroy,
	.destroy_srq = tern_srq_destroy,
	.free_context = context_free,
	.modify_cq = tern_cq_modify,
	.modify_qp = tern_qp_modify,
	.modify_srq = tern_srq_modify,
	.poll_cq = tern_cq_poll,
	.post_recv = tern_qp_post_recv,
	.post_send = tern_qp_post_send,
	.post_srq_recv = tern_srq_post_recv,
	.query_device_ex = tern_device_query,
	.query_port = tern_port_query,
	.query_qp = tern_qp_query,
	.query_rt_values = tern_clock_query,
	.query_srq = tern_srq_query,
	.reg_dmabuf_mr = tern_mr_reg_dmabuf,
	.reg_mr = tern_mr_reg,
	.req_notify_cq = tern_cq_arm,
	.rereg_mr = tern_mr_rereg,
	.resize_cq = tern_cq_resize,
};

static int get_context(struct tern_context *ctx)
{
	struct tern_cmd_alloc_ucontext_resp resp = {};
	struct tern_cmd_alloc_ucontext cmd;
	int err;

	err = tern_compat_get_context(&ctx->vctx, &cmd, &resp);
	if (err)
		return err;
	if (resp.drv_payload.abi_version != TERN_ABI_VERSION) {
		verbs_err(&ctx->vctx, "module speaks ABI %u, provider %u\n",
			  resp.drv_payload.abi_version, TERN_ABI_VERSION);
		return EPROTO;
	}
	/* the shorter answer of a kernel without extensions leaves these zero */
	ctx->features = resp.drv_payload.features;
	ctx->lazy = resp.drv_payload.doorbell & TERN_DOORBELL_MORE;
	ctx->counts_silent = resp.drv_payload.counts_silent;
	return 0;
}

/* The context owns @cmd_fd from here on, and closes it on failure too. */
static struct verbs_context *context_alloc(struct ibv_device *dev, int cmd_fd,
					   void *private_data)
{
	struct tern_context *ctx;
	int err;

	ctx = verbs_init_and_alloc_context(dev, cmd_fd, ctx, vctx,
					   TERN_DRIVER_ID);
	if (!ctx)
		return NULL;

	err = get_context(ctx);
	if (err)
		goto err_uninit;
	err = tern_polled_init(&ctx->polled);
	if (err)
		goto err_uninit;
	err = tern_doorbell_open(ctx);
	if (err)
		goto err_polled;
	verbs_set_ops(&ctx->vctx, &context_ops);
	return &ctx->vctx;

err_polled:
	tern_polled_free(&ctx->polled);
err_uninit:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = err;
	return NULL;
}

static struct verbs_device *device_alloc(struct verbs_sysfs_dev *sysfs_dev)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void device_free(struct verbs_device *dev)
{
	free(dev);
}

static const struct verbs_device_ops device_ops = {
	.name = "tern",
	.match_min_abi_version = TERN_ABI_VERSION,
	.match_max_abi_version = TERN_ABI_VERSION,
	.match_table = match_table,
	.alloc_device = device_alloc,
	.uninit_device = device_free,
	.alloc_context = context_alloc,
};

bool tern_is_ours(struct ibv_device *device)
{
	return verbs_get_device(device)->ops == &device_ops;
}

PROVIDER_DRIVER(tern, device_ops);
