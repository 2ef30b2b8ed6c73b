/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The differences between the rdma-core releases that the provider builds in.
 * CMakeLists.txt probes driver.h for the features.
 */
#ifndef TERN_PROVIDER_COMPAT_H
#define TERN_PROVIDER_COMPAT_H

#include <infiniband/driver.h>

#include "abi.h"

static inline int
tern_compat_get_context(struct verbs_context *vctx,
			struct tern_cmd_alloc_ucontext *req,
			struct tern_cmd_alloc_ucontext_resp *resp)
{
#ifdef HAVE_GET_CONTEXT_FD_ARR
	return ibv_cmd_get_context(vctx, &req->ibv_cmd, sizeof(*req), NULL,
				   &resp->ibv_resp, sizeof(*resp));
#else
	return ibv_cmd_get_context(vctx, &req->ibv_cmd, sizeof(*req),
				   &resp->ibv_resp, sizeof(*resp));
#endif
}

static inline int tern_compat_create_cq(struct ibv_context *ctx,
					const struct ibv_cq_init_attr_ex *attr,
					struct verbs_cq *cq,
					struct tern_cmd_create_cq *req,
					struct tern_cmd_create_cq_resp *resp)
{
#ifdef HAVE_CREATE_CQ_PROV_ATTR
	return ibv_cmd_create_cq_ex(ctx, attr, NULL, cq, &req->ibv_cmd,
				    sizeof(*req), &resp->ibv_resp,
				    sizeof(*resp), 0);
#else
	return ibv_cmd_create_cq_ex(ctx, attr, cq, &req->ibv_cmd, sizeof(*req),
				    &resp->ibv_resp, sizeof(*resp), 0);
#endif
}

#endif /* TERN_PROVIDER_COMPAT_H */
