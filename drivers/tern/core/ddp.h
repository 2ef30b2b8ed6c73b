/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DDP and RDMAP receive rules for one verified FPDU: RFC 5041 4, 5 and 7,
 * RFC 5040 4 to 7, in the order of checklist-ddp-rdmap section 3. The shell
 * calls, stopping at the first answer that is not TERN_TERM_NONE:
 *
 *	tern_ddp_segment()	steps 2 to 5
 *	tern_ddp_untagged()	steps 6 to 8: it brings the buffer
 *	tern_rdmap_segment()	steps 9, 10 and 16
 *	tern_mem_check()	steps 11 to 15, 17, 19 to 21: it brings the STag
 *	tern_ddp_advance()	the segment is placed: move MSN and MO on
 *
 * State is guarded by its owner's lock.
 */
#ifndef TERN_CORE_DDP_H
#define TERN_CORE_DDP_H

#include "term.h"
#include "wire.h"

#define TERN_QN_COUNT	4

/**
 * struct tern_ddp_queue - one untagged queue, one direction
 * @msn: number of the message that is due or under reassembly; starts at 1
 * @mo: octets of it that were placed
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
 * struct tern_seg - one DDP segment, taken apart
 * @tagged: T bit
 * @last: L bit
 * @first: first segment of an untagged message (a buffer must be taken)
 * @version: DV
 * @rv: RDMAP version
 * @opcode: enum tern_rdmap_opcode, or any value up to tern_rdmap_segment()
 * @row: set by tern_rdmap_segment()
 * @stag: tagged: sink STag
 * @to: tagged: offset of the first payload octet
 * @inv_stag: untagged: STag to invalidate
 * @qn: untagged: queue number, 0..3 behind tern_ddp_segment()
 * @msn: untagged
 * @mo: untagged
 * @hdr_len: octets of the DDP header; tern_rdmap_segment() adds the RDMAP
 *	header of a Read Request (28) or Terminate (its first 4)
 * @len: octets behind the DDP header: payload, or for a Read Request or
 *	Terminate the whole body; never changed behind tern_ddp_segment()
 * @rreq: Read Request: the body, in CPU order below
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
 * tern_ddp_segment() - steps 2 to 5: header present, DV, QN, MSN
 * @rx: state, not changed
 * @hdr: the ULPDU's first octets
 * @hdr_len: their number: min(ulpdu_len, TERN_HDR_MAX)
 * @ulpdu_len: ULPDU_Length
 * @seg: result, valid as far as the answer allows
 *
 * Return: TERN_TERM_NONE or the triplet.
 */
int tern_ddp_segment(const struct tern_ddp_rx *rx, const u8 *hdr, u32 hdr_len,
		     u32 ulpdu_len, struct tern_seg *seg);

/**
 * tern_ddp_untagged() - steps 6 to 8: buffer, MO, length
 * @rx: state, not changed
 * @seg: an untagged segment
 * @have_buffer: there is a buffer for this QN and MSN
 * @buf_len: its size; QN 0: the receive entry's SGL; QN 1: 28 octets; QN 2: 52
 *
 * Zero-length RTR Sends are the caller's business (checklist-mpa 4.10).
 */
int tern_ddp_untagged(const struct tern_ddp_rx *rx, const struct tern_seg *seg,
		      bool have_buffer, u64 buf_len);

/**
 * tern_rdmap_segment() - steps 9, 10, 16: RV, opcode, opcode change, body size
 * @rx: state, not changed
 * @hdr: the ULPDU's first octets, for the Read Request body
 * @hdr_len: their number
 * @seg: in and out
 */
int tern_rdmap_segment(const struct tern_ddp_rx *rx, const u8 *hdr,
		       u32 hdr_len, struct tern_seg *seg);

/* the segment is placed and, if @seg->last, delivered */
void tern_ddp_advance(struct tern_ddp_rx *rx, const struct tern_seg *seg);

/**
 * struct tern_mem_view - what the shell knows of an STag
 * @valid: it exists and is not invalidated
 * @assoc: it belongs to the stream's PD, and is not bound to another stream
 * @access: TERN_ACCESS_* rights
 * @base: first valid TO
 * @len: octets
 * @invalidatable: may be invalidated by this stream's peer
 */
struct tern_mem_view {
	bool valid;
	bool assoc;
	bool invalidatable;
	u32 access;
	u64 base;
	u64 len;
};

#define TERN_ACCESS_LOCAL_WRITE		BIT(0)
#define TERN_ACCESS_REMOTE_WRITE	BIT(1)
#define TERN_ACCESS_REMOTE_READ		BIT(2)
#define TERN_ACCESS_REMOTE_ATOMIC	BIT(3)
#define TERN_ACCESS_MW_BIND		BIT(4)	/* judged where windows are bound */
#define TERN_ACCESS_REMOTE		(TERN_ACCESS_REMOTE_WRITE | \
					 TERN_ACCESS_REMOTE_READ | \
					 TERN_ACCESS_REMOTE_ATOMIC)

enum tern_mem_use {
	TERN_USE_WRITE,		/* inbound RDMA Write: steps 11 to 15 */
	TERN_USE_READ_SRC,	/* source of a Read Request: step 17 */
	TERN_USE_LOCAL_READ,	/* own send SGE */
	TERN_USE_LOCAL_WRITE,	/* own receive or Read sink SGE */
	TERN_USE_INVALIDATE,	/* Send with Invalidate: step 21 */
};

/**
 * tern_mem_check() - may this range be used so?
 * @view: the STag
 * @use: what for
 * @to: first octet
 * @len: octets; 0 is always good, but for TERN_USE_INVALIDATE
 *
 * Return: TERN_TERM_NONE or the triplet; for the LOCAL uses any triplet stands
 * for a local protection error.
 */
int tern_mem_check(const struct tern_mem_view *view, enum tern_mem_use use,
		   u64 to, u64 len);

/**
 * struct tern_read_open - the oldest outstanding Read of ours
 * @stag: sink STag that the Request named
 * @to: its sink TO
 * @len: octets asked for
 * @got: octets that came
 */
struct tern_read_open {
	u32 stag;
	u64 to;
	u32 len;
	u32 got;
};

/**
 * tern_read_match() - does a Read Response segment fit the oldest open Read?
 * @open: NULL when no Read is open
 * @seg: the segment
 *
 * checklist-ddp-rdmap 7.12. Return: TERN_TERM_NONE or the triplet.
 */
int tern_read_match(const struct tern_read_open *open,
		    const struct tern_seg *seg);

#endif /* TERN_CORE_DDP_H */
