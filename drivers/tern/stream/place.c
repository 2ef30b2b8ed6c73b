// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Placement (RFC 5041 5): check where a Write goes and copy it there, or copy a
 * Send or Read Response to its scatter list.
 */
#include "place.h"

#include "core/mem_check.h"
#include "core/term.h"
#include "mem/map.h"
#include "mem/scope.h"
#include "mem/sgl.h"
#include "mem/slot.h"
#include "observe/trace.h"
#include "stream.h"

/**
 * struct payload - what is left of the payload
 * @left: bytes
 * @run: bytes of it before the next marker
 * @off: with markers: bytes of the ULPDU before the end of the current run
 * @pos: with markers: bytes of the FPDU before the cursor
 */
struct payload {
	u32 left;
	u32 run;
	u32 off;
	u32 pos;
};

static noinline void next_run(struct tern_rx *rx, struct payload *p)
{
	struct tern_fpdu_range range;

	if (!tern_fpdu_range_next(&rx->cur, true, &p->off, &range))
		return;
	tern_skb_cursor_advance(&rx->payload, range.fpdu_off - p->pos);
	p->pos = range.fpdu_off + range.len;
	p->run = range.len;
}

/* the common case: all of the payload is here; else NULL */
static const u8 *whole_payload(const struct tern_rx *rx)
{
	return rx->whole ? rx->whole + TERN_FPDU_LEN_SIZE + rx->seg.hdr_len : NULL;
}

static void start_payload(struct tern_rx *rx, struct payload *p)
{
	p->left = rx->seg.len;
	p->run = rx->seg.len;
	if (!rx->fpdu.markers) {
		tern_skb_cursor_advance(&rx->payload,
					TERN_FPDU_LEN_SIZE + rx->seg.hdr_len);
		return;
	}
	p->run = 0;
	p->off = rx->seg.hdr_len;
	p->pos = 0;
}

/* Return: bytes at @data, the next contiguous ones; 0 at the end */
static u32 next_piece(struct tern_rx *rx, struct payload *p, const u8 **data)
{
	u32 n;

	if (!p->left)
		return 0;
	if (!p->run)
		next_run(rx, p);
	tern_skb_cursor_fill(&rx->payload);
	*data = rx->payload.data;
	n = min(p->run, rx->payload.left);
	tern_skb_cursor_step(&rx->payload, n);
	p->left -= n;
	p->run -= n;
	return n;
}

static noinline void write_pieces(struct tern_rx *rx, const struct tern_mem_map *map)
{
	u64 to = rx->seg.to;
	struct payload p;
	const u8 *data;
	u32 n;

	start_payload(rx, &p);
	while ((n = next_piece(rx, &p, &data))) {
		tern_mem_write(map, to, data, n);
		to += n;
	}
}

static void write_payload(struct tern_rx *rx, const struct tern_mem_map *map)
{
	const u8 *whole = whole_payload(rx);

	if (whole)
		tern_mem_write(map, rx->seg.to, whole, rx->seg.len);
	else
		write_pieces(rx, map);
}

/* the rights are those of the STag and of the QP */
static bool may_write(const struct tern_stream *s)
{
	const struct tern_seg *seg = &s->rx.seg;

	return READ_ONCE(s->access) & TERN_ACCESS_REMOTE_WRITE &&
	       tern_mem_allows(&s->rx.slot.view, TERN_ACCESS_REMOTE_WRITE, seg->to, seg->len);
}

/* a right that the QP was given since then is in force, and the answer is NONE */
static noinline int why_not(const struct tern_stream *s)
{
	struct tern_mem_view view = s->rx.slot.view;

	view.access &= READ_ONCE(s->access);
	return tern_mem_check(&view, TERN_USE_WRITE, s->rx.seg.to, s->rx.seg.len);
}

int tern_place_write(struct tern_stream *s)
{
	const struct tern_seg *seg = &s->rx.seg;
	struct tern_mem_slot *slot = &s->rx.slot;
	int term;

	/* RFC 5041 5.2: the "STag and TO fields MUST NOT be checked" then */
	if (!seg->len)
		return TERN_TERM_NONE;
	tern_mem_open(slot, &s->scope, seg->stag, s->scope.stream);
	term = may_write(s) ? TERN_TERM_NONE : why_not(s);
	if (term == TERN_TERM_NONE)
		write_payload(&s->rx, &slot->map);
	tern_mem_shut(slot);
	trace_tern_place(s->qpn, seg->stag, seg->to, seg->len);
	return term;
}

static noinline int scatter_pieces(struct tern_rx *rx, const struct tern_scope *scope,
				   struct tern_sgl *sgl)
{
	struct payload p;
	const u8 *data;
	int ret = 0;
	u32 n;

	start_payload(rx, &p);
	while (!ret && (n = next_piece(rx, &p, &data)))
		ret = tern_sgl_write(scope, &rx->slot, sgl, data, n);
	return ret;
}

int tern_place_sgl(struct tern_stream *s, const struct tern_scope *scope,
		   struct tern_sgl *sgl)
{
	const struct tern_seg *seg = &s->rx.seg;
	const u8 *whole = whole_payload(&s->rx);

	trace_tern_place(s->qpn, 0, seg->tagged ? seg->to : seg->mo, seg->len);
	if (!whole)
		return scatter_pieces(&s->rx, scope, sgl);
	return tern_sgl_write(scope, &s->rx.slot, sgl, whole, seg->len);
}
