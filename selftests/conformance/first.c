// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The first message at a responder that agreed on A=1 (RFC 6581 5 and 9.2): rows F64
 * to F72, Q4, Q7 and Q23 of `requirements`.
 */
#include <stdio.h>

#include "inflight.h"

/* ---- F64 to F68: the first message at a responder that agreed on A=1 ---- */

static void f64__write_or_read_of_a_listed_type(void)
{
	static const int types[] = { RTR_C, RTR_D };

	for (int i = 0; i < 2; i++) {
		struct meeting m = MEETING_DEFAULT;

		meet_p2p(&m, RTR_ALL);
		need_type(&m, types[i]);
		send_rtr(m.p, preferred_rtr(types[i]));
		must_be_up(&m);
		agent_must_get_no_wc(50);
		/* after the RTR Read, which was MSN 1 of QN 1, this Read is MSN 2 */
		must_be_alive(m.p);
		meet_leave(&m);
	}
}

static void f65__send_takes_no_receive(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;

	meet_p2p(&m, RTR_ALL);
	need_type(&m, RTR_B);
	agent_recv(m.conn, 1, &mr, 0, 64);
	send_rtr(m.p, OP_SEND);
	must_be_up(&m);
	agent_must_get_no_wc(50);
	/* the RTR Send was MSN 1, so this is MSN 2 */
	send_send(m.p, "message", 7);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, 7, "byte_len");
}

static void f65__send_needs_no_receive(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");

	meet_p2p(&m, RTR_ALL);
	need_type(&m, RTR_B);
	send_rtr(m.p, OP_SEND);
	must_be_up(&m);
	must_receive_send(&m, &mr, 1);
}

/* @op without data as the first message takes a receive: it is the ULP's, no RTR */
static void first_send_is_the_ulps(struct meeting *m, enum rdmap_op op)
{
	struct agent_mr mr = agent_mr(64, "l");
	uint8_t ulpdu[128];
	struct agent_wc wc;
	uint32_t len;

	agent_recv(m->conn, 1, &mr, 0, 64);
	len = seg_send(m->p, op, 0, 0, NULL, 0, true, ulpdu);
	peer_send_fpdu(m->p, ulpdu, len);
	must_be_up(m);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, 0, "byte_len");
	must_receive_send(m, &mr, 2);
}

static void f65__solicited_send_is_no_rtr(void)
{
	struct meeting m = MEETING_DEFAULT;

	meet_p2p(&m, RTR_ALL);
	first_send_is_the_ulps(&m, OP_SEND_SE);
}

static void f65__second_send_is_no_rtr(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;

	meet_p2p(&m, RTR_ALL);
	need_type(&m, RTR_B);
	agent_recv(m.conn, 1, &mr, 0, 64);
	send_rtr(m.p, OP_SEND);
	send_send(m.p, NULL, 0);
	must_be_up(&m);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, 0, "byte_len");
}

static void f66__send_not_listed_is_the_ulps(void)
{
	struct meeting m = MEETING_DEFAULT;

	set_rtr(RTR_C | RTR_D);
	meet_p2p(&m, RTR_ALL);
	must_eq(enh_types(&m.p->reply), RTR_C | RTR_D, "B C D of the Reply");
	first_send_is_the_ulps(&m, OP_SEND);
}

static void f67__write_or_read_not_listed_is_harmless(void)
{
	static const int types[] = { RTR_C, RTR_D };

	set_rtr(RTR_B);
	for (int i = 0; i < 2; i++) {
		struct meeting m = MEETING_DEFAULT;

		meet_p2p(&m, RTR_ALL);
		must_eq(enh_types(&m.p->reply), RTR_B, "B C D of the Reply");
		send_rtr(m.p, preferred_rtr(types[i]));
		must_be_up(&m);
		agent_must_get_no_wc(50);
		must_be_alive(m.p);
		meet_leave(&m);
	}
}

static void f68__write_with_data(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr;

	meet_p2p(&m, RTR_ALL);
	mr = agent_mr(64, "lw");
	send_write(m.p, mr.rkey, mr.va + 8, "first", 5);
	must_be_up(&m);
	must_be_alive(m.p);
	must_have_memory(&mr, 8, "first", 5);
}

static void f68__send_with_data(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");

	meet_p2p(&m, RTR_ALL);
	must_receive_send(&m, &mr, 1);
	must_be_up(&m);
	must_send(&m);
}

static void f68__read_with_data(void)
{
	struct meeting m = MEETING_DEFAULT;

	meet_p2p(&m, RTR_ALL);
	must_serve_reads(m.p, 1);
	must_be_up(&m);
}

/* ---- F69 to F72: the first message never comes ---- */

static void f69__terminate_instead(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t out[TERM_MAX + 64];
	uint32_t len;

	meet_p2p(&m, RTR_ALL);
	len = seg_terminate(m.p, 2, 0, 0x06, out);
	peer_send_fpdu(m.p, out, len);
	must_close_silently(m.p);
	must_not_be_up(&m);
}

static void bad_first_fpdu(const struct fpdu_fault *fault)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t ulpdu[128], out[256];
	uint32_t len;

	meet_p2p(&m, RTR_ALL);
	if (fault->marker_xor && !m.p->tx_markers)
		skip("the device asks for no markers");
	len = seg_write(m.p, 1, 1, NULL, 0, true, ulpdu);
	peer_send(m.p, out, fpdu_build(m.p, ulpdu, len, fault, out));
	must_close_silently(m.p);
	must_not_be_up(&m);
}

static void f70__bad_crc_gets_no_terminate(void)
{
	bad_first_fpdu(&(struct fpdu_fault) { .crc_xor = 1 });
}

static void f70__bad_marker_gets_no_terminate(void)
{
	agent_set("markers on");
	bad_first_fpdu(&(struct fpdu_fault) { .marker_xor = 4 });
}

#define RTR_MS	300

/* Start up to the Reply; Return: a time before the device's RTR timer started. */
static uint64_t await_rtr(struct meeting *m)
{
	struct mpa_frame req;
	uint64_t start;

	meet_enhanced(&req, false, true, RTR_ALL, 8, 8);
	meet_knock(m, &req);
	start = now_ms();
	meet_accept(m);
	return start;
}

/* the device gives up after RTR_MS, or at most 50 ms earlier */
static void must_time_out(struct meeting *m, uint64_t start)
{
	must_close_silently(m->p);
	must(now_ms() - start >= RTR_MS - 50, "closed after %d ms of %d",
	     (int)(now_ms() - start), RTR_MS);
	must_not_be_up(m);
}

static void f71__silence(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint64_t start;

	agent_set("rtr-ms 300");
	start = await_rtr(&m);
	must_time_out(&m, start);
}

static void f71__rtr_without_its_last_byte(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t ulpdu[128], out[256];
	uint64_t start;
	uint32_t len;

	agent_set("rtr-ms 300");
	start = await_rtr(&m);
	len = seg_write(m.p, 1, 1, NULL, 0, true, ulpdu);
	peer_send(m.p, out, fpdu_build(m.p, ulpdu, len, NULL, out) - 1);
	must_time_out(&m, start);
}

static void f71__timer_ends_with_the_rtr(void)
{
	struct meeting m = MEETING_DEFAULT;
	int ms = patience(1000);
	char words[32];

	/* long enough that the RTR is in time even if this machine stalls */
	snprintf(words, sizeof(words), "rtr-ms %d", ms);
	agent_set(words);
	meet_p2p(&m, RTR_ALL);
	send_rtr(m.p, OP_WRITE);
	must_be_up(&m);
	must_be_silent(m.p, ms + 300);
	must_be_alive(m.p);
}

/* no RTR is due, so the client may send its first message late */
static void f71__no_timer_in_the_client_server_model(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;

	agent_set("rtr-ms 200");
	meet_enhanced(&req, false, false, 0, 8, 8);
	meet_responder(&m, &req);
	must_be_up(&m);
	must_be_silent(m.p, 500);
	send_rtr(m.p, OP_WRITE);
	must_be_alive(m.p);
}

static void f72__fin(void)
{
	struct meeting m = MEETING_DEFAULT;

	meet_p2p(&m, RTR_ALL);
	peer_shutdown(m.p);
	must_close_silently(m.p);
	must_not_be_up(&m);
}

static void f72__rst(void)
{
	struct meeting m = MEETING_DEFAULT;

	meet_p2p(&m, RTR_ALL);
	peer_reset(m.p);
	must_not_be_up(&m);
}

static const struct conform_test tests[] = {
	{ "f64__write_or_read_of_a_listed_type", "F64 MPA-204 MPA-206 MPA-156 MPA-220",
	  "a zero-length Write or Read as RTR is swallowed; the Read is answered and used MSN 1 of QN 1",
	  RESPONDER, 0, f64__write_or_read_of_a_listed_type },
	{ "f65__send_takes_no_receive", "F65 MPA-204 MPA-206 MPA-156 Q7",
	  "a zero-length Send as RTR uses MSN 1 of QN 0 and nothing else: no receive, no completion",
	  RESPONDER, 0, f65__send_takes_no_receive },
	{ "f65__send_needs_no_receive", "F65 MPA-204",
	  "a zero-length Send as RTR is no error where no receive is posted",
	  RESPONDER, 0, f65__send_needs_no_receive },
	{ "f65__solicited_send_is_no_rtr", "F65",
	  "a zero-length Send with Solicited Event is a message of the ULP",
	  RESPONDER, 0, f65__solicited_send_is_no_rtr },
	{ "f65__second_send_is_no_rtr", "F65",
	  "only the first message is an RTR: a second zero-length Send takes a receive",
	  RESPONDER, 0, f65__second_send_is_no_rtr },
	{ "f66__send_not_listed_is_the_ulps", "F66",
	  "where B was not listed a first zero-length Send takes a receive; byte_len is 0",
	  RESPONDER, NEED_SET, f66__send_not_listed_is_the_ulps },
	{ "f67__write_or_read_not_listed_is_harmless", "F67",
	  "a zero-length Write or Read of a type that was not listed opens the fence all the same",
	  RESPONDER, NEED_SET, f67__write_or_read_not_listed_is_harmless },
	{ "f68__write_with_data", "F68",
	  "a first Write with data is processed and opens the fence",
	  RESPONDER, 0, f68__write_with_data },
	{ "f68__send_with_data", "F68",
	  "a first Send with data is processed and opens the fence",
	  RESPONDER, 0, f68__send_with_data },
	{ "f68__read_with_data", "F68",
	  "a first Read with data is processed and opens the fence",
	  RESPONDER, 0, f68__read_with_data },
	{ "f69__terminate_instead", "F69",
	  "a Terminate in place of the RTR: never ESTABLISHED, the ULP is told, closed",
	  RESPONDER, 0, f69__terminate_instead },
	{ "f70__bad_crc_gets_no_terminate", "F70 MPA-206 Q4",
	  "a first FPDU with a bad CRC leaves the fence shut: closed and reported, no Terminate",
	  RESPONDER, 0, f70__bad_crc_gets_no_terminate },
	{ "f70__bad_marker_gets_no_terminate", "F70 MPA-206 Q4",
	  "a first FPDU with a bad marker leaves the fence shut: closed and reported, no Terminate",
	  RESPONDER, NEED_SET, f70__bad_marker_gets_no_terminate },
	{ "f71__silence", "F71 MPA-219",
	  "no RTR within the time for it: closed and reported",
	  RESPONDER, NEED_SET, f71__silence },
	{ "f71__rtr_without_its_last_byte", "F71 MPA-219",
	  "an RTR that lacks a byte is none when its time is over: closed and reported",
	  RESPONDER, NEED_SET, f71__rtr_without_its_last_byte },
	{ "f71__timer_ends_with_the_rtr", "F71 MPA-219",
	  "the timer on the RTR ends with it",
	  RESPONDER, NEED_SET | NEED_SLOW, f71__timer_ends_with_the_rtr },
	{ "f71__no_timer_in_the_client_server_model", "F71 MPA-219",
	  "with A=0 no timer runs on the first message",
	  RESPONDER, NEED_SET, f71__no_timer_in_the_client_server_model },
	{ "f72__fin", "F72 MPA-219",
	  "FIN in place of the RTR: closed and reported",
	  RESPONDER, 0, f72__fin },
	{ "f72__rst", "F72 MPA-219",
	  "RST in place of the RTR: reported",
	  RESPONDER, 0, f72__rst },
	{}
};

const struct conform_group first_group = { "first", tests };
