// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Batching: while a program posts a run of requests, one doorbell stands for many, and
 * everything is still sent in time: the rows of the table in Documentation/decisions.rst,
 * "A doorbell stands for many posts". hw_counters show the omitted ones. Where a slow
 * guest pauses so long that the backstop fires, doorbell_missed says so. Each point of the
 * provider that rings is tested without a clock by provider_lazy_test.c.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "queue_verbs.h"

#define DEV_A	getenv("DEV_A")
#define DEPTH	256

/* @access: rights of b's memory, 0 for the usual ones */
static void up_with(int access)
{
	static const struct want want = { .cap.max_send_wr = DEPTH };

	pair_up(&want, &(struct want){ .access = access, .cap.max_recv_wr = DEPTH });
}

static void up(void)
{
	up_with(0);
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

static struct counts {
	long rung, later, missed;
} mark;

static long word_after(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	must(at);
	return strtol(at + strlen(name), NULL, 10);
}

/* a's hw_counters: one process for all, since the checked kernel is slow to start one */
static struct counts counts(void)
{
	char command[128], line[4096];
	size_t len;
	FILE *out;

	snprintf(command, sizeof(command), "rdma statistic show link %s/1", DEV_A);
	out = popen(command, "r");
	must(out);
	len = fread(line, 1, sizeof(line) - 1, out);
	line[len] = 0;
	expect_eq(pclose(out), 0);
	return (struct counts){ word_after(line, " doorbell "),
				word_after(line, " doorbell_later "),
				word_after(line, " doorbell_missed ") };
}

/* since @mark */
static struct counts since(void)
{
	struct counts now = counts();

	return (struct counts){ now.rung - mark.rung, now.later - mark.later,
				now.missed - mark.missed };
}

/* doorbells that @missed strikes in a row explain, bans[] in core/lazy.c */
static long bans(long missed)
{
	static const long each[] = { 0, 0, 64, 512, 4096 };
	long i, all = 0;

	for (i = 0; i < missed; i++)
		all += each[i < 4 ? i : 4];
	return all;
}

/* Does the kernel count by the tick? Then a timer comes too late, so posts ring: row 13. */
static bool timers_are_coarse(void)
{
	struct timespec resolution;

	must(!clock_getres(CLOCK_MONOTONIC, &resolution));
	return resolution.tv_sec || resolution.tv_nsec > 5000;
}

/*
 * A program that polls has few doorbells, and none is left to a timer. Where the host runs
 * other programs, the backstop of a guest fires while the poster stands still, and what
 * follows says nothing.
 */
static void expect_few_doorbells(int posts)
{
	struct counts n = since();

	printf("# %d posts: %ld doorbells, %ld by timer, %ld missed\n", posts, n.rung,
	       n.later, n.missed);
	if (timers_are_coarse()) {
		/* but those that are made while the engine runs, for received data */
		expect(n.rung > posts / 2);
		expect(!n.later && !n.missed);
		return;
	}
	if (bans(n.missed) > posts / 4)
		skip("the host stopped the poster %ld times", n.missed);
	expect(n.rung <= posts / 8 + bans(n.missed) + 16 * (n.missed + 1));
	expect(!n.later || n.missed);
}

/* the last entry of a run is sent when the program polls, although no doorbell follows it */
static void all_go_out(enum ibv_wr_opcode op)
{
	bool atomic = op == IBV_WR_ATOMIC_FETCH_AND_ADD;
	int n, posts = 0;

	up_with(atomic ? ALL_RIGHTS | IBV_ACCESS_REMOTE_ATOMIC : 0);
	mark = counts();
	for (n = 1; n <= DEPTH; n += 7) {
		post_run(op, n, n);
		expect_wc(a.scq, n, IBV_WC_SUCCESS);
		posts += n;
	}
	pair_down();
	expect_few_doorbells(posts);
}

static struct counts armed_try(void)
{
	struct counts n;
	int posts;

	up();
	mark = counts();
	for (posts = 1; posts <= DEPTH; posts += 7) {
		must(!ibv_req_notify_cq(a.scq, 0));
		post_run(IBV_WR_RDMA_WRITE, posts, posts);
		must(got_event(&a, patience_ms()));
		expect_wc(a.scq, posts, IBV_WC_SUCCESS);
	}
	n = since();
	pair_down();
	return n;
}

/*
 * Where a program may sleep until an event, the kernel batches by a timer of its own. It does
 * not while the host leaves 50 us between the posts (BATCH_PAUSE_NS): then it tries again.
 */
static void armed_go_out(void)
{
	struct counts n = { 0 };
	int tries;

	for (tries = 0; tries < 10 && !n.later; tries++) {
		n = armed_try();
		printf("# %ld doorbells, %ld by timer\n", n.rung, n.later);
		expect_eq(n.missed, 0);
		if (is_slow() || timers_are_coarse())
			break;
	}
	expect(n.later || is_slow() || timers_are_coarse());
	expect(!n.later || !timers_are_coarse());
}

/* a program that posts, arms and sleeps gets its event */
static void post_arm_sleep(void)
{
	int i;

	up();
	for (i = 0; i < 20; i++) {
		post_run(IBV_WR_RDMA_WRITE, 100, i);
		must(!ibv_req_notify_cq(a.scq, 0));
		must(got_event(&a, patience_ms()));
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	}
	pair_down();
}

static void await_byte(uint8_t value)
{
	volatile uint8_t *at = &b.buf[64];
	int ms;

	/* it is written within microseconds: a time of its own, not patience_ms() */
	for (ms = 0; *at != value && ms < 10000; ms++)
		usleep(1000);
	must(*at == value);
}

/* @n Writes, of which only the last one writes the byte that await_byte() waits for */
static void post_run_and_byte(int n, uint8_t value)
{
	int i;

	memset(a.buf, value, 8);
	for (i = 1; i < n; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 128, 0);
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 0, 8, 64, IBV_SEND_SIGNALED);
}

static void run_and_await(int n, uint8_t value)
{
	post_run_and_byte(n, value);
	await_byte(value);
}

/*
 * A program that does not poll after a run: the backstop sends what is left, and after the
 * third time the posts ring again; also if the length of each run rang once in it.
 */
static void spinning_goes_out(int n)
{
	long missed;
	int i;

	up();
	mark = counts();
	for (i = 1; i <= 20; i++)
		run_and_await(n, i);
	/* some run left its last Write, and not each did: five strikes ban for longer than all */
	missed = since().missed;
	expect(missed > 0 || timers_are_coarse());
	expect(missed <= (timers_are_coarse() ? 0 : 5));
	pair_down();
}

static void spinning_run_goes_out(void)
{
	spinning_goes_out(40);
}

static void spinning_long_run_goes_out(void)
{
	spinning_goes_out(104);
}

/* the kernel of this lane stops posters often (lab/pauses.h) */
static bool is_paused(void)
{
	const char *lane = getenv("TERN_LANE");

	return lane && !strcmp(lane, "race");
}

/*
 * A program that polls between the times that it spins is never banned: without that, five
 * strikes are all that the posts of a try can have, bans[] in core/lazy.c. Where the host stops
 * the poster there are strikes in between, which may ban: then it tries again.
 */
static void polling_ends_strikes(void)
{
	int i, polls, tries;
	struct counts n;

	for (tries = 0; tries < 10; tries++) {
		up();
		mark = counts();
		for (i = 1; i <= 6; i++) {
			run_and_await(40, i);
			expect_wc(a.scq, 1, IBV_WC_SUCCESS);
			for (polls = 0; polls < 20; polls++) {
				post_run_and_byte(16, 0);
				expect_wc(a.scq, 1, IBV_WC_SUCCESS);
			}
		}
		pair_down();
		n = since();
		printf("# %ld doorbells, %ld missed\n", n.rung, n.missed);
		if (n.missed >= 6 || timers_are_coarse())
			return;
	}
	if (is_paused())
		skip("the poster was stopped in each of %d tries", tries);
	expect(!"6 times missed in some try");
}

/* what a program left is sent when it destroys its QP, or is killed */
static void destroyed_goes_out(void)
{
	int i;

	for (i = 1; i <= 20; i++) {
		up();
		post_run_and_byte(40, i);
		rdma_destroy_qp(a.id);
		a.qp = NULL;
		await_byte(i);
		pair_down();
	}
}

/* what a program left completes when its link is deleted under it */
static void deleted_link_flushes(void)
{
	int i, n;

	for (n = 40; n < 45; n++) {
		up();
		for (i = 0; i < n; i++)
			post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 64, IBV_SEND_SIGNALED);
		must(!system("rdma link del $DEV_A"));
		for (i = 0; i < n; i++)
			expect_eq(next_wc(a.scq).wr_id, i);
		end_free(&a);
		end_free(&b);
		must(!system("ip netns exec a rdma link add $DEV_A type tern netdev v0a"));
	}
}

/* ---- several threads ------------------------------------------------------- */

#define POSTERS	3

static void *post_many(void *arg)
{
	int i;

	for (i = 0; i < 64; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 0, 8, 64, IBV_SEND_SIGNALED);
	return arg;
}

/* some threads post to a QP, another polls */
static void threads_go_out(void)
{
	pthread_t posters[POSTERS];
	int round, i;

	up();
	for (round = 0; round < 50; round++) {
		for (i = 0; i < POSTERS; i++)
			must(!pthread_create(&posters[i], NULL, post_many, NULL));
		for (i = 0; i < POSTERS * 64; i++)
			expect_wc(a.scq, 1, IBV_WC_SUCCESS);
		for (i = 0; i < POSTERS; i++)
			must(!pthread_join(posters[i], NULL));
	}
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

/* a Send keeps its place after Writes without doorbells */
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

/*
 * A run of Sends has few doorbells too; and none is left to the linger timer, since a
 * receiver waits for them.
 */
static void sends_go_out(void)
{
	int round, i, n = DEPTH / 2;

	up();
	mark = counts();
	for (round = 0; round < 20; round++) {
		for (i = 0; i < n; i++)
			post_recv(&b, i, 4096, 64);
		for (i = 0; i < n; i++)
			post_send(&a, i, 0, 8, i == n - 1 ? IBV_SEND_SIGNALED : 0);
		expect_wc(a.scq, n - 1, IBV_WC_SUCCESS);
		for (i = 0; i < n; i++)
			expect_recv(&b, i, 8);
	}
	pair_down();
	expect_eq(since().later, 0);
	expect_few_doorbells(20 * n);
}

/* a program that waits for each answer is not delayed, even after batching */
static void ping_pong_is_not_delayed(void)
{
	struct counts n;
	int i;

	up();
	for (i = 0; i < 20; i++) {
		post_run(IBV_WR_RDMA_READ, 100, 1);
		expect_wc(a.scq, 1, IBV_WC_SUCCESS);
		mark = counts();
		post_run(IBV_WR_RDMA_READ, 1, 2);
		expect_wc(a.scq, 2, IBV_WC_SUCCESS);
		post_run(IBV_WR_RDMA_READ, 1, 3);
		expect_wc(a.scq, 3, IBV_WC_SUCCESS);
		n = since();
		expect(n.rung <= 2);
		expect_eq(n.later, 0);
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
static volatile int resized;

static void *resize(void *arg)
{
	int cqe;

	for (cqe = DEPTH; !enough; cqe ^= 3 * DEPTH) {
		expect_eq(ibv_resize_cq(a.scq, cqe), 0);
		resized++;
		usleep(200);
	}
	return arg;
}

/*
 * The CQ, which the doorbell code reads, is resized while batching. A poll waits for the resize
 * that runs, for long in a checked kernel: there 100 of them end the test before its time does.
 */
static void cq_resized(void)
{
	pthread_t thread;
	int i;

	up();
	enough = false;
	resized = 0;
	must(!pthread_create(&thread, NULL, resize, NULL));
	for (i = 0; i < 20 || (i < 100 && resized < 100); i++) {
		post_run(IBV_WR_RDMA_WRITE, 60, i);
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	}
	enough = true;
	must(!pthread_join(thread, NULL));
	printf("# %d runs, resized %d times\n", i, resized);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "batching: all Writes are sent", writes_go_out },
	{ "batching__writes_to_an_armed_cq_are_sent", armed_go_out },
	{ "batching__sends_need_few_doorbells", sends_go_out },
	{ "batching__arming_after_a_run_sends_it", post_arm_sleep },
	{ "batching__a_run_without_a_poll_is_sent", spinning_run_goes_out },
	{ "batching__a_long_run_without_a_poll_is_sent", spinning_long_run_goes_out },
	{ "batching__a_poll_ends_the_strikes", polling_ends_strikes },
	{ "batching__a_run_of_a_destroyed_qp_is_sent", destroyed_goes_out },
	{ "batching__a_run_on_a_deleted_link_completes", deleted_link_flushes },
	{ "batching__a_run_of_several_threads_is_sent", threads_go_out },
	{ "batching: all Reads are sent", reads_go_out },
	{ "batching: all Reads of version 2 are sent", reads_of_version_2_go_out },
	{ "batching: all atomics are sent", atomics_go_out },
	{ "batching: a Send after Writes keeps the order", send_after_writes },
	{ "batching: a ping-pong is not delayed", ping_pong_is_not_delayed },
	{ "batching: all requests complete when the QP fails", qp_fails },
	{ "batching: the QP may be destroyed", qp_destroyed },
	{ "batching: the CQ may be resized", cq_resized },
};

const struct tap_theme batching_theme = { tests, ARRAY_LEN(tests) };
