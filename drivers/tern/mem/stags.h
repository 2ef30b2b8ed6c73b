/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The STag table. An STag is 24 random bits of index and 8 bits of key; the
 * index finds the entry, the whole STag must match. Lookup is under RCU: after
 * an entry was removed, a grace period passes before its pages are released, so
 * a reader needs no reference.
 */
#ifndef TERN_STAGS_H
#define TERN_STAGS_H

#include <linux/atomic.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>

struct tern_mem;
struct tern_mem_map;

/**
 * struct tern_mem_table - the STags of a device
 * @ht: entries by index
 * @removals: entries taken out so far: what was found before the last one may be gone
 */
struct tern_mem_table {
	struct rhashtable ht;
	atomic64_t removals;
};

int tern_mem_table_init(struct tern_mem_table *t);
void tern_mem_table_exit(struct tern_mem_table *t);

/**
 * tern_mem_insert() - draw a fresh STag and add @mem to the table
 * @t: the device's table
 * @mem: initialized entry
 *
 * Context: process. Return: 0, -ENOMEM or -ENOSPC.
 */
int tern_mem_insert(struct tern_mem_table *t, struct tern_mem *mem);

/**
 * tern_mem_unlist() - take a closed entry out of the table
 * @t: the device's table
 * @mem: closed entry
 *
 * Readers that found it before may use it until a grace period is over. The entry,
 * and the pages of a region, must stay until then. Context: process.
 */
void tern_mem_unlist(struct tern_mem_table *t, struct tern_mem *mem);

/**
 * tern_mem_removals() - may what was found in another section still be used?
 * @t: the device's table
 *
 * Yes, if the answer is as before that search. A section under rcu_read_lock() that does not
 * see the count of a removal is one that the grace period after that removal waits for.
 *
 * Context: rcu_read_lock() held, before the first search of the section. Return: how many
 * entries were removed.
 */
static inline u64 tern_mem_removals(const struct tern_mem_table *t)
{
	return atomic64_read_acquire(&t->removals);
}

/**
 * tern_mem_find() - what does an STag open now?
 * @t: the device's table
 * @stag: STag
 * @map: answer; its @valid says whether there is one
 *
 * To check a request, not to copy data. Context: rcu_read_lock() held.
 */
void tern_mem_find(struct tern_mem_table *t, u32 stag, struct tern_mem_map *map);

/* the entry itself, by index alone; Context: rcu_read_lock() held */
struct tern_mem *tern_mem_lookup(struct tern_mem_table *t, u32 stag);

#endif /* TERN_STAGS_H */
