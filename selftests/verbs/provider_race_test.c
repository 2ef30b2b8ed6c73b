// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The provider's rings while a program and a kernel use them, each in a thread. */

#include <sched.h>

#include "provider_fake.h"

#define RACE_MESSAGES 200000

/* The kernel's drain as in tern-abi.h: sleep until rung, set BUSY while it runs. */
static void *drain(void *arg)
{
	struct tern_qp *qp = arg;
	struct tern_ring_hdr *hdr = qp->sq.ring.hdr;
	struct tern_sqe *sqe;
	uint64_t got = 0;

	while (got < RACE_MESSAGES) {
		sem_wait(bell.wake);
again:
		__atomic_store_n(&hdr->flags, TERN_RING_BUSY, __ATOMIC_RELAXED);
		while ((sqe = take(&qp->sq.ring))) {
			expect_eq(sqe->wr_id, got);
			got++;
			taken(&qp->sq.ring);
		}
		__atomic_store_n(&hdr->flags, 0, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (take(&qp->sq.ring))
			goto again;
	}
	return NULL;
}

/* Wait a random time, so that the other thread is at any point of its loop. */
static void dawdle(void)
{
	static unsigned int seed = 1;
	int turns = rand_r(&seed) % 64;

	while (turns--)
		__asm__ volatile("" ::: "memory");
}

static void race__no_send_is_lost_between_busy_and_the_doorbell(void)
{
	struct tern_qp *qp = make_qp();
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	pthread_t kernel;
	sem_t wake;
	int err;

	sem_init(&wake, 0, 0);
	bell.watched = NULL;
	bell.wake = &wake;
	pthread_create(&kernel, NULL, drain, qp);
	while (wr.wr_id < RACE_MESSAGES) {
		err = tern_qp_post_send(&qp->vqp.qp, &wr, &bad);
		expect(!err || err == ENOMEM);
		if (err)
			sched_yield();
		else
			wr.wr_id++;
		/* the race is with a drain about to sleep: let it empty the ring */
		while (take(&qp->sq.ring))
			;
		dawdle();
	}
	pthread_join(kernel, NULL);
	expect(bell.rings <= RACE_MESSAGES);
	bell.wake = NULL;
	sem_destroy(&wake);
	free_qp(qp);
}

struct event_race {
	struct tern_cq *cq;
	sem_t event;
};

/* the side that takes the arm word raises the event */
static void take_arm(struct event_race *race)
{
	struct tern_ring_hdr *hdr = race->cq->ring.hdr;

	if (__atomic_exchange_n(&hdr->flags, TERN_CQ_ARM_NONE,
				__ATOMIC_SEQ_CST) != TERN_CQ_ARM_NEXT)
		return;
	__atomic_store_n(&hdr->event, __atomic_load_n(&hdr->prod, __ATOMIC_RELAXED),
			 __ATOMIC_RELEASE);
	sem_post(&race->event);
}

static struct event_race *watched;

/* the program armed too late: raise the event for completions that are there */
int ibv_cmd_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	expect(ibcq == &watched->cq->vcq.cq && !solicited_only);
	take_arm(watched);
	return 0;
}

static void *producer(void *arg)
{
	struct event_race *race = arg;
	struct tern_ring_hdr *hdr = race->cq->ring.hdr;
	struct tern_cqe cqe = { .opcode = TERN_WR_RECV };

	while (cqe.wr_id < RACE_MESSAGES) {
		if (hdr->prod - __atomic_load_n(&hdr->cons, __ATOMIC_ACQUIRE) >
		    race->cq->ring.mask) {
			sched_yield();
			continue;
		}
		complete(race->cq, &cqe);
		cqe.wr_id++;
		take_arm(race);
	}
	return NULL;
}

static void race__no_completion_is_lost_between_poll_and_arm(void)
{
	struct event_race race = { .cq = make_cq_at(16, UINT32_MAX - 100) };
	struct ibv_cq *cq = &race.cq->vcq.cq;
	struct ibv_wc wc[5];
	uint64_t got = 0;
	pthread_t kernel;
	bool armed = false;
	int n, i;

	watched = &race;
	sem_init(&race.event, 0, 0);
	pthread_create(&kernel, NULL, producer, &race);
	while (got < RACE_MESSAGES) {
		n = tern_cq_poll(cq, 5, wc);
		for (i = 0; i < n; i++)
			expect_eq(wc[i].wr_id, got++);
		expect(n >= 0);
		if (n)
			continue;
		if (armed)
			sem_wait(&race.event);
		else
			tern_cq_arm(cq, 0);
		armed = !armed;
	}
	pthread_join(kernel, NULL);
	sem_destroy(&race.event);
	free_cq(race.cq);
}

static void *poster(void *arg)
{
	struct tern_qp *qp = arg;
	struct ibv_recv_wr wr = {}, *bad;

	while (wr.wr_id < RACE_MESSAGES / 4) {
		if (tern_qp_post_recv(&qp->vqp.qp, &wr, &bad))
			sched_yield();
		else
			wr.wr_id++;
	}
	return NULL;
}

static void race__two_threads_may_post_to_one_queue(void)
{
	struct tern_qp *qp = make_qp();
	pthread_t threads[2];
	struct tern_rqe *rqe;
	uint64_t sum = 0;
	int n = 0;

	pthread_create(&threads[0], NULL, poster, qp);
	pthread_create(&threads[1], NULL, poster, qp);
	while (n < RACE_MESSAGES / 2) {
		rqe = take(&qp->rq.ring);
		if (!rqe) {
			sched_yield();
			continue;
		}
		sum += rqe->wr_id;
		n++;
		taken(&qp->rq.ring);
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	expect_eq(sum, (uint64_t)(RACE_MESSAGES / 4) * (RACE_MESSAGES / 4 - 1));
	expect(!take(&qp->rq.ring));
	free_qp(qp);
}

static const struct tap_test tests[] = {
	TEST(race__no_send_is_lost_between_busy_and_the_doorbell),
	TEST(race__no_completion_is_lost_between_poll_and_arm),
	TEST(race__two_threads_may_post_to_one_queue),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
