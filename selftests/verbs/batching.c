// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Batching: while a program posts a run of requests, the kernel may replace doorbells by
 * a timer, and everything is still sent in time. hw_counters show the omitted ones.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "queue_verbs.h"

#define DEV_A	getenv("DEV_A")
#define DEPTH	256

/* @access: rights of b's memory, 0 for the usual ones */
static void up_with(int access)
{
	static const struct want want = { .cap.max_send_wr = DEPTH };

	pair_up(&want, &(struct want){ .access = access });
}

static void up(void)
{
	up_with(0);
}

/* a word of a's hw_counters */
static long counter(const char *name)
{
	char command[128];
	long value = 0;
	FILE *out;

	snprintf(command, sizeof(command),
		 "rdma statistic show link %s/1 | sed -n 's/.*\\<%s \\([0-9]*\\).*/\\1/p'",
		 DEV_A, name);
	out = popen(command, "r");
	must(out);
	expect_eq(fscanf(out, "%ld", &value), 1);
	expect_eq(pclose(out), 0);
	return value;
}

/* connections from now on may have RFC 7306 and version 2, or not */
static void set_extensions(const char *mode)
{
	char line[128];

	snprintf(line, sizeof(line), "for e in a b; do ip netns exec $e "
		 "tern set tern_$e extensions %s || exit; done", mode);
	must(!system(line));
}

static void post_atomic(uint64_t id, int flags)
{
	struct ibv_sge sge = sge_at(&a, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = flags,
		.wr.atomic.remote_addr = (uintptr_t)b.buf + 64,
		.wr.atomic.compare_add = 1,
		.wr.atomic.rkey = b.mr->rkey,
	};

	post(&a, &wr);
}

/* post @n requests; only the last is signalled, with wr_id @id */
static void post_run(enum ibv_wr_opcode op, int n, uint64_t id)
{
	int i;

	for (i = 0; i < n; i++) {
		int flags = i == n - 1 ? IBV_SEND_SIGNALED : 0;

		if (op == IBV_WR_ATOMIC_FETCH_AND_ADD)
			post_atomic(id, flags);
		else
			post_rdma(&a, &b, op, id, 0, 8, 64, flags);
	}
}

/* a slow guest pauses between posts, so batching never starts */
static bool is_slow(void)
{
	return patience_ms() > 5000;
}

/* while batching @op the last entry is sent, although no doorbell follows it */
static void all_go_out(enum ibv_wr_opcode op)
{
	bool atomic = op == IBV_WR_ATOMIC_FETCH_AND_ADD;
	long before;
	int n;

	up_with(atomic ? ALL_RIGHTS | IBV_ACCESS_REMOTE_ATOMIC : 0);
	before = counter("doorbell_later");
	for (n = 1; n <= DEPTH; n += 7) {
		post_run(op, n, n);
		expect_wc(a.scq, n, IBV_WC_SUCCESS);
	}
	expect(is_slow() || counter("doorbell_later") > before);
	pair_down();
}

static void writes_go_out(void)
{
	all_go_out(IBV_WR_RDMA_WRITE);
}

static void reads_go_out(void)
{
	all_go_out(IBV_WR_RDMA_READ);
}

static void extended_go_out(enum ibv_wr_opcode op)
{
	set_extensions("negotiate");
	all_go_out(op);
	set_extensions("off");
}

static void reads_of_version_2_go_out(void)
{
	extended_go_out(IBV_WR_RDMA_READ);
}

static void atomics_go_out(void)
{
	extended_go_out(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

/* a Send, which is never delayed, keeps its place after delayed Writes */
static void send_after_writes(void)
{
	int i, n = DEPTH - 1;

	up();
	for (i = 1; i <= 50; i++) {
		post_recv(&b, i, 4096, 64);
		memset(a.buf, i, 64);
		post_run(IBV_WR_RDMA_WRITE, n - i, 1000);
		post_send(&a, i, 0, 8, IBV_SEND_SIGNALED);
		expect_recv(&b, i, 8);
		expect_eq(b.buf[64], i);
		expect_wc(a.scq, 1000, IBV_WC_SUCCESS);
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	}
	pair_down();
}

/* Sends are never left to the timer, since a receiver waits for them */
static void sends_are_not_delayed(void)
{
	long before;
	int i;

	up();
	before = counter("doorbell_later");
	for (i = 0; i < 16; i++)
		post_recv(&b, i, 4096, 64);
	for (i = 0; i < 16; i++)
		post_send(&a, i, 0, 8, IBV_SEND_SIGNALED);
	for (i = 0; i < 16; i++) {
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
		expect_recv(&b, i, 8);
	}
	expect_eq(counter("doorbell_later"), before);
	pair_down();
}

/* a program that waits for each answer is not delayed, even after batching */
static void ping_pong_is_not_delayed(void)
{
	long before;
	int i;

	up();
	for (i = 0; i < 20; i++) {
		post_run(IBV_WR_RDMA_READ, 100, 1);
		expect_wc(a.scq, 1, IBV_WC_SUCCESS);
		before = counter("doorbell_later");
		post_run(IBV_WR_RDMA_READ, 1, 2);
		expect_wc(a.scq, 2, IBV_WC_SUCCESS);
		post_run(IBV_WR_RDMA_READ, 1, 3);
		expect_wc(a.scq, 3, IBV_WC_SUCCESS);
		expect_eq(counter("doorbell_later"), before);
	}
	pair_down();
}

/* every request completes when the QP fails while batching */
static void qp_fails(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int round, i, n;

	for (round = 0; round < 20; round++) {
		n = 40 + round;
		up();
		for (i = 0; i < n; i++)
			post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0,
				  IBV_SEND_SIGNALED);
		must(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
		/* the flush turned doorbells on again */
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, n, 0, 8, 0,
			  IBV_SEND_SIGNALED);
		for (i = 0; i <= n; i++)
			expect_eq(next_wc(a.scq).wr_id, i);
		pair_down();
	}
}

/* destroying the QP while batching leaves no work that uses it */
static void qp_destroyed(void)
{
	int round;

	for (round = 0; round < 20; round++) {
		up();
		post_run(IBV_WR_RDMA_WRITE, 40 + round, 1);
		pair_down();
	}
}

static volatile bool enough;

static void *resize(void *arg)
{
	int cqe;

	for (cqe = DEPTH; !enough; cqe ^= 3 * DEPTH) {
		expect_eq(ibv_resize_cq(a.scq, cqe), 0);
		usleep(200);
	}
	return arg;
}

/* the CQ, which the doorbell code reads, is resized while batching */
static void cq_resized(void)
{
	pthread_t thread;
	int i;

	up();
	enough = false;
	must(!pthread_create(&thread, NULL, resize, NULL));
	for (i = 0; i < 100; i++) {
		post_run(IBV_WR_RDMA_WRITE, 60, i);
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	}
	enough = true;
	must(!pthread_join(thread, NULL));
	pair_down();
}

static const struct tap_test tests[] = {
	{ "batching: all Writes are sent", writes_go_out },
	{ "batching: all Reads are sent", reads_go_out },
	{ "batching: all Reads of version 2 are sent", reads_of_version_2_go_out },
	{ "batching: all atomics are sent", atomics_go_out },
	{ "batching: a Send after Writes keeps the order", send_after_writes },
	{ "batching: Sends are not delayed", sends_are_not_delayed },
	{ "batching: a ping-pong is not delayed", ping_pong_is_not_delayed },
	{ "batching: all requests complete when the QP fails", qp_fails },
	{ "batching: the QP may be destroyed", qp_destroyed },
	{ "batching: the CQ may be resized", cq_resized },
};

const struct tap_theme batching_theme = { tests, ARRAY_LEN(tests) };
