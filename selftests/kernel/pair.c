// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Two QPs, connected through rdma_cm. */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/slab.h>

#include "kverbs.h"

#define HELLO	"from a"
#define ANSWER	"from b"

/* ---- events ------------------------------------------------------------------- */

static void async_event(struct ib_event *event, void *context)
{
	struct kv_end *e = context;

	if (event->event < KV_EVENTS)
		atomic_inc(&e->events[event->event]);
}

int kv_wait_event(struct kv_end *e, enum ib_event_type event)
{
	unsigned long end = jiffies + kv_timeout();

	while (!atomic_read(&e->events[event])) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "end %s: no event '%s'",
				       e->name, ib_event_msg(event));
		usleep_range(100, 1000);
	}
	return 0;
}

int kv_wait_gone(struct kv_end *e)
{
	if (wait_for_completion_timeout(&e->gone, kv_timeout()))
		return 0;
	return kv_fail(-ETIMEDOUT, "end %s: no DISCONNECTED", e->name);
}

static int check_private(struct rdma_cm_event *event, const char *text)
{
	const struct rdma_conn_param *p = &event->param.conn;

	/* MPA adds no padding, but the CM may report more bytes than were sent */
	if (p->private_data_len < strlen(text) ||
	    memcmp(p->private_data, text, strlen(text)))
		return kv_fail(-EBADMSG, "private data of %u bytes is wrong",
			       p->private_data_len);
	return 0;
}

static int connect_request(struct kv_end *l, struct rdma_cm_id *id,
			   struct rdma_cm_event *event)
{
	struct kv_end *b = &l->pair->b;

	if (b->id)
		return -EBUSY;
	b->id = id;
	id->context = b;
	b->cm_event = event->event;
	b->cm_status = check_private(event, HELLO);
	complete(&b->cm);
	return 0;
}

static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kv_end *e = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return connect_request(e, id, event);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		complete_all(&e->removed);
		fallthrough;
	case RDMA_CM_EVENT_DISCONNECTED:
		complete_all(&e->gone);
		return 0;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		e->cm_event = event->event;
		e->cm_status = event->status;
		if (!e->cm_status && e == &e->pair->a &&
		    event->event == RDMA_CM_EVENT_ESTABLISHED)
			e->cm_status = check_private(event, ANSWER);
		complete(&e->cm);
		return 0;
	}
}

static int wait_cm(struct kv_end *e, enum rdma_cm_event_type want)
{
	if (!wait_for_completion_timeout(&e->cm, kv_timeout()))
		return kv_fail(-ETIMEDOUT, "end %s: no '%s'", e->name,
			       rdma_event_msg(want));
	if (e->cm_event != want || e->cm_status)
		return kv_fail(-ECONNREFUSED, "end %s: '%s' (%d), not '%s'",
			       e->name, rdma_event_msg(e->cm_event),
			       e->cm_status, rdma_event_msg(want));
	return 0;
}

/* ---- objects ------------------------------------------------------------------- */

static void comp_handler(struct ib_cq *cq, void *context)
{
	struct kv_end *e = context;

	if (cq == e->rcq)
		atomic_inc(&e->comp_events);
}

static struct ib_cq *new_cq(struct kv_end *e, u32 cqe)
{
	static const enum ib_poll_context ctx[] = {
		[KV_SOFTIRQ] = IB_POLL_SOFTIRQ,
		[KV_DIRECT] = IB_POLL_DIRECT,
		[KV_WORKQUEUE] = IB_POLL_WORKQUEUE,
		[KV_UNBOUND] = IB_POLL_UNBOUND_WORKQUEUE,
	};
	struct ib_device *dev = e->id->device;
	struct ib_cq_init_attr attr = { .cqe = cqe };
	struct ib_cq *cq;

	switch (e->pair->opts->poll) {
	case KV_RAW:
		cq = ib_create_cq(dev, comp_handler, async_event, e, &attr);
		/* ib_drain_qp() polls such a CQ itself */
		if (!IS_ERR(cq))
			cq->poll_ctx = IB_POLL_DIRECT;
		return cq;
	case KV_POOL:
		return ib_cq_pool_get(dev, cqe, -1, IB_POLL_SOFTIRQ);
	default:
		return ib_alloc_cq(dev, e, cqe, 0, ctx[e->pair->opts->poll]);
	}
}

static u32 depth(const struct kv_end *e)
{
	return e->pair->opts->depth ?: 128;
}

static u32 cqe(const struct kv_end *e)
{
	return e->pair->opts->cqe ?: 2 * depth(e) + 16;
}

static void free_cq(struct kv_end *e, struct ib_cq **cq)
{
	if (IS_ERR_OR_NULL(*cq)) {
		*cq = NULL;
		return;
	}
	switch (e->pair->opts->poll) {
	case KV_RAW:
		ib_destroy_cq(*cq);
		break;
	case KV_POOL:
		ib_cq_pool_put(*cq, cqe(e));
		break;
	default:
		ib_free_cq(*cq);
	}
	*cq = NULL;
}

/* the PD of @e, or one of the queue's own */
static struct ib_pd *new_srq_pd(struct kv_end *e)
{
	struct ib_pd *pd;

	if (!e->pair->opts->srq_pd)
		return e->pd;
	pd = ib_alloc_pd(e->id->device, 0);
	if (!IS_ERR(pd))
		e->srq_pd = pd;
	return pd;
}

static int new_srq(struct kv_end *e)
{
	struct ib_srq_init_attr attr = {
		.event_handler = async_event,
		.srq_context = e,
		.attr = { .max_wr = depth(e), .max_sge = KV_MAX_SGE },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_srq *srq;
	struct ib_pd *pd;

	if (e != &e->pair->b || !e->pair->opts->srq)
		return 0;
	pd = new_srq_pd(e);
	if (IS_ERR(pd))
		return kv_fail(PTR_ERR(pd), "ib_alloc_pd for the SRQ");
	srq = ib_create_srq(pd, &attr);
	if (IS_ERR(srq))
		return kv_fail(PTR_ERR(srq), "ib_create_srq");
	e->srq = srq;
	return 0;
}

static int new_qp(struct kv_end *e)
{
	const struct kv_opts *o = e->pair->opts;
	struct ib_qp_init_attr attr = {
		.event_handler = async_event,
		.qp_context = e,
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.srq = e->srq,
		.cap = {
			.max_send_wr = depth(e),
			.max_recv_wr = e->srq ? 0 : depth(e),
			.max_send_sge = KV_MAX_SGE,
			.max_recv_sge = e->srq ? 0 : KV_MAX_SGE,
			.max_inline_data = 200,
			.max_rdma_ctxs = o->rw,
		},
		.sq_sig_type = o->sig_all ? IB_SIGNAL_ALL_WR :
					    IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = e->id->port_num,
	};
	int ret = rdma_create_qp(e->id, e->pd, &attr);

	if (ret)
		return kv_fail(ret, "rdma_create_qp: %d", ret);
	e->qp = e->id->qp;
	if (attr.cap.max_send_wr < depth(e) ||
	    attr.cap.max_inline_data < 200)
		return kv_fail(-EINVAL, "the QP was granted less than requested");
	return 0;
}

/* Return: the end of the first pair whose PD @e shares, or NULL */
static struct kv_end *twin(const struct kv_end *e)
{
	struct kv_test *t = e->pair->t;

	if (!e->pair->opts->same_pd || e->pair != &t->by)
		return NULL;
	return e == &t->by.a ? &t->pair.a : &t->pair.b;
}

/* with IB_PD_UNSAFE_GLOBAL_RKEY the peer may use the PD's DMA MR */
static int new_end(struct kv_end *e)
{
	if (twin(e))
		e->pd = twin(e)->pd;
	else
		e->pd = ib_alloc_pd(e->id->device, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(e->pd)) {
		int ret = PTR_ERR(e->pd);

		e->pd = NULL;
		return kv_fail(ret, "ib_alloc_pd: %d", ret);
	}
	e->scq = new_cq(e, cqe(e));
	e->rcq = new_cq(e, cqe(e));
	if (IS_ERR(e->scq) || IS_ERR(e->rcq))
		return kv_fail(-ENOMEM, "no CQ (%pe, %pe)", e->scq, e->rcq);
	return new_srq(e) ?: new_qp(e);
}

static void init_end(struct kv_pair *p, struct kv_end *e, const char *name)
{
	memset(e, 0, sizeof(*e));
	e->pair = p;
	e->name = name;
	init_completion(&e->cm);
	init_completion(&e->gone);
	init_completion(&e->removed);
}

/* ---- connecting ----------------------------------------------------------------- */

static struct rdma_cm_id *new_id(struct kv_end *e)
{
	struct rdma_cm_id *id = rdma_create_id(kv_net(e), cm_handler, e,
					       RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id)) {
		kv_fail(PTR_ERR(id), "rdma_create_id: %pe", id);
		return NULL;
	}
	return id;
}

static struct sockaddr *sockaddr_of(struct sockaddr_storage *copy,
				    const struct kv_end *e, __be16 port)
{
	*copy = *kv_addr(e);
	/* the port is at the same offset in both families */
	((struct sockaddr_in *)copy)->sin_port = port;
	return (struct sockaddr *)copy;
}

static int start_listen(struct kv_pair *p)
{
	struct kv_end *l = &p->l;
	struct sockaddr_storage sa;
	int ret;

	l->id = new_id(l);
	if (!l->id)
		return -ENOMEM;
	/* the CM chooses a port */
	ret = rdma_bind_addr(l->id, sockaddr_of(&sa, &p->b, 0)) ?:
	      rdma_listen(l->id, 4);
	return ret ? kv_fail(ret, "listen: %d", ret) : 0;
}

static __be16 listen_port(const struct kv_pair *p)
{
	return ((struct sockaddr_in *)&p->l.id->route.addr.src_addr)->sin_port;
}

static int resolve_peer(struct kv_pair *p)
{
	struct kv_end *a = &p->a;
	struct sockaddr_storage from, to;
	int ret;

	a->id = new_id(a);
	if (!a->id)
		return -ENOMEM;
	ret = rdma_resolve_addr(a->id, sockaddr_of(&from, a, 0),
				sockaddr_of(&to, &p->b, listen_port(p)),
				5000) ?:
	      wait_cm(a, RDMA_CM_EVENT_ADDR_RESOLVED) ?:
	      rdma_resolve_route(a->id, 5000) ?:
	      wait_cm(a, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return ret ? kv_fail(ret, "resolve: %d", ret) : 0;
}

static void conn_param(struct kv_pair *p, struct rdma_conn_param *param,
		       const char *text)
{
	*param = (struct rdma_conn_param) {
		.private_data = text,
		.private_data_len = strlen(text),
		.responder_resources = p->opts->ord ?: 16,
		.initiator_depth = p->opts->ord ?: 16,
	};
}

static int accept(struct kv_pair *p)
{
	struct rdma_conn_param param;
	struct kv_end *b = &p->b;
	int ret;

	ret = wait_cm(b, RDMA_CM_EVENT_CONNECT_REQUEST) ?: new_end(b);
	if (ret)
		return ret;
	conn_param(p, &param, ANSWER);
	rdma_lock_handler(b->id);
	ret = rdma_accept(b->id, &param);
	rdma_unlock_handler(b->id);
	return ret ? kv_fail(ret, "rdma_accept: %d", ret) : 0;
}

static int connect(struct kv_pair *p)
{
	struct rdma_conn_param param;
	int ret;

	conn_param(p, &param, HELLO);
	ret = rdma_connect(p->a.id, &param);
	if (ret)
		return kv_fail(ret, "rdma_connect: %d", ret);
	return accept(p) ?: wait_cm(&p->a, RDMA_CM_EVENT_ESTABLISHED) ?:
	       wait_cm(&p->b, RDMA_CM_EVENT_ESTABLISHED);
}

int kv_pair_open(struct kv_test *t, struct kv_pair *p,
		 const struct kv_opts *opts)
{
	int ret;

	p->t = t;
	p->opts = opts;
	init_end(p, &p->l, "l");
	init_end(p, &p->a, "a");
	init_end(p, &p->b, "b");
	p->open = true;
	ret = start_listen(p) ?: resolve_peer(p) ?: new_end(&p->a) ?: connect(p);
	/* no other connection is expected */
	if (p->l.id)
		rdma_destroy_id(p->l.id);
	p->l.id = NULL;
	return ret;
}

/* ---- the end ---------------------------------------------------------------------- */

void kv_pair_disconnect(struct kv_pair *p)
{
	if (p->a.qp)
		rdma_disconnect(p->a.id);
	if (p->b.qp)
		rdma_disconnect(p->b.id);
}

void kv_end_destroy(struct kv_end *e)
{
	if (e->qp) {
		ib_drain_qp(e->qp);
		rdma_destroy_qp(e->id);
	}
	e->qp = NULL;
	free_cq(e, &e->scq);
	free_cq(e, &e->rcq);
	if (e->srq)
		ib_destroy_srq(e->srq);
	e->srq = NULL;
}

void kv_pair_destroy(struct kv_pair *p)
{
	if (!p->open)
		return;
	kv_pair_disconnect(p);
	kv_end_destroy(&p->a);
	kv_end_destroy(&p->b);
}

/* destroy the id last: after that rdma_cm lets the device be removed */
void kv_end_close(struct kv_end *e)
{
	if (e->srq_pd)
		ib_dealloc_pd(e->srq_pd);
	if (e->pd && !twin(e))
		ib_dealloc_pd(e->pd);
	e->srq_pd = NULL;
	e->pd = NULL;
	if (e->id)
		rdma_destroy_id(e->id);
	e->id = NULL;
}

void kv_pair_close(struct kv_pair *p)
{
	if (!p->open)
		return;
	kv_pair_destroy(p);
	kv_end_close(&p->a);
	kv_end_close(&p->b);
	p->open = false;
}

int kv_qp_state(struct kv_end *e)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int ret = ib_query_qp(e->qp, &attr, IB_QP_STATE, &init);

	return ret ?: attr.qp_state;
}

static int one_message(struct kv_end *from, struct kv_end *to, u32 seed)
{
	struct kv_op *op = kv_ops(from->pair->t, 2);
	struct kv_mem *src = kv_mem(from, 3000), *dst = kv_mem(to, 3000);
	struct ib_sge s, d;

	if (!op || !src || !dst)
		return -ENOMEM;
	kv_fill(src->va, 3000, seed, 0);
	s = kv_sge(src, 0, 3000);
	d = kv_sge(dst, 0, 3000);
	return kv_post_recv(to, &op[0], &d, 1) ?:
	       kv_post_send(from, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1,
			    0) ?:
	       kv_ok(from, &op[1]) ?: kv_ok(to, &op[0]) ?:
	       kv_check(dst->va, 3000, seed, 0);
}

/* a receive queue that was full works as before */
static int empty_recvs(struct kv_end *e, struct kv_end *peer,
		       struct kv_op *recv, u32 n)
{
	struct kv_op *op = kv_ops(e->pair->t, n);
	int ret = op ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < n && !ret; i++)
		ret = kv_post_send(peer, &op[i], IB_WR_SEND, IB_SEND_SIGNALED,
				   NULL, 0, 0) ?:
		      kv_ok(peer, &op[i]) ?: kv_ok(e, &recv[i]);
	return ret;
}

int kv_fill_recvs(struct kv_end *e, struct kv_end *peer)
{
	u32 i, n = depth(e);
	struct kv_op *op = kv_ops(e->pair->t, n + 1);
	int ret = op ? 0 : -ENOMEM;

	for (i = 0; i < n && !ret; i++)
		ret = kv_post_recv(e, &op[i], NULL, 0);
	if (ret)
		return ret;
	ret = kv_post_recv(e, &op[n], NULL, 0);
	if (ret != -ENOMEM)
		return kv_fail(-EPROTO, "a post to a full queue returned %d", ret);
	return empty_recvs(e, peer, op, n);
}

int kv_pair_works(struct kv_pair *p)
{
	return one_message(&p->a, &p->b, 11) ?: one_message(&p->b, &p->a, 12);
}
