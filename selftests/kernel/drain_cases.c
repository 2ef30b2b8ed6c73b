// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The end of a QP while it is busy: drain, disconnect, destroy. */
#include <net/sock.h>

#include "kverbs.h"

#define BUSY	100
#define LEN	(256 * 1024)
#define DEEP	4096
/* Writes without a byte that a socket takes before the first is acknowledged */
#define SHALLOW	1000

/*
 * struct load - more requests than TCP takes at once, in both directions
 * @op: of each end BUSY receives, then BUSY Sends and Writes
 */
struct load {
	struct kv_op *op[2];
	struct kv_mem *src[2];
	struct kv_mem *dst[2];
};

static struct kv_end *end_of(struct kv_test *t, int i)
{
	return i ? &t->pair.b : &t->pair.a;
}

static int post_recvs(struct kv_test *t, struct load *l, int me)
{
	int i, ret = 0;

	for (i = 0; i < BUSY && !ret; i++) {
		struct ib_sge d = kv_sge(l->dst[me], LEN, LEN);

		ret = kv_post_recv(end_of(t, me), &l->op[me][i], &d, 1);
	}
	return ret;
}

/* every second request is a Write, every fifth a Read */
static int post_sends(struct kv_test *t, struct load *l, int me)
{
	struct kv_end *e = end_of(t, me), *peer = end_of(t, !me);
	int i, ret = 0;

	for (i = 0; i < BUSY && !ret; i++) {
		struct ib_sge s = kv_sge(l->src[me], 0, LEN);
		struct kv_op *op = &l->op[me][BUSY + i];

		if (i % 5 == 4) {
			s = kv_sge(l->dst[me], 0, LEN);
			ret = kv_post_rdma(e, op, IB_WR_RDMA_READ,
					   IB_SEND_SIGNALED, &s, 1,
					   l->src[!me]->dma,
					   peer->pd->unsafe_global_rkey);
		} else if (i & 1) {
			ret = kv_post_rdma(e, op, IB_WR_RDMA_WRITE,
					   IB_SEND_SIGNALED, &s, 1,
					   l->dst[!me]->dma,
					   peer->pd->unsafe_global_rkey);
		} else {
			ret = kv_post_send(e, op, IB_WR_SEND, IB_SEND_SIGNALED,
					   &s, 1, 0);
		}
	}
	return ret;
}

static int start_load(struct kv_test *t, struct load *l)
{
	int i;

	for (i = 0; i < 2; i++) {
		l->op[i] = kv_ops(t, 2 * BUSY);
		l->src[i] = kv_mem(end_of(t, i), LEN);
		l->dst[i] = kv_mem(end_of(t, i), 2 * LEN);
		if (!l->op[i] || !l->src[i] || !l->dst[i])
			return -ENOMEM;
	}
	return post_recvs(t, l, 0) ?: post_recvs(t, l, 1) ?:
	       post_sends(t, l, 0) ?: post_sends(t, l, 1);
}

/* each completes once, in order, and none succeeds after the first failure */
static int check_row(struct kv_op *op, const char *what)
{
	bool failed = false;
	int i;

	for (i = 0; i < BUSY; i++) {
		if (atomic_read(&op[i].hits) != 1)
			return kv_fail(-EPROTO, "%s %d: %d completions", what,
				       i, atomic_read(&op[i].hits));
		if (i && op[i].order < op[i - 1].order)
			return kv_fail(-EPROTO, "%s %d completed before its predecessor", what, i);
		if (failed && op[i].wc.status != IB_WC_WR_FLUSH_ERR)
			return kv_fail(-EPROTO, "%s %d: '%s' after a failure",
				       what, i,
				       ib_wc_status_msg(op[i].wc.status));
		failed |= op[i].wc.status != IB_WC_SUCCESS;
		/* byte_len of a flushed one would be 0 */
		if (!failed && op[i].wc.opcode == IB_WC_RECV &&
		    op[i].wc.byte_len != LEN)
			return kv_fail(-EPROTO, "%s %d: %u bytes", what, i,
				       op[i].wc.byte_len);
	}
	return 0;
}

static int check_end(struct load *l, int i)
{
	return check_row(l->op[i], "receive") ?:
	       check_row(l->op[i] + BUSY, "send");
}

static int drain_qp(struct kv_test *t)
{
	struct load l;
	int ret = start_load(t, &l);

	if (ret)
		return ret;
	ib_drain_qp(t->pair.a.qp);
	ret = check_end(&l, 0);
	if (ret)
		return ret;
	ib_drain_qp(t->pair.b.qp);
	return check_end(&l, 1);
}

static int drain_sq(struct kv_test *t)
{
	struct load l;
	int ret = start_load(t, &l);

	if (ret)
		return ret;
	ib_drain_sq(t->pair.a.qp);
	return check_row(l.op[0] + BUSY, "send");
}

static int drain_rq(struct kv_test *t)
{
	struct load l;
	int ret = start_load(t, &l);

	if (ret)
		return ret;
	ib_drain_rq(t->pair.a.qp);
	return check_row(l.op[0], "receive");
}

/* drain an idle QP, twice */
static int drain_idle(struct kv_test *t)
{
	ib_drain_qp(t->pair.a.qp);
	ib_drain_qp(t->pair.a.qp);
	ib_drain_qp(t->pair.b.qp);
	return 0;
}

static int succeeded(struct kv_op *op)
{
	int i, n = 0;

	for (i = 0; i < BUSY; i++)
		n += op[i].wc.status == IB_WC_SUCCESS;
	return n;
}

/*
 * One end disconnects: both get the event, and all requests complete. Those that it had
 * posted are sent first and arrive: of 5 requests 2 are Sends.
 */
static int disconnect(struct kv_test *t)
{
	struct load l;
	int ret = start_load(t, &l);

	if (ret)
		return ret;
	rdma_disconnect(t->pair.a.id);
	ret = kv_wait_gone(&t->pair.a) ?: kv_wait_gone(&t->pair.b);
	if (ret)
		return ret;
	ib_drain_qp(t->pair.a.qp);
	ib_drain_qp(t->pair.b.qp);
	if (succeeded(l.op[0] + BUSY) != BUSY ||
	    succeeded(l.op[1]) != BUSY * 2 / 5)
		return kv_fail(-EPROTO, "%d were sent, %d arrived",
			       succeeded(l.op[0] + BUSY), succeeded(l.op[1]));
	return check_end(&l, 0) ?: check_end(&l, 1);
}

/* both ends disconnect at the same time */
static int disconnect_both(struct kv_test *t)
{
	struct load l;
	int ret = start_load(t, &l);

	if (ret)
		return ret;
	kv_pair_disconnect(&t->pair);
	ret = kv_wait_gone(&t->pair.a) ?: kv_wait_gone(&t->pair.b);
	if (ret)
		return ret;
	ib_drain_qp(t->pair.a.qp);
	ib_drain_qp(t->pair.b.qp);
	return check_end(&l, 0) ?: check_end(&l, 1);
}

/* destroy a QP without drain and disconnect: the peer gets the event */
static int destroy(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct load l;
	int ret = start_load(t, &l);

	if (ret)
		return ret;
	rdma_destroy_qp(a->id);
	a->qp = NULL;
	ret = kv_wait_gone(b);
	if (ret)
		return ret;
	ib_drain_qp(b->qp);
	return check_end(&l, 1);
}

static int in_order(const struct kv_op *op, int n)
{
	int i;

	for (i = 1; i < n; i++)
		if (op[i].order < op[i - 1].order)
			return kv_fail(-EPROTO, "entry %d completed before its predecessor", i);
	return 0;
}

/* the peer ends the connection: softirq flushes some entries, a worker the rest */
static int flush_deep(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2 * DEEP);
	int i, ret = 0;

	if (!op)
		return -ENOMEM;
	for (i = 0; i < DEEP && !ret; i++)
		ret = kv_post_recv(a, &op[i], NULL, 0);
	if (ret)
		return ret;
	rdma_destroy_qp(b->id);
	b->qp = NULL;
	for (i = 0; i < DEEP && !ret; i++)
		ret = kv_want(a, &op[i], IB_WC_WR_FLUSH_ERR);
	/* then requests that are posted during the flush or after it */
	for (i = DEEP; i < 2 * DEEP && !ret; i++)
		ret = kv_post_send(a, &op[i], IB_WR_SEND, 0, NULL, 0, 0);
	for (i = DEEP; i < 2 * DEEP && !ret; i++)
		ret = kv_want(a, &op[i], IB_WC_WR_FLUSH_ERR);
	return ret ?: in_order(op, 2 * DEEP) ?: kv_wait_gone(a);
}

/*
 * A Read, and @n Writes that have to wait for its end. BHs are off, so that all are posted
 * before any is sent.
 */
static int post_deep(struct kv_test *t, struct kv_op *op, int n)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *to = kv_mem(a, LEN), *from = kv_mem(b, LEN);
	u32 rkey = b->pd->unsafe_global_rkey;
	struct ib_sge s;
	int i, ret;

	if (!to || !from || !op)
		return -ENOMEM;
	s = kv_sge(to, 0, LEN);
	local_bh_disable();
	ret = kv_post_rdma(a, &op[0], IB_WR_RDMA_READ, IB_SEND_SIGNALED, &s, 1, from->dma, rkey);
	for (i = 1; i <= n && !ret; i++)
		ret = kv_post_rdma(a, &op[i], IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, NULL, 0,
				   from->dma, rkey);
	local_bh_enable();
	return ret;
}

/* the end of the Read completes @n Writes as well */
static int read_ends(struct kv_test *t, int n)
{
	struct kv_op *op = kv_ops(t, n + 1);
	int i, ret = post_deep(t, op, n);

	for (i = 0; i <= n && !ret; i++)
		ret = kv_ok(&t->pair.a, &op[i]);
	return ret ?: in_order(op, n + 1);
}

/* in one turn of softirq, the end of the Read would complete all that waits for it */
static int complete_deep(struct kv_test *t)
{
	return read_ends(t, DEEP - 1);
}

/* around the 256 entries of a turn */
static int complete_turn(struct kv_test *t)
{
	int n, ret = 0;

	for (n = 254; n <= 257 && !ret; n++)
		ret = read_ends(t, n);
	return ret;
}

/* a Read of nothing; after the Response an entry of b is next */
static int read_once(struct kv_test *t, struct kv_op *op)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *from = kv_mem(b, LEN);

	if (!from)
		return -ENOMEM;
	return kv_post_rdma(a, op, IB_WR_RDMA_READ, IB_SEND_SIGNALED, NULL, 0, from->dma,
			    b->pd->unsafe_global_rkey) ?: kv_ok(a, op);
}

/* post_deep(); when the Read has come to b, a Send of b, which goes before the Response */
static int send_before_response(struct kv_test *t, struct kv_op *op, struct kv_op *send)
{
	struct sock *sk = kv_sock(&t->pair.b);
	int ret;

	if (!sk)
		return kv_fail(-ENOTCONN, "no TCP connection");
	lock_sock(sk);
	ret = post_deep(t, op, SHALLOW) ?: kv_wait_backlog(sk) ?:
	      kv_post_send(&t->pair.b, send, IB_WR_SEND, 0, NULL, 0, 0);
	release_sock(sk);
	sock_put(sk);
	return ret;
}

/* b's Send, which finds no receive, comes while the Read is open: a flushes in some turns */
static int fail_deep(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, SHALLOW + 3);
	int i, ret, good = 0;

	if (!op)
		return -ENOMEM;
	ret = read_once(t, &op[SHALLOW + 2]) ?: send_before_response(t, op, &op[SHALLOW + 1]);
	for (i = 0; i <= SHALLOW && !ret; i++) {
		ret = kv_wait(&t->pair.a, &op[i]);
		good += op[i].wc.status == IB_WC_SUCCESS;
	}
	if (!ret && op[0].wc.status == IB_WC_SUCCESS)
		ret = kv_fail(-EAGAIN, "the Read ended first: nothing was tested");
	if (!ret && good)
		ret = kv_fail(-EPROTO, "%d Writes succeeded after a Read that failed", good);
	return ret ?: in_order(op, SHALLOW + 1);
}

static int flush_lone(struct kv_test *t, struct kv_end *e)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct kv_op *op = kv_ops(t, DEEP);
	int i, ret = 0;

	if (!op)
		return -ENOMEM;
	for (i = 0; i < DEEP && !ret; i++)
		ret = kv_post_recv(e, &op[i], NULL, 0);
	ret = ret ?: ib_modify_qp(e->qp, &attr, IB_QP_STATE);
	for (i = 0; i < DEEP && !ret; i++)
		ret = kv_want(e, &op[i], IB_WC_WR_FLUSH_ERR);
	return ret ?: in_order(op, DEEP);
}

/*
 * A QP that never connects has no socket, whose lock guards the others: the process that
 * moves it to ERROR flushes it, in several turns, and completion handlers run inside.
 */
static int flush_unconnected(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct ib_qp_init_attr attr = {
		.send_cq = a->scq,
		.recv_cq = a->rcq,
		.cap = { .max_send_wr = 1, .max_recv_wr = DEEP,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IB_QPT_RC,
		.port_num = a->id->port_num,
	};
	struct ib_qp *connected = a->qp;
	struct ib_qp *lone = ib_create_qp(a->pd, &attr);
	int ret;

	if (IS_ERR(lone))
		return PTR_ERR(lone);
	a->qp = lone;
	ret = flush_lone(t, a);
	a->qp = connected;
	ib_destroy_qp(lone);
	return ret;
}

/* a QP in ERROR accepts posts, and flushes them */
static int post_in_error(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 40);
	int i, ret;

	if (!op)
		return -ENOMEM;
	ib_drain_qp(a->qp);
	if (kv_qp_state(a) != IB_QPS_ERR)
		return kv_fail(-EPROTO, "the QP is in state %d",
			       kv_qp_state(a));
	for (i = 0, ret = 0; i < 20 && !ret; i++)
		ret = kv_post_recv(a, &op[i], NULL, 0) ?:
		      kv_post_send(a, &op[20 + i], IB_WR_SEND, 0, NULL, 0, 0);
	for (i = 0; i < 40 && !ret; i++)
		ret = kv_want(a, &op[i], IB_WC_WR_FLUSH_ERR);
	return ret;
}

const struct kv_case kv_drain_cases[] = {
	{ "drain_sq__under_load", drain_sq },
	{ "drain_rq__under_load", drain_rq },
	{ "drain_qp__under_load", drain_qp },
	{ "drain_qp__workqueue", drain_qp, { .poll = KV_WORKQUEUE } },
	{ "drain_qp__direct", drain_qp, { .poll = KV_DIRECT } },
	{ "drain_qp__idle_and_twice", drain_idle },
	{ "disconnect__under_load", disconnect },
	{ "disconnect__both_ends_under_load", disconnect_both },
	{ "destroy_qp__under_load", destroy, { .bystander = true } },
	{ "post__in_error_is_flushed", post_in_error },
	{ "read__whose_end_completes_a_deep_queue", complete_deep, { .depth = DEEP } },
	{ "read__whose_end_completes_a_turn", complete_turn, { .depth = 512 } },
	{ "flush__a_queue_of_what_was_sent", fail_deep, { .depth = DEEP } },
	{ "flush__a_deep_queue_yields_the_cpu", flush_deep, { .depth = DEEP } },
	{ "flush__a_deep_queue_that_never_connects", flush_unconnected, { .depth = DEEP } },
	{}
};
