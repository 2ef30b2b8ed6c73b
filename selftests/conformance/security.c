// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * What a peer must not be able to touch: foreign, revoked, guessed and limited STags
 * (RFC 5040 8.1, RFC 5041 8, RFC 5042). Each attack comes as a Write, Read or Send
 * with Invalidate on the wire; then the test checks the victim's memory.
 */
#include <string.h>

#include "terminate.h"

#define ROOM		4096
#define MR_LEN		1000	/* ends inside a page, to test bounds rather than pages */
#define SINK		0x51

/* ---- attacks, each on a connection of its own ---- */

/* the device must end the stream with the Terminate @triplet or @alt */
static void must_be_refused(struct peer *p, int triplet, int alt)
{
	struct terminate t;

	recv_terminate(p, false, &t);
	must(t.triplet == triplet || t.triplet == alt,
	     "the Terminate is %d/%d/%02x, not %d/%d/%02x", TRIPLET_LAYER(t.triplet),
	     TRIPLET_ETYPE(t.triplet), TRIPLET_CODE(t.triplet), TRIPLET_LAYER(triplet),
	     TRIPLET_ETYPE(triplet), TRIPLET_CODE(triplet));
	must_close_silently(p);
}

static void attack_write(uint32_t stag, uint64_t to, uint32_t len, int triplet, int alt)
{
	struct session s = session_default();
	uint8_t bytes[ROOM];

	memset(bytes, 0x66, sizeof(bytes));
	send_write(s.p, stag, to, bytes, len);
	must_be_refused(s.p, triplet, alt);
	agent_destroy(s.conn);
}

static void attack_read(uint32_t stag, uint64_t to, uint32_t len, int triplet)
{
	struct session s = session_default();

	send_read_req(s.p, SINK, 0, len, stag, to);
	must_be_refused(s.p, triplet, NO_TRIPLET);
	agent_destroy(s.conn);
}

static void attack_invalidate(uint32_t stag, enum rdmap_op op)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "l");
	uint8_t out[ROOM];

	agent_recv(s.conn, 1, &mr, 0, 64);
	peer_send_fpdu(s.p, out, seg_send(s.p, op, stag, 0, "x", 1, true, out));
	must_be_refused(s.p, TRIPLET(0, 1, 9), TRIPLET(0, 2, 9));
	agent_destroy(s.conn);
}

/* @mr can still be used, on another connection */
static void must_be_usable(const struct agent_mr *mr)
{
	struct session s = session_default();
	struct fpdu f;

	send_read_req(s.p, SINK, 0, 16, mr->rkey, mr->va);
	must_get_op(s.p, &f, OP_READ_RESP);
	must_eq(f.seg.len, 16, "length of the Response");
	agent_destroy(s.conn);
}

/* ---- protection domains ---- */

static void foreign_pd_is_not_written(void)
{
	struct agent_mr mr = agent_mr_pd(ROOM, "lrw", 1);

	attack_write(mr.rkey, mr.va, 64, TRIPLET(1, 1, 2), NO_TRIPLET);
	must_be_untouched(&mr);
}

static void foreign_pd_is_not_read(void)
{
	struct agent_mr mr = agent_mr_pd(ROOM, "lrw", 1);

	attack_read(mr.rkey, mr.va, 64, TRIPLET(0, 1, 3));
}

static void foreign_pd_is_not_invalidated(void)
{
	struct agent_mr mr = agent_mr_pd(ROOM, "lrw", 1);

	attack_invalidate(mr.rkey, OP_SEND_INV);
	attack_write(mr.rkey, mr.va, 64, TRIPLET(1, 1, 2), NO_TRIPLET);
}

/* the ULP whose QP was attacked gets an event */
static void foreign_pd_is_told(void)
{
	struct agent_mr mr = agent_mr_pd(ROOM, "lrw", 1);
	struct session s = session_default();
	const char *event;
	int conn = -1;

	send_write(s.p, mr.rkey, mr.va, "x", 1);
	must_be_refused(s.p, TRIPLET(1, 1, 2), NO_TRIPLET);
	event = agent_async(&conn, patience(1000));
	must(event && !strcmp(event, "QP_ACCESS_ERR"), "the async event is %s",
	     event ? event : "missing");
	must_eq(conn, s.conn, "connection of the event");
	must_have_ended_qp(s.conn);
}

/* ---- bounds ---- */

static void every_byte_inside_is_reached(void)
{
	static const struct {
		unsigned int at, len;
	} good[] = { { 0, 1 }, { 0, MR_LEN }, { MR_LEN - 1, 1 }, { 1, MR_LEN - 1 } };
	struct agent_mr mr = agent_mr(MR_LEN, "lrw");
	struct session s = session_default();
	uint8_t bytes[MR_LEN];
	struct fpdu f;
	unsigned int i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		pattern(bytes, sizeof(bytes), i);
		send_write(s.p, mr.rkey, mr.va + good[i].at, bytes, good[i].len);
		send_read_req(s.p, SINK, 0, good[i].len, mr.rkey, mr.va + good[i].at);
		must_get_op(s.p, &f, OP_READ_RESP);
		must_eq(f.seg.len, good[i].len, "length of the Response");
		must_bytes(f.seg.data, bytes, good[i].len, "the Response");
	}
}

static const struct {
	int at;
	unsigned int len;
} outside[] = {
	{ -1, 1 }, { -1, 2 }, { -1, MR_LEN + 2 }, { 0, MR_LEN + 1 }, { MR_LEN - 1, 2 },
	{ MR_LEN, 1 }, { 4096, 1 }, { -4096, 8 },
};

#define OUTSIDE	(sizeof(outside) / sizeof(*outside))

/* the neighbouring regions have the same rights; only the STag keeps them apart */
static void no_byte_outside_is_written(void)
{
	struct agent_mr below = agent_mr(ROOM, "lrw");
	struct agent_mr mr = agent_mr(MR_LEN, "lrw");
	struct agent_mr above = agent_mr(ROOM, "lrw");
	size_t i;

	for (i = 0; i < OUTSIDE; i++)
		attack_write(mr.rkey, mr.va + outside[i].at, outside[i].len,
			     TRIPLET(1, 1, 1), NO_TRIPLET);
	must_be_untouched(&below);
	must_be_untouched(&mr);
	must_be_untouched(&above);
}

static void no_byte_outside_is_read(void)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lrw");
	size_t i;

	for (i = 0; i < OUTSIDE; i++)
		attack_read(mr.rkey, mr.va + outside[i].at, outside[i].len,
			    TRIPLET(0, 1, 1));
}

/* TO + length wraps to a small number, so the device must check for the wrap */
static void offset_plus_length_does_not_wrap(void)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lrw");

	attack_write(mr.rkey, -1ull, 2, TRIPLET(1, 1, 3), NO_TRIPLET);
	attack_read(mr.rkey, -1ull, 2, TRIPLET(0, 1, 4));
	attack_read(mr.rkey, mr.va, 0xffffffff, TRIPLET(0, 1, 1));
	must_be_untouched(&mr);
}

/* ---- rights ---- */

static void read_right_is_no_write_right(void)
{
	struct agent_mr mr = agent_mr(ROOM, "lr");

	must_be_usable(&mr);
	attack_write(mr.rkey, mr.va, 8, TRIPLET(1, 1, 0), TRIPLET(0, 1, 2));
	must_be_untouched(&mr);
}

static void write_right_is_no_read_right(void)
{
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct session s = session_default();

	send_write(s.p, mr.rkey, mr.va, "good", 4);
	must_be_alive(s.p);
	must_have_memory(&mr, 0, "good", 4);
	attack_read(mr.rkey, mr.va, 8, TRIPLET(0, 1, 2));
}

static void local_right_is_no_remote_right(void)
{
	struct agent_mr mr = agent_mr(ROOM, "l");

	attack_write(mr.rkey, mr.va, 8, TRIPLET(1, 1, 0), TRIPLET(0, 1, 2));
	attack_read(mr.rkey, mr.va, 8, TRIPLET(0, 1, 2));
	must_be_untouched(&mr);
}

static void atomic_right_is_neither(void)
{
	struct agent_mr mr = agent_mr(ROOM, "la");

	attack_write(mr.rkey, mr.va, 8, TRIPLET(1, 1, 0), TRIPLET(0, 1, 2));
	attack_read(mr.rkey, mr.va, 8, TRIPLET(0, 1, 2));
	must_be_untouched(&mr);
}

/* Post a Read whose sink has no remote right; skip the test if the device needs one. */
static struct open_read read_into_local_memory(struct session *s, struct agent_mr *mr)
{
	struct agent_wc wc;

	*mr = agent_mr(ROOM, "l");
	mr->sink = true;
	if (agent_try_post(s->conn, 1, AG_READ, AG_SIGNALED, mr, 0, 64, 0x77, 0) ||
	    agent_poll(&wc, 50))
		skip("the device asks for the remote write right of a sink");
	return must_get_read_request(s->p);
}

/* the sink STag of the device's Read is for its Response only */
static void read_sink_is_not_written(void)
{
	struct session s = session_default();
	struct agent_mr mr;
	struct open_read r;

	r = read_into_local_memory(&s, &mr);
	send_write(s.p, r.stag, r.to, "attack", 6);
	must_be_refused(s.p, TRIPLET(1, 1, 0), TRIPLET(0, 1, 2));
	must_be_untouched(&mr);
}

/* ... and only until the Response has come */
static void read_sink_closes_after_its_response(void)
{
	struct session s = session_default();
	struct agent_mr mr;
	uint8_t bytes[64];
	struct agent_wc wc;
	struct open_read r;
	struct terminate t;

	pattern(bytes, sizeof(bytes), 1);
	r = read_into_local_memory(&s, &mr);
	send_read_resp(s.p, r.stag, r.to, bytes, sizeof(bytes));
	agent_must_get_wc(1, "SUCCESS", &wc);
	send_read_resp(s.p, r.stag, r.to, "attack", 6);
	recv_terminate(s.p, false, &t);
	must_close_silently(s.p);
	must_have_memory(&mr, 0, bytes, sizeof(bytes));
}

/* ---- invalidation ---- */

/* the peer reads and writes @mr, on a stream that existed before the attack */
static void must_have_rights(struct session *s, const struct agent_mr *mr,
			     const char *bytes)
{
	struct fpdu f;

	send_write(s->p, mr->rkey, mr->va, bytes, 4);
	send_read_req(s->p, SINK, 0, 4, mr->rkey, mr->va);
	must_get_op(s->p, &f, OP_READ_RESP);
	must_eq(f.seg.len, 4, "length of the Response");
	must_bytes(f.seg.data, bytes, 4, "the Response");
}

/* Two streams use the region. Neither the peer of a third one nor one of their own
 * peers can invalidate it for the others. */
static void shared_mr_cannot_be_invalidated(void)
{
	struct session one = session_default(), other = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw"), rq = agent_mr(ROOM, "l");
	uint8_t out[ROOM];

	must_have_rights(&one, &mr, "1st.");
	must_have_rights(&other, &mr, "2nd.");
	attack_invalidate(mr.rkey, OP_SEND_INV);
	must_have_rights(&one, &mr, "3rd.");
	attack_invalidate(mr.rkey, OP_SEND_SE_INV);
	must_have_rights(&other, &mr, "4th.");
	agent_recv(one.conn, 1, &rq, 0, 64);
	peer_send_fpdu(one.p, out, seg_send(one.p, OP_SEND_INV, mr.rkey, 0, "x", 1, true, out));
	must_be_refused(one.p, TRIPLET(0, 1, 9), TRIPLET(0, 2, 9));
	must_have_rights(&other, &mr, "5th.");
}

/* ---- revocation ---- */

static void revoked_key_is_refused(void)
{
	struct agent_mr mr = agent_mr(ROOM, "lrw");

	must_be_usable(&mr);
	agent_dereg(&mr);
	attack_write(mr.rkey, mr.va, 8, TRIPLET(1, 1, 0), NO_TRIPLET);
	attack_read(mr.rkey, mr.va, 8, TRIPLET(0, 1, 0));
	attack_invalidate(mr.rkey, OP_SEND_INV);
	must_be_untouched(&mr);
}

/* a message that has begun places nothing more */
static void revoking_stops_a_write_between_segments(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	uint8_t bytes[512], out[ROOM], fill[512];

	pattern(bytes, sizeof(bytes), 1);
	memset(fill, AGENT_FILL, sizeof(fill));
	peer_send_fpdu(s.p, out, seg_write(s.p, mr.rkey, mr.va, bytes, sizeof(bytes),
					   false, out));
	must_be_alive(s.p);
	agent_dereg(&mr);
	peer_send_fpdu(s.p, out, seg_write(s.p, mr.rkey, mr.va + sizeof(bytes), bytes,
					   sizeof(bytes), true, out));
	must_be_refused(s.p, TRIPLET(1, 1, 0), NO_TRIPLET);
	must_have_memory(&mr, 0, bytes, sizeof(bytes));
	must_have_memory(&mr, sizeof(bytes), fill, sizeof(fill));
}

/* nor does a segment whose last byte has not come */
static void revoking_stops_an_arriving_segment(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	uint8_t bytes[512], out[ROOM], wire[ROOM];
	size_t n;

	pattern(bytes, sizeof(bytes), 1);
	n = fpdu_build(s.p, out, seg_write(s.p, mr.rkey, mr.va, bytes, sizeof(bytes),
					   true, out), NULL, wire);
	peer_send(s.p, wire, n - 1);
	must_be_silent(s.p, 100);
	agent_dereg(&mr);
	must_be_untouched(&mr);
	peer_send(s.p, wire + n - 1, 1);
	must_be_refused(s.p, TRIPLET(1, 1, 0), NO_TRIPLET);
	must_be_untouched(&mr);
}

/* Writes arrive while the region is deregistered: after the call returns no byte
 * changes. */
static void deregistering_stops_arriving_writes(void)
{
	enum { SHOTS = 1500, LEN = 1024 };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	uint8_t bytes[LEN], out[ROOM], before[ROOM];
	struct terminate t;
	unsigned int i;

	for (i = 0; i < SHOTS; i++) {
		memset(bytes, i, sizeof(bytes));
		peer_send_fpdu(s.p, out, seg_write(s.p, mr.rkey, mr.va, bytes, LEN, true,
						   out));
		if (i != SHOTS / 2)
			continue;
		agent_dereg(&mr);
		agent_peek(&mr, 0, before, sizeof(before));
	}
	recv_terminate(s.p, false, &t);
	must_eq(t.triplet, TRIPLET(1, 1, 0), "the Terminate");
	must_have_memory(&mr, 0, before, sizeof(before));
}

static const struct conform_test tests[] = {
	{ "security__foreign_pd_is_not_written", "RDMAP-137 DDP-098 DDP-108 DDP-101",
	  "an STag of another protection domain cannot be written",
	  EITHER, 0, foreign_pd_is_not_written },
	{ "security__foreign_pd_is_not_read", "RDMAP-137 DDP-108 DDP-101",
	  "an STag of another protection domain cannot be read",
	  EITHER, 0, foreign_pd_is_not_read },
	{ "security__foreign_pd_is_not_invalidated", "RDMAP-137 RDMAP-129",
	  "an STag of another protection domain cannot be invalidated",
	  RESPONDER, 0, foreign_pd_is_not_invalidated },
	{ "security__foreign_pd_is_told", "DDP-098 DDP-106",
	  "an STag that is not valid on the stream raises an error at the QP under attack",
	  RESPONDER, 0, foreign_pd_is_told },
	{ "security__every_byte_inside_is_reached", "RDMAP-139 DDP-097 DDP-102 DDP-111",
	  "the first, the last and all bytes of a buffer can be written and read",
	  EITHER, 0, every_byte_inside_is_reached },
	{ "security__no_byte_outside_is_written", "RDMAP-139 DDP-097 DDP-110",
	  "no byte next to a buffer can be written through its STag",
	  RESPONDER, 0, no_byte_outside_is_written },
	{ "security__no_byte_outside_is_read", "RDMAP-139 DDP-097 DDP-110",
	  "no byte next to a buffer can be read through its STag",
	  RESPONDER, 0, no_byte_outside_is_read },
	{ "security__offset_plus_length_does_not_wrap", "RDMAP-139 DDP-097 DDP-110",
	  "offset and length are not added up modulo anything",
	  RESPONDER, 0, offset_plus_length_does_not_wrap },
	{ "security__read_right_is_no_write_right", "RDMAP-141 DDP-112",
	  "memory for remote reading is not written", RESPONDER, 0,
	  read_right_is_no_write_right },
	{ "security__write_right_is_no_read_right", "RDMAP-141 DDP-112",
	  "memory for remote writing is not read", RESPONDER, 0,
	  write_right_is_no_read_right },
	{ "security__local_right_is_no_remote_right", "RDMAP-141 DDP-112",
	  "memory for local use is neither read nor written by a peer", RESPONDER, 0,
	  local_right_is_no_remote_right },
	{ "security__atomic_right_is_neither", "RDMAP-141 DDP-112",
	  "memory for remote atomics is neither read nor written", RESPONDER, 0,
	  atomic_right_is_neither },
	{ "security__read_sink_is_not_written", "RDMAP-141 DDP-112",
	  "the sink of an open Read cannot be written by a Write", EITHER, 0,
	  read_sink_is_not_written },
	{ "security__read_sink_closes_after_its_response", "RDMAP-142 DDP-113",
	  "the sink of a Read is closed once its Response was delivered", EITHER, 0,
	  read_sink_closes_after_its_response },
	{ "security__shared_mr_cannot_be_invalidated", "RDMAP-143",
	  "an STag that several streams use cannot be invalidated by the peer of any",
	  EITHER, 0, shared_mr_cannot_be_invalidated },
	{ "security__revoked_key_is_refused", "RDMAP-140 DDP-102 DDP-103 DDP-111",
	  "an STag that was taken back is unknown", EITHER, 0, revoked_key_is_refused },
	{ "security__revoking_stops_a_write_between_segments", "RDMAP-142 DDP-113",
	  "a Write that has begun goes no further once the STag is taken back",
	  RESPONDER, 0, revoking_stops_a_write_between_segments },
	{ "security__revoking_stops_an_arriving_segment", "RDMAP-142 DDP-113",
	  "a segment that is not all there is not placed once the STag is taken back",
	  RESPONDER, 0, revoking_stops_an_arriving_segment },
	{ "security__deregistering_stops_arriving_writes", "RDMAP-142 DDP-113",
	  "no byte changes once the call that takes the STag back has returned",
	  EITHER, 0, deregistering_stops_arriving_writes },
	{}
};

const struct conform_group security_group = { "security", tests };
