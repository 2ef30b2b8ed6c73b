/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Blocks of memory that FPDUs are built into. Each CPU keeps the last ones, and uses those
 * again that nobody else refers to any more: allocating and clearing a block costs a fifth
 * of what sending it does.
 */
#ifndef TERN_BLOCK_H
#define TERN_BLOCK_H

#include <linux/mm_types.h>

/**
 * tern_block_get() - get a block of this CPU, or a new one
 * @frag: result: 32 KiB, or a page if memory is short, with a reference; its old bytes are
 *	those of another stream and must not be sent
 *
 * Context: any but hard interrupt; no sleeping. Return: false if there is no memory.
 */
bool tern_block_get(struct page_frag *frag);

/**
 * tern_block_put() - give the reference of tern_block_get() back
 * @page: block, which others, as skbs, may still refer to
 *
 * Context: as tern_block_get().
 */
void tern_block_put(struct page *page);

int tern_block_init(void);
/* Context: no stream is left */
void tern_block_exit(void);

#endif /* TERN_BLOCK_H */
