// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* RDMA Write and Read, their order, and the core's rdma_rw, which uses both. */
#include <rdma/rw.h>

#include "kverbs.h"

#define BIG	300001

static const u32 sizes[] = { 0, 1, 5, 100, 1428, 4096, 65536, BIG };

/* one transfer between a's memory and b's, whose key is the PD's global rkey */
static int transfer(struct kv_test *t, enum ib_wr_opcode opcode,
		    struct kv_mem *ours, struct kv_mem *theirs, u32 len)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	bool write = opcode == IB_WR_RDMA_WRITE;
	struct kv_mem *from = write ? ours : theirs;
	struct kv_mem *to = write ? theirs : ours;
	struct ib_sge s = kv_sge(ours, 3, len);
	struct kv_op *op = kv_ops(t, 2);
	int ret;

	if (!op)
		return -ENOMEM;
	kv_fill(from->va + 3, len, len, 0);
	memset(to->va, 0, to->size);
	/* the completion of a Read after a Write means that the Write has arrived */
	ret = kv_post_rdma(a, &op[0], opcode, IB_SEND_SIGNALED, &s, 1,
			   theirs->dma + 3, b->pd->unsafe_global_rkey) ?:
	      kv_ok(a, &op[0]) ?:
	      kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, NULL,
			   0, theirs->dma, b->pd->unsafe_global_rkey) ?:
	      kv_ok(a, &op[1]);
	if (ret)
		return ret;
	if (op[0].wc.opcode != (write ? IB_WC_RDMA_WRITE : IB_WC_RDMA_READ) ||
	    (!write && op[0].wc.byte_len != len))
		return kv_fail(-EPROTO, "opcode %d, byte_len %u",
			       op[0].wc.opcode, op[0].wc.byte_len);
	return kv_check(to->va + 3, len, len, 0) ?: kv_check_zero(to->va, 3) ?:
	       kv_check_zero(to->va + 3 + len, 64);
}

static int each_size(struct kv_test *t, enum ib_wr_opcode opcode)
{
	struct kv_mem *ours = kv_mem(&t->pair.a, BIG + 128);
	struct kv_mem *theirs = kv_mem(&t->pair.b, BIG + 128);
	unsigned int i;
	int ret = ours && theirs ? 0 : -ENOMEM;

	for (i = 0; i < ARRAY_SIZE(sizes) && !ret; i++) {
		ret = transfer(t, opcode, ours, theirs, sizes[i]);
		if (ret)
			kv_fail(ret, "with %u bytes", sizes[i]);
	}
	return ret;
}

static int write_sizes(struct kv_test *t)
{
	return each_size(t, IB_WR_RDMA_WRITE);
}

static int read_sizes(struct kv_test *t)
{
	return each_size(t, IB_WR_RDMA_READ);
}

/* 16 elements with a gap after each */
static int gather(struct kv_test *t, enum ib_wr_opcode opcode)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, 65536), *theirs = kv_mem(b, 65536);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s[KV_MAX_SGE];
	bool write = opcode == IB_WR_RDMA_WRITE;
	u32 i, at = 0, len = 0;
	int ret;

	if (!ours || !theirs || !op)
		return -ENOMEM;
	for (i = 0; i < KV_MAX_SGE; i++) {
		s[i] = kv_sge(ours, at, 1 + 211 * i);
		if (write)
			kv_fill(ours->va + at, s[i].length, 21, len);
		at += s[i].length + 9;
		len += s[i].length;
	}
	if (!write)
		kv_fill(theirs->va, len, 21, 0);
	ret = kv_post_rdma(a, &op[0], opcode, IB_SEND_SIGNALED, s, KV_MAX_SGE,
			   theirs->dma, b->pd->unsafe_global_rkey) ?:
	      kv_ok(a, &op[0]) ?:
	      kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, NULL,
			   0, theirs->dma, b->pd->unsafe_global_rkey) ?:
	      kv_ok(a, &op[1]);
	if (ret || write)
		return ret ?: kv_check(theirs->va, len, 21, 0);
	for (i = 0, len = 0; i < KV_MAX_SGE && !ret; i++) {
		void *p = ours->va + (s[i].addr - ours->dma);

		ret = kv_check(p, s[i].length, 21, len) ?:
		      kv_check_zero(p + s[i].length, 9);
		len += s[i].length;
	}
	return ret;
}

static int write_sges(struct kv_test *t)
{
	return gather(t, IB_WR_RDMA_WRITE);
}

static int read_sges(struct kv_test *t)
{
	return gather(t, IB_WR_RDMA_READ);
}

static int write_inline(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *theirs = kv_mem(b, 200), *sync = kv_mem(a, 200);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, r;
	u8 text[200];
	int ret;

	if (!theirs || !sync || !op)
		return -ENOMEM;
	kv_fill(text, 200, 22, 0);
	s = (struct ib_sge) { .addr = (uintptr_t)text, .length = 200 };
	r = kv_sge(sync, 0, 200);
	ret = kv_post_rdma(a, &op[0], IB_WR_RDMA_WRITE,
			   IB_SEND_SIGNALED | IB_SEND_INLINE, &s, 1,
			   theirs->dma, b->pd->unsafe_global_rkey);
	memset(text, 0, sizeof(text));
	return ret ?: kv_ok(a, &op[0]) ?:
	       kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, &r, 1,
			    theirs->dma, b->pd->unsafe_global_rkey) ?:
	       kv_ok(a, &op[1]) ?: kv_check(sync->va, 200, 22, 0);
}

/* RFC 5040 5.5: the data of a Write is placed when a later Send is delivered */
static int write_then_send(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, 65536), *theirs = kv_mem(b, 65536);
	struct kv_op *op = kv_ops(t, 3);
	struct ib_sge s;

	if (!ours || !theirs || !op)
		return -ENOMEM;
	kv_fill(ours->va, 65536, 23, 0);
	s = kv_sge(ours, 0, 65536);
	return kv_post_recv(b, &op[0], NULL, 0) ?:
	       kv_post_rdma(a, &op[1], IB_WR_RDMA_WRITE, 0, &s, 1, theirs->dma,
			    b->pd->unsafe_global_rkey) ?:
	       kv_post_send(a, &op[2], IB_WR_SEND, IB_SEND_SIGNALED, NULL, 0,
			    0) ?:
	       kv_ok(b, &op[0]) ?: kv_check(theirs->va, 65536, 23, 0) ?:
	       kv_ok(a, &op[2]);
}

/* the fenced Send sends back the data of the Read, so it must wait for it */
static int fence(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, 65536), *theirs = kv_mem(b, 65536);
	struct kv_mem *back = kv_mem(b, 65536);
	struct kv_op *op = kv_ops(t, 3);
	struct ib_sge s, d;
	int ret;

	if (!ours || !theirs || !back || !op)
		return -ENOMEM;
	kv_fill(theirs->va, 65536, 24, 0);
	s = kv_sge(ours, 0, 65536);
	d = kv_sge(back, 0, 65536);
	ret = kv_post_recv(b, &op[0], &d, 1) ?:
	      kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, &s, 1,
			   theirs->dma, b->pd->unsafe_global_rkey) ?:
	      kv_post_send(a, &op[2], IB_WR_SEND,
			   IB_SEND_SIGNALED | IB_SEND_FENCE, &s, 1, 0) ?:
	      kv_ok(a, &op[1]) ?: kv_ok(a, &op[2]) ?: kv_ok(b, &op[0]);
	if (!ret && op[2].order < op[1].order)
		return kv_fail(-EPROTO, "the fenced Send completed before the Read");
	return ret ?: kv_check(back->va, 65536, 24, 0);
}

/*
 * In FPDUs of a segment, of which the receiver takes many in one call. The one that wraps is
 * refused (RFC 5040 7.1), although a DMA MR opens the address after it, too. No memory has
 * these addresses.
 */
static int write_over_the_end(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, BIG);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;

	if (!ours || !op)
		return -ENOMEM;
	s = kv_sge(ours, 0, BIG);
	return kv_post_rdma(a, op, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, &s, 1,
			    U64_MAX - BIG / 2, b->pd->unsafe_global_rkey) ?:
	       kv_wait(a, op) ?: kv_wait_event(b, IB_EVENT_QP_ACCESS_ERR);
}

/* more Reads than ORD: the rest wait, and all complete in order */
static int reads_beyond_ord(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, 64 * 1000);
	struct kv_mem *theirs = kv_mem(b, 64 * 1000);
	struct kv_op *op = kv_ops(t, 64);
	int i, ret = 0;

	if (!ours || !theirs || !op)
		return -ENOMEM;
	kv_fill(theirs->va, 64 * 1000, 25, 0);
	for (i = 0; i < 64 && !ret; i++) {
		struct ib_sge s = kv_sge(ours, i * 1000, 1000);

		ret = kv_post_rdma(a, &op[i], IB_WR_RDMA_READ,
				   IB_SEND_SIGNALED, &s, 1,
				   theirs->dma + i * 1000,
				   b->pd->unsafe_global_rkey);
	}
	for (i = 0; i < 64 && !ret; i++)
		ret = kv_ok(a, &op[i]);
	for (i = 1; i < 64 && !ret; i++)
		if (op[i].order < op[i - 1].order)
			ret = kv_fail(-EPROTO, "Read %d completed before its predecessor", i);
	return ret ?: kv_check(ours->va, 64 * 1000, 25, 0);
}

/* Reads and Writes of both ends at the same time */
static int crossing(struct kv_test *t)
{
	struct kv_end *end[2] = { &t->pair.a, &t->pair.b };
	struct kv_mem *mem[2], *sink[2];
	struct kv_op *op = kv_ops(t, 64);
	int i, ret = 0;

	for (i = 0; i < 2; i++) {
		mem[i] = kv_mem(end[i], 32 * 2000);
		sink[i] = kv_mem(end[i], 32 * 2000);
		if (!mem[i] || !sink[i] || !op)
			return -ENOMEM;
		kv_fill(mem[i]->va, 32 * 2000, 30 + i, 0);
	}
	for (i = 0; i < 64 && !ret; i++) {
		int me = i & 1;
		struct ib_sge s = kv_sge(sink[me], i / 2 * 2000, 2000);

		ret = kv_post_rdma(end[me], &op[i], IB_WR_RDMA_READ,
				   IB_SEND_SIGNALED, &s, 1,
				   mem[!me]->dma + i / 2 * 2000,
				   end[!me]->pd->unsafe_global_rkey);
	}
	for (i = 0; i < 64 && !ret; i++)
		ret = kv_ok(end[i & 1], &op[i]);
	return ret ?: kv_check(sink[0]->va, 32 * 2000, 31, 0) ?:
	       kv_check(sink[1]->va, 32 * 2000, 30, 0);
}

/* ---- rdma_rw: what nvmet, isert, srpt and the NFS server post ------------------- */

static int rw(struct kv_test *t, enum dma_data_direction dir)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	const u32 pages = 20, len = 20 * PAGE_SIZE - 300;
	struct kv_mr *ours = kv_mr(a, 100, len, 0);
	struct kv_mem *theirs = kv_mem(b, pages * PAGE_SIZE);
	struct kv_op *op = kv_ops(t, 2);
	struct rdma_rw_ctx ctx = {};
	u32 rkey = b->pd->unsafe_global_rkey;
	int ret;

	if (!ours || !theirs || !op)
		return -ENOMEM;
	if (dir == DMA_TO_DEVICE)
		kv_mr_fill(ours, 26);
	else
		kv_fill(theirs->va, len, 26, 0);
	ret = rdma_rw_ctx_init(&ctx, a->qp, a->id->port_num, ours->sg,
			       ours->pages, 0, theirs->dma, rkey, dir);
	if (ret < 0)
		return kv_fail(ret, "rdma_rw_ctx_init: %d", ret);
	ret = rdma_rw_ctx_post(&ctx, a->qp, a->id->port_num, &op[0].cqe, NULL);
	if (ret)
		kv_fail(ret, "rdma_rw_ctx_post: %d", ret);
	ret = ret ?: kv_ok(a, &op[0]) ?:
	      kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, NULL,
			   0, theirs->dma, rkey) ?:
	      kv_ok(a, &op[1]);
	rdma_rw_ctx_destroy(&ctx, a->qp, a->id->port_num, ours->sg,
			    ours->pages, dir);
	if (ret)
		return ret;
	return dir == DMA_TO_DEVICE ? kv_check(theirs->va, len, 26, 0) :
				      kv_mr_check(ours, 26);
}

/* more rounds than the pool has MRs: each must be usable again */
static int rw_read(struct kv_test *t)
{
	int i, ret = 0;

	for (i = 0; i < 8 && !ret; i++)
		ret = rw(t, DMA_FROM_DEVICE);
	return ret;
}

static int rw_write(struct kv_test *t)
{
	int i, ret = 0;

	for (i = 0; i < 8 && !ret; i++)
		ret = rw(t, DMA_TO_DEVICE);
	return ret;
}

const struct kv_case kv_rdma_cases[] = {
	{ "write__payload_sizes", write_sizes },
	{ "write__sixteen_sges", write_sges },
	{ "write__inline", write_inline },
	{ "write__is_placed_before_the_next_send", write_then_send },
	{ "off__write_over_the_end_of_addresses", write_over_the_end },
	{ "read__payload_sizes", read_sizes },
	{ "read__sixteen_sges", read_sges },
	{ "read__more_than_ord", reads_beyond_ord, { .ord = 4 } },
	{ "read__crossing_reads", crossing },
	{ "read__fence_holds_the_send", fence },
	{ "rdma_rw__read", rw_read, { .rw = 4 } },
	{ "rdma_rw__write", rw_write, { .rw = 4 } },
	{}
};
