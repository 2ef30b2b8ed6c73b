// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Responses to RDMA Reads that the device posts: RFC 5040 5.2.2. */
#include <string.h>

#include "scene.h"

#define READ_ID		50
#define READ_LEN	600

/* The device posts a Read of READ_LEN bytes into the memory of the receive. @seg gets
 * the first segment of the good Response, which has all bytes. */
static struct scene *start_open_read(struct seg *seg)
{
	struct scene *sc = scene_start_bare();
	struct fpdu f;

	agent_post(sc->s.conn, READ_ID, AG_READ, AG_SIGNALED, &sc->recv, 100,
		   READ_LEN, 0x1111, 0x2222);
	sc->posted++;
	must_get_op(sc->p, &f, OP_READ_REQ);
	must_eq(f.seg.ulpdu_len, READ_REQ_LEN, "length of the Request");
	*seg = scene_write(sc, 0, READ_LEN);
	seg_set_op(seg, OP_READ_RESP);
	seg->stag = get32(f.seg.data);
	seg->to = get64(f.seg.data + 4);
	return sc;
}

static void must_have_read(uint64_t wr_id, uint32_t len)
{
	struct agent_wc wc;

	agent_must_get_wc(wr_id, "SUCCESS", &wc);
	must(!strcmp(wc.opcode, "RDMA_READ"), "completion of %s", wc.opcode);
	must_eq(wc.byte_len, len, "byte_len");
}

static void response__completes_it(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	scene_put(sc, &seg);
	must_have_read(READ_ID, READ_LEN);
	must_have_memory(&sc->recv, 100, sc->data, READ_LEN);
	must_have_memory(&sc->recv, 99, "\xa5", 1);
	must_have_memory(&sc->recv, 100 + READ_LEN, "\xa5", 1);
	must_be_alive(sc->p);
}

static void response__in_segments(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);
	uint64_t to = seg.to;
	uint32_t at;

	for (at = 0; at < READ_LEN; at += 13) {
		seg.to = to + at;
		seg.data = sc->data + at;
		seg.len = READ_LEN - at < 13 ? READ_LEN - at : 13;
		seg.ctrl &= ~DDP_LAST;
		if (at + 13 >= READ_LEN) {
			must_be_alive(sc->p);
			agent_must_get_no_wc(1);
			seg.ctrl |= DDP_LAST;
		}
		scene_put(sc, &seg);
	}
	must_have_read(READ_ID, READ_LEN);
	must_have_memory(&sc->recv, 100, sc->data, READ_LEN);
}

static void response__empty_one_ignores_stag_and_offset(void)
{
	struct scene *sc = scene_start_bare();
	struct seg seg = scene_write(sc, 0, 0);
	struct fpdu f;

	agent_post(sc->s.conn, READ_ID, AG_READ, AG_SIGNALED, &sc->recv, 0, 0, 1, 2);
	must_get_op(sc->p, &f, OP_READ_REQ);
	must_eq(get32(f.seg.data + 12), 0, "RDMARDSZ");
	seg_set_op(&seg, OP_READ_RESP);
	seg.stag = 0xffffffff;
	seg.to = UINT64_MAX;
	scene_put(sc, &seg);
	must_have_read(READ_ID, 0);
	scene_must_do_nothing(sc);
}

static void response__without_an_open_read(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg_set_op(&seg, OP_READ_RESP);
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void response__empty_one_without_an_open_read(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 0);

	seg_set_op(&seg, OP_READ_RESP);
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void response__second_to_the_same_read(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	scene_put(sc, &seg);
	must_have_read(READ_ID, READ_LEN);
	sc->posted = 0;
	scene_refuse_placed(sc, &seg, RO_OPCODE);
}

static void response__to_another_stag(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	/* an STag that a Write may name */
	seg.stag = sc->sink.rkey;
	seg.to = sc->sink.va;
	scene_refuse(sc, &seg, DT_INV_STAG);
}

static void response__to_another_to(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	seg.to++;
	scene_refuse(sc, &seg, DT_BOUNDS);
}

static void response__is_short(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	seg.len--;
	scene_refuse(sc, &seg, RO_STREAM);
}

static void response__is_empty(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	seg.len = 0;
	scene_refuse(sc, &seg, RO_STREAM);
}

static void response__is_long(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	seg.len++;
	scene_refuse(sc, &seg, RO_STREAM);
}

static void response__with_a_gap(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	seg.len = 100;
	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg.to += 101;
	scene_refuse_placed(sc, &seg, DT_BOUNDS);
	must_have_memory(&sc->recv, 200, "\xa5\xa5\xa5\xa5", 4);
}

static void response__is_tagged(void)
{
	struct seg seg;
	struct scene *sc = start_open_read(&seg);

	scene_post_recv(sc, SCENE_RECV_LEN);
	seg = scene_send(sc, 8);
	seg_set_op(&seg, OP_READ_RESP);
	scene_refuse_placed(sc, &seg, RO_OPCODE);
}

#define ROW(name, ids, rule, role, run) { name, ids, rule, role, 0, run }

static const struct conform_test tests[] = {
	ROW("response__completes_it", "RDMAP-059 RDMAP-005 DDP-014",
	    "the Response to a Read is placed where the Read said and completes it",
	    EITHER, response__completes_it),
	ROW("response__in_segments", "RDMAP-059 DDP-047 DDP-061",
	    "a Response in segments completes the Read with its L segment", RESPONDER,
	    response__in_segments),
	ROW("response__empty_one_ignores_stag_and_offset", "RDMAP-053 RDMAP-059 DDP-053",
	    "STag and TO of an empty Response are not checked", RESPONDER,
	    response__empty_one_ignores_stag_and_offset),
	ROW("response__without_an_open_read", "RDMAP-060",
	    "a Response without a Read is refused, whatever its STag", EITHER,
	    response__without_an_open_read),
	ROW("response__empty_one_without_an_open_read", "RDMAP-060",
	    "an empty Response without a Read is refused", RESPONDER,
	    response__empty_one_without_an_open_read),
	ROW("response__second_to_the_same_read", "RDMAP-060 RDMAP-041",
	    "a Read has one Response", RESPONDER, response__second_to_the_same_read),
	ROW("response__to_another_stag", "RDMAP-063 RDMAP-060 Q11",
	    "a Response that names another buffer is refused", RESPONDER,
	    response__to_another_stag),
	ROW("response__to_another_to", "RDMAP-063 RDMAP-060 Q11",
	    "a Response that goes to another offset is refused", RESPONDER,
	    response__to_another_to),
	ROW("response__is_short", "RDMAP-063 RDMAP-060 Q11",
	    "a Response that ends too early is refused", RESPONDER,
	    response__is_short),
	ROW("response__is_empty", "RDMAP-063 RDMAP-060 Q11",
	    "an empty Response to a Read of some bytes is refused", RESPONDER,
	    response__is_empty),
	ROW("response__is_long", "RDMAP-063 RDMAP-060 Q11",
	    "a Response with a byte too many is refused", RESPONDER,
	    response__is_long),
	ROW("response__with_a_gap", "RDMAP-063 RDMAP-060 Q11",
	    "the segments of a Response follow each other", RESPONDER,
	    response__with_a_gap),
	ROW("response__is_tagged", "RDMAP-012 RDMAP-057",
	    "an untagged Response is refused", RESPONDER, response__is_tagged),
	{}
};

const struct conform_group response_group = { "response", tests };
