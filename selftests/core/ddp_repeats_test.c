// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * tern_ddp_repeats(), the short way through the checks of a segment, beside the whole
 * way: random series in which single fields are wrong.
 */
#include "ddp_try.h"
#include "tap.h"

#define SERIES	2000
#define LENGTH	200

/* a stream, and the header that its next segment has */
struct walk {
	struct rng r;
	struct tern_ddp_rx rx;
	struct tern_seg last;
	u8 opcode;
	u32 inv_stag;
	u32 taken;
	u32 repeated;
};

static bool one_in(struct walk *w, u32 n)
{
	return !rng_below(&w->r, n);
}

static void draw_message(struct walk *w)
{
	static const u8 opcodes[] = { 0x00, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x01,
				      0x12, 0x13, 0x14 };

	if (!w->rx.tagged_open && !w->rx.q[0].open && !w->rx.q[3].open && one_in(w, 4)) {
		w->opcode = opcodes[rng_below(&w->r, ARRAY_SIZE(opcodes))];
		w->inv_stag = rng_next(&w->r);
	}
}

static struct try draw_segment(struct walk *w)
{
	u8 rv = one_in(w, 8) ? w->last.rv : w->rx.rv;
	u8 ctrl = (u8)(rv << 6 | w->opcode), last = one_in(w, 3) ? 0x40 : 0;
	u32 qn, len = rng_below(&w->r, 40);
	struct try t;

	if (w->opcode == 0x00 || w->opcode == 0x02)
		return tagged(0x81 | last, ctrl, rng_next(&w->r), rng_next(&w->r), len);
	qn = tern_op_table[w->opcode].qn;
	/* immediate data alone, or a control message */
	if (last && tern_op_table[w->opcode].imm)
		len = 8;
	t = untagged(0x01 | last, ctrl, qn, w->rx.q[qn].msn, w->rx.q[qn].mo, len);
	put32(t.b + 2, w->inv_stag);
	t.buf_len = 1ULL << 33;
	return t;
}

/* any bit of the header, or its end */
static void spoil(struct walk *w, struct try *t)
{
	if (one_in(w, 8))
		t->len = rng_below(&w->r, t->len + 1);
	else
		t->b[rng_below(&w->r, 18)] ^= 1 << rng_below(&w->r, 8);
}

static void change_rules(struct walk *w)
{
	w->rx.sets = TERN_OPS_BASE;
	w->rx.rv = one_in(w, 2) ? 2 : 1;
	if (one_in(w, 2))
		w->rx.sets |= TERN_OPS_7306;
	if (w->rx.rv == 2 && one_in(w, 2))
		w->rx.sets |= TERN_OPS_V2;
}

static void step(struct walk *w)
{
	struct tern_seg whole, part;
	struct try t;
	int term;

	if (one_in(w, 16))
		change_rules(w);
	draw_message(w);
	t = draw_segment(w);
	if (one_in(w, 6))
		spoil(w, &t);
	memcpy(&part, &w->last, sizeof(part));
	term = check_segment(&w->rx, &t, &whole);
	if (tern_ddp_repeats(&w->rx, t.b, min_t(u32, t.len, TERN_HDR_MAX), t.len, &part)) {
		expect_eq(term, TERN_TERM_NONE);
		expect(!memcmp(&part, &whole, sizeof(part)));
		w->repeated++;
	}
	if (term != TERN_TERM_NONE)
		return;
	w->taken++;
	tern_ddp_advance(&w->rx, &whole);
	memcpy(&w->last, &whole, sizeof(whole));
}

TEST(ddp_repeats__takes_only_what_all_checks_take, "S2 S3 S4 S5 S7 S9 S10")
{
	u32 taken = 0, repeated = 0;

	for (u32 i = 0; i < SERIES; i++) {
		struct walk w = { .r = rng_seed(i), .rx = fresh(1), .opcode = 0x03 };

		for (u32 n = 0; n < LENGTH; n++)
			step(&w);
		taken += w.taken;
		repeated += w.repeated;
	}
	printf("# %u segments, %u of them the short way\n", taken, repeated);
	expect(repeated > taken / 4);
}

/* the segments of Sends and of Writes, after the first */
TEST(ddp_repeats__series_of_each_kind, "RFC 5041 5.1 5.2")
{
	struct tern_ddp_rx rx = fresh(1);
	struct tern_seg seg = { .row = NULL };
	struct try t;

	for (u32 i = 0; i < 9; i++) {
		t = untagged(i % 3 == 2 ? 0x41 : 0x01, 0x43, 0, 1 + i / 3, i % 3 * 50, 50);
		expect_eq(tern_ddp_repeats(&rx, t.b, 68, 68, &seg), i > 0);
		expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
		tern_ddp_advance(&rx, &seg);
	}
	for (u32 i = 0; i < 9; i++) {
		t = tagged(i % 3 == 2 ? 0xc1 : 0x81, 0x40, i, i * 50, 50);
		expect_eq(tern_ddp_repeats(&rx, t.b, 64, 64, &seg), i > 0);
		expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
		tern_ddp_advance(&rx, &seg);
	}
}
