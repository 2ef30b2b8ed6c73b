// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Binding memory windows: RFC 5040 8.1.1 (an STag for one stream) and RFC 5041 8.3.
 *
 * A bound window has a copy of its region's page list, and keeps the region: the region
 * cannot be deregistered while its count of windows is not zero. The pages go a grace
 * period after that, so no reader that found them through the window is left.
 */
#include "window.h"

#include <linux/errno.h>

#include "core/mem_check.h"
#include "core/term.h"
#include "access.h"
#include "mem.h"
#include "scope.h"
#include "stags.h"

#define WINDOW_ACCESS							\
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |		\
	 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED)

static bool is_window(const struct tern_mem *mem)
{
	return mem->kind == TERN_MEM_MW1 || mem->kind == TERN_MEM_MW2;
}

/* RFC 5041 8.3(4): the peer gets no right that the program does not have */
static bool region_allows(const struct tern_mem *region,
			  const struct tern_scope *scope, const struct tern_bind *bind)
{
	u32 use = bind->access & (IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_ATOMIC) ?
		  TERN_USE_LOCAL_WRITE : TERN_USE_LOCAL_READ;
	struct tern_mem_view view;

	if (region->kind != TERN_MEM_USER || region->map.stag != bind->region ||
	    !(region->map.access & TERN_ACCESS_MW_BIND))
		return false;
	/* a dma-buf: see check_dmabuf() in verbs/mr.c */
	if (region->map.virt && bind->access & IB_ACCESS_REMOTE_ATOMIC)
		return false;
	tern_mem_view(&region->map, scope->pd, 0, &view);
	return tern_mem_check(&view, use, bind->to, bind->len) == TERN_TERM_NONE;
}

static struct tern_mem_map map_window(const struct tern_mem *mem,
				      const struct tern_mem *region,
				      const struct tern_scope *scope,
				      const struct tern_bind *bind)
{
	return (struct tern_mem_map) {
		.stag = bind->key,
		.valid = true,
		.window = true,
		.access = tern_access_from_ib(bind->access),
		.pd = mem->map.pd,
		.stream = mem->kind == TERN_MEM_MW2 ? scope->stream : 0,
		.base = bind->access & IB_ZERO_BASED ? 0 : bind->to,
		.len = bind->len,
		.pages = region->map.pages,
		.virt = region->map.virt,
		.offset = region->map.offset + (bind->to - region->map.base),
	};
}

static int bind_to(struct tern_mem *mem, struct tern_mem *region,
		   const struct tern_scope *scope, const struct tern_bind *bind)
{
	struct tern_mem_map map;
	bool good;

	spin_lock_nested(&region->lock, SINGLE_DEPTH_NESTING);
	good = region_allows(region, scope, bind);
	if (good) {
		region->windows++;
		map = map_window(mem, region, scope, bind);
	}
	spin_unlock(&region->lock);
	if (!good)
		return -EINVAL;
	tern_mem_revoke(mem);
	mem->region = region;
	tern_mem_set(mem, &map);
	return 0;
}

static void unbind_window(struct tern_mem *mem, u32 key)
{
	struct tern_mem_map map;

	tern_mem_revoke(mem);
	map = mem->map;
	map.stag = key;
	tern_mem_set(mem, &map);
}

static int bind_locked(const struct tern_scope *scope, struct tern_mem *mem,
		       const struct tern_bind *bind)
{
	struct tern_mem *region;

	lockdep_assert_held(&mem->lock);
	if (mem->closed || bind->access & ~WINDOW_ACCESS)
		return -EINVAL;
	if (mem->kind == TERN_MEM_MW2 && (mem->map.valid || !bind->len))
		return -EINVAL;
	if (!bind->len) {
		unbind_window(mem, bind->key);
		return 0;
	}
	region = tern_mem_lookup(scope->keys, bind->region);
	/* refuse windows, also this one: their locks are outside a region's */
	if (!region || is_window(region))
		return -EINVAL;
	return bind_to(mem, region, scope, bind);
}

int tern_window_bind(const struct tern_scope *scope,
		     const struct tern_bind *bind)
{
	struct tern_mem *mem;
	int ret = -EINVAL;

	rcu_read_lock();
	mem = tern_mem_lookup(scope->keys, bind->key);
	if (mem && is_window(mem) && mem->map.pd == scope->pd) {
		spin_lock_bh(&mem->lock);
		ret = bind_locked(scope, mem, bind);
		spin_unlock_bh(&mem->lock);
	}
	rcu_read_unlock();
	return ret;
}
