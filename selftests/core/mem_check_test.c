// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* May this memory be used for this? RFC 5040 7.2, RFC 5041 7.1. */
#include "tap.h"
#include "util.h"

static struct tern_mem_view good_view(u32 access, u64 base, u64 len)
{
	return (struct tern_mem_view){
		.valid = true, .assoc = true, .access = access,
		.base = base, .len = len,
	};
}

static const u32 all_rights = TERN_ACCESS_LOCAL_WRITE |
			      TERN_ACCESS_REMOTE_WRITE |
			      TERN_ACCESS_REMOTE_READ |
			      TERN_ACCESS_REMOTE_ATOMIC;

TEST(mem_check__write_codes_in_order,
	"DDP-029 DDP-087 DDP-088 DDP-089 DDP-091 DDP-112 S11 to S15 Q31")
{
	struct tern_mem_view v = { .base = 0x1000, .len = 0x100 };
	u64 wraps = ~0ULL - 3;

	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, wraps, 8), TERN_TERM_DT_INV_STAG);
	v.valid = true;
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, wraps, 8), TERN_TERM_DT_NOT_ASSOC);
	v.assoc = true;
	v.access = all_rights & ~TERN_ACCESS_REMOTE_WRITE;
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, wraps, 8), TERN_TERM_DT_INV_STAG);
	v.access = TERN_ACCESS_REMOTE_WRITE;
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, wraps, 8), TERN_TERM_DT_WRAP);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, 0x10ff, 2), TERN_TERM_DT_BOUNDS);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, 0x10ff, 1), TERN_TERM_NONE);
}

TEST(mem_check__read_source_codes_in_order,
	"RDMAP-054 RDMAP-131 RDMAP-132 RDMAP-133 RDMAP-134 RDMAP-135 S17")
{
	struct tern_mem_view v = { .base = 0x1000, .len = 0x100 };
	u64 wraps = ~0ULL - 3;

	expect_eq(tern_mem_check(&v, TERN_USE_READ_SRC, wraps, 8),
		  TERN_TERM_RP_INV_STAG);
	v.valid = true;
	expect_eq(tern_mem_check(&v, TERN_USE_READ_SRC, wraps, 8),
		  TERN_TERM_RP_NOT_ASSOC);
	v.assoc = true;
	v.access = all_rights & ~TERN_ACCESS_REMOTE_READ;
	expect_eq(tern_mem_check(&v, TERN_USE_READ_SRC, wraps, 8), TERN_TERM_RP_ACCESS);
	v.access = TERN_ACCESS_REMOTE_READ;
	expect_eq(tern_mem_check(&v, TERN_USE_READ_SRC, wraps, 8), TERN_TERM_RP_WRAP);
	expect_eq(tern_mem_check(&v, TERN_USE_READ_SRC, 0xfff, 1), TERN_TERM_RP_BOUNDS);
	expect_eq(tern_mem_check(&v, TERN_USE_READ_SRC, 0x1000, 0x100), TERN_TERM_NONE);
}

TEST(mem_check__bounds_to_the_byte, "DDP-089 DDP-090 DDP-097 RDMAP-139")
{
	struct tern_mem_view v = good_view(all_rights, 1000, 10);

	for (u64 to = 980; to < 1030; to++)
		for (u64 len = 1; len < 40; len++)
			expect_eq(tern_mem_check(&v, TERN_USE_WRITE, to, len),
				  to >= 1000 && to + len <= 1010 ? TERN_TERM_NONE :
				  TERN_TERM_DT_BOUNDS);
}

TEST(mem_check__top_of_the_address_space, "DDP-091 RDMAP-135 S14")
{
	struct tern_mem_view v = good_view(all_rights, ~0ULL - 15, 16);

	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, ~0ULL - 15, 16), TERN_TERM_NONE);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, ~0ULL, 1), TERN_TERM_NONE);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, ~0ULL, 2), TERN_TERM_DT_WRAP);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, ~0ULL - 3, 8), TERN_TERM_DT_WRAP);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, 0, 1), TERN_TERM_DT_BOUNDS);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, 1, ~0ULL), TERN_TERM_DT_BOUNDS);
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, 2, ~0ULL), TERN_TERM_DT_WRAP);
}

TEST(mem_check__agrees_with_wide_arithmetic, "DDP-090 DDP-091 DDP-097")
{
	struct rng r = rng_seed(6);

	for (int i = 0; i < 200000; i++) {
		u64 edge = (u64)rng_below(&r, 5) * 0x3fffffffffffffff;
		u64 base = edge + rng_below(&r, 8) - 4;
		u64 len = rng_below(&r, 2) ? rng_below(&r, 8) : edge;
		u64 to = base + rng_below(&r, 12) - 4;
		u64 n = 1 + (rng_below(&r, 2) ? rng_below(&r, 8) : edge);
		struct tern_mem_view v = good_view(all_rights, base, len);
		__uint128_t end = (__uint128_t)to + n;
		__uint128_t top = (__uint128_t)base + len;
		int want = TERN_TERM_NONE;

		if (to < base || end > top)
			want = TERN_TERM_DT_BOUNDS;
		if (end > (__uint128_t)1 << 64)
			want = TERN_TERM_DT_WRAP;
		if (n && top <= (__uint128_t)1 << 64)
			expect_eq(tern_mem_check(&v, TERN_USE_WRITE, to, n), want);
	}
}

/* ranges around the ends of regions and of 2^64, of views with and without each right */
TEST(mem_check__the_common_case_allows_what_the_check_does, "DDP-087 DDP-088 DDP-089 DDP-090")
{
	static const u64 edges[] = { 0, 1, 7, 8, 0x1000, ~0ULL - 8, ~0ULL - 1, ~0ULL };
	struct rng r = rng_seed(11);
	u32 good = 0;

	for (u32 i = 0; i < 200000; i++) {
		struct tern_mem_view v = {
			.valid = rng_below(&r, 8), .assoc = rng_below(&r, 8),
			.access = rng_below(&r, 16),
			.base = edges[rng_below(&r, 8)] + rng_below(&r, 3),
			.len = edges[rng_below(&r, 8)],
		};
		u64 to = v.base + rng_below(&r, 20) - 2, len = 1 + rng_below(&r, 20);
		bool write = tern_mem_check(&v, TERN_USE_WRITE, to, len) == TERN_TERM_NONE;
		bool read = tern_mem_check(&v, TERN_USE_LOCAL_READ, to, len) == TERN_TERM_NONE;

		expect_eq(tern_mem_allows(&v, TERN_ACCESS_REMOTE_WRITE, to, len), write);
		expect_eq(tern_mem_allows(&v, 0, to, len), read);
		good += write;
	}
	expect(good > 1000);
}

TEST(mem_check__length_zero_is_not_checked, "DDP-053 RDMAP-055")
{
	struct tern_mem_view none = { 0 };

	expect_eq(tern_mem_check(&none, TERN_USE_WRITE, ~0ULL, 0), TERN_TERM_NONE);
	expect_eq(tern_mem_check(&none, TERN_USE_READ_SRC, ~0ULL, 0), TERN_TERM_NONE);
	expect_eq(tern_mem_check(&none, TERN_USE_LOCAL_READ, 0, 0), TERN_TERM_NONE);
	expect_eq(tern_mem_check(&none, TERN_USE_LOCAL_WRITE, 0, 0), TERN_TERM_NONE);
}

TEST(mem_check__local_uses, "DDP-105 Q11")
{
	struct tern_mem_view v = good_view(0, 0x1000, 0x100);

	expect_eq(tern_mem_check(&v, TERN_USE_LOCAL_READ, 0x1000, 0x100),
		  TERN_TERM_NONE);
	expect(tern_mem_check(&v, TERN_USE_LOCAL_WRITE, 0x1000, 1) != TERN_TERM_NONE);
	v.access = TERN_ACCESS_REMOTE_WRITE;
	expect(tern_mem_check(&v, TERN_USE_LOCAL_WRITE, 0x1000, 1) != TERN_TERM_NONE);
	v.access = TERN_ACCESS_LOCAL_WRITE;
	expect_eq(tern_mem_check(&v, TERN_USE_LOCAL_WRITE, 0x1000, 0x100),
		  TERN_TERM_NONE);
	expect(tern_mem_check(&v, TERN_USE_LOCAL_WRITE, 0x1000, 0x101) !=
	       TERN_TERM_NONE);
	v.assoc = false;
	expect(tern_mem_check(&v, TERN_USE_LOCAL_READ, 0x1000, 1) != TERN_TERM_NONE);
	v.assoc = true;
	v.valid = false;
	expect(tern_mem_check(&v, TERN_USE_LOCAL_READ, 0x1000, 1) != TERN_TERM_NONE);
}

TEST(mem_check__invalidate,
	"RDMAP-077 RDMAP-078 RDMAP-128 RDMAP-129 RDMAP-143 S18 Q14")
{
	for (int i = 0; i < 8; i++) {
		struct tern_mem_view v = {
			.valid = i & 1,
			.assoc = i & 2,
			.invalidatable = i & 4,
		};

		expect_eq(tern_mem_check(&v, TERN_USE_INVALIDATE, 0, 0),
			  i == 7 ? TERN_TERM_NONE : TERN_TERM_RP_CANT_INV);
	}
}

TEST(mem_check__atomic_codes_in_order, "S19 S20 RFC 7306 8.2 RFC 7306 9")
{
	struct tern_mem_view v = { .base = 0x1000, .len = 0x100 };
	u64 wraps = ~0ULL - 3;

	expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, wraps, 8),
		  TERN_TERM_RP_INV_STAG);
	v.valid = true;
	expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, wraps, 8),
		  TERN_TERM_RP_NOT_ASSOC);
	v.assoc = true;
	v.access = all_rights & ~TERN_ACCESS_REMOTE_ATOMIC;
	expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, wraps, 8), TERN_TERM_RP_ACCESS);
	v.access = TERN_ACCESS_REMOTE_ATOMIC;
	expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, wraps, 8), TERN_TERM_RP_WRAP);
	expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, 0x10f9, 8), TERN_TERM_RP_BOUNDS);
	expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, 0x10f1, 8), TERN_TERM_RO_STREAM);
	expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, 0x10f8, 8), TERN_TERM_NONE);
}

/* the memory address counts, not the TO */
TEST(mem_check__atomic_alignment, "S20 RFC 7306 5.2.1 RFC 7306 8.2")
{
	struct tern_mem_view v = good_view(all_rights, 0, 0x100);

	for (u8 skew = 0; skew < 8; skew++)
		for (u64 base = 0x1000; base < 0x1010; base++)
			for (u64 off = 0; off < 32; off++) {
				v.base = base;
				v.skew = skew;
				expect_eq(tern_mem_check(&v, TERN_USE_ATOMIC, base + off, 8),
					  (skew + off) % 8 ? TERN_TERM_RO_STREAM :
					  TERN_TERM_NONE);
			}
	/* no other use asks for it */
	expect_eq(tern_mem_check(&v, TERN_USE_WRITE, v.base + 3, 8), TERN_TERM_NONE);
	expect_eq(tern_mem_check(&v, TERN_USE_READ_SRC, v.base + 3, 8), TERN_TERM_NONE);
}
