// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Posting from each context that a kernel user may post from. */
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "kverbs.h"

#define ROUNDS	60
#define LEN	2000
#define SPINS	20

/*
 * struct poster - requests to post in some context
 * @t: the test
 * @chain: use post_chain() instead of post_message()
 * @src, @dst: payload
 * @mr: MR of a for the data between them, if @chain
 * @op: two for each round, and one more at the end
 * @round: the next one
 * @ret: error of a post
 * @done: the context has posted
 */
struct poster {
	struct kv_test *t;
	bool chain;
	struct kv_mem *src;
	struct kv_mem *dst;
	struct kv_mr *mr;
	struct kv_op *op;
	int round;
	int ret;
	struct completion done;
	struct timer_list timer;
	struct tasklet_struct tasklet;
	struct work_struct work;
	struct irq_work irq_work;
};

/* one case runs at a time */
static struct poster poster;

/* a receive at b and a Send at a */
static int post_message(struct poster *p)
{
	int i = p->round;
	struct ib_sge s = kv_sge(p->src, i * LEN, LEN);
	struct ib_sge d = kv_sge(p->dst, i * LEN, LEN);

	return kv_post_recv(&p->t->pair.b, &p->op[2 * i], &d, 1) ?:
	       kv_post_send(&p->t->pair.a, &p->op[2 * i + 1], IB_WR_SEND,
			    IB_SEND_SIGNALED, &s, 1, 0);
}

/*
 * One list, as storage ULPs post them: register a's MR with a new key, Read b's data into
 * it, Write it to another place at b, and invalidate the key.
 */
static int post_chain(struct poster *p)
{
	struct ib_mr *mr = p->mr->mr;
	u32 at = p->round * LEN, rkey = p->t->pair.b.pd->unsafe_global_rkey;
	struct kv_op *op = &p->op[2 * p->round];
	const struct ib_send_wr *bad;
	struct ib_sge sge;
	struct ib_send_wr inv = {
		.wr_cqe = &op[1].cqe, .opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_rdma_wr write = {
		.wr = { .next = &inv, .wr_cqe = &op[1].cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_FENCE,
			.sg_list = &sge, .num_sge = 1 },
		.remote_addr = p->dst->dma + at, .rkey = rkey,
	};
	struct ib_rdma_wr read = {
		.wr = { .next = &write.wr, .wr_cqe = &op[0].cqe,
			.opcode = IB_WR_RDMA_READ,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge, .num_sge = 1 },
		.remote_addr = p->src->dma + at, .rkey = rkey,
	};
	struct ib_reg_wr reg = {
		.wr = { .next = &read.wr, .wr_cqe = &op[1].cqe,
			.opcode = IB_WR_REG_MR },
		.mr = mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.key = mr->rkey;
	inv.ex.invalidate_rkey = mr->rkey;
	sge = (struct ib_sge) { mr->iova + at, LEN, mr->lkey };
	return ib_post_send(p->t->pair.a.qp, &reg.wr, &bad);
}

static void post_one(struct poster *p)
{
	p->ret = p->chain ? post_chain(p) : post_message(p);
	complete(&p->done);
}

static int prepare(struct kv_test *t, struct poster *p)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;

	p->t = t;
	p->src = kv_mem(p->chain ? b : a, ROUNDS * LEN);
	p->dst = kv_mem(b, ROUNDS * LEN);
	p->op = kv_ops(t, 2 * ROUNDS + 1);
	p->mr = p->chain ? kv_mr(a, 100, ROUNDS * LEN, 0) : NULL;
	init_completion(&p->done);
	if (!p->src || !p->dst || !p->op || (p->chain && !p->mr))
		return -ENOMEM;
	kv_fill(p->src->va, ROUNDS * LEN, 1, 0);
	return 0;
}

/* a Read after all Writes, so that they have arrived */
static int settle(struct kv_end *e, struct kv_end *peer, struct kv_op *op)
{
	return kv_post_rdma(e, op, IB_WR_RDMA_READ, IB_SEND_SIGNALED, NULL, 0,
			    0, peer->pd->unsafe_global_rkey) ?:
	       kv_ok(e, op);
}

static int check(struct kv_test *t, struct poster *p)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	int i, ret = 0;

	for (i = 0; i < ROUNDS && !ret; i++)
		ret = kv_ok(p->chain ? a : b, &p->op[2 * i]) ?:
		      kv_ok(a, &p->op[2 * i + 1]);
	if (!ret && p->chain)
		ret = settle(a, b, &p->op[2 * ROUNDS]);
	return ret ?: kv_check(p->dst->va, ROUNDS * LEN, 1, 0);
}

static int run(struct kv_test *t, void (*start)(struct poster *p),
	       struct poster *p)
{
	int i, ret = prepare(t, p);

	for (i = 0; i < ROUNDS && !ret; i++) {
		p->round = i;
		start(p);
		if (!wait_for_completion_timeout(&p->done, kv_timeout()))
			return kv_fail(-ETIMEDOUT, "the context never ran");
		ret = p->ret;
	}
	return ret ?: check(t, p);
}

static int process(struct kv_test *t)
{
	return run(t, post_one, &poster);
}

static void with_irqs_off(struct poster *p)
{
	unsigned long flags;

	local_irq_save(flags);
	post_one(p);
	local_irq_restore(flags);
}

static int irqs_off(struct kv_test *t)
{
	return run(t, with_irqs_off, &poster);
}

static void with_bh_off(struct poster *p)
{
	local_bh_disable();
	post_one(p);
	local_bh_enable();
}

static int bh_off(struct kv_test *t)
{
	return run(t, with_bh_off, &poster);
}

static void under_spinlock(struct poster *p)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock_irq(&lock);
	post_one(p);
	spin_unlock_irq(&lock);
}

static int spinlock(struct kv_test *t)
{
	return run(t, under_spinlock, &poster);
}

static void timer_fn(struct timer_list *timer)
{
	post_one(container_of(timer, struct poster, timer));
}

static void by_timer(struct poster *p)
{
	mod_timer(&p->timer, jiffies);
}

static int timer(struct kv_test *t)
{
	struct poster *p = &poster;
	int ret;

	timer_setup(&p->timer, timer_fn, 0);
	ret = run(t, by_timer, p);
	timer_shutdown_sync(&p->timer);
	return ret;
}

static void tasklet_fn(struct tasklet_struct *tasklet)
{
	post_one(container_of(tasklet, struct poster, tasklet));
}

static void by_tasklet(struct poster *p)
{
	tasklet_schedule(&p->tasklet);
}

static int tasklet(struct kv_test *t)
{
	struct poster *p = &poster;
	int ret;

	tasklet_setup(&p->tasklet, tasklet_fn);
	ret = run(t, by_tasklet, p);
	tasklet_kill(&p->tasklet);
	return ret;
}

static void work_fn(struct work_struct *work)
{
	post_one(container_of(work, struct poster, work));
}

static void by_bh_work(struct poster *p)
{
	queue_work(system_bh_wq, &p->work);
}

static int bh_work(struct kv_test *t)
{
	struct poster *p = &poster;
	int ret;

	INIT_WORK(&p->work, work_fn);
	ret = run(t, by_bh_work, p);
	cancel_work_sync(&p->work);
	return ret;
}

static void irq_work_fn(struct irq_work *work)
{
	post_one(container_of(work, struct poster, irq_work));
}

static void by_irq_work(struct poster *p)
{
	irq_work_queue(&p->irq_work);
}

static int hard_irq(struct kv_test *t)
{
	struct poster *p = &poster;
	int ret;

	p->irq_work = IRQ_WORK_INIT_HARD(irq_work_fn);
	ret = run(t, by_irq_work, p);
	irq_work_sync(&p->irq_work);
	return ret;
}

static int chained(struct kv_test *t, int (*context)(struct kv_test *t))
{
	int ret;

	poster.chain = true;
	ret = context(t);
	poster.chain = false;
	return ret;
}

static int chain_timer(struct kv_test *t)
{
	return chained(t, timer);
}

static int chain_tasklet(struct kv_test *t)
{
	return chained(t, tasklet);
}

static int chain_hard_irq(struct kv_test *t)
{
	return chained(t, hard_irq);
}

/* post a Write, and wait for it without giving the CPU to another thread */
static int write_and_spin(struct kv_test *t, struct kv_op *op)
{
	unsigned long end = jiffies + kv_timeout();
	int ret = kv_post_rdma(&t->pair.a, op, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, NULL, 0, 0,
			       t->pair.b.pd->unsafe_global_rkey);

	while (!ret && !completion_done(&op->done)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		cpu_relax();
	}
	return ret;
}

/* between the Writes, too, no worker of the driver runs on this CPU */
static int spins(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, SPINS);
	int i, ret = op ? 0 : -ENOMEM;

	/* there softirqs are threads */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
	for (i = 0; i < SPINS && !ret; i++)
		ret = write_and_spin(t, &op[i]);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
	if (ret)
		return kv_fail(ret, "Write %d did not end while its poster spun", i);
	for (i = 0; i < SPINS && !ret; i++)
		ret = kv_ok(&t->pair.a, &op[i]);
	return ret;
}

/* what a worker was to send leaves before the QP ends */
static int then_error(struct kv_test *t)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *from = kv_mem(a, 64), *to = kv_mem(b, 64);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;
	int ret;

	if (!from || !to || !op)
		return -ENOMEM;
	s = kv_sge(from, 0, 64);
	kv_fill(from->va, 64, 5, 0);
	/* so that the worker has no turn in between */
	sched_set_fifo(current);
	ret = kv_post_rdma(a, op, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, &s, 1, to->dma,
			   b->pd->unsafe_global_rkey) ?:
	      ib_modify_qp(a->qp, &attr, IB_QP_STATE);
	sched_set_normal(current, 0);
	ret = ret ?: kv_wait(a, op) ?: kv_wait_gone(b);
	return ret ?: kv_check(to->va, 64, 5, 0);
}

/* so many that a user which is sent for one by one has most of them sent so (core/collect.h) */
#define RUNS	160
#define RUN	16

static int post_run(struct kv_test *t, struct kv_op *op)
{
	int i, ret = 0;

	preempt_disable();
	for (i = 1; i <= RUN && !ret; i++)
		ret = kv_post_rdma(&t->pair.a, op, IB_WR_RDMA_WRITE,
				   i == RUN ? IB_SEND_SIGNALED : 0, NULL, 0, 0,
				   t->pair.b.pd->unsafe_global_rkey);
	preempt_enable();
	return ret ?: kv_ok(&t->pair.a, op);
}

/* a user that posts many, and sleeps until they are done */
static int in_runs(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, RUNS);
	int i, ret = op ? 0 : -ENOMEM;

	for (i = 0; i < RUNS && !ret; i++)
		ret = post_run(t, &op[i]);
	return ret;
}

/* ---- from completion handlers ---------------------------------------------------- */

/*
 * struct game - ping-pong that runs only in completion handlers
 * @left: rounds to go; the last one completes @over
 */
struct game {
	struct kv_mem *m[2];
	struct kv_op recv[2];
	struct kv_op send[2];
	atomic_t left;
	int ret;
	struct completion over;
};

static void end_game(struct game *g, int ret)
{
	g->ret = ret;
	complete(&g->over);
}

static struct kv_end *player(struct kv_test *t, int i)
{
	return i ? &t->pair.b : &t->pair.a;
}

static int serve(struct game *g, struct kv_test *t, int i)
{
	struct ib_sge s = kv_sge(g->m[i], 0, 64);

	return kv_post_send(player(t, i), &g->send[i], IB_WR_SEND, 0, &s, 1,
			    0);
}

static int await(struct game *g, struct kv_test *t, int i)
{
	struct ib_sge d = kv_sge(g->m[i], 0, 64);

	return kv_post_recv(player(t, i), &g->recv[i], &d, 1);
}

/* post the next receive, then send the message back */
static void ball(struct kv_op *op)
{
	struct game *g = op->arg;
	int i = op == &g->recv[1], ret;

	if (op->wc.status != IB_WC_SUCCESS) {
		if (atomic_read(&g->left) > 0)
			end_game(g, -EIO);
		return;
	}
	if (atomic_dec_return(&g->left) <= 0) {
		end_game(g, 0);
		return;
	}
	ret = await(g, op->t, i) ?: serve(g, op->t, i);
	if (ret)
		end_game(g, ret);
}

static int play(struct kv_test *t, struct game *g)
{
	int i, ret;

	init_completion(&g->over);
	atomic_set(&g->left, 400);
	for (i = 0; i < 2; i++) {
		g->m[i] = kv_mem(player(t, i), 64);
		if (!g->m[i])
			return -ENOMEM;
		kv_op_init(&g->recv[i], t);
		kv_op_init(&g->send[i], t);
		g->recv[i].then = ball;
		g->recv[i].arg = g;
	}
	kv_fill(g->m[0]->va, 64, 9, 0);
	ret = await(g, t, 0) ?: await(g, t, 1) ?: serve(g, t, 0);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&g->over, kv_timeout()))
		return kv_fail(-ETIMEDOUT, "%d rounds were left",
			       atomic_read(&g->left));
	return g->ret ?: kv_check(g->m[0]->va, 64, 9, 0) ?:
	       kv_check(g->m[1]->va, 64, 9, 0);
}

static int completion_handler(struct kv_test *t)
{
	struct game *g = kzalloc(sizeof(*g), GFP_KERNEL);
	int ret;

	if (!g)
		return -ENOMEM;
	ret = play(t, g);
	/* the QPs use its requests until they are destroyed */
	kv_pair_destroy(&t->pair);
	kfree(g);
	return ret;
}

/* ---- from many at once ------------------------------------------------------------ */

#define THREADS		4
#define EACH		300

struct crowd {
	struct kv_test *t;
	struct kv_mem *src[2];
	struct kv_mem *dst[2];
	struct kv_op *op;
	atomic_t left;
	int ret;
	struct completion over;
};

struct member {
	struct crowd *c;
	int n;
};

/* Writes of each thread to a place of its own, in both directions in turn */
static int member_fn(void *arg)
{
	struct member *m = arg;
	struct crowd *c = m->c;
	int i, ret = 0;

	for (i = 0; i < EACH && !ret; i++) {
		u32 at = (m->n * EACH + i) * 16;
		int me = i & 1;
		struct kv_end *e = player(c->t, me);
		struct kv_end *peer = player(c->t, !me);
		struct ib_sge s = kv_sge(c->src[me], at, 16);

		ret = kv_post_rdma(e, &c->op[m->n * EACH + i],
				   IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, &s, 1,
				   c->dst[!me]->dma + at,
				   peer->pd->unsafe_global_rkey);
		if (i % 50 == 0)
			cond_resched();
	}
	if (ret)
		c->ret = kv_fail(ret, "thread %d: %d", m->n, ret);
	if (atomic_dec_and_test(&c->left))
		complete(&c->over);
	return 0;
}

static int start_crowd(struct crowd *c, struct member *m)
{
	int i;

	atomic_set(&c->left, THREADS);
	for (i = 0; i < THREADS; i++) {
		struct task_struct *task;

		m[i] = (struct member) { .c = c, .n = i };
		task = kthread_run(member_fn, &m[i], "kverbs/%d", i);
		if (IS_ERR(task)) {
			c->ret = PTR_ERR(task);
			if (atomic_sub_and_test(THREADS - i, &c->left))
				complete(&c->over);
			break;
		}
	}
	wait_for_completion(&c->over);
	return c->ret;
}

static int check_crowd(struct crowd *c)
{
	int i, ret = 0;

	for (i = 0; i < THREADS * EACH && !ret; i++)
		ret = kv_ok(player(c->t, i % EACH & 1), &c->op[i]);
	ret = ret ?: settle(&c->t->pair.a, &c->t->pair.b,
			    &c->op[THREADS * EACH]) ?:
	      settle(&c->t->pair.b, &c->t->pair.a,
		     &c->op[THREADS * EACH + 1]);
	for (i = 0; i < THREADS * EACH && !ret; i++) {
		int me = i % EACH & 1;

		ret = kv_check(c->dst[!me]->va + i * 16, 16, 90 + me, i * 16);
	}
	return ret;
}

static int concurrent(struct kv_test *t)
{
	struct crowd c = { .t = t, .op = kv_ops(t, THREADS * EACH + 2) };
	struct member m[THREADS];
	int i;

	init_completion(&c.over);
	for (i = 0; i < 2; i++) {
		c.src[i] = kv_mem(player(t, i), THREADS * EACH * 16);
		c.dst[i] = kv_mem(player(t, i), THREADS * EACH * 16);
		if (!c.src[i] || !c.dst[i] || !c.op)
			return -ENOMEM;
		kv_fill(c.src[i]->va, THREADS * EACH * 16, 90 + i, 0);
	}
	return start_crowd(&c, m) ?: check_crowd(&c);
}

const struct kv_case kv_post_cases[] = {
	{ "post__process", process },
	{ "post__bh_off", bh_off },
	{ "post__irqs_off", irqs_off },
	{ "post__under_spinlock", spinlock },
	{ "post__timer", timer },
	{ "post__tasklet", tasklet },
	{ "post__bh_work", bh_work },
	{ "post__hard_irq", hard_irq },
	{ "post__into_an_srq_from_timer", timer, { .srq = true } },
	{ "post__into_an_srq_from_hard_irq", hard_irq, { .srq = true } },
	{ "post__chain_with_reg_mr_from_timer", chain_timer, { .depth = 512 } },
	{ "post__chain_with_reg_mr_from_tasklet", chain_tasklet,
	  { .depth = 512 } },
	{ "post__chain_with_reg_mr_from_hard_irq", chain_hard_irq,
	  { .depth = 512 } },
	{ "post__then_spin", spins },
	{ "post__then_error", then_error },
	{ "post__in_runs", in_runs },
	{ "post__softirq_completion_handler", completion_handler },
	{ "post__workqueue_completion_handler", completion_handler,
	  { .poll = KV_WORKQUEUE } },
	{ "post__four_threads_both_ways", concurrent, { .depth = 2048 } },
	{}
};
