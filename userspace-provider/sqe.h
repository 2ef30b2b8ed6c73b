/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Write one send queue entry, for both ways to post: ibv_post_send() and the
 * ibv_wr_*() calls.
 */
#ifndef TERN_PROVIDER_SQE_H
#define TERN_PROVIDER_SQE_H

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
 */
enum tern_wr_traits {
	TERN_WR_HAS_DATA = 1 << 0,
	TERN_WR_HAS_INLINE = 1 << 1,
	TERN_WR_HAS_SOLICITED = 1 << 2,
	TERN_WR_HAS_REMOTE = 1 << 3,
	TERN_WR_HAS_KEY = 1 << 4,
	TERN_WR_HAS_WINDOW = 1 << 5,
};

/**
 * struct tern_wr_op - an opcode of the verbs API
 * @opcode: enum tern_wr_opcode, or 0 if tern does not offer it
 * @traits: enum tern_wr_traits
 */
struct tern_wr_op {
	uint8_t opcode;
	uint8_t traits;
};

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

int tern_sqe_set_window(struct tern_sqe *sqe, enum ibv_mw_type type,
			const struct ibv_mw *mw, uint32_t rkey,
			const struct ibv_mw_bind_info *info);

#endif /* TERN_PROVIDER_SQE_H */
