// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Shared receive queues: modify, query and events. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "queue_verbs.h"

static struct end base;
static struct ibv_srq *srq;

static void up(uint32_t max_wr, int posted)
{
	struct want want = { .share = &base };
	int i;

	srq = srq_up(&base, max_wr);
	want.srq = srq;
	pair_up(NULL, &want);
	for (i = 0; i < posted; i++)
		srq_post(srq, &base, i);
}

static void down(void)
{
	pair_down();
	must(!ibv_destroy_srq(srq));
	end_free(&base);
}

static void send_some(int first, int n)
{
	int i;

	for (i = first; i < first + n; i++) {
		post_send(&a, i, 0, 8, IBV_SEND_SIGNALED);
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
		expect_recv(&b, i, 8);
	}
}

static int set_limit(uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
}

static uint32_t limit(void)
{
	struct ibv_srq_attr attr;

	must(!ibv_query_srq(srq, &attr));
	return attr.srq_limit;
}

/*
 * One limit event for each arming, when the level falls below the limit and not before,
 * and only for the SRQ that is low.
 */
static void limit_once(void)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 32, .max_sge = 1, .srq_limit = 8 },
	};
	struct ibv_async_event event;
	struct ibv_srq *other;
	int i;

	up(32, 12);
	other = ibv_create_srq(base.pd, &attr);
	must(other);
	for (i = 0; i < 8; i++)
		srq_post(other, &base, i);
	must(!ibv_modify_srq(other, &attr.attr, IBV_SRQ_LIMIT));
	must(!set_limit(8));
	send_some(0, 4);
	expect(no_async(&b));
	expect_eq(limit(), 8);
	send_some(4, 1);
	event = next_async(&b, IBV_EVENT_SRQ_LIMIT_REACHED);
	expect(event.element.srq == srq);
	expect_eq(limit(), 0);
	send_some(5, 3);
	expect(no_async(&b));
	must(!set_limit(2));
	send_some(8, 2);
	expect(no_async(&b));
	send_some(10, 1);
	event = next_async(&b, IBV_EVENT_SRQ_LIMIT_REACHED);
	expect(event.element.srq == srq);
	expect(no_async(&b));
	must(!ibv_query_srq(other, &attr.attr));
	expect_eq(attr.attr.srq_limit, 8);
	must(!ibv_destroy_srq(other));
	down();
}

static void limit_disarmed(void)
{
	up(32, 6);
	must(!set_limit(3));
	must(!set_limit(0));
	send_some(0, 6);
	expect(no_async(&b));
	down();
}

/* a limit armed above the current level raises its event at once */
static void limit_below_already(void)
{
	up(32, 2);
	must(!set_limit(5));
	next_async(&b, IBV_EVENT_SRQ_LIMIT_REACHED);
	expect(no_async(&b));
	expect_eq(limit(), 0);
	down();
}

/* ibv_create_srq(3): srq_limit is "irrelevant" there, so it is ignored */
static void limit_at_creation(void)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 8, .max_sge = 1, .srq_limit = 4711 },
	};

	up(32, 0);
	must(!ibv_destroy_srq(ibv_create_srq(base.pd, &attr)));
	down();
	base_up(&base);
	attr.attr.srq_limit = 5;
	srq = ibv_create_srq(base.pd, &attr);
	must(srq);
	expect_eq(limit(), 0);
	must(!ibv_destroy_srq(srq));
	end_free(&base);
}

static void modify_refused(void)
{
	struct ibv_srq_attr attr = { .max_wr = 64, .srq_limit = 3 };

	up(32, 0);
	expect_eq(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP);
	expect_eq(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT),
		  EOPNOTSUPP);
	expect_eq(limit(), 0);
	must(!ibv_query_srq(srq, &attr));
	expect_eq(attr.max_sge, 1);
	expect_eq(set_limit(attr.max_wr + 1), EINVAL);
	expect_eq(limit(), 0);
	expect_eq(set_limit(attr.max_wr), 0);
	next_async(&b, IBV_EVENT_SRQ_LIMIT_REACHED);
	down();
}

static void create_ex(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 20, .max_sge = 3 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = IBV_SRQT_BASIC,
	};
	struct ibv_srq_attr got;

	base_up(&base);
	attr.pd = base.pd;
	srq = ibv_create_srq_ex(base.id->verbs, &attr);
	must(srq);
	expect(attr.attr.max_wr >= 20 && attr.attr.max_sge >= 3);
	must(!ibv_query_srq(srq, &got));
	expect_eq(got.max_wr, attr.attr.max_wr);
	expect_eq(got.max_sge, attr.attr.max_sge);
	must(!ibv_destroy_srq(srq));
	attr.srq_type = IBV_SRQT_XRC;
	expect(!ibv_create_srq_ex(base.id->verbs, &attr));
	expect_eq(errno, EOPNOTSUPP);
	attr.srq_type = IBV_SRQT_TM;
	expect(!ibv_create_srq_ex(base.id->verbs, &attr));
	expect_eq(errno, EOPNOTSUPP);
	end_free(&base);
}

/* a QP of an SRQ takes no receives itself, and keeps the SRQ busy */
static void belongs_to_the_qp(void)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad = NULL;

	up(8, 0);
	sge = sge_at(&base, 0, 8);
	expect_eq(ibv_post_recv(b.qp, &wr, &bad), EINVAL);
	expect(bad == &wr);
	expect_eq(ibv_destroy_srq(srq), EBUSY);
	down();
}

/* an SRQ's entries are checked against its PD, not that of the QP that uses them */
static void own_pd(void)
{
	struct want want = {};

	srq = srq_up(&base, 8);
	want.srq = srq;
	pair_up(NULL, &want);
	expect(b.pd != base.pd);
	srq_post(srq, &base, 0);
	memset(base.buf, 0, 8);
	memset(a.buf, 0x5a, 8);
	post_send(&a, 1, 0, 8, IBV_SEND_SIGNALED);
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
	expect_recv(&b, 0, 8);
	expect_bytes(base.buf, a.buf, 8);
	srq_post(srq, &b, 1);
	post_send(&a, 2, 0, 8, 0);
	expect_wc(b.rcq, 1, IBV_WC_LOC_PROT_ERR);
	expect_error_state(&a);
	down();
}

/* one LAST_WQE_REACHED for each QP, naming it, however it ends */
static void last_wqe_reached(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_async_event event;

	up(8, 4);
	must(!rdma_disconnect(a.id));
	event = next_async(&b, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect(event.element.qp == b.qp);
	must(!end_expect(&b, RDMA_CM_EVENT_DISCONNECTED));
	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_STATE));
	expect(no_async(&b));
	down();
	up(8, 4);
	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_STATE));
	event = next_async(&b, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect(event.element.qp == b.qp);
	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_STATE));
	expect(no_async(&b));
	down();
}

/* the event of each of two QPs names the one that ended */
static void last_wqe_of_two(void)
{
	struct ibv_async_event event;
	struct end c = {}, d = {};
	struct want want = {};

	up(8, 4);
	want.share = &base;
	want.srq = srq;
	connect_ends(&c, &d, IP_A, IP_B, NULL, &want);
	drop_async(&b);
	must(!rdma_disconnect(c.id));
	event = next_async(&b, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect(event.element.qp == d.qp);
	expect(no_async(&b));
	send_some(0, 4);
	must(!rdma_disconnect(a.id));
	event = next_async(&b, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect(event.element.qp == b.qp);
	expect(no_async(&b));
	end_free(&c);
	end_free(&d);
	down();
}

static const struct tap_test tests[] = {
	{ "modify_srq__one_limit_event_for_each_arming", limit_once },
	{ "modify_srq__a_limit_of_zero_disarms", limit_disarmed },
	{ "modify_srq__a_limit_above_the_level_raises_its_event_at_once", limit_below_already },
	{ "create_srq__ignores_its_limit", limit_at_creation },
	{ "modify_srq__refuses_a_resize_and_limits_too_high", modify_refused },
	{ "create_srq_ex__basic_and_no_other", create_ex },
	{ "srq__its_qp_refuses_receives_and_keeps_it_busy", belongs_to_the_qp },
	{ "srq__receives_into_memory_of_its_own_pd", own_pd },
	{ "srq__last_wqe_reached_once_and_for_its_qp", last_wqe_reached },
	{ "srq__last_wqe_reached_by_each_of_two_qps", last_wqe_of_two },
};

const struct tap_theme srq_theme = { tests, ARRAY_LEN(tests) };
