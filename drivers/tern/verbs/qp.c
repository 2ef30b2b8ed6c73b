// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The verbs of queue pairs, and their end (RFC 5040 6.2). */
#include "qp.h"

#include <rdma/uverbs_ioctl.h>

#include "core/mem_check.h"
#include "device/device.h"
#include "mem/access.h"
#include "stream/state.h"
#include "stream/table.h"
#include "ucontext.h"

/* A larger one takes 8 KiB of slab. Our own builds ask, with sparse; others have to work. */
#ifdef __CHECKER__
static_assert(sizeof(struct tern_qp) <= 4096);
#endif

/* ---- what the stream calls ---------------------------------------------- */

static void raise_async_event(struct tern_stream *s, enum ib_event_type type)
{
	struct ib_qp *ibqp = &tern_qp_of(s)->ibqp;
	struct ib_event event = {
		.device = ibqp->device,
		.element.qp = ibqp,
		.event = type,
	};

	if (ibqp->event_handler)
		ibqp->event_handler(&event, ibqp->qp_context);
}

static void stream_released(struct tern_stream *s)
{
	complete(&tern_qp_of(s)->released);
}

static const struct tern_stream_ops qp_stream_ops = {
	.async_event = raise_async_event,
	.released = stream_released,
};

/* ---- create ------------------------------------------------------------- */

static int check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC || init->create_flags)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > TERN_MAX_QP_WR ||
	    cap->max_recv_wr > TERN_MAX_QP_WR ||
	    cap->max_send_sge > TERN_MAX_SGE ||
	    cap->max_recv_sge > TERN_MAX_SGE ||
	    cap->max_inline_data > TERN_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static void destroy_queues(struct tern_stream *s)
{
	tern_rq_exit(&s->rq);
	tern_sq_exit(&s->sq);
}

static int create_queues(struct tern_stream *s,
			 const struct ib_qp_init_attr *init,
			 struct ib_ucontext *ctx)
{
	int ret = tern_sq_init(&s->sq, ctx, init);
	struct tern_settings settings;

	if (ret)
		return ret;
	tern_settings_get(&to_tern_dev(init->send_cq->device)->settings, &settings);
	s->sq.extended = settings.extensions != TERN_EXTENSIONS_OFF;
	ret = tern_rq_init(&s->rq, ctx, init);
	if (ret)
		tern_sq_exit(&s->sq);
	return ret;
}

static void fill_cap(const struct tern_stream *s, struct ib_qp_cap *cap)
{
	cap->max_send_wr = s->sq.max_wr;
	cap->max_send_sge = s->sq.max_sge;
	cap->max_inline_data = s->sq.max_inline;
	cap->max_recv_wr = s->rq.own.max_wr;
	cap->max_recv_sge = s->rq.own.max_sge;
}

static int describe_qp(const struct tern_stream *s, struct ib_udata *udata)
{
	struct tern_uresp_create_qp resp = {
		.qpn = s->qpn,
		.max_inline = s->sq.max_inline,
	};

	tern_queue_describe(&s->sq.q, &resp.sq);
	tern_queue_describe(&s->rq.own.q, &resp.rq);
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void init_stream(struct tern_stream *s, struct tern_device *dev,
			struct ib_pd *pd, struct ib_srq *srq,
			const struct ib_ucontext *ctx)
{
	s->ops = &qp_stream_ops;
	s->stats = dev->stats;
	s->ctx = ctx;
	s->scope = (struct tern_scope) {
		.keys = &dev->mem,
		.pd = pd,
		.stream = tern_stream_new_serial(&dev->streams),
		.kernel = !ctx,
	};
	s->recv_scope = s->scope;
	if (srq)
		s->recv_scope.pd = srq->pd;
	tern_stream_init(s);
}

static void set_number(struct tern_qp *qp, u32 qpn)
{
	struct tern_stream *s = &qp->stream;

	qp->ibqp.qp_num = qpn;
	s->qpn = qpn;
	s->sq.qpn = qpn;
	s->rq.qpn = qpn;
}

int tern_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		   struct ib_udata *udata)
{
	struct ib_ucontext *ctx = tern_udata_context(udata);
	struct tern_device *dev = to_tern_dev(ibqp->device);
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct tern_stream *s = &qp->stream;
	u32 qpn;
	int ret;

	ret = check_init(init);
	if (ret)
		return ret;
	init_completion(&qp->released);
	tern_owned_init(&qp->owned, ctx ? to_tern_uctx(ctx) : NULL);
	/* a new QP of an RNIC is Idle, which verbs call INIT */
	qp->ib_state = IB_QPS_INIT;
	init_stream(s, dev, ibqp->pd, init->srq, ctx);
	if (!atomic_add_unless(&dev->num_qp, 1, TERN_MAX_QP))
		return -ENOMEM;
	ret = create_queues(s, init, ctx);
	if (ret)
		goto err_count;
	ret = tern_stream_reserve(&dev->streams, &qpn);
	if (ret)
		goto err_queues;
	set_number(qp, qpn);
	ret = udata ? describe_qp(s, udata) : 0;
	if (ret)
		goto err_qpn;
	fill_cap(s, &init->cap);
	ret = tern_stream_enter(&dev->streams, s);
	if (ret)
		goto err_qpn;
	tern_qp_joins(qp);
	return 0;

err_qpn:
	tern_stream_remove(&dev->streams, qpn);
err_queues:
	destroy_queues(s);
err_count:
	atomic_dec(&dev->num_qp);
	return ret;
}

/*
 * Every context that can see the QP ends, in this order:
 * 1. the stream is aborted, or a startup in progress is;
 * 2. the socket's callbacks do not come to the QP any more;
 * 3. no lookup by number finds the QP; a lookup before that has a reference;
 * 4. the last reference goes. Holders: iw_cm, until its CLOSE or failed startup
 *    event; the endpoint; a doorbell in progress;
 * 5. its timer and works are disabled: only the above started them.
 */
int tern_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct tern_device *dev = to_tern_dev(ibqp->device);
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct tern_stream *s = &qp->stream;

	/* when create_qp() fails, the core of 6.12 has a bare udata; it tracks no such QP */
	tern_qp_leaves(qp, ibqp->res.valid ? udata : NULL);
	tern_stream_put(s);
	wait_for_completion(&qp->released);
	tern_tx_sched_cancel(s);

	tern_stream_exit(s);
	destroy_queues(s);
	atomic_dec(&dev->num_qp);
	return 0;
}

/* ---- modify and query --------------------------------------------------- */

static u32 peer_access(int ib_access)
{
	return tern_access_from_ib(ib_access) & TERN_ACCESS_REMOTE;
}

static int ib_access(u32 access)
{
	int flags = 0;

	if (access & TERN_ACCESS_REMOTE_WRITE)
		flags |= IB_ACCESS_REMOTE_WRITE;
	if (access & TERN_ACCESS_REMOTE_READ)
		flags |= IB_ACCESS_REMOTE_READ;
	if (access & TERN_ACCESS_REMOTE_ATOMIC)
		flags |= IB_ACCESS_REMOTE_ATOMIC;
	return flags;
}

/* verbs states before a connection, which only the connection manager starts */
static int modify_idle(struct tern_qp *qp, enum ib_qp_state to)
{
	if (READ_ONCE(qp->stream.state) != QP_IDLE)
		return -EINVAL;
	WRITE_ONCE(qp->ib_state, to);
	return 0;
}

static int modify_state(struct tern_qp *qp, enum ib_qp_state to)
{
	struct tern_stream *s = &qp->stream;

	switch (to) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return modify_idle(qp, to);
	case IB_QPS_RTS:
		return READ_ONCE(s->state) == QP_RTS ? 0 : -EINVAL;
	case IB_QPS_SQD:
		if (READ_ONCE(s->state) == QP_IDLE)
			return -EINVAL;
		tern_stream_close(s, false);
		return 0;
	case IB_QPS_ERR:
		tern_stream_close(s, true);
		return 0;
	default:
		return -EINVAL;
	}
}

/*
 * rdma_cm moves the QP of an active end to INIT when it is created, before it
 * has a connection, with access flags of 0 that are not meant: such a QP gets
 * the rights that iw_cm gives to every other one. Such a call is the first that
 * sets rights, and it lacks the P_Key index that verbs demand for this move.
 * All other calls mean what they say, but that both rights bring the one for atomics: see
 * qp_rights().
 */
static bool is_rdma_cms(const struct tern_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	lockdep_assert_held(&qp->stream.lock);
	return !qp->rights_said && mask & IB_QP_STATE &&
	       attr->qp_state == IB_QPS_INIT && !attr->qp_access_flags &&
	       !(mask & IB_QP_PKEY_INDEX);
}

static void set_access(struct tern_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	u32 access = peer_access(attr->qp_access_flags);
	struct tern_stream *s = &qp->stream;

	spin_lock_bh(&s->lock);
	if (is_rdma_cms(qp, attr, mask))
		access = TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ;
	qp->rights_said = true;
	WRITE_ONCE(s->access, access);
	spin_unlock_bh(&s->lock);
}

int tern_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	int ret;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & IB_QP_CAP)
		return -EOPNOTSUPP;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > TERN_MAX_RD_ATOM)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > TERN_MAX_RD_ATOM)
		return -EINVAL;
	if (mask & IB_QP_ACCESS_FLAGS)
		set_access(qp, attr, mask);
	if (!(mask & IB_QP_STATE))
		return 0;
	/* iw_cm comes without a reference, and a close waits for the socket */
	tern_stream_get(&qp->stream);
	ret = modify_state(qp, attr->qp_state);
	tern_stream_put(&qp->stream);
	return ret;
}

static enum ib_qp_state ib_state(const struct tern_qp *qp)
{
	switch (READ_ONCE(qp->stream.state)) {
	case QP_IDLE:
		return READ_ONCE(qp->ib_state);
	case QP_RTS:
		return IB_QPS_RTS;
	case QP_CLOSING:
	case QP_FIN_WAIT:
		return IB_QPS_SQD;
	default:
		return IB_QPS_ERR;
	}
}

int tern_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init)
{
	const struct net_device *netdev = to_tern_dev(ibqp->device)->netdev;
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct tern_stream *s = &qp->stream;
	struct tern_mpa_params params = tern_stream_params(s);

	memset(attr, 0, sizeof(*attr));
	attr->qp_state = ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->path_mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	attr->qp_access_flags = ib_access(READ_ONCE(s->access));
	attr->port_num = 1;
	attr->max_rd_atomic = params.ord;
	attr->max_dest_rd_atomic = params.ird;
	fill_cap(s, &attr->cap);

	memset(init, 0, sizeof(*init));
	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->sq_sig_type = s->sq.sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR;
	init->cap = attr->cap;
	return 0;
}

/* ---- posting ------------------------------------------------------------ */

int tern_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr)
{
	struct tern_stream *s = tern_stream_of(ibqp);
	int ret;

	if (s->ctx) {
		*bad_wr = wr;
		return -EINVAL;
	}
	ret = tern_sq_post(&s->sq, wr, bad_wr);
	if (tern_sq_must_ring(&s->sq))
		tern_tx_post(s);
	return ret;
}

int tern_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct tern_stream *s = tern_stream_of(ibqp);
	int ret;

	if (s->ctx || s->rq.srq) {
		*bad_wr = wr;
		return -EINVAL;
	}
	ret = tern_recvq_post(&s->rq.own, wr, bad_wr);
	if (tern_rq_must_ring(&s->rq))
		tern_stream_kick(s);
	return ret;
}
