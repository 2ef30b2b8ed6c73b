// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The Terminates that a device sends for what DDP and MPA find wrong: layers 1 and 2
 * (RFC 5041 7.2, RFC 5044 8), byte for byte.
 */
#include "offence.h"

#define FAR_TO	0x100000

/* ---- Read Requests ---- */

static uint32_t read_long(struct peer *p, unsigned int more, uint8_t *out)
{
	uint32_t len = offence_good_read(p, out);

	for (; more; more--)
		out[len++] = 0;
	return len;
}

static uint32_t read_msn(struct peer *p, unsigned int delta, uint8_t *out)
{
	p->tx_msn[1] += delta;
	return offence_good_read(p, out);
}

/* ---- Writes ---- */

static uint32_t write_unknown(struct peer *p, unsigned int arg, uint8_t *out)
{
	(void)arg;
	return seg_wild_write(p, out);
}

static uint32_t write_outside(struct peer *p, unsigned int at, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lw");

	return offence_write(p, &mr, (int)at, out);
}

static uint32_t write_no_right(struct peer *p, unsigned int arg, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lr");

	(void)arg;
	return offence_write(p, &mr, 0, out);
}

static uint32_t write_foreign(struct peer *p, unsigned int arg, uint8_t *out)
{
	struct agent_mr mr = agent_mr_pd(MR_LEN, "lrw", 1);

	(void)arg;
	return offence_write(p, &mr, 0, out);
}

static uint32_t write_wrap(struct peer *p, unsigned int arg, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lw");

	(void)arg;
	return seg_write(p, mr.rkey, -4ull, offence_data, 8, true, out);
}

static uint32_t write_ddp_version(struct peer *p, unsigned int dv, uint8_t *out)
{
	uint32_t len = offence_good_write(p, out);

	out[0] = DDP_TAGGED | DDP_LAST | dv;
	return len;
}

/* ---- Sends ---- */

static uint32_t send_ddp_version(struct peer *p, unsigned int dv, uint8_t *out)
{
	uint32_t len = offence_good_send(p, out);

	out[0] = DDP_LAST | dv;
	return len;
}

static uint32_t send_queue(struct peer *p, unsigned int qn, uint8_t *out)
{
	uint32_t len = offence_good_send(p, out);

	put32(out + 6, qn);
	put32(out + 10, 1);
	return len;
}

static uint32_t send_msn(struct peer *p, unsigned int delta, uint8_t *out)
{
	p->tx_msn[0] += delta;
	return offence_good_send(p, out);
}

static uint32_t send_again(struct peer *p, unsigned int arg, uint8_t *out)
{
	uint32_t len = offence_good_send(p, out);
	struct agent_wc wc;

	(void)arg;
	peer_send_fpdu(p, out, len);
	agent_must_get_wc(1, "SUCCESS", &wc);
	return len;
}

/* a Send takes the only receive, then a second one comes */
static uint32_t send_too_many(struct peer *p, unsigned int arg, uint8_t *out)
{
	(void)arg;
	peer_send_fpdu(p, out, offence_good_send(p, out));
	return offence_good_send(p, out);
}

static uint32_t send_offset(struct peer *p, unsigned int mo, uint8_t *out)
{
	return seg_send(p, OP_SEND, 0, mo, offence_data, 4, true, out);
}

/* the second segment leaves a gap after the first */
static uint32_t send_gap(struct peer *p, unsigned int gap, uint8_t *out)
{
	uint32_t len = seg_send(p, OP_SEND, 0, 0, offence_data, 8, false, out);

	peer_send_fpdu(p, out, len);
	return seg_send(p, OP_SEND, 0, 8 + gap, offence_data, 8, true, out);
}

static uint32_t send_too_long(struct peer *p, unsigned int arg, uint8_t *out)
{
	(void)arg;
	return seg_send(p, OP_SEND, 0, 0, offence_data, RECV_LEN + 1, true, out);
}

/* the second segment is the one that does not fit */
static uint32_t send_end_too_long(struct peer *p, unsigned int arg, uint8_t *out)
{
	uint32_t len = seg_send(p, OP_SEND, 0, 0, offence_data, RECV_LEN - 8, false, out);

	(void)arg;
	peer_send_fpdu(p, out, len);
	return seg_send(p, OP_SEND, 0, RECV_LEN - 8, offence_data, 9, true, out);
}

/* ---- Read Responses ---- */

static uint32_t response_stag(struct peer *p, unsigned int arg, uint8_t *out)
{
	struct open_read r = offence_open_read(p);

	(void)arg;
	return seg_read_resp(p, r.stag ^ 0x10000001, r.to, offence_data, 32, true, out);
}

static uint32_t response_to(struct peer *p, unsigned int far, uint8_t *out)
{
	struct open_read r = offence_open_read(p);

	return seg_read_resp(p, r.stag, r.to + far, offence_data, 32, true, out);
}

/* ---- the table ---- */

/* a device whose QN 3 is that of RFC 7306 finds no open request there */
#define QUEUE_3(X)								\
X(queue_3, "RDMAP-125", WITH_DDP,						\
	TRIPLET(1, 2, 1), TRIPLET(1, 2, 2), send_queue, 3)

#define OFFENCES(X)								\
X(write_unknown, "RDMAP-122 RDMAP-125", WITH_DDP,				\
	TRIPLET(1, 1, 0), ANY, write_unknown, 0)				\
X(write_no_right, "RDMAP-125", WITH_DDP,					\
	TRIPLET(1, 1, 0), TRIPLET(0, 1, 2), write_no_right, 0)			\
X(response_other_stag, "RDMAP-122", WITH_DDP,					\
	TRIPLET(1, 1, 0), ANY, response_stag, 0)				\
X(write_below, "RDMAP-125", WITH_DDP, TRIPLET(1, 1, 1), ANY, write_outside, -1u) \
X(write_past_end, "RDMAP-125", WITH_DDP,					\
	TRIPLET(1, 1, 1), ANY, write_outside, MR_LEN - 7)			\
X(write_after_end, "RDMAP-125", WITH_DDP,					\
	TRIPLET(1, 1, 1), ANY, write_outside, MR_LEN)				\
X(response_other_place, "RDMAP-122", WITH_DDP,					\
	TRIPLET(1, 1, 1), ANY, response_to, FAR_TO)				\
X(write_foreign_pd, "RDMAP-125", WITH_DDP, TRIPLET(1, 1, 2), ANY, write_foreign, 0) \
X(write_wrap, "RDMAP-125", WITH_DDP, TRIPLET(1, 1, 3), ANY, write_wrap, 0)	\
X(write_dv_0, "RDMAP-125", WITH_DDP, TRIPLET(1, 1, 4), ANY, write_ddp_version, 0) \
X(write_dv_2, "RDMAP-125", WITH_DDP, TRIPLET(1, 1, 4), ANY, write_ddp_version, 2) \
X(write_dv_3, "RDMAP-125", WITH_DDP, TRIPLET(1, 1, 4), ANY, write_ddp_version, 3) \
X(queue_4, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 1), ANY, send_queue, 4)		\
X(queue_last, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 1), ANY, send_queue, -1u)	\
QUEUE_3(X)									\
X(no_buffer, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 2), ANY, send_too_many, 0)	\
X(msn_ahead, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 3), ANY, send_msn, 1)		\
X(msn_behind, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 3), ANY, send_msn, -1u)	\
X(msn_again, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 3), ANY, send_again, 0)	\
X(read_msn_ahead, "RDMAP-130 RDMAP-031", WITH_DDP,				\
	TRIPLET(1, 2, 3), ANY, read_msn, 1)					\
X(read_msn_behind, "RDMAP-130 RDMAP-031", WITH_DDP,				\
	TRIPLET(1, 2, 3), ANY, read_msn, -1u)					\
X(mo_not_0, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 4), ANY, send_offset, 8)	\
X(mo_beyond, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 4), ANY, send_offset, -4u)	\
X(mo_gap, "RDMAP-125 Q9", WITH_DDP, TRIPLET(1, 2, 4), ANY, send_gap, 4)		\
X(too_long, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 5), ANY, send_too_long, 0)	\
X(too_long_at_its_end, "RDMAP-125", WITH_DDP,					\
	TRIPLET(1, 2, 5), ANY, send_end_too_long, 0)				\
X(read_too_long, "RDMAP-130 RDMAP-031", WITH_DDP,				\
	TRIPLET(1, 2, 5), ANY, read_long, 4)					\
X(send_dv_0, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 6), ANY, send_ddp_version, 0)	\
X(send_dv_2, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 6), ANY, send_ddp_version, 2)	\
X(send_dv_3, "RDMAP-125", WITH_DDP, TRIPLET(1, 2, 6), ANY, send_ddp_version, 3)

static const struct offence offences[] = {
#define X(name, ids, rule, triplet, alt, commit, arg) \
	{ "term_ddp__" #name, triplet, alt, commit, arg },
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
		{ TRIPLET(1, 1, 0), "dt_inv_stag" }, { TRIPLET(1, 1, 1), "dt_bounds" },
		{ TRIPLET(1, 1, 2), "dt_not_assoc" }, { TRIPLET(1, 1, 3), "dt_wrap" },
		{ TRIPLET(1, 1, 4), "dt_version" }, { TRIPLET(1, 2, 1), "du_qn" },
		{ TRIPLET(1, 2, 2), "du_no_buffer" }, { TRIPLET(1, 2, 3), "du_msn_range" },
		{ TRIPLET(1, 2, 4), "du_mo" }, { TRIPLET(1, 2, 5), "du_too_long" },
		{ TRIPLET(1, 2, 6), "du_version" },
		{}
	};

	offence_counted(offences, codes);
}

/* ---- faults that no row has: those below DDP, and a full Read queue ---- */

/* a Write long enough to have a marker in it, wherever it starts */
static void must_copy_nothing(const struct fpdu_fault *fault, int triplet)
{
	uint8_t ulpdu[MR_LEN], wire[2 * MR_LEN], bytes[1024];
	struct session s = session_default();
	struct agent_mr mr = agent_mr(MR_LEN, "lw");
	size_t n;

	must(!fault->marker_xor || s.p->tx_markers, "the device asks for no markers");
	pattern(bytes, sizeof(bytes), 4);
	n = seg_write(s.p, mr.rkey, mr.va, bytes, sizeof(bytes), true, ulpdu);
	n = fpdu_build(s.p, ulpdu, n, fault, wire);
	peer_send(s.p, wire, n);
	must_get_terminate_for(s.p, triplet, ANY, NULL, 0);
	must_close_silently(s.p);
	must_be_untouched(&mr);
}

static void bad_crc(void)
{
	static const struct fpdu_fault fault = { .crc_xor = 0x80000000 };

	must_copy_nothing(&fault, TRIPLET(2, 0, 2));
}

static void bad_marker(void)
{
	static const struct fpdu_fault fault = { .marker_xor = 4 };

	agent_set("markers on");
	must_copy_nothing(&fault, TRIPLET(2, 0, 3));
}

/* one Read more than there are slots: our closed window keeps the device from
 * answering the first */
static void too_many_reads(void)
{
	struct session s = SESSION_DEFAULT;
	uint8_t ulpdu[READ_REQ_LEN];
	struct terminate t;
	struct agent_mr mr;
	uint32_t len;

	s.qp.ird = 1;
	mr = session_stuck(&s);
	len = seg_read_req(s.p, WILD_STAG, 0, 8, mr.rkey, mr.va, ulpdu);
	peer_send_fpdu(s.p, ulpdu, len);
	recv_terminate(s.p, true, &t);
	check_terminate(s.p, &t, TRIPLET(1, 2, 2), ANY, ulpdu, len);
	must_close_silently(s.p);
}

static const struct conform_test tests[] = {
#define X(name, ids, rule, triplet, alt, commit, arg)				\
	{ "term_ddp__" #name, ids TERM_IDS,						\
	  "the fault ends the stream: Terminate " #triplet ", " rule,		\
	  RESPONDER, 0, terminates },
	OFFENCES(X)
#undef X
	{ "term_ddp__bad_crc", "RDMAP-115 RDMAP-027",
	  "an error of the LLP is reported with its code, without length and headers",
	  EITHER, 0, bad_crc },
	{ "term_ddp__bad_marker", "RDMAP-115 RDMAP-027",
	  "an error of the LLP is reported with its code, without length and headers",
	  EITHER, NEED_SET, bad_marker },
	{ "term_ddp__too_many_reads", "RDMAP-113 RDMAP-031",
	  "a Read Request that finds no slot is refused with DDP's code and header",
	  RESPONDER, 0, too_many_reads },
	{ "term_ddp__each_code_is_counted", "RDMAP-120 Q17",
	  "each Terminate sent bumps the counter of its code",
	  RESPONDER, 0, each_code_is_counted },
	{}
};

const struct conform_group term_ddp_group = { "term_ddp", tests };
