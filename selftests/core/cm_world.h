/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * iw_cm's view of an endpoint, and the references that the endpoint holds: rules for
 * every step of its table. iwcm.c has a BUG() for each event in the wrong state.
 * Included by cm_fsm_test.c and fuzz_cm.c.
 */
#ifndef TERN_CM_WORLD_H
#define TERN_CM_WORLD_H

#include "cm_fsm.h"

/* iw_cm's view of the id, and what the endpoint holds */
struct world {
	enum tern_cm_state state;
	bool active;
	enum { IW_IDLE, IW_CONN, IW_EST, IW_CLOSING, IW_DONE } iw;
	bool has_id, has_qp, attached, has_sock;
	bool answered;	/* passive: a Reply went out */
	bool done;	/* the stream's last event has come */
};

/* Return: @event can happen now; the driver and the stream send no others */
static bool possible(const struct world *w, enum tern_cm_event event)
{
	switch (event) {
	case CM_EV_CONNECT:
	case CM_EV_INBOUND:
		return false;
	case CM_EV_TCP_OPEN:
		return w->state == CM_CONNECTING;
	case CM_EV_REPLY:
	case CM_EV_REJECTED:
	case CM_EV_RETRY:
		return w->state == CM_REPLY_WAIT;
	case CM_EV_REQUEST:
	case CM_EV_REFUSED:
		return w->state == CM_REQUEST_WAIT;
	case CM_EV_ACCEPT:
	case CM_EV_ACCEPT_P2P:
	case CM_EV_REJECT:
		return w->state == CM_ULP_WAIT;
	case CM_EV_STREAM_OPEN:
	case CM_EV_STREAM_CLOSING:
	case CM_EV_STREAM_FIN_SENT:
	case CM_EV_STREAM_FINISHED:
	case CM_EV_STREAM_FAILED:
		return w->attached && !w->done;
	default:
		return true;
	}
}

static void before_step(struct world *w, enum tern_cm_event event)
{
	if (event == CM_EV_REPLY)
		w->attached = true;
	if (event == CM_EV_ACCEPT || event == CM_EV_ACCEPT_P2P) {
		w->attached = true;
		w->has_qp = true;
		w->has_id = true;
		w->iw = IW_CONN;
	}
	if (event == CM_EV_REFUSED || event == CM_EV_REJECT)
		w->answered = true;
	if (event == CM_EV_STREAM_FINISHED || event == CM_EV_STREAM_FAILED)
		w->done = true;
}

static void up(struct world *w, u32 actions)
{
	if (actions & (CM_ACT_REPLY_OK | CM_ACT_REPLY_ERR)) {
		expect(w->active && w->iw == IW_CONN && w->has_id);
		w->iw = actions & CM_ACT_REPLY_OK ? IW_EST : IW_DONE;
	}
	if (actions & (CM_ACT_EST | CM_ACT_EST_ERR)) {
		expect(!w->active && w->iw == IW_CONN && w->has_id);
		w->iw = IW_EST;
	}
	if (actions & CM_ACT_DISC) {
		expect(w->iw == IW_EST && w->has_id);
		w->iw = IW_CLOSING;
	}
	if (actions & CM_ACT_CLOSE) {
		expect((w->iw == IW_EST || w->iw == IW_CLOSING) && w->has_id);
		w->iw = IW_DONE;
	}
}

static void hold(struct world *w, u32 actions)
{
	if (actions & (CM_ACT_TAKE | CM_ACT_DENY | CM_ACT_FIN | CM_ACT_RST |
		       CM_ACT_DROP))
		expect(w->has_sock);
	/* at most one Reply is sent */
	if (actions & CM_ACT_DENY)
		expect(!w->active && !w->attached && !w->answered);
	if (actions & CM_ACT_DENY)
		w->answered = true;
	if (actions & CM_ACT_TAKE)
		expect(w->done);
	if (actions & CM_ACT_UNBIND) {
		expect(w->has_qp && !w->attached);
		w->has_qp = false;
	}
	if (actions & CM_ACT_QP_ABORT)
		expect(w->has_qp && w->attached && !w->done);
	if (actions & CM_ACT_PUT_ID) {
		expect(w->has_id && w->iw == IW_DONE);
		w->has_id = false;
	}
	if (actions & CM_ACT_PUT_QP) {
		expect(w->has_qp && w->done);
		w->has_qp = false;
	}
	if (actions & CM_ACT_DROP)
		w->has_sock = false;
}

static void invariants(const struct world *w)
{
	bool closed = w->state == CM_CLOSED;

	expect(w->has_sock == !closed);
	if (closed || w->state == CM_LINGER)
		expect(!w->has_id && !w->has_qp);
	/* in states that wait for the stream's last event, it is still to come */
	if (w->state == CM_ABORT || w->state == CM_RTR_ABORT)
		expect(w->attached && !w->done);
}

static bool apply(struct world *w, enum tern_cm_event event)
{
	struct tern_cm_step step;

	before_step(w, event);
	step = tern_cm_fsm(w->state, event);
	if (!step.valid) {
		/* every state takes the stream's last event */
		expect(event != CM_EV_STREAM_FINISHED && event != CM_EV_STREAM_FAILED);
		return false;
	}
	w->state = step.next;
	up(w, step.actions);
	hold(w, step.actions);
	invariants(w);
	return true;
}

static struct world begin(bool active)
{
	struct world w = {
		.active = active,
		.has_sock = true,
		.has_id = active,
		.has_qp = active,
		.iw = active ? IW_CONN : IW_IDLE,
	};

	apply(&w, active ? CM_EV_CONNECT : CM_EV_INBOUND);
	return w;
}

#endif /* TERN_CM_WORLD_H */
