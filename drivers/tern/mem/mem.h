/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * An entry of the STag table.
 *
 * REG_MR, a bind and an invalidation change what an STag opens while it is in
 * the table. A reader copies the whole map at one moment, checks the copy and
 * uses it, so it never reads the bounds of one registration and the pages of
 * the next. An invalidation waits some microseconds for the copies of data that
 * are running: after it no stream reads or writes the memory any more, and the
 * pages and their list are the owner's again.
 */
#ifndef TERN_MEM_H
#define TERN_MEM_H

#include <linux/rhashtable-types.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "map.h"

struct ib_pd;
struct tern_fastreg;

/**
 * enum tern_mem_kind - how an entry was created
 * @TERN_MEM_USER: reg_user_mr: valid from registration to removal
 * @TERN_MEM_DMA: get_dma_mr: the same
 * @TERN_MEM_FAST: alloc_mr: made valid and invalid by work requests
 * @TERN_MEM_MW1: type 1 window: bound to a range of a region, for its PD
 * @TERN_MEM_MW2: type 2 window: the same, for the QP that bound it
 */
enum tern_mem_kind {
	TERN_MEM_USER,
	TERN_MEM_DMA,
	TERN_MEM_FAST,
	TERN_MEM_MW1,
	TERN_MEM_MW2,
};

/**
 * struct tern_mem - an entry of the table
 * @node: in the device's table
 * @index: STag >> 8
 * @kind: never changes
 * @lock: guards what follows; a window's is taken outside its region's
 * @seq: of changes of @map, for readers under rcu_read_lock()
 * @copying: taken for reading around a copy of data, for writing after @map
 *	became invalid; inside @lock. Readers skip it for USER and DMA MRs,
 *	which do not change until they are revoked for removal.
 * @map: what it opens
 * @closed: its removal has begun: it never becomes valid again
 * @fast: fast registration: its page lists
 * @region: window: the region it is bound to, which stays until the window is
 *	unbound
 * @windows: user MR: windows that are bound to it
 * @rcu: window: frees it
 */
struct tern_mem {
	struct rhash_head node;
	u32 index;
	enum tern_mem_kind kind;
	spinlock_t lock;		/* see above */
	seqcount_spinlock_t seq;
	rwlock_t copying;		/* see above */
	struct tern_mem_map map;
	bool closed;
	struct tern_fastreg *fast;
	struct tern_mem *region;
	u32 windows;
	struct rcu_head rcu;
};

/* @mem opens nothing yet, for streams of @pd; the caller fills in @map */
void tern_mem_init(struct tern_mem *mem, enum tern_mem_kind kind,
		   struct ib_pd *pd);

/**
 * tern_mem_get() - what does an STag open now?
 * @mem: the entry of its index, or NULL
 * @stag: STag
 * @map: answer; its @valid says whether it opens anything
 *
 * Context: rcu_read_lock() held.
 */
void tern_mem_get(const struct tern_mem *mem, u32 stag, struct tern_mem_map *map);

/**
 * tern_mem_set() - the STag opens something from now on
 * @mem: entry that opens nothing, its lock held
 * @map: what it opens
 */
void tern_mem_set(struct tern_mem *mem, const struct tern_mem_map *map);

/**
 * tern_mem_revoke() - the STag opens nothing from now on; a window is unbound
 * @mem: entry, its lock held
 *
 * Waits for copies that were checked before. An engine that keeps a user or a DMA MR uses it
 * until tern_mem_unlist(); copies end with the grace period that follows that.
 */
void tern_mem_revoke(struct tern_mem *mem);

/**
 * tern_mem_close() - revoke before the removal
 * @mem: entry
 *
 * Context: process. Return: 0, also when it was closed before; -EBUSY: windows
 * are bound to it.
 */
int tern_mem_close(struct tern_mem *mem);

#endif /* TERN_MEM_H */
