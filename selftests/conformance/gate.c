// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Which revisions may meet, at the responder: rows G1 to G14 (RFC 5044 7.1.1 and
 * appendix C, RFC 6581 10). The initiator's rows H1 to H18 are in answer.c, its
 * retries in retry.c.
 */
#include <string.h>

#include "knock.h"
#include "session.h"

#define SILENCE_MS	150
#define REPLY_MS	2000
#define RES_S		0x10	/* S of Rev 2, which is a reserved bit in Rev 1 */
#define UNENHANCED	"mpa-rev 1"

/* ---- G: the device is the responder ---- */

static void rev_request(struct mpa_frame *f, uint8_t rev, uint8_t flags)
{
	mpa_plain(f, false);
	f->rev = rev;
	f->flags |= flags;
}

/* The device accepts @f: a Reply of this Rev without S and private data. The ULP gets
 * the private data of @f, and FPDUs go both ways. */
static void must_be_served(const struct mpa_frame *f, uint8_t rev)
{
	struct meeting m = MEETING_DEFAULT;

	meet_responder(&m, f);
	must_eq(m.p->reply.rev, rev, "Rev of the Reply");
	must_eq(m.p->reply.flags & MPA_S, 0, "S of the Reply");
	must_eq(m.p->reply.pd_len, 0, "PD_Length of the Reply");
	must_eq(m.called.pd_len, f->pd_len, "the length that the ULP sees");
	must_bytes(m.called.pd, f->pd, f->pd_len, "private data");
	send_write(m.p, 1, 1, NULL, 0);
	must_be_up(&m);
	must_be_alive(m.p);
}

static void gate__rev_1(void)
{
	struct mpa_frame f;

	rev_request(&f, 1, 0);
	must_be_served(&f, 1);
	mpa_add_pd(&f, "four bytes, and more", 20);
	must_be_served(&f, 1);
}

static void gate__rev_1_with_reserved_bit(void)
{
	struct mpa_frame f;

	rev_request(&f, 1, RES_S);
	mpa_add_pd(&f, "four bytes, and more", 20);
	must_be_served(&f, 1);
	f.pd_len = 3;
	must_be_served(&f, 1);
}

static void gate__rev_1_with_reserved_bit_unenhanced(void)
{
	agent_set(UNENHANCED);
	gate__rev_1_with_reserved_bit();
}

static void gate__rev_2_plain(void)
{
	struct mpa_frame f;

	rev_request(&f, 2, 0);
	must_be_served(&f, 2);
	mpa_add_pd(&f, "four bytes, and more", 20);
	must_be_served(&f, 2);
}

static void check_enhanced_reply(const struct mpa_frame *f, uint8_t reject)
{
	must_eq(f->rev, 2, "Rev of the Reply");
	must_eq(f->flags & MPA_S, MPA_S, "S of the Reply");
	must_eq(f->flags & MPA_R, reject, "R of the Reply");
	must(f->pd_len >= 4, "PD_Length of the Reply is %u", f->pd_len);
}

static void gate__enhanced_accepted(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	meet_enhanced(&f, false, false, 0, 8, 8);
	mpa_add_pd(&f, "data", 4);
	meet_responder(&m, &f);
	check_enhanced_reply(&m.p->reply, 0);
	must_eq(m.called.pd_len, 4, "the length that the ULP sees");
	must_bytes(m.called.pd, "data", 4, "private data");
}

static void gate__enhanced_rejected(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f, reply;

	meet_enhanced(&f, false, true, RTR_ALL, 8, 8);
	meet_knock(&m, &f);
	agent_reject(m.conn, "data", 4);
	must(peer_recv_frame(m.p, true, &reply, patience(REPLY_MS)), "no Reply");
	check_enhanced_reply(&reply, MPA_R);
	must_eq(reply.pd_len, 8, "PD_Length of the Reply");
	must_bytes(reply.pd + 4, "data", 4, "private data");
	must_fin_silently(m.p);
}

static void gate__enhanced_without_words(void)
{
	uint16_t port = agent_listen();
	struct mpa_frame f;
	uint16_t len;

	for (len = 0; len < 4; len++) {
		mpa_enhanced(&f, false, 0, 0);
		f.pd_len = len;
		must_close_silently(knock(port, &f));
	}
	agent_must_get_no_event(SILENCE_MS);
}

/*
 * A device may close on a Rev that it does not support, at once or after a rejecting
 * Reply that says its own Rev. Return: it sent one, in @reply; @rev: the Rev that it
 * must say then.
 */
static bool refuses_rev(struct peer *p, uint8_t rev, struct mpa_frame *reply)
{
	bool said = peer_recv_frame(p, true, reply, patience(REPLY_MS));

	if (said) {
		must_eq(reply->rev, rev, "Rev of the Reply");
		must_eq(reply->flags & MPA_R, MPA_R, "R of the Reply");
		must_eq(reply->flags & MPA_S, 0, "S of the Reply");
		must_eq(reply->pd_len, 0, "PD_Length of the Reply");
	}
	must_fin_silently(p);
	agent_must_get_no_event(SILENCE_MS);
	return said;
}

static void gate__rev_0(void)
{
	struct mpa_frame f, reply;

	rev_request(&f, 0, MPA_M);
	refuses_rev(knock(agent_listen(), &f), 1, &reply);
}

static void gate__rev_0_is_told_rev_1(void)
{
	struct mpa_frame f, reply;

	agent_set("rnic non-permissive");
	rev_request(&f, 0, MPA_M);
	must(refuses_rev(knock(agent_listen(), &f), 1, &reply), "no Reply");
	rev_request(&f, 0, MPA_M | RES_S);
	must(refuses_rev(knock(agent_listen(), &f), 1, &reply), "no Reply");
}

static const uint8_t high_revs[] = { 3, 4, 128, 255 };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static void high_rev(bool must_say, uint8_t flags)
{
	uint16_t port = agent_listen();
	struct mpa_frame f, reply;
	unsigned int i;
	bool said;

	for (i = 0; i < COUNT(high_revs); i++) {
		rev_request(&f, high_revs[i], flags);
		mpa_add_pd(&f, "data", 4);
		said = refuses_rev(knock(port, &f), 2, &reply);
		must(said || !must_say, "no Reply");
	}
}

static void gate__high_rev(void)
{
	high_rev(false, 0);
	high_rev(false, RES_S);
}

static void gate__high_rev_is_told_rev_2(void)
{
	agent_set("mpa-rev 2");
	high_rev(true, 0);
	high_rev(true, RES_S);
}

static void gate__unenhanced_closes_on_enhanced(void)
{
	struct mpa_frame f;

	agent_set(UNENHANCED);
	meet_enhanced(&f, false, false, 0, 8, 8);
	must_be_refused(knock(agent_listen(), &f));
}

static void gate__unenhanced_closes_on_rev_2(void)
{
	struct mpa_frame f, reply;

	agent_set(UNENHANCED);
	rev_request(&f, 2, 0);
	refuses_rev(knock(agent_listen(), &f), 1, &reply);
}

static void gate__unenhanced_closes_on_high_rev(void)
{
	struct mpa_frame f;

	agent_set(UNENHANCED);
	rev_request(&f, 3, 0);
	must_be_refused(knock(agent_listen(), &f));
}

/* a Reply of Rev 0 as an RDMAC stack must send it, then FPDUs with markers */
static void must_get_rdmac_reply(const struct mpa_frame *f)
{
	struct meeting m = MEETING_DEFAULT;

	meet_responder(&m, f);
	must_eq(m.p->reply.rev, 0, "Rev of the Reply");
	must_eq(m.p->reply.flags & (MPA_M | MPA_C), MPA_M | MPA_C,
		"M and C of the Reply");
	send_write(m.p, 1, 1, NULL, 0);
	must_be_up(&m);
	must_be_alive(m.p);
}

static void gate__rdmac_and_rev_0(void)
{
	struct mpa_frame f;

	agent_set("rnic rdmac");
	rev_request(&f, 0, MPA_M);
	must_get_rdmac_reply(&f);
}

static void gate__permissive_and_rev_0(void)
{
	struct mpa_frame f;

	agent_set("rnic permissive");
	rev_request(&f, 0, MPA_M);
	must_get_rdmac_reply(&f);
	rev_request(&f, 0, MPA_M | RES_S);
	mpa_add_pd(&f, "data", 4);
	must_get_rdmac_reply(&f);
}

static void gate__rdmac_and_rev_1(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	agent_set("rnic rdmac");
	rev_request(&f, 1, 0);
	meet_responder(&m, &f);
	must_eq(m.p->reply.rev, 0, "Rev of the Reply");
	must_eq(m.p->reply.flags & (MPA_M | MPA_C), MPA_M | MPA_C,
		"M and C of the Reply");
}

static void gate__rdmac_and_rev_2(void)
{
	struct mpa_frame f, reply;
	struct peer *p;

	agent_set("rnic rdmac");
	meet_enhanced(&f, false, false, 0, 8, 8);
	p = knock(agent_listen(), &f);
	if (peer_recv_frame(p, true, &reply, SILENCE_MS))
		must_eq(reply.rev, 0, "Rev of the Reply");
	else
		must_close_silently(p);
}

/* ---- no room ---- */

/* The device must send a Reply: an enhanced initiator would take a bare close for a
 * peer of Rev 1. */
static void must_refuse_for_room(struct peer *p)
{
	struct mpa_frame f;

	must(peer_recv_frame(p, true, &f, patience(REPLY_MS)), "no Reply");
	must_eq(f.rev, 2, "Rev of the Reply");
	must_eq(f.flags & (MPA_R | MPA_S), MPA_R | MPA_S, "R and S of the Reply");
	must_close_silently(p);
}

static void gate__replaced_silent_peer_gets_a_reply(void)
{
	struct peer *oldest, *next, *last;
	uint16_t port;

	agent_set("half-open 2");
	port = agent_listen();
	oldest = peer_connect(port, NULL);
	next = peer_connect(port, NULL);
	must_be_silent(oldest, SILENCE_MS);
	last = peer_connect(port, NULL);
	must_refuse_for_room(oldest);
	must_be_silent(next, SILENCE_MS);
	must_be_silent(last, SILENCE_MS);
}

static void gate__no_room_for_a_request(void)
{
	struct agent_event ev;
	struct peer *first;
	struct mpa_frame f;
	uint16_t port;

	agent_set("half-open 1");
	port = agent_listen();
	meet_enhanced(&f, false, true, RTR_ALL, 8, 8);
	first = knock(port, &f);
	agent_must_get_event("CONNECT_REQUEST", &ev);
	must_refuse_for_room(knock(port, &f));
	agent_must_get_no_event(SILENCE_MS);
	must_be_silent(first, SILENCE_MS);
}

static const struct conform_test tests[] = {
	{ "gate__rev_1", "G4 P2 MPA-162 MPA-208 MPA-211",
	  "A plain Request of Rev 1 gets a plain Reply of Rev 1.",
	  RESPONDER, 0, gate__rev_1 },
	{ "gate__rev_1_with_reserved_bit", "G6 MPA-091 Q2",
	  "Bit 0x10 means nothing in Rev 1: all private data is the ULP's.",
	  RESPONDER, 0, gate__rev_1_with_reserved_bit },
	{ "gate__rev_1_with_reserved_bit_unenhanced", "G5 MPA-091 Q2",
	  "A responder limited to Rev 1 does not look at bit 0x10.",
	  RESPONDER, NEED_SET, gate__rev_1_with_reserved_bit_unenhanced },
	{ "gate__rev_2_plain", "G8 MPA-208 MPA-211",
	  "A Request of Rev 2 without S gets a Reply of Rev 2 without S.",
	  RESPONDER, 0, gate__rev_2_plain },
	{ "gate__enhanced_accepted", "G9 P4 MPA-207",
	  "An enhanced Request is accepted by an enhanced Reply.",
	  RESPONDER, 0, gate__enhanced_accepted },
	{ "gate__enhanced_rejected", "G9 MPA-207 MPA-090",
	  "An enhanced Request is rejected by an enhanced Reply.",
	  RESPONDER, 0, gate__enhanced_rejected },
	{ "gate__enhanced_without_words", "G10 K13 MPA-102",
	  "S with less than 4 bytes of private data is badly formatted.",
	  RESPONDER, 0, gate__enhanced_without_words },
	{ "gate__rev_0", "G3 K12 MPA-093 MPA-144",
	  "Rev 0 is not served: at most a rejecting Reply of Rev 1, then a FIN.",
	  RESPONDER, 0, gate__rev_0 },
	{ "gate__rev_0_is_told_rev_1", "G3 M2 MPA-093 MPA-142 MPA-144 Q1",
	  "A non-permissive responder answers Rev 0 with Rev 1 and R, then FIN.",
	  RESPONDER, NEED_SET, gate__rev_0_is_told_rev_1 },
	{ "gate__high_rev", "G14 K12 MPA-093",
	  "A Rev over 2 is not served: at most a rejecting Reply of Rev 2, then a FIN.",
	  RESPONDER, 0, gate__high_rev },
	{ "gate__high_rev_is_told_rev_2", "G14 MPA-093 Q1",
	  "A responder that knows Rev 2 answers a higher one with Rev 2 and R, then FIN.",
	  RESPONDER, NEED_SET, gate__high_rev_is_told_rev_2 },
	{ "gate__unenhanced_closes_on_enhanced", "G11 MPA-209 MPA-102",
	  "An enhanced Request is badly formatted for a responder limited to Rev 1.",
	  RESPONDER, NEED_SET, gate__unenhanced_closes_on_enhanced },
	{ "gate__unenhanced_closes_on_rev_2", "G12 MPA-093",
	  "A responder limited to Rev 1 closes on Rev 2.",
	  RESPONDER, NEED_SET, gate__unenhanced_closes_on_rev_2 },
	{ "gate__unenhanced_closes_on_high_rev", "G14 MPA-093",
	  "A responder limited to Rev 1 closes on Rev 3.",
	  RESPONDER, NEED_SET, gate__unenhanced_closes_on_high_rev },
	{ "gate__rdmac_and_rev_0", "G1",
	  "An RDMAC responder answers Rev 0 with Rev 0, markers and CRC.",
	  RESPONDER, NEED_SET, gate__rdmac_and_rev_0 },
	{ "gate__permissive_and_rev_0", "G2",
	  "A permissive responder answers Rev 0 with Rev 0, markers and CRC.",
	  RESPONDER, NEED_SET, gate__permissive_and_rev_0 },
	{ "gate__rdmac_and_rev_1", "G7",
	  "An RDMAC responder answers Rev 1 with Rev 0, M and C, whatever M was.",
	  RESPONDER, NEED_SET, gate__rdmac_and_rev_1 },
	{ "gate__rdmac_and_rev_2", "G13",
	  "An RDMAC responder closes on Rev 2, or says Rev 0.",
	  RESPONDER, NEED_SET, gate__rdmac_and_rev_2 },
	{ "gate__replaced_silent_peer_gets_a_reply", "MPA-115",
	  "A silent peer that is dropped for another gets an enhanced Reply with R.",
	  RESPONDER, NEED_SET, gate__replaced_silent_peer_gets_a_reply },
	{ "gate__no_room_for_a_request", "MPA-207",
	  "A Request for which there is no room is rejected, not closed on.",
	  RESPONDER, NEED_SET, gate__no_room_for_a_request },
	{}
};

const struct conform_group gate_group = { "gate", tests };
