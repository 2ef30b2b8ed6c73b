// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Who may do atomics where (RFC 7306 8): regions, windows, QPs. The poster of a refused one
 * has the status of Documentation/wire.rst, and the word keeps its value.
 */
#include <errno.h>
#include <string.h>

#include "ext.h"

#define VALUE	0x1122334455667788

#define ACCESS	TERM(0, 1, 2)
#define BOUNDS	TERM(0, 1, 1)
#define NO_STAG	TERM(0, 1, 0)
#define ALIEN	TERM(0, 1, 3)
#define ALIGN	TERM(0, 2, 7)

static struct atomic on(uint32_t rkey, uint64_t addr)
{
	struct atomic at = fetch_add_of(0, 1, 0);

	at.rkey = rkey;
	at.addr = addr;
	return at;
}

/* an atomic on this word of b, by its key and address, works */
static void expect_allowed(struct end *e, uint32_t rkey, uint64_t addr, unsigned int n)
{
	struct atomic at = on(rkey, addr);

	*word(&b, n) = VALUE;
	post_atomic(e, &at);
	expect_sent(e, 0, IBV_WC_FETCH_ADD);
	expect_eq(*word(e, 0), VALUE);
	expect_eq(*word(&b, n), VALUE + 1);
}

static void expect_denied(struct end *e, uint32_t rkey, uint64_t addr, unsigned int n,
			  uint32_t term)
{
	struct atomic at = on(rkey, addr);

	*word(&b, n) = VALUE;
	post_atomic(e, &at);
	expect_refused(e, term == ALIGN ? IBV_WC_REM_OP_ERR : IBV_WC_REM_ACCESS_ERR, term);
	expect_eq(*word(&b, n), VALUE);
}

/* ---- regions ---------------- */

static struct ibv_mr *region(size_t off, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(b.pd, b.buf + off, len, access);

	must(mr);
	return mr;
}

/* a QP's second stream for a check that ends the first */
static void fresh(void)
{
	connect_ends(&a2, &b2, IP_A, IP_B, &extended, &(struct want){ .share = &b });
}

static void drop_fresh(void)
{
	end_free(&a2);
	end_free(&b2);
}

static void mr_rights(void)
{
	struct ibv_mr *mr;

	ext_pair();
	mr = region(0, 4096, ALL_RIGHTS);
	expect_denied(&a, mr->rkey, word_at(&b, 3), 3, ACCESS);
	must(!ibv_dereg_mr(mr));
	/* the right for atomics is no right to read or write */
	mr = region(0, 4096, IBV_ACCESS_LOCAL_WRITE | ATOMIC);
	fresh();
	expect_allowed(&a2, mr->rkey, word_at(&b, 3), 3);
	expect_no_read(&a2, mr->rkey, word_at(&b, 3), ACCESS);
	drop_fresh();
	fresh();
	expect_no_write(&a2, mr->rkey, word_at(&b, 3), TERM(1, 1, 0));
	drop_fresh();
	must(!ibv_dereg_mr(mr));
	/* a region that the program itself may not write */
	expect(!ibv_reg_mr(b.pd, b.buf, 4096, ATOMIC));
	pair_down();
}

static void mr_bounds(void)
{
	struct ibv_mr *mr;
	unsigned int i;

	ext_pair();
	/* of words 1 and 2, and half of 3 */
	mr = region(8, 20, extended.access);
	expect_allowed(&a, mr->rkey, word_at(&b, 1), 1);
	expect_allowed(&a, mr->rkey, word_at(&b, 2), 2);
	for (i = 0; i <= 3; i += 3) {
		fresh();
		expect_denied(&a2, mr->rkey, word_at(&b, i), i, BOUNDS);
		drop_fresh();
	}
	fresh();
	expect_denied(&a2, mr->rkey, -8, 1, BOUNDS);
	drop_fresh();
	must(!ibv_dereg_mr(mr));
	expect_denied(&a, mr->rkey, word_at(&b, 1), 1, NO_STAG);
	pair_down();
}

static void mr_of_another_pd(void)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	ext_pair();
	pd = ibv_alloc_pd(b.id->verbs);
	must(pd);
	mr = ibv_reg_mr(pd, b.buf, 4096, extended.access);
	must(mr);
	expect_denied(&a, mr->rkey, word_at(&b, 0), 0, ALIEN);
	must(!ibv_dereg_mr(mr));
	must(!ibv_dealloc_pd(pd));
	pair_down();
}

static void mr_rereg(void)
{
	struct ibv_mr *mr;

	ext_pair();
	mr = region(0, 4096, extended.access);
	expect_allowed(&a, mr->rkey, word_at(&b, 0), 0);
	must(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL_RIGHTS));
	expect_denied(&a, mr->rkey, word_at(&b, 0), 0, ACCESS);
	must(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE | ATOMIC));
	fresh();
	expect_allowed(&a2, mr->rkey, word_at(&b, 0), 0);
	drop_fresh();
	must(!ibv_dereg_mr(mr));
	pair_down();
}

/*
 * Offset 0 of such a region is memory at 4 modulo 8, which the post cannot know: the peer
 * refuses it, and the offset whose memory is aligned is refused by the post.
 */
static void unaligned_memory(void)
{
	struct ibv_mr *mr;
	struct atomic at;

	ext_pair();
	mr = region(4, 4096, extended.access | IBV_ACCESS_ZERO_BASED);
	at = on(mr->rkey, 4);
	expect_eq(try_atomic(&a, &at), EINVAL);
	expect_denied(&a, mr->rkey, 0, 0, ALIGN);
	must(!ibv_dereg_mr(mr));
	pair_down();
}

/* ---- windows ---------------- */

static struct ibv_mw_bind_info words(unsigned int first, unsigned int n, int access)
{
	return range(8 * first, 8 * n, access);
}

/* a window gives its own rights, however many its region gives */
static void mw_rights(void)
{
	struct ibv_mw *one, *two;
	uint32_t key;

	ext_pair();
	one = window(IBV_MW_TYPE_1);
	two = window(IBV_MW_TYPE_2);
	bind1(&b, one, words(1, 2, ATOMIC));
	expect_allowed(&a, one->rkey, word_at(&b, 1), 1);
	expect_allowed(&a, one->rkey, word_at(&b, 2), 2);
	key = bind2(&b, two, words(5, 1, ATOMIC));
	expect_allowed(&a, key, word_at(&b, 5), 5);
	bind1(&b, one, words(1, 2, BOTH));
	expect_denied(&a, one->rkey, word_at(&b, 1), 1, ACCESS);
	drop(one);
	drop(two);
	pair_down();
}

static void mw_bounds(void)
{
	unsigned int i;
	struct ibv_mw *mw;

	ext_pair();
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, words(1, 2, ATOMIC));
	for (i = 0; i <= 3; i += 3) {
		fresh();
		expect_denied(&a2, mw->rkey, word_at(&b, i), i, BOUNDS);
		drop_fresh();
	}
	/* 20 bytes: the third word is half inside */
	bind1(&b, mw, range(8, 20, ATOMIC));
	expect_denied(&a, mw->rkey, word_at(&b, 3), 3, BOUNDS);
	drop(mw);
	pair_down();
}

static void mw_unaligned(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	ext_pair();
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(4, 64, ATOMIC | IBV_ACCESS_ZERO_BASED));
	expect_denied(&a, key, 0, 0, ALIGN);
	drop(mw);
	pair_down();
	ext_pair();
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(16, 64, ATOMIC | IBV_ACCESS_ZERO_BASED));
	expect_allowed(&a, key, 8, 3);
	drop(mw);
	pair_down();
}

/* a window of type 2 is for one stream, and over when it is invalidated */
static void mw_life(void)
{
	struct ibv_send_wr inv = {
		.wr_id = 30, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_mw *mw;

	ext_pair();
	mw = window(IBV_MW_TYPE_2);
	inv.invalidate_rkey = bind2(&b, mw, words(0, 8, ATOMIC));
	fresh();
	expect_denied(&a2, inv.invalidate_rkey, word_at(&b, 0), 0, ALIEN);
	drop_fresh();
	expect_allowed(&a, inv.invalidate_rkey, word_at(&b, 0), 0);
	post(&b, &inv);
	expect_done(&b, IBV_WC_LOCAL_INV);
	expect_denied(&a, inv.invalidate_rkey, word_at(&b, 0), 0, NO_STAG);
	drop(mw);
	pair_down();
}

/* RFC 5041 8.3(4): no window gives a peer atomics where the program may not write */
static void mw_of_readable_memory(void)
{
	struct ibv_mw_bind_info info;
	struct ibv_mw *mw;

	ext_pair();
	info = words(0, 8, ATOMIC);
	info.mr = region(0, 4096, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);
	mw = window(IBV_MW_TYPE_2);
	post_bind2(&b, mw, ibv_inc_rkey(mw->rkey), info);
	expect_wc(b.scq, 20, IBV_WC_MW_BIND_ERR);
	drop(mw);
	must(!ibv_dereg_mr(info.mr));
	pair_down();
}

/* ---- QPs ---------------- */

/* Documentation/decisions.rst: with the rights to be read and written comes this one */
static void qp_rights(void)
{
	static const int one[] = { READ, WRITE, 0 };
	struct ibv_qp_attr attr = {};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(one); i++) {
		ext_pair();
		expect_allowed(&a, b.mr->rkey, word_at(&b, 0), 0);
		attr.qp_access_flags = one[i];
		must(!ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS));
		expect_denied(&a, b.mr->rkey, word_at(&b, 0), 0, ACCESS);
		pair_down();
	}
	ext_pair();
	attr.qp_access_flags = ATOMIC;
	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS));
	expect_allowed(&a, b.mr->rkey, word_at(&b, 0), 0);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "atomic__region_without_the_right", mr_rights },
	{ "atomic__out_of_a_regions_bounds", mr_bounds },
	{ "atomic__region_of_another_pd", mr_of_another_pd },
	{ "atomic__right_taken_away_by_rereg_mr", mr_rereg },
	{ "atomic__memory_of_a_region_not_aligned", unaligned_memory },
	{ "atomic__window_with_and_without_the_right", mw_rights },
	{ "atomic__out_of_a_windows_bounds", mw_bounds },
	{ "atomic__memory_of_a_window_not_aligned", mw_unaligned },
	{ "atomic__window_of_one_stream_until_invalidated", mw_life },
	{ "bind_mw__no_atomics_where_the_program_may_not_write", mw_of_readable_memory },
	{ "atomic__rights_of_the_qp", qp_rights },
};

const struct tap_theme atomic_rights_theme = { tests, ARRAY_LEN(tests) };
