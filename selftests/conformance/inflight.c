// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Count the RDMA Reads under way in either direction (RFC 6581 9.1): see inflight.h. */
#include "inflight.h"

#include <stdlib.h>

/* more than TCP takes from the device while our window is shut */
#define BIG	(1 << 18)
#define SMALL	4

#define SINK_STAG	0x5111

static uint64_t sink_to(uint32_t msn)
{
	return (uint64_t)msn << 32;
}

/* ---- Reads of ours ---- */

size_t build_reads(struct peer *p, const struct agent_mr *mr, int n, uint32_t size,
		   void *out)
{
	static uint8_t ulpdu[ULPDU_MAX + 64];
	uint8_t *at = out;

	for (int i = 0; i < n; i++) {
		uint32_t len = seg_read_req(p, SINK_STAG, sink_to(p->tx_msn[1]), size,
					    mr->rkey, mr->va, ulpdu);

		at += fpdu_build(p, ulpdu, len, NULL, at);
	}
	return at - (uint8_t *)out;
}

static void must_get_response(struct peer *p, uint32_t msn, uint32_t size)
{
	uint32_t got = 0;
	struct fpdu f;

	do {
		must_get_op(p, &f, OP_READ_RESP);
		must_eq(f.seg.stag, SINK_STAG, "sink STag of the Response");
		must_eq(f.seg.to, sink_to(msn) + got, "sink TO of the Response");
		got += f.seg.len;
	} while (!seg_last(&f.seg));
	must_eq(got, size, "bytes of the Response");
}

void must_get_responses(struct peer *p, uint32_t msn, int n, uint32_t size)
{
	for (int i = 0; i < n; i++)
		must_get_response(p, msn + i, size);
}

static void send_reads(struct peer *p, const struct agent_mr *mr, int n, uint32_t size)
{
	uint8_t *out = malloc(READS_MAX(n));

	must(out, "out of memory");
	peer_send(p, out, build_reads(p, mr, n, size, out));
	free(out);
}

void must_serve_reads(struct peer *p, int n)
{
	struct agent_mr mr = agent_mr(SMALL, "r");
	uint32_t msn = p->tx_msn[1];

	send_reads(p, &mr, n, SMALL);
	must_get_responses(p, msn, n, SMALL);
}

void must_have_ird(struct meeting *m, int n)
{
	struct agent_mr mr = agent_mr(BIG, "r");
	struct peer *p = m->p;
	uint32_t msn = p->tx_msn[1];

	if (n) {
		send_reads(p, &mr, n, BIG);
		must_get_responses(p, msn, 1, BIG);
		send_reads(p, &mr, 1, BIG);
		must_get_responses(p, msn + 1, n, BIG);
	}
	send_reads(p, &mr, n + 1, BIG);
	must_get_terminate(p, 1, 2, 0x02, true, NULL);
}

/* ---- Reads of the device ---- */

#define BEYOND	2	/* Reads more than may be under way */

/* offsets of the fields of a Read Request, after its DDP header */
#define REQ_SINK_STAG	0
#define REQ_SINK_TO	4

struct sink {
	uint32_t stag;
	uint64_t to;
};

static void note_request(const struct fpdu *f, struct sink *sink)
{
	sink->stag = get32(f->seg.data + REQ_SINK_STAG);
	sink->to = get64(f->seg.data + REQ_SINK_TO);
}

static void take_request(struct peer *p, struct sink *sink)
{
	struct fpdu f;

	must_get_op(p, &f, OP_READ_REQ);
	note_request(&f, sink);
}

/* take one more Read Request if it has come */
static bool take_request_if_any(struct peer *p, struct sink *sink)
{
	struct fpdu f;

	if (!peer_recv_fpdu(p, &f, 10))
		return false;
	must_eq(seg_op(&f.seg), OP_READ_REQ, "opcode");
	p->rx_msn[1]++;
	note_request(&f, sink);
	return true;
}

static void answer(struct peer *p, const struct sink *sink)
{
	send_read_resp(p, sink->stag, sink->to, "read", SMALL);
}

static bool post_reads(struct meeting *m, int n)
{
	struct agent_mr mr = agent_mr(4096, "lw");

	for (int i = 0; i < n; i++) {
		int err = agent_try_post(m->conn, 100 + i, AG_READ, AG_SIGNALED, &mr,
					 SMALL * i, SMALL, 0x7e57, 0);

		if (err)
			return false;
	}
	return true;
}

/* ORD 0: the device refuses a Read, holds it or ends the stream, but does not send it */
static void must_send_no_reads(struct meeting *m)
{
	struct fpdu f;

	post_reads(m, 1);
	if (peer_recv_fpdu(m->p, &f, 150))
		must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode");
}

/* the device may wait for several Responses before it sends the next Request */
void must_have_ord(struct meeting *m, int n)
{
	int total = n + BEYOND, sent = n, answered;
	struct sink sinks[32];
	struct agent_wc wc;

	if (!n)
		return must_send_no_reads(m);
	must(post_reads(m, total), "a Read was not taken");
	for (int i = 0; i < n; i++)
		take_request(m->p, &sinks[i]);
	must_be_silent(m->p, 100);
	for (answered = 0; answered < total; answered++) {
		if (sent == answered)
			take_request(m->p, &sinks[sent++]);
		answer(m->p, &sinks[answered]);
		agent_must_get_wc(100 + answered, "SUCCESS", &wc);
		while (sent < total && take_request_if_any(m->p, &sinks[sent]))
			sent++;
		must(sent - answered - 1 <= n, "%d Reads are under way",
		     sent - answered - 1);
	}
}
