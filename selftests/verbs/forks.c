// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * ibv_fork_init(), and children of a program with registered memory: after a fork the
 * device sends what the parent writes, and the parent reads what arrives, whatever its
 * children do to their copies.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue_verbs.h"

#define LEN 20000

/* a message each way through buffers written just before */
static void exchange(uint32_t seed)
{
	fill(a.buf, LEN, seed);
	post_recv(&b, seed, 0, LEN);
	post_send(&a, seed, 0, LEN, IBV_SEND_SIGNALED);
	expect_wc(a.scq, seed, IBV_WC_SUCCESS);
	expect_recv(&b, seed, LEN);
	expect(filled(b.buf, LEN, seed));
	fill(b.buf, LEN, seed + 1);
	post_recv(&a, seed, 0, LEN);
	post_send(&b, seed, 0, LEN, IBV_SEND_SIGNALED);
	expect_wc(b.scq, seed, IBV_WC_SUCCESS);
	expect_recv(&a, seed, LEN);
	expect(filled(a.buf, LEN, seed + 1));
}

static void up(void)
{
	must(!ibv_fork_init());
	expect(ibv_is_fork_initialized() != IBV_FORK_DISABLED);
	pair_up(NULL, NULL);
}

static pid_t child_that(void (*does)(void))
{
	pid_t pid = fork();

	must(pid >= 0);
	if (!pid) {
		does();
		_exit(0);
	}
	return pid;
}

static void end_child(pid_t pid)
{
	int status = -1;

	kill(pid, SIGTERM);
	must(waitpid(pid, &status, 0) == pid);
}

static void sleep_on(void)
{
	signal(SIGTERM, SIG_DFL);
	pause();
}

/* a child overwrites its copies of the buffers */
static void spoil_copy(void)
{
	signal(SIGTERM, SIG_DFL);
	for (;;) {
		memset(a.buf, 0xcc, LEN);
		memset(b.buf, 0xdd, LEN);
	}
}

static void children_live(void)
{
	pid_t one, two;
	int i;

	up();
	exchange(1);
	one = child_that(sleep_on);
	exchange(10);
	two = child_that(spoil_copy);
	for (i = 0; i < 20; i++)
		exchange(20 + 2 * i);
	end_child(one);
	end_child(two);
	exchange(100);
	pair_down();
}

static void children_exit(void)
{
	int i;

	up();
	for (i = 0; i < 10; i++) {
		must(!system("true"));
		exchange(2 * i);
	}
	pair_down();
}

/* a fork while a receive is posted and a Read is in flight */
static void in_flight(void)
{
	pid_t pid;
	int i;

	up();
	for (i = 0; i < 10; i++) {
		memset(b.buf, 0, LEN);
		post_recv(&b, i, 0, LEN);
		pid = child_that(sleep_on);
		fill(a.buf, LEN, i);
		post_send(&a, i, 0, LEN, IBV_SEND_SIGNALED);
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
		expect_recv(&b, i, LEN);
		expect(filled(b.buf, LEN, i));
		memset(a.buf, 0, LEN);
		post_rdma(&a, &b, IBV_WR_RDMA_READ, i, 0, LEN, 0,
			  IBV_SEND_SIGNALED);
		must(!system("true"));
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
		expect(filled(a.buf, LEN, i));
		end_child(pid);
	}
	pair_down();
}

static const struct tap_test tests[] = {
	{ "fork__children_do_not_disturb_transfers", children_live },
	{ "fork__child_execs_between_messages", children_exit },
	{ "fork__with_receives_and_reads_in_flight", in_flight },
};

const struct tap_theme fork_theme = { tests, ARRAY_LEN(tests) };
