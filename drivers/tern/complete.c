// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "complete.h"

#include "core/ring.h"
#include "cq_ring.h"
#include "device.h"
#include "qp.h"

static struct tern_sq_slot *slot_of(struct tern_sq *sq, u32 index)
{
	return &sq->slots[index & (sq->q.size - 1)];
}

void tern_sq_started(struct tern_sq *sq, const struct tern_wqe *wqe)
{
	*slot_of(sq, wqe->index) = (struct tern_sq_slot) {
		.wr_id = wqe->wr_id,
		.opcode = wqe->opcode,
		.flags = wqe->flags,
		.len = wqe->len,
	};
	sq->head = wqe->index + 1;
}

void tern_sq_done(struct tern_sq *sq, u32 index, enum ib_wc_status status)
{
	struct tern_sq_slot *slot = slot_of(sq, index);

	if (!slot->done && (s32)(index - sq->tail) >= 0) {
		slot->status = status;
		slot->done = true;
	}
}

void tern_sq_fail_oldest(struct tern_sq *sq, enum ib_wc_status status)
{
	if (sq->tail != sq->head)
		tern_sq_done(sq, sq->tail, status);
}

static bool awaits_response(const struct tern_sq_slot *slot)
{
	return slot->opcode == TERN_WR_RDMA_READ ||
	       slot->opcode == TERN_WR_READ_WITH_INV;
}

void tern_sq_sent(struct tern_sq *sq, u32 head)
{
	for (; sq->sent != head; sq->sent++) {
		struct tern_sq_slot *slot = slot_of(sq, sq->sent);

		if (!awaits_response(slot))
			tern_sq_done(sq, sq->sent, IB_WC_SUCCESS);
	}
	tern_sq_complete(sq);
}

static void sq_fill_cqe(struct tern_sq *sq, const struct tern_sq_slot *slot,
			struct tern_cqe *cqe)
{
	*cqe = (struct tern_cqe) {
		.wr_id = slot->wr_id,
		.opcode = slot->opcode,
		.status = slot->status,
		.qpn = sq->qpn,
		.byte_len = awaits_response(slot) ? slot->len : 0,
	};
	if (slot->status != IB_WC_SUCCESS)
		cqe->vendor_err = sq->vendor_err;
}

static bool sq_wants_cqe(const struct tern_sq *sq,
			 const struct tern_sq_slot *slot)
{
	return sq->sig_all || slot->flags & TERN_WR_SIGNALED ||
	       slot->status != IB_WC_SUCCESS;
}

/* gather up to TERN_CQE_BATCH completions before @end; true if more may be due */
static bool sq_collect(struct tern_sq *sq, u32 end, u32 *n)
{
	*n = 0;
	while (sq->tail != end) {
		struct tern_sq_slot *slot = slot_of(sq, sq->tail);

		if (!slot->done)
			return false;
		if (*n == TERN_CQE_BATCH)
			return true;
		if (sq_wants_cqe(sq, slot))
			sq_fill_cqe(sq, slot, &sq->cqes[(*n)++]);
		slot->done = false;
		sq->tail++;
	}
	return false;
}

static void sq_complete_to(struct tern_sq *sq, u32 end)
{
	bool more;
	u32 n;

	do {
		more = sq_collect(sq, end, &n);
		tern_ring_publish(&sq->q.hdr->cons, sq->tail);
		if (n)
			tern_cq_push(sq->cq, sq->cqes, n);
	} while (more);
}

void tern_sq_complete(struct tern_sq *sq)
{
	sq_complete_to(sq, sq->head);
}

/*
 * Up to @n entries in hand get the flush status, and so does all behind the first one
 * that fails, even what TCP had taken (IBTA 10.3.1). Return: how many.
 */
static u32 flush_started(struct tern_sq *sq, u32 n)
{
	u32 i, end = sq->tail + min(n, sq->head - sq->tail);

	for (i = sq->tail; i != end; i++) {
		struct tern_sq_slot *slot = slot_of(sq, i);

		/* a Terminate may name a later Read: its status stays */
		if (!slot->done || (sq->failed && slot->status == IB_WC_SUCCESS))
			slot->status = IB_WC_WR_FLUSH_ERR;
		slot->done = true;
		sq->failed |= slot->status != IB_WC_SUCCESS;
	}
	n = end - sq->tail;
	sq_complete_to(sq, end);
	return n;
}

/* the next entry that was posted and never started, as a flush completion */
static bool flush_posted(struct tern_sq *sq)
{
	const struct tern_sqe *sqe;
	struct tern_wqe wqe = {};

	if (tern_ring_avail(&sq->q.hdr->prod, sq->head, sq->q.size) <= 0)
		return false;
	sqe = tern_queue_entry(&sq->q, sq->head);
	wqe.index = sq->head;
	wqe.wr_id = READ_ONCE(sqe->wr_id);
	wqe.opcode = READ_ONCE(sqe->opcode);
	tern_sq_started(sq, &wqe);
	sq->sent = sq->head;
	tern_sq_done(sq, wqe.index, IB_WC_WR_FLUSH_ERR);
	tern_sq_complete(sq);
	return true;
}

/* Return: true when entries are left that were posted before the last ring */
static bool flush_sq(struct tern_sq *sq)
{
	u32 n = TERN_FLUSH_ENTRIES;

	/* from here on each post rings: see enum tern_ring_flags */
	WRITE_ONCE(sq->q.hdr->flags, 0);
	smp_mb(); /* flags before prod */
	n -= flush_started(sq, n);
	if (!n && sq->tail != sq->head)
		return true;
	while (n && sq->flush_left) {
		if (!flush_posted(sq))
			sq->flush_left = 1;
		sq->flush_left--;
		n--;
	}
	return sq->flush_left;
}

bool tern_flush(struct tern_qp *qp, bool rung)
{
	bool more;

	tern_qp_assert_locked(qp);
	/* a program may post for ever: what comes later rings */
	if (rung)
		qp->sq.flush_left = qp->sq.q.size;
	more = flush_sq(&qp->sq);
	more |= tern_rq_flush(&qp->rq, rung);
	if (more)
		tern_stat_inc(qp->dev->stats, FLUSH_MORE);
	return more;
}
