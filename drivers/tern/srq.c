// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues. */
#include "srq.h"

#include <rdma/uverbs_ioctl.h>

#include "device.h"
#include "ucontext.h"

static void raise_limit(struct tern_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/*
 * Disarms the limit when it is reached; true when the event is due. An event is memory
 * of the core's until the program fetches it: who arms again and again below the
 * limit gets the next one with the next receive that is taken. The level is the
 * program's word, which it could change at will.
 */
static bool limit_reached(struct tern_srq *srq)
{
	unsigned long flags;
	bool reached;

	spin_lock_irqsave(&srq->rq.lock, flags);
	reached = srq->limit && srq->rq.cons != srq->told &&
		  tern_recvq_level(&srq->rq) < srq->limit;
	if (reached) {
		WRITE_ONCE(srq->limit, 0);
		srq->told = srq->rq.cons;
	}
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return reached;
}

int tern_srq_take(struct tern_srq *srq, struct tern_recv *recv)
{
	int ret = tern_recvq_take(&srq->rq, recv);

	if (READ_ONCE(srq->limit) && limit_reached(srq))
		raise_limit(srq);
	return ret;
}

static int check_init(const struct ib_srq_init_attr *init)
{
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > TERN_MAX_SRQ_WR ||
	    init->attr.max_sge > TERN_MAX_SGE)
		return -EINVAL;
	return 0;
}

static int answer_create(struct tern_srq *srq, struct ib_udata *udata)
{
	struct tern_uresp_create_srq resp = { .srqn = srq->srqn };

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	tern_queue_describe(&srq->rq.q, &resp.ring);
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int tern_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		    struct ib_udata *udata)
{
	struct ib_ucontext *ctx = tern_udata_context(udata);
	struct tern_device *dev = to_tern_dev(ibsrq->device);
	struct tern_srq *srq = to_tern_srq(ibsrq);
	int ret;

	ret = check_init(init);
	if (ret)
		return ret;
	if (!atomic_add_unless(&dev->num_srq, 1, TERN_MAX_SRQ))
		return -ENOMEM;
	srq->dev = dev;
	srq->srqn = atomic_inc_return(&dev->next_srqn);
	ret = tern_recvq_create(&srq->rq, ctx, init->attr.max_wr,
				init->attr.max_sge);
	if (ret)
		goto err_count;
	ret = answer_create(srq, udata);
	if (ret)
		goto err_recvq;
	/* the first event needs no receive that was taken */
	srq->told = srq->rq.cons - 1;
	init->attr.max_wr = srq->rq.max_wr;
	init->attr.max_sge = srq->rq.max_sge;
	/* an SRQ is born with its limit disarmed, whatever the field says */
	init->attr.srq_limit = 0;
	return 0;

err_recvq:
	tern_recvq_destroy(&srq->rq);
err_count:
	atomic_dec(&dev->num_srq);
	return ret;
}

int tern_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		    enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);
	unsigned long flags;

	/* no IB_DEVICE_SRQ_RESIZE */
	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->rq.max_wr)
		return -EINVAL;
	spin_lock_irqsave(&srq->rq.lock, flags);
	WRITE_ONCE(srq->limit, attr->srq_limit);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (limit_reached(srq))
		raise_limit(srq);
	return 0;
}

int tern_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);

	attr->max_wr = srq->rq.max_wr;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

int tern_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);

	tern_recvq_destroy(&srq->rq);
	atomic_dec(&srq->dev->num_srq);
	return 0;
}

int tern_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	return tern_recvq_post(&to_tern_srq(ibsrq)->rq, wr, bad_wr);
}
