/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Completion queues: cq.c makes them, poll.c and cq_ex.c empty them. */
#ifndef TERN_PROVIDER_CQ_H
#define TERN_PROVIDER_CQ_H

#include <infiniband/driver.h>

#include "lazy.h"
#include "lock.h"
#include "ring.h"

/**
 * struct tern_cq - a completion queue
 * @vcq: what libibverbs sees
 * @ring: the entries; the kernel produces
 * @lock: guards @ring, @cur and @moved
 * @cur: a copy of the entry that an extended poll reads now
 * @moved: index after the last entry that a drop may have moved
 * @poller: the thread of an extended poll, which has @lock; 0 if there is none
 * @lazy: the QPs that have requests without a doorbell
 */
struct tern_cq {
	struct verbs_cq vcq;
	struct tern_ring ring;
	struct tern_lock lock;
	struct tern_cqe cur;
	uint32_t moved;
	pthread_t poller;
	struct tern_lazy_cq lazy;
};

static inline struct tern_cq *to_tern_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct tern_cq, vcq.cq);
}

static inline struct tern_cq *ex_to_tern_cq(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct tern_cq, vcq.cq_ex);
}

/*
 * After a poll, with the lock held; @empty: it left nothing. Return: call
 * tern_lazy_flush() without the lock.
 */
static inline bool tern_cq_polled(struct tern_cq *cq, bool empty)
{
	/* the kernel has raised the event: the program is awake */
	if (cq->lazy.armed &&
	    __atomic_load_n(&cq->ring.hdr->flags, __ATOMIC_RELAXED) == TERN_CQ_ARM_NONE)
		__atomic_store_n(&cq->lazy.armed, false, __ATOMIC_RELAXED);
	return empty && tern_lazy_cq_empty(&cq->lazy);
}

struct ibv_cq *tern_cq_create(struct ibv_context *ctx, int cqe,
			      struct ibv_comp_channel *channel, int vector);
struct ibv_cq_ex *tern_cq_create_ex(struct ibv_context *ctx,
				    struct ibv_cq_init_attr_ex *attr);
int tern_cq_resize(struct ibv_cq *cq, int cqe);
int tern_cq_modify(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int tern_cq_destroy(struct ibv_cq *cq);

int tern_cq_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int tern_cq_arm(struct ibv_cq *cq, int solicited_only);
/* Drop the completions of a QP that is gone, as hardware does: their places are free. */
void tern_cq_drop(struct tern_cq *cq, uint32_t qpn);
/* Return: the caller drops the lock; false: its thread has it, by ibv_start_poll() */
bool tern_cq_take_lock(struct tern_cq *cq);
enum ibv_wc_opcode tern_cqe_opcode(const struct tern_cqe *cqe);
unsigned int tern_cqe_flags(const struct tern_cqe *cqe);
uint32_t tern_cqe_imm_or_key(const struct tern_cqe *cqe);

void tern_cq_set_ex_ops(struct ibv_cq_ex *cq, uint64_t wc_flags);

#endif /* TERN_PROVIDER_CQ_H */
