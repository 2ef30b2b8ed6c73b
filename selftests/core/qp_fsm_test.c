// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The states of a QP whose stream ends: RFC 5040 6.2 and 7. */
#include "qp_fsm.h"
#include "tap.h"

static enum tern_qp_state run(enum tern_qp_state state, bool fin,
			      const enum tern_qp_event *events, u32 n,
			      u32 *actions)
{
	*actions = 0;
	for (u32 i = 0; i < n; i++) {
		struct tern_qp_step step;

		fin |= events[i] == QP_EV_PEER_CLOSE;
		step = tern_qp_fsm(state, events[i], fin);
		if (!step.valid)
			continue;
		state = step.next;
		*actions |= step.actions;
	}
	return state;
}

#define RUN(state, fin, actions, ...) ({				\
	static const enum tern_qp_event e_[] = { __VA_ARGS__ };		\
	run(state, fin, e_, ARRAY_SIZE(e_), actions); })

TEST(qp_fsm__local_close_drains_then_waits_for_the_peer, "DDP-067, DDP-072")
{
	u32 a;

	expect_eq(RUN(QP_RTS, false, &a, QP_EV_LOCAL_CLOSE), QP_CLOSING);
	expect_eq(a & (QP_ACT_FLUSH | QP_ACT_FIN), 0);
	expect_eq(RUN(QP_RTS, false, &a, QP_EV_LOCAL_CLOSE, QP_EV_DRAINED),
		  QP_FIN_WAIT);
	expect(a & QP_ACT_FIN && a & QP_ACT_FIN_SENT);
	expect_eq(a & QP_ACT_FLUSH, 0);
	expect_eq(RUN(QP_RTS, false, &a, QP_EV_LOCAL_CLOSE, QP_EV_DRAINED,
		      QP_EV_PEER_CLOSE), QP_ERROR);
	expect(a & QP_ACT_FLUSH && a & QP_ACT_FINISHED);
	expect_eq(a & QP_ACT_FAILED, 0);
}

TEST(qp_fsm__peer_close_lets_queued_sends_go, "DDP-070, DDP-071")
{
	u32 a;

	expect_eq(RUN(QP_RTS, false, &a, QP_EV_PEER_CLOSE), QP_CLOSING);
	expect(a & QP_ACT_KICK && a & QP_ACT_CLOSING);
	expect_eq(a & QP_ACT_FLUSH, 0);
	expect_eq(RUN(QP_RTS, false, &a, QP_EV_PEER_CLOSE, QP_EV_DRAINED), QP_ERROR);
	expect(a & QP_ACT_FIN && a & QP_ACT_FINISHED && a & QP_ACT_FLUSH);
}

TEST(qp_fsm__an_error_of_ours_sends_terminate_before_fin, "DDP-075, DDP-076")
{
	u32 a;

	expect_eq(RUN(QP_RTS, false, &a, QP_EV_LOCAL_ERROR), QP_TERMINATE);
	expect(a & QP_ACT_FLUSH && a & QP_ACT_KICK);
	expect_eq(a & (QP_ACT_FIN | QP_ACT_FINISHED), 0);
	expect_eq(RUN(QP_TERMINATE, false, &a, QP_EV_TERM_SENT), QP_ERROR);
	expect(a & QP_ACT_FIN && a & QP_ACT_FINISHED);
	/* a second error, a late FIN and a late Terminate change nothing */
	expect_eq(RUN(QP_TERMINATE, false, &a, QP_EV_LOCAL_ERROR, QP_EV_TERM_RX,
		      QP_EV_PEER_CLOSE), QP_TERMINATE);
	expect_eq(a, 0);
}

TEST(qp_fsm__terminate_received_ends_with_fin, "Q33")
{
	u32 a;

	expect_eq(RUN(QP_RTS, false, &a, QP_EV_TERM_RX), QP_ERROR);
	expect(a & QP_ACT_FLUSH && a & QP_ACT_FIN && a & QP_ACT_END);
}

TEST(qp_fsm__every_state_ends_in_error_by_abort_or_reset, "an abort or a reset")
{
	u32 a;

	for (int s = QP_IDLE; s < QP_ERROR; s++) {
		expect_eq(run(s, false, (enum tern_qp_event[]){ QP_EV_ABORT }, 1, &a),
			  QP_ERROR);
		if (s != QP_TERMINATE)
			expect(a & QP_ACT_FLUSH);
		if (s == QP_IDLE)
			continue;
		expect(a & (QP_ACT_END | QP_ACT_FAILED | QP_ACT_FINISHED));
		expect_eq(run(s, false, (enum tern_qp_event[]){ QP_EV_RESET }, 1, &a),
			  QP_ERROR);
		expect(a & QP_ACT_FAILED);
	}
}

TEST(qp_fsm__error_is_final, "no event leaves ERROR")
{
	for (int e = 0; e < QP_EVENT_COUNT; e++)
		expect(!tern_qp_fsm(QP_ERROR, e, e & 1).valid);
}

/* with events in any order, the end is reported once, on the step to ERROR */
TEST(qp_fsm__end_is_reported_once, "on the step to ERROR")
{
	u32 seed = 1;

	for (int round = 0; round < 20000; round++) {
		enum tern_qp_state state = QP_RTS;
		bool fin = false;
		int ends = 0;

		for (int i = 0; i < 12; i++) {
			enum tern_qp_event e;
			struct tern_qp_step step;

			seed = seed * 1664525 + 1013904223;
			e = (seed >> 16) % QP_EVENT_COUNT;
			fin |= e == QP_EV_PEER_CLOSE;
			step = tern_qp_fsm(state, e, fin);
			if (!step.valid)
				continue;
			state = step.next;
			if (step.actions & (QP_ACT_END | QP_ACT_FINISHED |
					    QP_ACT_FAILED))
				ends++;
			expect_eq(state == QP_ERROR, ends == 1);
		}
		expect(ends <= 1);
	}
}

TEST(qp_fsm__every_state_and_event_has_a_name,
	"each state and event has a name of its own")
{
	for (int s = 0; s < QP_STATE_COUNT; s++)
		expect(strcmp(tern_qp_state_name(s), "?"));
	for (int e = 0; e < QP_EVENT_COUNT; e++)
		expect(strcmp(tern_qp_event_name(e), "?"));
	expect(!strcmp(tern_qp_state_name(QP_STATE_COUNT), "?"));
	expect(!strcmp(tern_qp_event_name(QP_EVENT_COUNT), "?"));
}
