// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * What the device sends: headers, segmentation, numbers and order (RFC 5041 4 and 5,
 * RFC 5040 4 and 5). The agent posts it, the test reads it from the wire.
 */
#include <string.h>

#include "scene.h"

#define BIG		(1 << 20)
#define STAG		0x13579bdf
#define TO		0x1020304050607081ULL
#define INV_STAG	0x2468ace1

static uint8_t got_buf[BIG + ULPDU_MAX], want_buf[BIG];

/**
 * struct message - a reassembled message of the device
 * @first: its first segment's header
 * @len: bytes, in got_buf
 * @segments: number of segments
 * @longest: size of its longest FPDU on the wire
 */
struct message {
	struct seg first;
	uint32_t len;
	unsigned int segments;
	size_t longest;
};

/* check the fields that stay the same in all segments, and the offset */
static void check_segment(const struct message *m, const struct seg *seg)
{
	must_eq(seg->ctrl & ~DDP_LAST, m->first.ctrl & ~DDP_LAST, "byte 0 but L");
	must_eq(seg->rdmap, m->first.rdmap, "byte 1");
	must_eq(seg->stag, m->first.stag, "bytes 2 to 5");
	if (seg_tagged(seg)) {
		must_eq(seg->to, m->first.to + m->len, "TO");
		return;
	}
	must_eq(seg->qn, m->first.qn, "QN");
	must_eq(seg->msn, m->first.msn, "MSN");
	must_eq(seg->mo, m->len, "MO");
}

/* Receive a message. Bytes 0 and 1 have no reserved bits, and their version is the
 * stream's; must_get_op() checks T, QN and MSN. */
static void recv_message(struct peer *p, enum rdmap_op op, struct message *m)
{
	struct fpdu f;

	memset(m, 0, sizeof(*m));
	do {
		must_get_op(p, &f, op);
		must_eq(f.seg.ctrl & ~(DDP_TAGGED | DDP_LAST), p->version,
			"byte 0 without T and L");
		must_eq(f.seg.rdmap, p->version << 6 | op, "byte 1");
		if (!m->segments++)
			m->first = f.seg;
		check_segment(m, &f.seg);
		must(m->len + f.seg.len <= sizeof(got_buf), "no L bit");
		memcpy(got_buf + m->len, f.seg.data, f.seg.len);
		m->len += f.seg.len;
		if (f.wire_len > m->longest)
			m->longest = f.wire_len;
	} while (!seg_last(&f.seg));
	m->first.data = NULL;
}

/* ---- each message's header ---------------------------------------------- */

/* register the device's memory: 1 MiB, the first 64 KiB hold a pattern */
static struct scene *source_start(struct agent_mr *mr)
{
	struct scene *sc = scene_start_bare();

	*mr = agent_mr(BIG, "lw");
	memset(want_buf, AGENT_FILL, sizeof(want_buf));
	pattern(want_buf, 65536, 5);
	agent_poke(mr, 0, want_buf, 65536);
	return sc;
}

static void must_be_done(uint64_t wr_id, const char *opcode)
{
	struct agent_wc wc;

	agent_must_get_wc(wr_id, "SUCCESS", &wc);
	must(!strcmp(wc.opcode, opcode), "completion of %s, not %s", wc.opcode, opcode);
}

static void source__write(void)
{
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;

	agent_post(sc->s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 10, 100, STAG, TO);
	recv_message(sc->p, OP_WRITE, &m);
	must_eq(m.segments, 1, "segments");
	must_eq(m.len, 100, "length");
	must_eq(m.first.stag, STAG, "STag");
	must_eq(m.first.to, TO, "TO");
	must_eq(m.first.ulpdu_len, TAGGED_HDR + 100, "length of the segment");
	must_bytes(got_buf, want_buf + 10, 100, "payload");
	must_be_done(1, "RDMA_WRITE");
}

static void check_send(enum agent_op ag, unsigned int flags, enum rdmap_op op,
		       uint32_t inv_stag)
{
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;

	agent_post(sc->s.conn, 1, ag, AG_SIGNALED | flags, &mr, 10, 100, inv_stag,
		   0);
	recv_message(sc->p, op, &m);
	must_eq(m.segments, 1, "segments");
	must_eq(m.len, 100, "length");
	must_eq(m.first.stag, inv_stag, "Invalidate STag");
	must_eq(m.first.ulpdu_len, UNTAGGED_HDR + 100, "length of the segment");
	must_bytes(got_buf, want_buf + 10, 100, "payload");
	must_be_done(1, "SEND");
	/* the same in several segments */
	agent_post(sc->s.conn, 2, ag, AG_SIGNALED | flags, &mr, 0, 65536, inv_stag,
		   0);
	recv_message(sc->p, op, &m);
	must_eq(m.len, 65536, "length");
	must_eq(m.first.stag, inv_stag, "Invalidate STag");
	must_bytes(got_buf, want_buf, 65536, "payload");
}

static void source__send(void)
{
	check_send(AG_SEND, 0, OP_SEND, 0);
}

static void source__send_solicited(void)
{
	check_send(AG_SEND, AG_SOLICITED, OP_SEND_SE, 0);
}

static void source__send_with_invalidate(void)
{
	check_send(AG_SEND_INV, 0, OP_SEND_INV, INV_STAG);
}

static void source__send_solicited_with_invalidate(void)
{
	check_send(AG_SEND_INV, AG_SOLICITED, OP_SEND_SE_INV, INV_STAG);
}

static void source__inline_send(void)
{
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;

	if (agent_try_post(sc->s.conn, 1, AG_SEND, AG_SIGNALED | AG_INLINE, &mr, 0,
			   16, 0, 0))
		skip("no inline data");
	recv_message(sc->p, OP_SEND, &m);
	must_eq(m.len, 16, "length");
	must_bytes(got_buf, want_buf, 16, "payload");
}

static void source__read_request(void)
{
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;

	agent_post(sc->s.conn, 1, AG_READ, AG_SIGNALED, &mr, 10, 100, STAG, TO);
	recv_message(sc->p, OP_READ_REQ, &m);
	must_eq(m.segments, 1, "segments");
	must_eq(m.first.ulpdu_len, READ_REQ_LEN, "length of the segment");
	must_eq(m.first.stag, 0, "Invalidate STag");
	must_eq(get32(got_buf + 12), 100, "RDMARDSZ");
	must_eq(get32(got_buf + 16), STAG, "source STag");
	must_eq(get64(got_buf + 20), TO, "source TO");
	send_read_resp(sc->p, get32(got_buf), get64(got_buf + 4), sc->data, 100);
	must_be_done(1, "RDMA_READ");
	must_have_memory(&mr, 10, sc->data, 100);
}

/* ---- empty messages ----------------------------------------------------- */

static void source__empty_write(void)
{
	struct scene *sc = scene_start_bare();
	struct message m;

	agent_post(sc->s.conn, 1, AG_WRITE, AG_SIGNALED, NULL, 0, 0, STAG, TO);
	recv_message(sc->p, OP_WRITE, &m);
	must_eq(m.segments, 1, "segments");
	must_eq(m.first.ulpdu_len, TAGGED_HDR, "length of the segment");
	must_be_done(1, "RDMA_WRITE");
}

static void source__empty_send(void)
{
	struct scene *sc = scene_start_bare();
	struct message m;

	agent_post(sc->s.conn, 1, AG_SEND, AG_SIGNALED, NULL, 0, 0, 0, 0);
	recv_message(sc->p, OP_SEND, &m);
	must_eq(m.segments, 1, "segments");
	must_eq(m.first.ulpdu_len, UNTAGGED_HDR, "length of the segment");
	must_be_done(1, "SEND");
}

static void source__empty_read(void)
{
	struct scene *sc = scene_start_bare();
	struct message m;

	agent_post(sc->s.conn, 1, AG_READ, AG_SIGNALED, NULL, 0, 0, STAG, TO);
	recv_message(sc->p, OP_READ_REQ, &m);
	must_eq(m.first.ulpdu_len, READ_REQ_LEN, "length of the segment");
	must_eq(get32(got_buf + 12), 0, "RDMARDSZ");
	send_read_resp(sc->p, get32(got_buf), get64(got_buf + 4), NULL, 0);
	must_be_done(1, "RDMA_READ");
}

/* ---- segmentation ------------------------------------------------------- */

static const uint32_t sizes[] = {
	1, 2, 3, 4, 1400, 1423, 1424, 1425, 1460, 2048, 4095, 16383, 65536, BIG,
};

#define SIZES	(sizeof(sizes) / sizeof(sizes[0]))

static void all_sizes(enum agent_op ag, enum rdmap_op op)
{
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;
	unsigned int i;

	for (i = 0; i < SIZES; i++) {
		agent_post(sc->s.conn, i, ag, AG_SIGNALED, &mr, 0, sizes[i], STAG,
			   TO);
		recv_message(sc->p, op, &m);
		must_eq(m.len, sizes[i], "length");
		must_bytes(got_buf, want_buf, sizes[i], "payload");
		if (op == OP_WRITE)
			must_eq(m.first.to, TO, "TO");
		must_be_done(i, op == OP_WRITE ? "RDMA_WRITE" : "SEND");
	}
}

static void source__writes_of_all_sizes(void)
{
	all_sizes(AG_WRITE, OP_WRITE);
}

static void source__sends_of_all_sizes(void)
{
	all_sizes(AG_SEND, OP_SEND);
}

static void source__unaligned_local_memory(void)
{
	static const uint32_t at[] = { 1, 3, 4095, 4097, 8191 };
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;
	unsigned int i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		agent_post(sc->s.conn, i, AG_WRITE, AG_SIGNALED, &mr, at[i], 5001,
			   STAG, TO + at[i]);
		recv_message(sc->p, OP_WRITE, &m);
		must_eq(m.len, 5001, "length");
		must_eq(m.first.to, TO + at[i], "TO");
		must_bytes(got_buf, want_buf + at[i], 5001, "payload");
	}
}

/* no FPDU is longer than a TCP segment, since MULPDU is what fits into one */
static void at_mss(int mss)
{
	struct session s = SESSION_DEFAULT;
	struct message m;
	struct agent_mr mr;

	s.tcp.mss = mss;
	session_start(&s);
	mr = agent_mr(65536, "l");
	agent_post(s.conn, 1, AG_SEND, AG_SIGNALED, &mr, 0, 65536, 0, 0);
	recv_message(s.p, OP_SEND, &m);
	must_eq(m.len, 65536, "length");
	must(m.longest <= (size_t)mss, "an FPDU of %zu bytes at MSS %d", m.longest, mss);
	agent_post(s.conn, 2, AG_WRITE, AG_SIGNALED, &mr, 0, 65536, STAG, TO);
	recv_message(s.p, OP_WRITE, &m);
	must_eq(m.len, 65536, "length");
	must(m.longest <= (size_t)mss, "an FPDU of %zu bytes at MSS %d", m.longest, mss);
}

static void source__segments_fit_mss_536(void)
{
	at_mss(536);
}

static void source__segments_fit_mss_1460(void)
{
	at_mss(1460);
}

/* ---- numbers and order -------------------------------------------------- */

static void source__queues_count_apart(void)
{
	struct scene *sc = scene_start_bare();
	struct message m;
	int i;

	/* recv_message() checks the MSN of each queue, which begins at 1 */
	for (i = 0; i < 4; i++) {
		agent_post(sc->s.conn, 2 * i, AG_SEND, AG_SIGNALED, &sc->recv, 0,
			   8, 0, 0);
		agent_post(sc->s.conn, 2 * i + 1, AG_READ, AG_SIGNALED, &sc->recv,
			   0, 8, STAG, TO);
		recv_message(sc->p, OP_SEND, &m);
		recv_message(sc->p, OP_READ_REQ, &m);
		send_read_resp(sc->p, get32(got_buf), get64(got_buf + 4), sc->data,
			       8);
	}
	must_eq(m.first.msn, sc->p->rx_msn[1] - 1, "MSN on queue 1");
}

static void source__first_msn_is_1(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	struct fpdu f;

	/* without an RTR, which would take an MSN */
	s.plain = true;
	session_start(&s);
	mr = agent_mr(100, "lw");
	agent_post(s.conn, 1, AG_SEND, 0, &mr, 0, 8, 0, 0);
	agent_post(s.conn, 2, AG_READ, 0, &mr, 0, 8, STAG, TO);
	must_get_fpdu(s.p, &f);
	must_eq(f.seg.msn, 1, "MSN of the first Send");
	must_get_fpdu(s.p, &f);
	must_eq(f.seg.msn, 1, "MSN of the first Read Request");
}

static void source__messages_leave_in_order(void)
{
	static const enum agent_op ags[] = { AG_SEND, AG_WRITE, AG_READ, AG_WRITE,
					     AG_SEND_INV, AG_READ, AG_SEND,
					     AG_WRITE };
	static const enum rdmap_op ops[] = { OP_SEND, OP_WRITE, OP_READ_REQ,
					     OP_WRITE, OP_SEND_INV, OP_READ_REQ,
					     OP_SEND, OP_WRITE };
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;
	int i;

	for (i = 0; i < 8; i++)
		agent_post(sc->s.conn, i, ags[i], AG_SIGNALED, &mr, 0, 3000 + i,
			   STAG + i, TO + i);
	for (i = 0; i < 8; i++) {
		recv_message(sc->p, ops[i], &m);
		if (ops[i] == OP_READ_REQ) {
			must_eq(get32(got_buf + 12), 3000 + i, "RDMARDSZ");
			must_eq(get32(got_buf + 16), STAG + i, "source STag");
			must_eq(get64(got_buf + 20), TO + i, "source TO");
			continue;
		}
		must_eq(m.len, 3000 + i, "length");
		if (ops[i] == OP_WRITE)
			must_eq(m.first.stag, STAG + i, "STag");
	}
}

static void source__each_write_has_one_buffer(void)
{
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct message m;
	int i;

	/* Writes to adjacent ranges, which one message could cover */
	for (i = 0; i < 4; i++)
		agent_post(sc->s.conn, i, AG_WRITE, AG_SIGNALED, &mr, i * 100, 100,
			   STAG, TO + i * 100);
	for (i = 0; i < 4; i++) {
		recv_message(sc->p, OP_WRITE, &m);
		must_eq(m.len, 100, "length");
		must_eq(m.first.to, TO + i * 100, "TO");
		must_be_done(i, "RDMA_WRITE");
	}
}

/* ---- Reads -------------------------------------------------------------- */

#define ORD	2
#define READS	8

/* Receive Read Requests, from number @at on, until there are @need; others may follow
 * at once. Return: how many there are now. */
static int open_reads(struct peer *p, uint8_t bodies[][READ_BODY_LEN], int at,
		      int need)
{
	struct fpdu f;

	while (peer_recv_fpdu(p, &f, at < need ? patience(1000) : 100)) {
		must_eq(seg_op(&f.seg), OP_READ_REQ, "opcode");
		must(at < READS, "more Read Requests than posted");
		memcpy(bodies[at++], f.seg.data, READ_BODY_LEN);
	}
	return at;
}

static void source__no_more_reads_than_ord(void)
{
	uint8_t bodies[READS][READ_BODY_LEN];
	struct session s = SESSION_DEFAULT;
	struct scene *sc;
	int i, sent = 0;

	s.qp.ord = ORD;
	session_start(&s);
	sc = scene_start_on(&s);
	for (i = 0; i < READS; i++)
		agent_post(s.conn, i, AG_READ, AG_SIGNALED, &sc->recv, i * 100, 100,
			   STAG + i, TO);
	for (i = 0; i < READS; i++) {
		sent = open_reads(sc->p, bodies, sent, i + 1);
		must(sent - i <= ORD, "%d Reads are open, ORD is %d", sent - i, ORD);
		must(sent > i, "no Read is open, %d are left", READS - i);
		must_eq(get32(bodies[i] + 16), STAG + i, "source STag");
		send_read_resp(sc->p, get32(bodies[i]), get64(bodies[i] + 4),
			       sc->data + i, 100);
		must_be_done(i, "RDMA_READ");
		must_have_memory(&sc->recv, i * 100, sc->data + i, 100);
	}
}

static void source__sinks_of_open_reads_differ(void)
{
	uint8_t bodies[READS][READ_BODY_LEN];
	struct scene *sc = scene_start_bare();
	int i, sent;

	for (i = 0; i < 2; i++)
		agent_post(sc->s.conn, i, AG_READ, AG_SIGNALED, &sc->recv, i * 100,
			   100, STAG, TO);
	sent = open_reads(sc->p, bodies, 0, 2);
	must_eq(sent, 2, "Read Requests");
	/* each sink must be distinct, by its STag or its TO */
	must(memcmp(bodies[0], bodies[1], 12), "two Reads with one sink");
}

static void source__responses_and_messages_do_not_mix(void)
{
	struct agent_mr mr;
	struct scene *sc = source_start(&mr);
	struct agent_mr src = agent_mr(65536, "lr");
	unsigned int responses = 0, sends = 0;
	struct fpdu f;
	int op = -1, i;

	for (i = 0; i < 4; i++) {
		send_read_req(sc->p, i, 0, 65536, src.rkey, src.va);
		agent_post(sc->s.conn, i, AG_SEND, AG_SIGNALED, &mr, 0, 65536, 0,
			   0);
	}
	while (responses < 4 || sends < 4) {
		must_get_fpdu(sc->p, &f);
		must(op < 0 || op == seg_op(&f.seg),
		     "opcode %d inside a message of opcode %d", seg_op(&f.seg),
		     op);
		op = seg_op(&f.seg);
		if (op == OP_READ_RESP)
			must_eq(f.seg.stag, responses, "sink STag");
		if (!seg_last(&f.seg))
			continue;
		if (op == OP_READ_RESP)
			responses++;
		else
			sends++;
		op = -1;
	}
}

/* ---- version 0 ---------------------------------------------------------- */

static void source__version_0(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	struct message m;

	agent_set("rnic rdmac");
	s.rev0 = true;
	session_start(&s);
	must_eq(s.p->version, 0, "version");
	mr = agent_mr(3000, "l");
	agent_post(s.conn, 1, AG_SEND, AG_SIGNALED, &mr, 0, 3000, 0, 0);
	agent_post(s.conn, 2, AG_WRITE, AG_SIGNALED, &mr, 0, 3000, STAG, TO);
	recv_message(s.p, OP_SEND, &m);
	recv_message(s.p, OP_WRITE, &m);
}

#define ROW(name, ids, rule, role, run) { name, ids, rule, role, 0, run }

static const struct conform_test tests[] = {
	ROW("source__write",
	    "DDP-021 DDP-023 DDP-025 DDP-026 DDP-030 DDP-049 "
	    "RDMAP-001 RDMAP-009 RDMAP-010 RDMAP-012 RDMAP-013 RDMAP-014 RDMAP-018 RDMAP-033 "
	    "RDMAP-005",
	    "a Write has the 14-byte header with what was posted", EITHER,
	    source__write),
	ROW("source__send",
	    "DDP-033 DDP-034 DDP-037 DDP-042 RDMAP-001 RDMAP-009 RDMAP-012 RDMAP-016 RDMAP-065 "
	    "RDMAP-072 RDMAP-005",
	    "a Send has the 18-byte header, queue 0 and no STag", EITHER,
	    source__send),
	ROW("source__send_solicited", "DDP-034 RDMAP-012 RDMAP-016 RDMAP-065",
	    "a Send with Solicited Event has opcode 5 and no STag", RESPONDER,
	    source__send_solicited),
	ROW("source__send_with_invalidate",
	    "DDP-034 RDMAP-003 RDMAP-011 RDMAP-012 RDMAP-076",
	    "a Send with Invalidate has the STag in each segment", RESPONDER,
	    source__send_with_invalidate),
	ROW("source__send_solicited_with_invalidate",
	    "DDP-034 RDMAP-011 RDMAP-012 RDMAP-076",
	    "a Send with Solicited Event and Invalidate has the STag in each segment",
	    RESPONDER, source__send_solicited_with_invalidate),
	ROW("source__inline_send", "DDP-033 DDP-046",
	    "a Send of inline data looks like any other", RESPONDER,
	    source__inline_send),
	ROW("source__read_request",
	    "RDMAP-012 RDMAP-016 RDMAP-018 RDMAP-019 RDMAP-042 RDMAP-047 RDMAP-005",
	    "a Read Request has 28 bytes with what was posted and no STag in the header",
	    EITHER, source__read_request),
	ROW("source__empty_write", "DDP-051 DDP-052 RDMAP-040",
	    "an empty Write is one segment with L", RESPONDER, source__empty_write),
	ROW("source__empty_send", "DDP-051 RDMAP-074",
	    "an empty Send is one segment with L", RESPONDER, source__empty_send),
	ROW("source__empty_read", "RDMAP-053", "a Read may be of nothing", RESPONDER,
	    source__empty_read),
	ROW("source__writes_of_all_sizes",
	    "DDP-016 DDP-017 DDP-018 DDP-028 DDP-030 DDP-046 DDP-050 DDP-056 RDMAP-039",
	    "a Write in segments: L in the last alone, TO goes on, the rest stays",
	    EITHER, source__writes_of_all_sizes),
	ROW("source__sends_of_all_sizes",
	    "DDP-016 DDP-017 DDP-018 DDP-019 DDP-034 DDP-037 DDP-041 DDP-042 DDP-046 DDP-048 DDP-056",
	    "a Send in segments: L in the last alone, MO goes on, the rest stays",
	    EITHER, source__sends_of_all_sizes),
	ROW("source__unaligned_local_memory", "DDP-032 DDP-046 DDP-050 RDMAP-036",
	    "a Write may start anywhere in memory at both ends", RESPONDER,
	    source__unaligned_local_memory),
	ROW("source__segments_fit_mss_536", "DDP-044",
	    "no segment is larger than what TCP carries in one of its own, MSS 536",
	    EITHER, source__segments_fit_mss_536),
	ROW("source__segments_fit_mss_1460", "DDP-044",
	    "no segment is larger than what TCP carries in one of its own, MSS 1460",
	    RESPONDER, source__segments_fit_mss_1460),
	ROW("source__queues_count_apart", "DDP-038 DDP-039 RDMAP-002",
	    "numbers go up by one, on each queue apart", EITHER,
	    source__queues_count_apart),
	ROW("source__first_msn_is_1", "DDP-039",
	    "the first message on each queue has number 1", RESPONDER,
	    source__first_msn_is_1),
	ROW("source__messages_leave_in_order",
	    "DDP-055 RDMAP-037 RDMAP-048 RDMAP-050 RDMAP-073",
	    "messages leave in the order in which they were posted", EITHER,
	    source__messages_leave_in_order),
	ROW("source__each_write_has_one_buffer", "RDMAP-039",
	    "each Write is a message of its own", RESPONDER,
	    source__each_write_has_one_buffer),
	ROW("source__no_more_reads_than_ord", "RDMAP-048 RDMAP-059 RDMAP-112",
	    "never more Reads are open than ORD, and all are served in the end",
	    EITHER, source__no_more_reads_than_ord),
	ROW("source__sinks_of_open_reads_differ", "RDMAP-050 RDMAP-064",
	    "each Read has a sink of its own", RESPONDER,
	    source__sinks_of_open_reads_differ),
	ROW("source__responses_and_messages_do_not_mix",
	    "RDMAP-062 RDMAP-064 DDP-018 DDP-055",
	    "a message is sent whole before another starts, Responses in order",
	    RESPONDER, source__responses_and_messages_do_not_mix),
	{ "source__version_0", "DDP-021 DDP-023 RDMAP-013",
	  "on an RDMA Consortium connection both versions are 0", RESPONDER, NEED_SET,
	  source__version_0 },
	{}
};

const struct conform_group source_group = { "source", tests };
