// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * IRD and ORD: what the words of the enhanced frames say, and how many Reads then are
 * under way (rows O1 to O19, RFC 6581 9.1). Our own IRD and ORD are large unless the
 * row is about them.
 */
#include <stdlib.h>
#include <string.h>

#include "inflight.h"
#include "peer_ext.h"

#define X	ENH_X
#define PLENTY	64

static struct meeting with_depths(int ird, int ord)
{
	struct meeting m = MEETING_DEFAULT;

	m.qp.ird = ird;
	m.qp.ord = ord;
	m.tcp = (struct peer_tcp)NARROW_TCP;
	return m;
}

/* Send a client-server Request and read the Reply; the connection works. */
static void serve(struct meeting *m, int ird, int ord)
{
	meet_depths(m, ird, ord);
	must(m->p->reply.flags & MPA_S, "the Reply to an enhanced Request has S=0");
}

/* ---- the device is the responder ---- */

static void o1__reply_ird_meets_the_ord_asked_for(void)
{
	struct meeting m = with_depths(8, 8);

	serve(&m, PLENTY, 8);
	must(enh_ird(&m.p->reply) >= 8, "Reply IRD is %d", enh_ird(&m.p->reply));
	must_serve_reads(m.p, 8);
}

static void o1__reply_ird_is_the_ird_in_force(void)
{
	struct meeting m = with_depths(2, 8);

	serve(&m, PLENTY, 2);
	if (enh_ird(&m.p->reply) > 8)
		skip("the device has more slots than this test fills");
	must_have_ird(&m, enh_ird(&m.p->reply));
}

static void o2__ord_out_of_reach_is_answered_by_the_most_there_is(void)
{
	struct meeting m = with_depths(8, 8);

	serve(&m, PLENTY, X - 1);
	must(enh_ird(&m.p->reply) >= 8 && enh_ird(&m.p->reply) < X,
	     "Reply IRD is %d", enh_ird(&m.p->reply));
	must_serve_reads(m.p, enh_ird(&m.p->reply));
}

static void o3__ord_not_negotiated_leaves_ird_alone(void)
{
	struct meeting m = with_depths(3, 8);

	serve(&m, PLENTY, X);
	must_eq(enh_ird(&m.p->reply), X, "Reply IRD");
	must_have_ird(&m, 3);
}

static void o4__reply_ord_is_what_the_ulp_wants(void)
{
	struct meeting m = with_depths(8, 4);

	serve(&m, 16, 8);
	must_eq(enh_ord(&m.p->reply), 4, "Reply ORD");
	must_have_ord(&m, 4);
}

static void o5__ord_is_cut_to_the_ird_of_the_request(void)
{
	struct meeting m = with_depths(8, 8);

	serve(&m, 2, 8);
	must_eq(enh_ord(&m.p->reply), 2, "Reply ORD");
	must_have_ord(&m, 2);
}

static void o6__refusal_is_a_reply_without_terminate(void)
{
	struct meeting m = with_depths(8, 8);
	struct mpa_frame req, *reply;

	meet_enhanced(&req, false, true, RTR_ALL, 1, 8);
	meet_knock(&m, &req);
	agent_reject(m.conn, "more", 4);
	reply = &m.p->reply;
	must(peer_recv_frame(m.p, true, reply, patience(1000)), "no Reply came");
	must_eq(reply->flags & (MPA_R | MPA_S), MPA_R | MPA_S, "Reply R and S");
	must_eq(reply->pd_len, 8, "PD_Length");
	must_bytes(reply->pd + 4, "more", 4, "private data");
	must_close_silently(m.p);
}

static void o7__ird_not_negotiated_leaves_ord_alone(void)
{
	struct meeting m = with_depths(8, 3);

	serve(&m, X, 8);
	must_eq(enh_ord(&m.p->reply), X, "Reply ORD");
	must_have_ord(&m, 3);
}

static void o8__rtr_read_finds_a_slot_though_none_was_asked_for(void)
{
	struct meeting m = with_depths(0, 0);
	struct mpa_frame req;

	meet_enhanced(&req, false, true, RTR_D, 0, 0);
	meet_responder(&m, &req);
	must(enh_types(&m.p->reply) & RTR_D, "the device does not take an RTR Read");
	must(enh_ird(&m.p->reply) >= 1, "Reply IRD is 0");
	send_rtr(m.p, OP_READ_REQ);
	must_be_up(&m);
}

/* the RTR takes a slot of its own, in addition to those of the Reply's IRD */
static void o8__rtr_read_takes_no_slot_from_the_ulp(void)
{
	static uint8_t out[READS_MAX(9) + 128], ulpdu[READ_REQ_LEN + 64];
	struct meeting m = with_depths(1, 8);
	struct mpa_frame req;
	struct agent_mr mr;
	size_t len;
	int n;

	meet_enhanced(&req, false, true, RTR_D, PLENTY, 1);
	meet_responder(&m, &req);
	n = enh_ird(&m.p->reply);
	must(n >= 1 && n <= 8, "Reply IRD is %d", n);
	mr = agent_mr(4, "r");
	len = seg_read_req(m.p, 0, 0, 0, 0, 0, ulpdu);
	len = fpdu_build(m.p, ulpdu, len, NULL, out);
	len += build_reads(m.p, &mr, n, 4, out + len);
	peer_send(m.p, out, len);
	must_get_op(m.p, &(struct fpdu) {}, OP_READ_RESP);
	must_get_responses(m.p, 2, n, 4);
	must_be_up(&m);
}

static void o9__ird_0_gets_no_reads(void)
{
	struct meeting m = with_depths(8, 8);

	serve(&m, 0, 8);
	must_eq(enh_ord(&m.p->reply), 0, "Reply ORD");
	must_have_ord(&m, 0);
}

/* ---- the device is the initiator ---- */

static void o10__ord_is_cut_to_the_ird_of_the_reply(void)
{
	struct meeting m = with_depths(8, 8);

	meet_depths(&m, 1, 8);
	must_have_ord(&m, 1);
}

static void o10__larger_ird_does_not_raise_ord(void)
{
	struct meeting m = with_depths(8, 3);

	meet_depths(&m, 16, 8);
	must_have_ord(&m, 3);
}

static void o11__ird_not_negotiated_leaves_ord_alone(void)
{
	struct meeting m = with_depths(8, 4);

	meet_depths(&m, X, 8);
	must_have_ord(&m, 4);
}

static void o12__smaller_ord_of_the_reply_is_fine(void)
{
	struct meeting m = with_depths(4, 8);

	meet_depths(&m, 8, 2);
	must_serve_reads(m.p, 2);
}

/* A Reply whose ORD exceeds the IRD of the Request. A device that cannot raise its IRD
 * sends a Terminate (O14). */
static void grow(struct meeting *m, int ord)
{
	struct fpdu f;

	meet_call_enhanced(m);
	must(enh_ird(&m->p->request) < ord, "the Request has an IRD of %d",
	     enh_ird(&m->p->request));
	meet_answer_depths(m, 8, ord);
	if (enh_p2p(&m->p->request)) {
		must_get_fpdu(m->p, &f);
		if (seg_op(&f.seg) == OP_TERMINATE)
			skip("the device cannot raise its IRD");
		take_rtr(m->p, &f, enh_types(&m->p->request));
	}
	must_be_up(m);
}

static void o13__ird_grows_to_the_ord_of_the_reply(void)
{
	struct meeting m = with_depths(4, 4);

	grow(&m, 8);
	must_serve_reads(m.p, 8);
}

static void o13__ird_grows_no_further(void)
{
	struct meeting m = with_depths(2, 4);

	grow(&m, 3);
	must_have_ird(&m, 3);
}

static void o14__ord_out_of_reach_ends_in_terminate(void)
{
	struct meeting m = with_depths(8, 8);

	meet_call_enhanced(&m);
	meet_answer_depths(&m, 8, X - 1);
	must_get_terminate(m.p, 2, 0, 0x06, false, NULL);
	must_have_failed(&m);
}

static void o14__failed_connection_reports_ird_and_ord(void)
{
	struct meeting m = with_depths(8, 8);

	meet_call_enhanced(&m);
	meet_answer_depths(&m, 5, X - 1);
	must_have_failed(&m);
	must_have_state(m.p, "peer_ird", 5);
	must_have_state(m.p, "peer_ord", X - 1);
}

static void o15__ord_not_negotiated_leaves_ird_alone(void)
{
	struct meeting m = with_depths(3, 8);

	meet_depths(&m, 8, X);
	must_have_ird(&m, 3);
}

static void o16__rejecting_reply_changes_nothing(void)
{
	struct meeting m = with_depths(8, 8);
	struct mpa_frame reply;

	meet_call_enhanced(&m);
	meet_enhanced(&reply, true, enh_p2p(&m.p->request), RTR_ALL, 5, X - 1);
	reply.flags |= MPA_R;
	meet_answer(&m, &reply);
	must_close_silently(m.p);
	must_have_failed(&m);
}

static void o16__values_of_a_rejecting_reply_go_up(void)
{
	struct meeting m = with_depths(8, 8);
	struct mpa_frame reply;

	meet_call_enhanced(&m);
	meet_enhanced(&reply, true, enh_p2p(&m.p->request), RTR_ALL, 5, 300);
	reply.flags |= MPA_R;
	meet_answer(&m, &reply);
	must_have_failed(&m);
	must_have_state(m.p, "peer_ird", 5);
	must_have_state(m.p, "peer_ord", 300);
}

static void o17__read_without_a_slot_is_no_rtr(void)
{
	struct meeting m = with_depths(8, 8);
	struct mpa_frame reply;

	set_rtr(RTR_D);
	meet_call_enhanced(&m);
	meet_enhanced(&reply, true, true, RTR_D, 0, 8);
	meet_answer(&m, &reply);
	must_get_terminate(m.p, 2, 0, 0x07, false, NULL);
	must_have_failed(&m);
}

static void rtr_read_with_ord_0(int ird)
{
	struct meeting m = with_depths(8, 0);
	struct mpa_frame reply;

	set_rtr(RTR_D);
	meet_call_enhanced(&m);
	must_eq(enh_ord(&m.p->request), 0, "ORD of the Request");
	meet_enhanced(&reply, true, true, RTR_D, ird, 8);
	meet_answer(&m, &reply);
	must_get_rtr(m.p, OP_READ_REQ);
	must_be_up(&m);
	must_have_ord(&m, 0);
}

static void o18__rtr_read_goes_out_though_ord_is_0(void)
{
	rtr_read_with_ord_0(1);
}

static void o18__rtr_read_goes_out_though_ird_is_not_negotiated(void)
{
	rtr_read_with_ord_0(X);
}

/* ---- both ---- */

static void plain_responder(struct meeting *m)
{
	struct mpa_frame f;

	mpa_plain(&f, false);
	meet_responder(m, &f);
	send_rtr(m->p, OP_WRITE);
	must_be_up(m);
}

static void plain_initiator(struct meeting *m)
{
	struct mpa_frame reply;
	struct hello offer;
	struct fpdu f;

	agent_set("mpa-rev 1");
	meet_call(m);
	mpa_plain(&reply, true);
	meet_answer(m, &reply);
	must_be_up(m);
	agent_post(m->conn, 0, AG_WRITE, 0, NULL, 0, 0, 1, 1);
	must_get_first(m->p, &f, OP_WRITE, &offer);
}

/* a plain startup in dut_role(), until both ends may send */
static void meet_plain(struct meeting *m)
{
	if (dut_role() == RESPONDER)
		plain_responder(m);
	else
		plain_initiator(m);
}

static void o19__plain_connection_keeps_the_ord_of_the_ulp(void)
{
	struct meeting m = with_depths(8, 3);

	meet_plain(&m);
	must_have_ord(&m, 3);
}

static void o19__plain_connection_keeps_the_ird_of_the_ulp(void)
{
	struct meeting m = with_depths(3, 8);

	meet_plain(&m);
	must_have_ird(&m, 3);
}

/* cxgb4 sends an RTR Read at revision 1, too, where nothing is negotiated */
static void o19__plain_connection_takes_an_rtr_read_at_ird_0(void)
{
	struct meeting m = with_depths(0, 8);
	struct mpa_frame req;

	mpa_plain(&req, false);
	meet_responder(&m, &req);
	send_rtr(m.p, OP_READ_REQ);
	must_be_up(&m);
	must_have_ird(&m, 0);
}

static void o19__plain_connection_takes_no_other_read_at_ird_0(void)
{
	struct meeting m = with_depths(0, 8);
	struct mpa_frame req;

	mpa_plain(&req, false);
	meet_responder(&m, &req);
	must_have_ird(&m, 0);
}

/* rdma_cm(7): responder_resources is the peer's ORD, initiator_depth its IRD */
static void ulp__learns_ird_and_ord_of_the_peer(void)
{
	struct meeting m = with_depths(8, 8);
	const struct agent_event *ev = dut_role() == RESPONDER ? &m.called : &m.up;

	meet_depths(&m, 5, 3);
	must_eq(ev->ird, 3, "responder_resources");
	must_eq(ev->ord, 5, "initiator_depth");
}

/* rdma_cm has 8 bits for each (Q16); the agent's state has the raw values */
static void ulp__learns_values_beyond_255_as_255(void)
{
	struct meeting m = with_depths(8, 8);
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, 300, 256);
	meet_knock(&m, &req);
	must_eq(m.called.ird, 255, "responder_resources");
	must_eq(m.called.ord, 255, "initiator_depth");
}

static void state__has_the_raw_values_of_both_ends(void)
{
	struct meeting m = with_depths(8, 7);

	meet_depths(&m, 300, 3);
	must_have_state(m.p, "peer_ird", 300);
	must_have_state(m.p, "peer_ord", 3);
	must_have_state(m.p, "own_ord", 7);
	must_have_state(m.p, "own_ird", 8);
}

static void request__has_the_depths_in_force(void)
{
	static const int depths[][2] = { { 1, 5 }, { 6, 0 } };

	for (int i = 0; i < 2; i++) {
		struct meeting m = with_depths(depths[i][0], depths[i][1]);

		meet_call_enhanced(&m);
		must_eq(enh_ird(&m.p->request), depths[i][0], "IRD of the Request");
		must_eq(enh_ord(&m.p->request), depths[i][1], "ORD of the Request");
		meet_leave(&m);
	}
}

static const struct conform_test tests[] = {
	{ "o1__reply_ird_meets_the_ord_asked_for", "O1 MPA-173",
	  "a responder's IRD is at least the Request's ORD where it can, and so many Reads at once are served",
	  RESPONDER, 0, o1__reply_ird_meets_the_ord_asked_for },
	{ "o1__reply_ird_is_the_ird_in_force", "O1 MPA-173 MPA-221",
	  "the Reply's IRD is the one in force: one Read more is refused with 1/2/02 until the first Response was sent",
	  RESPONDER, 0, o1__reply_ird_is_the_ird_in_force },
	{ "o2__ord_out_of_reach_is_answered_by_the_most_there_is", "O2 MPA-173 MPA-213 Q6",
	  "a Request's ORD that cannot be met is answered by the largest IRD there is, which is then served",
	  RESPONDER, 0, o2__ord_out_of_reach_is_answered_by_the_most_there_is },
	{ "o3__ord_not_negotiated_leaves_ird_alone", "O3 MPA-185",
	  "Request ORD 0x3FFF: Reply IRD 0x3FFF, and the IRD stays the ULP's",
	  RESPONDER, 0, o3__ord_not_negotiated_leaves_ird_alone },
	{ "o4__reply_ord_is_what_the_ulp_wants", "O4 MPA-174 MPA-175",
	  "a Request's IRD above what the ULP wants leaves ORD and Reply ORD at what the ULP wants",
	  RESPONDER, 0, o4__reply_ord_is_what_the_ulp_wants },
	{ "o5__ord_is_cut_to_the_ird_of_the_request", "O5 MPA-174 MPA-175",
	  "a responder's ORD, in the Reply and in force, is at most the Request's IRD",
	  RESPONDER, 0, o5__ord_is_cut_to_the_ird_of_the_request },
	{ "o6__refusal_is_a_reply_without_terminate", "O6 MPA-177 MPA-207 Q5",
	  "a ULP that refuses the IRD makes an enhanced Reply with R=1, never a Terminate",
	  RESPONDER, 0, o6__refusal_is_a_reply_without_terminate },
	{ "o7__ird_not_negotiated_leaves_ord_alone", "O7 MPA-187",
	  "Request IRD 0x3FFF: Reply ORD 0x3FFF, and the ORD stays the ULP's",
	  RESPONDER, 0, o7__ird_not_negotiated_leaves_ord_alone },
	{ "o8__rtr_read_finds_a_slot_though_none_was_asked_for", "O8 MPA-176",
	  "a responder that lists D raises IRD 0 to 1 for a Request with ORD 0 and answers the RTR Read",
	  RESPONDER, 0, o8__rtr_read_finds_a_slot_though_none_was_asked_for },
	{ "o8__rtr_read_takes_no_slot_from_the_ulp", "O8 MPA-205 Q7",
	  "the RTR Read has a slot beyond the advertised IRD: that many Reads right after it are served",
	  RESPONDER, 0, o8__rtr_read_takes_no_slot_from_the_ulp },
	{ "o9__ird_0_gets_no_reads", "O9 MPA-174",
	  "Request IRD 0: Reply ORD 0, and the responder sends no Read",
	  RESPONDER, 0, o9__ird_0_gets_no_reads },
	{ "o10__ord_is_cut_to_the_ird_of_the_reply", "O10 MPA-182",
	  "an initiator's ORD is at most the Reply's IRD: one Read under way at a time",
	  INITIATOR, 0, o10__ord_is_cut_to_the_ird_of_the_reply },
	{ "o10__larger_ird_does_not_raise_ord", "O10 MPA-182",
	  "a Reply's IRD above its ORD leaves an initiator's ORD as its ULP set it",
	  INITIATOR, 0, o10__larger_ird_does_not_raise_ord },
	{ "o11__ird_not_negotiated_leaves_ord_alone", "O11 MPA-186",
	  "Reply IRD 0x3FFF: the initiator's ORD stays as its ULP set it",
	  INITIATOR, 0, o11__ird_not_negotiated_leaves_ord_alone },
	{ "o12__smaller_ord_of_the_reply_is_fine", "O12 MPA-181",
	  "a Reply's ORD below the IRD changes nothing that shows: so many Reads are served",
	  INITIATOR, 0, o12__smaller_ord_of_the_reply_is_fine },
	{ "o13__ird_grows_to_the_ord_of_the_reply", "O13 MPA-181",
	  "a Reply's ORD above the IRD raises it: so many Reads at once are served",
	  INITIATOR, 0, o13__ird_grows_to_the_ord_of_the_reply },
	{ "o13__ird_grows_no_further", "O13 MPA-221",
	  "a Reply's ORD above the IRD raises it to just that: one Read more is refused with 1/2/02",
	  INITIATOR, 0, o13__ird_grows_no_further },
	{ "o14__ord_out_of_reach_ends_in_terminate", "O14 MPA-169 MPA-171 MPA-183",
	  "a Reply's ORD that the initiator cannot give: Terminate 2/0/06, close",
	  INITIATOR, 0, o14__ord_out_of_reach_ends_in_terminate },
	{ "o14__failed_connection_reports_ird_and_ord", "O14 MPA-179",
	  "the IRD and ORD of a Reply that ends in 2/0/06 are there for the ULP",
	  INITIATOR, NEED_STATE, o14__failed_connection_reports_ird_and_ord },
	{ "o15__ord_not_negotiated_leaves_ird_alone", "O15 MPA-188",
	  "Reply ORD 0x3FFF: no Terminate 2/0/06, the initiator's IRD stays as its ULP set it",
	  INITIATOR, 0, o15__ord_not_negotiated_leaves_ird_alone },
	{ "o16__rejecting_reply_changes_nothing", "O16 F63",
	  "R=1: flags, IRD and ORD are information only: no RTR, no Terminate, close",
	  INITIATOR, 0, o16__rejecting_reply_changes_nothing },
	{ "o16__values_of_a_rejecting_reply_go_up", "O16 MPA-180",
	  "the IRD and ORD of a rejecting Reply are there for the ULP",
	  INITIATOR, NEED_STATE, o16__values_of_a_rejecting_reply_go_up },
	{ "o17__read_without_a_slot_is_no_rtr", "O17 MPA-202",
	  "only D is shared and the Reply's IRD is 0: Terminate 2/0/07",
	  INITIATOR, NEED_SET, o17__read_without_a_slot_is_no_rtr },
	{ "o18__rtr_read_goes_out_though_ord_is_0", "O18 MPA-176",
	  "only D is shared, ORD 0, Reply IRD 1: the RTR Read has a slot of its own, the ULP still has none",
	  INITIATOR, NEED_SET, o18__rtr_read_goes_out_though_ord_is_0 },
	{ "o18__rtr_read_goes_out_though_ird_is_not_negotiated", "O18 MPA-176",
	  "only D is shared, ORD 0, Reply IRD 0x3FFF: the RTR Read has a slot of its own, the ULP still has none",
	  INITIATOR, NEED_SET, o18__rtr_read_goes_out_though_ird_is_not_negotiated },
	{ "o19__plain_connection_keeps_the_ord_of_the_ulp", "O19",
	  "a plain startup negotiates nothing: the ULP's ORD is in force",
	  EITHER, 0, o19__plain_connection_keeps_the_ord_of_the_ulp },
	{ "o19__plain_connection_keeps_the_ird_of_the_ulp", "O19",
	  "a plain startup negotiates nothing: the ULP's IRD is in force",
	  EITHER, 0, o19__plain_connection_keeps_the_ird_of_the_ulp },
	{ "o19__plain_connection_takes_an_rtr_read_at_ird_0", "O19 MPA-220",
	  "a plain peer's first message may be a Read of nothing: it is answered, the IRD stands",
	  RESPONDER, 0, o19__plain_connection_takes_an_rtr_read_at_ird_0 },
	{ "o19__plain_connection_takes_no_other_read_at_ird_0", "O19",
	  "a plain peer's first Read of a byte or more needs an IRD",
	  RESPONDER, 0, o19__plain_connection_takes_no_other_read_at_ird_0 },
	{ "ulp__learns_ird_and_ord_of_the_peer", "MPA-179",
	  "the peer's IRD and ORD go to the ULP with CONNECT_REQUEST, and with the initiator's ESTABLISHED",
	  EITHER, 0, ulp__learns_ird_and_ord_of_the_peer },
	{ "ulp__learns_values_beyond_255_as_255", "MPA-179 Q16",
	  "values beyond rdma_cm's 8 bits are given as 255, never cut",
	  RESPONDER, 0, ulp__learns_values_beyond_255_as_255 },
	{ "state__has_the_raw_values_of_both_ends", "MPA-179",
	  "the IRD and ORD of both ends' frames are there in full",
	  EITHER, NEED_STATE, state__has_the_raw_values_of_both_ends },
	{ "request__has_the_depths_in_force", "MPA-222 MPA-166",
	  "IRD and ORD of a Request are the values in force when it is built",
	  INITIATOR, 0, request__has_the_depths_in_force },
	{}
};

const struct conform_group depth_group = { "depth", tests };
