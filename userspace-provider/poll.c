// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Poll and arm a completion queue without a system call. */

#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>

#include "cq.h"
#include "tern.h"

static const enum ibv_wc_opcode wc_opcodes[] = {
	[TERN_WR_SEND]			= IBV_WC_SEND,
	[TERN_WR_SEND_WITH_INV]		= IBV_WC_SEND,
	[TERN_WR_SEND_WITH_IMM]		= IBV_WC_SEND,
	[TERN_WR_SEND_WITH_INV_IMM]	= IBV_WC_SEND,
	[TERN_WR_RDMA_WRITE]		= IBV_WC_RDMA_WRITE,
	[TERN_WR_WRITE_WITH_IMM]	= IBV_WC_RDMA_WRITE,
	[TERN_WR_RDMA_READ]		= IBV_WC_RDMA_READ,
	[TERN_WR_FETCH_ADD]		= IBV_WC_FETCH_ADD,
	[TERN_WR_CMP_SWAP]		= IBV_WC_COMP_SWAP,
	[TERN_WR_LOCAL_INV]		= IBV_WC_LOCAL_INV,
	[TERN_WR_BIND_MW]		= IBV_WC_BIND_MW,
	[TERN_WR_READ_WITH_INV]		= IBV_WC_RDMA_READ,
	[TERN_WR_RECV]			= IBV_WC_RECV,
	[TERN_WR_RECV_IMM]		= IBV_WC_RECV_RDMA_WITH_IMM,
};

enum ibv_wc_opcode tern_cqe_opcode(const struct tern_cqe *cqe)
{
	if (cqe->opcode >= ARRAY_SIZE(wc_opcodes))
		return IBV_WC_DRIVER1;
	return wc_opcodes[cqe->opcode];
}

unsigned int tern_cqe_flags(const struct tern_cqe *cqe)
{
	unsigned int flags = 0;

	if (cqe->flags & TERN_CQE_WITH_INV)
		flags |= IBV_WC_WITH_INV;
	if (cqe->flags & TERN_CQE_WITH_IMM)
		flags |= IBV_WC_WITH_IMM;
	return flags;
}

/*
 * The verbs API has one field for immediate data and the invalidated key. A completion
 * with both shows the key, which programs trust; terndv.h reads both.
 */
uint32_t tern_cqe_imm_or_key(const struct tern_cqe *cqe)
{
	uint32_t imm;

	if (cqe->flags & TERN_CQE_WITH_INV)
		return cqe->inv_stag;
	/* the first four of the eight bytes, in wire order as they are */
	memcpy(&imm, cqe->imm, sizeof(imm));
	return imm;
}

static void wc_fill(struct ibv_wc *wc, const struct tern_cqe *cqe)
{
	*wc = (struct ibv_wc){
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = tern_cqe_opcode(cqe),
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp_num = cqe->qpn,
		.wc_flags = tern_cqe_flags(cqe),
	};
	if (wc->wc_flags)
		wc->invalidated_rkey = tern_cqe_imm_or_key(cqe);
}

/*
 * The CQ has room for @n more: now their queues have, too. Another thread may post, and what
 * it posts complete, at any time.
 */
static void count_polled(struct ibv_context *ctx, const struct ibv_wc *wc, int n)
{
	struct tern_polled_table *table = &to_tern_context(ctx)->polled;

	for (; n; n--, wc++)
		tern_polled_count(table, wc->qp_num, wc->opcode & IBV_WC_RECV);
}

int tern_cq_poll(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	struct tern_ring *ring = &cq->ring;
	uint32_t avail;
	bool flush;
	int i;

	tern_lock_take(&cq->lock);
	avail = tern_ring_avail(ring);
	if (avail > ring->limit) {
		tern_lock_drop(&cq->lock);
		errno = EIO;
		return -EIO;
	}
	for (i = 0; i < count && avail; i++, avail--)
		wc_fill(&wc[i], tern_ring_entry(ring, ring->index++));
	if (i > 0) {
		tern_ring_release(ring);
		count_polled(ibcq->context, wc, i);
	}
	flush = tern_cq_polled(cq, !avail);
	tern_lock_drop(&cq->lock);
	if (flush)
		tern_lazy_flush(cq);
	return i;
}

bool tern_cq_take_lock(struct tern_cq *cq)
{
	if (__atomic_load_n(&cq->poller, __ATOMIC_RELAXED) == pthread_self())
		return false;
	tern_lock_take(&cq->lock);
	return true;
}

/*
 * The kernel does not see that the last solicited completion moved towards the end, and could
 * take it for polled: arm for the next completion of any kind. The caller writes its index later.
 */
static void ask_for_any(struct tern_cq *cq)
{
	uint32_t solicited = TERN_CQ_ARM_SOLICITED;

	__atomic_compare_exchange_n(&cq->ring.hdr->flags, &solicited, TERN_CQ_ARM_NEXT, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* The kernel neither reads nor writes the entries between the two indices. */
void tern_cq_drop(struct tern_cq *cq, uint32_t qpn)
{
	bool locked = tern_cq_take_lock(cq);
	struct tern_ring *ring = &cq->ring;
	uint32_t avail = tern_ring_avail(ring), end = ring->index + avail, from, to = end;
	const struct tern_cqe *cqe;

	if (avail <= ring->limit) {
		for (from = end; from != ring->index;) {
			cqe = tern_ring_entry(ring, --from);
			if (cqe->qpn != qpn)
				memmove(tern_ring_entry(ring, --to), cqe, sizeof(*cqe));
		}
		if (to != ring->index && to != end) {
			cq->moved = end;
			ask_for_any(cq);
		}
		ring->index = to;
		tern_ring_release(ring);
	}
	if (locked)
		tern_lock_drop(&cq->lock);
}

/*
 * Are there completions that no event was raised for? The caller's barrier orders
 * this check after the arming.
 */
static bool unannounced(const struct tern_cq *cq)
{
	const struct tern_ring *ring = &cq->ring;
	uint32_t prod = __atomic_load_n(&ring->hdr->prod, __ATOMIC_ACQUIRE);

	return prod != ring->index &&
	       prod != __atomic_load_n(&ring->hdr->event, __ATOMIC_RELAXED);
}

/* May a completion that the program has not polled have been moved by a drop? */
static bool has_moved(const struct tern_cq *cq)
{
	return cq->moved - cq->ring.index - 1 < cq->ring.limit;
}

/*
 * Arming for solicited events does not replace an earlier arming for any event. The
 * verbs API tells the program to poll once more afterwards; the barrier orders that
 * poll after the arming. For programs that wait without that poll, the kernel raises
 * the event for the completions that are there already. What was posted without a
 * doorbell leaves now; and what is posted from here on has one (is_armed() in lazy.c).
 */
int tern_cq_arm(struct ibv_cq *ibcq, int solicited_only)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	uint32_t none = TERN_CQ_ARM_NONE;
	uint32_t *word;
	bool announce, locked = tern_cq_take_lock(cq);

	word = &cq->ring.hdr->flags;
	if (solicited_only && !has_moved(cq))
		__atomic_compare_exchange_n(word, &none, TERN_CQ_ARM_SOLICITED,
					    false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(word, TERN_CQ_ARM_NEXT, __ATOMIC_SEQ_CST);
	__atomic_store_n(&cq->lazy.armed, true, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	announce = unannounced(cq);
	if (locked)
		tern_lock_drop(&cq->lock);
	if (__atomic_load_n(&cq->lazy.first, __ATOMIC_SEQ_CST))
		tern_lazy_flush(cq);
	return announce ? ibv_cmd_req_notify_cq(ibcq, solicited_only) : 0;
}
