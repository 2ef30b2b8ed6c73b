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
