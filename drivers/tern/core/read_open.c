// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Matching Read Responses: RFC 5040 4 and 7, RFC 5041 5.2. */
#include "read_open.h"

int tern_read_match(const struct tern_read_open *open,
		    const struct tern_seg *seg)
{
	u32 left;

	if (!open)
		return TERN_TERM_RO_OPCODE;
	/*
	 * RFC 5041 5.2: STag and TO of an empty message "MUST NOT be checked"
	 */
	if (seg->len && seg->stag != open->stag)
		return TERN_TERM_DT_INV_STAG;
	if (seg->len && seg->to != open->to + open->got)
		return TERN_TERM_DT_BOUNDS;
	left = open->len - open->got;
	if (seg->len > left)
		return TERN_TERM_RO_STREAM;
	/* L is set in the segment that completes the Read, and in no other */
	if (seg->last ? seg->len < left : seg->len == left)
		return TERN_TERM_RO_STREAM;
	return TERN_TERM_NONE;
}
