// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The hello at a device that is the responder (Q35 to Q42): which offers it answers, with
 * what, and what it sends and takes after that. The initiator's part is in
 * hello_offer.c.
 */
#include <string.h>

#include "ext.h"
#include "meet.h"

#define BOTH	(HELLO_7306 | HELLO_V2)

/* an enhanced startup without an RTR, up to Full Operation; nothing is sent yet */
static void start(struct meeting *m)
{
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, 8, 8);
	meet_responder(m, &req);
	must_be_up(m);
}

/* the device has @mode, and no FPDU was sent */
static struct meeting start_as(const char *mode)
{
	struct meeting m = MEETING_DEFAULT;

	ext_set(mode);
	start(&m);
	return m;
}

/* ---- offers that are answered ---- */

static void hello__is_answered_at_once(void)
{
	struct meeting m = start_as("negotiate");

	send_hello(m.p, 1, HELLO_OFFER, BOTH);
	must_get_hello(m.p, HELLO_ANSWER, BOTH);
	must_be_silent(m.p, 100);
	agent_must_get_no_wc(1);
}

static void hello__rtr_is_an_offer(void)
{
	struct meeting m = MEETING_DEFAULT;

	ext_set("negotiate");
	meet_p2p(&m, RTR_C);
	send_hello(m.p, 1, HELLO_OFFER, HELLO_7306);
	must_be_up(&m);
	must_get_hello(m.p, HELLO_ANSWER, HELLO_7306);
	must_be_alive(m.p);
}

static void hello__assume_answers_too(void)
{
	struct meeting m = start_as("assume-7306");

	send_hello(m.p, 1, HELLO_OFFER, HELLO_7306);
	must_get_hello(m.p, HELLO_ANSWER, HELLO_7306);
}

static void hello__answer_is_what_both_have(void)
{
	static const struct {
		const char *setting;
		uint16_t offer, answer;
	} rows[] = {
		{ "features 7306,v2", HELLO_7306, HELLO_7306 },
		{ "features 7306,v2", BOTH, BOTH },
		{ "features 7306,v2", 0xfff8 | BOTH, BOTH },
		{ "features 7306,v2", HELLO_V2, 0 },
		{ "features 7306,v2", 0, 0 },
		{ "features 7306", BOTH, HELLO_7306 },
		{ "features none", BOTH, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct meeting m = MEETING_DEFAULT;

		agent_set("extensions negotiate");
		agent_set(rows[i].setting);
		start(&m);
		send_hello(m.p, 1, HELLO_OFFER, rows[i].offer);
		must_get_hello(m.p, HELLO_ANSWER, rows[i].answer);
		meet_leave(&m);
	}
}

static void hello__of_a_later_version(void)
{
	struct meeting m = start_as("negotiate");

	send_hello(m.p, 9, HELLO_OFFER, BOTH);
	must_get_hello(m.p, HELLO_ANSWER, BOTH);
}

static void hello__answer_is_the_first_fpdu(void)
{
	struct meeting m = start_as("negotiate");
	struct agent_mr mr = agent_mr(64, "l");
	struct fpdu f;

	agent_post(m.conn, 1, AG_SEND, AG_SIGNALED, &mr, 0, 8, 0, 0);
	must_be_silent(m.p, 100);
	send_hello(m.p, 1, HELLO_OFFER, HELLO_7306);
	must_get_hello(m.p, HELLO_ANSWER, HELLO_7306);
	must_get_op(m.p, &f, OP_SEND);
}

/* ---- those that are not ---- */

/* @h, as the first FPDU, is an empty Write and no more */
static void must_ignore(const char *mode, uint32_t stag, uint64_t to)
{
	struct meeting m = start_as(mode);

	send_write(m.p, stag, to, NULL, 0);
	must_be_alive(m.p);
	agent_must_get_no_wc(1);
	meet_leave(&m);
}

static void hello__off(void)
{
	const struct hello h = { 1, HELLO_OFFER, BOTH };

	must_ignore("off", HELLO_STAG, hello_to(&h));
}

static void hello__that_is_none(void)
{
	static const struct hello rows[] = {
		{ 0, HELLO_OFFER, BOTH }, { 1, 0, BOTH }, { 1, HELLO_ANSWER, BOTH },
		{ 1, HELLO_GO, BOTH }, { 1, 9, BOTH },
	};
	const struct hello good = { 1, HELLO_OFFER, BOTH };
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must_ignore("negotiate", HELLO_STAG, hello_to(&rows[i]));
	must_ignore("negotiate", HELLO_STAG + 1, hello_to(&good));
	must_ignore("negotiate", HELLO_STAG, hello_to(&good) ^ 1ull << 63);
}

static void hello__late(void)
{
	struct meeting m = start_as("negotiate");

	send_rtr(m.p, OP_WRITE);
	send_hello(m.p, 1, HELLO_OFFER, BOTH);
	must_be_alive(m.p);
}

static void hello__after_another_rtr(void)
{
	static const int types[] = { RTR_D, RTR_B };

	for (int i = 0; i < 2; i++) {
		struct meeting m = MEETING_DEFAULT;

		ext_set("negotiate");
		meet_p2p(&m, RTR_ALL);
		need_type(&m, types[i]);
		send_rtr(m.p, preferred_rtr(types[i]));
		must_be_up(&m);
		send_hello(m.p, 1, HELLO_OFFER, BOTH);
		must_be_alive(m.p);
		meet_leave(&m);
	}
}

static void hello__repeated(void)
{
	struct meeting m = start_as("negotiate");

	send_hello(m.p, 1, HELLO_OFFER, HELLO_7306);
	must_get_hello(m.p, HELLO_ANSWER, HELLO_7306);
	send_hello(m.p, 1, HELLO_OFFER, BOTH);
	send_hello(m.p, 1, HELLO_GO, BOTH);
	must_be_alive(m.p);
}

/* neither end says hello in version 0 */
static void hello__version_0(void)
{
	struct session s = { .qp = AGENT_QP_DEFAULT, .rev0 = true, .closed_fence = true };

	ext_set("negotiate");
	agent_set("rnic permissive");
	session_start(&s);
	if (dut_role() == RESPONDER)
		send_hello(s.p, 1, HELLO_OFFER, BOTH);
	must_eq(s.offer.version, 0, "version of the device's hello");
	must_be_alive(s.p);
}

/* ---- what the device may send then ---- */

static void post_write_imm(const struct meeting *m)
{
	const struct agent_imm r = { .op = AG_WRITE_IMM, .flags = AG_SIGNALED,
				     .imm = EXT_IMM, .imm_len = 4 };

	agent_post_imm(m->conn, 1, &r);
}

static void hello__answer_permits_7306(void)
{
	struct meeting m = start_as("negotiate");

	post_write_imm(&m);
	must_be_silent(m.p, 100);
	send_hello(m.p, 1, HELLO_OFFER, HELLO_7306);
	must_get_hello(m.p, HELLO_ANSWER, HELLO_7306);
	must_get_imm(m.p, OP_IMM, EXT_IMM_4);
	ext_must_complete(1, "RDMA_WRITE");
}

static void hello__missing_forbids_7306(void)
{
	struct meeting m = start_as("negotiate");
	struct agent_wc wc;

	post_write_imm(&m);
	send_rtr(m.p, OP_WRITE);
	agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
}

static void hello__is_reported(void)
{
	struct meeting m = start_as("negotiate");

	ext_must_know(&m, "-");
	send_hello(m.p, 1, HELLO_OFFER, HELLO_7306);
	must_get_hello(m.p, HELLO_ANSWER, HELLO_7306);
	ext_must_know(&m, "[\"7306\"]");
	meet_leave(&m);
	m = start_as("negotiate");
	send_rtr(m.p, OP_WRITE);
	must_be_alive(m.p);
	ext_must_know(&m, "[]");
}

/* ---- version 2, direction by direction ---- */

/* the device has answered with version 2; the initiator's go is still due */
static struct scene *answered(void)
{
	struct session s = SESSION_DEFAULT;

	ext_set("negotiate");
	s.closed_fence = true;
	session_start(&s);
	send_hello(s.p, 1, HELLO_OFFER, BOTH);
	must_get_hello(s.p, HELLO_ANSWER, BOTH);
	s.p->rx_v2 = true;
	return scene_start_on(&s);
}

static void hello__version_2_after_the_answer(void)
{
	struct scene *sc = answered();

	/* our Read has RV 1, its Response RV 2 */
	must_be_alive(sc->p);
	send_hello(sc->p, 1, HELLO_GO, BOTH);
	sc->p->tx_v2 = true;
	must_be_alive(sc->p);
}

static void hello__version_2_before_the_go(void)
{
	struct scene *sc = answered();
	struct seg seg = scene_write(sc, 0, 8);

	seg.rdmap = 0x80 | OP_WRITE;
	ext_refuse(sc, &seg, RO_VERSION);
}

static void hello__version_1_after_the_go(void)
{
	struct scene *sc = answered();
	struct seg seg = scene_write(sc, 0, 8);

	send_hello(sc->p, 1, HELLO_GO, BOTH);
	ext_refuse(sc, &seg, RO_VERSION);
}

static void hello__go_twice(void)
{
	struct scene *sc = answered();

	send_hello(sc->p, 1, HELLO_GO, BOTH);
	sc->p->tx_v2 = true;
	send_hello(sc->p, 1, HELLO_GO, BOTH);
	send_hello(sc->p, 1, HELLO_OFFER, HELLO_7306);
	must_be_alive(sc->p);
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(hello__is_answered_at_once, "Q35 Q37 EXT-001",
	    "an offer as the first FPDU is answered at once", RESPONDER),
	ROW(hello__rtr_is_an_offer, "Q35 Q37",
	    "an offer may be the RTR Write", RESPONDER),
	ROW(hello__assume_answers_too, "Q37 Q39",
	    "a device that assumes RFC 7306 answers an offer, too", RESPONDER),
	ROW(hello__answer_is_what_both_have, "Q35 Q37 Q41",
	    "the answer has the features that both ends have", RESPONDER),
	ROW(hello__of_a_later_version, "Q41",
	    "the version of the answer is the lower one", RESPONDER),
	ROW(hello__answer_is_the_first_fpdu, "Q37",
	    "the answer goes in front of what the program has posted", RESPONDER),
	ROW(hello__off, "Q37 Q39 EXT-002",
	    "a device without the extensions does not answer", RESPONDER),
	ROW(hello__that_is_none, "Q35 Q37 Q41",
	    "what is no offer is an empty Write", RESPONDER),
	ROW(hello__late, "Q37",
	    "an offer that is not the first FPDU has no answer", RESPONDER),
	ROW(hello__after_another_rtr, "Q36 Q37",
	    "an offer after an RTR Read or Send has no answer", RESPONDER),
	ROW(hello__repeated, "Q41",
	    "a second offer is ignored, and a go that was not due", RESPONDER),
	ROW(hello__version_0, "Q35 Q39",
	    "version 0 has no hello", EITHER),
	ROW(hello__answer_permits_7306, "Q39 Q40",
	    "a request of RFC 7306 waits, and leaves after the answer", RESPONDER),
	ROW(hello__missing_forbids_7306, "Q39 Q40 EXT-002",
	    "a request of RFC 7306 fails when the first FPDU is no offer", RESPONDER),
	{ "hello__is_reported", "Q40",
	  "what was agreed is unknown until the first FPDU, then known", RESPONDER,
	  NEED_SET | NEED_STATE, hello__is_reported },
	ROW(hello__version_2_after_the_answer, "Q38 V2-002",
	    "the device sends RV 2 after its answer, and takes RV 1 until the go",
	    RESPONDER),
	ROW(hello__version_2_before_the_go, "Q38 V2-002",
	    "RV 2 before the go is refused", RESPONDER),
	ROW(hello__version_1_after_the_go, "Q38 V2-002",
	    "RV 1 after the go is refused", RESPONDER),
	ROW(hello__go_twice, "Q41",
	    "hellos after the go are ignored", RESPONDER),
	{}
};

const struct conform_group hello_group = { "hello", tests };
