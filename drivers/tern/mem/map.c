// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Copying to and from the memory of an STag. */
#include "map.h"

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/highmem.h>
#include <linux/mm.h>

/*
 * With a DMA MR with remote rights (IB_PD_UNSAFE_GLOBAL_RKEY), a peer chooses the address:
 * refuse what is no memory. It still reaches pages that are not mapped, or not writable.
 */
static bool kva_good(u64 to, size_t len)
{
	void *addr = (void *)(uintptr_t)to;

	return virt_addr_valid(addr) && virt_addr_valid(addr + len - 1);
}

/* @at bytes into the blocks; @room: how many follow in the same block */
static void *block_at(const struct tern_mem_map *map, u64 at, size_t *room)
{
	u64 size = BIT_ULL(map->block_bits), off = at & (size - 1);

	*room = size - off;
	return map->blocks[at >> map->block_bits] + off;
}

static void read_blocks(const struct tern_mem_map *map, u64 at, void *dst, size_t len)
{
	const void *src;
	size_t n;

	for (; len; len -= n, dst += n, at += n) {
		src = block_at(map, at, &n);
		n = min(n, len);
		tern_mem_copy(dst, src, n);
	}
}

static void write_blocks(const struct tern_mem_map *map, u64 at, const void *src, size_t len)
{
	void *dst;
	size_t n;

	for (; len; len -= n, src += n, at += n) {
		dst = block_at(map, at, &n);
		n = min(n, len);
		tern_mem_copy(dst, src, n);
	}
}

/* what the kernel has addresses of, @at bytes into it */
static noinline void read_kernel(const struct tern_mem_map *map, u64 to, u64 at, void *dst,
				 size_t len)
{
	if (map->blocks)
		read_blocks(map, at, dst, len);
	else if (!map->kva)
		tern_mem_copy(dst, map->virt + at, len);
	else if (len && kva_good(to, len))
		tern_mem_copy(dst, (void *)(uintptr_t)to, len);
	else
		memset(dst, 0, len);
}

void tern_mem_read(const struct tern_mem_map *map, u64 to, void *dst,
		   size_t len)
{
	u64 at = to - map->base + map->offset;
	size_t n;

	if (!map->pages) {
		read_kernel(map, to, at, dst, len);
		return;
	}
	for (; len; len -= n, dst += n, at += n) {
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		memcpy_from_page(dst, map->pages[at >> PAGE_SHIFT],
				 offset_in_page(at), n);
	}
}

static noinline void write_kernel(const struct tern_mem_map *map, u64 to, u64 at,
				  const void *src, size_t len)
{
	if (map->blocks)
		write_blocks(map, at, src, len);
	else if (!map->kva)
		tern_mem_copy(map->virt + at, src, len);
	else if (len && kva_good(to, len))
		tern_mem_copy((void *)(uintptr_t)to, src, len);
}

void tern_mem_write(const struct tern_mem_map *map, u64 to, const void *src,
		    size_t len)
{
	u64 at = to - map->base + map->offset;
	size_t n;

	if (!map->pages) {
		write_kernel(map, to, at, src, len);
		return;
	}
	for (; len; len -= n, src += n, at += n) {
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		memcpy_to_page(map->pages[at >> PAGE_SHIFT],
			       offset_in_page(at), src, n);
	}
}

u8 tern_mem_skew(const struct tern_mem_map *map)
{
	u64 at = map->kva ? map->base : map->offset;

	if (map->virt)
		at += (uintptr_t)map->virt;
	return at % sizeof(u64);
}

static u64 *word_at(const struct tern_mem_map *map, u64 to)
{
	u64 at = to - map->base + map->offset;
	size_t room;

	if (map->blocks)
		return block_at(map, at, &room);
	if (map->kva)
		return kva_good(to, sizeof(u64)) ? (u64 *)(uintptr_t)to : NULL;
	if (map->virt)
		return map->virt + at;
	return page_address(map->pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

/* as if there were no masks: the CPU has it as one instruction */
static bool is_plain(const struct tern_atomic *op)
{
	if (op->op == TERN_ATOMIC_FETCH_ADD)
		return !(op->data_mask << 1);
	return (op->data_mask & op->compare_mask) == U64_MAX;
}

static u64 do_plain(u64 *word, const struct tern_atomic *op)
{
	if (op->op == TERN_ATOMIC_FETCH_ADD)
		return atomic64_fetch_add(op->data, (atomic64_t *)word);
	return cmpxchg64(word, op->compare, op->data);
}

/*
 * A try fails only if another CPU wrote the word since it was read. A program that does
 * nothing else can make many fail in a row, so the caller has to do other work between.
 */
#define MASKED_TRIES	256

static int do_masked(u64 *word, const struct tern_atomic *op, u64 *old)
{
	int left = MASKED_TRIES;

	*old = READ_ONCE(*word);
	while (!try_cmpxchg64(word, old, tern_atomic_apply(*old, op)))
		if (!--left)
			return -EAGAIN;
	return 0;
}

int tern_mem_atomic(const struct tern_mem_map *map, u64 to,
		    const struct tern_atomic *op, u64 *old)
{
	u64 *word = word_at(map, to);

	*old = 0;
	if (!word)
		return 0;
	if (!is_plain(op))
		return do_masked(word, op, old);
	*old = do_plain(word, op);
	return 0;
}
