// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Entries of the STag table: what they open changes under their locks. */
#include "mem.h"

#include <linux/errno.h>

void tern_mem_init(struct tern_mem *mem, enum tern_mem_kind kind,
		   struct ib_pd *pd)
{
	spin_lock_init(&mem->lock);
	seqcount_spinlock_init(&mem->seq, &mem->lock);
	rwlock_init(&mem->copying);
	mem->kind = kind;
	mem->map.pd = pd;
}

void tern_mem_get(const struct tern_mem *mem, u32 stag, struct tern_mem_map *map)
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

void tern_mem_set(struct tern_mem *mem, const struct tern_mem_map *map)
{
	lockdep_assert_held(&mem->lock);
	write_seqcount_begin(&mem->seq);
	mem->map = *map;
	write_seqcount_end(&mem->seq);
}

/*
 * Wait for the copies that were checked before the last change. Later ones fail their check,
 * so they hold @copying for a moment only. The change has to come first: the lock lets
 * readers with BHs off pass a writer that waits, and with good keys the peers of many streams
 * could keep it waiting for ever.
 */
static void wait_for_copies(struct tern_mem *mem)
{
	write_lock(&mem->copying);
	write_unlock(&mem->copying);
}

void tern_mem_revoke(struct tern_mem *mem)
{
	struct tern_mem *region = mem->region;
	struct tern_mem_map map = mem->map;

	if (!map.valid)
		return;
	map.valid = false;
	tern_mem_set(mem, &map);
	wait_for_copies(mem);
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
