// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The opcodes of RFC 5040, one row each. Those of RFC 7306 have no row: an
 * opcode without a name is refused (0/2/06).
 */
#include "wire.h"

const struct tern_op_row tern_op_table[TERN_OP_COUNT] = {
	[TERN_OP_WRITE] = {
		.name = "write", .tagged = true, .payload = true,
	},
	[TERN_OP_READ_REQ] = {
		.name = "read-request", .qn = TERN_QN_READ_REQ,
		.hdr_len = sizeof(struct tern_read_req),
	},
	[TERN_OP_READ_RESP] = {
		.name = "read-response", .tagged = true, .payload = true,
	},
	[TERN_OP_SEND] = {
		.name = "send", .qn = TERN_QN_SEND, .payload = true,
	},
	[TERN_OP_SEND_INV] = {
		.name = "send-inv", .qn = TERN_QN_SEND, .payload = true,
		.has_inv = true,
	},
	[TERN_OP_SEND_SE] = {
		.name = "send-se", .qn = TERN_QN_SEND, .payload = true,
		.solicited = true,
	},
	[TERN_OP_SEND_SE_INV] = {
		.name = "send-se-inv", .qn = TERN_QN_SEND, .payload = true,
		.has_inv = true, .solicited = true,
	},
	[TERN_OP_TERMINATE] = {
		.name = "terminate", .qn = TERN_QN_TERMINATE,
		.hdr_len = sizeof(struct tern_terminate),
	},
};
