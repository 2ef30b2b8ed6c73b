// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* One call that sets up a connection in Full Operation, the device in either role (RFC
 * 5044 7.1, RFC 6581). */
#include "peer_ext.h"
#include "session.h"

#define EVENT_MS	3000
#define ANY_STAG	1	/* of a zero-length message: must not be checked */
#define ANY_TO		1

static uint16_t depth(int n)
{
	return n < ENH_X ? n : ENH_X - 1;
}

static uint8_t add_flags(const struct session *s, uint8_t flags)
{
	if (s->no_crc)
		flags &= ~MPA_C;
	if (s->markers)
		flags |= MPA_M;
	return flags;
}

/* the frame of an RDMAC stack, in either role */
static void rdmac_frame(struct mpa_frame *f, bool reply)
{
	mpa_plain(f, reply);
	f->rev = 0;
	f->flags = MPA_M | MPA_C;
}

/* ---- we are the initiator ---- */

static void our_request(const struct session *s, struct mpa_frame *f)
{
	if (s->rev0) {
		rdmac_frame(f, false);
		return;
	}
	if (s->plain)
		mpa_plain(f, false);
	else
		mpa_enhanced(f, false, depth(s->qp.ord), depth(s->qp.ird));
	f->flags = add_flags(s, f->flags);
}

static void start_to_responder(struct session *s)
{
	struct mpa_frame request, reply;
	struct agent_event ev;

	s->p = peer_connect(agent_listen(), &s->tcp);
	our_request(s, &request);
	peer_send_frame(s->p, &request);
	agent_must_get_event("CONNECT_REQUEST", &ev);
	s->conn = ev.conn;
	agent_accept(s->conn, &s->qp, NULL, 0);
	must(peer_recv_frame(s->p, true, &reply, patience(EVENT_MS)), "no Reply");
	must(!(reply.flags & MPA_R), "the Reply says rejected");
	peer_agree(s->p, true);
	if (!s->closed_fence)
		send_write(s->p, ANY_STAG, ANY_TO, NULL, 0);
	agent_must_get_event("ESTABLISHED", &ev);
}

/* ---- we are the responder ---- */

/* grant what the device asks for: the depth of its Read queue, its model */
static void our_reply(const struct session *s, struct mpa_frame *f)
{
	if (s->rev0) {
		rdmac_frame(f, true);
		return;
	}
	mpa_grant(f, &s->p->request);
	f->flags = add_flags(s, f->flags);
}

/* take the zero-length message by which the device says that it is ready */
static void take_rtr(struct session *s)
{
	struct peer *p = s->p;
	struct fpdu f;
	int op;

	must_get_fpdu(p, &f);
	hello_decode(&s->offer, &f.seg);
	op = seg_op(&f.seg);
	switch (op) {
	case OP_WRITE:
	case OP_SEND:
		must_eq(f.seg.len, 0, "the length of the RTR");
		break;
	case OP_READ_REQ:
		must_eq(f.seg.ulpdu_len, READ_REQ_LEN,
			"the length of the RTR Read Request");
		must_eq(get32(f.seg.data + 12), 0, "the size of the RTR Read");
		send_read_resp(p, get32(f.seg.data), get64(f.seg.data + 4), NULL, 0);
		break;
	default:
		must(false, "the first message has opcode %d: no RTR", op);
	}
	if (!seg_tagged(&f.seg))
		p->rx_msn[f.seg.qn & 3]++;
}

static bool peer_to_peer(const struct peer *p)
{
	return p->reply.flags & MPA_S && enh_word0(&p->reply) & ENH_A;
}

static void start_to_initiator(struct session *s)
{
	struct mpa_frame request, reply;
	struct agent_event ev;
	struct fpdu f;

	if (s->plain || s->rev0)
		agent_set("mpa-rev 1");
	s->conn = agent_connect(peer_listen(&s->tcp), &s->qp, NULL, 0);
	s->p = peer_accept(patience(EVENT_MS));
	must(s->p, "the device does not connect");
	must(peer_recv_frame(s->p, false, &request, patience(EVENT_MS)), "no Request");
	our_reply(s, &reply);
	peer_send_frame(s->p, &reply);
	peer_agree(s->p, false);
	if (peer_to_peer(s->p))
		take_rtr(s);
	agent_must_get_event("ESTABLISHED", &ev);
	if (peer_to_peer(s->p))
		return;
	/* we are a responder and may not send first, so the device sends a Write */
	agent_post(s->conn, 0, AG_WRITE, 0, NULL, 0, 0, ANY_STAG, ANY_TO);
	must_get_first(s->p, &f, OP_WRITE, &s->offer);
}

void session_start(struct session *s)
{
	if (dut_role() == RESPONDER)
		start_to_responder(s);
	else
		start_to_initiator(s);
	s->port = s->p->port;
}

struct session session_default(void)
{
	struct session s = SESSION_DEFAULT;

	session_start(&s);
	return s;
}

void pattern(void *buf, size_t len, unsigned int seed)
{
	uint8_t *at = buf;
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (i + seed * 37) * 167 + (i >> 8) * 29 + 1;
}
