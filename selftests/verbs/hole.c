// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A packet is lost, and all that was sent after it comes before it comes again: TCP hands
 * everything over at once, more than one run of b's receive engine takes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"

#define MIB	(1u << 20)
#define WARM	8		/* Writes of a MiB that open TCP's windows */
#define LATE	(2 * MIB)	/* of the buffers: what comes after the hole */

static const struct want large = { .buf_len = 4 * MIB };

static void lose_a_packet(void)
{
	must_run("ip netns exec b nft 'add table inet hole;"
	    " add chain inet hole c { type filter hook input priority 0; };"
	    " add set inet hole seen { type ipv4_addr; };"
	    " add rule inet hole c meta l4proto tcp meta length > 1000"
	    " ip saddr != @seen add @seen { ip saddr } counter drop'");
}

static void lose_no_more(void)
{
	must_run("ip netns exec b nft list table inet hole | grep -q 'packets 1 '");
	must_run("ip netns exec b nft delete table inet hole");
}

static long long runs(void)
{
	long long n = read_counter(getenv("DEV_B"), "rx_more");

	must(n >= 0);
	return n;
}

/* a connection whose round trip is long, and whose windows let a MiB be on its way */
static void wide_up(const struct want *want)
{
	int i;

	must_run("ip netns exec a sysctl -qw net.ipv4.tcp_slow_start_after_idle=0");
	pair_up(want, want);
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
	must_run("ip netns exec a sysctl -qw net.ipv4.tcp_slow_start_after_idle=1");
}

/* a MiB, and a Send after it */
static void post_late(void)
{
	fill(a.buf, MIB, 3);
	memset(b.buf + LATE, 0, MIB);
	post_recv(&b, 2, 0, 8);
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, MIB, LATE, 0);
	post_send(&a, 3, 0, 8, IBV_SEND_SIGNALED);
}

static void several_runs(void)
{
	long long before;

	wide_up(&large);
	before = runs();
	lose_a_packet();
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

	wide_up(&large);
	before = runs();
	lose_a_packet();
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

	wide_up(&large);
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

/* a Write to no region is in the rest, and what follows it is dropped */
static void error_in_the_rest(void)
{
	long long before;
	struct ibv_wc wc;

	wide_up(&large);
	before = runs();
	fill(a.buf, MIB, 3);
	memset(b.buf + LATE, 0, 2 * MIB);
	post_recv(&b, 2, 0, 8);
	lose_a_packet();
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, MIB, LATE, 0);
	post_at(&a, IBV_WR_RDMA_WRITE, ~b.mr->rkey, (uintptr_t)b.buf, sge_at(&a, 0, 8));
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, MIB, LATE + MIB, 0);
	post_send(&a, 2, 0, 8, 0);
	/* the others may have completed, and the Terminate has to name a request */
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 3, 0, 8, 0, IBV_SEND_SIGNALED);
	do
		wc = next_wc(a.scq);
	while (wc.status == IBV_WC_SUCCESS);
	expect_eq(wc.vendor_err, TERM(1, 1, 0));
	expect_wc(b.rcq, 2, IBV_WC_WR_FLUSH_ERR);
	expect(runs() > before);
	expect(filled(b.buf + LATE, MIB, 3));
	expect(all_are(b.buf + LATE + MIB, MIB, 0));
	wide_down();
}

/* Writes as long as what a run takes, and an FPDU or a packet less or more */
static void ends_with_the_budget(void)
{
	static const uint32_t lengths[] = {
		256 * 1024, 256 * 1024 - 1448, 256 * 1024 - 32768, 256 * 1024 + 1448,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		wide_up(&large);
		fill(a.buf, lengths[i], i);
		memset(b.buf + LATE, 0, MIB);
		post_recv(&b, 2, 0, 8);
		lose_a_packet();
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, lengths[i], LATE, 0);
		post_send(&a, 3, 0, 8, IBV_SEND_SIGNALED);
		expect_recv(&b, 2, 8);
		expect(filled(b.buf + LATE, lengths[i], i));
		expect(all_are(b.buf + LATE + lengths[i], MIB - lengths[i], 0));
		expect_wc(a.scq, 3, IBV_WC_SUCCESS);
		wide_down();
	}
}

/* ---- a reset right after the hole -------------------------------------------------- */

#define FAR_MS		400	/* of a packet from a to b */

/* one on each CPU: softirq runs, and no worker */
static void *spin(void *cpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	long long end = now_us() + FAR_MS * 3 / 2 * 1000;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((intptr_t)cpu, &set);
	must(!pthread_setaffinity_np(pthread_self(), sizeof(set), &set));
	must(!pthread_setschedparam(pthread_self(), SCHED_FIFO, &first));
	while (now_us() < end)
		;
	return NULL;
}

static void keep_workers_waiting(void)
{
	pthread_t threads[16];
	long n = sysconf(_SC_NPROCESSORS_ONLN), i;

	must(n <= (long)ARRAY_LEN(threads));
	for (i = 0; i < n; i++)
		must(!pthread_create(&threads[i], NULL, spin, (void *)i));
	for (i = 0; i < n; i++)
		must(!pthread_join(threads[i], NULL));
}

/* how many packets a has sent again, or -1: some were not sent at all */
static int resent(void)
{
	FILE *out = popen("ip netns exec a ss -HtinO state established", "r");
	char line[1024], *at;
	int n = 0;

	must(out);
	must(fgets(line, sizeof(line), out));
	at = strstr(line, " retrans:");
	if (at)
		must(sscanf(at, " retrans:%*d/%d", &n) == 1);
	must(!pclose(out));
	return strstr(line, " notsent:") ? -1 : n;
}

static void wait_for_resend(int before)
{
	int tries = patience_ms() / 10;

	while (resent() <= before && tries--)
		usleep(10000);
	must(tries >= 0);
}

/*
 * The lost packet comes again, and a reset right after it, before a worker runs. That finds a
 * Read, which it cannot answer any more, and delivers all that came after it.
 */
static void reset_comes_last(void)
{
	static const struct want want = { .buf_len = 4 * MIB, .ird = 1, .ord = 1 };
	long long before;
	int sent_again;

	if (!is_uml() || is_checked())
		skip("programs are too slow here to reset the connection in time");
	wide_up(&want);
	before = runs();
	sent_again = resent();
	must_run("ip netns exec a tc qdisc change dev v0a root netem delay 400ms");
	lose_a_packet();
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, MIB / 2, LATE, 0);
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 3, 0, 8, 0, IBV_SEND_SIGNALED);
	post_late();
	wait_for_resend(sent_again);
	must_run("ip netns exec a ss -K state established >/dev/null 2>&1");
	keep_workers_waiting();
	expect_recv(&b, 2, 8);
	expect(filled(b.buf + LATE, MIB, 3));
	expect(runs() > before);
	/* where the programs that find the time and reset took too long, it was answered */
	printf("#   the Read: %s\n", ibv_wc_status_str(next_wc(a.scq).status));
	must(!end_expect(&b, RDMA_CM_EVENT_DISCONNECTED));
	wide_down();
}

static const struct tap_test tests[] = {
	{ "write__after_a_hole_is_taken_in_several_runs", several_runs },
	{ "fin__after_a_hole_does_not_overtake_what_a_run_left", fin_comes_last },
	{ "error__in_what_a_run_left_ends_the_stream", error_in_the_rest },
	{ "write__after_a_hole_is_as_long_as_a_run", ends_with_the_budget },
	{ "reset__after_a_hole_does_not_overtake_what_a_run_left", reset_comes_last },
	{ "destroy__ends_what_a_run_left", destroyed_between },
};

const struct tap_theme hole_theme = { tests, ARRAY_LEN(tests) };
