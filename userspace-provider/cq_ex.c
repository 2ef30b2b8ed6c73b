// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Extended polling: the program reads the fields of one entry at a time, from a copy.
 */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cq.h"
#include "tern.h"
#include "terndv.h"

/*
 * The entry is given back at once: the program may post while it reads the completion, and
 * what it posts needs a place in the CQ.
 */
static int step(struct tern_cq *cq)
{
	struct tern_ring *ring = &cq->ring;
	uint32_t avail = tern_ring_avail(ring);

	if (!avail)
		return ENOENT;
	if (avail > ring->limit)
		return EIO;

	cq->cur = *(const struct tern_cqe *)tern_ring_entry(ring, ring->index++);
	tern_ring_release(ring);
	tern_polled_count(&to_tern_context(cq->vcq.cq.context)->polled, cq->cur.qpn,
			  cq->cur.opcode >= TERN_WR_RECV);
	cq->vcq.cq_ex.wr_id = cq->cur.wr_id;
	cq->vcq.cq_ex.status = cq->cur.status;
	return 0;
}

/* On success the lock is held until end_poll(). */
static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct tern_cq *cq = ex_to_tern_cq(ibcq);
	bool flush;
	int err;

	if (attr->comp_mask)
		return EINVAL;

	tern_lock_take(&cq->lock);
	err = step(cq);
	if (!err) {
		__atomic_store_n(&cq->poller, pthread_self(), __ATOMIC_RELAXED);
		return 0;
	}
	flush = tern_cq_polled(cq, err == ENOENT);
	tern_lock_drop(&cq->lock);
	if (flush)
		tern_lazy_flush(cq);
	return err;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	return step(ex_to_tern_cq(ibcq));
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct tern_cq *cq = ex_to_tern_cq(ibcq);
	bool flush;

	flush = tern_cq_polled(cq, !tern_ring_avail(&cq->ring));
	__atomic_store_n(&cq->poller, 0, __ATOMIC_RELAXED);
	tern_lock_drop(&cq->lock);
	if (flush)
		tern_lazy_flush(cq);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return tern_cqe_opcode(&ex_to_tern_cq(cq)->cur);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return ex_to_tern_cq(cq)->cur.vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return tern_cqe_flags(&ex_to_tern_cq(cq)->cur);
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return ex_to_tern_cq(cq)->cur.byte_len;
}

/* ibv_wc_read_invalidated_rkey() calls this too. */
static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return (__force __be32)tern_cqe_imm_or_key(&ex_to_tern_cq(cq)->cur);
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return ex_to_tern_cq(cq)->cur.qpn;
}

static uint64_t read_timestamp(struct ibv_cq_ex *cq)
{
	return ex_to_tern_cq(cq)->cur.timestamp;
}

static int64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static uint64_t read_wallclock(struct ibv_cq_ex *cq)
{
	return read_timestamp(cq) + now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
}

/* An RNIC has no InfiniBand addresses: these fields read 0. */
static uint32_t read_none32(struct ibv_cq_ex *cq)
{
	return 0;
}

static uint8_t read_none8(struct ibv_cq_ex *cq)
{
	return 0;
}

void terndv_wc_read_imm(struct ibv_cq_ex *cq, uint8_t imm[TERNDV_IMM_SIZE])
{
	memcpy(imm, ex_to_tern_cq(cq)->cur.imm, TERNDV_IMM_SIZE);
}

uint32_t terndv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq)
{
	return ex_to_tern_cq(cq)->cur.inv_stag;
}

/* Only the timestamps depend on @wc_flags: all other fields cost nothing. */
void tern_cq_set_ex_ops(struct ibv_cq_ex *cq, uint64_t wc_flags)
{
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_wc_flags = read_wc_flags;
	cq->read_byte_len = read_byte_len;
	cq->read_imm_data = read_imm_data;
	cq->read_qp_num = read_qp_num;
	cq->read_src_qp = read_none32;
	cq->read_slid = read_none32;
	cq->read_sl = read_none8;
	cq->read_dlid_path_bits = read_none8;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = read_timestamp;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns = read_wallclock;
}
