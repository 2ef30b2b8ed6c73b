// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Memory windows, seen from the wire: STags that are bound to one stream (RFC 5041
 * 8.2, RFC 5040 8.1.1(2)) and that a peer may invalidate (RFC 5040 5.3). Type 2
 * windows are; a type 1 window is valid on all streams of its protection domain.
 */
#include <string.h>

#include "terminate.h"

#define ROOM	4096
#define AT	999	/* offset of the windows in their memory: unaligned */
#define LEN	1000
#define SINK	0x51

/* the connection that binds, and another one of the same protection domain */
struct two {
	struct session own, other;
	struct agent_mr mr;
	uint32_t stag;
};

static struct two start_two(int type, const char *access)
{
	struct two t = {
		.own = session_default(), .other = session_default(),
		.mr = agent_mr(ROOM, "lrwb"),
	};

	t.stag = agent_bind(t.own.conn, type, &t.mr, AT, LEN, access);
	return t;
}

static uint64_t start_of(const struct two *t)
{
	return t->mr.va + AT;
}

static void must_end(struct peer *p, int triplet)
{
	struct terminate t;

	recv_terminate(p, false, &t);
	must(t.triplet == triplet, "the Terminate is %d/%d/%02x, not %d/%d/%02x",
	     TRIPLET_LAYER(t.triplet), TRIPLET_ETYPE(t.triplet),
	     TRIPLET_CODE(t.triplet), TRIPLET_LAYER(triplet), TRIPLET_ETYPE(triplet),
	     TRIPLET_CODE(triplet));
	must_close_silently(p);
}

/* @p writes the whole window and reads it back */
static void must_be_open(struct two *t, struct peer *p)
{
	uint8_t bytes[LEN];
	struct fpdu f;

	pattern(bytes, LEN, t->stag);
	send_write(p, t->stag, start_of(t), bytes, LEN);
	send_read_req(p, SINK, 0, LEN, t->stag, start_of(t));
	must_get_op(p, &f, OP_READ_RESP);
	must_eq(f.seg.len, LEN, "length of the Response");
	must_bytes(f.seg.data, bytes, LEN, "the Response");
	must_have_memory(&t->mr, AT, bytes, LEN);
}

static void send_invalidate(struct session *s, uint32_t stag)
{
	struct agent_mr mr = agent_mr(ROOM, "l");
	uint8_t out[64];

	agent_recv(s->conn, 1, &mr, 0, 64);
	peer_send_fpdu(s->p, out, seg_send(s->p, OP_SEND_INV, stag, 0, "x", 1, true,
					   out));
}

/* ---- bound to a stream ---- */

static void own_stream_may_use_it(void)
{
	struct two t = start_two(2, "rw");

	must_be_open(&t, t.own.p);
}

static void other_stream_cannot_write(void)
{
	struct two t = start_two(2, "rw");

	send_write(t.other.p, t.stag, start_of(&t), "x", 1);
	must_end(t.other.p, TRIPLET(1, 1, 2));
	must_be_untouched(&t.mr);
	must_be_open(&t, t.own.p);
}

static void other_stream_cannot_read(void)
{
	struct two t = start_two(2, "rw");

	send_read_req(t.other.p, SINK, 0, 8, t.stag, start_of(&t));
	must_end(t.other.p, TRIPLET(0, 1, 3));
	must_be_open(&t, t.own.p);
}

static void other_stream_cannot_invalidate(void)
{
	struct two t = start_two(2, "rw");

	send_invalidate(&t.other, t.stag);
	must_end(t.other.p, TRIPLET(0, 1, 9));
	must_be_open(&t, t.own.p);
}

static void other_stream_is_told(void)
{
	struct two t = start_two(2, "rw");
	const char *event;
	int conn = -1;

	send_write(t.other.p, t.stag, start_of(&t), "x", 1);
	must_end(t.other.p, TRIPLET(1, 1, 2));
	event = agent_async(&conn, patience(1000));
	must(event && !strcmp(event, "QP_ACCESS_ERR"), "the async event is %s",
	     event ? event : "missing");
	must_eq(conn, t.other.conn, "connection of the event");
}

static void type1_is_for_all_streams(void)
{
	struct two t = start_two(1, "rw");

	must_be_open(&t, t.own.p);
	must_be_open(&t, t.other.p);
}

/* ---- range and rights ---- */

/* each attack ends a connection */
static void attack_write(const char *access, int at, int triplet)
{
	struct two t = start_two(2, access);

	send_write(t.own.p, t.stag, start_of(&t) + at, "x", 1);
	must_end(t.own.p, triplet);
	must_be_untouched(&t.mr);
	agent_destroy(t.own.conn);
	agent_destroy(t.other.conn);
}

static void attack_read(const char *access, int at, int triplet)
{
	struct two t = start_two(2, access);

	send_read_req(t.own.p, SINK, 0, 1, t.stag, start_of(&t) + at);
	must_end(t.own.p, triplet);
	agent_destroy(t.own.conn);
	agent_destroy(t.other.conn);
}

static void bounds(void)
{
	static const int out[] = { -1, LEN, -AT, ROOM - AT };
	size_t i;

	for (i = 0; i < sizeof(out) / sizeof(*out); i++) {
		attack_write("rw", out[i], TRIPLET(1, 1, 1));
		attack_read("rw", out[i], TRIPLET(0, 1, 1));
	}
}

/* the memory itself has both rights */
static void rights(void)
{
	attack_write("r", 0, TRIPLET(1, 1, 0));
	attack_read("w", 0, TRIPLET(0, 1, 2));
}

/* ---- invalidated by the peer ---- */

static void invalidated(void)
{
	struct two t = start_two(2, "rw");
	struct agent_wc wc;

	must_be_open(&t, t.own.p);
	send_invalidate(&t.own, t.stag);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.invalidated, t.stag, "the STag that was invalidated");
	send_write(t.own.p, t.stag, start_of(&t), "attack", 6);
	must_end(t.own.p, TRIPLET(1, 1, 0));
}

static void type1_is_not_invalidated(void)
{
	struct two t = start_two(1, "rw");

	send_invalidate(&t.own, t.stag);
	must_end(t.own.p, TRIPLET(0, 1, 9));
	must_be_open(&t, t.other.p);
}

static const struct conform_test tests[] = {
	{ "window__own_stream_may_use_it", "DDP-104 DDP-101 DDP-102",
	  "an STag that is tied to a stream can be written and read on it", EITHER, 0,
	  own_stream_may_use_it },
	{ "window__other_stream_cannot_write", "DDP-099 DDP-109 RDMAP-138",
	  "an STag that is tied to a stream cannot be written on another", EITHER, 0,
	  other_stream_cannot_write },
	{ "window__other_stream_cannot_read", "DDP-109 RDMAP-138",
	  "an STag that is tied to a stream cannot be read on another", EITHER, 0,
	  other_stream_cannot_read },
	{ "window__other_stream_cannot_invalidate", "DDP-109 RDMAP-138 RDMAP-077 RDMAP-129",
	  "an STag that is tied to a stream cannot be invalidated on another", EITHER, 0,
	  other_stream_cannot_invalidate },
	{ "window__other_stream_is_told", "DDP-099 DDP-106",
	  "an STag of another stream raises an error at the QP that it came to",
	  RESPONDER, 0, other_stream_is_told },
	{ "window__type1_is_for_all_streams", "DDP-101",
	  "a window for its protection domain can be used on each stream of it",
	  RESPONDER, 0, type1_is_for_all_streams },
	{ "window__bounds", "RDMAP-139 DDP-097 DDP-110",
	  "no byte of the memory next to a window can be reached", RESPONDER, 0,
	  bounds },
	{ "window__rights", "RDMAP-141 DDP-112",
	  "a window gives its own rights, not those of its memory", RESPONDER, 0,
	  rights },
	{ "window__invalidated", "RDMAP-078 RDMAP-140 DDP-035",
	  "what the peer invalidates is reported to the program, and unknown from then on",
	  EITHER, 0, invalidated },
	{ "window__type1_is_not_invalidated", "RDMAP-143",
	  "a window that is good for several streams cannot be invalidated by a peer",
	  RESPONDER, 0, type1_is_not_invalidated },
	{}
};

const struct conform_group window_group = { "window", tests };
