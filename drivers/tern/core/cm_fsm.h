/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * States of a connection endpoint, from the TCP connect or accept to the last
 * event for iw_cm, as one table. What can fail (attach, send, report a request)
 * is tried by the shell before it steps; actions cannot fail.
 *
 * What iw_cm has to see, and the tests prove for every path: CONNECT_REPLY once
 * per connect; ESTABLISHED once per accept; DISCONNECT at most once and CLOSE
 * exactly once behind a good CONNECT_REPLY or any ESTABLISHED, never else.
 */
#ifndef TERN_CORE_CM_FSM_H
#define TERN_CORE_CM_FSM_H

#include "env.h"

enum tern_cm_state {
	CM_IDLE,
	CM_CONNECTING,		/* active: TCP handshake */
	CM_REPLY_WAIT,		/* active: the Request is out */
	CM_REQUEST_WAIT,	/* passive: TCP is there */
	CM_ULP_WAIT,		/* passive: the ULP has to answer */
	CM_RTR_WAIT,		/* passive: Reply sent, RTR due */
	CM_OPEN,		/* the ULP was told so; the stream has the socket */
	CM_CLOSING,		/* the ULP was told of a close */
	CM_RTR_ABORT,		/* CM_RTR_WAIT, and the stream was told to end */
	CM_ABORT,		/* the stream was told to end at once */
	CM_LINGER,		/* no stream (any more): FINs are awaited */
	CM_CLOSED,
	CM_STATE_COUNT,
};

/* of several that wait, the first is stepped first */
enum tern_cm_event {
	CM_EV_CONNECT,		/* active: TCP connect began */
	CM_EV_INBOUND,		/* passive: TCP accepted */
	CM_EV_TCP_OPEN,		/* active: connected, the Request is out */
	CM_EV_REQUEST,		/* good Request, the ULP was told */
	CM_EV_REFUSED,		/* a Reply with R=1 was sent, not by the ULP */
	CM_EV_REPLY,		/* accepting Reply, the stream is attached */
	CM_EV_BAD,	/* error in or behind the frame that was due */
	CM_EV_REJECTED,		/* rejecting Reply */
	CM_EV_RETRY,		/* plain attempt on a new TCP connection */
	CM_EV_ACCEPT,		/* client-server: attached, Reply sent */
	CM_EV_ACCEPT_P2P,	/* peer-to-peer: the same */
	CM_EV_REJECT,		/* the ULP said no, or failed: Reply with R=1 sent */
	CM_EV_STREAM_OPEN,	/* the stream's: see enum tern_stream_event */
	CM_EV_STREAM_CLOSING,
	CM_EV_STREAM_FIN_SENT,
	CM_EV_STREAM_FINISHED,
	CM_EV_STREAM_FAILED,
	CM_EV_FIN,		/* the peer's FIN during startup */
	CM_EV_RESET,		/* TCP failed or is gone */
	CM_EV_DRAINED,		/* lingering: both FINs are done */
	CM_EV_TIMER,
	CM_EV_CROWDED,		/* another connection needs its place */
	CM_EV_ABORT,		/* QP, device or netns goes away */
	CM_EVENT_COUNT,
};

/* in the order in which the shell does them */
#define CM_ACT_TAKE	BIT(0)	/* the socket's callbacks come to us again */
#define CM_ACT_DENY	BIT(1)	/* a Reply with R=1, if TCP takes it */
#define CM_ACT_FIN	BIT(2)	/* our half ends */
#define CM_ACT_UNBIND	BIT(3)	/* startup failed: the QP is free again */
#define CM_ACT_QP_ABORT	BIT(4)	/* end the stream at once */
#define CM_ACT_REPLY_OK	BIT(5)	/* CONNECT_REPLY, good */
#define CM_ACT_REPLY_ERR BIT(6)	/* CONNECT_REPLY with the error */
#define CM_ACT_EST	BIT(7)	/* ESTABLISHED, good */
#define CM_ACT_EST_ERR	BIT(8)	/* ESTABLISHED with an error */
#define CM_ACT_DISC	BIT(9)	/* DISCONNECT */
#define CM_ACT_CLOSE	BIT(10)	/* CLOSE */
#define CM_ACT_PUT_ID	BIT(11)	/* iw_cm hears no more from us */
#define CM_ACT_PUT_QP	BIT(12)	/* the stream is over */
#define CM_ACT_RST	BIT(13)	/* reset TCP */
#define CM_ACT_DROP	BIT(14)	/* release the socket, leave all lists */

enum tern_cm_timer {
	CM_TIMER_KEEP,
	CM_TIMER_OFF,
	CM_TIMER_REQUEST,
	CM_TIMER_REPLY,
	CM_TIMER_ULP,		/* bound on the ULP's answer */
	CM_TIMER_RTR,
	CM_TIMER_DRAIN,		/* a close that began: tern_cm_clock_close() */
	CM_TIMER_FIN,		/* what a stream sent, and FINs: the same */
	CM_TIMER_CLOSE,		/* bound on FINs where there was no stream */
	CM_TIMER_COUNT,
};

/**
 * struct tern_cm_step - what an event does
 * @next: new state
 * @timer: what becomes of the timer
 * @actions: CM_ACT_*
 * @valid: the event means something in this state; else nothing happens
 */
struct tern_cm_step {
	enum tern_cm_state next;
	enum tern_cm_timer timer;
	u32 actions;
	bool valid;
};

/* look a step up; the caller guards its state */
struct tern_cm_step tern_cm_fsm(enum tern_cm_state state,
				enum tern_cm_event event);

const char *tern_cm_state_name(enum tern_cm_state state);
const char *tern_cm_event_name(enum tern_cm_event event);

#endif /* TERN_CORE_CM_FSM_H */
