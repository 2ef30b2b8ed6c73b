// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Completion queues: moderation, and, where the core offers it, resize. */
#include "kverbs.h"

#define N		40
#define PERIOD_US	60000

static int handler_called(struct kv_end *e, int before)
{
	unsigned long end = jiffies + kv_timeout();

	while (atomic_read(&e->comp_events) == before) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "the event never came");
		usleep_range(100, 200);
	}
	return 0;
}

/* one completion, fewer than the count: its event is delayed by the period, no longer */
static int moderated(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2);
	int ret, before = atomic_read(&b->comp_events);
	ktime_t start = ktime_get();
	s64 took;

	if (!op)
		return -ENOMEM;
	ret = rdma_set_cq_moderation(b->rcq, 1000, PERIOD_US);
	if (ret)
		return kv_fail(ret, "moderation is refused: %d", ret);
	ib_req_notify_cq(b->rcq, IB_CQ_NEXT_COMP);
	/* waiting for the send must not poll b's CQ */
	ret = kv_post_recv(b, &op[0], NULL, 0) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, NULL, 0,
			   0) ?:
	      handler_called(b, before);
	took = ktime_us_delta(ktime_get(), start);
	if (!ret && took < PERIOD_US)
		ret = kv_fail(-EPROTO, "the event came after %lld us", took);
	return ret ?: kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]);
}

#ifdef KV_HAVE_RESIZE_CQ
static int message(struct kv_test *t, struct kv_op *op)
{
	return kv_post_recv(&t->pair.b, &op[0], NULL, 0) ?:
	       kv_post_send(&t->pair.a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED,
			    NULL, 0, 0) ?:
	       kv_ok(&t->pair.a, &op[1]);
}

static int refused(struct ib_cq *cq, int cqe)
{
	int ret = ib_resize_cq(cq, cqe);

	return ret == -EINVAL ? 0 :
	       kv_fail(-EPROTO, "a resize to %d returned %d", cqe, ret);
}

/* N completions stay unpolled while the ring is replaced repeatedly */
static int resized(struct kv_test *t)
{
	static const int sizes[] = { 1000, N, 5000, 64 };
	struct ib_cq *cq = t->pair.b.rcq;
	struct kv_op *op = kv_ops(t, 2 * N);
	int i, ret = 0;

	if (!op)
		return -ENOMEM;
	for (i = 0; i < N && !ret; i++)
		ret = message(t, op + 2 * i);
	ret = ret ?: refused(cq, 0) ?: refused(cq, N / 2) ?:
	      refused(cq, INT_MAX) ?: refused(cq, -1);
	for (i = 0; i < ARRAY_SIZE(sizes) && !ret; i++) {
		ret = ib_resize_cq(cq, sizes[i]);
		if (ret || cq->cqe < sizes[i])
			ret = kv_fail(-EPROTO, "a resize to %d returned %d, with %d entries",
				      sizes[i], ret, cq->cqe);
	}
	for (i = 0; i < N && !ret; i++) {
		ret = kv_ok(&t->pair.b, &op[2 * i]);
		if (!ret && i && op[2 * i].order < op[2 * i - 2].order)
			ret = kv_fail(-EPROTO, "completion %d came early", i);
	}
	return ret;
}
#endif

const struct kv_case kv_cq_cases[] = {
	{ "modify_cq__a_moderated_event_waits_for_the_period", moderated,
	  { .poll = KV_RAW } },
#ifdef KV_HAVE_RESIZE_CQ
	{ "resize_cq__keeps_unpolled_completions_in_order", resized,
	  { .poll = KV_RAW } },
#endif
	{}
};
