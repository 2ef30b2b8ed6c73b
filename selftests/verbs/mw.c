// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Memory windows of type 1 and 2: bind, invalidate, free (RFC 5041 8, RFC 5040 5.3). */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "window.h"

#define MIB	(1 << 20)

/* b's buffer is large enough for windows of several MiB */
static const struct want spacious = { .access = BINDABLE, .buf_len = 8 * MIB };

static void post_inv(struct end *e, uint32_t key)
{
	struct ibv_send_wr wr = {
		.wr_id = 30, .opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = key,
	};

	post(e, &wr);
}

static void invalidate(struct end *e, uint32_t key)
{
	post_inv(e, key);
	expect_done(e, IBV_WC_LOCAL_INV);
}

static void send_inv(struct end *from, struct end *to, uint32_t key)
{
	struct ibv_sge sge = sge_at(from, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 40, .opcode = IBV_WR_SEND_WITH_INV,
		.sg_list = &sge, .num_sge = 1, .invalidate_rkey = key,
	};

	post_recv(to, 41, 0, 64);
	post(from, &wr);
}

/* ---- lifetime ------------------------------------------------------------------- */

static void alloc_types(void)
{
	struct ibv_device_attr dev;
	struct ibv_mw *mw, *other;

	pair_up(NULL, &bindable);
	must(!ibv_query_device(b.id->verbs, &dev));
	expect(dev.max_mw > 0);
	expect(dev.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	expect(dev.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	expect(!(dev.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A));
	mw = window(IBV_MW_TYPE_1);
	other = window(IBV_MW_TYPE_2);
	expect(mw->rkey >> 8 != other->rkey >> 8);
	expect_eq(ibv_dealloc_pd(b.pd), EBUSY);
	errno = 0;
	expect(!ibv_alloc_mw(b.pd, (enum ibv_mw_type)3));
	expect_eq(errno, EINVAL);
	drop(mw);
	drop(other);
	pair_down();
}

static void unbound(void)
{
	struct ibv_mw *mw;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_1);
	expect_no_read(&a, mw->rkey, at(0), TERM(0, 1, 0));
	drop(mw);
	another();
	mw = window(IBV_MW_TYPE_2);
	expect_no_write(&a2, mw->rkey, at(0), TERM(1, 1, 0));
	drop(mw);
	another_down();
}

static void dealloc_bound(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, BOTH));
	expect_reach(&a, key, at(OFF), LEN);
	drop(mw);
	expect_no_read(&a, key, at(OFF), TERM(0, 1, 0));
	pair_down();
}

/* No byte changes after the window is gone, although Writes are still arriving. */
static void dealloc_under_fire(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(&(struct want){ .buf_len = MIB }, &spacious);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(0, MIB, WRITE));
	memset(a.buf, 0x77, MIB);
	post_writes(&a, 9, MIB, key, at(0));
	drop(mw);
	memset(b.buf, 0x11, MIB);
	must(!ibv_dereg_mr(b.mr));
	b.mr = NULL;
	post_writes(&a, 7, MIB, key, at(0));
	expect_error_state(&a);
	expect(all_are(b.buf, MIB, 0x11));
	pair_down();
}

#define WRITERS	3
#define DEPTH	8

static struct { uint64_t at; uint32_t key; } opened;

/* keep up to DEPTH Writes of 64 KiB to what is opened outstanding, until one fails */
static void *keep_writing(void *arg)
{
	struct end *e = arg;
	struct ibv_sge sge = sge_at(e, 0, 64 << 10);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = opened.at, .rkey = opened.key },
	};
	struct ibv_wc wc = {};
	int open = 0;

	while (wc.status == IBV_WC_SUCCESS) {
		while (open < DEPTH && !ibv_post_send(e->qp, &wr, &bad))
			open++;
		open -= ibv_poll_cq(e->scq, 1, &wc);
	}
	return NULL;
}

/*
 * The removal waits for copies that are running, not for those that begin while it waits.
 * To overlap all the time they need more CPUs than most labs have.
 */
static void dealloc_beside_writers(void)
{
	struct end from[WRITERS] = {}, to[WRITERS] = {};
	pthread_t writer[WRITERS];
	struct ibv_mw *mw;
	long long begin, took;
	int i;

	pair_up(NULL, &spacious);
	mw = window(IBV_MW_TYPE_1);
	opened.key = bind1(&b, mw, range(0, MIB, WRITE));
	opened.at = at(0);
	for (i = 0; i < WRITERS; i++) {
		connect_ends(&from[i], &to[i], IP_A, IP_B,
			     &(struct want){ .cap.max_send_wr = DEPTH },
			     &(struct want){ .share = &b });
		must(!pthread_create(&writer[i], NULL, keep_writing, &from[i]));
	}
	usleep(100000);
	begin = now_us();
	drop(mw);
	took = now_us() - begin;
	printf("# it took %lld us\n", took);
	expect(took < patience_ms() * 1000LL / 10);
	for (i = 0; i < WRITERS; i++) {
		must(!pthread_join(writer[i], NULL));
		end_free(&from[i]);
		end_free(&to[i]);
	}
	pair_down();
}

/* a region with windows cannot be deregistered */
static void region_is_busy(void)
{
	struct ibv_mw *one, *two;
	uint32_t key;

	pair_up(NULL, &bindable);
	one = window(IBV_MW_TYPE_1);
	two = window(IBV_MW_TYPE_2);
	bind1(&b, one, range(0, 64, READ));
	key = bind2(&b, two, range(OFF, LEN, BOTH));
	expect_eq(ibv_dereg_mr(b.mr), EBUSY);
	expect_eq(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			       ALL_RIGHTS), IBV_REREG_MR_ERR_CMD);
	expect_eq(errno, EBUSY);
	expect_reach(&a, key, at(OFF), LEN);
	expect_reach(&a, b.mr->rkey, at(0), 64);
	bind1(&b, one, (struct ibv_mw_bind_info){});
	expect_eq(ibv_dereg_mr(b.mr), EBUSY);
	invalidate(&b, key);
	expect_eq(ibv_dereg_mr(b.mr), 0);
	b.mr = NULL;
	drop(one);
	drop(two);
	pair_down();
}

static void leave_bound(void)
{
	struct ibv_mw *early, *late;
	struct ibv_mr *mr;

	test_failures = 0;
	pair_up(NULL, &bindable);
	early = window(IBV_MW_TYPE_1);
	mr = ibv_reg_mr(b.pd, b.buf, 4096, BINDABLE);
	must(mr);
	late = window(IBV_MW_TYPE_2);
	b.mr = mr;
	bind1(&b, early, range(0, 64, BOTH));
	bind2(&b, late, range(64, 64, BOTH));
	expect_reach(&a, late->rkey, at(64), 64);
	_exit(!!test_failures);
}

/* a process exits with bound windows: the core destroys its objects in any order */
static void process_exit(void)
{
	struct ibv_mw *mw;
	int status = -1;
	pid_t child = fork();

	must(child >= 0);
	if (!child)
		leave_bound();
	must(waitpid(child, &status, 0) == child);
	expect_eq(status, 0);
	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, range(0, 64, BOTH));
	drop(mw);
	pair_down();
}

/* ---- type 1 ----------------------------------------------------------------------- */

/* DDP-102: it opens its range of the region and not a byte more */
static void type1_range(void)
{
	static const int64_t out[] = { LEN - 7, -1, LEN, -8 };
	struct ibv_mw *mw;
	uint32_t key;
	unsigned int i;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_1);
	key = bind1(&b, mw, range(OFF, LEN, BOTH));
	expect_reach(&a, key, at(OFF), LEN);
	expect_bytes(b.buf + OFF, a.buf, LEN);
	expect_reach(&a, key, at(OFF + LEN - 8), 8);
	for (i = 0; i < ARRAY_LEN(out); i++) {
		another();
		expect_no_read(&a2, key, at(OFF + out[i]), TERM(0, 1, 1));
		another();
		expect_no_write(&a2, key, at(OFF + out[i]), TERM(1, 1, 1));
	}
	drop(mw);
	another_down();
}

/* longer than a segment, TCP's window and one burst of either end */
static void several_mib(void)
{
	const uint32_t len = 3 * MIB + 777;
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(&(struct want){ .buf_len = 8 * MIB }, &spacious);
	mw = window(IBV_MW_TYPE_1);
	key = bind1(&b, mw, range(OFF, len, BOTH));
	expect_reach(&a, key, at(OFF), len);
	expect_bytes(b.buf + OFF, a.buf, len);
	expect_no_write(&a, key, at(OFF + len - 7), TERM(1, 1, 1));
	drop(mw);
	pair_down();
}

static void one_byte(void)
{
	struct ibv_send_wr wr = {
		.num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
	};
	struct ibv_sge sge;
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &bindable);
	memset(b.buf + OFF - 1, 0x55, 3);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, 1, BOTH));
	expect_reach(&a, key, at(OFF), 1);
	expect_eq(b.buf[OFF], a.buf[0]);
	sge = sge_at(&a, 0, 2);
	wr.sg_list = &sge;
	wr.wr.rdma.rkey = key;
	wr.wr.rdma.remote_addr = at(OFF);
	post(&a, &wr);
	expect_error_state(&a);
	expect(b.buf[OFF - 1] == 0x55 && b.buf[OFF + 1] == 0x55);
	drop(mw);
	pair_down();
}

/* DDP-101: a type 1 window is valid on every stream of its PD */
static void type1_for_the_pd(void)
{
	struct ibv_mw *mw;

	pair_up(NULL, &bindable);
	another();
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, range(OFF, LEN, BOTH));
	expect_reach(&a2, mw->rkey, at(OFF), LEN);
	expect_reach(&a, mw->rkey, at(OFF), LEN);
	/* any QP of the PD may bind it again */
	bind1(&b2, mw, range(0, 64, BOTH));
	expect_reach(&a, mw->rkey, at(0), 64);
	drop(mw);
	another_down();
}

static void type1_rebind(void)
{
	struct ibv_mr *other;
	struct ibv_mw *mw;
	uint32_t old;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_1);
	old = bind1(&b, mw, range(OFF, LEN, BOTH));
	other = b.mr;
	b.mr = ibv_reg_mr(b.pd, b.buf, 8192, BINDABLE);
	must(b.mr);
	bind1(&b, mw, range(OFF, 100, BOTH));
	/* the first region has no windows any more */
	must(!ibv_dereg_mr(other));
	expect_reach(&a, mw->rkey, at(OFF), 100);
	expect_no_read(&a, mw->rkey, at(OFF + 93), TERM(0, 1, 1));
	another();
	expect_no_write(&a2, old, at(OFF), TERM(1, 1, 0));
	drop(mw);
	another_down();
}

static void type1_unbind(void)
{
	struct ibv_mw *mw;
	uint32_t old;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_1);
	old = bind1(&b, mw, range(OFF, LEN, BOTH));
	expect_reach(&a, old, at(OFF), LEN);
	bind1(&b, mw, (struct ibv_mw_bind_info){});
	expect_no_write(&a, mw->rkey, at(OFF), TERM(1, 1, 0));
	another();
	expect_no_read(&a2, old, at(OFF), TERM(0, 1, 0));
	drop(mw);
	another_down();
}

/* RDMAP-143: a type 1 window is shared by streams, so no peer may invalidate it */
static void type1_not_invalidated(void)
{
	struct ibv_mw *mw;

	pair_up(NULL, &bindable);
	another();
	mw = window(IBV_MW_TYPE_1);
	bind1(&b, mw, range(OFF, LEN, BOTH));
	send_inv(&a, &b, mw->rkey);
	expect_wc(b.rcq, 41, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a);
	expect_reach(&a2, mw->rkey, at(OFF), LEN);
	post_inv(&b2, mw->rkey);
	expect_wc(b2.scq, 30, IBV_WC_MW_BIND_ERR);
	expect_error_state(&b2);
	drop(mw);
	another_down();
}

/* ---- type 2 ----------------------------------------------------------------------- */

/* DDP-104, DDP-101: a type 2 window is valid on one stream only */
static void type2_for_one_stream(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &bindable);
	another();
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, BOTH));
	expect_reach(&a, key, at(OFF), LEN);
	expect_no_read(&a2, key, at(OFF), TERM(0, 1, 3));
	another();
	expect_no_write(&a2, key, at(OFF), TERM(1, 1, 2));
	another();
	send_inv(&a2, &b2, key);
	expect_wc(b2.rcq, 41, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a2);
	another();
	post_inv(&b2, key);
	expect_wc(b2.scq, 30, IBV_WC_MW_BIND_ERR);
	expect_reach(&a, key, at(OFF), LEN);
	drop(mw);
	another_down();
}

/* a type 2 window outlives its stream, and no other stream may use it */
static void type2_of_a_dead_stream(void)
{
	struct ibv_mw *mw;
	uint32_t key;
	int i;

	pair_up(NULL, &bindable);
	another();
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b2, mw, range(OFF, LEN, BOTH));
	for (i = 0; i < 4; i++) {
		another();
		expect_no_read(&a2, key, at(OFF), TERM(0, 1, 3));
	}
	expect_eq(ibv_dereg_mr(b.mr), EBUSY);
	drop(mw);
	another_down();
}

static void type2_by_wr_calls(void)
{
	static const struct want ex = {
		.access = BINDABLE,
		.send_ops = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV,
	};
	struct ibv_mw_bind_info info;
	struct ibv_qp_ex *qp;
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &ex);
	mw = window(IBV_MW_TYPE_2);
	qp = ibv_qp_to_qp_ex(b.qp);
	must(qp);
	info = range(OFF, LEN, BOTH);
	key = ibv_inc_rkey(mw->rkey);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qp, mw, key, &info);
	must(!ibv_wr_complete(qp));
	expect_done(&b, IBV_WC_BIND_MW);
	expect_reach(&a, key, at(OFF), LEN);
	ibv_wr_start(qp);
	ibv_wr_local_inv(qp, key);
	must(!ibv_wr_complete(qp));
	expect_done(&b, IBV_WC_LOCAL_INV);
	expect_no_read(&a, key, at(OFF), TERM(0, 1, 0));
	drop(mw);
	pair_down();
}

/* DDP-103: a key is valid from its bind to its invalidation, and each bind has another */
static void type2_local_inv(void)
{
	struct ibv_mw *mw;
	uint32_t key = 0, old = 0;
	int i;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	for (i = 0; i < 300; i++) {
		old = key;
		key = bind2(&b, mw, range(OFF + i, LEN, BOTH));
		if (i % 50 == 0)
			expect_reach(&a, key, at(OFF + i), LEN);
		if (i < 299)
			invalidate(&b, key);
	}
	expect_reach(&a, key, at(OFF + 299), LEN);
	expect_no_write(&a, old, at(OFF + 299), TERM(1, 1, 0));
	drop(mw);
	pair_down();
}

/* RDMAP-078: the peer's Send invalidates the key and reports it to the owner */
static void type2_send_inv(void)
{
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;
	int i;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	for (i = 0; i < 3; i++) {
		key = bind2(&b, mw, range(OFF, LEN, BOTH));
		expect_reach(&a, key, at(OFF), LEN);
		send_inv(&a, &b, key);
		wc = next_wc(b.rcq);
		expect_eq(wc.status, IBV_WC_SUCCESS);
		expect(wc.wc_flags & IBV_WC_WITH_INV);
		expect_eq(wc.invalidated_rkey, key);
	}
	/* the window is unbound, so the region can be deregistered */
	must(!ibv_dereg_mr(b.mr));
	b.mr = NULL;
	expect_no_read(&a, key, at(OFF), TERM(0, 1, 0));
	drop(mw);
	pair_down();
}

static void type2_send_inv_by_wr_calls(void)
{
	static const struct want ex = {
		.send_ops = IBV_QP_EX_WITH_SEND_WITH_INV,
	};
	struct ibv_qp_ex *qp;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	pair_up(&ex, &bindable);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, BOTH));
	post_recv(&b, 41, 0, 64);
	qp = ibv_qp_to_qp_ex(a.qp);
	must(qp);
	ibv_wr_start(qp);
	ibv_wr_send_inv(qp, key);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)a.buf, 8);
	must(!ibv_wr_complete(qp));
	wc = next_wc(b.rcq);
	expect_eq(wc.status, IBV_WC_SUCCESS);
	expect_eq(wc.invalidated_rkey, key);
	/* the window is unbound and can be bound again */
	bind2(&b, mw, range(OFF, LEN, BOTH));
	drop(mw);
	pair_down();
}

/* an invalidated key cannot be invalidated again */
static void type2_send_inv_twice(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	key = bind2(&b, mw, range(OFF, LEN, BOTH));
	send_inv(&a, &b, key);
	expect_wc(b.rcq, 41, IBV_WC_SUCCESS);
	send_inv(&a, &b, key);
	expect_wc(b.rcq, 41, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a);
	drop(mw);
	pair_down();
}

/* one list invalidates the old key, binds the window again and sends */
static void type2_chain(void)
{
	struct ibv_mw_bind_info info;
	struct ibv_sge sge;
	struct ibv_send_wr wr[3] = {
		{ .next = &wr[1], .opcode = IBV_WR_LOCAL_INV },
		{ .next = &wr[2], .opcode = IBV_WR_BIND_MW },
		{ .wr_id = 3, .opcode = IBV_WR_SEND, .num_sge = 1,
		  .sg_list = &sge, .send_flags = IBV_SEND_SIGNALED },
	};
	struct ibv_mw *mw;
	uint32_t old;

	pair_up(NULL, &bindable);
	mw = window(IBV_MW_TYPE_2);
	old = bind2(&b, mw, range(OFF, LEN, BOTH));
	info = range(0, 100, READ);
	sge = sge_at(&b, 0, 8);
	wr[0].invalidate_rkey = old;
	wr[1].bind_mw.mw = mw;
	wr[1].bind_mw.rkey = ibv_inc_rkey(old);
	wr[1].bind_mw.bind_info = info;
	post_recv(&a, 1, 0, 64);
	post(&b, wr);
	expect_wc(b.scq, 3, IBV_WC_SUCCESS);
	expect_recv(&a, 1, 8);
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 2, 0, 100, 0, IBV_SEND_SIGNALED);
	expect_wc(a.scq, 2, IBV_WC_SUCCESS);
	expect_no_write(&a, ibv_inc_rkey(old), at(0), TERM(1, 1, 0));
	drop(mw);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "alloc_mw__types_and_limits", alloc_types },
	{ "alloc_mw__unbound_window_gives_no_access", unbound },
	{ "dealloc_mw__while_bound", dealloc_bound },
	{ "dealloc_mw__under_the_peers_writes", dealloc_under_fire },
	{ "dealloc_mw__beside_three_that_write", dealloc_beside_writers },
	{ "dereg_mr__while_windows_are_bound", region_is_busy },
	{ "dealloc_mw__by_the_exit_of_the_process", process_exit },
	{ "bind_mw__type1_opens_its_range", type1_range },
	{ "bind_mw__several_mib", several_mib },
	{ "bind_mw__one_byte", one_byte },
	{ "bind_mw__type1_is_for_the_pd", type1_for_the_pd },
	{ "bind_mw__type1_moves", type1_rebind },
	{ "bind_mw__type1_without_length_unbinds", type1_unbind },
	{ "send_with_inv__type1_is_refused", type1_not_invalidated },
	{ "bind_mw__type2_is_for_one_stream", type2_for_one_stream },
	{ "bind_mw__type2_dies_with_its_stream", type2_of_a_dead_stream },
	{ "bind_mw__type2_by_ibv_wr_bind_mw", type2_by_wr_calls },
	{ "local_inv__type2_300_times", type2_local_inv },
	{ "send_with_inv__type2", type2_send_inv },
	{ "send_with_inv__type2_by_ibv_wr_send_inv", type2_send_inv_by_wr_calls },
	{ "send_with_inv__type2_once", type2_send_inv_twice },
	{ "bind_mw__invalidate_bind_send_in_one_list", type2_chain },
};

const struct tap_theme mw_theme = { tests, ARRAY_LEN(tests) };
