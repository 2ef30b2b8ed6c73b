// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * ibv_modify_cq(): an event may wait for more completions, but only for the period. A
 * slow machine may delay any event, so events that must be early are tried repeatedly.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "queue_verbs.h"

#define PERIOD_US	60000
#define TRIES		20

static int moderate(struct ibv_cq *cq, unsigned int count, unsigned int period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period },
	};

	return ibv_modify_cq(cq, &attr);
}

static void drain(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 1)
		expect_eq(wc.status, IBV_WC_SUCCESS);
}

/*
 * Arm b and send it @n messages with @flags. Return: time to the event in us, or -1 if
 * none came within @ms.
 */
static long event_within(int ms, int solicited, int n, int flags)
{
	long long start;
	int i;

	for (i = 0; i < n; i++)
		post_recv(&b, i, 0, 64);
	must(!ibv_req_notify_cq(b.rcq, solicited));
	start = now_ns(CLOCK_MONOTONIC);
	for (i = 0; i < n; i++)
		post_send(&a, i, 0, 8, flags);
	if (!got_event(&b, ms))
		return -1;
	return (now_ns(CLOCK_MONOTONIC) - start) / 1000;
}

/* the same for an event that must come */
static long event_after(int solicited, int n, int flags)
{
	return event_within(patience_ms(), solicited, n, flags);
}

/* Return: the event came within the period in at least one try */
static bool comes_early(int solicited, int n, int flags)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		long us = event_after(solicited, n, flags);

		must(us >= 0);
		drain(b.rcq);
		if (us < PERIOD_US)
			return true;
	}
	return false;
}

static void up(unsigned int count)
{
	pair_up(NULL, NULL);
	must(!moderate(b.rcq, count, PERIOD_US));
}

static void waits_for_the_period(void)
{
	int i;

	up(1000);
	for (i = 0; i < 3; i++) {
		expect(event_after(0, 1 + i, 0) >= PERIOD_US);
		drain(b.rcq);
	}
	pair_down();
}

static void ends_with_the_count(void)
{
	up(4);
	expect(comes_early(0, 4, 0));
	expect(comes_early(0, 9, 0));
	pair_down();
}

/* the count starts again with each event */
static void counts_again(void)
{
	up(4);
	expect(event_after(0, 5, 0) >= 0);
	drain(b.rcq);
	expect(event_after(0, 3, 0) >= PERIOD_US);
	drain(b.rcq);
	pair_down();
}

static void of_a_small_ring(void)
{
	static const struct want want = { .cqe = 8 };

	pair_up(NULL, &want);
	must(!moderate(b.rcq, 1000, PERIOD_US));
	expect(event_after(0, 3, 0) >= PERIOD_US);
	drain(b.rcq);
	expect(comes_early(0, 4, 0));
	pair_down();
}

static void solicited(void)
{
	up(1000);
	expect_eq(event_within(500, 1, 2, 0), -1);
	drain(b.rcq);
	expect(event_after(1, 2, IBV_SEND_SOLICITED) >= PERIOD_US);
	drain(b.rcq);
	must(!moderate(b.rcq, 3, PERIOD_US));
	expect(comes_early(1, 3, IBV_SEND_SOLICITED));
	pair_down();
}

/* if all is polled while the event is delayed, no event comes, and the CQ stays armed */
static void polled_early(void)
{
	long long start;
	int tries = 0;
	bool in_time;

	up(1000);
	do {
		post_recv(&b, 1, 0, 64);
		must(!ibv_req_notify_cq(b.rcq, 0));
		start = now_ns(CLOCK_MONOTONIC);
		post_send(&a, 1, 0, 8, 0);
		expect_recv(&b, 1, 8);
		in_time = now_ns(CLOCK_MONOTONIC) - start < PERIOD_US * 1000LL;
		if (!in_time)
			got_event(&b, 500);
	} while (!in_time && ++tries < TRIES);
	must(in_time);
	expect(!got_event(&b, 300));
	post_recv(&b, 2, 0, 64);
	post_send(&a, 2, 0, 8, 0);
	expect(got_event(&b, patience_ms()));
	expect_recv(&b, 2, 8);
	pair_down();
}

static void switched_off(void)
{
	up(1000);
	must(!moderate(b.rcq, 0, PERIOD_US));
	expect(comes_early(0, 1, 0));
	must(!moderate(b.rcq, 1000, 0));
	expect(comes_early(0, 1, 0));
	must(!moderate(b.rcq, 1, PERIOD_US));
	expect(comes_early(0, 1, 0));
	must(!moderate(b.rcq, 1000, PERIOD_US));
	expect(event_after(0, 1, 0) >= PERIOD_US);
	pair_down();
}

/* a delayed event survives a resize of the CQ */
static void across_a_resize(void)
{
	up(1000);
	post_recv(&b, 1, 0, 64);
	must(!ibv_req_notify_cq(b.rcq, 0));
	post_send(&a, 1, 0, 8, 0);
	must(!ibv_resize_cq(b.rcq, 500));
	expect(got_event(&b, patience_ms()));
	expect_recv(&b, 1, 8);
	pair_down();
}

/* the completion of a failure is delayed no longer than others */
static void error_raises_event(void)
{
	up(1000);
	must(!ibv_req_notify_cq(b.rcq, 0));
	post_recv(&b, 1, 0, 4);
	post_send(&a, 1, 0, 64, 0);
	expect(got_event(&b, patience_ms()));
	expect_wc(b.rcq, 1, IBV_WC_LOC_LEN_ERR);
	pair_down();
}

/* a CQ may be destroyed while its timer runs */
static void destroyed_while_it_waits(void)
{
	int i;

	for (i = 0; i < 10; i++) {
		up(1000);
		post_recv(&b, 1, 0, 64);
		must(!ibv_req_notify_cq(b.rcq, 0));
		post_send(&a, 1, 0, 8, IBV_SEND_SIGNALED);
		expect_wc(a.scq, 1, IBV_WC_SUCCESS);
		pair_down();
	}
}

static void limits_and_errors(void)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = 0 };
	struct ibv_device_attr_ex dev = {};

	pair_up(NULL, NULL);
	must(!ibv_query_device_ex(a.id->verbs, NULL, &dev));
	expect_eq(dev.cq_mod_caps.max_cq_count, 65535);
	expect_eq(dev.cq_mod_caps.max_cq_period, 65535);
	expect_eq(moderate(a.scq, 65535, 65535), 0);
	expect_eq(ibv_modify_cq(a.scq, &attr), EINVAL);
	attr.attr_mask = IBV_CQ_ATTR_MODERATE << 1;
	expect_eq(ibv_modify_cq(a.scq, &attr), EINVAL);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "modify_cq__an_event_waits_for_the_period", waits_for_the_period },
	{ "modify_cq__the_count_ends_the_wait", ends_with_the_count },
	{ "modify_cq__the_count_starts_again_with_each_event", counts_again },
	{ "modify_cq__a_half_full_ring_ends_the_wait", of_a_small_ring },
	{ "modify_cq__only_solicited_completions_start_the_wait", solicited },
	{ "modify_cq__polled_completions_raise_no_event", polled_early },
	{ "modify_cq__zero_and_one_switch_moderation_off", switched_off },
	{ "modify_cq__an_event_that_waits_survives_a_resize", across_a_resize },
	{ "modify_cq__a_failed_completion_raises_the_event", error_raises_event },
	{ "modify_cq__destroyed_while_an_event_waits", destroyed_while_it_waits },
	{ "modify_cq__limits_and_errors", limits_and_errors },
};

const struct tap_theme moderate_theme = { tests, ARRAY_LEN(tests) };
