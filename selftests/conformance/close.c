// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* How a stream ends, in order and after errors: RFC 5044 7.2 and 8. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow.h"

#define RECV_ID		9
#define READ_ID		20
#define END_MS		1000

static uint8_t data[80000];
static uint8_t ulpdu[ULPDU_MAX + 64];
static uint8_t burst[4 * ULPDU_MAX];

/* ---- what the device reports ---- */

static void must_leave_rts(const struct session *s)
{
	uint64_t end = now_ms() + patience(END_MS);

	while (!strcmp(agent_qp_state(s->conn), "RTS"))
		must(now_ms() < end, "the QP is still in RTS");
}

static void must_be_disconnected(const struct session *s)
{
	struct agent_event ev;

	agent_must_get_event("DISCONNECTED", &ev);
	must_leave_rts(s);
}

/* the stream was cut: the device sends no Terminate, or one with code 1 if it still
 * can */
static void must_be_lost(struct session *s)
{
	struct fpdu f;

	if (peer_recv_fpdu(s->p, &f, patience(END_MS))) {
		must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode");
		must_eq(get16(f.seg.data), 0x2001, "layer, error type and code");
	}
	must(peer_wait_end(s->p, patience(END_MS)) != PEER_OPEN,
	     "the device does not close");
}

/* a Terminate with MPA's @code, then FIN, not RST */
static void must_get_terminate_then_fin(struct session *s, uint8_t code)
{
	struct fpdu f;

	must_get_fpdu(s->p, &f);
	must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode");
	must_eq(f.seg.qn, 2, "queue");
	must_eq(get16(f.seg.data), 0x2000 | code, "layer, error type and code");
	must_fin_silently(s->p);
}

/* ---- an orderly end ---- */

static void close__fin_between_fpdus(void)
{
	struct session s = session_default();

	peer_shutdown(s.p);
	must_be_disconnected(&s);
	must_fin_silently(s.p);
}

static void close__fin_where_a_marker_is_due(void)
{
	struct session s = flow_marked_session();
	struct agent_mr mr = agent_mr(2 * MARKER_SPACING, "lrw");

	flow_we_fill(&s, &mr, 0);
	peer_shutdown(s.p);
	must_be_disconnected(&s);
	must_fin_silently(s.p);
}

static void close__data_before_fin_is_delivered(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(4096, "lrw"), rq = agent_mr(4096, "l");
	size_t len;
	uint32_t n;

	pattern(data, 4096, 1);
	agent_recv(s.conn, RECV_ID, &rq, 0, 4096);
	n = seg_write(s.p, mr.rkey, mr.va, data, 4096, true, ulpdu);
	len = fpdu_build(s.p, ulpdu, n, NULL, burst);
	n = seg_send(s.p, OP_SEND, 0, 0, data, 1000, true, ulpdu);
	len += fpdu_build(s.p, ulpdu, n, NULL, burst + len);
	peer_send(s.p, burst, len);
	peer_shutdown(s.p);
	flow_must_get_wc(RECV_ID, "SUCCESS");
	must_have_memory(&mr, 0, data, 4096);
	must_have_memory(&rq, 0, data, 1000);
	must_be_disconnected(&s);
}

#define MANY	16
#define LARGE	64000
#define BIG	(1 << 20)
#define HOLD_MS	1000

/* read MANY Sends of @data, each a byte shorter than the one before */
static void must_get_the_sends(struct session *s)
{
	unsigned int at = 0, done = 0;
	struct fpdu f;

	while (done < MANY) {
		must_get_op(s->p, &f, OP_SEND);
		must_eq(f.seg.mo, at, "the offset");
		must_bytes(f.seg.data, data + at, f.seg.len, "payload");
		at += f.seg.len;
		if (!seg_last(&f.seg))
			continue;
		must_eq(at, LARGE - done, "bytes");
		done++;
		at = 0;
	}
}

/* Post more than TCP takes while we do not read: some Sends have not begun when the
 * disconnect comes. */
static void close_after_sends(struct session *s)
{
	struct agent_mr mr;
	unsigned int i;

	*s = (struct session)SESSION_DEFAULT;
	s->tcp.rcvbuf = 8192;
	session_start(s);
	pattern(data, LARGE, 2);
	mr = flow_mr("l", data, LARGE);
	for (i = 0; i < MANY; i++)
		agent_post(s->conn, i, AG_SEND, AG_SIGNALED, &mr, 0, LARGE - i, 0, 0);
	agent_disconnect(s->conn);
}

static void close__device_sends_what_it_has_then_fin(void)
{
	struct session s;

	close_after_sends(&s);
	must_get_the_sends(&s);
	must_fin_silently(s.p);
}

/* After the disconnect the peer reads nothing for a while, as a busy one does. When it
 * reads again, all that was posted arrives, then FIN. */
static void close__waits_for_a_peer_that_does_not_read(void)
{
	struct session s;
	struct agent_wc wc;
	unsigned int i;

	if (agent_offers() & NEED_SET)
		agent_set("close-ms 60000");
	close_after_sends(&s);
	usleep(HOLD_MS * 1000);
	must(strcmp(agent_qp_state(s.conn), "ERR"),
	     "the QP is in ERR before all was sent");
	must_get_the_sends(&s);
	must_fin_silently(s.p);
	for (i = 0; i < MANY; i++)
		agent_must_get_wc(i, "SUCCESS", &wc);
}

/* The peer never reads: the device gives up some time after the last progress. All
 * work requests end, in order, and those that did not leave are flushed. */
static void close__peer_that_never_reads_is_cut_off(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	struct agent_wc wc;
	unsigned int i, flushed = 0;

	agent_set("close-ms 100");
	s.tcp.rcvbuf = 8192;
	session_start(&s);
	mr = agent_mr(BIG, "l");
	for (i = 0; i < MANY; i++)
		agent_post(s.conn, i, AG_SEND, AG_SIGNALED, &mr, 0, BIG, 0, 0);
	agent_disconnect(s.conn);
	for (i = 0; i < MANY; i++) {
		must(agent_poll(&wc, patience(10000)),
		     "only %u of %u work requests ended", i, MANY);
		must_eq(wc.wr_id, i, "request that ended");
		flushed += !strcmp(wc.status, "WR_FLUSH_ERR");
		must(!flushed || !strcmp(wc.status, "WR_FLUSH_ERR"),
		     "%s after one that was flushed", wc.status);
	}
	must(flushed > 0, "%u bytes were sent to a peer that reads none", MANY * BIG);
	must_eq(peer_wait_end(s.p, patience(10000)), PEER_RST, "end of the stream");
}

/* Responses count too: the device sends FIN only after its open Read has ended */
static void close__device_sends_nothing_but_fpdus(void)
{
	static const enum agent_op ags[] = { AG_SEND, AG_WRITE, AG_READ, AG_SEND_INV };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(8192, "lrw");
	unsigned int i, done = 0;
	struct fpdu f;

	for (i = 0; i < 4; i++)
		agent_post(s.conn, i, ags[i], AG_SIGNALED, &mr, 0, 5000, OUR_STAG, OUR_TO);
	send_read_req(s.p, OUR_STAG, OUR_TO, 5000, mr.rkey, mr.va);
	must_get_fpdu(s.p, &f);
	agent_disconnect(s.conn);
	do {
		must(seg_op(&f.seg) <= OP_SEND_SE_INV, "opcode %d", seg_op(&f.seg));
		done += seg_last(&f.seg);
		if (seg_op(&f.seg) == OP_READ_REQ)
			send_read_resp(s.p, get32(f.seg.data), get64(f.seg.data + 4), data,
				       5000);
	} while (peer_recv_fpdu(s.p, &f, patience(1000)));
	must_eq(done, 5, "messages");
	must_fin_silently(s.p);
}

static void close__device_still_takes_what_we_send(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(4096, "lrw");

	agent_disconnect(s.conn);
	must_fin_silently(s.p);
	pattern(data, 4096, 3);
	flow_we_write(&s, &mr, 0, data, 1000, NULL);
	flow_we_write(&s, &mr, 1000, data + 1000, 3096, NULL);
	peer_shutdown(s.p);
	must_be_disconnected(&s);
	must_have_memory(&mr, 0, data, 4096);
}

/* ---- code 1: TCP is lost ---- */

/* two receives, and a Read that we never answer */
static void post_some(struct session *s, struct agent_mr *mr)
{
	struct fpdu f;

	*mr = agent_mr(4096, "lrw");
	agent_recv(s->conn, RECV_ID, mr, 0, 64);
	agent_recv(s->conn, RECV_ID + 1, mr, 64, 64);
	agent_post(s->conn, READ_ID, AG_READ, AG_SIGNALED, mr, 1024, 1024, OUR_STAG,
		   OUR_TO);
	must_get_op(s->p, &f, OP_READ_REQ);
}

static void must_be_flushed(unsigned int nr)
{
	struct agent_wc wc;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		must(agent_poll(&wc, patience(END_MS)),
		     "only %u of %u work requests were flushed", i, nr);
		must(!strcmp(wc.status, "WR_FLUSH_ERR"), "work request %llu: %s",
		     (unsigned long long)wc.wr_id, wc.status);
	}
	agent_must_get_no_wc(20);
}

static void close__rst_flushes_all(void)
{
	struct session s = session_default();
	struct agent_mr mr;

	post_some(&s, &mr);
	peer_reset(s.p);
	must_be_disconnected(&s);
	must_be_flushed(3);
	must_be_untouched(&mr);
}

static void close__rst_inside_an_fpdu(void)
{
	struct session s = session_default();
	struct agent_mr mr;
	size_t len;
	uint32_t n;

	post_some(&s, &mr);
	pattern(data, 1000, 4);
	n = seg_write(s.p, mr.rkey, mr.va, data, 1000, true, ulpdu);
	len = fpdu_build(s.p, ulpdu, n, NULL, burst);
	peer_send_pieces(s.p, burst, len - 1, len);
	peer_reset(s.p);
	must_be_disconnected(&s);
	must_be_flushed(3);
	must_be_untouched(&mr);
}

/* A row is how many bytes of an FPDU come before FIN; a negative number counts from
 * the end. */
static const struct cut {
	const char *name;
	int bytes;
} cuts[] = {
	{ "close__fin_inside_the_length", 1 },
	{ "close__fin_after_the_length", 2 },
	{ "close__fin_inside_the_header", 9 },
	{ "close__fin_after_the_header", 16 },
	{ "close__fin_inside_the_data", 100 },
	{ "close__fin_before_the_pad", -6 },
	{ "close__fin_before_the_crc", -4 },
	{ "close__fin_inside_the_crc", -1 },
	{}
};

static void fin_inside(void)
{
	const struct cut *cut = ROW_OF_TEST(cuts);
	struct session s = session_default();
	struct agent_mr mr;
	size_t len;
	uint32_t n;

	post_some(&s, &mr);
	pattern(data, 998, 5);
	/* 2 + 14 + 994 bytes and 2 of pad */
	n = seg_write(s.p, mr.rkey, mr.va, data, 994, true, ulpdu);
	len = fpdu_build(s.p, ulpdu, n, NULL, burst);
	peer_send(s.p, burst, cut->bytes < 0 ? len + cut->bytes : (size_t)cut->bytes);
	peer_shutdown(s.p);
	must_be_lost(&s);
	must_be_disconnected(&s);
	must_be_flushed(3);
	must_be_untouched(&mr);
}

/* ---- codes 2 and 3 ---- */

static const struct fpdu_fault bad_crc = { .crc_xor = 0x01000000 };
static const struct fpdu_fault bad_marker = { .marker_xor = 0x100 };

/* a Write with @fault that is long enough to have a marker, then @more good ones */
static size_t bad_then_good(struct session *s, const struct agent_mr *mr,
			    const struct fpdu_fault *fault, unsigned int more)
{
	size_t len;
	uint32_t n;

	pattern(data, 4096, 6);
	n = seg_write(s->p, mr->rkey, mr->va, data, 600, true, ulpdu);
	len = fpdu_build(s->p, ulpdu, n, fault, burst);
	n = seg_write(s->p, mr->rkey, mr->va + 600, data, 1000, true, ulpdu);
	while (more--)
		len += fpdu_build(s->p, ulpdu, n, NULL, burst + len);
	return len;
}

static void reported(struct session *s, const struct fpdu_fault *fault, uint8_t code)
{
	struct agent_mr mr = agent_mr(4096, "lrw");
	int conn;

	peer_send(s->p, burst, bad_then_good(s, &mr, fault, 0));
	must_get_terminate_then_fin(s, code);
	must(agent_async(&conn, patience(END_MS)), "no error event");
	must_be_disconnected(s);
}

static void close__crc_error_is_reported(void)
{
	struct session s = session_default();

	reported(&s, &bad_crc, 2);
}

static void close__marker_error_is_reported(void)
{
	struct session s = flow_marked_session();

	reported(&s, &bad_marker, 3);
}

/* a Write, a Send and a Read Request after a bad FPDU, all in one burst */
static void ignores_what_follows(struct session *s, const struct fpdu_fault *fault,
				 uint8_t code)
{
	struct agent_mr mr = agent_mr(4096, "lrw"), rq = agent_mr(4096, "l");
	size_t len;
	uint32_t n;

	agent_recv(s->conn, RECV_ID, &rq, 0, 4096);
	len = bad_then_good(s, &mr, fault, 1);
	n = seg_send(s->p, OP_SEND, 0, 0, data, 100, true, ulpdu);
	len += fpdu_build(s->p, ulpdu, n, NULL, burst + len);
	n = seg_read_req(s->p, OUR_STAG, OUR_TO, 16, mr.rkey, mr.va, ulpdu);
	len += fpdu_build(s->p, ulpdu, n, NULL, burst + len);
	peer_send(s->p, burst, len);
	must_get_terminate_then_fin(s, code);
	must_be_untouched(&mr);
	must_be_untouched(&rq);
	must_be_flushed(1);
}

static void close__nothing_counts_after_a_crc_error(void)
{
	struct session s = session_default();

	ignores_what_follows(&s, &bad_crc, 2);
}

static void close__nothing_counts_after_a_marker_error(void)
{
	struct session s = flow_marked_session();

	ignores_what_follows(&s, &bad_marker, 3);
}

static void close__flood_does_not_eat_the_terminate(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(4096, "lrw");
	unsigned int i;
	size_t len;

	len = bad_then_good(&s, &mr, &bad_crc, 60);
	for (i = 0; i < 3; i++)
		peer_send(s.p, burst, len);
	must_get_terminate_then_fin(&s, 2);
	/* the device keeps reading until we close too */
	peer_send(s.p, burst, len);
	must_eq(peer_wait_end(s.p, 100), PEER_FIN, "end of the device's stream");
	must_be_untouched(&mr);
}

static void close__error_just_before_fin(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(4096, "lrw");

	peer_send(s.p, burst, bad_then_good(&s, &mr, &bad_crc, 1));
	peer_shutdown(s.p);
	must_get_terminate_then_fin(&s, 2);
	must_be_untouched(&mr);
}

/* what follows an FPDU is no FPDU */
static void no_fpdu(const char *text, size_t len)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(64, "lrw");
	struct fpdu f;

	pattern(data, len, 7);
	memcpy(data, text, strlen(text));
	peer_send(s.p, data, len);
	must_get_fpdu(s.p, &f);
	must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode");
	must_eq(f.seg.data[0], 0x20, "layer and error type");
	must(f.seg.data[1] == 2 || f.seg.data[1] == 3, "code %u", f.seg.data[1]);
	must_fin_silently(s.p);
	must_be_untouched(&mr);
}

static void close__text_is_no_fpdu(void)
{
	no_fpdu("GET / HTTP/1.0\r\n\r\n", 20000);
}

static void close__noise_is_no_fpdu(void)
{
	no_fpdu("\xff\x80\x11", 70000);
}

static void close__request_is_no_fpdu(void)
{
	no_fpdu("MPA ID Req Frame\x40\x01", 20000);
}

/* ---- the peer's Terminate ---- */

static void close__terminate_then_fin_of_the_peer(void)
{
	struct session s = session_default();
	struct agent_mr rq = agent_mr(64, "l");

	agent_recv(s.conn, RECV_ID, &rq, 0, 64);
	peer_send_fpdu(s.p, ulpdu, seg_terminate(s.p, 2, 0, 2, ulpdu));
	peer_shutdown(s.p);
	must_be_disconnected(&s);
	must_be_flushed(1);
	must_fin_silently(s.p);
}

/* ---- a slow path ---- */

#define SLOW_LEN	30000
#define GULP		6000
#define PAUSE_US	700000

/* The device's TCP takes all of the Send, so it completes, though we do not read. */
static void start_slow(struct session *s, const struct agent_mr *mr)
{
	struct agent_wc wc;

	*s = (struct session)SESSION_DEFAULT;
	s->tcp.rcvbuf = 4096;
	session_start(s);
	agent_post(s->conn, 1, AG_SEND, AG_SIGNALED, mr, 0, SLOW_LEN, 0, 0);
	agent_must_get_wc(1, "SUCCESS", &wc);
}

/* Return: how many bytes of the Send have come, @at included */
static uint32_t gulp(struct session *s, uint32_t at)
{
	uint32_t end = at + GULP < SLOW_LEN ? at + GULP : SLOW_LEN;
	struct fpdu f;

	while (at < end) {
		must_get_op(s->p, &f, OP_SEND);
		must_eq(f.seg.mo, at, "the offset");
		must_bytes(f.seg.data, data + at, f.seg.len, "payload");
		at += f.seg.len;
	}
	return at;
}

/* The window is shut most of the time, and the whole takes twice as long as the device
 * waits for a peer that makes no progress. */
static void close__slow_reader_gets_all(void)
{
	struct session closed, failed;
	uint32_t at[2] = {};
	struct agent_mr mr;

	pattern(data, SLOW_LEN, 8);
	mr = flow_mr("lrw", data, SLOW_LEN);
	start_slow(&closed, &mr);
	start_slow(&failed, &mr);
	agent_disconnect(closed.conn);
	peer_send(failed.p, burst, bad_then_good(&failed, &mr, &bad_crc, 0));
	/* what gulp() compares with: bad_then_good() has overwritten it */
	pattern(data, SLOW_LEN, 8);
	while (at[0] < SLOW_LEN || at[1] < SLOW_LEN) {
		usleep(PAUSE_US);
		at[0] = gulp(&closed, at[0]);
		at[1] = gulp(&failed, at[1]);
	}
	must_fin_silently(closed.p);
	must_get_terminate_then_fin(&failed, 2);
}

#define T(name, ids, role, needs, rule)	{ #name, ids, rule, role, needs, name }
#define CUT(name)	{ #name, "MPA-120 MPA-121 MPA-123 R3", \
	"FIN inside an FPDU is an error: nothing of it counts, all ends", \
	EITHER, 0, fin_inside }

static const struct conform_test tests[] = {
	T(close__fin_between_fpdus, "MPA-011 MPA-119 MPA-120 MPA-123", EITHER, 0,
	  "FIN between two FPDUs is reported, and answered by FIN"),
	T(close__fin_where_a_marker_is_due, "MPA-119 MPA-120 MPA-029", EITHER, NEED_SET,
	  "FIN after a CRC field is an orderly end, even where a marker is due"),
	T(close__data_before_fin_is_delivered, "MPA-120 MPA-011", EITHER, 0,
	  "what came before FIN is placed and delivered before the end is reported"),
	T(close__device_sends_what_it_has_then_fin, "MPA-069 MPA-119", EITHER, 0,
	  "what was posted before the disconnect is sent, then FIN, then nothing"),
	T(close__waits_for_a_peer_that_does_not_read, "DDP-067 MPA-069", RESPONDER, 0,
	  "what was posted before the disconnect waits for a peer that does not read"),
	T(close__peer_that_never_reads_is_cut_off, "DDP-003 DDP-077 Q18", RESPONDER,
	  NEED_SET | NEED_SLOW,
	  "a peer that never reads is reset, and each work request ends in a completion"),
	T(close__device_sends_nothing_but_fpdus, "RDMAP-108", EITHER, 0,
	  "each byte from the startup to FIN is of an FPDU with a message of RDMAP"),
	T(close__device_still_takes_what_we_send, "MPA-119", EITHER, 0,
	  "the end of one half of the stream leaves the other as it was"),
	T(close__rst_flushes_all, "MPA-069 MPA-121 MPA-123", EITHER, 0,
	  "RST is reported, and each work request ends in a completion"),
	T(close__rst_inside_an_fpdu, "MPA-069 MPA-121 MPA-123", EITHER, 0,
	  "RST inside an FPDU is reported, and nothing of the FPDU counts"),
	CUT(close__fin_inside_the_length),
	CUT(close__fin_after_the_length),
	CUT(close__fin_inside_the_header),
	CUT(close__fin_after_the_header),
	CUT(close__fin_inside_the_data),
	CUT(close__fin_before_the_pad),
	CUT(close__fin_before_the_crc),
	CUT(close__fin_inside_the_crc),
	T(close__crc_error_is_reported, "MPA-121 MPA-122 MPA-124 MPA-131", EITHER, 0,
	  "a bad CRC ends in a Terminate with code 2 and FIN, and an event"),
	T(close__marker_error_is_reported, "MPA-121 MPA-122 MPA-125 MPA-131", EITHER, NEED_SET,
	  "a wrong marker ends in a Terminate with code 3 and FIN, and an event"),
	T(close__nothing_counts_after_a_crc_error, "MPA-124 MPA-130 R8", EITHER, 0,
	  "no FPDU after one with a bad CRC is passed on"),
	T(close__nothing_counts_after_a_marker_error, "MPA-125 MPA-130 R8", EITHER, NEED_SET,
	  "no FPDU after one with a wrong marker is passed on"),
	T(close__flood_does_not_eat_the_terminate, "MPA-122 MPA-130 MPA-131", EITHER, 0,
	  "the Terminate arrives though the peer goes on sending: no RST"),
	T(close__error_just_before_fin, "MPA-122 MPA-124 MPA-131", EITHER, 0,
	  "an FPDU with a bad CRC is reported even where FIN is right after it"),
	T(close__text_is_no_fpdu, "MPA-132 MPA-066", EITHER, 0,
	  "bytes that are no FPDU are refused"),
	T(close__noise_is_no_fpdu, "MPA-132 MPA-066", EITHER, 0,
	  "bytes that are no FPDU are refused"),
	T(close__request_is_no_fpdu, "MPA-132 MPA-066", EITHER, 0,
	  "a Request in Full Operation is no FPDU"),
	T(close__terminate_then_fin_of_the_peer, "MPA-119 MPA-120", EITHER, 0,
	  "a Terminate and FIN of the peer are answered by FIN alone"),
	T(close__slow_reader_gets_all, "DDP-067 RDMAP-118", RESPONDER, NEED_SLOW,
	  "what had completed arrives, then FIN or the Terminate, as long as bytes move"),
	{}
};

const struct conform_group close_group = { "close", tests };
