// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* A program that posts entries without end, which are executed or flushed and send nothing. */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "hostile.h"

#define MANY		32768
/* outside of the program's calls: 256 a tick are 25,600, with Debian's kernel 64,000 */
#define MOST_A_SECOND	150000

#define ROUNDS		5

static bool stop, enough, returned;

static void *refill(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		__atomic_store_n(&sq->prod, __atomic_load_n(&sq->cons, __ATOMIC_RELAXED) + MANY,
				 __ATOMIC_SEQ_CST);
	return arg;
}

static void *ring_on(void *arg)
{
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED))
		ring(v.qp->qp_num);
	__atomic_store_n(&returned, true, __ATOMIC_RELAXED);
	return arg;
}

static void ignore(int sig)
{
	(void)sig;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* entries a second that are executed in about so many microseconds */
static uint32_t executed(unsigned int us)
{
	uint32_t n, from = __atomic_load_n(&sq->cons, __ATOMIC_RELAXED);
	double began = seconds();

	usleep(us);
	n = __atomic_load_n(&sq->cons, __ATOMIC_RELAXED) - from;
	return n / (seconds() - began);
}

/* Return: entries a second that are executed after the last call was interrupted */
static uint32_t executed_for_nobody(void)
{
	pthread_t ringer;
	uint32_t here, later;

	enough = false;
	returned = false;
	must(!pthread_create(&ringer, NULL, ring_on, NULL));
	here = executed(100000);
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&returned, __ATOMIC_RELAXED)) {
		pthread_kill(ringer, SIGUSR1);
		usleep(1000);
	}
	must(!pthread_join(ringer, NULL));
	later = executed(300000);
	printf("#   %u entries a second in calls, %u without\n", here, later);
	return later;
}

/* a vandal whose ring never runs out of entries that send nothing */
static struct ibv_mw *locals_up(pthread_t *filler)
{
	struct ibv_mw *mw;
	uint32_t i, from;

	vandal_up_with(MANY);
	from = sq->prod;
	mw = ibv_alloc_mw(v.pd, IBV_MW_TYPE_2);
	must(mw);
	for (i = 0; i < MANY; i++) {
		put_rdma(i, TERN_WR_LOCAL_INV, 0);
		sqe_at(i)->ex = mw->rkey;
	}
	stop = false;
	must(!pthread_create(filler, NULL, refill, NULL));
	while (__atomic_load_n(&sq->prod, __ATOMIC_RELAXED) == from)
		usleep(100);
	return mw;
}

static void locals_down(pthread_t filler, struct ibv_mw *mw)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	must(!pthread_join(filler, NULL));
	expect_eq(state_of(&v), IBV_QPS_RTS);
	must(!ibv_dealloc_mw(mw));
	vandal_down();
}

void locals_without_end(void)
{
	const struct sigaction act = { .sa_handler = ignore };
	pthread_t filler;
	struct ibv_mw *mw;
	int i;

	must(!sigaction(SIGUSR1, &act, NULL));
	mw = locals_up(&filler);
	for (i = 0; i < ROUNDS; i++) {
		expect(executed_for_nobody() < MOST_A_SECOND);
		expect_unharmed();
	}
	locals_down(filler, mw);
}

/* the peer's Reads and the entries take turns */
void reads_beside_locals(void)
{
	pthread_t filler;
	struct ibv_mw *mw;
	int i;

	mw = locals_up(&filler);
	for (i = 0; i < 20; i++) {
		post_rdma(&w, &v, IBV_WR_RDMA_READ, i, 0, 8, 0, IBV_SEND_SIGNALED);
		expect_wc(w.scq, i, IBV_WC_SUCCESS);
	}
	locals_down(filler, mw);
}

/*
 * A call executes some of the entries, and the kernel the rest without this thread. Without a
 * bound it would go on until it finds none for a moment, or a signal comes.
 */
void doorbell_without_end(void)
{
	const struct sigaction act = { .sa_handler = ignore };
	pthread_t filler;
	struct ibv_mw *mw;
	uint32_t from, n;
	int i;

	must(!sigaction(SIGALRM, &act, NULL));
	mw = locals_up(&filler);
	for (i = 0; i < ROUNDS; i++) {
		alarm(10);
		from = __atomic_load_n(&sq->cons, __ATOMIC_RELAXED);
		ring(v.qp->qp_num);
		n = __atomic_load_n(&sq->cons, __ATOMIC_RELAXED) - from;
		alarm(0);
		printf("#   %u entries in a call\n", n);
		expect(n < MANY);
	}
	locals_down(filler, mw);
}

/*
 * Without a socket a worker flushes the queue: as many entries as the ring has, and later ones
 * at a doorbell, which does not come.
 */
void flush_without_end(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	pthread_t filler;
	uint32_t i;

	vandal_alone(MANY);
	for (i = 0; i < MANY; i++)
		put_rdma(i, TERN_WR_RDMA_WRITE, 0);
	stop = false;
	must(!pthread_create(&filler, NULL, refill, NULL));
	must(!ibv_modify_qp(v.qp, &attr, IBV_QP_STATE));
	i = executed(500000);
	printf("#   %u entries a second at first\n", i);
	expect(executed(500000) < MOST_A_SECOND / 10);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	must(!pthread_join(filler, NULL));
	vandal_alone_down();
}
