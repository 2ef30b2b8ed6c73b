// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* What a connection that has sent, and is idle or over, keeps: no memory for sending. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

#define CONNECTIONS	64
#define DEEP		16
#define BLOCK_KIB	32	/* what the send engine builds into */
#define MUCH		(64 << 10)
#define MUCH_KEPT_KIB	1024	/* 2 MiB are, less what is noise */

static struct end x[CONNECTIONS], y[CONNECTIONS];

/*
 * What is free, and what is slab, which blocks are not: KASAN keeps some MiB of it for a while.
 * MemFree lacks the free pages that each CPU keeps, some MiB as well.
 */
static long free_kib(void)
{
	static const char *const fields[] = {
		" pages free %ld", " count: %ld", " nr_slab_reclaimable %ld",
		" nr_slab_unreclaimable %ld",
	};
	FILE *f = fopen("/proc/zoneinfo", "r");
	long pages = 0, n;
	char line[128];
	size_t i;

	must(f);
	while (fgets(line, sizeof(line), f))
		for (i = 0; i < ARRAY_LEN(fields); i++)
			if (sscanf(line, fields[i], &n) == 1)
				pages += n;
	fclose(f);
	must(pages);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void send_one(struct end *from, struct end *to)
{
	post_recv(to, 2, 0, 64);
	post_send(from, 1, 0, 64, IBV_SEND_SIGNALED);
	expect_wc(from->scq, 1, IBV_WC_SUCCESS);
	expect_recv(to, 2, 64);
}

static void free_all(void)
{
	int i;

	for (i = 0; i < CONNECTIONS; i++) {
		end_free(&x[i]);
		end_free(&y[i]);
	}
}

static void streams_keep_no_blocks(void)
{
	static const struct ibv_qp_cap cap = {
		.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
	};
	static const struct want base_a = { .cap = cap, .share = &a, .cqs = &a };
	static const struct want base_b = { .cap = cap, .share = &b, .cqs = &b };
	long before, used;
	int i;

	/* nothing is sent before the first message */
	set_device("a", "extensions off p2p off");
	set_device("b", "extensions off p2p off");
	pair_up(NULL, NULL);
	for (i = 0; i < CONNECTIONS; i++)
		connect_ends(&x[i], &y[i], IP_A, IP_B, &base_a, &base_b);
	send_one(&a, &b);
	before = free_kib();
	for (i = 0; i < CONNECTIONS; i++) {
		send_one(&x[i], &y[i]);
		send_one(&y[i], &x[i]);
	}
	/* TCP frees what is acknowledged */
	usleep(300 * 1000);
	used = before - free_kib();
	printf("# %d connections that have sent take %ld KiB more\n", CONNECTIONS, used);
	expect(used < CONNECTIONS * BLOCK_KIB);
	free_all();
	pair_down();
	set_device("a", "extensions negotiate p2p on");
	set_device("b", "extensions negotiate p2p on");
}

/* @count Writes of 64 KiB, and a message that comes after the last of them */
static void write_much(int count)
{
	int i;

	for (i = 0; i < count; i++) {
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, MUCH, 0, IBV_SEND_SIGNALED);
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	}
	send_one(&a, &b);
}

/*
 * A CPU uses the blocks again that it sent last, for 2 to 4 seconds. A long way to the peer
 * makes it send more than one block before the first comes back.
 *
 * Return: whether all was sent, and acknowledged, before any was due to be given back
 */
static bool keep_blocks(void)
{
	time_t start = time(NULL);

	impair("a", "delay 20ms limit 10000");
	write_much(200);
	mend("a");
	usleep(300 * 1000);
	return time(NULL) - start < 2;
}

static long kept_kib(void)
{
	int tries = 3;
	long kept;

	/* a guest may stand still for seconds where its host has too much to do */
	while (!keep_blocks() && --tries)
		;
	kept = free_kib();
	sleep(5);
	kept = free_kib() - kept;
	printf("# %ld KiB were kept\n", kept);
	return kept;
}

static void cpus_keep_no_blocks(void)
{
	int tries = 3;
	long kept;

	pair_up(&(struct want){ .buf_len = MUCH }, &(struct want){ .buf_len = MUCH });
	/* what else the guest allocates in these seconds hides as much of it */
	do
		kept = kept_kib();
	while (kept < MUCH_KEPT_KIB && --tries);
	expect(kept >= MUCH_KEPT_KIB);
	pair_down();
}

/* TCP takes no more, so the engine waits with a burst; then the QPs fail, and are kept */
static void failed_streams_keep_no_blocks(void)
{
	static const struct ibv_qp_cap cap = {
		.max_send_wr = DEEP, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
	};
	static const struct want base_a = { .cap = cap, .share = &a };
	static const struct want base_b = { .cap = cap, .share = &b };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	long before, used;
	int i, k;

	pair_up(&(struct want){ .buf_len = MUCH }, &(struct want){ .buf_len = MUCH });
	for (i = 0; i < CONNECTIONS; i++) {
		connect_ends(&x[i], &y[i], IP_A, IP_B, &base_a, &base_b);
		send_one(&x[i], &y[i]);
	}
	/* the CPUs give back what they keep */
	sleep(5);
	before = free_kib();
	impair("a", "loss 100% limit 10000");
	for (i = 0; i < CONNECTIONS; i++)
		for (k = 0; k < DEEP; k++)
			post_rdma(&x[i], &y[i], IBV_WR_RDMA_WRITE, k, 0, MUCH, 0, 0);
	usleep(300 * 1000);
	used = before - free_kib();
	printf("# %d connections that wait take %ld KiB\n", CONNECTIONS, used);
	expect(used >= CONNECTIONS * BLOCK_KIB);
	for (i = 0; i < CONNECTIONS; i++)
		must(!ibv_modify_qp(x[i].qp, &attr, IBV_QP_STATE));
	mend("a");
	/* TCP tells the peers, in its time; then the CPUs give back what they keep */
	for (i = 0; i < 15 && used >= CONNECTIONS * BLOCK_KIB; i++) {
		sleep(1);
		used = before - free_kib();
		printf("# %d connections that failed take %ld KiB\n", CONNECTIONS, used);
	}
	expect(used < CONNECTIONS * BLOCK_KIB);
	free_all();
	pair_down();
}

static const struct tap_test tests[] = {
	{ "idle__streams_keep_no_send_memory", streams_keep_no_blocks, 60 },
	{ "idle__cpus_give_their_blocks_back", cpus_keep_no_blocks, 60 },
	{ "idle__failed_streams_keep_no_send_memory", failed_streams_keep_no_blocks, 60 },
};

const struct tap_theme idle_theme = { tests, ARRAY_LEN(tests) };
