// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Checks of a segment (RFC 5041 7, RFC 5040 7), in the order of rows S1 to S18 of
 * `requirements`. Headers are written byte by byte, not with the structs of core/wire.h.
 */
#include "ddp_try.h"
#include "tap.h"

TEST(ddp_segment__fields_untagged, "DDP-033 RDMAP-009 RDMAP-010")
{
	struct tern_ddp_rx rx = fresh(1);
	struct tern_seg seg;
	u8 b[128];

	from_hex(b, "01 44 AABBCCDD 00000000 00000001 00000000 1122");
	expect_eq(tern_ddp_segment(&rx, b, 20, 20, &seg), TERN_TERM_NONE);
	expect_eq(seg.tagged, false);
	expect_eq(seg.last, false);
	expect_eq(seg.first, true);
	expect_eq(seg.version, 1);
	expect_eq(seg.rv, 1);
	expect_eq(seg.opcode, TERN_OP_SEND_INV);
	expect_eq(seg.inv_stag, 0xaabbccdd);
	expect_eq(seg.qn, 0);
	expect_eq(seg.msn, 1);
	expect_eq(seg.mo, 0);
	expect_eq(seg.hdr_len, 18);
	expect_eq(seg.len, 2);
}

TEST(ddp_segment__fields_tagged, "DDP-025 RDMAP-009 RDMAP-010")
{
	struct tern_ddp_rx rx = fresh(1);
	struct tern_seg seg;
	u8 b[128];

	from_hex(b, "C1 40 AABBCCDD 0102030405060708 112233");
	expect_eq(tern_ddp_segment(&rx, b, 17, 17, &seg), TERN_TERM_NONE);
	expect_eq(seg.tagged, true);
	expect_eq(seg.last, true);
	expect_eq(seg.opcode, TERN_OP_WRITE);
	expect_eq(seg.stag, 0xaabbccdd);
	expect_eq(seg.to, 0x0102030405060708);
	expect_eq(seg.hdr_len, 14);
	expect_eq(seg.len, 3);
}

TEST(ddp_segment__shorter_than_its_header, "S2 Q10")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try w = tagged(0xc1, 0x40, 1, 1, 0);
	struct try s = untagged(0x41, 0x43, 0, 1, 0, 0);

	for (s.len = 0; s.len < 18; s.len++)
		expect_eq(verdict(&rx, s), TERN_TERM_RO_STREAM);
	expect_eq(verdict(&rx, s), TERN_TERM_NONE);
	for (w.len = 0; w.len < 14; w.len++)
		expect_eq(verdict(&rx, w), TERN_TERM_RO_STREAM);
	expect_eq(verdict(&rx, w), TERN_TERM_NONE);
}

TEST(ddp_segment__reads_nothing_beyond_a_short_header, "S2 MPA-008")
{
	struct tern_ddp_rx rx = fresh(1);
	struct tern_seg seg;

	/* a heap block of exactly this size: ASan detects reads beyond it */
	for (u32 len = 1; len < 18; len++) {
		u8 *b = __builtin_malloc(len);

		memset(b, 0x41, len);
		expect_eq(tern_ddp_segment(&rx, b, len, len, &seg),
			  TERN_TERM_RO_STREAM);
		__builtin_free(b);
	}
}

TEST(ddp_segment__version, "DDP-023 DDP-024 RDMAP-125 MPA-225 S3")
{
	for (u8 v = 0; v < 2; v++) {
		struct tern_ddp_rx rx = fresh(v);

		for (u8 dv = 0; dv < 4; dv++) {
			struct try s = untagged(0x40 | dv, (u8)(v << 6 | 3),
						0, 1, 0, 0);
			struct try w = tagged(0xc0 | dv, (u8)(v << 6),
					      1, 1, 0);

			expect_eq(verdict(&rx, s), dv == v ? TERN_TERM_NONE :
				  TERN_TERM_DU_VERSION);
			expect_eq(verdict(&rx, w), dv == v ? TERN_TERM_NONE :
				  TERN_TERM_DT_VERSION);
		}
	}
}

TEST(ddp_segment__reserved_bits_are_ignored, "DDP-022")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, untagged(0x7d, 0x43, 0, 1, 0, 5));
	take(&rx, tagged(0xbd, 0x40, 1, 1, 5));
	expect_eq(rx.q[0].msn, 2);
	expect_eq(rx.tagged_open, true);
}

TEST(ddp_segment__queue_number, "DDP-078 DDP-096 RDMAP-002 S4")
{
	struct tern_ddp_rx rx = fresh(1);
	static const u32 bad[] = { 3, 4, 5, 0x100, 0x80000000, ~0U };

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		expect_eq(verdict(&rx, untagged(0x41, 0x43, bad[i], 1, 0, 0)),
			  TERN_TERM_DU_QN);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 1, 0, 0)), TERN_TERM_NONE);
	expect_eq(verdict(&rx, untagged(0x41, 0x41, 1, 1, 0, 28)), TERN_TERM_NONE);
	expect_eq(verdict(&rx, untagged(0x41, 0x47, 2, 1, 0, 4)), TERN_TERM_NONE);
}

TEST(ddp_segment__sequence_number, "DDP-039 DDP-086 DDP-013 DDP-059 S5")
{
	static const u8 op[] = { 0x43, 0x41, 0x47 };
	static const u32 len[] = { 0, 28, 4 };

	for (u32 qn = 0; qn < 3; qn++) {
		struct tern_ddp_rx rx = fresh(1);

		for (u32 due = 1; due < 5; due++) {
			for (u32 msn = 0; msn < 8; msn++)
				expect_eq(verdict(&rx, untagged(0x41, op[qn], qn, msn,
								0, len[qn])),
					  msn == due ? TERN_TERM_NONE :
					  TERN_TERM_DU_MSN_RANGE);
			take(&rx, untagged(0x41, op[qn], qn, due, 0, len[qn]));
		}
	}
}

TEST(ddp_segment__sequence_numbers_are_per_queue, "DDP-038 DDP-039")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, untagged(0x41, 0x43, 0, 1, 0, 0));
	take(&rx, untagged(0x41, 0x43, 0, 2, 0, 0));
	take(&rx, untagged(0x41, 0x41, 1, 1, 0, 28));
	take(&rx, untagged(0x41, 0x47, 2, 1, 0, 4));
	take(&rx, untagged(0x41, 0x43, 0, 3, 0, 0));
}

TEST(ddp_advance__msn_wraps_to_zero, "DDP-040")
{
	struct tern_ddp_rx rx = fresh(1);

	rx.q[0].msn = ~0U - 1;
	take(&rx, untagged(0x41, 0x43, 0, ~0U - 1, 0, 3));
	take(&rx, untagged(0x01, 0x43, 0, ~0U, 0, 3));
	take(&rx, untagged(0x41, 0x43, 0, ~0U, 3, 3));
	expect_eq(rx.q[0].msn, 0);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 1, 0, 0)),
		  TERN_TERM_DU_MSN_RANGE);
	take(&rx, untagged(0x41, 0x43, 0, 0, 0, 3));
	expect_eq(rx.q[0].msn, 1);
}

TEST(ddp_segment__another_msn_inside_a_message, "DDP-041 Q10 S5")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, untagged(0x01, 0x43, 0, 1, 0, 10));
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 2, 0, 10)),
		  TERN_TERM_DU_MSN_RANGE);
}

TEST(ddp_segment__first_marks_a_new_message, "DDP-061 RDMAP-066")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try a = untagged(0x01, 0x43, 0, 1, 0, 10);
	struct try b = untagged(0x41, 0x43, 0, 1, 10, 10);
	struct tern_seg seg;

	expect_eq(check_segment(&rx, &a, &seg), TERN_TERM_NONE);
	expect_eq(seg.first, true);
	tern_ddp_advance(&rx, &seg);
	expect_eq(check_segment(&rx, &b, &seg), TERN_TERM_NONE);
	expect_eq(seg.first, false);
	expect_eq(seg.mo + seg.len, 20);	/* DDP-062: the length of the message */
}

TEST(ddp_untagged__no_buffer, "DDP-079 RDMAP-113 S6 Q29")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x41, 0x43, 0, 1, 0, 0);

	t.have_buffer = false;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_NO_BUFFER);
	t = untagged(0x41, 0x41, 1, 1, 0, 28);
	t.have_buffer = false;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_NO_BUFFER);
}

TEST(ddp_untagged__message_offset, "DDP-084 DDP-048 S7 Q9")
{
	struct tern_ddp_rx rx = fresh(1);

	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 1, 8, 4)), TERN_TERM_DU_MO);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 1, ~0U, 4)), TERN_TERM_DU_MO);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 1, 1, 0)), TERN_TERM_DU_MO);
	take(&rx, untagged(0x01, 0x43, 0, 1, 0, 100));
	for (u32 mo = 0; mo < 300; mo++)
		expect_eq(verdict(&rx, untagged(0x01, 0x43, 0, 1, mo, 4)),
			  mo == 100 ? TERN_TERM_NONE : TERN_TERM_DU_MO);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 1, 99, 0)), TERN_TERM_DU_MO);
}

TEST(ddp_untagged__empty_last_segment, "DDP-016 DDP-062 Q9")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, untagged(0x01, 0x43, 0, 1, 0, 100));
	take(&rx, untagged(0x01, 0x43, 0, 1, 100, 0));
	take(&rx, untagged(0x41, 0x43, 0, 1, 100, 0));
	expect_eq(rx.q[0].msn, 2);
	expect_eq(rx.q[0].mo, 0);
	expect_eq(rx.q[0].open, false);
}

TEST(ddp_untagged__too_long_for_its_buffer, "DDP-085 RDMAP-068 S8")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x01, 0x43, 0, 1, 0, 60);

	t.buf_len = 60;
	take(&rx, t);
	t = untagged(0x41, 0x43, 0, 1, 60, 1);
	t.buf_len = 60;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_TOO_LONG);
	t.buf_len = 61;
	expect_eq(verdict(&rx, t), TERN_TERM_NONE);
	t = untagged(0x41, 0x43, 0, 1, 60, 0);
	t.buf_len = 60;
	expect_eq(verdict(&rx, t), TERN_TERM_NONE);
}

TEST(ddp_untagged__message_stays_under_4gib, "DDP-045 S8")
{
	struct tern_ddp_rx rx = fresh(1);

	rx.q[0].open = true;
	rx.q[0].mo = ~0U - 10;
	rx.q[0].opcode = TERN_OP_SEND;
	expect_eq(verdict(&rx, untagged(0x01, 0x43, 0, 1, ~0U - 10, 10)),
		  TERN_TERM_NONE);
	expect_eq(verdict(&rx, untagged(0x01, 0x43, 0, 1, ~0U - 10, 11)),
		  TERN_TERM_DU_TOO_LONG);
}

TEST(rdmap_segment__version, "RDMAP-013 RDMAP-127 S9")
{
	for (u8 v = 0; v < 2; v++) {
		struct tern_ddp_rx rx = fresh(v);

		for (u8 rv = 0; rv < 4; rv++) {
			int want = rv == v ? TERN_TERM_NONE :
					     TERN_TERM_RO_VERSION;

			expect_eq(verdict(&rx, untagged(0x40 | v, (u8)(rv << 6 | 3),
							0, 1, 0, 0)), want);
			expect_eq(verdict(&rx, tagged(0xc0 | v, (u8)(rv << 6),
						      1, 1, 9)), want);
		}
	}
}

TEST(rdmap_segment__reserved_bits_are_ignored, "RDMAP-015")
{
	struct tern_ddp_rx rx = fresh(1);

	for (u8 bits = 0; bits < 0x40; bits += 0x10)
		take(&rx, untagged(0x41, 0x43 | bits, 0, 1U + bits / 0x10, 0,
				   4));
}

/* RFC 5040 4.1, figure 4, for each opcode: 't' tagged, '0'..'2' the queue number */
static const char model_of[17] = "t1t0000200000000";

TEST(rdmap_segment__opcode_model_and_queue,
	"RDMAP-012 RDMAP-126 RDMAP-130 S10")
{
	struct tern_ddp_rx rx = fresh(1);

	for (u8 op = 0; op < 16; op++) {
		u32 len = op == 1 ? 28 : op == 7 ? 4 : 20;
		bool known = op < 8;

		expect_eq(verdict(&rx, tagged(0xc1, 0x40 | op, 1, 1, 20)),
			  known && model_of[op] == 't' ? TERN_TERM_NONE :
			  TERN_TERM_RO_OPCODE);
		for (u8 qn = 0; qn < 3; qn++)
			expect_eq(verdict(&rx, untagged(0x41, 0x40 | op, qn, 1, 0,
							len)),
				  known && model_of[op] == '0' + qn ? TERN_TERM_NONE :
				  TERN_TERM_RO_OPCODE);
	}
}

TEST(rdmap_segment__opcodes_of_extensions_are_refused, "RDMAP-012 RDMAP-126")
{
	struct tern_ddp_rx rx = fresh(1);

	expect_eq(verdict(&rx, untagged(0x41, 0x48, 0, 1, 0, 8)), TERN_TERM_RO_OPCODE);
	expect_eq(verdict(&rx, untagged(0x41, 0x49, 0, 1, 0, 8)), TERN_TERM_RO_OPCODE);
	expect_eq(verdict(&rx, untagged(0x41, 0x4a, 1, 1, 0, 28)), TERN_TERM_RO_OPCODE);
	expect_eq(verdict(&rx, untagged(0x41, 0x4b, 3, 1, 0, 12)), TERN_TERM_DU_QN);
}

TEST(rdmap_segment__opcode_change_untagged, "DDP-034 DDP-036 Q10 S10")
{
	for (u8 first = 3; first < 7; first++) {
		struct tern_ddp_rx rx = fresh(1);

		take(&rx, untagged(0x01, 0x40 | first, 0, 1, 0, 9));
		for (u8 next = 3; next < 7; next++)
			expect_eq(verdict(&rx, untagged(0x01, 0x40 | next, 0, 1, 9,
							9)),
				  next == first ? TERN_TERM_NONE :
				  TERN_TERM_RO_OPCODE);
		take(&rx, untagged(0x41, 0x40 | first, 0, 1, 9, 9));
		take(&rx, untagged(0x41, 0x43, 0, 2, 0, 9));
	}
}

TEST(rdmap_segment__opcode_change_tagged, "DDP-028 Q10 S10")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, tagged(0x81, 0x40, 1, 1, 9));
	expect_eq(verdict(&rx, tagged(0x81, 0x42, 1, 10, 9)), TERN_TERM_RO_OPCODE);
	expect_eq(verdict(&rx, tagged(0xc1, 0x42, 1, 10, 9)), TERN_TERM_RO_OPCODE);
	take(&rx, tagged(0xc1, 0x40, 1, 10, 9));
	take(&rx, tagged(0x81, 0x42, 1, 1, 9));
	expect_eq(verdict(&rx, tagged(0xc1, 0x40, 1, 10, 9)), TERN_TERM_RO_OPCODE);
}

TEST(rdmap_segment__invalidate_stag_stays, "RDMAP-011 DDP-034 Q10 S10")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x01, 0x44, 0, 1, 0, 9);

	put32(t.b + 2, 0x1234);
	take(&rx, t);
	t = untagged(0x41, 0x44, 0, 1, 9, 9);
	put32(t.b + 2, 0x1235);
	expect_eq(verdict(&rx, t), TERN_TERM_RO_OPCODE);
	put32(t.b + 2, 0x1234);
	take(&rx, t);
}

TEST(rdmap_segment__send_ignores_the_invalidate_stag, "RDMAP-017")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x01, 0x43, 0, 1, 0, 9);
	struct tern_seg seg;

	put32(t.b + 2, 0xdead);
	take(&rx, t);
	t = untagged(0x41, 0x43, 0, 1, 9, 9);
	put32(t.b + 2, 0xbeef);
	expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.row->has_inv, false);
}

TEST(rdmap_segment__tagged_and_untagged_messages_interleave, "Q34")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, untagged(0x01, 0x43, 0, 1, 0, 9));
	take(&rx, tagged(0x81, 0x42, 1, 0, 9));
	take(&rx, untagged(0x41, 0x41, 1, 1, 0, 28));
	take(&rx, untagged(0x01, 0x43, 0, 1, 9, 9));
	take(&rx, tagged(0xc1, 0x42, 1, 9, 9));
	take(&rx, untagged(0x41, 0x43, 0, 1, 18, 9));
	expect_eq(rx.q[0].msn, 2);
	expect_eq(rx.tagged_open, false);
}

TEST(rdmap_segment__read_request_size, "RDMAP-019 RDMAP-018 S16 Q10")
{
	struct tern_ddp_rx rx = fresh(1);

	for (u32 len = 0; len < 40; len++)
		expect_eq(verdict(&rx, untagged(0x41, 0x41, 1, 1, 0, len)),
			  len < 28 ? TERN_TERM_RO_STREAM :
			  len == 28 ? TERN_TERM_NONE : TERN_TERM_DU_TOO_LONG);
}

TEST(rdmap_segment__read_request_in_a_long_slot, "RDMAP-019 S16")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x41, 0x41, 1, 1, 0, 29);

	t.buf_len = 100;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_STREAM);
}

TEST(rdmap_segment__control_message_without_L, "RDMAP-041 S16")
{
	struct tern_ddp_rx rx = fresh(1);

	expect_eq(verdict(&rx, untagged(0x01, 0x41, 1, 1, 0, 28)), TERN_TERM_RO_STREAM);
	expect_eq(verdict(&rx, untagged(0x01, 0x47, 2, 1, 0, 4)), TERN_TERM_RO_STREAM);
}

TEST(rdmap_segment__terminate_size, "RDMAP-081 RDMAP-083 S16 Q30")
{
	struct tern_ddp_rx rx = fresh(1);

	for (u32 len = 0; len < 60; len++)
		expect_eq(verdict(&rx, untagged(0x41, 0x47, 2, 1, 0, len)),
			  len < 4 ? TERN_TERM_RO_STREAM :
			  len <= 52 ? TERN_TERM_NONE : TERN_TERM_DU_TOO_LONG);
}

TEST(rdmap_segment__read_request_body, "RDMAP-019 RDMAP-023")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x41, 0x41, 1, 1, 0, 28);
	struct tern_seg seg;

	from_hex(t.b + 18, "01020304 1112131415161718 21222324 31323334 "
		 "4142434445464748");
	expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.rreq.sink_stag, 0x01020304);
	expect_eq(seg.rreq.sink_to, 0x1112131415161718);
	expect_eq(seg.rreq.size, 0x21222324);
	expect_eq(seg.rreq.src_stag, 0x31323334);
	expect_eq(seg.rreq.src_to, 0x4142434445464748);
	expect_eq(seg.hdr_len, 46);
	expect_eq(seg.len, 28);
}

TEST(ddp__first_failing_step_wins, "RDMAP-124 S1 to S18")
{
	struct tern_ddp_rx rx = fresh(1);
	struct try t = untagged(0x02, 0x8c, 9, 7, 5, 4);

	t.len = 17;
	t.have_buffer = false;
	t.buf_len = 0;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_STREAM);	/* 2 */
	t.len = 22;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_VERSION);	/* 3 */
	t.b[0] = 0x01;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_QN);		/* 4 */
	put32(t.b + 6, 1);
	expect_eq(verdict(&rx, t), TERN_TERM_DU_MSN_RANGE);	/* 5 */
	put32(t.b + 10, 1);
	expect_eq(verdict(&rx, t), TERN_TERM_DU_NO_BUFFER);	/* 6 */
	t.have_buffer = true;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_MO);		/* 7 */
	put32(t.b + 14, 0);
	expect_eq(verdict(&rx, t), TERN_TERM_DU_TOO_LONG);	/* 8 */
	t.buf_len = 28;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_VERSION);	/* 9 */
	t.b[1] = 0x4c;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_OPCODE);	/* 10 */
	t.b[1] = 0x41;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_STREAM);	/* 16: size and L */
	t.len = 46;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_STREAM);	/* 16: L */
	t.b[0] = 0x41;
	expect_eq(verdict(&rx, t), TERN_TERM_NONE);
}

TEST(ddp__version_0_connection, "MPA-225 MPA-012 DDP-021")
{
	struct tern_ddp_rx rx = fresh(0);

	take(&rx, untagged(0x00, 0x03, 0, 1, 0, 9));
	take(&rx, untagged(0x40, 0x03, 0, 1, 9, 9));
	take(&rx, tagged(0x80, 0x00, 1, 1, 9));
	take(&rx, tagged(0xc0, 0x00, 1, 10, 9));
	take(&rx, untagged(0x40, 0x01, 1, 1, 0, 28));
}

/* DDP reports the error and leaves ending the stream to RDMAP: its state is unchanged */
TEST(ddp__errors_leave_the_stream_state_unchanged, "DDP-065")
{
	struct tern_ddp_rx rx = fresh(1);

	expect_eq(verdict(&rx, untagged(0x40, 0x43, 0, 1, 0, 4)), TERN_TERM_DU_VERSION);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 9, 1, 0, 4)), TERN_TERM_DU_QN);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 2, 0, 4)),
		  TERN_TERM_DU_MSN_RANGE);
	expect_eq(verdict(&rx, untagged(0x41, 0x43, 0, 1, 4, 4)), TERN_TERM_DU_MO);
	take(&rx, untagged(0x41, 0x43, 0, 1, 0, 4));
	take(&rx, tagged(0xc1, 0x40, 1, 1000, 9));
}

TEST(ddp__gap_in_a_tagged_message_passes, "DDP-054")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, tagged(0x81, 0x40, 1, 1000, 9));
	take(&rx, tagged(0x81, 0x40, 1, 5000, 9));
	take(&rx, tagged(0xc1, 0x40, 1, 10, 9));
	expect_eq(rx.tagged_open, false);
}

TEST(ddp__empty_tagged_segments_pass, "DDP-052 DDP-053 RDMAP-040")
{
	struct tern_ddp_rx rx = fresh(1);

	take(&rx, tagged(0xc1, 0x40, ~0U, ~0ULL, 0));
	expect_eq(rx.tagged_open, false);
}
