// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Every byte of each message's headers: RFC 5040 4 and appendix A, RFC 5041 4. */
#include "tap.h"
#include "util.h"

static u8 data[8], wire[256], want[256];

/* check the ULPDU of a message of one segment */
static void expect_wire(struct tern_tx_msg msg, const char *hex)
{
	struct tern_fpdu_tx tx;
	u32 len = from_hex(want, hex);

	tern_fpdu_tx_init(&tx, true, false, 1460);
	send_fpdu(&tx, &msg, data, wire);
	expect_eq(get_unaligned_be16(wire), len);
	expect_bytes(wire + 2, want, len);
	expect(tern_tx_msg_done(&msg));
}

static void fill(void)
{
	for (u8 i = 0; i < sizeof(data); i++)
		data[i] = 0xd0 | i;
}

TEST(rdmap_build_write__layout,
	"DDP-021 DDP-025 DDP-026 DDP-049 RDMAP-033 RDMAP-014")
{
	struct tern_tx_msg msg;

	fill();
	tern_rdmap_build_write(&msg, V1, 0x01020304, 0x1112131415161718, 3);
	expect_wire(msg, "C1 40 01020304 1112131415161718 D0D1D2");
	tern_rdmap_build_write(&msg, V0, 0x01020304, 0x1112131415161718, 3);
	expect_wire(msg, "C0 00 01020304 1112131415161718 D0D1D2");
}

TEST(rdmap_build_read_resp__layout, "RDMAP-057 RDMAP-020 RDMAP-021")
{
	struct tern_tx_msg msg;

	fill();
	tern_rdmap_build_read_resp(&msg, V1, 0xa1a2a3a4, 5, 2);
	expect_wire(msg, "C1 42 A1A2A3A4 0000000000000005 D0D1");
	tern_rdmap_build_read_resp(&msg, V0, 0xa1a2a3a4, 5, 0);
	expect_wire(msg, "C0 02 A1A2A3A4 0000000000000005");
}

TEST(rdmap_build_send__layouts,
	"DDP-033 DDP-037 RDMAP-011 RDMAP-016 RDMAP-065 RDMAP-072")
{
	struct tern_tx_msg msg;

	fill();
	tern_rdmap_build_send(&msg, V1, TERN_OP_SEND, 0, 0x21222324, 1);
	expect_wire(msg, "41 43 00000000 00000000 21222324 00000000 D0");
	tern_rdmap_build_send(&msg, V1, TERN_OP_SEND_INV, 0x51525354, 2, 1);
	expect_wire(msg, "41 44 51525354 00000000 00000002 00000000 D0");
	tern_rdmap_build_send(&msg, V1, TERN_OP_SEND_SE, 0, 3, 1);
	expect_wire(msg, "41 45 00000000 00000000 00000003 00000000 D0");
	tern_rdmap_build_send(&msg, V1, TERN_OP_SEND_SE_INV, 0x51525354, 4, 0);
	expect_wire(msg, "41 46 51525354 00000000 00000004 00000000");
	tern_rdmap_build_send(&msg, V0, TERN_OP_SEND, 0, 5, 0);
	expect_wire(msg, "40 03 00000000 00000000 00000005 00000000");
}

TEST(rdmap_build_read_req__layout, "RDMAP-016 RDMAP-019 RDMAP-042 RDMAP-047")
{
	struct tern_tx_msg msg;

	tern_rdmap_build_read_req(&msg, V1, 9, 0x01020304, 0x1112131415161718,
				  0x21222324, 0x31323334, 0x4142434445464748);
	expect_wire(msg, "41 41 00000000 00000001 00000009 00000000 "
		    "01020304 1112131415161718 21222324 31323334 4142434445464748");
	expect_eq(msg.hdr_len, 46);
}

TEST(rdmap_build_terminate__layout, "RDMAP-016 RDMAP-079")
{
	static const u8 off[18] = { 0xc1, 0x40, 1, 2, 3, 4, 5 };
	struct tern_term_seg seg = { .hdr = off, .hdr_len = 18, .len = 600 };
	struct tern_tx_msg msg;

	tern_rdmap_build_terminate(&msg, V1, TERN_TERM_DT_BOUNDS, &seg);
	expect_wire(msg, "41 47 00000000 00000002 00000001 00000000 "
		    "11 01 C0 00 0258 C140 01020304 0500000000000000");
	tern_rdmap_build_terminate(&msg, V0, TERN_TERM_LOCAL, NULL);
	expect_wire(msg, "40 07 00000000 00000002 00000001 00000000 00 00 00 00");
}

TEST(rdmap_build__overwrites_a_used_message, "DDP-048")
{
	struct tern_tx_msg msg;

	memset(&msg, 0xff, sizeof(msg));
	tern_rdmap_build_send(&msg, V1, TERN_OP_SEND, 0, 1, 4);
	expect_eq(msg.sent, 0);
	expect(!tern_tx_msg_done(&msg));
	expect_wire(msg, "41 43 00000000 00000000 00000001 00000000 D0D1D2D3");
}
