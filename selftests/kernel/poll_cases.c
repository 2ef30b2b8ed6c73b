// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Each way to poll completions, and the context in which their handlers run. */
#include "kverbs.h"

#define ROUNDS	100
#define LEN	1500

static void note_softirq(struct kv_op *op)
{
	if (!in_serving_softirq())
		op->arg = "not in softirq";
}

static void note_task(struct kv_op *op)
{
	if (!in_task())
		op->arg = "not in a task";
}

static void (*context_of(const struct kv_test *t))(struct kv_op *op)
{
	switch (t->pair.opts->poll) {
	case KV_SOFTIRQ:
	case KV_POOL:
		return note_softirq;
	default:
		return note_task;
	}
}

/* ROUNDS messages each way */
static int post_round(struct kv_test *t, struct kv_op *op, struct kv_mem **m,
		      u32 i)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct ib_sge s[2] = { kv_sge(m[0], i * LEN, LEN),
			       kv_sge(m[1], i * LEN, LEN) };
	struct ib_sge d[2] = { kv_sge(m[2], i * LEN, LEN),
			       kv_sge(m[3], i * LEN, LEN) };

	return kv_post_recv(a, &op[0], &d[0], 1) ?:
	       kv_post_recv(b, &op[1], &d[1], 1) ?:
	       kv_post_send(a, &op[2], IB_WR_SEND, IB_SEND_SIGNALED, &s[0], 1,
			    0) ?:
	       kv_post_send(b, &op[3], IB_WR_SEND, IB_SEND_SIGNALED, &s[1], 1,
			    0);
}

static int wait_round(struct kv_test *t, struct kv_op *op)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	int i, ret;

	ret = kv_ok(a, &op[0]) ?: kv_ok(b, &op[1]) ?: kv_ok(a, &op[2]) ?:
	      kv_ok(b, &op[3]);
	for (i = 0; i < 4 && !ret; i++)
		if (op[i].arg)
			ret = kv_fail(-EPROTO, "a completion came %s",
				      (char *)op[i].arg);
	return ret;
}

static int traffic(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, 4 * ROUNDS);
	struct kv_mem *m[4];
	int i, ret = 0;

	for (i = 0; i < 4; i++) {
		m[i] = kv_mem(i & 1 ? &t->pair.b : &t->pair.a, ROUNDS * LEN);
		if (!m[i] || !op)
			return -ENOMEM;
	}
	kv_fill(m[0]->va, ROUNDS * LEN, 1, 0);
	kv_fill(m[1]->va, ROUNDS * LEN, 2, 0);
	for (i = 0; i < 4 * ROUNDS; i++)
		op[i].then = context_of(t);
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = post_round(t, op + 4 * i, m, i);
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = wait_round(t, op + 4 * i);
	return ret ?: kv_check(m[2]->va, ROUNDS * LEN, 2, 0) ?:
	       kv_check(m[3]->va, ROUNDS * LEN, 1, 0);
}

/* a completion before the arming raises no event, but is reported as missed */
static int notify_missed(struct kv_test *t)
{
	const int next = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2);
	int ret;

	if (!op)
		return -ENOMEM;
	if (ib_req_notify_cq(b->rcq, next))
		return kv_fail(-EPROTO, "an empty CQ has missed events");
	ret = kv_post_recv(b, &op[0], NULL, 0) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, NULL, 0,
			   0) ?:
	      kv_ok(a, &op[1]);
	if (ret)
		return ret;
	while (!atomic_read(&b->comp_events))
		cond_resched();
	if (ib_req_notify_cq(b->rcq, next) <= 0)
		return kv_fail(-EPROTO, "a missed event was not reported");
	return kv_ok(b, &op[0]);
}

const struct kv_case kv_poll_cases[] = {
	{ "poll__softirq", traffic, { .poll = KV_SOFTIRQ } },
	{ "poll__direct", traffic, { .poll = KV_DIRECT } },
	{ "poll__workqueue", traffic, { .poll = KV_WORKQUEUE } },
	{ "poll__unbound_workqueue", traffic, { .poll = KV_UNBOUND } },
	{ "poll__cq_pool", traffic, { .poll = KV_POOL } },
	{ "poll__by_ib_poll_cq", traffic, { .poll = KV_RAW } },
	{ "req_notify_cq__reports_missed_events", notify_missed, { .poll = KV_RAW } },
	{}
};
