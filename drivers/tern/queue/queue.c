// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Allocate and free the memory of one ring, and map it into a program. */
#include "queue.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static_assert(sizeof(struct tern_ring_hdr) == TERN_RING_DATA);
static_assert(sizeof(struct tern_cqe) == 64);

static struct tern_mmap_entry *to_mmap_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct tern_mmap_entry, rdma_entry);
}

/* A program's ring is charged to its memory cgroup. It chose the size: no report in the log. */
static void *alloc_ring(size_t bytes, bool user)
{
	gfp_t gfp = user ? GFP_KERNEL_ACCOUNT | __GFP_NOWARN : GFP_KERNEL;

	return __vmalloc(bytes, gfp | __GFP_ZERO);
}

static struct tern_mmap_entry *insert_entry(struct ib_ucontext *ctx,
					    void *addr, size_t bytes)
{
	struct tern_mmap_entry *entry;
	int ret;

	entry = kzalloc_obj(*entry, GFP_KERNEL_ACCOUNT);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->addr = addr;
	ret = rdma_user_mmap_entry_insert(ctx, &entry->rdma_entry, bytes);
	if (ret) {
		kfree(entry);
		return ERR_PTR(ret);
	}
	return entry;
}

int tern_queue_create(struct tern_queue *q, struct ib_ucontext *ctx,
		      u32 entries, u32 entry_size)
{
	struct tern_mmap_entry *entry = NULL;
	u32 size, stride;
	size_t bytes;
	void *addr;

	if (entries > BIT(30) || entry_size > SZ_64K)
		return -EINVAL;
	size = roundup_pow_of_two(max(entries, 1U));
	stride = ALIGN(entry_size, TERN_CACHELINE);
	bytes = PAGE_ALIGN(TERN_RING_DATA + (size_t)size * stride);
	addr = alloc_ring(bytes, ctx);
	if (!addr)
		return -ENOMEM;
	if (ctx)
		entry = insert_entry(ctx, addr, bytes);
	if (IS_ERR(entry)) {
		vfree(addr);
		return PTR_ERR(entry);
	}
	q->hdr = addr;
	q->size = size;
	q->stride = stride;
	q->bytes = bytes;
	q->mmap_entry = entry;
	return 0;
}

void tern_queue_destroy(struct tern_queue *q)
{
	if (q->mmap_entry)
		rdma_user_mmap_entry_remove(&q->mmap_entry->rdma_entry);
	else
		vfree(q->hdr);
	memset(q, 0, sizeof(*q));
}

void tern_queue_retire(struct tern_queue *q, spinlock_t *lock)
{
	struct tern_queue gone;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	gone = *q;
	memset(q, 0, sizeof(*q));
	spin_unlock_irqrestore(lock, flags);
	tern_queue_destroy(&gone);
}

void tern_queue_describe(const struct tern_queue *q, struct tern_uring *out)
{
	memset(out, 0, sizeof(*out));
	if (!q->mmap_entry)
		return;
	out->key = rdma_user_mmap_get_offset(&q->mmap_entry->rdma_entry);
	out->size = q->bytes;
	out->entries = q->size;
	out->stride = q->stride;
}

/*
 * The mapping holds a reference on each page, so vfree() below never takes
 * memory away from a program.
 */
static int map_pages(struct vm_area_struct *vma, void *addr)
{
	unsigned long at;
	int ret = 0;

	for (at = vma->vm_start; at < vma->vm_end && !ret; at += PAGE_SIZE) {
		ret = vm_insert_page(vma, at, vmalloc_to_page(addr));
		addr += PAGE_SIZE;
	}
	return ret;
}

int tern_queue_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int ret;

	/* fails unless the size matches and the mapping is VM_SHARED */
	entry = rdma_user_mmap_entry_get(ctx, vma);
	if (!entry)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	ret = map_pages(vma, to_mmap_entry(entry)->addr);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

void tern_queue_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct tern_mmap_entry *entry = to_mmap_entry(rdma_entry);

	vfree(entry->addr);
	kfree(entry);
}
