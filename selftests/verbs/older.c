// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * One end is tern, the other an older tern without extensions. Run by net/older.sh, which
 * creates the devices and has the new one ask for extensions; this process drives both.
 * Environment: OLDER_NEW=a|b is the new end, OLDER_MS the time that it waits for an
 * answer.
 *
 *	older [WORD...]	only the tests whose name holds one of them
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pair.h"

#define LEN 5000

static struct end *ours, *theirs;

static void up(const struct want *want)
{
	bool is_b = !strcmp(getenv("OLDER_NEW"), "b");

	pair_up(want, want);
	ours = is_b ? &b : &a;
	theirs = is_b ? &a : &b;
}

static void expect_send(struct end *from, struct end *to)
{
	fill(from->buf, LEN, 1);
	memset(to->buf, 0, LEN);
	post_recv(to, 1, 0, LEN);
	post_send(from, 2, 0, LEN, IBV_SEND_SIGNALED);
	expect_wc(from->scq, 2, IBV_WC_SUCCESS);
	expect_recv(to, 1, LEN);
	expect(filled(to->buf, LEN, 1));
}

/* Sends, Writes and Reads of both ends; a's is the first, as without an RTR it must be */
static void expect_traffic(void)
{
	expect_send(&a, &b);
	expect_send(&b, &a);
	expect_reach(&a, b.mr->rkey, (uintptr_t)b.buf, LEN);
	expect_reach(&b, a.mr->rkey, (uintptr_t)a.buf, LEN);
}

static void traffic(void)
{
	up(NULL);
	expect_traffic();
	must(!rdma_disconnect(ours->id));
	must(!end_expect(ours, RDMA_CM_EVENT_DISCONNECTED));
	must(!end_expect(theirs, RDMA_CM_EVENT_DISCONNECTED));
	pair_down();
}

static void traffic_without_reads(void)
{
	static const struct want want = { .no_reads = true };

	up(&want);
	expect_send(&a, &b);
	expect_send(&b, &a);
	pair_down();
}

/* ---- requests that the older end does not have --------------------------------- */

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * The request fails at our end and none of it reaches the older one: its memory and
 * receive stay as they were, and it sees the end of the connection.
 */
static void expect_refused(enum ibv_wr_opcode op)
{
	struct ibv_sge sge = sge_at(ours, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)theirs->buf, theirs->mr->rkey },
	};

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD || op == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = (uintptr_t)theirs->buf;
		wr.wr.atomic.rkey = theirs->mr->rkey;
		wr.wr.atomic.compare_add = 0;
		wr.wr.atomic.swap = 1;
	}
	memset(ours->buf, 0xaa, 64);
	memset(theirs->buf, 0, 64);
	post_recv(theirs, 8, 0, 64);
	post(ours, &wr);
	expect_wc(ours->scq, 7, IBV_WC_LOC_QP_OP_ERR);
	expect_wc(theirs->rcq, 8, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(ours);
	must(!end_expect(theirs, RDMA_CM_EVENT_DISCONNECTED));
	expect(all_are(theirs->buf, 64, 0));
}

/* a second connection keeps working, and the older device serves a third */
static void refused(enum ibv_wr_opcode op)
{
	up(NULL);
	another();
	expect_send(&a, &b);
	expect_refused(op);
	expect_send(&a2, &b2);
	expect_send(&b2, &a2);
	another_down();
	traffic();
}

static void send_imm(void)
{
	refused(IBV_WR_SEND_WITH_IMM);
}

static void write_imm(void)
{
	refused(IBV_WR_RDMA_WRITE_WITH_IMM);
}

static void fetch_add(void)
{
	refused(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static void cmp_swap(void)
{
	refused(IBV_WR_ATOMIC_CMP_AND_SWP);
}

/*
 * Nothing was sent before, so the request decides when. A responder knows after the first
 * FPDU of the older end. An initiator asks by a Read, or, without Reads, waits: the older
 * end sends nothing.
 */
static void first_request(void)
{
	up(NULL);
	if (ours == &b)
		expect_send(&a, &b);
	expect_refused(IBV_WR_RDMA_WRITE_WITH_IMM);
	pair_down();
}

static void after_the_wait(void)
{
	static const struct want want = { .no_reads = true };
	int wait = atoi(getenv("OLDER_MS"));
	long start, took;

	up(&want);
	if (ours == &b)
		expect_send(&a, &b);
	start = now_ms();
	expect_refused(IBV_WR_SEND_WITH_IMM);
	took = now_ms() - start;
	printf("#   failed after %ld ms\n", took);
	if (ours == &a)
		expect(took >= wait - 20);
	else
		expect(took < wait);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "traffic: Send, Write and Read of both ends, disconnect", traffic },
	{ "traffic__without_Reads", traffic_without_reads },
	{ "refused__Send_with_Immediate", send_imm },
	{ "refused__Write_with_Immediate", write_imm },
	{ "refused__FetchAdd", fetch_add },
	{ "refused__CmpSwap", cmp_swap },
	{ "refused__first_request", first_request },
	{ "refused__after_the_wait", after_the_wait },
};

static const struct tap_theme theme = { tests, ARRAY_LEN(tests) };

int main(int argc, char **argv)
{
	enter_netns(NULL);
	return tap_run((const struct tap_theme *[]) { &theme, NULL }, argc - 1, argv + 1);
}
