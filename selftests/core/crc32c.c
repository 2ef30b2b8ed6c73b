// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* crc32c() of core/env.h for userspace: polynomial 0x82F63B78 (reflected), eight tables. */
#include "env.h"

static u32 table[8][256];

__attribute__((constructor)) static void fill_table(void)
{
	for (u32 i = 0; i < 256; i++) {
		u32 crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
		table[0][i] = crc;
	}
	for (u32 i = 0; i < 256; i++)
		for (int t = 1; t < 8; t++)
			table[t][i] = table[t - 1][i] >> 8 ^
				      table[0][table[t - 1][i] & 0xff];
}

static u32 eight(u32 crc, const u8 *p)
{
	u32 lo, hi;

	memcpy(&lo, p, 4);
	memcpy(&hi, p + 4, 4);
	lo = le32_to_cpu(lo) ^ crc;
	hi = le32_to_cpu(hi);
	return table[7][lo & 0xff] ^ table[6][lo >> 8 & 0xff] ^
	       table[5][lo >> 16 & 0xff] ^ table[4][lo >> 24] ^
	       table[3][hi & 0xff] ^ table[2][hi >> 8 & 0xff] ^
	       table[1][hi >> 16 & 0xff] ^ table[0][hi >> 24];
}

u32 crc32c(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;

	for (; len >= 8; len -= 8, p += 8)
		crc = eight(crc, p);
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}
