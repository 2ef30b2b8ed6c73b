// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Untagged segments: queue, MSN, buffer, MO, length; Delivery (RFC 5041 5 and 7.1). */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

/* ---- queue number ------------------------------------------------------- */

static void qn_is_not_valid(void)
{
	const char *name = strrchr(current_test()->name, '_') + 1;
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg.qn = strtoul(name, NULL, 16);
	/* a device whose QN 3 is that of RFC 7306 finds no open request there */
	scene_refuse_either(sc, &seg, DU_QN, seg.qn == 3 ? DU_NO_BUFFER :
							   VERDICT_NONE);
}

/* ---- MSN ---------------------------------------------------------------- */

static void msn_is_off(uint32_t delta)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	/* with two receives there is a buffer, so only the MSN is wrong */
	agent_recv(sc->s.conn, 2, &sc->recv, 0, SCENE_RECV_LEN);
	sc->posted++;
	seg.msn += delta;
	scene_refuse(sc, &seg, DU_MSN);
}

static void untagged__first_msn_0_is_refused(void)
{
	msn_is_off(-1);
}

static void untagged__msn_that_skips_one_is_refused(void)
{
	msn_is_off(1);
}

static void untagged__msn_far_ahead(void)
{
	msn_is_off(0x80000000);
}

static void untagged__msn_of_a_delivered_message_is_refused(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 8);
	agent_recv(sc->s.conn, 2, &sc->recv, 500, 500);
	scene_refuse_placed(sc, &seg, DU_MSN);
}

static void untagged__msn_changes_only_after_l(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	agent_recv(sc->s.conn, 2, &sc->recv, 500, 500);
	sc->posted++;
	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_send(sc, 8);
	seg.msn++;
	scene_refuse_placed(sc, &seg, DU_MSN);
}

static void untagged__queues_count_apart(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	must_be_alive(sc->p);
	must_be_alive(sc->p);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 8);
	must_be_alive(sc->p);
}

static void untagged__msn_of_read_requests(void)
{
	struct scene *sc = scene_start();
	struct seg seg;

	must_be_alive(sc->p);
	seg = scene_read(sc, 0, 8);
	seg.msn++;
	scene_refuse(sc, &seg, DU_MSN);
}

/* ---- buffer ------------------------------------------------------------- */

/* Return: something came from the device within @ms */
static bool answers(struct peer *p, int ms)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

/* RFC 5041 7.1 lets the device end the stream, or hold up the sender until there is a
 * buffer */
static void no_buffer_for(uint32_t msg_len)
{
	struct scene *sc = scene_start_bare();
	struct seg seg = scene_send(sc, msg_len);
	uint8_t ulpdu[100];
	uint32_t len = seg_encode(&seg, ulpdu);

	scene_put(sc, &seg);
	if (answers(sc->p, patience(1500))) {
		scene_must_end(sc, ulpdu, len, DU_NO_BUFFER, VERDICT_NONE);
		agent_must_get_no_wc(1);
		must_be_untouched(&sc->recv);
		return;
	}
	scene_post_recv(sc, SCENE_RECV_LEN);
	scene_must_receive(SCENE_RECV_ID, msg_len);
	must_have_memory(&sc->recv, 0, sc->data, msg_len);
}

static void untagged__no_buffer(void)
{
	no_buffer_for(8);
}

static void untagged__empty_message_needs_a_buffer(void)
{
	no_buffer_for(0);
}

static void untagged__one_buffer_per_message(void)
{
	struct scene *sc = scene_start_bare();
	struct seg seg;
	int i;

	for (i = 0; i < 5; i++)
		agent_recv(sc->s.conn, i, &sc->recv, i * 200, 200);
	for (i = 0; i < 5; i++) {
		seg = scene_send(sc, 40 * i);
		seg.data = sc->data + i;
		scene_put(sc, &seg);
	}
	for (i = 0; i < 5; i++) {
		scene_must_receive(i, 40 * i);
		must_have_memory(&sc->recv, i * 200, sc->data + i, 40 * i);
	}
	agent_must_get_no_wc(1);
}

/* ---- MO ----------------------------------------------------------------- */

static void first_mo(uint32_t mo)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg.mo = mo;
	scene_refuse(sc, &seg, DU_MO);
}

static void untagged__first_mo_is_0(void)
{
	first_mo(8);
}

static void untagged__mo_is_within_the_buffer(void)
{
	first_mo(SCENE_RECV_LEN + 1);
}

static void untagged__mo_is_no_negative_number(void)
{
	first_mo(0xfffffff8);
}

/* 100 bytes are placed, then comes a segment of @len at @mo */
static void second_mo(uint32_t mo, uint32_t len)
{
	static const uint8_t fill[4] = { AGENT_FILL, AGENT_FILL, AGENT_FILL,
					 AGENT_FILL };
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 100);

	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_send(sc, len);
	seg.mo = mo;
	scene_refuse_placed(sc, &seg, DU_MO);
	must_have_memory(&sc->recv, 0, sc->data, 100);
	must_have_memory(&sc->recv, 100, fill, sizeof(fill));
}

static void untagged__no_gap(void)
{
	second_mo(104, 8);
}

static void untagged__no_step_back(void)
{
	second_mo(0, 100);
}

static void untagged__no_gap_by_an_empty_segment(void)
{
	second_mo(200, 0);
}

/* ---- length ------------------------------------------------------------- */

static void untagged__fills_the_buffer(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, SCENE_RECV_LEN);

	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, SCENE_RECV_LEN);
	must_have_memory(&sc->recv, 0, sc->data, SCENE_RECV_LEN);
}

static void untagged__one_byte_over(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, SCENE_RECV_LEN + 1);

	scene_refuse(sc, &seg, DU_TOO_LONG);
}

/* The buffer ends inside the region, so only DDP protects the bytes after it. */
static void untagged__second_segment_over(void)
{
	static const uint8_t fill[8] = { AGENT_FILL, AGENT_FILL, AGENT_FILL,
					 AGENT_FILL, AGENT_FILL, AGENT_FILL,
					 AGENT_FILL, AGENT_FILL };
	struct scene *sc = scene_start_bare();
	struct seg seg = scene_send(sc, 400);

	scene_post_recv(sc, 500);
	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_send(sc, 101);
	seg.mo = 400;
	scene_refuse_placed(sc, &seg, DU_TOO_LONG);
	must_have_memory(&sc->recv, 400, fill, sizeof(fill));
	must_have_memory(&sc->recv, 500, fill, sizeof(fill));
}

static void untagged__next_buffer_is_not_used_up(void)
{
	struct scene *sc = scene_start_bare();
	struct seg seg = scene_send(sc, 101);

	scene_post_recv(sc, 100);
	agent_recv(sc->s.conn, 2, &sc->recv, 100, 500);
	sc->posted++;
	scene_refuse(sc, &seg, DU_TOO_LONG);
}

/* ---- segments and Delivery ---------------------------------------------- */

static void untagged__all_segments_are_placed(void)
{
	struct scene *sc = scene_start();

	scene_send_cut(sc, 1000, 7, true);
	scene_must_receive(SCENE_RECV_ID, 1000);
	must_have_memory(&sc->recv, 0, sc->data, 1000);
}

static void untagged__nothing_is_delivered_before_l(void)
{
	struct scene *sc = scene_start();
	struct seg seg;

	scene_send_cut(sc, 300, 100, false);
	must_be_alive(sc->p);
	agent_must_get_no_wc(1);
	seg = scene_send(sc, 100);
	seg.mo = 200;
	seg.data = sc->data + 200;
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 300);
	must_have_memory(&sc->recv, 0, sc->data, 300);
}

static void untagged__is_delivered_once(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 10);

	agent_recv(sc->s.conn, 2, &sc->recv, 0, 10);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 10);
	must_be_alive(sc->p);
	agent_must_get_no_wc(1);
}

static void untagged__empty_segment_ends_a_message(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 100);

	seg.ctrl &= ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_send(sc, 0);
	seg.mo = 100;
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 100);
}

static void untagged__writes_are_placed_before_it_is_delivered(void)
{
	struct scene *sc = scene_start();
	struct seg seg;
	int i;

	for (i = 0; i < 20; i++) {
		seg = scene_write(sc, i * 100, 100);
		scene_put(sc, &seg);
	}
	seg = scene_send(sc, 1);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 1);
	for (i = 0; i < 20; i++)
		must_have_memory(&sc->sink, i * 100, sc->data, 100);
}

static void untagged__a_tagged_message_may_come_between(void)
{
	struct scene *sc = scene_start();
	struct seg seg;

	scene_send_cut(sc, 300, 200, false);
	seg = scene_write(sc, 0, 50);
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	seg = scene_send(sc, 100);
	seg.mo = 200;
	seg.data = sc->data + 200;
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 300);
	must_have_memory(&sc->recv, 0, sc->data, 300);
	must_have_memory(&sc->sink, 0, sc->data, 50);
}

/* the second segment of a Send has another opcode: the device takes it or ends the
 * stream */
static void changed(struct scene *sc, const struct seg *second)
{
	struct agent_wc wc;

	scene_put(sc, second);
	must(agent_poll(&wc, patience(1000)), "the receive never ended");
	if (!strcmp(wc.status, "SUCCESS")) {
		must_be_alive(sc->p);
		return;
	}
	scene_must_end(sc, NULL, 0, RO_OPCODE, VERDICT_NONE);
}

static void untagged__opcode_changes_in_mid_message(void)
{
	struct scene *sc = scene_start();
	struct seg seg;

	scene_send_cut(sc, 200, 100, false);
	seg = scene_send(sc, 100);
	seg.mo = 100;
	seg_set_op(&seg, OP_SEND_SE);
	changed(sc, &seg);
}

static void untagged__unused_field_changes_in_mid_message(void)
{
	struct scene *sc = scene_start();
	struct seg seg;

	scene_send_cut(sc, 200, 100, false);
	seg = scene_send(sc, 100);
	seg.mo = 100;
	seg.stag = sc->sink.rkey;
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 200);
}

#define ROW(name, ids, rule, role, run) { name, ids, rule, role, 0, run }

static const struct conform_test tests[] = {
	ROW("untagged__qn_3", "DDP-078 DDP-096",
	    "a queue that is not in use is no valid queue number", RESPONDER,
	    qn_is_not_valid),
	ROW("untagged__qn_4", "DDP-078 DDP-096",
	    "a segment for a queue that there is not is refused", EITHER,
	    qn_is_not_valid),
	ROW("untagged__qn_100", "DDP-078", "all 32 bits of the queue number count",
	    RESPONDER, qn_is_not_valid),
	ROW("untagged__qn_ffffffff", "DDP-078",
	    "a segment for a queue that there is not is refused", RESPONDER,
	    qn_is_not_valid),
	ROW("untagged__first_msn_0_is_refused", "DDP-086 DDP-039 DDP-096",
	    "the first message has the number 1, not 0", EITHER,
	    untagged__first_msn_0_is_refused),
	ROW("untagged__msn_that_skips_one_is_refused", "DDP-086 DDP-038",
	    "on TCP the number is that of the next message", RESPONDER,
	    untagged__msn_that_skips_one_is_refused),
	ROW("untagged__msn_far_ahead", "DDP-086",
	    "the number lies between the first and the last buffer", RESPONDER,
	    untagged__msn_far_ahead),
	ROW("untagged__msn_of_a_delivered_message_is_refused", "DDP-086 DDP-059",
	    "the number of a message that was delivered is refused", RESPONDER,
	    untagged__msn_of_a_delivered_message_is_refused),
	ROW("untagged__msn_changes_only_after_l", "DDP-086 DDP-041",
	    "a message ends before the next one on its queue starts", RESPONDER,
	    untagged__msn_changes_only_after_l),
	ROW("untagged__queues_count_apart", "DDP-039 RDMAP-002",
	    "each queue has numbers of its own, from 1", EITHER,
	    untagged__queues_count_apart),
	ROW("untagged__msn_of_read_requests", "DDP-086",
	    "the number of a Read Request is that of the next one", RESPONDER,
	    untagged__msn_of_read_requests),
	ROW("untagged__no_buffer", "DDP-079 DDP-080 DDP-081 DDP-083",
	    "a Send without a receive ends the stream, or waits for one", RESPONDER,
	    untagged__no_buffer),
	ROW("untagged__empty_message_needs_a_buffer", "DDP-079 RDMAP-075",
	    "an empty Send without a receive ends the stream, or waits for one",
	    RESPONDER, untagged__empty_message_needs_a_buffer),
	ROW("untagged__one_buffer_per_message", "DDP-060 DDP-015 RDMAP-066 RDMAP-069",
	    "each message takes one buffer, in the order in which they were sent",
	    EITHER, untagged__one_buffer_per_message),
	ROW("untagged__first_mo_is_0", "DDP-084 DDP-042 DDP-096",
	    "the first segment of a message has MO 0", RESPONDER,
	    untagged__first_mo_is_0),
	ROW("untagged__mo_is_within_the_buffer", "DDP-084",
	    "MO is an offset of the buffer", RESPONDER,
	    untagged__mo_is_within_the_buffer),
	ROW("untagged__mo_is_no_negative_number", "DDP-084 DDP-085",
	    "MO plus length does not wrap into the buffer", RESPONDER,
	    untagged__mo_is_no_negative_number),
	ROW("untagged__no_gap", "DDP-084 Q9",
	    "on TCP a segment follows the one before it without a gap", RESPONDER,
	    untagged__no_gap),
	ROW("untagged__no_step_back", "DDP-084 Q9",
	    "on TCP a segment follows the one before it without a step back",
	    RESPONDER, untagged__no_step_back),
	ROW("untagged__no_gap_by_an_empty_segment", "DDP-084 Q9",
	    "an empty segment cannot lengthen a message by its MO", RESPONDER,
	    untagged__no_gap_by_an_empty_segment),
	ROW("untagged__fills_the_buffer", "DDP-085 DDP-062",
	    "a message may be as long as the buffer", RESPONDER,
	    untagged__fills_the_buffer),
	ROW("untagged__one_byte_over", "DDP-085 DDP-096 RDMAP-068 RDMAP-071",
	    "a message one byte longer than the buffer is refused", EITHER,
	    untagged__one_byte_over),
	ROW("untagged__second_segment_over", "DDP-085 DDP-092",
	    "nothing is written after the receive's last byte", RESPONDER,
	    untagged__second_segment_over),
	ROW("untagged__next_buffer_is_not_used_up", "DDP-085 RDMAP-068",
	    "a message too long does not go on in the next buffer", RESPONDER,
	    untagged__next_buffer_is_not_used_up),
	ROW("untagged__all_segments_are_placed", "DDP-047 DDP-061 DDP-062",
	    "the segments of a message are placed one after the other", EITHER,
	    untagged__all_segments_are_placed),
	ROW("untagged__nothing_is_delivered_before_l", "DDP-020 DDP-061",
	    "a message is delivered when its L segment is there, not before",
	    RESPONDER, untagged__nothing_is_delivered_before_l),
	ROW("untagged__is_delivered_once", "DDP-059",
	    "a message is delivered at most once", RESPONDER,
	    untagged__is_delivered_once),
	ROW("untagged__empty_segment_ends_a_message", "DDP-061 DDP-062",
	    "the L segment may be empty", RESPONDER,
	    untagged__empty_segment_ends_a_message),
	ROW("untagged__writes_are_placed_before_it_is_delivered",
	    "DDP-020 DDP-061 RDMAP-038",
	    "a delivered Send vouches for the Writes before it", EITHER,
	    untagged__writes_are_placed_before_it_is_delivered),
	ROW("untagged__a_tagged_message_may_come_between", "DDP-047 DDP-061",
	    "messages of other queues between two segments of a Send do no harm",
	    RESPONDER, untagged__a_tagged_message_may_come_between),
	ROW("untagged__opcode_changes_in_mid_message", "DDP-036 Q10",
	    "RDMAP's bytes that change inside a message are refused, or those of one segment are used",
	    RESPONDER, untagged__opcode_changes_in_mid_message),
	ROW("untagged__unused_field_changes_in_mid_message", "DDP-036 RDMAP-017",
	    "a plain Send's Invalidate STag may be anything in each segment",
	    RESPONDER, untagged__unused_field_changes_in_mid_message),
	{}
};

const struct conform_group untagged_group = { "untagged", tests };
