// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Startups that fail, and the checks that follow them: see knock.h. */
#include "knock.h"

#include <string.h>

#include "session.h"

#define SILENCE_MS	100
#define FAIL_MS		3000
#define STEP_MS		20

struct peer *knock(uint16_t port, const struct mpa_frame *f)
{
	struct peer *p = peer_connect(port, NULL);

	peer_send_frame(p, f);
	return p;
}

void expect_refused(struct peer *p)
{
	expect_closed_silently(p);
	agent_expect_no_event(SILENCE_MS);
}

static bool is_error(const char *name)
{
	return !strcmp(name, "CONNECT_ERROR") || !strcmp(name, "REJECTED") ||
	       !strcmp(name, "UNREACHABLE");
}

void expect_call_error(struct meeting *m, struct agent_event *ev)
{
	uint64_t end = now_ms() + patience(FAIL_MS);
	struct peer *again;

	while (!agent_event(ev, STEP_MS)) {
		again = peer_accept(0);
		if (again)
			peer_close(again);
		expect(now_ms() < end, "connect() ends in no event");
	}
	expect(is_error(ev->name), "connect() ends in %s, not in an error", ev->name);
	expect_eq("the connection of the event", ev->conn, m->conn);
}

void expect_call_fails(struct meeting *m)
{
	struct agent_event ev;

	expect_closed_silently(m->p);
	expect_call_error(m, &ev);
	agent_destroy(m->conn);
}

void expect_plain_retry(struct meeting *m)
{
	const struct mpa_frame *f;

	m->p = peer_accept(patience(FAIL_MS));
	expect(m->p, "the device does not connect anew");
	expect(peer_recv_frame(m->p, false, &m->p->request, patience(FAIL_MS)),
	       "no Request on the new connection");
	f = &m->p->request;
	expect_eq("Rev of the new Request", f->rev, 1);
	expect_eq("S of the new Request", f->flags & MPA_S, 0);
}

void expect_no_retry(void)
{
	expect(!peer_accept(SILENCE_MS), "the device connects anew");
}

void expect_reply_refused(const struct mpa_frame *reply)
{
	struct meeting m = MEETING_DEFAULT;

	meet_call(&m);
	peer_send_frame(m.p, reply);
	expect_call_fails(&m);
}

void expect_serves(void)
{
	struct session s = session_default();

	expect_alive(s.p);
}

void good_reply(const struct meeting *m, struct mpa_frame *f)
{
	const struct mpa_frame *request = &m->p->request;

	if (request->rev >= 2 && request->flags & MPA_S) {
		meet_enhanced(f, true, enh_p2p(request), enh_types(request), 8, 8);
		return;
	}
	mpa_plain(f, true);
	f->rev = request->rev;
}

void expect_plain_up(struct meeting *m, const struct mpa_frame *f)
{
	struct fpdu fpdu;

	meet_answer(m, f);
	expect_up(m);
	expect_eq("the length that the ULP sees", m->up.pd_len, f->pd_len);
	expect_octets("private data", m->up.pd, f->pd, f->pd_len);
	agent_post(m->conn, 1, AG_WRITE, 0, NULL, 0, 0, 1, 1);
	expect_op(m->p, &fpdu, OP_WRITE);
	expect_alive(m->p);
}

void rev_reply(struct mpa_frame *f, uint8_t rev, uint8_t flags)
{
	mpa_plain(f, true);
	f->rev = rev;
	f->flags |= flags;
}

void call_with(struct meeting *m, const char *setting, uint8_t rev, uint8_t s)
{
	agent_set(setting);
	meet_call(m);
	expect_eq("Rev of the Request", m->p->request.rev, rev);
	expect_eq("S of the Request", m->p->request.flags & MPA_S, s);
}

void call_enhanced(struct meeting *m)
{
	meet_call(m);
	if (!(m->p->request.flags & MPA_S))
		skip("the device sends no enhanced Request");
	expect_eq("Rev of the Request", m->p->request.rev, 2);
}
