// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The table of states of an endpoint: single rows, and iw_cm's view on every path. */
#include "cm_fsm.h"
#include "tap.h"
#include "cm_world.h"
#include "util.h"

/* ---- every path ------------------------------------------------------------- */

/* worlds that explore() has visited, by key() */
static bool seen[CM_STATE_COUNT << 10];
static u32 worlds;
static bool reached[CM_STATE_COUNT];

static u32 key(const struct world *w)
{
	return (u32)w->state << 10 | w->answered << 9 | (u32)w->iw << 6 | w->active << 5 |
	       w->has_id << 4 | w->has_qp << 3 | w->attached << 2 |
	       w->has_sock << 1 | w->done;
}

static void explore(struct world w)
{
	if (seen[key(&w)])
		return;
	seen[key(&w)] = true;
	reached[w.state] = true;
	worlds++;
	for (int event = 0; event < CM_EVENT_COUNT; event++) {
		struct world next = w;

		if (possible(&w, event) && apply(&next, event))
			explore(next);
	}
}

TEST(fsm__iw_cm_gets_each_event_once_and_in_order,
	"REPLY once, CLOSE only after ESTABLISHED, references balance")
{
	explore(begin(true));
	explore(begin(false));
	printf("# %u situations\n", worlds);
	expect(worlds > 20);
	for (int s = CM_CONNECTING; s < CM_STATE_COUNT; s++)
		expect(reached[s]);
}

TEST(fsm__every_state_can_end, "by an abort, a timer or the stream")
{
	for (int s = CM_CONNECTING; s < CM_CLOSED; s++) {
		struct tern_cm_step step = tern_cm_fsm(s, CM_EV_ABORT);
		struct tern_cm_step failed = tern_cm_fsm(s,
							 CM_EV_STREAM_FAILED);

		expect(step.valid || failed.valid);
		if (step.valid && step.next != CM_CLOSED)
			expect(tern_cm_fsm(step.next, CM_EV_STREAM_FAILED).next ==
			       CM_CLOSED);
	}
}

TEST(fsm__every_wait_has_a_timer,
	"RFC 5044 7.1.2 rule 10, K5, F71, H18; of the ULP, too")
{
	static const enum tern_cm_state waits[] = {
		CM_CONNECTING, CM_REPLY_WAIT, CM_REQUEST_WAIT, CM_ULP_WAIT,
		CM_RTR_WAIT, CM_CLOSING, CM_LINGER,
	};

	for (u32 i = 0; i < ARRAY_SIZE(waits); i++)
		expect(tern_cm_fsm(waits[i], CM_EV_TIMER).valid);
	/* each step into a state with a timer arms the timer or keeps it */
	for (int s = 0; s < CM_STATE_COUNT; s++) {
		for (int e = 0; e < CM_EVENT_COUNT; e++) {
			struct tern_cm_step step = tern_cm_fsm(s, e);

			if (!step.valid ||
			    !tern_cm_fsm(step.next, CM_EV_TIMER).valid)
				continue;
			expect(step.timer != CM_TIMER_OFF);
			if (step.timer == CM_TIMER_KEEP)
				expect(tern_cm_fsm(s, CM_EV_TIMER).valid);
		}
	}
}

TEST(fsm__no_event_leaves_closed, "no event leaves CLOSED")
{
	for (int e = 0; e < CM_EVENT_COUNT; e++)
		expect(!tern_cm_fsm(CM_CLOSED, e).valid);
}

/* ---- single paths -------------------------------------------------------------- */

struct row {
	enum tern_cm_event event;
	enum tern_cm_state state;
	u32 actions;
};

static void walk(bool active, const struct row *rows, u32 n)
{
	enum tern_cm_state s = active ? CM_CONNECTING : CM_REQUEST_WAIT;

	for (u32 i = 0; i < n; i++) {
		struct tern_cm_step step = tern_cm_fsm(s, rows[i].event);

		expect(step.valid);
		expect_eq(step.next, rows[i].state);
		expect_eq(step.actions, rows[i].actions);
		s = step.next;
	}
}

#define WALK(active, ...) do {						\
	static const struct row rows_[] = { __VA_ARGS__ };		\
	walk(active, rows_, ARRAY_SIZE(rows_));				\
} while (0)

#define ENDED	(CM_ACT_TAKE | CM_ACT_CLOSE | CM_ACT_PUT_ID | CM_ACT_PUT_QP)
#define BROKE	(CM_ACT_CLOSE | CM_ACT_PUT_ID | CM_ACT_PUT_QP | CM_ACT_RST | \
		 CM_ACT_DROP)
#define FAILED	(CM_ACT_UNBIND | CM_ACT_REPLY_ERR | CM_ACT_PUT_ID)

TEST(fsm__active_and_peer_closes, "H1 H10")
{
	WALK(true,
	     { CM_EV_TCP_OPEN, CM_REPLY_WAIT, 0 },
	     { CM_EV_REPLY, CM_OPEN, CM_ACT_REPLY_OK },
	     { CM_EV_STREAM_CLOSING, CM_CLOSING, CM_ACT_DISC },
	     { CM_EV_STREAM_FINISHED, CM_LINGER, ENDED },
	     { CM_EV_DRAINED, CM_CLOSED, CM_ACT_DROP });
}

TEST(fsm__active_rejected, "H2 H11 Q20: FIN after the Reply")
{
	WALK(true,
	     { CM_EV_TCP_OPEN, CM_REPLY_WAIT, 0 },
	     { CM_EV_REJECTED, CM_LINGER, FAILED | CM_ACT_FIN },
	     { CM_EV_DRAINED, CM_CLOSED, CM_ACT_DROP });
}

TEST(fsm__active_falls_back, "H9 H13 H14 H15 H16 Q3")
{
	WALK(true,
	     { CM_EV_TCP_OPEN, CM_REPLY_WAIT, 0 },
	     { CM_EV_RETRY, CM_CONNECTING, 0 },
	     { CM_EV_TCP_OPEN, CM_REPLY_WAIT, 0 },
	     { CM_EV_REPLY, CM_OPEN, CM_ACT_REPLY_OK });
}

TEST(fsm__passive_client_server, "P1 P4 Q26: ESTABLISHED at once")
{
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_ACCEPT, CM_OPEN, CM_ACT_EST },
	     { CM_EV_STREAM_FAILED, CM_CLOSED, BROKE });
}

TEST(fsm__passive_peer_to_peer, "F64 MPA-206 MPA-218: ESTABLISHED by the RTR")
{
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_ACCEPT_P2P, CM_RTR_WAIT, 0 },
	     { CM_EV_STREAM_OPEN, CM_OPEN, CM_ACT_EST },
	     { CM_EV_STREAM_CLOSING, CM_CLOSING, CM_ACT_DISC },
	     { CM_EV_STREAM_FIN_SENT, CM_CLOSING, 0 },
	     { CM_EV_TIMER, CM_ABORT, CM_ACT_QP_ABORT },
	     { CM_EV_STREAM_FINISHED, CM_CLOSED, BROKE });
}

TEST(fsm__a_close_before_the_rtr, "it begins after the RTR, with its time limit")
{
	for (int s = 0; s < CM_STATE_COUNT; s++) {
		for (int e = 0; e < CM_EVENT_COUNT; e++) {
			bool closes = e == CM_EV_STREAM_CLOSING || e == CM_EV_STREAM_FIN_SENT;

			expect_eq(tern_cm_defers(s, e), closes && s == CM_RTR_WAIT);
			/* nothing that is deferred has a step, and the next state has one */
			if (tern_cm_defers(s, e)) {
				expect(!tern_cm_fsm(s, e).valid);
				expect(tern_cm_fsm(CM_OPEN, e).timer != CM_TIMER_OFF);
				expect(e > CM_EV_STREAM_OPEN);
			}
		}
	}
}

TEST(fsm__passive_rtr_never_comes, "F71 MPA-219: ESTABLISHED in error, CLOSE")
{
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_ACCEPT_P2P, CM_RTR_WAIT, 0 },
	     { CM_EV_TIMER, CM_RTR_ABORT, CM_ACT_QP_ABORT },
	     { CM_EV_STREAM_FINISHED, CM_CLOSED, CM_ACT_EST_ERR | BROKE });
}

TEST(fsm__passive_terminate_or_fin_for_rtr, "F69 F72")
{
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_ACCEPT_P2P, CM_RTR_WAIT, 0 },
	     { CM_EV_STREAM_FINISHED, CM_LINGER, CM_ACT_EST_ERR | ENDED });
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_ACCEPT_P2P, CM_RTR_WAIT, 0 },
	     { CM_EV_STREAM_FAILED, CM_CLOSED, CM_ACT_EST_ERR | BROKE });
}

TEST(fsm__passive_early_bytes, "K7 K14: closed, the ULP learns at its answer")
{
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_BAD, CM_CLOSED, CM_ACT_RST | CM_ACT_DROP });
}

TEST(fsm__passive_bad_request, "K1 K2 K3 K4 K5 G3 G14")
{
	WALK(false, { CM_EV_BAD, CM_LINGER, CM_ACT_FIN });
	WALK(false, { CM_EV_FIN, CM_LINGER, CM_ACT_FIN });
	WALK(false, { CM_EV_TIMER, CM_CLOSED, CM_ACT_RST | CM_ACT_DROP });
	WALK(false, { CM_EV_REFUSED, CM_LINGER, CM_ACT_FIN },
	     { CM_EV_TIMER, CM_CLOSED, CM_ACT_RST | CM_ACT_DROP });
}

#define CUT	(CM_ACT_RST | CM_ACT_DROP)
#define DENIED	(CM_ACT_DENY | CM_ACT_FIN)

TEST(fsm__passive_ulp_never_answers, "a Reply says no; FIN, as after a reject")
{
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_TIMER, CM_LINGER, DENIED },
	     { CM_EV_DRAINED, CM_CLOSED, CM_ACT_DROP });
}

TEST(fsm__passive_removed_to_make_room, "RFC 6581 10: a Reply goes before the end, but once")
{
	WALK(false, { CM_EV_CROWDED, CM_CLOSED, CM_ACT_DENY | CUT });
	WALK(false,
	     { CM_EV_REQUEST, CM_ULP_WAIT, 0 },
	     { CM_EV_CROWDED, CM_LINGER, DENIED },
	     { CM_EV_CROWDED, CM_CLOSED, CUT });
	WALK(false,
	     { CM_EV_REFUSED, CM_LINGER, CM_ACT_FIN },
	     { CM_EV_CROWDED, CM_CLOSED, CUT });
}

TEST(fsm__only_unknown_requests_end_with_their_listener, "a ULP may end its id and accept later")
{
	for (int s = CM_IDLE; s < CM_STATE_COUNT; s++)
		if (s != CM_REQUEST_WAIT)
			expect(!tern_cm_fsm(s, CM_EV_UNHEARD).valid);
	WALK(false, { CM_EV_UNHEARD, CM_CLOSED, CUT });
}

TEST(fsm__no_endpoint_with_a_qp_is_removed_to_make_room, "what has a QP is the program's")
{
	static const enum tern_cm_state with_qp[] = {
		CM_CONNECTING, CM_REPLY_WAIT, CM_RTR_WAIT, CM_OPEN, CM_CLOSING,
		CM_RTR_ABORT, CM_ABORT,
	};

	for (u32 i = 0; i < ARRAY_SIZE(with_qp); i++)
		expect(!tern_cm_fsm(with_qp[i], CM_EV_CROWDED).valid);
}

TEST(fsm__every_state_and_event_has_a_name, "each state and event has a name of its own")
{
	for (int s = 0; s < CM_STATE_COUNT; s++)
		expect(strcmp(tern_cm_state_name(s), "?"));
	for (int e = 0; e < CM_EVENT_COUNT; e++)
		expect(strcmp(tern_cm_event_name(e), "?"));
	expect(!strcmp(tern_cm_state_name(CM_STATE_COUNT), "?"));
	expect(!strcmp(tern_cm_event_name(CM_EVENT_COUNT), "?"));
}
