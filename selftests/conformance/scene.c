// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* A connection to a device that receives segments, and how it accepts or refuses them:
 * see scene.h. */
#include "scene.h"

#include <string.h>

#define SEG_ROOM	(UNTAGGED_HDR + SCENE_DATA_LEN)

/* tests leave by longjmp: these outlive them */
static struct scene scene;
static uint8_t ulpdu_buf[SEG_ROOM];
static uint8_t wire_buf[4 * SEG_ROOM];

struct scene *scene_start_on(const struct session *s)
{
	struct scene *sc = &scene;

	memset(sc, 0, sizeof(*sc));
	sc->s = *s;
	sc->p = s->p;
	sc->sink = agent_mr(SCENE_SINK_LEN, "lrw");
	sc->recv = agent_mr(SCENE_RECV_LEN, "lw");
	pattern(sc->data, sizeof(sc->data), 1);
	return sc;
}

struct scene *scene_start_bare(void)
{
	struct session s = session_default();

	return scene_start_on(&s);
}

struct scene *scene_start(void)
{
	struct scene *sc = scene_start_bare();

	scene_post_recv(sc, SCENE_RECV_LEN);
	return sc;
}

void scene_post_recv(struct scene *sc, size_t len)
{
	agent_recv(sc->s.conn, SCENE_RECV_ID, &sc->recv, 0, len);
	sc->posted++;
}

/* ---- segments ----------------------------------------------------------- */

void seg_set_op(struct seg *seg, int op)
{
	seg->rdmap = (seg->rdmap & 0xc0) | op;
}

static struct seg untagged(struct scene *sc, enum rdmap_op op, uint32_t qn)
{
	return (struct seg){
		.ctrl = DDP_LAST | sc->p->version,
		.rdmap = peer_tx_rv(sc->p) << 6 | op,
		.qn = qn,
		.msn = sc->p->tx_msn[qn],
	};
}

struct seg scene_send(struct scene *sc, uint32_t len)
{
	struct seg seg = untagged(sc, OP_SEND, 0);

	seg.data = sc->data;
	seg.len = len;
	return seg;
}

struct seg scene_write(struct scene *sc, uint32_t at, uint32_t len)
{
	return (struct seg){
		.ctrl = DDP_TAGGED | DDP_LAST | sc->p->version,
		.rdmap = peer_tx_rv(sc->p) << 6 | OP_WRITE,
		.stag = sc->sink.rkey,
		.to = sc->sink.va + at,
		.data = sc->data,
		.len = len,
	};
}

struct seg scene_read(struct scene *sc, uint32_t at, uint32_t len)
{
	struct seg seg = untagged(sc, OP_READ_REQ, 1);

	put32(sc->body, 0xdeadbeef);
	put64(sc->body + 4, 0x1122334455667788);
	put32(sc->body + 12, len);
	put32(sc->body + 16, sc->sink.rkey);
	put64(sc->body + 20, sc->sink.va + at);
	seg.data = sc->body;
	seg.len = READ_BODY_LEN;
	return seg;
}

void scene_put(struct scene *sc, const struct seg *seg)
{
	peer_send_fpdu(sc->p, ulpdu_buf, seg_encode(seg, ulpdu_buf));
	if (!seg_tagged(seg) && seg_last(seg) && seg->qn < 4)
		sc->p->tx_msn[seg->qn]++;
}

void scene_send_cut(struct scene *sc, uint32_t len, uint32_t cut, bool whole)
{
	struct seg seg = scene_send(sc, 0);
	uint32_t at;

	for (at = 0; at < len; at += cut) {
		seg.len = len - at < cut ? len - at : cut;
		seg.mo = at;
		seg.data = sc->data + at;
		if (at + cut < len)
			seg.ctrl &= ~DDP_LAST;
		else if (whole)
			seg.ctrl |= DDP_LAST;
		else
			return;
		scene_put(sc, &seg);
	}
}

/* ---- refusal ------------------------------------------------------------ */

/* receive the Terminate, after any Response that was under way */
static void recv_terminate(struct scene *sc, struct term *t)
{
	struct fpdu f;

	do
		must_get_fpdu(sc->p, &f);
	while (seg_op(&f.seg) == OP_READ_RESP);
	must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode of the answer");
	must(term_decode(t, &f.seg), "the Terminate is too short");
}

static void must_get_verdict(const struct term *t, int verdict, int other)
{
	int got = VERDICT(t->layer, t->etype, t->code);

	must(got == verdict || got == other,
	     "Terminate %d/%d/%02x, not %d/%d/%02x", t->layer, t->etype, t->code,
	     verdict >> 12, verdict >> 8 & 15, verdict & 255);
}

/* RFC 5040 4.8: what the Terminate copies is of the offending segment.
 * ddp__terminate_has_*_copies test that there are copies. */
static void must_copy(const struct term *t, const uint8_t *ulpdu, uint32_t len)
{
	uint32_t want = ulpdu[0] & DDP_TAGGED ? TAGGED_HDR : UNTAGGED_HDR;

	if (t->m)
		must_eq(t->ddp_len, len, "DDP segment length");
	if (t->d) {
		must_eq(t->ddp_hdr_len, want, "copied header's length");
		must(len >= want, "a header is copied that never came");
		must_bytes(t->ddp, ulpdu, want, "copied DDP header");
	}
	if (t->r) {
		must_eq(len, READ_REQ_LEN, "copied message's length");
		must_bytes(t->rdma, ulpdu + UNTAGGED_HDR, READ_BODY_LEN,
			   "copied Read Request");
	}
}

void scene_must_end(struct scene *sc, const void *ulpdu, uint32_t len,
		    int verdict, int other)
{
	struct term t;

	recv_terminate(sc, &t);
	must_get_verdict(&t, verdict, other);
	if (ulpdu)
		must_copy(&t, ulpdu, len);
	must_close_silently(sc->p);
	peer_close(sc->p);
}

void scene_must_flush(struct scene *sc, int verdict)
{
	struct agent_wc wc;
	int i;

	for (i = 0; i < sc->posted; i++) {
		must(agent_poll(&wc, patience(1000)),
		     "%d of %d requests were flushed", i, sc->posted);
		if (verdict == DU_TOO_LONG && wc.wr_id == SCENE_RECV_ID &&
		    !strcmp(wc.status, "LOC_LEN_ERR"))
			continue;
		must(!strcmp(wc.status, "WR_FLUSH_ERR"),
		     "request %llu completed with %s",
		     (unsigned long long)wc.wr_id, wc.status);
	}
	/* anything else would have completed before the flush */
	agent_must_get_no_wc(1);
}

/* send the bad segment and a good Write to the start of the sink, in one piece */
static void send_with_write_after(struct scene *sc, const void *ulpdu,
				  uint32_t len)
{
	struct seg seg = scene_write(sc, 0, 8);
	uint8_t good[TAGGED_HDR + 8];
	size_t n = fpdu_build(sc->p, ulpdu, len, NULL, wire_buf);

	n += fpdu_build(sc->p, good, seg_encode(&seg, good), NULL,
			wire_buf + n);
	peer_send(sc->p, wire_buf, n);
}

void scene_refuse_bytes(struct scene *sc, const void *ulpdu, uint32_t len,
			int verdict)
{
	send_with_write_after(sc, ulpdu, len);
	scene_must_end(sc, ulpdu, len, verdict, VERDICT_NONE);
	scene_must_flush(sc, verdict);
	must_be_untouched(&sc->sink);
	must_be_untouched(&sc->recv);
}

static void refuse(struct scene *sc, const struct seg *seg, int verdict,
		   int other)
{
	uint32_t len = seg_encode(seg, ulpdu_buf);

	send_with_write_after(sc, ulpdu_buf, len);
	scene_must_end(sc, ulpdu_buf, len, verdict, other);
	scene_must_flush(sc, verdict);
	must_be_untouched(&sc->sink);
}

void scene_refuse_placed(struct scene *sc, const struct seg *seg, int verdict)
{
	refuse(sc, seg, verdict, VERDICT_NONE);
}

void scene_refuse_either(struct scene *sc, const struct seg *seg, int verdict,
			 int other)
{
	refuse(sc, seg, verdict, other);
	must_be_untouched(&sc->recv);
}

void scene_refuse(struct scene *sc, const struct seg *seg, int verdict)
{
	scene_refuse_either(sc, seg, verdict, VERDICT_NONE);
}

/* ---- acceptance --------------------------------------------------------- */

void scene_must_receive(uint64_t wr_id, uint32_t len)
{
	struct agent_wc wc;

	agent_must_get_wc(wr_id, "SUCCESS", &wc);
	must(!strcmp(wc.opcode, "RECV"), "completion of %s, not RECV", wc.opcode);
	must_eq(wc.byte_len, len, "byte_len");
}

void scene_must_do_nothing(struct scene *sc)
{
	must_be_alive(sc->p);
	agent_must_get_no_wc(1);
	must_be_untouched(&sc->sink);
	must_be_untouched(&sc->recv);
}
