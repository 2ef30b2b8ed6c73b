// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Responses to the peer's Reads and atomics, in the order of their Requests: RFC 5040
 * 5.2.2, RFC 7306 5.4 and 7, and RDMAP version 2.
 */
#include "tx_reply.h"

#include "core/mem_check.h"
#include "core/rdmap.h"
#include "core/term.h"
#include "mem/map.h"
#include "mem/scope.h"
#include "mem/slot.h"
#include "state.h"
#include "stream.h"
#include "tx_msg.h"

/* the peer may read what is left of @sgl */
static bool may_read(const struct tern_mem_view *view, const struct tern_sgl *sgl)
{
	return tern_mem_allows(view, TERN_ACCESS_REMOTE_READ, tern_sgl_addr(sgl),
			       sgl->sge->length - sgl->off);
}

static int why_not(const struct tern_mem_view *view, const struct tern_sgl *sgl)
{
	return tern_mem_check(view, TERN_USE_READ_SRC, tern_sgl_addr(sgl),
			      sgl->sge->length - sgl->off);
}

int tern_tx_read_response(struct tern_stream *s, u8 *dst, u32 len)
{
	struct tern_mem_slot *slot = &s->tx.slot;
	struct tern_sgl *sgl = &s->tx.sgl;
	int term;

	tern_mem_open(slot, &s->scope, sgl->sge->lkey, s->scope.stream);
	term = may_read(&slot->view, sgl) ? TERN_TERM_NONE : why_not(&slot->view, sgl);
	if (term == TERN_TERM_NONE) {
		sgl->open = true;
		slot->list = sgl;
		tern_sgl_read_open(slot, sgl, dst, len);
	}
	tern_mem_shut(slot);
	return term;
}

/*
 * The source of a Response became invalid while the Response was sent. RFC 5040
 * 4.8: the copied Read Request header "is updated to reflect the current
 * location of the RDMA Read operation that is in process" (RDMAP-032).
 */
static void read_failed(struct tern_stream *s, const struct tern_read_in *rd, int term,
			u32 done)
{
	u8 rv = rd->hdr.rdmap_ctrl >> TERN_RDMAP_VERSION_SHIFT;
	struct tern_rdmap_version v = { .dv = s->params.version, .rv = rv };
	struct tern_tx_msg msg;
	struct tern_term_seg seg;

	tern_rdmap_build_read_req(&msg, v, rd->msn, rd->sink_stag, rd->sink_to + done,
				  rd->src.length - done, rd->src.lkey,
				  rd->src.addr + done);
	msg.hdr[0] |= TERN_DDP_LAST;
	seg = (struct tern_term_seg) {
		.hdr = msg.hdr, .hdr_len = msg.hdr_len, .len = msg.hdr_len, .rv = rv,
	};
	tern_stream_error(s, term, &seg);
}

void tern_tx_response_failed(struct tern_stream *s, int term, u32 done)
{
	const struct tern_read_in *rd = tern_readq_in_first(&s->readq);
	struct tern_term_seg seg = {
		.hdr = (const u8 *)&rd->hdr,
		.hdr_len = sizeof(rd->hdr),
		.len = rd->seg_len,
		.rv = rd->hdr.rdmap_ctrl >> TERN_RDMAP_VERSION_SHIFT,
	};

	/* RFC 7306 8.1: the RDMAP header of other Requests is not copied */
	if (rd->kind == TERN_OPEN_READ)
		read_failed(s, rd, term, done);
	else
		tern_stream_error(s, term, &seg);
}

/*
 * RFC 7306 5.4: an atomic is performed when the earlier Responses were started. Return: the
 * error or TERN_TERM_NONE, or -EAGAIN.
 */
static int perform(struct tern_stream *s, const struct tern_read_in *rd, u64 *old)
{
	struct tern_mem_slot *slot = &s->tx.slot;
	struct tern_mem_view view;
	int term;

	tern_mem_open(slot, &s->scope, rd->src.lkey, s->scope.stream);
	tern_mem_view_atomic(&slot->map, s->scope.pd, s->scope.stream, &view);
	term = tern_mem_check(&view, TERN_USE_ATOMIC, rd->src.addr, TERN_ATOMIC_LEN);
	if (term == TERN_TERM_NONE &&
	    tern_mem_atomic(&slot->map, rd->src.addr, &rd->atomic, old))
		term = -EAGAIN;
	tern_mem_shut(slot);
	return term;
}

static int build_atomic(struct tern_stream *s, struct tern_rdmap_version v,
			const struct tern_read_in *rd)
{
	struct tern_tx *tx = &s->tx;
	u64 old = 0;
	int term = perform(s, rd, &old);

	if (term == TERN_TERM_NONE)
		tern_rdmap_build_atomic_resp(&tx->msg, v, tx->resp_msn++, rd->atomic.id,
					     old);
	return term;
}

/* a Response has the form of its Request, and the version of its own direction */
static int build_response(struct tern_stream *s, const struct tern_read_in *rd)
{
	struct tern_rdmap_version v = tern_tx_version(s);
	struct tern_tx *tx = &s->tx;

	switch (rd->kind) {
	case TERN_OPEN_ATOMIC:
		return build_atomic(s, v, rd);
	case TERN_OPEN_READ_V2:
		tern_rdmap_build_read_resp_v2(&tx->msg, v, tx->resp_msn++, rd->src.length);
		return TERN_TERM_NONE;
	default:
		tern_rdmap_build_read_resp(&tx->msg, v, rd->sink_stag, rd->sink_to,
					   rd->src.length);
		return TERN_TERM_NONE;
	}
}

bool tern_tx_start_response(struct tern_stream *s)
{
	struct tern_tx *tx = &s->tx;
	struct tern_read_in *rd = tern_readq_in_first(&s->readq);
	int term;

	/* an entry that failed just now has flushed the queue: see cut_message() */
	if (!rd || tern_stream_is_over(s))
		return false;
	term = build_response(s, rd);
	if (term == -EAGAIN) {
		/* end the run, so that neither this CPU nor our own entries wait for it */
		tx->yielded = true;
		tx->prefer_wqe = true;
		return false;
	}
	if (term != TERN_TERM_NONE) {
		tern_tx_response_failed(s, term, 0);
		return false;
	}
	tx->source = TERN_TX_RESPONSE;
	tern_sgl_start(&tx->sgl, &rd->src, 1);
	tx->prefer_wqe = true;
	return true;
}
