// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The provider's atomics: ibv_post_send(), ibv_wr_*() and terndv_wr_*(). */

#include "provider_fake.h"
#include "terndv.h"

#define KEY 0x77
#define ADDR 0xfeedfacecafebee8
#define LOCAL 0x1008

/* one batch of one atomic with this list; the answer of its ibv_wr_complete() */
static int batch_of(struct tern_qp *qp, bool swap, uint64_t addr,
		    const struct ibv_sge *list, int count)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	if (swap)
		ibv_wr_atomic_cmp_swp(ex, KEY, addr, 11, 22);
	else
		ibv_wr_atomic_fetch_add(ex, KEY, addr, 11);
	if (count >= 0)
		ibv_wr_set_sge_list(ex, count, list);
	return ibv_wr_complete(ex);
}

/* the same by ibv_post_send() */
static int post_of(struct tern_qp *qp, bool swap, uint64_t addr,
		   struct ibv_sge *list, int count)
{
	struct ibv_send_wr wr = {
		.opcode = swap ? IBV_WR_ATOMIC_CMP_AND_SWP :
				 IBV_WR_ATOMIC_FETCH_AND_ADD,
		.sg_list = list,
		.num_sge = count,
		.wr.atomic = { .remote_addr = addr, .compare_add = 11,
			       .swap = 22, .rkey = KEY },
	};

	return post(qp, &wr);
}

static void expect_entry(struct tern_qp *qp, uint8_t opcode,
			 const struct tern_atomic_args *args)
{
	struct tern_sqe *sqe = take(&qp->sq.ring);

	expect_eq(sqe->opcode, opcode);
	expect(sqe->rkey == KEY && sqe->remote_addr == ADDR);
	expect(sqe->num_sge == 1 && sqe->sge[0].addr == LOCAL);
	expect(sqe->sge[0].length == 8 && sqe->sge[0].lkey == 5);
	expect_bytes(&sqe->sge[1], args, sizeof(*args));
	expect(!sqe->flags && !sqe->ex && !sqe->inline_len && !sqe->length);
	taken(&qp->sq.ring);
}

static const struct tern_atomic_args plain_add = {
	.data = 11, .compare_mask = UINT64_MAX };
static const struct tern_atomic_args plain_swap = {
	.data = 22, .compare = 11, .data_mask = UINT64_MAX,
	.compare_mask = UINT64_MAX };

static void atomic__posts_and_wr_calls_are_of_64_bits(void)
{
	struct ibv_sge sge = { LOCAL, 8, 5 };
	struct tern_qp *qp = make_qp();

	expect(!post_of(qp, false, ADDR, &sge, 1));
	expect(!batch_of(qp, false, ADDR, &sge, 1));
	expect(!post_of(qp, true, ADDR, &sge, 1));
	expect(!batch_of(qp, true, ADDR, &sge, 1));
	expect_entry(qp, TERN_WR_FETCH_ADD, &plain_add);
	expect_entry(qp, TERN_WR_FETCH_ADD, &plain_add);
	expect_entry(qp, TERN_WR_CMP_SWAP, &plain_swap);
	expect_entry(qp, TERN_WR_CMP_SWAP, &plain_swap);
	free_qp(qp);
}

static void atomic__terndv_passes_each_mask(void)
{
	static const struct terndv_cmp_swap operands = {
		.compare = 1, .compare_mask = 2, .swap = 3, .swap_mask = 4 };
	static const struct tern_atomic_args add = {
		.data = 1ULL << 63 | 5, .data_mask = 1ULL << 31,
		.compare_mask = UINT64_MAX };
	static const struct tern_atomic_args swap = {
		.data = 3, .compare = 1, .data_mask = 4, .compare_mask = 2 };
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	terndv_wr_fetch_add(ex, KEY, ADDR, 1ULL << 63 | 5, 1ULL << 31);
	ibv_wr_set_sge(ex, 5, LOCAL, 8);
	terndv_wr_cmp_swap(ex, KEY, ADDR, &operands);
	ibv_wr_set_sge(ex, 5, LOCAL, 8);
	expect(!ibv_wr_complete(ex));
	expect_entry(qp, TERN_WR_FETCH_ADD, &add);
	expect_entry(qp, TERN_WR_CMP_SWAP, &swap);
	free_qp(qp);
}

/* both forms, by both ways to post, are refused */
static void expect_refused(struct tern_qp *qp, uint64_t addr,
			   struct ibv_sge *list, int count)
{
	expect_eq(post_of(qp, false, addr, list, count), EINVAL);
	expect_eq(post_of(qp, true, addr, list, count), EINVAL);
	expect_eq(batch_of(qp, false, addr, list, count), EINVAL);
	expect_eq(batch_of(qp, true, addr, list, count), EINVAL);
	expect(!take(&qp->sq.ring) && !bell.rings);
}

static void atomic__has_one_element_of_eight_bytes(void)
{
	struct ibv_sge list[2] = { { LOCAL, 8, 5 }, { LOCAL + 8, 8, 5 } };
	struct tern_qp *qp = make_qp();

	expect_refused(qp, ADDR, list, 0);
	expect_refused(qp, ADDR, list, 2);
	expect_refused(qp, ADDR, list, -1);
	list[0].length = 7;
	expect_refused(qp, ADDR, list, 1);
	list[0].length = 0;
	expect_refused(qp, ADDR, list, 1);
	free_qp(qp);
}

/* the setter is missing: the next request, or the end of the batch, notices it */
static void atomic__without_element_drops_its_batch(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_atomic_fetch_add(ex, KEY, ADDR, 1);
	ibv_wr_send(ex);
	expect_eq(ibv_wr_complete(ex), EINVAL);
	expect(!take(&qp->sq.ring) && !bell.rings);
	free_qp(qp);
}

static void atomic__a_longer_element_takes_eight_bytes(void)
{
	struct ibv_sge sge = { LOCAL, 4096, 5 };
	struct tern_qp *qp = make_qp();

	expect(!post_of(qp, false, ADDR, &sge, 1));
	expect(!batch_of(qp, true, ADDR, &sge, 1));
	expect_entry(qp, TERN_WR_FETCH_ADD, &plain_add);
	expect_entry(qp, TERN_WR_CMP_SWAP, &plain_swap);
	free_qp(qp);
}

static void atomic__both_addresses_are_multiples_of_eight(void)
{
	struct ibv_sge sge = { LOCAL, 16, 5 };
	struct tern_qp *qp = make_qp();
	unsigned int off;

	for (off = 1; off < 8; off++) {
		expect_refused(qp, ADDR + off, &sge, 1);
		sge.addr = LOCAL + off;
		expect_refused(qp, ADDR, &sge, 1);
		sge.addr = LOCAL;
	}
	free_qp(qp);
}

static void atomic__is_never_inline(void)
{
	uint64_t data = 0;
	struct ibv_sge sge = { (uintptr_t)&data, 8, 5 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_INLINE };
	struct tern_qp *qp = make_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	expect_eq(post(qp, &wr), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_atomic_fetch_add(ex, KEY, ADDR, 1);
	ibv_wr_set_inline_data(ex, &data, 8);
	expect_eq(ibv_wr_complete(ex), EINVAL);
	free_qp(qp);
}

static void atomic__may_be_fenced_and_raises_no_event(void)
{
	struct ibv_sge sge = { LOCAL, 8, 5 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_FENCE |
			IBV_SEND_SOLICITED | IBV_SEND_SIGNALED };
	struct tern_qp *qp = make_qp();

	expect(!post(qp, &wr));
	expect_eq(((struct tern_sqe *)take(&qp->sq.ring))->flags,
		  TERN_WR_FENCE | TERN_WR_SIGNALED);
	free_qp(qp);
}

/* ASan watches the memory after the last entry */
static void atomic__fills_the_shortest_entry_to_its_end(void)
{
	struct ibv_sge sge = { LOCAL, 8, 5 };
	struct tern_qp *qp = make_qp();
	int i;

	free(qp->sq.ring.hdr);
	make_ring(&qp->sq.ring, SQ_ENTRIES, 128, SQ_ENTRIES, 0);
	qp->sq.max_sge = 1;
	for (i = 0; i < SQ_ENTRIES; i++)
		expect(!post_of(qp, true, ADDR, &sge, 1));
	for (i = 0; i < SQ_ENTRIES; i++)
		expect_entry(qp, TERN_WR_CMP_SWAP, &plain_swap);
	free_qp(qp);
}

static void atomic__is_refused_if_the_kernel_lacks_it(void)
{
	struct ibv_sge sge = { LOCAL, 8, 5 };
	struct tern_qp *qp = make_qp();

	qp->features = ~TERN_FEATURE_7306;
	expect_eq(post_of(qp, false, ADDR, &sge, 1), EOPNOTSUPP);
	expect_eq(post_of(qp, true, ADDR, &sge, 1), EOPNOTSUPP);
	expect_eq(batch_of(qp, false, ADDR, &sge, 1), EOPNOTSUPP);
	expect_eq(batch_of(qp, true, ADDR, &sge, 1), EOPNOTSUPP);
	expect(!take(&qp->sq.ring) && !bell.rings);
	free_qp(qp);
}

static const struct tap_test tests[] = {
	TEST(atomic__posts_and_wr_calls_are_of_64_bits),
	TEST(atomic__terndv_passes_each_mask),
	TEST(atomic__has_one_element_of_eight_bytes),
	TEST(atomic__without_element_drops_its_batch),
	TEST(atomic__a_longer_element_takes_eight_bytes),
	TEST(atomic__both_addresses_are_multiples_of_eight),
	TEST(atomic__is_never_inline),
	TEST(atomic__may_be_fenced_and_raises_no_event),
	TEST(atomic__fills_the_shortest_entry_to_its_end),
	TEST(atomic__is_refused_if_the_kernel_lacks_it),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
