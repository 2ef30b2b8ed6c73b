/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * States of a connection endpoint, from the TCP connect or accept to the last
 * event for iw_cm, as one table. The caller does what can fail (attach, send,
 * report a request) before it steps; actions cannot fail.
 *
 * What iw_cm relies on, and the tests prove for every path: one CONNECT_REPLY
 * per connect; one ESTABLISHED per accept; after a good CONNECT_REPLY or any
 * ESTABLISHED at most one DISCONNECT and exactly one CLOSE, and neither
 * otherwise.
 */
#ifndef TERN_CORE_CM_FSM_H
#define TERN_CORE_CM_FSM_H

#include "env.h"

enum tern_cm_state {
	CM_IDLE,
	CM_CONNECTING,		/* active: TCP handshake */
	CM_REPLY_WAIT,		/* active: the Request is out */
	CM_REQUEST_WAIT,	/* passive: TCP is connected */
	CM_ULP_WAIT,		/* passive: the ULP has the request */
	CM_RTR_WAIT,		/* passive: Reply sent, RTR due */
	CM_OPEN,		/* the ULP knows; the stream has the socket */
	CM_CLOSING,		/* the ULP was told of a close */
	CM_RTR_ABORT,		/* as CM_ABORT, from CM_RTR_WAIT */
	CM_ABORT,		/* the stream was told to end at once */
	CM_LINGER,		/* no stream has the socket: wait for both FINs */
	CM_CLOSED,
	CM_STATE_COUNT,
};

/* pending events are stepped in this order */
enum tern_cm_event {
	CM_EV_CONNECT,		/* active: TCP connect began */
	CM_EV_INBOUND,		/* passive: TCP accepted */
	CM_EV_TCP_OPEN,		/* active: connected, the Request is out */
	CM_EV_REQUEST,		/* good Request, reported to the ULP */
	CM_EV_REFUSED,		/* a Reply with R=1 was sent, not by the ULP */
	CM_EV_REPLY,		/* accepting Reply, the stream is attached */
	CM_EV_BAD,	/* bad frame, early bytes, local error */
	CM_EV_REJECTED,		/* rejecting Reply */
	CM_EV_RETRY,		/* plain attempt on a new TCP connection */
	CM_EV_ACCEPT,		/* client-server: attached, Reply sent */
	CM_EV_ACCEPT_P2P,	/* peer-to-peer: the same */
	CM_EV_REJECT,		/* ULP rejected or failed: R=1 was sent */
	CM_EV_STREAM_OPEN,	/* as enum tern_stream_event */
	CM_EV_STREAM_CLOSING,
	CM_EV_STREAM_FIN_SENT,
	CM_EV_STREAM_FINISHED,
	CM_EV_STREAM_FAILED,
	CM_EV_FIN,		/* the peer's FIN during startup */
	CM_EV_RESET,		/* TCP failed or is gone */
	CM_EV_DRAINED,		/* lingering: both halves are closed */
	CM_EV_TIMER,
	CM_EV_CROWDED,		/* evicted for another connection */
	CM_EV_UNHEARD,		/* the listening id is gone; a Request that the ULP has stays */
	CM_EV_ABORT,		/* QP, device or netns goes away */
	CM_EVENT_COUNT,
};

/* in the order in which the caller executes them */
#define CM_ACT_TAKE	BIT(0)	/* take the socket's callbacks back */
#define CM_ACT_DENY	BIT(1)	/* send a Reply with R=1, if TCP takes it */
#define CM_ACT_FIN	BIT(2)	/* send FIN */
#define CM_ACT_UNBIND	BIT(3)	/* startup failed: unbind the QP */
#define CM_ACT_QP_ABORT	BIT(4)	/* end the stream at once */
#define CM_ACT_REPLY_OK	BIT(5)	/* CONNECT_REPLY, good */
#define CM_ACT_REPLY_ERR BIT(6)	/* CONNECT_REPLY with the error */
#define CM_ACT_EST	BIT(7)	/* ESTABLISHED, good */
#define CM_ACT_EST_ERR	BIT(8)	/* ESTABLISHED with an error */
#define CM_ACT_DISC	BIT(9)	/* DISCONNECT */
#define CM_ACT_CLOSE	BIT(10)	/* CLOSE */
#define CM_ACT_PUT_ID	BIT(11)	/* no more events: release iw_cm's id */
#define CM_ACT_PUT_QP	BIT(12)	/* the stream is over: release the QP */
#define CM_ACT_RST	BIT(13)	/* reset TCP */
#define CM_ACT_DROP	BIT(14)	/* release the socket, leave all lists */

enum tern_cm_timer {
	CM_TIMER_KEEP,
	CM_TIMER_OFF,
	CM_TIMER_REQUEST,
	CM_TIMER_REPLY,
	CM_TIMER_ULP,		/* limit of the ULP's answer */
	CM_TIMER_RTR,
	CM_TIMER_DRAIN,		/* close, sends drain: tern_cm_clock_close() */
	CM_TIMER_FIN,		/* close after our FIN: the same */
	CM_TIMER_CLOSE,		/* limit of FINs without a stream */
	CM_TIMER_COUNT,
};

/**
 * struct tern_cm_step - what an event does
 * @next: new state
 * @timer: how to set the timer
 * @actions: CM_ACT_*
 * @valid: false: the event is ignored in this state
 */
struct tern_cm_step {
	enum tern_cm_state next;
	enum tern_cm_timer timer;
	u32 actions;
	bool valid;
};

/* look up a step; the caller guards its state */
struct tern_cm_step tern_cm_fsm(enum tern_cm_state state,
				enum tern_cm_event event);

/*
 * Does @event wait until another one changes @state? A close may begin while the peer's RTR
 * is awaited, and needs its time limit after that.
 */
bool tern_cm_defers(enum tern_cm_state state, enum tern_cm_event event);

const char *tern_cm_state_name(enum tern_cm_state state);
const char *tern_cm_event_name(enum tern_cm_event event);

#endif /* TERN_CORE_CM_FSM_H */
