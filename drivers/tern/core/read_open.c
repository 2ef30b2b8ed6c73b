// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Matching Responses: RFC 5040 4 and 7, RFC 5041 5.2, RFC 7306 5.2.2. */
#include "read_open.h"

/* the Read gets no more than it asked for, and L at its end, in no other segment */
static int match_len(const struct tern_read_open *open,
		     const struct tern_seg *seg)
{
	u32 left = open->len - open->got;

	if (seg->len > left)
		return TERN_TERM_RO_STREAM;
	if (seg->last ? seg->len < left : seg->len == left)
		return TERN_TERM_RO_STREAM;
	return TERN_TERM_NONE;
}

int tern_read_match(const struct tern_read_open *open,
		    const struct tern_seg *seg)
{
	if (!open || open->kind != TERN_OPEN_READ)
		return TERN_TERM_RO_OPCODE;
	/*
	 * RFC 5041 5.2: STag and TO of an empty message "MUST NOT be checked"
	 */
	if (seg->len && seg->stag != open->stag)
		return TERN_TERM_DT_INV_STAG;
	if (seg->len && seg->to != open->to + open->got)
		return TERN_TERM_DT_BOUNDS;
	return match_len(open, seg);
}

u64 tern_response_room(const struct tern_read_open *open,
		       const struct tern_seg *seg)
{
	if (seg->opcode == TERN_OP_ATOMIC_RESP)
		return sizeof(struct tern_atomic_resp);
	if (open && open->kind == TERN_OPEN_READ_V2 &&
	    seg->opcode == TERN_OP_READ_RESP_V2)
		return open->len;
	return ~(u64)0;
}

static u8 response_opcode(const struct tern_read_open *open)
{
	switch (open->kind) {
	case TERN_OPEN_READ_V2:
		return TERN_OP_READ_RESP_V2;
	case TERN_OPEN_ATOMIC:
		return TERN_OP_ATOMIC_RESP;
	default:
		return TERN_OP_READ_RESP;
	}
}

int tern_response_match(const struct tern_read_open *open,
			const struct tern_seg *seg)
{
	if (!open || seg->opcode != response_opcode(open))
		return TERN_TERM_RO_OPCODE;
	if (open->kind == TERN_OPEN_READ_V2)
		return match_len(open, seg);
	return seg->aresp.id == open->id ? TERN_TERM_NONE :
					   TERN_TERM_RO_STREAM;
}
