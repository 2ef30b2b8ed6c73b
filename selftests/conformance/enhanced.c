// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Enhanced and plain frames: their form, and which one answers which (RFC 6581 6, 9
 * and 10).
 */
#include <string.h>

#include "meet.h"

#define REV	17	/* the byte of a frame that holds Rev */

static const char data[] = "private";

static void check_frame(const struct mpa_frame *f, uint16_t pd_len)
{
	must_eq(f->rev, 2, "Rev");
	must_eq(f->flags & MPA_S, MPA_S, "S");
	must_eq(f->flags & 0x0f, 0, "reserved bits");
	must_eq(f->pd_len, pd_len, "PD_Length");
}

/* ---- the device is the initiator ---- */

static void request__holds_two_words_and_no_more(void)
{
	struct meeting m = MEETING_DEFAULT;

	meet_call_enhanced(&m);
	check_frame(&m.p->request, 4);
	must_eq(enh_ird(&m.p->request), 8, "IRD");
	must_eq(enh_ord(&m.p->request), 8, "ORD");
}

static void request__has_the_words_before_the_ulps_data(void)
{
	struct meeting m = MEETING_DEFAULT;

	m.pd = data;
	m.pd_len = sizeof(data);
	meet_call_enhanced(&m);
	check_frame(&m.p->request, 4 + sizeof(data));
	must_bytes(m.p->request.pd + 4, data, sizeof(data), "private data");
}

static void request__peer_to_peer_offers_a_type(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("p2p on");
	set_rtr(RTR_ALL);
	meet_call(&m);
	check_frame(&m.p->request, 4);
	must(enh_p2p(&m.p->request), "A is 0");
	must_eq(enh_types(&m.p->request), RTR_ALL, "B C D");
}

static void request__offers_every_subset_of_types(void)
{
	for (int types = 1; types <= RTR_ALL; types++) {
		struct meeting m = MEETING_DEFAULT;

		set_rtr(types);
		meet_call(&m);
		must(enh_p2p(&m.p->request), "A is 0");
		must_eq(enh_types(&m.p->request), types, "B C D");
		meet_leave(&m);
	}
}

static void request__client_server_offers_no_type(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("p2p off");
	meet_call(&m);
	check_frame(&m.p->request, 4);
	must(!enh_p2p(&m.p->request), "A is 1");
	must_eq(enh_types(&m.p->request), 0, "B C D");
}

static void request__is_plain_when_nothing_enhanced_is_wanted(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("enhanced off");
	m.pd = data;
	m.pd_len = sizeof(data);
	meet_call(&m);
	must_eq(m.p->request.rev, 2, "Rev");
	must_eq(m.p->request.flags & 0x3f, 0, "S, R and reserved bits");
	must_eq(m.p->request.pd_len, sizeof(data), "PD_Length");
	must_bytes(m.p->request.pd, data, sizeof(data), "private data");
}

static size_t request_bytes(const char *setting, uint8_t *out)
{
	struct meeting m = MEETING_DEFAULT;
	size_t len;

	agent_set(setting);
	m.pd = data;
	m.pd_len = sizeof(data);
	meet_call(&m);
	len = mpa_encode(&m.p->request, out);
	meet_leave(&m);
	return len;
}

static void request__without_s_is_that_of_revision_1(void)
{
	uint8_t rev1[MPA_FRAME_HDR + MPA_PD_MAX], rev2[MPA_FRAME_HDR + MPA_PD_MAX];
	size_t len = request_bytes("enhanced off", rev2);

	must_eq(request_bytes("mpa-rev 1", rev1), len, "length at Rev 1");
	must_eq(rev1[REV], 1, "Rev");
	must_eq(rev2[REV], 2, "Rev");
	rev1[REV] = 2;
	must_bytes(rev2, rev1, len, "the Request but for Rev");
}

static void reply__reserved_bits_are_not_looked_at(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame reply;

	meet_call_enhanced(&m);
	meet_enhanced(&reply, true, enh_p2p(&m.p->request), enh_types(&m.p->request), 8, 8);
	reply.flags |= 0x0f;
	meet_answer(&m, &reply);
	if (enh_p2p(&m.p->request))
		must_get_any_rtr(m.p, enh_types(&m.p->request));
	must_be_up(&m);
}

static void reply__hands_the_ulps_data_up_without_the_words(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame reply;

	meet_call_enhanced(&m);
	meet_enhanced(&reply, true, enh_p2p(&m.p->request), enh_types(&m.p->request), 8, 8);
	mpa_add_pd(&reply, data, sizeof(data));
	meet_answer(&m, &reply);
	must_be_up(&m);
	/* iw_cm and rdma_cm pass up to 255 bytes, and may add zeros */
	must(m.up.pd_len >= (int)sizeof(data), "%d bytes are handed up", m.up.pd_len);
	must_bytes(m.up.pd, data, sizeof(data), "private data");
}

/* the device refuses private data that rdma_cm cannot carry, and does not cut it
 * (Q16) */
static void reply__with_more_data_than_rdma_cm_carries_is_refused(void)
{
	static const uint8_t long_pd[MPA_PD_MAX - 4];
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame reply;

	meet_call_enhanced(&m);
	meet_enhanced(&reply, true, enh_p2p(&m.p->request), enh_types(&m.p->request), 8, 8);
	mpa_add_pd(&reply, long_pd, sizeof(long_pd));
	meet_answer(&m, &reply);
	must_close_silently(m.p);
	must_have_failed(&m);
}

/* ---- a peer that does not know RFC 6581 ---- */

static void enhanced_request__closed_by_a_plain_peer_is_reported_or_retried(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct peer *again;
	struct mpa_frame f;

	meet_call_enhanced(&m);
	peer_close(m.p);
	again = peer_accept(patience(3000));
	if (!again)
		return must_have_failed(&m);
	must(peer_recv_frame(again, false, &f, patience(1000)), "no second Request");
	must_eq(f.rev, 1, "Rev of the second Request");
	must_eq(f.flags & MPA_S, 0, "S of the second Request");
	must_eq(f.pd_len, 0, "PD_Length of the second Request");
	m.p = again;
	mpa_plain(&f, true);
	meet_answer(&m, &f);
	must_be_up(&m);
}

/* ---- the device is the responder ---- */

static void enhanced_request__gets_an_enhanced_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, 8, 8);
	meet_responder(&m, &req);
	check_frame(&m.p->reply, 4);
	must(!enh_p2p(&m.p->reply), "A is 1");
	must_eq(enh_types(&m.p->reply), 0, "B C D");
}

static void enhanced_request__hands_the_ulps_data_up_without_the_words(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, 8, 8);
	mpa_add_pd(&req, data, sizeof(data));
	m.pd = "reply";
	m.pd_len = 5;
	meet_responder(&m, &req);
	must(m.called.pd_len >= (int)sizeof(data), "%d bytes are handed up",
	     m.called.pd_len);
	must_bytes(m.called.pd, data, sizeof(data), "private data");
	check_frame(&m.p->reply, 4 + 5);
	must_bytes(m.p->reply.pd + 4, "reply", 5, "private data");
}

static void reject_by_ulp(bool p2p)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req, *reply;

	meet_enhanced(&req, false, p2p, p2p ? RTR_ALL : 0, 8, 8);
	meet_knock(&m, &req);
	agent_reject(m.conn, "no", 2);
	reply = &m.p->reply;
	must(peer_recv_frame(m.p, true, reply, patience(1000)), "no Reply came");
	check_frame(reply, 4 + 2);
	must_eq(reply->flags & MPA_R, MPA_R, "R");
	must_eq(enh_p2p(reply), p2p, "A");
	must(p2p == !!enh_types(reply), "A is %d, B C D %d", p2p, enh_types(reply));
	/* some initiators check these words before R, so they must be valid in a
	 * reject, too */
	must(!(enh_types(reply) & RTR_D) || enh_ird(reply), "a Read is listed, IRD is 0");
	must(enh_ord(reply) <= 8, "Reply ORD is %d, Request IRD 8", enh_ord(reply));
	must_bytes(reply->pd + 4, "no", 2, "private data");
	must_close_silently(m.p);
}

static void enhanced_request__is_rejected_by_an_enhanced_reply(void)
{
	reject_by_ulp(false);
	reject_by_ulp(true);
}

static void plain_reply(uint8_t rev, uint8_t *bytes, size_t *len)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;

	mpa_plain(&req, false);
	req.rev = rev;
	m.pd = data;
	m.pd_len = sizeof(data);
	meet_responder(&m, &req);
	must_eq(m.p->reply.rev, rev, "Rev of the Reply");
	must_eq(m.p->reply.flags & 0x3f, 0, "S, R and reserved bits");
	must_eq(m.p->reply.pd_len, sizeof(data), "PD_Length");
	must_bytes(m.p->reply.pd, data, sizeof(data), "private data");
	*len = mpa_encode(&m.p->reply, bytes);
	send_rtr(m.p, OP_WRITE);
	must_be_alive(m.p);
	must_be_up(&m);
	meet_leave(&m);
}

static void plain_request__gets_a_plain_reply(void)
{
	uint8_t rev1[MPA_FRAME_HDR + MPA_PD_MAX], rev2[MPA_FRAME_HDR + MPA_PD_MAX];
	size_t len1, len2;

	plain_reply(1, rev1, &len1);
	plain_reply(2, rev2, &len2);
	must_eq(len2, len1, "length");
	rev1[REV] = 2;
	must_bytes(rev2, rev1, len1, "the Reply but for Rev");
}

static void plain_request__is_rejected_by_a_plain_reply(void)
{
	for (int rev = 1; rev <= 2; rev++) {
		struct meeting m = MEETING_DEFAULT;
		struct mpa_frame req, *reply;

		mpa_plain(&req, false);
		req.rev = rev;
		meet_knock(&m, &req);
		agent_reject(m.conn, "no", 2);
		reply = &m.p->reply;
		must(peer_recv_frame(m.p, true, reply, patience(1000)), "no Reply came");
		must_eq(reply->rev, rev, "Rev");
		must_eq(reply->flags & 0x3f, MPA_R, "S, R and reserved bits");
		must_eq(reply->pd_len, 2, "PD_Length");
		must_close_silently(m.p);
	}
}

static void request__reserved_bits_are_not_looked_at(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, 8, 8);
	req.flags |= 0x0f;
	meet_responder(&m, &req);
	check_frame(&m.p->reply, 4);
	must_be_up(&m);
}

static void request__512_bytes_with_the_words_get_a_reply(void)
{
	static const uint8_t long_pd[MPA_PD_MAX - 4];
	struct mpa_frame req, reply;
	struct peer *p;

	meet_enhanced(&req, false, false, 0, 8, 8);
	mpa_add_pd(&req, long_pd, sizeof(long_pd));
	p = peer_connect(agent_listen(), &(struct peer_tcp) {});
	peer_send_frame(p, &req);
	/* rdma_cm cannot carry the data, so the device refuses (Q16), in a well-formed
	 * Reply */
	must(peer_recv_frame(p, true, &reply, patience(1000)), "no Reply came");
	must_eq(reply.flags & (MPA_S | MPA_R), MPA_S | MPA_R, "S and R");
	agent_must_get_no_event(50);
}

static void request__513_bytes_with_the_words_are_closed(void)
{
	struct mpa_frame req;
	struct peer *p;

	meet_enhanced(&req, false, false, 0, 8, 8);
	req.pd_len = MPA_PD_MAX + 1;
	p = peer_connect(agent_listen(), &(struct peer_tcp) {});
	peer_send_frame(p, &req);
	must_close_silently(p);
	agent_must_get_no_event(50);
}

static void enhanced_request__is_closed_by_a_revision_1_responder(void)
{
	struct mpa_frame req;
	struct peer *p;

	agent_set("mpa-rev 1");
	meet_enhanced(&req, false, false, 0, 8, 8);
	p = peer_connect(agent_listen(), &(struct peer_tcp) {});
	peer_send_frame(p, &req);
	must_close_silently(p);
	agent_must_get_no_event(50);
}

/* ---- any words (RFC 6581 12) ---- */

#define ROUNDS	24

/* every second round has depths that a device may have */
static uint32_t next_words(uint32_t *state, int round)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8 ^ *state << 16) & (round & 1 ? 0xc007c007 : 0xffffffff);
}

static void check_words(const struct mpa_frame *req, const struct mpa_frame *reply,
			const struct agent_qp *qp)
{
	int ird = enh_ird(req), ord = enh_ord(req);

	must_eq(enh_p2p(reply), enh_p2p(req), "A");
	if (enh_p2p(req))
		must(enh_types(reply), "A is 1, B C D are 0");
	else
		must_eq(enh_types(reply), 0, "B C D");
	if (ord == ENH_X)
		must_eq(enh_ird(reply), ENH_X, "Reply IRD");
	else
		must(enh_ird(reply) != ENH_X, "Reply IRD is 0x3fff, unasked");
	if (ird == ENH_X)
		must_eq(enh_ord(reply), ENH_X, "Reply ORD");
	else
		must(enh_ord(reply) <= ird && enh_ord(reply) <= qp->ord,
		     "Reply ORD is %d, Request IRD %d", enh_ord(reply), ird);
}

static void responder__survives_any_words(void)
{
	uint32_t random = 6581;

	for (int i = 0; i < ROUNDS; i++) {
		struct meeting m = MEETING_DEFAULT;
		struct mpa_frame req;
		uint32_t words = next_words(&random, i);

		mpa_enhanced(&req, false, words >> 16, words);
		meet_responder(&m, &req);
		check_frame(&m.p->reply, 4);
		check_words(&req, &m.p->reply, &m.qp);
		send_rtr(m.p, OP_WRITE);
		must_be_up(&m);
		meet_leave(&m);
	}
}

/* the device sends an RTR of a type that both take, or a Terminate with the reason */
static void check_first(struct peer *p)
{
	int types = enh_types(&p->request) & enh_types(&p->reply);
	struct fpdu f;
	struct term t;

	must_get_fpdu(p, &f);
	if (seg_op(&f.seg) != OP_TERMINATE) {
		must(enh_p2p(&p->reply), "first message of opcode %d, A is 0",
		     seg_op(&f.seg));
		return take_rtr(p, &f, types);
	}
	must(term_decode(&t, &f.seg), "the Terminate is too short");
	must(t.layer == 2 && !t.etype && (t.code == 6 || t.code == 7),
	     "Terminate %d/%d/%02x", t.layer, t.etype, t.code);
	if (t.code == 6)
		must(enh_ord(&p->reply) != ENH_X &&
		     enh_ord(&p->reply) > enh_ird(&p->request),
		     "Terminate 2/0/06 for ORD %d", enh_ord(&p->reply));
	else
		must(!enh_p2p(&p->reply) || !types ||
		     (types == RTR_D && !enh_ird(&p->reply)),
		     "Terminate 2/0/07, types %d are shared", types);
}

static void initiator__survives_any_words(void)
{
	uint32_t random = 9000;

	for (int i = 0; i < ROUNDS; i++) {
		struct meeting m = MEETING_DEFAULT;
		uint32_t words = next_words(&random, i);
		struct mpa_frame reply;
		struct agent_event ev;

		meet_call_enhanced(&m);
		if (!enh_p2p(&m.p->request))
			skip("the device does not ask for peer-to-peer");
		mpa_enhanced(&reply, true, words >> 16, words);
		meet_answer(&m, &reply);
		check_first(m.p);
		must(agent_event(&ev, patience(2000)), "connect() ends in no event");
		meet_leave(&m);
	}
}

static const struct conform_test tests[] = {
	{ "request__holds_two_words_and_no_more",
	  "MPA-157 MPA-159 MPA-160 MPA-163 MPA-164 MPA-166",
	  "S=1 goes with Rev 2; Private Data begins with 32 bits, IRD in the first half, ORD in the second, and PD_Length counts them",
	  INITIATOR, 0, request__holds_two_words_and_no_more },
	{ "request__has_the_words_before_the_ulps_data", "MPA-163 MPA-164",
	  "the ULP's private data follows the enhanced words, PD_Length counts both",
	  INITIATOR, 0, request__has_the_words_before_the_ulps_data },
	{ "request__peer_to_peer_offers_a_type", "MPA-189 MPA-190 MPA-160",
	  "a peer-to-peer Request has A=1 and a flag for every type that can be sent",
	  INITIATOR, NEED_SET, request__peer_to_peer_offers_a_type },
	{ "request__offers_every_subset_of_types", "MPA-190 MPA-194",
	  "B, C and D of a Request are just the types that can be sent",
	  INITIATOR, NEED_SET, request__offers_every_subset_of_types },
	{ "request__client_server_offers_no_type", "MPA-191 MPA-192 F1",
	  "a client-server Request has A = B = C = D = 0",
	  INITIATOR, NEED_SET, request__client_server_offers_no_type },
	{ "request__is_plain_when_nothing_enhanced_is_wanted", "MPA-157 MPA-210",
	  "if nothing enhanced is asked for, a Request has S=0 and the ULP's private data only",
	  INITIATOR, NEED_SET, request__is_plain_when_nothing_enhanced_is_wanted },
	{ "request__without_s_is_that_of_revision_1", "MPA-158 MPA-161",
	  "a Request with S=0 equals that of Rev 1 but for Rev; Rev 1 may be sent when nothing enhanced is wanted",
	  INITIATOR, NEED_SET, request__without_s_is_that_of_revision_1 },
	{ "reply__reserved_bits_are_not_looked_at", "MPA-159",
	  "an initiator does not look at the reserved bits of an enhanced Reply",
	  INITIATOR, 0, reply__reserved_bits_are_not_looked_at },
	{ "reply__hands_the_ulps_data_up_without_the_words", "MPA-164 MPA-163",
	  "the ULP gets the Reply's private data without the enhanced words",
	  INITIATOR, 0, reply__hands_the_ulps_data_up_without_the_words },
	{ "reply__with_more_data_than_rdma_cm_carries_is_refused", "MPA-165 Q16",
	  "a Reply with 508 bytes for the ULP is more than rdma_cm carries: closed, error, never cut",
	  INITIATOR, 0, reply__with_more_data_than_rdma_cm_carries_is_refused },
	{ "enhanced_request__closed_by_a_plain_peer_is_reported_or_retried", "MPA-212",
	  "TCP closed on an enhanced Request: an error for the ULP, or a second connection with Rev 1, S=0",
	  INITIATOR, 0, enhanced_request__closed_by_a_plain_peer_is_reported_or_retried },
	{ "enhanced_request__gets_an_enhanced_reply", "MPA-207 MPA-157 MPA-160 MPA-163 MPA-192",
	  "an enhanced Request is answered by Rev 2, S=1 and the two words",
	  RESPONDER, 0, enhanced_request__gets_an_enhanced_reply },
	{ "enhanced_request__hands_the_ulps_data_up_without_the_words", "MPA-163 MPA-164",
	  "the ULP gets the Request's private data without the words, and its own follows the Reply's words",
	  RESPONDER, 0, enhanced_request__hands_the_ulps_data_up_without_the_words },
	{ "enhanced_request__is_rejected_by_an_enhanced_reply", "MPA-207 MPA-177 MPA-195 MPA-196",
	  "a rejecting Reply to an enhanced Request has S=1, the words with A echoed, then the ULP's data",
	  RESPONDER, 0, enhanced_request__is_rejected_by_an_enhanced_reply },
	{ "plain_request__gets_a_plain_reply", "MPA-158 MPA-162 MPA-208 MPA-211",
	  "Requests of Rev 1, and of Rev 2 with S=0, are taken and get Replies that differ in Rev alone",
	  RESPONDER, 0, plain_request__gets_a_plain_reply },
	{ "plain_request__is_rejected_by_a_plain_reply", "MPA-208",
	  "a rejecting Reply to a Request with S=0 has S=0 and the ULP's data only",
	  RESPONDER, 0, plain_request__is_rejected_by_a_plain_reply },
	{ "request__reserved_bits_are_not_looked_at", "MPA-159",
	  "a responder does not look at the reserved bits of an enhanced Request, and sends its own as 0",
	  RESPONDER, 0, request__reserved_bits_are_not_looked_at },
	{ "request__512_bytes_with_the_words_get_a_reply", "MPA-165",
	  "S=1 with PD_Length 512 is well formed: it gets a Reply",
	  RESPONDER, 0, request__512_bytes_with_the_words_get_a_reply },
	{ "request__513_bytes_with_the_words_are_closed", "MPA-165",
	  "S=1 with PD_Length 513 is badly formatted: closed without a Reply",
	  RESPONDER, 0, request__513_bytes_with_the_words_are_closed },
	{ "enhanced_request__is_closed_by_a_revision_1_responder", "MPA-209",
	  "for a responder of Rev 1 an enhanced Request is badly formatted: closed, no Reply",
	  RESPONDER, NEED_SET, enhanced_request__is_closed_by_a_revision_1_responder },
	{ "responder__survives_any_words", "MPA-213 MPA-193 MPA-195 MPA-196 MPA-200",
	  "whatever the Request's 32 bits hold, the Reply's obey RFC 6581 9.1 and 9.2",
	  RESPONDER, 0, responder__survives_any_words },
	{ "initiator__survives_any_words", "MPA-213 MPA-201 MPA-202",
	  "whatever the Reply's 32 bits hold, an initiator sends an RTR that is shared, or 2/0/06 or 2/0/07 where that is due",
	  INITIATOR, 0, initiator__survives_any_words },
	{}
};

const struct conform_group enhanced_group = { "enhanced", tests };
