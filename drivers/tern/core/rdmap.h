/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * RDMAP messages to send: the headers of each, as a struct tern_tx_msg for
 * fpdu_tx. RFC 5040 4, RFC 5041 4. @version is that of the connection: 0 or 1.
 */
#ifndef TERN_CORE_RDMAP_H
#define TERN_CORE_RDMAP_H

#include "fpdu_tx.h"
#include "wire.h"

void tern_rdmap_build_write(struct tern_tx_msg *msg, u8 version, u32 stag,
			    u64 to, u32 len);
void tern_rdmap_build_read_resp(struct tern_tx_msg *msg, u8 version, u32 stag,
				u64 to, u32 len);

/**
 * tern_rdmap_build_send() - any Send type
 * @msg: result
 * @version: of the connection
 * @opcode: TERN_OP_SEND, _INV, _SE or _SE_INV
 * @inv_stag: for the _INV forms, else 0
 * @msn: of queue 0, counted by the caller from 1
 * @len: payload bytes
 */
void tern_rdmap_build_send(struct tern_tx_msg *msg, u8 version,
			   enum tern_rdmap_opcode opcode, u32 inv_stag,
			   u32 msn, u32 len);

void tern_rdmap_build_read_req(struct tern_tx_msg *msg, u8 version, u32 msn,
			       u32 sink_stag, u64 sink_to, u32 size,
			       u32 src_stag, u64 src_to);

/**
 * tern_rdmap_build_terminate() - the one Terminate of a stream
 * @msg: result
 * @version: of the connection
 * @code: TERN_TERM() triplet
 * @seg: headers of the offending segment, NULL for none
 * @seg_hdr_len: valid bytes at @seg
 * @seg_len: ULPDU_Length of the offending segment
 */
void tern_rdmap_build_terminate(struct tern_tx_msg *msg, u8 version, int code,
				const u8 *seg, u32 seg_hdr_len, u32 seg_len);

#endif /* TERN_CORE_RDMAP_H */
