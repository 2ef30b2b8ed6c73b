// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The ibv_wr_*() calls, and terndv_wr_*(), write a batch into the send queue and publish
 * all of it, or nothing.
 */

#include <errno.h>

#include "qp.h"
#include "sqe.h"
#include "terndv.h"

#define SEND_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV | \
		  IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | \
		  IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)
#define SEND_OPS_7306 (IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
		       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
		       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
#define SEND_OPS_V2 IBV_QP_EX_WITH_SEND_WITH_IMM

/* The lock is held from here to wr_complete() or wr_abort(). */
static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct tern_qp *qp = ex_to_tern_qp(ibqp);

	tern_lock_take(&qp->sq.lock);
	qp->batch = (struct tern_wr_batch){ .next = qp->sq.ring.index };
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	tern_lock_drop(&ex_to_tern_qp(ibqp)->sq.lock);
}

static void fail(struct tern_wr_batch *batch, int err)
{
	batch->sqe = NULL;
	if (!batch->err)
		batch->err = err;
}

/* No setter comes any more for the entry that was begun last. */
static void end_entry(struct tern_wr_batch *batch)
{
	if (batch->sqe && !tern_sqe_is_whole(batch->sqe, batch->op))
		fail(batch, EINVAL);
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct tern_qp *qp = ex_to_tern_qp(ibqp);
	int err;

	end_entry(&qp->batch);
	err = qp->batch.err;
	if (err) {
		tern_qp_publish_sends(qp, qp->sq.ring.index, err == ENOMEM);
		return err;
	}
	return tern_qp_publish_sends(qp, qp->batch.next, false);
}

/* the entry of the next request, or NULL if the batch has failed */
static struct tern_sqe *begin_op(struct ibv_qp_ex *ibqp,
				 const struct tern_wr_op *op)
{
	struct tern_qp *qp = ex_to_tern_qp(ibqp);
	struct tern_wr_batch *batch = &qp->batch;
	int err;

	end_entry(batch);
	if (batch->err)
		return NULL;
	if (tern_ring_full(&qp->sq.ring, batch->next)) {
		fail(batch, ENOMEM);
		return NULL;
	}

	batch->op = op;
	batch->sqe = tern_ring_entry(&qp->sq.ring, batch->next++);
	err = tern_sqe_begin(qp, batch->sqe, op, ibqp->wr_id, ibqp->wr_flags);
	if (err)
		fail(batch, err);
	return batch->sqe;
}

static struct tern_sqe *begin(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode)
{
	const struct tern_wr_op *op = NULL;
	int err;

	err = tern_sqe_op(opcode, &op);
	if (!err)
		return begin_op(ibqp, op);
	fail(&ex_to_tern_qp(ibqp)->batch, err);
	return NULL;
}

static void begin_key(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode,
		      uint32_t key)
{
	struct tern_sqe *sqe = begin(qp, opcode);

	if (sqe)
		sqe->ex = key;
}

static struct tern_sqe *begin_remote(struct ibv_qp_ex *qp,
				     enum ibv_wr_opcode opcode, uint32_t rkey,
				     uint64_t remote_addr)
{
	struct tern_sqe *sqe = begin(qp, opcode);

	if (sqe) {
		sqe->rkey = rkey;
		sqe->remote_addr = remote_addr;
	}
	return sqe;
}

static void begin_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode,
			 uint32_t rkey, uint64_t remote_addr,
			 const struct tern_atomic_args *args)
{
	struct tern_sqe *sqe = begin(qp, opcode);
	int err;

	if (!sqe)
		return;
	err = tern_sqe_set_atomic(sqe, rkey, remote_addr, args);
	if (err)
		fail(&ex_to_tern_qp(qp)->batch, err);
}

static void set_imm(struct tern_sqe *sqe, const void *imm, size_t length)
{
	if (sqe)
		tern_sqe_set_imm(sqe, imm, length);
}

static void wr_send(struct ibv_qp_ex *qp)
{
	begin(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	set_imm(begin(qp, IBV_WR_SEND_WITH_IMM), &imm_data, sizeof(imm_data));
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	begin_key(qp, IBV_WR_SEND_WITH_INV, invalidate_rkey);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	begin_key(qp, IBV_WR_LOCAL_INV, invalidate_rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct tern_sqe *sqe = begin(ibqp, IBV_WR_BIND_MW);
	int err;

	if (!sqe)
		return;
	err = tern_sqe_set_window(sqe, IBV_MW_TYPE_2, mw, rkey, info);
	if (err)
		fail(&ex_to_tern_qp(ibqp)->batch, err);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey,
			  uint64_t remote_addr)
{
	begin_remote(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm_data)
{
	set_imm(begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr),
		&imm_data, sizeof(imm_data));
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey,
			 uint64_t remote_addr)
{
	begin_remote(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	struct tern_atomic_args args = tern_args_add(add);

	begin_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, &args);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	struct tern_atomic_args args = tern_args_swap(compare, swap);

	begin_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, &args);
}

static void wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge,
			    const struct ibv_sge *list)
{
	struct tern_qp *qp = ex_to_tern_qp(ibqp);
	struct tern_wr_batch *batch = &qp->batch;
	int err = EINVAL;

	if (batch->sqe)
		err = tern_sqe_set_sges(qp, batch->sqe, batch->op, list,
					num_sge);
	if (err)
		fail(batch, err);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(qp, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct tern_qp *qp = ex_to_tern_qp(ibqp);
	struct tern_wr_batch *batch = &qp->batch;
	int err = EINVAL;
	size_t i;

	if (batch->sqe)
		err = tern_sqe_add_inline(qp, batch->sqe, batch->op, NULL, 0);
	for (i = 0; i < num_buf && !err; i++)
		err = tern_sqe_add_inline(qp, batch->sqe, batch->op,
					  list[i].addr, list[i].length);
	if (err)
		fail(batch, err);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(qp, 1, &buf);
}

/* ---- terndv.h -------------------------------------------------------------- */

void terndv_wr_send_imm(struct ibv_qp_ex *qp, const uint8_t imm[TERNDV_IMM_SIZE])
{
	set_imm(begin(qp, IBV_WR_SEND_WITH_IMM), imm, TERNDV_IMM_SIZE);
}

void terndv_wr_send_inv_imm(struct ibv_qp_ex *qp, uint32_t invalidate_rkey,
			    const uint8_t imm[TERNDV_IMM_SIZE])
{
	struct tern_sqe *sqe = begin_op(qp, &tern_send_inv_imm);

	if (sqe)
		sqe->ex = invalidate_rkey;
	set_imm(sqe, imm, TERNDV_IMM_SIZE);
}

void terndv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t remote_addr,
			      const uint8_t imm[TERNDV_IMM_SIZE])
{
	set_imm(begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr),
		imm, TERNDV_IMM_SIZE);
}

void terndv_wr_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
			 uint64_t remote_addr, uint64_t add, uint64_t mask)
{
	struct tern_atomic_args args = tern_args_add(add);

	args.data_mask = mask;
	begin_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, &args);
}

void terndv_wr_cmp_swap(struct ibv_qp_ex *qp, uint32_t rkey,
			uint64_t remote_addr,
			const struct terndv_cmp_swap *operands)
{
	struct tern_atomic_args args = {
		.data = operands->swap,
		.compare = operands->compare,
		.data_mask = operands->swap_mask,
		.compare_mask = operands->compare_mask,
	};

	begin_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, &args);
}

/* ---- the table ------------------------------------------------------------- */

static uint64_t send_ops(uint32_t features)
{
	uint64_t ops = SEND_OPS;

	if (features & TERN_FEATURE_7306)
		ops |= SEND_OPS_7306;
	if (features & TERN_FEATURE_V2)
		ops |= SEND_OPS_V2;
	return ops;
}

int tern_qp_set_wr_ops(struct tern_qp *tqp, uint64_t send_ops_flags)
{
	struct ibv_qp_ex *qp = &tqp->vqp.qp_ex;

	if (!check_comp_mask(send_ops_flags, send_ops(tqp->features)))
		return EOPNOTSUPP;

	qp->wr_start = wr_start;
	qp->wr_complete = wr_complete;
	qp->wr_abort = wr_abort;
	qp->wr_send = wr_send;
	qp->wr_send_imm = wr_send_imm;
	qp->wr_send_inv = wr_send_inv;
	qp->wr_local_inv = wr_local_inv;
	qp->wr_bind_mw = wr_bind_mw;
	qp->wr_rdma_write = wr_rdma_write;
	qp->wr_rdma_write_imm = wr_rdma_write_imm;
	qp->wr_rdma_read = wr_rdma_read;
	qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
	qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	qp->wr_set_sge = wr_set_sge;
	qp->wr_set_sge_list = wr_set_sge_list;
	qp->wr_set_inline_data = wr_set_inline_data;
	qp->wr_set_inline_data_list = wr_set_inline_data_list;
	return 0;
}
