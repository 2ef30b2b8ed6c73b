/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Blocks of memory that FPDUs are built into. Each CPU keeps the last ones, and uses those
 * again that nobody else refers to any more: allocating and clearing a block costs a fifth
 * of what sending it does. A stream has a block only while its send engine runs: what is
 * left of it is for the next run on that CPU, of any stream.
 */
#ifndef TERN_BLOCK_H
#define TERN_BLOCK_H

#include <linux/mm.h>

/* Return: @frag has room for @min bytes; nobody else refers to it, or to that room */
static inline bool tern_block_has(struct page_frag *frag, u32 min)
{
	if (page_ref_count(frag->page) == 1)
		frag->offset = 0;
	return frag->size - frag->offset >= min;
}

/**
 * tern_block_get() - get a block that this CPU has open, one that is released, or a new one
 * @frag: result: 32 or 64 KiB, or a page if memory is short, with a reference;
 *	the bytes from @frag->offset on are those of other streams and must not be sent
 * @min: bytes that it must have room for, up to a page
 *
 * Context: any but hard interrupt; no sleeping. Return: false if there is no memory.
 */
bool tern_block_get(struct page_frag *frag, u32 min);

/**
 * tern_block_put() - give the reference of tern_block_get() back
 * @page: block, which others, as skbs, may still refer to
 *
 * Context: as tern_block_get().
 */
void tern_block_put(struct page *page);

/**
 * tern_block_leave() - a run ends: leave the rest of its block to the next one
 * @frag: block; its page is NULL afterwards
 *
 * Context: as tern_block_get().
 */
void tern_block_leave(struct page_frag *frag);

int tern_block_init(void);
/* Context: no stream is left */
void tern_block_exit(void);

#endif /* TERN_BLOCK_H */
