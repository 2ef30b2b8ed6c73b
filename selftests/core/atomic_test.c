// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Masked FetchAdd and CmpSwap: RFC 7306 5.1. */
#include "atomic.h"
#include "tap.h"
#include "util.h"

/* the pseudocode of RFC 7306 5.1.1 */
static u64 add_bit_by_bit(u64 old, u64 add, u64 mask)
{
	u32 carry = 0;
	u64 sum = 0;

	for (u32 bit = 0; bit < 64; bit++) {
		u32 s = carry + (old >> bit & 1) + (add >> bit & 1);

		sum |= (u64)(s & 1) << bit;
		carry = s >> 1 && !(mask >> bit & 1);
	}
	return sum;
}

static u64 random64(struct rng *r)
{
	static const u64 edges[] = {
		0, ~0ULL, 1, 1ULL << 63, 0x8000000080000000, 0x8080808080808080,
		0x7fffffffffffffff, 0xffffffff,
	};

	if (!rng_below(r, 3))
		return edges[rng_below(r, ARRAY_SIZE(edges))];
	return (u64)rng_next(r) << 32 | rng_next(r);
}

TEST(atomic_add__examples, "RFC 7306 5.1.1")
{
	expect_eq(tern_atomic_add(5, 7, 0), 12);
	expect_eq(tern_atomic_add(~0ULL, 1, 0), 0);
	expect_eq(tern_atomic_add(0x0102030405060708, 0x10, 0), 0x0102030405060718);
	/* two fields of 32 bits: no carry from the lower one */
	expect_eq(tern_atomic_add(0x00000001ffffffff, 0x0000000200000001,
				  0x8000000080000000), 0x0000000300000000);
	/* eight fields of 8 bits */
	expect_eq(tern_atomic_add(0xff80ff01ff7f00fe, 0x0180010101010103,
				  0x8080808080808080), 0x0000000200800101);
	/* 64 fields of one bit: XOR */
	expect_eq(tern_atomic_add(0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, ~0ULL),
		  0xf0f0f0f0f0f0f0f0);
}

TEST(atomic_add__agrees_with_the_pseudocode, "RFC 7306 5.1.1")
{
	struct rng r = rng_seed(11);

	for (u32 i = 0; i < 100000; i++) {
		u64 old = random64(&r), add = random64(&r), mask = random64(&r);

		expect_eq(tern_atomic_add(old, add, mask),
			  add_bit_by_bit(old, add, mask));
	}
}

static u64 swap(u64 old, struct tern_atomic a, bool equal)
{
	u64 new = 0x123;

	expect_eq(tern_atomic_swap(old, &a, &new), equal);
	return new;
}

TEST(atomic_swap__examples, "RFC 7306 5.1.2")
{
	struct tern_atomic a = {
		.op = TERN_ATOMIC_CMP_SWAP, .data = 0x1111, .data_mask = ~0ULL,
		.compare = 0x2222, .compare_mask = ~0ULL,
	};

	expect_eq(swap(0x2222, a, true), 0x1111);
	expect_eq(swap(0x2223, a, false), 0x2223);
	expect_eq(swap(0x8000000000002222, a, false), 0x8000000000002222);
	/* only the masked bits are swapped */
	a.data_mask = 0x0ff0;
	expect_eq(swap(0x2222, a, true), 0x2112);
	/* only the masked bits are compared */
	a.compare_mask = 0xff00;
	expect_eq(swap(0x22ee, a, true), 0x211e);
	expect_eq(swap(0x23ee, a, false), 0x23ee);
	/* an empty mask compares as equal, and changes nothing */
	a.compare_mask = 0;
	a.data_mask = 0;
	expect_eq(swap(0xabcd, a, true), 0xabcd);
}

/* the pseudocode of RFC 7306 5.1.2, bit by bit */
TEST(atomic_swap__agrees_with_each_bit, "RFC 7306 5.1.2")
{
	struct rng r = rng_seed(12);

	for (u32 i = 0; i < 20000; i++) {
		struct tern_atomic a = {
			.data = random64(&r), .data_mask = random64(&r),
			.compare_mask = random64(&r),
		};
		u64 old = random64(&r), want = 0;
		bool equal = true;

		a.compare = rng_below(&r, 2) ? old : random64(&r);
		for (u32 bit = 0; bit < 64; bit++)
			if (a.compare_mask >> bit & 1 &&
			    (a.compare >> bit & 1) != (old >> bit & 1))
				equal = false;
		for (u32 bit = 0; bit < 64; bit++)
			want |= ((equal && a.data_mask >> bit & 1 ? a.data : old) >>
				 bit & 1) << bit;
		expect_eq(swap(old, a, equal), want);
	}
}

TEST(atomic_apply__either_operation, "RFC 7306 5.2.1")
{
	struct tern_atomic a = {
		.op = TERN_ATOMIC_FETCH_ADD, .data = 3,
		/* ignored by a FetchAdd */
		.compare = 99, .compare_mask = ~0ULL,
	};

	expect_eq(tern_atomic_apply(4, &a), 7);
	a.op = TERN_ATOMIC_CMP_SWAP;
	a.data_mask = ~0ULL;
	expect_eq(tern_atomic_apply(4, &a), 4);
	expect_eq(tern_atomic_apply(99, &a), 3);
}
