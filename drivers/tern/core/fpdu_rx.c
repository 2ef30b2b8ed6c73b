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

/* wire offset of byte @body, among markers */
static u32 marked_off(u32 start, u32 body)
{
	return body + TERN_MARKER_SIZE * tern_markers_upto(start, body);
}

/* bytes from @off to the next marker */
static u32 run_len(u32 start, u32 off, u32 left)
{
	u32 run = TERN_MARKER_SPACING -
		  ((start + off) & (TERN_MARKER_SPACING - 1));

	return min(left, run);
}

void tern_fpdu_rx_init(struct tern_fpdu_rx *rx, bool crc, bool markers)
{
	rx->crc = crc;
	rx->markers = markers;
	rx->pos = 0;
}

/* the headers are shorter than the marker spacing: two runs at most */
static void copy_marked_hdr(struct tern_fpdu *f, const u8 *buf)
{
	struct tern_fpdu_range range;
	u32 off = 0, at = 0;

	while (at < f->hdr_len && tern_fpdu_range_next(f, true, &off, &range)) {
		u32 n = min(range.len, f->hdr_len - at);

		memcpy(f->hdr + at, buf + range.fpdu_off, n);
		at += n;
	}
}

/* the compiler copies a constant length by itself; nobody looks at what is too much */
static void copy_hdr(struct tern_fpdu *f, const u8 *buf, u32 len)
{
	if (len >= sizeof(f->hdr))
		memcpy(f->hdr, buf, sizeof(f->hdr));
	else
		memcpy(f->hdr, buf, f->hdr_len);
}

/* bytes of the headers, with ULPDU_Length, from the first on the wire to the last */
static u32 head_len(u32 start, bool markers, u32 hdr_len)
{
	u32 len = TERN_FPDU_LEN_SIZE + hdr_len;

	return markers ? 1 + marked_off(start, len - 1) : len;
}

static __always_inline int parse_header(const struct tern_fpdu_rx *rx, bool markers,
					const u8 *buf, u32 len, struct tern_fpdu *f,
					int *term)
{
	u32 need, front = front_len(rx->pos, markers);

	if (len < front + TERN_FPDU_LEN_SIZE)
		return (int)(front + TERN_FPDU_LEN_SIZE);
	f->ulpdu_len = get_unaligned_be16(buf + front);
	if (f->ulpdu_len > TERN_ULPDU_MAX) {
		*term = TERN_TERM_MPA_MARKER;
		return -EPROTO;
	}
	f->hdr_len = min_t(u32, f->ulpdu_len, TERN_HDR_MAX);
	need = head_len(rx->pos, markers, f->hdr_len);
	if (len < need)
		return (int)need;

	f->start = rx->pos;
	f->total = tern_fpdu_wire_len(rx->pos, markers, f->ulpdu_len);
	f->verify = rx->crc || markers;
	f->marker_bad = false;
	f->seen = 0;
	f->crc_state = ~0U;
	if (markers)
		copy_marked_hdr(f, buf);
	else
		copy_hdr(f, buf + TERN_FPDU_LEN_SIZE, len - TERN_FPDU_LEN_SIZE);
	return 0;
}

static noinline int parse_marked(const struct tern_fpdu_rx *rx, const u8 *buf, u32 len,
				 struct tern_fpdu *f, int *term)
{
	return parse_header(rx, true, buf, len, f, term);
}

int tern_fpdu_rx_header(const struct tern_fpdu_rx *rx, const u8 *buf, u32 len,
			struct tern_fpdu *f, int *term)
{
	if (rx->markers)
		return parse_marked(rx, buf, len, f, term);
	/* little is left of it */
	return parse_header(rx, false, buf, len, f, term);
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

bool tern_fpdu_range_next(const struct tern_fpdu *f, bool markers,
			  u32 *ulpdu_off, struct tern_fpdu_range *range)
{
	u32 body = TERN_FPDU_LEN_SIZE + *ulpdu_off;
	u32 left = f->ulpdu_len - *ulpdu_off;

	if (*ulpdu_off >= f->ulpdu_len)
		return false;
	range->fpdu_off = markers ? marked_off(f->start, body) : body;
	range->len = markers ? run_len(f->start, range->fpdu_off, left) : left;
	*ulpdu_off += range->len;
	return true;
}
