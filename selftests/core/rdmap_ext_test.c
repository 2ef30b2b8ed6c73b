// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Every byte of the messages of RFC 7306 and RDMAP version 2. */
#include "tap.h"
#include "util.h"

static u8 data[64], wire[256], want[256];
static const u8 imm[8] = { 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7 };

/* check the ULPDU of the next segment */
static void expect_segment(struct tern_tx_msg *msg, const char *hex)
{
	struct tern_fpdu_tx tx;
	u32 len = from_hex(want, hex);

	tern_fpdu_tx_init(&tx, true, false, 1460);
	expect_eq(tern_fpdu_tx_next(&tx, msg),
		  2 + len + tern_fpdu_pad(len) + 4);
	send_fpdu(&tx, msg, data, wire);
	expect_eq(get_unaligned_be16(wire), len);
	expect_bytes(wire + 2, want, len);
}

/* the only segment */
static void expect_wire(struct tern_tx_msg msg, const char *hex)
{
	expect_segment(&msg, hex);
	expect(tern_tx_msg_done(&msg));
}

TEST(rdmap_build_imm__layout, "RFC 7306 4.1 RFC 7306 6.2")
{
	struct tern_tx_msg msg;

	tern_rdmap_build_imm(&msg, V1, TERN_OP_IMM, 7, imm);
	expect_wire(msg, "41 48 00000000 00000000 00000007 00000000 "
		    "E0E1E2E3E4E5E6E7");
	tern_rdmap_build_imm(&msg, V2, TERN_OP_IMM_SE, 8, imm);
	expect_wire(msg, "41 89 00000000 00000000 00000008 00000000 "
		    "E0E1E2E3E4E5E6E7");
}

static const struct tern_atomic cmp_swap = {
	.op = TERN_ATOMIC_CMP_SWAP, .id = 0x01020304, .stag = 0x11121314,
	.to = 0x2122232425262728, .data = 0x3132333435363738,
	.data_mask = 0x4142434445464748, .compare = 0x5152535455565758,
	.compare_mask = 0x6162636465666768,
};

TEST(rdmap_build_atomic_req__layout, "RFC 7306 4.1 RFC 7306 5.2.1")
{
	struct tern_atomic a = cmp_swap;
	struct tern_tx_msg msg;

	tern_rdmap_build_atomic_req(&msg, V1, 9, &a);
	expect_eq(msg.hdr_len, TERN_HDR_MAX);
	expect_wire(msg, "41 4A 00000000 00000001 00000009 00000000 "
		    "00000002 01020304 11121314 2122232425262728 "
		    "3132333435363738 4142434445464748 "
		    "5152535455565758 6162636465666768");
	/* not applicable to a FetchAdd: zero and all ones, whatever the caller has */
	a.op = TERN_ATOMIC_FETCH_ADD;
	tern_rdmap_build_atomic_req(&msg, V2, 9, &a);
	expect_wire(msg, "41 8A 00000000 00000001 00000009 00000000 "
		    "00000000 01020304 11121314 2122232425262728 "
		    "3132333435363738 4142434445464748 "
		    "0000000000000000 FFFFFFFFFFFFFFFF");
}

TEST(rdmap_build_atomic_resp__layout, "RFC 7306 4.1 RFC 7306 5.2.2")
{
	struct tern_tx_msg msg;

	tern_rdmap_build_atomic_resp(&msg, V1, 3, 0x01020304, 0x1112131415161718);
	expect_wire(msg, "41 4B 00000000 00000003 00000003 00000000 "
		    "01020304 1112131415161718");
}

TEST(rdmap_build_read_v2__layouts, "rdmap-ext-v2")
{
	struct tern_tx_msg msg;

	tern_rdmap_build_read_req_v2(&msg, V2, 5, 0x01020304, 0x11121314,
				     0x2122232425262728);
	expect_wire(msg, "41 91 00000000 00000001 00000005 00000000 "
		    "01020304 11121314 2122232425262728");
	memset(data, 0xd0, sizeof(data));
	tern_rdmap_build_read_resp_v2(&msg, V2, 6, 2);
	expect_wire(msg, "41 92 00000000 00000003 00000006 00000000 D0D0");
	tern_rdmap_build_read_resp_v2(&msg, V2, 7, 0);
	expect_wire(msg, "41 92 00000000 00000003 00000007 00000000");
}

TEST(rdmap_build_send_imm__layouts, "RDMAP-011 rdmap-ext-v2")
{
	struct tern_tx_msg msg;

	memset(data, 0xd0, sizeof(data));
	tern_rdmap_build_send_imm(&msg, V2, TERN_OP_SEND_IMM, 0, 1, 3, imm);
	expect_segment(&msg, "01 93 00000000 00000000 00000001 00000000 D0D0D0");
	expect(!tern_tx_msg_done(&msg));
	expect_wire(msg, "41 93 00000000 00000000 00000001 00000003 "
		    "E0E1E2E3E4E5E6E7");
	tern_rdmap_build_send_imm(&msg, V2, TERN_OP_SEND_SE_INV_IMM, 0x51525354, 2,
				  0, imm);
	expect_wire(msg, "41 96 51525354 00000000 00000002 00000000 "
		    "E0E1E2E3E4E5E6E7");
	tern_rdmap_build_send_imm(&msg, V2, TERN_OP_SEND_INV_IMM, 0x51525354, 3, 1,
				  imm);
	expect_segment(&msg, "01 94 51525354 00000000 00000003 00000000 D0");
	expect_wire(msg, "41 94 51525354 00000000 00000003 00000001 "
		    "E0E1E2E3E4E5E6E7");
	tern_rdmap_build_send_imm(&msg, V2, TERN_OP_SEND_SE_IMM, 0, 4, 0, imm);
	expect_wire(msg, "41 95 00000000 00000000 00000004 00000000 "
		    "E0E1E2E3E4E5E6E7");
}

TEST(rdmap_build__version_2_of_the_old_messages, "rdmap-ext-v2")
{
	struct tern_tx_msg msg;

	tern_rdmap_build_write(&msg, V2, 0x01020304, 5, 0);
	expect_wire(msg, "C1 80 01020304 0000000000000005");
	tern_rdmap_build_send(&msg, V2, TERN_OP_SEND, 0, 1, 0);
	expect_wire(msg, "41 83 00000000 00000000 00000001 00000000");
	tern_rdmap_build_terminate(&msg, V2, TERN_TERM_LOCAL, NULL);
	expect_wire(msg, "41 87 00000000 00000002 00000001 00000000 00 00 00 00");
}

TEST(rdmap_build__forgets_the_tail_of_a_used_message, "DDP-016")
{
	struct tern_tx_msg msg;

	tern_rdmap_build_send_imm(&msg, V2, TERN_OP_SEND_IMM, 0, 1, 0, imm);
	tern_rdmap_build_send(&msg, V2, TERN_OP_SEND, 0, 2, 0);
	expect_wire(msg, "41 83 00000000 00000000 00000002 00000000");
}

/* what one core builds the other parses */
TEST(rdmap_build_atomic__and_its_parser_agree, "RFC 7306 5.2.1 RFC 7306 5.2.2")
{
	struct tern_ddp_rx rx;
	struct tern_tx_msg msg;
	struct tern_seg seg;

	tern_ddp_rx_init(&rx, 1);
	rx.sets |= TERN_OPS_7306;
	tern_rdmap_build_atomic_req(&msg, V1, 1, &cmp_swap);
	msg.hdr[0] |= TERN_DDP_LAST;
	expect_eq(tern_ddp_segment(&rx, msg.hdr, 70, 70, &seg), TERN_TERM_NONE);
	expect_eq(tern_rdmap_segment(&rx, msg.hdr, 70, &seg), TERN_TERM_NONE);
	expect_bytes(&seg.atomic, &cmp_swap, sizeof(cmp_swap));
}
