// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* RDMA between the ends of drive.c: QPs between the same two devices, with CQs in common. */
#include <limits.h>
#include <string.h>

#include "drive.h"
#include "../verbs/conn.h"

#define PORT 18515

/*
 * A host: the completion queue that it waits for, whether it is armed, and its ends.
 * @open: requests without a completion, of each QP
 */
static struct host {
	struct end end[MAX_QPS];
	struct ibv_cq *cq;
	bool armed;
	unsigned int open[MAX_QPS];
	unsigned int all_open;
} a, b;

static unsigned int to_post;
/* requests of a that completed, by QP */
static unsigned int done[MAX_QPS];

/* ---- connecting -------------------------------------------------------------- */

static void build(struct host *h, int i)
{
	unsigned int room = opt.depth * opt.qps;
	struct want want = {
		.cap = { .max_send_wr = opt.depth, .max_recv_wr = opt.depth },
		.cqe = room, .buf_len = opt.size < 4096 ? 4096 : opt.size,
		.map_flags = opt.huge ? MAP_HUGETLB : 0,
		.access = ALL_RIGHTS,
		.share = i ? &h->end[0] : NULL, .cqs = i ? &h->end[0] : NULL,
	};

	if (opt.kind->op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		want.access |= IBV_ACCESS_REMOTE_ATOMIC;
	NEED(!end_build(&h->end[i], &want));
}

static void connect_qp(int i)
{
	static const struct want depths = { .ird = 16, .ord = 16 };
	struct end listener;

	NEED(!enter_netns("b"));
	NEED(!end_listen(&listener, getenv("IP_B"), PORT + i));
	NEED(!enter_netns("a"));
	NEED(!end_resolve(&a.end[i], getenv("IP_B"), PORT + i, getenv("IP_A")));
	build(&a, i);
	NEED(!end_connect(&a.end[i], &depths));
	NEED(!end_request(&listener, &b.end[i]));
	build(&b, i);
	NEED(!end_accept(&b.end[i], &depths));
	NEED(!end_expect(&a.end[i], RDMA_CM_EVENT_ESTABLISHED));
	NEED(!end_expect(&b.end[i], RDMA_CM_EVENT_ESTABLISHED));
	end_free(&listener);
}

/* ---- posting ------------------------------------------------------------------ */

static struct ibv_sge all_of(const struct end *e)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)e->buf, .length = opt.size, .lkey = e->mr->lkey,
	};
}

static void post_recv(struct host *h, unsigned int i)
{
	struct ibv_sge sge = all_of(&h->end[i]);
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	NEED(!ibv_post_recv(h->end[i].qp, &wr, &bad));
}

static void aim(struct ibv_send_wr *wr, const struct end *peer)
{
	uint64_t addr = (uintptr_t)peer->buf;

	if (opt.kind->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = addr;
		wr->wr.atomic.rkey = peer->mr->rkey;
		wr->wr.atomic.compare_add = 1;
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = peer->mr->rkey;
	}
}

/* the last request's completion stands for all */
static void post_list(struct host *h, const struct host *peer, unsigned int i)
{
	struct ibv_sge sge = all_of(&h->end[i]);
	struct ibv_send_wr wr[MAX_DEPTH], *bad;
	unsigned int k;

	for (k = 0; k < opt.list; k++) {
		wr[k] = (struct ibv_send_wr) {
			.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = opt.kind->op,
			.next = k + 1 < opt.list ? &wr[k + 1] : NULL,
			.send_flags = k + 1 < opt.list ? 0 : IBV_SEND_SIGNALED,
		};
		aim(&wr[k], &peer->end[i]);
	}
	NEED(!ibv_post_send(h->end[i].qp, wr, &bad));
}

static void opened(struct host *h, unsigned int i, int n)
{
	h->open[i] += n;
	h->all_open += n;
}

static bool has_room(unsigned int i)
{
	unsigned int most = a.open[i] > b.open[i] ? a.open[i] : b.open[i];

	return to_post >= opt.list && most + opt.list <= opt.depth;
}

static void post_all(void)
{
	unsigned int i;

	for (i = 0; i < opt.qps; i++) {
		while (has_room(i)) {
			post_list(&a, &b, i);
			opened(&a, i, opt.list);
			if (opt.kind->received)
				opened(&b, i, opt.list);
			to_post -= opt.list;
		}
	}
}

/* ---- completions ---------------------------------------------------------------- */

static void completed(struct host *h, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		die(ibv_wc_status_str(wc->status));
	if (h->cq == h->end[0].rcq) {
		opened(h, wc->wr_id, -1);
		post_recv(h, wc->wr_id);
	} else {
		opened(h, wc->wr_id, -opt.list);
		done[wc->wr_id] += opt.list;
	}
}

static bool reap(struct host *h)
{
	struct ibv_wc wc[16];
	int n, i, all = 0;

	while ((n = ibv_poll_cq(h->cq, 16, wc)) > 0) {
		for (i = 0; i < n; i++)
			completed(h, &wc[i]);
		all += n;
	}
	return all;
}

/* Ask for an event at the next completion, and take those that came before. */
static void arm(struct host *h)
{
	if (opt.polls || h->armed)
		return;
	NEED(!ibv_req_notify_cq(h->cq, 0));
	h->armed = true;
	reap(h);
}

static void take_event(struct host *h)
{
	struct ibv_cq *cq;
	void *context;

	NEED(!ibv_get_cq_event(h->end[0].comp, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	h->armed = false;
}

/* wait until no request is left, or some completed after @h was armed */
static void wait_at(struct host *h)
{
	unsigned int before = h->all_open;

	while (h->all_open && h->all_open == before) {
		if (!opt.polls)
			take_event(h);
		if (!reap(h))
			arm(h);
	}
}

/* ---- runs ------------------------------------------------------------------------- */

void rdma_up(void)
{
	unsigned int i, k;

	for (i = 0; i < opt.qps; i++)
		connect_qp(i);
	a.cq = a.end[0].scq;
	b.cq = b.end[0].rcq;
	for (i = 0; i < opt.qps; i++) {
		for (k = 0; k < opt.depth; k++)
			post_recv(&b, i);
	}
}

/*
 * Armed before the messages go, so that an event comes for each burst; the Sends' own
 * completions are waited for where they keep the queue full.
 */
void rdma_run(unsigned int messages)
{
	struct host *waits;

	memset(done, 0, sizeof(done));
	to_post = messages / opt.list * opt.list;
	while (to_post || a.all_open || b.all_open) {
		waits = opt.kind->received ? &b : &a;
		arm(waits);
		post_all();
		if (!waits->all_open) {
			waits = &a;
			arm(&a);
		}
		wait_at(waits);
		reap(&a);
	}
}

/* ---- a program that stops -------------------------------------------------------- */

#define STREAM	2048	/* so many Writes take back what the backstop holds against the program */
#define LAST	32	/* not polled for: less than what is posted without a doorbell */
#define AT	2048	/* of the buffers, what the last Write writes */
#define MAX_ROUNDS 10000

static long waited[MAX_ROUNDS];
static unsigned int nr_waited;

static void post_last(uint64_t round)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a.end[0].buf + AT, .length = sizeof(round),
		.lkey = a.end[0].mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	memcpy(a.end[0].buf + AT, &round, sizeof(round));
	aim(&wr, &b.end[0]);
	wr.wr.rdma.remote_addr += AT;
	NEED(!ibv_post_send(a.end[0].qp, &wr, &bad));
	opened(&a, 0, 1);
}

static long stop_after(uint64_t round)
{
	const uint64_t *there = (const void *)(b.end[0].buf + AT);
	unsigned int i;
	long start;

	for (i = 1; i < LAST; i++) {
		post_list(&a, &b, 0);
		opened(&a, 0, 1);
	}
	post_last(round);
	start = now_ns();
	while (__atomic_load_n(there, __ATOMIC_ACQUIRE) != round)
		;
	return now_ns() - start;
}

void rdma_late(unsigned int rounds)
{
	static uint64_t round;

	NEED(opt.polls && opt.list == 1 && opt.qps == 1 && opt.depth > LAST && opt.size <= AT &&
	     rounds <= MAX_ROUNDS);
	for (nr_waited = 0; nr_waited < rounds; nr_waited++) {
		rdma_run(STREAM);
		waited[nr_waited] = stop_after(++round);
		while (a.all_open)
			reap(&a);
	}
}

static int compare(const void *x, const void *y)
{
	long left = *(const long *)x, right = *(const long *)y;

	return (left > right) - (left < right);
}

void rdma_late_report(void)
{
	qsort(waited, nr_waited, sizeof(*waited), compare);
	printf("least %.1f median %.1f most %.1f us\n", waited[0] / 1e3,
	       waited[nr_waited / 2] / 1e3, waited[nr_waited - 1] / 1e3);
}

void rdma_shares(void)
{
	unsigned int least = UINT_MAX, most = 0, all = 0, i;

	for (i = 0; i < opt.qps; i++) {
		least = done[i] < least ? done[i] : least;
		most = done[i] > most ? done[i] : most;
		all += done[i];
	}
	printf("least %.0f%% most %.0f%%\n", 100.0 * least * opt.qps / all,
	       100.0 * most * opt.qps / all);
}

/* The Sends' own completions are taken when they are there. */
static void pass(struct host *from, struct host *to)
{
	struct ibv_wc wc[4];

	arm(to);
	opened(to, 0, 1);
	post_list(from, to, 0);
	wait_at(to);
	while (ibv_poll_cq(from->end[0].scq, 4, wc) > 0)
		NEED(wc->status == IBV_WC_SUCCESS);
}

/* a message is one way */
void rdma_ping(unsigned int messages)
{
	for (; messages > 1; messages -= 2) {
		pass(&a, &b);
		pass(&b, &a);
	}
}

void rdma_ping_up(void)
{
	unsigned int k;

	rdma_up();
	a.cq = a.end[0].rcq;
	for (k = 0; k < opt.depth; k++)
		post_recv(&a, 0);
}
