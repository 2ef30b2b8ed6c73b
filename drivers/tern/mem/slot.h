/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The STag that an engine used last. A message is many segments to or from one STag, and the
 * next one often names it again, so each engine keeps what it found until an STag is removed
 * from the table.
 */
#ifndef TERN_SLOT_H
#define TERN_SLOT_H

#include <linux/types.h>

#include "core/mem_check.h"
#include "map.h"
#include "scope.h"
#include "stags.h"

struct ib_pd;
struct tern_mem;
struct tern_sgl;

/**
 * struct tern_mem_slot - an STag, found and viewed
 * @mem: its entry while it is kept or open, else NULL
 * @removals: the table's count when the section began
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
	u64 removals;
	bool locked;
	u32 stag;
	const struct ib_pd *pd;
	u64 stream;
	struct tern_mem_map map;
	struct tern_mem_view view;
	const struct tern_sgl *list;
};

/* forget it */
static inline void tern_mem_slot_reset(struct tern_mem_slot *slot)
{
	slot->mem = NULL;
	slot->list = NULL;
}

/**
 * tern_mem_slot_enter() - a section under rcu_read_lock() begins
 * @slot: keeps what it found in the last section only if no entry was removed since
 * @keys: the device's table
 *
 * A user or DMA MR that is valid stays as it is until it is revoked for its removal. One that
 * is not may become valid: it is looked up again.
 *
 * Context: rcu_read_lock() held, before the first search of the section.
 */
static inline void tern_mem_slot_enter(struct tern_mem_slot *slot,
				       const struct tern_mem_table *keys)
{
	u64 removals = tern_mem_removals(keys);

	if (slot->removals != removals || !slot->map.valid)
		tern_mem_slot_reset(slot);
	slot->removals = removals;
}

/* for tern_mem_open(), tern_mem_peek() and tern_mem_shut() */
void tern_mem_find_slot(struct tern_mem_slot *slot, const struct tern_scope *scope,
			u32 stag, u64 stream);
void tern_mem_peek_slot(struct tern_mem_slot *slot, const struct tern_scope *scope,
			u32 stag, u64 stream);
void tern_mem_unlock_slot(struct tern_mem_slot *slot);

static inline bool tern_mem_is_kept(const struct tern_mem_slot *slot,
				    const struct tern_scope *scope, u32 stag, u64 stream)
{
	return slot->mem && slot->stag == stag && slot->pd == scope->pd &&
	       slot->stream == stream;
}

/**
 * tern_mem_open() - find what an STag opens, for a copy to or from it
 * @slot: result; @slot->view says whether it may be used
 * @scope: keys, and the protection domain of the stream
 * @stag: STag
 * @stream: serial number of the stream whose peer names @stag, or 0: a work request
 *	names it
 *
 * The pages are good until tern_mem_shut(). What user and DMA MRs open is kept: it does not
 * change before the grace period after its removal is over. What others open may change,
 * waits for this copy, and is looked up again each time.
 *
 * Context: rcu_read_lock() held, of the section that tern_mem_slot_enter() began; any but hard
 * interrupt; no sleeping, no second STag and no change of one before tern_mem_shut().
 */
static inline void tern_mem_open(struct tern_mem_slot *slot,
				 const struct tern_scope *scope, u32 stag, u64 stream)
{
	if (!tern_mem_is_kept(slot, scope, stag, stream))
		tern_mem_find_slot(slot, scope, stag, stream);
}

/**
 * tern_mem_peek() - find what an STag opens, to check a request: no copy follows
 * @slot: result: @slot->map and @slot->view, until the next call for @slot
 * @scope: as for tern_mem_open(), like the rest
 * @stag: STag
 * @stream: serial number, or 0
 *
 * Context: as tern_mem_open(); no tern_mem_shut() is due.
 */
static inline void tern_mem_peek(struct tern_mem_slot *slot,
				 const struct tern_scope *scope, u32 stag, u64 stream)
{
	if (!tern_mem_is_kept(slot, scope, stag, stream))
		tern_mem_peek_slot(slot, scope, stag, stream);
}

static inline void tern_mem_shut(struct tern_mem_slot *slot)
{
	if (slot->locked)
		tern_mem_unlock_slot(slot);
}

#endif /* TERN_SLOT_H */
