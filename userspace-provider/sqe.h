/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Write one send queue entry, for both ways to post: ibv_post_send() and the
 * ibv_wr_*() calls, with those of terndv.h.
 */
#ifndef TERN_PROVIDER_SQE_H
#define TERN_PROVIDER_SQE_H

#include <stdbool.h>
#include <infiniband/driver.h>
#include <rdma/tern-abi.h>

/**
 * enum tern_wr_traits - what an opcode allows in a work request
 * @TERN_WR_HAS_DATA: a scatter/gather list
 * @TERN_WR_HAS_INLINE: inline payload instead
 * @TERN_WR_HAS_SOLICITED: a solicited event at the peer
 * @TERN_WR_HAS_REMOTE: a buffer at the peer
 * @TERN_WR_HAS_KEY: a key to invalidate
 * @TERN_WR_HAS_WINDOW: a memory window to bind
 * @TERN_WR_HAS_IMM: immediate data
 * @TERN_WR_HAS_ATOMIC: an atomic: operands, and one element for the result
 */
enum tern_wr_traits {
	TERN_WR_HAS_DATA = 1 << 0,
	TERN_WR_HAS_INLINE = 1 << 1,
	TERN_WR_HAS_SOLICITED = 1 << 2,
	TERN_WR_HAS_REMOTE = 1 << 3,
	TERN_WR_HAS_KEY = 1 << 4,
	TERN_WR_HAS_WINDOW = 1 << 5,
	TERN_WR_HAS_IMM = 1 << 6,
	TERN_WR_HAS_ATOMIC = 1 << 7,
};

/**
 * struct tern_wr_op - an opcode of the verbs API
 * @opcode: enum tern_wr_opcode, or 0 if tern does not offer it
 * @traits: enum tern_wr_traits
 * @features: enum tern_feature that the kernel has to know
 */
struct tern_wr_op {
	uint8_t opcode;
	uint8_t traits;
	uint8_t features;
};

/* the one that the verbs API has no opcode for */
extern const struct tern_wr_op tern_send_inv_imm;

struct tern_qp;

int tern_sqe_op(enum ibv_wr_opcode opcode, const struct tern_wr_op **op);
int tern_sqe_begin(const struct tern_qp *qp, struct tern_sqe *sqe,
		   const struct tern_wr_op *op, uint64_t wr_id,
		   unsigned int send_flags);
int tern_sqe_set_sges(const struct tern_qp *qp, struct tern_sqe *sqe,
		      const struct tern_wr_op *op, const struct ibv_sge *list,
		      size_t count);
int tern_sqe_add_inline(const struct tern_qp *qp, struct tern_sqe *sqe,
			const struct tern_wr_op *op, const void *data,
			size_t length);

void tern_sqe_set_imm(struct tern_sqe *sqe, const void *imm, size_t length);
int tern_sqe_set_atomic(struct tern_sqe *sqe, uint32_t rkey,
			uint64_t remote_addr,
			const struct tern_atomic_args *args);
bool tern_sqe_is_whole(const struct tern_sqe *sqe, const struct tern_wr_op *op);

/* What an atomic without masks means: one field of 64 bits, all of it. */
static inline struct tern_atomic_args tern_args_add(uint64_t add)
{
	return (struct tern_atomic_args){ .data = add,
					  .compare_mask = UINT64_MAX };
}

static inline struct tern_atomic_args tern_args_swap(uint64_t compare,
						     uint64_t swap)
{
	return (struct tern_atomic_args){ .data = swap, .compare = compare,
					  .data_mask = UINT64_MAX,
					  .compare_mask = UINT64_MAX };
}

int tern_sqe_set_window(struct tern_sqe *sqe, enum ibv_mw_type type,
			const struct ibv_mw *mw, uint32_t rkey,
			const struct ibv_mw_bind_info *info);

#endif /* TERN_PROVIDER_SQE_H */
