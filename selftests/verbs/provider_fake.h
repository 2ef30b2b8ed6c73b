/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A fake kernel for tests of the provider's data path: rings on the heap, so that ASan
 * detects accesses beyond an entry, a doorbell that counts, and a second implementation
 * of the kernel's side of tern-abi.h. `userspace-provider/build --test` builds the tests
 * in rdma-core's tree; they need neither the module nor root.
 */
#ifndef PROVIDER_FAKE_H
#define PROVIDER_FAKE_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "cq.h"
#include "doorbell.h"
#include "qp.h"
#include "sqe.h"
#include "srq.h"
#include "tern.h"

#include "provider_tap.h"

static struct tern_context fake_ctx;

static struct {
	unsigned int rings;
	uint32_t qpn;
	bool more;
	int answer;
	const struct tern_qp *watched;	/* record its state when rung */
	uint32_t prod_then;
	bool locked_then;
	struct tern_cq *cq;		/* likewise */
	bool cq_locked_then;
	void (*then)(void);		/* called when it has rung */
	sem_t *wake;
} bell;

int tern_doorbell_ring(struct ibv_context *ctx, uint32_t qpn, bool more)
{
	struct tern_qp *qp = (struct tern_qp *)bell.watched;

	expect(ctx == &fake_ctx.vctx.context);
	__atomic_fetch_add(&bell.rings, 1, __ATOMIC_SEQ_CST);
	bell.qpn = qpn;
	bell.more = more;
	if (qp) {
		bell.prod_then = qp->sq.ring.hdr->prod;
		bell.locked_then = pthread_spin_trylock(&qp->sq.lock.spin);
		if (!bell.locked_then)
			pthread_spin_unlock(&qp->sq.lock.spin);
	}
	if (bell.cq) {
		bell.cq_locked_then = pthread_spin_trylock(&bell.cq->lock.spin);
		if (!bell.cq_locked_then)
			pthread_spin_unlock(&bell.cq->lock.spin);
	}
	if (bell.then)
		bell.then();
	if (bell.wake)
		sem_post(bell.wake);
	return bell.answer;
}

/* for bell.then: the device is removed, so what was posted to this ring is flushed */
static struct tern_ring *flushed;

static inline void flush_ring(void)
{
	flushed->hdr->cons = flushed->hdr->prod;
}

static inline struct tern_uring shape(uint32_t entries, uint32_t stride)
{
	return (struct tern_uring){
		.entries = entries,
		.stride = stride,
		.size = TERN_RING_DATA + (uint64_t)entries * stride,
	};
}

static inline void make_ring(struct tern_ring *ring, uint32_t entries,
		      uint32_t stride, uint32_t limit, uint32_t start)
{
	struct tern_uring uring = shape(entries, stride);
	struct tern_ring_hdr *hdr = aligned_alloc(TERN_CACHELINE, uring.size);

	memset(hdr, 0x5a, uring.size);
	hdr->prod = start;
	hdr->cons = start;
	hdr->flags = 0;
	expect(!tern_ring_attach(ring, hdr, &uring, stride, limit));
}

/* The entry that the kernel takes next from a queue, or NULL. */
static inline void *take(struct tern_ring *ring)
{
	struct tern_ring_hdr *hdr = ring->hdr;

	if (__atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE) == hdr->cons)
		return NULL;
	return tern_ring_entry(ring, hdr->cons);
}

static inline void taken(struct tern_ring *ring)
{
	__atomic_store_n(&ring->hdr->cons, ring->hdr->cons + 1,
			 __ATOMIC_RELEASE);
}

static inline void complete(struct tern_cq *cq, const struct tern_cqe *cqe)
{
	struct tern_ring_hdr *hdr = cq->ring.hdr;

	memcpy(tern_ring_entry(&cq->ring, hdr->prod), cqe, sizeof(*cqe));
	__atomic_store_n(&hdr->prod, hdr->prod + 1, __ATOMIC_RELEASE);
}

#define QPN 0x1234
#define SQ_ENTRIES 8
#define SQ_STRIDE 320	/* 48 + 256 bytes inline or 16 elements */
#define RQ_STRIDE 320

static inline struct tern_qp *make_qp_at(uint32_t start, uint32_t max_wr)
{
	struct tern_qp *qp = calloc(1, sizeof(*qp));

	make_ring(&qp->sq.ring, SQ_ENTRIES, SQ_STRIDE, max_wr, start);
	make_ring(&qp->rq.ring, SQ_ENTRIES, RQ_STRIDE, max_wr, start);
	tern_lock_init(&qp->sq.lock, true);
	tern_lock_init(&qp->rq.lock, true);
	qp->sq.max_sge = TERN_MAX_SGE;
	qp->rq.max_sge = TERN_MAX_SGE;
	qp->max_inline = TERN_MAX_INLINE;
	qp->qpn = QPN;
	qp->vqp.qp.context = &fake_ctx.vctx.context;
	qp->features = TERN_FEATURE_7306 | TERN_FEATURE_V2;
	expect(!tern_qp_set_wr_ops(qp, IBV_QP_EX_WITH_SEND));
	memset(&bell, 0, sizeof(bell));
	bell.watched = qp;
	return qp;
}

static inline struct tern_qp *make_qp(void)
{
	return make_qp_at(0, SQ_ENTRIES);
}

static inline void free_qp(struct tern_qp *qp)
{
	bell.watched = NULL;
	tern_lock_destroy(&qp->sq.lock);
	tern_lock_destroy(&qp->rq.lock);
	free(qp->sq.ring.hdr);
	free(qp->rq.ring.hdr);
	free(qp);
}

static inline struct tern_cq *make_cq_at(uint32_t entries, uint32_t start)
{
	struct tern_cq *cq = calloc(1, sizeof(*cq));

	make_ring(&cq->ring, entries, TERN_CACHELINE, UINT32_MAX, start);
	cq->vcq.cq.context = &fake_ctx.vctx.context;
	tern_lock_init(&cq->lock, true);
	tern_lazy_cq_init(&cq->lazy);
	tern_cq_set_ex_ops(&cq->vcq.cq_ex, UINT64_MAX);
	return cq;
}

static inline void free_cq(struct tern_cq *cq)
{
	tern_lock_destroy(&cq->lock);
	tern_lazy_cq_exit(&cq->lazy);
	free(cq->ring.hdr);
	free(cq);
}

static inline bool cq_is_locked(struct tern_cq *cq)
{
	if (pthread_spin_trylock(&cq->lock.spin))
		return true;
	pthread_spin_unlock(&cq->lock.spin);
	return false;
}

/* Post one request, or a list whose first request must fail. */
static inline int post(struct tern_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = tern_qp_post_send(&qp->vqp.qp, wr, &bad);

	expect(!err || bad == wr);
	return err;
}

#endif /* PROVIDER_FAKE_H */
