// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* What upper layers rely on, beyond the verbs. */
#include <linux/hrtimer.h>
#include <linux/inetdevice.h>

#include "kverbs.h"

/* ---- buffers that change while they are sent -------------------------------- */

#define LEN		100000
/* at least one byte of each FPDU */
#define STEP		500
#define PERIOD_US	30

struct scribbler {
	struct hrtimer timer;
	struct kv_mem *m;
};

/*
 * Change the buffer like a page cache under write-back, from a timer: its interrupts hit
 * the engine at any point, even on a busy machine.
 */
static enum hrtimer_restart scribble(struct hrtimer *timer)
{
	struct scribbler *s = container_of(timer, struct scribbler, timer);
	size_t i;

	for (i = 0; i < s->m->size; i += STEP)
		((u8 *)s->m->va)[i]++;
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_US * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void setup(struct scribbler *s, struct kv_mem *m)
{
	s->m = m;
#ifdef KV_HAVE_HRTIMER_SETUP
	hrtimer_setup_on_stack(&s->timer, scribble, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init_on_stack(&s->timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
	s->timer.function = scribble;
#endif
}

static int send(struct kv_test *t, struct kv_mem *src, struct kv_mem *dst,
		struct kv_op *op)
{
	struct ib_sge s = kv_sge(src, 0, LEN), d = kv_sge(dst, 0, LEN);

	return kv_post_recv(&t->pair.b, &op[0], &d, 1) ?:
	       kv_post_send(&t->pair.a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED,
			    &s, 1, 0) ?:
	       kv_ok(&t->pair.a, &op[1]) ?: kv_ok(&t->pair.b, &op[0]);
}

/* a Write from the changing buffer, and a Read of it: a sends as requester and responder */
static int write_read(struct kv_test *t, struct kv_mem *src,
		      struct kv_mem *dst, struct kv_op *op)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct ib_sge s = kv_sge(src, 0, LEN), d = kv_sge(dst, 0, LEN);

	return kv_post_rdma(a, &op[0], IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, &s,
			    1, dst->dma, b->pd->unsafe_global_rkey) ?:
	       kv_ok(a, &op[0]) ?:
	       kv_post_rdma(b, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, &d,
			    1, src->dma, a->pd->unsafe_global_rkey) ?:
	       kv_ok(b, &op[1]);
}

/* a CRC of other bytes than those sent would end the connection */
static int changing(struct kv_test *t,
		    int (*move)(struct kv_test *t, struct kv_mem *src,
				struct kv_mem *dst, struct kv_op *op))
{
	struct kv_mem *src = kv_mem(&t->pair.a, LEN);
	struct kv_mem *dst = kv_mem(&t->pair.b, LEN);
	struct kv_op *op = kv_ops(t, 2);
	unsigned long end = jiffies + HZ / 2;
	struct scribbler s;
	int ret = 0;

	if (!src || !dst || !op)
		return -ENOMEM;
	setup(&s, src);
	while (time_before(jiffies, end) && !ret) {
		kv_op_init(&op[0], t);
		kv_op_init(&op[1], t);
		/* on this CPU, where the engine sends what is posted here */
		hrtimer_start(&s.timer, 0, HRTIMER_MODE_REL_PINNED_HARD);
		ret = move(t, src, dst, op);
		hrtimer_cancel(&s.timer);
	}
	destroy_hrtimer_on_stack(&s.timer);
	return ret ?: kv_pair_works(&t->pair);
}

static int changing_send(struct kv_test *t)
{
	return changing(t, send);
}

static int changing_rdma(struct kv_test *t)
{
	return changing(t, write_read);
}

/* ---- mapping an MR that is still valid -------------------------------------- */

#define MAPPED	(4 * PAGE_SIZE)

static int read_back(struct kv_test *t, struct kv_mr *m, u32 key, size_t from,
		     size_t len)
{
	struct kv_mem *dst = kv_mem(&t->pair.a, MAPPED);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge d;

	if (!dst || !op)
		return -ENOMEM;
	d = kv_sge(dst, 0, len);
	return kv_post_rdma(&t->pair.a, op, IB_WR_RDMA_READ, IB_SEND_SIGNALED,
			    &d, 1, m->mr->iova, key) ?:
	       kv_ok(&t->pair.a, op) ?: kv_check(dst->va, len, 31, from);
}

/*
 * iSER maps an MR, then posts LOCAL_INV and REG_MR together; SRP maps after it posted a
 * LOCAL_INV, without waiting for it. The new mapping takes effect with the REG_MR.
 */
static int map_while_valid(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 0, MAPPED, 0);
	struct kv_op *op = kv_ops(t, 2);
	u64 iova;
	u32 old;
	int n, ret;

	if (!m || !op)
		return -ENOMEM;
	kv_mr_fill(m, 31);
	ret = kv_reg(b, m, IB_ACCESS_REMOTE_READ);
	if (ret)
		return ret;
	old = m->mr->rkey;
	iova = m->mr->iova;
	n = ib_map_mr_sg(m->mr, m->sg + 1, m->mapped - 1, NULL, PAGE_SIZE);
	if (n != 3)
		return kv_fail(-EIO, "ib_map_mr_sg: %d of 3 pages", n);
	swap(m->mr->iova, iova);
	ret = read_back(t, m, old, 0, MAPPED);
	swap(m->mr->iova, iova);
	if (ret)
		return kv_fail(ret, "the mapping that was valid is not");
	ib_update_fast_reg_key(m->mr, ib_inc_rkey(old));
	return kv_post_inv(b, &op[0], 0, old) ?:
	       kv_post_reg(b, &op[1], IB_SEND_SIGNALED, m, m->mr->rkey,
			   IB_ACCESS_REMOTE_READ) ?:
	       kv_ok(b, &op[1]) ?:
	       read_back(t, m, m->mr->rkey, PAGE_SIZE, MAPPED - PAGE_SIZE);
}

/* ---- the device that carries a netdev's connections ------------------------- */

/* SMB Direct and others look up the device of a network interface */
static int device_by_netdev(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct sockaddr_in *sin = (struct sockaddr_in *)kv_addr(a);
	struct net_device *netdev;
	struct ib_device *ibdev;
	bool same;

	netdev = __ip_dev_find(kv_net(a), sin->sin_addr.s_addr, true);
	if (!netdev)
		return kv_fail(-ENODEV, "no netdev has the address");
	ibdev = ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN);
	dev_put(netdev);
	if (!ibdev)
		return kv_fail(-ENODEV, "no device for the netdev");
	same = ibdev == a->id->device;
	ib_device_put(ibdev);
	return same ? 0 : kv_fail(-EXDEV, "another device");
}

const struct kv_case kv_ulp_cases[] = {
	{ "ulp__send_of_a_changing_buffer", changing_send },
	{ "ulp__write_and_read_of_a_changing_buffer", changing_rdma },
	{ "ulp__map_mr_sg_while_valid", map_while_valid },
	{ "ulp__device_by_netdev", device_by_netdev },
	{}
};
