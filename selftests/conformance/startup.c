// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* What either end may send, and when, until both are in Full Operation: RFC 5044
 * 7.1.2. */
#include <string.h>

#include "knock.h"
#include "session.h"

#define SILENCE_MS	150
#define REPLY_MS	2000
#define SEND_ID		7

/* ---- the form of the device's frames ---- */

static void check_request(const struct mpa_frame *f)
{
	must_bytes(f->key, mpa_request_key, sizeof(f->key), "the key");
	must_eq(f->flags & (MPA_R | 0x0f), 0, "R and the Res bits");
	must_eq(f->flags & MPA_C, MPA_C, "C");
}

static void startup__request(void)
{
	struct meeting m = MEETING_DEFAULT;
	const struct mpa_frame *f;

	meet_call(&m);
	f = &m.p->request;
	check_request(f);
	must(f->rev == 1 || f->rev == 2, "Rev is %u", f->rev);
	if (f->flags & MPA_S)
		must_eq(f->rev, 2, "Rev where S is set");
	must_eq(f->pd_len, f->flags & MPA_S ? 4 : 0, "PD_Length");
	must_be_silent(m.p, SILENCE_MS);
}

static void startup__default_request(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("mpa-rev 2");
	meet_call(&m);
	must_eq(m.p->request.rev, 2, "Rev");
	must_eq(m.p->request.flags & MPA_S, MPA_S, "S");
	must_eq(enh_p2p(&m.p->request), true, "A");
	must_eq(enh_types(&m.p->request), RTR_ALL, "B C D");
}

static void startup__request_of_rev_1(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("mpa-rev 1");
	meet_call(&m);
	check_request(&m.p->request);
	must_eq(m.p->request.rev, 1, "Rev");
	must_eq(m.p->request.flags & MPA_S, 0, "S");
	must_eq(m.p->request.pd_len, 0, "PD_Length");
}

static void startup__reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	mpa_plain(&f, false);
	meet_responder(&m, &f);
	must_bytes(m.p->reply.key, mpa_reply_key, sizeof(f.key), "the key");
	must_eq(m.p->reply.flags & (MPA_R | 0x0f), 0, "R and the Res bits");
	must_eq(m.p->reply.pd_len, 0, "PD_Length");
	must_be_silent(m.p, SILENCE_MS);
}

static void startup__rev_is_known(void)
{
	struct session s = { .qp = AGENT_QP_DEFAULT, .plain = true };
	char value[32];

	session_start(&s);
	must(agent_state(s.port, "peer_rev", value, sizeof(value)),
	     "the device knows nothing of the connection");
	must(!strcmp(value, "1"), "peer_rev is %s, not 1", value);
}

/* ---- no streaming mode: MPA begins with the TCP connection ---- */

static void greet_and_send(struct peer *p, const struct mpa_frame *f)
{
	static const char greeting[] = "220 host.example ready, streaming mode\r\n";
	uint8_t out[sizeof(greeting) + 64];
	size_t len = sizeof(greeting) - 1;

	memcpy(out, greeting, len);
	peer_send(p, out, len + mpa_encode(f, out + len));
}

static void startup__no_streaming_before_the_request(void)
{
	struct peer *p = peer_connect(agent_listen(), NULL);
	struct mpa_frame f;

	must_be_silent(p, SILENCE_MS);
	mpa_plain(&f, false);
	greet_and_send(p, &f);
	must_close_silently(p);
	agent_must_get_no_event(SILENCE_MS);
}

/* the device's first bytes are the Request, which meet_call() has read */
static void startup__no_streaming_before_the_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	meet_call(&m);
	good_reply(&m, &f);
	greet_and_send(m.p, &f);
	must_fail_call(&m);
}

/* ---- rules 1 to 3: Request, Reply, verdict ---- */

static void startup__responder_waits_for_request(void)
{
	struct mpa_frame f;
	struct peer *p = peer_connect(agent_listen(), NULL);
	uint8_t out[64];

	must_be_silent(p, SILENCE_MS);
	mpa_plain(&f, false);
	mpa_encode(&f, out);
	peer_send(p, out, MPA_FRAME_HDR - 1);
	must_be_silent(p, SILENCE_MS);
	agent_must_get_no_event(1);
}

static void startup__reply_waits_for_ulp(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	mpa_plain(&f, false);
	meet_knock(&m, &f);
	must_be_silent(m.p, SILENCE_MS);
	meet_accept(&m);
}

static void startup__ulp_rejects(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f, reply;

	mpa_plain(&f, false);
	meet_knock(&m, &f);
	agent_reject(m.conn, "no", 2);
	must(peer_recv_frame(m.p, true, &reply, patience(REPLY_MS)), "no Reply");
	must_eq(reply.flags & MPA_R, MPA_R, "R");
	must_eq(reply.pd_len, 2, "PD_Length");
	must_bytes(reply.pd, "no", 2, "private data");
	must_fin_silently(m.p);
}

static void startup__ready_when_reply_is_sent(void)
{
	struct agent_mr mr = agent_mr(4096, "lw");
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	mpa_plain(&f, false);
	meet_responder(&m, &f);
	send_write(m.p, mr.rkey, mr.va, "at once", 7);
	must_be_alive(m.p);
	must_have_memory(&mr, 0, "at once", 7);
	must_be_up(&m);
}

static void startup__initiator_waits_for_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	meet_call(&m);
	agent_try_post(m.conn, SEND_ID, AG_WRITE, 0, NULL, 0, 0, 1, 1);
	must_be_silent(m.p, 2 * SILENCE_MS);
	agent_must_get_no_event(1);
	good_reply(&m, &f);
	peer_send_frame(m.p, &f);
	must_be_up(&m);
}

static void startup__initiator_is_rejected(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_event ev;
	struct mpa_frame f;

	meet_call(&m);
	good_reply(&m, &f);
	f.flags |= MPA_R;
	mpa_add_pd(&f, "no", 2);
	peer_send_frame(m.p, &f);
	agent_must_get_event("REJECTED", &ev);
	must_eq(ev.pd_len, 2, "the length that the ULP sees");
	must_bytes(ev.pd, "no", 2, "private data");
	must_fin_silently(m.p);
	must_not_retry();
}

static void startup__ulp_may_close_after_the_reply(void)
{
	struct session s = SESSION_DEFAULT;

	session_start(&s);
	agent_disconnect(s.conn);
	must_fin_silently(s.p);
}

static void startup__full_operation(void)
{
	struct agent_mr mr = agent_mr(4096, "lw");
	struct session s = session_default();
	struct fpdu f;

	agent_post(s.conn, SEND_ID, AG_SEND, AG_SIGNALED, &mr, 0, 16, 0, 0);
	must_get_op(s.p, &f, OP_SEND);
	must_eq(f.seg.len, 16, "length of the Send");
	must_be_alive(s.p);
}

/* ---- rule 4: the responder's fence ---- */

/* a responder's Sends wait for the first FPDU, then they come */
static void fence(bool markers)
{
	struct session s = { .qp = AGENT_QP_DEFAULT, .plain = true, .markers = markers,
			     .closed_fence = true };
	struct agent_mr mr = agent_mr(4096, "lw");
	struct fpdu f;
	int i;

	session_start(&s);
	for (i = 0; i < 3; i++)
		agent_post(s.conn, i, AG_SEND, AG_SIGNALED, &mr, 0, 32, 0, 0);
	must_be_silent(s.p, 2 * SILENCE_MS);
	send_write(s.p, 1, 1, NULL, 0);
	for (i = 0; i < 3; i++) {
		must_get_op(s.p, &f, OP_SEND);
		must_eq(f.seg.len, 32, "length of the Send");
		must_eq(f.markers, markers && !i ? 1 : 0, "markers in it");
	}
}

static void startup__fence(void)
{
	fence(false);
}

static void startup__fence_with_markers(void)
{
	fence(true);
}

/* an invalid FPDU does not open the fence */
static void startup__fence_and_bad_fpdu(void)
{
	const struct fpdu_fault fault = { .crc_xor = 1 };
	struct session s = { .qp = AGENT_QP_DEFAULT, .plain = true,
			     .closed_fence = true };
	struct agent_mr mr = agent_mr(4096, "lw");
	uint8_t seg[64], out[192];
	struct fpdu f;

	session_start(&s);
	agent_post(s.conn, SEND_ID, AG_SEND, AG_SIGNALED, &mr, 0, 32, 0, 0);
	peer_send(s.p, out, fpdu_build(s.p, seg, seg_write(s.p, 1, 1, NULL, 0, true, seg),
				       &fault, out));
	if (peer_recv_fpdu(s.p, &f, patience(REPLY_MS)))
		must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode of what comes");
	must_close_silently(s.p);
}

/* ---- M of both ends ---- */

static void startup__markers_as_we_ask(void)
{
	struct session s = { .qp = AGENT_QP_DEFAULT, .markers = true };
	struct agent_mr mr = agent_mr(4096, "lw");
	struct fpdu f;

	session_start(&s);
	agent_post(s.conn, SEND_ID, AG_SEND, AG_SIGNALED, &mr, 0, 1024, 0, 0);
	must_get_op(s.p, &f, OP_SEND);
	must(f.markers >= 2, "%u markers in 1024 bytes", f.markers);
	must_be_alive(s.p);
}

static void startup__no_markers_as_we_ask(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(4096, "lw");
	struct fpdu f;

	agent_post(s.conn, SEND_ID, AG_SEND, AG_SIGNALED, &mr, 0, 1024, 0, 0);
	must_get_op(s.p, &f, OP_SEND);
	must_eq(f.seg.len, 1024, "length of the Send");
	must_be_alive(s.p);
}

/* ---- what is no valid frame: RFC 5044 8, code 4 ---- */

/* the device's connect() ends in an error event */
static void must_tell_of_failure(void)
{
	struct agent_event ev;

	must(agent_event(&ev, patience(REPLY_MS)), "no event says that it failed");
	must(!strcmp(ev.name, "CONNECT_ERROR") || !strcmp(ev.name, "UNREACHABLE") ||
	     !strcmp(ev.name, "REJECTED"), "event %s", ev.name);
}

static void answer_badly(const struct mpa_frame *f)
{
	struct session s = SESSION_DEFAULT;
	struct mpa_frame request;

	s.conn = agent_connect(peer_listen(NULL), &s.qp, NULL, 0);
	s.p = peer_accept(patience(REPLY_MS));
	must(s.p, "the device does not connect");
	must(peer_recv_frame(s.p, false, &request, patience(REPLY_MS)), "no Request");
	peer_send_frame(s.p, f);
	must_close_silently(s.p);
	must_tell_of_failure();
}

static void startup__invalid_frame_closes_at_once(void)
{
	struct mpa_frame f;
	struct peer *p;

	mpa_plain(&f, dut_role() == INITIATOR);
	f.key[15] ^= 1;
	if (dut_role() == INITIATOR) {
		answer_badly(&f);
		return;
	}
	p = peer_connect(agent_listen(), NULL);
	peer_send_frame(p, &f);
	must_close_silently(p);
	agent_must_get_no_event(20);
}

static void startup__initiator_meets_initiator(void)
{
	struct mpa_frame f;

	mpa_plain(&f, false);
	answer_badly(&f);
}

static const struct conform_test tests[] = {
	{ "startup__request", "MPA-081 MPA-091 MPA-095 MPA-099 MPA-160",
	  "An initiator sends a Request of exact form, and nothing after it.",
	  INITIATOR, 0, startup__request },
	{ "startup__default_request", "MPA-092 MPA-210",
	  "By default everything is asked for: Rev 2, S, peer-to-peer, all RTR types.",
	  INITIATOR, NEED_SET, startup__default_request },
	{ "startup__request_of_rev_1", "MPA-092 MPA-161",
	  "With Rev 1 set, a Request is the plain one of 5044.",
	  INITIATOR, NEED_SET, startup__request_of_rev_1 },
	{ "startup__reply", "MPA-083 MPA-091 MPA-106",
	  "A responder sends a Reply of exact form, and nothing after it.",
	  RESPONDER, 0, startup__reply },
	{ "startup__rev_is_known", "MPA-094",
	  "The Rev of the peer's frame can be read.",
	  EITHER, NEED_STATE, startup__rev_is_known },
	{ "startup__no_streaming_before_the_request", "MPA-075",
	  "The first byte is MPA's: anything else before a Request is closed on.",
	  RESPONDER, 0, startup__no_streaming_before_the_request },
	{ "startup__no_streaming_before_the_reply", "MPA-075 MPA-079",
	  "The first byte back is the Reply's: a last streaming message is closed on.",
	  INITIATOR, 0, startup__no_streaming_before_the_reply },
	{ "startup__responder_waits_for_request", "MPA-101 MPA-079",
	  "A responder sends nothing before it has a whole Request.",
	  RESPONDER, 0, startup__responder_waits_for_request },
	{ "startup__reply_waits_for_ulp", "MPA-106",
	  "The Reply is sent when the ULP has accepted.",
	  RESPONDER, 0, startup__reply_waits_for_ulp },
	{ "startup__ulp_rejects", "MPA-090 MPA-103 MPA-104 MPA-105",
	  "A refusing ULP makes a Reply with R and its data; then TCP ends with a FIN.",
	  RESPONDER, 0, startup__ulp_rejects },
	{ "startup__ready_when_reply_is_sent", "MPA-107",
	  "FPDUs right after the Reply are taken.",
	  RESPONDER, 0, startup__ready_when_reply_is_sent },
	{ "startup__initiator_waits_for_reply", "MPA-108",
	  "An initiator sends nothing between its Request and the Reply.",
	  INITIATOR, 0, startup__initiator_waits_for_reply },
	{ "startup__initiator_is_rejected", "MPA-110",
	  "On R=1 no FPDU is sent, the ULP gets the data, and TCP ends with a FIN.",
	  INITIATOR, 0, startup__initiator_is_rejected },
	{ "startup__ulp_may_close_after_the_reply", "MPA-113",
	  "A ULP may close after it looked at the private data.",
	  EITHER, 0, startup__ulp_may_close_after_the_reply },
	{ "startup__full_operation", "MPA-099 MPA-106 MPA-111",
	  "After an accepting Reply both ends send and take FPDUs.",
	  EITHER, 0, startup__full_operation },
	{ "startup__fence", "MPA-112",
	  "A responder sends no FPDU before it got one.",
	  RESPONDER, 0, startup__fence },
	{ "startup__fence_with_markers", "MPA-112 MPA-030",
	  "A responder sends no marker either before it got an FPDU.",
	  RESPONDER, 0, startup__fence_with_markers },
	{ "startup__fence_and_bad_fpdu", "MPA-112 F70 Q4",
	  "An FPDU that is not valid does not open a responder's way.",
	  RESPONDER, 0, startup__fence_and_bad_fpdu },
	{ "startup__markers_as_we_ask", "MPA-086 MPA-024",
	  "An end that gets M=1 puts markers into what it sends.",
	  EITHER, 0, startup__markers_as_we_ask },
	{ "startup__no_markers_as_we_ask", "MPA-085",
	  "An end that gets M=0 puts no markers into what it sends.",
	  EITHER, 0, startup__no_markers_as_we_ask },
	{ "startup__invalid_frame_closes_at_once", "MPA-121 MPA-128",
	  "an invalid frame of the startup is error 4: TCP is closed at once",
	  EITHER, 0, startup__invalid_frame_closes_at_once },
	{ "startup__initiator_meets_initiator", "MPA-077 MPA-128",
	  "a Request where a Reply is due is seen, and ends in an error",
	  INITIATOR, 0, startup__initiator_meets_initiator },
	{}
};

const struct conform_group startup_group = { "startup", tests };
