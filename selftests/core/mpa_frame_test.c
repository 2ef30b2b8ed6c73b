// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Building and parsing MPA frames: RFC 5044 7.1.1, RFC 6581 6 and 9. */
#include "tap.h"
#include "util.h"
#include "mpa_options.h"

TEST(build__request_bytes, "MPA-081 MPA-163 MPA-166")
{
	struct tern_mpa_options opt = default_options();
	u8 out[TERN_MPA_FRAME_MAX], want[64];
	struct tern_mpa_msg req;
	u32 len;

	tern_mpa_request(&opt, &req);
	len = from_hex(want, "4D50412049442052657120467261 6D65 50 02 0004 C010C010");
	expect_eq(tern_mpa_build(TERN_MPA_REQUEST, &req, out), len);
	expect_bytes(out, want, len);
}

TEST(build__reply_bytes, "MPA-083 MPA-095 MPA-158")
{
	struct tern_mpa_msg reply = {
		.rev = 1,
		.flags = TERN_MPA_F_CRC | TERN_MPA_F_REJECT,
		.pd = (const u8 *)"abc",
		.pd_len = 3,
	};
	u8 out[TERN_MPA_FRAME_MAX], want[64];
	u32 len;

	len = from_hex(want, "4D504120494420526570 204672616D65 60 01 0003 616263");
	expect_eq(tern_mpa_build(TERN_MPA_REPLY, &reply, out), len);
	expect_bytes(out, want, len);
}

TEST(build__enhanced_words, "MPA-164")
{
	static const struct {
		u16 ird, ord;
		const char *hex;
	} rows[] = {
		{ X, X, "3FFF3FFF" },
		{ A | 1, D, "80014000" },
		{ A | 8, C | 4, "80088004" },
	};
	u8 out[TERN_MPA_FRAME_MAX], want[4];

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_msg msg = {
			.rev = 2,
			.enhanced = true,
			.ird = rows[i].ird,
			.ord = rows[i].ord,
		};

		expect_eq(tern_mpa_build(TERN_MPA_REQUEST, &msg, out), 24);
		from_hex(want, rows[i].hex);
		expect_bytes(out + 20, want, 4);
	}
}

TEST(build__private_data_limits, "MPA-095 MPA-098 MPA-165: 511, 512, 508, 509")
{
	static const struct {
		bool enhanced;
		u16 len;
		u32 want;
	} rows[] = {
		{ false, 511, 531 }, { false, 512, 532 }, { false, 513, 0 },
		{ true, 508, 532 }, { true, 509, 0 },
	};
	u8 out[TERN_MPA_FRAME_MAX];
	static const u8 pd[513];

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_msg msg = {
			.rev = 2,
			.enhanced = rows[i].enhanced,
			.pd = pd,
			.pd_len = rows[i].len,
		};

		expect_eq(tern_mpa_build(TERN_MPA_REPLY, &msg, out), rows[i].want);
	}
}

TEST(parse__wrong_key, "K1 MPA-082 MPA-084: each of the 16 bytes, at once")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	for (int kind = 0; kind < 2; kind++) {
		for (u32 i = 0; i < 16; i++) {
			sample(kind, 1, 0, 0, buf);
			buf[i] ^= 0x20;
			expect_eq(parse(kind, buf, i + 1, &msg), TERN_MPA_BAD);
			expect_eq(parse(kind, buf, 20, &msg), TERN_MPA_BAD);
		}
	}
}

TEST(parse__key_of_the_other_frame, "K2 P9 MPA-077")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	sample(TERN_MPA_REQUEST, 2, 0x50, 4, buf);
	expect_eq(parse(TERN_MPA_REPLY, buf, 20, &msg), TERN_MPA_BAD);
	sample(TERN_MPA_REPLY, 2, 0x50, 4, buf);
	expect_eq(parse(TERN_MPA_REQUEST, buf, 20, &msg), TERN_MPA_BAD);
}

TEST(parse__length_over_512, "K3 MPA-096: not waiting for the data")
{
	static const u16 bad[] = { 513, 514, 1024, 32768, 65535 };
	struct tern_mpa_msg msg;
	u8 buf[20 + TERN_MPA_MAX_PD];
	u32 need = 0;

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		sample(TERN_MPA_REQUEST, 1, 0, bad[i], buf);
		expect_eq(parse(TERN_MPA_REQUEST, buf, 20, &msg), TERN_MPA_BAD);
	}
	sample(TERN_MPA_REQUEST, 1, 0, 512, buf);
	expect_eq(tern_mpa_parse(TERN_MPA_REQUEST, buf, 20, &need, &msg),
		  TERN_MPA_MORE);
	expect_eq(need, 532);
}

TEST(parse__byte_by_byte, "K5 K6: MORE at each prefix, and how much")
{
	struct tern_mpa_msg msg;
	u8 buf[64];
	u32 need, len = sample(TERN_MPA_REPLY, 2, 0x50, 11, buf);

	for (u32 i = 0; i < len; i++) {
		need = 0;
		expect_eq(tern_mpa_parse(TERN_MPA_REPLY, buf, i, &need, &msg),
			  TERN_MPA_MORE);
		expect_eq(need, i < 20 ? 20 : len);
	}
	expect_eq(parse(TERN_MPA_REPLY, buf, len, &msg), TERN_MPA_WHOLE);
	expect_eq(msg.pd_len, 7);
	expect_eq(msg.ird, 0x0001);
	expect_eq(msg.ord, 0x0203);
	expect(msg.pd == buf + 24);
}

TEST(parse__reserved_bits_and_r, "K10 K11 MPA-089 MPA-091 MPA-159")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	sample(TERN_MPA_REQUEST, 1, 0x6f, 3, buf);
	expect_eq(parse(TERN_MPA_REQUEST, buf, 23, &msg), TERN_MPA_WHOLE);
	expect_eq(msg.pd_len, 3);
	sample(TERN_MPA_REQUEST, 2, 0x3f, 4, buf);
	expect_eq(parse(TERN_MPA_REQUEST, buf, 24, &msg), TERN_MPA_WHOLE);
	expect(msg.enhanced);
}

TEST(parse__s_with_short_data, "K13 G10 H12")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	for (int kind = 0; kind < 2; kind++) {
		for (u16 pd = 0; pd < 4; pd++) {
			sample(kind, 2, 0x10, pd, buf);
			expect_eq(parse(kind, buf, 20, &msg), TERN_MPA_BAD);
		}
		sample(kind, 2, 0x10, 4, buf);
		expect_eq(parse(kind, buf, 24, &msg), TERN_MPA_WHOLE);
		expect_eq(msg.pd_len, 0);
	}
}

TEST(parse__s_under_revision_1, "G5 G6 H3 Q2: all data is the ULP's")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	for (u8 rev = 0; rev < 2; rev++) {
		sample(TERN_MPA_REQUEST, rev, 0x10, 9, buf);
		expect_eq(parse(TERN_MPA_REQUEST, buf, 29, &msg), TERN_MPA_WHOLE);
		expect(!msg.enhanced);
		expect_eq(msg.pd_len, 9);
	}
}

TEST(parse__what_build_wrote, "MPA-095 MPA-163: round trip of any frame")
{
	struct rng r = rng_seed(1);
	u8 out[TERN_MPA_FRAME_MAX], pd[TERN_MPA_MAX_PD];
	struct tern_mpa_msg got;

	rng_fill(&r, pd, sizeof(pd));
	for (int i = 0; i < 2000; i++) {
		enum tern_mpa_kind kind = rng_below(&r, 2);
		struct tern_mpa_msg msg = {
			.rev = 2,
			.flags = (u8)(rng_next(&r) & ~0x10u),
			.enhanced = rng_below(&r, 2),
			.pd = pd,
			.pd_len = (u16)rng_below(&r, 509),
		};
		u32 len;

		if (msg.enhanced) {
			msg.flags |= TERN_MPA_F_ENHANCED;
			msg.ird = (u16)rng_next(&r);
			msg.ord = (u16)rng_next(&r);
		}
		len = tern_mpa_build(kind, &msg, out);
		expect_eq(parse(kind, out, len, &got), TERN_MPA_WHOLE);
		expect_eq(got.flags, msg.flags);
		expect_eq(got.ird, msg.ird);
		expect_eq(got.ord, msg.ord);
		expect_eq(got.pd_len, msg.pd_len);
		expect_bytes(got.pd, pd, msg.pd_len);
	}
}
