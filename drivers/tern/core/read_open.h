/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Our oldest open request, a Read or an Atomic, which the next Response has to fit. */
#ifndef TERN_CORE_READ_OPEN_H
#define TERN_CORE_READ_OPEN_H

#include "ddp.h"

/**
 * enum tern_open_kind - which Response an open request waits for
 * @TERN_OPEN_READ: a Read Response, tagged
 * @TERN_OPEN_READ_V2: a Read Response V2, on queue 3
 * @TERN_OPEN_ATOMIC: an Atomic Response, on queue 3
 */
enum tern_open_kind {
	TERN_OPEN_READ,
	TERN_OPEN_READ_V2,
	TERN_OPEN_ATOMIC,
};

/**
 * struct tern_read_open - our oldest open request
 * @kind: enum tern_open_kind
 * @stag: TERN_OPEN_READ: sink STag that the Request named
 * @to: TERN_OPEN_READ: its sink TO
 * @len: either Read: bytes asked for
 * @got: either Read: bytes received
 * @id: TERN_OPEN_ATOMIC: Request Identifier
 */
struct tern_read_open {
	enum tern_open_kind kind;
	u32 stag;
	u64 to;
	u32 len;
	u32 got;
	u32 id;
};

/**
 * tern_read_match() - does a Read Response segment fit the oldest open request?
 * @open: NULL when none is open
 * @seg: the segment: opcode TERN_OP_READ_RESP
 *
 * The segment has to continue the oldest Read in STag, offset and length (Q11).
 * Return: TERN_TERM_NONE or the triplet.
 */
int tern_read_match(const struct tern_read_open *open,
		    const struct tern_seg *seg);

/**
 * tern_response_room() - S8 on queue 3: bytes of a Response that fit the request
 * @open: the oldest open request, NULL when none is open (S6 then fails)
 * @seg: a segment on queue 3, before its opcode is checked
 *
 * Return: @buf_len of tern_ddp_untagged(): no limit for a message that S10 or
 * tern_response_match() refuses by its opcode, whatever its length.
 */
u64 tern_response_room(const struct tern_read_open *open,
		       const struct tern_seg *seg);

/**
 * tern_response_match() - does a segment on queue 3 fit the oldest open request?
 * @open: NULL when none is open
 * @seg: the segment, after tern_rdmap_segment(): TERN_OP_ATOMIC_RESP or
 *	TERN_OP_READ_RESP_V2
 *
 * Responses come in the order of their Requests, whatever their kind: RFC 7306 7,
 * a Response "will not be generated until" that of the earlier Request "has been
 * generated". S5 has checked the MSN, S7 the MO.
 *
 * Return: TERN_TERM_NONE; TERN_TERM_RO_OPCODE for a Response of another kind;
 * TERN_TERM_RO_STREAM for another Request Identifier or a wrong length.
 */
int tern_response_match(const struct tern_read_open *open,
			const struct tern_seg *seg);

#endif /* TERN_CORE_READ_OPEN_H */
