// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The STag table (RFC 5040 8.1.1). */
#include "stags.h"

#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>

#include "map.h"
#include "mem.h"

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
	atomic64_set(&t->removals, 0);
	return rhashtable_init(&t->ht, &table_params);
}

void tern_mem_table_exit(struct tern_mem_table *t)
{
	rhashtable_destroy(&t->ht);
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

void tern_mem_unlist(struct tern_mem_table *t, struct tern_mem *mem)
{
	WARN_ON_ONCE(!mem->closed);
	rhashtable_remove_fast(&t->ht, &mem->node, table_params);
	/* a reader that sees the new count does not find the entry; the grace period begins later */
	atomic64_inc_return_release(&t->removals);
}

struct tern_mem *tern_mem_lookup(struct tern_mem_table *t, u32 stag)
{
	u32 index = stag >> 8;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no rcu_read_lock()");
	return rhashtable_lookup(&t->ht, &index, table_params);
}

void tern_mem_find(struct tern_mem_table *t, u32 stag, struct tern_mem_map *map)
{
	tern_mem_get(tern_mem_lookup(t, stag), stag, map);
}
