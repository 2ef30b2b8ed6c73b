// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* One startup, frame by frame (RFC 5044 7.1, RFC 6581): see meet.h. */
#include "meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- enhanced frames ---- */

void meet_enhanced(struct mpa_frame *f, bool reply, bool p2p, int types, int ird,
		   int ord)
{
	uint16_t word0 = (p2p ? ENH_A : 0) | (types & RTR_B ? ENH_B : 0) | ird;
	uint16_t word1 = (types & RTR_C ? ENH_C : 0) | (types & RTR_D ? ENH_D : 0) | ord;

	mpa_enhanced(f, reply, word0, word1);
}

bool enh_p2p(const struct mpa_frame *f)
{
	return enh_word0(f) & ENH_A;
}

int enh_types(const struct mpa_frame *f)
{
	return (enh_word0(f) & ENH_B ? RTR_B : 0) |
	       (enh_word1(f) & ENH_C ? RTR_C : 0) |
	       (enh_word1(f) & ENH_D ? RTR_D : 0);
}

int enh_ird(const struct mpa_frame *f)
{
	return enh_word0(f) & ENH_X;
}

int enh_ord(const struct mpa_frame *f)
{
	return enh_word1(f) & ENH_X;
}

void mpa_add_pd(struct mpa_frame *f, const void *data, size_t len)
{
	memcpy(f->pd + f->pd_len, data, len);
	f->pd_len += len;
}

void set_rtr(int types)
{
	char words[32];

	snprintf(words, sizeof(words), "rtr%s%s%s", types & RTR_C ? ",write" : "",
		 types & RTR_D ? ",read" : "", types & RTR_B ? ",send" : "");
	words[strlen("rtr")] = ' ';
	agent_set(words);
}

/* ---- the device is the responder ---- */

void meet_knock(struct meeting *m, const struct mpa_frame *req)
{
	m->p = peer_connect(agent_listen(), &m->tcp);
	peer_send_frame(m->p, req);
	m->p->request = *req;
	agent_must_get_event("CONNECT_REQUEST", &m->called);
	m->conn = m->called.conn;
}

void meet_accept(struct meeting *m)
{
	agent_accept(m->conn, &m->qp, m->pd, m->pd_len);
	must(peer_recv_frame(m->p, true, &m->p->reply, patience(1000)), "no Reply came");
	must(!(m->p->reply.flags & MPA_R), "the Reply rejects, the ULP accepted");
	peer_agree(m->p, true);
}

void meet_responder(struct meeting *m, const struct mpa_frame *req)
{
	meet_knock(m, req);
	meet_accept(m);
}

void meet_p2p(struct meeting *m, int types)
{
	struct mpa_frame req;

	meet_enhanced(&req, false, true, types, 8, 8);
	meet_responder(m, &req);
	must(enh_p2p(&m->p->reply), "A of the Reply is 0");
}

void need_type(const struct meeting *m, int type)
{
	if (!(enh_types(&m->p->reply) & type))
		skip("the device does not list this type");
}

/* ---- the device is the initiator ---- */

void meet_call(struct meeting *m)
{
	uint16_t port = peer_listen(&m->tcp);

	m->conn = agent_connect(port, &m->qp, m->pd, m->pd_len);
	m->p = peer_accept(patience(1000));
	must(m->p, "the device did not connect");
	must(peer_recv_frame(m->p, false, &m->p->request, patience(1000)),
	     "no Request came");
}

void meet_call_enhanced(struct meeting *m)
{
	meet_call(m);
	if (!(m->p->request.flags & MPA_S))
		skip("the device sends no enhanced Request");
}

void meet_answer(struct meeting *m, const struct mpa_frame *reply)
{
	peer_send_frame(m->p, reply);
	m->p->reply = *reply;
	peer_agree(m->p, false);
}

void meet_answer_depths(struct meeting *m, int ird, int ord)
{
	const struct mpa_frame *req = &m->p->request;
	struct mpa_frame reply;

	meet_enhanced(&reply, true, enh_p2p(req), enh_types(req), ird, ord);
	meet_answer(m, &reply);
}

/* ---- how it goes on ---- */

static void depths_responder(struct meeting *m, int ird, int ord)
{
	struct mpa_frame req;

	meet_enhanced(&req, false, false, 0, ird, ord);
	meet_responder(m, &req);
	send_rtr(m->p, OP_WRITE);
	must_be_up(m);
}

static void depths_initiator(struct meeting *m, int ird, int ord)
{
	meet_call_enhanced(m);
	meet_answer_depths(m, ird, ord);
	if (enh_p2p(&m->p->request))
		must_get_any_rtr(m->p, enh_types(&m->p->request));
	must_be_up(m);
}

void meet_depths(struct meeting *m, int ird, int ord)
{
	if (dut_role() == RESPONDER)
		depths_responder(m, ird, ord);
	else
		depths_initiator(m, ird, ord);
}

/* a message without data may name any STag and TO */
#define NOBODYS_STAG	0xdeadbeef
#define NOBODYS_TO	0xfedcba9876543210ull

void send_rtr(struct peer *p, enum rdmap_op op)
{
	struct fpdu f;

	if (op == OP_WRITE)
		return send_write(p, NOBODYS_STAG, NOBODYS_TO, NULL, 0);
	if (op == OP_SEND)
		return send_send(p, NULL, 0);
	send_read_req(p, NOBODYS_STAG, NOBODYS_TO, 0, NOBODYS_STAG, NOBODYS_TO);
	must_get_op(p, &f, OP_READ_RESP);
	must_eq(f.seg.len, 0, "length of the Response to the RTR Read");
	must(seg_last(&f.seg), "the Response has no Last");
	must_eq(f.seg.stag, NOBODYS_STAG, "STag of the Response");
	must_eq(f.seg.to, NOBODYS_TO, "TO of the Response");
}

/* offsets of the fields of a Read Request, after its DDP header */
#define REQ_SINK_STAG	0
#define REQ_SINK_TO	4
#define REQ_SIZE	12

static void check_rtr(struct peer *p, const struct seg *s)
{
	must(seg_last(s), "the RTR has no Last");
	if (seg_op(s) != OP_READ_REQ) {
		must_eq(s->len, 0, "length of the RTR");
		return;
	}
	must_eq(get32(s->data + REQ_SIZE), 0, "size that the RTR Read asks for");
	send_read_resp(p, get32(s->data + REQ_SINK_STAG), get64(s->data + REQ_SINK_TO),
		       NULL, 0);
}

void must_get_rtr(struct peer *p, enum rdmap_op op)
{
	struct fpdu f;

	must_get_op(p, &f, op);
	check_rtr(p, &f.seg);
}

void take_rtr(struct peer *p, const struct fpdu *f, int types)
{
	int op = seg_op(&f->seg);

	must((op == OP_WRITE && types & RTR_C) || (op == OP_READ_REQ && types & RTR_D) ||
	     (op == OP_SEND && types & RTR_B), "the first message has opcode %d", op);
	if (op == OP_READ_REQ)
		p->rx_msn[1]++;
	if (op == OP_SEND)
		p->rx_msn[0]++;
	check_rtr(p, &f->seg);
}

void must_get_any_rtr(struct peer *p, int types)
{
	struct fpdu f;

	must_get_fpdu(p, &f);
	take_rtr(p, &f, types);
}

enum rdmap_op preferred_rtr(int shared)
{
	if (shared & RTR_C)
		return OP_WRITE;
	return shared & RTR_D ? OP_READ_REQ : OP_SEND;
}

void must_be_up(struct meeting *m)
{
	agent_must_get_event("ESTABLISHED", &m->up);
	must_eq((uint32_t)m->up.status, 0, "status of ESTABLISHED");
	must_eq(m->up.conn, m->conn, "connection of ESTABLISHED");
}

void must_have_failed(struct meeting *m)
{
	struct agent_event ev;

	must(agent_event(&ev, patience(2000)), "connect() ends in no event");
	must(!strcmp(ev.name, "CONNECT_ERROR") || !strcmp(ev.name, "REJECTED") ||
	     !strcmp(ev.name, "UNREACHABLE"), "connect() ends in %s", ev.name);
	must_eq(ev.conn, m->conn, "connection of the event");
}

void must_not_be_up(struct meeting *m)
{
	struct agent_event ev;
	bool told = false;

	while (agent_event(&ev, told ? 100 : patience(2000))) {
		must(strcmp(ev.name, "ESTABLISHED") || ev.status,
		     "connection %d is ESTABLISHED", m->conn);
		told = true;
	}
	must(told, "the ULP is not told that the connection failed");
}

void must_receive_send(struct meeting *m, const struct agent_mr *mr, uint64_t wr_id)
{
	struct agent_wc wc;

	agent_recv(m->conn, wr_id, mr, 0, 64);
	send_send(m->p, "message", 7);
	agent_must_get_wc(wr_id, "SUCCESS", &wc);
	must_eq(wc.byte_len, 7, "byte_len");
}

void must_send(struct meeting *m)
{
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;
	struct fpdu f;

	agent_post(m->conn, 9, AG_SEND, AG_SIGNALED, &mr, 0, 5, 0, 0);
	must_get_op(m->p, &f, OP_SEND);
	must_eq(f.seg.len, 5, "length of a Send");
	agent_must_get_wc(9, "SUCCESS", &wc);
}

void meet_leave(struct meeting *m)
{
	/* in this order, since the device may retry a connect() whose connection was
	 * closed */
	agent_destroy(m->conn);
	peer_close(m->p);
}

void must_have_state(struct peer *p, const char *key, long want)
{
	char value[64];

	must(agent_state(p->port, key, value, sizeof(value)),
	     "the device knows no %s of the connection", key);
	must(strtol(value, NULL, 0) == want, "%s is %s, not %ld", key, value, want);
}
