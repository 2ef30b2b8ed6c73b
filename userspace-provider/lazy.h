/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Posts without a doorbell, TERN_RING_LAZY: a program that goes on posting leaves its
 * requests in the send queue, and one doorbell stands for many. It is rung before the
 * program can wait for any of them: by the poll that leaves a CQ of the QP empty, by
 * arming one, for a full queue, and after 64 requests, half a queue or 256 KiB. A timer of
 * the kernel covers programs that do none of these.
 */
#ifndef TERN_PROVIDER_LAZY_H
#define TERN_PROVIDER_LAZY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tern_cq;
struct tern_qp;

/**
 * struct tern_lazy_link - a QP in the list of a CQ
 * @next: the next one
 * @qp: the QP
 * @cq: the CQ
 * @on: it is in the list
 */
struct tern_lazy_link {
	struct tern_lazy_link *next;
	struct tern_qp *qp;
	struct tern_cq *cq;
	bool on;
};

/**
 * struct tern_lazy_cq - what a CQ knows of the QPs that complete there
 * @lock: guards the list; needed even where the CQ has no lock, as other threads post
 * @first: QPs that may have requests without a doorbell, in the order in which they came
 * @end: where the next QP goes: @first, or the last QP's next
 * @count: QPs in the list
 * @empties: how often a poll left the CQ empty
 * @armed: the program may sleep until an event
 */
struct tern_lazy_cq {
	pthread_spinlock_t lock;
	struct tern_lazy_link *first;
	struct tern_lazy_link **end;
	uint32_t count;
	uint32_t empties;
	bool armed;
};

/**
 * struct tern_lazy - requests that a QP posts without a doorbell
 * @allowed: the kernel takes TERN_DOORBELL_MORE
 * @left: requests since the last doorbell
 * @quota: requests of a run that ring one by one
 * @run: requests since a poll left a CQ of the QP empty
 * @seen: @empties of both CQs at the start of the run
 * @bytes: payload of @left
 * @links: in the lists of the send and of the receive CQ
 *
 * The lock of the SQ guards @run, @seen and @bytes; @left and @quota are atomic.
 */
struct tern_lazy {
	bool allowed;
	uint32_t left;
	uint32_t quota;
	uint32_t run;
	uint32_t seen;
	uint32_t bytes;
	struct tern_lazy_link links[2];
};

int tern_lazy_cq_init(struct tern_lazy_cq *lazy);
void tern_lazy_cq_exit(struct tern_lazy_cq *lazy);

/* before a QP posts; its CQs are known */
void tern_lazy_init(struct tern_qp *qp, struct tern_cq *scq, struct tern_cq *rcq);

/* The QP ends: take it off the lists. */
void tern_lazy_exit(struct tern_qp *qp);

/*
 * @count requests were published, and the kernel does not look by itself. Return: ring,
 * with *@more; or leave them. The lock of the SQ is held.
 */
bool tern_lazy_must_ring(struct tern_qp *qp, uint32_t count, uint32_t flags, bool *more);

/* For a full queue. Return: there were requests without a doorbell: ring. */
bool tern_lazy_take(struct tern_qp *qp, bool *more);

/* Ring for all QPs of the CQ that have requests without a doorbell; no lock is held. */
void tern_lazy_flush(struct tern_cq *cq);

/* A poll left the CQ empty; the lock of the CQ is held. Return: a flush is due. */
static inline bool tern_lazy_cq_empty(struct tern_lazy_cq *lazy)
{
	__atomic_store_n(&lazy->empties, lazy->empties + 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&lazy->first, __ATOMIC_RELAXED);
}

#endif /* TERN_PROVIDER_LAZY_H */
