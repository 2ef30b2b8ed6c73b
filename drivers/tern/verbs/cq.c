// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The verbs of completion queues. */
#include "cq.h"

#include "core/ring.h"
#include "device/device.h"
#include "queue/cq.h"
#include "qp.h"
#include "ucontext.h"

/* ---- polling by kernel users --------------------------------------------- */

static const enum ib_wc_opcode wc_opcodes[] = {
	[TERN_WR_SEND] = IB_WC_SEND,
	[TERN_WR_SEND_WITH_INV] = IB_WC_SEND,
	[TERN_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[TERN_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[TERN_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[TERN_WR_REG_MR] = IB_WC_REG_MR,
	[TERN_WR_READ_WITH_INV] = IB_WC_RDMA_READ,
	[TERN_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[TERN_WR_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[TERN_WR_FETCH_ADD] = IB_WC_FETCH_ADD,
	[TERN_WR_CMP_SWAP] = IB_WC_COMP_SWAP,
	[TERN_WR_RECV] = IB_WC_RECV,
	[TERN_WR_RECV_IMM] = IB_WC_RECV_RDMA_WITH_IMM,
};

static void fill_wc(const struct tern_cqe *cqe, struct ib_qp *ibqp,
		    struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = wc_opcodes[cqe->opcode];
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = ibqp;
	wc->port_num = 1;
	if (cqe->flags & TERN_CQE_WITH_INV) {
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->inv_stag;
	}
	/*
	 * One word holds either. A peer may send both: the key is the one that a ULP
	 * must be able to rely on.
	 */
	if (cqe->flags & TERN_CQE_WITH_IMM && !(cqe->flags & TERN_CQE_WITH_INV)) {
		wc->wc_flags = IB_WC_WITH_IMM;
		memcpy(&wc->ex.imm_data, cqe->imm, sizeof(wc->ex.imm_data));
	}
}

/* its entry makes room, see struct tern_ring_hdr */
static void count_polled(struct tern_stream *s, const struct tern_cqe *cqe)
{
	u32 *polled = cqe->opcode < TERN_WR_RECV ? &s->sq.polled : &s->rq.own.polled;

	WRITE_ONCE(*polled, *polled + 1);
}

/* false: the completion is of a destroyed QP, and dropped */
static bool poll_one(struct tern_cq *cq, struct ib_wc *wc)
{
	const struct tern_cqe *cqe = tern_queue_entry(&cq->q, cq->cons++);
	struct tern_stream *s;

	lockdep_assert_held(&cq->lock);
	rcu_read_lock();
	s = tern_stream_peek(&to_tern_dev(cq->ibcq.device)->streams, cqe->qpn);
	if (s) {
		count_polled(s, cqe);
		fill_wc(cqe, &tern_qp_of(s)->ibqp, wc);
	}
	rcu_read_unlock();
	return s;
}

int tern_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	unsigned long flags;
	int n = 0;

	/* a program polls its mapped ring */
	if (ibcq->uobject)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	while (n < num_entries && cq->cons != cq->prod)
		n += poll_one(cq, &wc[n]);
	tern_ring_publish(&cq->q.hdr->cons, cq->cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int tern_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	bool next = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP;
	bool missed = tern_cq_arm(to_tern_cq(ibcq),
				  next ? TERN_CQ_ARM_NEXT :
					 TERN_CQ_ARM_SOLICITED);

	return (flags & IB_CQ_REPORT_MISSED_EVENTS) && missed;
}

/* ---- moderation ----------------------------------------------------------- */

/* an event that is held back now keeps its timer */
int tern_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	bool off = !count || !period;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	WRITE_ONCE(cq->hold_count, off ? 0 : count);
	WRITE_ONCE(cq->hold_us, off ? 0 : period);
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

/* ---- life ---------------------------------------------------------------- */

static int check_init(const struct ib_cq *ibcq,
		      const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > TERN_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	return 0;
}

/* describe @q to the program: the ring of @cq, or its next one */
static int describe_ring(const struct tern_cq *cq, const struct tern_queue *q,
			 struct ib_udata *udata)
{
	struct tern_uresp_create_cq resp = { .cqn = cq->cqn };

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	tern_queue_describe(q, &resp.ring);
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int tern_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct ib_ucontext *ctx = tern_udata_context(udata);
	struct tern_device *dev = to_tern_dev(ibcq->device);
	struct tern_cq *cq = to_tern_cq(ibcq);
	int ret;

	ret = check_init(ibcq, attr);
	if (ret)
		return ret;
	if (!atomic_add_unless(&dev->num_cq, 1, TERN_MAX_CQ))
		return -ENOMEM;
	cq->stats = dev->stats;
	cq->cqn = atomic_inc_return(&dev->next_cqn);
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->losses = &dev->streams.losses;
	ret = tern_cq_init(cq, ctx, attr->cqe);
	if (ret)
		goto err_count;
	ret = describe_ring(cq, &cq->q, udata);
	if (ret)
		goto err_ring;
	ibcq->cqe = cq->q.size;
	return 0;

err_ring:
	tern_cq_exit(cq);
err_count:
	atomic_dec(&dev->num_cq);
	return ret;
}

/* no QP completes here any more: only the timer of a held event may still use the CQ */
int tern_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct tern_cq *cq = to_tern_cq(ibcq);

	tern_cq_exit(cq);
	atomic_dec(&to_tern_dev(ibcq->device)->num_cq);
	return 0;
}

/* ---- resize --------------------------------------------------------------- */

/*
 * The indices keep their values, so only the memory changes for both sides. A
 * program learns of the new ring before it is in use, and may neither poll nor
 * arm until it has mapped it.
 */
static int replace_ring(struct tern_cq *cq, struct tern_queue *new,
			struct ib_udata *udata)
{
	int ret = describe_ring(cq, new, udata);

	return ret ?: tern_cq_switch(cq, new);
}

int tern_resize_cq(struct ib_cq *ibcq, TERN_RESIZE_CQE cqe,
		   struct ib_udata *udata)
{
	struct ib_ucontext *ctx = tern_udata_context(udata);
	struct tern_cq *cq = to_tern_cq(ibcq);
	struct tern_queue other = {};
	int ret;

	/* older kernels pass an int: the cast makes a negative one too large */
	if (!cqe || (u32)cqe > TERN_MAX_CQE)
		return -EINVAL;
	ret = tern_queue_create(&other, ctx, cqe, sizeof(struct tern_cqe));
	if (ret)
		return ret;
	mutex_lock(&cq->resize_lock);
	ret = replace_ring(cq, &other, udata);
	mutex_unlock(&cq->resize_lock);
	/* the old ring; the new one after an error */
	tern_queue_destroy(&other);
	return ret;
}
