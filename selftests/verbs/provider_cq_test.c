// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The provider: plain and extended polling, and arming. */

#include <endian.h>

#include "provider_fake.h"
#include "terndv.h"

static void poll__maps_every_opcode(void)
{
	static const struct {
		uint8_t from;
		enum ibv_wc_opcode to;
	} rows[] = {
		{ TERN_WR_SEND, IBV_WC_SEND },
		{ TERN_WR_SEND_WITH_INV, IBV_WC_SEND },
		{ TERN_WR_SEND_WITH_IMM, IBV_WC_SEND },
		{ TERN_WR_SEND_WITH_INV_IMM, IBV_WC_SEND },
		{ TERN_WR_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE },
		{ TERN_WR_FETCH_ADD, IBV_WC_FETCH_ADD },
		{ TERN_WR_CMP_SWAP, IBV_WC_COMP_SWAP },
		{ TERN_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE },
		{ TERN_WR_RDMA_READ, IBV_WC_RDMA_READ },
		{ TERN_WR_READ_WITH_INV, IBV_WC_RDMA_READ },
		{ TERN_WR_LOCAL_INV, IBV_WC_LOCAL_INV },
		{ TERN_WR_BIND_MW, IBV_WC_BIND_MW },
		{ TERN_WR_RECV, IBV_WC_RECV },
		{ TERN_WR_RECV_IMM, IBV_WC_RECV_RDMA_WITH_IMM },
	};
	struct tern_cq *cq = make_cq_at(16, 0);
	struct tern_cqe cqe = {};
	struct ibv_wc wc[16];
	size_t i;
	int op;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		cqe.opcode = rows[i].from;
		complete(cq, &cqe);
	}
	expect_eq(tern_cq_poll(&cq->vcq.cq, 16, wc), ARRAY_LEN(rows));
	for (i = 0; i < ARRAY_LEN(rows); i++)
		expect_eq(wc[i].opcode, rows[i].to);
	for (op = 0; op < 256; op++) {
		cqe.opcode = op;
		complete(cq, &cqe);
		expect_eq(tern_cq_poll(&cq->vcq.cq, 1, wc), 1);
	}
	free_cq(cq);
}

static void poll__copies_every_field(void)
{
	struct tern_cq *cq = make_cq_at(4, UINT32_MAX);
	struct tern_cqe cqe = {
		.wr_id = 0x1122334455667788, .opcode = TERN_WR_RECV,
		.flags = TERN_CQE_WITH_INV | TERN_CQE_SOLICITED,
		.qpn = 17, .byte_len = 4096, .inv_stag = 0xabcdef01,
	};
	struct ibv_wc wc;
	int status;

	memset(&wc, 0xff, sizeof(wc));
	complete(cq, &cqe);
	expect_eq(tern_cq_poll(&cq->vcq.cq, 1, &wc), 1);
	expect(wc.wr_id == cqe.wr_id && wc.qp_num == 17);
	expect(wc.status == IBV_WC_SUCCESS && wc.byte_len == 4096);
	expect_eq(wc.wc_flags, IBV_WC_WITH_INV);
	expect(wc.invalidated_rkey == 0xabcdef01 && wc.vendor_err == 0);
	expect(!wc.src_qp && !wc.pkey_index && !wc.slid && !wc.sl);

	cqe.flags = 0;
	cqe.vendor_err = 0x1203;
	for (status = 0; status <= IBV_WC_GENERAL_ERR; status++) {
		cqe.status = status;
		complete(cq, &cqe);
		expect_eq(tern_cq_poll(&cq->vcq.cq, 1, &wc), 1);
		expect_eq(wc.status, (enum ibv_wc_status)status);
		expect(wc.vendor_err == 0x1203 && wc.wc_flags == 0);
	}
	free_cq(cq);
}

static const struct tern_cqe both = {
	.opcode = TERN_WR_RECV, .flags = TERN_CQE_WITH_IMM | TERN_CQE_WITH_INV,
	.imm = { 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0 },
	.inv_stag = 0xabcdef01,
};

static void poll__returns_the_first_four_bytes_of_immediate_data(void)
{
	struct tern_cq *cq = make_cq_at(4, 0);
	struct tern_cqe cqe = both;
	struct ibv_wc wc;

	cqe.opcode = TERN_WR_RECV_IMM;
	cqe.flags = TERN_CQE_WITH_IMM;
	complete(cq, &cqe);
	expect_eq(tern_cq_poll(&cq->vcq.cq, 1, &wc), 1);
	expect_eq(wc.wc_flags, IBV_WC_WITH_IMM);
	expect_eq(be32toh(wc.imm_data), 0x12345678);
	free_cq(cq);
}

static void poll__a_key_comes_before_immediate_data(void)
{
	struct tern_cq *cq = make_cq_at(4, 0);
	struct ibv_wc wc;

	complete(cq, &both);
	expect_eq(tern_cq_poll(&cq->vcq.cq, 1, &wc), 1);
	expect_eq(wc.wc_flags, (IBV_WC_WITH_IMM | IBV_WC_WITH_INV));
	expect_eq(wc.invalidated_rkey, 0xabcdef01);
	free_cq(cq);
}

static void poll__takes_up_to_count_and_frees_their_entries(void)
{
	struct tern_cq *cq = make_cq_at(4, UINT32_MAX - 1);
	struct tern_cqe cqe = { .opcode = TERN_WR_RECV };
	struct ibv_wc wc[4];
	int i;

	expect_eq(tern_cq_poll(&cq->vcq.cq, 4, wc), 0);
	for (i = 0; i < 4; i++) {
		cqe.wr_id = i;
		complete(cq, &cqe);
	}
	expect_eq(tern_cq_poll(&cq->vcq.cq, 0, wc), 0);
	expect_eq(tern_cq_poll(&cq->vcq.cq, 3, wc), 3);
	expect(wc[0].wr_id == 0 && wc[2].wr_id == 2);
	expect_eq(cq->ring.hdr->cons, 1);
	expect_eq(tern_cq_poll(&cq->vcq.cq, 3, wc), 1);
	expect(wc[0].wr_id == 3 && cq->ring.hdr->cons == 2);
	free_cq(cq);
}

static void poll__a_broken_ring_is_an_error_and_not_a_crash(void)
{
	struct tern_cq *cq = make_cq_at(4, 1000);
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc[8];

	cq->ring.hdr->prod = 1005;
	expect_eq(tern_cq_poll(&cq->vcq.cq, 8, wc), -EIO);
	expect_eq(ibv_start_poll(&cq->vcq.cq_ex, &attr), EIO);
	memset(cq->ring.hdr, 0, sizeof(*cq->ring.hdr));
	expect_eq(tern_cq_poll(&cq->vcq.cq, 8, wc), -EIO);
	expect(!cq_is_locked(cq));
	free_cq(cq);
}

static void arm__solicited_does_not_replace_next(void)
{
	static const struct {
		uint32_t before;
		int solicited;
		uint32_t after;
	} rows[] = {
		{ TERN_CQ_ARM_NONE, 1, TERN_CQ_ARM_SOLICITED },
		{ TERN_CQ_ARM_NONE, 0, TERN_CQ_ARM_NEXT },
		{ TERN_CQ_ARM_SOLICITED, 1, TERN_CQ_ARM_SOLICITED },
		{ TERN_CQ_ARM_SOLICITED, 0, TERN_CQ_ARM_NEXT },
		{ TERN_CQ_ARM_NEXT, 1, TERN_CQ_ARM_NEXT },
		{ TERN_CQ_ARM_NEXT, 0, TERN_CQ_ARM_NEXT },
	};
	struct tern_cq *cq = make_cq_at(4, 0);
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		cq->ring.hdr->flags = rows[i].before;
		expect(!tern_cq_arm(&cq->vcq.cq, rows[i].solicited));
		expect_eq(cq->ring.hdr->flags, rows[i].after);
	}
	expect(!cq_is_locked(cq));
	free_cq(cq);
}

static void poll_ex__holds_the_lock_from_start_to_end(void)
{
	struct tern_cq *cq = make_cq_at(2, UINT32_MAX);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {}, bad = { .comp_mask = 1 };
	struct tern_cqe cqe = { .opcode = TERN_WR_RECV };

	expect(ibv_start_poll(ex, &bad) == EINVAL && !cq_is_locked(cq));
	expect(ibv_start_poll(ex, &attr) == ENOENT && !cq_is_locked(cq));
	cqe.wr_id = 1;
	complete(cq, &cqe);
	cqe.wr_id = 2;
	cqe.status = IBV_WC_WR_FLUSH_ERR;
	complete(cq, &cqe);

	expect(!ibv_start_poll(ex, &attr) && cq_is_locked(cq));
	expect(ex->wr_id == 1 && ex->status == IBV_WC_SUCCESS);
	/* its place is free while it is read */
	expect_eq(cq->ring.hdr->cons, 0);
	expect(!ibv_next_poll(ex));
	expect(ex->wr_id == 2 && ex->status == IBV_WC_WR_FLUSH_ERR);
	expect_eq(cq->ring.hdr->cons, 1);
	expect_eq(ibv_next_poll(ex), ENOENT);
	expect_eq(ibv_next_poll(ex), ENOENT);
	expect_eq(cq->ring.hdr->cons, 1);
	ibv_end_poll(ex);
	expect(!cq_is_locked(cq) && cq->ring.hdr->cons == 1);

	complete(cq, &cqe);
	expect(!ibv_start_poll(ex, &attr));
	ibv_end_poll(ex);
	expect(!cq_is_locked(cq) && cq->ring.hdr->cons == 2);
	free_cq(cq);
}

static void complete_of(struct tern_cq *cq, uint32_t qpn, uint64_t wr_id)
{
	struct tern_cqe cqe = { .opcode = TERN_WR_SEND, .qpn = qpn, .wr_id = wr_id };

	complete(cq, &cqe);
}

/* the ids of the completions that are left, as one number */
static uint64_t ids_left(struct tern_cq *cq)
{
	struct ibv_wc wc;
	uint64_t ids = 0;

	while (tern_cq_poll(&cq->vcq.cq, 1, &wc) == 1)
		ids = ids * 10 + wc.wr_id;
	return ids;
}

static void drop__leaves_those_of_other_qps_in_order(void)
{
	static const uint32_t qpns[] = { 5, 6, 5, 5, 7, 6, 5 };
	struct tern_cq *cq = make_cq_at(8, UINT32_MAX - 2);
	size_t i;

	for (i = 0; i < ARRAY_LEN(qpns); i++)
		complete_of(cq, qpns[i], i + 1);
	tern_cq_drop(cq, 8);
	expect_eq(cq->ring.hdr->cons, UINT32_MAX - 2);
	tern_cq_drop(cq, 5);
	expect_eq(cq->ring.hdr->cons, 1);
	expect_eq(ids_left(cq), 256);
	tern_cq_drop(cq, 5);
	complete_of(cq, 5, 1);
	tern_cq_drop(cq, 5);
	expect_eq(ids_left(cq), 0);
	expect_eq(cq->ring.hdr->cons, cq->ring.hdr->prod);
	free_cq(cq);
}

static void drop__may_come_in_an_extended_poll(void)
{
	struct tern_cq *cq = make_cq_at(4, 0);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};

	complete_of(cq, 5, 1);
	complete_of(cq, 5, 2);
	complete_of(cq, 6, 3);
	expect(!ibv_start_poll(ex, &attr));
	tern_cq_drop(cq, 5);
	expect(ex->wr_id == 1 && cq_is_locked(cq));
	expect(!ibv_next_poll(ex) && ex->wr_id == 3);
	ibv_end_poll(ex);
	expect(!cq_is_locked(cq));
	free_cq(cq);
}

/* what arming for a solicited completion makes of the word */
static uint32_t armed_for_solicited(struct tern_cq *cq)
{
	cq->ring.hdr->flags = TERN_CQ_ARM_NONE;
	/* the kernel, which this device has not, has raised an event for all that is there */
	cq->ring.hdr->event = cq->ring.hdr->prod;
	expect(!tern_cq_arm(&cq->vcq.cq, 1));
	return cq->ring.hdr->flags;
}

/* the kernel does not know that a solicited one came nearer to the end */
static void drop__that_moves_some_asks_for_any_event(void)
{
	struct tern_cq *cq = make_cq_at(8, 1000);
	struct ibv_wc wc;

	complete_of(cq, 6, 1);
	complete_of(cq, 5, 2);
	cq->ring.hdr->flags = TERN_CQ_ARM_SOLICITED;
	tern_cq_drop(cq, 8);
	expect_eq(cq->ring.hdr->flags, TERN_CQ_ARM_SOLICITED);
	expect_eq(armed_for_solicited(cq), TERN_CQ_ARM_SOLICITED);
	tern_cq_drop(cq, 5);
	expect_eq(cq->ring.hdr->flags, TERN_CQ_ARM_NEXT);
	expect_eq(armed_for_solicited(cq), TERN_CQ_ARM_NEXT);
	expect_eq(tern_cq_poll(&cq->vcq.cq, 1, &wc), 1);
	expect_eq(armed_for_solicited(cq), TERN_CQ_ARM_SOLICITED);
	/* nothing is left that could have moved */
	complete_of(cq, 5, 3);
	cq->ring.hdr->flags = TERN_CQ_ARM_SOLICITED;
	tern_cq_drop(cq, 5);
	expect_eq(cq->ring.hdr->flags, TERN_CQ_ARM_SOLICITED);
	expect_eq(armed_for_solicited(cq), TERN_CQ_ARM_SOLICITED);
	free_cq(cq);
}

static void drop__is_forgotten_later(void)
{
	struct tern_cq *cq = make_cq_at(8, 0);
	struct tern_ring_hdr *hdr = cq->ring.hdr;
	int i;

	complete_of(cq, 6, 1);
	complete_of(cq, 5, 2);
	tern_cq_drop(cq, 5);
	for (i = 0; i < 3; i++) {
		cq->ring.index += 1 << 30;
		hdr->prod = cq->ring.index;
		hdr->cons = cq->ring.index;
		expect_eq(armed_for_solicited(cq), TERN_CQ_ARM_SOLICITED);
	}
	free_cq(cq);
}

static void drop__of_a_broken_ring_does_nothing(void)
{
	struct tern_cq *cq = make_cq_at(4, 0);

	cq->ring.hdr->prod = 5;
	tern_cq_drop(cq, 0);
	expect(!cq->ring.hdr->cons && !cq_is_locked(cq));
	free_cq(cq);
}

static void poll_ex__may_arm_before_its_end(void)
{
	struct tern_cq *cq = make_cq_at(2, UINT32_MAX);
	struct ibv_poll_cq_attr attr = {};

	complete(cq, &(struct tern_cqe) { .opcode = TERN_WR_RECV });
	expect(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
	cq->ring.hdr->flags = TERN_CQ_ARM_NONE;
	/* the kernel, which this device has not, is not asked for an event of the current one */
	expect(!tern_cq_arm(&cq->vcq.cq, 0));
	expect_eq(cq->ring.hdr->flags, TERN_CQ_ARM_NEXT);
	expect(cq_is_locked(cq));
	ibv_end_poll(&cq->vcq.cq_ex);
	expect(!cq_is_locked(cq));
	expect(!tern_cq_arm(&cq->vcq.cq, 0) && !cq_is_locked(cq));
	free_cq(cq);
}

static void poll_ex__reads_every_field(void)
{
	struct tern_cq *cq = make_cq_at(2, 0);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct tern_cqe cqe = {
		.opcode = TERN_WR_RECV, .flags = TERN_CQE_WITH_INV,
		.qpn = 9, .byte_len = 100, .vendor_err = 7,
		.inv_stag = 0x55, .timestamp = 123456789012345,
	};

	complete(cq, &cqe);
	expect(!ibv_start_poll(ex, &attr));
	expect_eq(ibv_wc_read_opcode(ex), IBV_WC_RECV);
	expect_eq(ibv_wc_read_wc_flags(ex), IBV_WC_WITH_INV);
	expect_eq(ibv_wc_read_qp_num(ex), 9);
	expect_eq(ibv_wc_read_byte_len(ex), 100);
	expect_eq(ibv_wc_read_vendor_err(ex), 7);
	expect_eq(ibv_wc_read_invalidated_rkey(ex), 0x55);
	expect_eq(ibv_wc_read_completion_ts(ex), 123456789012345);
	expect(ibv_wc_read_completion_wallclock_ns(ex) > 123456789012345);
	expect(!ibv_wc_read_src_qp(ex) && !ibv_wc_read_slid(ex));
	expect(!ibv_wc_read_sl(ex) && !ibv_wc_read_dlid_path_bits(ex));
	ibv_end_poll(ex);
	free_cq(cq);
}

static void poll_ex__reads_immediate_data_and_key_by_terndv(void)
{
	struct tern_cq *cq = make_cq_at(2, 0);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct tern_cqe cqe = both;
	uint8_t imm[TERNDV_IMM_SIZE];

	complete(cq, &both);
	cqe.flags = TERN_CQE_WITH_INV;
	complete(cq, &cqe);
	expect(!ibv_start_poll(ex, &attr));
	expect_eq(ibv_wc_read_wc_flags(ex), (IBV_WC_WITH_IMM | IBV_WC_WITH_INV));
	expect_eq(ibv_wc_read_invalidated_rkey(ex), 0xabcdef01);
	terndv_wc_read_imm(ex, imm);
	expect_bytes(imm, both.imm, sizeof(imm));
	expect_eq(terndv_wc_read_invalidated_rkey(ex), 0xabcdef01);
	expect(!ibv_next_poll(ex));
	expect_eq(ibv_wc_read_invalidated_rkey(ex), 0xabcdef01);
	expect_eq(terndv_wc_read_invalidated_rkey(ex), 0xabcdef01);
	ibv_end_poll(ex);
	free_cq(cq);
}

static const struct tap_test tests[] = {
	TEST(poll__maps_every_opcode),
	TEST(poll__copies_every_field),
	TEST(poll__returns_the_first_four_bytes_of_immediate_data),
	TEST(poll__a_key_comes_before_immediate_data),
	TEST(poll__takes_up_to_count_and_frees_their_entries),
	TEST(poll__a_broken_ring_is_an_error_and_not_a_crash),
	TEST(arm__solicited_does_not_replace_next),
	TEST(poll_ex__holds_the_lock_from_start_to_end),
	TEST(drop__leaves_those_of_other_qps_in_order),
	TEST(drop__may_come_in_an_extended_poll),
	TEST(drop__that_moves_some_asks_for_any_event),
	TEST(drop__is_forgotten_later),
	TEST(drop__of_a_broken_ring_does_nothing),
	TEST(poll_ex__may_arm_before_its_end),
	TEST(poll_ex__reads_every_field),
	TEST(poll_ex__reads_immediate_data_and_key_by_terndv),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
