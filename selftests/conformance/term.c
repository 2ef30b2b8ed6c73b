// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The Terminates that a device sends for what RDMAP finds wrong: each triplet of layer
 * 0 (RFC 5040 4.8) that a peer can cause, byte for byte (Q30). Those of DDP and MPA
 * are in term_ddp.c, what happens around a Terminate in term_end.c, received ones in
 * term_recv.c.
 */
#include "offence.h"

#define SINK_TO		0x123456789abcull

/* ---- Read Requests ---- */

static uint32_t read_of(struct peer *p, const struct agent_mr *mr, int64_t at,
			uint32_t size, uint8_t *out)
{
	return seg_read_req(p, WILD_STAG, SINK_TO, size, mr->rkey, mr->va + at, out);
}

static uint32_t read_unknown(struct peer *p, unsigned int arg, uint8_t *out)
{
	(void)arg;
	return seg_read_req(p, 7, SINK_TO, 8, WILD_STAG, 0x1000, out);
}

static uint32_t read_below(struct peer *p, unsigned int size, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lr");

	return read_of(p, &mr, -1, size, out);
}

static uint32_t read_beyond(struct peer *p, unsigned int at, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lr");

	return read_of(p, &mr, at, 8, out);
}

static uint32_t read_no_right(struct peer *p, unsigned int arg, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lw");

	(void)arg;
	return read_of(p, &mr, 0, 8, out);
}

static uint32_t read_foreign(struct peer *p, unsigned int arg, uint8_t *out)
{
	struct agent_mr mr = agent_mr_pd(MR_LEN, "lrw", 1);

	(void)arg;
	return read_of(p, &mr, 0, 8, out);
}

static uint32_t read_wrap(struct peer *p, unsigned int arg, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lr");

	(void)arg;
	return seg_read_req(p, 7, SINK_TO, 8, mr.rkey, -4ull, out);
}

/* change the version in RDMAP's control byte */
static uint32_t read_version(struct peer *p, unsigned int rv, uint8_t *out)
{
	uint32_t len = offence_good_read(p, out);

	out[1] = rv << 6 | OP_READ_REQ;
	return len;
}

static uint32_t read_short(struct peer *p, unsigned int len, uint8_t *out)
{
	offence_good_read(p, out);
	return len;
}

/* ---- Writes ---- */

static uint32_t write_version(struct peer *p, unsigned int rv, uint8_t *out)
{
	uint32_t len = offence_good_write(p, out);

	out[1] = rv << 6 | OP_WRITE;
	return len;
}

/* a tagged message with the opcode of an untagged one, or with no valid opcode */
static uint32_t tagged_opcode(struct peer *p, unsigned int op, uint8_t *out)
{
	uint32_t len = offence_good_write(p, out);

	out[1] = 0x40 | op;
	return len;
}

static uint32_t tagged_runt(struct peer *p, unsigned int len, uint8_t *out)
{
	offence_good_write(p, out);
	return len;
}

/* ---- Sends ---- */

static uint32_t send_version(struct peer *p, unsigned int rv, uint8_t *out)
{
	uint32_t len = offence_good_send(p, out);

	out[1] = rv << 6 | OP_SEND;
	return len;
}

#define ON_QUEUE(qn, op)	((qn) << 8 | (op))

/* a message of 4 bytes on QN 0 to 2 with an opcode that the queue must not have */
static uint32_t queue_opcode(struct peer *p, unsigned int where, uint8_t *out)
{
	unsigned int qn = where >> 8;
	uint32_t msn = p->tx_msn[qn];
	uint32_t len = offence_good_send(p, out);

	out[1] = 0x40 | (where & 0xff);
	put32(out + 6, qn);
	put32(out + 10, msn);
	return len;
}

static uint32_t untagged_runt(struct peer *p, unsigned int len, uint8_t *out)
{
	offence_good_send(p, out);
	return len;
}

static uint32_t inv_unknown(struct peer *p, unsigned int op, uint8_t *out)
{
	return seg_send(p, op, WILD_STAG, 0, offence_data, 4, true, out);
}

/* a plain MR is valid on each stream of its PD, so no peer may invalidate it */
static uint32_t inv_shared(struct peer *p, unsigned int op, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lrw");

	return seg_send(p, op, mr.rkey, 0, offence_data, 4, true, out);
}

static uint32_t inv_foreign(struct peer *p, unsigned int op, uint8_t *out)
{
	struct agent_mr mr = agent_mr_pd(MR_LEN, "lrw", 1);

	return seg_send(p, op, mr.rkey, 0, offence_data, 4, true, out);
}

/* ---- Read Responses ---- */

static uint32_t response_unasked(struct peer *p, unsigned int arg, uint8_t *out)
{
	(void)arg;
	return seg_read_resp(p, WILD_STAG, 0, NULL, 0, true, out);
}

static uint32_t response_size(struct peer *p, unsigned int len, uint8_t *out)
{
	struct open_read r = offence_open_read(p);

	return seg_read_resp(p, r.stag, r.to, offence_data, len, true, out);
}

static uint32_t response_version(struct peer *p, unsigned int rv, uint8_t *out)
{
	struct open_read r = offence_open_read(p);
	uint32_t len = seg_read_resp(p, r.stag, r.to, offence_data, 32, true, out);

	out[1] = rv << 6 | OP_READ_RESP;
	return len;
}

/* ---- the device's own errors ---- */

/* post a work request whose memory is of another PD */
static uint32_t local_fault(struct peer *p, unsigned int op, uint8_t *out)
{
	struct agent_mr mr = agent_mr_pd(MR_LEN, "lrw", 1);

	(void)p;
	(void)out;
	agent_post(offence_session.conn, 2, op, AG_SIGNALED, &mr, 0, 8, WILD_STAG, 0x1000);
	return 0;
}

/* ---- the table ---- */

#define OFFENCES(X)								\
X(read_unknown, "RDMAP-131 RDMAP-123 RDMAP-031", WITH_RDMA,			\
	TRIPLET(0, 1, 0), ANY, read_unknown, 0)					\
X(read_one_below, "RDMAP-133 RDMAP-123", WITH_RDMA,				\
	TRIPLET(0, 1, 1), ANY, read_below, 1)					\
X(read_from_below, "RDMAP-133", WITH_RDMA, TRIPLET(0, 1, 1), ANY, read_below, 8) \
X(read_past_end, "RDMAP-134", WITH_RDMA,					\
	TRIPLET(0, 1, 1), ANY, read_beyond, MR_LEN - 7)				\
X(read_after_end, "RDMAP-133", WITH_RDMA,					\
	TRIPLET(0, 1, 1), ANY, read_beyond, MR_LEN)				\
X(read_no_right, "RDMAP-123", WITH_RDMA, TRIPLET(0, 1, 2), ANY, read_no_right, 0) \
X(read_foreign_pd, "RDMAP-132", WITH_RDMA, TRIPLET(0, 1, 3), ANY, read_foreign, 0) \
X(read_wrap, "RDMAP-135", WITH_RDMA, TRIPLET(0, 1, 4), ANY, read_wrap, 0)	\
X(invalidate_unknown, "RDMAP-128 Q14", WITH_DDP,					\
	TRIPLET(0, 1, 9), TRIPLET(0, 2, 9), inv_unknown, OP_SEND_INV)		\
X(invalidate_unknown_se, "RDMAP-128 Q14", WITH_DDP,					\
	TRIPLET(0, 1, 9), TRIPLET(0, 2, 9), inv_unknown, OP_SEND_SE_INV)	\
X(invalidate_shared, "RDMAP-129 RDMAP-143 Q14", WITH_DDP,				\
	TRIPLET(0, 1, 9), TRIPLET(0, 2, 9), inv_shared, OP_SEND_INV)		\
X(invalidate_foreign_pd, "RDMAP-129 Q14", WITH_DDP,					\
	TRIPLET(0, 1, 9), TRIPLET(0, 2, 9), inv_foreign, OP_SEND_SE_INV)	\
X(send_rv_0, "RDMAP-127", WITH_DDP, TRIPLET(0, 2, 5), ANY, send_version, 0)	\
X(send_rv_2, "RDMAP-127", WITH_DDP, TRIPLET(0, 2, 5), ANY, send_version, 2)	\
X(send_rv_3, "RDMAP-127", WITH_DDP, TRIPLET(0, 2, 5), ANY, send_version, 3)	\
X(write_rv_0, "RDMAP-127", WITH_DDP, TRIPLET(0, 2, 5), ANY, write_version, 0)	\
X(response_rv_0, "RDMAP-127", WITH_DDP,						\
	TRIPLET(0, 2, 5), ANY, response_version, 0)				\
X(read_rv_2, "RDMAP-127 RDMAP-130 RDMAP-123", WITH_RDMA,			\
	TRIPLET(0, 2, 5), ANY, read_version, 2)					\
OPCODES(X)									\
X(response_unasked, "RDMAP-122", WITH_DDP,					\
	TRIPLET(0, 2, 6), ANY, response_unasked, 0)				\
X(no_byte_at_all, "RDMAP-115 Q10", NO_COPIES,					\
	TRIPLET(0, 2, 7), ANY, untagged_runt, 0)				\
X(one_byte, "RDMAP-115 Q10", NO_COPIES, TRIPLET(0, 2, 7), ANY, tagged_runt, 1)	\
X(tagged_header_cut, "RDMAP-115 Q10", NO_COPIES,					\
	TRIPLET(0, 2, 7), ANY, tagged_runt, TAGGED_HDR - 1)			\
X(untagged_header_cut, "RDMAP-115 Q10", NO_COPIES,					\
	TRIPLET(0, 2, 7), ANY, untagged_runt, UNTAGGED_HDR - 1)			\
X(read_header_cut, "RDMAP-130 RDMAP-031 Q10", WITH_DDP,				\
	TRIPLET(0, 2, 7), ANY, read_short, READ_REQ_LEN - 1)			\
X(read_header_missing, "RDMAP-130 RDMAP-031 Q10", WITH_DDP,				\
	TRIPLET(0, 2, 7), ANY, read_short, UNTAGGED_HDR)			\
X(response_short, "RDMAP-122", WITH_DDP, TRIPLET(0, 2, 7), ANY, response_size, 31) \
X(response_long, "RDMAP-122", WITH_DDP,						\
	TRIPLET(0, 2, 7), TRIPLET(1, 1, 1), response_size, 33)			\
X(local_send, "RDMAP-121 RDMAP-030", NO_COPIES,					\
	LOCAL_ERROR, ANY, local_fault, AG_SEND)					\
X(local_write, "RDMAP-121", NO_COPIES, LOCAL_ERROR, ANY, local_fault, AG_WRITE)	\
X(local_read, "RDMAP-121", NO_COPIES, LOCAL_ERROR, ANY, local_fault, AG_READ)

#define OPCODE(X, name, commit, arg) \
	X(name, "RDMAP-126 RDMAP-122", WITH_DDP, TRIPLET(0, 2, 6), ANY, commit, arg)

/* a device with RFC 7306 knows the opcode, and finds the length wrong */
#define OPCODE_OF_7306(X, name, arg)						\
	X(name, "RDMAP-126 RDMAP-122 Q48", WITH_DDP, TRIPLET(0, 2, 6),		\
		TRIPLET(0, 2, 7), queue_opcode, arg)

#define OPCODES(X)								\
OPCODE(X, send_as_a, queue_opcode, ON_QUEUE(0, 10))				\
OPCODE(X, send_as_b, queue_opcode, ON_QUEUE(0, 11))				\
OPCODE(X, send_as_c, queue_opcode, ON_QUEUE(0, 12))				\
OPCODE(X, send_as_d, queue_opcode, ON_QUEUE(0, 13))				\
OPCODE(X, send_as_e, queue_opcode, ON_QUEUE(0, 14))				\
OPCODE(X, send_as_f, queue_opcode, ON_QUEUE(0, 15))				\
OPCODE(X, write_on_queue_0, queue_opcode, ON_QUEUE(0, OP_WRITE))		\
OPCODE(X, read_on_queue_0, queue_opcode, ON_QUEUE(0, OP_READ_REQ))		\
OPCODE(X, response_on_queue_0, queue_opcode, ON_QUEUE(0, OP_READ_RESP))		\
OPCODE(X, terminate_on_queue_0, queue_opcode, ON_QUEUE(0, OP_TERMINATE))	\
OPCODE(X, write_on_queue_1, queue_opcode, ON_QUEUE(1, OP_WRITE))		\
OPCODE(X, response_on_queue_1, queue_opcode, ON_QUEUE(1, OP_READ_RESP))		\
OPCODE(X, send_on_queue_1, queue_opcode, ON_QUEUE(1, OP_SEND))			\
OPCODE(X, send_inv_on_queue_1, queue_opcode, ON_QUEUE(1, OP_SEND_INV))		\
OPCODE(X, terminate_on_queue_1, queue_opcode, ON_QUEUE(1, OP_TERMINATE))	\
OPCODE(X, read_on_queue_2, queue_opcode, ON_QUEUE(2, OP_READ_REQ))		\
OPCODE(X, send_on_queue_2, queue_opcode, ON_QUEUE(2, OP_SEND))			\
OPCODE(X, send_se_on_queue_2, queue_opcode, ON_QUEUE(2, OP_SEND_SE))		\
OPCODE(X, undefined_on_queue_2, queue_opcode, ON_QUEUE(2, 15))			\
OPCODE(X, read_tagged, tagged_opcode, OP_READ_REQ)				\
OPCODE(X, send_tagged, tagged_opcode, OP_SEND)					\
OPCODE(X, send_inv_tagged, tagged_opcode, OP_SEND_INV)				\
OPCODE(X, send_se_tagged, tagged_opcode, OP_SEND_SE)				\
OPCODE(X, send_se_inv_tagged, tagged_opcode, OP_SEND_SE_INV)			\
OPCODE(X, terminate_tagged, tagged_opcode, OP_TERMINATE)			\
OPCODE(X, undefined_tagged, tagged_opcode, 15)					\
OPCODE_OF_7306(X, send_as_8, ON_QUEUE(0, 8))					\
OPCODE_OF_7306(X, send_as_9, ON_QUEUE(0, 9))

static const struct offence offences[] = {
#define X(name, ids, rule, triplet, alt, commit, arg) \
	{ "term__" #name, triplet, alt, commit, arg },
	OFFENCES(X)
#undef X
	{}
};

static void terminates(void)
{
	offence_terminates(offences);
}

static void each_code_is_counted(void)
{
	static const struct offence_counter codes[] = {
		{ LOCAL_ERROR, "local" }, { TRIPLET(0, 1, 0), "rp_inv_stag" },
		{ TRIPLET(0, 1, 1), "rp_bounds" }, { TRIPLET(0, 1, 2), "rp_access" },
		{ TRIPLET(0, 1, 3), "rp_not_assoc" }, { TRIPLET(0, 1, 4), "rp_wrap" },
		{ TRIPLET(0, 1, 9), "rp_cant_inv" }, { TRIPLET(0, 2, 5), "ro_version" },
		{ TRIPLET(0, 2, 6), "ro_opcode" }, { TRIPLET(0, 2, 7), "ro_stream" },
		{}
	};

	offence_counted(offences, codes);
}

static const struct conform_test tests[] = {
#define X(name, ids, rule, triplet, alt, commit, arg)				\
	{ "term__" #name, ids TERM_IDS,						\
	  "the fault ends the stream: Terminate " #triplet ", " rule,		\
	  RESPONDER, 0, terminates },
	OFFENCES(X)
#undef X
	{ "term__each_code_is_counted", "RDMAP-120 Q17",
	  "each Terminate sent bumps the counter of its code",
	  RESPONDER, 0, each_code_is_counted },
	{}
};

const struct conform_group term_group = { "term", tests };
