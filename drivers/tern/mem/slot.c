// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The STag that an engine used last. */
#include "slot.h"

#include "mem.h"
#include "stags.h"

/*
 * Must a copy hold @copying? For the other kinds the grace period that follows
 * tern_mem_unlist() is enough, and copies are cheaper.
 */
static bool may_change(const struct tern_mem *mem)
{
	return mem->kind != TERN_MEM_USER && mem->kind != TERN_MEM_DMA;
}

/* sparse cannot follow a lock that is for some kinds only */
static void lock_copying(struct tern_mem *mem)
{
	read_lock_bh(&mem->copying);
	__release(&mem->copying);
}

static void unlock_copying(struct tern_mem *mem)
{
	__acquire(&mem->copying);
	read_unlock_bh(&mem->copying);
}

static void fill(struct tern_mem_slot *slot, struct tern_mem *mem,
		 const struct tern_scope *scope, u32 stag, u64 stream)
{
	slot->mem = mem;
	slot->list = NULL;
	slot->stag = stag;
	slot->pd = scope->pd;
	slot->stream = stream;
	tern_mem_get(mem, stag, &slot->map);
	tern_mem_view(&slot->map, scope->pd, stream, &slot->view);
}

void tern_mem_find_slot(struct tern_mem_slot *slot, const struct tern_scope *scope,
			u32 stag, u64 stream)
{
	struct tern_mem *mem = tern_mem_lookup(scope->keys, stag);

	slot->locked = mem && may_change(mem);
	if (slot->locked)
		lock_copying(mem);
	fill(slot, mem, scope, stag, stream);
}

void tern_mem_peek_slot(struct tern_mem_slot *slot, const struct tern_scope *scope,
			u32 stag, u64 stream)
{
	struct tern_mem *mem = tern_mem_lookup(scope->keys, stag);

	fill(slot, mem, scope, stag, stream);
	if (mem && may_change(mem))
		slot->mem = NULL;
}

void tern_mem_unlock_slot(struct tern_mem_slot *slot)
{
	unlock_copying(slot->mem);
	slot->locked = false;
	tern_mem_slot_reset(slot);
}
