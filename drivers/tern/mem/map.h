/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What an STag opens, and the copies to and from it. */
#ifndef TERN_MAP_H
#define TERN_MAP_H

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/page.h>

#include "core/atomic.h"

struct ib_pd;
struct page;

/**
 * struct tern_mem_map - what an STag opens at one moment
 * @stag: the whole STag; kernel users and windows rotate the low 8 bits
 * @valid: not invalidated
 * @kva: DMA MR: TOs are kernel addresses
 * @window: memory window: for peers, never a local key
 * @block_bits: log2 of the size of one of @blocks
 * @access: TERN_ACCESS_* rights
 * @pd: the protection domain whose streams may use it; never changes
 * @stream: fast registration, type 2 window: the only stream whose peer may use
 *	it, and may invalidate it; 0: peers of all streams of @pd may use it,
 *	none may invalidate it
 * @base: first TO (iova)
 * @len: bytes
 * @pages: user regions: the pages, first to last; else NULL
 * @virt: dma-buf: its address in the kernel's mapping
 * @blocks: fast registration: the kernel's addresses of the blocks, first to last
 * @offset: of @base from the beginning of the first page or block, or from @virt
 */
struct tern_mem_map {
	u32 stag;
	bool valid;
	bool kva;
	bool window;
	u8 block_bits;
	u32 access;
	struct ib_pd *pd;
	u64 stream;
	u64 base;
	u64 len;
	struct page **pages;
	void *virt;
	void **blocks;
	u64 offset;
};

/**
 * tern_mem_read() - copy out of registered memory
 * @map: of tern_mem_open(), checked
 * @to: first byte; [@to, @to + @len) was checked against @map
 * @dst: kernel memory
 * @len: bytes
 */
void tern_mem_read(const struct tern_mem_map *map, u64 to, void *dst,
		   size_t len);

/* tern_mem_write() - copy into registered memory; as tern_mem_read() */
void tern_mem_write(const struct tern_mem_map *map, u64 to, const void *src,
		    size_t len);

/*
 * Copy memory of the kernel. gcc copies what is bounded by a page in line, by string moves;
 * memcpy() is a loop of moves on CPUs without FSRM.
 */
static inline void tern_mem_copy(void *dst, const void *src, size_t len)
{
	size_t n;

	for (; len; len -= n, dst += n, src += n) {
		n = min_t(size_t, len, PAGE_SIZE);
		memcpy(dst, src, n);
	}
}

/* the memory address of @map->base modulo 8 */
u8 tern_mem_skew(const struct tern_mem_map *map);

/**
 * tern_mem_atomic() - an atomic of a peer (RFC 7306 5.1)
 * @map: of tern_mem_open(), checked
 * @to: first of the 8 bytes; their memory is 64-bit aligned
 * @op: what to do
 * @old: result: the value before
 *
 * It is atomic with each other access of 64 bits, of any CPU.
 *
 * Return: 0; -EAGAIN: other CPUs write the word so often that @op, which has masks, got
 * no turn: nothing was written, try again later.
 */
int tern_mem_atomic(const struct tern_mem_map *map, u64 to,
		    const struct tern_atomic *op, u64 *old);

#endif /* TERN_MAP_H */
