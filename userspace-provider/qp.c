// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Create, modify, query and destroy queue pairs. */

#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "cq.h"
#include "pd.h"
#include "qp.h"
#include "tern.h"

#define INIT_ATTRS (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | \
		    IBV_QP_INIT_ATTR_CREATE_FLAGS)

/*
 * Bytes that an entry of the send queue takes apart from its list, which
 * tern_queue_create() checks. A kernel that knows no atomics leaves no room for them.
 */
static uint64_t min_sq_stride(const struct tern_qp *qp,
			      const struct tern_uresp_create_qp *uresp)
{
	uint64_t tail = uresp->max_inline, atomic = sizeof(struct tern_sge) +
		sizeof(struct tern_atomic_args);

	if (qp->features & TERN_FEATURE_7306 && tail < atomic)
		tail = atomic;
	return offsetof(struct tern_sqe, sge) + tail;
}

static int map_queues(struct tern_qp *qp, struct ibv_qp_init_attr_ex *attr,
		      const struct tern_uresp_create_qp *uresp)
{
	int fd = attr->pd->context->cmd_fd;
	bool locks = tern_pd_locks(attr->pd);
	int err;

	if (uresp->sq.stride < min_sq_stride(qp, uresp))
		return EPROTO;
	err = tern_queue_create(&qp->sq, fd, &uresp->sq,
				offsetof(struct tern_sqe, sge),
				attr->cap.max_send_wr, attr->cap.max_send_sge,
				locks);
	if (err || attr->srq)
		return err;

	err = tern_queue_create(&qp->rq, fd, &uresp->rq,
				offsetof(struct tern_rqe, sge),
				attr->cap.max_recv_wr, attr->cap.max_recv_sge,
				locks);
	if (err)
		tern_queue_destroy(&qp->sq);
	return err;
}

/* Before the first post, and so before the first completion. */
static int count_polled(struct tern_qp *qp, struct tern_context *ctx, bool has_rq)
{
	struct tern_polled *polled;

	if (!ctx->counts_silent)
		return 0;
	polled = tern_polled_get(&ctx->polled, qp->qpn);
	if (!polled)
		return ENOMEM;
	qp->sq.ring.polled = &polled->sends;
	if (has_rq)
		qp->rq.ring.polled = &polled->recvs;
	return 0;
}

static int bring_up(struct tern_qp *qp, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex known = *attr;
	struct tern_cmd_create_qp_resp resp = {};
	struct tern_cmd_create_qp cmd;
	int err;

	/* this command refuses create_flags; check_init() has checked that they are 0 */
	known.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	err = ibv_cmd_create_qp_ex(attr->pd->context, &qp->vqp, &known,
				   &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				   sizeof(resp));
	if (err)
		return err;
	attr->cap = known.cap;

	qp->qpn = resp.drv_payload.qpn;
	err = map_queues(qp, attr, &resp.drv_payload);
	if (err)
		goto err_destroy;
	err = count_polled(qp, to_tern_context(attr->pd->context), !attr->srq);
	if (err)
		goto err_unmap;
	qp->max_inline = resp.drv_payload.max_inline;
	qp->always = attr->sq_sig_all ? TERN_WR_SIGNALED : 0;
	if (to_tern_context(attr->pd->context)->lazy && attr->send_cq && attr->recv_cq)
		tern_lazy_init(qp, to_tern_cq(attr->send_cq), to_tern_cq(attr->recv_cq));
	return 0;

err_unmap:
	tern_queue_destroy(&qp->rq);
	tern_queue_destroy(&qp->sq);
err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
	return err;
}

static int check_init(const struct ibv_qp_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	if (attr->qp_type != IBV_QPT_RC ||
	    !check_comp_mask(attr->comp_mask, INIT_ATTRS))
		return EOPNOTSUPP;
	/* no create flag is supported */
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags)
		return EOPNOTSUPP;
	return 0;
}

struct ibv_qp *tern_qp_create_ex(struct ibv_context *ctx,
				 struct ibv_qp_init_attr_ex *attr)
{
	struct tern_qp *qp;
	int err;

	err = check_init(attr);
	if (err)
		goto err_errno;

	err = ENOMEM;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		goto err_errno;
	qp->features = to_tern_context(ctx)->features;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		err = tern_qp_set_wr_ops(qp, attr->send_ops_flags);
		if (err)
			goto err_free;
	}
	err = bring_up(qp, attr);
	if (err)
		goto err_free;
	qp->pd = to_tern_pd(attr->pd);
	tern_pd_get(qp->pd);
	/* ibv_cmd_create_qp_ex() clears the bit */
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		qp->vqp.comp_mask |= VERBS_QP_EX;
	return &qp->vqp.qp;

err_free:
	free(qp);
err_errno:
	errno = err;
	return NULL;
}

struct ibv_qp *tern_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp;

	qp = tern_qp_create_ex(pd->context, &ex);
	if (qp)
		attr->cap = ex.cap;
	return qp;
}

int tern_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(qp, attr, mask, init_attr, &cmd, sizeof(cmd));
}

int tern_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp cmd = {};

	return ibv_cmd_modify_qp(qp, attr, mask, &cmd, sizeof(cmd));
}

int tern_qp_destroy(struct ibv_qp *ibqp)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	int err;

	err = ibv_cmd_destroy_qp(ibqp);
	if (err)
		return err;
	tern_lazy_exit(qp);
	if (ibqp->send_cq)
		tern_cq_drop(to_tern_cq(ibqp->send_cq), qp->qpn);
	if (ibqp->recv_cq && ibqp->recv_cq != ibqp->send_cq)
		tern_cq_drop(to_tern_cq(ibqp->recv_cq), qp->qpn);
	if (qp->sq.ring.polled)
		tern_polled_put(&to_tern_context(ibqp->context)->polled, qp->qpn);
	tern_queue_destroy(&qp->rq);
	tern_queue_destroy(&qp->sq);
	tern_pd_put(qp->pd);
	free(qp);
	return 0;
}
