// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The verbs of shared receive queues. */
#include "srq.h"

#include "device/device.h"
#include "queue/srq.h"
#include "ucontext.h"

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
	srq->srqn = atomic_inc_return(&dev->next_srqn);
	ret = tern_recvq_create(&srq->rq, ctx, init->attr.max_wr,
				init->attr.max_sge);
	if (ret)
		goto err_count;
	srq->rq.shared = true;
	ret = answer_create(srq, udata);
	if (ret)
		goto err_recvq;
	/* differs from @cons: the first event does not wait for a receive */
	srq->told = srq->rq.cons - 1;
	init->attr.max_wr = srq->rq.max_wr;
	init->attr.max_sge = srq->rq.max_sge;
	/* a new SRQ has its limit disarmed, whatever the field says */
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

	/* the device has no IB_DEVICE_SRQ_RESIZE */
	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->rq.max_wr)
		return -EINVAL;
	tern_srq_arm(srq, attr->srq_limit);
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
	atomic_dec(&to_tern_dev(ibsrq->device)->num_srq);
	return 0;
}

int tern_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	return tern_recvq_post(&to_tern_srq(ibsrq)->rq, wr, bad_wr);
}
