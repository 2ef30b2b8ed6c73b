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
	for (u32 op = 0; op < 16; op++) {
		const struct tern_op_row *row = &tern_op_table[op];

		expect_eq(!!row->name, op < 8);
		if (op >= 8)
			continue;
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
