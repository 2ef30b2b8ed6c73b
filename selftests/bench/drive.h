/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What the files of drive share: its options, the ways to run messages, marks. */
#ifndef BENCH_DRIVE_H
#define BENCH_DRIVE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "mark.h"

#define MAX_QPS		64
#define MAX_DEPTH	1024

/**
 * struct kind - a kind of message
 * @up: connect both ends
 * @run: run so many messages
 * @report: print what else there is to say of the last run
 * @op: of the request, for RDMA
 * @received: the peer posts a receive for each, and waits for it
 */
struct kind {
	const char *name;
	void (*up)(void);
	void (*run)(unsigned int messages);
	void (*report)(void);
	enum ibv_wr_opcode op;
	bool received;
};

extern struct options {
	const struct kind *kind;
	unsigned int size;
	unsigned int messages;
	unsigned int list;
	unsigned int qps;
	unsigned int depth;
	bool polls;
	bool huge;
	bool shares;
} opt;

void rdma_up(void);
void rdma_ping_up(void);
void rdma_run(unsigned int messages);
void rdma_ping(unsigned int messages);
void rdma_shares(void);
void rdma_late(unsigned int rounds);
void rdma_late_report(void);
void tcp_up(void);
void tcp_run(unsigned int messages);
void tcp_ping(unsigned int messages);

static inline void die(const char *what)
{
	fprintf(stderr, "drive: %s (errno %d)\n", what, errno);
	exit(1);
}

#define NEED(condition) do { if (!(condition)) die(#condition); } while (0)

static inline long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

/* A page of returns at the addresses that the plugin knows. */
static inline void marks_up(void)
{
	unsigned char *page = mmap((void *)MARK_TEXT, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	int i;

	NEED(page == (void *)MARK_TEXT);
	for (i = 0; i < 4096; i++)
		page[i] = 0xc3;
}

static inline void mark(uintptr_t at)
{
	((void (*)(void))at)();
}

#endif /* BENCH_DRIVE_H */
