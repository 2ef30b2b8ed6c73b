// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Fast registration: REG_MR, LOCAL_INV, SEND_WITH_INV, READ_WITH_INV. */
#include "kverbs.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

/* a writes @seed to b's MR and reads it back */
static int use_remote(struct kv_test *t, struct kv_mr *m, u32 seed)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mem *src = kv_mem(a, m->len), *dst = kv_mem(a, m->len);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, d;

	if (!src || !dst || !op)
		return -ENOMEM;
	kv_fill(src->va, m->len, seed, 0);
	s = kv_sge(src, 0, m->len);
	d = kv_sge(dst, 0, m->len);
	return kv_post_rdma(a, &op[0], IB_WR_RDMA_WRITE, 0, &s, 1, m->mr->iova,
			    m->mr->rkey) ?:
	       kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, &d, 1,
			    m->mr->iova, m->mr->rkey) ?:
	       kv_ok(a, &op[1]) ?: kv_mr_check(m, seed) ?:
	       kv_check(dst->va, m->len, seed, 0);
}

static int invalidate(struct kv_end *e, u32 key)
{
	struct kv_op *op = kv_ops(e->pair->t, 1);
	int ret;

	if (!op)
		return -ENOMEM;
	ret = kv_post_inv(e, op, IB_SEND_SIGNALED, key) ?: kv_ok(e, op);
	if (!ret && op->wc.opcode != IB_WC_LOCAL_INV)
		return kv_fail(-EPROTO, "opcode %d", op->wc.opcode);
	return ret;
}

/* a's Read of b's MR must be refused, and a gets the reason */
static int must_fail(struct kv_test *t, u64 addr, u32 rkey)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mem *m = kv_mem(a, 16);
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s;

	if (!m || !op)
		return -ENOMEM;
	s = kv_sge(m, 0, 16);
	return kv_post_rdma(a, op, IB_WR_RDMA_READ, IB_SEND_SIGNALED, &s, 1,
			    addr, rkey) ?:
	       kv_want(a, op, IB_WC_REM_ACCESS_ERR) ?:
	       kv_check_zero(m->va, 16) ?:
	       kv_wait_event(&t->pair.b, IB_EVENT_QP_ACCESS_ERR);
}

static int page_lists(struct kv_test *t)
{
	static const struct { u32 pages, off, cut; } row[] = {
		{ 1, 0, 0 }, { 1, 777, 13 }, { 2, 4095, 4093 }, { 17, 1, 1 },
		{ 256, 0, 0 }, { 256, 1234, 999 },
	};
	struct kv_end *b = &t->pair.b;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(row) && !ret; i++) {
		u32 len = row[i].pages * PAGE_SIZE - row[i].off - row[i].cut;
		struct kv_mr *m = kv_mr(b, row[i].off, len, 0);

		if (!m)
			return -ENOMEM;
		ret = kv_reg(b, m, REMOTE) ?: use_remote(t, m, i + 1) ?:
		      invalidate(b, m->mr->rkey);
		if (ret)
			kv_fail(ret, "with %u pages from %u", row[i].pages,
				row[i].off);
	}
	return ret;
}

/* the longest page list that the device reports works, and one page more fails */
static int longest_list(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	u32 max = b->id->device->attrs.max_fast_reg_page_list_len;
	struct kv_mr *m;
	struct ib_mr *mr;

	if (max < 256)
		return kv_fail(-EINVAL, "only %u pages", max);
	mr = ib_alloc_mr(b->pd, IB_MR_TYPE_MEM_REG, max + 1);
	if (!IS_ERR(mr)) {
		ib_dereg_mr(mr);
		return kv_fail(-EINVAL, "%u pages were granted", max + 1);
	}
	m = kv_mr(b, 3, max * PAGE_SIZE - 3, 0);
	if (!m)
		return -ENOMEM;
	return kv_reg(b, m, REMOTE) ?: use_remote(t, m, 40);
}

/* ib_map_mr_sg() maps what fits and returns how much; that part is usable */
static int list_too_long(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 5, 20 * PAGE_SIZE, 8);

	if (!m)
		return -ENOMEM;
	if (m->mr->length != 8 * PAGE_SIZE - 5)
		return kv_fail(-EINVAL, "%llu bytes were mapped",
			       (u64)m->mr->length);
	m->len = m->mr->length;
	return kv_reg(b, m, REMOTE) ?:
	       must_fail(t, m->mr->iova + m->len - 8, m->mr->rkey);
}

/*
 * Map and register @m again: @len bytes in blocks of @size. They begin @off bytes into the upper
 * half of @to, and go on at the beginning of the lower one.
 */
static int in_blocks(struct kv_end *e, struct kv_mr *m, const struct kv_mem *to, u32 off,
		     u32 len, u32 size)
{
	const size_t half = to->size / 2;
	struct scatterlist sg[2];
	int n;

	sg_init_table(sg, 2);
	sg_set_buf(&sg[0], to->va + half + off, half - off);
	sg_dma_address(&sg[0]) = to->dma + half + off;
	sg_dma_len(&sg[0]) = half - off;
	sg_set_buf(&sg[1], to->va, len - (half - off));
	sg_dma_address(&sg[1]) = to->dma;
	sg_dma_len(&sg[1]) = len - (half - off);
	n = ib_map_mr_sg(m->mr, sg, 2, NULL, size);
	if (n != 2 || m->mr->length != len)
		return kv_fail(-EIO, "ib_map_mr_sg: %d, %llu bytes", n, (u64)m->mr->length);
	return kv_reg(e, m, REMOTE);
}

/* the memory of in_blocks() has @seed, and no byte beside is written */
static int check_blocks(const struct kv_mem *m, u32 off, u32 len, u32 seed)
{
	const size_t half = m->size / 2, first = half - off, rest = len - first;

	return kv_check(m->va + half + off, first, seed, 0) ?:
	       kv_check(m->va, rest, seed, first) ?:
	       kv_check_zero(m->va + rest, half + off - rest);
}

/* a ULP chooses the size of its blocks: NVMe and iSER have 4 KiB where a page is larger */
static int block_sizes(struct kv_test *t)
{
	static const u32 sizes[] = { SZ_4K, SZ_8K, SZ_64K, SZ_128K };
	const u32 off = 3 * SZ_4K + 77, len = 50 * SZ_4K - 1000;
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *theirs = kv_mem(b, SZ_256K), *src = kv_mem(a, len), *dst = kv_mem(a, len);
	struct kv_mr *m = kv_mr(b, 0, 64 * PAGE_SIZE, 0);
	struct kv_op *op = kv_ops(t, 2 * ARRAY_SIZE(sizes));
	struct ib_sge s, d;
	unsigned int i;
	int ret = 0;

	if (!theirs || !src || !dst || !m || !op)
		return -ENOMEM;
	s = kv_sge(src, 0, len);
	d = kv_sge(dst, 0, len);
	for (i = 0; i < ARRAY_SIZE(sizes) && !ret; i++, op += 2) {
		kv_fill(src->va, len, 60 + i, 0);
		ret = in_blocks(b, m, theirs, off, len, sizes[i]) ?:
		      kv_post_rdma(a, &op[0], IB_WR_RDMA_WRITE, 0, &s, 1, m->mr->iova,
				   m->mr->rkey) ?:
		      kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, &d, 1,
				   m->mr->iova, m->mr->rkey) ?:
		      kv_ok(a, &op[1]) ?: check_blocks(theirs, off, len, 60 + i) ?:
		      kv_check(dst->va, len, 60 + i, 0) ?: invalidate(b, m->mr->rkey);
		if (ret)
			kv_fail(ret, "with blocks of %u bytes", sizes[i]);
	}
	return ret;
}

/* what no ULP has */
static int odd_blocks(struct kv_test *t)
{
	static const u32 sizes[] = { 0, 1, SZ_2K, SZ_4K + SZ_2K };
	struct kv_mr *m = kv_mr(&t->pair.b, 0, PAGE_SIZE, 0);
	unsigned int i;
	int ret;

	for (i = 0; m && i < ARRAY_SIZE(sizes); i++) {
		ret = ib_map_mr_sg(m->mr, m->sg, m->mapped, NULL, sizes[i]);
		if (ret != -EINVAL)
			return kv_fail(-EPERM, "blocks of %u bytes: %d", sizes[i], ret);
	}
	return m ? 0 : -ENOMEM;
}

/*
 * The peer gets the iova: it is not a kernel address, and differs each time for the same
 * memory, except its offset in the page.
 */
static int drawn_iova(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 77, 3 * PAGE_SIZE, 0);
	int i, ret = m ? 0 : -ENOMEM;
	u64 last = 0;

	for (i = 0; i < 8 && !ret; i++) {
		u64 iova = m->mr->iova;

		if (offset_in_page(iova) != 77 || iova >> 62)
			return kv_fail(-EINVAL, "iova %llx", iova);
		if (virt_addr_valid((void *)(uintptr_t)iova) ||
		    iova == sg_dma_address(m->sg) || iova == last)
			return kv_fail(-EPERM, "iova %llx, memory at %llx, before %llx",
				       iova, (u64)sg_dma_address(m->sg), last);
		last = iova;
		ret = kv_reg(b, m, REMOTE) ?: use_remote(t, m, 30 + i) ?:
		      invalidate(b, m->mr->rkey);
		if (!ret && ib_map_mr_sg(m->mr, m->sg, m->mapped, NULL,
					 PAGE_SIZE) != m->mapped)
			ret = kv_fail(-EIO, "ib_map_mr_sg");
	}
	return ret;
}

/* all 256 keys of an MR and some again; each time only the current one works */
static int rotation(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 0, 64, 0);
	int i, ret = m ? 0 : -ENOMEM;

	for (i = 0; i < 300 && !ret; i++) {
		ret = kv_reg(b, m, REMOTE);
		if (!ret && i % 50 == 0)
			ret = use_remote(t, m, i);
		ret = ret ?: invalidate(b, m->mr->rkey);
	}
	return ret;
}

static int old_key(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 0, 64, 0);
	u32 old;
	int ret;

	if (!m)
		return -ENOMEM;
	ret = kv_reg(b, m, REMOTE);
	old = m->mr->rkey;
	return ret ?: invalidate(b, old) ?: kv_reg(b, m, REMOTE) ?:
	       use_remote(t, m, 3) ?: must_fail(t, m->mr->iova, old);
}

/* one chain, as ULPs post it: register, send from the MR, invalidate */
static int chain(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mr *m = kv_mr(a, 99, 30000, 0);
	struct kv_mem *theirs = kv_mem(b, 30000);
	struct kv_op *op = kv_ops(t, 4);
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV,
				  .send_flags = IB_SEND_SIGNALED };
	struct ib_rdma_wr write = { .wr.opcode = IB_WR_RDMA_WRITE };
	struct ib_reg_wr reg = { .wr.opcode = IB_WR_REG_MR };
	struct ib_sge s;
	int ret;

	if (!m || !theirs || !op)
		return -ENOMEM;
	kv_mr_fill(m, 50);
	ib_update_fast_reg_key(m->mr, ib_inc_rkey(m->mr->rkey));
	s = (struct ib_sge) { m->mr->iova, 30000, m->mr->lkey };
	reg.wr.wr_cqe = &op[0].cqe;
	reg.wr.next = &write.wr;
	reg.mr = m->mr;
	reg.key = m->mr->rkey;
	reg.access = IB_ACCESS_LOCAL_WRITE;
	write.wr.wr_cqe = &op[1].cqe;
	write.wr.next = &inv;
	write.wr.sg_list = &s;
	write.wr.num_sge = 1;
	write.remote_addr = theirs->dma;
	write.rkey = b->pd->unsafe_global_rkey;
	inv.wr_cqe = &op[2].cqe;
	inv.ex.invalidate_rkey = m->mr->rkey;
	ret = ib_post_send(a->qp, &reg.wr, NULL) ?: kv_ok(a, &op[2]) ?:
	      kv_post_rdma(a, &op[3], IB_WR_RDMA_READ, IB_SEND_SIGNALED, NULL,
			   0, theirs->dma, b->pd->unsafe_global_rkey) ?:
	      kv_ok(a, &op[3]) ?: kv_check(theirs->va, 30000, 50, 0);
	if (!ret && atomic_read(&op[0].hits) + atomic_read(&op[1].hits))
		return kv_fail(-EPROTO, "unsignalled entries completed");
	return ret;
}

/* the peer uses whatever iova the owner chose */
static int chosen_iova(struct kv_test *t)
{
	static const u64 iova[] = { 0, 0x1000, 0xfffffffffff00000ULL };
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 123, 9000, 0);
	unsigned int i;
	int ret = m ? 0 : -ENOMEM;

	for (i = 0; i < ARRAY_SIZE(iova) && !ret; i++) {
		m->mr->iova = iova[i];
		ret = kv_reg(b, m, REMOTE) ?: use_remote(t, m, 60 + i) ?:
		      invalidate(b, m->mr->rkey);
	}
	return ret;
}

/* receive into one MR, send from another */
static int as_sge(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mr *from = kv_mr(a, 10, 20000, 0);
	struct kv_mr *to = kv_mr(b, 4000, 20000, 0);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, d;
	int ret;

	if (!from || !to || !op)
		return -ENOMEM;
	kv_mr_fill(from, 70);
	ret = kv_reg(a, from, 0) ?: kv_reg(b, to, IB_ACCESS_LOCAL_WRITE);
	s = (struct ib_sge) { from->mr->iova, 20000, from->mr->lkey };
	d = (struct ib_sge) { to->mr->iova, 20000, to->mr->lkey };
	return ret ?: kv_post_recv(b, &op[0], &d, 1) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1,
			    0) ?:
	       kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]) ?: kv_mr_check(to, 70);
}

/* the owner's own work requests may use a key on each QP of the PD */
static int as_sge_elsewhere(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mr *from = kv_mr(&t->by.a, 10, 20000, 0);
	struct kv_mr *to = kv_mr(&t->by.b, 4000, 20000, 0);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, d;
	int ret;

	if (!from || !to || !op)
		return -ENOMEM;
	kv_mr_fill(from, 71);
	ret = kv_reg(&t->by.a, from, 0) ?:
	      kv_reg(&t->by.b, to, IB_ACCESS_LOCAL_WRITE);
	s = (struct ib_sge) { from->mr->iova, 20000, from->mr->lkey };
	d = (struct ib_sge) { to->mr->iova, 20000, to->mr->lkey };
	return ret ?: kv_post_recv(b, &op[0], &d, 1) ?:
	       kv_post_send(a, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, &s, 1,
			    0) ?:
	       kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]) ?: kv_mr_check(to, 71) ?:
	       invalidate(b, to->mr->rkey);
}

static int reg_twice(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a;
	struct kv_mr *m = kv_mr(a, 0, 64, 0);
	struct kv_op *op = kv_ops(t, 1);

	if (!m || !op)
		return -ENOMEM;
	return kv_reg(a, m, REMOTE) ?:
	       kv_post_reg(a, op, IB_SEND_SIGNALED, m, m->mr->rkey, REMOTE) ?:
	       kv_want(a, op, IB_WC_MW_BIND_ERR);
}

/* ---- invalidation by the peer ----------------------------------------------------- */

static int local_inv_revokes(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 0, 64, 0);

	if (!m)
		return -ENOMEM;
	return kv_reg(b, m, REMOTE) ?: use_remote(t, m, 4) ?:
	       invalidate(b, m->mr->rkey) ?:
	       must_fail(t, m->mr->iova, m->mr->rkey);
}

/* with and without solicited event, which have different opcodes on the wire */
static int send_inv(struct kv_test *t, struct kv_mr *m, int flags)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 2);
	struct kv_mem *src = kv_mem(a, 100), *dst = kv_mem(b, 100);
	struct ib_sge s, d;
	int ret;

	if (!op || !src || !dst)
		return -ENOMEM;
	kv_fill(src->va, 100, 5, 0);
	s = kv_sge(src, 0, 100);
	d = kv_sge(dst, 0, 100);
	ret = kv_post_recv(b, &op[0], &d, 1) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND_WITH_INV,
			   IB_SEND_SIGNALED | flags, &s, 1, m->mr->rkey) ?:
	      kv_ok(a, &op[1]) ?: kv_ok(b, &op[0]) ?:
	      kv_check(dst->va, 100, 5, 0);
	if (ret)
		return ret;
	if (!(op[0].wc.wc_flags & IB_WC_WITH_INVALIDATE) ||
	    op[0].wc.ex.invalidate_rkey != m->mr->rkey)
		return kv_fail(-EPROTO, "the completion does not name the invalidated key");
	return 0;
}

/* RDMAP-078: the key that a Send names is invalid when the Send is delivered */
static int send_with_inv(struct kv_test *t)
{
	struct kv_end *b = &t->pair.b;
	struct kv_mr *m = kv_mr(b, 0, 64, 0);

	if (!m)
		return -ENOMEM;
	return kv_reg(b, m, REMOTE) ?: send_inv(t, m, 0) ?:
	       kv_reg(b, m, REMOTE) ?: send_inv(t, m, IB_SEND_SOLICITED) ?:
	       must_fail(t, m->mr->iova, m->mr->rkey);
}

static int read_with_inv(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mr *m = kv_mr(a, 50, 10000, 0);
	struct kv_mem *theirs = kv_mem(b, 10000);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s;
	int ret;

	if (!m || !theirs || !op)
		return -ENOMEM;
	kv_fill(theirs->va, 10000, 80, 0);
	ret = kv_reg(a, m, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	s = (struct ib_sge) { m->mr->iova, 10000, m->mr->lkey };
	ret = ret ?: kv_post_rdma(a, &op[0], IB_WR_RDMA_READ_WITH_INV,
				  IB_SEND_SIGNALED, &s, 1, theirs->dma,
				  b->pd->unsafe_global_rkey) ?:
	      kv_ok(a, &op[0]) ?: kv_mr_check(m, 80) ?:
	      /* it is invalid, so it can be registered again */
	      kv_reg(a, m, REMOTE);
	if (!ret && (op[0].wc.opcode != IB_WC_RDMA_READ ||
		     op[0].wc.byte_len != 10000))
		return kv_fail(-EPROTO, "opcode %d, byte_len %u",
			       op[0].wc.opcode, op[0].wc.byte_len);
	return ret;
}

#define RACE_LEN	(256 * 1024)
#define RACE_ROUNDS	8

/*
 * End b of the second pair receives into the MR of b. During that b invalidates the MR and
 * uses the memory itself.
 */
static int race_round(struct kv_test *t, struct kv_mr *m, int round, bool remote)
{
	struct kv_end *b = &t->pair.b, *writer = &t->by.a;
	struct kv_mem *src = kv_mem(writer, RACE_LEN);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, d;
	int ret;

	if (!src || !op)
		return -ENOMEM;
	s = kv_sge(src, 0, RACE_LEN);
	ret = kv_reg(b, m, REMOTE);
	d = (struct ib_sge) { m->mr->iova, RACE_LEN, m->mr->lkey };
	ret = ret ?: kv_post_recv(&t->by.b, &op[0], &d, 1) ?:
	      kv_post_send(writer, &op[1], IB_WR_SEND, 0, &s, 1, 0);
	if (ret)
		return ret;
	usleep_range(200 * round, 200 * round + 100);
	ret = remote ? send_inv(t, m, 0) : invalidate(b, m->mr->rkey);
	kv_mr_fill(m, round + 1);
	msleep(20);
	return ret ?: kv_mr_check(m, round + 1);
}

/* after an invalidation no stream of the PD places data */
static int inv_while_written(struct kv_test *t, bool remote)
{
	static const struct kv_opts by = { .same_pd = true };
	struct kv_mr *m = kv_mr(&t->pair.b, 0, RACE_LEN, 0);
	int i, ret = m ? 0 : -ENOMEM;

	/* mostly the receive fails, and its connection ends */
	for (i = 0; i < RACE_ROUNDS && !ret; i++) {
		ret = kv_pair_open(t, &t->by, &by) ?: race_round(t, m, i, remote);
		kv_pair_close(&t->by);
	}
	return ret;
}

static int local_inv_waits(struct kv_test *t)
{
	return inv_while_written(t, false);
}

static int send_with_inv_waits(struct kv_test *t)
{
	return inv_while_written(t, true);
}

const struct kv_case kv_reg_cases[] = {
	{ "reg_mr__page_lists_at_odd_offsets", page_lists },
	{ "reg_mr__longest_list", longest_list },
	{ "reg_mr__key_rotation", rotation },
	{ "reg_mr__unsignalled_chain", chain },
	{ "reg_mr__chosen_iova", chosen_iova },
	{ "reg_mr__as_sge", as_sge },
	{ "reg_mr__as_sge_of_another_qp", as_sge_elsewhere,
	  { .bystander = true, .same_pd = true } },
	{ "reg_mr__while_valid_fails", reg_twice, { .bystander = true } },
	{ "map_mr_sg__iova_is_no_address", drawn_iova },
	{ "map_mr_sg__blocks_of_each_size", block_sizes },
	{ "map_mr_sg__odd_blocks", odd_blocks },
	{ "map_mr_sg__list_too_long", list_too_long, { .bystander = true } },
	{ "local_inv__revokes", local_inv_revokes, { .bystander = true } },
	{ "local_inv__old_key_is_refused", old_key, { .bystander = true } },
	{ "local_inv__waits_for_receives_of_other_streams", local_inv_waits },
	{ "send_with_inv__revokes_at_the_peer", send_with_inv,
	  { .bystander = true } },
	{ "send_with_inv__waits_for_receives_of_other_streams",
	  send_with_inv_waits },
	{ "read_with_inv__revokes_the_sink", read_with_inv },
	{}
};
