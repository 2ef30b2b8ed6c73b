// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Does a Read Response fit the oldest open Read? Row Q11 of `requirements`. */
#include "tap.h"
#include "util.h"

static int match(const struct tern_read_open *o, u32 stag, u64 to, u32 len,
		 bool last)
{
	struct tern_seg seg = {
		.tagged = true, .stag = stag, .to = to, .len = len,
		.last = last,
	};

	return tern_read_match(o, &seg);
}

TEST(read_match__whole_response, "RDMAP-063 RDMAP-107 S13 Q11")
{
	struct tern_read_open o = { .stag = 5, .to = ~0ULL - 20, .len = 100 };

	expect_eq(match(&o, 5, ~0ULL - 20, 40, false), TERN_TERM_NONE);
	o.got = 40;
	expect_eq(match(&o, 5, 19, 59, false), TERN_TERM_NONE);
	o.got = 99;
	expect_eq(match(&o, 5, 78, 1, true), TERN_TERM_NONE);
}

TEST(read_match__nothing_open, "RDMAP-060 Q11")
{
	expect_eq(match(NULL, 5, 0, 0, true), TERN_TERM_RO_OPCODE);
	expect_eq(match(NULL, 5, 0, 10, true), TERN_TERM_RO_OPCODE);
}

TEST(read_match__wrong_stag_or_offset, "RDMAP-063 DDP-087 Q11")
{
	struct tern_read_open o = { .stag = 5, .to = 1000, .len = 100,
				    .got = 10 };

	expect_eq(match(&o, 6, 1010, 90, true), TERN_TERM_DT_INV_STAG);
	expect_eq(match(&o, 6, 0, 900, false), TERN_TERM_DT_INV_STAG);
	expect_eq(match(&o, 5, 1000, 90, true), TERN_TERM_DT_BOUNDS);
	expect_eq(match(&o, 5, 1009, 10, false), TERN_TERM_DT_BOUNDS);
	expect_eq(match(&o, 5, 1011, 900, false), TERN_TERM_DT_BOUNDS);
}

TEST(read_match__short_or_long, "RDMAP-060 Q11")
{
	struct tern_read_open o = { .stag = 5, .to = 0, .len = 100,
				    .got = 10 };

	expect_eq(match(&o, 5, 10, 89, true), TERN_TERM_RO_STREAM);
	expect_eq(match(&o, 5, 10, 91, true), TERN_TERM_RO_STREAM);
	expect_eq(match(&o, 5, 10, 91, false), TERN_TERM_RO_STREAM);
	expect_eq(match(&o, 5, 10, 90, false), TERN_TERM_RO_STREAM);
	expect_eq(match(&o, 5, 10, 90, true), TERN_TERM_NONE);
	expect_eq(match(&o, 5, 10, 0, true), TERN_TERM_RO_STREAM);
	expect_eq(match(&o, 5, 10, 0, false), TERN_TERM_NONE);
}

TEST(read_match__zero_length, "DDP-053 RDMAP-056 Q11")
{
	struct tern_read_open o = { .stag = 5, .to = 1000 };

	expect_eq(match(&o, 77, 3, 0, true), TERN_TERM_NONE);
	expect_eq(match(&o, 5, 1000, 0, false), TERN_TERM_RO_STREAM);
	expect_eq(match(&o, 5, 1000, 1, true), TERN_TERM_RO_STREAM);
}

TEST(read_match__largest_read, "RDMAP-023")
{
	struct tern_read_open o = { .stag = 5, .len = ~0U, .got = ~0U - 4 };

	expect_eq(match(&o, 5, ~0U - 4, 4, true), TERN_TERM_NONE);
	expect_eq(match(&o, 5, ~0U - 4, 5, true), TERN_TERM_RO_STREAM);
}

static int respond(const struct tern_read_open *o, u8 opcode, u32 id, u32 len,
		   bool last)
{
	struct tern_seg seg = {
		.opcode = opcode, .qn = 3, .len = len, .last = last,
	};

	seg.aresp.id = id;
	return tern_response_match(o, &seg);
}

TEST(response_match__atomic, "RFC 7306 5.2.2")
{
	struct tern_read_open o = { .kind = TERN_OPEN_ATOMIC, .id = 0x80000001 };

	expect_eq(respond(&o, TERN_OP_ATOMIC_RESP, 0x80000001, 12, true),
		  TERN_TERM_NONE);
	expect_eq(respond(&o, TERN_OP_ATOMIC_RESP, 1, 12, true), TERN_TERM_RO_STREAM);
	expect_eq(respond(&o, TERN_OP_ATOMIC_RESP, 0, 12, true), TERN_TERM_RO_STREAM);
}

TEST(response_match__read_v2, "RDMAP-107 rdmap-ext-v2")
{
	struct tern_read_open o = { .kind = TERN_OPEN_READ_V2, .len = 100 };

	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 100, true), TERN_TERM_NONE);
	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 99, true), TERN_TERM_RO_STREAM);
	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 100, false),
		  TERN_TERM_RO_STREAM);
	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 99, false), TERN_TERM_NONE);
	o.got = 99;
	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 1, true), TERN_TERM_NONE);
	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 2, true), TERN_TERM_RO_STREAM);
	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 0, true), TERN_TERM_RO_STREAM);
	o.len = 0;
	o.got = 0;
	expect_eq(respond(&o, TERN_OP_READ_RESP_V2, 0, 0, true), TERN_TERM_NONE);
}

/* a Response fits only the kind of Request that is the oldest */
TEST(response_match__another_kind, "Q11 RFC 7306 7 rdmap-ext-v2")
{
	static const u8 op[] = {
		[TERN_OPEN_READ] = TERN_OP_READ_RESP,
		[TERN_OPEN_READ_V2] = TERN_OP_READ_RESP_V2,
		[TERN_OPEN_ATOMIC] = TERN_OP_ATOMIC_RESP,
	};

	for (u32 kind = 0; kind < 3; kind++) {
		struct tern_read_open o = { .kind = kind };

		for (u32 k = 1; k < 3; k++)
			expect_eq(respond(&o, op[k], 0, 0, true), k == kind ?
				  TERN_TERM_NONE : TERN_TERM_RO_OPCODE);
		expect_eq(match(&o, 0, 0, 0, true), kind == TERN_OPEN_READ ?
			  TERN_TERM_NONE : TERN_TERM_RO_OPCODE);
	}
	expect_eq(respond(NULL, TERN_OP_ATOMIC_RESP, 0, 12, true),
		  TERN_TERM_RO_OPCODE);
	expect_eq(respond(NULL, TERN_OP_READ_RESP_V2, 0, 0, true),
		  TERN_TERM_RO_OPCODE);
}

TEST(response_room__by_opcode_and_request, "S8 RFC 7306 5.2.2 rdmap-ext-v2")
{
	struct tern_read_open atomic = { .kind = TERN_OPEN_ATOMIC };
	struct tern_read_open read = { .kind = TERN_OPEN_READ_V2, .len = 4 };
	struct tern_seg seg = { .opcode = TERN_OP_ATOMIC_RESP };

	expect_eq(tern_response_room(&atomic, &seg), 12);
	expect_eq(tern_response_room(&read, &seg), 12);
	seg.opcode = TERN_OP_READ_RESP_V2;
	expect_eq(tern_response_room(&read, &seg), 4);
	/* another kind: refused by its opcode, not by its length */
	expect_eq(tern_response_room(&atomic, &seg), ~0ULL);
	expect_eq(tern_response_room(NULL, &seg), ~0ULL);
}
