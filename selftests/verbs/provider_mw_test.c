// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Binding memory windows: ibv_bind_mw(), ibv_post_send(), ibv_wr_bind_mw(). */

#include "provider_fake.h"

#define KEY 0xabcdef05U

static struct ibv_mr mr = { .lkey = 0x1234 };
static struct ibv_mw mw1 = { .rkey = KEY, .type = IBV_MW_TYPE_1 };
static struct ibv_mw mw2 = { .rkey = KEY, .type = IBV_MW_TYPE_2 };

static const struct ibv_mw_bind_info good = {
	.mr = &mr, .addr = 0xfeedface, .length = 5ULL << 32,
	.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED,
};

static void expect_entry(struct tern_qp *qp, uint32_t rkey, uint32_t flags)
{
	struct tern_sqe *sqe = take(&qp->sq.ring);

	expect(sqe->opcode == TERN_WR_BIND_MW && sqe->wr_id == 7);
	expect(sqe->rkey == rkey && sqe->ex == mr.lkey);
	expect(sqe->remote_addr == good.addr && sqe->length == good.length);
	expect_eq(sqe->access, good.mw_access_flags);
	expect(sqe->flags == flags && !sqe->num_sge && !sqe->inline_len);
	taken(&qp->sq.ring);
}

static void bind_mw__fills_an_entry_and_changes_the_key(void)
{
	struct ibv_mw_bind bind = { .wr_id = 7, .bind_info = good,
				    .send_flags = IBV_SEND_FENCE };
	struct tern_qp *qp = make_qp();

	mw1.rkey = KEY;
	expect(!tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind));
	expect(mw1.rkey == KEY + 1 && bell.rings == 1);
	expect(bell.prod_then == 1 && !bell.locked_then);
	expect_entry(qp, KEY + 1, TERN_WR_FENCE);
	/* the low byte of the key wraps, its index is unchanged */
	mw1.rkey = KEY | 0xff;
	expect(!tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind));
	expect_eq(mw1.rkey, (KEY & ~0xffU));
	free_qp(qp);
}

static void bind_mw__without_length_unbinds(void)
{
	struct ibv_mw_bind bind = { .wr_id = 7 };
	struct tern_qp *qp = make_qp();
	struct tern_sqe *sqe;

	mw1.rkey = KEY;
	expect(!tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind));
	sqe = take(&qp->sq.ring);
	expect(sqe->opcode == TERN_WR_BIND_MW && sqe->rkey == KEY + 1);
	expect(!sqe->length && !sqe->ex && !sqe->access);
	free_qp(qp);
}

static void bind_mw__what_is_refused_changes_nothing(void)
{
	struct ibv_mw_bind bind = { .bind_info = good };
	struct tern_qp *qp = make_qp();
	int i;

	mw1.rkey = KEY;
	mw2.rkey = KEY;
	expect_eq(tern_qp_bind_mw(&qp->vqp.qp, &mw2, &bind), EINVAL);
	bind.send_flags = IBV_SEND_IP_CSUM;
	expect_eq(tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind), EINVAL);
	bind.send_flags = 0;
	bind.bind_info.mw_access_flags |= IBV_ACCESS_LOCAL_WRITE;
	expect_eq(tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind), EINVAL);
	bind.bind_info = good;
	bind.bind_info.mr = NULL;
	expect_eq(tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind), EINVAL);
	expect(mw1.rkey == KEY && mw2.rkey == KEY);
	expect(!take(&qp->sq.ring) && !bell.rings);
	bind.bind_info = good;
	for (i = 0; i < SQ_ENTRIES; i++)
		expect(!tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind));
	expect_eq(tern_qp_bind_mw(&qp->vqp.qp, &mw1, &bind), ENOMEM);
	expect_eq(mw1.rkey, KEY + SQ_ENTRIES);
	free_qp(qp);
}

static struct ibv_send_wr type2(struct ibv_mw *mw, uint32_t rkey)
{
	return (struct ibv_send_wr){
		.wr_id = 7,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = rkey, .bind_info = good },
	};
}

static void send__a_bind_fills_its_fields(void)
{
	struct ibv_send_wr wr = type2(&mw2, KEY + 9);
	struct tern_qp *qp = make_qp();

	mw2.rkey = KEY;
	expect(!post(qp, &wr));
	expect_entry(qp, KEY + 9, TERN_WR_SIGNALED);
	/* the provider leaves the program's key unchanged */
	expect_eq(mw2.rkey, KEY);
	free_qp(qp);
}

static void send__bad_binds_are_refused(void)
{
	struct ibv_send_wr wrs[6];
	struct tern_qp *qp = make_qp();
	size_t i;

	mw1.rkey = KEY;
	mw2.rkey = KEY;
	for (i = 0; i < ARRAY_LEN(wrs); i++)
		wrs[i] = type2(&mw2, KEY);
	wrs[0].bind_mw.mw = &mw1;
	wrs[1].bind_mw.rkey ^= 0x100;
	wrs[2].bind_mw.bind_info.mr = NULL;
	wrs[3].bind_mw.bind_info.length = 0;
	wrs[4].bind_mw.bind_info.mw_access_flags = IBV_ACCESS_MW_BIND;
	wrs[5].send_flags = IBV_SEND_INLINE;
	for (i = 0; i < ARRAY_LEN(wrs); i++)
		expect_eq(post(qp, &wrs[i]), EINVAL);
	expect(!take(&qp->sq.ring) && !bell.rings);
	free_qp(qp);
}

static void wr__a_bind_fills_its_fields(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	mw2.rkey = KEY;
	ibv_wr_start(ex);
	ex->wr_id = 7;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(ex, &mw2, KEY + 1, &good);
	expect(!ibv_wr_complete(ex));
	expect_entry(qp, KEY + 1, TERN_WR_SIGNALED);
	free_qp(qp);
}

static void wr__a_bad_bind_drops_the_batch(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	mw2.rkey = KEY;
	ibv_wr_start(ex);
	ex->wr_flags = 0;
	ibv_wr_local_inv(ex, KEY);
	ibv_wr_bind_mw(ex, &mw2, KEY + 0x100, &good);
	expect_eq(ibv_wr_complete(ex), EINVAL);
	expect(!take(&qp->sq.ring) && !bell.rings);
	free_qp(qp);
}

static const struct tap_test tests[] = {
	TEST(bind_mw__fills_an_entry_and_changes_the_key),
	TEST(bind_mw__without_length_unbinds),
	TEST(bind_mw__what_is_refused_changes_nothing),
	TEST(send__a_bind_fills_its_fields),
	TEST(send__bad_binds_are_refused),
	TEST(wr__a_bind_fills_its_fields),
	TEST(wr__a_bad_bind_drops_the_batch),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
