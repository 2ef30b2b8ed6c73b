// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * libtern.so.1: terndv.h for programs. It passes each call to the provider that libibverbs
 * has loaded, so it needs nothing of libibverbs's private interface and fits each release.
 * Where no provider is loaded there is no device of tern either.
 */

#include <dlfcn.h>

#include "dv_ops.h"

/*
 * A reference remains, so the provider stays loaded. libibverbs keeps its providers as
 * well. Two threads may both look it up: they find the same.
 */
static const struct tern_dv_ops *provider(void)
{
	static const struct tern_dv_ops *found;
	const struct tern_dv_ops *ops = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	void *file;

	if (ops)
		return ops;
	file = dlopen(TERN_DV_SONAME, RTLD_NOW | RTLD_NOLOAD);
	if (!file)
		return NULL;
	ops = dlsym(file, "tern_dv_ops");
	__atomic_store_n(&found, ops, __ATOMIC_RELEASE);
	return ops;
}

/* ---- before a connection ----------------------------------------------------- */

bool terndv_is_supported(struct ibv_device *device)
{
	const struct tern_dv_ops *ops = provider();

	return ops && ops->is_supported(device);
}

int terndv_query_device(struct ibv_context *context,
			struct terndv_device_attr *attr, size_t size)
{
	const struct tern_dv_ops *ops = provider();

	return ops ? ops->query_device(context, attr, size) : EOPNOTSUPP;
}

struct ibv_qp *terndv_create_qp(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr,
				const struct terndv_qp_init_attr *options)
{
	const struct tern_dv_ops *ops = provider();

	if (!ops) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return ops->create_qp(context, attr, options);
}

int terndv_modify_qp(struct ibv_qp *qp,
		     const struct terndv_qp_init_attr *options)
{
	const struct tern_dv_ops *ops = provider();

	return ops ? ops->modify_qp(qp, options) : EOPNOTSUPP;
}

int terndv_query_qp(struct ibv_qp *qp, struct terndv_qp_attr *attr, size_t size)
{
	const struct tern_dv_ops *ops = provider();

	return ops ? ops->query_qp(qp, attr, size) : EOPNOTSUPP;
}

/* ---- requests and completions: of a QP or CQ of tern, so there is a provider ---- */

void terndv_wr_send_imm(struct ibv_qp_ex *qp, const uint8_t imm[TERNDV_IMM_SIZE])
{
	provider()->wr_send_imm(qp, imm);
}

void terndv_wr_send_inv_imm(struct ibv_qp_ex *qp, uint32_t invalidate_rkey,
			    const uint8_t imm[TERNDV_IMM_SIZE])
{
	provider()->wr_send_inv_imm(qp, invalidate_rkey, imm);
}

void terndv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t remote_addr,
			      const uint8_t imm[TERNDV_IMM_SIZE])
{
	provider()->wr_rdma_write_imm(qp, rkey, remote_addr, imm);
}

void terndv_wr_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
			 uint64_t remote_addr, uint64_t add, uint64_t mask)
{
	provider()->wr_fetch_add(qp, rkey, remote_addr, add, mask);
}

void terndv_wr_cmp_swap(struct ibv_qp_ex *qp, uint32_t rkey,
			uint64_t remote_addr,
			const struct terndv_cmp_swap *operands)
{
	provider()->wr_cmp_swap(qp, rkey, remote_addr, operands);
}

void terndv_wc_read_imm(struct ibv_cq_ex *cq, uint8_t imm[TERNDV_IMM_SIZE])
{
	provider()->wc_read_imm(cq, imm);
}

uint32_t terndv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq)
{
	return provider()->wc_read_invalidated_rkey(cq);
}
