// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Shared receive queues. */
#include <linux/delay.h>
#include <net/sock.h>

#include "kverbs.h"

#define N	100
#define ROOM	64

static int stock(struct kv_test *t, struct kv_op *op, struct kv_mem *m, int n)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++) {
		struct ib_sge d = kv_sge(m, i * 300, 300);

		ret = kv_post_recv(&t->pair.b, &op[i], &d, 1);
	}
	return ret;
}

static int send_from(struct kv_test *t, struct kv_op *op, struct kv_mem *m,
		     int from, int n)
{
	int i, ret = 0;

	for (i = from; i < from + n && !ret; i++) {
		struct ib_sge s = kv_sge(m, i * 300, 300);

		ret = kv_post_send(&t->pair.a, &op[i], IB_WR_SEND,
				   IB_SEND_SIGNALED, &s, 1, 0);
	}
	for (i = from; i < from + n && !ret; i++)
		ret = kv_ok(&t->pair.a, &op[i]);
	return ret;
}

/* @first messages, then set the limit, then the rest */
static int limit_event(struct kv_test *t)
{
	struct ib_srq_attr attr = { .srq_limit = N / 2 };
	struct kv_end *b = &t->pair.b;
	struct kv_mem *src = kv_mem(&t->pair.a, N * 300);
	struct kv_mem *dst = kv_mem(b, N * 300);
	struct kv_op *op = kv_ops(t, 2 * N);
	int i, ret;

	if (!src || !dst || !op)
		return -ENOMEM;
	kv_fill(src->va, N * 300, 1, 0);
	ret = stock(t, op, dst, N) ?: ib_modify_srq(b->srq, &attr, IB_SRQ_LIMIT) ?:
	      send_from(t, op + N, src, 0, N / 2) ?: kv_ok(b, &op[N / 2 - 1]);
	if (ret)
		return ret;
	/* half are left: the next message reaches the limit */
	if (atomic_read(&b->events[IB_EVENT_SRQ_LIMIT_REACHED]))
		return kv_fail(-EPROTO, "the limit event came early");
	ret = send_from(t, op + N, src, N / 2, N / 2) ?:
	      kv_wait_event(b, IB_EVENT_SRQ_LIMIT_REACHED);
	for (i = 0; i < N && !ret; i++)
		ret = kv_ok(b, &op[i]);
	if (ret)
		return ret;
	if (atomic_read(&b->events[IB_EVENT_SRQ_LIMIT_REACHED]) != 1)
		return kv_fail(-EPROTO, "the limit event came more than once");
	ret = ib_query_srq(b->srq, &attr);
	if (ret || attr.srq_limit)
		return kv_fail(-EPROTO, "the limit is still armed (%d)", ret);
	return kv_check(dst->va, N * 300, 1, 0);
}

/* the completion names the QP, which the user of an SRQ cannot know otherwise */
static int names_qp(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2);
	int ret;

	if (!op)
		return -ENOMEM;
	ret = kv_post_recv(b, &op[0], NULL, 0) ?:
	      kv_post_send(&t->pair.a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED,
			   NULL, 0, 0) ?:
	      kv_ok(b, &op[0]);
	if (!ret && op[0].wc.qp != b->qp)
		return kv_fail(-EPROTO, "the completion names another QP");
	return ret;
}

/* the SRQ is empty when a message arrives: the stream ends, the SRQ does not */
static int empty(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, 1);

	if (!op)
		return -ENOMEM;
	return kv_post_send(&t->pair.a, op, IB_WR_SEND, IB_SEND_SIGNALED, NULL,
			    0, 0) ?:
	       kv_wait(&t->pair.a, op) ?: kv_wait_gone(&t->pair.b);
}

/* since 6.11 the core waits up to a minute for IB_EVENT_QP_LAST_WQE_REACHED */
static int drain(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mem *dst = kv_mem(b, N * 300);
	struct kv_op *op = kv_ops(t, N);
	unsigned long t0;
	int ret;

	if (!dst || !op)
		return -ENOMEM;
	ret = stock(t, op, dst, N);
	t0 = jiffies;
	ib_drain_qp(b->qp);
	if (time_after(jiffies, t0 + kv_timeout()))
		ret = kv_fail(-ETIMEDOUT, "it took %u ms",
			      jiffies_to_msecs(jiffies - t0));
	/* each drain waits for an event, and there is only one: drain once */
	rdma_destroy_qp(b->id);
	b->qp = NULL;
	return ret;
}

static int post_until_full(struct kv_test *t)
{
	return kv_fill_recvs(&t->pair.b, &t->pair.a) ?: kv_pair_works(&t->pair);
}

/*
 * b reads, and a answers when it has a Send to follow, so that both come in one segment.
 * A process holds the lock of a's socket until then.
 */
static int answer_and_send(struct kv_test *t, struct kv_op *op, struct kv_mem *src,
			   struct ib_sge *sink)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct ib_sge s = kv_sge(src, 0, ROOM);
	struct sock *sk = kv_sock(a);
	int ret;

	if (!sk)
		return kv_fail(-ENOTCONN, "end a has no TCP connection");
	lock_sock(sk);
	ret = kv_post_rdma(b, &op[0], IB_WR_RDMA_READ, IB_SEND_SIGNALED, sink, 1,
			   src->dma, a->pd->unsafe_global_rkey) ?:
	      kv_wait_backlog(sk) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1, 0);
	release_sock(sk);
	sock_put(sk);
	return ret;
}

static int read_and_receive(struct kv_test *t, u32 lkey)
{
	struct kv_mem *src = kv_mem(&t->pair.a, ROOM);
	struct kv_mem *dst = kv_mem(&t->pair.b, 2 * ROOM);
	struct kv_end *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 3);
	struct ib_sge sink, d;

	if (!src || !dst || !op)
		return -ENOMEM;
	sink = kv_sge(dst, 0, ROOM);
	d = kv_sge(dst, ROOM, ROOM);
	sink.lkey = lkey;
	d.lkey = lkey;
	kv_fill(src->va, ROOM, 1, 0);
	return kv_post_recv(b, &op[2], &d, 1) ?: answer_and_send(t, op, src, &sink) ?:
	       kv_ok(b, &op[0]) ?: kv_want(b, &op[2], IB_WC_LOC_PROT_ERR) ?:
	       kv_check(dst->va, ROOM, 1, 0) ?: kv_check_zero(dst->va + ROOM, ROOM);
}

/*
 * The queue's PD is not the QP's, whose MR both the Read and the receive name: that it may
 * be the sink of the Read says nothing of the Send that comes with the Response. (The MR
 * is one of all memory: a device may look up a fast registration each time.)
 */
static int foreign_key(struct kv_test *t)
{
	struct ib_pd *pd = t->pair.b.pd;
	struct ib_mr *mr = pd->device->ops.get_dma_mr(pd, IB_ACCESS_LOCAL_WRITE);
	int ret;

	if (IS_ERR(mr))
		return kv_fail(PTR_ERR(mr), "get_dma_mr: %pe", mr);
	mr->device = pd->device;
	mr->pd = pd;
	ret = read_and_receive(t, mr->lkey);
	kv_pair_destroy(&t->pair);
	pd->device->ops.dereg_mr(mr, NULL);
	return ret;
}

const struct kv_case kv_srq_cases[] = {
	{ "srq__limit_event", limit_event, { .srq = true } },
	{ "srq__completion_names_the_qp", names_qp, { .srq = true } },
	{ "srq__empty_ends_the_stream", empty,
	  { .srq = true, .bystander = true } },
	{ "srq__full", post_until_full, { .srq = true } },
	{ "srq__drain_qp", drain, { .srq = true } },
	{ "srq__key_of_the_qps_pd_is_refused", foreign_key,
	  { .srq = true, .srq_pd = true, .bystander = true } },
	{}
};
