/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The commands that tern extends: the core's request and response, followed by a
 * struct of tern-abi.h.
 */
#ifndef TERN_PROVIDER_ABI_H
#define TERN_PROVIDER_ABI_H

#include <infiniband/kern-abi.h>
#include <rdma/tern-abi.h>
#include <kernel-abi/tern-abi.h>

DECLARE_DRV_CMD(tern_cmd_alloc_ucontext, IB_USER_VERBS_CMD_GET_CONTEXT, empty,
		tern_uresp_ucontext);
DECLARE_DRV_CMD(tern_cmd_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ, empty,
		tern_uresp_create_cq);
DECLARE_DRV_CMD(tern_cmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ, empty,
		tern_uresp_create_cq);
DECLARE_DRV_CMD(tern_cmd_create_srq, IB_USER_VERBS_CMD_CREATE_SRQ, empty,
		tern_uresp_create_srq);
DECLARE_DRV_CMD(tern_cmd_create_qp, IB_USER_VERBS_CMD_CREATE_QP, empty,
		tern_uresp_create_qp);

#endif /* TERN_PROVIDER_ABI_H */
