// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Work requests and their completions. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "kverbs.h"

struct op_block {
	struct list_head list;
	struct kv_op op[];
};

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_op *op = container_of(wc->wr_cqe, struct kv_op, cqe);

	op->wc = *wc;
	op->order = atomic_inc_return(&op->t->order);
	atomic_inc(&op->hits);
	if (op->then)
		op->then(op);
	complete_all(&op->done);
}

void kv_op_init(struct kv_op *op, struct kv_test *t)
{
	memset(op, 0, sizeof(*op));
	op->cqe.done = op_done;
	op->t = t;
	init_completion(&op->done);
}

struct kv_op *kv_ops(struct kv_test *t, u32 n)
{
	struct op_block *b = kvzalloc(struct_size(b, op, n), GFP_KERNEL);
	u32 i;

	if (!b)
		return NULL;
	for (i = 0; i < n; i++)
		kv_op_init(&b->op[i], t);
	list_add(&b->list, &t->ops);
	return b->op;
}

void kv_op_release(struct kv_test *t)
{
	struct op_block *b, *next;

	list_for_each_entry_safe(b, next, &t->ops, list) {
		list_del(&b->list);
		kvfree(b);
	}
}

/* ---- posting: from any context --------------------------------------------- */

/* use local_dma_lkey unless the case set a key */
static void set_lkeys(struct kv_end *e, struct ib_sge *sge, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!sge[i].lkey)
			sge[i].lkey = e->pd->local_dma_lkey;
}

static int do_post(struct kv_end *e, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;
	int ret = ib_post_send(e->qp, wr, &bad);

	if (ret && bad != wr)
		return kv_fail(-EINVAL, "post failed (%d), bad_wr is wrong",
			       ret);
	return ret;
}

int kv_post_send(struct kv_end *e, struct kv_op *op, enum ib_wr_opcode opcode,
		 int flags, struct ib_sge *sge, int n, u32 inv)
{
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe, .opcode = opcode, .send_flags = flags,
		.sg_list = sge, .num_sge = n, .ex.invalidate_rkey = inv,
	};

	set_lkeys(e, sge, n);
	return do_post(e, &wr);
}

int kv_post_rdma(struct kv_end *e, struct kv_op *op, enum ib_wr_opcode opcode,
		 int flags, struct ib_sge *sge, int n, u64 addr, u32 rkey)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = opcode,
			.send_flags = flags, .sg_list = sge, .num_sge = n,
		},
		.remote_addr = addr,
		.rkey = rkey,
	};

	set_lkeys(e, sge, n);
	return do_post(e, &wr.wr);
}

int kv_post_reg(struct kv_end *e, struct kv_op *op, int flags, struct kv_mr *m,
		u32 key, int access)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_REG_MR,
			.send_flags = flags,
		},
		.mr = m->mr,
		.key = key,
		.access = access,
	};

	return do_post(e, &wr.wr);
}

int kv_post_inv(struct kv_end *e, struct kv_op *op, int flags, u32 key)
{
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe, .opcode = IB_WR_LOCAL_INV,
		.send_flags = flags, .ex.invalidate_rkey = key,
	};

	return do_post(e, &wr);
}

int kv_post_recv(struct kv_end *e, struct kv_op *op, struct ib_sge *sge, int n)
{
	struct ib_recv_wr wr = {
		.wr_cqe = &op->cqe, .sg_list = sge, .num_sge = n,
	};
	const struct ib_recv_wr *bad;

	set_lkeys(e, sge, n);
	if (e->srq)
		return ib_post_srq_recv(e->srq, &wr, &bad);
	return ib_post_recv(e->qp, &wr, &bad);
}

/* ---- waiting: from a process ------------------------------------------------ */

int kv_poll_raw(struct ib_cq *cq)
{
	struct ib_wc wc;
	int n = 0;

	while (ib_poll_cq(cq, 1, &wc) > 0) {
		wc.wr_cqe->done(cq, &wc);
		n++;
	}
	return n;
}

static void poll_by_hand(struct kv_end *e)
{
	if (e->pair->opts->poll == KV_DIRECT) {
		ib_process_cq_direct(e->scq, -1);
		ib_process_cq_direct(e->rcq, -1);
	} else if (e->pair->opts->poll == KV_RAW) {
		kv_poll_raw(e->scq);
		kv_poll_raw(e->rcq);
	}
}

static bool by_hand(const struct kv_end *e)
{
	return e->pair->opts->poll == KV_DIRECT ||
	       e->pair->opts->poll == KV_RAW;
}

int kv_wait(struct kv_end *e, struct kv_op *op)
{
	unsigned long end = jiffies + kv_timeout();
	long left = 0;

	if (!by_hand(e)) {
		left = wait_for_completion_timeout(&op->done, kv_timeout());
	} else {
		while (!left && time_before(jiffies, end)) {
			poll_by_hand(e);
			left = try_wait_for_completion(&op->done);
			if (!left)
				usleep_range(50, 200);
		}
	}
	if (!left)
		return kv_fail(-ETIMEDOUT, "end %s: no completion", e->name);
	if (atomic_read(&op->hits) != 1)
		return kv_fail(-EPROTO, "end %s: %d completions for one",
			       e->name, atomic_read(&op->hits));
	return 0;
}

int kv_want(struct kv_end *e, struct kv_op *op, enum ib_wc_status status)
{
	int ret = kv_wait(e, op);

	if (ret)
		return ret;
	if (op->wc.status != status)
		return kv_fail(-EPROTO, "end %s: status is '%s', not '%s'",
			       e->name, ib_wc_status_msg(op->wc.status),
			       ib_wc_status_msg(status));
	if (op->wc.qp != e->qp && !e->srq)
		return kv_fail(-EPROTO, "end %s: completion of another QP",
			       e->name);
	return 0;
}

int kv_ok(struct kv_end *e, struct kv_op *op)
{
	return kv_want(e, op, IB_WC_SUCCESS);
}

int kv_reg(struct kv_end *e, struct kv_mr *m, int access)
{
	struct kv_op *op = kv_ops(e->pair->t, 1);

	if (!op)
		return -ENOMEM;
	ib_update_fast_reg_key(m->mr, ib_inc_rkey(m->mr->rkey));
	return kv_post_reg(e, op, IB_SEND_SIGNALED, m, m->mr->rkey, access) ?:
	       kv_ok(e, op);
}
