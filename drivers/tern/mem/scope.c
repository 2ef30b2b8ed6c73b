// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * What a stream may use, and invalidation by work requests and by the peer (RFC
 * 5040 8.1.1, RFC 5041 8.2 and 8.3).
 */
#include "scope.h"

#include <linux/errno.h>
#include <linux/rcupdate.h>

#include "core/mem_check.h"
#include "map.h"
#include "mem.h"
#include "stags.h"

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

void tern_mem_view_atomic(const struct tern_mem_map *map, const struct ib_pd *pd,
			  u64 stream, struct tern_mem_view *view)
{
	tern_mem_view(map, pd, stream, view);
	if (map->valid)
		view->skew = tern_mem_skew(map);
}

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
