// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * What happens around a Terminate that the device sends: which of several faults it
 * reports, that nothing follows, how the connection ends, what the device's ULP gets
 * (RFC 5040 5.4, 6.2.1 and 7.1; RFC 5041 7.1; Q15, Q32 and Q33).
 */
#include <string.h>

#include "terminate.h"

#define ROOM		4096
#define WILD		TRIPLET(1, 1, 0)	/* for seg_wild_write() */
#define FLOOD_FPDUS	400
#define FLOOD_LEN	1400

/* several FPDUs, sent in one piece */
struct batch {
	uint8_t bytes[8 * ROOM];
	size_t len;
};

static void batch_add(struct batch *b, struct peer *p, const void *ulpdu, uint32_t len,
		      const struct fpdu_fault *fault)
{
	b->len += fpdu_build(p, ulpdu, len, fault, b->bytes + b->len);
}

static void batch_send(struct batch *b, struct peer *p)
{
	peer_send(p, b->bytes, b->len);
	b->len = 0;
}

/* a Send on a queue that does not exist */
static uint32_t seg_wild_queue(struct peer *p, void *out)
{
	uint32_t len = seg_send(p, OP_SEND, 0, 0, "wild", 4, true, out);

	put32((uint8_t *)out + 6, 9);
	return len;
}

static void send_wild_write(struct peer *p)
{
	uint8_t out[ROOM];

	peer_send_fpdu(p, out, seg_wild_write(p, out));
}

/* ---- which fault is reported ---- */

static void first_fault_wins(void)
{
	struct session s = session_default();
	uint8_t first[ROOM], second[ROOM];
	struct batch b = {};
	uint32_t len;

	len = seg_wild_write(s.p, first);
	batch_add(&b, s.p, first, len, NULL);
	batch_add(&b, s.p, second, seg_wild_queue(s.p, second), NULL);
	batch_send(&b, s.p);
	must_get_terminate_for(s.p, WILD, NO_TRIPLET, first, len);
	must_close_silently(s.p);
}

static void first_fault_wins_in_reverse_order(void)
{
	struct session s = session_default();
	uint8_t first[ROOM], second[ROOM];
	struct batch b = {};
	uint32_t len;

	len = seg_wild_queue(s.p, first);
	batch_add(&b, s.p, first, len, NULL);
	batch_add(&b, s.p, second, seg_wild_write(s.p, second), NULL);
	batch_send(&b, s.p);
	must_get_terminate_for(s.p, TRIPLET(1, 2, 1), NO_TRIPLET, first, len);
	must_close_silently(s.p);
}

/* one segment with faults of MPA, DDP and RDMAP */
static void lowest_layer_wins(void)
{
	static const struct fpdu_fault fault = { .crc_xor = 1 };
	struct session s = session_default();
	struct batch b = {};
	uint8_t out[ROOM];
	uint32_t len;

	len = seg_wild_queue(s.p, out);
	out[1] = 0xcf;
	batch_add(&b, s.p, out, len, &fault);
	batch_send(&b, s.p);
	must_get_terminate_for(s.p, TRIPLET(2, 0, 2), NO_TRIPLET, NULL, 0);
	must_close_silently(s.p);
}

static void ddp_before_rdmap(void)
{
	struct session s = session_default();
	uint8_t out[ROOM];
	uint32_t len;

	len = seg_wild_queue(s.p, out);
	out[1] = 0xcf;
	peer_send_fpdu(s.p, out, len);
	must_get_terminate_for(s.p, TRIPLET(1, 2, 1), NO_TRIPLET, out, len);
	must_close_silently(s.p);
}

/* ---- nothing follows ---- */

/* good messages directly after a bad one: a Write, a Read Request and a Send */
static void add_good_messages(struct batch *b, struct peer *p, const struct agent_mr *mr)
{
	uint8_t out[ROOM];

	batch_add(b, p, out, seg_write(p, mr->rkey, mr->va, "late", 4, true, out), NULL);
	batch_add(b, p, out, seg_read_req(p, 7, 0, 16, mr->rkey, mr->va, out), NULL);
	batch_add(b, p, out, seg_send(p, OP_SEND, 0, 0, "late", 4, true, out), NULL);
}

static void nothing_follows(void)
{
	static const struct want_wc flushed[] = { { 1, "WR_FLUSH_ERR" }, {} };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	struct batch b = {};
	uint8_t bad[ROOM];
	uint32_t len;

	agent_recv(s.conn, 1, &mr, 0, 64);
	len = seg_wild_write(s.p, bad);
	batch_add(&b, s.p, bad, len, NULL);
	add_good_messages(&b, s.p, &mr);
	batch_send(&b, s.p);
	must_get_terminate_for(s.p, WILD, NO_TRIPLET, bad, len);
	must_fin_silently(s.p);
	must_get_wcs(flushed);
	must_be_untouched(&mr);
}

/* ... and when they come after we have read the Terminate */
static void late_messages_dropped(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	struct batch b = {};

	send_wild_write(s.p);
	must_get_terminate(s.p, 1, 1, 0, false, NULL);
	add_good_messages(&b, s.p, &mr);
	batch_send(&b, s.p);
	must_close_silently(s.p);
	agent_must_get_no_wc(100);
	must_be_untouched(&mr);
}

/* our Terminate crosses the device's: the device sends nothing more */
static void crossing_terminates(void)
{
	struct session s = session_default();
	uint8_t bad[ROOM], ours[ROOM];
	struct batch b = {};
	uint32_t len;

	len = seg_wild_write(s.p, bad);
	batch_add(&b, s.p, bad, len, NULL);
	batch_add(&b, s.p, ours, seg_terminate(s.p, 0, 2, 7, ours), NULL);
	batch_add(&b, s.p, ours, seg_wild_queue(s.p, ours), NULL);
	batch_send(&b, s.p);
	must_get_terminate_for(s.p, WILD, NO_TRIPLET, bad, len);
	must_fin_silently(s.p);
}

/* The device must keep reading: if bytes of ours stayed unread, its TCP would answer
 * them with RST, and the Terminate could be lost. */
static void reads_on_and_ends_with_fin(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	uint8_t bad[ROOM], out[ROOM], bytes[FLOOD_LEN];
	uint32_t len;
	int i;

	pattern(bytes, sizeof(bytes), 5);
	len = seg_wild_write(s.p, bad);
	peer_send_fpdu(s.p, bad, len);
	for (i = 0; i < FLOOD_FPDUS; i++)
		peer_send_fpdu(s.p, out, seg_write(s.p, mr.rkey, mr.va, bytes,
						   sizeof(bytes), true, out));
	must_get_terminate_for(s.p, WILD, NO_TRIPLET, bad, len);
	must_fin_silently(s.p);
	must_be_untouched(&mr);
}

/* Two Responses are due and blocked. The device may send the one that has begun, in
 * part or to its end, but nothing after the Terminate. */
static void is_the_last_message(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = session_stuck(&s);
	struct terminate t;
	struct fpdu f;

	send_read_req(s.p, 7, 0, STUCK_LEN, mr.rkey, mr.va);
	send_wild_write(s.p);
	do {
		must_get_fpdu(s.p, &f);
	} while (seg_tagged(&f.seg));
	must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode of the first untagged message");
	t.triplet = f.seg.data[0] << 8 | f.seg.data[1];
	must_eq(t.triplet, WILD, "the Terminate");
	must_fin_silently(s.p);
}

/* ---- what the device's ULP gets ---- */

static void all_work_is_flushed(void)
{
	static const struct want_wc flushed[] = {
		{ 1, "WR_FLUSH_ERR" }, { 2, "WR_FLUSH_ERR" }, { 3, "WR_FLUSH_ERR" },
		{ 4, "WR_FLUSH_ERR" }, {}
	};
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");

	agent_recv(s.conn, 1, &mr, 0, 64);
	agent_recv(s.conn, 2, &mr, 64, 64);
	agent_post(s.conn, 3, AG_READ, 0, &mr, 0, 64, 1, 1);
	agent_post(s.conn, 4, AG_READ, AG_SIGNALED, &mr, 64, 64, 1, 1);
	must_get_read_request(s.p);
	must_get_read_request(s.p);
	send_wild_write(s.p);
	must_get_terminate(s.p, 1, 1, 0, false, NULL);
	must_get_wcs(flushed);
	must_have_ended_qp(s.conn);
	agent_must_get_no_wc(50);
}

/* messages before the fault stay valid */
static void messages_before_the_fault_are_delivered(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	uint8_t out[ROOM];
	struct batch b = {};
	struct agent_wc wc;

	agent_recv(s.conn, 1, &mr, 0, 64);
	agent_recv(s.conn, 2, &mr, 64, 64);
	batch_add(&b, s.p, out, seg_write(s.p, mr.rkey, mr.va + 128, "good", 4, true, out),
		  NULL);
	batch_add(&b, s.p, out, seg_send(s.p, OP_SEND, 0, 0, "good", 4, true, out), NULL);
	batch_add(&b, s.p, out, seg_wild_write(s.p, out), NULL);
	batch_send(&b, s.p);
	must_get_terminate(s.p, 1, 1, 0, false, NULL);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, 4, "its length");
	agent_must_get_wc(2, "WR_FLUSH_ERR", &wc);
	must_have_memory(&mr, 0, "good", 4);
	must_have_memory(&mr, 128, "good", 4);
}

static void short_receive_is_told(void)
{
	static const struct want_wc want[] = {
		{ 1, "LOC_LEN_ERR" }, { 2, "WR_FLUSH_ERR" }, {}
	};
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "l");
	uint8_t bytes[65];

	pattern(bytes, sizeof(bytes), 6);
	agent_recv(s.conn, 1, &mr, 0, 64);
	agent_recv(s.conn, 2, &mr, 1024, 128);
	send_send(s.p, bytes, sizeof(bytes));
	must_get_terminate(s.p, 1, 2, 5, false, NULL);
	must_get_wcs(want);
	must_be_untouched(&mr);
}

/* The fault that @commit makes causes @triplet for the peer, and @event, ERR and a
 * flush for the program, on this connection only: another one goes on. */
static void event_of(void (*commit)(struct peer *p, void *out, uint32_t *len),
		     int triplet, const char *event)
{
	struct session other = session_default(), s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "l");
	struct agent_wc wc;
	uint8_t out[ROOM];
	uint32_t len;

	agent_recv(s.conn, 1, &mr, 0, 64);
	commit(s.p, out, &len);
	peer_send_fpdu(s.p, out, len);
	must_get_terminate_for(s.p, triplet, NO_TRIPLET, out, len);
	must_get_async(s.conn, event);
	agent_must_get_wc(1, "WR_FLUSH_ERR", &wc);
	must_have_ended_qp(s.conn);
	must_be_alive(other.p);
	must(!strcmp(agent_qp_state(other.conn), "RTS"), "the other QP left RTS");
}

static void commit_wild_write(struct peer *p, void *out, uint32_t *len)
{
	*len = seg_wild_write(p, out);
}

static void commit_wild_read(struct peer *p, void *out, uint32_t *len)
{
	*len = seg_read_req(p, 7, 0, 8, WILD_STAG, 0, out);
}

static void commit_wild_queue(struct peer *p, void *out, uint32_t *len)
{
	*len = seg_wild_queue(p, out);
}

static void commit_wild_opcode(struct peer *p, void *out, uint32_t *len)
{
	*len = seg_send(p, OP_SEND, 0, 0, "wild", 4, true, out);
	((uint8_t *)out)[1] = 0x4f;
}

static void event_ddp_tagged(void)
{
	event_of(commit_wild_write, WILD, "QP_ACCESS_ERR");
}

static void event_rdmap_protection(void)
{
	event_of(commit_wild_read, TRIPLET(0, 1, 0), "QP_ACCESS_ERR");
}

static void event_ddp_untagged(void)
{
	event_of(commit_wild_queue, TRIPLET(1, 2, 1), "QP_REQ_ERR");
}

static void event_rdmap_operation(void)
{
	event_of(commit_wild_opcode, TRIPLET(0, 2, 6), "QP_REQ_ERR");
}

static void event_mpa(void)
{
	static const struct fpdu_fault fault = { .crc_xor = 1 };
	struct session s = session_default();
	struct batch b = {};
	uint8_t out[ROOM];

	batch_add(&b, s.p, out, seg_wild_write(s.p, out), &fault);
	batch_send(&b, s.p);
	must_get_terminate(s.p, 2, 0, 2, false, NULL);
	must_get_async(s.conn, "QP_FATAL");
}

/* ---- the device's own errors ---- */

/* What was posted earlier is sent, the Terminate takes the place of the message that
 * cannot be built, and what was posted later is flushed. */
static void replaces_a_message_that_cannot_be_built(void)
{
	struct session s = session_default();
	struct agent_mr good = agent_mr(ROOM, "lrw");
	struct agent_mr bad = agent_mr_pd(ROOM, "lrw", 1);
	struct agent_wc wc;
	struct fpdu f;
	int error;

	agent_post(s.conn, 1, AG_SEND, AG_SIGNALED, &good, 0, 32, 0, 0);
	agent_post(s.conn, 2, AG_SEND, AG_SIGNALED, &bad, 0, 32, 0, 0);
	error = agent_try_post(s.conn, 3, AG_SEND, AG_SIGNALED, &good, 0, 32, 0, 0);
	must_get_op(s.p, &f, OP_SEND);
	must_get_terminate_for(s.p, TRIPLET(0, 0, 0), NO_TRIPLET, NULL, 0);
	must_fin_silently(s.p);
	agent_must_get_wc(1, "SUCCESS", &wc);
	agent_must_get_wc(2, "LOC_PROT_ERR", &wc);
	if (!error)
		agent_must_get_wc(3, "WR_FLUSH_ERR", &wc);
	must_have_ended_qp(s.conn);
}

/* a Send posted after the end is refused or flushed */
static void later_work_fails(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	struct agent_wc wc;

	send_wild_write(s.p);
	must_get_terminate(s.p, 1, 1, 0, false, NULL);
	must_have_ended_qp(s.conn);
	if (agent_try_post(s.conn, 1, AG_SEND, AG_SIGNALED, &mr, 0, 32, 0, 0))
		return;
	agent_must_get_wc(1, "WR_FLUSH_ERR", &wc);
}

/* ---- a Read that fails half-way: the copied header says what remained ---- */

/* Receive the Response up to the Terminate, which is copied to @t. @sent: bytes of the
 * Response so far. Return: false when all of the Response came. */
static bool response_until(struct peer *p, uint32_t *sent, struct terminate *t)
{
	struct fpdu f;

	for (*sent = 0; *sent < STUCK_LEN; *sent += f.seg.len) {
		must_get_fpdu(p, &f);
		if (!seg_tagged(&f.seg))
			break;
		must_eq(f.seg.to, *sent, "TO of the Response");
	}
	if (*sent == STUCK_LEN)
		return false;
	must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode");
	must(f.seg.ulpdu_len <= TERM_MAX, "the Terminate is too long");
	t->len = f.seg.ulpdu_len;
	memcpy(t->ulpdu, f.seg.ulpdu, t->len);
	t->triplet = f.seg.data[0] << 8 | f.seg.data[1];
	return true;
}

static void copied_read_request_counts_what_was_sent(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = session_stuck(&s);
	uint8_t want[ROOM];
	struct terminate t;
	uint32_t sent, len;

	agent_dereg(&mr);
	if (!response_until(s.p, &sent, &t))
		skip("the device had sent all before the memory went away");
	s.p->tx_msn[1]--;
	len = seg_read_req(s.p, WILD_STAG, sent, STUCK_LEN - sent, mr.rkey, mr.va + sent,
			   want);
	check_terminate(s.p, &t, TRIPLET(0, 1, 0), NO_TRIPLET, want, len);
	must_close_silently(s.p);
}

static const struct conform_test tests[] = {
	{ "term_end__first_fault_wins", "RDMAP-124",
	  "of two bad segments the first is reported, and no second Terminate follows",
	  EITHER, 0, first_fault_wins },
	{ "term_end__first_fault_wins_in_reverse_order", "RDMAP-124",
	  "of two bad segments the first is reported, and no second Terminate follows",
	  RESPONDER, 0, first_fault_wins_in_reverse_order },
	{ "term_end__lowest_layer_wins", "RDMAP-124 RDMAP-125",
	  "an FPDU with a bad CRC is not looked at any further",
	  RESPONDER, 0, lowest_layer_wins },
	{ "term_end__ddp_before_rdmap", "RDMAP-124 RDMAP-125",
	  "a segment is checked by DDP before RDMAP sees it",
	  RESPONDER, 0, ddp_before_rdmap },
	{ "term_end__nothing_follows", "RDMAP-085 DDP-010 DDP-092 DDP-094 DDP-095",
	  "after the first fault nothing is placed, delivered or answered, and nothing is sent after the Terminate",
	  EITHER, 0, nothing_follows },
	{ "term_end__late_messages_dropped", "RDMAP-085 DDP-094",
	  "messages that arrive after the Terminate was sent change nothing",
	  EITHER, 0, late_messages_dropped },
	{ "term_end__crossing_terminates", "RDMAP-083 RDMAP-085",
	  "a device that has sent a Terminate sends no second one",
	  EITHER, 0, crossing_terminates },
	{ "term_end__reads_on_and_ends_with_fin", "RDMAP-118 RDMAP-117 DDP-012 DDP-076",
	  "the device reads and drops what still comes, so that the Terminate arrives and FIN follows",
	  EITHER, 0, reads_on_and_ends_with_fin },
	{ "term_end__is_the_last_message", "RDMAP-085 RDMAP-118",
	  "the Terminate stands between two FPDUs and is the last message",
	  RESPONDER, 0, is_the_last_message },
	{ "term_end__all_work_is_flushed", "RDMAP-084 RDMAP-120 DDP-073 DDP-074",
	  "the ULP of the device that terminates gets all its work back, flushed",
	  EITHER, 0, all_work_is_flushed },
	{ "term_end__messages_before_the_fault_are_delivered", "RDMAP-122 DDP-061",
	  "messages in front of the fault were placed and delivered",
	  RESPONDER, 0, messages_before_the_fault_are_delivered },
	{ "term_end__short_receive_is_told", "RDMAP-120 RDMAP-068",
	  "the receive that a message does not fit into completes with a length error",
	  RESPONDER, 0, short_receive_is_told },
	{ "term_end__event_ddp_tagged", "RDMAP-120 DDP-073 DDP-106 Q15",
	  "a tagged fault found by DDP is an access error of the QP",
	  RESPONDER, 0, event_ddp_tagged },
	{ "term_end__event_rdmap_protection", "RDMAP-120 DDP-106 Q15",
	  "a protection fault found by RDMAP is an access error of the QP",
	  RESPONDER, 0, event_rdmap_protection },
	{ "term_end__event_ddp_untagged", "RDMAP-120 DDP-073 Q15",
	  "an untagged fault found by DDP is a request error of the QP",
	  RESPONDER, 0, event_ddp_untagged },
	{ "term_end__event_rdmap_operation", "RDMAP-120 Q15",
	  "an operation fault found by RDMAP is a request error of the QP",
	  RESPONDER, 0, event_rdmap_operation },
	{ "term_end__event_mpa", "RDMAP-120 DDP-077 Q15",
	  "a fault found by MPA is fatal to the QP",
	  RESPONDER, 0, event_mpa },
	{ "term_end__replaces_a_message_that_cannot_be_built", "RDMAP-121 RDMAP-084 RDMAP-120",
	  "a message that cannot be built is replaced by a Terminate without copies",
	  EITHER, 0, replaces_a_message_that_cannot_be_built },
	{ "term_end__later_work_fails", "RDMAP-084 RDMAP-085",
	  "work posted after the Terminate is refused or flushed, not sent",
	  RESPONDER, 0, later_work_fails },
	{ "term_end__copied_read_request_counts_what_was_sent", "RDMAP-032 RDMAP-123 RDMAP-031",
	  "a Read that fails on its way is copied with offsets and size moved on by what was sent",
	  RESPONDER, 0, copied_read_request_counts_what_was_sent },
	{}
};

const struct conform_group term_end_group = { "term_end", tests };
