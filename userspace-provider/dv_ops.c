// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The one symbol that the provider exports. */

#include "dv_ops.h"

const struct tern_dv_ops tern_dv_ops = {
	.size = sizeof(tern_dv_ops),
	.is_supported = terndv_is_supported,
	.query_device = terndv_query_device,
	.create_qp = terndv_create_qp,
	.modify_qp = terndv_modify_qp,
	.query_qp = terndv_query_qp,
	.wr_send_imm = terndv_wr_send_imm,
	.wr_send_inv_imm = terndv_wr_send_inv_imm,
	.wr_rdma_write_imm = terndv_wr_rdma_write_imm,
	.wr_fetch_add = terndv_wr_fetch_add,
	.wr_cmp_swap = terndv_wr_cmp_swap,
	.wc_read_imm = terndv_wc_read_imm,
	.wc_read_invalidated_rkey = terndv_wc_read_invalidated_rkey,
};
