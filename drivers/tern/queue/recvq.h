/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The queue of receive entries in an RQ or SRQ: kernel users post, the receive
 * engine takes.
 */
#ifndef TERN_RECVQ_H
#define TERN_RECVQ_H

#include <rdma/ib_verbs.h>

#include "queue.h"

/**
 * struct tern_recvq - receive entries
 * @q: the ring
 * @lock: guards kernel users' posts, the end of @q and, of an SRQ, @cons and what is beside it;
 *	interrupts off. The stream lock guards @cons of an RQ
 * @prod: kernel users: next index to fill
 * @cons: next index to take
 * @silent: of an RQ: entries whose completion was lost, as the ring says
 * @polled: likewise, of kernel users: completions that were polled; the lock of the CQ guards it
 * @shared: of an SRQ: entries make room when they are taken
 * @max_sge: elements an entry may have
 * @max_wr: entries the user asked for (granted), at most @q.size
 */
struct tern_recvq {
	struct tern_queue q;
	spinlock_t lock;	/* see above */
	u32 prod;
	u32 cons;
	u32 silent;
	u32 polled;
	bool shared;
	u32 max_sge;
	u32 max_wr;
};

/**
 * struct tern_recv - a receive entry, taken: a private, validated copy
 * @wr_id: the user's
 * @len: sum of the SGE lengths
 * @num_sge: elements in @sge
 * @sge: scatter list
 */
struct tern_recv {
	u64 wr_id;
	u64 len;
	u32 num_sge;
	struct tern_sge sge[TERN_MAX_SGE];
};

/**
 * tern_recvq_create() - set up a queue
 * @recvq: the queue
 * @ctx: the program's context or NULL
 * @max_wr: entries wanted; @recvq->max_wr says how many were granted
 * @max_sge: elements per entry wanted
 *
 * Context: process. Return: 0, -ENOMEM or -EINVAL.
 */
int tern_recvq_create(struct tern_recvq *recvq, struct ib_ucontext *ctx,
		      u32 max_wr, u32 max_sge);

/**
 * tern_recvq_destroy() - free it; tern_recvq_level() is 0 from then on
 * @recvq: the queue
 *
 * Context: process, may sleep.
 */
void tern_recvq_destroy(struct tern_recvq *recvq);

/**
 * tern_recvq_post() - kernel users' post_recv
 * @recvq: the queue
 * @wr: list of requests
 * @bad_wr: result: the first that was not posted
 *
 * Context: any, interrupts on or off. Return: 0; -ENOMEM when full, -EINVAL for
 * too many elements, with *@bad_wr set; the earlier requests stay posted.
 */
int tern_recvq_post(struct tern_recvq *recvq, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);

/**
 * tern_recvq_take() - take the next entry
 * @recvq: the queue
 * @recv: private copy
 *
 * Context: the lock that guards it is held, see struct tern_recvq; interrupts on or off.
 * Return: 0; -ENOENT when the queue is empty; -EINVAL when the entry is malformed (it
 * is consumed, and @recv->wr_id is valid); -EOVERFLOW when the program's index is out of range.
 */
int tern_recvq_take(struct tern_recvq *recvq, struct tern_recv *recv);

/* @n completions of an RQ were lost; the lock that guards @cons is held */
void tern_recvq_lost(struct tern_recvq *recvq, u32 n);

/**
 * tern_recvq_level() - entries posted and not taken, 0..q.size
 * @recvq: the queue
 *
 * Context: any, with @recvq->lock held. A destroyed queue is empty.
 */
u32 tern_recvq_level(const struct tern_recvq *recvq);

#endif /* TERN_RECVQ_H */
