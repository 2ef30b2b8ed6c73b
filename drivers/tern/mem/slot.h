/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The STag that an engine used last. A message is many segments to or from one STag, so
 * each engine keeps what it found, for as long as it stays under rcu_read_lock().
 */
#ifndef TERN_SLOT_H
#define TERN_SLOT_H

#include <linux/types.h>

#include "core/mem_check.h"
#include "map.h"
#include "scope.h"

struct ib_pd;
struct tern_mem;
struct tern_sgl;

/**
 * struct tern_mem_slot - an STag, found and viewed
 * @mem: its entry while it is kept or open, else NULL
 * @locked: it may change; a change waits for the copy that is made now
 * @stag: STag
 * @pd: of the scope: a receive queue may have another than its stream
 * @stream: as the argument of tern_mem_view()
 * @map: what it opens
 * @view: what tern_mem_check() needs of it
 * @list: whose current element is of this STag, and was found good, if it says so; or NULL.
 *	An engine only reads or only writes lists
 *
 * Guarded by the lock of the engine that it belongs to.
 */
struct tern_mem_slot {
	struct tern_mem *mem;
	bool locked;
	u32 stag;
	const struct ib_pd *pd;
	u64 stream;
	struct tern_mem_map map;
	struct tern_mem_view view;
	const struct tern_sgl *list;
};

/* forget it; Context: at the beginning of each section under rcu_read_lock() */
static inline void tern_mem_slot_reset(struct tern_mem_slot *slot)
{
	slot->mem = NULL;
	slot->list = NULL;
}

/* for tern_mem_open() and tern_mem_shut() */
void tern_mem_find_slot(struct tern_mem_slot *slot, const struct tern_scope *scope,
			u32 stag, u64 stream);
void tern_mem_unlock_slot(struct tern_mem_slot *slot);

/**
 * tern_mem_open() - find what an STag opens, for a copy to or from it
 * @slot: result; @slot->view says whether it may be used
 * @scope: keys, and the protection domain of the stream
 * @stag: STag
 * @stream: serial number of the stream whose peer names @stag, or 0: a work request
 *	names it
 *
 * The pages are good until tern_mem_shut(). What user and DMA MRs open is kept until the
 * section ends: it does not change before a grace period is over. What others open may
 * change, waits for this copy, and is looked up again each time.
 *
 * Context: rcu_read_lock() held, of the section that @slot was reset in; any but hard
 * interrupt; no sleeping, no second STag and no change of one before tern_mem_shut().
 */
static inline void tern_mem_open(struct tern_mem_slot *slot,
				 const struct tern_scope *scope, u32 stag, u64 stream)
{
	if (!slot->mem || slot->stag != stag || slot->pd != scope->pd ||
	    slot->stream != stream)
		tern_mem_find_slot(slot, scope, stag, stream);
}

static inline void tern_mem_shut(struct tern_mem_slot *slot)
{
	if (slot->locked)
		tern_mem_unlock_slot(slot);
}

#endif /* TERN_SLOT_H */
