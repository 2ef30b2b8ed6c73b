/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * FPDU receiver: RFC 5044 4.3, 4.4, 6 and 8. Finds the FPDU at the head of the
 * stream, tells its size, checks its CRC and markers, and only then gives its
 * header and payload. It never copies payload.
 *
 * For each FPDU the caller calls, with the bytes in its queue:
 *
 *	tern_fpdu_rx_header()	until the header is complete
 *	tern_fpdu_rx_verify()	chunk by chunk over all @total bytes, if
 *				@verify is set
 *	tern_fpdu_rx_finish()	the result, and the move to the next FPDU
 *	tern_fpdu_range_next()	the payload, marker-free ranges in order
 *
 * Without markers tern_fpdu_rx_is_good() is in place of verify() and finish() for an FPDU that
 * is contiguous. Nothing of an FPDU may be placed before one of them found it good
 * (MPA-050, MPA-066, MPA-068). The owner's lock guards the state.
 */
#ifndef TERN_CORE_FPDU_RX_H
#define TERN_CORE_FPDU_RX_H

#include "term.h"
#include "wire.h"

/* bytes that hold any header: length, headers, two markers */
#define TERN_FPDU_PEEK	(TERN_FPDU_LEN_SIZE + TERN_HDR_MAX + 2 * TERN_MARKER_SIZE)

/**
 * struct tern_fpdu_rx - one direction's receive framing
 * @crc: CRC is on
 * @markers: the peer sends markers
 * @pos: with markers: stream position of the next byte modulo TERN_MARKER_SPACING,
 *	0..511, markers included; 0 at the first byte of Full Operation
 */
struct tern_fpdu_rx {
	bool crc;
	bool markers;
	u32 pos;
};

/**
 * struct tern_fpdu - the FPDU that is being checked
 * @start: stream position modulo 512 of its first byte (a marker in front
 *	counts as its first byte)
 * @total: bytes of it on the wire, markers, pad and CRC included
 * @ulpdu_len: ULPDU_Length
 * @hdr_len: valid bytes at @hdr: min(@ulpdu_len, TERN_HDR_MAX)
 * @field: the marker or CRC that is being collected
 * @hdr: first bytes of the ULPDU, without markers
 * @verify: CRC or markers are on: verify() must see all bytes, unless is_good() does
 * @seen: bytes that verify() saw
 * @crc_state: running CRC
 * @marker_bad: a marker has a wrong pointer
 */
struct tern_fpdu {
	u32 start;
	u32 total;
	u32 ulpdu_len;
	u32 hdr_len;
	bool verify;
	bool marker_bad;
	u32 seen;
	u32 crc_state;
	u8 field[TERN_MARKER_SIZE];
	u8 hdr[TERN_HDR_MAX + 2];
};

/**
 * tern_fpdu_rx_init() - start of Full Operation
 * @rx: state
 * @crc: CRC was negotiated
 * @markers: our frame said M=1 (or the version forces markers)
 */
void tern_fpdu_rx_init(struct tern_fpdu_rx *rx, bool crc, bool markers);

/**
 * tern_fpdu_rx_header() - parse the front of the next FPDU
 * @rx: state, not changed
 * @buf: the first unconsumed bytes of the stream, contiguous
 * @len: bytes at @buf; TERN_FPDU_PEEK are always enough
 * @f: filled in when the answer is 0
 * @term: the error when the answer is negative: TERN_TERM_MPA_MARKER for a
 *	length over TERN_ULPDU_MAX (Q8)
 *
 * Return: 0 when @f is complete (the caller waits for @f->total bytes); else
 * the number of bytes, more than @len, needed before the next call; or
 * -EPROTO with *@term set.
 */
int tern_fpdu_rx_header(const struct tern_fpdu_rx *rx, const u8 *buf, u32 len,
			struct tern_fpdu *f, int *term);

/**
 * tern_fpdu_rx_verify() - feed the next bytes of the FPDU
 * @rx: state
 * @f: the FPDU
 * @chunk: bytes in stream order, any split, the first call at byte 0
 * @len: bytes at @chunk, within @f->total
 */
void tern_fpdu_rx_verify(const struct tern_fpdu_rx *rx, struct tern_fpdu *f,
			 const u8 *chunk, u32 len);

/**
 * tern_fpdu_rx_finish() - result for a whole FPDU
 * @rx: state, moved past the FPDU on success
 * @f: the FPDU
 *
 * Return: TERN_TERM_NONE, TERN_TERM_MPA_CRC or TERN_TERM_MPA_MARKER. The CRC is
 * checked first (R4, R5).
 */
static inline int tern_fpdu_rx_finish(struct tern_fpdu_rx *rx, const struct tern_fpdu *f)
{
	if (rx->crc && get_unaligned_le32(f->field) != ~f->crc_state)
		return TERN_TERM_MPA_CRC;
	if (f->marker_bad)
		return TERN_TERM_MPA_MARKER;
	rx->pos = (rx->pos + f->total) & (TERN_MARKER_SPACING - 1);
	return TERN_TERM_NONE;
}

/**
 * tern_fpdu_rx_is_good() - is the CRC of a whole FPDU right, or not looked at?
 * @rx: state, without markers
 * @fpdu: the FPDU, contiguous
 * @total: its bytes on the wire
 */
static inline bool tern_fpdu_rx_is_good(const struct tern_fpdu_rx *rx, const u8 *fpdu,
					u32 total)
{
	u32 crc_off = total - TERN_FPDU_CRC_SIZE;

	return !rx->crc ||
	       get_unaligned_le32(fpdu + crc_off) == ~crc32c(~0U, fpdu, crc_off);
}

/**
 * struct tern_fpdu_range - a run of ULPDU bytes without markers
 * @fpdu_off: offset from the FPDU's first byte on the wire
 * @len: bytes
 */
struct tern_fpdu_range {
	u32 fpdu_off;
	u32 len;
};

/**
 * tern_fpdu_range_next() - next range of the ULPDU
 * @f: the FPDU
 * @markers: as in struct tern_fpdu_rx
 * @ulpdu_off: in: offset in the ULPDU to go on at, 0..ulpdu_len; out: end of
 *	the range
 * @range: result
 *
 * Return: false when the ULPDU is finished.
 */
bool tern_fpdu_range_next(const struct tern_fpdu *f, bool markers,
			  u32 *ulpdu_off, struct tern_fpdu_range *range);

#endif /* TERN_CORE_FPDU_RX_H */
