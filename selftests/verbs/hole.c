// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A packet is lost, and all that was sent after it comes before it comes again: TCP hands
 * everything over at once, more than one run of b's receive engine takes.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "pair.h"

#define MIB	(1u << 20)
#define WARM	8		/* Writes of a MiB that open TCP's windows */
#define LATE	(2 * MIB)	/* of the buffers: what comes after the hole */

static void run(const char *line)
{
	must(!system(line));
}

static void lose_a_packet(void)
{
	run("ip netns exec b nft 'add table inet hole;"
	    " add chain inet hole c { type filter hook input priority 0; };"
	    " add set inet hole seen { type ipv4_addr; };"
	    " add rule inet hole c meta l4proto tcp meta length > 1000"
	    " ip saddr != @seen add @seen { ip saddr } counter drop'");
}

static void lose_no_more(void)
{
	run("ip netns exec b nft list table inet hole | grep -q 'packets 1 '");
	run("ip netns exec b nft delete table inet hole");
}

static long long runs(void)
{
	long long n = read_counter(getenv("DEV_B"), "rx_more");

	must(n >= 0);
	return n;
}

/* a connection whose round trip is long, and whose windows let a MiB be on its way */
static void wide_up(void)
{
	static const struct want want = { .buf_len = 4 * MIB };
	int i;

	run("ip netns exec a sysctl -qw net.ipv4.tcp_slow_start_after_idle=0");
	pair_up(&want, &want);
	impair("a", "delay 50ms");
	for (i = 0; i < WARM; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, MIB, 0, IBV_SEND_SIGNALED);
	for (i = 0; i < WARM; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	post_recv(&b, 1, 0, 8);
	post_send(&a, 1, 0, 8, IBV_SEND_SIGNALED);
	expect_recv(&b, 1, 8);
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
}

static void wide_down(void)
{
	lose_no_more();
	mend("a");
	pair_down();
	run("ip netns exec a sysctl -qw net.ipv4.tcp_slow_start_after_idle=1");
}

/* a MiB whose first packet is lost, and a Send after it */
static void post_late(void)
{
	fill(a.buf, MIB, 3);
	memset(b.buf + LATE, 0, MIB);
	post_recv(&b, 2, 0, 8);
	lose_a_packet();
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, MIB, LATE, 0);
	post_send(&a, 3, 0, 8, IBV_SEND_SIGNALED);
}

static void several_runs(void)
{
	long long before;

	wide_up();
	before = runs();
	post_late();
	expect_recv(&b, 2, 8);
	expect(filled(b.buf + LATE, MIB, 3));
	printf("#   %lld more runs for the MiB\n", runs() - before);
	expect(runs() > before);
	expect_wc(a.scq, 3, IBV_WC_SUCCESS);
	wide_down();
}

/* the FIN is there before the second run */
static void fin_comes_last(void)
{
	long long before, cut = read_counter(getenv("DEV_B"), "cm_abort");

	wide_up();
	before = runs();
	post_late();
	must(!rdma_disconnect(a.id));
	expect_recv(&b, 2, 8);
	expect(filled(b.buf + LATE, MIB, 3));
	expect(runs() > before);
	expect_wc(a.scq, 3, IBV_WC_SUCCESS);
	must(!end_expect(&b, RDMA_CM_EVENT_DISCONNECTED));
	must(!end_expect(&a, RDMA_CM_EVENT_DISCONNECTED));
	expect_eq(read_counter(getenv("DEV_B"), "cm_abort"), cut);
	wide_down();
}

/* the first runs complete a receive, and b's QP goes before the others */
static void destroyed_between(void)
{
	long long before;

	wide_up();
	before = runs();
	post_recv(&b, 2, 0, 8);
	post_recv(&b, 3, 0, 8);
	lose_a_packet();
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, MIB / 4, LATE, 0);
	post_send(&a, 2, 0, 8, 0);
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, MIB, LATE, 0);
	post_send(&a, 3, 0, 8, 0);
	expect_recv(&b, 2, 8);
	rdma_destroy_qp(b.id);
	b.qp = NULL;
	printf("#   %s\n", no_wc(b.rcq) ? "before the second Send" : "after it");
	expect(runs() > before);
	must(!end_expect(&a, RDMA_CM_EVENT_DISCONNECTED));
	wide_down();
}

static const struct tap_test tests[] = {
	{ "write__after_a_hole_is_taken_in_several_runs", several_runs },
	{ "fin__after_a_hole_does_not_overtake_what_a_run_left", fin_comes_last },
	{ "destroy__ends_what_a_run_left", destroyed_between },
};

const struct tap_theme hole_theme = { tests, sizeof(tests) / sizeof(tests[0]) };
