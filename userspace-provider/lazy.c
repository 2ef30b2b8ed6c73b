// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Posts without a doorbell: when to leave them, and who rings for them. */

#include "cq.h"
#include "doorbell.h"
#include "lazy.h"
#include "qp.h"
#include "sqe.h"

/* the first requests of a run ring one by one: the program may wait for them */
#define QUOTA		8
/* after a batch of so many the next run needs no such proof, until a batch is short */
#define LONG_BATCH	16
#define SHORT_BATCH	4
/* four calls of TCP: what is sent together shares packets */
#define BYTES		(256 * 1024)
/* a doorbell costs little beside so many, and the first of them have waited */
#define MOST		64
/* doorbells of a flush that are collected under one hold of the list's lock */
#define FLUSH_STEP	16

int tern_lazy_cq_init(struct tern_lazy_cq *lazy)
{
	lazy->end = &lazy->first;
	return pthread_spin_init(&lazy->lock, PTHREAD_PROCESS_PRIVATE);
}

void tern_lazy_cq_exit(struct tern_lazy_cq *lazy)
{
	pthread_spin_destroy(&lazy->lock);
}

void tern_lazy_init(struct tern_qp *qp, struct tern_cq *scq, struct tern_cq *rcq)
{
	struct tern_lazy *lazy = &qp->lazy;

	lazy->allowed = true;
	lazy->quota = QUOTA;
	lazy->links[0] = (struct tern_lazy_link){ .qp = qp, .cq = scq };
	lazy->links[1] = (struct tern_lazy_link){ .qp = qp, .cq = rcq };
}

/* ---- the lists --------------------------------------------------------------- */

/*
 * The QP is in the list while @on is set, and a flush clears that before it reads @left.
 * So either it reads what was added to @left before, or the poster reads @on
 * cleared and enters the QP again.
 */
static void enter(struct tern_lazy_link *link)
{
	struct tern_lazy_cq *list = &link->cq->lazy;

	if (__atomic_load_n(&link->on, __ATOMIC_SEQ_CST))
		return;
	pthread_spin_lock(&list->lock);
	if (!link->on) {
		link->next = NULL;
		__atomic_store_n(list->end, link, __ATOMIC_SEQ_CST);
		list->end = &link->next;
		list->count++;
		__atomic_store_n(&link->on, true, __ATOMIC_SEQ_CST);
	}
	pthread_spin_unlock(&list->lock);
}

static void leave_list(struct tern_lazy_link *link)
{
	struct tern_lazy_cq *list = &link->cq->lazy;
	struct tern_lazy_link **at;

	pthread_spin_lock(&list->lock);
	for (at = &list->first; *at; at = &(*at)->next) {
		if (*at != link)
			continue;
		*at = link->next;
		if (!*at)
			list->end = at;
		list->count--;
		break;
	}
	link->on = false;
	pthread_spin_unlock(&list->lock);
}

void tern_lazy_exit(struct tern_qp *qp)
{
	if (!qp->lazy.allowed)
		return;
	leave_list(&qp->lazy.links[0]);
	leave_list(&qp->lazy.links[1]);
}

/* ---- doorbells --------------------------------------------------------------- */

static bool is_armed(const struct tern_lazy *lazy)
{
	/* pairs with tern_cq_arm(): it sees the QP in its list, or is seen here */
	return __atomic_load_n(&lazy->links[0].cq->lazy.armed, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&lazy->links[1].cq->lazy.armed, __ATOMIC_SEQ_CST);
}

/*
 * @count requests and those that were left share a doorbell: what they say about the next
 * run. One that rings alone, as the kernel did not let it wait, says nothing. Return: how many.
 */
static uint32_t end_batch(struct tern_lazy *lazy, uint32_t count)
{
	uint32_t left = __atomic_exchange_n(&lazy->left, 0, __ATOMIC_SEQ_CST);

	count += left;
	if (count >= LONG_BATCH)
		__atomic_store_n(&lazy->quota, 0, __ATOMIC_RELAXED);
	else if (left && count < SHORT_BATCH)
		__atomic_store_n(&lazy->quota, QUOTA, __ATOMIC_RELAXED);
	return count;
}

bool tern_lazy_take(struct tern_qp *qp, bool *more)
{
	uint32_t count;

	if (!qp->lazy.allowed)
		return false;
	count = end_batch(&qp->lazy, 0);
	*more = count >= SHORT_BATCH && !is_armed(&qp->lazy);
	return count;
}

/*
 * Take QPs off the list, of the first *@left, and write down the doorbells that they need.
 * Return: how many, at most FLUSH_STEP
 */
static int collect(struct tern_lazy_cq *list, uint32_t *left, uint32_t *qpns, bool *mores)
{
	struct tern_lazy_link *link;
	int n = 0;

	pthread_spin_lock(&list->lock);
	if (*left > list->count)
		*left = list->count;
	for (; *left && n < FLUSH_STEP; --*left) {
		link = list->first;
		__atomic_store_n(&list->first, link->next, __ATOMIC_RELAXED);
		if (!link->next)
			list->end = &list->first;
		list->count--;
		__atomic_store_n(&link->on, false, __ATOMIC_SEQ_CST);
		qpns[n] = link->qp->qpn;
		if (tern_lazy_take(link->qp, &mores[n]))
			n++;
	}
	pthread_spin_unlock(&list->lock);
	return n;
}

/*
 * Other threads may enter QPs again and again: this serves those that are there now. A QP
 * that was destroyed since has no such number any more, and an error of the device shows in
 * the completions.
 */
void tern_lazy_flush(struct tern_cq *cq)
{
	uint32_t qpns[FLUSH_STEP];
	bool mores[FLUSH_STEP];
	uint32_t left = UINT32_MAX;
	int n, i;

	do {
		n = collect(&cq->lazy, &left, qpns, mores);
		for (i = 0; i < n; i++)
			tern_doorbell_ring(cq->vcq.cq.context, qpns[i], mores[i]);
	} while (left);
}

/* ---- posts ------------------------------------------------------------------- */

static uint32_t payload(const struct tern_ring *ring, uint32_t index)
{
	const struct tern_sqe *sqe = tern_ring_entry(ring, index);
	uint32_t bytes = sqe->inline_len, i;

	for (i = 0; i < sqe->num_sge; i++) {
		if (sqe->sge[i].length >= BYTES)
			return BYTES;
		bytes += sqe->sge[i].length;
	}
	return bytes;
}

/* Would the requests since the last doorbell be too many, or too long? */
static bool is_enough(struct tern_qp *qp, uint32_t count)
{
	const struct tern_ring *ring = &qp->sq.ring;
	struct tern_lazy *lazy = &qp->lazy;
	uint32_t left = __atomic_load_n(&lazy->left, __ATOMIC_RELAXED), i;

	if (left + count > MOST || left + count > ring->limit / 2)
		return true;
	if (!left)
		lazy->bytes = 0;
	for (i = ring->index - count; i != ring->index && lazy->bytes < BYTES; i++)
		lazy->bytes += payload(ring, i);
	return lazy->bytes >= BYTES;
}

/* A run ends when a poll leaves a CQ empty. Return: the program goes on posting. */
static bool goes_on(struct tern_lazy *lazy, uint32_t count)
{
	uint32_t seen = __atomic_load_n(&lazy->links[0].cq->lazy.empties, __ATOMIC_RELAXED) +
			__atomic_load_n(&lazy->links[1].cq->lazy.empties, __ATOMIC_RELAXED);
	uint32_t before;

	if (seen != lazy->seen)
		lazy->run = 0;
	lazy->seen = seen;
	before = lazy->run;
	lazy->run += count;
	return before >= __atomic_load_n(&lazy->quota, __ATOMIC_RELAXED);
}

bool tern_lazy_must_ring(struct tern_qp *qp, uint32_t count, uint32_t flags, bool *more)
{
	struct tern_lazy *lazy = &qp->lazy;

	if (!lazy->allowed)
		return true;
	*more = goes_on(lazy, count);
	if (flags & TERN_RING_LAZY && *more && !is_enough(qp, count)) {
		__atomic_fetch_add(&lazy->left, count, __ATOMIC_SEQ_CST);
		enter(&lazy->links[0]);
		enter(&lazy->links[1]);
		if (!is_armed(lazy))
			return false;
		count = 0;
	}
	end_batch(lazy, count);
	*more = *more && !is_armed(lazy);
	return true;
}
