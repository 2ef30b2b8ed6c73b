// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The state table of a QP on a stream, and the names of states and events: RFC
 * 5040 5 and 7, RFC 5041 6.2.
 */
#include "qp_fsm.h"

#define STEP(s, a)	{ .next = (s), .actions = (a), .valid = true }

/*
 * An event without an entry is late or has no effect: a second Terminate, a FIN
 * after an error (Q33), an abort of a flushed QP.
 */
static const struct tern_qp_step table[QP_STATE_COUNT][QP_EVENT_COUNT] = {
	[QP_IDLE] = {
		[QP_EV_ATTACH] = STEP(QP_RTS, 0),
		[QP_EV_ABORT] = STEP(QP_ERROR, QP_ACT_FLUSH),
	},
	[QP_RTS] = {
		[QP_EV_LOCAL_CLOSE] = STEP(QP_CLOSING,
					   QP_ACT_KICK | QP_ACT_CLOSING),
		[QP_EV_PEER_CLOSE] = STEP(QP_CLOSING,
					  QP_ACT_KICK | QP_ACT_CLOSING),
		[QP_EV_LOCAL_ERROR] = STEP(QP_TERMINATE, QP_ACT_FLUSH |
					   QP_ACT_KICK | QP_ACT_CLOSING),
		[QP_EV_TERM_RX] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FIN |
				       QP_ACT_END),
		[QP_EV_RESET] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FAILED),
		[QP_EV_ABORT] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FIN |
				     QP_ACT_END),
	},
	[QP_CLOSING] = {
		[QP_EV_DRAINED] = STEP(QP_FIN_WAIT,
				       QP_ACT_FIN | QP_ACT_FIN_SENT),
		[QP_EV_PEER_CLOSE] = STEP(QP_CLOSING, QP_ACT_KICK),
		[QP_EV_LOCAL_CLOSE] = STEP(QP_CLOSING, QP_ACT_KICK),
		[QP_EV_LOCAL_ERROR] = STEP(QP_TERMINATE,
					   QP_ACT_FLUSH | QP_ACT_KICK),
		[QP_EV_TERM_RX] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FIN |
				       QP_ACT_END),
		[QP_EV_RESET] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FAILED),
		[QP_EV_ABORT] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FIN |
				     QP_ACT_END),
	},
	[QP_FIN_WAIT] = {
		[QP_EV_PEER_CLOSE] = STEP(QP_ERROR,
					  QP_ACT_FLUSH | QP_ACT_FINISHED),
		/* our FIN is sent: no Terminate can follow */
		[QP_EV_LOCAL_ERROR] = STEP(QP_ERROR,
					   QP_ACT_FLUSH | QP_ACT_FAILED),
		[QP_EV_TERM_RX] = STEP(QP_ERROR,
				       QP_ACT_FLUSH | QP_ACT_FINISHED),
		[QP_EV_RESET] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FAILED),
		[QP_EV_ABORT] = STEP(QP_ERROR, QP_ACT_FLUSH | QP_ACT_FINISHED),
	},
	[QP_TERMINATE] = {
		[QP_EV_TERM_SENT] = STEP(QP_ERROR,
					 QP_ACT_FIN | QP_ACT_FINISHED),
		[QP_EV_RESET] = STEP(QP_ERROR, QP_ACT_FAILED),
		[QP_EV_ABORT] = STEP(QP_ERROR, QP_ACT_FAILED),
	},
};

struct tern_qp_step tern_qp_fsm(enum tern_qp_state state,
				enum tern_qp_event event, bool fin_seen)
{
	struct tern_qp_step step = table[state][event];

	/* the peer's FIN came first, so both halves close at once */
	if (step.valid && step.next == QP_FIN_WAIT && fin_seen) {
		step.next = QP_ERROR;
		step.actions = QP_ACT_FLUSH | QP_ACT_FIN | QP_ACT_FINISHED;
	}
	return step;
}

static const char * const state_names[QP_STATE_COUNT] = {
	[QP_IDLE] = "IDLE",
	[QP_RTS] = "RTS",
	[QP_CLOSING] = "CLOSING",
	[QP_FIN_WAIT] = "FIN_WAIT",
	[QP_TERMINATE] = "TERMINATE",
	[QP_ERROR] = "ERROR",
};

static const char * const event_names[QP_EVENT_COUNT] = {
	[QP_EV_ATTACH] = "ATTACH",
	[QP_EV_LOCAL_CLOSE] = "LOCAL_CLOSE",
	[QP_EV_PEER_CLOSE] = "PEER_CLOSE",
	[QP_EV_DRAINED] = "DRAINED",
	[QP_EV_LOCAL_ERROR] = "LOCAL_ERROR",
	[QP_EV_TERM_SENT] = "TERM_SENT",
	[QP_EV_TERM_RX] = "TERM_RX",
	[QP_EV_RESET] = "RESET",
	[QP_EV_ABORT] = "ABORT",
};

const char *tern_qp_state_name(enum tern_qp_state state)
{
	return state < QP_STATE_COUNT ? state_names[state] : "?";
}

const char *tern_qp_event_name(enum tern_qp_event event)
{
	return event < QP_EVENT_COUNT ? event_names[event] : "?";
}
