// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The provider's ibv_post_send(). */

#include "provider_fake.h"

static void send__every_opcode_fills_its_fields(void)
{
	static const struct {
		enum ibv_wr_opcode from;
		uint8_t to;
		bool remote, key, data;
	} rows[] = {
		{ IBV_WR_SEND, TERN_WR_SEND, .data = true },
		{ IBV_WR_SEND_WITH_INV, TERN_WR_SEND_WITH_INV, .key = true,
		  .data = true },
		{ IBV_WR_RDMA_WRITE, TERN_WR_RDMA_WRITE, .remote = true,
		  .data = true },
		{ IBV_WR_RDMA_READ, TERN_WR_RDMA_READ, .remote = true,
		  .data = true },
		{ IBV_WR_LOCAL_INV, TERN_WR_LOCAL_INV, .key = true },
	};
	struct ibv_sge sge[2] = { { 0x1000, 10, 5 }, { 0x2000, UINT32_MAX, 6 } };
	struct tern_qp *qp = make_qp();
	struct tern_sqe *sqe;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct ibv_send_wr wr = {
			.wr_id = 0xabcdef0123456789 + i,
			.opcode = rows[i].from,
			.sg_list = sge,
			.num_sge = 2,
			.wr.rdma = { 0xfeedfacecafebeef, 0x77 },
			.invalidate_rkey = 0x99,
		};

		expect(!post(qp, &wr));
		sqe = take(&qp->sq.ring);
		expect_eq(sqe->opcode, rows[i].to);
		expect_eq(sqe->wr_id, wr.wr_id);
		expect(sqe->flags == 0 && sqe->reserved0 == 0);
		expect(sqe->inline_len == 0 && sqe->access == 0);
		expect_bytes(sqe->imm, "\0\0\0\0\0\0\0\0", 8);
		expect_eq(sqe->num_sge, (rows[i].data ? 2 : 0));
		expect(!rows[i].data || !memcmp(sqe->sge, sge, sizeof(sge)));
		expect(sqe->remote_addr ==
		       (rows[i].remote ? wr.wr.rdma.remote_addr : 0));
		expect_eq(sqe->rkey, (rows[i].remote ? 0x77 : 0));
		expect_eq(sqe->ex, (rows[i].key ? 0x99 : 0));
		taken(&qp->sq.ring);
	}
	expect(bell.rings == ARRAY_LEN(rows) && bell.qpn == QPN);
	free_qp(qp);
}

static void send__flags_are_translated_one_by_one(void)
{
	static const struct {
		unsigned int from;
		uint32_t to;
	} rows[] = {
		{ 0, 0 },
		{ IBV_SEND_SIGNALED, TERN_WR_SIGNALED },
		{ IBV_SEND_SOLICITED, TERN_WR_SOLICITED },
		{ IBV_SEND_FENCE, TERN_WR_FENCE },
		{ IBV_SEND_INLINE, TERN_WR_INLINE },
		{ IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |
		  IBV_SEND_INLINE,
		  TERN_WR_FENCE | TERN_WR_SIGNALED | TERN_WR_SOLICITED |
		  TERN_WR_INLINE },
	};
	struct tern_qp *qp = make_qp();
	struct tern_sqe *sqe;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
					  .send_flags = rows[i].from };

		expect(!post(qp, &wr));
		sqe = take(&qp->sq.ring);
		expect_eq(sqe->flags, rows[i].to);
		taken(&qp->sq.ring);
	}
	free_qp(qp);
}

static void send__sq_sig_all_signals_each_entry(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct tern_qp *qp = make_qp();
	struct tern_sqe *sqe;

	qp->always = TERN_WR_SIGNALED;
	expect(!post(qp, &wr));
	sqe = take(&qp->sq.ring);
	expect_eq(sqe->flags, TERN_WR_SIGNALED);
	free_qp(qp);
}

static void send__write_read_and_invalidate_ignore_solicited(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_LOCAL_INV };
	struct tern_qp *qp = make_qp();
	struct tern_sqe *sqe;
	size_t i;

	for (i = 0; i < ARRAY_LEN(opcodes); i++) {
		struct ibv_send_wr wr = { .opcode = opcodes[i],
					  .send_flags = IBV_SEND_SOLICITED };

		expect(!post(qp, &wr));
		sqe = take(&qp->sq.ring);
		expect_eq(sqe->flags, 0);
		taken(&qp->sq.ring);
	}
	free_qp(qp);
}

static void send__opcodes_not_offered_are_refused(void)
{
	static const enum ibv_wr_opcode known[] = {
		IBV_WR_TSO, IBV_WR_DRIVER1, IBV_WR_FLUSH,
		IBV_WR_ATOMIC_WRITE };
	struct tern_qp *qp = make_qp();
	struct ibv_send_wr wr = {};
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++) {
		wr.opcode = known[i];
		expect_eq(post(qp, &wr), EOPNOTSUPP);
	}
	wr.opcode = IBV_WR_ATOMIC_WRITE + 1;
	expect_eq(post(qp, &wr), EINVAL);
	wr.opcode = (enum ibv_wr_opcode)-1;
	expect_eq(post(qp, &wr), EINVAL);
	expect(!take(&qp->sq.ring) && !bell.rings);
	free_qp(qp);
}

static void send__bad_flags_and_lists_are_refused(void)
{
	struct ibv_sge sge[TERN_MAX_SGE + 1] = {};
	struct ibv_send_wr wrs[] = {
		{ .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_IP_CSUM },
		{ .opcode = IBV_WR_SEND, .send_flags = 1U << 31 },
		{ .opcode = IBV_WR_SEND, .num_sge = TERN_MAX_SGE + 1 },
		{ .opcode = IBV_WR_SEND, .num_sge = -1 },
		{ .opcode = IBV_WR_SEND, .num_sge = -1,
		  .send_flags = IBV_SEND_INLINE },
		{ .opcode = IBV_WR_RDMA_READ, .num_sge = TERN_MAX_SGE + 1 },
		{ .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_INLINE },
		{ .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_INLINE },
	};
	struct tern_qp *qp = make_qp();
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrs); i++) {
		wrs[i].sg_list = sge;
		expect_eq(post(qp, &wrs[i]), EINVAL);
	}
	qp->sq.max_sge = 1;
	wrs[2].num_sge = 2;
	expect_eq(post(qp, &wrs[2]), EINVAL);
	expect(!take(&qp->sq.ring) && !bell.rings);
	free_qp(qp);
}

static void send__sixteen_elements_fill_an_entry_to_its_end(void)
{
	struct ibv_sge sge[TERN_MAX_SGE];
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ, .sg_list = sge,
				  .num_sge = TERN_MAX_SGE };
	struct tern_qp *qp = make_qp();
	struct tern_sqe *sqe;
	int i;

	for (i = 0; i < TERN_MAX_SGE; i++)
		sge[i] = (struct ibv_sge){ i << 12, i, ~i };
	for (i = 0; i < SQ_ENTRIES; i++)
		expect(!post(qp, &wr));
	sqe = tern_ring_entry(&qp->sq.ring, SQ_ENTRIES - 1);
	expect_eq(sqe->num_sge, TERN_MAX_SGE);
	expect_bytes(sqe->sge, sge, sizeof(sge));
	free_qp(qp);
}

static void send__inline_gathers_its_buffers_into_the_entry(void)
{
	char a[] = "one long ", b[] = "buffer";
	struct ibv_sge sge[3] = {
		{ (uintptr_t)a, strlen(a), 0 },
		{ 0, 0, 0 },
		{ (uintptr_t)b, strlen(b), 0 },
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = sge,
				  .num_sge = 3, .send_flags = IBV_SEND_INLINE };
	struct tern_qp *qp = make_qp();
	struct tern_sqe *sqe;

	expect(!post(qp, &wr));
	sqe = take(&qp->sq.ring);
	expect(sqe->flags == TERN_WR_INLINE && sqe->num_sge == 0);
	expect_eq(sqe->inline_len, 15);
	expect_bytes(sqe->sge, "one long buffer", 15);
	free_qp(qp);
}

static void send__inline_ends_at_the_limit_of_the_queue(void)
{
	char data[TERN_MAX_INLINE] = {};
	struct ibv_sge sge[2] = { { (uintptr_t)data, TERN_MAX_INLINE, 0 },
				  { (uintptr_t)data, 1, 0 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge,
				  .num_sge = 1, .send_flags = IBV_SEND_INLINE };
	struct tern_qp *qp = make_qp();

	expect(!post(qp, &wr));
	wr.num_sge = 2;
	expect_eq(post(qp, &wr), EINVAL);
	sge[1].length = UINT32_MAX;
	expect_eq(post(qp, &wr), EINVAL);
	qp->max_inline = 0;
	wr.num_sge = 1;
	expect_eq(post(qp, &wr), EINVAL);
	wr.num_sge = 0;
	expect(!post(qp, &wr));
	expect_eq(qp->sq.ring.hdr->prod, 2);
	free_qp(qp);
}

static void send__a_list_rings_the_doorbell_once_after_publishing(void)
{
	struct ibv_send_wr wrs[3] = {}, *bad = NULL;
	struct tern_qp *qp = make_qp();
	int i;

	for (i = 0; i < 3; i++) {
		wrs[i].opcode = IBV_WR_SEND;
		wrs[i].wr_id = i;
		wrs[i].next = i < 2 ? &wrs[i + 1] : NULL;
	}
	expect(!tern_qp_post_send(&qp->vqp.qp, wrs, &bad));
	expect(!bad);
	expect(bell.rings == 1 && bell.qpn == QPN);
	expect_eq(bell.prod_then, 3);
	expect(!bell.locked_then);
	for (i = 0; i < 3; i++) {
		expect(((struct tern_sqe *)take(&qp->sq.ring))->wr_id ==
		       (uint64_t)i);
		taken(&qp->sq.ring);
	}
	free_qp(qp);
}

static void send__requests_before_a_bad_one_are_posted_and_rung(void)
{
	struct ibv_send_wr wrs[3] = {}, *bad = NULL;
	struct tern_qp *qp = make_qp();

	wrs[0] = (struct ibv_send_wr){ .next = &wrs[1], .opcode = IBV_WR_SEND };
	wrs[1] = (struct ibv_send_wr){ .next = &wrs[2],
				       .opcode = IBV_WR_TSO };
	wrs[2].opcode = IBV_WR_SEND;
	expect_eq(tern_qp_post_send(&qp->vqp.qp, wrs, &bad), EOPNOTSUPP);
	expect(bad == &wrs[1]);
	expect(qp->sq.ring.hdr->prod == 1 && bell.rings == 1);
	free_qp(qp);
}

static void send__no_doorbell_while_a_drain_is_running(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct tern_qp *qp = make_qp();

	qp->sq.ring.hdr->flags = TERN_RING_BUSY;
	expect(!post(qp, &wr));
	expect(bell.rings == 0 && qp->sq.ring.hdr->prod == 1);
	qp->sq.ring.hdr->flags = TERN_RING_KICK;
	expect(!post(qp, &wr));
	expect_eq(bell.rings, 1);
	free_qp(qp);
}

static void send__a_full_queue_says_enomem_until_the_kernel_takes_one(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct tern_qp *qp = make_qp();
	int i;

	for (i = 0; i < SQ_ENTRIES; i++)
		expect(!post(qp, &wr));
	expect_eq(post(qp, &wr), ENOMEM);
	expect_eq(bell.rings, SQ_ENTRIES);
	expect_eq(qp->sq.ring.hdr->prod, SQ_ENTRIES);
	taken(&qp->sq.ring);
	expect(!post(qp, &wr));
	expect_eq(post(qp, &wr), ENOMEM);
	free_qp(qp);
}

static void send__a_larger_ring_is_full_at_the_granted_depth(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct tern_qp *qp = make_qp_at(0, 5);
	int i;

	for (i = 0; i < 5; i++)
		expect(!post(qp, &wr));
	expect_eq(post(qp, &wr), ENOMEM);
	free_qp(qp);

	qp = make_qp_at(0, 0);
	expect_eq(post(qp, &wr), ENOMEM);
	free_qp(qp);
}

static void send__indices_wrap_at_32_bits(void)
{
	struct tern_qp *qp = make_qp_at(UINT32_MAX - 2, SQ_ENTRIES);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct tern_sqe *sqe;
	uint64_t i;

	for (i = 0; i < 3 * SQ_ENTRIES; i++) {
		wr.wr_id = i;
		expect(!post(qp, &wr));
		if (i < SQ_ENTRIES - 1)
			continue;
		expect_eq(post(qp, &wr), ENOMEM);
		sqe = take(&qp->sq.ring);
		expect_eq(sqe->wr_id, i - (SQ_ENTRIES - 1));
		taken(&qp->sq.ring);
	}
	free_qp(qp);
}

static void send__a_failed_doorbell_fails_the_post(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct tern_qp *qp = make_qp();

	bell.answer = EIO;
	expect_eq(post(qp, &wr), EIO);
	free_qp(qp);
}

/* the device is removed between the post and its doorbell: the entries complete */
static void send__a_post_that_was_flushed_has_not_failed(void)
{
	struct ibv_send_wr more = { .opcode = IBV_WR_SEND }, wr = more;
	struct tern_qp *qp = make_qp();

	flushed = &qp->sq.ring;
	wr.next = &more;
	bell.answer = ENOENT;
	bell.then = flush_ring;
	expect_eq(post(qp, &wr), 0);
	bell.then = NULL;
	expect_eq(post(qp, &wr), ENOENT);
	free_qp(qp);
}

/* After a disassociation every mapping may read as zeroes. */
static void send__a_zeroed_mapping_looks_full(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct tern_qp *qp = make_qp_at(1000, SQ_ENTRIES);
	int i;

	bell.answer = EIO;
	memset(qp->sq.ring.hdr, 0, sizeof(*qp->sq.ring.hdr));
	for (i = 0; i < 2 * SQ_ENTRIES; i++)
		expect_eq(post(qp, &wr), (i < SQ_ENTRIES ? EIO : ENOMEM));
	free_qp(qp);
}

static const struct tap_test tests[] = {
	TEST(send__every_opcode_fills_its_fields),
	TEST(send__flags_are_translated_one_by_one),
	TEST(send__sq_sig_all_signals_each_entry),
	TEST(send__write_read_and_invalidate_ignore_solicited),
	TEST(send__opcodes_not_offered_are_refused),
	TEST(send__bad_flags_and_lists_are_refused),
	TEST(send__sixteen_elements_fill_an_entry_to_its_end),
	TEST(send__inline_gathers_its_buffers_into_the_entry),
	TEST(send__inline_ends_at_the_limit_of_the_queue),
	TEST(send__a_list_rings_the_doorbell_once_after_publishing),
	TEST(send__requests_before_a_bad_one_are_posted_and_rung),
	TEST(send__no_doorbell_while_a_drain_is_running),
	TEST(send__a_full_queue_says_enomem_until_the_kernel_takes_one),
	TEST(send__a_larger_ring_is_full_at_the_granted_depth),
	TEST(send__indices_wrap_at_32_bits),
	TEST(send__a_failed_doorbell_fails_the_post),
	TEST(send__a_post_that_was_flushed_has_not_failed),
	TEST(send__a_zeroed_mapping_looks_full),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
