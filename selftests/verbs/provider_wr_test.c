// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The provider's ibv_wr_*() calls. */

#include "provider_fake.h"

static void wr__a_batch_is_published_whole_by_complete(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	struct ibv_sge list[2] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct tern_sqe *sqe;

	ibv_wr_start(ex);
	ex->wr_id = 10;
	ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 3, 1, 2);
	ex->wr_id = 11;
	ex->wr_flags = 0;
	ibv_wr_rdma_read(ex, 0x77, 0xfeed);
	ibv_wr_set_sge_list(ex, 2, list);
	expect(qp->sq.ring.hdr->prod == 0 && bell.rings == 0);
	expect(!ibv_wr_complete(ex));
	expect(qp->sq.ring.hdr->prod == 2 && bell.rings == 1);
	expect(bell.prod_then == 2 && !bell.locked_then);

	sqe = take(&qp->sq.ring);
	expect(sqe->opcode == TERN_WR_SEND && sqe->wr_id == 10);
	expect(sqe->flags == TERN_WR_SIGNALED && sqe->num_sge == 1);
	expect_bytes(sqe->sge, list, sizeof(list[0]));
	taken(&qp->sq.ring);
	sqe = take(&qp->sq.ring);
	expect(sqe->opcode == TERN_WR_RDMA_READ && sqe->wr_id == 11);
	expect(sqe->flags == 0 && sqe->num_sge == 2);
	expect(sqe->rkey == 0x77 && sqe->remote_addr == 0xfeed);
	expect_bytes(sqe->sge, list, sizeof(list));
	free_qp(qp);
}

static void wr__invalidations_and_inline_data_fill_their_fields(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	char data[] = "abcde";
	struct ibv_data_buf bufs[3] = { { data, 2 }, { NULL, 0 }, { data + 2, 3 } };
	struct tern_sqe *sqe;

	ibv_wr_start(ex);
	ibv_wr_send_inv(ex, 0x99);
	ibv_wr_set_inline_data_list(ex, 3, bufs);
	ibv_wr_local_inv(ex, 0x88);
	ibv_wr_rdma_write(ex, 1, 2);
	ibv_wr_set_inline_data(ex, data, 1);
	expect(!ibv_wr_complete(ex));

	sqe = take(&qp->sq.ring);
	expect(sqe->opcode == TERN_WR_SEND_WITH_INV && sqe->ex == 0x99);
	expect(sqe->flags == TERN_WR_INLINE && sqe->inline_len == 5);
	expect_bytes(sqe->sge, "abcde", 5);
	taken(&qp->sq.ring);
	sqe = take(&qp->sq.ring);
	expect(sqe->opcode == TERN_WR_LOCAL_INV && sqe->ex == 0x88);
	expect(sqe->num_sge == 0 && sqe->flags == 0);
	taken(&qp->sq.ring);
	sqe = take(&qp->sq.ring);
	expect(sqe->opcode == TERN_WR_RDMA_WRITE && sqe->inline_len == 1);
	expect(sqe->rkey == 1 && sqe->remote_addr == 2);
	free_qp(qp);
}

static void wr__abort_posts_nothing(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .wr_id = 5 };

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	expect(qp->sq.ring.hdr->prod == 0 && bell.rings == 0);
	expect(!post(qp, &wr));
	expect_eq(qp->sq.ring.hdr->prod, 1);
	expect_eq(((struct tern_sqe *)take(&qp->sq.ring))->wr_id, 5);

	ibv_wr_start(ex);
	expect(!ibv_wr_complete(ex));
	expect(qp->sq.ring.hdr->prod == 1 && bell.rings == 1);
	free_qp(qp);
}

static void wr__one_error_drops_the_whole_batch(void)
{
	static const struct ibv_sge list[TERN_MAX_SGE + 1];
	char long_data[TERN_MAX_INLINE + 1] = {};
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	int step, i, err;

	for (step = 0; step < 7; step++) {
		ex->wr_flags = 0;
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		if (step == 0)
			ibv_wr_set_sge_list(ex, TERN_MAX_SGE + 1, list);
		if (step == 1)
			ibv_wr_set_inline_data(ex, long_data, sizeof(long_data));
		if (step == 2)
			ex->wr_flags = IBV_SEND_IP_CSUM;
		ibv_wr_local_inv(ex, 1);
		if (step == 3)
			ibv_wr_set_sge(ex, 1, 2, 3);
		ibv_wr_rdma_read(ex, 1, 2);
		if (step == 4)
			ibv_wr_set_inline_data(ex, long_data, 1);
		for (i = 0; step == 5 && i < SQ_ENTRIES; i++)
			ibv_wr_send(ex);
		if (step == 6)
			ibv_wr_set_sge_list(ex, SIZE_MAX, list);
		ibv_wr_set_sge(ex, 1, 2, 3);
		err = ibv_wr_complete(ex);
		expect_eq(err, (step == 5 ? ENOMEM : EINVAL));
		expect(qp->sq.ring.hdr->prod == 0 && bell.rings == 0);
	}
	ibv_wr_start(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);
	expect_eq(ibv_wr_complete(ex), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_set_inline_data_list(ex, 0, NULL);
	expect_eq(ibv_wr_complete(ex), EINVAL);
	free_qp(qp);
}

#define DEPTH	64

/* Return: the doorbells of a batch of @n requests */
static unsigned int batch(struct tern_qp *qp, unsigned int n)
{
	unsigned int before = bell.rings;
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	while (n--)
		ibv_wr_rdma_write(ex, 1, 2);
	expect(!ibv_wr_complete(ex));
	return bell.rings - before;
}

/* provider_lazy_test.c has the rules, for ibv_post_send() */
static void wr__a_batch_rings_as_so_many_posts(void)
{
	struct tern_cq *scq = make_cq_at(16, 0), *rcq = make_cq_at(16, 0);
	struct tern_qp *qp = make_qp();
	struct ibv_wc wc;

	scq->ring.hdr->flags = TERN_CQ_ARM_NONE;
	rcq->ring.hdr->flags = TERN_CQ_ARM_NONE;
	free(qp->sq.ring.hdr);
	make_ring(&qp->sq.ring, DEPTH, SQ_STRIDE, DEPTH, 0);
	tern_lazy_init(qp, scq, rcq);

	expect_eq(batch(qp, 8), 1);
	expect(!bell.more);
	expect_eq(batch(qp, 8), 1);
	expect(bell.more);
	qp->sq.ring.hdr->flags = TERN_RING_LAZY;
	qp->sq.ring.hdr->cons = qp->sq.ring.hdr->prod;
	expect_eq(batch(qp, DEPTH / 4), 0);
	expect_eq(batch(qp, DEPTH / 4), 0);
	expect_eq(batch(qp, 1), 1);
	qp->sq.ring.hdr->cons = qp->sq.ring.hdr->prod;
	expect_eq(batch(qp, 16), 0);
	expect_eq(tern_cq_poll(&scq->vcq.cq, 1, &wc), 0);
	expect_eq(bell.rings, 4);

	tern_lazy_exit(qp);
	free_qp(qp);
	free_cq(scq);
	free_cq(rcq);
}

static void qp_ex__refuses_operations_that_tern_lacks(void)
{
	static const uint64_t refused[] = {
		IBV_QP_EX_WITH_TSO, IBV_QP_EX_WITH_FLUSH,
		IBV_QP_EX_WITH_ATOMIC_WRITE, 1ULL << 40 };
	struct tern_qp qp = { .features = UINT32_MAX };
	size_t i;

	for (i = 0; i < ARRAY_LEN(refused); i++)
		expect(tern_qp_set_wr_ops(&qp, IBV_QP_EX_WITH_SEND |
					       refused[i]) == EOPNOTSUPP);
	expect(!qp.vqp.qp_ex.wr_start);
}

static void qp_ex__refuses_operations_that_the_kernel_lacks(void)
{
	static const struct {
		uint64_t op;
		uint32_t needs;
	} rows[] = {
		{ IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, TERN_FEATURE_7306 },
		{ IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, TERN_FEATURE_7306 },
		{ IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, TERN_FEATURE_7306 },
		{ IBV_QP_EX_WITH_SEND_WITH_IMM, TERN_FEATURE_V2 },
		{ IBV_QP_EX_WITH_BIND_MW, 0 },
	};
	struct tern_qp qp = {};
	size_t i;

	for (qp.features = 0; qp.features < 8; qp.features++)
		for (i = 0; i < ARRAY_LEN(rows); i++)
			expect_eq(tern_qp_set_wr_ops(&qp, rows[i].op),
				  rows[i].needs & ~qp.features ? EOPNOTSUPP : 0);
}

static const struct tap_test tests[] = {
	TEST(wr__a_batch_is_published_whole_by_complete),
	TEST(wr__invalidations_and_inline_data_fill_their_fields),
	TEST(wr__abort_posts_nothing),
	TEST(wr__one_error_drops_the_whole_batch),
	TEST(wr__a_batch_rings_as_so_many_posts),
	TEST(qp_ex__refuses_operations_that_tern_lacks),
	TEST(qp_ex__refuses_operations_that_the_kernel_lacks),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
