// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Placement (RFC 5041 5): check where a Write goes and copy it there, or copy a
 * Send or Read Response to its scatter list.
 */
#include "place.h"

#include "mem/mem.h"
#include "mem/sgl.h"
#include "observe/trace.h"
#include "stream.h"

/* call @fn for each contiguous piece of the payload, markers left out */
static int walk_payload(struct tern_stream *s, const struct tern_place_src *src,
			int (*fn)(void *arg, const u8 *data, u32 n), void *arg)
{
	struct tern_fpdu_range range;
	u32 off = src->seg->hdr_len;
	int ret = 0;

	while (!ret && tern_fpdu_range_next(src->fpdu, s->rx.fpdu.markers,
					    &off, &range))
		ret = tern_skb_cursor_walk(&src->at, range.fpdu_off, range.len,
					   fn, arg);
	return ret;
}

struct write_arg {
	struct tern_mem_map map;
	u64 to;
};

static int write_piece(void *arg, const u8 *data, u32 n)
{
	struct write_arg *w = arg;

	tern_mem_write(&w->map, w->to, data, n);
	w->to += n;
	return 0;
}

int tern_place_write(struct tern_stream *s, const struct tern_place_src *src)
{
	const struct tern_seg *seg = src->seg;
	struct write_arg w = { .to = seg->to };
	struct tern_mem_view view;
	struct tern_mem *mem;
	int term;

	/* RFC 5041 5.2: the "STag and TO fields MUST NOT be checked" then */
	if (!seg->len)
		return TERN_TERM_NONE;
	mem = tern_mem_enter(s->scope.keys, seg->stag, &w.map);
	tern_mem_view(&w.map, s->scope.pd, s->scope.stream, &view);
	view.access &= s->access;
	term = tern_mem_check(&view, TERN_USE_WRITE, seg->to, seg->len);
	if (term == TERN_TERM_NONE)
		walk_payload(s, src, write_piece, &w);
	tern_mem_leave(mem);
	trace_tern_place(s->qpn, seg->stag, seg->to, seg->len);
	return term;
}

struct sgl_arg {
	const struct tern_scope *scope;
	struct tern_sgl *sgl;
};

static int sgl_piece(void *arg, const u8 *data, u32 n)
{
	struct sgl_arg *to = arg;

	return tern_sgl_write(to->scope, to->sgl, data, n);
}

int tern_place_sgl(struct tern_stream *s, const struct tern_place_src *src,
		   const struct tern_scope *scope, struct tern_sgl *sgl)
{
	const struct tern_seg *seg = src->seg;
	struct sgl_arg arg = { .scope = scope, .sgl = sgl };

	trace_tern_place(s->qpn, 0, seg->tagged ? seg->to : seg->mo,
			 seg->len);
	return walk_payload(s, src, sgl_piece, &arg);
}
