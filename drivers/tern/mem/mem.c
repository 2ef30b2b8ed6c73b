// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The STag table, invalidation (RFC 5040 8.1.1, RFC 5041 8.2 and 8.3), and
 * copying to and from the memory of an STag.
 */
#include "mem.h"

#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>

/*
 * A draw hits a used index with p = used / 2^24: with TERN_MAX_MR and
 * TERN_MAX_MW that is 1/8.
 */
#define DRAWS	32

/* compare one word: rhashtable's own comparison calls memcmp() */
static int differs(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct tern_mem *mem = obj;

	return mem->index != *(const u32 *)arg->key;
}

static const struct rhashtable_params table_params = {
	.head_offset = offsetof(struct tern_mem, node),
	.key_offset = offsetof(struct tern_mem, index),
	.key_len = sizeof_field(struct tern_mem, index),
	.obj_cmpfn = differs,
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

void tern_mem_init(struct tern_mem *mem, enum tern_mem_kind kind,
		   struct ib_pd *pd)
{
	spin_lock_init(&mem->lock);
	seqcount_spinlock_init(&mem->seq, &mem->lock);
	rwlock_init(&mem->copying);
	mem->kind = kind;
	mem->map.pd = pd;
}

int tern_mem_insert(struct tern_mem_table *t, struct tern_mem *mem)
{
	unsigned int draw;
	int ret;

	for (draw = 0; draw < DRAWS; draw++) {
		mem->map.stag = get_random_u32();
		mem->index = mem->map.stag >> 8;
		/* STag 0 is local_dma_lkey */
		if (!mem->index)
			continue;
		ret = rhashtable_lookup_insert_fast(&t->ht, &mem->node,
						    table_params);
		if (ret != -EEXIST)
			return ret;
	}
	return -ENOSPC;
}

void tern_mem_set(struct tern_mem *mem, const struct tern_mem_map *map)
{
	lockdep_assert_held(&mem->lock);
	write_lock(&mem->copying);
	write_seqcount_begin(&mem->seq);
	mem->map = *map;
	write_seqcount_end(&mem->seq);
	write_unlock(&mem->copying);
}

void tern_mem_revoke(struct tern_mem *mem)
{
	struct tern_mem *region = mem->region;
	struct tern_mem_map map = mem->map;

	map.valid = false;
	tern_mem_set(mem, &map);
	if (!region)
		return;
	mem->region = NULL;
	spin_lock_nested(&region->lock, SINGLE_DEPTH_NESTING);
	region->windows--;
	spin_unlock(&region->lock);
}

int tern_mem_close(struct tern_mem *mem)
{
	int ret = -EBUSY;

	spin_lock_bh(&mem->lock);
	if (!mem->windows) {
		mem->closed = true;
		tern_mem_revoke(mem);
		ret = 0;
	}
	spin_unlock_bh(&mem->lock);
	return ret;
}

void tern_mem_unlist(struct tern_mem_table *t, struct tern_mem *mem)
{
	WARN_ON_ONCE(!mem->closed);
	rhashtable_remove_fast(&t->ht, &mem->node, table_params);
}

struct tern_mem *tern_mem_lookup(struct tern_mem_table *t, u32 stag)
{
	u32 index = stag >> 8;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no rcu_read_lock()");
	return rhashtable_lookup(&t->ht, &index, table_params);
}

/* copy what @stag opens now; @mem is the entry of its index, or NULL */
static void copy_map(const struct tern_mem *mem, u32 stag, struct tern_mem_map *map)
{
	unsigned int seq;

	if (!mem) {
		map->valid = false;
		return;
	}
	do {
		seq = read_seqcount_begin(&mem->seq);
		*map = mem->map;
	} while (read_seqcount_retry(&mem->seq, seq));
	if (map->stag != stag)
		map->valid = false;
}

void tern_mem_find(struct tern_mem_table *t, u32 stag, struct tern_mem_map *map)
{
	copy_map(tern_mem_lookup(t, stag), stag, map);
}

/*
 * Must a copy hold @copying? For the other kinds the grace period that follows
 * tern_mem_unlist() is enough, and copies are cheaper.
 */
static bool may_change(const struct tern_mem *mem)
{
	return mem->kind != TERN_MEM_USER && mem->kind != TERN_MEM_DMA;
}

/* sparse cannot follow a lock that is for some kinds only */
struct tern_mem *tern_mem_enter(struct tern_mem_table *t, u32 stag,
				struct tern_mem_map *map) __acquires(RCU)
{
	struct tern_mem *mem;

	rcu_read_lock();
	mem = tern_mem_lookup(t, stag);
	if (mem && may_change(mem)) {
		read_lock_bh(&mem->copying);
		__release(&mem->copying);
	}
	copy_map(mem, stag, map);
	return mem;
}

void tern_mem_leave(struct tern_mem *mem) __releases(RCU)
{
	if (mem && may_change(mem)) {
		__acquire(&mem->copying);
		read_unlock_bh(&mem->copying);
	}
	rcu_read_unlock();
}

u32 tern_access_from_ib(int access)
{
	u32 rights = 0;

	if (access & IB_ACCESS_LOCAL_WRITE)
		rights |= TERN_ACCESS_LOCAL_WRITE;
	if (access & IB_ACCESS_REMOTE_WRITE)
		rights |= TERN_ACCESS_REMOTE_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		rights |= TERN_ACCESS_REMOTE_READ;
	if (access & IB_ACCESS_REMOTE_ATOMIC)
		rights |= TERN_ACCESS_REMOTE_ATOMIC;
	if (access & IB_ACCESS_MW_BIND)
		rights |= TERN_ACCESS_MW_BIND;
	return rights;
}

void tern_mem_view(const struct tern_mem_map *map, const struct ib_pd *pd,
		   u64 stream, struct tern_mem_view *view)
{
	if (!map->valid) {
		*view = (struct tern_mem_view) {};
		return;
	}
	*view = (struct tern_mem_view) {
		.valid = true,
		.assoc = map->pd == pd &&
			 (!map->stream || !stream || map->stream == stream),
		.invalidatable = map->stream && map->stream == stream,
		.access = map->access,
		.base = map->base,
		.len = map->len,
	};
}

/* ---- invalidation, by work requests and by the peer ----------------------- */

static bool may_invalidate(const struct tern_mem *mem,
			   const struct tern_scope *scope, u32 stag, bool remote)
{
	const struct tern_mem_map *map = &mem->map;
	bool own = map->stream == scope->stream;

	if (map->pd != scope->pd || map->stag != stag)
		return false;
	if (mem->kind != TERN_MEM_FAST && mem->kind != TERN_MEM_MW2)
		return false;
	if (remote)
		return map->valid && own;
	return !map->valid || own || mem->kind == TERN_MEM_FAST;
}

static int invalidate_entry(const struct tern_scope *scope, u32 stag, bool remote)
{
	struct tern_mem *mem;
	int ret = -EINVAL;

	rcu_read_lock();
	mem = tern_mem_lookup(scope->keys, stag);
	if (mem) {
		spin_lock_bh(&mem->lock);
		if (may_invalidate(mem, scope, stag, remote)) {
			tern_mem_revoke(mem);
			ret = 0;
		}
		spin_unlock_bh(&mem->lock);
	}
	rcu_read_unlock();
	return ret;
}

int tern_mem_invalidate_local(const struct tern_scope *scope, u32 stag)
{
	return invalidate_entry(scope, stag, false);
}

int tern_mem_invalidate_remote(const struct tern_scope *scope, u32 stag)
{
	return invalidate_entry(scope, stag, true);
}

/* ---- copying -------------------------------------------------------------- */

/*
 * With a DMA MR with remote rights (IB_PD_UNSAFE_GLOBAL_RKEY), a peer chooses
 * the address: it must not make the kernel fault.
 */
static bool kva_good(u64 to, size_t len)
{
	void *addr = (void *)(uintptr_t)to;

	return virt_addr_valid(addr) && virt_addr_valid(addr + len - 1);
}

void tern_mem_read(const struct tern_mem_map *map, u64 to, void *dst,
		   size_t len)
{
	u64 at = to - map->base + map->offset;
	size_t n;

	if (!len)
		return;
	if (map->kva) {
		if (kva_good(to, len))
			memcpy(dst, (void *)(uintptr_t)to, len);
		else
			memset(dst, 0, len);
		return;
	}
	if (map->virt) {
		memcpy(dst, map->virt + at, len);
		return;
	}
	for (; len; len -= n, dst += n, at += n) {
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		memcpy_from_page(dst, map->pages[at >> PAGE_SHIFT],
				 offset_in_page(at), n);
	}
}

void tern_mem_write(const struct tern_mem_map *map, u64 to, const void *src,
		    size_t len)
{
	u64 at = to - map->base + map->offset;
	size_t n;

	if (!len)
		return;
	if (map->kva) {
		if (kva_good(to, len))
			memcpy((void *)(uintptr_t)to, src, len);
		return;
	}
	if (map->virt) {
		memcpy(map->virt + at, src, len);
		return;
	}
	for (; len; len -= n, src += n, at += n) {
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		memcpy_to_page(map->pages[at >> PAGE_SHIFT],
			       offset_in_page(at), src, n);
	}
}
