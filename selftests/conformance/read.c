// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * RDMA Read Requests that the device answers or refuses: RFC 5040 5.2 and 7.2. The
 * device's own Reads are in response.c.
 */
#include <string.h>

#include "scene.h"

#define BIG	(1 << 20)

static uint8_t big_buf[BIG];

/* ---- Requests that are answered ----------------------------------------- */

/**
 * struct answer - a whole Response
 * @stag, @to: sink of its first segment
 * @len: bytes, in big_buf
 * @segments: number of segments
 */
struct answer {
	uint32_t stag;
	uint64_t to;
	uint32_t len;
	unsigned int segments;
};

static void recv_answer(struct peer *p, struct answer *a)
{
	struct fpdu f;

	memset(a, 0, sizeof(*a));
	do {
		must_get_op(p, &f, OP_READ_RESP);
		if (!a->segments++) {
			a->stag = f.seg.stag;
			a->to = f.seg.to;
		}
		must_eq(f.seg.stag, a->stag, "STag of a later segment");
		must_eq(f.seg.to, a->to + a->len, "TO of a segment");
		must(a->len + f.seg.len <= BIG, "the Response has no end");
		memcpy(big_buf + a->len, f.seg.data, f.seg.len);
		a->len += f.seg.len;
	} while (!seg_last(&f.seg));
}

/* the Response to scene_read(@sc, @at, @len) comes and has the bytes @mem of the sink */
static void must_get_answer(struct scene *sc, const uint8_t *mem, uint32_t len)
{
	struct answer a;

	recv_answer(sc->p, &a);
	must_eq(a.stag, get32(sc->body), "sink STag");
	must_eq(a.to, get64(sc->body + 4), "sink TO");
	must_eq(a.len, len, "length of the Response");
	must_bytes(big_buf, mem, len, "Response");
}

static void read__is_answered(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 10, 500);

	agent_poke(&sc->sink, 0, sc->data, SCENE_SINK_LEN);
	scene_put(sc, &seg);
	must_get_answer(sc, sc->data + 10, 500);
	/* the device's program gets no completion, and its receive is still posted */
	agent_must_get_no_wc(20);
	seg = scene_send(sc, 3);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 3);
}

static void read__any_offset_and_length(void)
{
	static const struct { uint32_t at, len; } rows[] = {
		{ 0, 1 }, { 1, 1 }, { 3, 2 }, { 7, 3 }, { 101, 63 },
		{ SCENE_SINK_LEN - 1, 1 }, { 0, SCENE_SINK_LEN },
	};
	struct scene *sc = scene_start();
	struct seg seg;
	unsigned int i;

	agent_poke(&sc->sink, 0, sc->data, SCENE_SINK_LEN);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		seg = scene_read(sc, rows[i].at, rows[i].len);
		put64(sc->body + 4, rows[i].len * 0x100000001ULL);
		scene_put(sc, &seg);
		must_get_answer(sc, sc->data + rows[i].at, rows[i].len);
	}
}

static void read__sink_is_copied_as_it_is(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 8);
	uint8_t want[8];

	memset(want, AGENT_FILL, sizeof(want));
	put32(sc->body, 0);
	put64(sc->body + 4, 0);
	scene_put(sc, &seg);
	must_get_answer(sc, want, sizeof(want));
	/* a sink that wraps, and an STag close to one of the device's */
	seg = scene_read(sc, 0, 8);
	put32(sc->body, sc->sink.rkey ^ 1);
	put64(sc->body + 4, UINT64_MAX - 1);
	scene_put(sc, &seg);
	must_get_answer(sc, want, sizeof(want));
}

static void read__large_one_is_one_response(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(BIG, "lr");
	static uint8_t half[4096];
	struct answer a;

	pattern(half, sizeof(half), 9);
	agent_poke(&mr, BIG / 2, half, sizeof(half));
	send_read_req(sc->p, 0x77, 3, BIG, mr.rkey, mr.va);
	recv_answer(sc->p, &a);
	must_eq(a.len, BIG, "length of the Response");
	must(a.segments > 15, "%u segments make no sense", a.segments);
	must_bytes(big_buf + BIG / 2, half, sizeof(half), "bytes in the middle");
	must_be_alive(sc->p);
}

static void read__empty_one_ignores_stag_and_offset(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 0);
	struct fpdu f;

	put32(sc->body + 16, 0xffffffff);
	put64(sc->body + 20, UINT64_MAX);
	scene_put(sc, &seg);
	must_get_op(sc->p, &f, OP_READ_RESP);
	must_eq(f.seg.ulpdu_len, TAGGED_HDR, "length of the segment");
	must(seg_last(&f.seg), "no L bit");
	scene_must_do_nothing(sc);
}

static void read__invalidate_field_is_ignored(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 8);
	int i;

	seg.stag = sc->sink.rkey;
	for (i = 0; i < 2; i++) {
		uint8_t want[8];

		memset(want, AGENT_FILL, sizeof(want));
		scene_put(sc, &seg);
		must_get_answer(sc, want, sizeof(want));
		seg.msn++;
	}
}

static void read__needs_no_right_to_write(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, "r");
	struct answer a;

	send_read_req(sc->p, 1, 2, 100, mr.rkey, mr.va);
	recv_answer(sc->p, &a);
	must_eq(a.len, 100, "length of the Response");
	must_be_untouched(&mr);
}

/* ---- how many at once --------------------------------------------------- */

static uint8_t requests[ENH_X * 128];	/* as many as 14 bits allow, with markers */

/* The IRD of the device's Reply: at least what its program asked for; a device may
 * grant more, up to the ORD of our Request or beyond (RFC 6581 9.1). */
static int granted_ird(const struct session *s)
{
	int ird = enh_word0(&s->p->reply) & ENH_X;

	if (ird == ENH_X)
		skip("the device does not negotiate its IRD");
	must(ird >= s->qp.ird, "the device grants IRD %d, its program %d", ird,
	     s->qp.ird);
	return ird;
}

static void read__as_many_as_ird_in_order(void)
{
	struct session s = SESSION_DEFAULT;
	uint8_t ulpdu[READ_REQ_LEN];
	struct scene *sc;
	size_t n = 0;
	int i, ird;

	s.qp.ird = 4;
	session_start(&s);
	sc = scene_start_on(&s);
	ird = granted_ird(&s);
	agent_poke(&sc->sink, 0, sc->data, SCENE_SINK_LEN);
	for (i = 0; i < ird; i++) {
		seg_read_req(sc->p, 100 + i, i, 600, sc->sink.rkey,
			     sc->sink.va + 500 * (i % 4), ulpdu);
		n += fpdu_build(sc->p, ulpdu, READ_REQ_LEN, NULL, requests + n);
	}
	peer_send(sc->p, requests, n);
	for (i = 0; i < ird; i++) {
		struct answer a;

		recv_answer(sc->p, &a);
		must_eq(a.stag, 100 + i, "sink STag");
		must_bytes(big_buf, sc->data + 500 * (i % 4), 600, "Response");
	}
	must_be_alive(sc->p);
}

static void read__a_slot_is_used_again(void)
{
	struct session s = SESSION_DEFAULT;
	struct answer a;
	struct scene *sc;
	int i;

	s.qp.ird = 1;
	session_start(&s);
	sc = scene_start_on(&s);
	for (i = 0; i < 10; i++) {
		send_read_req(sc->p, i, 0, 8, sc->sink.rkey, sc->sink.va);
		recv_answer(sc->p, &a);
		must_eq(a.stag, i, "sink STag");
	}
}

/* Use all of the device's IRD: the first Response fills TCP since we do not read, so
 * no slot becomes free. The next Request has no slot. */
static struct scene *start_full(struct agent_mr *mr)
{
	struct session s = SESSION_DEFAULT;
	struct scene *sc;
	int i, ird;

	s.qp.ird = 2;
	s.tcp.rcvbuf = 8192;
	session_start(&s);
	sc = scene_start_on(&s);
	*mr = agent_mr(2 * BIG, "lr");
	ird = granted_ird(&s);
	for (i = 0; i < ird; i++)
		send_read_req(sc->p, i, 0, i ? 8 : mr->len, mr->rkey, mr->va);
	return sc;
}

static void read__not_more_than_ird(void)
{
	struct agent_mr mr;
	struct scene *sc = start_full(&mr);
	uint8_t ulpdu[READ_REQ_LEN];

	seg_read_req(sc->p, 99, 0, 8, mr.rkey, mr.va, ulpdu);
	peer_send_fpdu(sc->p, ulpdu, READ_REQ_LEN);
	scene_must_end(sc, ulpdu, READ_REQ_LEN, DU_NO_BUFFER, VERDICT_NONE);
}

static void read__missing_slot_is_reported_before_a_wrong_mo(void)
{
	struct agent_mr mr;
	struct scene *sc = start_full(&mr);
	struct seg seg = scene_read(sc, 0, 8);

	seg.mo = 4;
	scene_put(sc, &seg);
	scene_must_end(sc, NULL, 0, DU_NO_BUFFER, VERDICT_NONE);
}

static void read__source_goes_away(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	struct fpdu f;
	struct term t;
	uint64_t sent = 0;

	s.tcp.rcvbuf = 8192;
	session_start(&s);
	mr = agent_mr(4 * BIG, "lr");
	send_read_req(s.p, 0x1234, 0x500, mr.len, mr.rkey, mr.va);
	must_get_op(s.p, &f, OP_READ_RESP);
	agent_dereg(&mr);
	for (;; must_get_fpdu(s.p, &f)) {
		if (seg_op(&f.seg) == OP_TERMINATE)
			break;
		must(!seg_last(&f.seg), "all of it was sent");
		sent += f.seg.len;
	}
	must(term_decode(&t, &f.seg), "the Terminate is too short");
	must_eq(VERDICT(t.layer, t.etype, t.code), RP_INV_STAG, "triplet");
	must(t.m && t.d && t.r, "M, D, R are %d, %d, %d", t.m, t.d, t.r);
	must_eq(get32(t.rdma), 0x1234, "sink STag");
	must_eq(get64(t.rdma + 4), 0x500 + sent, "sink TO");
	must_eq(get32(t.rdma + 12), mr.len - sent, "bytes left");
	must_eq(get32(t.rdma + 16), mr.rkey, "source STag");
	must_eq(get64(t.rdma + 20), mr.va + sent, "source TO");
}

/* ---- sources that are refused ------------------------------------------- */

/* read @size bytes from @at of the sink */
static void source_outside(int64_t at, uint32_t size, int verdict)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, size);

	put64(sc->body + 20, sc->sink.va + at);
	scene_refuse(sc, &seg, verdict);
}

static void read__source_one_byte_below(void)
{
	source_outside(-1, 1, RP_BOUNDS);
}

static void read__source_one_byte_above(void)
{
	source_outside(SCENE_SINK_LEN, 1, RP_BOUNDS);
}

static void read__source_ends_one_byte_above(void)
{
	source_outside(1, SCENE_SINK_LEN, RP_BOUNDS);
}

static void read__source_is_4_gib(void)
{
	source_outside(0, UINT32_MAX, RP_BOUNDS);
}

static void read__source_wraps(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 8);

	put64(sc->body + 20, UINT64_MAX - 3);
	scene_refuse(sc, &seg, RP_WRAP);
}

static void read_from(const struct agent_mr *mr, struct scene *sc, int verdict)
{
	struct seg seg = scene_read(sc, 0, 8);

	put32(sc->body + 16, mr->rkey);
	put64(sc->body + 20, mr->va);
	scene_refuse(sc, &seg, verdict);
}

static void read__source_key_differs(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = sc->sink;

	mr.rkey ^= 1;
	read_from(&mr, sc, RP_INV_STAG);
}

static void read__source_is_gone(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, "lrw");

	agent_dereg(&mr);
	read_from(&mr, sc, RP_INV_STAG);
}

static void read__source_of_another_pd(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr_pd(100, "lrw", 1);

	read_from(&mr, sc, RP_NOT_ASSOC);
}

static void read__source_without_right(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, "lw");

	read_from(&mr, sc, RP_ACCESS);
}

/* ---- form of a Request -------------------------------------------------- */

static void body_of(uint32_t len, int verdict)
{
	static uint8_t body[READ_BODY_LEN + 1];
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 8);

	memcpy(body, sc->body, READ_BODY_LEN);
	seg.data = body;
	seg.len = len;
	scene_refuse(sc, &seg, verdict);
}

static void read__request_is_too_short(void)
{
	body_of(READ_BODY_LEN - 1, RO_STREAM);
}

static void read__request_is_empty(void)
{
	body_of(0, RO_STREAM);
}

static void read__request_is_too_long(void)
{
	body_of(READ_BODY_LEN + 1, DU_TOO_LONG);
}

static void read__request_without_l(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 8);

	seg.ctrl &= ~DDP_LAST;
	scene_refuse(sc, &seg, RO_STREAM);
}

static void read__request_with_mo(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 8);

	seg.mo = 4;
	scene_refuse(sc, &seg, DU_MO);
}

static void read__request_on_queue_0(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_read(sc, 0, 8);

	seg.qn = 0;
	seg.msn = sc->p->tx_msn[0];
	scene_refuse_placed(sc, &seg, RO_OPCODE);
}

static void read__request_is_untagged(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 28);

	seg_set_op(&seg, OP_READ_REQ);
	scene_refuse(sc, &seg, RO_OPCODE);
}

#define ROW(name, ids, rule, role, run) { name, ids, rule, role, 0, run }

static const struct conform_test tests[] = {
	ROW("read__is_answered",
	    "RDMAP-020 RDMAP-021 RDMAP-041 RDMAP-044 RDMAP-045 RDMAP-052 RDMAP-057",
	    "a Request is answered by the device itself, the program hears nothing",
	    EITHER, read__is_answered),
	ROW("read__any_offset_and_length",
	    "RDMAP-021 RDMAP-022 RDMAP-051 RDMAP-061 RDMAP-064",
	    "a Read may start anywhere at both ends and have any length", RESPONDER,
	    read__any_offset_and_length),
	ROW("read__sink_is_copied_as_it_is", "RDMAP-020 RDMAP-021",
	    "the sink's STag and TO are copied, not looked at", RESPONDER,
	    read__sink_is_copied_as_it_is),
	ROW("read__large_one_is_one_response", "RDMAP-023 RDMAP-041 DDP-050 DDP-016",
	    "a large Read is one Response with one L bit", RESPONDER,
	    read__large_one_is_one_response),
	ROW("read__empty_one_ignores_stag_and_offset", "RDMAP-055 RDMAP-056 DDP-051",
	    "the source of an empty Read is not checked, the answer is one empty segment",
	    EITHER, read__empty_one_ignores_stag_and_offset),
	ROW("read__invalidate_field_is_ignored", "RDMAP-017",
	    "a Request's Invalidate STag may be anything and does nothing", RESPONDER,
	    read__invalidate_field_is_ignored),
	ROW("read__needs_no_right_to_write", "RDMAP-054 DDP-112",
	    "the right to be read needs no right to be written", RESPONDER,
	    read__needs_no_right_to_write),
	ROW("read__as_many_as_ird_in_order",
	    "RDMAP-049 RDMAP-058 RDMAP-062 RDMAP-043 RDMAP-109",
	    "as many Requests as the negotiated IRD at once are answered in order",
	    RESPONDER, read__as_many_as_ird_in_order),
	ROW("read__a_slot_is_used_again", "RDMAP-043 RDMAP-058",
	    "a Request takes one slot until it is answered", RESPONDER,
	    read__a_slot_is_used_again),
	ROW("read__not_more_than_ird", "RDMAP-043 RDMAP-058 RDMAP-109 DDP-079",
	    "a Request beyond the negotiated IRD is refused", RESPONDER,
	    read__not_more_than_ird),
	ROW("read__missing_slot_is_reported_before_a_wrong_mo", "RDMAP-043 DDP-079",
	    "a Request that has no slot and a wrong MO is refused for the slot",
	    RESPONDER, read__missing_slot_is_reported_before_a_wrong_mo),
	ROW("read__source_goes_away", "RDMAP-032 RDMAP-031",
	    "a Read that fails in the middle tells how far it got", RESPONDER,
	    read__source_goes_away),
	ROW("read__source_one_byte_below", "RDMAP-046 RDMAP-054",
	    "a source that starts below the buffer is refused", EITHER,
	    read__source_one_byte_below),
	ROW("read__source_one_byte_above", "RDMAP-054",
	    "a source that starts above the buffer is refused", RESPONDER,
	    read__source_one_byte_above),
	ROW("read__source_ends_one_byte_above", "RDMAP-054",
	    "a source that ends above the buffer is refused", RESPONDER,
	    read__source_ends_one_byte_above),
	ROW("read__source_is_4_gib", "RDMAP-023 RDMAP-054",
	    "the largest Read is taken as what it is", RESPONDER,
	    read__source_is_4_gib),
	ROW("read__source_wraps", "RDMAP-054",
	    "a source whose end wraps 64 bits is refused", RESPONDER,
	    read__source_wraps),
	ROW("read__source_key_differs", "RDMAP-054",
	    "a source STag with another key is refused", RESPONDER,
	    read__source_key_differs),
	ROW("read__source_is_gone", "RDMAP-054 DDP-103",
	    "a source whose region is gone is refused", RESPONDER,
	    read__source_is_gone),
	ROW("read__source_of_another_pd", "RDMAP-054 DDP-108",
	    "a source of another protection domain is refused", RESPONDER,
	    read__source_of_another_pd),
	ROW("read__source_without_right", "RDMAP-054 DDP-112",
	    "a source without the remote read right is refused", RESPONDER,
	    read__source_without_right),
	ROW("read__request_is_too_short", "RDMAP-018 RDMAP-019 Q10",
	    "a Request has 28 bytes, not 27", RESPONDER,
	    read__request_is_too_short),
	ROW("read__request_is_empty", "RDMAP-019 Q10", "a Request has 28 bytes, not 0",
	    RESPONDER, read__request_is_empty),
	ROW("read__request_is_too_long", "RDMAP-018 RDMAP-019",
	    "a Request has 28 bytes, not 29", RESPONDER, read__request_is_too_long),
	ROW("read__request_without_l", "RDMAP-019 RDMAP-041 Q10",
	    "a Request is one segment, the last", RESPONDER,
	    read__request_without_l),
	ROW("read__request_with_mo", "RDMAP-019 DDP-084",
	    "a Request is one segment, the first", RESPONDER, read__request_with_mo),
	ROW("read__request_on_queue_0", "RDMAP-002 RDMAP-012 RDMAP-047",
	    "a Request is taken on queue 1 only", RESPONDER,
	    read__request_on_queue_0),
	ROW("read__request_is_untagged", "RDMAP-012 RDMAP-042",
	    "a tagged Request is refused", RESPONDER, read__request_is_untagged),
	{}
};

const struct conform_group read_group = { "read", tests };
