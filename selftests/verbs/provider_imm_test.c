// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The provider's requests with immediate data: ibv_post_send(), ibv_wr_*() and
 * terndv_wr_*().
 */

#include <endian.h>

#include "provider_fake.h"
#include "terndv.h"

#define KEY 0x77
#define ADDR 0xfeedfacecafebeef
#define EIGHT "\x12\x34\x56\x78\x9a\xbc\xde\xf0"
#define FOUR "\x12\x34\x56\x78\0\0\0\0"

static const uint8_t eight[TERNDV_IMM_SIZE] = {
	0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0 };

/* the next entry has this opcode and immediate data, one element, and @remote */
static void expect_entry(struct tern_qp *qp, uint8_t opcode, const char *imm,
			 bool remote, uint32_t ex)
{
	struct tern_sqe *sqe = take(&qp->sq.ring);

	expect_eq(sqe->opcode, opcode);
	expect_bytes(sqe->imm, imm, 8);
	expect_eq(sqe->remote_addr, remote ? ADDR : 0);
	expect_eq(sqe->rkey, remote ? KEY : 0);
	expect_eq(sqe->ex, ex);
	expect(sqe->num_sge == 1 && sqe->sge[0].addr == 0x1000);
	expect(!sqe->inline_len && !sqe->access && !sqe->reserved0);
	taken(&qp->sq.ring);
}

static void imm__posts_fill_the_first_four_bytes(void)
{
	struct ibv_sge sge = { 0x1000, 10, 5 };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.imm_data = htobe32(0x12345678),
		.wr.rdma = { ADDR, KEY },
	};
	struct tern_qp *qp = make_qp();

	wr.opcode = IBV_WR_SEND_WITH_IMM;
	expect(!post(qp, &wr));
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	expect(!post(qp, &wr));
	expect_entry(qp, TERN_WR_SEND_WITH_IMM, FOUR, false, 0);
	expect_entry(qp, TERN_WR_WRITE_WITH_IMM, FOUR, true, 0);
	free_qp(qp);
}

static void imm__wr_calls_fill_the_first_four_bytes(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	ibv_wr_send_imm(ex, htobe32(0x12345678));
	ibv_wr_set_sge(ex, 5, 0x1000, 10);
	ibv_wr_rdma_write_imm(ex, KEY, ADDR, htobe32(0x12345678));
	ibv_wr_set_sge(ex, 5, 0x1000, 10);
	expect(!ibv_wr_complete(ex));
	expect_entry(qp, TERN_WR_SEND_WITH_IMM, FOUR, false, 0);
	expect_entry(qp, TERN_WR_WRITE_WITH_IMM, FOUR, true, 0);
	free_qp(qp);
}

static void imm__terndv_fills_all_eight(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	terndv_wr_send_imm(ex, eight);
	ibv_wr_set_sge(ex, 5, 0x1000, 10);
	terndv_wr_rdma_write_imm(ex, KEY, ADDR, eight);
	ibv_wr_set_sge(ex, 5, 0x1000, 10);
	terndv_wr_send_inv_imm(ex, 0x99, eight);
	ibv_wr_set_sge(ex, 5, 0x1000, 10);
	expect(!ibv_wr_complete(ex));
	expect_entry(qp, TERN_WR_SEND_WITH_IMM, EIGHT, false, 0);
	expect_entry(qp, TERN_WR_WRITE_WITH_IMM, EIGHT, true, 0);
	expect_entry(qp, TERN_WR_SEND_WITH_INV_IMM, EIGHT, false, 0x99);
	free_qp(qp);
}

static void imm__requests_may_be_solicited_fenced_and_inline(void)
{
	const unsigned int flags = IBV_SEND_SOLICITED | IBV_SEND_FENCE |
				   IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	const uint32_t want = TERN_WR_SOLICITED | TERN_WR_FENCE |
			      TERN_WR_SIGNALED | TERN_WR_INLINE;
	char data[] = "abc";
	struct ibv_sge sge = { (uintptr_t)data, 3, 0 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1,
				  .send_flags = flags };
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	struct tern_sqe *sqe;
	int i;

	wr.opcode = IBV_WR_SEND_WITH_IMM;
	expect(!post(qp, &wr));
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	expect(!post(qp, &wr));
	ibv_wr_start(ex);
	ex->wr_flags = flags;
	terndv_wr_send_inv_imm(ex, 1, eight);
	ibv_wr_set_inline_data(ex, data, 3);
	expect(!ibv_wr_complete(ex));
	for (i = 0; i < 3; i++) {
		sqe = take(&qp->sq.ring);
		expect_eq(sqe->flags, want);
		expect(!sqe->num_sge && sqe->inline_len == 3);
		expect_bytes(sqe->sge, "abc", 3);
		taken(&qp->sq.ring);
	}
	free_qp(qp);
}

/* one batch of one request; the answer of its ibv_wr_complete() */
static int batch_of(struct tern_qp *qp, int which)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	switch (which) {
	case 0:
		ibv_wr_send_imm(ex, 0);
		break;
	case 1:
		terndv_wr_send_imm(ex, eight);
		break;
	case 2:
		terndv_wr_send_inv_imm(ex, 1, eight);
		break;
	case 3:
		ibv_wr_rdma_write_imm(ex, 1, 2, 0);
		break;
	default:
		terndv_wr_rdma_write_imm(ex, 1, 2, eight);
	}
	return ibv_wr_complete(ex);
}

static void imm__is_refused_if_the_kernel_lacks_it(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_send_wr wr = {};
	unsigned int posted = 0;
	int which, answer;

	for (qp->features = 0; qp->features < 4; qp->features++) {
		for (which = 0; which < 5; which++) {
			answer = qp->features & (which < 3 ? TERN_FEATURE_V2 :
					       TERN_FEATURE_7306) ? 0 : EOPNOTSUPP;
			wr.opcode = which < 3 ? IBV_WR_SEND_WITH_IMM :
						IBV_WR_RDMA_WRITE_WITH_IMM;
			expect_eq(batch_of(qp, which), answer);
			expect_eq(post(qp, &wr), answer);
			posted += answer ? 0 : 2;
			expect_eq(qp->sq.ring.hdr->prod, posted);
			qp->sq.ring.hdr->cons = posted;
		}
	}
	free_qp(qp);
}

static const struct tap_test tests[] = {
	TEST(imm__posts_fill_the_first_four_bytes),
	TEST(imm__wr_calls_fill_the_first_four_bytes),
	TEST(imm__terndv_fills_all_eight),
	TEST(imm__requests_may_be_solicited_fenced_and_inline),
	TEST(imm__is_refused_if_the_kernel_lacks_it),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
