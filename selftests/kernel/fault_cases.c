// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Requests that must fail: each has the documented error at both ends, places nothing,
 * and does not affect another connection.
 */
#include <linux/delay.h>

#include "kverbs.h"

#define BAD_KEY	0xdeadbe01

/* both ends get the event, and later posts are flushed */
static int stream_died(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 1);

	if (!op)
		return -ENOMEM;
	return kv_wait_gone(a) ?: kv_wait_gone(&t->pair.b) ?:
	       kv_post_send(a, op, IB_WR_SEND, IB_SEND_SIGNALED, NULL, 0, 0) ?:
	       kv_want(a, op, IB_WC_WR_FLUSH_ERR);
}

/* ---- errors found by the peer ---------------------------------------------------- */

/* the Write itself may have completed, since TCP accepted it */
static int write_refused(struct kv_test *t, struct kv_mem *to, u64 addr,
			 u32 rkey, u32 len)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mem *from = kv_mem(a, len);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;

	if (!from || !op)
		return -ENOMEM;
	kv_fill(from->va, len, 1, 0);
	s = kv_sge(from, 0, len);
	return kv_post_rdma(a, op, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, &s, 1,
			    addr, rkey) ?:
	       kv_wait(a, op) ?:
	       kv_wait_event(&t->pair.b, IB_EVENT_QP_ACCESS_ERR) ?:
	       stream_died(t) ?:
	       kv_check_zero(to->va, to->size);
}

static int write_bad_key(struct kv_test *t)
{
	struct kv_mem *to = kv_mem(&t->pair.b, 4096);

	return to ? write_refused(t, to, to->dma, BAD_KEY, 4096) : -ENOMEM;
}

static int read_refused(struct kv_test *t, u64 addr, u32 rkey)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mem *to = kv_mem(a, 64);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge d;

	if (!to || !op)
		return -ENOMEM;
	d = kv_sge(to, 0, 64);
	return kv_post_rdma(a, op, IB_WR_RDMA_READ, IB_SEND_SIGNALED, &d, 1,
			    addr, rkey) ?:
	       kv_want(a, op, IB_WC_REM_ACCESS_ERR) ?:
	       kv_wait_event(&t->pair.b, IB_EVENT_QP_ACCESS_ERR) ?:
	       stream_died(t) ?: kv_check_zero(to->va, 64);
}

static int read_bad_key(struct kv_test *t)
{
	struct kv_mem *from = kv_mem(&t->pair.b, 64);

	return from ? read_refused(t, from->dma, BAD_KEY) : -ENOMEM;
}

static struct kv_mr *peer_mr(struct kv_test *t, int access)
{
	struct kv_mr *m = kv_mr(&t->pair.b, 0, 64, 0);

	return m && !kv_reg(&t->pair.b, m, access) ? m : NULL;
}

static int read_no_right(struct kv_test *t)
{
	struct kv_mr *m = peer_mr(t, IB_ACCESS_LOCAL_WRITE |
				     IB_ACCESS_REMOTE_WRITE);

	return m ? read_refused(t, m->mr->iova, m->mr->rkey) : -ENOMEM;
}

static int read_beyond(struct kv_test *t)
{
	struct kv_mr *m = peer_mr(t, IB_ACCESS_REMOTE_READ);

	return m ? read_refused(t, m->mr->iova + 1, m->mr->rkey) : -ENOMEM;
}

static int write_no_right(struct kv_test *t)
{
	struct kv_mem *to = kv_mem(&t->pair.b, 64);
	struct kv_mr *m = peer_mr(t, IB_ACCESS_REMOTE_READ);

	if (!m || !to)
		return -ENOMEM;
	return write_refused(t, to, m->mr->iova, m->mr->rkey, 64) ?:
	       kv_check_zero(sg_virt(m->sg), 64);
}

/*
 * RFC 5040 8.1.1(7): an STag that a peer may invalidate works on that peer's stream only.
 * End b of the second pair has registered @m: its peer may use it, end a of the first pair
 * may not.
 */
static struct kv_mr *mr_of_by(struct kv_test *t)
{
	struct kv_mr *m = kv_mr(&t->by.b, 0, 64, 0);
	int ret;

	if (!m)
		return NULL;
	ret = kv_reg(&t->by.b, m, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_READ);
	return ret ? NULL : m;
}

static int by_may_write(struct kv_test *t, struct kv_mr *m)
{
	struct kv_mem *from = kv_mem(&t->by.a, 64);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;

	if (!from || !op)
		return -ENOMEM;
	kv_fill(from->va, 64, 9, 0);
	s = kv_sge(from, 0, 64);
	return kv_post_rdma(&t->by.a, op, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, &s,
			    1, m->mr->iova, m->mr->rkey) ?:
	       kv_ok(&t->by.a, op) ?: kv_pair_works(&t->by) ?:
	       kv_mr_check(m, 9);
}

static int write_foreign_stream(struct kv_test *t)
{
	struct kv_mem *to = kv_mem(&t->pair.b, 64);
	struct kv_mr *m = mr_of_by(t);

	if (!m || !to)
		return -ENOMEM;
	return write_refused(t, to, m->mr->iova, m->mr->rkey, 64) ?:
	       kv_check_zero(sg_virt(m->sg), 64) ?: by_may_write(t, m);
}

static int read_foreign_stream(struct kv_test *t)
{
	struct kv_mr *m = mr_of_by(t);

	if (!m)
		return -ENOMEM;
	return read_refused(t, m->mr->iova, m->mr->rkey) ?: by_may_write(t, m);
}

/* many segments: those before the end of the MR are valid, and are placed */
static int write_beyond(struct kv_test *t)
{
	struct kv_mem *to = kv_mem(&t->pair.b, 64);
	struct kv_mr *m = kv_mr(&t->pair.b, 0, 8192, 2);

	if (!m || !to)
		return -ENOMEM;
	return kv_reg(&t->pair.b, m, IB_ACCESS_LOCAL_WRITE |
				     IB_ACCESS_REMOTE_WRITE) ?:
	       write_refused(t, to, m->mr->iova, m->mr->rkey, 8193);
}

static int write_many(struct kv_end *e, struct kv_op *op, struct kv_mem *m,
		      int n, u64 addr, u32 rkey)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++) {
		struct ib_sge s = kv_sge(m, 0, m->size);

		ret = kv_post_rdma(e, &op[i], IB_WR_RDMA_WRITE, 0, &s, 1, addr,
				   rkey);
	}
	return ret;
}

/* after ib_dereg_mr() has returned, only the owner uses the pages */
static int dereg_busy(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 0, 65536, 0);
	struct kv_mem *from = kv_mem(a, 65536);
	struct kv_op *op = kv_ops(t, 101);
	u32 i, rkey;
	u64 iova;
	int ret;

	if (!m || !from || !op)
		return -ENOMEM;
	memset(from->va, 0xff, 65536);
	ret = kv_reg(b, m, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	rkey = m->mr->rkey;
	iova = m->mr->iova;
	if (ret || write_many(a, op, from, 100, iova, rkey))
		return -EIO;
	usleep_range(500, 1000);
	ib_dereg_mr(m->mr);
	m->mr = NULL;
	for (i = 0; i < m->pages; i++)
		clear_page(sg_virt(&m->sg[i]));
	/* all of them may have arrived before that, so post one more */
	ret = write_many(a, &op[100], from, 1, iova, rkey) ?: kv_wait_gone(a);
	for (i = 0; i < m->pages && !ret; i++)
		ret = kv_check_zero(sg_virt(&m->sg[i]), PAGE_SIZE);
	return ret;
}

static int inv_bad_key(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2);

	if (!op)
		return -ENOMEM;
	return kv_post_recv(b, &op[0], NULL, 0) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND_WITH_INV, IB_SEND_SIGNALED,
			    NULL, 0, BAD_KEY) ?:
	       kv_want(b, &op[0], IB_WC_WR_FLUSH_ERR) ?: stream_died(t);
}

/* the peer may invalidate an MR only on the stream that it was registered on */
static int inv_foreign_mr(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mr *m = kv_mr(&t->by.b, 0, 64, 0);
	struct kv_op *op = kv_ops(t, 3);
	struct kv_mem *src = kv_mem(&t->by.a, 64);
	struct ib_sge s;

	if (!m || !op || !src)
		return -ENOMEM;
	kv_fill(src->va, 64, 3, 0);
	s = kv_sge(src, 0, 64);
	return kv_reg(&t->by.b, m, IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_WRITE) ?:
	       kv_post_recv(b, &op[0], NULL, 0) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND_WITH_INV, IB_SEND_SIGNALED,
			    NULL, 0, m->mr->rkey) ?:
	       stream_died(t) ?:
	       kv_post_rdma(&t->by.a, &op[2], IB_WR_RDMA_WRITE,
			    IB_SEND_SIGNALED, &s, 1, m->mr->iova,
			    m->mr->rkey) ?:
	       kv_ok(&t->by.a, &op[2]) ?: kv_pair_works(&t->by) ?:
	       kv_mr_check(m, 3);
}

static int send_too_long(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *from = kv_mem(a, 5000), *to = kv_mem(b, 8000);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, d;

	if (!from || !to || !op)
		return -ENOMEM;
	kv_fill(from->va, 5000, 1, 0);
	s = kv_sge(from, 0, 5000);
	d = kv_sge(to, 0, 4999);
	return kv_post_recv(b, &op[0], &d, 1) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1,
			    0) ?:
	       kv_want(b, &op[0], IB_WC_LOC_LEN_ERR) ?: stream_died(t) ?:
	       kv_check_zero(to->va + 4999, 3001);
}

static int send_no_recv(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, 1);

	if (!op)
		return -ENOMEM;
	return kv_post_send(&t->pair.a, op, IB_WR_SEND, IB_SEND_SIGNALED, NULL,
			    0, 0) ?:
	       kv_wait(&t->pair.a, op) ?: stream_died(t);
}

/* ---- errors found at our own end --------------------------------------------------- */

static int send_bad_lkey(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mem *from = kv_mem(a, 64);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;

	if (!from || !op)
		return -ENOMEM;
	s = kv_sge(from, 0, 64);
	s.lkey = BAD_KEY;
	return kv_post_send(a, op, IB_WR_SEND, 0, &s, 1, 0) ?:
	       kv_want(a, op, IB_WC_LOC_PROT_ERR) ?: stream_died(t);
}

/* an MR of another PD of the same device */
static int send_foreign_pd(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mr *m = kv_mr(&t->by.a, 0, 64, 0);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;
	int ret;

	if (!m || !op)
		return -ENOMEM;
	ret = kv_reg(&t->by.a, m, IB_ACCESS_LOCAL_WRITE);
	s = (struct ib_sge) { m->mr->iova, 64, m->mr->lkey };
	return ret ?: kv_post_send(a, op, IB_WR_SEND, 0, &s, 1, 0) ?:
	       kv_want(a, op, IB_WC_LOC_PROT_ERR) ?: stream_died(t);
}

static int read_bad_sink(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *from = kv_mem(b, 64);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s = { .addr = 0, .length = 64, .lkey = BAD_KEY };

	if (!from || !op)
		return -ENOMEM;
	return kv_post_rdma(a, op, IB_WR_RDMA_READ, 0, &s, 1, from->dma,
			    b->pd->unsafe_global_rkey) ?:
	       kv_want(a, op, IB_WC_LOC_PROT_ERR) ?: stream_died(t);
}

/* a Read of length 0: its sink key is only checked when it is to be invalidated */
static int read_inv_bad_key(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *from = kv_mem(b, 64);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s = { .addr = 0, .length = 0, .lkey = BAD_KEY };

	if (!from || !op)
		return -ENOMEM;
	return kv_post_rdma(a, op, IB_WR_RDMA_READ_WITH_INV, IB_SEND_SIGNALED,
			    &s, 1, from->dma, b->pd->unsafe_global_rkey) ?:
	       kv_want(a, op, IB_WC_LOC_PROT_ERR) ?: stream_died(t);
}

static int recv_bad_lkey(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *from = kv_mem(a, 64);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, d = { .addr = 0, .length = 64, .lkey = BAD_KEY };

	if (!from || !op)
		return -ENOMEM;
	s = kv_sge(from, 0, 64);
	return kv_post_recv(b, &op[0], &d, 1) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1,
			    0) ?:
	       kv_want(b, &op[0], IB_WC_LOC_PROT_ERR) ?: stream_died(t);
}

static int local_inv_bad_key(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 1);

	if (!op)
		return -ENOMEM;
	return kv_post_inv(a, op, IB_SEND_SIGNALED, BAD_KEY) ?:
	       kv_want(a, op, IB_WC_MW_BIND_ERR) ?: stream_died(t);
}

static int local_inv_foreign_pd(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mr *m = kv_mr(&t->by.a, 0, 64, 0);
	struct kv_op *op = kv_ops(t, 1);

	if (!m || !op)
		return -ENOMEM;
	return kv_reg(&t->by.a, m, IB_ACCESS_LOCAL_WRITE) ?:
	       kv_post_inv(a, op, IB_SEND_SIGNALED, m->mr->rkey) ?:
	       kv_want(a, op, IB_WC_MW_BIND_ERR) ?: stream_died(t);
}

/* an MR's keys differ in their low byte only */
static int reg_key_of_another(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mr *m = kv_mr(a, 0, 64, 0), *other = kv_mr(a, 0, 64, 0);
	struct kv_op *op = kv_ops(t, 1);

	if (!m || !other || !op)
		return -ENOMEM;
	return kv_post_reg(a, op, IB_SEND_SIGNALED, m, other->mr->rkey,
			   IB_ACCESS_LOCAL_WRITE) ?:
	       kv_want(a, op, IB_WC_MW_BIND_ERR) ?: stream_died(t);
}

/* ---- errors of the post itself: the QP does not change ------------------------------ */

static int want_errno(int ret, int want, const char *what)
{
	return ret == want ? 0 : kv_fail(-EPROTO, "%s: %d, not %d", what, ret,
					 want);
}

static int post_refused(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct ib_sge s[KV_MAX_SGE + 1] = {};
	struct ib_send_wr lso = { .opcode = IB_WR_LSO };
	struct kv_op *op = kv_ops(t, 1);
	u8 text[300] = {};
	struct ib_sge big = { .addr = (uintptr_t)text, .length = 300 };

	if (!op)
		return -ENOMEM;
	return want_errno(kv_post_send(a, op, IB_WR_SEND, 0, s, KV_MAX_SGE + 1,
				       0), -EINVAL, "17 SGEs in a Send") ?:
	       want_errno(kv_post_recv(a, op, s, KV_MAX_SGE + 1), -EINVAL,
			  "17 SGEs in a receive") ?:
	       want_errno(kv_post_send(a, op, IB_WR_SEND, IB_SEND_INLINE, &big,
				       1, 0), -EINVAL, "300 bytes inline") ?:
	       want_errno(ib_post_send(a->qp, &lso, NULL), -EOPNOTSUPP, "an LSO") ?:
	       want_errno(kv_post_rdma(a, op, IB_WR_RDMA_READ_WITH_INV, 0, s, 0,
				       0, 0), -EINVAL, "a READ_WITH_INV of no key") ?:
	       want_errno(kv_post_rdma(a, op, IB_WR_RDMA_READ_WITH_INV, 0, s, 2,
				       0, 0), -EINVAL, "a READ_WITH_INV of two") ?:
	       kv_pair_works(&t->pair);
}

/*
 * With interrupts off the engine cannot run on this CPU, so the queue fills up. It may
 * still run on another CPU, and then takes some entries. Return: the number of the post
 * that was refused.
 */
static int fill_sq(struct kv_end *e, struct kv_op *op, int most, int *ret)
{
	unsigned long flags;
	int i;

	local_irq_save(flags);
	for (i = 0, *ret = 0; i < most; i++) {
		*ret = kv_post_rdma(e, &op[i], IB_WR_RDMA_WRITE,
				    IB_SEND_SIGNALED, NULL, 0, 0, 0);
		if (*ret)
			break;
	}
	local_irq_restore(flags);
	return i;
}

static int post_full_sq(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 400);
	int i, n, ret;

	if (!op)
		return -ENOMEM;
	n = fill_sq(a, op, 400, &ret);
	if (ret != -ENOMEM || n < 128)
		return kv_fail(-EPROTO, "post %d to a queue of 128 returned %d", n,
			       ret);
	for (i = 0, ret = 0; i < n && !ret; i++)
		ret = kv_ok(a, &op[i]);
	return ret ?: kv_pair_works(&t->pair);
}

static int post_full_rq(struct kv_test *t)
{
	return kv_fill_recvs(&t->pair.a, &t->pair.b) ?: kv_pair_works(&t->pair);
}

/* a CQ that is never polled */
static int cq_overflow(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 100);
	unsigned long end = jiffies + kv_timeout();
	int i, ret = 0;

	if (!op)
		return -ENOMEM;
	for (i = 0; i < 100 && !ret; i++)
		ret = kv_post_rdma(a, &op[i], IB_WR_RDMA_WRITE,
				   IB_SEND_SIGNALED, NULL, 0, 0, 0);
	ret = ret ?: kv_wait_event(a, IB_EVENT_CQ_ERR);
	while (!ret && kv_qp_state(a) != IB_QPS_ERR) {
		if (time_after(jiffies, end))
			ret = kv_fail(-ETIMEDOUT, "the QP is not in ERROR");
		cond_resched();
	}
	/* the CQ would lose the completion of a drain, too: destroy the QP without one */
	rdma_destroy_qp(a->id);
	a->qp = NULL;
	return ret;
}

#define WITH_BYSTANDER	{ .bystander = true }

const struct kv_case kv_fault_cases[] = {
	{ "write__bad_rkey", write_bad_key, WITH_BYSTANDER },
	{ "write__without_right", write_no_right, WITH_BYSTANDER },
	{ "write__beyond_the_mr", write_beyond, WITH_BYSTANDER },
	{ "write__mr_of_another_qp", write_foreign_stream,
	  { .bystander = true, .same_pd = true } },
	{ "read__bad_rkey", read_bad_key, WITH_BYSTANDER },
	{ "read__without_right", read_no_right, WITH_BYSTANDER },
	{ "read__beyond_the_mr", read_beyond, WITH_BYSTANDER },
	{ "read__mr_of_another_qp", read_foreign_stream,
	  { .bystander = true, .same_pd = true } },
	{ "read__bad_sink_key", read_bad_sink, WITH_BYSTANDER },
	{ "read_with_inv__bad_key", read_inv_bad_key, WITH_BYSTANDER },
	{ "send__longer_than_the_receive", send_too_long, WITH_BYSTANDER },
	{ "send__no_receive", send_no_recv, WITH_BYSTANDER },
	{ "send__bad_lkey", send_bad_lkey, WITH_BYSTANDER },
	{ "send__mr_of_another_pd", send_foreign_pd, WITH_BYSTANDER },
	{ "send_with_inv__bad_key", inv_bad_key, WITH_BYSTANDER },
	{ "send_with_inv__mr_of_another_pd", inv_foreign_mr, WITH_BYSTANDER },
	{ "send_with_inv__mr_of_another_qp", inv_foreign_mr,
	  { .bystander = true, .same_pd = true } },
	{ "recv__bad_lkey", recv_bad_lkey, WITH_BYSTANDER },
	{ "local_inv__bad_key", local_inv_bad_key, WITH_BYSTANDER },
	{ "local_inv__mr_of_another_pd", local_inv_foreign_pd, WITH_BYSTANDER },
	{ "reg_mr__key_of_another_mr", reg_key_of_another, WITH_BYSTANDER },
	{ "post__bad_requests_are_refused", post_refused },
	{ "post__full_send_queue", post_full_sq },
	{ "post__full_receive_queue", post_full_rq },
	{ "dereg_mr__under_the_peers_writes", dereg_busy, WITH_BYSTANDER },
	{ "cq__overflow", cq_overflow, { .poll = KV_RAW, .cqe = 16 } },
	{}
};
