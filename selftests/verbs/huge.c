// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Messages of 2^32 - 1 bytes, the largest length, and what query_port() reports as
 * max_msg_sz. Run by huge.sh.
 *
 *	huge [WORD...]	only the tests whose name holds one of them
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "pair.h"

#define CHUNK		(16u << 20)
#define SPAN		(1ull << 32)
#define LONGEST		UINT32_MAX
#define SECONDS		120

/*
 * 4 GiB of address space: its last chunk has memory of its own, all chunks before it map
 * the same memory.
 */
struct span {
	struct ibv_mr *mr;
	uint8_t *at;
	uint8_t *last;
};

static struct span from, to;

static void span_map(struct span *span, struct end *e)
{
	int fd = memfd_create("huge", 0);
	uint64_t off;

	must(fd >= 0 && !ftruncate(fd, 2 * CHUNK));
	span->at = mmap(NULL, SPAN, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(span->at != MAP_FAILED);
	span->last = span->at + SPAN - CHUNK;
	for (off = 0; off < SPAN; off += CHUNK)
		must(mmap(span->at + off, CHUNK, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fd,
			  span->at + off == span->last ? CHUNK : 0) !=
		     MAP_FAILED);
	close(fd);
	span->mr = ibv_reg_mr(e->pd, span->at, SPAN, ALL_RIGHTS);
	must(span->mr);
}

static void spans_up(struct end *source, struct end *sink)
{
	pair_up(NULL, NULL);
	span_map(&from, source);
	span_map(&to, sink);
	fill(from.at, CHUNK, 1);
	fill(from.last, CHUNK, 2);
}

static void spans_down(void)
{
	must(!ibv_dereg_mr(from.mr) && !ibv_dereg_mr(to.mr));
	pair_down();
}

static struct ibv_sge whole(const struct span *span)
{
	return (struct ibv_sge) { (uintptr_t)span->at, LONGEST, span->mr->lkey };
}

/* poll without a limit but the test's own timeout */
static struct ibv_wc long_awaited_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc = {};
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		usleep(1000);
	must(n == 1);
	return wc;
}

/* the last chunk has the end of the message, and the byte after it is unchanged */
static void expect_arrived(void)
{
	expect(filled(to.at, CHUNK, 1));
	expect(filled(to.last, CHUNK - 1, 2));
	expect_eq(to.last[CHUNK - 1], 0);
}

static void longest_send(void)
{
	struct ibv_sge sink;
	struct ibv_wc wc;

	spans_up(&a, &b);
	sink = whole(&to);
	post_recv_sge(&b, 1, &sink, 1);
	post_at(&a, IBV_WR_SEND, 0, 0, whole(&from));
	wc = long_awaited_wc(b.rcq);
	expect_eq(wc.status, IBV_WC_SUCCESS);
	expect_eq(wc.byte_len, LONGEST);
	expect_wc(a.scq, IBV_WR_SEND, IBV_WC_SUCCESS);
	expect_arrived();
	spans_down();
}

/* a writes or reads LONGEST bytes of b's memory */
static void longest_rdma(enum ibv_wr_opcode op)
{
	bool read = op == IBV_WR_RDMA_READ;
	struct span *mine = read ? &to : &from, *theirs = read ? &from : &to;

	spans_up(read ? &b : &a, read ? &a : &b);
	/* the Send after a Write shows that the Write is placed */
	post_recv(&b, 2, 0, 0);
	post_at(&a, op, theirs->mr->rkey, (uintptr_t)theirs->at, whole(mine));
	expect_eq(long_awaited_wc(a.scq).status, IBV_WC_SUCCESS);
	post_send(&a, 2, 0, 0, IBV_SEND_SIGNALED);
	expect_eq(long_awaited_wc(b.rcq).status, IBV_WC_SUCCESS);
	expect_wc(a.scq, 2, IBV_WC_SUCCESS);
	expect_arrived();
	spans_down();
}

static void longest_write(void)
{
	longest_rdma(IBV_WR_RDMA_WRITE);
}

static void longest_read(void)
{
	longest_rdma(IBV_WR_RDMA_READ);
}

static const struct tap_test tests[] = {
	{ "Send of 2^32 - 1 bytes", longest_send, SECONDS },
	{ "Write of 2^32 - 1 bytes", longest_write, SECONDS },
	{ "Read of 2^32 - 1 bytes", longest_read, SECONDS },
};

int main(int argc, char **argv)
{
	static const struct tap_theme theme = { tests, ARRAY_LEN(tests) };

	enter_netns(NULL);
	return tap_run((const struct tap_theme *[]) { &theme, NULL },
		       argc - 1, argv + 1);
}
