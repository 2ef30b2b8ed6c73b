// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The FPDUs of a long message: RFC 5041 5.2. */
#include "series.h"

static bool may_repeat(const struct tern_seg *seg)
{
	return seg->len && seg->row->payload && !seg->row->imm && !seg->row->has_inv;
}

void tern_series_begin(struct tern_series *x, const u8 *hdr, const struct tern_seg *seg,
		       u32 left)
{
	u32 ulpdu_len = seg->hdr_len + seg->len;

	tern_series_end(x);
	if (seg->last || !may_repeat(seg))
		return;
	put_unaligned_be16((u16)ulpdu_len, x->front);
	memcpy(x->front + TERN_FPDU_LEN_SIZE, hdr, seg->hdr_len);
	x->tagged = seg->tagged;
	x->total = tern_fpdu_wire_len(0, false, ulpdu_len);
	x->payload = seg->len;
	x->left = left;
	tern_series_step(x);
}
