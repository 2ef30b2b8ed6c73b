// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Building FPDUs, with markers, pad and CRC: RFC 5044 4. */
#include "ref.h"
#include "tap.h"
#include "util.h"

#define ROOM	66000

static u8 data[ROOM], wire[ROOM], want[ROOM], plain[ROOM];

static struct tern_fpdu_tx tx_at(bool crc, bool markers, u32 emss, u32 pos)
{
	struct tern_fpdu_tx tx;

	tern_fpdu_tx_init(&tx, crc, markers, emss);
	tx.pos = pos;
	return tx;
}

TEST(fpdu_mulpdu__table, "MPA-004 MPA-006 MPA-051 MPA-052 MPA-056")
{
	static const u32 rows[][3] = {
		{ 64, 128, 128 }, { 128, 128, 128 }, { 140, 134, 130 },
		{ 512, 506, 502 }, { 536, 530, 522 }, { 1220, 1214, 1202 },
		{ 1440, 1434, 1422 }, { 1448, 1442, 1430 },
		{ 1460, 1454, 1442 }, { 4348, 4342, 4306 },
		{ 8948, 8942, 8870 }, { 8960, 8954, 8882 },
		{ 16332, 16326, 16198 }, { 32728, 32722, 32466 },
		{ 65483, 64768, 64768 }, { 65495, 64768, 64768 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		expect_eq(tern_fpdu_mulpdu(rows[i][0], false), rows[i][1]);
		expect_eq(tern_fpdu_mulpdu(rows[i][0], true), rows[i][2]);
	}
}

TEST(fpdu_mulpdu_long__table, "payload of a Send with its headers, or what the MSS allows")
{
	static const u32 rows[][4] = {
		{ 64, 32768, 32786, 32786 }, { 536, 32768, 32786, 32786 },
		{ 1448, 32768, 32786, 32786 }, { 8948, 32768, 32786, 32786 },
		{ 32792, 32768, 32786, 32786 }, { 32796, 32768, 32790, 32786 },
		{ 65483, 32768, 64768, 64768 }, { 1448, 64750, 64768, 64768 },
		{ 1448, 1424, 1442, 1442 }, { 1448, 1425, 1443, 1443 },
		{ 1448, 1024, 1442, 1430 }, { 1448, 0, 1442, 1430 }, { 64, 0, 128, 128 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 emss = rows[i][0], payload = rows[i][1];

		expect_eq(tern_fpdu_mulpdu_long(emss, false, payload), rows[i][2]);
		expect_eq(tern_fpdu_mulpdu_long(emss, true, payload), rows[i][3]);
	}
}

TEST(fpdu_mulpdu__any_mss_stays_in_range, "MPA-006 MPA-007 MPA-056 MPA-057")
{
	for (u64 emss = 0; emss <= ~0U; emss += emss < 70000 ? 1 : 99999989) {
		for (int m = 0; m < 2; m++) {
			u32 n = tern_fpdu_mulpdu((u32)emss, m);

			expect(n >= 128 && n <= 64768);
		}
	}
}

TEST(fpdu_mulpdu__its_fpdu_fits_the_segment, "MPA-051 MPA-052 MPA-054")
{
	for (u32 emss = 140; emss < 66000; emss++) {
		u32 n = tern_fpdu_mulpdu(emss, false);
		u32 m = tern_fpdu_mulpdu(emss, true);

		expect(tern_fpdu_wire_len(0, false, n) <= emss);
		for (u32 pos = 0; pos < 512; pos += 36)
			expect(tern_fpdu_wire_len(pos, true, m) <= emss);
	}
}

static struct tern_tx_msg send_msg(u32 msn, u32 len)
{
	struct tern_tx_msg msg;

	tern_rdmap_build_send(&msg, V1, TERN_OP_SEND, 0, msn, len);
	return msg;
}

TEST(fpdu_tx__figure5_first_fpdu, "MPA-019 MPA-020 MPA-030 MPA-048")
{
	struct tern_fpdu_tx tx = tx_at(true, true, 1460, 0);
	struct tern_tx_msg msg = send_msg(1, 24);
	u32 len = from_hex(want,
		"00000000 002a4143 00000000 00000000 00000001 00000000 "
		"00000000 00000000 00000000 00000000 00000000 00000000 "
		"52239983");

	memset(data, 0, 24);
	expect_eq(tern_fpdu_tx_next(&tx, &msg), len);
	expect_eq(send_fpdu(&tx, &msg, data, wire), len);
	expect_bytes(wire, want, len);
	expect_eq(tx.pos, 52);
	expect(tern_tx_msg_done(&msg));
}

TEST(fpdu_tx__figure5_without_marker, "MPA-031 MPA-047")
{
	struct tern_fpdu_tx tx = tx_at(true, false, 1460, 0);
	struct tern_tx_msg msg = send_msg(1, 24);

	memset(data, 0, 24);
	expect_eq(send_fpdu(&tx, &msg, data, wire), 48);
	expect_eq(get_unaligned_be32(wire + 44), 0xb7243ec3);
}

TEST(fpdu_tx__figure6_marker_inside, "MPA-019 MPA-022 MPA-027 MPA-047")
{
	struct tern_fpdu_tx tx = tx_at(true, true, 1460, 492);
	struct tern_tx_msg msg = send_msg(2, 24);
	u32 len = from_hex(want,
		"002a4143 00000000 00000000 00000002 00000000 00000014 "
		"00000000 00000000 00000000 00000000 00000000 00000000 "
		"84925898");

	memset(data, 0, 24);
	expect_eq(tern_fpdu_tx_next(&tx, &msg), len);
	expect_eq(send_fpdu(&tx, &msg, data, wire), len);
	expect_bytes(wire, want, len);
	expect_eq(tx.pos, 32);
}

TEST(fpdu_tx__figure6_after_a_first_of_492, "MPA-026")
{
	struct tern_fpdu_tx tx = tx_at(true, true, 1460, 0);
	struct tern_tx_msg first = send_msg(1, 482 - 18);
	struct tern_tx_msg second = send_msg(2, 24);

	memset(data, 0, 500);
	expect_eq(send_fpdu(&tx, &first, data, wire), 492);
	expect_eq(send_fpdu(&tx, &second, data, wire), 52);
	expect_eq(get_unaligned_be32(wire + 20), 0x14);
	expect_eq(get_unaligned_be32(wire + 48), 0x84925898);
}

TEST(fpdu_tx__figure4_example, "MPA-027")
{
	/* a ULPDU of 16 bytes with a marker after 12, written by hand */
	static const char layout[] = "0010 8140000000010000 0000 "
		"0000000c 000000000000 0000";
	struct tern_fpdu_tx tx = tx_at(true, true, 1460, 500);
	struct tern_tx_msg msg;
	u32 len = from_hex(want, layout);

	tern_rdmap_build_write(&msg, V1, 1, 0, 2);
	memset(data, 0, 2);
	expect_eq(send_fpdu(&tx, &msg, data, wire), len + 4);
	want[2] |= TERN_DDP_LAST;
	expect_bytes(wire, want, len);
	put_unaligned_le32(~crc32c(~0U, want, len), want + len);
	expect_bytes(wire + len, want + len, 4);
}

/* check every byte of a message without payload */
static void expect_wire(struct tern_tx_msg msg, const char *hex)
{
	struct tern_fpdu_tx tx = tx_at(true, false, 1460, 0);
	u32 len = from_hex(want, hex);

	expect_eq(tern_fpdu_tx_next(&tx, &msg), len);
	expect_eq(send_fpdu(&tx, &msg, NULL, wire), len);
	expect_bytes(wire, want, len);
	expect(tern_tx_msg_done(&msg));
}

TEST(fpdu_tx__rtr_vectors, "MPA-013 MPA-046 Q22")
{
	struct tern_tx_msg msg = send_msg(1, 0);

	expect_wire(msg, "0012 4143 00000000 00000000 00000001 00000000 587BE8C4");
	tern_rdmap_build_write(&msg, V1, 0, 0, 0);
	expect_wire(msg, "000E C140 00000000 0000000000000000 A30572AB");
	tern_rdmap_build_read_req(&msg, V1, 1, 0, 0, 0, 0, 0);
	expect_wire(msg, "002E 4141 00000000 00000001 00000001 00000000 00000000 "
		    "0000000000000000 00000000 00000000 0000000000000000 F2C6DD3D");
	tern_rdmap_build_read_resp(&msg, V1, 0, 0, 0);
	expect_wire(msg, "000E C142 00000000 0000000000000000 6975D6CA");
	tern_rdmap_build_write(&msg, V1, 1, 1, 0);
	expect_wire(msg, "000E C140 00000001 0000000000000001 E85027AD");
	tern_rdmap_build_write(&msg, V1, 0x7465726e, 0x68656c6c01010003, 0);
	expect_wire(msg, "000E C140 7465726E 68656C6C01010003 FBA9B441");
	tern_rdmap_build_read_req(&msg, V1, 1, 1, 1, 0, 1, 1);
	expect_wire(msg, "002E 4141 00000000 00000001 00000001 00000000 00000001 "
		    "0000000000000001 00000000 00000001 0000000000000001 7B84584A");
	tern_rdmap_build_read_resp(&msg, V1, 1, 1, 0);
	expect_wire(msg, "000E C142 00000001 0000000000000001 222083CC");
}

TEST(fpdu_tx__terminate_vectors, "RDMAP-024 RDMAP-025")
{
	struct tern_tx_msg msg;

	tern_rdmap_build_terminate(&msg, V1, TERN_TERM_MPA_LOCAL, NULL);
	expect_wire(msg, "0016 4147 00000000 00000002 00000001 00000000 20050000 "
		    "1680D5F1");
	tern_rdmap_build_terminate(&msg, V1, TERN_TERM_MPA_IRD, NULL);
	expect_wire(msg, "0016 4147 00000000 00000002 00000001 00000000 20060000 "
		    "6540FB1B");
	tern_rdmap_build_terminate(&msg, V1, TERN_TERM_MPA_RTR, NULL);
	expect_wire(msg, "0016 4147 00000000 00000002 00000001 00000000 20070000 "
		    "1BD2BABE");
}

static u32 crc_after_first_marker(struct tern_tx_msg msg)
{
	struct tern_fpdu_tx tx = tx_at(true, true, 1460, 0);
	u32 len = send_fpdu(&tx, &msg, NULL, wire);

	expect_eq(get_unaligned_be32(wire), 0);
	return get_unaligned_be32(wire + len - 4);
}

TEST(fpdu_tx__rtr_vectors_with_marker, "MPA-030 MPA-048")
{
	struct tern_tx_msg msg = send_msg(1, 0);

	expect_eq(crc_after_first_marker(msg), 0x88c1d6fc);
	tern_rdmap_build_write(&msg, V1, 0, 0, 0);
	expect_eq(crc_after_first_marker(msg), 0x77c9c755);
	tern_rdmap_build_read_req(&msg, V1, 1, 0, 0, 0, 0, 0);
	expect_eq(crc_after_first_marker(msg), 0x8176377e);
}

/* compare the core's FPDU with that of ref.c at stream position @pos */
static void compare(bool crc, bool markers, u32 pos, struct tern_tx_msg msg)
{
	struct tern_fpdu_tx tx = tx_at(crc, markers, 65535, pos);
	struct ref_dir d = { .crc = crc, .markers = markers, .pos = pos };
	u32 size = tern_fpdu_tx_next(&tx, &msg), len;

	memcpy(plain, msg.hdr, msg.hdr_len);
	plain[0] |= TERN_DDP_LAST;
	memcpy(plain + msg.hdr_len, data, msg.len);
	len = ref_encode(&d, plain, msg.hdr_len + msg.len, want);
	expect_eq(size, len);
	expect_eq(send_fpdu(&tx, &msg, data, wire), len);
	expect_bytes(wire, want, len);
	expect_eq(tx.pos, markers ? d.pos % 512 : pos);
}

TEST(fpdu_tx__every_phase_and_length,
	"MPA-014 MPA-016 MPA-017 MPA-024 MPA-026 MPA-027 MPA-033 MPA-049")
{
	struct rng r = rng_seed(4);

	rng_fill(&r, data, ROOM);
	for (u32 n = 0; n <= 1100; n += n < 20 ? 1 : 1 + rng_below(&r, 19))
		for (u32 pos = 0; pos < 512; pos += 4)
			compare(pos & 4, true, pos, send_msg(n, n));
	for (u32 n = 0; n < 600; n++)
		compare(n & 1, false, 0, send_msg(n, n));
}

TEST(fpdu_tx__control_messages_at_every_phase, "MPA-026 MPA-027 RDMAP-018")
{
	static const u8 off[46] = { 0x41, 0x41 };
	struct tern_term_seg seg = { .hdr = off, .hdr_len = 46, .len = 46 };

	for (u32 pos = 0; pos < 512; pos += 4) {
		struct tern_tx_msg msg;

		tern_rdmap_build_read_req(&msg, V1, 7, 1, 2, 3, 4, 5);
		compare(true, true, pos, msg);
		tern_rdmap_build_terminate(&msg, V1, TERN_TERM_RP_BOUNDS, &seg);
		expect_eq(msg.hdr_len, TERN_HDR_MAX);
		compare(true, true, pos, msg);
	}
}

TEST(fpdu_tx__largest_fpdu, "MPA-006 MPA-007 MPA-032")
{
	for (u32 pos = 0; pos < 512; pos += 52) {
		struct tern_fpdu_tx tx = tx_at(true, true, 65535, pos);
		struct tern_tx_msg msg = send_msg(1, 64768 - 18);

		expect(tern_fpdu_tx_next(&tx, &msg) <= TERN_FPDU_MAX);
		compare(true, true, pos, msg);
	}
}

TEST(fpdu_tx_payload__any_split_gives_the_same, "MPA-034")
{
	struct rng r = rng_seed(5);

	for (u32 i = 0; i < 500; i++) {
		struct tern_fpdu_tx tx = tx_at(true, true, 1460,
					       4 * rng_below(&r, 128));
		struct tern_fpdu_tx whole = tx;
		struct tern_tx_msg msg = send_msg(1, 1300), same = msg;
		u32 len = send_fpdu(&whole, &same, data, want);
		u32 n = begin_fpdu(&tx, &msg, wire), at = 0, run;

		while ((run = tern_fpdu_tx_run(&tx))) {
			run = 1 + rng_below(&r, run);
			memcpy(wire + n, data + at, run);
			at += run;
			n += run;
			n += tern_fpdu_tx_payload(&tx, run, wire + n);
		}
		expect_eq(tern_fpdu_tx_finish(&tx, wire, n), len);
		expect_bytes(wire, want, len);
	}
}

TEST(fpdu_tx_end__crc_off_sends_zero, "MPA-045 Q28")
{
	struct tern_fpdu_tx tx = tx_at(false, false, 1460, 0);
	struct tern_tx_msg msg = send_msg(1, 5);
	u32 len = send_fpdu(&tx, &msg, data, wire);

	expect_eq(len, 2 + 23 + 3 + 4);
	expect_eq(get_unaligned_be32(wire + len - 4), 0);
}

TEST(fpdu_tx_end__bounds_of_its_buffers, "MPA-016")
{
	struct tern_tx_msg msg;
	u8 head[TERN_FPDU_TX_HEAD], tail[TERN_FPDU_TX_TAIL];
	static const u8 off[46] = { 0x41, 0x41 };
	struct tern_term_seg seg = { .hdr = off, .hdr_len = 46, .len = 46 };

	/* arrays of the exact size: ASan detects accesses beyond them */
	for (u32 pos = 0; pos < 512; pos += 4) {
		struct tern_fpdu_tx tx = tx_at(true, true, 1460, pos);

		tern_rdmap_build_terminate(&msg, V1, TERN_TERM_RP_BOUNDS, &seg);
		expect(begin_fpdu(&tx, &msg, head) <= sizeof(head));
		expect(end_of_fpdu(&tx, tail) <= sizeof(tail));
	}
}

TEST(fpdu_tx_begin__untagged_segments,
	"DDP-016 DDP-017 DDP-019 DDP-041 DDP-042 DDP-044 DDP-048")
{
	struct tern_fpdu_tx tx = tx_at(true, false, 1460, 0);
	struct tern_tx_msg msg = send_msg(9, 2048);

	tx.mulpdu = 1500;
	send_fpdu(&tx, &msg, data, wire);
	expect_eq(get_unaligned_be16(wire), 1500);
	expect_eq(wire[2], 0x01);
	expect_eq(get_unaligned_be32(wire + 12), 9);
	expect_eq(get_unaligned_be32(wire + 16), 0);
	expect_bytes(wire + 20, data, 1482);
	expect(!tern_tx_msg_done(&msg));

	send_fpdu(&tx, &msg, data, wire);
	expect_eq(get_unaligned_be16(wire), 566 + 18);
	expect_eq(wire[2], 0x41);
	expect_eq(get_unaligned_be32(wire + 12), 9);
	expect_eq(get_unaligned_be32(wire + 16), 1482);
	expect_bytes(wire + 20, data + 1482, 566);
	expect(tern_tx_msg_done(&msg));
}

TEST(fpdu_tx_begin__tagged_segments, "DDP-016 DDP-017 DDP-030 DDP-050")
{
	struct tern_fpdu_tx tx = tx_at(true, false, 1460, 0);
	struct tern_tx_msg msg;

	tx.mulpdu = 1500;
	tern_rdmap_build_write(&msg, V1, 0x11223344, 16384, 2048);
	send_fpdu(&tx, &msg, data, wire);
	expect_eq(get_unaligned_be16(wire), 1500);
	expect_eq(wire[2], 0x81);
	expect_eq(get_unaligned_be32(wire + 4), 0x11223344);
	expect_eq(get_unaligned_be64(wire + 8), 16384);

	send_fpdu(&tx, &msg, data, wire);
	expect_eq(get_unaligned_be16(wire), 562 + 14);
	expect_eq(wire[2], 0xc1);
	expect_eq(get_unaligned_be32(wire + 4), 0x11223344);
	expect_eq(get_unaligned_be64(wire + 8), 17870);
	expect(tern_tx_msg_done(&msg));
}

TEST(fpdu_tx_begin__whole_multiples_end_with_L, "DDP-016 DDP-017 MPA-054")
{
	struct tern_fpdu_tx tx = tx_at(true, false, 1460, 0);
	struct tern_tx_msg msg = send_msg(1, 3 * (tx.mulpdu - 18));

	for (int i = 0; i < 3; i++) {
		expect(!tern_tx_msg_done(&msg));
		send_fpdu(&tx, &msg, data, wire);
		expect_eq(get_unaligned_be16(wire), tx.mulpdu);
		expect_eq(!!(wire[2] & TERN_DDP_LAST), i == 2);
	}
	expect(tern_tx_msg_done(&msg));
}

TEST(fpdu_tx_begin__zero_length_is_one_segment, "DDP-051 RDMAP-040 RDMAP-074")
{
	struct tern_fpdu_tx tx = tx_at(true, false, 1460, 0);
	struct tern_tx_msg msg = send_msg(1, 0);

	expect_eq(send_fpdu(&tx, &msg, NULL, wire), 24);
	expect_eq(wire[2], 0x41);
	expect(tern_tx_msg_done(&msg));
}

TEST(fpdu_tx_begin__mulpdu_changes_between_fpdus, "DDP-001 MPA-053 MPA-055")
{
	struct tern_fpdu_tx tx = tx_at(true, true, 1460, 0);
	struct tern_tx_msg msg = send_msg(1, 5000);
	u32 mo = 0;

	for (u32 i = 0; !tern_tx_msg_done(&msg); i++) {
		u32 front = tx.pos ? 0 : 4;

		tx.mulpdu = i % 2 ? 128 : 700 + i;
		send_fpdu(&tx, &msg, data, wire);
		expect(get_unaligned_be16(wire + front) <= tx.mulpdu);
		mo += get_unaligned_be16(wire + front) - 18;
		expect_eq(msg.sent, mo);
	}
	expect_eq(mo, 5000);
}

/* only headers are built */
TEST(fpdu_tx_begin__message_of_4gib_less_1, "DDP-045 DDP-046 DDP-048")
{
	struct tern_fpdu_tx tx = tx_at(false, false, 65535, 0);
	struct tern_tx_msg msg = send_msg(1, ~0U);
	u32 mo = 0;

	while (!tern_tx_msg_done(&msg)) {
		begin_fpdu(&tx, &msg, wire);
		expect_eq(get_unaligned_be32(wire + 16), mo);
		mo += tern_fpdu_tx_run(&tx);
		tern_fpdu_tx_payload(&tx, tern_fpdu_tx_run(&tx), want);
		end_of_fpdu(&tx, want);
	}
	expect_eq(mo, ~0U);
}
