/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * RDMAP messages to send: the headers of each, as a struct tern_tx_msg for
 * fpdu_tx. RFC 5040 4, RFC 5041 4, RFC 7306 5 and 6, RDMAP version 2. @v is what
 * is in force in the direction when the message is built; @msn is counted by the
 * caller, from 1 on each queue.
 */
#ifndef TERN_CORE_RDMAP_H
#define TERN_CORE_RDMAP_H

#include "atomic.h"
#include "fpdu_tx.h"
#include "term.h"
#include "wire.h"

/**
 * struct tern_rdmap_version - versions in force in one direction
 * @dv: DDP version of the connection, 0 or 1
 * @rv: RDMAP version: as @dv, or 2 after our hello that raised it
 */
struct tern_rdmap_version {
	u8 dv;
	u8 rv;
};

/* before any hello, RV is the connection's version, like DV */
static inline struct tern_rdmap_version tern_rdmap_version_of(u8 version)
{
	return (struct tern_rdmap_version) { .dv = version, .rv = version };
}

void tern_rdmap_build_write(struct tern_tx_msg *msg,
			    struct tern_rdmap_version v, u32 stag, u64 to,
			    u32 len);
void tern_rdmap_build_read_resp(struct tern_tx_msg *msg,
				struct tern_rdmap_version v, u32 stag, u64 to,
				u32 len);

/**
 * tern_rdmap_build_send() - any Send type without immediate data
 * @msg: result
 * @v: versions in force
 * @opcode: TERN_OP_SEND, _INV, _SE or _SE_INV
 * @inv_stag: for the _INV forms, else 0
 * @msn: of queue 0
 * @len: payload bytes
 */
void tern_rdmap_build_send(struct tern_tx_msg *msg,
			   struct tern_rdmap_version v,
			   enum tern_rdmap_opcode opcode, u32 inv_stag,
			   u32 msn, u32 len);

/**
 * tern_rdmap_build_send_imm() - any Send type with immediate data, in version 2
 * @msg: result: the immediate is its tail, a segment of its own
 * @v: versions in force, @v.rv is 2
 * @opcode: TERN_OP_SEND_IMM, _INV_IMM, _SE_IMM or _SE_INV_IMM
 * @inv_stag: for the _INV forms, else 0
 * @msn: of queue 0
 * @len: payload bytes, 0..2^32-9
 * @imm: TERN_IMM_LEN bytes, as on the wire
 */
void tern_rdmap_build_send_imm(struct tern_tx_msg *msg,
			       struct tern_rdmap_version v,
			       enum tern_rdmap_opcode opcode, u32 inv_stag,
			       u32 msn, u32 len, const u8 *imm);

/**
 * tern_rdmap_build_imm() - Immediate Data (RFC 7306 6)
 * @msg: result
 * @v: versions in force
 * @opcode: TERN_OP_IMM or TERN_OP_IMM_SE
 * @msn: of queue 0
 * @imm: TERN_IMM_LEN bytes, as on the wire
 */
void tern_rdmap_build_imm(struct tern_tx_msg *msg, struct tern_rdmap_version v,
			  enum tern_rdmap_opcode opcode, u32 msn,
			  const u8 *imm);

void tern_rdmap_build_read_req(struct tern_tx_msg *msg,
			       struct tern_rdmap_version v, u32 msn,
			       u32 sink_stag, u64 sink_to, u32 size,
			       u32 src_stag, u64 src_to);

/* @v.rv is 2; @msn is of queue 1 */
void tern_rdmap_build_read_req_v2(struct tern_tx_msg *msg,
				  struct tern_rdmap_version v, u32 msn,
				  u32 size, u32 src_stag, u64 src_to);

/* @v.rv is 2; @msn is of queue 3: the next after our last Response there */
void tern_rdmap_build_read_resp_v2(struct tern_tx_msg *msg,
				   struct tern_rdmap_version v, u32 msn,
				   u32 len);

/**
 * tern_rdmap_build_atomic_req() - Atomic Request (RFC 7306 5.2.1)
 * @msg: result
 * @v: versions in force
 * @msn: of queue 1, which Reads count too
 * @a: the operation. RFC 7306 5.2.1: for FetchAdd "the Compare Data field is set to
 *	zero on transmit", the Compare Mask to all ones, whatever @a has
 */
void tern_rdmap_build_atomic_req(struct tern_tx_msg *msg,
				 struct tern_rdmap_version v, u32 msn,
				 const struct tern_atomic *a);

/**
 * tern_rdmap_build_atomic_resp() - Atomic Response (RFC 7306 5.2.2)
 * @msg: result
 * @v: versions in force
 * @msn: of queue 3
 * @id: Request Identifier of the Request
 * @old: the value before the operation
 */
void tern_rdmap_build_atomic_resp(struct tern_tx_msg *msg,
				  struct tern_rdmap_version v, u32 msn,
				  u32 id, u64 old);

/**
 * tern_rdmap_build_terminate() - the one Terminate of a stream
 * @msg: result
 * @v: versions in force
 * @code: TERN_TERM() triplet
 * @seg: what is copied of the offending segment, NULL for none
 */
void tern_rdmap_build_terminate(struct tern_tx_msg *msg,
				struct tern_rdmap_version v, int code,
				const struct tern_term_seg *seg);

#endif /* TERN_CORE_RDMAP_H */
