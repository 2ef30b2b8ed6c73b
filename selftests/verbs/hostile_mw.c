// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* BIND_MW entries that no provider writes: the kernel checks each field. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

#define BINDABLE (ALL_RIGHTS | IBV_ACCESS_MW_BIND)

static struct ibv_mr *mr;
static struct ibv_mw *one, *two;

/* create a region of v's whole buffer and an unbound window of each type */
static void windows_up(void)
{
	vandal_up();
	mr = ibv_reg_mr(v.pd, v.buf, v.buf_len, BINDABLE);
	one = ibv_alloc_mw(v.pd, IBV_MW_TYPE_1);
	two = ibv_alloc_mw(v.pd, IBV_MW_TYPE_2);
	must(mr && one && two);
}

/* the region can be deregistered once the windows are gone */
static void windows_gone(void)
{
	must(!ibv_dealloc_mw(one));
	must(!ibv_dealloc_mw(two));
	expect_eq(ibv_dereg_mr(mr), 0);
}

static void good_bind(struct tern_sqe *bind)
{
	*bind = (struct tern_sqe){
		.opcode = TERN_WR_BIND_MW,
		.flags = TERN_WR_SIGNALED,
		.wr_id = 77,
		.rkey = ibv_inc_rkey(two->rkey),
		.ex = mr->lkey,
		.remote_addr = (uintptr_t)v.buf,
		.length = 4096,
		.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
}

static void put(const struct tern_sqe *bind)
{
	struct tern_sqe *sqe = sqe_at(sq->prod);

	memset(sqe, 0, sq_stride);
	*sqe = *bind;
	publish(sq, sq->prod + 1);
}

/* a correct entry works, so failures below come from the changed field */
void bind_good(void)
{
	struct tern_sqe bind;

	windows_up();
	good_bind(&bind);
	put(&bind);
	expect_wc(v.scq, 77, IBV_WC_SUCCESS);
	expect_reach(&w, bind.rkey, bind.remote_addr, 4096);
	windows_gone();
	vandal_down();
}

static void no_window(struct tern_sqe *bind)
{
	bind->rkey ^= 0x5500;
}

static void key_0(struct tern_sqe *bind)
{
	bind->rkey = 0;
}

static void region_for_window(struct tern_sqe *bind)
{
	bind->rkey = mr->rkey;
}

static void window_for_region(struct tern_sqe *bind)
{
	bind->ex = one->rkey;
}

static void itself_for_region(struct tern_sqe *bind)
{
	bind->ex = bind->rkey;
}

static void no_region(struct tern_sqe *bind)
{
	bind->ex = 0;
}

static void old_region_key(struct tern_sqe *bind)
{
	bind->ex ^= 1;
}

/* keys of b's device are unknown to a's, although one kernel drives both */
static void region_of_another_device(struct tern_sqe *bind)
{
	bind->ex = b.mr->lkey;
}

static void wild_access(struct tern_sqe *bind)
{
	bind->access = -1;
}

static void local_access(struct tern_sqe *bind)
{
	bind->access |= IBV_ACCESS_LOCAL_WRITE;
}

static void type2_of_no_length(struct tern_sqe *bind)
{
	bind->length = 0;
}

static void too_long(struct tern_sqe *bind)
{
	bind->length = v.buf_len + 1;
}

static void endless(struct tern_sqe *bind)
{
	bind->length = -1ull;
}

static void around_the_end(struct tern_sqe *bind)
{
	bind->remote_addr = -8ull;
	bind->length = 16;
}

static void before(struct tern_sqe *bind)
{
	bind->remote_addr--;
}

/* each bad entry gets a completion with its wr_id, the QP moves to ERROR, none binds */
void bind_bad_fields(void)
{
	static void (*const spoil[])(struct tern_sqe *bind) = {
		no_window, key_0, region_for_window, window_for_region,
		itself_for_region, no_region, old_region_key,
		region_of_another_device, wild_access, local_access,
		type2_of_no_length, too_long, endless, around_the_end, before,
	};
	struct tern_sqe bind;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(spoil); i++) {
		windows_up();
		good_bind(&bind);
		spoil[i](&bind);
		put(&bind);
		expect_wc(v.scq, 77, IBV_WC_MW_BIND_ERR);
		expect_eq(ibv_dereg_mr(mr), 0);
		mr = ibv_reg_mr(v.pd, v.buf, v.buf_len, BINDABLE);
		must(mr);
		windows_gone();
		expect_caught();
	}
}

/* alternate between two valid ranges; a mix of their fields is out of bounds */
static void flicker(uint32_t i)
{
	struct tern_sqe *sqe = sqe_at(i);

	sqe->length = i & 1 ? 8 : v.buf_len;
	sqe->remote_addr = (uintptr_t)v.buf + (i & 1 ? v.buf_len - 8 : 0);
	sqe->rkey = i % 7 ? one->rkey : ibv_inc_rkey(one->rkey);
}

/* the kernel checks a copy of the entry and uses that copy */
void bind_race(void)
{
	struct tern_sqe bind;
	struct ibv_wc wc[16];
	pid_t child;
	uint32_t i;

	windows_up();
	good_bind(&bind);
	bind.rkey = one->rkey;
	for (i = 0; i < ENTRIES; i++)
		memcpy(sqe_at(i), &bind, sizeof(bind));
	child = fork();
	must(child >= 0);
	if (!child) {
		for (i = 0;; i++)
			flicker(i);
	}
	for (i = 0; i < 2000 && state_of(&v) == IBV_QPS_RTS; i++) {
		publish(sq, sq->prod + 1);
		while (ibv_poll_cq(v.scq, 16, wc) > 0)
			;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	windows_gone();
	vandal_down();
}
