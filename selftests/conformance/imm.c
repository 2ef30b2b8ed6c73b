// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Immediate Data that the device receives: RFC 7306 6. What it sends is in imm_send.c.
 * No hello is said: a device takes them from any peer (Q39).
 */
#include <string.h>

#include "ext.h"

#define RECV_IMM	"RECV_RDMA_WITH_IMM"

static uint8_t ulpdu[SCENE_DATA_LEN + 64];

static void post_recv(struct scene *sc, uint64_t wr_id)
{
	agent_recv(sc->s.conn, wr_id, &sc->recv, 0, SCENE_RECV_LEN);
}

/* write @len bytes to the start of the sink, in two segments if @split */
static void put_write(struct scene *sc, uint32_t len, bool split)
{
	uint32_t first = split ? len / 2 : 0;

	if (split)
		peer_send_fpdu(sc->p, ulpdu,
			       seg_write(sc->p, sc->sink.rkey, sc->sink.va, sc->data,
					 first, false, ulpdu));
	peer_send_fpdu(sc->p, ulpdu,
		       seg_write(sc->p, sc->sink.rkey, sc->sink.va + first,
				 sc->data + first, len - first, true, ulpdu));
}

/* ---- what is delivered ---- */

static void imm__is_delivered(void)
{
	struct scene *sc = ext_scene("negotiate");

	send_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_receive_imm(SCENE_RECV_ID, RECV_IMM, 0);
	scene_must_do_nothing(sc);
}

static void imm__needs_no_memory(void)
{
	struct scene *sc = ext_scene_bare("negotiate");

	agent_recv(sc->s.conn, 1, NULL, 0, 0);
	send_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_receive_imm(1, RECV_IMM, 0);
}

static void after_a_write(uint32_t len, bool split)
{
	struct scene *sc = ext_scene("negotiate");

	put_write(sc, len, split);
	send_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_receive_imm(SCENE_RECV_ID, RECV_IMM, len);
	must_have_memory(&sc->sink, 0, sc->data, len);
	must_be_untouched(&sc->recv);
}

static void imm__after_a_write(void)
{
	after_a_write(700, false);
}

static void imm__after_a_write_in_segments(void)
{
	after_a_write(1500, true);
}

static void imm__length_is_that_of_the_write_before(void)
{
	struct scene *sc = ext_scene("negotiate");

	post_recv(sc, 2);
	post_recv(sc, 3);
	post_recv(sc, 4);
	put_write(sc, 100, false);
	put_write(sc, 40, false);
	send_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_receive_imm(SCENE_RECV_ID, RECV_IMM, 40);
	send_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_receive_imm(2, RECV_IMM, 0);
	put_write(sc, 40, false);
	send_send(sc->p, "between", 7);
	scene_must_receive(3, 7);
	send_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_receive_imm(4, RECV_IMM, 0);
}

static void imm__in_order_with_sends(void)
{
	struct scene *sc = ext_scene("negotiate");
	size_t n = 0;
	uint8_t wire[1024];
	int i;

	for (i = 2; i <= 4; i++)
		post_recv(sc, i);
	for (i = 0; i < 2; i++) {
		n += fpdu_build(sc->p, ulpdu, seg_send(sc->p, OP_SEND, 0, 0, "abc", 3,
						       true, ulpdu), NULL, wire + n);
		n += fpdu_build(sc->p, ulpdu, seg_imm(sc->p, OP_IMM, EXT_IMM, ulpdu), NULL,
				wire + n);
	}
	peer_send(sc->p, wire, n);
	scene_must_receive(1, 3);
	ext_must_receive_imm(2, RECV_IMM, 0);
	scene_must_receive(3, 3);
	ext_must_receive_imm(4, RECV_IMM, 0);
}

/* does @op wake a program that waits for solicited completions? */
static void event_of(enum rdmap_op op, bool wakes)
{
	struct scene *sc = ext_scene("negotiate");

	agent_arm(true);
	send_imm(sc->p, op, EXT_IMM);
	must(agent_cq_event(wakes ? patience(1000) : 100) == wakes,
	     "the event %s", wakes ? "does not come" : "comes");
	ext_must_receive_imm(SCENE_RECV_ID, RECV_IMM, 0);
}

static void imm__without_event(void)
{
	event_of(OP_IMM, false);
}

static void imm__with_event(void)
{
	event_of(OP_IMM_SE, true);
}

static void imm__invalidate_field_is_ignored(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	seg.stag = sc->sink.rkey;
	scene_put(sc, &seg);
	ext_must_receive_imm(SCENE_RECV_ID, RECV_IMM, 0);
	/* the STag is still good */
	put_write(sc, 8, false);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, 8);
}

static void imm__reserved_bits_are_ignored(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	seg.rdmap |= 0x30;
	seg.ctrl |= 0x3c;
	scene_put(sc, &seg);
	ext_must_receive_imm(SCENE_RECV_ID, RECV_IMM, 0);
}

/* ---- what is refused ---- */

static void imm__without_a_receive(void)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	ext_refuse(sc, &seg, DU_NO_BUFFER);
}

static void length_of(uint32_t len, int verdict)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, sc->data, len);

	ext_refuse(sc, &seg, verdict);
}

static void imm__of_7_bytes(void)
{
	length_of(IMM_LEN - 1, RO_STREAM);
}

static void imm__of_9_bytes(void)
{
	length_of(IMM_LEN + 1, RO_STREAM);
}

/* RDMAP checks the size, whatever room the receive has */
static void imm__longer_than_the_receive(void)
{
	length_of(SCENE_RECV_LEN + 1, RO_STREAM);
}

static void imm__of_no_bytes(void)
{
	length_of(0, RO_STREAM);
}

static void imm__without_l(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	seg.ctrl &= ~DDP_LAST;
	ext_refuse(sc, &seg, RO_STREAM);
}

static void imm__with_mo(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	seg.mo = 8;
	ext_refuse(sc, &seg, DU_MO);
}

static void imm__with_the_next_msn(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	seg.msn++;
	ext_refuse(sc, &seg, DU_MSN);
}

static void imm__on_queue_1(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	seg.qn = 1;
	seg.msn = sc->p->tx_msn[1];
	ext_refuse(sc, &seg, RO_OPCODE);
}

static void imm__is_untagged(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = scene_write(sc, 0, IMM_LEN);

	seg_set_op(&seg, OP_IMM);
	ext_refuse(sc, &seg, RO_OPCODE);
}

static void version_of(uint8_t rv)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);

	seg.rdmap = rv << 6 | OP_IMM;
	ext_refuse(sc, &seg, RO_VERSION);
}

static void imm__of_version_0(void)
{
	version_of(0);
}

static void imm__of_version_2(void)
{
	version_of(2);
}

static void imm__inside_a_send(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg;

	scene_send_cut(sc, 16, 8, false);
	seg = ext_seg(sc, OP_IMM, EXT_IMM, IMM_LEN);
	seg.mo = 8;
	ext_refuse_bytes(sc, ulpdu, seg_encode(&seg, ulpdu), RO_OPCODE);
}

/* ---- a device without the extensions ---- */

static void off(enum rdmap_op op, uint32_t len, int verdict)
{
	struct scene *sc = ext_scene("off");
	struct seg seg = ext_seg(sc, op, sc->data, len);

	ext_refuse(sc, &seg, verdict);
}

static void imm__off(void)
{
	off(OP_IMM, IMM_LEN, RO_OPCODE);
}

static void imm__with_event_off(void)
{
	off(OP_IMM_SE, IMM_LEN, RO_OPCODE);
}

static void imm__atomic_off(void)
{
	off(OP_ATOMIC_REQ, ATOMIC_REQ_LEN, RO_OPCODE);
}

static void imm__atomic_response_off(void)
{
	off(OP_ATOMIC_RESP, ATOMIC_RESP_LEN, DU_QN);
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(imm__is_delivered, "EXT-060 EXT-061 EXT-063 EXT-011 Q39 Q46",
	    "Immediate Data without a Write complete a receive, and touch no memory",
	    EITHER),
	ROW(imm__needs_no_memory, "EXT-061 EXT-065",
	    "a receive without memory is enough for Immediate Data", RESPONDER),
	ROW(imm__after_a_write, "EXT-059 EXT-071 Q45",
	    "Immediate Data after a Write complete with the Write's length", EITHER),
	ROW(imm__after_a_write_in_segments, "EXT-059 Q45",
	    "the length is that of the whole Write", RESPONDER),
	ROW(imm__length_is_that_of_the_write_before, "EXT-059 Q45",
	    "the length is that of the Write directly before, else 0", RESPONDER),
	ROW(imm__in_order_with_sends, "EXT-065 EXT-066 EXT-071",
	    "Immediate Data take receives in order with Sends", EITHER),
	ROW(imm__without_event, "EXT-061",
	    "Immediate Data without SE do not wake for solicited completions",
	    RESPONDER),
	ROW(imm__with_event, "EXT-061",
	    "Immediate Data with SE wake for solicited completions", RESPONDER),
	ROW(imm__invalidate_field_is_ignored, "EXT-006",
	    "the Invalidate STag of Immediate Data may be anything and does nothing",
	    RESPONDER),
	ROW(imm__reserved_bits_are_ignored, "EXT-005 RDMAP-015 Q43",
	    "reserved bits are no part of the opcode at RV 1", RESPONDER),
	ROW(imm__without_a_receive, "EXT-065 EXT-062 EXT-073 Q29 S6",
	    "Immediate Data without a receive are refused", EITHER),
	ROW(imm__of_7_bytes, "EXT-070 EXT-062 EXT-073 Q48 S16",
	    "7 bytes are no Immediate Data", EITHER),
	ROW(imm__of_9_bytes, "EXT-070 EXT-062 EXT-073 Q48 S16",
	    "9 bytes are no Immediate Data", RESPONDER),
	ROW(imm__longer_than_the_receive, "EXT-070 EXT-073 Q48 S16",
	    "more bytes than the receive has are an error of RDMAP, too", RESPONDER),
	ROW(imm__of_no_bytes, "EXT-070 EXT-062 Q48 S16",
	    "no bytes are no Immediate Data", RESPONDER),
	ROW(imm__without_l, "EXT-070 EXT-074 Q48 S16",
	    "Immediate Data are one segment", RESPONDER),
	ROW(imm__with_mo, "EXT-074 EXT-073 S7",
	    "Immediate Data are one segment, the first", RESPONDER),
	ROW(imm__with_the_next_msn, "EXT-074 EXT-073 S5",
	    "the MSN of Immediate Data is the next of queue 0", RESPONDER),
	ROW(imm__on_queue_1, "EXT-067 EXT-075 EXT-073 S10",
	    "Immediate Data are taken on queue 0 only", RESPONDER),
	ROW(imm__is_untagged, "EXT-064 EXT-075 EXT-073 S10",
	    "tagged Immediate Data are refused", RESPONDER),
	ROW(imm__of_version_0, "EXT-076 EXT-073 S9",
	    "the RDMAP version is checked", RESPONDER),
	ROW(imm__of_version_2, "EXT-076 EXT-073 Q38 S9",
	    "RV 2 is refused where no hello has agreed on it", EITHER),
	ROW(imm__inside_a_send, "EXT-075 EXT-073 Q10 S10",
	    "another opcode within a message is refused", RESPONDER),
	ROW(imm__off, "EXT-004 EXT-075",
	    "a device without the extensions refuses Immediate Data", EITHER),
	ROW(imm__with_event_off, "EXT-004 EXT-075",
	    "a device without the extensions refuses Immediate Data with SE", RESPONDER),
	ROW(imm__atomic_off, "EXT-003 EXT-004 EXT-075",
	    "a device without the extensions refuses Atomic Requests", EITHER),
	ROW(imm__atomic_response_off, "EXT-004 S4",
	    "a device without the extensions has no queue 3", RESPONDER),
	{}
};

const struct conform_group imm_group = { "imm", tests };
