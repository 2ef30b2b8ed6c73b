// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The FPDUs in the middle of a long message, which are known before they come, beside the
 * whole way through the checks.
 */
#include "ddp_try.h"
#include "series.h"
#include "tap.h"

#define RUNS	2000
#define LENGTH	100

/* an FPDU, without the rest of its payload */
struct front {
	u8 b[TERN_FPDU_LEN_SIZE + sizeof(((struct try *)0)->b)];
	u32 total;
};

static struct front front_of(const struct try *t)
{
	struct front f = { .total = tern_fpdu_wire_len(0, false, t->len) };

	f.b[0] = (u8)(t->len >> 8);
	f.b[1] = (u8)t->len;
	memcpy(f.b + TERN_FPDU_LEN_SIZE, t->b, sizeof(t->b));
	return f;
}

static bool is_next(const struct tern_series *x, const struct try *t)
{
	struct front f = front_of(t);

	return tern_series_is_next(x, f.b, f.total);
}

/* what a receiver does with a segment; Return: the verdict */
static int handle(struct tern_ddp_rx *rx, struct tern_series *x, const struct try *t,
		  u32 left)
{
	struct tern_seg seg;
	int term = check_segment(rx, t, &seg);

	if (term != TERN_TERM_NONE)
		return term;
	tern_ddp_advance(rx, &seg);
	tern_series_begin(x, t->b, &seg, left);
	return term;
}

struct walk {
	struct rng r;
	struct tern_ddp_rx rx;
	struct tern_series x;
	u8 opcode;
	u32 stag, len;
	u64 to;
	u32 taken, known;
};

static bool one_in(struct walk *w, u32 n)
{
	return !rng_below(&w->r, n);
}

static struct try draw(struct walk *w)
{
	u8 last = one_in(w, 8) ? 0x40 : 0, ctrl = (u8)(2 << 6 | w->opcode);
	u32 qn = tern_op_table[w->opcode].qn;
	struct try t;

	if (one_in(w, 10))
		w->len = rng_below(&w->r, 60);
	if (w->opcode == 0x00 || w->opcode == 0x02)
		return tagged(0x81 | last, ctrl, w->stag, w->to, w->len);
	t = untagged(0x01 | last, ctrl, qn, w->rx.q[qn].msn, w->rx.q[qn].mo,
		     last && tern_op_table[w->opcode].imm ? 8 : w->len);
	put32(t.b + 2, w->stag);
	t.buf_len = 1ULL << 33;
	return t;
}

static void step(struct walk *w)
{
	static const u8 opcodes[] = { 0x00, 0x02, 0x03, 0x04, 0x05, 0x06, 0x12, 0x13 };
	struct tern_seg seg;
	struct try t;

	if (!w->rx.tagged_open && !w->rx.q[0].open && !w->rx.q[3].open)
		w->opcode = opcodes[rng_below(&w->r, ARRAY_SIZE(opcodes))];
	t = draw(w);
	if (one_in(w, 6))
		t.b[rng_below(&w->r, 18)] ^= 1 << rng_below(&w->r, 8);
	if (is_next(&w->x, &t)) {
		expect_eq(check_segment(&w->rx, &t, &seg), TERN_TERM_NONE);
		expect(!seg.last && !seg.first && seg.len == w->x.payload);
		expect_eq(seg.tagged, w->x.tagged);
		w->known++;
	}
	w->taken += handle(&w->rx, &w->x, &t, ~0U) == TERN_TERM_NONE;
	/* a spoiled segment may have been taken, and elsewhere */
	if (w->x.total != ~0U && w->x.tagged)
		w->to = get_unaligned_be64(w->x.front + 8);
}

TEST(series__is_what_all_checks_take, "S2 S3 S4 S5 S7 S9 S10")
{
	u32 taken = 0, known = 0;

	for (u32 i = 0; i < RUNS; i++) {
		struct walk w = { .r = rng_seed(i), .rx = fresh(1), .stag = i, .len = i % 50 };

		w.rx.rv = 2;
		w.rx.sets = TERN_OPS_BASE | TERN_OPS_7306 | TERN_OPS_V2;
		w.opcode = 0x03;
		tern_series_end(&w.x);
		for (u32 n = 0; n < LENGTH; n++)
			step(&w);
		taken += w.taken;
		known += w.known;
	}
	printf("# %u segments, %u of them known\n", taken, known);
	expect(known > taken / 5);
}

/* a Send of @n segments of 50 bytes, each taken by its header after the first */
TEST(series__of_a_send, "RFC 5041 5.2")
{
	struct tern_ddp_rx rx = fresh(1);
	struct tern_series x;
	struct try t;

	tern_series_end(&x);
	for (u32 i = 0; i < 100; i++) {
		t = untagged(0x01, 0x43, 0, 1, i * 50, 50);
		expect_eq(is_next(&x, &t), i > 0);
		if (!i)
			expect_eq(handle(&rx, &x, &t, ~0U), TERN_TERM_NONE);
		else
			tern_series_advance(&x);
	}
	/* the last has L: it is delivered, so it goes the whole way */
	t = untagged(0x41, 0x43, 0, 1, 5000, 50);
	expect(!is_next(&x, &t));
}

TEST(series__of_a_write, "RFC 5041 5.2")
{
	const u64 to = 0xfffffff0;
	struct tern_ddp_rx rx = fresh(1);
	struct tern_series x;
	struct try t;

	tern_series_end(&x);
	for (u32 i = 0; i < 100; i++) {
		t = tagged(0x81, 0x40, 7, to + i * 50ULL, 50);
		expect_eq(is_next(&x, &t), i > 0);
		if (!i)
			expect_eq(handle(&rx, &x, &t, ~0U), TERN_TERM_NONE);
		else
			tern_series_advance(&x);
	}
	t = tagged(0x81, 0x40, 8, to + 5000, 50);
	expect(!is_next(&x, &t));
	t = tagged(0x81, 0x40, 7, to + 5001, 50);
	expect(!is_next(&x, &t));
	t = tagged(0x81, 0x40, 7, to + 5000, 49);
	expect(!is_next(&x, &t));
}

/* one that would fill the buffer goes the whole way, which knows what may follow it */
TEST(series__ends_before_the_buffer, "S8 S13")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x01, 0x43, 0, 1, 0, 50);
	struct tern_series x;

	expect_eq(handle(&rx, &x, &t, 100), TERN_TERM_NONE);
	t = untagged(0x01, 0x43, 0, 1, 50, 50);
	expect(is_next(&x, &t));
	tern_series_advance(&x);
	t = untagged(0x01, 0x43, 0, 1, 100, 50);
	expect(!is_next(&x, &t));
	rx = fresh(1);
	t = untagged(0x01, 0x43, 0, 1, 0, 50);
	expect_eq(handle(&rx, &x, &t, 50), TERN_TERM_NONE);
	t = untagged(0x01, 0x43, 0, 1, 50, 50);
	expect(!is_next(&x, &t));
}

TEST(series__waits_for_all_of_the_fpdu, "RFC 5044 6")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x01, 0x43, 0, 1, 0, 51);
	struct tern_series x;
	struct front f;

	expect_eq(handle(&rx, &x, &t, ~0U), TERN_TERM_NONE);
	t = untagged(0x01, 0x43, 0, 1, 51, 51);
	f = front_of(&t);
	expect_eq(f.total, 2 + 18 + 51 + 1 + 4);
	for (u32 len = 0; len < f.total; len++)
		expect(!tern_series_is_next(&x, f.b, len));
	expect(tern_series_is_next(&x, f.b, f.total));
	expect(tern_series_is_next(&x, f.b, f.total + 1));
}

/* the STag to invalidate is checked for each segment; immediate data is no payload */
TEST(series__none, "RFC 5040 7.2")
{
	static const struct {
		u8 ddp, rdmap;
		u32 len;
	} none[] = {
		{ 0x01, 0x84, 50 }, { 0x01, 0x86, 50 }, { 0x01, 0x93, 50 }, { 0x01, 0x94, 50 },
		{ 0x01, 0x83, 0 }, { 0x41, 0x83, 50 }, { 0x41, 0x83, 0 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(none); i++) {
		struct try t = untagged(none[i].ddp, none[i].rdmap, 0, 1, 0, none[i].len);
		struct tern_ddp_rx rx = fresh(1);
		struct tern_series x;

		rx.rv = 2;
		rx.sets = TERN_OPS_BASE | TERN_OPS_7306 | TERN_OPS_V2;
		expect_eq(handle(&rx, &x, &t, ~0U), TERN_TERM_NONE);
		expect_eq(x.total, ~0U);
	}
}
