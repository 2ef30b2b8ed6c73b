// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* RDMA Writes that the device receives: RFC 5040 5.1, the tagged rules of RFC 5041
 * 7.1. */
#include "scene.h"

/* ---- good ones ---------------------------------------------------------- */

static void write__lands(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 64);

	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, 64);
}

static void write__any_offset_and_length(void)
{
	static const struct { uint32_t at, len; } rows[] = {
		{ 1, 1 }, { 3, 2 }, { 7, 3 }, { 15, 5 }, { 101, 63 }, { 201, 127 },
		{ 1003, 1009 },
	};
	struct scene *sc = scene_start();
	struct seg seg;
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		seg = scene_write(sc, rows[i].at, rows[i].len);
		scene_put(sc, &seg);
	}
	must_be_alive(sc->p);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		must_have_memory(&sc->sink, rows[i].at, sc->data, rows[i].len);
	/* the bytes next to those written */
	must_have_memory(&sc->sink, 0, "\xa5", 1);
	must_have_memory(&sc->sink, 2, "\xa5", 1);
	must_have_memory(&sc->sink, 5, "\xa5", 1);
}

/* write @sc->data to the whole sink, as one Write in segments of @cut bytes */
static void write_cut(struct scene *sc, uint32_t cut)
{
	struct seg seg;
	uint32_t at;

	for (at = 0; at < SCENE_SINK_LEN; at += cut) {
		uint32_t left = SCENE_SINK_LEN - at;

		seg = scene_write(sc, at, left < cut ? left : cut);
		seg.data = sc->data + at;
		if (left > cut)
			seg.ctrl &= ~DDP_LAST;
		scene_put(sc, &seg);
	}
}

static void write__all_segments_are_placed(void)
{
	struct scene *sc = scene_start();

	write_cut(sc, 11);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, SCENE_SINK_LEN);
}

static void write__may_be_one_large_segment(void)
{
	static uint8_t data[32000], ulpdu[ULPDU_MAX + 64];
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(sizeof(data), "lw");
	uint32_t n;

	pattern(data, sizeof(data), 3);
	n = seg_write(sc->p, mr.rkey, mr.va, data, sizeof(data), true, ulpdu);
	peer_send_fpdu(sc->p, ulpdu, n);
	must_be_alive(sc->p);
	must_have_memory(&mr, 0, data, sizeof(data));
}

static void write__a_gap_is_no_error(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 10);

	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_write(sc, 100, 10);
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, 10);
	must_have_memory(&sc->sink, 10, "\xa5", 1);
	must_have_memory(&sc->sink, 100, sc->data, 10);
}

static void write__empty_one_ignores_stag_and_offset(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 0);

	seg.stag = 0xffffffff;
	seg.to = UINT64_MAX;
	scene_put(sc, &seg);
	seg.stag = 0;
	scene_put(sc, &seg);
	scene_must_do_nothing(sc);
}

static void write__empty_segments_in_a_message(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 0);

	seg.ctrl &= ~DDP_LAST;
	seg.stag = 0xffffffff;
	scene_put(sc, &seg);
	seg = scene_write(sc, 0, 8);
	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_write(sc, 0, 0);
	seg.stag = 0xffffffff;
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, 8);
}

static void write__is_not_delivered(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);
	int i;

	for (i = 0; i < 5; i++)
		scene_put(sc, &seg);
	must_be_alive(sc->p);
	agent_must_get_no_wc(20);
	/* the receive is still posted */
	seg = scene_send(sc, 3);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 3);
}

static void write__first_and_last_byte(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 1);

	scene_put(sc, &seg);
	seg = scene_write(sc, SCENE_SINK_LEN - 1, 1);
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, 1);
	must_have_memory(&sc->sink, 1, "\xa5", 1);
	must_have_memory(&sc->sink, SCENE_SINK_LEN - 2, "\xa5", 1);
	must_have_memory(&sc->sink, SCENE_SINK_LEN - 1, sc->data, 1);
}

static void write__fills_the_region(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, SCENE_SINK_LEN);

	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, SCENE_SINK_LEN);
}

/* ---- bounds ------------------------------------------------------------- */

/* a Write of @len bytes at @at of the sink, which is not all inside */
static void outside(int64_t at, uint32_t len)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, len);

	seg.to += at;
	scene_refuse(sc, &seg, DT_BOUNDS);
}

static void write__one_byte_below(void)
{
	outside(-1, 1);
}

static void write__one_byte_above(void)
{
	outside(SCENE_SINK_LEN, 1);
}

static void write__from_one_byte_below(void)
{
	outside(-1, 100);
}

static void write__to_one_byte_above(void)
{
	outside(SCENE_SINK_LEN - 99, 100);
}

static void write__starts_below_and_ends_above(void)
{
	outside(-1, SCENE_SINK_LEN + 2);
}

static void write__at_0(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg.to = 0;
	scene_refuse(sc, &seg, DT_BOUNDS);
}

static void write__only_the_low_half_of_to_fits(void)
{
	outside(1LL << 32, 8);
}

static void write__wraps(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg.to = UINT64_MAX - 3;
	scene_refuse(sc, &seg, DT_WRAP);
}

static void write__a_later_segment_is_outside(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 2000, 8);

	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	seg = scene_write(sc, SCENE_SINK_LEN - 1, 2);
	scene_put(sc, &seg);
	scene_must_end(sc, NULL, 0, DT_BOUNDS, VERDICT_NONE);
	must_have_memory(&sc->sink, 2000, sc->data, 8);
	must_have_memory(&sc->sink, SCENE_SINK_LEN - 1, "\xa5", 1);
}

/* ---- STags -------------------------------------------------------------- */

static void write_to(uint32_t xor)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag ^= xor;
	scene_refuse(sc, &seg, DT_INV_STAG);
}

static void write__key_differs(void)
{
	write_to(0x01);
}

static void write__index_differs(void)
{
	write_to(0x5a5a5a00);
}

static void write__stag_0(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag = 0;
	scene_refuse(sc, &seg, DT_INV_STAG);
}

static void write__stag_is_gone(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, "lw");
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag = mr.rkey;
	seg.to = mr.va;
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	agent_dereg(&mr);
	scene_refuse(sc, &seg, DT_INV_STAG);
}

static void write__stag_of_another_pd(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr_pd(100, "lrw", 1);
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag = mr.rkey;
	seg.to = mr.va;
	scene_refuse(sc, &seg, DT_NOT_ASSOC);
	must_be_untouched(&mr);
}

/* DDP has no code for a missing right. By RFC 5041 7.1 check 2 it is Invalid STag;
 * some devices send RDMAP's Access rights violation. */
static void write_without_right(const char *access)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, access);
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag = mr.rkey;
	seg.to = mr.va;
	scene_refuse_either(sc, &seg, DT_INV_STAG, RP_ACCESS);
	must_be_untouched(&mr);
}

static void write__right_to_read_is_not_enough(void)
{
	write_without_right("lr");
}

static void write__local_right_is_not_enough(void)
{
	write_without_right("l");
}

static void write__needs_no_right_to_read(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, "lw");
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag = mr.rkey;
	seg.to = mr.va;
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&mr, 0, sc->data, 8);
}

/* ---- form --------------------------------------------------------------- */

static void write__is_tagged(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg_set_op(&seg, OP_WRITE);
	scene_refuse_placed(sc, &seg, RO_OPCODE);
}

static void write__becomes_a_response_in_mid_message(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg.len = 0;
	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_write(sc, 0, 8);
	seg_set_op(&seg, OP_READ_RESP);
	scene_refuse(sc, &seg, RO_OPCODE);
}

#define ROW(name, ids, rule, role, run) { name, ids, rule, role, 0, run }

static const struct conform_test tests[] = {
	ROW("write__lands", "DDP-014 DDP-027 DDP-031 RDMAP-033",
	    "a Write is placed where STag and TO say", EITHER, write__lands),
	ROW("write__any_offset_and_length", "DDP-032 DDP-097 RDMAP-036",
	    "a Write may start anywhere in the buffer and have any length", RESPONDER,
	    write__any_offset_and_length),
	ROW("write__all_segments_are_placed", "DDP-047",
	    "each segment of a Write is placed at its TO", EITHER,
	    write__all_segments_are_placed),
	ROW("write__may_be_one_large_segment", "DDP-047 DDP-008",
	    "a segment is taken whole however large it is", RESPONDER,
	    write__may_be_one_large_segment),
	ROW("write__a_gap_is_no_error", "DDP-054",
	    "a Write need not cover a range without gaps", RESPONDER,
	    write__a_gap_is_no_error),
	ROW("write__empty_one_ignores_stag_and_offset", "DDP-052 DDP-053 RDMAP-040",
	    "STag and TO of an empty Write are not checked", EITHER,
	    write__empty_one_ignores_stag_and_offset),
	ROW("write__empty_segments_in_a_message", "DDP-053",
	    "STag and TO of an empty segment are not checked", RESPONDER,
	    write__empty_segments_in_a_message),
	ROW("write__is_not_delivered", "RDMAP-034",
	    "a Write completes nothing at its target and takes no receive", EITHER,
	    write__is_not_delivered),
	ROW("write__first_and_last_byte", "DDP-097 DDP-089 DDP-090",
	    "the first and the last byte of a buffer may be written", RESPONDER,
	    write__first_and_last_byte),
	ROW("write__fills_the_region", "DDP-097 DDP-090",
	    "a Write may be as long as the buffer", RESPONDER,
	    write__fills_the_region),
	ROW("write__one_byte_below", "DDP-089 DDP-097 DDP-096 DDP-110",
	    "a Write to the byte below the buffer is refused", EITHER,
	    write__one_byte_below),
	ROW("write__one_byte_above", "DDP-089 DDP-097 DDP-110",
	    "a Write to the byte above the buffer is refused", RESPONDER,
	    write__one_byte_above),
	ROW("write__from_one_byte_below", "DDP-089 DDP-097",
	    "a Write that starts below the buffer is refused whole", RESPONDER,
	    write__from_one_byte_below),
	ROW("write__to_one_byte_above", "DDP-090 DDP-092 DDP-097",
	    "a Write that ends above the buffer is refused whole", RESPONDER,
	    write__to_one_byte_above),
	ROW("write__starts_below_and_ends_above", "DDP-089 DDP-090 DDP-092",
	    "a Write that holds the buffer and more is refused whole", RESPONDER,
	    write__starts_below_and_ends_above),
	ROW("write__at_0", "DDP-089", "TO starts at the buffer's address, not at 0",
	    RESPONDER, write__at_0),
	ROW("write__only_the_low_half_of_to_fits", "DDP-089",
	    "all 64 bits of TO count", RESPONDER,
	    write__only_the_low_half_of_to_fits),
	ROW("write__wraps", "DDP-091 DDP-096",
	    "a Write whose end wraps 64 bits is refused", RESPONDER, write__wraps),
	ROW("write__a_later_segment_is_outside", "DDP-090 DDP-092",
	    "a bad segment ends a Write whose first ones were placed", RESPONDER,
	    write__a_later_segment_is_outside),
	ROW("write__key_differs", "DDP-087 DDP-096",
	    "an STag with another key is not valid", EITHER, write__key_differs),
	ROW("write__index_differs", "DDP-087",
	    "an STag that was never given is not valid", RESPONDER,
	    write__index_differs),
	ROW("write__stag_0", "DDP-087", "STag 0 is not valid for a peer", RESPONDER,
	    write__stag_0),
	ROW("write__stag_is_gone", "DDP-087 DDP-103 RDMAP-008",
	    "an STag whose region is gone is not valid", RESPONDER,
	    write__stag_is_gone),
	ROW("write__stag_of_another_pd", "DDP-029 DDP-087 DDP-096 DDP-108",
	    "an STag of another protection domain is refused", RESPONDER,
	    write__stag_of_another_pd),
	ROW("write__right_to_read_is_not_enough", "DDP-088 DDP-112",
	    "a region without the remote write right is not written", RESPONDER,
	    write__right_to_read_is_not_enough),
	ROW("write__local_right_is_not_enough", "DDP-088",
	    "a region without the remote write right is not written", RESPONDER,
	    write__local_right_is_not_enough),
	ROW("write__needs_no_right_to_read", "DDP-088 DDP-112",
	    "the right to be written needs no right to be read", RESPONDER,
	    write__needs_no_right_to_read),
	ROW("write__is_tagged", "RDMAP-012 RDMAP-033",
	    "a Write in an untagged segment is refused", RESPONDER,
	    write__is_tagged),
	ROW("write__becomes_a_response_in_mid_message", "DDP-028 RDMAP-060 Q10",
	    "a tagged message does not change its opcode", RESPONDER,
	    write__becomes_a_response_in_mid_message),
	{}
};

const struct conform_group write_group = { "write", tests };
