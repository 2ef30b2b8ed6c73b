// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The provider's posts without a doorbell: each point at which it rings. The kernel here
 * has no timer, so a request for which nobody rings is lost. Tables of
 * Documentation/decisions.rst, "A doorbell stands for many posts".
 */

#include <sched.h>

#include "provider_fake.h"

#define DEPTH		128
#define PROOF		8	/* requests that ring before a run is believed */
#define LONG_BATCH	16

static struct tern_qp *qp;
static struct tern_cq *scq, *rcq;

static struct tern_qp *make_lazy_qp(struct tern_cq *send, struct tern_cq *recv)
{
	struct tern_qp *new = make_qp();

	free(new->sq.ring.hdr);
	make_ring(&new->sq.ring, DEPTH, SQ_STRIDE, DEPTH, 0);
	tern_lazy_init(new, send, recv);
	return new;
}

static void up(void)
{
	scq = make_cq_at(16, 0);
	rcq = make_cq_at(16, 0);
	scq->ring.hdr->flags = TERN_CQ_ARM_NONE;
	rcq->ring.hdr->flags = TERN_CQ_ARM_NONE;
	qp = make_lazy_qp(scq, rcq);
}

static void down(void)
{
	tern_lazy_exit(qp);
	free_qp(qp);
	free_cq(scq);
	free_cq(rcq);
}

/* what the kernel shows when its drain ends, after a doorbell with MORE or another */
static void show(uint32_t flags)
{
	qp->sq.ring.hdr->flags = flags;
}

/* the kernel takes all entries */
static void drained(struct tern_qp *of)
{
	of->sq.ring.hdr->cons = of->sq.ring.hdr->prod;
}

static int post_one(uint32_t length)
{
	struct ibv_sge sge = { .length = length };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 };

	return post(qp, &wr);
}

/* Return: the doorbells of @n posts, each of one request of 8 bytes */
static unsigned int posts(unsigned int n)
{
	unsigned int before = bell.rings;

	while (n--)
		expect(!post_one(8));
	return bell.rings - before;
}

/* Return: the doorbells of a poll that finds nothing */
static unsigned int poll_nothing(struct tern_cq *cq)
{
	unsigned int before = bell.rings;
	struct ibv_wc wc;

	expect_eq(tern_cq_poll(&cq->vcq.cq, 1, &wc), 0);
	return bell.rings - before;
}

/* a run that the kernel believes: its requests may be left now */
static void begin_run(void)
{
	show(0);
	expect_eq(posts(PROOF), PROOF);
	expect(!bell.more);
	expect_eq(posts(1), 1);
	expect(bell.more);
	show(TERN_RING_LAZY);
	drained(qp);
}

static void lazy__an_older_kernel_gets_one_doorbell_a_post(void)
{
	up();
	qp->lazy.allowed = false;
	show(0);
	expect_eq(posts(20), 20);
	expect(!bell.more);
	show(TERN_RING_LAZY);
	expect_eq(posts(20), 20);
	expect(!bell.more);
	qp->lazy.allowed = true;
	down();
}

static void lazy__a_run_needs_the_kernels_word(void)
{
	up();
	begin_run();
	show(0);
	expect_eq(posts(20), 20);
	expect(bell.more);
	show(TERN_RING_BUSY);
	expect_eq(posts(20), 0);
	show(TERN_RING_BUSY | TERN_RING_LAZY);
	expect_eq(posts(20), 0);
	down();
}

static void lazy__a_run_leaves_its_requests_to_a_poll_that_finds_nothing(void)
{
	up();
	begin_run();
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(poll_nothing(scq), 1);
	expect(bell.qpn == QPN && bell.more && !bell.locked_then);
	expect_eq(bell.prod_then, PROOF + 1 + LONG_BATCH);
	expect_eq(poll_nothing(scq), 0);
	down();
}

static void lazy__a_poll_of_the_receive_cq_rings_too(void)
{
	up();
	begin_run();
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(poll_nothing(rcq), 1);
	expect_eq(poll_nothing(rcq), 0);
	expect_eq(poll_nothing(scq), 0);
	/* and the QP enters both lists again */
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(poll_nothing(scq), 1);
	down();
}

static void lazy__a_poll_that_leaves_nothing_rings(void)
{
	struct tern_cqe cqe = {};
	struct ibv_wc wc[3];
	int i;

	up();
	begin_run();
	for (i = 0; i < 3; i++)
		complete(scq, &cqe);
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(tern_cq_poll(&scq->vcq.cq, 2, wc), 2);
	expect_eq(bell.rings, PROOF + 1);
	expect_eq(tern_cq_poll(&scq->vcq.cq, 3, wc), 1);
	expect_eq(bell.rings, PROOF + 2);
	down();
}

static void lazy__extended_polls_ring_too(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct tern_cqe cqe = {};
	struct ibv_cq_ex *ex;

	up();
	ex = &scq->vcq.cq_ex;
	begin_run();
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(ex->start_poll(ex, &attr), ENOENT);
	expect_eq(bell.rings, PROOF + 2);
	expect_eq(posts(LONG_BATCH), 0);
	complete(scq, &cqe);
	complete(scq, &cqe);
	expect(!ex->start_poll(ex, &attr));
	expect(!ex->next_poll(ex));
	expect_eq(bell.rings, PROOF + 2);
	ex->end_poll(ex);
	expect_eq(bell.rings, PROOF + 3);
	expect(!cq_is_locked(scq));
	down();
}

static void lazy__a_poll_rings_without_locks(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *ex;

	up();
	ex = &scq->vcq.cq_ex;
	bell.cq = scq;
	begin_run();
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(poll_nothing(scq), 1);
	expect(!bell.locked_then && !bell.cq_locked_then);
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(ex->start_poll(ex, &attr), ENOENT);
	expect_eq(bell.rings, PROOF + 3);
	expect(!bell.locked_then && !bell.cq_locked_then);
	bell.cq = NULL;
	down();
}

/* once the event was raised, and polled for, the CQ counts as armed no more */
static void lazy__polling_after_events_is_lazy_again(void)
{
	up();
	expect(!tern_cq_arm(&scq->vcq.cq, 0));
	show(TERN_RING_LAZY);
	expect_eq(posts(2 * PROOF), 2 * PROOF);
	expect(!bell.more);
	drained(qp);
	scq->ring.hdr->flags = TERN_CQ_ARM_NONE;
	expect_eq(poll_nothing(scq), 0);
	begin_run();
	expect_eq(posts(1), 0);
	expect_eq(poll_nothing(scq), 1);
	down();
}

static void lazy__arming_rings_and_ends_it(void)
{
	struct tern_cq *cqs[2];
	int i;

	up();
	cqs[0] = scq;
	cqs[1] = rcq;
	for (i = 0; i < 2; i++) {
		begin_run();
		expect_eq(posts(LONG_BATCH), 0);
		expect(!tern_cq_arm(&cqs[i]->vcq.cq, i));
		expect_eq(bell.rings, (i + 1) * (PROOF + 2) + 2 * i);
		expect(!bell.more);
		/* the program may sleep after any post */
		expect_eq(posts(1), 1);
		expect(!bell.more);
		/* the event was raised, and the program polls */
		cqs[i]->ring.hdr->flags = TERN_CQ_ARM_NONE;
		drained(qp);
		expect_eq(posts(1), 1);
		expect_eq(poll_nothing(cqs[i]), 0);
	}
	down();
}

static void lazy__half_a_queue_is_not_exceeded(void)
{
	static const struct {
		unsigned int limit, left;
	} rows[] = { { DEPTH, 64 }, { DEPTH - 28, 50 }, { 32, 16 } };
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		up();
		qp->sq.ring.limit = rows[i].limit;
		begin_run();
		expect_eq(posts(rows[i].left), 0);
		expect_eq(posts(1), 1);
		expect(bell.more);
		drained(qp);
		qp->sq.ring.peer = qp->sq.ring.index;
		expect_eq(posts(rows[i].left), 0);
		down();
	}
}

static void lazy__so_many_bytes_are_not_exceeded(void)
{
	struct ibv_sge sge[2] = { { .length = 128 * 1024 - 4 }, { .length = 4 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 2 };
	int i;

	up();
	begin_run();
	for (i = 0; i < 3; i++) {
		expect(!post(qp, &wr));
		expect_eq(bell.rings, PROOF + 1 + i);
		expect(!post(qp, &wr));
		expect_eq(bell.rings, PROOF + 2 + i);
		expect(bell.more);
	}
	sge[0].length = UINT32_MAX;
	expect(!post(qp, &wr));
	expect_eq(bell.rings, PROOF + 5);
	down();
}

/* the kernel takes none: each way to post finds the queue full, and rings */
static void lazy__a_full_queue_rings(void)
{
	struct ibv_mw_bind bind = {};
	struct ibv_mw mw = { .type = IBV_MW_TYPE_1 };
	struct ibv_qp_ex *ex;
	int way;

	for (way = 0; way < 3; way++) {
		up();
		ex = &qp->vqp.qp_ex;
		begin_run();
		qp->sq.ring.hdr->cons = 0;
		expect_eq(posts(DEPTH - PROOF - 1), 1);
		if (way == 0) {
			expect_eq(post_one(8), ENOMEM);
		} else if (way == 1) {
			ex->wr_start(ex);
			ex->wr_send(ex);
			expect_eq(ex->wr_complete(ex), ENOMEM);
		} else {
			expect_eq(tern_qp_bind_mw(&qp->vqp.qp, &mw, &bind), ENOMEM);
		}
		expect_eq(bell.rings, PROOF + 3);
		expect_eq(bell.prod_then, DEPTH);
		expect(!bell.locked_then);
		down();
	}
}

/* whatever the kernel shows, after a stream too, but for the first one that follows it */
static void lazy__a_ping_pong_rings_at_once(void)
{
	struct tern_cqe cqe = {};
	struct ibv_wc wc;
	int i;

	up();
	begin_run();
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(poll_nothing(scq), 1);
	expect_eq(posts(1), 0);
	expect_eq(poll_nothing(scq), 1);
	expect(!bell.more);
	for (i = 0; i < 20; i++) {
		expect_eq(posts(1), 1);
		expect(!bell.more);
		complete(rcq, &cqe);
		expect_eq(tern_cq_poll(&rcq->vcq.cq, 1, &wc), 1);
		drained(qp);
	}
	down();
}

static void lazy__a_small_window_rings_at_once(void)
{
	int i;

	up();
	show(TERN_RING_LAZY);
	for (i = 0; i < 20; i++) {
		expect_eq(posts(PROOF), PROOF);
		expect(!bell.more);
		expect_eq(poll_nothing(scq), 0);
		drained(qp);
	}
	down();
}

static void lazy__after_a_long_batch_a_run_needs_no_proof(void)
{
	up();
	begin_run();
	expect_eq(posts(LONG_BATCH - 1), 0);
	expect_eq(poll_nothing(scq), 1);
	expect_eq(posts(PROOF), PROOF);
	expect_eq(poll_nothing(scq), 0);
	begin_run();
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(poll_nothing(scq), 1);
	expect_eq(posts(3), 0);
	/* a short batch ends that */
	expect_eq(poll_nothing(scq), 1);
	expect(!bell.more);
	expect_eq(posts(PROOF), PROOF);
	down();
}

/* the kernel took its word back: the program did nothing else than before */
static void lazy__a_post_that_rings_alone_changes_nothing(void)
{
	up();
	begin_run();
	expect_eq(posts(LONG_BATCH), 0);
	expect_eq(poll_nothing(scq), 1);
	show(0);
	expect_eq(posts(1), 1);
	expect(bell.more);
	show(TERN_RING_LAZY);
	expect_eq(posts(LONG_BATCH), 0);
	down();
}

static void lazy__a_list_is_as_many_posts(void)
{
	struct ibv_send_wr wr[LONG_BATCH] = {};
	int i;

	for (i = 0; i < LONG_BATCH; i++) {
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i + 1 < LONG_BATCH ? &wr[i + 1] : NULL;
	}
	up();
	expect(!post(qp, wr));
	expect_eq(bell.rings, 1);
	show(TERN_RING_LAZY);
	for (i = 0; i < DEPTH / 2 / LONG_BATCH; i++)
		expect(!post(qp, wr));
	expect_eq(bell.rings, 1);
	drained(qp);
	expect(!post(qp, wr));
	expect_eq(bell.rings, 2);
	down();
}

static struct tern_qp *many[20];	/* each has left a request */

static void many_up(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	unsigned int i;

	up();
	for (i = 0; i < ARRAY_LEN(many); i++) {
		many[i] = make_lazy_qp(scq, rcq);
		many[i]->lazy.quota = 0;
		many[i]->sq.ring.hdr->flags = TERN_RING_LAZY;
	}
	for (i = 0; i < ARRAY_LEN(many); i++)
		expect(!post(many[i], &wr));
	expect_eq(bell.rings, 0);
}

static void end_one(unsigned int i)
{
	tern_lazy_exit(many[i]);
	free_qp(many[i]);
}

static void many_down(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(many); i++)
		end_one(i);
	down();
}

static void lazy__one_poll_rings_for_all_qps_of_the_cq(void)
{
	many_up();
	end_one(3);	/* what it left is the kernel's to send */
	many[3] = make_lazy_qp(scq, rcq);
	expect_eq(poll_nothing(scq), ARRAY_LEN(many) - 1);
	expect_eq(poll_nothing(rcq), 0);
	many_down();
}

/* what another thread does while a flush rings: each QP has something to send again */
static void post_again(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	static unsigned int n;

	many[n % ARRAY_LEN(many)]->lazy.quota = 0;
	expect(!post(many[n++ % ARRAY_LEN(many)], &wr));
}

static void lazy__a_flush_does_not_wait_for_those_who_post(void)
{
	many_up();
	bell.then = post_again;
	expect_eq(poll_nothing(scq), ARRAY_LEN(many));
	bell.then = NULL;
	expect_eq(poll_nothing(scq), ARRAY_LEN(many));
	expect_eq(poll_nothing(scq), 0);
	many_down();
}

/* ---- with other threads --------------------------------------------------------- */

#define RACE_POSTS	20000

static bool over;

static void dawdle(unsigned int *seed)
{
	int turns = rand_r(seed) % 64;

	while (turns--)
		__asm__ volatile("" ::: "memory");
}

/* the kernel's drain: it takes what is there when it is rung, and no more */
static void *drain(void *arg)
{
	struct tern_ring_hdr *hdr = qp->sq.ring.hdr;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		sem_wait(bell.wake);
		__atomic_store_n(&hdr->cons, __atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
	return arg;
}

static void *poll_for_ever(void *arg)
{
	struct ibv_wc wc;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		expect_eq(tern_cq_poll(arg, 1, &wc), 0);
		sched_yield();
	}
	return NULL;
}

/* one thread posts a run, another polls: each request is rung for in the end */
static void lazy__a_poller_in_another_thread_misses_none(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	pthread_t kernel, poller;
	unsigned int seed = 1, n = 0;
	sem_t wake;

	up();
	sem_init(&wake, 0, 0);
	bell.watched = NULL;
	bell.wake = &wake;
	over = false;
	show(TERN_RING_LAZY);
	pthread_create(&kernel, NULL, drain, NULL);
	pthread_create(&poller, NULL, poll_for_ever, &scq->vcq.cq);
	while (n < RACE_POSTS) {
		__atomic_store_n(&qp->lazy.quota, 0, __ATOMIC_RELAXED);
		if (!tern_qp_post_send(&qp->vqp.qp, &wr, &bad))
			n++;
		/* the race is with a poll that takes the QP off its list */
		while (n % 8 == 0 && __atomic_load_n(&qp->sq.ring.hdr->cons,
						     __ATOMIC_ACQUIRE) != qp->sq.ring.index)
			sched_yield();
		dawdle(&seed);
	}
	over = true;
	sem_post(&wake);
	pthread_join(poller, NULL);
	pthread_join(kernel, NULL);
	expect(bell.rings <= RACE_POSTS + RACE_POSTS / 8);
	sem_destroy(&wake);
	bell.wake = NULL;
	down();
}

static pthread_barrier_t start, end;

static void *arm_for_ever(void *arg)
{
	unsigned int seed = 2;

	for (;;) {
		pthread_barrier_wait(&start);
		if (over)
			return NULL;
		dawdle(&seed);
		tern_cq_arm(arg, 0);
		pthread_barrier_wait(&end);
	}
}

/* a thread arms while another posts: one of them rings, with both done */
static void lazy__a_post_beside_an_arming_rings(void)
{
	struct tern_ring_hdr *hdr;
	unsigned int seed = 1, i;
	pthread_t armer;

	up();
	hdr = scq->ring.hdr;
	bell.watched = NULL;
	over = false;
	pthread_barrier_init(&start, NULL, 2);
	pthread_barrier_init(&end, NULL, 2);
	show(TERN_RING_LAZY);
	pthread_create(&armer, NULL, arm_for_ever, &scq->vcq.cq);
	for (i = 0; i < RACE_POSTS; i++) {
		/* nothing is armed, and nothing left */
		hdr->flags = TERN_CQ_ARM_NONE;
		poll_nothing(scq);
		qp->lazy.quota = 0;
		bell.rings = 0;
		pthread_barrier_wait(&start);
		dawdle(&seed);
		expect(!post_one(8));
		pthread_barrier_wait(&end);
		expect(bell.rings);
		drained(qp);
	}
	over = true;
	pthread_barrier_wait(&start);
	pthread_join(armer, NULL);
	down();
}

static const struct tap_test tests[] = {
	TEST(lazy__an_older_kernel_gets_one_doorbell_a_post),
	TEST(lazy__a_run_needs_the_kernels_word),
	TEST(lazy__a_run_leaves_its_requests_to_a_poll_that_finds_nothing),
	TEST(lazy__a_poll_of_the_receive_cq_rings_too),
	TEST(lazy__a_poll_that_leaves_nothing_rings),
	TEST(lazy__extended_polls_ring_too),
	TEST(lazy__a_poll_rings_without_locks),
	TEST(lazy__polling_after_events_is_lazy_again),
	TEST(lazy__arming_rings_and_ends_it),
	TEST(lazy__half_a_queue_is_not_exceeded),
	TEST(lazy__so_many_bytes_are_not_exceeded),
	TEST(lazy__a_full_queue_rings),
	TEST(lazy__a_ping_pong_rings_at_once),
	TEST(lazy__a_small_window_rings_at_once),
	TEST(lazy__after_a_long_batch_a_run_needs_no_proof),
	TEST(lazy__a_post_that_rings_alone_changes_nothing),
	TEST(lazy__a_list_is_as_many_posts),
	TEST(lazy__one_poll_rings_for_all_qps_of_the_cq),
	TEST(lazy__a_flush_does_not_wait_for_those_who_post),
	TEST(lazy__a_poller_in_another_thread_misses_none),
	TEST(lazy__a_post_beside_an_arming_rings),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
