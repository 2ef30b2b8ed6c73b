// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The send queue: which entries are valid, the posts of kernel users, and what the send
 * engine fetches. sq_done.c has what follows.
 */
#include "sq.h"

#include <linux/slab.h>

#include "core/ring.h"
#include "core/wire.h"

/* an atomic's element, and its operands */
#define ATOMIC_PAYLOAD	(sizeof(struct tern_sge) + sizeof(struct tern_atomic_args))

int tern_sq_init(struct tern_sq *sq, struct ib_ucontext *ctx,
		 const struct ib_qp_init_attr *init)
{
	u32 payload;
	int ret;

	sq->max_sge = max(init->cap.max_send_sge, 1U);
	payload = max3((u32)(sq->max_sge * sizeof(struct tern_sge)),
		       init->cap.max_inline_data, (u32)ATOMIC_PAYLOAD);
	ret = tern_queue_create(&sq->q, ctx, max(init->cap.max_send_wr, 1U),
				sizeof(struct tern_sqe) + payload);
	if (ret)
		return ret;
	sq->slots = kvcalloc(sq->q.size, sizeof(*sq->slots),
			     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!sq->slots) {
		tern_queue_destroy(&sq->q);
		return -ENOMEM;
	}
	spin_lock_init(&sq->lock);
	sq->cq = to_tern_cq(init->send_cq);
	/* a program may post until there is no room, to a CQ as long as what it asked for */
	sq->max_wr = ctx ? max(init->cap.max_send_wr, 1U) : sq->q.size;
	sq->max_inline = min_t(u32, sq->q.stride - sizeof(struct tern_sqe),
			       TERN_MAX_INLINE);
	sq->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	return 0;
}

void tern_sq_exit(struct tern_sq *sq)
{
	kvfree(sq->slots);
	tern_queue_destroy(&sq->q);
}

/* by ranges of uapi values, which do not change */
static const struct tern_wr_row wr_rows[] = {
	/* SOLICITED has no effect on a Write without immediate data */
	[TERN_WR_SEND ... TERN_WR_RDMA_WRITE] = {
		.set = TERN_OPS_BASE, .flags = TERN_WR_SOLICITED | TERN_WR_INLINE,
		.sge = true,
	},
	[TERN_WR_RDMA_READ] = {
		.set = TERN_OPS_BASE, .flags = TERN_WR_SOLICITED,
		.sge = true, .response = true,
	},
	[TERN_WR_LOCAL_INV ... TERN_WR_BIND_MW] = { .set = TERN_OPS_BASE, .local = true },
	[TERN_WR_REG_MR] = { .set = TERN_OPS_BASE, .local = true, .kernel_only = true },
	[TERN_WR_READ_WITH_INV] = {
		.set = TERN_OPS_BASE, .flags = TERN_WR_SOLICITED,
		.sge = true, .response = true, .kernel_only = true,
	},
	[TERN_WR_SEND_WITH_IMM ... TERN_WR_SEND_WITH_INV_IMM] = {
		.set = TERN_OPS_V2, .flags = TERN_WR_SOLICITED | TERN_WR_INLINE,
		.sge = true, .tail = true,
	},
	[TERN_WR_WRITE_WITH_IMM] = {
		.set = TERN_OPS_7306, .flags = TERN_WR_SOLICITED | TERN_WR_INLINE,
		.sge = true,
	},
	[TERN_WR_FETCH_ADD ... TERN_WR_CMP_SWAP] = {
		.set = TERN_OPS_7306, .flags = TERN_WR_SOLICITED,
		.sge = true, .atomic = true, .response = true,
	},
};

const struct tern_wr_row *tern_wr_row(u8 opcode)
{
	return &wr_rows[opcode < ARRAY_SIZE(wr_rows) ? opcode : 0];
}

/* ---- posts of kernel users ----------------------------------------------- */

static int kernel_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
		return TERN_WR_SEND;
	case IB_WR_SEND_WITH_INV:
		return TERN_WR_SEND_WITH_INV;
	case IB_WR_RDMA_WRITE:
		return TERN_WR_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return TERN_WR_RDMA_READ;
	case IB_WR_RDMA_READ_WITH_INV:
		return TERN_WR_READ_WITH_INV;
	case IB_WR_LOCAL_INV:
		return TERN_WR_LOCAL_INV;
	case IB_WR_REG_MR:
		return TERN_WR_REG_MR;
	case IB_WR_SEND_WITH_IMM:
		return TERN_WR_SEND_WITH_IMM;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return TERN_WR_WRITE_WITH_IMM;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return TERN_WR_FETCH_ADD;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		return TERN_WR_CMP_SWAP;
	default:
		return -EOPNOTSUPP;
	}
}

static u32 kernel_flags(int send_flags)
{
	u32 flags = 0;

	if (send_flags & IB_SEND_SIGNALED)
		flags |= TERN_WR_SIGNALED;
	if (send_flags & IB_SEND_SOLICITED)
		flags |= TERN_WR_SOLICITED;
	if (send_flags & IB_SEND_FENCE)
		flags |= TERN_WR_FENCE;
	if (send_flags & IB_SEND_INLINE)
		flags |= TERN_WR_INLINE;
	return flags;
}

static void fill_rdma(struct tern_sqe *sqe, const struct ib_send_wr *wr)
{
	sqe->remote_addr = rdma_wr(wr)->remote_addr;
	sqe->rkey = rdma_wr(wr)->rkey;
}

static void fill_reg(struct tern_sqe *sqe, const struct ib_send_wr *wr)
{
	const struct ib_reg_wr *reg = reg_wr(wr);

	sqe->ex = reg->mr->lkey;
	sqe->rkey = reg->key;
	sqe->remote_addr = reg->mr->iova;
	sqe->access = reg->access;
}

/* 4 of the 8 bytes of immediate data (RFC 7306 6.1), the first ones; the rest is 0 */
static void fill_imm(struct tern_sqe *sqe, const struct ib_send_wr *wr)
{
	memcpy(sqe->imm, &wr->ex.imm_data, sizeof(wr->ex.imm_data));
}

/* operands follow the one element; an entry has room for them, see tern_sq_init() */
static void fill_atomic(struct tern_sqe *sqe, const struct ib_send_wr *wr)
{
	const struct ib_atomic_wr *a = atomic_wr(wr);
	bool swap = sqe->opcode == TERN_WR_CMP_SWAP;
	struct tern_atomic_args args = {
		.data = swap ? a->swap : a->compare_add,
		.compare = swap ? a->compare_add : 0,
		.data_mask = swap ? U64_MAX : 0,
		.compare_mask = U64_MAX,
	};

	if (wr->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP) {
		args.data_mask = a->swap_mask;
		args.compare_mask = a->compare_add_mask;
	} else if (wr->opcode == IB_WR_MASKED_ATOMIC_FETCH_AND_ADD) {
		args.data_mask = a->compare_add_mask;
	}
	sqe->remote_addr = a->remote_addr;
	sqe->rkey = a->rkey;
	memcpy(&sqe->sge[1], &args, sizeof(args));
}

static void fill_by_opcode(struct tern_sqe *sqe, const struct ib_send_wr *wr)
{
	switch (sqe->opcode) {
	case TERN_WR_RDMA_WRITE:
	case TERN_WR_RDMA_READ:
		fill_rdma(sqe, wr);
		break;
	case TERN_WR_READ_WITH_INV:
		/* the sink is one fast-registration MR; it is invalidated */
		fill_rdma(sqe, wr);
		sqe->ex = wr->sg_list[0].lkey;
		break;
	case TERN_WR_SEND_WITH_INV:
	case TERN_WR_LOCAL_INV:
		sqe->ex = wr->ex.invalidate_rkey;
		break;
	case TERN_WR_REG_MR:
		fill_reg(sqe, wr);
		break;
	case TERN_WR_WRITE_WITH_IMM:
		fill_rdma(sqe, wr);
		fill_imm(sqe, wr);
		break;
	case TERN_WR_SEND_WITH_IMM:
		fill_imm(sqe, wr);
		break;
	case TERN_WR_FETCH_ADD:
	case TERN_WR_CMP_SWAP:
		fill_atomic(sqe, wr);
		break;
	default:
		break;
	}
}

static int fill_inline(struct tern_sq *sq, struct tern_sqe *sqe,
		       const struct ib_send_wr *wr)
{
	u8 *to = (u8 *)sqe->sge;
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > sq->max_inline - len)
			return -EINVAL;
		memcpy(to + len, (void *)(uintptr_t)sge->addr, sge->length);
		len += sge->length;
	}
	sqe->inline_len = len;
	return 0;
}

static int fill_sges(struct tern_sq *sq, struct tern_sqe *sqe,
		     const struct ib_send_wr *wr)
{
	int i;

	if (wr->num_sge > sq->max_sge)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		sqe->sge[i].addr = wr->sg_list[i].addr;
		sqe->sge[i].length = wr->sg_list[i].length;
		sqe->sge[i].lkey = wr->sg_list[i].lkey;
	}
	sqe->num_sge = wr->num_sge;
	return 0;
}

static bool is_good_atomic(const struct tern_sqe *sqe, const struct ib_send_wr *wr)
{
	return IS_ALIGNED(sqe->remote_addr, sizeof(u64)) &&
	       wr->sg_list[0].length >= sizeof(u64) && !(sqe->flags & TERN_WR_INLINE);
}

static int fill_sqe(struct tern_sq *sq, struct tern_sqe *sqe,
		    const struct ib_send_wr *wr)
{
	int opcode = kernel_opcode(wr->opcode);

	if (opcode < 0)
		return opcode;
	if (wr_rows[opcode].set != TERN_OPS_BASE && !READ_ONCE(sq->extended))
		return -EOPNOTSUPP;
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->flags = kernel_flags(wr->send_flags);
	sqe->wr_id = wr->wr_id;
	if ((opcode == TERN_WR_READ_WITH_INV || wr_rows[opcode].atomic) &&
	    wr->num_sge != 1)
		return -EINVAL;
	fill_by_opcode(sqe, wr);
	if (wr_rows[opcode].atomic && !is_good_atomic(sqe, wr))
		return -EINVAL;
	if (!wr_rows[opcode].sge)
		return 0;
	if (sqe->flags & TERN_WR_INLINE)
		return fill_inline(sq, sqe, wr);
	return fill_sges(sq, sqe, wr);
}

/* the rule for programs, see struct tern_ring_hdr */
static bool is_full(const struct tern_sq *sq)
{
	u32 counted = READ_ONCE(sq->q.hdr->silent) + READ_ONCE(sq->polled);

	lockdep_assert_held(&sq->lock);
	return sq->prod - tern_ring_ended(&sq->q.hdr->cons, counted) >= sq->q.size;
}

int tern_sq_post(struct tern_sq *sq, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad_wr)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&sq->lock, flags);
	for (; wr; wr = wr->next) {
		if (is_full(sq)) {
			ret = -ENOMEM;
			break;
		}
		ret = fill_sqe(sq, tern_queue_entry(&sq->q, sq->prod), wr);
		if (ret)
			break;
		tern_ring_publish(&sq->q.hdr->prod, ++sq->prod);
	}
	spin_unlock_irqrestore(&sq->lock, flags);
	if (ret)
		*bad_wr = wr;
	return ret;
}

/* ---- fetch --------------------------------------------------------------- */

/* RFC 5041 5.2: "The ULP Message Length MUST be less than 2^32" */
static int fetch_sges(struct tern_wqe *wqe, const struct tern_sqe *sqe, u32 max)
{
	u64 len = tern_sges_copy(wqe->sge, sqe->sge, wqe->num_sge);

	if (len > max)
		return -EINVAL;
	wqe->len = len;
	return 0;
}

/*
 * RFC 7306 5.1: atomics "MUST target ULP Buffer addresses that are 64-bit aligned".
 * The result goes to one element of at least 8 bytes.
 */
static int fetch_atomic(const struct tern_sqe *sqe, struct tern_wqe *wqe)
{
	if (!IS_ALIGNED(wqe->remote_addr, sizeof(u64)) || wqe->num_sge != 1 ||
	    tern_sges_copy(wqe->sge, sqe->sge, 1) < sizeof(u64))
		return -EINVAL;
	wqe->sge[0].length = sizeof(u64);
	wqe->len = sizeof(u64);
	memcpy(&wqe->args, &sqe->sge[1], sizeof(wqe->args));
	return 0;
}

static int fetch_payload(const struct tern_sq *sq, const struct tern_sqe *sqe,
			 struct tern_wqe *wqe)
{
	const struct tern_wr_row *row = wqe->row;

	if (!row->set || (row->kernel_only && sq->q.mmap_entry))
		return -EINVAL;
	if (wqe->flags & ~(row->flags | TERN_WR_SIGNALED | TERN_WR_FENCE))
		return -EINVAL;
	if (wqe->flags & TERN_WR_INLINE) {
		if (wqe->num_sge || wqe->inline_len > sq->max_inline)
			return -EINVAL;
		memcpy(wqe->inl, sqe->sge, wqe->inline_len);
		wqe->len = wqe->inline_len;
		return 0;
	}
	if (wqe->num_sge > sq->max_sge || (wqe->num_sge && !row->sge))
		return -EINVAL;
	if (row->atomic)
		return fetch_atomic(sqe, wqe);
	return fetch_sges(wqe, sqe, row->tail ? U32_MAX - TERN_IMM_LEN : U32_MAX);
}

int tern_sq_pending(const struct tern_sq *sq)
{
	int avail = tern_ring_avail(&sq->q.hdr->prod, sq->head, sq->q.size);

	/* an entry in progress keeps its slot: a new one must not need it */
	if (avail > 0 && sq->head - sq->tail + avail > sq->q.size)
		return -EOVERFLOW;
	return avail;
}

int tern_sq_fetch(struct tern_sq *sq, struct tern_wqe *wqe)
{
	const struct tern_sqe *sqe;

	if ((s32)(sq->known - sq->head) <= 0) {
		int avail = tern_sq_pending(sq);

		if (avail <= 0)
			return avail ?: -ENOENT;
		sq->known = sq->head + avail;
	}
	sqe = tern_queue_entry(&sq->q, sq->head);
	wqe->index = sq->head;
	wqe->opcode = READ_ONCE(sqe->opcode);
	wqe->row = tern_wr_row(wqe->opcode);
	wqe->num_sge = READ_ONCE(sqe->num_sge);
	wqe->flags = READ_ONCE(sqe->flags);
	wqe->wr_id = READ_ONCE(sqe->wr_id);
	wqe->remote_addr = READ_ONCE(sqe->remote_addr);
	wqe->rkey = READ_ONCE(sqe->rkey);
	wqe->ex = READ_ONCE(sqe->ex);
	wqe->inline_len = READ_ONCE(sqe->inline_len);
	wqe->access = READ_ONCE(sqe->access);
	wqe->length = READ_ONCE(sqe->length);
	wqe->len = 0;
	return fetch_payload(sq, sqe, wqe);
}

/* ---- doorbells -------------------------------------------------------------- */

bool tern_sq_go_idle(struct tern_sq *sq, bool lazy)
{
	tern_sq_show(sq, lazy ? TERN_RING_LAZY : 0);
	smp_mb(); /* flags before prod */
	if (!tern_sq_pending(sq))
		return true;
	tern_sq_set_busy(sq);
	return false;
}

bool tern_sq_must_ring(const struct tern_sq *sq)
{
	smp_mb(); /* enum tern_ring_flags: prod is stored, flags are read */
	return !(READ_ONCE(sq->q.hdr->flags) & TERN_RING_BUSY);
}

bool tern_sq_is_one_sided(const struct tern_sq *sq)
{
	const struct tern_sqe *last;

	last = tern_queue_entry(&sq->q, READ_ONCE(sq->q.hdr->prod) - 1);
	switch (READ_ONCE(last->opcode)) {
	case TERN_WR_RDMA_WRITE:
	case TERN_WR_RDMA_READ:
	case TERN_WR_READ_WITH_INV:
	case TERN_WR_FETCH_ADD:
	case TERN_WR_CMP_SWAP:
		return true;
	default:
		return false;
	}
}
