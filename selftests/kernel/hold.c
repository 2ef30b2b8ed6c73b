// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Kernel users whose device is removed. Each end frees its objects when rdma_cm reports
 * the removal, which waits for that; nothing else may keep the module loaded. And a user
 * whose path to the peer is cut.
 */
#include <linux/delay.h>

#include "kverbs.h"

#define LEN	8192
#define TOKENS	4	/* Sends that the ends send back and forth */
#define RECVS	8	/* more than there are tokens */
#define RDMAS	4	/* Writes at a time, and as many Reads */
#define OPS	(RECVS + 1 + 2 * RDMAS)
#define WARM	100	/* completions after which traffic runs */
#define SIDES	4

/*
 * struct side - an end and its requests in flight
 * @mr: memory that the peer writes and reads
 * @op: receives, one for all Sends, Writes, Reads
 * @posted: number of posted requests; each completes as
 * @good: success, or as
 * @flushed: flush error
 */
struct side {
	struct kv_end *e;
	struct side *peer;
	struct kv_mr *mr;
	struct kv_mem *mem;
	struct kv_op *op;
	atomic_t posted;
	atomic_t good;
	atomic_t flushed;
};

/* a completion handler cannot return an error: it records the reason in why */
static void count(struct side *s, int ret)
{
	if (ret)
		kv_fail(ret, "end %s: post failed (%d)", s->e->name, ret);
	else
		atomic_inc(&s->posted);
}

static void post_recv(struct side *s, struct kv_op *op)
{
	struct ib_sge d = kv_sge(s->mem, LEN, LEN);

	count(s, kv_post_recv(s->e, op, &d, 1));
}

static void post_token(struct side *s)
{
	struct ib_sge d = kv_sge(s->mem, 0, LEN / 2);

	count(s, kv_post_send(s->e, &s->op[RECVS], IB_WR_SEND,
			      IB_SEND_SIGNALED, &d, 1, 0));
}

static void post_rdma(struct side *s, struct kv_op *op)
{
	bool write = op < &s->op[OPS - RDMAS];
	struct ib_sge d = kv_sge(s->mem, write ? 0 : 2 * LEN, LEN);

	count(s, kv_post_rdma(s->e, op, write ? IB_WR_RDMA_WRITE :
						IB_WR_RDMA_READ,
			      IB_SEND_SIGNALED, &d, 1, s->peer->mr->mr->iova,
			      s->peer->mr->mr->rkey));
}

/* each success posts the next request of its kind */
static void went(struct kv_op *op)
{
	struct side *s = op->arg;
	int i = op - s->op;

	if (op->wc.status == IB_WC_WR_FLUSH_ERR) {
		atomic_inc(&s->flushed);
		return;
	}
	if (op->wc.status != IB_WC_SUCCESS) {
		kv_fail(-EPROTO, "end %s: '%s'", s->e->name,
			ib_wc_status_msg(op->wc.status));
		return;
	}
	atomic_inc(&s->good);
	if (i < RECVS) {
		post_recv(s, op);
		post_token(s);
	} else if (i > RECVS) {
		post_rdma(s, op);
	}
}

/* ---- starting ------------------------------------------------------------------ */

static int new_side(struct side *s, struct side *peer, struct kv_end *e)
{
	int i;

	s->e = e;
	s->peer = peer;
	s->op = kv_ops(e->pair->t, OPS);
	s->mem = kv_mem(e, 3 * LEN);
	s->mr = kv_mr(e, 100, LEN, 0);
	if (!s->op || !s->mem || !s->mr)
		return -ENOMEM;
	for (i = 0; i < OPS; i++) {
		s->op[i].then = went;
		s->op[i].arg = s;
	}
	return kv_reg(e, s->mr, IB_ACCESS_LOCAL_WRITE |
				IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
}

static int new_sides(struct kv_test *t, struct side *s)
{
	return new_side(&s[0], &s[1], &t->pair.a) ?:
	       new_side(&s[1], &s[0], &t->pair.b) ?:
	       new_side(&s[2], &s[3], &t->by.a) ?:
	       new_side(&s[3], &s[2], &t->by.b);
}

static void start(struct side *s)
{
	int i, n;

	for (i = 0; i < SIDES; i++)
		for (n = 0; n < RECVS; n++)
			post_recv(&s[i], &s[i].op[n]);
	for (i = 0; i < SIDES; i++) {
		for (n = 0; n < TOKENS / 2; n++)
			post_token(&s[i]);
		for (n = RECVS + 1; n < OPS; n++)
			post_rdma(&s[i], &s[i].op[n]);
	}
}

static int warm_up(struct side *s)
{
	unsigned long end = jiffies + kv_timeout();
	int i;

	for (i = 0; i < SIDES; i++) {
		while (atomic_read(&s[i].good) < WARM) {
			if (time_after(jiffies, end))
				return kv_fail(-ETIMEDOUT, "end %s: no traffic",
					       s[i].e->name);
			usleep_range(1000, 2000);
		}
	}
	return 0;
}

/* ---- removal ------------------------------------------------------------------- */

static int wait_removed(struct kv_end *e, unsigned long timeout)
{
	long ret = wait_for_completion_interruptible_timeout(&e->removed,
							     timeout);

	if (ret <= 0)
		return kv_fail(ret ?: -ETIMEDOUT, "end %s: no DEVICE_REMOVAL",
			       e->name);
	return 0;
}

/* drain twice: the last receive may have posted a Send after the first drain's */
static int end_traffic(struct side *s)
{
	rdma_disconnect(s->e->id);
	ib_drain_qp(s->e->qp);
	ib_drain_qp(s->e->qp);
	if (atomic_read(&s->posted) !=
	    atomic_read(&s->good) + atomic_read(&s->flushed))
		return kv_fail(-EPROTO, "end %s: %d posted, %d done, %d flushed",
			       s->e->name, atomic_read(&s->posted),
			       atomic_read(&s->good), atomic_read(&s->flushed));
	if (atomic_read(&s->flushed) < RECVS - TOKENS)
		return kv_fail(-EPROTO, "end %s was idle", s->e->name);
	return 0;
}

/* wait for the removal of a device, and free all objects of its two ends */
static int wait_and_free(struct side *x, struct side *y)
{
	struct ib_device *dev = x->e->id->device;
	struct kv_test *t = x->e->pair->t;
	int ret = wait_removed(x->e, 6 * kv_timeout()) ?:
		  wait_removed(y->e, kv_timeout());

	if (ret)
		return ret;
	ret = end_traffic(x);
	ret = end_traffic(y) ?: ret;
	kv_end_destroy(x->e);
	kv_end_destroy(y->e);
	kv_mr_release(t, dev);
	kv_mem_release(t, dev);
	kv_end_close(x->e);
	kv_end_close(y->e);
	return ret;
}

static int report(const char *word)
{
	return kv_fail(0, "%s", word);
}

/* report @word to kverbs.sh, and wait until it writes to go */
static int report_and_wait(const char *word)
{
	return report(word) ?: kv_wait_go();
}

static int busy(struct kv_test *t)
{
	static const struct kv_opts by = { .poll = KV_POOL };
	static struct side s[SIDES];
	int ret;

	memset(s, 0, sizeof(s));
	ret = kv_pair_open(t, &t->by, &by) ?: new_sides(t, s);
	if (ret)
		return ret;
	start(s);
	return warm_up(s) ?: report("busy") ?: wait_and_free(&s[0], &s[2]) ?:
	       wait_and_free(&s[1], &s[3]);
}

/* MRs for kverbs.sh to dump: one of 5000 bytes, and an invalid one of 7000 */
static int hold_mrs(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mr *live = kv_mr(a, 0, 5000, 0), *dead = kv_mr(a, 0, 7000, 0);
	struct kv_op *op = kv_ops(t, 1);

	if (!live || !dead || !op)
		return -ENOMEM;
	return kv_reg(a, live, IB_ACCESS_REMOTE_READ) ?:
	       kv_reg(a, dead, IB_ACCESS_REMOTE_READ) ?:
	       kv_post_inv(a, op, IB_SEND_SIGNALED, dead->mr->rkey) ?:
	       kv_ok(a, op);
}

static int hold(struct kv_test *t)
{
	return kv_pair_works(&t->pair) ?: hold_mrs(t) ?: report("holding") ?:
	       wait_removed(&t->pair.a, 6 * kv_timeout());
}

/* a's request waits for an answer to its hello, which never comes, when its device goes */
static int waits(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 1);
	int ret;

	if (!op)
		return -ENOMEM;
	ret = report_and_wait("ready") ?:
	      kv_post_rdma(a, op, IB_WR_RDMA_WRITE_WITH_IMM, IB_SEND_SIGNALED, NULL, 0, 0,
			   0) ?:
	      report("waiting") ?: wait_removed(a, 6 * kv_timeout());
	if (ret)
		return ret;
	rdma_disconnect(a->id);
	ib_drain_qp(a->qp);
	return kv_want(a, op, IB_WC_WR_FLUSH_ERR);
}

/* what is lost when a destroys its QP must not arrive when the path is up again */
static int lost(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *src = kv_mem(a, LEN), *dst = kv_mem(b, LEN);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;
	int ret;

	if (!src || !dst || !op)
		return -ENOMEM;
	kv_fill(src->va, LEN, 21, 0);
	s = kv_sge(src, 0, LEN);
	ret = kv_pair_works(&t->pair) ?: report_and_wait("ready") ?:
	      kv_post_rdma(a, op, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, &s, 1,
			   dst->dma, b->pd->unsafe_global_rkey) ?:
	      kv_ok(a, op);
	if (ret)
		return ret;
	kv_end_destroy(a);
	return report_and_wait("gone") ?: kv_check_zero(dst->va, LEN);
}

/* b closes first; a is destroyed before its own FIN, which is dropped once, is acknowledged */
static int fin(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	int ret = kv_pair_works(&t->pair) ?: report_and_wait("ready");

	if (ret)
		return ret;
	rdma_disconnect(b->id);
	ret = kv_wait_gone(a);
	if (ret)
		return ret;
	kv_end_destroy(a);
	return report_and_wait("gone");
}

/* QPs that programs try to connect: one without an id, and one that is connected */
static int lone_qp(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct ib_qp_init_attr attr = {
		.send_cq = a->scq,
		.recv_cq = a->rcq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IB_QPT_RC,
		.port_num = a->id->port_num,
	};
	struct ib_qp *qp = ib_create_qp(a->pd, &attr);
	int ret;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	kv_fail(0, "idle %u", qp->qp_num);
	kv_fail(0, "busy %u", a->qp->qp_num);
	ret = wait_removed(a, 24 * kv_timeout());
	ib_destroy_qp(qp);
	return ret;
}

const struct kv_case kv_hold_cases[] = {
	{ "hold", hold },
	{ "busy", busy },
	{ "waits", waits },
	{ "lost", lost },
	{ "fin", fin },
	{ "idle", lone_qp },
	{}
};
