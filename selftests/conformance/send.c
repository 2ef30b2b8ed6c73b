// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Sends that the device receives: RFC 5040 5.3. */

#include "scene.h"

/* ---- what the program gets ---------------------------------------------- */

static void lands(enum rdmap_op op)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 123);

	seg_set_op(&seg, op);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 123);
	must_have_memory(&sc->recv, 0, sc->data, 123);
	must_have_memory(&sc->recv, 123, "\xa5", 1);
}

static void send__lands(void)
{
	lands(OP_SEND);
}

static void send__solicited_lands(void)
{
	lands(OP_SEND_SE);
}

static void send__has_no_flags(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);
	struct agent_wc wc;

	seg.stag = sc->sink.rkey;
	scene_put(sc, &seg);
	agent_must_get_wc(SCENE_RECV_ID, "SUCCESS", &wc);
	must_eq(wc.wc_flags, 0, "wc_flags");
	/* nothing was invalidated */
	seg = scene_write(sc, 0, 8);
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, 8);
}

static void send__empty_one_takes_a_receive(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 0);

	agent_recv(sc->s.conn, 2, &sc->recv, 0, 100);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 0);
	must_be_untouched(&sc->recv);
	seg = scene_send(sc, 5);
	scene_put(sc, &seg);
	scene_must_receive(2, 5);
}

static void send__may_be_shorter_than_the_buffer(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 1);

	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 1);
	must_have_memory(&sc->recv, 0, sc->data, 1);
	must_have_memory(&sc->recv, 1, "\xa5\xa5\xa5", 3);
}

static void send__kinds_share_a_queue_in_order(void)
{
	static const enum rdmap_op ops[] = { OP_SEND, OP_SEND_SE, OP_SEND,
					     OP_SEND_SE, OP_SEND_SE, OP_SEND };
	struct scene *sc = scene_start_bare();
	struct seg seg;
	int i;

	for (i = 0; i < 6; i++)
		agent_recv(sc->s.conn, i, &sc->recv, 0, 100);
	for (i = 0; i < 6; i++) {
		seg = scene_send(sc, 10 + i);
		seg_set_op(&seg, ops[i]);
		scene_put(sc, &seg);
	}
	for (i = 0; i < 6; i++)
		scene_must_receive(i, 10 + i);
}

static void send__takes_from_a_shared_queue(void)
{
	struct session s = SESSION_DEFAULT;
	struct scene *sc;
	struct seg seg;
	int i;

	s.qp.srq = 8;
	session_start(&s);
	sc = scene_start_on(&s);
	for (i = 0; i < 4; i++)
		agent_recv(s.conn, i, &sc->recv, i * 100, 100);
	for (i = 0; i < 4; i++) {
		seg = scene_send(sc, 20 + i);
		scene_put(sc, &seg);
		scene_must_receive(i, 20 + i);
		must_have_memory(&sc->recv, i * 100, sc->data, 20 + i);
	}
}

/* ---- solicited events --------------------------------------------------- */

static void event_of(enum rdmap_op op, bool wakes)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg_set_op(&seg, op);
	agent_arm(true);
	scene_put(sc, &seg);
	must(agent_cq_event(wakes ? patience(1000) : 100) == wakes,
	     "opcode %d %s a CQ armed for solicited ones", op,
	     wakes ? "does not wake" : "wakes");
	scene_must_receive(SCENE_RECV_ID, 8);
}

static void send__solicited_wakes(void)
{
	event_of(OP_SEND_SE, true);
}

static void send__plain_does_not_wake(void)
{
	event_of(OP_SEND, false);
}

static void send__error_wakes(void)
{
	struct scene *sc = scene_start();

	agent_arm(true);
	peer_reset(sc->p);
	must(agent_cq_event(patience(1000)), "the flush did not wake");
	scene_must_flush(sc, VERDICT_NONE);
}

static void send__any_wakes_when_all_are_wanted(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	agent_arm(false);
	scene_put(sc, &seg);
	must(agent_cq_event(patience(1000)), "no event");
	scene_must_receive(SCENE_RECV_ID, 8);
}

/* ---- with Invalidate ---------------------------------------------------- */

/* the device refuses to invalidate @stag, and does not deliver the Send */
static void invalidate(struct scene *sc, enum rdmap_op op, uint32_t stag)
{
	struct seg seg = scene_send(sc, 8);

	seg_set_op(&seg, op);
	seg.stag = stag;
	scene_put(sc, &seg);
	scene_must_end(sc, NULL, 0, RP_CANT_INV, RO_CANT_INV);
	scene_must_flush(sc, RP_CANT_INV);
	must_be_untouched(&sc->sink);
}

static void send__invalidate_unknown(void)
{
	struct scene *sc = scene_start();

	invalidate(sc, OP_SEND_INV, 0x12345678);
}

static void send__solicited_invalidate_unknown(void)
{
	struct scene *sc = scene_start();

	invalidate(sc, OP_SEND_SE_INV, 0x12345678);
}

static void send__invalidate_0(void)
{
	struct scene *sc = scene_start();

	invalidate(sc, OP_SEND_INV, 0);
}

static void send__invalidate_another_pds(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr_pd(100, "lrw", 1);

	invalidate(sc, OP_SEND_INV, mr.rkey);
}

static void send__invalidate_key_differs(void)
{
	struct scene *sc = scene_start();

	invalidate(sc, OP_SEND_INV, sc->sink.rkey ^ 1);
}

/* a region that all streams of its PD may use; it stays valid */
static void send__invalidate_a_shared_one(void)
{
	struct scene *sc = scene_start();
	struct session other = SESSION_DEFAULT;
	struct agent_mr sink = sc->sink;

	session_start(&other);
	invalidate(sc, OP_SEND_INV, sink.rkey);
	send_write(other.p, sink.rkey, sink.va, sc->data, 8);
	must_be_alive(other.p);
	must_have_memory(&sink, 0, sc->data, 8);
}

static void send__bad_invalidate_is_not_placed(void)
{
	struct scene *sc = scene_start();

	invalidate(sc, OP_SEND_INV, 0x12345678);
	must_be_untouched(&sc->recv);
}

/* ---- form --------------------------------------------------------------- */

static void tagged_as(enum rdmap_op op)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg_set_op(&seg, op);
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void send__is_untagged(void)
{
	tagged_as(OP_SEND);
}

static void send__with_invalidate_is_untagged(void)
{
	tagged_as(OP_SEND_INV);
}

static void send__solicited_is_untagged(void)
{
	tagged_as(OP_SEND_SE);
}

static void send__solicited_with_invalidate_is_untagged(void)
{
	tagged_as(OP_SEND_SE_INV);
}

static void send__on_the_queue_of_reads(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, READ_BODY_LEN);

	seg.qn = 1;
	seg.msn = sc->p->tx_msn[1];
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void send__on_the_queue_of_terminates(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 4);

	seg.qn = 2;
	seg.msn = sc->p->tx_msn[2];
	scene_refuse(sc, &seg, RO_OPCODE);
}

/* A bad message may be placed before RDMAP checks it, and spoil a receive, which is
 * then flushed. A bad opcode or version must not get that far. */
static void send__bad_opcode_is_not_placed(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg_set_op(&seg, OP_READ_RESP);
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void send__bad_version_is_not_placed(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg.rdmap |= 0x80;
	scene_refuse(sc, &seg, RO_VERSION);
}

#define ROW(name, ids, rule, role, run) { name, ids, rule, role, 0, run }

static const struct conform_test tests[] = {
	ROW("send__lands", "DDP-015 DDP-035 DDP-063 RDMAP-006 RDMAP-066",
	    "a Send is placed in the receive and completes it", EITHER, send__lands),
	ROW("send__solicited_lands", "DDP-063 RDMAP-006",
	    "a Send with Solicited Event is placed and completes like a Send",
	    RESPONDER, send__solicited_lands),
	ROW("send__has_no_flags", "RDMAP-017 RDMAP-006",
	    "a plain Send's Invalidate STag is ignored", RESPONDER,
	    send__has_no_flags),
	ROW("send__empty_one_takes_a_receive", "RDMAP-074 RDMAP-075 DDP-052",
	    "an empty Send takes a receive", EITHER,
	    send__empty_one_takes_a_receive),
	ROW("send__may_be_shorter_than_the_buffer", "RDMAP-067",
	    "a Send may be shorter than the receive, whose end says how long it was",
	    RESPONDER, send__may_be_shorter_than_the_buffer),
	ROW("send__kinds_share_a_queue_in_order", "RDMAP-066 RDMAP-069 DDP-060",
	    "Sends of all kinds are delivered in the order sent", RESPONDER,
	    send__kinds_share_a_queue_in_order),
	ROW("send__takes_from_a_shared_queue", "RDMAP-066",
	    "a Send takes one receive of a shared queue", RESPONDER,
	    send__takes_from_a_shared_queue),
	ROW("send__solicited_wakes", "RDMAP-070",
	    "a Send with Solicited Event raises the event that was asked for",
	    RESPONDER, send__solicited_wakes),
	ROW("send__plain_does_not_wake", "RDMAP-070",
	    "a plain Send raises no solicited event", RESPONDER,
	    send__plain_does_not_wake),
	ROW("send__error_wakes", "RDMAP-070",
	    "a completion in error counts as solicited", RESPONDER,
	    send__error_wakes),
	ROW("send__any_wakes_when_all_are_wanted", "RDMAP-070",
	    "a Send raises the event of a CQ that wants all", RESPONDER,
	    send__any_wakes_when_all_are_wanted),
	ROW("send__invalidate_unknown", "RDMAP-078 RDMAP-071",
	    "an STag that is not there cannot be invalidated", EITHER,
	    send__invalidate_unknown),
	ROW("send__solicited_invalidate_unknown", "RDMAP-078",
	    "an STag that is not there cannot be invalidated, solicited or not",
	    RESPONDER, send__solicited_invalidate_unknown),
	ROW("send__invalidate_0", "RDMAP-078", "STag 0 cannot be invalidated",
	    RESPONDER, send__invalidate_0),
	ROW("send__invalidate_another_pds", "RDMAP-077 RDMAP-078",
	    "an STag of another protection domain cannot be invalidated", RESPONDER,
	    send__invalidate_another_pds),
	ROW("send__invalidate_key_differs", "RDMAP-077 RDMAP-078",
	    "an STag with another key cannot be invalidated", RESPONDER,
	    send__invalidate_key_differs),
	ROW("send__invalidate_a_shared_one", "RDMAP-078 Q14",
	    "an STag that other streams may use cannot be invalidated by one peer",
	    RESPONDER, send__invalidate_a_shared_one),
	ROW("send__bad_invalidate_is_not_placed", "RDMAP-078 DDP-092",
	    "a Send whose Invalidate STag is refused is not placed", RESPONDER,
	    send__bad_invalidate_is_not_placed),
	ROW("send__is_untagged", "RDMAP-012 RDMAP-065", "a tagged Send is refused",
	    RESPONDER, send__is_untagged),
	ROW("send__with_invalidate_is_untagged", "RDMAP-012 RDMAP-065",
	    "a tagged Send with Invalidate is refused", RESPONDER,
	    send__with_invalidate_is_untagged),
	ROW("send__solicited_is_untagged", "RDMAP-012 RDMAP-065",
	    "a tagged Send with Solicited Event is refused", RESPONDER,
	    send__solicited_is_untagged),
	ROW("send__solicited_with_invalidate_is_untagged", "RDMAP-012 RDMAP-065",
	    "a tagged Send with Solicited Event and Invalidate is refused",
	    RESPONDER, send__solicited_with_invalidate_is_untagged),
	ROW("send__on_the_queue_of_reads", "RDMAP-002 RDMAP-012 RDMAP-072",
	    "a Send on queue 1 is refused", RESPONDER, send__on_the_queue_of_reads),
	ROW("send__on_the_queue_of_terminates", "RDMAP-002 RDMAP-012 RDMAP-072",
	    "a Send on queue 2 is refused", RESPONDER,
	    send__on_the_queue_of_terminates),
	ROW("send__bad_opcode_is_not_placed", "RDMAP-012 DDP-092",
	    "a message with a bad opcode is not placed", RESPONDER,
	    send__bad_opcode_is_not_placed),
	ROW("send__bad_version_is_not_placed", "RDMAP-013 DDP-092",
	    "a message with a bad RDMAP version is not placed", RESPONDER,
	    send__bad_version_is_not_placed),
	{}
};

const struct conform_group send_group = { "send", tests };
