// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Headers of RDMAP messages to send: RFC 5040 4, RFC 5041 4. */
#include "rdmap.h"
#include "term.h"

static void start_msg(struct tern_tx_msg *msg, u32 hdr_len, u32 len)
{
	msg->hdr_len = hdr_len;
	msg->len = len;
	msg->sent = 0;
	msg->last_begun = false;
}

/* RV is the connection's version, like DV */
static u8 rdmap_ctrl(u8 version, enum tern_rdmap_opcode opcode)
{
	return (u8)(version << TERN_RDMAP_VERSION_SHIFT | opcode);
}

static void build_tagged(struct tern_tx_msg *msg, u8 version,
			 enum tern_rdmap_opcode opcode, u32 stag, u64 to,
			 u32 len)
{
	struct tern_ddp_tagged hdr = {
		.ddp_ctrl = TERN_DDP_TAGGED | version,
		.rdmap_ctrl = rdmap_ctrl(version, opcode),
		.stag = cpu_to_be32(stag),
		.to = cpu_to_be64(to),
	};

	start_msg(msg, sizeof(hdr), len);
	memcpy(msg->hdr, &hdr, sizeof(hdr));
}

static void build_untagged(struct tern_tx_msg *msg, u8 version,
			   enum tern_rdmap_opcode opcode, u32 inv_stag,
			   u32 msn, u32 len)
{
	struct tern_ddp_untagged hdr = {
		.ddp_ctrl = version,
		.rdmap_ctrl = rdmap_ctrl(version, opcode),
		.inv_stag = cpu_to_be32(inv_stag),
		.qn = cpu_to_be32(tern_op_table[opcode].qn),
		.msn = cpu_to_be32(msn),
	};

	start_msg(msg, sizeof(hdr), len);
	memcpy(msg->hdr, &hdr, sizeof(hdr));
}

void tern_rdmap_build_write(struct tern_tx_msg *msg, u8 version, u32 stag,
			    u64 to, u32 len)
{
	build_tagged(msg, version, TERN_OP_WRITE, stag, to, len);
}

void tern_rdmap_build_read_resp(struct tern_tx_msg *msg, u8 version, u32 stag,
				u64 to, u32 len)
{
	build_tagged(msg, version, TERN_OP_READ_RESP, stag, to, len);
}

void tern_rdmap_build_send(struct tern_tx_msg *msg, u8 version,
			   enum tern_rdmap_opcode opcode, u32 inv_stag,
			   u32 msn, u32 len)
{
	build_untagged(msg, version, opcode, inv_stag, msn, len);
}

void tern_rdmap_build_read_req(struct tern_tx_msg *msg, u8 version, u32 msn,
			       u32 sink_stag, u64 sink_to, u32 size,
			       u32 src_stag, u64 src_to)
{
	struct tern_read_req req = {
		.sink_stag = cpu_to_be32(sink_stag),
		.sink_to = cpu_to_be64(sink_to),
		.size = cpu_to_be32(size),
		.src_stag = cpu_to_be32(src_stag),
		.src_to = cpu_to_be64(src_to),
	};

	build_untagged(msg, version, TERN_OP_READ_REQ, 0, msn, 0);
	memcpy(msg->hdr + msg->hdr_len, &req, sizeof(req));
	msg->hdr_len += sizeof(req);
}

void tern_rdmap_build_terminate(struct tern_tx_msg *msg, u8 version, int code,
				const u8 *seg, u32 seg_hdr_len, u32 seg_len)
{
	/* a stream sends one Terminate, so its MSN is always 1 */
	build_untagged(msg, version, TERN_OP_TERMINATE, 0, 1, 0);
	msg->hdr_len += tern_term_build(msg->hdr + msg->hdr_len, code, seg,
					seg_hdr_len, seg_len);
}
