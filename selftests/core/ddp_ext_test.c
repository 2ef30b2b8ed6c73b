// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Checks of a segment with the opcodes of RFC 7306 and RDMAP version 2, in the order
 * of rows S1 to S19 of `requirements`.
 */
#include "ddp_try.h"
#include "tap.h"

/* RFC 7306 in version 1 */
static struct tern_ddp_rx with_7306(void)
{
	struct tern_ddp_rx rx = fresh(1);

	rx.sets = TERN_OPS_BASE | TERN_OPS_7306;
	return rx;
}

/* after the hello that raised RV to 2 */
static struct tern_ddp_rx with_v2(void)
{
	struct tern_ddp_rx rx = with_7306();

	rx.sets |= TERN_OPS_V2;
	rx.rv = 2;
	return rx;
}

static struct try response(u8 ddp, u8 rdmap, u32 msn, u32 mo, u32 len, u64 room)
{
	struct try t = untagged(ddp, rdmap, 3, msn, mo, len);

	t.buf_len = room;
	return t;
}

/* RFC 5040 figure 4, RFC 7306 figure 2, the draft's figure 2: 't' tagged, or the QN */
static const char model_of[33] = "t1t000020013-----130000---------";

/* a body that the opcode allows in a segment with L */
static u32 len_of(u8 op)
{
	switch (op) {
	case 0x01:
		return 28;
	case 0x07:
		return 4;
	case 0x0a:
		return 52;
	case 0x0b:
		return 12;
	case 0x11:
		return 16;
	default:
		return 8;
	}
}

static void expect_opcode(const struct tern_ddp_rx *rx, u8 op, bool taken)
{
	u8 ctrl = (u8)(rx->rv << 6 | op);
	int want;

	want = taken && model_of[op] == 't' ? TERN_TERM_NONE : TERN_TERM_RO_OPCODE;
	expect_eq(verdict(rx, tagged(0xc1, ctrl, 1, 1, 8)), want);
	for (u8 qn = 0; qn < 4; qn++) {
		bool fits = taken && model_of[op] == '0' + qn;

		want = fits ? TERN_TERM_NONE : TERN_TERM_RO_OPCODE;
		if (qn == 3 && rx->sets == TERN_OPS_BASE)
			want = TERN_TERM_DU_QN;
		expect_eq(verdict(rx, untagged(0x41, ctrl, qn, 1, 0,
					       fits ? len_of(op) : 4)), want);
	}
}

TEST(rdmap_segment__opcodes_of_each_set,
	"RDMAP-126 S4 S10 RFC 7306 1.1 RFC 7306 4.1 rdmap-ext-v2")
{
	struct tern_ddp_rx rx = fresh(1);

	for (u8 op = 0; op < 16; op++)
		expect_opcode(&rx, op, op < 8);
	rx = with_7306();
	for (u8 op = 0; op < 16; op++)
		expect_opcode(&rx, op, op < 0xc);
	rx = with_v2();
	for (u8 op = 0; op < 32; op++)
		expect_opcode(&rx, op, op < 0xc || (op > 0x10 && op < 0x17));
}

TEST(rdmap_segment__version_in_force_decides_the_opcode,
	"RDMAP-015 S9 rdmap-ext-v2")
{
	struct tern_ddp_rx v1 = with_7306(), v2 = with_v2();
	struct try t = untagged(0x41, 0x53, 0, 1, 0, 8);
	struct tern_seg seg;

	/* a Send with a reserved bit in version 1, a Send with Immediate in version 2 */
	expect_eq(check_segment(&v1, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.opcode, TERN_OP_SEND);
	expect_eq(check_segment(&v2, &t, &seg), TERN_TERM_RO_VERSION);
	expect_eq(seg.opcode, TERN_OP_SEND_IMM);
	t.b[1] = 0x93;
	expect_eq(check_segment(&v1, &t, &seg), TERN_TERM_RO_VERSION);
	expect_eq(seg.opcode, TERN_OP_SEND);
	expect_eq(check_segment(&v2, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.opcode, TERN_OP_SEND_IMM);
	/* bit 5 is reserved in all versions */
	t.b[1] = 0xb3;
	expect_eq(check_segment(&v2, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.opcode, TERN_OP_SEND_IMM);
}

TEST(rdmap_segment__version_2_for_every_message, "RDMAP-127 S9 rdmap-ext-v2")
{
	struct tern_ddp_rx rx = with_v2();

	for (u8 rv = 0; rv < 4; rv++) {
		int want = rv == 2 ? TERN_TERM_NONE : TERN_TERM_RO_VERSION;

		expect_eq(verdict(&rx, untagged(0x41, (u8)(rv << 6 | 3), 0, 1, 0,
						0)), want);
		expect_eq(verdict(&rx, tagged(0xc1, (u8)(rv << 6), 1, 1, 9)),
			  want);
		expect_eq(verdict(&rx, untagged(0x41, (u8)(rv << 6 | 8), 0, 1, 0,
						8)), want);
	}
	/* the DDP version is still the connection's */
	expect_eq(verdict(&rx, untagged(0x42, 0x83, 0, 1, 0, 0)),
		  TERN_TERM_DU_VERSION);
}

/* ---- buffers ------------------------------------------------------------ */

static enum tern_slot slot_of(const struct tern_ddp_rx *rx, u8 rdmap, u32 qn,
			      u64 *len)
{
	struct try t = untagged(0x41, rdmap, qn, 1, 0, 4);
	struct tern_seg seg;

	expect_eq(tern_ddp_segment(rx, t.b, 22, 22, &seg), TERN_TERM_NONE);
	return tern_ddp_slot(&seg, len);
}

static void expect_slot(const struct tern_ddp_rx *rx, u8 rdmap, u32 qn,
			enum tern_slot kind, u64 want)
{
	u64 len;

	expect_eq(slot_of(rx, rdmap, qn, &len), kind);
	expect_eq(len, want);
}

TEST(ddp_slot__kind_and_length, "RDMAP-058 S6 S8 RFC 7306 5.2.2")
{
	struct tern_ddp_rx base = fresh(1), v1 = with_7306(), v2 = with_v2();

	expect_slot(&base, 0x43, 0, TERN_SLOT_RECV, 0);
	expect_slot(&base, 0x41, 1, TERN_SLOT_READ, 28);
	expect_slot(&base, 0x4a, 1, TERN_SLOT_READ, 52);
	expect_slot(&base, 0x4c, 1, TERN_SLOT_READ, 52);
	expect_slot(&base, 0x47, 2, TERN_SLOT_TERMINATE, 52);
	expect_slot(&base, 0x43, 2, TERN_SLOT_TERMINATE, 52);
	expect_slot(&v1, 0x48, 0, TERN_SLOT_RECV, 0);
	expect_slot(&v1, 0x41, 1, TERN_SLOT_READ, 28);
	expect_slot(&v1, 0x4a, 1, TERN_SLOT_ATOMIC, 52);
	expect_slot(&v1, 0x4c, 1, TERN_SLOT_READ, 52);
	expect_slot(&v1, 0x4b, 3, TERN_SLOT_RESPONSE, 0);
	expect_slot(&v2, 0x81, 1, TERN_SLOT_READ, 28);
	expect_slot(&v2, 0x91, 1, TERN_SLOT_READ, 16);
	expect_slot(&v2, 0x8a, 1, TERN_SLOT_ATOMIC, 52);
	expect_slot(&v2, 0x92, 3, TERN_SLOT_RESPONSE, 0);
}

TEST(rdmap_segment__size_of_each_request, "S8 S16 RFC 7306 5.2.1 rdmap-ext-v2")
{
	static const u8 ops[] = { 0x01, 0x0a, 0x11 };
	struct tern_ddp_rx rx = with_v2();

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++)
		for (u32 len = 0; len < 80; len++)
			expect_eq(verdict(&rx, untagged(0x41, 0x80 | ops[i], 1, 1, 0,
							len)),
				  len < len_of(ops[i]) ? TERN_TERM_RO_STREAM :
				  len == len_of(ops[i]) ? TERN_TERM_NONE :
				  TERN_TERM_DU_TOO_LONG);
}

TEST(ddp_untagged__no_slot_for_a_request, "S6 RFC 7306 5.2.1")
{
	struct tern_ddp_rx rx = with_7306();
	struct try t = untagged(0x41, 0x4a, 1, 1, 0, 52);

	t.have_buffer = false;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_NO_BUFFER);
}

TEST(ddp_segment__requests_share_queue_1, "DDP-038 S5 RFC 7306 5.2")
{
	struct tern_ddp_rx rx = with_v2();

	take(&rx, untagged(0x41, 0x81, 1, 1, 0, 28));
	take(&rx, untagged(0x41, 0x8a, 1, 2, 0, 52));
	take(&rx, untagged(0x41, 0x91, 1, 3, 0, 16));
	expect_eq(verdict(&rx, untagged(0x41, 0x8a, 1, 1, 0, 52)),
		  TERN_TERM_DU_MSN_RANGE);
	take(&rx, untagged(0x41, 0x8a, 1, 4, 0, 52));
}

/* ---- requests ----------------------------------------------------------- */

TEST(rdmap_segment__atomic_request_body, "RFC 7306 5.2.1")
{
	struct tern_ddp_rx rx = with_7306();
	struct try t = untagged(0x41, 0x4a, 1, 1, 0, 52);
	struct tern_seg seg;

	/* the highest 28 bits are reserved */
	from_hex(t.b + 18, "FFFFFFF2 01020304 11121314 2122232425262728 "
		 "3132333435363738 4142434445464748 5152535455565758 "
		 "6162636465666768");
	expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.atomic.op, TERN_ATOMIC_CMP_SWAP);
	expect_eq(seg.atomic.id, 0x01020304);
	expect_eq(seg.atomic.stag, 0x11121314);
	expect_eq(seg.atomic.to, 0x2122232425262728);
	expect_eq(seg.atomic.data, 0x3132333435363738);
	expect_eq(seg.atomic.data_mask, 0x4142434445464748);
	expect_eq(seg.atomic.compare, 0x5152535455565758);
	expect_eq(seg.atomic.compare_mask, 0x6162636465666768);
	expect_eq(seg.hdr_len, 70);
}

TEST(rdmap_segment__atomic_operation_code, "S19 RFC 7306 5.2.1")
{
	struct tern_ddp_rx rx = with_7306();
	struct try t = untagged(0x41, 0x4a, 1, 1, 0, 52);

	for (u8 op = 0; op < 16; op++) {
		t.b[21] = op;
		expect_eq(verdict(&rx, t), op == 0 || op == 2 ? TERN_TERM_NONE :
			  TERN_TERM_RO_OPCODE);
	}
}

TEST(rdmap_segment__read_request_v2_body, "rdmap-ext-v2")
{
	struct tern_ddp_rx rx = with_v2();
	struct try t = untagged(0x41, 0x91, 1, 1, 0, 16);
	struct tern_seg seg;

	from_hex(t.b + 18, "01020304 11121314 2122232425262728");
	expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.rreq.size, 0x01020304);
	expect_eq(seg.rreq.src_stag, 0x11121314);
	expect_eq(seg.rreq.src_to, 0x2122232425262728);
	expect_eq(seg.rreq.sink_stag, 0);
	expect_eq(seg.rreq.sink_to, 0);
	expect_eq(seg.hdr_len, 34);
}

TEST(rdmap_segment__request_without_L, "S16 RFC 7306 5.2.1")
{
	struct tern_ddp_rx rx = with_v2();

	expect_eq(verdict(&rx, untagged(0x01, 0x8a, 1, 1, 0, 52)),
		  TERN_TERM_RO_STREAM);
	expect_eq(verdict(&rx, untagged(0x01, 0x91, 1, 1, 0, 16)),
		  TERN_TERM_RO_STREAM);
	expect_eq(verdict(&rx, response(0x01, 0x8b, 1, 0, 12, 12)),
		  TERN_TERM_RO_STREAM);
	expect_eq(verdict(&rx, untagged(0x01, 0x88, 0, 1, 0, 8)),
		  TERN_TERM_RO_STREAM);
}

/* ---- queue 3 ------------------------------------------------------------ */

TEST(ddp_untagged__response_needs_an_open_request,
	"S6 RFC 7306 5.2.2 rdmap-ext-v2")
{
	struct tern_ddp_rx rx = with_v2();
	struct try t = response(0x41, 0x8b, 1, 0, 12, 12);

	t.have_buffer = false;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_NO_BUFFER);
	put32(t.b + 10, 2);
	expect_eq(verdict(&rx, t), TERN_TERM_DU_MSN_RANGE);
	put32(t.b + 6, 4);
	expect_eq(verdict(&rx, t), TERN_TERM_DU_QN);
}

TEST(rdmap_segment__atomic_response, "S8 S16 RFC 7306 5.2.2")
{
	struct tern_ddp_rx rx = with_7306();
	struct try t = response(0x41, 0x4b, 1, 0, 12, 12);
	struct tern_seg seg;

	for (u32 len = 0; len < 20; len++)
		expect_eq(verdict(&rx, response(0x41, 0x4b, 1, 0, len, 12)),
			  len < 12 ? TERN_TERM_RO_STREAM :
			  len == 12 ? TERN_TERM_NONE : TERN_TERM_DU_TOO_LONG);
	from_hex(t.b + 18, "01020304 1112131415161718");
	expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
	expect_eq(seg.aresp.id, 0x01020304);
	expect_eq(seg.aresp.old, 0x1112131415161718);
	expect_eq(seg.hdr_len, 30);
}

TEST(rdmap_segment__read_response_v2, "S7 S8 rdmap-ext-v2")
{
	struct tern_ddp_rx rx = with_v2();

	take(&rx, response(0x01, 0x92, 1, 0, 40, 100));
	expect_eq(verdict(&rx, response(0x41, 0x92, 1, 41, 59, 100)),
		  TERN_TERM_DU_MO);
	expect_eq(verdict(&rx, response(0x41, 0x92, 1, 40, 61, 100)),
		  TERN_TERM_DU_TOO_LONG);
	expect_eq(verdict(&rx, response(0x41, 0x8b, 1, 40, 12, 100)),
		  TERN_TERM_RO_OPCODE);
	take(&rx, response(0x41, 0x92, 1, 40, 60, 100));
	/* one sequence of numbers with the Atomic Responses */
	take(&rx, response(0x41, 0x8b, 2, 0, 12, 12));
	/* of a Read of nothing */
	take(&rx, response(0x41, 0x92, 3, 0, 0, 0));
}

/* ---- immediate data ----------------------------------------------------- */

TEST(rdmap_segment__immediate_data, "RFC 7306 6.2 RFC 7306 6.3")
{
	struct tern_ddp_rx rx = with_7306();
	struct tern_seg seg;
	u8 want[8];

	from_hex(want, "0102030405060708");
	for (u8 op = 8; op < 10; op++) {
		struct try t = untagged(0x41, 0x40 | op, 0, 1, 0, 8);

		t.buf_len = 0;
		memcpy(t.b + 18, want, 8);
		expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
		expect_bytes(seg.imm, want, 8);
		expect_eq(seg.len, 0);
		expect_eq(seg.hdr_len, 26);
		expect_eq(seg.row->solicited, op == 9);
		t.have_buffer = false;
		expect_eq(verdict(&rx, t), TERN_TERM_DU_NO_BUFFER);
	}
}

TEST(rdmap_segment__immediate_data_of_8_bytes, "S16 RFC 7306 6.3")
{
	struct tern_ddp_rx rx = with_v2();

	for (u32 len = 0; len < 60; len++) {
		int want = len == 8 ? TERN_TERM_NONE : TERN_TERM_RO_STREAM;
		struct try imm = untagged(0x41, 0x88, 0, 1, 0, len);
		struct try send = untagged(0x41, 0x93, 0, 1, 0, len);

		imm.buf_len = 10;
		send.buf_len = 10;
		expect_eq(verdict(&rx, imm), want);
		expect_eq(verdict(&rx, send), want);
	}
}

TEST(rdmap_segment__immediate_data_has_one_segment, "S7 S16 RFC 7306 6.3")
{
	struct tern_ddp_rx rx = with_7306();

	expect_eq(verdict(&rx, untagged(0x41, 0x48, 0, 1, 8, 8)),
		  TERN_TERM_DU_MO);
	expect_eq(verdict(&rx, untagged(0x01, 0x48, 0, 1, 0, 0)),
		  TERN_TERM_RO_STREAM);
	expect_eq(verdict(&rx, untagged(0x01, 0x48, 0, 1, 0, 8)),
		  TERN_TERM_RO_STREAM);
}

/* a Send with Immediate of 60 bytes into a buffer of that size */
TEST(rdmap_segment__send_with_immediate, "S8 S16 rdmap-ext-v2")
{
	struct tern_ddp_rx rx = with_v2();

	for (u8 op = 0x13; op < 0x17; op++) {
		struct try t = untagged(0x01, 0x80 | op, 0, op, 0, 60);
		struct tern_seg seg;

		rx.q[0].msn = op;
		t.buf_len = 60;
		expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
		expect_eq(seg.hdr_len, 18);
		expect_eq(seg.len, 60);
		tern_ddp_advance(&rx, &seg);
		t = untagged(0x41, 0x80 | op, 0, op, 60, 8);
		t.buf_len = 60;
		t.b[18] = 0x77;
		expect_eq(check_segment(&rx, &t, &seg), TERN_TERM_NONE);
		expect_eq(seg.mo + seg.len, 60);
		expect_eq(seg.hdr_len, 26);
		expect_eq(seg.imm[0], 0x77);
		expect_eq(seg.row->has_inv, op == 0x14 || op == 0x16);
		expect_eq(seg.row->solicited, op > 0x14);
		t.b[0] = 0x01;
		expect_eq(verdict(&rx, t), TERN_TERM_DU_TOO_LONG);
		t.b[0] = 0x41;
		put32(t.b + 14, 52);
		expect_eq(verdict(&rx, t), TERN_TERM_DU_MO);
		tern_ddp_advance(&rx, &seg);
		expect_eq(rx.q[0].msn, op + 1);
		expect_eq(rx.q[0].mo, 0);
	}
}

TEST(rdmap_segment__send_with_immediate_is_one_message, "S10 rdmap-ext-v2")
{
	struct tern_ddp_rx rx = with_v2();
	struct try t = untagged(0x41, 0x94, 0, 1, 9, 8);

	take(&rx, untagged(0x01, 0x94, 0, 1, 0, 9));
	expect_eq(verdict(&rx, t), TERN_TERM_NONE);
	put32(t.b + 2, 0x1234);
	expect_eq(verdict(&rx, t), TERN_TERM_RO_OPCODE);
	expect_eq(verdict(&rx, untagged(0x41, 0x93, 0, 1, 9, 8)),
		  TERN_TERM_RO_OPCODE);
	expect_eq(verdict(&rx, untagged(0x41, 0x84, 0, 1, 9, 8)),
		  TERN_TERM_RO_OPCODE);
}

TEST(rdmap_segment__immediate_counts_for_4gib, "DDP-045 S8")
{
	struct tern_ddp_rx rx = with_v2();

	rx.q[0].open = true;
	rx.q[0].opcode = TERN_OP_SEND_IMM;
	rx.q[0].mo = ~0U - 8;
	expect_eq(verdict(&rx, untagged(0x41, 0x93, 0, 1, ~0U - 8, 8)),
		  TERN_TERM_NONE);
	rx.q[0].mo = ~0U - 7;
	expect_eq(verdict(&rx, untagged(0x41, 0x93, 0, 1, ~0U - 7, 8)),
		  TERN_TERM_DU_TOO_LONG);
}

/* what is not placed on queue 0 is not excepted from the length of a slot */
TEST(ddp_untagged__immediate_on_another_queue, "S8 S10")
{
	struct tern_ddp_rx rx = with_v2();

	expect_eq(verdict(&rx, untagged(0x41, 0x88, 1, 1, 0, 53)),
		  TERN_TERM_DU_TOO_LONG);
	expect_eq(verdict(&rx, untagged(0x41, 0x88, 1, 1, 0, 52)),
		  TERN_TERM_RO_OPCODE);
}

TEST(ddp__first_failing_step_wins_for_an_atomic, "RDMAP-124 S2 to S19")
{
	struct tern_ddp_rx rx = with_7306();
	struct try t = untagged(0x02, 0x8a, 9, 7, 5, 60);

	t.len = 17;
	t.have_buffer = false;
	t.b[21] = 1;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_STREAM);	/* 2 */
	t.len = 78;
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
	t.buf_len = BY_SLOT;
	expect_eq(verdict(&rx, t), TERN_TERM_DU_TOO_LONG);	/* 8 */
	t.len = 69;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_VERSION);	/* 9 */
	t.b[1] = 0x4c;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_OPCODE);	/* 10 */
	t.b[1] = 0x4a;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_STREAM);	/* 16: size and L */
	t.len = 70;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_STREAM);	/* 16: L */
	t.b[0] = 0x41;
	expect_eq(verdict(&rx, t), TERN_TERM_RO_OPCODE);	/* 19 */
	t.b[21] = 2;
	expect_eq(verdict(&rx, t), TERN_TERM_NONE);
}
