// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Completion events of a CQ that overflowed. A program that waits for one must wake up,
 * even if it arms the CQ later: one event reports all losses, and no other follows.
 */
#include "queue_verbs.h"

#define LOSSES	100

static const struct want small = { .cqe = 4 };

/* fill a's CQ, without losing a completion */
static void full_up(void)
{
	pair_up(&small, NULL);
	pile_up(0, a.scq->cqe);
}

/* cause a completion for which the CQ has no room */
static void lose_one(void)
{
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 8, 0, IBV_SEND_SIGNALED);
}

/* the first loss ends the QP, which then flushes all posts */
static void overflow(void)
{
	lose_one();
	expect_async(&a, IBV_EVENT_CQ_ERR);
	expect_error_state(&a);
}

static void arm(int solicited)
{
	must(!ibv_req_notify_cq(a.scq, solicited));
}

static void expect_event(void)
{
	expect(got_event(&a, patience_ms()));
}

static void expect_no_event(void)
{
	expect(!got_event(&a, 50));
}

/* no further event, however often the CQ is armed and completions are lost */
static void expect_no_other(void)
{
	int i;

	for (i = 0; i < LOSSES; i++) {
		arm(i & 1);
		lose_one();
	}
	expect_no_event();
}

/* the CQ is not armed when it overflows: the next loss raises one event */
static void armed_later(int solicited)
{
	int size;

	full_up();
	size = a.scq->cqe;
	overflow();
	expect_no_event();
	expect_pile(0, size);
	arm(solicited);
	expect_no_event();
	lose_one();
	expect_event();
	expect_no_other();
	pair_down();
}

static void polled_and_armed_later(void)
{
	armed_later(0);
	armed_later(1);
}

/* the first arming's event comes from unpolled completions, the second's from a loss */
static void armed_later_unpolled(void)
{
	int size;

	full_up();
	size = a.scq->cqe;
	overflow();
	arm(0);
	expect_event();
	arm(0);
	expect_no_event();
	lose_one();
	expect_event();
	expect_no_other();
	expect_pile(0, size);
	expect_no_other();
	pair_down();
}

/* the CQ is armed when it overflows, and again later */
static void armed_before(void)
{
	int size;

	full_up();
	size = a.scq->cqe;
	arm(0);
	expect_event();		/* for the unpolled completions */
	arm(1);
	expect_no_event();
	overflow();
	expect_event();
	expect_no_other();
	expect_pile(0, size);
	expect_no_other();
	pair_down();
}

/* QP and CQ are destroyed when a completion was just lost, and the search for the QP is due */
static void gone_at_once(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		full_up();
		lose_one();
		pair_down();
	}
}

/*
 * A QP created on a CQ that has overflowed ends at the next loss. The search for it may not
 * begin yet: it looks at each QP, and comes every 100 ms at most.
 */
static void created_since(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct end late;

	full_up();
	overflow();
	late = a;
	init.send_cq = a.scq;
	init.recv_cq = a.rcq;
	late.qp = ibv_create_qp(a.pd, &init);
	must(late.qp);
	lose_one();
	expect_error_state(&late);
	must(!ibv_destroy_qp(late.qp));
	pair_down();
}

/* what is posted to a QP that is destroyed takes no room in its CQ, nor the event */
static void spared_by_a_destroyed_qp(void)
{
	struct ibv_qp_attr to_init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp *other;
	uint32_t i;

	pair_up(&small, NULL);
	init.send_cq = a.rcq;
	init.recv_cq = a.rcq;
	init.cap.max_recv_wr = 4 * a.rcq->cqe;
	other = ibv_create_qp(a.pd, &init);
	must(other && !ibv_modify_qp(other, &to_init, IBV_QP_STATE | IBV_QP_PORT |
							IBV_QP_ACCESS_FLAGS));
	for (i = 0; i < init.cap.max_recv_wr; i++)
		must(!ibv_post_recv(other, &wr, &bad));
	must(!ibv_req_notify_cq(a.rcq, 0));
	must(!ibv_destroy_qp(other));
	expect(no_async(&a) && no_wc(a.rcq));
	expect_no_event();
	/* a's own receive completes */
	post_recv(&a, 7, 0, 8);
	post_send(&b, 8, 0, 8, IBV_SEND_SIGNALED);
	expect_event();
	expect_recv(&a, 7, 8);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "overflow__one_event_when_armed_after_a_poll", polled_and_armed_later },
	{ "overflow__one_event_when_armed_without_a_poll", armed_later_unpolled },
	{ "overflow__one_event_when_armed_before_and_again", armed_before },
	{ "overflow__and_qp_and_cq_are_destroyed", gone_at_once },
	{ "overflow__ends_a_qp_created_since", created_since },
	{ "overflow__is_not_caused_by_a_qp_that_is_destroyed", spared_by_a_destroyed_qp },
};

const struct tap_theme overflow_theme = { tests, ARRAY_LEN(tests) };
