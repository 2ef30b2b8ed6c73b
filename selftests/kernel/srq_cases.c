// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Shared receive queues. */
#include "kverbs.h"

#define N	100

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

const struct kv_case kv_srq_cases[] = {
	{ "srq__limit_event", limit_event, { .srq = true } },
	{ "srq__completion_names_the_qp", names_qp, { .srq = true } },
	{ "srq__empty_ends_the_stream", empty,
	  { .srq = true, .bystander = true } },
	{ "srq__full", post_until_full, { .srq = true } },
	{ "srq__drain_qp", drain, { .srq = true } },
	{}
};
