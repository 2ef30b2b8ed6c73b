// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * FPDU receiver: RFC 5044 4.3, 4.4, 6 and 8. Offsets named "off" count bytes on
 * the wire from the FPDU's first byte, markers included; "body" counts from
 * ULPDU_Length without markers.
 */
#include "fpdu_rx.h"

/* RFC 5044 4.3: a marker in front of ULPDU_Length belongs to this FPDU */
static u32 front_len(u32 start, bool markers)
{
	return markers && !start ? TERN_MARKER_SIZE : 0;
}

/* wire offset of byte @body */
static u32 body_to_off(u32 start, bool markers, u32 body)
{
	if (!markers)
		return body;
	return body + TERN_MARKER_SIZE * tern_markers_upto(start, body);
}

/* bytes from @off to the next marker */
static u32 run_len(u32 start, bool markers, u32 off, u32 left)
{
	u32 run = TERN_MARKER_SPACING -
		  ((start + off) & (TERN_MARKER_SPACING - 1));

	return markers ? min(left, run) : left;
}

void tern_fpdu_rx_init(struct tern_fpdu_rx *rx, bool crc, bool markers)
{
	rx->crc = crc;
	rx->markers = markers;
	rx->pos = 0;
}

/* the headers are shorter than the marker spacing: two runs at most */
static void copy_hdr(struct tern_fpdu *f, bool markers, const u8 *buf)
{
	struct tern_fpdu_range range;
	u32 off = 0, at = 0;

	if (!markers) {
		memcpy(f->hdr, buf + TERN_FPDU_LEN_SIZE, f->hdr_len);
		return;
	}
	while (at < f->hdr_len &&
	       tern_fpdu_range_next(f, markers, &off, &range)) {
		u32 n = min(range.len, f->hdr_len - at);

		memcpy(f->hdr + at, buf + range.fpdu_off, n);
		at += n;
	}
}

int tern_fpdu_rx_header(const struct tern_fpdu_rx *rx, const u8 *buf, u32 len,
			struct tern_fpdu *f, int *term)
{
	u32 front = front_len(rx->pos, rx->markers);
	u32 need = front + TERN_FPDU_LEN_SIZE;

	if (len < need)
		return (int)need;
	f->ulpdu_len = get_unaligned_be16(buf + front);
	if (f->ulpdu_len > TERN_ULPDU_MAX) {
		*term = TERN_TERM_MPA_MARKER;
		return -EPROTO;
	}
	f->hdr_len = min_t(u32, f->ulpdu_len, TERN_HDR_MAX);
	if (f->hdr_len)
		need = 1 + body_to_off(rx->pos, rx->markers,
				       TERN_FPDU_LEN_SIZE + f->hdr_len - 1);
	if (len < need)
		return (int)need;

	f->start = rx->pos;
	f->total = tern_fpdu_wire_len(rx->pos, rx->markers, f->ulpdu_len);
	f->verify = rx->crc || rx->markers;
	f->marker_bad = false;
	f->seen = 0;
	f->crc_state = ~0U;
	copy_hdr(f, rx->markers, buf);
	return 0;
}

/* copy the part of @chunk, at f->seen, that lies in the four bytes at @off */
static void collect(struct tern_fpdu *f, const u8 *chunk, u32 len, u32 off)
{
	u32 from = max(off, f->seen);
	u32 to = min(off + (u32)sizeof(f->field), f->seen + len);

	/* the compiler copies a constant length by itself */
	if (to - from == sizeof(f->field))
		memcpy(f->field, chunk + (from - f->seen), sizeof(f->field));
	else if (from < to)
		memcpy(f->field + (from - off), chunk + (from - f->seen),
		       to - from);
}

/*
 * MPA-032: each marker points to this FPDU's ULPDU_Length. MPA-021, MPA-023:
 * its reserved half and the low two bits are ignored.
 */
static void check_marker(struct tern_fpdu *f, u32 off)
{
	u32 ptr = get_unaligned_be16(f->field + 2) & ~3U;
	u32 want = off ? off - front_len(f->start, true) : 0;

	if (ptr != want)
		f->marker_bad = true;
}

static void verify_markers(struct tern_fpdu *f, const u8 *chunk, u32 len)
{
	u32 end = f->seen + len;
	u32 off = -f->start & (TERN_MARKER_SPACING - 1);

	if (f->seen >= off + TERN_MARKER_SIZE)
		off += (f->seen - off + TERN_MARKER_SPACING -
			TERN_MARKER_SIZE) & ~(TERN_MARKER_SPACING - 1U);
	for (; off < end && off < f->total; off += TERN_MARKER_SPACING) {
		collect(f, chunk, len, off);
		if (off + TERN_MARKER_SIZE <= end)
			check_marker(f, off);
	}
}

/*
 * RFC 5044 4.4: the CRC covers all bytes before its own field, markers too, so
 * one call handles a whole chunk.
 */
void tern_fpdu_rx_verify(const struct tern_fpdu_rx *rx, struct tern_fpdu *f,
			 const u8 *chunk, u32 len)
{
	u32 crc_off = f->total - TERN_FPDU_CRC_SIZE;

	if (rx->markers)
		verify_markers(f, chunk, len);
	if (rx->crc) {
		if (f->seen < crc_off)
			f->crc_state = crc32c(f->crc_state, chunk,
					      min(len, crc_off - f->seen));
		collect(f, chunk, len, crc_off);
	}
	f->seen += len;
}

int tern_fpdu_rx_finish(struct tern_fpdu_rx *rx, const struct tern_fpdu *f)
{
	u8 crc[TERN_FPDU_CRC_SIZE];

	if (rx->crc) {
		put_unaligned_le32(~f->crc_state, crc);
		if (memcmp(crc, f->field, sizeof(crc)))
			return TERN_TERM_MPA_CRC;
	}
	if (f->marker_bad)
		return TERN_TERM_MPA_MARKER;
	rx->pos = (rx->pos + f->total) & (TERN_MARKER_SPACING - 1);
	return TERN_TERM_NONE;
}

bool tern_fpdu_range_next(const struct tern_fpdu *f, bool markers,
			  u32 *ulpdu_off, struct tern_fpdu_range *range)
{
	if (*ulpdu_off >= f->ulpdu_len)
		return false;
	range->fpdu_off = body_to_off(f->start, markers,
				      TERN_FPDU_LEN_SIZE + *ulpdu_off);
	range->len = run_len(f->start, markers, range->fpdu_off,
			     f->ulpdu_len - *ulpdu_off);
	*ulpdu_off += range->len;
	return true;
}
