// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The state table of connection endpoints, and the names of states and events:
 * RFC 5044 7.1 and 7.2, RFC 6581 9.
 */
#include "cm_fsm.h"

#define STEP(s, t, a)	\
	{ .next = (s), .timer = (t), .actions = (a), .valid = true }

/* the startup of an active endpoint failed */
#define CONN_FAILED	(CM_ACT_UNBIND | CM_ACT_REPLY_ERR | CM_ACT_PUT_ID)
/* the stream ended: TCP lingers (ENDED) or is reset (BROKE) */
#define STREAM_ENDED	(CM_ACT_TAKE | CM_ACT_CLOSE | CM_ACT_PUT_ID | \
			 CM_ACT_PUT_QP)
#define STREAM_BROKE	(CM_ACT_CLOSE | CM_ACT_PUT_ID | CM_ACT_PUT_QP | \
			 CM_ACT_RST | CM_ACT_DROP)
#define CUT		(CM_ACT_RST | CM_ACT_DROP)
/* deny a startup: a rejecting Reply, even before a Request came */
#define DENIED		(CM_ACT_DENY | CM_ACT_FIN)
#define DENIED_AND_CUT	(CM_ACT_DENY | CUT)

#define TO_LINGER(a)	STEP(CM_LINGER, CM_TIMER_CLOSE, a)
/* after a stream: the peer still has to acknowledge what was sent */
#define TO_FLUSH(a)	STEP(CM_LINGER, CM_TIMER_FIN, a)
#define TO_CLOSED(a)	STEP(CM_CLOSED, CM_TIMER_OFF, a)
#define TO_ABORT(s)	STEP(s, CM_TIMER_OFF, CM_ACT_QP_ABORT)

/*
 * An event without an entry is late or has no meaning in that state: no step.
 */
static const struct tern_cm_step table[CM_STATE_COUNT][CM_EVENT_COUNT] = {
	[CM_IDLE] = {
		[CM_EV_CONNECT] = STEP(CM_CONNECTING, CM_TIMER_REPLY, 0),
		[CM_EV_INBOUND] = STEP(CM_REQUEST_WAIT, CM_TIMER_REQUEST, 0),
	},
	[CM_CONNECTING] = {
		[CM_EV_TCP_OPEN] = STEP(CM_REPLY_WAIT, CM_TIMER_KEEP, 0),
		[CM_EV_RESET] = TO_CLOSED(CONN_FAILED | CUT),
		[CM_EV_TIMER] = TO_CLOSED(CONN_FAILED | CUT),
		[CM_EV_ABORT] = TO_CLOSED(CONN_FAILED | CUT),
	},
	[CM_REPLY_WAIT] = {
		[CM_EV_REPLY] = STEP(CM_OPEN, CM_TIMER_OFF, CM_ACT_REPLY_OK),
		[CM_EV_BAD] = TO_LINGER(CONN_FAILED | CM_ACT_FIN),
		[CM_EV_REJECTED] = TO_LINGER(CONN_FAILED | CM_ACT_FIN),
		[CM_EV_RETRY] = STEP(CM_CONNECTING, CM_TIMER_REPLY, 0),
		[CM_EV_FIN] = TO_LINGER(CONN_FAILED | CM_ACT_FIN),
		[CM_EV_RESET] = TO_CLOSED(CONN_FAILED | CUT),
		[CM_EV_TIMER] = TO_CLOSED(CONN_FAILED | CUT),
		[CM_EV_ABORT] = TO_CLOSED(CONN_FAILED | CUT),
	},
	[CM_REQUEST_WAIT] = {
		[CM_EV_REQUEST] = STEP(CM_ULP_WAIT, CM_TIMER_ULP, 0),
		[CM_EV_REFUSED] = TO_LINGER(CM_ACT_FIN),
		[CM_EV_BAD] = TO_LINGER(CM_ACT_FIN),
		[CM_EV_FIN] = TO_LINGER(CM_ACT_FIN),
		[CM_EV_RESET] = TO_CLOSED(CUT),
		[CM_EV_TIMER] = TO_CLOSED(CUT),
		[CM_EV_CROWDED] = TO_CLOSED(DENIED_AND_CUT),
		[CM_EV_UNHEARD] = TO_CLOSED(CUT),
		[CM_EV_ABORT] = TO_CLOSED(CUT),
	},
	[CM_ULP_WAIT] = {
		[CM_EV_BAD] = TO_CLOSED(CUT),
		[CM_EV_ACCEPT] = STEP(CM_OPEN, CM_TIMER_OFF, CM_ACT_EST),
		[CM_EV_ACCEPT_P2P] = STEP(CM_RTR_WAIT, CM_TIMER_RTR, 0),
		[CM_EV_REJECT] = TO_LINGER(CM_ACT_FIN),
		[CM_EV_FIN] = TO_CLOSED(CUT),
		[CM_EV_RESET] = TO_CLOSED(CUT),
		[CM_EV_TIMER] = TO_LINGER(DENIED),
		[CM_EV_CROWDED] = TO_LINGER(DENIED),
		[CM_EV_ABORT] = TO_CLOSED(CUT),
	},
/* a stream that ends before the RTR: ESTABLISHED with an error, then CLOSE */
	[CM_RTR_WAIT] = {
		[CM_EV_STREAM_OPEN] = STEP(CM_OPEN, CM_TIMER_OFF, CM_ACT_EST),
		[CM_EV_STREAM_FINISHED] = TO_LINGER(CM_ACT_EST_ERR |
						    STREAM_ENDED),
		[CM_EV_STREAM_FAILED] = TO_CLOSED(CM_ACT_EST_ERR |
						  STREAM_BROKE),
		[CM_EV_TIMER] = TO_ABORT(CM_RTR_ABORT),
		[CM_EV_ABORT] = TO_ABORT(CM_RTR_ABORT),
	},
	[CM_OPEN] = {
		[CM_EV_STREAM_CLOSING] = STEP(CM_CLOSING, CM_TIMER_DRAIN,
					      CM_ACT_DISC),
		[CM_EV_STREAM_FIN_SENT] = STEP(CM_CLOSING, CM_TIMER_FIN,
					       CM_ACT_DISC),
		[CM_EV_STREAM_FINISHED] = TO_FLUSH(STREAM_ENDED),
		[CM_EV_STREAM_FAILED] = TO_CLOSED(STREAM_BROKE),
		[CM_EV_ABORT] = TO_ABORT(CM_ABORT),
	},
	[CM_CLOSING] = {
		[CM_EV_STREAM_FIN_SENT] = STEP(CM_CLOSING, CM_TIMER_FIN, 0),
		[CM_EV_STREAM_FINISHED] = TO_FLUSH(STREAM_ENDED),
		[CM_EV_STREAM_FAILED] = TO_CLOSED(STREAM_BROKE),
		[CM_EV_TIMER] = TO_ABORT(CM_ABORT),
		[CM_EV_ABORT] = TO_ABORT(CM_ABORT),
	},
	[CM_RTR_ABORT] = {
		[CM_EV_STREAM_FINISHED] = TO_CLOSED(CM_ACT_EST_ERR |
						    STREAM_BROKE),
		[CM_EV_STREAM_FAILED] = TO_CLOSED(CM_ACT_EST_ERR |
						  STREAM_BROKE),
	},
	[CM_ABORT] = {
		[CM_EV_STREAM_FINISHED] = TO_CLOSED(STREAM_BROKE),
		[CM_EV_STREAM_FAILED] = TO_CLOSED(STREAM_BROKE),
	},
	[CM_LINGER] = {
		[CM_EV_RESET] = TO_CLOSED(CM_ACT_DROP),
		[CM_EV_DRAINED] = TO_CLOSED(CM_ACT_DROP),
		[CM_EV_TIMER] = TO_CLOSED(CUT),
		[CM_EV_CROWDED] = TO_CLOSED(CUT),
		[CM_EV_ABORT] = TO_CLOSED(CUT),
	},
};

struct tern_cm_step tern_cm_fsm(enum tern_cm_state state,
				enum tern_cm_event event)
{
	return table[state][event];
}

bool tern_cm_defers(enum tern_cm_state state, enum tern_cm_event event)
{
	return state == CM_RTR_WAIT && (event == CM_EV_STREAM_CLOSING ||
					event == CM_EV_STREAM_FIN_SENT);
}

static const char * const state_names[CM_STATE_COUNT] = {
	[CM_IDLE] = "IDLE",
	[CM_CONNECTING] = "CONNECTING",
	[CM_REPLY_WAIT] = "REPLY_WAIT",
	[CM_REQUEST_WAIT] = "REQUEST_WAIT",
	[CM_ULP_WAIT] = "ULP_WAIT",
	[CM_RTR_WAIT] = "RTR_WAIT",
	[CM_OPEN] = "OPEN",
	[CM_CLOSING] = "CLOSING",
	[CM_RTR_ABORT] = "RTR_ABORT",
	[CM_ABORT] = "ABORT",
	[CM_LINGER] = "LINGER",
	[CM_CLOSED] = "CLOSED",
};

static const char * const event_names[CM_EVENT_COUNT] = {
	[CM_EV_CONNECT] = "CONNECT",
	[CM_EV_INBOUND] = "INBOUND",
	[CM_EV_TCP_OPEN] = "TCP_OPEN",
	[CM_EV_REQUEST] = "REQUEST",
	[CM_EV_REFUSED] = "REFUSED",
	[CM_EV_REPLY] = "REPLY",
	[CM_EV_BAD] = "BAD",
	[CM_EV_REJECTED] = "REJECTED",
	[CM_EV_RETRY] = "RETRY",
	[CM_EV_ACCEPT] = "ACCEPT",
	[CM_EV_ACCEPT_P2P] = "ACCEPT_P2P",
	[CM_EV_REJECT] = "REJECT",
	[CM_EV_STREAM_OPEN] = "STREAM_OPEN",
	[CM_EV_STREAM_CLOSING] = "STREAM_CLOSING",
	[CM_EV_STREAM_FIN_SENT] = "STREAM_FIN_SENT",
	[CM_EV_STREAM_FINISHED] = "STREAM_FINISHED",
	[CM_EV_STREAM_FAILED] = "STREAM_FAILED",
	[CM_EV_FIN] = "FIN",
	[CM_EV_RESET] = "RESET",
	[CM_EV_DRAINED] = "DRAINED",
	[CM_EV_TIMER] = "TIMER",
	[CM_EV_CROWDED] = "CROWDED",
	[CM_EV_UNHEARD] = "UNHEARD",
	[CM_EV_ABORT] = "ABORT",
};

const char *tern_cm_state_name(enum tern_cm_state state)
{
	return state < CM_STATE_COUNT ? state_names[state] : "?";
}

const char *tern_cm_event_name(enum tern_cm_event event)
{
	return event < CM_EVENT_COUNT ? event_names[event] : "?";
}
