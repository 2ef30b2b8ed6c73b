// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Opcodes and lengths on the wire: RFC 5040 4.1, RFC 5044 4. */
#include "tap.h"
#include "util.h"

/* RFC 5040 4.1, figure 4: opcodes 0 to 7 */
static const struct {
	bool tagged, payload, inv, se;
	u8 qn, hdr;
} rows[8] = {
	{ true, true, false, false, 0, 0 },
	{ false, false, false, false, 1, 28 },
	{ true, true, false, false, 0, 0 },
	{ false, true, false, false, 0, 0 },
	{ false, true, true, false, 0, 0 },
	{ false, true, false, true, 0, 0 },
	{ false, true, true, true, 0, 0 },
	{ false, false, false, false, 2, 4 },
};

TEST(op_table__matches_figure_4, "RDMAP-012 RDMAP-018 RDMAP-070")
{
	for (u32 op = 0; op < 8; op++) {
		const struct tern_op_row *row = &tern_op_table[op];

		expect_eq(row->set, TERN_OPS_BASE);
		expect_eq(row->tagged, rows[op].tagged);
		expect_eq(row->payload, rows[op].payload);
		expect_eq(row->has_inv, rows[op].inv);
		expect_eq(row->solicited, rows[op].se);
		expect_eq(row->hdr_len, rows[op].hdr);
		if (!row->tagged)
			expect_eq(row->qn, rows[op].qn);
	}
}

TEST(fpdu_pad__fills_to_a_multiple_of_4, "MPA-016")
{
	for (u32 n = 0; n <= TERN_ULPDU_MAX; n++) {
		expect(tern_fpdu_pad(n) < 4);
		expect_eq((2 + n + tern_fpdu_pad(n)) % 4, 0);
	}
}

/* count byte by byte, with a marker at each position that is a multiple of 512 */
static u32 walk(u32 pos, u32 body)
{
	u32 len = 0;

	while (body--) {
		if ((pos + len) % 512 == 0)
			len += 4;
		len++;
	}
	return len;
}

TEST(fpdu_wire_len__agrees_with_a_walk, "MPA-026 MPA-029")
{
	for (u32 pos = 0; pos < 512; pos += 4)
		for (u32 n = 0; n < 1600; n += n < 30 ? 1 : 7) {
			u32 body = 6 + n + tern_fpdu_pad(n);

			expect_eq(tern_fpdu_wire_len(pos, true, n), walk(pos, body));
			expect_eq(tern_fpdu_wire_len(pos, false, n), body);
			expect_eq(tern_markers_upto(pos, body - 1) * 4,
				  walk(pos, body) - body);
		}
}

TEST(markers_upto__each_byte, "MPA-026 MPA-027")
{
	for (u32 pos = 0; pos < 512; pos += 4)
		for (u32 body = 0; body < 1600; body++)
			expect_eq(tern_markers_upto(pos, body) * 4,
				  walk(pos, body + 1) - (body + 1));
}

TEST(wire__mpa_keys_and_frame, "MPA-081 MPA-083")
{
	u8 key[16];

	from_hex(key, "4D504120494420526571204672616D65");
	expect_bytes(key, TERN_MPA_KEY_REQ, 16);
	from_hex(key, "4D504120494420526570204672616D65");
	expect_bytes(key, TERN_MPA_KEY_REP, 16);
}

TEST(wire__limits, "MPA-006 MPA-072 RDMAP-081")
{
	expect_eq(TERN_ULPDU_MAX, 64768);
	expect_eq(TERN_MULPDU_MIN, 128);
	expect_eq(tern_fpdu_wire_len(0, true, TERN_ULPDU_MAX), TERN_FPDU_MAX);
	expect_eq(TERN_HDR_MAX, 70);
}

/* RFC 7306 figures 2 and 3, and the draft's */
static const struct {
	u8 op, set, qn, hdr;
	bool payload, inv, se, imm;
} extended[] = {
	{ 0x08, TERN_OPS_7306, 0, 8, false, false, false, true },
	{ 0x09, TERN_OPS_7306, 0, 8, false, false, true, true },
	{ 0x0a, TERN_OPS_7306, 1, 52, false, false, false, false },
	{ 0x0b, TERN_OPS_7306, 3, 12, false, false, false, false },
	{ 0x11, TERN_OPS_V2, 1, 16, false, false, false, false },
	{ 0x12, TERN_OPS_V2, 3, 0, true, false, false, false },
	{ 0x13, TERN_OPS_V2, 0, 0, true, false, false, true },
	{ 0x14, TERN_OPS_V2, 0, 0, true, true, false, true },
	{ 0x15, TERN_OPS_V2, 0, 0, true, false, true, true },
	{ 0x16, TERN_OPS_V2, 0, 0, true, true, true, true },
};

TEST(op_table__extended_opcodes, "RFC 7306 4.1 RFC 7306 4.2 rdmap-ext-v2")
{
	u32 names = 0;

	for (u32 i = 0; i < ARRAY_SIZE(extended); i++) {
		const struct tern_op_row *row = &tern_op_table[extended[i].op];

		expect(row->name);
		expect(!row->tagged);
		expect_eq(row->set, extended[i].set);
		expect_eq(row->qn, extended[i].qn);
		expect_eq(row->hdr_len, extended[i].hdr);
		expect_eq(row->payload, extended[i].payload);
		expect_eq(row->has_inv, extended[i].inv);
		expect_eq(row->solicited, extended[i].se);
		expect_eq(row->imm, extended[i].imm);
	}
	for (u32 op = 0; op < TERN_OP_COUNT; op++) {
		names += !!tern_op_table[op].name;
		expect_eq(!!tern_op_table[op].name, !!tern_op_table[op].set);
	}
	expect_eq(names, 8 + ARRAY_SIZE(extended));
}

TEST(rdmap_opcode__width_by_version, "RDMAP-010 RDMAP-015 rdmap-ext-v2")
{
	u8 opcode;

	for (u32 ctrl = 0; ctrl < 256; ctrl++)
		for (u8 rv = 0; rv < 3; rv++) {
			u8 want = (u8)(ctrl % (rv == 2 ? 32 : 16));

			expect(tern_rdmap_opcode((u8)ctrl, rv, &opcode) ==
			       &tern_op_table[want]);
			expect_eq(opcode, want);
		}
}
