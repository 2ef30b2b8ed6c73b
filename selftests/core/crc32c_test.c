// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The CRC32c of the tests themselves is right: vectors of RFC 3720 B.4. */
#include "ref.h"
#include "tap.h"
#include "util.h"

static u32 digest(const u8 *p, u32 len)
{
	return ~crc32c(~0U, p, len);
}

TEST(crc32c__vectors, "MPA-036 MPA-046")
{
	u8 buf[64];

	expect_eq(digest((const u8 *)"123456789", 9), 0xe3069283);
	memset(buf, 0, 32);
	expect_eq(digest(buf, 32), 0x8a9136aa);
	memset(buf, 0xff, 32);
	expect_eq(digest(buf, 32), 0x62a8ab43);
	for (u8 i = 0; i < 32; i++)
		buf[i] = i;
	expect_eq(digest(buf, 32), 0x46dd794e);
	for (u8 i = 0; i < 32; i++)
		buf[i] = (u8)(31 - i);
	expect_eq(digest(buf, 32), 0x113fdb5c);
	from_hex(buf, "01C00000 00000000 00000000 00000000 14000000 00000400 "
		 "00000014 00000018 28000000 00000000 02000000 00000000");
	expect_eq(digest(buf, 48), 0xd9963a56);
}

TEST(crc32c__bytes_least_significant_first, "MPA-046")
{
	static const u8 want[] = { 0x83, 0x92, 0x06, 0xe3 };
	u8 got[4];

	put_unaligned_le32(digest((const u8 *)"123456789", 9), got);
	expect_bytes(got, want, 4);
}

TEST(crc32c__agrees_with_bitwise_at_any_split, "MPA-036")
{
	struct rng r = rng_seed(1);
	u8 buf[200];

	rng_fill(&r, buf, sizeof(buf));
	for (u32 len = 0; len <= sizeof(buf); len++) {
		u32 cut = rng_below(&r, len + 1);
		u32 crc = crc32c(~0U, buf, cut);

		crc = crc32c(crc, buf + cut, len - cut);
		expect_eq(crc, ref_crc32c(~0U, buf, len));
	}
}
