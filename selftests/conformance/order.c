// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Ordering and completion, as far as a peer and a ULP can see them: RFC 5040 5.5 and
 * RFC 5041 5.3.
 */
#include <string.h>

#include "terminate.h"

#define ROOM		4096
#define MESSAGES	8
#define MESSAGE_LEN	96
#define ROUNDS		24
#define QUIET_MS	120
#define SINK		0x51000000

/* ---- the device as the sink ---- */

static void sends_in_order(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "l");
	uint8_t bytes[MESSAGES][MESSAGE_LEN];
	struct agent_wc wc;
	unsigned int i;

	for (i = 0; i < MESSAGES; i++)
		agent_recv(s.conn, i, &mr, i * MESSAGE_LEN, MESSAGE_LEN);
	for (i = 0; i < MESSAGES; i++) {
		pattern(bytes[i], MESSAGE_LEN, i);
		send_send(s.p, bytes[i], MESSAGE_LEN - i);
	}
	for (i = 0; i < MESSAGES; i++) {
		agent_must_get_wc(i, "SUCCESS", &wc);
		must_eq(wc.byte_len, MESSAGE_LEN - i, "byte_len");
		must_have_memory(&mr, i * MESSAGE_LEN, bytes[i], MESSAGE_LEN - i);
	}
}

/* A Send is delivered when its last segment has come, not before; the Writes before it
 * are delivered then, too. */
static void send_waits_for_its_end(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	uint8_t bytes[1024], out[ROOM];
	struct agent_wc wc;

	pattern(bytes, sizeof(bytes), 1);
	agent_recv(s.conn, 1, &mr, 0, 1024);
	send_write(s.p, mr.rkey, mr.va + 2048, bytes, sizeof(bytes));
	peer_send_fpdu(s.p, out, seg_send(s.p, OP_SEND, 0, 0, bytes, 512, false, out));
	agent_must_get_no_wc(QUIET_MS);
	peer_send_fpdu(s.p, out,
		       seg_send(s.p, OP_SEND, 0, 512, bytes + 512, 512, true, out));
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_have_memory(&mr, 0, bytes, sizeof(bytes));
	must_have_memory(&mr, 2048, bytes, sizeof(bytes));
}

/* the Response to a Read Request of ours comes in one segment */
static void must_get_response(struct peer *p, uint32_t stag, const void *want,
			      uint32_t len)
{
	struct fpdu f;

	must_get_op(p, &f, OP_READ_RESP);
	must_eq(f.seg.stag, stag, "STag of the Response");
	must_eq(f.seg.len, len, "length of the Response");
	must(seg_last(&f.seg), "the Response is not whole");
	must_bytes(f.seg.data, want, len, "the Response");
}

/* The device must place the Write before it serves the Read Request after it. Both are
 * sent in one piece, many times. */
static void read_sees_the_write(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	uint8_t bytes[512], out[ROOM], wire[2 * ROOM];
	unsigned int i;
	size_t n;

	for (i = 0; i < ROUNDS; i++) {
		pattern(bytes, sizeof(bytes), i);
		n = fpdu_build(s.p, out, seg_write(s.p, mr.rkey, mr.va, bytes,
						   sizeof(bytes), true, out), NULL, wire);
		n += fpdu_build(s.p, out, seg_read_req(s.p, SINK + i, 0, sizeof(bytes),
						       mr.rkey, mr.va, out), NULL,
				wire + n);
		peer_send(s.p, wire, n);
		must_get_response(s.p, SINK + i, bytes, sizeof(bytes));
	}
}

/* the same with a Send, whose receive buffer the peer may read */
static void read_sees_the_send(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lr");
	uint8_t bytes[256], out[ROOM], wire[2 * ROOM];
	struct agent_wc wc;
	unsigned int i;
	size_t n;

	for (i = 0; i < ROUNDS; i++) {
		agent_recv(s.conn, i, &mr, 0, sizeof(bytes));
		pattern(bytes, sizeof(bytes), i);
		n = fpdu_build(s.p, out, seg_send(s.p, OP_SEND, 0, 0, bytes,
						  sizeof(bytes), true, out), NULL, wire);
		n += fpdu_build(s.p, out, seg_read_req(s.p, SINK + i, 0, sizeof(bytes),
						       mr.rkey, mr.va, out), NULL,
				wire + n);
		peer_send(s.p, wire, n);
		must_get_response(s.p, SINK + i, bytes, sizeof(bytes));
		agent_must_get_wc(i, "SUCCESS", &wc);
	}
}

/* a Read Request that has not come completely reads nothing */
static void read_starts_when_delivered(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lr");
	uint8_t bytes[64], out[ROOM], wire[ROOM];
	size_t n;

	n = fpdu_build(s.p, out, seg_read_req(s.p, SINK, 0, sizeof(bytes), mr.rkey, mr.va,
					      out), NULL, wire);
	peer_send(s.p, wire, n - 2);
	must_be_silent(s.p, QUIET_MS);
	pattern(bytes, sizeof(bytes), 9);
	agent_poke(&mr, 0, bytes, sizeof(bytes));
	peer_send(s.p, wire + n - 2, 2);
	must_get_response(s.p, SINK, bytes, sizeof(bytes));
}

/* the same for zero length: no Response before the Request is complete */
static void empty_read_starts_when_delivered(void)
{
	struct session s = session_default();
	uint8_t out[ROOM], wire[ROOM];
	size_t n;

	n = fpdu_build(s.p, out, seg_read_req(s.p, SINK, 0, 0, 0, 0, out), NULL, wire);
	peer_send(s.p, wire, n - 2);
	must_be_silent(s.p, QUIET_MS);
	peer_send(s.p, wire + n - 2, 2);
	must_get_response(s.p, SINK, NULL, 0);
}

/* a device might answer the small ones of these first */
static void responses_in_order(void)
{
	static const uint32_t sizes[] = { 65536, 0, 1, 9000, 0, 3, 30000, 2 };
	enum { N = sizeof(sizes) / sizeof(*sizes) };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(65536, "lr");
	uint8_t out[ROOM], wire[2 * ROOM];
	uint32_t got;
	unsigned int i;
	struct fpdu f;
	size_t n = 0;

	for (i = 0; i < N; i++)
		n += fpdu_build(s.p, out, seg_read_req(s.p, SINK + i, 0, sizes[i], mr.rkey,
						       mr.va, out), NULL, wire + n);
	peer_send(s.p, wire, n);
	for (i = 0; i < N; i++) {
		got = 0;
		do {
			must_get_op(s.p, &f, OP_READ_RESP);
			must_eq(f.seg.stag, SINK + i, "STag of the Response");
			must(f.seg.to == got || !f.seg.len, "a gap in the Response");
			got += f.seg.len;
		} while (!seg_last(&f.seg));
		must_eq(got, sizes[i], "length of the Response");
	}
}

/* our closed window blocks a Response; the device serves our Sends and Writes all the
 * same */
static void sends_pass_blocked_responses(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr source = session_stuck(&s);
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct agent_wc wc;
	uint32_t got = 0;
	struct fpdu f;

	must_eq(source.len, STUCK_LEN, "length of the source");
	agent_recv(s.conn, 1, &mr, 0, 64);
	agent_recv(s.conn, 2, &mr, 64, 64);
	send_send(s.p, "first", 5);
	send_write(s.p, mr.rkey, mr.va + 128, "between", 7);
	send_send(s.p, "second", 6);
	agent_must_get_wc(1, "SUCCESS", &wc);
	agent_must_get_wc(2, "SUCCESS", &wc);
	must_have_memory(&mr, 0, "first", 5);
	must_have_memory(&mr, 64, "second", 6);
	must_have_memory(&mr, 128, "between", 7);
	do {
		must_get_op(s.p, &f, OP_READ_RESP);
		got += f.seg.len;
	} while (!seg_last(&f.seg));
	must_eq(got, STUCK_LEN, "length of the Response");
}

/* ---- the device as the source ---- */

/* post @n Reads of 64 bytes into @mr, with wr_id 0 and up, and take their Requests */
static void post_reads(struct session *s, const struct agent_mr *mr, unsigned int n,
		       struct open_read *r)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		agent_post(s->conn, i, AG_READ, AG_SIGNALED, mr, i * 64, 64, 0x77, i * 64);
	for (i = 0; i < n; i++)
		r[i] = must_get_read_request(s->p);
}

static void answer(struct peer *p, const struct open_read *r, unsigned int seed,
		   uint8_t bytes[64])
{
	pattern(bytes, 64, seed);
	send_read_resp(p, r->stag, r->to, bytes, 64);
}

static void reads_complete_in_order(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct open_read r[4];
	uint8_t bytes[64];
	struct agent_wc wc;
	unsigned int i;

	post_reads(&s, &mr, 4, r);
	agent_must_get_no_wc(QUIET_MS);
	for (i = 0; i < 4; i++) {
		answer(s.p, &r[i], i, bytes);
		agent_must_get_wc(i, "SUCCESS", &wc);
		must_eq(wc.byte_len, 64, "byte_len");
		must_have_memory(&mr, i * 64, bytes, 64);
		agent_must_get_no_wc(i ? 0 : QUIET_MS);
	}
}

/* a Read completes when all of its Response has come, and by nothing else */
static void read_needs_all_of_its_response(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	uint8_t bytes[64], out[ROOM];
	struct open_read r;
	struct agent_wc wc;

	pattern(bytes, sizeof(bytes), 2);
	post_reads(&s, &mr, 1, &r);
	peer_send_fpdu(s.p, out, seg_read_resp(s.p, r.stag, r.to, bytes, 63, false, out));
	agent_must_get_no_wc(QUIET_MS);
	peer_send_fpdu(s.p, out,
		       seg_read_resp(s.p, r.stag, r.to + 63, bytes + 63, 1, true, out));
	agent_must_get_wc(0, "SUCCESS", &wc);
	must_have_memory(&mr, 0, bytes, sizeof(bytes));
}

static void send_completes_after_the_read(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct open_read r;
	uint8_t bytes[64];
	struct agent_wc wc;
	struct fpdu f;

	post_reads(&s, &mr, 1, &r);
	agent_post(s.conn, 1, AG_SEND, AG_SIGNALED, &mr, 1024, 32, 0, 0);
	agent_post(s.conn, 2, AG_WRITE, AG_SIGNALED, &mr, 1024, 32, 0x77, 0);
	must_get_op(s.p, &f, OP_SEND);
	must_get_op(s.p, &f, OP_WRITE);
	agent_must_get_no_wc(QUIET_MS);
	answer(s.p, &r, 3, bytes);
	agent_must_get_wc(0, "SUCCESS", &wc);
	agent_must_get_wc(1, "SUCCESS", &wc);
	agent_must_get_wc(2, "SUCCESS", &wc);
}

static void messages_leave_in_order(void)
{
	static const enum agent_op ops[] = {
		AG_SEND, AG_WRITE, AG_READ, AG_SEND, AG_READ, AG_WRITE, AG_WRITE, AG_SEND,
		AG_READ, AG_SEND, AG_SEND, AG_WRITE
	};
	static const enum rdmap_op wire[] = {
		[AG_SEND] = OP_SEND, [AG_WRITE] = OP_WRITE, [AG_READ] = OP_READ_REQ,
	};
	enum { N = sizeof(ops) / sizeof(*ops) };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct fpdu f;
	unsigned int i;

	for (i = 0; i < N; i++)
		agent_post(s.conn, i, ops[i], 0, &mr, i * 64, 32 + i, 0x100 + i, i);
	for (i = 0; i < N; i++) {
		must_get_op(s.p, &f, wire[ops[i]]);
		if (ops[i] == AG_SEND)
			must_eq(f.seg.len, 32 + i, "length of the Send");
		if (ops[i] == AG_WRITE)
			must_eq(f.seg.stag, 0x100 + i, "STag of the Write");
		if (ops[i] == AG_READ)
			must_eq(get32(f.seg.data + 16), 0x100 + i, "source STag");
	}
}

/* the fence holds back work until the Response has come, then lets it go */
static void fence_waits_for_the_response(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct open_read r;
	uint8_t bytes[64];
	struct agent_wc wc;
	struct fpdu f;

	post_reads(&s, &mr, 1, &r);
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED | AG_FENCE, &mr, 1024, 32, 0x77, 0);
	agent_post(s.conn, 2, AG_SEND, AG_SIGNALED, &mr, 1024, 32, 0, 0);
	must_be_silent(s.p, QUIET_MS);
	answer(s.p, &r, 4, bytes);
	must_get_op(s.p, &f, OP_WRITE);
	must_get_op(s.p, &f, OP_SEND);
	agent_must_get_wc(0, "SUCCESS", &wc);
	agent_must_get_wc(1, "SUCCESS", &wc);
	agent_must_get_wc(2, "SUCCESS", &wc);
}

/* Our window is shut: what TCP has not taken is not complete, and after a reset it
 * never succeeds. */
static void unsent_requests_never_succeed(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	struct agent_wc wc;

	session_start(&s);
	mr = agent_mr(STUCK_LEN, "l");
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 0, STUCK_LEN, 0x77, 0);
	agent_post(s.conn, 2, AG_SEND, AG_SIGNALED, &mr, 0, STUCK_LEN, 0, 0);
	agent_must_get_no_wc(QUIET_MS);
	peer_reset(s.p);
	agent_must_get_wc(1, "WR_FLUSH_ERR", &wc);
	agent_must_get_wc(2, "WR_FLUSH_ERR", &wc);
}

/* SUCCESS comes although the peer has read nothing, advertised no such STag and posted
 * no receive */
static void completion_does_not_wait_for_the_peer(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	struct agent_wc wc;

	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 0, 32, 0x77, 0);
	agent_post(s.conn, 2, AG_SEND, AG_SIGNALED, &mr, 0, 32, 0, 0);
	agent_must_get_wc(1, "SUCCESS", &wc);
	agent_must_get_wc(2, "SUCCESS", &wc);
	peer_reset(s.p);
	agent_must_get_no_wc(QUIET_MS);
}

/* A Send and a Response lack their last byte. The rest may have been placed or not, so
 * the ULP must learn that neither came. */
static void aborted_sinks_are_flushed(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lw");
	uint8_t bytes[64], out[ROOM];
	struct open_read r;
	struct agent_wc wc;

	pattern(bytes, sizeof(bytes), 4);
	agent_recv(s.conn, 1, &mr, 1024, sizeof(bytes));
	post_reads(&s, &mr, 1, &r);
	peer_send_fpdu(s.p, out, seg_read_resp(s.p, r.stag, r.to, bytes, 63, false, out));
	peer_send_fpdu(s.p, out, seg_send(s.p, OP_SEND, 0, 0, bytes, 63, false, out));
	agent_must_get_no_wc(QUIET_MS);
	peer_reset(s.p);
	agent_must_get_wc(0, "WR_FLUSH_ERR", &wc);
	agent_must_get_wc(1, "WR_FLUSH_ERR", &wc);
}

/* each byte may have its old or its new value, but the CRC of each FPDU is right */
static void changed_source_keeps_crc(void)
{
	struct session s = SESSION_DEFAULT;
	uint8_t bytes[ROOM];
	struct agent_mr mr;
	struct agent_wc wc;
	uint32_t got = 0;
	struct fpdu f;
	size_t at;

	session_start(&s);
	mr = agent_mr(STUCK_LEN, "l");
	pattern(bytes, sizeof(bytes), 8);
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 0, STUCK_LEN, 0x77, 0);
	for (at = 0; at + ROOM <= STUCK_LEN; at += STUCK_LEN / 64)
		agent_poke(&mr, at, bytes, sizeof(bytes));
	do {
		must_get_op(s.p, &f, OP_WRITE);
		must_eq(f.seg.to, got, "TO of the Write");
		must(f.crc_ok, "the CRC is not that of the bytes sent");
		got += f.seg.len;
	} while (!seg_last(&f.seg));
	must_eq(got, STUCK_LEN, "length of the Write");
	agent_must_get_wc(1, "SUCCESS", &wc);
}

/* ---- several streams ---- */

/* one stream is blocked, the other goes on */
static void streams_do_not_wait(void)
{
	struct session stuck = SESSION_DEFAULT, other;
	struct agent_mr source = session_stuck(&stuck);
	struct agent_mr mr = agent_mr(ROOM, "lr");
	struct agent_wc wc;

	other = session_default();
	agent_recv(other.conn, 1, &mr, 0, 64);
	send_send(other.p, "free", 4);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.conn, other.conn, "connection of the completion");
	send_read_req(other.p, SINK, 0, 4, mr.rkey, mr.va);
	must_get_response(other.p, SINK, "free", 4);
	must_eq(source.len, STUCK_LEN, "length of the source");
}

static const struct conform_test tests[] = {
	{ "order__sends_in_order", "RDMAP-094 RDMAP-069",
	  "Sends are delivered in the order in which they were sent",
	  EITHER, 0, sends_in_order },
	{ "order__send_waits_for_its_end", "RDMAP-101 RDMAP-090 RDMAP-089",
	  "a Send is delivered once its last segment is there, with the Writes before it",
	  RESPONDER, 0, send_waits_for_its_end },
	{ "order__read_sees_the_write", "RDMAP-096 RDMAP-102",
	  "a Read returns what a Write in front of it has written",
	  EITHER, 0, read_sees_the_write },
	{ "order__read_sees_the_send", "RDMAP-096 RDMAP-102",
	  "a Read returns what a Send in front of it has brought",
	  RESPONDER, 0, read_sees_the_send },
	{ "order__read_starts_when_delivered", "RDMAP-102 RDMAP-096",
	  "the source of a Read is read once the Request is delivered, not before",
	  RESPONDER, 0, read_starts_when_delivered },
	{ "order__empty_read_starts_when_delivered", "RDMAP-096",
	  "a zero-length Read is answered once the Request is delivered, not before",
	  RESPONDER, 0, empty_read_starts_when_delivered },
	{ "order__responses_in_order", "RDMAP-105 RDMAP-049 RDMAP-062",
	  "Read Responses are sent in the order of the Requests",
	  EITHER, 0, responses_in_order },
	{ "order__sends_pass_blocked_responses", "RDMAP-103 RDMAP-097",
	  "Sends are delivered while the Response to an earlier Read cannot be sent",
	  EITHER, 0, sends_pass_blocked_responses },
	{ "order__reads_complete_in_order", "RDMAP-095 RDMAP-104 RDMAP-091",
	  "Reads complete one by one, each with its Response",
	  EITHER, 0, reads_complete_in_order },
	{ "order__read_needs_all_of_its_response", "RDMAP-104 RDMAP-107",
	  "a Read completes with the last segment of its Response, and needs no more",
	  EITHER, 0, read_needs_all_of_its_response },
	{ "order__send_completes_after_the_read", "RDMAP-100",
	  "operations complete in the order in which they were posted",
	  EITHER, 0, send_completes_after_the_read },
	{ "order__messages_leave_in_order", "RDMAP-098 DDP-055",
	  "messages leave in the order in which they were posted",
	  EITHER, 0, messages_leave_in_order },
	{ "order__fence_waits_for_the_response", "RDMAP-097 RDMAP-098",
	  "a fenced operation waits for the Responses of all Reads in front of it",
	  EITHER, 0, fence_waits_for_the_response },
	{ "order__unsent_requests_never_succeed", "RDMAP-099 DDP-003",
	  "a Send or Write is not complete before all of it was given to TCP",
	  EITHER, 0, unsent_requests_never_succeed },
	{ "order__completion_does_not_wait_for_the_peer", "RDMAP-093",
	  "a Send or Write is complete though the peer has not taken it, and never will",
	  EITHER, 0, completion_does_not_wait_for_the_peer },
	{ "order__aborted_sinks_are_flushed", "RDMAP-004",
	  "what came in part completes in error: its sink is not to be relied on",
	  EITHER, 0, aborted_sinks_are_flushed },
	{ "order__changed_source_keeps_crc", "RDMAP-092",
	  "a ULP that changes the source while it is sent spoils no CRC",
	  RESPONDER, 0, changed_source_keeps_crc },
	{ "order__streams_do_not_wait_for_each_other", "RDMAP-087",
	  "a stream that stands still holds up no other",
	  RESPONDER, 0, streams_do_not_wait },
	{}
};

const struct conform_group order_group = { "order", tests };
