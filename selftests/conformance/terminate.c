// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* What a Terminate must look like: RFC 5040 4.8 and 7.1, Q30. */
#include <string.h>

#include "terminate.h"

#define TERM_CTRL_LEN	4
#define TERM_MIN	(UNTAGGED_HDR + TERM_CTRL_LEN)
#define RREQ_BODY	(READ_REQ_LEN - UNTAGGED_HDR)
#define USUAL_MS	1000

static uint32_t ddp_hdr_len(const uint8_t *seg)
{
	return seg[0] & DDP_TAGGED ? TAGGED_HDR : UNTAGGED_HDR;
}

/* local catastrophic errors, errors of the LLP and segments without a whole header:
 * nothing is copied */
static bool wants_ddp(int triplet, const uint8_t *seg, uint32_t len)
{
	return seg && len && TRIPLET_LAYER(triplet) != 2 && TRIPLET_ETYPE(triplet) &&
	       len >= ddp_hdr_len(seg);
}

static int opcode_of(const uint8_t *seg)
{
	const struct seg s = { .rdmap = seg[1] };

	return seg_op(&s);
}

/* the Read Request header is copied for errors of RDMAP on a whole Read Request only
 * (Q30) */
static bool wants_rdma(int triplet, const uint8_t *seg, uint32_t len)
{
	return !TRIPLET_LAYER(triplet) && !(seg[0] & DDP_TAGGED) &&
	       opcode_of(seg) == OP_READ_REQ && len == READ_REQ_LEN;
}

static uint32_t build_terminate(const struct peer *p, int triplet, const uint8_t *seg,
				uint32_t len, uint8_t *out)
{
	uint32_t copy;

	memset(out, 0, TERM_MAX);
	out[0] = DDP_LAST | p->version;
	out[1] = peer_rx_rv(p) << 6 | OP_TERMINATE;
	put32(out + 6, 2);
	put32(out + 10, 1);
	out[UNTAGGED_HDR] = TRIPLET_LAYER(triplet) << 4 | TRIPLET_ETYPE(triplet);
	out[UNTAGGED_HDR + 1] = TRIPLET_CODE(triplet);
	if (!wants_ddp(triplet, seg, len))
		return TERM_MIN;
	out[UNTAGGED_HDR + 2] = HDRCT_M | HDRCT_D;
	copy = ddp_hdr_len(seg);
	if (wants_rdma(triplet, seg, len)) {
		out[UNTAGGED_HDR + 2] |= HDRCT_R;
		copy += RREQ_BODY;
	}
	put16(out + TERM_MIN, len);
	memcpy(out + TERM_MIN + 2, seg, copy);
	return TERM_MIN + 2 + copy;
}

void recv_terminate(struct peer *p, bool skip_others, struct terminate *t)
{
	struct fpdu f;

	do
		must_get_fpdu(p, &f);
	while (skip_others && (seg_tagged(&f.seg) || seg_op(&f.seg) != OP_TERMINATE));
	must(!seg_tagged(&f.seg) && seg_op(&f.seg) == OP_TERMINATE,
	     "bytes 0 and 1 are %02x %02x: no Terminate", f.seg.ctrl, f.seg.rdmap);
	must(f.seg.ulpdu_len >= TERM_MIN && f.seg.ulpdu_len <= TERM_MAX,
	     "the Terminate's DDP segment has %u bytes", f.seg.ulpdu_len);
	memcpy(t->ulpdu, f.seg.ulpdu, f.seg.ulpdu_len);
	t->len = f.seg.ulpdu_len;
	t->triplet = f.seg.data[0] << 8 | f.seg.data[1];
}

/* a local catastrophic error may have any code */
static bool same_triplet(int got, int want)
{
	if (want == TRIPLET(0, 0, 0))
		return !(got >> 8);
	return got == want;
}

void check_terminate(const struct peer *p, const struct terminate *t, int triplet,
		     int alt, const void *offender, uint32_t len)
{
	uint8_t want[TERM_MAX];
	uint32_t want_len;

	must(same_triplet(t->triplet, triplet) || t->triplet == alt,
	     "the Terminate is %d/%d/%02x, not %d/%d/%02x",
	     TRIPLET_LAYER(t->triplet), TRIPLET_ETYPE(t->triplet),
	     TRIPLET_CODE(t->triplet), TRIPLET_LAYER(triplet),
	     TRIPLET_ETYPE(triplet), TRIPLET_CODE(triplet));
	want_len = build_terminate(p, t->triplet, offender, len, want);
	must_bytes(t->ulpdu, want, t->len < want_len ? t->len : want_len,
		   "the Terminate");
	must_eq(t->len, want_len, "length of the Terminate's segment");
}

void must_get_terminate_for(struct peer *p, int triplet, int alt,
			    const void *offender, uint32_t len)
{
	struct terminate t;

	recv_terminate(p, false, &t);
	check_terminate(p, &t, triplet, alt, offender, len);
}

uint32_t seg_wild_write(struct peer *p, void *out)
{
	uint8_t data[8];

	pattern(data, sizeof(data), 1);
	return seg_write(p, WILD_STAG, 0x10000, data, sizeof(data), true, out);
}

struct agent_mr session_stuck(struct session *s)
{
	struct agent_mr mr;

	session_start(s);
	mr = agent_mr(STUCK_LEN, "lr");
	send_read_req(s->p, WILD_STAG, 0, STUCK_LEN, mr.rkey, mr.va);
	return mr;
}

struct open_read must_get_read_request(struct peer *p)
{
	struct open_read r;
	struct fpdu f;

	must_get_op(p, &f, OP_READ_REQ);
	must_eq(f.seg.ulpdu_len, READ_REQ_LEN, "length of the Read Request");
	memcpy(r.ulpdu, f.seg.ulpdu, READ_REQ_LEN);
	r.msn = f.seg.msn;
	r.stag = get32(f.seg.data);
	r.to = get64(f.seg.data + 4);
	r.size = get32(f.seg.data + 12);
	return r;
}

void must_get_wcs(const struct want_wc *want)
{
	const struct want_wc *w;
	uint32_t seen = 0;
	struct agent_wc wc;
	unsigned int n;

	for (n = 0; want[n].status; n++)
		;
	while (n--) {
		must(agent_poll(&wc, patience(USUAL_MS)), "completions are missing");
		for (w = want; w->status && w->wr_id != wc.wr_id; w++)
			;
		must(w->status && !(seen & 1u << (w - want)),
		     "a completion of %llu, %s, that should not be",
		     (unsigned long long)wc.wr_id, wc.status);
		seen |= 1u << (w - want);
		must(!strcmp(w->status, wc.status), "completion of %llu is %s, not %s",
		     (unsigned long long)wc.wr_id, wc.status, w->status);
	}
}

void must_have_ended_qp(int conn)
{
	struct agent_event ev;

	agent_must_get_event("DISCONNECTED", &ev);
	must(!strcmp(agent_qp_state(conn), "ERR"), "the QP's state is %s, not ERR",
	     agent_qp_state(conn));
}

void must_get_async(int conn, const char *want)
{
	const char *name;
	int of;

	do {
		name = agent_async(&of, patience(USUAL_MS));
		must(name, "no async event %s", want);
	} while (strcmp(name, want));
	must_eq(of, conn, "connection of the event");
}
