/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Helpers of the tests of MPA startup: letters as in `requirements`, options, frames. */
#ifndef TERN_MPA_OPTIONS_H
#define TERN_MPA_OPTIONS_H

#include <string.h>

#include "mpa.h"
#include "mpa_frame.h"

#define X	TERN_MPA_DEPTH_NONE
#define A	TERN_MPA_IRD_P2P
#define B	TERN_MPA_IRD_SEND
#define C	TERN_MPA_ORD_WRITE
#define D	TERN_MPA_ORD_READ

#define NP	TERN_MPA_NONPERMISSIVE
#define P	TERN_MPA_PERMISSIVE
#define RDMAC	TERN_MPA_RDMAC

/* tern's default options */
static inline struct tern_mpa_options default_options(void)
{
	return (struct tern_mpa_options) {
		.rev = 2,
		.enhanced = true,
		.crc = true,
		.p2p = true,
		.rtr = { TERN_MPA_RTR_WRITE, TERN_MPA_RTR_READ,
			 TERN_MPA_RTR_SEND },
		.ird = 16,
		.ord = 16,
		.max_ird = 128,
	};
}

/* an enhanced frame with these depths and flags */
static inline struct tern_mpa_msg enhanced(u16 ird, u16 ord)
{
	return (struct tern_mpa_msg) {
		.rev = 2,
		.enhanced = true,
		.ird = ird,
		.ord = ord,
	};
}

static inline enum tern_mpa_parse parse(enum tern_mpa_kind kind,
					const u8 *buf, u32 len,
					struct tern_mpa_msg *msg)
{
	u32 need = 0;

	return tern_mpa_parse(kind, buf, len, &need, msg);
}

/* a frame of @pd_len bytes of private data, byte by byte; Return: its length */
static inline u32 sample(enum tern_mpa_kind kind, u8 rev, u8 flags, u16 pd_len,
			 u8 *buf)
{
	memcpy(buf, kind == TERN_MPA_REQUEST ? TERN_MPA_KEY_REQ :
					       TERN_MPA_KEY_REP, 16);
	buf[16] = flags;
	buf[17] = rev;
	put_unaligned_be16(pd_len, buf + 18);
	for (u32 i = 0; i < pd_len && i < TERN_MPA_MAX_PD; i++)
		buf[20 + i] = (u8)i;
	return 20 + pd_len;
}

#endif /* TERN_MPA_OPTIONS_H */
