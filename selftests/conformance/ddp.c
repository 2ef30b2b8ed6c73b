// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * DDP, RFC 5041: what it needs of the layer below, the control bytes, and how a
 * stream ends, in order or after an error. Untagged rules are in untagged.c, tagged
 * ones in write.c and read.c.
 */
#include <stdlib.h>
#include <string.h>

#include "scene.h"

/* ---- what the layer below must do (RFC 5041 3) ------------------------- */

static void ddp__boundaries_do_not_depend_on_tcp(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 5, 100);
	uint8_t ulpdu[200], wire[800];
	size_t n;

	n = fpdu_build(sc->p, ulpdu, seg_encode(&seg, ulpdu), NULL, wire);
	seg = scene_send(sc, 77);
	n += fpdu_build(sc->p, ulpdu, seg_encode(&seg, ulpdu), NULL, wire + n);
	sc->p->tx_msn[0]++;
	peer_send_pieces(sc->p, wire, n, 1);
	scene_must_receive(SCENE_RECV_ID, 77);
	must_have_memory(&sc->sink, 5, sc->data, 100);
	must_have_memory(&sc->recv, 0, sc->data, 77);
	must_be_alive(sc->p);
}

static void ddp__length_is_that_of_the_fpdu(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 5, 63, 64, 65, 477, 998, 1000 };
	struct scene *sc = scene_start_bare();
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct seg seg = scene_send(sc, sizes[i]);

		agent_recv(sc->s.conn, i, &sc->recv, 0, SCENE_RECV_LEN);
		scene_put(sc, &seg);
		scene_must_receive(i, sizes[i]);
	}
}

static void ddp__a_damaged_segment_is_not_placed(void)
{
	static const struct fpdu_fault flip = { .crc_xor = 0x100 };
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 64);
	uint8_t ulpdu[100], wire[300];
	size_t n;

	if (!sc->p->crc)
		skip("the device agreed to no CRC");
	n = fpdu_build(sc->p, ulpdu, seg_encode(&seg, ulpdu), &flip, wire);
	peer_send(sc->p, wire, n);
	scene_must_end(sc, NULL, 0, MPA_CRC_ERROR, VERDICT_NONE);
	scene_must_flush(sc, MPA_CRC_ERROR);
	must_be_untouched(&sc->sink);
}

static void ddp__every_accepted_request_arrives_or_fails(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	struct agent_wc wc;
	int i, failed = 0;

	s.tcp.rcvbuf = 8192;
	session_start(&s);
	mr = agent_mr(1 << 20, "l");
	/* more than TCP takes while we do not read */
	for (i = 0; i < 12; i++)
		agent_post(s.conn, i, i & 1 ? AG_WRITE : AG_SEND, AG_SIGNALED, &mr,
			   0, mr.len, 7, 0);
	peer_reset(s.p);
	for (i = 0; i < 12; i++) {
		must(agent_poll(&wc, patience(1000)), "only %d of 12 ended", i);
		must_eq(wc.wr_id, i, "request that ended");
		failed += !!strcmp(wc.status, "SUCCESS");
	}
	must(failed > 0, "12 MiB were sent to a peer that read nothing");
	agent_must_get_no_wc(1);
}

/* ---- the two control bytes --------------------------------------------- */

static void ddp__reserved_bits_of_untagged_are_ignored(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 20);

	seg.ctrl |= 0x3c;
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 20);
	must_have_memory(&sc->recv, 0, sc->data, 20);
}

static void ddp__reserved_bits_of_tagged_are_ignored(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 20);

	seg.ctrl = (seg.ctrl | 0x3c) & ~DDP_LAST;
	scene_put(sc, &seg);
	seg = scene_write(sc, 20, 20);
	seg.ctrl |= 0x3c;
	scene_put(sc, &seg);
	must_be_alive(sc->p);
	must_have_memory(&sc->sink, 0, sc->data, 20);
	must_have_memory(&sc->sink, 20, sc->data, 20);
}

static void ddp__reserved_bits_of_rdmap_are_ignored(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 40, 20);

	seg.rdmap |= 0x30;
	scene_put(sc, &seg);
	seg = scene_send(sc, 20);
	seg.rdmap |= 0x30;
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 20);
	must_have_memory(&sc->sink, 40, sc->data, 20);
}

/* the name of the running test ends in the value that it tries */
static int tried_value(void)
{
	return atoi(strrchr(current_test()->name, '_') + 1);
}

static void tagged_version(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg.ctrl = (seg.ctrl & ~3) | tried_value();
	scene_refuse(sc, &seg, DT_VERSION);
}

static void untagged_version(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg.ctrl = (seg.ctrl & ~3) | tried_value();
	scene_refuse(sc, &seg, DU_VERSION);
}

static void version_after_a_good_one(void)
{
	struct scene *sc = scene_start_bare();
	struct seg seg = scene_write(sc, 100, 8);

	scene_put(sc, &seg);
	must_be_alive(sc->p);
	seg.ctrl = (seg.ctrl & ~3) | 2;
	send_write(sc->p, 0, 0, NULL, 0);
	scene_put(sc, &seg);
	scene_must_end(sc, NULL, 0, DT_VERSION, VERDICT_NONE);
}

static void tagged_rv(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 8);

	seg.rdmap = (seg.rdmap & 0x3f) | tried_value() << 6;
	scene_refuse(sc, &seg, RO_VERSION);
}

static void untagged_rv(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg.rdmap = (seg.rdmap & 0x3f) | tried_value() << 6;
	/* RDMAP may check the version at Delivery, after Placement */
	scene_refuse_placed(sc, &seg, RO_VERSION);
}

/* ---- segments too short for a header ------------------------------------ */

static void short_segment(uint8_t ctrl)
{
	struct scene *sc = scene_start();
	uint8_t ulpdu[UNTAGGED_HDR] = { ctrl, 0x40 | (ctrl & DDP_TAGGED ? 0 : 3) };

	scene_refuse_bytes(sc, ulpdu, tried_value(), RO_STREAM);
}

static void short_tagged(void)
{
	short_segment(DDP_TAGGED | DDP_LAST | 1);
}

static void short_untagged(void)
{
	short_segment(DDP_LAST | 1);
}

/* ---- set-up and graceful end (RFC 5041 6) ------------------------------- */

static void ddp__starts_right_after_the_reply(void)
{
	static const uint8_t data[8] = "at once";
	struct agent_qp qp = AGENT_QP_DEFAULT;
	struct peer *p = peer_connect(agent_listen(), NULL);
	struct mpa_frame request, reply;
	struct agent_mr mr = agent_mr(64, "lrw");
	struct agent_event ev;

	mpa_plain(&request, false);
	peer_send_frame(p, &request);
	agent_must_get_event("CONNECT_REQUEST", &ev);
	agent_accept(ev.conn, &qp, NULL, 0);
	must(peer_recv_frame(p, true, &reply, patience(1000)), "no Reply");
	peer_agree(p, true);
	send_write(p, mr.rkey, mr.va, data, sizeof(data));
	must_be_alive(p);
	must_have_memory(&mr, 0, data, sizeof(data));
}

static void ddp__orderly_end_is_no_error(void)
{
	struct scene *sc = scene_start();
	struct agent_event ev;
	int conn;

	peer_shutdown(sc->p);
	agent_must_get_event("DISCONNECTED", &ev);
	must_eq(ev.status, 0, "status of DISCONNECTED");
	must(!agent_async(&conn, 50), "an orderly end raised an async event");
	must_fin_silently(sc->p);
}

/* Post more than TCP takes while we do not read: some Sends have not begun when the
 * disconnect comes. */
static void ddp__graceful_close_sends_what_was_posted(void)
{
	enum { MANY = 16 };
	struct session s = SESSION_DEFAULT;
	uint32_t got = 0, done = 0;
	struct agent_mr mr;
	struct fpdu f;
	int i;

	s.tcp.rcvbuf = 8192;
	session_start(&s);
	mr = agent_mr(1 << 16, "l");
	for (i = 0; i < MANY; i++)
		agent_post(s.conn, i, AG_SEND, AG_SIGNALED, &mr, 0, mr.len, 0, 0);
	agent_disconnect(s.conn);
	while (done < MANY) {
		must_get_op(s.p, &f, OP_SEND);
		got += f.seg.len;
		if (!seg_last(&f.seg))
			continue;
		must_eq(got, mr.len, "length of the Send");
		got = 0;
		done++;
	}
	must_fin_silently(s.p);
}

static void ddp__no_new_requests_after_close(void)
{
	struct scene *sc = scene_start_bare();
	struct agent_wc wc;

	agent_disconnect(sc->s.conn);
	if (!agent_try_post(sc->s.conn, 9, AG_SEND, AG_SIGNALED, &sc->recv, 0, 8,
			    0, 0)) {
		must_fin_silently(sc->p);
		peer_close(sc->p);
		agent_must_get_wc(9, "WR_FLUSH_ERR", &wc);
		return;
	}
	must_fin_silently(sc->p);
}

/* Read one Send of the device up to its L bit; @first: an FPDU of it that was read
 * already. Return: bytes of the Send. */
static uint32_t take_send(struct peer *p, const struct fpdu *first)
{
	struct fpdu f;
	uint32_t got;

	if (first)
		f = *first;
	else
		must_get_op(p, &f, OP_SEND);
	for (got = f.seg.len; !seg_last(&f.seg); got += f.seg.len)
		must_get_op(p, &f, OP_SEND);
	return got;
}

/* the Send @wr_id of @len bytes arrives if it succeeds, or is flushed */
static void take_or_flushed(struct peer *p, uint64_t wr_id, uint32_t len)
{
	struct agent_wc wc;

	must(agent_poll(&wc, patience(3000)), "the Send does not end");
	must_eq(wc.wr_id, wr_id, "request that ended");
	if (!strcmp(wc.status, "SUCCESS"))
		must_eq(take_send(p, NULL), len, "bytes of the Send");
	else
		must(!strcmp(wc.status, "WR_FLUSH_ERR"), "status %s", wc.status);
}

/* We take the first FPDU of a Send, then send FIN: the Send goes on, and the ULP is
 * told of the FIN now or after the Send. What the ULP posts until then arrives whole,
 * or is refused or flushed. */
static void ddp__sends_go_on_after_the_peers_fin(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_event ev;
	struct agent_mr mr;
	struct agent_wc wc;
	struct fpdu f;
	bool told;
	int err;

	s.tcp.rcvbuf = 8192;
	session_start(&s);
	mr = agent_mr(1 << 20, "l");
	agent_post(s.conn, 1, AG_SEND, AG_SIGNALED, &mr, 0, mr.len, 0, 0);
	must_get_op(s.p, &f, OP_SEND);
	peer_shutdown(s.p);
	told = agent_event(&ev, 100);
	err = agent_try_post(s.conn, 2, AG_SEND, AG_SIGNALED, &mr, 0, 5000, 0, 0);
	must_eq(take_send(s.p, &f), mr.len, "bytes of the first Send");
	agent_must_get_wc(1, "SUCCESS", &wc);
	if (!err)
		take_or_flushed(s.p, 2, 5000);
	if (!told)
		agent_must_get_event("DISCONNECTED", &ev);
	must_eq(ev.conn, s.conn, "connection of the event");
	must(!strcmp(ev.name, "DISCONNECTED"), "event %s", ev.name);
	agent_disconnect(s.conn);
	must_fin_silently(s.p);
}

static void ddp__receives_after_its_own_fin(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, 50);

	agent_disconnect(sc->s.conn);
	must_fin_silently(sc->p);
	scene_put(sc, &seg);
	seg = scene_send(sc, 30);
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, 30);
	must_have_memory(&sc->sink, 0, sc->data, 50);
	must_have_memory(&sc->recv, 0, sc->data, 30);
}

/* ---- the end after an error --------------------------------------------- */

/* a Write one byte too long */
static struct seg bad_write(struct scene *sc)
{
	return scene_write(sc, 0, SCENE_SINK_LEN + 1);
}

static void ddp__fatal_error_is_told(void)
{
	struct scene *sc = scene_start();
	struct seg seg = bad_write(sc);
	int conn;

	scene_refuse(sc, &seg, DT_BOUNDS);
	must(agent_async(&conn, patience(1000)), "no async event");
	must_eq(conn, sc->s.conn, "connection of the event");
	must(!strcmp(agent_qp_state(sc->s.conn), "ERR"), "the QP is in %s",
	     agent_qp_state(sc->s.conn));
}

static void ddp__requests_end_in_error(void)
{
	struct scene *sc = scene_start();
	struct seg seg = bad_write(sc);
	int i;

	for (i = 0; i < 5; i++)
		agent_recv(sc->s.conn, 10 + i, &sc->recv, 0, 100);
	for (i = 0; i < 3; i++)
		agent_post(sc->s.conn, 20 + i, AG_READ, AG_SIGNALED, &sc->recv, 0,
			   100, 1, 0);
	sc->posted += 8;
	/* so that the Terminate does not come before the Read Requests */
	for (i = 0; i < 3; i++) {
		struct fpdu f;

		must_get_op(sc->p, &f, OP_READ_REQ);
	}
	scene_refuse(sc, &seg, DT_BOUNDS);
}

static void ddp__terminate_comes_before_fin(void)
{
	struct scene *sc = scene_start_bare();
	struct seg seg = bad_write(sc);

	scene_put(sc, &seg);
	must_get_terminate(sc->p, 1, 1, 1, false, NULL);
}

/* @seg is faulty: the Terminate copies its @hdr bytes of DDP header */
static void copies(struct scene *sc, const struct seg *seg, uint32_t hdr)
{
	uint8_t ulpdu[UNTAGGED_HDR + SCENE_DATA_LEN];
	uint32_t len = seg_encode(seg, ulpdu);
	struct term t;
	struct fpdu f;

	peer_send_fpdu(sc->p, ulpdu, len);
	must_get_op(sc->p, &f, OP_TERMINATE);
	must(term_decode(&t, &f.seg), "the Terminate is too short");
	must(t.m && t.d && !t.r, "M, D, R are %d, %d, %d", t.m, t.d, t.r);
	must_eq(t.ddp_len, len, "DDP segment length");
	must_eq(t.ddp_hdr_len, hdr, "length of the copied header");
	must_bytes(t.ddp, ulpdu, hdr, "copied header");
	must_eq(f.seg.ulpdu_len, 24 + hdr, "length of the Terminate");
	must_eq((f.seg.data[2] & 0x1f) | f.seg.data[3], 0, "reserved bits");
}

static void ddp__terminate_has_tagged_copies(void)
{
	struct scene *sc = scene_start_bare();
	struct seg seg = bad_write(sc);

	copies(sc, &seg, TAGGED_HDR);
}

static void ddp__terminate_has_untagged_copies(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, SCENE_RECV_LEN + 1);

	copies(sc, &seg, UNTAGGED_HDR);
}

static void ddp__later_segments_are_dropped(void)
{
	struct scene *sc = scene_start();
	struct seg bad = bad_write(sc);
	uint8_t ulpdu[UNTAGGED_HDR + SCENE_DATA_LEN], wire[3 * SCENE_DATA_LEN];
	struct seg good[] = {
		scene_write(sc, 0, 8), scene_send(sc, 8), scene_read(sc, 0, 8), bad,
	};
	size_t i, n;

	n = fpdu_build(sc->p, ulpdu, seg_encode(&bad, ulpdu), NULL, wire);
	for (i = 0; i < 3; i++)
		n += fpdu_build(sc->p, ulpdu, seg_encode(&good[i], ulpdu), NULL,
				wire + n);
	peer_send(sc->p, wire, n);
	/* the Read gets no answer: nothing follows the Terminate */
	must_get_terminate(sc->p, 1, 1, 1, false, NULL);
	peer_close(sc->p);
	scene_must_flush(sc, DT_BOUNDS);
	must_be_untouched(&sc->sink);
	must_be_untouched(&sc->recv);
}

#define ROW(name, ids, rule, role, run) { name, ids, rule, role, 0, run }

static const struct conform_test tests[] = {
	ROW("ddp__boundaries_do_not_depend_on_tcp", "DDP-004 DDP-014 DDP-015",
	    "segments are the same however TCP cuts the bytes: one by one",
	    EITHER, ddp__boundaries_do_not_depend_on_tcp),
	ROW("ddp__length_is_that_of_the_fpdu", "DDP-008 DDP-062",
	    "the length of a segment, and so of a message, is what the frame says",
	    RESPONDER, ddp__length_is_that_of_the_fpdu),
	ROW("ddp__a_damaged_segment_is_not_placed", "DDP-007",
	    "the digest covers the segment: a wrong one places nothing",
	    RESPONDER, ddp__a_damaged_segment_is_not_placed),
	ROW("ddp__every_accepted_request_arrives_or_fails", "DDP-003 DDP-077",
	    "what was accepted arrives or is reported as failed: no request is lost with the connection",
	    RESPONDER, ddp__every_accepted_request_arrives_or_fails),
	ROW("ddp__reserved_bits_of_untagged_are_ignored", "DDP-022",
	    "a receiver does not look at the four reserved bits, T=0",
	    RESPONDER, ddp__reserved_bits_of_untagged_are_ignored),
	ROW("ddp__reserved_bits_of_tagged_are_ignored", "DDP-022",
	    "a receiver does not look at the four reserved bits, T=1",
	    RESPONDER, ddp__reserved_bits_of_tagged_are_ignored),
	ROW("ddp__reserved_bits_of_rdmap_are_ignored", "RDMAP-015",
	    "a receiver ignores the two reserved bits of RDMAP's byte",
	    RESPONDER, ddp__reserved_bits_of_rdmap_are_ignored),
	ROW("ddp__tagged_version_0", "DDP-024",
	    "each segment has the stream's DDP version", EITHER, tagged_version),
	ROW("ddp__tagged_version_2", "DDP-024",
	    "each segment has the stream's DDP version", RESPONDER, tagged_version),
	ROW("ddp__tagged_version_3", "DDP-024",
	    "each segment has the stream's DDP version", RESPONDER, tagged_version),
	ROW("ddp__untagged_version_0", "DDP-024",
	    "each segment has the stream's DDP version", EITHER, untagged_version),
	ROW("ddp__untagged_version_2", "DDP-024",
	    "each segment has the stream's DDP version", RESPONDER,
	    untagged_version),
	ROW("ddp__untagged_version_3", "DDP-024",
	    "each segment has the stream's DDP version", RESPONDER,
	    untagged_version),
	ROW("ddp__version_after_a_good_one", "DDP-024",
	    "the DDP version does not change in mid-stream", RESPONDER,
	    version_after_a_good_one),
	ROW("ddp__tagged_rv_0", "RDMAP-013", "RV is the stream's, T=1", EITHER,
	    tagged_rv),
	ROW("ddp__tagged_rv_2", "RDMAP-013", "RV is the stream's, T=1", RESPONDER,
	    tagged_rv),
	ROW("ddp__tagged_rv_3", "RDMAP-013", "RV is the stream's, T=1", RESPONDER,
	    tagged_rv),
	ROW("ddp__untagged_rv_0", "RDMAP-013", "RV is the stream's, T=0", EITHER,
	    untagged_rv),
	ROW("ddp__untagged_rv_2", "RDMAP-013", "RV is the stream's, T=0", RESPONDER,
	    untagged_rv),
	ROW("ddp__untagged_rv_3", "RDMAP-013", "RV is the stream's, T=0", RESPONDER,
	    untagged_rv),
	ROW("ddp__short_tagged_1", "DDP-043 RDMAP-003 Q10",
	    "a segment shorter than its header is refused", RESPONDER, short_tagged),
	ROW("ddp__short_tagged_13", "DDP-043 RDMAP-003 Q10",
	    "a segment shorter than its header is refused", RESPONDER, short_tagged),
	ROW("ddp__short_untagged_1", "DDP-043 RDMAP-003 Q10",
	    "a segment shorter than its header is refused", RESPONDER,
	    short_untagged),
	ROW("ddp__short_untagged_17", "DDP-043 RDMAP-003 Q10",
	    "a segment shorter than its header is refused", RESPONDER,
	    short_untagged),
	ROW("ddp__starts_right_after_the_reply", "DDP-064",
	    "the byte after the startup is the first of DDP", RESPONDER,
	    ddp__starts_right_after_the_reply),
	ROW("ddp__orderly_end_is_no_error", "DDP-011 DDP-012",
	    "the end of a stream by FIN is reported as an end, not as an error", EITHER,
	    ddp__orderly_end_is_no_error),
	ROW("ddp__graceful_close_sends_what_was_posted", "DDP-067",
	    "a graceful close moves all that was posted, then sends FIN", EITHER,
	    ddp__graceful_close_sends_what_was_posted),
	ROW("ddp__no_new_requests_after_close", "DDP-068",
	    "after a graceful close new requests fail and nothing is sent", RESPONDER,
	    ddp__no_new_requests_after_close),
	ROW("ddp__sends_go_on_after_the_peers_fin", "DDP-070 DDP-071",
	    "the peer's FIN does not stop what is queued, and is answered by FIN",
	    RESPONDER, ddp__sends_go_on_after_the_peers_fin),
	ROW("ddp__receives_after_its_own_fin", "DDP-072",
	    "a stream that closed its own half still places and delivers", RESPONDER,
	    ddp__receives_after_its_own_fin),
	ROW("ddp__fatal_error_is_told", "DDP-073 DDP-106 RDMAP-007 RDMAP-035",
	    "an invalid header is reported to the program and ends the QP", EITHER,
	    ddp__fatal_error_is_told),
	ROW("ddp__requests_end_in_error", "DDP-074",
	    "after a fatal error each outstanding request completes in error",
	    RESPONDER, ddp__requests_end_in_error),
	ROW("ddp__terminate_comes_before_fin", "DDP-075 DDP-076 DDP-095 DDP-010 DDP-066",
	    "one more message, the Terminate, leaves before the end and none after it",
	    EITHER, ddp__terminate_comes_before_fin),
	ROW("ddp__terminate_has_tagged_copies",
	    "DDP-093 RDMAP-024 RDMAP-025 RDMAP-027 RDMAP-028 RDMAP-029 RDMAP-030",
	    "the Terminate has length and header of the bad tagged segment",
	    RESPONDER, ddp__terminate_has_tagged_copies),
	ROW("ddp__terminate_has_untagged_copies",
	    "DDP-093 RDMAP-024 RDMAP-025 RDMAP-027 RDMAP-028 RDMAP-029 RDMAP-030",
	    "the Terminate has length and header of the bad untagged segment",
	    RESPONDER, ddp__terminate_has_untagged_copies),
	ROW("ddp__later_segments_are_dropped", "DDP-092 DDP-094",
	    "after a bad segment all others are dropped without an answer", RESPONDER,
	    ddp__later_segments_are_dropped),
	{}
};

const struct conform_group ddp_group = { "ddp", tests };
