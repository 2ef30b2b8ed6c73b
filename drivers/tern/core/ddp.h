/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * DDP and RDMAP receive rules for one verified FPDU: RFC 5041 4, 5 and 7, RFC
 * 5040 4 to 7. S2 to S18 of Documentation/requirements.rst are the checks in
 * their order. The caller stops at the first answer that is not TERN_TERM_NONE:
 *
 *	tern_ddp_segment()	S2 to S5
 *	tern_ddp_untagged()	S6 to S8, given the buffer
 *	tern_rdmap_segment()	S9, S10 and S16
 *	tern_mem_check()	S11 to S15, S17 and S18, given the STag: mem_check.h
 *	tern_read_match()	a Read Response: read_open.h
 *	tern_ddp_advance()	the segment is placed: advance MSN and MO
 *
 * The owner's lock guards the state.
 */
#ifndef TERN_CORE_DDP_H
#define TERN_CORE_DDP_H

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
 * @version: DDP and RDMAP version of the connection, 0 or 1
 * @tagged_open: a tagged segment without L was placed
 * @tagged_opcode: of that message
 * @q: untagged queues by QN; QN 3 is not in use without RFC 7306
 */
struct tern_ddp_rx {
	u8 version;
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
 * @row: set by tern_rdmap_segment()
 * @stag: tagged: sink STag
 * @to: tagged: offset of the first payload byte
 * @inv_stag: untagged: STag to invalidate
 * @qn: untagged: queue number, 0..3 after tern_ddp_segment()
 * @msn: untagged
 * @mo: untagged
 * @hdr_len: bytes of the DDP header; tern_rdmap_segment() adds the RDMAP
 *	header of a Read Request (28) or Terminate (its first 4)
 * @len: bytes after the DDP header: payload, or for a Read Request or
 *	Terminate the whole body; fixed by tern_ddp_segment()
 * @rreq: Read Request: the body, in CPU order
 */
struct tern_seg {
	bool tagged;
	bool last;
	bool first;
	u8 version;
	u8 rv;
	u8 opcode;
	const struct tern_op_row *row;
	u32 stag;
	u64 to;
	u32 inv_stag;
	u32 qn;
	u32 msn;
	u32 mo;
	u32 hdr_len;
	u32 len;
	struct {
		u32 sink_stag;
		u64 sink_to;
		u32 size;
		u32 src_stag;
		u64 src_to;
	} rreq;
};

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
 * tern_ddp_untagged() - S6 to S8: buffer, MO, length
 * @rx: state, not changed
 * @seg: an untagged segment
 * @have_buffer: there is a buffer for this QN and MSN
 * @buf_len: its size; QN 0: the receive entry's SGL; QN 1: 28 bytes; QN 2: 52
 *
 * A zero-length Send that is the RTR takes no receive (Q7); the caller handles
 * it.
 */
int tern_ddp_untagged(const struct tern_ddp_rx *rx, const struct tern_seg *seg,
		      bool have_buffer, u64 buf_len);

/**
 * tern_rdmap_segment() - S9, S10, S16: RV, opcode, opcode change, body size
 * @rx: state, not changed
 * @hdr: first bytes of the ULPDU, for the Read Request body
 * @hdr_len: bytes at @hdr
 * @seg: in and out
 */
int tern_rdmap_segment(const struct tern_ddp_rx *rx, const u8 *hdr,
		       u32 hdr_len, struct tern_seg *seg);

/* the segment is placed and, if @seg->last, delivered */
void tern_ddp_advance(struct tern_ddp_rx *rx, const struct tern_seg *seg);

#endif /* TERN_CORE_DDP_H */
