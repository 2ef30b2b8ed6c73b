/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Everything that tern sends or reads on the wire: RFC 5044 (MPA), RFC 6581
 * (enhanced startup), RFC 5041 (DDP), RFC 5040 (RDMAP), RFC 7306 (atomics and
 * Immediate Data), draft-wood-storm-rdmap-ext-v2-00 (RDMAP version 2). All fields
 * are big-endian, except the MPA CRC. Headers have any alignment in the stream, so
 * each struct is packed.
 */
#ifndef TERN_CORE_WIRE_H
#define TERN_CORE_WIRE_H

#include "env.h"

/* ---- MPA startup: RFC 5044 7.1.1, RFC 6581 6 and 9.1 ------------------- */

#define TERN_MPA_KEY_LEN	16
#define TERN_MPA_KEY_REQ	"MPA ID Req Frame"
#define TERN_MPA_KEY_REP	"MPA ID Rep Frame"
#define TERN_MPA_MAX_PD		512	/* private data on the wire, bytes */

/* octet 16 */
#define TERN_MPA_F_MARKERS	0x80	/* "I need markers in what I receive" */
#define TERN_MPA_F_CRC		0x40
#define TERN_MPA_F_REJECT	0x20	/* Reply only */
#define TERN_MPA_F_ENHANCED	0x10	/* revision 2: enhanced data follows */

struct tern_mpa_frame {
	u8 key[TERN_MPA_KEY_LEN];
	u8 flags;
	u8 rev;
	__be16 pd_len;
} __packed;

/* first four bytes of private data with TERN_MPA_F_ENHANCED */
struct tern_mpa_enhanced {
	__be16 ird;
	__be16 ord;
} __packed;

#define TERN_MPA_IRD_P2P	0x8000	/* A: peer-to-peer model */
#define TERN_MPA_IRD_SEND	0x4000	/* B: RTR by a zero-length Send */
#define TERN_MPA_ORD_WRITE	0x8000	/* C: RTR by a zero-length RDMA Write */
#define TERN_MPA_ORD_READ	0x4000	/* D: RTR by a zero-length RDMA Read */
#define TERN_MPA_DEPTH_MASK	0x3fff
#define TERN_MPA_DEPTH_NONE	0x3fff	/* "not negotiated here" */
#define TERN_MPA_DEPTH_MAX	0x3ffe

/* ---- FPDU: RFC 5044 4 --------------------------------------------------- */

#define TERN_FPDU_LEN_SIZE	2	/* ULPDU_Length */
#define TERN_FPDU_CRC_SIZE	4
#define TERN_MARKER_SIZE	4
#define TERN_MARKER_SPACING	512
#define TERN_ULPDU_MAX		64768	/* RFC 5044 3: MULPDU limits */
#define TERN_MULPDU_MIN		128
#define TERN_FPDU_MAX		65288	/* ULPDU_MAX framed, with its markers */

struct tern_marker {
	__be16 reserved;
	__be16 fpduptr;
} __packed;

/* zero bytes after the ULPDU: length field, ULPDU and pad fill units of 4 */
static inline u32 tern_fpdu_pad(u32 ulpdu_len)
{
	return (TERN_FPDU_LEN_SIZE - ulpdu_len) & 3;
}

/*
 * Markers at or before byte @body of an FPDU, counted from ULPDU_Length without
 * markers, when the FPDU starts at stream position @pos modulo 512.
 */
static inline u32 tern_markers_upto(u32 pos, u32 body)
{
	u32 first = -pos & (TERN_MARKER_SPACING - 1);

	if (body < first)
		return 0;
	return 1 + (body - first) / (TERN_MARKER_SPACING - TERN_MARKER_SIZE);
}

/* bytes on the wire, a marker in front included */
static inline u32 tern_fpdu_wire_len(u32 pos, bool markers, u32 ulpdu_len)
{
	u32 body = TERN_FPDU_LEN_SIZE + ulpdu_len + tern_fpdu_pad(ulpdu_len) +
		   TERN_FPDU_CRC_SIZE;

	if (!markers)
		return body;
	return body + TERN_MARKER_SIZE * tern_markers_upto(pos, body - 1);
}

/* ---- DDP: RFC 5041 4 ---------------------------------------------------- */

#define TERN_DDP_TAGGED		0x80
#define TERN_DDP_LAST		0x40
#define TERN_DDP_VERSION_MASK	0x03

#define TERN_QN_SEND		0
#define TERN_QN_READ_REQ	1
#define TERN_QN_TERMINATE	2
#define TERN_QN_RESPONSE	3	/* RFC 7306: Atomic Response; Read Response V2 */

struct tern_ddp_tagged {
	u8 ddp_ctrl;
	u8 rdmap_ctrl;
	__be32 stag;
	__be64 to;
} __packed;

struct tern_ddp_untagged {
	u8 ddp_ctrl;
	u8 rdmap_ctrl;
	__be32 inv_stag;
	__be32 qn;
	__be32 msn;
	__be32 mo;
} __packed;

/* ---- RDMAP: RFC 5040 4 -------------------------------------------------- */

#define TERN_RDMAP_VERSION_SHIFT	6
#define TERN_RDMAP_OPCODE_MASK		0x0f	/* versions 0 and 1 */
#define TERN_RDMAP_OPCODE_MASK_V2	0x1f

/*
 * RDMA messages: RFC 5040 figure 4, RFC 7306 figure 2;
 * from 0x11 on figure 2 of the draft, only where RDMAP version 2 is in force
 */
enum tern_rdmap_opcode {
	TERN_OP_WRITE = 0x0,
	TERN_OP_READ_REQ = 0x1,
	TERN_OP_READ_RESP = 0x2,
	TERN_OP_SEND = 0x3,
	TERN_OP_SEND_INV = 0x4,
	TERN_OP_SEND_SE = 0x5,
	TERN_OP_SEND_SE_INV = 0x6,
	TERN_OP_TERMINATE = 0x7,
	TERN_OP_IMM = 0x8,		/* RFC 7306 */
	TERN_OP_IMM_SE = 0x9,
	TERN_OP_ATOMIC_REQ = 0xa,
	TERN_OP_ATOMIC_RESP = 0xb,
	TERN_OP_READ_REQ_V2 = 0x11,	/* RDMAP version 2 */
	TERN_OP_READ_RESP_V2 = 0x12,
	TERN_OP_SEND_IMM = 0x13,
	TERN_OP_SEND_INV_IMM = 0x14,
	TERN_OP_SEND_SE_IMM = 0x15,
	TERN_OP_SEND_SE_INV_IMM = 0x16,
	TERN_OP_COUNT = 0x20,
};

struct tern_read_req {
	__be32 sink_stag;
	__be64 sink_to;
	__be32 size;
	__be32 src_stag;
	__be64 src_to;
} __packed;

/* the draft's figure 4: the size comes first, and the sink is not named */
struct tern_read_req_v2 {
	__be32 size;
	__be32 src_stag;
	__be64 src_to;
} __packed;

/* RFC 7306 figure 7, and the end of a Send with Immediate */
#define TERN_IMM_LEN		8

/* RFC 7306 figure 5; code 1 is reserved */
enum tern_atomic_op {
	TERN_ATOMIC_FETCH_ADD = 0,
	TERN_ATOMIC_CMP_SWAP = 2,
};

#define TERN_ATOMIC_OP_MASK	0xf	/* of @op; the other 28 bits are reserved */

/* RFC 7306 figure 4 */
struct tern_atomic_req {
	__be32 op;
	__be32 id;
	__be32 stag;
	__be64 to;
	__be64 data;
	__be64 data_mask;
	__be64 compare;
	__be64 compare_mask;
} __packed;

/* RFC 7306 figure 6 */
struct tern_atomic_resp {
	__be32 id;
	__be64 old;
} __packed;

#define TERN_TERM_HDR_LEN	0x80	/* M: DDP segment length is valid */
#define TERN_TERM_HDR_DDP	0x40	/* D: DDP header is copied */
#define TERN_TERM_HDR_RDMAP	0x20	/* R: Read Request header is copied */

struct tern_terminate {
	u8 layer_etype;
	u8 ecode;
	u8 hdrct;
	u8 reserved;
} __packed;

/* longest body of a Terminate: with the copy of a Read Request's headers */
#define TERN_TERMINATE_MAX	(sizeof(struct tern_terminate) + 2 + \
				 sizeof(struct tern_ddp_untagged) + \
				 sizeof(struct tern_read_req))

/* longest headers after ULPDU_Length: of such a Terminate, or an Atomic Request */
#define TERN_HDR_MAX	(sizeof(struct tern_ddp_untagged) + TERN_TERMINATE_MAX)

static_assert(sizeof(struct tern_mpa_frame) == 20);
static_assert(offsetof(struct tern_mpa_frame, flags) == 16);
static_assert(offsetof(struct tern_mpa_frame, rev) == 17);
static_assert(offsetof(struct tern_mpa_frame, pd_len) == 18);
static_assert(sizeof(struct tern_mpa_enhanced) == 4);
static_assert(sizeof(struct tern_marker) == TERN_MARKER_SIZE);
static_assert(sizeof(struct tern_ddp_tagged) == 14);
static_assert(offsetof(struct tern_ddp_tagged, stag) == 2);
static_assert(offsetof(struct tern_ddp_tagged, to) == 6);
static_assert(sizeof(struct tern_ddp_untagged) == 18);
static_assert(offsetof(struct tern_ddp_untagged, inv_stag) == 2);
static_assert(offsetof(struct tern_ddp_untagged, qn) == 6);
static_assert(offsetof(struct tern_ddp_untagged, msn) == 10);
static_assert(offsetof(struct tern_ddp_untagged, mo) == 14);
static_assert(sizeof(struct tern_read_req) == 28);
static_assert(offsetof(struct tern_read_req, size) == 12);
static_assert(offsetof(struct tern_read_req, src_to) == 20);
static_assert(sizeof(struct tern_read_req_v2) == 16);
static_assert(offsetof(struct tern_read_req_v2, src_to) == 8);
static_assert(sizeof(struct tern_atomic_req) == 52);
static_assert(offsetof(struct tern_atomic_req, to) == 12);
static_assert(offsetof(struct tern_atomic_req, compare_mask) == 44);
static_assert(sizeof(struct tern_atomic_resp) == 12);
static_assert(offsetof(struct tern_atomic_resp, old) == 4);
static_assert(sizeof(struct tern_atomic_req) <= TERN_TERMINATE_MAX);
static_assert(sizeof(struct tern_terminate) == 4);
static_assert(TERN_TERMINATE_MAX == 52);
static_assert(TERN_HDR_MAX == 70);

/**
 * enum tern_op_set - opcodes that a direction takes together, as a mask
 * @TERN_OPS_BASE: RFC 5040: 0x00 to 0x07
 * @TERN_OPS_7306: RFC 7306: 0x08 to 0x0b
 * @TERN_OPS_V2: the draft: 0x11 to 0x16; only where RDMAP version 2 is in force
 */
enum tern_op_set {
	TERN_OPS_BASE = BIT(0),
	TERN_OPS_7306 = BIT(1),
	TERN_OPS_V2 = BIT(2),
};

/**
 * struct tern_op_row - what the specs say of one RDMAP opcode
 * @name: for traces; NULL for an unknown opcode
 * @set: enum tern_op_set; 0 for an unknown opcode
 * @tagged: carried by tagged segments
 * @qn: untagged: queue number
 * @hdr_len: bytes of RDMAP header after the DDP header of a control message,
 *	Immediate Data included; 0 for the others
 * @payload: may carry ULP payload
 * @has_inv: octets 2..5 hold an STag to invalidate
 * @solicited: asks for a solicited event
 * @imm: the segment with L is 8 bytes of immediate data, and nothing else
 */
struct tern_op_row {
	const char *name;
	u8 set;
	bool tagged;
	u8 qn;
	u8 hdr_len;
	bool payload;
	bool has_inv;
	bool solicited;
	bool imm;
};

extern const struct tern_op_row tern_op_table[TERN_OP_COUNT];

/**
 * tern_rdmap_opcode() - the opcode in an RDMAP control field
 * @rdmap_ctrl: octet 1 of a segment
 * @rv: RDMAP version in force in its direction, 0..2
 * @opcode: result
 *
 * Version 2 makes a bit that versions 0 and 1 ignore the highest one of the opcode,
 * so the version in force decides, never the message's own: 0x53 in version 1 is a
 * Send.
 *
 * Return: its row; that of an unknown opcode has no name.
 */
const struct tern_op_row *tern_rdmap_opcode(u8 rdmap_ctrl, u8 rv, u8 *opcode);

#endif /* TERN_CORE_WIRE_H */
