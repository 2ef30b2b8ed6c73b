/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The receive side of a stream: entries of its own queue or of an SRQ, from the
 * take to the completion, in Delivery order.
 */
#ifndef TERN_RQ_H
#define TERN_RQ_H

#include <rdma/ib_verbs.h>

#include "cq.h"
#include "recvq.h"

struct tern_srq;

/**
 * struct tern_rq - receive side; guarded by the stream lock, but for what is posted to @own
 * @own: its queue; with an SRQ unused, and zero but for @own.polled
 * @srq: used in place of @own, or NULL
 * @cq: where it completes
 * @qpn: of the QP, for completions
 * @recv: the current entry: that of the Send under reassembly, or the last one
 * @quiet: as @tern_sq.quiet
 * @have_recv: @recv is taken and not completed
 * @flush_left: entries that the flush may still find
 * @cqe_nr: completions at @cqes
 * @cqes: completions not yet published
 */
struct tern_rq {
	struct tern_recvq own;
	struct tern_srq *srq;
	struct tern_cq *cq;
	u32 qpn;
	struct tern_recv recv;
	bool quiet;
	bool have_recv;
	u32 flush_left;
	u32 cqe_nr;
	struct tern_cqe cqes[TERN_CQE_BATCH];
};

/**
 * tern_rq_init() - set up the receive side of a QP
 * @rq: zeroed; @rq->qpn is set later
 * @ctx: the program's context, NULL for a kernel user
 * @init: what the user asks for, checked
 *
 * Context: process. Return: 0 or as tern_recvq_create().
 */
int tern_rq_init(struct tern_rq *rq, struct ib_ucontext *ctx,
		 const struct ib_qp_init_attr *init);

/* undo tern_rq_init(); Context: process, may sleep */
void tern_rq_exit(struct tern_rq *rq);

/**
 * tern_rq_must_ring() - does a kernel user's post need a doorbell?
 * @rq: without an SRQ; entries were posted to @rq->own
 *
 * Context: any, interrupts on or off.
 */
bool tern_rq_must_ring(const struct tern_rq *rq);

/**
 * tern_rq_take() - take the next entry
 * @rq: without a current entry
 *
 * Sets @rq->recv, and @rq->have_recv on success. Return: as tern_recvq_take().
 */
int tern_rq_take(struct tern_rq *rq);

/**
 * struct tern_recvd - what a message of the peer brought
 * @opcode: TERN_WR_RECV or TERN_WR_RECV_IMM
 * @flags: enum tern_cqe_flags
 * @byte_len: bytes received; RECV_IMM: bytes of the Write before it
 * @inv_stag: STag that it invalidated, with TERN_CQE_WITH_INV
 * @imm: 8 bytes of immediate data in wire order, with TERN_CQE_WITH_IMM
 */
struct tern_recvd {
	u8 opcode;
	u16 flags;
	u32 byte_len;
	u32 inv_stag;
	const u8 *imm;
};

/**
 * tern_rq_complete() - queue the completion of the current entry
 * @rq: tern_rq_publish() makes it visible
 * @recvd: what it received
 */
void tern_rq_complete(struct tern_rq *rq, const struct tern_recvd *recvd);

/* likewise, with an error */
void tern_rq_fail(struct tern_rq *rq, enum ib_wc_status status);

/* write the completions that tern_rq_complete() queued to the CQ */
void tern_rq_publish(struct tern_rq *rq);

/**
 * tern_rq_flush() - complete the current and some queued entries with an error
 * @rq: of a stream that failed or ended; entries of an SRQ stay in it
 * @rung: as for tern_stream_flush()
 *
 * From then on each post rings. Return: true when entries are left.
 */
bool tern_rq_flush(struct tern_rq *rq, bool rung);

#endif /* TERN_RQ_H */
