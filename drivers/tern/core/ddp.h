/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * DDP and RDMAP receive rules for one verified FPDU: RFC 5041 4, 5 and 7, RFC
 * 5040 4 to 7, RFC 7306 4 to 8, and RDMAP version 2. S2 to S20 of
 * Documentation/requirements.rst are the checks in their order. The caller stops at
 * the first answer that is not TERN_TERM_NONE:
 *
 *	tern_ddp_repeats()	all but S6 and S8, if this is like the segment before
 *	tern_ddp_segment()	S2 to S5
 *	tern_ddp_slot()		which buffer an untagged segment needs
 *	tern_ddp_untagged()	S6 to S8, given the buffer
 *	tern_rdmap_segment()	S9, S10 and S16, and an Atomic's code of S19
 *	tern_mem_check()	S11 to S15 and S17 to S20, given the STag: mem_check.h
 *	tern_read_match()	a Read Response: read_open.h
 *	tern_response_match()	an Atomic Response or Read Response V2: read_open.h
 *	tern_ddp_advance()	the segment is placed: advance MSN and MO
 *
 * The owner's lock guards the state.
 */
#ifndef TERN_CORE_DDP_H
#define TERN_CORE_DDP_H

#include "atomic.h"
#include "term.h"
#include "wire.h"

#define TERN_QN_COUNT	4

/**
 * struct tern_ddp_queue - one untagged queue, one direction
 * @msn: of the next message, or the one under reassembly; starts at 1
 * @mo: bytes of that message that were placed
 * @open: a segment without L was placed
 * @opcode: of the message under reassembly
 * @inv_stag: of the message under reassembly
 */
struct tern_ddp_queue {
	u32 msn;
	u32 mo;
	bool open;
	u8 opcode;
	u32 inv_stag;
};

/**
 * struct tern_ddp_rx - receive state of a stream
 * @dv: DDP version of the connection, 0 or 1
 * @rv: RDMAP version in force: as @dv, or 2 after the peer's hello that raised it
 * @sets: enum tern_op_set: the opcodes that are taken now; @TERN_OPS_V2 only with
 *	@rv 2. The caller changes it and @rv between two segments
 * @tagged_open: a tagged segment without L was placed
 * @tagged_opcode: of that message
 * @q: untagged queues by QN; QN 3 exists when @sets has more than the base
 */
struct tern_ddp_rx {
	u8 dv;
	u8 rv;
	u8 sets;
	bool tagged_open;
	u8 tagged_opcode;
	struct tern_ddp_queue q[TERN_QN_COUNT];
};

/**
 * struct tern_seg - one parsed DDP segment
 * @tagged: T bit
 * @last: L bit
 * @first: first segment of an untagged message : takes a buffer
 * @version: DV
 * @rv: RDMAP version
 * @opcode: enum tern_rdmap_opcode, unchecked before tern_rdmap_segment()
 * @ctrl: first two bytes of the header, L cleared
 * @row: of @opcode; one without a name when the direction does not take it
 * @stag: tagged: sink STag
 * @to: tagged: offset of the first payload byte
 * @inv_stag: untagged: STag to invalidate
 * @qn: untagged: queue number, 0..3 after tern_ddp_segment()
 * @msn: untagged
 * @mo: untagged
 * @hdr_len: bytes of the DDP header; tern_rdmap_segment() adds the RDMAP
 *	header of a control message (of a Terminate its first 4), and the 8 bytes
 *	of immediate data
 * @len: bytes after the DDP header: payload, or the whole body of a control
 *	message; tern_rdmap_segment() takes the immediate data off, so @mo + @len
 *	of an L segment on QN 0 is the length of the ULP's message
 * @rreq: Read Request, either form: the body, in CPU order; @sink_stag and
 *	@sink_to are 0 in version 2's
 * @atomic: Atomic Request: the body, in CPU order
 * @aresp: Atomic Response: the body, in CPU order: Original Request Identifier and
 *	Original Remote Data Value
 * @imm: L segment with immediate data (@row->imm): as on the wire
 *
 * @rreq, @atomic, @aresp and @imm are set by tern_rdmap_segment().
 */
struct tern_seg {
	bool tagged;
	bool last;
	bool first;
	u8 version;
	u8 rv;
	u8 opcode;
	u8 ctrl[2];
	const struct tern_op_row *row;
	u32 stag;
	u64 to;
	u32 inv_stag;
	u32 qn;
	u32 msn;
	u32 mo;
	u32 hdr_len;
	u32 len;
	union {
		struct {
			u32 sink_stag;
			u64 sink_to;
			u32 size;
			u32 src_stag;
			u64 src_to;
		} rreq;
		struct tern_atomic atomic;
		struct {
			u32 id;
			u64 old;
		} aresp;
		u8 imm[TERN_IMM_LEN];
	};
};

/**
 * tern_ddp_rx_init() - start of a stream
 * @rx: state
 * @version: DDP and RDMAP version of the connection, 0 or 1
 *
 * It takes the opcodes of RFC 5040; the caller adds others to @rx->sets.
 */
void tern_ddp_rx_init(struct tern_ddp_rx *rx, u8 version);

/**
 * tern_ddp_segment() - S2 to S5: header present, DV, QN, MSN
 * @rx: state, not changed
 * @hdr: first bytes of the ULPDU
 * @hdr_len: bytes at @hdr: min(ulpdu_len, TERN_HDR_MAX)
 * @ulpdu_len: ULPDU_Length
 * @seg: result, valid up to the check that failed
 *
 * Return: TERN_TERM_NONE or the triplet.
 */
int tern_ddp_segment(const struct tern_ddp_rx *rx, const u8 *hdr, u32 hdr_len,
		     u32 ulpdu_len, struct tern_seg *seg);

/**
 * tern_ddp_repeats() - is this segment the next of a series?
 * @rx: state, not changed
 * @hdr: first bytes of the ULPDU
 * @hdr_len: bytes at @hdr: min(ulpdu_len, TERN_HDR_MAX)
 * @ulpdu_len: ULPDU_Length
 * @seg: in: the segment before it, as tern_ddp_advance() took it, or zeroed; out, if
 *	true: as tern_ddp_segment() and tern_rdmap_segment() leave it
 *
 * A message is many segments, and messages of one kind follow each other: most headers
 * differ from the one before in TO, or in MSN and MO. They need no look at the rest.
 *
 * Return: true if @hdr has the control field of @seg, of an opcode with payload and
 * without immediate data, and passes S2 to S5, S7, S9 and S10. False says nothing: go
 * through all checks.
 */
bool tern_ddp_repeats(const struct tern_ddp_rx *rx, const u8 *hdr, u32 hdr_len,
		      u32 ulpdu_len, struct tern_seg *seg);

/**
 * enum tern_slot - the buffer that an untagged segment needs
 * @TERN_SLOT_RECV: QN 0: the receive entry of its MSN
 * @TERN_SLOT_READ: QN 1: an IRD slot for a Read of either form, or for a message
 *	that S10 refuses
 * @TERN_SLOT_ATOMIC: QN 1: an IRD slot for an Atomic
 * @TERN_SLOT_TERMINATE: QN 2: the one place for a Terminate
 * @TERN_SLOT_RESPONSE: QN 3: our oldest open request, of any kind
 */
enum tern_slot {
	TERN_SLOT_RECV,
	TERN_SLOT_READ,
	TERN_SLOT_ATOMIC,
	TERN_SLOT_TERMINATE,
	TERN_SLOT_RESPONSE,
};

/**
 * tern_ddp_slot() - which buffer does an untagged segment need?
 * @seg: an untagged segment that passed tern_ddp_segment()
 * @len: result: QN 1 and 2: bytes of body that the slot holds; 0 on the others,
 *	whose length the caller knows (the receive entry's) or
 *	tern_response_room()
 *
 * The opcode decides on QN 1, before S9 and S10 have checked it: one that is not
 * taken there gets the longest slot of the queue, and S10 refuses it.
 */
enum tern_slot tern_ddp_slot(const struct tern_seg *seg, u64 *len);

/**
 * tern_ddp_untagged() - S6 to S8: buffer, MO, length
 * @rx: state, not changed
 * @seg: an untagged segment
 * @have_buffer: there is a buffer for this QN and MSN
 * @buf_len: its size: @len of tern_ddp_slot(), the receive entry's SGL, or
 *	tern_response_room()
 *
 * Immediate data is not placed in the receive entry's SGL, so it always fits; S16
 * checks its 8 bytes.
 *
 * A zero-length Send that is the RTR takes no receive (Q7); the caller handles
 * it.
 */
int tern_ddp_untagged(const struct tern_ddp_rx *rx, const struct tern_seg *seg,
		      bool have_buffer, u64 buf_len);

/**
 * tern_rdmap_segment() - S9, S10, S16, S19: RV, opcode, opcode change, body size,
 * AOpCode
 * @rx: state, not changed
 * @hdr: first bytes of the ULPDU, for the body of a control message
 * @hdr_len: bytes at @hdr
 * @seg: in and out
 *
 * Return: TERN_TERM_NONE or the triplet.
 */
int tern_rdmap_segment(const struct tern_ddp_rx *rx, const u8 *hdr,
		       u32 hdr_len, struct tern_seg *seg);

/* the segment is placed and, if @seg->last, delivered */
static inline void tern_ddp_advance(struct tern_ddp_rx *rx, const struct tern_seg *seg)
{
	struct tern_ddp_queue *q = &rx->q[seg->qn];

	if (seg->tagged) {
		rx->tagged_open = !seg->last;
		rx->tagged_opcode = seg->opcode;
		return;
	}
	q->open = !seg->last;
	if (seg->last) {
		/* DDP-040: 0xFFFFFFFF is followed by 0 */
		q->msn++;
		q->mo = 0;
		return;
	}
	q->mo += seg->len;
	q->opcode = seg->opcode;
	q->inv_stag = seg->inv_stag;
}

#endif /* TERN_CORE_DDP_H */
