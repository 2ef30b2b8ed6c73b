// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Fast registration: the block lists, and REG_MR, which makes them valid: RFC 5040 8.1.1. */
#include "fastreg.h"

#include <linux/slab.h>

#include "access.h"
#include "mem.h"
#include "scope.h"
#include "stags.h"

struct tern_fastreg *tern_fastreg_create(u32 max)
{
	struct tern_fastreg *fast = kzalloc_obj(*fast, GFP_KERNEL_ACCOUNT);

	if (!fast)
		return NULL;
	fast->max = max;
	fast->mapped = kvcalloc(max, sizeof(*fast->mapped), GFP_KERNEL_ACCOUNT);
	fast->blocks = kvcalloc(max, sizeof(*fast->blocks), GFP_KERNEL_ACCOUNT);
	if (!fast->mapped || !fast->blocks) {
		tern_fastreg_destroy(fast);
		return NULL;
	}
	return fast;
}

void tern_fastreg_destroy(struct tern_fastreg *fast)
{
	if (!fast)
		return;
	kvfree(fast->blocks);
	kvfree(fast->mapped);
	kfree(fast);
}

int tern_fastreg_add(struct tern_fastreg *fast, void *block)
{
	if (fast->count == fast->max)
		return -ENOMEM;
	fast->mapped[fast->count++] = block;
	return 0;
}

/*
 * RFC 5040 8.1.1(7): no peer may invalidate an STag that is shared on multiple
 * streams. The peer may invalidate this one, since ULPs want that, so the peers
 * of other streams may not use it: ULPs advertise a region on the connection
 * whose QP they registered it with.
 */
static int make_valid(const struct tern_scope *scope, struct tern_mem *mem,
		      u32 key, u64 iova, u32 access)
{
	struct tern_fastreg *fast = mem->fast;
	struct tern_mem_map map = {
		.stag = key, .valid = true, .pd = mem->map.pd,
		.stream = scope->stream, .access = tern_access_from_ib(access),
		.base = iova, .len = fast->len,
		.blocks = fast->blocks, .block_bits = fast->block_bits,
		.offset = fast->offset,
	};

	lockdep_assert_held(&mem->lock);
	if (mem->closed || mem->map.valid || key >> 8 != mem->index)
		return -EINVAL;
	if (!fast->count || access & ~TERN_IB_ACCESS)
		return -EINVAL;
	memcpy(fast->blocks, fast->mapped, fast->count * sizeof(*fast->blocks));
	tern_mem_set(mem, &map);
	return 0;
}

int tern_fastreg_register(const struct tern_scope *scope, u32 lkey, u32 key,
			  u64 iova, u32 access)
{
	struct tern_mem *mem;
	int ret = -EINVAL;

	rcu_read_lock();
	mem = tern_mem_lookup(scope->keys, lkey);
	if (mem && mem->kind == TERN_MEM_FAST && mem->map.pd == scope->pd) {
		spin_lock_bh(&mem->lock);
		ret = make_valid(scope, mem, key, iova, access);
		spin_unlock_bh(&mem->lock);
	}
	rcu_read_unlock();
	return ret;
}
