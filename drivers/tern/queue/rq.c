// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The receive side of a stream: take entries from its own queue or an SRQ, and
 * complete them (RFC 5040 5.5).
 */
#include "rq.h"

#include "srq.h"

int tern_rq_init(struct tern_rq *rq, struct ib_ucontext *ctx,
		 const struct ib_qp_init_attr *init)
{
	rq->cq = to_tern_cq(init->recv_cq);
	if (init->srq) {
		rq->srq = to_tern_srq(init->srq);
		return 0;
	}
	return tern_recvq_create(&rq->own, ctx,
				 max(init->cap.max_recv_wr, 1U),
				 max(init->cap.max_recv_sge, 1U));
}

void tern_rq_exit(struct tern_rq *rq)
{
	if (!rq->srq)
		tern_recvq_destroy(&rq->own);
}

bool tern_rq_must_ring(const struct tern_rq *rq)
{
	smp_mb(); /* enum tern_ring_flags: prod is stored, flags are read */
	return READ_ONCE(rq->own.q.hdr->flags) & TERN_RING_KICK;
}

int tern_rq_take(struct tern_rq *rq)
{
	int ret;

	if (rq->srq)
		ret = tern_srq_take(rq->srq, &rq->recv);
	else
		ret = tern_recvq_take(&rq->own, &rq->recv);
	rq->have_recv = !ret;
	return ret;
}

static struct tern_cqe *next_cqe(struct tern_rq *rq)
{
	if (rq->cqe_nr == TERN_CQE_BATCH)
		tern_rq_publish(rq);
	rq->have_recv = false;
	return &rq->cqes[rq->cqe_nr++];
}

void tern_rq_complete(struct tern_rq *rq, const struct tern_recvd *recvd)
{
	struct tern_cqe *cqe = next_cqe(rq);

	*cqe = (struct tern_cqe) {
		.wr_id = rq->recv.wr_id,
		.opcode = recvd->opcode,
		.status = IB_WC_SUCCESS,
		.flags = recvd->flags,
		.qpn = rq->qpn,
		.byte_len = recvd->byte_len,
		.inv_stag = recvd->inv_stag,
	};
	if (recvd->flags & TERN_CQE_WITH_IMM)
		memcpy(cqe->imm, recvd->imm, sizeof(cqe->imm));
}

void tern_rq_fail(struct tern_rq *rq, enum ib_wc_status status)
{
	*next_cqe(rq) = (struct tern_cqe) {
		.wr_id = rq->recv.wr_id,
		.opcode = TERN_WR_RECV,
		.status = status,
		.qpn = rq->qpn,
	};
}

void tern_rq_publish(struct tern_rq *rq)
{
	u32 lost;

	if (!rq->cqe_nr)
		return;
	lost = rq->quiet ? rq->cqe_nr : tern_cq_push(rq->cq, rq->cqes, rq->cqe_nr);
	if (lost && !rq->srq)
		tern_recvq_lost(&rq->own, lost);
	rq->cqe_nr = 0;
}

/* a malformed entry is flushed too: its wr_id is valid */
static bool flush_one(struct tern_rq *rq)
{
	int ret = tern_recvq_take(&rq->own, &rq->recv);

	if (ret == -ENOENT || ret == -EOVERFLOW)
		return false;
	tern_rq_fail(rq, IB_WC_WR_FLUSH_ERR);
	return true;
}

/* Return: true when entries posted before the last ring may be left */
static bool flush_own(struct tern_rq *rq)
{
	u32 n;

	/* from here on each post rings: see enum tern_ring_flags */
	WRITE_ONCE(rq->own.q.hdr->flags, TERN_RING_KICK);
	smp_mb(); /* flags before prod */
	for (n = TERN_FLUSH_ENTRIES; n && rq->flush_left; n--) {
		if (!flush_one(rq))
			rq->flush_left = 1;
		rq->flush_left--;
	}
	return rq->flush_left;
}

bool tern_rq_flush(struct tern_rq *rq, bool rung)
{
	bool more = false;

	if (rq->have_recv)
		tern_rq_fail(rq, IB_WC_WR_FLUSH_ERR);
	if (!rq->srq) {
		/* bounded, as a program may post for ever; later posts ring */
		if (rung)
			rq->flush_left = rq->own.q.size;
		more = flush_own(rq);
	}
	tern_rq_publish(rq);
	return more;
}
