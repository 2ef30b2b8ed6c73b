// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Prints what the tables of core/qp_fsm.c and core/cm_fsm.c do: a line for each state,
 * event and action, and for each step of each state by each event. states.sh compares
 * them with Documentation/states.rst, whose names for actions and timers are here.
 */
#include <stdio.h>

#include "cm_fsm.h"
#include "qp_fsm.h"

#define COUNT(t)	((u32)(sizeof(t) / sizeof(*(t))))

struct action {
	u32 bit;
	const char *name;
};

static const struct action qp_actions[] = {
	{ QP_ACT_FLUSH, "flush" },
	{ QP_ACT_FIN, "fin" },
	{ QP_ACT_KICK, "kick" },
	{ QP_ACT_CLOSING, "closing" },
	{ QP_ACT_FIN_SENT, "fin-sent" },
	{ QP_ACT_FINISHED, "finished" },
	{ QP_ACT_FAILED, "failed" },
	{ QP_ACT_END, "end" },
};

static const struct action cm_actions[] = {
	{ CM_ACT_TAKE, "take" },
	{ CM_ACT_DENY, "deny" },
	{ CM_ACT_FIN, "fin" },
	{ CM_ACT_UNBIND, "unbind" },
	{ CM_ACT_QP_ABORT, "qp-abort" },
	{ CM_ACT_REPLY_OK, "reply-ok" },
	{ CM_ACT_REPLY_ERR, "reply-err" },
	{ CM_ACT_EST, "est" },
	{ CM_ACT_EST_ERR, "est-err" },
	{ CM_ACT_DISC, "disc" },
	{ CM_ACT_CLOSE, "close" },
	{ CM_ACT_PUT_ID, "put-id" },
	{ CM_ACT_PUT_QP, "put-qp" },
	{ CM_ACT_RST, "rst" },
	{ CM_ACT_DROP, "drop" },
};

static const char * const cm_timers[CM_TIMER_COUNT] = {
	[CM_TIMER_KEEP] = "keep",
	[CM_TIMER_OFF] = "off",
	[CM_TIMER_REQUEST] = "request-ms",
	[CM_TIMER_REPLY] = "reply-ms",
	[CM_TIMER_ULP] = "ulp",
	[CM_TIMER_RTR] = "rtr-ms",
	[CM_TIMER_DRAIN] = "drain",
	[CM_TIMER_FIN] = "fin",
	[CM_TIMER_CLOSE] = "close-ms",
};

/* the names of some actions, in the order of their bits, or "-" */
static void print_actions(u32 actions, const struct action *names, u32 count)
{
	if (!actions)
		printf(" -");
	for (u32 i = 0; i < count; i++) {
		if (actions & names[i].bit)
			printf(" %s", names[i].name);
		actions &= ~names[i].bit;
	}
	printf(actions ? " ?\n" : "\n");
}

static void print_qp_step(enum tern_qp_state state, enum tern_qp_event event,
			  bool fin_seen)
{
	struct tern_qp_step step = tern_qp_fsm(state, event, fin_seen);

	if (!step.valid)
		return;
	printf("qp_fsm step %s %s%s %s", tern_qp_state_name(state),
	       tern_qp_event_name(event), fin_seen ? "+FIN" : "",
	       tern_qp_state_name(step.next));
	print_actions(step.actions, qp_actions, COUNT(qp_actions));
}

/* the peer's FIN makes a difference to some steps alone: these stand twice */
static bool fin_matters(enum tern_qp_state state, enum tern_qp_event event)
{
	struct tern_qp_step without = tern_qp_fsm(state, event, false);
	struct tern_qp_step with = tern_qp_fsm(state, event, true);

	return with.valid != without.valid || with.next != without.next ||
	       with.actions != without.actions;
}

static void print_qp(void)
{
	for (int s = 0; s < QP_STATE_COUNT; s++)
		printf("qp_fsm state %s\n", tern_qp_state_name(s));
	for (int e = 0; e < QP_EVENT_COUNT; e++)
		printf("qp_fsm event %s\n", tern_qp_event_name(e));
	for (u32 a = 0; a < COUNT(qp_actions); a++)
		printf("qp_fsm action %s\n", qp_actions[a].name);
	for (int s = 0; s < QP_STATE_COUNT; s++) {
		for (int e = 0; e < QP_EVENT_COUNT; e++) {
			print_qp_step(s, e, false);
			if (fin_matters(s, e))
				print_qp_step(s, e, true);
		}
	}
}

static void print_cm_step(enum tern_cm_state state, enum tern_cm_event event)
{
	struct tern_cm_step step = tern_cm_fsm(state, event);

	if (!step.valid)
		return;
	printf("cm_fsm step %s %s %s %s", tern_cm_state_name(state),
	       tern_cm_event_name(event), tern_cm_state_name(step.next),
	       cm_timers[step.timer]);
	print_actions(step.actions, cm_actions, COUNT(cm_actions));
}

static void print_cm(void)
{
	for (int s = 0; s < CM_STATE_COUNT; s++)
		printf("cm_fsm state %s\n", tern_cm_state_name(s));
	for (int e = 0; e < CM_EVENT_COUNT; e++)
		printf("cm_fsm event %s\n", tern_cm_event_name(e));
	for (u32 a = 0; a < COUNT(cm_actions); a++)
		printf("cm_fsm action %s\n", cm_actions[a].name);
	for (int s = 0; s < CM_STATE_COUNT; s++)
		for (int e = 0; e < CM_EVENT_COUNT; e++)
			print_cm_step(s, e);
}

int main(void)
{
	print_qp();
	print_cm();
	return 0;
}
