// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* ibv_post_send(), ibv_post_recv(), ibv_post_srq_recv(). */

#include <errno.h>
#include <string.h>

#include "doorbell.h"
#include "qp.h"
#include "sqe.h"
#include "srq.h"

static int set_inline_list(const struct tern_qp *qp, struct tern_sqe *sqe,
			   const struct tern_wr_op *op,
			   const struct ibv_send_wr *wr)
{
	int err, i;

	if ((uint32_t)wr->num_sge > qp->sq.max_sge)
		return EINVAL;

	/* an empty payload is inline too */
	err = tern_sqe_add_inline(qp, sqe, op, NULL, 0);
	for (i = 0; i < wr->num_sge && !err; i++)
		err = tern_sqe_add_inline(qp, sqe, op,
					  (void *)(uintptr_t)wr->sg_list[i].addr,
					  wr->sg_list[i].length);
	return err;
}

static int set_data(const struct tern_qp *qp, struct tern_sqe *sqe,
		    const struct tern_wr_op *op, const struct ibv_send_wr *wr)
{
	if (wr->send_flags & IBV_SEND_INLINE)
		return set_inline_list(qp, sqe, op, wr);
	if (op->traits & TERN_WR_HAS_DATA)
		return tern_sqe_set_sges(qp, sqe, op, wr->sg_list,
					 (uint32_t)wr->num_sge);
	return 0;
}

static int set_atomic(struct tern_sqe *sqe, const struct ibv_send_wr *wr)
{
	struct tern_atomic_args args;

	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		args = tern_args_add(wr->wr.atomic.compare_add);
	else
		args = tern_args_swap(wr->wr.atomic.compare_add,
				      wr->wr.atomic.swap);
	return tern_sqe_set_atomic(sqe, wr->wr.atomic.rkey,
				   wr->wr.atomic.remote_addr, &args);
}

/* all but the payload */
static int set_fields(struct tern_sqe *sqe, const struct tern_wr_op *op,
		      const struct ibv_send_wr *wr)
{
	if (op->traits & TERN_WR_HAS_REMOTE) {
		sqe->remote_addr = wr->wr.rdma.remote_addr;
		sqe->rkey = wr->wr.rdma.rkey;
	}
	if (op->traits & TERN_WR_HAS_KEY)
		sqe->ex = wr->invalidate_rkey;
	if (op->traits & TERN_WR_HAS_IMM)
		tern_sqe_set_imm(sqe, &wr->imm_data, sizeof(wr->imm_data));
	if (op->traits & TERN_WR_HAS_ATOMIC)
		return set_atomic(sqe, wr);
	if (op->traits & TERN_WR_HAS_WINDOW)
		return tern_sqe_set_window(sqe, IBV_MW_TYPE_2, wr->bind_mw.mw,
					   wr->bind_mw.rkey,
					   &wr->bind_mw.bind_info);
	return 0;
}

static int fill_send(const struct tern_qp *qp, struct tern_sqe *sqe,
		     const struct ibv_send_wr *wr)
{
	const struct tern_wr_op *op;
	int err;

	err = tern_sqe_op(wr->opcode, &op);
	if (err)
		return err;
	err = tern_sqe_begin(qp, sqe, op, wr->wr_id, wr->send_flags);
	if (err)
		return err;
	err = set_fields(sqe, op, wr);
	if (err)
		return err;
	return set_data(qp, sqe, op, wr);
}

/*
 * Publish all entries before @next and release the lock of the SQ. Ring the doorbell
 * unless TERN_RING_BUSY says that a drain will see them, or they are left for a later
 * one; at the latest when the queue is @full. The lock is not held across the doorbell,
 * in which the kernel may send. When a device is removed, the kernel flushes what was
 * published before: it completes, so the post has not failed, although the doorbell has.
 */
int tern_qp_publish_sends(struct tern_qp *qp, uint32_t next, bool full)
{
	struct tern_ring *ring = &qp->sq.ring;
	uint32_t count = next - ring->index, flags;
	bool call = false, more = false;
	int err;

	if (count) {
		tern_ring_publish(ring, next);
		flags = tern_ring_flags(ring);
		call = !(flags & TERN_RING_BUSY) && tern_lazy_must_ring(qp, count, flags, &more);
	}
	if (full && !call)
		call = tern_lazy_take(qp, &more);
	tern_lock_drop(&qp->sq.lock);

	err = call ? tern_doorbell_ring(qp->vqp.qp.context, qp->qpn, more) : 0;
	return err && tern_ring_has_ended(ring, next) ? 0 : err;
}

/* The requests before a bad one are posted, as the verbs API demands. */
int tern_qp_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		      struct ibv_send_wr **bad_wr)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct tern_ring *ring = &qp->sq.ring;
	struct ibv_send_wr *first = wr;
	int err = 0, ring_err;
	uint32_t next;

	tern_lock_take(&qp->sq.lock);
	for (next = ring->index; wr; wr = wr->next, next++) {
		err = ENOMEM;
		if (tern_ring_full(ring, next))
			break;
		err = fill_send(qp, tern_ring_entry(ring, next), wr);
		if (err)
			break;
	}
	ring_err = tern_qp_publish_sends(qp, next, err == ENOMEM);
	if (ring_err) {
		*bad_wr = first;
		return ring_err;
	}
	if (err)
		*bad_wr = wr;
	return err;
}

static int fill_bind(const struct tern_qp *qp, struct tern_sqe *sqe,
		     const struct ibv_mw *mw, uint32_t rkey,
		     const struct ibv_mw_bind *bind)
{
	const struct tern_wr_op *op;
	int err;

	err = tern_sqe_op(IBV_WR_BIND_MW, &op);
	if (err)
		return err;
	err = tern_sqe_begin(qp, sqe, op, bind->wr_id, bind->send_flags);
	if (err)
		return err;
	return tern_sqe_set_window(sqe, IBV_MW_TYPE_1, mw, rkey,
				   &bind->bind_info);
}

/* Each bind gives a type 1 window a new key, which the provider chooses. */
int tern_qp_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		    struct ibv_mw_bind *bind)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct tern_ring *ring = &qp->sq.ring;
	uint32_t rkey = ibv_inc_rkey(mw->rkey);
	int err = ENOMEM, ring_err;

	tern_lock_take(&qp->sq.lock);
	if (!tern_ring_full(ring, ring->index))
		err = fill_bind(qp, tern_ring_entry(ring, ring->index), mw,
				rkey, bind);
	ring_err = tern_qp_publish_sends(qp, ring->index + !err, err == ENOMEM);
	if (!err)
		err = ring_err;
	if (!err)
		mw->rkey = rkey;
	return err;
}

static int fill_recv(const struct tern_queue *rq, struct tern_rqe *rqe,
		     const struct ibv_recv_wr *wr)
{
	if ((uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;

	rqe->wr_id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	rqe->reserved = 0;
	if (wr->num_sge)
		memcpy(rqe->sge, wr->sg_list,
		       wr->num_sge * sizeof(wr->sg_list[0]));
	return 0;
}

/* Post the list up to a bad request, the entries before @end; @kick: the kernel wants a doorbell. */
static int post_recvs(struct tern_queue *rq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr, uint32_t *end, bool *kick)
{
	struct tern_ring *ring = &rq->ring;
	uint32_t next;
	int err = 0;

	*kick = false;
	tern_lock_take(&rq->lock);
	for (next = ring->index; wr; wr = wr->next, next++) {
		err = ENOMEM;
		if (tern_ring_full(ring, next))
			break;
		err = fill_recv(rq, tern_ring_entry(ring, next), wr);
		if (err)
			break;
	}
	if (next != ring->index) {
		tern_ring_publish(ring, next);
		*kick = tern_ring_flags(ring) & TERN_RING_KICK;
	}
	tern_lock_drop(&rq->lock);

	*end = next;
	if (err)
		*bad_wr = wr;
	return err;
}

int tern_qp_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	int err, ring_err = 0;
	uint32_t end;
	bool kick;

	if (ibqp->srq) {
		*bad_wr = wr;
		return EINVAL;
	}

	err = post_recvs(&qp->rq, wr, bad_wr, &end, &kick);
	if (kick)
		ring_err = tern_doorbell_ring(ibqp->context, qp->qpn, false);
	/* see tern_qp_publish_sends() */
	if (!ring_err || tern_ring_has_ended(&qp->rq.ring, end))
		return err;
	*bad_wr = wr;
	return ring_err;
}

/* An SRQ is never flushed, so it needs no doorbell. */
int tern_srq_post_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr)
{
	uint32_t end;
	bool kick;

	return post_recvs(&to_tern_srq(srq)->rq, wr, bad_wr, &end, &kick);
}
