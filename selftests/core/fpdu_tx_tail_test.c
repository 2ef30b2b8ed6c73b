// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Messages with a tail: the draft's section 5.3, a Send with Immediate. */
#include "ref.h"
#include "tap.h"
#include "util.h"

#define ROOM	70000

static u8 data[ROOM], wire[ROOM], ulpdu[ROOM];
static const u8 imm[8] = { 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7 };

static struct tern_tx_msg send_imm(u32 len)
{
	struct tern_tx_msg msg;

	tern_rdmap_build_send_imm(&msg, V2, TERN_OP_SEND_IMM, 0, 1, len, imm);
	return msg;
}

/* send a whole message; check its segments with the second decoder */
static void expect_segments(u32 len, bool markers, u32 pos, u32 mulpdu)
{
	struct tern_tx_msg msg = send_imm(len);
	struct ref_dir d = { .crc = true, .markers = markers, .pos = pos };
	struct tern_fpdu_tx tx;
	u32 mo = 0, n, used, payload;

	tern_fpdu_tx_init(&tx, true, markers, 1460);
	tx.pos = pos;
	tx.mulpdu = mulpdu;
	while (!tern_tx_msg_done(&msg)) {
		bool last = mo == len;
		u32 size = tern_fpdu_tx_next(&tx, &msg);

		n = send_fpdu(&tx, &msg, data, wire);
		expect_eq(n, size);
		expect_eq(ref_decode(&d, wire, n, ulpdu, &payload, &used), REF_GOOD);
		expect_eq(used, n);
		expect_eq(ulpdu[0], last ? 0x41 : 0x01);
		expect_eq(get_unaligned_be32(ulpdu + 14), mo);
		payload -= 18;
		expect_eq(payload, last ? 8 : min(len - mo, mulpdu - 18));
		expect_bytes(ulpdu + 18, last ? imm : data + mo, payload);
		mo += last ? 0 : payload;
	}
	expect_eq(mo, len);
}

TEST(fpdu_tx_tail__is_a_segment_of_its_own, "DDP-016 DDP-019 DDP-048 rdmap-ext-v2")
{
	static const u32 lens[] = { 0, 1, 8, 109, 110, 111, 220, 221, 2048, 60000 };
	struct rng r = rng_seed(21);

	rng_fill(&r, data, ROOM);
	for (u32 i = 0; i < ARRAY_SIZE(lens); i++) {
		expect_segments(lens[i], false, 0, 128);
		expect_segments(lens[i], true, 0, 128);
		expect_segments(lens[i], false, 0, 1442);
		expect_segments(lens[i], true, 32, 64768);
	}
}

TEST(fpdu_tx_tail__at_every_phase, "MPA-026 MPA-027")
{
	struct rng r = rng_seed(22);

	rng_fill(&r, data, ROOM);
	for (u32 pos = 0; pos < 512; pos += 4) {
		expect_segments(0, true, pos, 1442);
		expect_segments(500 + pos / 4, true, pos, 1442);
	}
}

TEST(fpdu_tx_tail__fits_the_head_buffer, "MPA-016")
{
	u8 head[TERN_FPDU_TX_HEAD], end[TERN_FPDU_TX_TAIL];

	/* arrays of the exact size: ASan detects accesses beyond them */
	for (u32 pos = 0; pos < 512; pos += 4) {
		struct tern_tx_msg msg = send_imm(0);
		struct tern_fpdu_tx tx;

		tern_fpdu_tx_init(&tx, true, true, 1460);
		tx.pos = pos;
		expect(begin_fpdu(&tx, &msg, head) <= sizeof(head));
		expect_eq(tern_fpdu_tx_run(&tx), 0);
		expect(end_of_fpdu(&tx, end) <= sizeof(end));
	}
}
