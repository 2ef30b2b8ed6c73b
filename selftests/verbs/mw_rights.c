// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The access that memory windows give, and binds that are refused (RFC 5041 8.3). */
#include <errno.h>
#include <string.h>

#include "window.h"

/* ---- rights ------------------------------------------------------------------------ */

/* DDP-112: a window gives its own rights, however many its region gives */
static void rights(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, READ));
	expect_no_write(&a, key, at(OFF), TERM(1, 1, 0));
	drop(mw);
	pair_down();
	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, WRITE));
	expect_no_read(&a, key, at(OFF), TERM(0, 1, 2));
	drop(mw);
	pair_down();
	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, range(OFF, LEN, 0));
	expect_no_read(&a, mw->rkey, at(OFF), TERM(0, 1, 2));
	drop(mw);
	pair_down();
}

/* a region without remote rights may have windows with all of them */
static void rights_of_local_region(void)
{
	static const struct want local = {
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
	};
	struct ibv_mw *mw;

	pair_up(NULL, &local);
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, range(OFF, LEN, BOTH));
	expect_reach(&a, mw->rkey, at(OFF), LEN);
	expect_no_read(&a, b.mr->rkey, at(OFF), TERM(0, 1, 2));
	drop(mw);
	pair_down();
}

static void rights_of_the_qp(void)
{
	struct ibv_qp_attr attr = { .qp_access_flags = WRITE };
	struct ibv_mw *mw;

	pair_up(NULL, &bindable);
	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS));
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, range(OFF, LEN, BOTH));
	expect_no_read(&a, mw->rkey, at(OFF), TERM(0, 1, 2));
	another();
	attr.qp_access_flags = READ;
	must(!ibv_modify_qp(b2.qp, &attr, IBV_QP_ACCESS_FLAGS));
	expect_no_write(&a2, mw->rkey, at(OFF), TERM(1, 1, 0));
	drop(mw);
	another_down();
}

/* the key of a window does not work as a local key */
static void no_local_key(void)
{
	struct ibv_sge sge;
	struct ibv_mw *mw;
	struct ibv_send_wr wr = {
		.wr_id = 3, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, range(OFF, LEN, BOTH));
	sge = sge_at(&b, OFF, 8);
	sge.lkey = mw->rkey;
	post(&b, &wr);
	expect_wc(b.scq, 3, IBV_WC_LOC_PROT_ERR);
	expect_error_state(&b);
	drop(mw);
	pair_down();
}

static void zero_based(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, BOTH | IBV_ACCESS_ZERO_BASED));
	expect_reach(&a, key, 0, LEN);
	expect_bytes(b.buf + OFF, a.buf, LEN);
	expect_no_read(&a, key, at(OFF), TERM(0, 1, 1));
	drop(mw);
	pair_down();
}

/* a window's range is in the region's own offsets */
static void offsets_of_the_region(void)
{
	struct ibv_mr *zero, *iova, *own;
	struct ibv_mw_bind_info info;
	struct ibv_mw *mw;

	pair_up(NULL, &bindable);
	own = b.mr;
	zero = ibv_reg_mr(b.pd, b.buf + 777, 9000,
			  BINDABLE | IBV_ACCESS_ZERO_BASED);
	iova = ibv_reg_mr_iova(b.pd, b.buf + 16, 9000, 0xabcdef0010, BINDABLE);
	must(zero && iova);
	mw = window(IBV_MW_TYPE_1);
	info = (struct ibv_mw_bind_info){ zero, 5000, 4000, BOTH };
	bind1(&b, mw, info);
	expect_reach(&a, mw->rkey, 5000, 4000);
	expect_bytes(b.buf + 5777, a.buf, 4000);
	info = (struct ibv_mw_bind_info){ iova, 0xabcdef0010 + 4500, 4500,
					  BOTH };
	bind1(&b, mw, info);
	expect_reach(&a, mw->rkey, info.addr, 4500);
	expect_bytes(b.buf + 16 + 4500, a.buf, 4500);
	drop(mw);
	must(!ibv_dereg_mr(zero));
	must(!ibv_dereg_mr(iova));
	expect(b.mr == own);
	pair_down();
}

/* ---- binds that fail ---------------------------------------------------------------- */

/* DDP-105: a refused bind ends the QP and leaves the window unbound */
static void expect_refused(const struct want *want,
			   void (*spoil)(struct ibv_mw_bind_info *info))
{
	struct ibv_mw_bind_info info;
	struct ibv_mw *mw;

	pair_up(NULL, want);
	mw = window(IBV_MW_TYPE_2);
	info = range(OFF, LEN, BOTH);
	spoil(&info);
	mw->rkey = ibv_inc_rkey(mw->rkey);
	post_bind2(&b, mw, mw->rkey, info);
	expect_wc(b.scq, 20, IBV_WC_MW_BIND_ERR);
	expect_error_state(&b);
	expect_error_state(&a);
	/* the region has no window */
	if (info.mr == b.mr)
		b.mr = NULL;
	must(!ibv_dereg_mr(info.mr));
	drop(mw);
	pair_down();
}

static void as_it_is(struct ibv_mw_bind_info *info)
{
	(void)info;
}

static void bind_without_right(void)
{
	static const struct want no_bind = { .access = ALL_RIGHTS };
	static const struct want no_write = {
		.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND,
	};

	expect_refused(&no_bind, as_it_is);
	expect_refused(&no_write, as_it_is);
}

static void a_bit_too_long(struct ibv_mw_bind_info *info)
{
	info->length = b.buf_len - OFF + 1;
}

static void a_bit_before(struct ibv_mw_bind_info *info)
{
	info->addr = at(0) - 1;
}

static void far_too_long(struct ibv_mw_bind_info *info)
{
	info->length = -1ull;
}

static void wrapping(struct ibv_mw_bind_info *info)
{
	info->length = -info->addr + 16;
}

static void beyond(struct ibv_mw_bind_info *info)
{
	info->addr = at(b.buf_len);
	info->length = 1;
}

static void bind_beyond(void)
{
	expect_refused(&bindable, a_bit_too_long);
	expect_refused(&bindable, a_bit_before);
	expect_refused(&bindable, far_too_long);
	expect_refused(&bindable, wrapping);
	expect_refused(&bindable, beyond);
}

static struct ibv_pd *foreign;

static void to_foreign_region(struct ibv_mw_bind_info *info)
{
	foreign = ibv_alloc_pd(b.id->verbs);
	must(foreign);
	info->mr = ibv_reg_mr(foreign, b.buf, b.buf_len, BINDABLE);
	must(info->mr);
}

static void bind_foreign_region(void)
{
	expect_refused(&bindable, to_foreign_region);
	must(!ibv_dealloc_pd(foreign));
	foreign = NULL;
}

static void bind_foreign_window(void)
{
	struct ibv_pd *pd;
	struct ibv_mw *mw;

	pair_up(NULL, &bindable);
	pd = ibv_alloc_pd(b.id->verbs);
	must(pd);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	must(mw);
	post_bind2(&b, mw, mw->rkey, range(OFF, LEN, BOTH));
	expect_wc(b.scq, 20, IBV_WC_MW_BIND_ERR);
	drop(mw);
	must(!ibv_dealloc_pd(pd));
	pair_down();
}

static void bind_dead_keys(void)
{
	struct ibv_mw_bind_info info;
	struct ibv_mr gone;
	struct ibv_mw *mw;
	int i;

	for (i = 0; i < 2; i++) {
		pair_up(NULL, &bindable);
		mw = window(IBV_MW_TYPE_2);
		info = range(OFF, LEN, BOTH);
		gone = *b.mr;
		info.mr = &gone;
		if (i) {
			must(!ibv_dereg_mr(b.mr));
			b.mr = NULL;
		} else {
			gone.lkey ^= 1;
		}
		post_bind2(&b, mw, mw->rkey, info);
		expect_wc(b.scq, 20, IBV_WC_MW_BIND_ERR);
		drop(mw);
		pair_down();
	}
}

static void bind2_while_bound(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &bindable);
	another();
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, BOTH));
	post_bind2(&b2, mw, ibv_inc_rkey(key), range(0, 64, BOTH));
	expect_wc(b2.scq, 20, IBV_WC_MW_BIND_ERR);
	expect_reach(&a, key, at(OFF), LEN);
	drop(mw);
	another_down();
}

/* the library refuses these calls and posts nothing */
static void bad_calls(void)
{
	struct ibv_mw *one, *two;
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };
	struct ibv_mw_bind_info info;
	struct ibv_pd *pd;

	pair_up(NULL, &bindable);
	one = window(IBV_MW_TYPE_1);
	two = window(IBV_MW_TYPE_2);
	info = range(OFF, LEN, BOTH);
	expect_eq(post_bind1(&b, two, info), EINVAL);
	wr.bind_mw.mw = one;
	wr.bind_mw.rkey = one->rkey;
	wr.bind_mw.bind_info = info;
	expect_eq(try_send(&b, &wr), EINVAL);
	info.mw_access_flags |= IBV_ACCESS_LOCAL_WRITE;
	expect_eq(post_bind1(&b, one, info), EINVAL);
	pd = ibv_alloc_pd(b.id->verbs);
	must(pd);
	info.mw_access_flags = BOTH;
	info.mr = ibv_reg_mr(pd, b.buf, 4096, BINDABLE);
	must(info.mr);
	expect_eq(post_bind1(&b, one, info), EPERM);
	must(!ibv_dereg_mr(info.mr));
	must(!ibv_dealloc_pd(pd));
	expect(no_wc(b.scq));
	expect_eq(state_of(&b), IBV_QPS_RTS);
	drop(one);
	drop(two);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "bind_mw__rights_of_the_window", rights },
	{ "bind_mw__region_without_remote_rights", rights_of_local_region },
	{ "bind_mw__rights_of_the_qp", rights_of_the_qp },
	{ "bind_mw__key_fails_as_lkey", no_local_key },
	{ "bind_mw__zero_based", zero_based },
	{ "bind_mw__zero_based_and_iova_regions", offsets_of_the_region },
	{ "bind_mw__region_must_allow_it", bind_without_right },
	{ "bind_mw__range_must_be_in_the_region", bind_beyond },
	{ "bind_mw__region_of_another_pd", bind_foreign_region },
	{ "bind_mw__window_of_another_pd", bind_foreign_window },
	{ "bind_mw__invalid_key_of_the_region", bind_dead_keys },
	{ "bind_mw__type2_while_bound", bind2_while_bound },
	{ "bind_mw__bad_calls_post_nothing", bad_calls },
};

const struct tap_theme mw_rights_theme = { tests, ARRAY_LEN(tests) };
