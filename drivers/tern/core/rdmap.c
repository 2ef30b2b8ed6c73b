// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Headers of RDMAP messages to send: RFC 5040 4, RFC 5041 4, RFC 7306 5 and 6, RDMAP
 * version 2.
 */
#include "rdmap.h"
#include "term.h"

static void start_msg(struct tern_tx_msg *msg, u32 hdr_len, u32 len)
{
	msg->hdr_len = hdr_len;
	msg->len = len;
	msg->sent = 0;
	msg->last_begun = false;
	msg->tail_len = 0;
}

static u8 rdmap_ctrl(struct tern_rdmap_version v, enum tern_rdmap_opcode opcode)
{
	return (u8)(v.rv << TERN_RDMAP_VERSION_SHIFT | opcode);
}

static void build_tagged(struct tern_tx_msg *msg, struct tern_rdmap_version v,
			 enum tern_rdmap_opcode opcode, u32 stag, u64 to,
			 u32 len)
{
	struct tern_ddp_tagged hdr = {
		.ddp_ctrl = TERN_DDP_TAGGED | v.dv,
		.rdmap_ctrl = rdmap_ctrl(v, opcode),
		.stag = cpu_to_be32(stag),
		.to = cpu_to_be64(to),
	};

	start_msg(msg, sizeof(hdr), len);
	memcpy(msg->hdr, &hdr, sizeof(hdr));
}

static void build_untagged(struct tern_tx_msg *msg, struct tern_rdmap_version v,
			   enum tern_rdmap_opcode opcode, u32 inv_stag,
			   u32 msn, u32 len)
{
	struct tern_ddp_untagged hdr = {
		.ddp_ctrl = v.dv,
		.rdmap_ctrl = rdmap_ctrl(v, opcode),
		.inv_stag = cpu_to_be32(inv_stag),
		.qn = cpu_to_be32(tern_op_table[opcode].qn),
		.msn = cpu_to_be32(msn),
	};

	start_msg(msg, sizeof(hdr), len);
	memcpy(msg->hdr, &hdr, sizeof(hdr));
}

/* a control message: its RDMAP header follows the DDP header */
static void build_control(struct tern_tx_msg *msg, struct tern_rdmap_version v,
			  enum tern_rdmap_opcode opcode, u32 msn,
			  const void *body, u32 len)
{
	build_untagged(msg, v, opcode, 0, msn, 0);
	memcpy(msg->hdr + msg->hdr_len, body, len);
	msg->hdr_len += len;
}

void tern_rdmap_build_write(struct tern_tx_msg *msg,
			    struct tern_rdmap_version v, u32 stag, u64 to,
			    u32 len)
{
	build_tagged(msg, v, TERN_OP_WRITE, stag, to, len);
}

void tern_rdmap_build_read_resp(struct tern_tx_msg *msg,
				struct tern_rdmap_version v, u32 stag, u64 to,
				u32 len)
{
	build_tagged(msg, v, TERN_OP_READ_RESP, stag, to, len);
}

void tern_rdmap_build_send(struct tern_tx_msg *msg,
			   struct tern_rdmap_version v,
			   enum tern_rdmap_opcode opcode, u32 inv_stag,
			   u32 msn, u32 len)
{
	build_untagged(msg, v, opcode, inv_stag, msn, len);
}

void tern_rdmap_build_send_imm(struct tern_tx_msg *msg,
			       struct tern_rdmap_version v,
			       enum tern_rdmap_opcode opcode, u32 inv_stag,
			       u32 msn, u32 len, const u8 *imm)
{
	build_untagged(msg, v, opcode, inv_stag, msn, len);
	memcpy(msg->tail, imm, TERN_IMM_LEN);
	msg->tail_len = TERN_IMM_LEN;
}

void tern_rdmap_build_imm(struct tern_tx_msg *msg, struct tern_rdmap_version v,
			  enum tern_rdmap_opcode opcode, u32 msn,
			  const u8 *imm)
{
	build_control(msg, v, opcode, msn, imm, TERN_IMM_LEN);
}

void tern_rdmap_build_read_req(struct tern_tx_msg *msg,
			       struct tern_rdmap_version v, u32 msn,
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

	build_control(msg, v, TERN_OP_READ_REQ, msn, &req, sizeof(req));
}

void tern_rdmap_build_read_req_v2(struct tern_tx_msg *msg,
				  struct tern_rdmap_version v, u32 msn,
				  u32 size, u32 src_stag, u64 src_to)
{
	struct tern_read_req_v2 req = {
		.size = cpu_to_be32(size),
		.src_stag = cpu_to_be32(src_stag),
		.src_to = cpu_to_be64(src_to),
	};

	build_control(msg, v, TERN_OP_READ_REQ_V2, msn, &req, sizeof(req));
}

void tern_rdmap_build_read_resp_v2(struct tern_tx_msg *msg,
				   struct tern_rdmap_version v, u32 msn,
				   u32 len)
{
	build_untagged(msg, v, TERN_OP_READ_RESP_V2, 0, msn, len);
}

void tern_rdmap_build_atomic_req(struct tern_tx_msg *msg,
				 struct tern_rdmap_version v, u32 msn,
				 const struct tern_atomic *a)
{
	bool swap = a->op == TERN_ATOMIC_CMP_SWAP;
	struct tern_atomic_req req = {
		.op = cpu_to_be32(a->op),
		.id = cpu_to_be32(a->id),
		.stag = cpu_to_be32(a->stag),
		.to = cpu_to_be64(a->to),
		.data = cpu_to_be64(a->data),
		.data_mask = cpu_to_be64(a->data_mask),
		.compare = cpu_to_be64(swap ? a->compare : 0),
		.compare_mask = cpu_to_be64(swap ? a->compare_mask : ~(u64)0),
	};

	build_control(msg, v, TERN_OP_ATOMIC_REQ, msn, &req, sizeof(req));
}

void tern_rdmap_build_atomic_resp(struct tern_tx_msg *msg,
				  struct tern_rdmap_version v, u32 msn,
				  u32 id, u64 old)
{
	struct tern_atomic_resp resp = {
		.id = cpu_to_be32(id),
		.old = cpu_to_be64(old),
	};

	build_control(msg, v, TERN_OP_ATOMIC_RESP, msn, &resp, sizeof(resp));
}

void tern_rdmap_build_terminate(struct tern_tx_msg *msg,
				struct tern_rdmap_version v, int code,
				const struct tern_term_seg *seg)
{
	/* a stream sends one Terminate, so its MSN is always 1 */
	build_untagged(msg, v, TERN_OP_TERMINATE, 0, 1, 0);
	msg->hdr_len += tern_term_build(msg->hdr + msg->hdr_len, code, seg);
}
