// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Buffers and MRs, and a pattern that shows misplaced bytes. */
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/slab.h>

#include "kverbs.h"

/* a byte that depends on position and seed */
static u8 pattern_byte(u32 seed, size_t at)
{
	return hash_32(seed * 0x9e3779b9 + (at >> 1), 16) >> ((at & 1) * 8);
}

void kv_fill(void *p, size_t len, u32 seed, size_t at)
{
	u8 *to = p;
	size_t i;

	for (i = 0; i < len; i++)
		to[i] = pattern_byte(seed, at + i);
}

int kv_check(const void *p, size_t len, u32 seed, size_t at)
{
	const u8 *from = p;
	size_t i;

	for (i = 0; i < len; i++)
		if (from[i] != pattern_byte(seed, at + i))
			return kv_fail(-EBADMSG,
				       "byte %zu of %zu is %#x, not %#x",
				       at + i, at + len, from[i],
				       pattern_byte(seed, at + i));
	return 0;
}

int kv_check_zero(const void *p, size_t len)
{
	const void *bad = memchr_inv(p, 0, len);

	if (bad)
		return kv_fail(-EBADMSG, "byte %zu was written",
			       (size_t)(bad - p));
	return 0;
}

/* ---- contiguous buffers --------------------------------------------------- */

struct kv_mem *kv_mem(struct kv_end *e, size_t size)
{
	struct kv_mem *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	m->dev = e->id->device;
	m->size = size;
	m->va = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	if (!m->va) {
		kfree(m);
		return NULL;
	}
	m->dma = ib_dma_map_single(m->dev, m->va, size, DMA_BIDIRECTIONAL);
	list_add(&m->list, &e->pair->t->mems);
	return m;
}

void kv_mem_release(struct kv_test *t, const struct ib_device *dev)
{
	struct kv_mem *m, *next;

	list_for_each_entry_safe(m, next, &t->mems, list) {
		if (dev && m->dev != dev)
			continue;
		ib_dma_unmap_single(m->dev, m->dma, m->size,
				    DMA_BIDIRECTIONAL);
		free_pages_exact(m->va, m->size);
		list_del(&m->list);
		kfree(m);
	}
}

struct ib_sge kv_sge(struct kv_mem *m, size_t off, u32 len)
{
	return (struct ib_sge) { .addr = m->dma + off, .length = len };
}

/* ---- scattered pages ------------------------------------------------------- */

static void free_mr(struct kv_mr *m)
{
	u32 i;

	if (m->mr)
		ib_dereg_mr(m->mr);
	if (m->mapped)
		ib_dma_unmap_sg(m->dev, m->sg, m->pages, DMA_BIDIRECTIONAL);
	for (i = 0; i < m->pages; i++)
		if (sg_page(&m->sg[i]))
			__free_page(sg_page(&m->sg[i]));
	kvfree(m->sg);
	kfree(m);
}

static int fill_sg(struct kv_mr *m)
{
	u32 i, left = m->len, off = m->off;

	sg_init_table(m->sg, m->pages);
	for (i = 0; i < m->pages; i++) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		u32 n = min_t(u32, left, PAGE_SIZE - off);

		if (!page)
			return -ENOMEM;
		sg_set_page(&m->sg[i], page, n, off);
		left -= n;
		off = 0;
	}
	m->mapped = ib_dma_map_sg(m->dev, m->sg, m->pages, DMA_BIDIRECTIONAL);
	return m->mapped ? 0 : -EIO;
}

struct kv_mr *kv_mr(struct kv_end *e, u32 off, u32 len, u32 max_pages)
{
	struct kv_mr *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int n;

	if (!m)
		return NULL;
	m->dev = e->id->device;
	m->off = off;
	m->len = len;
	m->pages = DIV_ROUND_UP(off + len, PAGE_SIZE);
	m->sg = kvcalloc(m->pages, sizeof(*m->sg), GFP_KERNEL);
	if (!m->sg || fill_sg(m))
		goto err;
	m->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, max_pages ?: m->pages);
	if (IS_ERR(m->mr)) {
		kv_fail(PTR_ERR(m->mr), "ib_alloc_mr(%u)", m->pages);
		m->mr = NULL;
		goto err;
	}
	n = ib_map_mr_sg(m->mr, m->sg, m->mapped, NULL, PAGE_SIZE);
	if (n != min(m->pages, max_pages ?: m->pages) ||
	    (n == m->pages && m->mr->length != len)) {
		kv_fail(-EIO, "ib_map_mr_sg: %d of %u pages, %llu bytes", n,
			m->pages, (u64)m->mr->length);
		goto err;
	}
	list_add(&m->list, &e->pair->t->mrs);
	return m;

err:
	if (!m->sg)
		m->pages = 0;
	free_mr(m);
	return NULL;
}

void kv_mr_release(struct kv_test *t, const struct ib_device *dev)
{
	struct kv_mr *m, *next;

	list_for_each_entry_safe(m, next, &t->mrs, list) {
		if (dev && m->dev != dev)
			continue;
		list_del(&m->list);
		free_mr(m);
	}
}

void kv_mr_fill(struct kv_mr *m, u32 seed)
{
	size_t at = 0;
	u32 i;

	for (i = 0; i < m->pages; i++) {
		kv_fill(sg_virt(&m->sg[i]), m->sg[i].length, seed, at);
		at += m->sg[i].length;
	}
}

int kv_mr_check(struct kv_mr *m, u32 seed)
{
	size_t at = 0;
	int ret = 0;
	u32 i;

	for (i = 0; i < m->pages && !ret; i++) {
		ret = kv_check(sg_virt(&m->sg[i]), m->sg[i].length, seed, at);
		at += m->sg[i].length;
	}
	return ret;
}
