// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Creating and destroying the provider's QPs: the errors that a caller gets, what the
 * kernel's answer changes, and that a failure at any step leaks nothing.
 */

#define _GNU_SOURCE
#include "provider_kernel.h"

static void qp__a_failure_at_any_step_undoes_the_others(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr attr = qp_attr();

	kernel.fail[QP] = ENOSPC;
	expect(!tern_qp_create(pd, &attr) && errno == ENOSPC);
	kernel.ring.size = 64;
	expect(!tern_qp_create(pd, &attr) && errno == EPROTO);
	kernel.ring = ring_at(0);
	kernel.rq.key = 1;
	expect(!tern_qp_create(pd, &attr) && errno == EINVAL);
	kernel.rq = ring_at(1);
	kernel.max_inline = kernel.ring.stride + 1 - offsetof(struct tern_sqe, sge);
	expect(!tern_qp_create(pd, &attr) && errno == EPROTO);
	expect(!kernel.alive[QP]);

	attr.qp_type = IBV_QPT_UD;
	expect(!tern_qp_create(pd, &attr) && errno == EOPNOTSUPP);
	expect_eq(attr.cap.max_send_wr, 4);
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void qp__returns_the_granted_capacities(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_qp *qp;

	attr.sq_sig_all = 1;
	qp = tern_qp_create(pd, &attr);
	expect(qp && attr.cap.max_send_wr == 7);
	expect_eq(to_tern_qp(qp)->sq.ring.limit, 7);
	expect_eq(to_tern_qp(qp)->rq.ring.limit, 4);
	expect(to_tern_qp(qp)->qpn == 5 && to_tern_qp(qp)->max_inline == 256);
	expect_eq(to_tern_qp(qp)->always, TERN_WR_SIGNALED);
	expect(!ibv_qp_to_qp_ex(qp));
	kernel.fail_destroy = EBUSY;
	expect_eq(tern_qp_destroy(qp), EBUSY);
	expect(!tern_qp_destroy(qp));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void qp__with_an_srq_has_no_receive_ring(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_recv_wr wr = {}, *bad = NULL;
	struct ibv_srq srq = {};
	struct ibv_qp *qp;

	attr.srq = &srq;
	kernel.rq = (struct tern_uring){};
	qp = tern_qp_create(pd, &attr);
	expect(qp && !to_tern_qp(qp)->rq.ring.hdr);
	expect(tern_qp_post_recv(qp, &wr, &bad) == EINVAL && bad == &wr);
	expect(!tern_qp_destroy(qp));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

/* an SRQ has room when an entry was taken */
static void qp__counts_what_is_polled_if_the_kernel_counts_the_rest(void)
{
	struct ibv_qp_init_attr attr = qp_attr(), shared = attr;
	struct ibv_context *ctx;
	struct ibv_srq srq = {};
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	uint32_t counts;

	shared.srq = &srq;
	for (counts = 0; counts < 2; counts++) {
		kernel.counts_silent = counts;
		ctx = open_context();
		pd = alloc_pd(ctx);
		qp = tern_qp_create(pd, &attr);
		expect(qp && !!to_tern_qp(qp)->sq.ring.polled == !!counts);
		expect(qp && !!to_tern_qp(qp)->rq.ring.polled == !!counts);
		expect(!qp || !tern_qp_destroy(qp));
		qp = tern_qp_create(pd, &shared);
		expect(qp && !!to_tern_qp(qp)->sq.ring.polled == !!counts);
		expect(qp && !to_tern_qp(qp)->rq.ring.polled);
		expect(!qp || !tern_qp_destroy(qp));
		kernel.qpn = 1 << TERN_QPN_BITS;
		qp = tern_qp_create(pd, &attr);
		expect(!!qp == !counts);
		expect(!qp || !tern_qp_destroy(qp));
		expect(!to_tern_context(ctx)->polled.qps[0]);
		kernel.qpn = 0;
		expect(!tern_pd_dealloc(pd));
		close_context(ctx);
		expect(nothing_left());
	}
	kernel.counts_silent = 0;
}

static void qp_ex__has_the_requested_wr_calls(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_TSO,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4 },
	};
	struct ibv_qp *qp;

	expect(!tern_qp_create_ex(ctx, &attr) && errno == EINVAL);
	attr.pd = pd;
	attr.comp_mask |= IBV_QP_INIT_ATTR_PD;
	expect(!tern_qp_create_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ;
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	expect(!tern_qp_create_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	qp = tern_qp_create_ex(ctx, &attr);
	expect(qp && ibv_qp_to_qp_ex(qp) && ibv_qp_to_qp_ex(qp)->wr_send);
	expect(!tern_qp_destroy(qp));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void qp_ex__has_what_the_kernel_knows(void)
{
	static const uint32_t known[] = { 0, TERN_FEATURE_7306,
					  TERN_FEATURE_7306 | TERN_FEATURE_V2 };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			     IBV_QP_INIT_ATTR_PD,
		.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM,
	};
	struct ibv_context *ctx;
	struct ibv_qp *qp;
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++) {
		kernel.features = known[i];
		ctx = open_context();
		attr.pd = alloc_pd(ctx);
		attr.cap = qp_attr().cap;
		qp = tern_qp_create_ex(ctx, &attr);
		if (known[i] & TERN_FEATURE_V2)
			expect(qp && to_tern_qp(qp)->features == known[i]);
		else
			expect(!qp && errno == EOPNOTSUPP);
		expect(!qp || !tern_qp_destroy(qp));
		expect(!tern_pd_dealloc(attr.pd));
		close_context(ctx);
		expect(nothing_left());
	}
	kernel.features = 0;
}

/* a kernel that knows atomics has to make room for their operands */
static void qp__entries_have_room_for_an_atomic(void)
{
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_qp *qp;

	kernel.features = TERN_FEATURE_7306;
	ctx = open_context();
	pd = alloc_pd(ctx);
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = 1;
	kernel.max_inline = 0;
	kernel.ring.stride = 64;
	expect(!tern_qp_create(pd, &attr) && errno == EPROTO);
	expect(!kernel.alive[QP]);
	kernel.ring.stride = 128;
	qp = tern_qp_create(pd, &attr);
	expect(qp && to_tern_qp(qp)->sq.ring.stride == 128);
	expect(!tern_qp_destroy(qp));
	to_tern_context(ctx)->features = 0;
	kernel.ring.stride = 64;
	qp = tern_qp_create(pd, &attr);
	expect(qp && to_tern_qp(qp)->sq.ring.stride == 64);
	expect(!tern_qp_destroy(qp));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
	kernel.features = 0;
}

static void qp__has_late_doorbells_if_the_kernel_knows_them(void)
{
	static const uint32_t known[] = { 0, TERN_DOORBELL_MORE, ~TERN_DOORBELL_MORE };
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++) {
		kernel.doorbell = known[i];
		ctx = open_context();
		pd = alloc_pd(ctx);
		attr.send_cq = tern_cq_create(ctx, 4, NULL, 0);
		attr.recv_cq = attr.send_cq;
		expect(attr.send_cq);
		qp = tern_qp_create(pd, &attr);
		expect(qp && to_tern_qp(qp)->lazy.allowed == (known[i] == TERN_DOORBELL_MORE));
		expect(!qp || !tern_qp_destroy(qp));
		expect(!tern_cq_destroy(attr.send_cq));
		expect(!tern_pd_dealloc(pd));
		close_context(ctx);
		expect(nothing_left());
	}
	kernel.doorbell = 0;
}

static const struct tap_test tests[] = {
	TEST(qp__a_failure_at_any_step_undoes_the_others),
	TEST(qp__returns_the_granted_capacities),
	TEST(qp__with_an_srq_has_no_receive_ring),
	TEST(qp__counts_what_is_polled_if_the_kernel_counts_the_rest),
	TEST(qp_ex__has_the_requested_wr_calls),
	TEST(qp_ex__has_what_the_kernel_knows),
	TEST(qp__entries_have_room_for_an_atomic),
	TEST(qp__has_late_doorbells_if_the_kernel_knows_them),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
