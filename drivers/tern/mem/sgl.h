/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Local scatter/gather lists: checking them, and copying between them and
 * linear memory. An STag that work requests can revoke is looked up for each copy, another one
 * again after any was removed from the table: see slot.h.
 */
#ifndef TERN_SGL_H
#define TERN_SGL_H

#include <linux/types.h>

#include "core/mem_check.h"
#include "map.h"
#include "slot.h"
#include "uapi/rdma/tern-abi.h"

struct tern_scope;

/**
 * tern_sgl_check() - does all of this list allow @use?
 * @scope: keys that the list may name
 * @slot: of the engine that executes the request
 * @sge: list, a private copy
 * @n: elements
 * @use: TERN_USE_LOCAL_READ or TERN_USE_LOCAL_WRITE
 *
 * Elements of length 0 are good whatever their key.
 *
 * Context: as tern_mem_peek(). Return: 0; -EINVAL unknown or invalidated key, -EPERM foreign
 * PD, -EACCES missing right, -ERANGE out of bounds.
 */
int tern_sgl_check(const struct tern_scope *scope, struct tern_mem_slot *slot,
		   const struct tern_sge *sge, u32 n, u32 use);

/**
 * struct tern_sgl - a list and a position in it
 * @sge: list, a private copy
 * @num: elements
 * @at: current element; 0 at the start
 * @off: bytes of it that were copied; 0 at the start
 * @open: the current element was found good: it still is if the engine's slot names this list
 */
struct tern_sgl {
	const struct tern_sge *sge;
	u32 num;
	u32 at;
	u32 off;
	bool open;
};

/* go back to the start */
static inline void tern_sgl_rewind(struct tern_sgl *sgl)
{
	sgl->at = 0;
	sgl->off = 0;
	sgl->open = false;
}

/* go to the start of a list. A compound literal would clear the struct first */
static inline void tern_sgl_start(struct tern_sgl *sgl, const struct tern_sge *sge, u32 num)
{
	sgl->sge = sge;
	sgl->num = num;
	tern_sgl_rewind(sgl);
}

/* @n bytes of the current element were copied */
static inline void tern_sgl_advance(struct tern_sgl *sgl, u32 n)
{
	sgl->off += n;
	if (sgl->off == sgl->sge[sgl->at].length) {
		sgl->at++;
		sgl->off = 0;
		sgl->open = false;
	}
}

/* the common case: the next @len bytes are of an element that was found good */
static inline bool tern_sgl_is_open(const struct tern_sgl *sgl,
				    const struct tern_mem_slot *slot, u32 len)
{
	return slot->list == sgl && sgl->open && len <= sgl->sge[sgl->at].length - sgl->off;
}

/* the address of the next byte */
static inline u64 tern_sgl_addr(const struct tern_sgl *sgl)
{
	return sgl->sge[sgl->at].addr + sgl->off;
}

/* tern_sgl_read(), inline, of @len bytes for which tern_sgl_is_open() */
static inline void tern_sgl_read_open(const struct tern_mem_slot *slot,
				      struct tern_sgl *sgl, void *dst, u32 len)
{
	tern_mem_read(&slot->map, tern_sgl_addr(sgl), dst, len);
	tern_sgl_advance(sgl, len);
}

/* tern_sgl_write() of @len bytes for which tern_sgl_is_open() */
static inline void tern_sgl_write_open(const struct tern_mem_slot *slot,
				       struct tern_sgl *sgl, const void *src, u32 len)
{
	tern_mem_write(&slot->map, tern_sgl_addr(sgl), src, len);
	tern_sgl_advance(sgl, len);
}

/* for tern_sgl_write() */
int tern_sgl_write_closed(const struct tern_scope *scope, struct tern_mem_slot *slot,
			  struct tern_sgl *sgl, const void *src, u32 len);

/**
 * tern_sgl_read() - gather the next bytes of a list
 * @scope: keys that the list may name
 * @slot: of the engine that copies
 * @sgl: list; moves on
 * @dst: kernel memory
 * @len: bytes
 *
 * Context: as tern_mem_open().
 * Return: 0 or as tern_sgl_check(), and -ERANGE when less than @len is left. After an
 * error the position means nothing.
 */
int tern_sgl_read(const struct tern_scope *scope, struct tern_mem_slot *slot,
		  struct tern_sgl *sgl, void *dst, u32 len);

/**
 * tern_sgl_write() - scatter bytes into the next part of a list
 * @scope: keys that the list may name
 * @slot: of the engine that copies
 * @sgl: list; moves on
 * @src: kernel memory
 * @len: bytes
 *
 * Context: as tern_mem_open().
 * Return: as tern_sgl_read(); after an error earlier elements may have been written.
 */
static inline int tern_sgl_write(const struct tern_scope *scope, struct tern_mem_slot *slot,
				 struct tern_sgl *sgl, const void *src, u32 len)
{
	if (!tern_sgl_is_open(sgl, slot, len))
		return tern_sgl_write_closed(scope, slot, sgl, src, len);
	tern_sgl_write_open(slot, sgl, src, len);
	return 0;
}

#endif /* TERN_SGL_H */
