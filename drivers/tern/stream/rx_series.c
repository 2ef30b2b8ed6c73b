// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The short way of the FPDUs in the middle of a long message: their headers are known, the
 * buffer is open, and nothing is delivered. What the first FPDU of a message did for the
 * stream (the fence, the hello, the news for a program that polls) is done.
 */
#include "rx_series.h"

#include "core/term.h"
#include "observe/trace.h"
#include "place.h"
#include "stream.h"

/* where the payload goes: a list, or NULL for a Write; *@left: bytes that it still takes */
static struct tern_sgl *sink(struct tern_stream *s, u32 *left)
{
	const struct tern_seg *seg = &s->rx.seg;
	struct tern_read_out *out;

	switch (seg->opcode) {
	case TERN_OP_WRITE:
		*left = U32_MAX;
		return NULL;
	case TERN_OP_READ_RESP:
	case TERN_OP_READ_RESP_V2:
		out = tern_readq_out_first(&s->readq);
		*left = out->open.len - out->open.got;
		return &out->sgl;
	default:
		*left = min_t(u64, s->rq.recv.len, U32_MAX) - (seg->mo + seg->len);
		return &s->rx.sgl;
	}
}

void tern_rx_expect(struct tern_stream *s, const struct tern_fpdu *f)
{
	struct tern_rx *rx = &s->rx;
	u32 left;

	tern_series_end(&rx->series);
	if (rx->fpdu.markers || rx->fence || s->agree.hello.state != TERN_HELLO_OVER)
		return;
	rx->sink = sink(s, &left);
	/* else the next one is the last, or too long */
	if (left > rx->seg.len)
		tern_series_begin(&rx->series, f->hdr, &rx->seg, left);
}

/* before the CRC is: a list that is not open would be checked here, and might fail */
static bool has_sink(const struct tern_rx *rx)
{
	return !rx->sink || tern_sgl_is_open(rx->sink, &rx->slot, rx->seg.len);
}

static bool place(struct tern_stream *s, const u8 *fpdu)
{
	struct tern_rx *rx = &s->rx;
	struct tern_seg *seg = &rx->seg;

	if (seg->tagged)
		seg->to += seg->len;
	else
		seg->mo += seg->len;
	if (!rx->sink) {
		rx->whole = fpdu;
		if (tern_place_write(s) == TERN_TERM_NONE)
			return true;
		/* it may be tried again */
		seg->to -= seg->len;
		return false;
	}
	trace_tern_place(s->qpn, 0, seg->tagged ? seg->to : seg->mo, seg->len);
	tern_sgl_write_open(&rx->slot, rx->sink, fpdu + TERN_FPDU_LEN_SIZE + seg->hdr_len,
			    seg->len);
	return true;
}

/* as tern_ddp_advance() and the handlers of the opcodes do */
static void advance(struct tern_stream *s)
{
	struct tern_rx *rx = &s->rx;
	const struct tern_seg *seg = &rx->seg;

	tern_series_advance(&rx->series);
	if (!seg->tagged)
		rx->ddp.q[seg->qn].mo += seg->len;
	if (!rx->sink)
		rx->write_len += seg->len;
	else if (rx->sink != &rx->sgl)
		container_of(rx->sink, struct tern_read_out, sgl)->open.got += seg->len;
}

static bool take_next(struct tern_stream *s)
{
	struct tern_rx *rx = &s->rx;
	const u8 *fpdu = rx->at.data;
	u32 total = rx->series.total;

	if (!tern_series_is_next(&rx->series, fpdu, rx->at.left) || !has_sink(rx) ||
	    !tern_fpdu_rx_is_good(&rx->fpdu, fpdu, total) || !place(s, fpdu))
		return false;
	trace_tern_fpdu_rx(s->qpn, rx->seg.opcode, rx->seg.hdr_len + rx->seg.len, false);
	advance(s);
	tern_skb_cursor_step(&rx->at, total);
	return true;
}

u32 tern_rx_take_series(struct tern_stream *s, u32 len)
{
	struct tern_rx *rx = &s->rx;
	u32 total = rx->series.total, fpdus = 0, bytes = 0, cost = 0;

	while (bytes < len && cost < rx->budget && take_next(s)) {
		tern_skb_cursor_fill(&rx->at);
		fpdus++;
		bytes += total;
		cost += max(total, TERN_RX_LEAST);
	}
	if (!fpdus)
		return 0;
	tern_rx_charge(rx, cost);
	tern_stat_add(s->stats, RX_FPDU, fpdus);
	tern_stat_add(s->stats, RX_BYTES, bytes);
	return bytes;
}
