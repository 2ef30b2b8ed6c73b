// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * When queues have room again: a program may post until there is none, and polls only
 * then. A CQ as long as the queues that complete there never overflows by that.
 */
#include <errno.h>
#include <unistd.h>

#include "queue_verbs.h"

#define DEPTH	16
#define ROUNDS	10
/* for how long a queue without room is tried again, while its entries complete */
#define TRIES	200

static const struct want same = {
	.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH }, .cqe = DEPTH,
};

static int write_one(struct end *e, int flags)
{
	struct ibv_sge sge = sge_at(e, 0, 8);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = flags,
		.wr.rdma = { (uintptr_t)b.buf, b.mr->rkey },
	};

	return try_send(e, &wr);
}

static int signalled(struct end *e)
{
	return write_one(e, IBV_SEND_SIGNALED);
}

static int receive(struct end *e)
{
	struct ibv_recv_wr wr = {}, *bad;

	return ibv_post_recv(e->qp, &wr, &bad);
}

/* post as long as there is room, until there has been none for some time; Return: how many */
static int fill_up(struct end *e, int (*post_one)(struct end *e))
{
	int tries = 0, n = 0, err;

	while (tries < TRIES && n < 100 * DEPTH) {
		err = post_one(e);
		if (!err) {
			n++;
			continue;
		}
		must(err == ENOMEM);
		tries++;
		usleep(100);
	}
	return n;
}

static void expect_polled(struct ibv_cq *cq, int n)
{
	struct ibv_wc wc;

	while (n--) {
		wc = next_wc(cq);
		expect_eq(wc.status, IBV_WC_SUCCESS);
	}
}

/* the queues have at least the entries that were asked for, and the CQs as many */
static void up(void)
{
	pair_up(&same, &same);
	must(a.scq->cqe == (int)a.cap.max_send_wr && b.rcq->cqe == (int)b.cap.max_recv_wr);
}

static void down(void)
{
	expect(state_of(&a) == IBV_QPS_RTS && state_of(&b) == IBV_QPS_RTS);
	expect(no_async(&a));
	pair_down();
}

static void of_sends(void)
{
	int depth, round;

	up();
	depth = a.cap.max_send_wr;
	for (round = 0; round < ROUNDS; round++) {
		expect_eq(fill_up(&a, signalled), depth);
		expect_polled(a.scq, depth);
	}
	expect(no_wc(a.scq));
	/* as many as were polled */
	expect_eq(fill_up(&a, signalled), depth);
	expect_polled(a.scq, 3);
	expect_eq(fill_up(&a, signalled), 3);
	expect_polled(a.scq, depth);
	down();
}

/* a depth that is no power of two: with more entries the CQ that was asked for overflows */
static void of_the_sends_asked_for(void)
{
	static const struct want odd = { .cap = { .max_send_wr = DEPTH + 8 }, .cqe = DEPTH + 8 };

	pair_up(&odd, NULL);
	expect_eq(a.cap.max_send_wr, DEPTH + 8);
	expect_eq(fill_up(&a, signalled), DEPTH + 8);
	expect_polled(a.scq, DEPTH + 8);
	down();
}

static void of_receives(void)
{
	int depth, round, i;

	up();
	depth = b.cap.max_recv_wr;
	expect_eq(fill_up(&b, receive), depth);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < depth; i++) {
			post_send(&a, i, 0, 0, IBV_SEND_SIGNALED);
			expect_wc(a.scq, i, IBV_WC_SUCCESS);
		}
		expect_eq(fill_up(&b, receive), 0);
		expect_polled(b.rcq, 1);
		expect_eq(fill_up(&b, receive), 1);
		expect_polled(b.rcq, depth - 1);
		expect_eq(fill_up(&b, receive), depth - 1);
	}
	down();
}

static int unsignalled(struct end *e)
{
	return write_one(e, 0);
}

/* no completion, so no poll: room comes by itself */
static void of_unsignalled_sends(void)
{
	int n = 0;

	up();
	while (n < ROUNDS * DEPTH) {
		int err = unsignalled(&a);

		must(!err || err == ENOMEM);
		n += !err;
	}
	while (signalled(&a))
		usleep(100);
	expect_polled(a.scq, 1);
	down();
}

/* entries that a CQ lost make room, too: what follows is flushed, not refused for ever */
static void of_lost_completions(void)
{
	static const struct want shorter = { .cap.max_send_wr = 2 * DEPTH, .cqe = DEPTH };
	int i;

	pair_up(&shorter, NULL);
	for (i = 0; i < 10 * DEPTH; i++) {
		int tries = 10 * TRIES, err;

		while ((err = signalled(&a)) == ENOMEM && --tries)
			usleep(100);
		must(!err);
	}
	expect_async(&a, IBV_EVENT_CQ_ERR);
	expect_error_state(&a);
	pair_down();
}

/* the next QP of the CQs finds room for all of its completions */
static void of_a_destroyed_qp(void)
{
	int depth;

	up();
	depth = a.cap.max_send_wr;
	expect_eq(fill_up(&a, signalled), depth);
	expect_eq(fill_up(&a, receive), (int)a.cap.max_recv_wr);
	rdma_destroy_qp(a.id);
	a.qp = NULL;
	expect(no_wc(a.scq));
	expect(no_wc(a.rcq));
	expect(no_async(&a));
	pair_down();
}

static const struct tap_test tests[] = {
	{ "room__of_sends_comes_when_they_are_polled", of_sends },
	{ "room__of_sends_is_what_was_asked_for", of_the_sends_asked_for },
	{ "room__of_receives_comes_when_they_are_polled", of_receives },
	{ "room__of_unsignalled_sends_comes_by_itself", of_unsignalled_sends },
	{ "room__of_the_cq_comes_when_a_qp_is_destroyed", of_a_destroyed_qp },
	{ "room__of_lost_completions_comes_by_itself", of_lost_completions },
};

const struct tap_theme room_theme = { tests, ARRAY_LEN(tests) };
