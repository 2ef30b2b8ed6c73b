// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Messages between two ends in one process, which waits for each in turn: what is counted
 * does not depend on the scheduler.
 *
 *	drive KIND [-s SIZE] [-n MESSAGES] [-l LIST] [-q QPS] [-d DEPTH] [-p] [-H] [-f]
 *
 * KIND is one of kinds[]. LIST requests are posted by a call, the last one signalled; DEPTH
 * messages are outstanding on each QP. Completions are waited for by events, with -p by
 * polling. First a quarter of the messages goes uncounted; the rest, MESSAGES, between
 * marks that a plugin of QEMU sees (mark.h). Printed: MESSAGES, and nanoseconds for each,
 * which are instructions where the clock is one of instructions. -H: the buffers of RDMA
 * are huge pages. -f, for all but pings and TCP, prints one line more: how many messages the
 * QP with the fewest had, and that with the most, in percent of the mean.
 *
 * A message of the kind `late` is a stream of Writes, whose end the program neither polls for nor
 * rings: it spins on the peer's memory, as the peer would. How long the last Write took is printed.
 *
 * The hosts are the network namespaces a and b, the addresses IP_A and IP_B.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "drive.h"

struct options opt = {
	.size = 8, .messages = 1000, .list = 1, .qps = 1, .depth = 16,
};

static const struct kind kinds[] = {
	{ "send", rdma_up, rdma_run, NULL, IBV_WR_SEND, true },
	{ "write", rdma_up, rdma_run, NULL, IBV_WR_RDMA_WRITE },
	{ "read", rdma_up, rdma_run, NULL, IBV_WR_RDMA_READ },
	{ "fetch-add", rdma_up, rdma_run, NULL, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "ping", rdma_ping_up, rdma_ping, NULL, IBV_WR_SEND, true },
	{ "late", rdma_up, rdma_late, rdma_late_report, IBV_WR_RDMA_WRITE },
	{ "tcp", tcp_up, tcp_run },
	{ "tcp-ping", tcp_up, tcp_ping },
};

static void choose_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, name))
			opt.kind = &kinds[i];
	}
	if (!opt.kind)
		die("no such kind");
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "s:n:l:q:d:pHf")) != -1) {
		switch (c) {
		case 's':
			opt.size = atoi(optarg);
			break;
		case 'n':
			opt.messages = atoi(optarg);
			break;
		case 'l':
			opt.list = atoi(optarg);
			break;
		case 'q':
			opt.qps = atoi(optarg);
			break;
		case 'd':
			opt.depth = atoi(optarg);
			break;
		case 'p':
			opt.polls = true;
			break;
		case 'H':
			opt.huge = true;
			break;
		case 'f':
			opt.shares = true;
			break;
		default:
			die("usage: see the top of drive.c");
		}
	}
	if (optind + 1 != argc || opt.qps > MAX_QPS || opt.list > opt.depth ||
	    opt.depth > MAX_DEPTH || !opt.list || !opt.qps)
		die("usage: see the top of drive.c");
	choose_kind(argv[optind]);
	if ((opt.shares && opt.kind->run != rdma_run) || (opt.huge && opt.kind->up == tcp_up))
		die("not for this kind");
}

int main(int argc, char **argv)
{
	long start;

	parse(argc, argv);
	opt.kind->up();
	marks_up();
	opt.kind->run(opt.messages / 4);
	start = now_ns();
	mark(MARK_BEGIN);
	opt.kind->run(opt.messages);
	mark(MARK_END);
	printf("%u %.1f\n", opt.messages, (double)(now_ns() - start) / opt.messages);
	if (opt.shares)
		rdma_shares();
	if (opt.kind->report)
		opt.kind->report();
	return 0;
}
