// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Find the rings that the provider mapped: the mappings of the uverbs device in
 * /proc/self/maps that appear when a QP is created.
 */
#include "vandal.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_MAPS 512

/* ---- the rings -------------------------------------------------------------- */

struct map {
	uintptr_t start;
	size_t len;
};

/* read the mappings of a's device */
static int read_maps(struct map *maps)
{
	const char *device = a.id->verbs->device->dev_name;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	must(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long start, end;

		if (!strstr(line, device) || n == MAX_MAPS ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		maps[n++] = (struct map){ start, end - start };
	}
	fclose(f);
	return n;
}

static struct map before[MAX_MAPS], after[MAX_MAPS];
static int n_before;

static void mark(void)
{
	n_before = read_maps(before);
}

static bool is_new(const struct map *m)
{
	int i;

	for (i = 0; i < n_before; i++) {
		if (before[i].start == m->start)
			return false;
	}
	return true;
}

struct tern_ring_hdr *scq, *rcq, *sq, *rq;

/*
 * A QP of a's device beside the pair: its rings are the new mappings. Their sizes tell
 * them apart, and, for the two CQs, the one that a completion changes.
 */
struct end v;	/* the vandal, connected to @w */
struct end w;

static int new_maps(struct map *out)
{
	int n = read_maps(after), i, k = 0;

	for (i = 0; i < n; i++) {
		if (is_new(&after[i]))
			out[k++] = after[i];
	}
	return k;
}

uint32_t sq_stride, rq_stride;
static uint32_t sq_entries;

size_t ring_bytes(uint32_t n, uint32_t stride)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (TERN_RING_DATA + (size_t)n * stride + page - 1) & ~(page - 1);
}

static void find_rings(void)
{
	struct map maps[MAX_MAPS];
	int n, i;

	n = new_maps(maps);
	scq = NULL;
	rcq = NULL;
	sq = NULL;
	rq = NULL;
	for (i = 0; i < n; i++) {
		void *p = (void *)maps[i].start;

		if (maps[i].len == ring_bytes(sq_entries, sq_stride))
			sq = p;
		else if (maps[i].len == ring_bytes(ENTRIES, rq_stride))
			rq = p;
		else if (maps[i].len == ring_bytes(CQ_ENTRIES, 64) && scq)
			rcq = p;
		else if (maps[i].len == ring_bytes(CQ_ENTRIES, 64))
			scq = p;
	}
	must(scq && rcq && sq && rq);
}

void refind_scq(uint32_t cqe)
{
	struct map maps[MAX_MAPS];
	int n = new_maps(maps), i;

	scq = NULL;
	for (i = 0; i < n; i++) {
		if (maps[i].len == ring_bytes(cqe, 64) &&
		    maps[i].start != (uintptr_t)rcq)
			scq = (void *)maps[i].start;
	}
	must(scq);
}

/* the send CQ is the one that the completion of a Write changes */
static void tell_cqs_apart(void)
{
	post_rdma(&v, &w, IBV_WR_RDMA_WRITE, 1, 0, 8, 0, IBV_SEND_SIGNALED);
	expect_wc(v.scq, 1, IBV_WC_SUCCESS);
	if (rcq->prod) {
		struct tern_ring_hdr *tmp = rcq;

		rcq = scq;
		scq = tmp;
	}
	must(scq->prod == 1 && !rcq->prod);
}

/* the pair; Return: what v is to have */
static struct want before_v(uint32_t send_entries)
{
	sq_entries = send_entries;
	sq_stride = 320;
	rq_stride = 128;
	pair_up(NULL, NULL);
	mark();
	/* 16 SGEs: 48 + 256 in steps of 64; receives: 16 + 4 * 16 */
	return (struct want) {
		.cap = { .max_send_wr = send_entries, .max_recv_wr = ENTRIES,
			 .max_send_sge = 16, .max_recv_sge = 4,
			 .max_inline_data = 256 },
		.cqe = CQ_ENTRIES,
	};
}

void vandal_up_with(uint32_t send_entries)
{
	struct want want = before_v(send_entries);

	connect_ends(&v, &w, IP_A, IP_B, &want, NULL);
	find_rings();
	tell_cqs_apart();
}

void vandal_alone(uint32_t send_entries)
{
	struct want want = before_v(send_entries);

	must(!enter_netns("a"));
	must(!end_resolve(&v, IP_B, 8600, IP_A));
	must(!enter_netns(NULL));
	must(!end_build(&v, &want));
	find_rings();
}

void vandal_alone_down(void)
{
	expect_unharmed();
	end_free(&v);
	pair_down();
}

void vandal_up(void)
{
	vandal_up_with(ENTRIES);
}

/* ---- the doorbell ------------------------------------------------------------- */

/* find the provider's doorbell file by its name; it is opened after the context */
int doorbell_fd(void)
{
	char path[64], name[128];
	ssize_t n;
	int fd;

	for (fd = a.id->verbs->cmd_fd + 1; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, name, sizeof(name) - 1);
		if (n <= 0)
			continue;
		name[n] = 0;
		if (strstr(name, "tern_doorbell"))
			return fd;
	}
	return -1;
}

int ring(uint32_t qpn)
{
	return ioctl(doorbell_fd(), TERN_IOC_DOORBELL, (unsigned long)qpn) ?
	       errno : 0;
}

void publish(struct tern_ring_hdr *hdr, uint32_t prod)
{
	__atomic_store_n(&hdr->prod, prod, __ATOMIC_SEQ_CST);
	ring(v.qp->qp_num);
}

struct tern_sqe *sqe_at(uint32_t index)
{
	return (void *)((uint8_t *)sq + TERN_RING_DATA +
			(index % sq_entries) * sq_stride);
}

struct tern_rqe *rqe_at(uint32_t index)
{
	return (void *)((uint8_t *)rq + TERN_RING_DATA +
			(index % ENTRIES) * rq_stride);
}

/* ---- checks ---------------------------------------------------------------------- */

/* the pair on the same device still works */
void expect_unharmed(void)
{
	static uint32_t seed;

	fill(a.buf, 5000, ++seed);
	post_recv(&b, seed, 0, 5000);
	post_send(&a, seed, 0, 5000, IBV_SEND_SIGNALED);
	expect_wc(a.scq, seed, IBV_WC_SUCCESS);
	expect_recv(&b, seed, 5000);
	expect(filled(b.buf, 5000, seed));
}

void vandal_down(void)
{
	expect_unharmed();
	end_free(&v);
	end_free(&w);
	expect_unharmed();
	pair_down();
}

/* both v and its peer are in ERROR */
void expect_caught(void)
{
	expect_error_state(&v);
	expect_error_state(&w);
	vandal_down();
}
