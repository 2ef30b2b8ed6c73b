// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Completion queues: moderation, when their completions make room, and, where the core
 * offers it, resize.
 */
#include "kverbs.h"

#define N		40
#define PERIOD_US	60000
#define DEPTH		16
#define MOST		(10 * DEPTH)

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

static int post_write(struct kv_end *e, struct kv_op *op)
{
	return kv_post_rdma(e, op, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, NULL, 0, 0, 0);
}

static int post_recv(struct kv_end *e, struct kv_op *op)
{
	return kv_post_recv(e, op, NULL, 0);
}

/* check that there is room for @want posts, and for no more within 20 ms */
static int has_room(struct kv_end *e, struct kv_op *op, int want,
		    int (*post)(struct kv_end *e, struct kv_op *op))
{
	int tries = 0, n = 0, ret;

	while (tries < 200 && n < MOST) {
		ret = post(e, &op[n]);
		if (!ret) {
			n++;
			continue;
		}
		if (ret != -ENOMEM)
			return kv_fail(ret, "post %d returned %d", n, ret);
		tries++;
		usleep_range(100, 200);
	}
	if (n == want)
		return 0;
	/* the CQ may have overflowed, and would lose the completion of a drain */
	rdma_destroy_qp(e->id);
	e->qp = NULL;
	return kv_fail(-EPROTO, "%d posts have room, not %d", n, want);
}

static int all_ok(struct kv_end *e, struct kv_op *op, int n)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = kv_ok(e, &op[i]);
	return ret;
}

/* The CQ is as long as the queue. */
static int room_of_sends(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 2 * MOST);

	if (!op)
		return -ENOMEM;
	return has_room(a, op, a->scq->cqe, post_write) ?:
	       all_ok(a, op, a->scq->cqe) ?:
	       has_room(a, op + MOST, a->scq->cqe, post_write) ?:
	       all_ok(a, op + MOST, a->scq->cqe);
}

/* fill b's receive queue, and empty it by messages whose completions make room at the poll */
static int one_round(struct kv_test *t, struct kv_op *recv, struct kv_op *send)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	int i, ret;

	ret = has_room(b, recv, DEPTH, post_recv);
	for (i = 0; i < DEPTH && !ret; i++)
		ret = kv_post_send(a, &send[i], IB_WR_SEND, IB_SEND_SIGNALED, NULL, 0, 0) ?:
		      kv_ok(a, &send[i]);
	return ret ?: has_room(b, recv + DEPTH, 0, post_recv) ?: all_ok(b, recv, DEPTH);
}

static int room_of_receives(struct kv_test *t)
{
	struct kv_op *recv = kv_ops(t, 2 * MOST), *send = kv_ops(t, 2 * DEPTH);

	if (!recv || !send)
		return -ENOMEM;
	return one_round(t, recv, send) ?: one_round(t, recv + MOST, send + DEPTH);
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
	{ "post__sends_have_room_when_they_are_polled", room_of_sends,
	  { .poll = KV_RAW, .depth = DEPTH, .cqe = DEPTH } },
	{ "post__receives_have_room_when_they_are_polled", room_of_receives,
	  { .poll = KV_RAW, .depth = DEPTH, .cqe = DEPTH } },
#ifdef KV_HAVE_RESIZE_CQ
	{ "resize_cq__keeps_unpolled_completions_in_order", resized,
	  { .poll = KV_RAW } },
#endif
	{}
};
