/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * MPA's Request and Reply frames: RFC 5044 7.1.1, RFC 6581 6. K rows are those of
 * Documentation/requirements.rst.
 */
#ifndef TERN_CORE_MPA_FRAME_H
#define TERN_CORE_MPA_FRAME_H

#include "wire.h"

#define TERN_MPA_FRAME_MAX	(sizeof(struct tern_mpa_frame) + TERN_MPA_MAX_PD)
#define TERN_MPA_ENHANCED_PD	(TERN_MPA_MAX_PD - sizeof(struct tern_mpa_enhanced))

enum tern_mpa_kind {
	TERN_MPA_REQUEST,
	TERN_MPA_REPLY,
};

/**
 * struct tern_mpa_msg - a frame without its Key
 * @rev: revision
 * @flags: octet 16 of the frame
 * @enhanced: @ird and @ord are valid (S=1 under revision 2)
 * @ird: first word of the enhanced data, A and B included
 * @ord: second word, C and D included
 * @pd: private data of the ULP, in the caller's buffer
 * @pd_len: bytes at @pd
 */
struct tern_mpa_msg {
	u8 rev;
	u8 flags;
	bool enhanced;
	u16 ird;
	u16 ord;
	const u8 *pd;
	u16 pd_len;
};

enum tern_mpa_parse {
	TERN_MPA_MORE,		/* more bytes are needed */
	TERN_MPA_WHOLE,
	TERN_MPA_BAD,		/* badly formatted: close, send nothing */
};

/**
 * tern_mpa_parse() - parse a frame
 * @kind: the expected frame
 * @buf: the stream from the frame's first byte
 * @len: bytes at @buf, not more than were asked for
 * @need: with TERN_MPA_MORE: total bytes needed for the next call
 * @msg: with TERN_MPA_WHOLE: the frame; @msg->pd points into @buf
 *
 * A bad Key or length is TERN_MPA_BAD at once (K1 to K3, K6); reserved bits and R are
 * ignored (K10, K11); S without its words is bad (K13).
 */
enum tern_mpa_parse tern_mpa_parse(enum tern_mpa_kind kind, const u8 *buf,
				   u32 len, u32 *need,
				   struct tern_mpa_msg *msg);

/**
 * tern_mpa_build() - write a frame
 * @kind: which Key
 * @msg: the frame
 * @out: room for TERN_MPA_FRAME_MAX bytes
 *
 * Return: bytes written, 0 when the private data is too long.
 */
u32 tern_mpa_build(enum tern_mpa_kind kind, const struct tern_mpa_msg *msg,
		   u8 *out);

#endif /* TERN_CORE_MPA_FRAME_H */
