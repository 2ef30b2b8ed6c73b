// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Startups that fail, and the checks that follow them: see knock.h. */
#include "knock.h"

#include <string.h>

#include "peer_ext.h"
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

void must_be_refused(struct peer *p)
{
	must_close_silently(p);
	agent_must_get_no_event(SILENCE_MS);
}

static bool is_error(const char *name)
{
	return !strcmp(name, "CONNECT_ERROR") || !strcmp(name, "REJECTED") ||
	       !strcmp(name, "UNREACHABLE");
}

void must_get_call_error(struct meeting *m, struct agent_event *ev)
{
	uint64_t end = now_ms() + patience(FAIL_MS);
	struct peer *again;

	while (!agent_event(ev, STEP_MS)) {
		again = peer_accept(0);
		if (again)
			peer_close(again);
		must(now_ms() < end, "connect() ends in no event");
	}
	must(is_error(ev->name), "connect() ends in %s, not in an error", ev->name);
	must_eq(ev->conn, m->conn, "the connection of the event");
}

void must_fail_call(struct meeting *m)
{
	struct agent_event ev;

	must_close_silently(m->p);
	must_get_call_error(m, &ev);
	agent_destroy(m->conn);
}

void must_retry_plain(struct meeting *m)
{
	const struct mpa_frame *f;

	m->p = peer_accept(patience(FAIL_MS));
	must(m->p, "the device does not connect again");
	must(peer_recv_frame(m->p, false, &m->p->request, patience(FAIL_MS)),
	     "no Request on the new connection");
	f = &m->p->request;
	must_eq(f->rev, 1, "Rev of the new Request");
	must_eq(f->flags & MPA_S, 0, "S of the new Request");
}

void must_not_retry(void)
{
	must(!peer_accept(SILENCE_MS), "the device connects again");
}

void must_refuse_reply(const struct mpa_frame *reply)
{
	struct meeting m = MEETING_DEFAULT;

	meet_call(&m);
	peer_send_frame(m.p, reply);
	must_fail_call(&m);
}

void must_serve(void)
{
	struct session s = session_default();

	must_be_alive(s.p);
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

void must_be_up_plain(struct meeting *m, const struct mpa_frame *f)
{
	struct hello offer;
	struct fpdu fpdu;

	meet_answer(m, f);
	must_be_up(m);
	must_eq(m->up.pd_len, f->pd_len, "the length that the ULP sees");
	must_bytes(m->up.pd, f->pd, f->pd_len, "private data");
	agent_post(m->conn, 1, AG_WRITE, 0, NULL, 0, 0, 1, 1);
	must_get_first(m->p, &fpdu, OP_WRITE, &offer);
	must_be_alive(m->p);
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
	must_eq(m->p->request.rev, rev, "Rev of the Request");
	must_eq(m->p->request.flags & MPA_S, s, "S of the Request");
}

void call_enhanced(struct meeting *m)
{
	meet_call(m);
	if (!(m->p->request.flags & MPA_S))
		skip("the device sends no enhanced Request");
	must_eq(m->p->request.rev, 2, "Rev of the Request");
}
