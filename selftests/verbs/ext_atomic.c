// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Atomics of programs (RFC 7306 5): operands, results, order, what a post refuses. */
#include <errno.h>
#include <string.h>

#include "ext.h"

#define ADD	IBV_WR_ATOMIC_FETCH_AND_ADD
#define SWAP	IBV_WR_ATOMIC_CMP_AND_SWP

/* ---- operands and results ---------------- */

/* the next completion is of an atomic with this result; then b's word 0 is @now */
static void expect_result(unsigned int result, enum ibv_wc_opcode opcode, uint64_t old,
			  uint64_t now)
{
	struct ibv_wc wc = next_wc(a.scq);

	expect_eq(wc.status, IBV_WC_SUCCESS);
	expect_eq(wc.wr_id, result);
	expect_eq(wc.opcode, opcode);
	expect_eq(wc.byte_len, 8);
	expect_eq(*word(&a, result), old);
	expect_eq(*word(&b, 0), now);
}

static void add(uint64_t old, uint64_t addend)
{
	struct atomic at = fetch_add_of(0, addend, 5);

	*word(&b, 0) = old;
	post_atomic(&a, &at);
	expect_result(5, IBV_WC_FETCH_ADD, old, old + addend);
}

static void fetch_add(void)
{
	ext_pair();
	memset(word(&a, 4), 0xff, 24);
	*word(&b, 1) = -1;
	add(0, 1);
	add(0x0102030405060708, 0x1111);
	add(0x00000000ffffffff, 1);
	add(-1, 1);
	add(5, -6);
	/* neither end has a byte changed beside the 8 */
	expect(*word(&a, 4) == UINT64_MAX && *word(&a, 6) == UINT64_MAX);
	expect_eq(*word(&b, 1), UINT64_MAX);
	pair_down();
}

static void swap(uint64_t old, uint64_t compare, uint64_t new)
{
	struct atomic at = cmp_swap_of(0, compare, new, 3);

	*word(&b, 0) = old;
	post_atomic(&a, &at);
	expect_result(3, IBV_WC_COMP_SWAP, old, old == compare ? new : old);
}

static void cmp_swap(void)
{
	ext_pair();
	swap(5, 5, 6);
	swap(6, 5, 7);
	swap(0, 0, -1);
	swap(0x8000000000000000, 0x8000000000000000, 1);
	/* each bit counts */
	swap(0x8000000000000001, 0x0000000000000001, 2);
	swap(0x8000000000000001, 0x8000000000000000, 2);
	pair_down();
}

static void set_result(struct ibv_qp_ex *qp, unsigned int result)
{
	ibv_wr_set_sge(qp, a.mr->lkey, word_at(&a, result), 8);
}

static void wr_calls(void)
{
	struct ibv_qp_ex *qp;

	ext_pair();
	*word(&b, 0) = 10;
	qp = batch(&a, 1, 0);
	ibv_wr_atomic_fetch_add(qp, b.mr->rkey, word_at(&b, 0), 3);
	set_result(qp, 1);
	next_of(qp, 2, 0);
	ibv_wr_atomic_cmp_swp(qp, b.mr->rkey, word_at(&b, 0), 13, 20);
	set_result(qp, 2);
	next_of(qp, 3, IBV_SEND_SIGNALED);
	ibv_wr_atomic_cmp_swp(qp, b.mr->rkey, word_at(&b, 0), 13, 30);
	set_result(qp, 3);
	must_eq(ibv_wr_complete(qp), 0);
	expect_result(3, IBV_WC_COMP_SWAP, 20, 20);
	expect_eq(*word(&a, 1), 10);
	expect_eq(*word(&a, 2), 13);
	expect(no_wc(a.scq));
	pair_down();
}

/* ---- masks ---------------- */

static void masked_add(uint64_t old, uint64_t addend, uint64_t mask, uint64_t now)
{
	struct ibv_qp_ex *qp = batch(&a, 5, IBV_SEND_SIGNALED);

	*word(&b, 0) = old;
	ext.fetch_add(qp, b.mr->rkey, word_at(&b, 0), addend, mask);
	set_result(qp, 5);
	must_eq(ibv_wr_complete(qp), 0);
	expect_result(5, IBV_WC_FETCH_ADD, old, now);
}

/* no carry goes out of a field whose highest bit is in the mask (RFC 7306 5.1.1) */
static void masked_adds(void)
{
	ext_pair();
	masked_add(0x00000007ffffffff, 0x0000000100000001, 0x8000000080000000,
		   0x0000000800000000);
	masked_add(0xffffffffffffffff, 0x0101010101010101, 0x8080808080808080, 0);
	masked_add(0x00ff00ff00ff00ff, 0x0001000100010001, 0x8000800080008000,
		   0x0100010001000100);
	masked_add(0x00000000ffffffff, 1, 0, 0x0000000100000000);
	masked_add(0, -1, -1, -1);
	pair_down();
}

static void masked_swap(uint64_t old, struct terndv_cmp_swap operands, uint64_t now)
{
	struct ibv_qp_ex *qp = batch(&a, 5, IBV_SEND_SIGNALED);

	*word(&b, 0) = old;
	ext.cmp_swap(qp, b.mr->rkey, word_at(&b, 0), &operands);
	/* they were copied */
	memset(&operands, 0xee, sizeof(operands));
	set_result(qp, 5);
	must_eq(ibv_wr_complete(qp), 0);
	expect_result(5, IBV_WC_COMP_SWAP, old, now);
}

static void masked_swaps(void)
{
	ext_pair();
	/* equal in the bits that are compared: only those of the swap's mask change */
	masked_swap(0x7777ab, (struct terndv_cmp_swap){ 0x99ab, 0xff, 0x1234, 0xff00 },
		    0x7712ab);
	/* they differ */
	masked_swap(0x7777ab, (struct terndv_cmp_swap){ 0x99ab, 0xffff, 0x1234, 0xff00 },
		    0x7777ab);
	/* nothing is compared: always equal */
	masked_swap(42, (struct terndv_cmp_swap){ 1, 0, 2, -1 }, 2);
	/* equal, and no bit changes */
	masked_swap(42, (struct terndv_cmp_swap){ 42, -1, 7, 0 }, 42);
	pair_down();
}

/* ---- order ---------------- */

#define ROUNDS	100

/*
 * a fenced Send of an atomic's result has that result, whatever the buffer had before. Both
 * are posted at once: the Send does not start after the Response by chance.
 */
static void fence(void)
{
	struct ibv_qp_ex *qp;
	uint64_t i;

	ext_pair();
	for (i = 0; i < ROUNDS; i++) {
		*word(&b, 0) = i * 0x100000001;
		*word(&a, 1) = -1;
		post_recv(&b, 1, 64, 8);
		qp = batch(&a, 1, IBV_SEND_SIGNALED);
		ibv_wr_atomic_fetch_add(qp, b.mr->rkey, word_at(&b, 0), 7);
		set_result(qp, 1);
		next_of(qp, 2, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, a.mr->lkey, word_at(&a, 1), 8);
		must_eq(ibv_wr_complete(qp), 0);
		expect_recv(&b, 1, 8);
		expect_eq(*word(&b, 8), i * 0x100000001);
		expect_sent(&a, 1, IBV_WC_FETCH_ADD);
		expect_sent(&a, 2, IBV_WC_SEND);
	}
	pair_down();
}

/*
 * RFC 7306 5.4: Reads and atomics are done in order, after the Writes before them. A later
 * Write may overtake both, unless it is fenced.
 */
static void mixed_order(void)
{
	struct atomic at;
	unsigned int i;

	ext_pair();
	*word(&b, 0) = 1000;
	for (i = 0; i < 16; i++) {
		*word(&a, 100 + i) = 2000 * i;
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 0, 8 * (100 + i), 8, 0,
			  IBV_SEND_FENCE);
		at = fetch_add_of(0, i + 1, i);
		post_atomic(&a, &at);
		post_rdma(&a, &b, IBV_WR_RDMA_READ, 50 + i, 8 * (50 + i), 8, 0,
			  IBV_SEND_SIGNALED);
	}
	for (i = 0; i < 16; i++) {
		expect_sent(&a, i, IBV_WC_FETCH_ADD);
		expect_sent(&a, 50 + i, IBV_WC_RDMA_READ);
		expect_eq(*word(&a, i), 2000 * i);
		expect_eq(*word(&a, 50 + i), 2000 * i + i + 1);
	}
	expect_eq(*word(&b, 0), 2000 * 15 + 16);
	pair_down();
}

static void expect_ord(uint8_t ord)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(a.qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC, &init));
	expect_eq(attr.max_rd_atomic, ord);
}

/* @n Reads and as many atomics share the ORD: each waits until one before it is over */
static void shared_ord(uint8_t ord, unsigned int n)
{
	struct want wa = extended, wb = extended;
	struct atomic at;
	unsigned int i;

	wa.ord = ord;
	wb.ird = ord;
	wa.cap.max_send_wr = 2 * n;
	pair_up(&wa, &wb);
	expect_ord(ord);
	for (i = 0; i < n; i++) {
		at = fetch_add_of(0, 1, 2 * i);
		post_atomic(&a, &at);
		post_rdma(&a, &b, IBV_WR_RDMA_READ, 2 * i + 1, 8 * (2 * i + 1), 8, 0,
			  IBV_SEND_SIGNALED);
	}
	for (i = 0; i < n; i++) {
		expect_sent(&a, 2 * i, IBV_WC_FETCH_ADD);
		expect_sent(&a, 2 * i + 1, IBV_WC_RDMA_READ);
		expect_eq(*word(&a, 2 * i), i);
		expect_eq(*word(&a, 2 * i + 1), i + 1);
	}
	expect_eq(*word(&b, 0), n);
	pair_down();
}

static void ord_1(void)
{
	shared_ord(1, 16);
}

static void ord_of_others(void)
{
	shared_ord(2, 16);
	shared_ord(16, 64);
}

/* entries of the smallest size, to the ring's end and again from its start */
static void each_entry(void)
{
	const struct want small = {
		.access = extended.access, .cap = { .max_send_wr = 16 },
	};
	struct atomic at;
	uint64_t i;

	pair_up(&small, &small);
	for (i = 0; i < 100; i++) {
		at = i % 2 ? cmp_swap_of(0, i, i + 1, i % 16) : fetch_add_of(0, 1, i % 16);
		post_atomic(&a, &at);
		if (i < 15)
			continue;
		expect_wc(a.scq, (i - 15) % 16, IBV_WC_SUCCESS);
		expect_eq(*word(&a, (i - 15) % 16), i - 15);
	}
	for (i = 85; i < 100; i++)
		expect_wc(a.scq, i % 16, IBV_WC_SUCCESS);
	expect_eq(*word(&b, 0), 100);
	pair_down();
}

/* ---- what a post refuses ---------------- */

static int try_list(enum ibv_wr_opcode op, struct ibv_sge *sge, int n, uint64_t addr,
		    int flags)
{
	struct ibv_send_wr wr = {
		.wr_id = 9, .sg_list = sge, .num_sge = n, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED | flags,
		.wr.atomic = { .remote_addr = addr, .rkey = b.mr->rkey, .compare_add = 1 },
	};

	return try_send(&a, &wr);
}

static int try_calls(enum ibv_wr_opcode op, struct ibv_sge *sge, int n, uint64_t addr)
{
	struct ibv_qp_ex *qp = batch(&a, 9, IBV_SEND_SIGNALED);

	if (op == ADD)
		ibv_wr_atomic_fetch_add(qp, b.mr->rkey, addr, 1);
	else
		ibv_wr_atomic_cmp_swp(qp, b.mr->rkey, addr, 1, 2);
	ibv_wr_set_sge_list(qp, n, sge);
	return ibv_wr_complete(qp);
}

static void expect_einval(struct ibv_sge *sge, int n, uint64_t addr)
{
	expect_eq(try_list(ADD, sge, n, addr, 0), EINVAL);
	expect_eq(try_list(SWAP, sge, n, addr, 0), EINVAL);
	expect_eq(try_calls(ADD, sge, n, addr), EINVAL);
	expect_eq(try_calls(SWAP, sge, n, addr), EINVAL);
}

/* nothing of what was refused was posted, and the QP works */
static void expect_nothing_posted(void)
{
	expect(no_wc(a.scq));
	expect_eq(*word(&b, 0), 0);
	add(3, 4);
}

static void bad_lists(void)
{
	static const uint32_t lengths[] = { 0, 1, 4, 7 };
	struct ibv_sge sge[2];
	unsigned int i;

	ext_pair();
	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		sge[0] = sge_at(&a, 0, lengths[i]);
		expect_einval(sge, 1, word_at(&b, 0));
	}
	sge[0] = sge_at(&a, 0, 8);
	sge[1] = sge_at(&a, 8, 8);
	expect_einval(sge, 0, word_at(&b, 0));
	expect_einval(sge, 2, word_at(&b, 0));
	expect_eq(try_list(ADD, sge, 1, word_at(&b, 0), IBV_SEND_INLINE), EINVAL);
	expect_nothing_posted();
	pair_down();
}

static void unaligned(void)
{
	struct ibv_sge sge;
	int i;

	ext_pair();
	for (i = 1; i < 8; i++) {
		sge = sge_at(&a, 0, 8);
		expect_einval(&sge, 1, word_at(&b, 0) + i);
		sge = sge_at(&a, i, 8);
		expect_einval(&sge, 1, word_at(&b, 0));
	}
	expect_nothing_posted();
	pair_down();
}

static void long_element(void)
{
	struct ibv_sge sge;

	ext_pair();
	memset(a.buf, 0xee, 64);
	sge = sge_at(&a, 8, 32);
	must_eq(try_list(ADD, &sge, 1, word_at(&b, 0), 0), 0);
	expect_sent(&a, 9, IBV_WC_FETCH_ADD);
	expect_eq(*word(&a, 1), 0);
	expect(all_are(a.buf, 8, 0xee) && all_are(a.buf + 16, 48, 0xee));
	pair_down();
}

/* ---- results that have no place ---------------- */

static void expect_no_place(struct ibv_sge sge)
{
	must_eq(try_list(ADD, &sge, 1, word_at(&b, 0), 0), 0);
	expect_wc(a.scq, 9, IBV_WC_LOC_PROT_ERR);
	expect_error_state(&a);
	pair_down();
}

static void bad_result(void)
{
	struct ibv_mr *readable;
	struct ibv_sge sge;

	ext_pair();
	sge = sge_at(&a, 0, 8);
	sge.lkey ^= 0x100;
	expect_no_place(sge);
	ext_pair();
	sge = sge_at(&a, a.buf_len, 8);
	expect_no_place(sge);
	ext_pair();
	readable = ibv_reg_mr(a.pd, a.buf, 4096, IBV_ACCESS_REMOTE_READ);
	must(readable);
	sge = sge_at(&a, 0, 8);
	sge.lkey = readable->lkey;
	must_eq(try_list(SWAP, &sge, 1, word_at(&b, 0), 0), 0);
	expect_wc(a.scq, 9, IBV_WC_LOC_PROT_ERR);
	must(!ibv_dereg_mr(readable));
	pair_down();
}

static const struct tap_test tests[] = {
	{ "fetch_add__operands_and_result", fetch_add },
	{ "cmp_swap__operands_and_result", cmp_swap },
	{ "atomic__by_ibv_wr_calls", wr_calls },
	{ "fetch_add__of_several_fields_by_terndv", masked_adds },
	{ "cmp_swap__with_masks_by_terndv", masked_swaps },
	{ "atomic__a_fenced_send_has_the_result", fence },
	{ "atomic__in_order_with_writes_and_reads", mixed_order },
	{ "atomic__sixteen_and_as_many_reads_with_ord_1", ord_1 },
	{ "atomic__shares_other_ords_with_reads", ord_of_others },
	{ "atomic__in_each_entry_of_a_ring", each_entry },
	{ "atomic__list_of_wrong_size_is_refused_at_post", bad_lists },
	{ "atomic__unaligned_address_is_refused_at_post", unaligned },
	{ "atomic__a_longer_element_takes_eight_bytes", long_element },
	{ "atomic__result_without_a_place", bad_result },
};

const struct tap_theme atomic_theme = { tests, ARRAY_LEN(tests) };
