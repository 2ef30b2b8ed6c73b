/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The options of an end, made of 8 bytes of input. */
#ifndef TERN_FUZZ_OPTIONS_H
#define TERN_FUZZ_OPTIONS_H

#include "mpa.h"
#include "mpa_frame.h"

static struct tern_mpa_options read_options(const u8 *p)
{
	struct tern_mpa_options opt = {
		.type = p[0] % 3,
		.rev = 1 + (p[0] >> 2) % 2,
		.markers = p[0] & 0x10,
		.crc = p[0] & 0x20,
		.p2p = p[0] & 0x40,
		.max_ird = 128,
		.ird = p[3] & 0x7f,
		.ord = p[4] & 0x7f,
	};
	u8 rtr = p[1] & 3;

	opt.enhanced = opt.rev == 2 && !(p[0] & 0x80);
	for (u32 i = 0; i < 3 && rtr; i++, rtr = (p[1] >> (2 * i)) & 3)
		opt.rtr[i] = rtr;
	return opt;
}

#endif /* TERN_FUZZ_OPTIONS_H */
