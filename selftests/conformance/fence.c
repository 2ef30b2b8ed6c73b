// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * When each end may send: the initiator's RTR comes before all else, and the responder
 * sends nothing until one valid FPDU came (RFC 5044 7.1.2 rule 4, RFC 6581 5; Q22,
 * Q26).
 */
#include "inflight.h"

#define QUIET	150	/* ms to wait to see that nothing comes */

static const int all_types[] = { RTR_C, RTR_D, RTR_B };

/* ---- the fence: what the ULP posts waits for our first FPDU ---- */

#define HELD	2

/* Return: how many Sends were taken; a QP may refuse them this early (MPA-214) */
static int post_early(struct meeting *m, const struct agent_mr *mr)
{
	int n = 0;

	while (n < HELD && !agent_try_post(m->conn, 20 + n, AG_SEND, AG_SIGNALED, mr,
					   0, 5 + n, 0, 0))
		n++;
	return n;
}

static void must_hold(struct meeting *m, int n)
{
	struct agent_wc wc;
	struct fpdu f;

	for (int i = 0; i < n; i++) {
		must_get_op(m->p, &f, OP_SEND);
		must_eq(f.seg.len, 5 + i, "length of a Send");
		agent_must_get_wc(20 + i, "SUCCESS", &wc);
	}
}

static void fence_holds(struct mpa_frame *req)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr;
	int n;

	meet_responder(&m, req);
	mr = agent_mr(64, "l");
	n = post_early(&m, &mr);
	must_be_silent(m.p, QUIET);
	send_rtr(m.p, OP_WRITE);
	must_hold(&m, n);
	must_be_up(&m);
	must_send(&m);
}

static void fence__holds_in_the_peer_to_peer_model(void)
{
	struct mpa_frame req;

	meet_enhanced(&req, false, true, RTR_ALL, 8, 8);
	fence_holds(&req);
}

static void fence__holds_in_the_client_server_model(void)
{
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, 8, 8);
	fence_holds(&req);
}

static void fence__holds_on_a_plain_connection(void)
{
	struct mpa_frame req;

	mpa_plain(&req, false);
	fence_holds(&req);
}

/* the marker at the start of what we receive does not come before the first FPDU
 * either */
static void fence__holds_markers_too(void)
{
	struct mpa_frame req;

	meet_enhanced(&req, false, true, RTR_ALL, 8, 8);
	req.flags |= MPA_M;
	fence_holds(&req);
}

static void fence__is_shut_until_the_fpdu_is_whole(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t ulpdu[128], out[256];
	struct agent_mr mr;
	size_t len;
	int n;

	meet_p2p(&m, RTR_ALL);
	mr = agent_mr(64, "l");
	n = post_early(&m, &mr);
	len = seg_write(m.p, 1, 1, NULL, 0, true, ulpdu);
	len = fpdu_build(m.p, ulpdu, len, NULL, out);
	peer_send(m.p, out, len - 1);
	must_be_silent(m.p, QUIET);
	agent_must_get_no_event(0);
	peer_send(m.p, out + len - 1, 1);
	must_hold(&m, n);
	must_be_up(&m);
}

/* Its ULP closes before our first FPDU: a FIN is none, so it comes at once. */
static void closes_before_the_first_fpdu(struct mpa_frame *req)
{
	struct meeting m = MEETING_DEFAULT;

	meet_responder(&m, req);
	must_be_up(&m);
	agent_disconnect(m.conn);
	must_fin_silently(m.p);
}

static void fence__does_not_hold_a_fin(void)
{
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, 8, 8);
	closes_before_the_first_fpdu(&req);
}

static void fence__does_not_hold_a_fin_on_a_plain_connection(void)
{
	struct mpa_frame req;

	mpa_plain(&req, false);
	closes_before_the_first_fpdu(&req);
}

/* ---- when the ULP learns that the connection is up (Q26) ---- */

static void established__waits_for_the_rtr(void)
{
	struct meeting m = MEETING_DEFAULT;

	meet_p2p(&m, RTR_ALL);
	agent_must_get_no_event(QUIET);
	send_rtr(m.p, OP_WRITE);
	must_be_up(&m);
}

static void established__waits_for_nothing_without_an_rtr(void)
{
	struct mpa_frame reqs[2];

	meet_enhanced(&reqs[0], false, false, 0, 8, 8);
	mpa_plain(&reqs[1], false);
	for (int i = 0; i < 2; i++) {
		struct meeting m = MEETING_DEFAULT;

		meet_responder(&m, &reqs[i]);
		must_be_up(&m);
		meet_leave(&m);
	}
}

/* ---- directly after the RTR ---- */

static void burst_after_rtr(int type)
{
	static uint8_t out[READS_MAX(8) + 256], ulpdu[256];
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr;
	size_t len;

	meet_p2p(&m, RTR_ALL);
	need_type(&m, type);
	must(enh_ird(&m.p->reply) >= 8, "Reply IRD is %d", enh_ird(&m.p->reply));
	mr = agent_mr(4, "r");
	if (type == RTR_D)
		len = seg_read_req(m.p, 1, 1, 0, 1, 1, ulpdu);
	else if (type == RTR_C)
		len = seg_write(m.p, 1, 1, NULL, 0, true, ulpdu);
	else
		len = seg_send(m.p, OP_SEND, 0, 0, NULL, 0, true, ulpdu);
	len = fpdu_build(m.p, ulpdu, len, NULL, out);
	len += build_reads(m.p, &mr, 8, 4, out + len);
	peer_send(m.p, out, len);
	if (type == RTR_D)
		must_get_op(m.p, &(struct fpdu) {}, OP_READ_RESP);
	must_get_responses(m.p, type == RTR_D ? 2 : 1, 8, 4);
	must_be_up(&m);
	meet_leave(&m);
}

static void rtr__may_have_reads_right_after_it(void)
{
	for (int i = 0; i < 3; i++)
		burst_after_rtr(all_types[i]);
}

/* ---- the device is the initiator ---- */

static void p2p_initiator(struct meeting *m, int type)
{
	set_rtr(type);
	meet_call_enhanced(m);
	must_eq(enh_types(&m->p->request), type, "B C D of the Request");
}

static void rtr_goes_before_what_is_posted(int type)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");
	int n;

	p2p_initiator(&m, type);
	n = post_early(&m, &mr);
	must_be_silent(m.p, QUIET);
	meet_answer_depths(&m, 8, 8);
	must_get_rtr(m.p, preferred_rtr(type));
	must_hold(&m, n);
	must_be_up(&m);
	/* after an RTR Send, the MSN goes on at 2 */
	must_send(&m);
	meet_leave(&m);
}

static void rtr__goes_before_what_the_ulp_posts(void)
{
	for (int i = 0; i < 3; i++)
		rtr_goes_before_what_is_posted(all_types[i]);
}

static void rtr__leaves_no_completion(void)
{
	for (int i = 0; i < 3; i++) {
		struct meeting m = MEETING_DEFAULT;

		p2p_initiator(&m, all_types[i]);
		agent_must_get_no_event(QUIET);
		meet_answer_depths(&m, 8, 8);
		must_get_rtr(m.p, preferred_rtr(all_types[i]));
		must_be_up(&m);
		agent_must_get_no_wc(50);
		meet_leave(&m);
	}
}

/* The device does not wait for the Response, and its ULP does not see it, but the
 * RTR's Read slot is in use until it comes. */
static void rtr__read_keeps_its_slot_until_answered(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "lw");
	struct agent_wc wc;
	struct fpdu f;

	m.qp.ord = 1;
	p2p_initiator(&m, RTR_D);
	meet_answer_depths(&m, 1, 8);
	must_get_op(m.p, &f, OP_READ_REQ);
	must_be_up(&m);
	must_send(&m);
	agent_post(m.conn, 5, AG_READ, AG_SIGNALED, &mr, 0, 4, 0x7e57, 0);
	must_be_silent(m.p, QUIET);
	send_read_resp(m.p, get32(f.seg.data), get64(f.seg.data + 4), NULL, 0);
	must_get_op(m.p, &f, OP_READ_REQ);
	send_read_resp(m.p, get32(f.seg.data), get64(f.seg.data + 4), "data", 4);
	agent_must_get_wc(5, "SUCCESS", &wc);
	agent_must_get_no_wc(50);
}

/* ---- both ---- */

static void ulp__may_end_a_connection_it_dislikes(void)
{
	struct meeting m = MEETING_DEFAULT;

	meet_depths(&m, 1, 1);
	agent_disconnect(m.conn);
	must_fin_silently(m.p);
}

static const struct conform_test tests[] = {
	{ "fence__holds_in_the_peer_to_peer_model", "MPA-206 MPA-214 MPA-217 MPA-112",
	  "with A=1 a responder sends nothing between its Reply and the RTR; then what its ULP posted comes",
	  RESPONDER, 0, fence__holds_in_the_peer_to_peer_model },
	{ "fence__holds_in_the_client_server_model", "MPA-206 MPA-112",
	  "with A=0 a responder sends nothing between its Reply and the first FPDU of its peer",
	  RESPONDER, 0, fence__holds_in_the_client_server_model },
	{ "fence__holds_on_a_plain_connection", "MPA-206 MPA-112",
	  "at Rev 1 a responder sends nothing between its Reply and the first FPDU of its peer",
	  RESPONDER, 0, fence__holds_on_a_plain_connection },
	{ "fence__holds_markers_too", "MPA-206 MPA-112",
	  "a responder that was asked for markers sends none before the first FPDU of its peer",
	  RESPONDER, 0, fence__holds_markers_too },
	{ "fence__is_shut_until_the_fpdu_is_whole", "MPA-206 MPA-217 R6",
	  "an FPDU opens the fence when its last byte came, not sooner",
	  RESPONDER, 0, fence__is_shut_until_the_fpdu_is_whole },
	{ "fence__does_not_hold_a_fin", "MPA-119",
	  "with A=0 a responder that closes before the first FPDU of its peer sends FIN at once",
	  RESPONDER, 0, fence__does_not_hold_a_fin },
	{ "fence__does_not_hold_a_fin_on_a_plain_connection", "MPA-119",
	  "at Rev 1 a responder that closes before the first FPDU of its peer sends FIN at once",
	  RESPONDER, 0, fence__does_not_hold_a_fin_on_a_plain_connection },
	{ "established__waits_for_the_rtr", "MPA-206 MPA-218 MPA-156",
	  "with A=1 a responder's ULP is told ESTABLISHED when the RTR came",
	  RESPONDER, 0, established__waits_for_the_rtr },
	{ "established__waits_for_nothing_without_an_rtr", "MPA-218 MPA-156",
	  "without an RTR a responder's ULP is told ESTABLISHED after the Reply",
	  RESPONDER, 0, established__waits_for_nothing_without_an_rtr },
	{ "rtr__may_have_reads_right_after_it", "MPA-204 MPA-205 MPA-173",
	  "as many Reads as IRD says, in one burst with an RTR of any type, are served",
	  RESPONDER, 0, rtr__may_have_reads_right_after_it },
	{ "rtr__goes_before_what_the_ulp_posts", "MPA-154 MPA-201 MPA-205 MPA-214",
	  "whatever the ULP posted while the Reply was due, the RTR is the first FPDU",
	  INITIATOR, NEED_SET, rtr__goes_before_what_the_ulp_posts },
	{ "rtr__leaves_no_completion", "MPA-155 MPA-156 MPA-215 MPA-216 Q7",
	  "an RTR of any type shows as ESTABLISHED, which does not come before, and never in the CQ",
	  INITIATOR, NEED_SET, rtr__leaves_no_completion },
	{ "rtr__read_keeps_its_slot_until_answered", "MPA-216 MPA-215 MPA-182",
	  "the Response to an RTR Read is not waited for, but its slot is in use until it comes",
	  INITIATOR, NEED_SET, rtr__read_keeps_its_slot_until_answered },
	{ "ulp__may_end_a_connection_it_dislikes", "MPA-184",
	  "a ULP that dislikes the depths ends the connection: FIN",
	  EITHER, 0, ulp__may_end_a_connection_it_dislikes },
	{}
};

const struct conform_group fence_group = { "fence", tests };
