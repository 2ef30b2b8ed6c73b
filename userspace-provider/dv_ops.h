/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* How libtern.so.1, which programs link for terndv.h, calls the provider. */
#ifndef TERN_PROVIDER_DV_OPS_H
#define TERN_PROVIDER_DV_OPS_H

#include "terndv.h"

/*
 * The provider's file is named after the private interface of one libibverbs, and may lie
 * anywhere (IBV_DRIVERS). The dynamic linker finds a file that is loaded by its SONAME,
 * which is the same for all.
 */
#define TERN_DV_SONAME "libtern-provider.so.1"

/**
 * struct tern_dv_ops - the functions of terndv.h, less the prefix
 * @size: of the provider's struct: a member that is added at the end may lie after it
 */
struct tern_dv_ops {
	size_t size;
	bool (*is_supported)(struct ibv_device *device);
	int (*query_device)(struct ibv_context *context,
			    struct terndv_device_attr *attr, size_t size);
	struct ibv_qp *(*create_qp)(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    const struct terndv_qp_init_attr *options);
	int (*modify_qp)(struct ibv_qp *qp,
			 const struct terndv_qp_init_attr *options);
	int (*query_qp)(struct ibv_qp *qp, struct terndv_qp_attr *attr,
			size_t size);
	void (*wr_send_imm)(struct ibv_qp_ex *qp, const uint8_t *imm);
	void (*wr_send_inv_imm)(struct ibv_qp_ex *qp, uint32_t invalidate_rkey,
				const uint8_t *imm);
	void (*wr_rdma_write_imm)(struct ibv_qp_ex *qp, uint32_t rkey,
				  uint64_t remote_addr, const uint8_t *imm);
	void (*wr_fetch_add)(struct ibv_qp_ex *qp, uint32_t rkey,
			     uint64_t remote_addr, uint64_t add, uint64_t mask);
	void (*wr_cmp_swap)(struct ibv_qp_ex *qp, uint32_t rkey,
			    uint64_t remote_addr,
			    const struct terndv_cmp_swap *operands);
	void (*wc_read_imm)(struct ibv_cq_ex *cq, uint8_t *imm);
	uint32_t (*wc_read_invalidated_rkey)(struct ibv_cq_ex *cq);
};

extern const struct tern_dv_ops tern_dv_ops;

#endif /* TERN_PROVIDER_DV_OPS_H */
