// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The send queue, from the start of an entry to its completion or its flush (RFC 5040
 * 5.5).
 */
#include "sq.h"

#include "core/ring.h"
#include "observe/trace.h"

/* ---- progress and completion --------------------------------------------- */

void tern_sq_done(struct tern_sq *sq, u32 index, enum ib_wc_status status)
{
	struct tern_sq_slot *slot = tern_sq_slot(sq, index);

	if (!slot->done && (s32)(index - sq->tail) >= 0) {
		slot->status = status;
		slot->done = true;
	}
}

void tern_sq_fail_oldest(struct tern_sq *sq, enum ib_wc_status status)
{
	u32 i = sq->tail;

	/* completions may wait for another turn, see tern_sq_complete() */
	while (i != sq->head && tern_sq_slot(sq, i)->done)
		i++;
	if (i != sq->head)
		tern_sq_done(sq, i, status);
}

void tern_sq_sent(struct tern_sq *sq, u32 head)
{
	if ((s32)(head - sq->sent) <= 0)
		return;
	for (; sq->sent != head; sq->sent++) {
		struct tern_sq_slot *slot = tern_sq_slot(sq, sq->sent);

		if (!slot->response)
			tern_sq_done(sq, sq->sent, IB_WC_SUCCESS);
	}
}

/* false: the CQ is full */
static bool sq_write_cqe(struct tern_sq *sq, const struct tern_sq_slot *slot,
			 struct tern_cq_batch *b)
{
	struct tern_cqe *cqe = tern_cq_next(b, 0, slot->status);
	u32 byte_len = slot->response ? slot->len : 0;

	if (!cqe)
		return false;
	*cqe = (struct tern_cqe) {
		.wr_id = slot->wr_id,
		.opcode = slot->opcode,
		.status = slot->status,
		.qpn = sq->qpn,
		.byte_len = byte_len,
		.vendor_err = slot->status == IB_WC_SUCCESS ? 0 : sq->vendor_err,
		.timestamp = b->now,
	};
	trace_tern_cqe(b->cq->cqn, sq->qpn, slot->opcode, slot->status, byte_len);
	return true;
}

static bool sq_wants_cqe(const struct tern_sq *sq,
			 const struct tern_sq_slot *slot)
{
	return !sq->quiet && (sq->sig_all || slot->flags & TERN_WR_SIGNALED ||
			      slot->status != IB_WC_SUCCESS);
}

/* Write completions of the entries before @end; false: the batch is full, and more are due. */
static bool sq_retire(struct tern_sq *sq, u32 end, struct tern_cq_batch *b)
{
	while (sq->tail != end) {
		struct tern_sq_slot *slot = tern_sq_slot(sq, sq->tail);

		if (!slot->done)
			break;
		if (b->n == TERN_CQE_BATCH)
			return false;
		if (!sq_wants_cqe(sq, slot) || !sq_write_cqe(sq, slot, b))
			sq->silent++;
		slot->done = false;
		sq->tail++;
	}
	return true;
}

static bool is_due(struct tern_sq *sq)
{
	return sq->tail != sq->head && tern_sq_slot(sq, sq->tail)->done;
}

/* Interrupts are off for each batch. @end: at most TERN_FLUSH_ENTRIES from the oldest */
static void sq_complete_to(struct tern_sq *sq, u32 end)
{
	struct tern_cq_batch b;
	bool done;

	do {
		tern_cq_begin(sq->cq, &b);
		done = sq_retire(sq, end, &b);
		/* who polls a completion finds room in the queue */
		WRITE_ONCE(sq->q.hdr->silent, sq->silent);
		tern_ring_publish(&sq->q.hdr->cons, sq->tail);
		tern_cq_end(&b);
	} while (!done);
}

bool tern_sq_complete(struct tern_sq *sq)
{
	if (!is_due(sq))
		return false;
	/* one Read may have kept a whole queue waiting */
	sq_complete_to(sq, sq->tail + min_t(u32, sq->head - sq->tail, TERN_FLUSH_ENTRIES));
	return is_due(sq);
}

/* ---- flush --------------------------------------------------------------- */

/*
 * Up to @n entries in progress get the flush status. After the first one that
 * failed, so do entries that TCP took (IBTA 10.3.1). Return: how many.
 */
static u32 flush_started(struct tern_sq *sq, u32 n)
{
	u32 i, end = sq->tail + min(n, sq->head - sq->tail);

	for (i = sq->tail; i != end; i++) {
		struct tern_sq_slot *slot = tern_sq_slot(sq, i);

		/* a later Read that a Terminate named keeps its own status */
		if (!slot->done || (sq->failed && slot->status == IB_WC_SUCCESS))
			slot->status = IB_WC_WR_FLUSH_ERR;
		slot->done = true;
		sq->failed |= slot->status != IB_WC_SUCCESS;
	}
	n = end - sq->tail;
	if (n)
		sq_complete_to(sq, end);
	return n;
}

/* flush the next entry that was posted, not started; false: there is none */
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
	wqe.row = tern_wr_row(wqe.opcode);
	tern_sq_started(sq, &wqe);
	sq->sent = sq->head;
	tern_sq_done(sq, wqe.index, IB_WC_WR_FLUSH_ERR);
	tern_sq_complete(sq);
	return true;
}

bool tern_sq_flush(struct tern_sq *sq, bool rung)
{
	u32 n = TERN_FLUSH_ENTRIES;

	/*
	 * Bounded, as a program may post for ever; later posts ring. Those under a flag did not:
	 * a doorbell that found the QP in RTS may show TERN_RING_BUSY after the first flush.
	 */
	if (rung || READ_ONCE(sq->shown))
		sq->flush_left = sq->q.size;
	tern_sq_clear_busy(sq);
	sq->sent = sq->head;
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
