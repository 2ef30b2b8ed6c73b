// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * An endpoint from its first event to its last. Its table of states is driven as in
 * cep.c and startup.c: by a peer's bytes, split anywhere, through MPA parsing and gates;
 * by FIN, RST, timers, the ULP's answers, the stream and aborts, recorded in any order
 * and processed later. Checked at every step: iw_cm's view and what the endpoint holds
 * (cm_world.h), at most one retry, a timer wherever it waits for a peer or the ULP. At
 * the end an abort must close it.
 *
 * RFC 5044 7.1, RFC 6581.
 *
 * Input: role, our request (8), then operations of one byte each, some with more.
 */
#include "util.h"

#include "fuzz.h"

#include "cm_world.h"
#include "fuzz_options.h"

#define HEAD	9

/**
 * struct end - the endpoint
 * @w: state, and iw_cm's view
 * @opt: our options
 * @frame: the peer's frame so far
 * @len: bytes in @frame
 * @pending: BIT() of recorded events
 * @timed: a timer runs
 * @retried: the retry has begun
 * @told: BIT() of the stream's events so far
 */
struct end {
	struct world w;
	struct tern_mpa_options opt;
	u8 frame[TERN_MPA_FRAME_MAX];
	u32 len;
	u32 pending;
	bool timed;
	bool retried;
	u32 told;
};

static bool is_timed(enum tern_cm_state state)
{
	return state == CM_CONNECTING || state == CM_REPLY_WAIT ||
	       state == CM_REQUEST_WAIT || state == CM_ULP_WAIT ||
	       state == CM_RTR_WAIT || state == CM_CLOSING ||
	       state == CM_LINGER;
}

static void step(struct end *e, enum tern_cm_event event)
{
	enum tern_cm_timer timer = tern_cm_fsm(e->w.state, event).timer;

	if (!possible(&e->w, event) || !apply(&e->w, event))
		return;
	if (timer != CM_TIMER_KEEP)
		e->timed = timer != CM_TIMER_OFF;
	must(e->timed == is_timed(e->w.state));
}

/* process the pending events by number, as the endpoint's work does */
static void work(struct end *e)
{
	u32 events = e->pending;

	e->pending = 0;
	for (int event = 0; event < CM_EVENT_COUNT; event++) {
		if (!(events & BIT(event)))
			continue;
		if (event == CM_EV_TIMER && !e->timed)
			continue;
		/* a state whose timer can expire handles that */
		must(event != CM_EV_TIMER || tern_cm_fsm(e->w.state, event).valid);
		step(e, event);
	}
}

static void note(struct end *e, enum tern_cm_event event)
{
	e->pending |= BIT(event);
}

static void got_request(struct end *e, const struct tern_mpa_msg *req)
{
	switch (tern_mpa_gate_request(&e->opt, req)) {
	case TERN_MPA_GO:
		return step(e, CM_EV_REQUEST);
	case TERN_MPA_REFUSE:
		return step(e, CM_EV_REFUSED);
	default:
		return step(e, CM_EV_BAD);
	}
}

static void retry(struct end *e)
{
	must(!e->retried);
	e->retried = true;
	e->len = 0;
	tern_mpa_fall_back(&e->opt);
	must(!tern_mpa_may_retry(&e->opt));
	step(e, CM_EV_RETRY);
}

static void got_reply(struct end *e, const struct tern_mpa_msg *reply)
{
	struct tern_mpa_params params;

	switch (tern_mpa_gate_reply(&e->opt, reply)) {
	case TERN_MPA_GO:
		if (tern_mpa_settle(&e->opt, reply, &params) == TERN_TERM_NONE)
			return step(e, CM_EV_REPLY);
		return step(e, CM_EV_BAD);
	case TERN_MPA_REJECTED:
		return step(e, CM_EV_REJECTED);
	case TERN_MPA_RETRY:
		if (tern_mpa_may_retry(&e->opt))
			return retry(e);
		return step(e, CM_EV_BAD);
	default:
		return step(e, CM_EV_BAD);
	}
}

/* @n bytes arrive; Return: how many of them were consumed */
static u32 bytes(struct end *e, const u8 *p, u32 n)
{
	bool active = e->w.state == CM_REPLY_WAIT;
	enum tern_mpa_parse verdict;
	struct tern_mpa_msg msg;
	u32 need = 0, used = 0;

	if (!active && e->w.state != CM_REQUEST_WAIT) {
		if (e->w.state == CM_ULP_WAIT)
			step(e, CM_EV_BAD);
		return n;
	}
	for (;;) {
		verdict = tern_mpa_parse(active ? TERN_MPA_REPLY :
						  TERN_MPA_REQUEST,
					 e->frame, e->len, &need, &msg);
		if (verdict != TERN_MPA_MORE || used == n)
			break;
		must(need > e->len && need <= sizeof(e->frame));
		e->frame[e->len++] = p[used++];
	}
	if (verdict == TERN_MPA_BAD)
		step(e, CM_EV_BAD);
	else if (verdict == TERN_MPA_WHOLE && active)
		got_reply(e, &msg);
	else if (verdict == TERN_MPA_WHOLE)
		got_request(e, &msg);
	return used;
}

static void fin(struct end *e)
{
	if (e->w.state == CM_REPLY_WAIT && !e->len &&
	    tern_mpa_may_retry(&e->opt))
		retry(e);
	else if (e->w.state == CM_REPLY_WAIT ||
		 e->w.state == CM_REQUEST_WAIT)
		step(e, e->len ? CM_EV_BAD : CM_EV_FIN);
	else if (e->w.state == CM_ULP_WAIT)
		step(e, CM_EV_FIN);
}

/* RST; the endpoint only sees it while it owns the socket */
static void reset(struct end *e)
{
	if (!e->w.attached || e->w.state == CM_LINGER)
		step(e, CM_EV_RESET);
}

/* an event of the stream: each comes at most once, and none after the last */
static void stream(struct end *e, u8 what)
{
	enum tern_cm_event event = CM_EV_STREAM_OPEN + what % 5;

	if (!e->w.attached || e->told & (BIT(CM_EV_STREAM_FINISHED) |
					 BIT(CM_EV_STREAM_FAILED) | BIT(event)))
		return;
	e->told |= BIT(event);
	note(e, event);
}

static const enum tern_cm_event answers[] = {
	CM_EV_ACCEPT, CM_EV_ACCEPT_P2P, CM_EV_REJECT, CM_EV_TCP_OPEN,
};

/* Return: bytes of input used */
static u32 operate(struct end *e, const u8 *p, u32 n)
{
	u8 arg = p[0] >> 3;

	switch (p[0] & 7) {
	case 0:
		return 1 + bytes(e, p + 1, arg < n - 1 ? arg : n - 1);
	case 1:
		fin(e);
		break;
	case 2:
		reset(e);
		break;
	case 3:
		note(e, CM_EV_TIMER);
		break;
	case 4:
		step(e, answers[arg % ARRAY_SIZE(answers)]);
		break;
	case 5:
		stream(e, arg);
		break;
	case 6:
		if (arg & 1)
			note(e, arg & 2 ? CM_EV_UNHEARD : CM_EV_ABORT);
		else
			note(e, arg & 2 ? CM_EV_CROWDED : CM_EV_DRAINED);
		break;
	default:
		work(e);
	}
	return 1;
}

/* the device is removed: an abort, and the stream's last event if one is due */
static void end(struct end *e)
{
	note(e, CM_EV_ABORT);
	work(e);
	stream(e, CM_EV_STREAM_FAILED - CM_EV_STREAM_OPEN);
	work(e);
	note(e, CM_EV_ABORT);
	work(e);
	must(e->w.state == CM_CLOSED && !e->timed);
	must(!e->w.has_id && !e->w.has_qp && !e->w.has_sock);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct end e = {};
	u32 at = HEAD;

	if (size < HEAD || size > 4096)
		return 0;
	e.w = begin(data[0] & 1);
	e.opt = read_options(data + 1);
	e.timed = true;
	while (at < size)
		at += operate(&e, data + at, (u32)size - at);
	end(&e);
	return 0;
}
