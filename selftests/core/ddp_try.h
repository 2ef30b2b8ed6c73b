/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * One segment through the checks of ddp.h, in the order of the shell. Headers are
 * written byte by byte, not with the structs of core/wire.h.
 */
#ifndef TERN_TEST_DDP_TRY_H
#define TERN_TEST_DDP_TRY_H

#include "tap.h"
#include "util.h"

/* a segment, and the receive buffer that the shell finds for it */
struct try {
	u8 b[128];
	u32 len;		/* ULPDU_Length */
	bool have_buffer;
	u64 buf_len;		/* or BY_SLOT */
};

#define BY_SLOT	(~0ULL)		/* what tern_ddp_slot() says */

static inline void put32(u8 *p, u32 v)
{
	for (int i = 3; i >= 0; i--, v >>= 8)
		p[i] = (u8)v;
}

static inline void put64(u8 *p, u64 v)
{
	put32(p, (u32)(v >> 32));
	put32(p + 4, (u32)v);
}

static inline struct try untagged(u8 ddp, u8 rdmap, u32 qn, u32 msn, u32 mo, u32 len)
{
	struct try t = { .b = { ddp, rdmap }, .len = 18 + len,
			 .have_buffer = true, .buf_len = 1ULL << 33 };

	put32(t.b + 6, qn);
	put32(t.b + 10, msn);
	put32(t.b + 14, mo);
	if (qn == 1 || qn == 2)
		t.buf_len = BY_SLOT;
	return t;
}

static inline struct try tagged(u8 ddp, u8 rdmap, u32 stag, u64 to, u32 len)
{
	struct try t = { .b = { ddp, rdmap }, .len = 14 + len };

	put32(t.b + 2, stag);
	put64(t.b + 6, to);
	return t;
}

static inline struct tern_ddp_rx fresh(u8 version)
{
	struct tern_ddp_rx rx;

	tern_ddp_rx_init(&rx, version);
	return rx;
}

/* S2 to S10 and S16 in the order of the shell */
static inline int check_segment(const struct tern_ddp_rx *rx, const struct try *t,
			 struct tern_seg *seg)
{
	u32 hdr_len = min_t(u32, t->len, TERN_HDR_MAX);
	int term = tern_ddp_segment(rx, t->b, hdr_len, t->len, seg);
	u64 slot;

	if (term == TERN_TERM_NONE && !seg->tagged) {
		tern_ddp_slot(seg, &slot);
		term = tern_ddp_untagged(rx, seg, t->have_buffer,
					 t->buf_len == BY_SLOT ? slot : t->buf_len);
	}
	if (term == TERN_TERM_NONE)
		term = tern_rdmap_segment(rx, t->b, hdr_len, seg);
	return term;
}

static inline int verdict(const struct tern_ddp_rx *rx, struct try t)
{
	struct tern_seg seg;

	return check_segment(rx, &t, &seg);
}

/* check that the segment is valid, and advance as if it was delivered */
static inline void take(struct tern_ddp_rx *rx, struct try t)
{
	struct tern_seg seg;

	if (expect_eq(check_segment(rx, &t, &seg), TERN_TERM_NONE))
		tern_ddp_advance(rx, &seg);
}

#endif /* TERN_TEST_DDP_TRY_H */
