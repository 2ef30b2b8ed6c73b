// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Terminates that the device receives: what its ULP gets (Q12), that the device
 * answers none, and that a wrong one does no harm (RFC 5040 5.4, Q30, Q33).
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "terminate.h"

#define ROOM		4096
#define READ_ID		1
#define RECV_ID		2
#define COPIES_MAX	(2 + READ_REQ_LEN)
#define BODY		UNTAGGED_HDR
#define END_MS		3000

/* a device that waits for our Response to a Read, and for a Send */
struct waiting {
	struct session s;
	struct agent_mr mr;
	struct open_read read;
};

static struct waiting start_waiting(void)
{
	struct waiting w;

	w.s = session_default();
	w.mr = agent_mr(ROOM, "lrw");
	agent_recv(w.s.conn, RECV_ID, &w.mr, 0, 64);
	agent_post(w.s.conn, READ_ID, AG_READ, AG_SIGNALED, &w.mr, 64, 64, 0x77, 0x1000);
	w.read = must_get_read_request(w.s.p);
	return w;
}

/* Build a Terminate with the bits @hdrct and the first @len bytes of: the length of
 * @offender and a copy of its headers. */
static uint32_t seg_terminate_for(struct peer *p, int triplet, uint8_t hdrct,
				  const uint8_t *offender, uint32_t offender_len,
				  uint32_t len, uint8_t *out)
{
	uint8_t copies[COPIES_MAX] = {};

	put16(copies, offender_len);
	memcpy(copies + 2, offender, offender_len < READ_REQ_LEN ? offender_len :
								   READ_REQ_LEN);
	seg_terminate(p, TRIPLET_LAYER(triplet), TRIPLET_ETYPE(triplet),
		      TRIPLET_CODE(triplet), out);
	out[BODY + 2] = hdrct;
	memcpy(out + BODY + 4, copies, len);
	return BODY + 4 + len;
}

/* the Terminate of a peer that refuses the Read Request @r */
static void send_terminate_for(struct peer *p, int triplet, const struct open_read *r)
{
	uint8_t out[ROOM];

	peer_send_fpdu(p, out, seg_terminate_for(p, triplet, HDRCT_M | HDRCT_D | HDRCT_R,
						 r->ulpdu, READ_REQ_LEN, COPIES_MAX,
						 out));
}

static void send_bare_terminate(struct peer *p, int triplet)
{
	uint8_t out[ROOM];

	peer_send_fpdu(p, out, seg_terminate(p, TRIPLET_LAYER(triplet),
					     TRIPLET_ETYPE(triplet),
					     TRIPLET_CODE(triplet), out));
}

/* Send FIN after the Terminate. The device may have closed already, even with RST, so
 * shutdown() may fail. */
static void end_our_half(struct peer *p)
{
	shutdown(p->fd, SHUT_WR);
}

/* the device sends nothing and closes, at the latest after our FIN */
static void must_get_no_answer(struct peer *p)
{
	end_our_half(p);
	must_close_silently(p);
}

static void must_fail_read(const char *status)
{
	const struct want_wc want[] = {
		{ READ_ID, status }, { RECV_ID, "WR_FLUSH_ERR" }, {}
	};

	must_get_wcs(want);
}

/* ---- the triplets ---- */

/* 0/1 is a protection error of the named Read, 0/2 an error of its operation; all
 * others hit the oldest work request, which is the Read here */
#define TRIPLETS(X)							\
X(rdmap_local, 0, 0, 0x00, "REM_OP_ERR")				\
X(rdmap_local_with_code, 0, 0, 0x5a, "REM_OP_ERR")			\
X(rdmap_invalid_stag, 0, 1, 0x00, "REM_ACCESS_ERR")			\
X(rdmap_bounds, 0, 1, 0x01, "REM_ACCESS_ERR")				\
X(rdmap_access, 0, 1, 0x02, "REM_ACCESS_ERR")				\
X(rdmap_not_associated, 0, 1, 0x03, "REM_ACCESS_ERR")			\
X(rdmap_wrap, 0, 1, 0x04, "REM_ACCESS_ERR")				\
X(rdmap_cannot_invalidate, 0, 1, 0x09, "REM_ACCESS_ERR")		\
X(rdmap_protection_unspecified, 0, 1, 0xff, "REM_ACCESS_ERR")		\
X(rdmap_protection_unknown, 0, 1, 0x55, "REM_ACCESS_ERR")		\
X(rdmap_version, 0, 2, 0x05, "REM_OP_ERR")				\
X(rdmap_opcode, 0, 2, 0x06, "REM_INV_REQ_ERR")				\
X(rdmap_stream, 0, 2, 0x07, "REM_OP_ERR")				\
X(rdmap_global, 0, 2, 0x08, "REM_OP_ERR")				\
X(rdmap_cannot_invalidate_2, 0, 2, 0x09, "REM_OP_ERR")			\
X(rdmap_operation_unspecified, 0, 2, 0xff, "REM_OP_ERR")		\
X(rdmap_operation_unknown, 0, 2, 0x77, "REM_OP_ERR")			\
X(rdmap_etype_unknown, 0, 3, 0x00, "REM_OP_ERR")			\
X(ddp_local, 1, 0, 0x00, "REM_OP_ERR")					\
X(ddp_invalid_stag, 1, 1, 0x00, "REM_OP_ERR")				\
X(ddp_bounds, 1, 1, 0x01, "REM_OP_ERR")					\
X(ddp_not_associated, 1, 1, 0x02, "REM_OP_ERR")				\
X(ddp_wrap, 1, 1, 0x03, "REM_OP_ERR")					\
X(ddp_tagged_version, 1, 1, 0x04, "REM_OP_ERR")				\
X(ddp_queue, 1, 2, 0x01, "REM_OP_ERR")					\
X(ddp_no_buffer, 1, 2, 0x02, "REM_OP_ERR")				\
X(ddp_msn_range, 1, 2, 0x03, "REM_OP_ERR")				\
X(ddp_mo, 1, 2, 0x04, "REM_OP_ERR")					\
X(ddp_too_long, 1, 2, 0x05, "REM_OP_ERR")				\
X(ddp_untagged_version, 1, 2, 0x06, "REM_OP_ERR")			\
X(ddp_llp, 1, 3, 0x01, "REM_OP_ERR")					\
X(mpa_closed, 2, 0, 0x01, "REM_OP_ERR")					\
X(mpa_crc, 2, 0, 0x02, "REM_OP_ERR")					\
X(mpa_marker, 2, 0, 0x03, "REM_OP_ERR")					\
X(mpa_frame, 2, 0, 0x04, "REM_OP_ERR")					\
X(mpa_local, 2, 0, 0x05, "REM_OP_ERR")					\
X(mpa_ird, 2, 0, 0x06, "REM_OP_ERR")					\
X(mpa_rtr, 2, 0, 0x07, "REM_OP_ERR")					\
X(layer_unknown, 3, 0, 0x00, "REM_OP_ERR")				\
X(all_unknown, 15, 15, 0xff, "REM_OP_ERR")

static const struct received {
	const char *name;
	int triplet;
	const char *status;
} received[] = {
#define X(name, layer, etype, code, status) \
	{ "term_recv__" #name, TRIPLET(layer, etype, code), status },
	TRIPLETS(X)
#undef X
	{}
};

static void is_mapped(void)
{
	const struct received *row = ROW_OF_TEST(received);
	struct waiting w = start_waiting();

	send_terminate_for(w.s.p, row->triplet, &w.read);
	must_get_no_answer(w.s.p);
	must_fail_read(row->status);
	must_have_ended_qp(w.s.conn);
	must_be_untouched(&w.mr);
}

/* --state reports the raw triplet, whether its meaning is known or not */
static void each_triplet_is_kept(void)
{
	const struct received *row;
	char want[16], got[64];
	struct session s;

	for (row = received; row->name; row++) {
		s = session_default();
		send_bare_terminate(s.p, row->triplet);
		must_get_no_answer(s.p);
		must_have_ended_qp(s.conn);
		snprintf(want, sizeof(want), "%d/%d/%02x", TRIPLET_LAYER(row->triplet),
			 TRIPLET_ETYPE(row->triplet), TRIPLET_CODE(row->triplet));
		must(agent_state(s.port, "term_received", got, sizeof(got)),
		     "no state term_received");
		must(!strcmp(got, want), "term_received is %s, not %s", got, want);
		agent_reset();
	}
}

static void is_counted(void)
{
	uint64_t was = agent_counter("rx_terminate");
	struct session s = session_default();

	send_bare_terminate(s.p, TRIPLET(0, 2, 7));
	must_get_no_answer(s.p);
	must_eq(agent_counter("rx_terminate"), was + 1, "rx_terminate");
}

/* ---- which work request the Terminate hits ---- */

#define SECOND_ID	3

static struct open_read read_more(const struct waiting *w)
{
	agent_post(w->s.conn, SECOND_ID, AG_READ, AG_SIGNALED, &w->mr, 128, 64, 0x78,
		   0x1000);
	return must_get_read_request(w->s.p);
}

/* the second of two Reads fails; the outcome of the first is unknown, so it is
 * flushed */
static void named_read_fails(void)
{
	static const struct want_wc want[] = {
		{ READ_ID, "WR_FLUSH_ERR" }, { RECV_ID, "WR_FLUSH_ERR" },
		{ SECOND_ID, "REM_ACCESS_ERR" }, {}
	};
	struct waiting w = start_waiting();
	struct open_read second;

	second = read_more(&w);
	send_terminate_for(w.s.p, TRIPLET(0, 1, 2), &second);
	must_get_no_answer(w.s.p);
	must_get_wcs(want);
}

/* Two Reads wait, and a Terminate of this kind has a copy of the second's header. The
 * copy counts where RFC 5040 figure 10 has one; otherwise the oldest request is hit. */
#define NAMING(X)						\
X(rdmap_operation, 0, 2, 0x07, true)				\
X(ddp_untagged, 1, 2, 0x02, true)				\
X(rdmap_local, 0, 0, 0x00, false)				\
X(ddp_local, 1, 0, 0x00, false)					\
X(ddp_tagged, 1, 1, 0x00, false)				\
X(mpa, 2, 0, 0x02, false)

static const struct naming {
	const char *name;
	int triplet;
	bool counts;
} naming[] = {
#define X(name, layer, etype, code, counts) \
	{ "term_recv__header_in_" #name, TRIPLET(layer, etype, code), counts },
	NAMING(X)
#undef X
	{}
};

static void header_counts_where_it_may_be(void)
{
	const struct naming *row = ROW_OF_TEST(naming);
	const struct want_wc want[] = {
		{ READ_ID, row->counts ? "WR_FLUSH_ERR" : "REM_OP_ERR" },
		{ RECV_ID, "WR_FLUSH_ERR" },
		{ SECOND_ID, row->counts ? "REM_OP_ERR" : "WR_FLUSH_ERR" }, {}
	};
	struct waiting w = start_waiting();
	struct open_read second;

	second = read_more(&w);
	send_terminate_for(w.s.p, row->triplet, &second);
	must_get_no_answer(w.s.p);
	must_get_wcs(want);
}

/* A Response failed at the peer: a tagged header names no Read, so the oldest one is
 * hit. */
static void read_response_header_fails_the_oldest_request(void)
{
	static const uint8_t header[TAGGED_HDR] = { 0xc1, 0x42, 0, 0, 0, 0x78 };
	struct waiting w = start_waiting();
	uint8_t out[ROOM];

	read_more(&w);
	peer_send_fpdu(w.s.p, out,
		       seg_terminate_for(w.s.p, TRIPLET(1, 1, 0), HDRCT_M | HDRCT_D,
					 header, TAGGED_HDR, 2 + TAGGED_HDR, out));
	must_get_no_answer(w.s.p);
	must_get_wcs((const struct want_wc []) {
		  { READ_ID, "REM_OP_ERR" }, { RECV_ID, "WR_FLUSH_ERR" },
		  { SECOND_ID, "WR_FLUSH_ERR" }, {} });
}

/* the first Read has got its Response, so it succeeds */
static void answered_read_is_good(void)
{
	struct waiting w = start_waiting();
	struct open_read second;
	struct agent_wc wc;
	uint8_t bytes[64];

	pattern(bytes, sizeof(bytes), 7);
	second = read_more(&w);
	send_read_resp(w.s.p, w.read.stag, w.read.to, bytes, sizeof(bytes));
	send_terminate_for(w.s.p, TRIPLET(0, 1, 2), &second);
	must_get_no_answer(w.s.p);
	agent_must_get_wc(READ_ID, "SUCCESS", &wc);
	must_get_wcs((const struct want_wc []) {
		  { SECOND_ID, "REM_ACCESS_ERR" }, { RECV_ID, "WR_FLUSH_ERR" }, {} });
	must_have_memory(&w.mr, 64, bytes, sizeof(bytes));
}

/* the DDP header alone (R=0) names the Read, by its QN and MSN */
static void ddp_header_names_the_read(void)
{
	struct waiting w = start_waiting();
	uint8_t out[ROOM];

	peer_send_fpdu(w.s.p, out,
		       seg_terminate_for(w.s.p, TRIPLET(0, 1, 0), HDRCT_M | HDRCT_D,
					 w.read.ulpdu, READ_REQ_LEN, 2 + UNTAGGED_HDR,
					 out));
	must_get_no_answer(w.s.p);
	must_fail_read("REM_ACCESS_ERR");
}

/* a copied header of no open Read names nothing */
static void header_of_no_open_read_fails_the_oldest_request(void)
{
	struct waiting w = start_waiting();

	put32(w.read.ulpdu + 10, w.read.msn + 5);
	send_terminate_for(w.s.p, TRIPLET(0, 1, 0), &w.read);
	must_get_no_answer(w.s.p);
	must_fail_read("REM_OP_ERR");
}

static void without_copies_fails_the_oldest_request(void)
{
	struct waiting w = start_waiting();

	send_bare_terminate(w.s.p, TRIPLET(0, 1, 0));
	must_get_no_answer(w.s.p);
	must_fail_read("REM_OP_ERR");
}

/* a Write that TCP has not taken completely is the oldest request; what follows is
 * flushed */
static void write_under_way_fails(void)
{
	static const struct want_wc want[] = {
		{ 1, "REM_OP_ERR" }, { 2, "WR_FLUSH_ERR" }, { 3, "WR_FLUSH_ERR" }, {}
	};
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	uint8_t out[ROOM];
	struct fpdu f;

	session_start(&s);
	mr = agent_mr(STUCK_LEN, "l");
	agent_recv(s.conn, 3, &mr, 0, 64);
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 0, STUCK_LEN, 0x77, 0);
	agent_post(s.conn, 2, AG_SEND, AG_SIGNALED, &mr, 0, 64, 0, 0);
	must_get_op(s.p, &f, OP_WRITE);
	peer_send_fpdu(s.p, out, seg_terminate_for(s.p, TRIPLET(1, 1, 0),
						   HDRCT_M | HDRCT_D, f.seg.ulpdu,
						   TAGGED_HDR, 2 + TAGGED_HDR, out));
	end_our_half(s.p);
	must(peer_wait_end(s.p, patience(END_MS)) != PEER_OPEN, "no end");
	must_get_wcs(want);
	must_have_ended_qp(s.conn);
}

/* the send queue is empty, so only receives are flushed */
static void receives_are_flushed(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct agent_wc wc;

	agent_recv(s.conn, 1, &mr, 0, 64);
	agent_recv(s.conn, 2, &mr, 64, 64);
	send_bare_terminate(s.p, TRIPLET(1, 2, 5));
	must_get_no_answer(s.p);
	agent_must_get_wc(1, "WR_FLUSH_ERR", &wc);
	agent_must_get_wc(2, "WR_FLUSH_ERR", &wc);
	must_have_ended_qp(s.conn);
	agent_must_get_no_wc(50);
}

static void reset_flushes_all(void)
{
	struct waiting w = start_waiting();

	peer_reset(w.s.p);
	must_fail_read("WR_FLUSH_ERR");
	must_have_ended_qp(w.s.conn);
}

/* ---- the resources that it needs, and what follows it ---- */

/* no receive is posted, and the one slot for Reads is taken */
static void needs_no_room(void)
{
	struct session s = SESSION_DEFAULT;
	char got[64];

	s.qp.ird = 1;
	session_stuck(&s);
	send_bare_terminate(s.p, TRIPLET(0, 2, 7));
	end_our_half(s.p);
	must(peer_wait_end(s.p, patience(END_MS)) != PEER_OPEN, "no end");
	must_have_ended_qp(s.conn);
	if (agent_offers() & NEED_STATE)
		must(agent_state(s.port, "term_received", got, sizeof(got)) &&
		     !strcmp(got, "0/2/07"), "the Terminate was not taken");
}

static void second_one_is_dropped(void)
{
	struct waiting w = start_waiting();

	send_terminate_for(w.s.p, TRIPLET(0, 1, 2), &w.read);
	send_terminate_for(w.s.p, TRIPLET(0, 2, 6), &w.read);
	must_get_no_answer(w.s.p);
	must_fail_read("REM_ACCESS_ERR");
	agent_must_get_no_wc(50);
}

/* the device does not answer messages after it, which no peer may send */
static void answers_nothing_more(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");

	send_bare_terminate(s.p, TRIPLET(0, 2, 7));
	send_read_req(s.p, 7, 0, 64, mr.rkey, mr.va);
	must_get_no_answer(s.p);
	must_be_untouched(&mr);
}

/* ---- wrong Terminates ---- */

/* a header bit is ignored if the message has not enough bytes for the header */
static void header_bits_without_bytes_are_ignored(void)
{
	static const struct {
		uint8_t hdrct;
		uint32_t len;
		const char *status;
	} cases[] = {
		{ HDRCT_M, 0, "REM_OP_ERR" },
		{ HDRCT_M, 1, "REM_OP_ERR" },
		{ HDRCT_M, 2, "REM_OP_ERR" },
		{ HDRCT_M | HDRCT_D, 2, "REM_OP_ERR" },
		{ HDRCT_M | HDRCT_D, 3, "REM_OP_ERR" },
		{ HDRCT_M | HDRCT_D, 2 + UNTAGGED_HDR - 1, "REM_OP_ERR" },
		{ HDRCT_D, 2 + UNTAGGED_HDR, "REM_ACCESS_ERR" },
		{ HDRCT_M | HDRCT_D | HDRCT_R, 2 + UNTAGGED_HDR, "REM_ACCESS_ERR" },
		{ HDRCT_M | HDRCT_D | HDRCT_R, COPIES_MAX - 1, "REM_ACCESS_ERR" },
		{ 0, COPIES_MAX, "REM_OP_ERR" },
		{ HDRCT_M, COPIES_MAX, "REM_OP_ERR" },
	};
	struct waiting w;
	uint8_t out[ROOM];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		w = start_waiting();
		peer_send_fpdu(w.s.p, out,
			       seg_terminate_for(w.s.p, TRIPLET(0, 1, 0), cases[i].hdrct,
						 w.read.ulpdu, READ_REQ_LEN, cases[i].len,
						 out));
		must_get_no_answer(w.s.p);
		must_fail_read(cases[i].status);
		must_have_ended_qp(w.s.conn);
		agent_reset();
	}
}

static void reserved_bits_are_ignored(void)
{
	struct waiting w = start_waiting();
	uint8_t out[ROOM];
	uint32_t len;

	len = seg_terminate_for(w.s.p, TRIPLET(0, 1, 0), 0xff, w.read.ulpdu, READ_REQ_LEN,
				COPIES_MAX, out);
	out[BODY + 3] = 0xff;
	peer_send_fpdu(w.s.p, out, len);
	must_get_no_answer(w.s.p);
	must_fail_read("REM_ACCESS_ERR");
}

/* without any work request, an event is all that the program gets */
static void is_told(void)
{
	struct session s = session_default();

	send_bare_terminate(s.p, TRIPLET(0, 2, 7));
	must_get_async(s.conn, "QP_FATAL");
	must_have_ended_qp(s.conn);
}

/**
 * struct invalid - a wrong Terminate
 * @name: name of the test
 * @at, @mask: offset of the word that is changed, and the pattern to XOR
 * @len: bytes of its segment
 */
struct invalid {
	const char *name;
	uint32_t at;
	uint32_t mask;
	uint32_t len;
};

#define INVALID(X)						\
X(body_empty, 0, 0, BODY)					\
X(body_of_3, 0, 0, BODY + 3)					\
X(body_of_53, 0, 0, TERM_MAX + 1)				\
X(not_last, 0, 0x40000000, BODY + 4)				\
X(ddp_version, 0, 0x01000000, BODY + 4)				\
X(rdmap_version_0, 0, 0x00400000, BODY + 4)			\
X(msn_2, 10, 3, BODY + 4)					\
X(msn_0, 10, 1, BODY + 4)					\
X(offset_4, 14, 4, BODY + 4)					\
X(offset_far, 14, 0x80000000, BODY + 4)

static const struct invalid invalid[] = {
#define X(name, at, mask, len) { "term_recv__wrong_" #name, at, mask, len },
	INVALID(X)
#undef X
	{}
};

/* the device sends at most one Terminate, and nothing else, before the end */
static void must_get_at_most_one(struct peer *p)
{
	unsigned int n = 0;
	struct fpdu f;

	end_our_half(p);
	while (peer_recv_fpdu(p, &f, patience(END_MS))) {
		must(!seg_tagged(&f.seg) && seg_op(&f.seg) == OP_TERMINATE && !n++,
		     "an answer that is no Terminate, or the second one");
	}
	must(peer_wait_end(p, 0) != PEER_OPEN, "the device did not close");
}

static void wrong_one_ends_the_stream(void)
{
	const struct invalid *row = ROW_OF_TEST(invalid);
	struct waiting w = start_waiting();
	uint8_t out[ROOM] = {};

	seg_terminate(w.s.p, 0, 2, 7, out);
	put32(out + row->at, get32(out + row->at) ^ row->mask);
	peer_send_fpdu(w.s.p, out, row->len);
	must_get_at_most_one(w.s.p);
	must_have_ended_qp(w.s.conn);
	must_be_untouched(&w.mr);
}

static const struct conform_test tests[] = {
#define X(name, layer, etype, code, status)					\
	{ "term_recv__" #name, "RDMAP-082 RDMAP-083 RDMAP-116 RDMAP-080",	\
	  "Terminate " #layer "/" #etype "/" #code " on a Read completes it with " \
	  status ", flushes the rest and is not answered",			\
	  RESPONDER, 0, is_mapped },
	TRIPLETS(X)
#undef X
	{ "term_recv__is_told", "RDMAP-082 RDMAP-007",
	  "a Terminate raises an error event of the QP, also where nothing was posted",
	  EITHER, 0, is_told },
	{ "term_recv__each_triplet_is_kept", "RDMAP-082 Q17",
	  "the state of the connection shows the triplet that came, known or not",
	  RESPONDER, NEED_STATE, each_triplet_is_kept },
	{ "term_recv__is_counted", "RDMAP-082 Q17",
	  "a Terminate received is counted", EITHER, 0, is_counted },
	{ "term_recv__named_read_fails", "RDMAP-082 RDMAP-116 Q12",
	  "the Read that the copied headers name fails, the others are flushed",
	  RESPONDER, 0, named_read_fails },
	{ "term_recv__answered_read_is_good", "RDMAP-082 RDMAP-107",
	  "a Read that was answered in front of the Terminate is good",
	  EITHER, 0, answered_read_is_good },
	{ "term_recv__ddp_header_names_the_read", "RDMAP-082 Q12",
	  "a DDP header on QN 1 names the Read by its MSN",
	  RESPONDER, 0, ddp_header_names_the_read },
	{ "term_recv__header_of_no_open_read_fails_the_oldest_request", "RDMAP-082 Q12",
	  "a header of no open Read hits the oldest work request",
	  RESPONDER, 0, header_of_no_open_read_fails_the_oldest_request },
#define X(name, layer, etype, code, counts)					\
	{ "term_recv__header_in_" #name, "RDMAP-082 RDMAP-116 Q12",		\
	  "a header copied in " #layer "/" #etype "/" #code " counts where figure 10 " \
	  "puts one, and nowhere else", RESPONDER, 0, header_counts_where_it_may_be },
	NAMING(X)
#undef X
	{ "term_recv__read_response_header_fails_the_oldest_request",
	  "RDMAP-082 RDMAP-116 Q12",
	  "a Terminate about a Read Response hits the oldest work request",
	  RESPONDER, 0, read_response_header_fails_the_oldest_request },
	{ "term_recv__without_copies_fails_the_oldest_request", "RDMAP-082 RDMAP-116 Q12",
	  "a Terminate without copies hits the oldest work request",
	  EITHER, 0, without_copies_fails_the_oldest_request },
	{ "term_recv__write_under_way_fails", "RDMAP-082 RDMAP-116",
	  "a Write under way is the oldest work request",
	  EITHER, 0, write_under_way_fails },
	{ "term_recv__receives_are_flushed", "RDMAP-116",
	  "with no send outstanding the receives are flushed and nothing else completes",
	  EITHER, 0, receives_are_flushed },
	{ "term_recv__reset_flushes_all", "RDMAP-116 DDP-073 DDP-074",
	  "RST instead of a Terminate flushes all and tells rdma_cm",
	  EITHER, 0, reset_flushes_all },
	{ "term_recv__needs_no_room", "RDMAP-080 RDMAP-081",
	  "a Terminate is taken with no receive posted and the Read queue full",
	  RESPONDER, 0, needs_no_room },
	{ "term_recv__second_one_is_dropped", "RDMAP-081 RDMAP-083",
	  "a second Terminate changes nothing and is not answered",
	  EITHER, 0, second_one_is_dropped },
	{ "term_recv__answers_nothing_more", "RDMAP-083 RDMAP-086",
	  "a Read Request after a Terminate is not answered",
	  EITHER, 0, answers_nothing_more },
	{ "term_recv__header_bits_without_bytes_are_ignored", "RDMAP-083 RDMAP-029 RDMAP-125",
	  "M, D and R are ignored where the bytes for them are missing",
	  RESPONDER, 0, header_bits_without_bytes_are_ignored },
	{ "term_recv__reserved_bits_are_ignored", "RDMAP-028",
	  "the 13 reserved bits of a Terminate are ignored",
	  EITHER, 0, reserved_bits_are_ignored },
#define X(name, at, mask, len)							\
	{ "term_recv__wrong_" #name, "RDMAP-083 RDMAP-125",			\
	  "a Terminate that is wrong ends the stream, with at most one Terminate back", \
	  RESPONDER, 0, wrong_one_ends_the_stream },
	INVALID(X)
#undef X
	{}
};

const struct conform_group term_recv_group = { "term_recv", tests };
