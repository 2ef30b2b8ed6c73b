// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Receive entries: kernel users post them, the receive engine takes one for
 * each message, in the order of posting (RFC 5041 5.1.2).
 */
#include "recvq.h"

#include <linux/overflow.h>
#include <linux/spinlock.h>

#include "core/ring.h"

static_assert(sizeof(struct tern_sge) == sizeof(struct ib_sge) &&
	      offsetof(struct tern_sge, addr) == offsetof(struct ib_sge, addr) &&
	      offsetof(struct tern_sge, length) == offsetof(struct ib_sge, length) &&
	      offsetof(struct tern_sge, lkey) == offsetof(struct ib_sge, lkey));

int tern_recvq_create(struct tern_recvq *recvq, struct ib_ucontext *ctx,
		      u32 max_wr, u32 max_sge)
{
	int ret;

	if (max_sge > TERN_MAX_SGE)
		return -EINVAL;
	spin_lock_init(&recvq->lock);
	recvq->prod = 0;
	recvq->cons = 0;
	recvq->max_sge = max(max_sge, 1U);
	ret = tern_queue_create(&recvq->q, ctx, max_wr,
				offsetof(struct tern_rqe, sge) +
				recvq->max_sge * sizeof(struct tern_sge));
	if (ret)
		return ret;
	recvq->max_wr = max_wr;
	return 0;
}

void tern_recvq_destroy(struct tern_recvq *recvq)
{
	tern_queue_retire(&recvq->q, &recvq->lock);
}

/* the rule for programs, see struct tern_ring_hdr */
static bool is_full(const struct tern_recvq *recvq)
{
	u32 counted = READ_ONCE(recvq->q.hdr->silent) + READ_ONCE(recvq->polled);

	if (recvq->shared)
		counted = READ_ONCE(recvq->cons);
	return recvq->prod - tern_ring_ended(&recvq->cons, counted) >= recvq->max_wr;
}

/* fill the entry at @recvq->prod; the caller publishes it */
static int post_one(struct tern_recvq *recvq, const struct ib_recv_wr *wr)
{
	struct tern_rqe *rqe = tern_queue_entry(&recvq->q, recvq->prod);

	lockdep_assert_held(&recvq->lock);
	if (is_full(recvq))
		return -ENOMEM;
	if (wr->num_sge < 0 || wr->num_sge > recvq->max_sge)
		return -EINVAL;
	rqe->wr_id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	memcpy(rqe->sge, wr->sg_list, flex_array_size(rqe, sge, wr->num_sge));
	recvq->prod++;
	return 0;
}

int tern_recvq_post(struct tern_recvq *recvq, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&recvq->lock, flags);
	for (; wr; wr = wr->next) {
		ret = post_one(recvq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	tern_ring_publish(&recvq->q.hdr->prod, recvq->prod);
	spin_unlock_irqrestore(&recvq->lock, flags);
	return ret;
}

/* the program may change the entry at any time: read each word only once */
static int copy_entry(const struct tern_recvq *recvq, const struct tern_rqe *rqe,
		      struct tern_recv *recv)
{
	u32 n = READ_ONCE(rqe->num_sge);

	recv->wr_id = READ_ONCE(rqe->wr_id);
	recv->num_sge = 0;
	recv->len = 0;
	if (n > recvq->max_sge || READ_ONCE(rqe->reserved))
		return -EINVAL;
	recv->num_sge = n;
	recv->len = tern_sges_copy(recv->sge, rqe->sge, n);
	return 0;
}

int tern_recvq_take(struct tern_recvq *recvq, struct tern_recv *recv)
{
	u32 cons = recvq->cons;
	int avail, ret;

	avail = tern_ring_avail(&recvq->q.hdr->prod, cons, recvq->q.size);
	if (avail <= 0) {
		memset(recv, 0, offsetof(struct tern_recv, sge));
		return avail ?: -ENOENT;
	}
	ret = copy_entry(recvq, tern_queue_entry(&recvq->q, cons), recv);
	/* a kernel user looks at this one, a program at that of the ring */
	smp_store_release(&recvq->cons, cons + 1);
	tern_ring_publish(&recvq->q.hdr->cons, cons + 1);
	return ret;
}

void tern_recvq_lost(struct tern_recvq *recvq, u32 n)
{
	recvq->silent += n;
	WRITE_ONCE(recvq->q.hdr->silent, recvq->silent);
}

u32 tern_recvq_level(const struct tern_recvq *recvq)
{
	u32 cons, level;

	lockdep_assert_held(&recvq->lock);
	if (!recvq->q.hdr)
		return 0;
	/* pairs with the release: who took the entry had seen @prod beyond it */
	cons = smp_load_acquire(&recvq->cons);
	level = READ_ONCE(recvq->q.hdr->prod) - cons;
	return min(level, recvq->q.size);
}
