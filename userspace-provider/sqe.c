// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Write one send queue entry. */

#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>

#include "qp.h"
#include "sqe.h"

#define SEND_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
		    IBV_SEND_SOLICITED | IBV_SEND_INLINE)
#define WINDOW_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		       IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)
#define ATOMIC_SIZE 8	/* bytes, also the alignment; RFC 7306 5.1 */
#define SENDS (TERN_WR_HAS_DATA | TERN_WR_HAS_INLINE | TERN_WR_HAS_SOLICITED)

static_assert(sizeof(struct ibv_sge) == sizeof(struct tern_sge) &&
	      offsetof(struct ibv_sge, addr) ==
		      offsetof(struct tern_sge, addr) &&
	      offsetof(struct ibv_sge, length) ==
		      offsetof(struct tern_sge, length) &&
	      offsetof(struct ibv_sge, lkey) ==
		      offsetof(struct tern_sge, lkey),
	      "lists are copied without conversion");
static_assert(sizeof(((struct tern_sqe *)NULL)->imm) == 8, "immediate data");

static const struct tern_wr_op ops[] = {
	[IBV_WR_SEND] = {
		TERN_WR_SEND, SENDS },
	[IBV_WR_SEND_WITH_INV] = {
		TERN_WR_SEND_WITH_INV, SENDS | TERN_WR_HAS_KEY },
	[IBV_WR_SEND_WITH_IMM] = {
		TERN_WR_SEND_WITH_IMM, SENDS | TERN_WR_HAS_IMM,
		TERN_FEATURE_V2 },
	[IBV_WR_RDMA_WRITE] = {
		TERN_WR_RDMA_WRITE, TERN_WR_HAS_DATA | TERN_WR_HAS_INLINE |
				    TERN_WR_HAS_REMOTE },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {
		TERN_WR_WRITE_WITH_IMM, SENDS | TERN_WR_HAS_REMOTE |
					TERN_WR_HAS_IMM,
		TERN_FEATURE_7306 },
	[IBV_WR_RDMA_READ] = {
		TERN_WR_RDMA_READ, TERN_WR_HAS_DATA | TERN_WR_HAS_REMOTE },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {
		TERN_WR_FETCH_ADD, TERN_WR_HAS_DATA | TERN_WR_HAS_ATOMIC,
		TERN_FEATURE_7306 },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {
		TERN_WR_CMP_SWAP, TERN_WR_HAS_DATA | TERN_WR_HAS_ATOMIC,
		TERN_FEATURE_7306 },
	[IBV_WR_LOCAL_INV] = {
		TERN_WR_LOCAL_INV, TERN_WR_HAS_KEY },
	[IBV_WR_BIND_MW] = {
		TERN_WR_BIND_MW, TERN_WR_HAS_WINDOW },
	[IBV_WR_ATOMIC_WRITE] = { 0, 0, 0 },
};

const struct tern_wr_op tern_send_inv_imm = {
	TERN_WR_SEND_WITH_INV_IMM, SENDS | TERN_WR_HAS_KEY | TERN_WR_HAS_IMM,
	TERN_FEATURE_V2 };

int tern_sqe_op(enum ibv_wr_opcode opcode, const struct tern_wr_op **op)
{
	if ((size_t)opcode >= ARRAY_SIZE(ops))
		return EINVAL;
	*op = &ops[opcode];
	return (*op)->opcode ? 0 : EOPNOTSUPP;
}

/* IBV_SEND_SOLICITED is ignored for opcodes that cannot raise an event. */
static uint32_t translate(const struct tern_wr_op *op, unsigned int send_flags)
{
	uint32_t flags = 0;

	if (send_flags & IBV_SEND_SIGNALED)
		flags |= TERN_WR_SIGNALED;
	if (send_flags & IBV_SEND_FENCE)
		flags |= TERN_WR_FENCE;
	if (send_flags & IBV_SEND_SOLICITED &&
	    op->traits & TERN_WR_HAS_SOLICITED)
		flags |= TERN_WR_SOLICITED;
	return flags;
}

/* IBV_SEND_INLINE is not stored: tern_sqe_add_inline() sets TERN_WR_INLINE. */
int tern_sqe_begin(const struct tern_qp *qp, struct tern_sqe *sqe,
		   const struct tern_wr_op *op, uint64_t wr_id,
		   unsigned int send_flags)
{
	if (op->features & ~qp->features)
		return EOPNOTSUPP;
	if (send_flags & ~SEND_FLAGS)
		return EINVAL;

	*sqe = (struct tern_sqe){
		.opcode = op->opcode,
		.flags = translate(op, send_flags) | qp->always,
		.wr_id = wr_id,
	};
	return 0;
}

/* one element, where the peer's answer of 8 bytes can be stored at once */
static bool takes_result(const struct ibv_sge *list, size_t count)
{
	return count == 1 && list->length >= ATOMIC_SIZE &&
	       list->addr % ATOMIC_SIZE == 0;
}

int tern_sqe_set_sges(const struct tern_qp *qp, struct tern_sqe *sqe,
		      const struct tern_wr_op *op, const struct ibv_sge *list,
		      size_t count)
{
	if (!(op->traits & TERN_WR_HAS_DATA) || count > qp->sq.max_sge)
		return EINVAL;
	if (op->traits & TERN_WR_HAS_ATOMIC && !takes_result(list, count))
		return EINVAL;

	sqe->num_sge = count;
	if (count)
		memcpy(sqe->sge, list, count * sizeof(*list));
	/* the operands follow an element that the kernel uses as a whole */
	if (op->traits & TERN_WR_HAS_ATOMIC)
		sqe->sge[0].length = ATOMIC_SIZE;
	return 0;
}

int tern_sqe_add_inline(const struct tern_qp *qp, struct tern_sqe *sqe,
			const struct tern_wr_op *op, const void *data,
			size_t length)
{
	if (!(op->traits & TERN_WR_HAS_INLINE) ||
	    length > qp->max_inline - sqe->inline_len)
		return EINVAL;

	sqe->flags |= TERN_WR_INLINE;
	if (length)
		memcpy((uint8_t *)sqe->sge + sqe->inline_len, data, length);
	sqe->inline_len += length;
	return 0;
}

/*
 * The header of RFC 7306 6.2 has 8 bytes and says nothing of the 4 of the verbs API: those
 * come first, as with other RNICs, and tern_sqe_begin() has cleared the rest.
 */
void tern_sqe_set_imm(struct tern_sqe *sqe, const void *imm, size_t length)
{
	memcpy(sqe->imm, imm, length);
}

/* The operands have a fixed place, so they may be set before the element is. */
int tern_sqe_set_atomic(struct tern_sqe *sqe, uint32_t rkey,
			uint64_t remote_addr,
			const struct tern_atomic_args *args)
{
	if (remote_addr % ATOMIC_SIZE)
		return EINVAL;

	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	memcpy(&sqe->sge[1], args, sizeof(*args));
	return 0;
}

/* Only an atomic cannot do without an element. */
bool tern_sqe_is_whole(const struct tern_sqe *sqe, const struct tern_wr_op *op)
{
	return sqe->num_sge || !(op->traits & TERN_WR_HAS_ATOMIC);
}

/*
 * ibv_bind_mw() binds windows of type 1, posted requests those of type 2. The entry
 * names the window by its new key, so @rkey must be a key of the window. The kernel
 * checks region, range and rights when it executes the request.
 */
int tern_sqe_set_window(struct tern_sqe *sqe, enum ibv_mw_type type,
			const struct ibv_mw *mw, uint32_t rkey,
			const struct ibv_mw_bind_info *info)
{
	if (mw->type != type || (rkey ^ mw->rkey) >> 8 ||
	    info->mw_access_flags & ~WINDOW_ACCESS)
		return EINVAL;
	/* a length of 0 unbinds a window of type 1, and is invalid for type 2 */
	if (info->length ? !info->mr : type != IBV_MW_TYPE_1)
		return EINVAL;

	sqe->rkey = rkey;
	sqe->ex = info->mr ? info->mr->lkey : 0;
	sqe->remote_addr = info->addr;
	sqe->length = info->length;
	sqe->access = info->mw_access_flags;
	return 0;
}
