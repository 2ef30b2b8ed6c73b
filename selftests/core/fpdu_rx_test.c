// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Receiving FPDUs: length, markers, CRC (RFC 5044 4 and 6). */
#include <stdlib.h>

#include "ref.h"
#include "tap.h"
#include "util.h"

#define ROOM	66000

static u8 ulpdu[ROOM], wire[ROOM + 16], back[ROOM];

/* a receiver at the position of @d */
static struct tern_fpdu_rx rx_at(const struct ref_dir *d)
{
	struct tern_fpdu_rx rx;

	tern_fpdu_rx_init(&rx, d->crc, d->markers);
	rx.pos = (u32)(d->pos % 512);
	return rx;
}

/* header() on all bytes, verify() in chunks of @step, finish() */
static int receive(struct tern_fpdu_rx *rx, const u8 *in, u32 len, u32 step,
		   struct tern_fpdu *f)
{
	int term = TERN_TERM_NONE;
	int ret = tern_fpdu_rx_header(rx, in, len, f, &term);

	if (ret < 0)
		return term;
	if (!expect_eq(ret, 0) || !expect(f->total <= len))
		return TERN_TERM_LOCAL;
	for (u32 at = 0; at < f->total && f->verify; at += step)
		tern_fpdu_rx_verify(rx, f, in + at, min(step, f->total - at));
	return tern_fpdu_rx_finish(rx, f);
}

/* correct the CRC field at the end of @len bytes */
static void fix_crc(u8 *fpdu, u32 len)
{
	put_unaligned_le32(~crc32c(~0U, fpdu, len - 4), fpdu + len - 4);
}

static struct ref_dir dir(bool crc, bool markers, u64 pos)
{
	return (struct ref_dir){ .crc = crc, .markers = markers, .pos = pos };
}

static const char figure5[] =
	"00000000 002a4143 00000000 00000000 00000001 00000000 "
	"00000000 00000000 00000000 00000000 00000000 00000000 52239983";
static const char figure6[] =
	"002a4143 00000000 00000000 00000002 00000000 00000014 "
	"00000000 00000000 00000000 00000000 00000000 00000000 84925898";

TEST(fpdu_rx_finish__figure5_first_fpdu, "MPA-019 MPA-029 MPA-048")
{
	struct tern_fpdu_rx rx;
	struct tern_fpdu f;
	u32 len = from_hex(wire, figure5);

	tern_fpdu_rx_init(&rx, true, true);
	expect_eq(receive(&rx, wire, len, len, &f), TERN_TERM_NONE);
	expect_eq(f.total, 52);
	expect_eq(f.ulpdu_len, 42);
	expect_eq(f.hdr_len, 42);
	expect_bytes(f.hdr, wire + 6, 42);
	expect_eq(rx.pos, 52);
}

TEST(fpdu_rx_finish__figure6_marker_inside, "MPA-019 MPA-027 MPA-047")
{
	struct tern_fpdu_rx rx;
	struct tern_fpdu f;
	u32 len = from_hex(wire, figure6);

	tern_fpdu_rx_init(&rx, true, true);
	rx.pos = 492;
	expect_eq(receive(&rx, wire, len, 1, &f), TERN_TERM_NONE);
	expect_eq(f.total, 52);
	expect_eq(f.ulpdu_len, 42);
	expect_bytes(f.hdr, wire + 2, 18);
	expect_bytes(f.hdr + 18, wire + 24, 24);
	expect_eq(rx.pos, 32);
}

/* call header() on a heap block of exactly @len bytes */
static int ask(const struct tern_fpdu_rx *rx, u32 len, struct tern_fpdu *f)
{
	u8 *copy = malloc(len ? len : 1);
	int term, ret;

	memcpy(copy, wire, len);
	ret = tern_fpdu_rx_header(rx, copy, len, f, &term);
	free(copy);
	return ret;
}

TEST(fpdu_rx_header__asks_for_what_it_needs, "MPA-064 MPA-068")
{
	for (u64 pos = 0; pos < 512; pos += 4) {
		struct ref_dir d = dir(true, true, pos);
		struct tern_fpdu_rx rx = rx_at(&d);
		u32 len = ref_encode(&d, ulpdu, 300, wire);
		struct tern_fpdu f;
		u32 have = 0;
		int ret;

		/* each result asks for more than is there, and for no more than needed */
		while ((ret = ask(&rx, have, &f))) {
			if (!expect(ret > (int)have))
				return;
			for (; (int)have < ret; have++)
				expect(ask(&rx, have, &f) == ret);
		}
		expect(have <= TERN_FPDU_PEEK);
		expect_eq(f.total, len);
		expect_eq(rx.pos, pos % 512);
	}
}

TEST(fpdu_rx_header__peek_is_always_enough, "MPA-034")
{
	static u8 buf[TERN_FPDU_PEEK];
	struct tern_fpdu f;
	int term;

	for (u32 n = 0; n <= TERN_ULPDU_MAX; n += n < 200 ? 1 : 997) {
		for (u64 pos = 0; pos < 512; pos += 4) {
			struct ref_dir d = dir(true, true, pos);
			struct tern_fpdu_rx rx = rx_at(&d);

			put_unaligned_be16((u16)n, buf + (pos ? 0 : 4));
			expect_eq(tern_fpdu_rx_header(&rx, buf, sizeof(buf), &f,
						      &term), 0);
		}
	}
}

TEST(fpdu_rx_header__length_limit, "MPA-006 MPA-008 MPA-072 Q8")
{
	struct tern_fpdu_rx rx;
	struct tern_fpdu f;
	int term = TERN_TERM_NONE;

	memset(wire, 0, TERN_FPDU_PEEK);
	tern_fpdu_rx_init(&rx, true, true);
	put_unaligned_be16(64768, wire + 4);
	expect_eq(tern_fpdu_rx_header(&rx, wire, TERN_FPDU_PEEK, &f, &term), 0);
	expect_eq(f.total, 65288);
	expect_eq(f.total, TERN_FPDU_MAX);
	/* refused as soon as the length is known, without any data */
	for (u32 n = 64769; n <= 65535; n++) {
		put_unaligned_be16((u16)n, wire + 4);
		term = TERN_TERM_NONE;
		expect_eq(tern_fpdu_rx_header(&rx, wire, 6, &f, &term), -EPROTO);
		expect_eq(term, TERN_TERM_MPA_MARKER);
	}
}

TEST(fpdu_rx_header__length_zero_is_an_fpdu, "MPA-008 Q8")
{
	struct ref_dir d = dir(true, false, 0);
	struct tern_fpdu_rx rx = rx_at(&d);
	struct tern_fpdu_range range;
	u32 len = ref_encode(&d, ulpdu, 0, wire), off = 0;
	struct tern_fpdu f;

	expect_eq(len, 8);
	expect_eq(receive(&rx, wire, len, len, &f), TERN_TERM_NONE);
	expect_eq(f.hdr_len, 0);
	expect_eq(tern_fpdu_range_next(&f, false, &off, &range), false);
}

/* send one ULPDU of @n bytes at @d's position, receive it in chunks of @step */
static void round_trip(struct ref_dir d, u32 n, u32 step)
{
	struct tern_fpdu_rx rx = rx_at(&d);
	u32 len = ref_encode(&d, ulpdu, n, wire);
	struct tern_fpdu f;

	expect_eq(receive(&rx, wire, len, step, &f), TERN_TERM_NONE);
	expect_eq(f.total, len);
	expect_eq(f.ulpdu_len, n);
	expect_eq(f.hdr_len, min_t(u32, n, TERN_HDR_MAX));
	expect_bytes(f.hdr, ulpdu, f.hdr_len);
	expect_eq(gather_ulpdu(&f, d.markers, wire, back), n);
	expect_bytes(back, ulpdu, n);
	expect_eq(rx.pos, d.pos % 512);
}

TEST(fpdu_rx__every_phase_and_length,
	"MPA-010 MPA-013 MPA-016 MPA-017 MPA-026 MPA-033 MPA-035 DDP-008")
{
	struct rng r = rng_seed(2);

	rng_fill(&r, ulpdu, ROOM);
	for (u32 n = 0; n <= 1100; n += n < 90 ? 1 : 1 + rng_below(&r, 23))
		for (u64 pos = 0; pos < 512; pos += 4)
			round_trip(dir(pos & 4, true, pos), n,
				   1 + rng_below(&r, 700));
	for (u32 n = 0; n <= 1100; n++)
		round_trip(dir(n & 1, false, 0), n, 64);
}

TEST(fpdu_rx__largest_ulpdu_at_any_phase, "MPA-008 MPA-032 MPA-072")
{
	for (u64 pos = 0; pos < 512; pos += 60)
		for (u32 n = 64764; n <= 64768; n++)
			round_trip(dir(true, true, pos), n, 1448);
}

TEST(fpdu_rx_verify__byte_by_byte, "MPA-034 MPA-063 DDP-004")
{
	for (u64 pos = 0; pos < 512; pos += 4)
		for (u32 n = 480; n < 484; n++)
			round_trip(dir(true, true, pos), n, 1);
}

TEST(fpdu_rx__position_survives_4gib, "MPA-026 MPA-028")
{
	struct ref_dir d = dir(true, true, (1ULL << 32) - 200);

	for (int i = 0; i < 8; i++) {
		round_trip(d, 90, 7);
		ref_encode(&d, ulpdu, 90, wire);
	}
}

/* Return: byte @byte is of ULPDU_Length; a flip there may also ask for more data */
static bool length_was_hit(u32 byte, u64 pos)
{
	u32 front = pos % 512 ? 0 : 4;

	return byte == front || byte == front + 1;
}

TEST(fpdu_rx_finish__any_flipped_bit, "MPA-050 MPA-066 DDP-007 R4")
{
	static const u64 phases[] = { 0, 4, 420, 492 };

	for (u32 i = 0; i < ARRAY_SIZE(phases); i++) {
		struct ref_dir d = dir(true, true, phases[i]);
		struct tern_fpdu_rx rx = rx_at(&d);
		u32 len = ref_encode(&d, ulpdu, 77, wire);
		struct tern_fpdu f;

		for (u32 bit = 0; bit < len * 8; bit++) {
			if (length_was_hit(bit / 8, phases[i]))
				continue;
			wire[bit / 8] ^= (u8)(1 << bit % 8);
			expect_eq(receive(&rx, wire, len, 13, &f), TERN_TERM_MPA_CRC);
			expect_eq(rx.pos, phases[i] % 512);
			wire[bit / 8] ^= (u8)(1 << bit % 8);
		}
		expect_eq(receive(&rx, wire, len, 13, &f), TERN_TERM_NONE);
	}
}

/* the short way looks at the same field */
TEST(fpdu_rx_is_good__any_flipped_bit, "MPA-050 MPA-066")
{
	struct ref_dir d = dir(true, false, 0);
	struct tern_fpdu_rx rx = rx_at(&d);
	struct rng r = rng_seed(7);
	u32 len;

	rng_fill(&r, ulpdu, 45);
	len = ref_encode(&d, ulpdu, 45, wire);
	expect(tern_fpdu_rx_is_good(&rx, wire, len));
	for (u32 bit = 0; bit < len * 8; bit++) {
		wire[bit / 8] ^= 1 << bit % 8;
		expect(!tern_fpdu_rx_is_good(&rx, wire, len));
		rx.crc = false;
		expect(tern_fpdu_rx_is_good(&rx, wire, len));
		rx.crc = true;
		wire[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(fpdu_rx_finish__pad_counts_in_the_crc_only, "MPA-015")
{
	struct ref_dir d = dir(true, false, 0);
	struct tern_fpdu_rx rx = rx_at(&d);
	u32 len = ref_encode(&d, ulpdu, 43, wire);
	struct tern_fpdu f;

	memset(wire + 45, 0xa5, 3);
	expect_eq(receive(&rx, wire, len, len, &f), TERN_TERM_MPA_CRC);
	fix_crc(wire, len);
	expect_eq(receive(&rx, wire, len, len, &f), TERN_TERM_NONE);
	expect_eq(f.ulpdu_len, 43);
}

TEST(fpdu_rx_finish__crc_off_field_is_not_looked_at, "MPA-018 MPA-043 MPA-045")
{
	struct ref_dir d = dir(false, false, 0);
	struct tern_fpdu_rx rx = rx_at(&d);
	u32 len = ref_encode(&d, ulpdu, 42, wire);
	struct tern_fpdu f;
	int term;

	memset(wire + len - 4, 0x5a, 4);
	expect_eq(tern_fpdu_rx_header(&rx, wire, len, &f, &term), 0);
	expect_eq(f.verify, false);
	expect_eq(tern_fpdu_rx_finish(&rx, &f), TERN_TERM_NONE);
	expect_eq(rx.pos, len);
}

TEST(fpdu_rx_finish__marker_reserved_half, "MPA-021")
{
	struct tern_fpdu_rx rx;
	struct tern_fpdu f;
	u32 len = from_hex(wire, figure5);

	tern_fpdu_rx_init(&rx, true, true);
	memset(wire, 0xff, 2);
	expect_eq(receive(&rx, wire, len, 3, &f), TERN_TERM_MPA_CRC);
	fix_crc(wire, len);
	expect_eq(receive(&rx, wire, len, 3, &f), TERN_TERM_NONE);
}

TEST(fpdu_rx_finish__marker_low_bits, "MPA-023")
{
	struct tern_fpdu_rx rx;
	struct tern_fpdu f;
	u32 len = from_hex(wire, figure6);

	tern_fpdu_rx_init(&rx, true, true);
	rx.pos = 492;
	wire[23] |= 3;
	fix_crc(wire, len);
	expect_eq(receive(&rx, wire, len, 5, &f), TERN_TERM_NONE);
}

TEST(fpdu_rx_finish__front_marker_must_be_zero, "MPA-029 R5")
{
	struct tern_fpdu_rx rx;
	struct tern_fpdu f;
	u32 len = from_hex(wire, figure5);

	tern_fpdu_rx_init(&rx, true, true);
	wire[3] = 4;
	fix_crc(wire, len);
	expect_eq(receive(&rx, wire, len, len, &f), TERN_TERM_MPA_MARKER);
	expect_eq(rx.pos, 0);
}

TEST(fpdu_rx_finish__each_of_many_markers, "MPA-032 MPA-065 R5")
{
	struct ref_dir d = dir(true, true, 100);
	struct tern_fpdu_rx rx = rx_at(&d);
	u32 len = ref_encode(&d, ulpdu, 3000, wire);
	struct tern_fpdu f;

	for (u32 off = 412; off < len; off += 512) {
		expect_eq(get_unaligned_be16(wire + off + 2), off);
		for (u32 step = 1; step < 1100; step += 97) {
			put_unaligned_be16((u16)(off + 4), wire + off + 2);
			fix_crc(wire, len);
			expect_eq(receive(&rx, wire, len, step, &f),
				  TERN_TERM_MPA_MARKER);
			put_unaligned_be16((u16)off, wire + off + 2);
		}
	}
	fix_crc(wire, len);
	expect_eq(receive(&rx, wire, len, len, &f), TERN_TERM_NONE);
}

TEST(fpdu_rx_finish__crc_is_checked_before_markers, "R4 R5")
{
	struct tern_fpdu_rx rx;
	struct tern_fpdu f;
	u32 len = from_hex(wire, figure6);

	tern_fpdu_rx_init(&rx, true, true);
	rx.pos = 492;
	wire[23] ^= 8;
	expect_eq(receive(&rx, wire, len, 9, &f), TERN_TERM_MPA_CRC);
	fix_crc(wire, len);
	expect_eq(receive(&rx, wire, len, 9, &f), TERN_TERM_MPA_MARKER);
}

TEST(fpdu_rx_finish__markers_without_crc, "MPA-018 MPA-065 R5")
{
	struct ref_dir d = dir(false, true, 492);
	struct tern_fpdu_rx rx = rx_at(&d);
	u32 len = ref_encode(&d, ulpdu, 42, wire);
	struct tern_fpdu f;

	memset(wire + len - 4, 0xee, 4);
	wire[23] ^= 8;
	expect_eq(receive(&rx, wire, len, 9, &f), TERN_TERM_MPA_MARKER);
	wire[23] ^= 8;
	expect_eq(receive(&rx, wire, len, 9, &f), TERN_TERM_NONE);
}

TEST(fpdu_rx_finish__marker_between_pad_and_crc, "MPA-047")
{
	/* 2 + 25 + 1 byte of pad end where the marker is due */
	struct ref_dir d = dir(true, true, 512 - 28);
	struct tern_fpdu_rx rx = rx_at(&d);
	u32 len = ref_encode(&d, ulpdu, 25, wire);
	struct tern_fpdu f;

	expect_eq(len, 36);
	expect_eq(get_unaligned_be16(wire + 30), 28);
	expect_eq(receive(&rx, wire, len, 30, &f), TERN_TERM_NONE);
	expect_eq(rx.pos, 8);
	put_unaligned_be16(0, wire + 30);
	fix_crc(wire, len);
	rx.pos = 512 - 28;
	expect_eq(receive(&rx, wire, len, 30, &f), TERN_TERM_MPA_MARKER);
}

TEST(fpdu_rx_finish__marker_exactly_between_two, "MPA-029 MPA-033 Q27")
{
	struct ref_dir d = dir(true, true, 512 - 32);
	struct tern_fpdu_rx rx = rx_at(&d);
	u32 first = ref_encode(&d, ulpdu, 26, wire);
	u32 second = ref_encode(&d, ulpdu, 26, wire + first);
	struct tern_fpdu f;

	expect_eq(first, 32);
	expect_eq(second, 36);
	expect_eq(receive(&rx, wire, first, 32, &f), TERN_TERM_NONE);
	expect_eq(rx.pos, 0);
	expect_eq(receive(&rx, wire + first, second, 36, &f), TERN_TERM_NONE);
	expect_eq(f.start, 0);
	expect_bytes(f.hdr, ulpdu, 26);
}

TEST(fpdu_rx__agrees_with_the_reference_on_noise, "MPA-050 MPA-066")
{
	struct rng r = rng_seed(3);

	for (int i = 0; i < 20000; i++) {
		struct ref_dir d = dir(i & 1, i & 2, 4 * rng_below(&r, 128));
		struct ref_dir e = d;
		struct tern_fpdu_rx rx = rx_at(&d);
		u32 n = rng_below(&r, 600);
		u32 len = ref_encode(&e, ulpdu, n, wire);
		enum ref_verdict want;
		struct tern_fpdu f;
		u32 got_len, used;
		int term;

		wire[rng_below(&r, len)] ^= (u8)(1 << rng_below(&r, 8));
		want = ref_decode(&d, wire, len, back, &got_len, &used);
		term = TERN_TERM_NONE;
		if (tern_fpdu_rx_header(&rx, wire, len, &f, &term)) {
			expect(want == REF_MORE || want == REF_LENGTH);
			continue;
		}
		if (f.total > len) {
			expect_eq(want, REF_MORE);
			continue;
		}
		switch (receive(&rx, wire, len, 1 + rng_below(&r, 90), &f)) {
		case TERN_TERM_NONE:
			expect_eq(want, REF_GOOD);
			break;
		case TERN_TERM_MPA_CRC:
			expect_eq(want, REF_CRC);
			break;
		default:
			expect_eq(want, REF_MARKER);
		}
	}
}
