/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * States of a queue pair on a stream, as one table: RFC 5040 5 and 7, RFC 5041
 * 6.2. After an error (Q33) FIN follows the Terminate, and what still comes is read and
 * dropped.
 */
#ifndef TERN_CORE_QP_FSM_H
#define TERN_CORE_QP_FSM_H

#include "env.h"

enum tern_qp_state {
	QP_IDLE,	/* not connected yet */
	QP_RTS,		/* Full Operation */
	QP_CLOSING,	/* graceful close: sends drain, then FIN */
	QP_FIN_WAIT,	/* our FIN is sent, the peer may still send */
	QP_TERMINATE,	/* flushed; our Terminate and FIN follow */
	QP_ERROR,	/* flushed; the connection is over */
	QP_STATE_COUNT,
};

enum tern_qp_event {
	QP_EV_ATTACH,		/* MPA startup succeeded */
	QP_EV_LOCAL_CLOSE,	/* the ULP disconnects */
	QP_EV_PEER_CLOSE,	/* FIN at an FPDU boundary */
	QP_EV_DRAINED,		/* nothing is left to send */
	QP_EV_LOCAL_ERROR,	/* we found an error: send a Terminate */
	QP_EV_TERM_SENT,	/* our Terminate was given to TCP */
	QP_EV_TERM_RX,		/* the peer's Terminate came */
	QP_EV_RESET,		/* TCP failed, or FIN inside an FPDU */
	QP_EV_ABORT,		/* the ULP or the device ends it at once */
	QP_EVENT_COUNT,
};

/* what the caller does after a change of state, in this order */
#define QP_ACT_CLOSING	BIT(0)	/* tell the endpoint: TERN_STREAM_CLOSING */
#define QP_ACT_FLUSH	BIT(1)	/* complete all work requests in error */
#define QP_ACT_FIN	BIT(2)	/* FIN, after what TCP has */
#define QP_ACT_FIN_SENT	BIT(3)	/* TERN_STREAM_FIN_SENT */
#define QP_ACT_KICK	BIT(4)	/* the send engine has work */
#define QP_ACT_FINISHED	BIT(5)	/* TERN_STREAM_FINISHED */
#define QP_ACT_FAILED	BIT(6)	/* TERN_STREAM_FAILED */
#define QP_ACT_END	BIT(7)	/* FINISHED at an FPDU boundary, else FAILED */

/**
 * struct tern_qp_step - what an event does
 * @next: new state
 * @actions: QP_ACT_*
 * @valid: false: the event is ignored in this state
 */
struct tern_qp_step {
	enum tern_qp_state next;
	u32 actions;
	bool valid;
};

/**
 * tern_qp_fsm() - look up a step
 * @state: state now
 * @event: what happened
 * @fin_seen: the peer's FIN came before
 *
 * The caller guards its state. Return: the table's entry.
 */
struct tern_qp_step tern_qp_fsm(enum tern_qp_state state,
				enum tern_qp_event event, bool fin_seen);

const char *tern_qp_state_name(enum tern_qp_state state);
const char *tern_qp_event_name(enum tern_qp_event event);

#endif /* TERN_CORE_QP_FSM_H */
