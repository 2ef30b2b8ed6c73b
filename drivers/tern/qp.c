// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs: their references, verbs, and end (RFC 5040 6.2). */
#include "qp.h"

#include <linux/rcupdate.h>
#include <rdma/uverbs_ioctl.h>

#include "device.h"
#include "grace.h"
#include "mem.h"
#include "sock.h"
#include "sq.h"
#include "stream.h"
#include "tx_sched.h"
#include "ucontext.h"

#define QPN_LIMIT	XA_LIMIT(2, 0xffffff)

/* ---- references --------------------------------------------------------- */

static void release(struct kref *ref)
{
	struct tern_qp *qp = container_of(ref, struct tern_qp, ref);

	qp->ops->released(qp);
}

void tern_qp_get(struct tern_qp *qp)
{
	kref_get(&qp->ref);
}

void tern_qp_put(struct tern_qp *qp)
{
	kref_put(&qp->ref, release);
}

/* the memory stays for a grace period after tern_destroy_qp()'s xa_erase() */
struct tern_qp *tern_qp_find(struct tern_device *dev, u32 qpn)
{
	struct tern_qp *qp;

	rcu_read_lock();
	qp = xa_load(&dev->qps, qpn);
	if (qp && !kref_get_unless_zero(&qp->ref))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

int tern_qp_bind(struct tern_qp *qp, struct tern_stream_user *user)
{
	int ret = -EISCONN;

	spin_lock_bh(&qp->state_lock);
	if (!qp->user && READ_ONCE(qp->state) == QP_IDLE) {
		user->ops->get(user);
		qp->user = user;
		ret = 0;
	}
	spin_unlock_bh(&qp->state_lock);
	return ret;
}

void tern_qp_unbind(struct tern_qp *qp, struct tern_stream_user *user)
{
	bool bound;

	spin_lock_bh(&qp->state_lock);
	/* an attached stream keeps its user until the QP is destroyed */
	bound = qp->user == user && !qp->sock;
	if (bound)
		qp->user = NULL;
	spin_unlock_bh(&qp->state_lock);
	if (bound)
		user->ops->put(user);
}

/* ---- what the stream calls ---------------------------------------------- */

static void async_event(struct tern_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

static void released(struct tern_qp *qp)
{
	complete(&qp->released);
}

static const struct tern_stream_ops qp_stream_ops = {
	.async_event = async_event,
	.released = released,
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

static void destroy_queues(struct tern_qp *qp)
{
	tern_rq_exit(&qp->rq);
	tern_sq_exit(&qp->sq);
}

static int create_queues(struct tern_qp *qp, const struct ib_qp_init_attr *init,
			 struct ib_ucontext *ctx)
{
	int ret = tern_sq_init(&qp->sq, ctx, init);

	if (ret)
		return ret;
	ret = tern_rq_init(&qp->rq, ctx, init);
	if (ret)
		tern_sq_exit(&qp->sq);
	return ret;
}

static void tell_cap(const struct tern_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.max_wr;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_inline_data = qp->sq.max_inline;
	cap->max_recv_wr = qp->rq.own.max_wr;
	cap->max_recv_sge = qp->rq.own.max_sge;
}

static int tell_program(const struct tern_qp *qp, struct ib_udata *udata)
{
	struct tern_uresp_create_qp resp = {
		.qpn = tern_qpn(qp),
		.max_inline = qp->sq.max_inline,
	};

	tern_queue_describe(&qp->sq.q, &resp.sq);
	tern_queue_describe(&qp->rq.own.q, &resp.rq);
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void init_scopes(struct tern_qp *qp, const struct ib_qp_init_attr *init,
			bool kernel)
{
	qp->scope = (struct tern_scope) {
		.keys = &qp->dev->mem,
		.pd = qp->ibqp.pd,
		.stream = atomic64_inc_return(&qp->dev->next_serial),
		.kernel = kernel,
	};
	qp->recv_scope = qp->scope;
	if (init->srq)
		qp->recv_scope.pd = init->srq->pd;
}

static void init_qp(struct tern_qp *qp, const struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	qp->ops = &qp_stream_ops;
	kref_init(&qp->ref);
	init_completion(&qp->released);
	spin_lock_init(&qp->state_lock);
	mutex_init(&qp->idle_lock);
	qp->dev = to_tern_dev(qp->ibqp.device);
	init_scopes(qp, init, !udata);
	qp->state = QP_IDLE;
	/* a new QP of an RNIC is Idle, which verbs call INIT */
	qp->ib_state = IB_QPS_INIT;
	qp->term_rx = TERN_TERM_NONE;
	qp->term_tx = TERN_TERM_NONE;
	qp->tx.term_code = TERN_TERM_NONE;
	qp->startup.term_tx = TERN_TERM_NONE;
	qp->startup.term_rx = TERN_TERM_NONE;
	if (udata)
		qp->uctx = rdma_udata_to_drv_context(udata, struct tern_ucontext,
						     ibctx);
	tern_tx_sched_init_qp(qp);
}

int tern_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		   struct ib_udata *udata)
{
	struct tern_device *dev = to_tern_dev(ibqp->device);
	struct tern_qp *qp = to_tern_qp(ibqp);
	u32 qpn;
	int ret;

	ret = check_init(init);
	if (ret)
		return ret;
	init_qp(qp, init, udata);
	if (!atomic_add_unless(&dev->num_qp, 1, TERN_MAX_QP))
		return -ENOMEM;
	ret = create_queues(qp, init, tern_udata_context(udata));
	if (ret)
		goto err_count;
	/* reserve the number only: no lookup may find a half-made QP */
	ret = xa_alloc_cyclic(&dev->qps, &qpn, NULL, QPN_LIMIT, &dev->next_qpn,
			      GFP_KERNEL);
	if (ret < 0)
		goto err_queues;
	ibqp->qp_num = qpn;
	qp->sq.qpn = qpn;
	qp->rq.qpn = qpn;
	ret = udata ? tell_program(qp, udata) : 0;
	if (ret)
		goto err_qpn;
	tell_cap(qp, &init->cap);
	ret = xa_err(xa_store(&dev->qps, qpn, qp, GFP_KERNEL));
	if (ret)
		goto err_qpn;
	return 0;

err_qpn:
	xa_erase(&dev->qps, qpn);
err_queues:
	destroy_queues(qp);
err_count:
	atomic_dec(&dev->num_qp);
	return ret;
}

/*
 * Every context that can see the QP ends, in this order:
 * 1. the stream is aborted, or a startup in progress is;
 * 2. the socket's callbacks do not come to the QP any more;
 * 3. no lookup by number finds the QP; a lookup before that has a reference;
 * 4. the last reference goes: iw_cm's with its CLOSE, or failed startup, event;
 *    the endpoint's startup work; a doorbell that was rung;
 * 5. its timer and works are disabled: only the above started them.
 */
int tern_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct tern_device *dev = qp->dev;

	tern_qp_close(qp, true);
	tern_stream_detach(qp);
	xa_erase(&dev->qps, tern_qpn(qp));
	tern_grace_period(dev, qp->uctx);
	tern_qp_put(qp);
	wait_for_completion(&qp->released);
	tern_tx_sched_exit_qp(qp);

	if (qp->user)
		qp->user->ops->put(qp->user);
	if (qp->sock) {
		tern_tx_exit(qp);
		tern_sock_put(qp->sock);
	}
	tern_readq_exit(&qp->readq);
	destroy_queues(qp);
	mutex_destroy(&qp->idle_lock);
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
	int ret = -EINVAL;

	spin_lock_bh(&qp->state_lock);
	if (READ_ONCE(qp->state) == QP_IDLE) {
		qp->ib_state = to;
		ret = 0;
	}
	spin_unlock_bh(&qp->state_lock);
	return ret;
}

static int modify_state(struct tern_qp *qp, enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return modify_idle(qp, to);
	case IB_QPS_RTS:
		return READ_ONCE(qp->state) == QP_RTS ? 0 : -EINVAL;
	case IB_QPS_SQD:
		if (READ_ONCE(qp->state) == QP_IDLE)
			return -EINVAL;
		tern_qp_close(qp, false);
		return 0;
	case IB_QPS_ERR:
		tern_qp_close(qp, true);
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
 * All other calls mean what they say.
 */
static bool is_rdma_cms(const struct tern_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	lockdep_assert_held(&qp->state_lock);
	return !qp->rights_said && mask & IB_QP_STATE &&
	       attr->qp_state == IB_QPS_INIT && !attr->qp_access_flags &&
	       !(mask & IB_QP_PKEY_INDEX);
}

static void set_access(struct tern_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	u32 access = peer_access(attr->qp_access_flags);

	spin_lock_bh(&qp->state_lock);
	if (is_rdma_cms(qp, attr, mask))
		access = TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ;
	qp->rights_said = true;
	WRITE_ONCE(qp->access, access);
	spin_unlock_bh(&qp->state_lock);
}

int tern_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata)
{
	struct tern_qp *qp = to_tern_qp(ibqp);

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
	if (mask & IB_QP_STATE)
		return modify_state(qp, attr->qp_state);
	return 0;
}

static enum ib_qp_state ib_state(const struct tern_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case QP_IDLE:
		return qp->ib_state;
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
	struct tern_qp *qp = to_tern_qp(ibqp);

	memset(attr, 0, sizeof(*attr));
	attr->qp_state = ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->path_mtu = ib_mtu_int_to_enum(READ_ONCE(qp->dev->netdev->mtu));
	attr->qp_access_flags = ib_access(READ_ONCE(qp->access));
	attr->port_num = 1;
	attr->max_rd_atomic = qp->params.ord;
	attr->max_dest_rd_atomic = qp->params.ird;
	tell_cap(qp, &attr->cap);

	memset(init, 0, sizeof(*init));
	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR;
	init->cap = attr->cap;
	return 0;
}

/* ---- posting ------------------------------------------------------------ */

int tern_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	int ret;

	if (qp->uctx) {
		*bad_wr = wr;
		return -EINVAL;
	}
	ret = tern_sq_post(&qp->sq, wr, bad_wr);
	if (tern_sq_must_ring(&qp->sq))
		tern_tx_kick(qp);
	return ret;
}

int tern_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	int ret;

	if (qp->uctx || qp->rq.srq) {
		*bad_wr = wr;
		return -EINVAL;
	}
	ret = tern_recvq_post(&qp->rq.own, wr, bad_wr);
	if (tern_rq_must_ring(&qp->rq))
		tern_tx_kick(qp);
	return ret;
}
