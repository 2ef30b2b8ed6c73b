// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* SEND and RECV. */
#include <linux/delay.h>

#include "kverbs.h"

#define BIG	300001

/* around the FPDU sizes of MTU 1500, and sizes that need many DDP segments */
static const u32 sizes[] = {
	0, 1, 3, 4, 63, 100, 1427, 1428, 1429, 4096, 65535, 65536, BIG,
};

static int one_size(struct kv_test *t, struct kv_mem *src, struct kv_mem *dst,
		    u32 len)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s = kv_sge(src, 1, len), d = kv_sge(dst, 3, BIG);
	int ret;

	if (!op)
		return -ENOMEM;
	kv_fill(src->va + 1, len, len, 0);
	memset(dst->va, 0, dst->size);
	ret = kv_post_recv(b, &op[0], &d, 1) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1, 0) ?:
	      kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]);
	if (ret)
		return ret;
	if (op[0].wc.byte_len != len || op[0].wc.opcode != IB_WC_RECV ||
	    op[1].wc.opcode != IB_WC_SEND)
		return kv_fail(-EPROTO, "byte_len %u of %u, opcodes %d %d",
			       op[0].wc.byte_len, len, op[0].wc.opcode,
			       op[1].wc.opcode);
	return kv_check(dst->va + 3, len, len, 0) ?:
	       kv_check_zero(dst->va + 3 + len, 64);
}

static int payload_sizes(struct kv_test *t)
{
	struct kv_mem *src = kv_mem(&t->pair.a, BIG + 128);
	struct kv_mem *dst = kv_mem(&t->pair.b, BIG + 128);
	unsigned int i;
	int ret = src && dst ? 0 : -ENOMEM;

	for (i = 0; i < ARRAY_SIZE(sizes) && !ret; i++) {
		ret = one_size(t, src, dst, sizes[i]);
		if (ret)
			kv_fail(ret, "with %u bytes", sizes[i]);
	}
	return ret;
}

/* 16 elements of 1, 38, 75 .. bytes, some of them empty */
static u32 cut(struct kv_mem *m, struct ib_sge *sge, u32 step)
{
	u32 i, at = 0, len = 0, n;

	for (i = 0; i < KV_MAX_SGE; i++) {
		n = i % 5 == 3 ? 0 : 1 + i * step;
		sge[i] = kv_sge(m, at, n);
		at += n + 7;
		len += n;
	}
	return len;
}

static int many_sges(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *src = kv_mem(a, 32768), *dst = kv_mem(b, 32768);
	struct ib_sge s[KV_MAX_SGE], d[KV_MAX_SGE];
	struct kv_op *op = kv_ops(t, 2);
	u32 i, len, at = 0;
	int ret;

	if (!src || !dst || !op)
		return -ENOMEM;
	len = cut(src, s, 37);
	cut(dst, d, 41);
	for (i = 0; i < KV_MAX_SGE; i++) {
		kv_fill(src->va + (s[i].addr - src->dma), s[i].length, 5, at);
		at += s[i].length;
	}
	ret = kv_post_recv(b, &op[0], d, KV_MAX_SGE) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, s,
			   KV_MAX_SGE, 0) ?:
	      kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]);
	for (i = 0, at = 0; i < KV_MAX_SGE && !ret && at < len; i++) {
		u32 n = min(d[i].length, len - at);

		ret = kv_check(dst->va + (d[i].addr - dst->dma), n, 5, at);
		at += n;
	}
	return ret;
}

/*
 * Use the key of the PD's DMA MR instead of local_dma_lkey. If the device has a
 * local_dma_lkey, the core gives that MR remote rights only, so it can be a source.
 */
static int dma_mr_key(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *src = kv_mem(a, 5000), *dst = kv_mem(b, 5000);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, d;

	if (!src || !dst || !op)
		return -ENOMEM;
	if (!a->pd->__internal_mr || !a->pd->__internal_mr->lkey)
		return kv_fail(-EINVAL, "no DMA MR");
	s = kv_sge(src, 0, 5000);
	d = kv_sge(dst, 0, 5000);
	s.lkey = a->pd->__internal_mr->lkey;
	kv_fill(src->va, 5000, 6, 0);
	return kv_post_recv(b, &op[0], &d, 1) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1,
			    0) ?:
	       kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]) ?:
	       kv_check(dst->va, 5000, 6, 0);
}

/* the post copies the payload: the caller may change the buffer at once */
static int inline_data(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *dst = kv_mem(b, 200);
	struct kv_op *op = kv_ops(t, 2);
	u8 text[200];
	struct ib_sge s[2], d;
	int ret;

	if (!dst || !op)
		return -ENOMEM;
	kv_fill(text, 200, 7, 0);
	s[0] = (struct ib_sge) { .addr = (uintptr_t)text, .length = 77 };
	s[1] = (struct ib_sge) { .addr = (uintptr_t)text + 77, .length = 123 };
	d = kv_sge(dst, 0, 200);
	ret = kv_post_recv(b, &op[0], &d, 1) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND,
			   IB_SEND_SIGNALED | IB_SEND_INLINE, s, 2, 0);
	memset(text, 0, sizeof(text));
	return ret ?: kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]) ?:
	       kv_check(dst->va, 200, 7, 0);
}

/* n messages from a to b, the last one signalled; all arrive in order */
static int burst(struct kv_test *t, u32 n, int flags)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *src = kv_mem(a, n * 8), *dst = kv_mem(b, n * 8);
	struct kv_op *op = kv_ops(t, 2 * n);
	u32 i;
	int ret = 0;

	if (!src || !dst || !op)
		return -ENOMEM;
	kv_fill(src->va, n * 8, 8, 0);
	for (i = 0; i < n && !ret; i++) {
		struct ib_sge d = kv_sge(dst, i * 8, 8);

		ret = kv_post_recv(b, &op[n + i], &d, 1);
	}
	for (i = 0; i < n && !ret; i++) {
		struct ib_sge s = kv_sge(src, i * 8, 8);

		ret = kv_post_send(a, &op[i], IB_WR_SEND,
				   i == n - 1 ? IB_SEND_SIGNALED : flags, &s, 1,
				   0);
	}
	ret = ret ?: kv_ok(a, &op[n - 1]);
	for (i = 0; i < n && !ret; i++)
		ret = kv_ok(b, &op[n + i]);
	for (i = 1; i < n && !ret; i++)
		if (op[n + i].order < op[n + i - 1].order)
			ret = kv_fail(-EPROTO, "receive %u completed before its predecessor", i);
	for (i = 0; i + 1 < n && !ret; i++)
		if (atomic_read(&op[i].hits) !=
		    (flags || t->pair.opts->sig_all))
			ret = kv_fail(-EPROTO, "send %u: %d completions", i,
				      atomic_read(&op[i].hits));
	return ret ?: kv_check(dst->va, n * 8, 8, 0);
}

static int unsignalled(struct kv_test *t)
{
	return burst(t, 100, 0);
}

static int signalled(struct kv_test *t)
{
	return burst(t, 100, IB_SEND_SIGNALED);
}

static int full_depth(struct kv_test *t)
{
	return burst(t, 8192, 0);
}

/* unsignalled entries must be freed without a completion */
static int ring_wraps(struct kv_test *t)
{
	int i, ret = 0;

	for (i = 0; i < 20 && !ret; i++)
		ret = burst(t, 50, 0);
	return ret;
}

/* ---- events --------------------------------------------------------------------- */

/* the completion may be polled before the handler is called for it */
static int want_events(struct kv_end *e, int want)
{
	unsigned long end = jiffies + kv_timeout();
	int n;

	while ((n = atomic_read(&e->comp_events)) < want) {
		if (time_after(jiffies, end))
			break;
		usleep_range(50, 200);
	}
	return n == want ? 0 : kv_fail(-EPROTO, "%d completion events, not %d",
				       n, want);
}

static int send_flags(struct kv_test *t, int flags, int events)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2);
	struct kv_mem *m = kv_mem(a, 16), *d = kv_mem(b, 16);
	struct ib_sge s, r;

	if (!op || !m || !d)
		return -ENOMEM;
	s = kv_sge(m, 0, 16);
	r = kv_sge(d, 0, 16);
	return kv_post_recv(b, &op[0], &r, 1) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED | flags, &s,
			    1, 0) ?:
	       kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]) ?: want_events(b, events);
}

/* armed for solicited ones: only a solicited Send raises an event */
static int solicited(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	int ret;

	ib_req_notify_cq(b->rcq, IB_CQ_SOLICITED);
	ret = send_flags(t, 0, 0) ?: send_flags(t, IB_SEND_SOLICITED, 1) ?:
	      /* not armed any more */
	      send_flags(t, IB_SEND_SOLICITED, 1);
	if (ret)
		return ret;
	ib_req_notify_cq(b->rcq, IB_CQ_NEXT_COMP);
	return send_flags(t, 0, 2);
}

const struct kv_case kv_send_cases[] = {
	{ "send__payload_sizes", payload_sizes },
	{ "send__sixteen_sges_at_both_ends", many_sges },
	{ "send__sixteen_sges_into_an_srq", many_sges, { .srq = true } },
	{ "send__with_key_of_dma_mr", dma_mr_key },
	{ "send__inline_is_taken_at_the_post", inline_data },
	{ "send__unsignalled_has_no_completion", unsignalled },
	{ "send__signalled_completes_in_order", signalled },
	{ "send__sig_all_signals_each", unsignalled, { .sig_all = true } },
	{ "send__depth_8192", full_depth, { .depth = 8192 } },
	{ "send__rings_wrap", ring_wraps, { .depth = 64 } },
	{ "send__solicited_event", solicited, { .poll = KV_RAW } },
	{}
};
