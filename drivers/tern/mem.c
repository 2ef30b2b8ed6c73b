// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The STag table, and copying to and from what an STag stands for. */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>

#include "device.h"
#include "mem.h"

/* a draw hits a used index with p = used / 2^24: TERN_MAX_MR leaves 1/16 */
#define DRAWS	32

static const struct rhashtable_params table_params = {
	.head_offset = offsetof(struct tern_mem, node),
	.key_offset = offsetof(struct tern_mem, index),
	.key_len = sizeof_field(struct tern_mem, index),
	.automatic_shrinking = true,
};

int tern_mem_table_init(struct tern_mem_table *t)
{
	return rhashtable_init(&t->ht, &table_params);
}

void tern_mem_table_exit(struct tern_mem_table *t)
{
	rhashtable_destroy(&t->ht);
}

int tern_mem_insert(struct tern_device *dev, struct tern_mem *mem)
{
	unsigned int draw;
	int ret;

	for (draw = 0; draw < DRAWS; draw++) {
		mem->stag = get_random_u32();
		mem->index = mem->stag >> 8;
		/* STag 0 is local_dma_lkey */
		if (!mem->index)
			continue;
		ret = rhashtable_insert_fast(&dev->mem.ht, &mem->node,
					     table_params);
		if (ret != -EEXIST)
			return ret;
	}
	return -ENOSPC;
}

void tern_mem_remove(struct tern_device *dev, struct tern_mem *mem)
{
	WRITE_ONCE(mem->valid, false);
	rhashtable_remove_fast(&dev->mem.ht, &mem->node, table_params);
	synchronize_rcu_expedited();
}

struct tern_mem *tern_mem_lookup(struct tern_device *dev, u32 stag)
{
	u32 index = stag >> 8;

	return rhashtable_lookup(&dev->mem.ht, &index, table_params);
}

struct tern_mem *tern_mem_find(struct tern_device *dev, u32 stag)
{
	struct tern_mem *mem = tern_mem_lookup(dev, stag);

	/* pairs with the release in mr.c: the other fields are final */
	if (!mem || !smp_load_acquire(&mem->valid) ||
	    READ_ONCE(mem->stag) != stag)
		return NULL;
	return mem;
}

void tern_mem_view(const struct tern_mem *mem, const struct ib_pd *pd,
		   struct tern_mem_view *view)
{
	if (!mem) {
		*view = (struct tern_mem_view) {};
		return;
	}
	*view = (struct tern_mem_view) {
		.valid = true,
		.assoc = mem->pd == pd,
		.invalidatable = mem->qp,
		.access = mem->access,
		.base = mem->base,
		.len = mem->len,
	};
}

/*
 * Only a DMA MR with remote rights (IB_PD_UNSAFE_GLOBAL_RKEY) lets a peer
 * choose the address; it must not make us fault.
 */
static bool kva_good(u64 to, size_t len)
{
	void *addr = (void *)(uintptr_t)to;

	return virt_addr_valid(addr) && virt_addr_valid(addr + len - 1);
}

void tern_mem_read(const struct tern_mem *mem, u64 to, void *dst, size_t len)
{
	u64 at = to - mem->base + mem->offset;
	size_t n;

	if (!len)
		return;
	if (mem->kva) {
		if (kva_good(to, len))
			memcpy(dst, (void *)(uintptr_t)to, len);
		else
			memset(dst, 0, len);
		return;
	}
	for (; len; len -= n, dst += n, at += n) {
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		memcpy_from_page(dst, mem->pages[at >> PAGE_SHIFT],
				 offset_in_page(at), n);
	}
}

void tern_mem_write(const struct tern_mem *mem, u64 to, const void *src,
		    size_t len)
{
	u64 at = to - mem->base + mem->offset;
	size_t n;

	if (!len)
		return;
	if (mem->kva) {
		if (kva_good(to, len))
			memcpy((void *)(uintptr_t)to, src, len);
		return;
	}
	for (; len; len -= n, src += n, at += n) {
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		memcpy_to_page(mem->pages[at >> PAGE_SHIFT],
			       offset_in_page(at), src, n);
	}
}
