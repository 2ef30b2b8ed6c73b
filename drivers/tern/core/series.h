/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The FPDUs of a long message: between the first and the last they differ in nothing but
 * the place of their payload (RFC 5041 5.2), so what was found out of one holds for the
 * next, and its header is known before it comes. Without markers only.
 *
 * The owner's lock guards the state.
 */
#ifndef TERN_CORE_SERIES_H
#define TERN_CORE_SERIES_H

#include "ddp.h"
#include "wire.h"

#define TERN_SERIES_TAGGED	(TERN_FPDU_LEN_SIZE + sizeof(struct tern_ddp_tagged))
#define TERN_SERIES_UNTAGGED	(TERN_FPDU_LEN_SIZE + sizeof(struct tern_ddp_untagged))

/**
 * struct tern_series - the next FPDU, if the message goes on
 * @front: its first bytes: ULPDU_Length and DDP header, as on the wire
 * @tagged: it is tagged: TERN_SERIES_TAGGED bytes at @front are valid, else
 *	TERN_SERIES_UNTAGGED
 * @total: bytes of it on the wire; ~0: no series
 * @payload: bytes of its payload, not 0
 * @left: bytes of the buffer from its payload on: at most 2^32 - 1
 */
struct tern_series {
	u8 front[TERN_SERIES_UNTAGGED];
	bool tagged;
	u32 total;
	u32 payload;
	u32 left;
};

/* nothing is known of the next FPDU */
static inline void tern_series_end(struct tern_series *x)
{
	x->total = ~0U;
}

/**
 * tern_series_begin() - what follows a segment that is not its message's last
 * @x: result
 * @hdr: first bytes of its ULPDU
 * @seg: the segment, placed: of an opcode with payload, @seg->last false
 * @left: bytes that the buffer of the message has after it, ~0: another check bounds it
 *
 * There is no series for empty segments, for opcodes with immediate data, or for those that
 * invalidate an STag, which is checked each time (RFC 5040 7.2).
 */
void tern_series_begin(struct tern_series *x, const u8 *hdr, const struct tern_seg *seg,
		       u32 left);

/**
 * tern_series_is_next() - is this the FPDU that goes on?
 * @x: the series
 * @fpdu: its first bytes
 * @len: bytes at @fpdu, contiguous
 *
 * Return: true if it is all there, with the header that it should have, and more of its
 * message may follow: it passes S2 to S10 of ddp.h, once its CRC is good. False says
 * nothing: go through all checks.
 */
static inline bool tern_series_is_next(const struct tern_series *x, const u8 *fpdu, u32 len)
{
	if (len < x->total || x->payload >= x->left ||
	    memcmp(fpdu, x->front, TERN_SERIES_TAGGED))
		return false;
	return x->tagged || !memcmp(fpdu + TERN_SERIES_TAGGED, x->front + TERN_SERIES_TAGGED,
				    TERN_SERIES_UNTAGGED - TERN_SERIES_TAGGED);
}

/* the TO or MO of the next FPDU */
static inline void tern_series_step(struct tern_series *x)
{
	u8 *hdr = x->front + TERN_FPDU_LEN_SIZE;
	u8 *to = hdr + offsetof(struct tern_ddp_tagged, to);
	u8 *mo = hdr + offsetof(struct tern_ddp_untagged, mo);

	if (x->tagged)
		put_unaligned_be64(get_unaligned_be64(to) + x->payload, to);
	else
		put_unaligned_be32(get_unaligned_be32(mo) + x->payload, mo);
}

/* it was placed: go on to the one after it */
static inline void tern_series_advance(struct tern_series *x)
{
	x->left -= x->payload;
	tern_series_step(x);
}

#endif /* TERN_CORE_SERIES_H */
