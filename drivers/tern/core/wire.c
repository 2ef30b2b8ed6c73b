// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The opcodes of RFC 5040 figure 4, RFC 7306 figure 2 and the draft's figure 2, one
 * row each.
 */
#include "wire.h"

const struct tern_op_row tern_op_table[TERN_OP_COUNT] = {
	[TERN_OP_WRITE] = {
		.name = "write", .set = TERN_OPS_BASE,
		.tagged = true, .payload = true,
	},
	[TERN_OP_READ_REQ] = {
		.name = "read-request", .set = TERN_OPS_BASE,
		.qn = TERN_QN_READ_REQ, .hdr_len = sizeof(struct tern_read_req),
	},
	[TERN_OP_READ_RESP] = {
		.name = "read-response", .set = TERN_OPS_BASE,
		.tagged = true, .payload = true,
	},
	[TERN_OP_SEND] = {
		.name = "send", .set = TERN_OPS_BASE,
		.qn = TERN_QN_SEND, .payload = true,
	},
	[TERN_OP_SEND_INV] = {
		.name = "send-inv", .set = TERN_OPS_BASE,
		.qn = TERN_QN_SEND, .payload = true, .has_inv = true,
	},
	[TERN_OP_SEND_SE] = {
		.name = "send-se", .set = TERN_OPS_BASE,
		.qn = TERN_QN_SEND, .payload = true, .solicited = true,
	},
	[TERN_OP_SEND_SE_INV] = {
		.name = "send-se-inv", .set = TERN_OPS_BASE,
		.qn = TERN_QN_SEND, .payload = true,
		.has_inv = true, .solicited = true,
	},
	[TERN_OP_TERMINATE] = {
		.name = "terminate", .set = TERN_OPS_BASE,
		.qn = TERN_QN_TERMINATE, .hdr_len = sizeof(struct tern_terminate),
	},
	[TERN_OP_IMM] = {
		.name = "immediate", .set = TERN_OPS_7306,
		.qn = TERN_QN_SEND, .hdr_len = TERN_IMM_LEN, .imm = true,
	},
	[TERN_OP_IMM_SE] = {
		.name = "immediate-se", .set = TERN_OPS_7306,
		.qn = TERN_QN_SEND, .hdr_len = TERN_IMM_LEN, .imm = true,
		.solicited = true,
	},
	[TERN_OP_ATOMIC_REQ] = {
		.name = "atomic-request", .set = TERN_OPS_7306,
		.qn = TERN_QN_READ_REQ,
		.hdr_len = sizeof(struct tern_atomic_req),
	},
	[TERN_OP_ATOMIC_RESP] = {
		.name = "atomic-response", .set = TERN_OPS_7306,
		.qn = TERN_QN_RESPONSE,
		.hdr_len = sizeof(struct tern_atomic_resp),
	},
	[TERN_OP_READ_REQ_V2] = {
		.name = "read-request-v2", .set = TERN_OPS_V2,
		.qn = TERN_QN_READ_REQ,
		.hdr_len = sizeof(struct tern_read_req_v2),
	},
	[TERN_OP_READ_RESP_V2] = {
		.name = "read-response-v2", .set = TERN_OPS_V2,
		.qn = TERN_QN_RESPONSE, .payload = true,
	},
	[TERN_OP_SEND_IMM] = {
		.name = "send-imm", .set = TERN_OPS_V2,
		.qn = TERN_QN_SEND, .payload = true, .imm = true,
	},
	[TERN_OP_SEND_INV_IMM] = {
		.name = "send-inv-imm", .set = TERN_OPS_V2,
		.qn = TERN_QN_SEND, .payload = true, .imm = true,
		.has_inv = true,
	},
	[TERN_OP_SEND_SE_IMM] = {
		.name = "send-se-imm", .set = TERN_OPS_V2,
		.qn = TERN_QN_SEND, .payload = true, .imm = true,
		.solicited = true,
	},
	[TERN_OP_SEND_SE_INV_IMM] = {
		.name = "send-se-inv-imm", .set = TERN_OPS_V2,
		.qn = TERN_QN_SEND, .payload = true, .imm = true,
		.has_inv = true, .solicited = true,
	},
};

const struct tern_op_row *tern_rdmap_opcode(u8 rdmap_ctrl, u8 rv, u8 *opcode)
{
	*opcode = rdmap_ctrl & (rv == 2 ? TERN_RDMAP_OPCODE_MASK_V2 :
					  TERN_RDMAP_OPCODE_MASK);
	return &tern_op_table[*opcode];
}
