// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Local scatter/gather lists: check them, and copy to and from their memory. */
#include "sgl.h"

#include <linux/errno.h>

#include "core/term.h"
#include "map.h"
#include "scope.h"
#include "slot.h"

static int to_errno(int term)
{
	switch (term) {
	case TERN_TERM_NONE:
		return 0;
	case TERN_TERM_RP_NOT_ASSOC:
		return -EPERM;
	case TERN_TERM_RP_ACCESS:
		return -EACCES;
	case TERN_TERM_RP_WRAP:
	case TERN_TERM_RP_BOUNDS:
		return -ERANGE;
	default:
		return -EINVAL;
	}
}

/* local_dma_lkey: the address is the kernel's own */
static bool is_kva(const struct tern_scope *scope, const struct tern_sge *sge)
{
	return scope->kernel && !sge->lkey;
}

/* check the whole element, so that no later byte of it can wrap */
static inline int check_element(const struct tern_mem_map *map,
				const struct tern_mem_view *view,
				const struct tern_sge *sge, u32 use)
{
	u32 access = use == TERN_USE_LOCAL_WRITE ? TERN_ACCESS_LOCAL_WRITE : 0;

	/* a window has a remote key only */
	if (map->valid && map->window)
		return -EINVAL;
	if (tern_mem_allows(view, access, sge->addr, sge->length))
		return 0;
	return to_errno(tern_mem_check(view, use, sge->addr, sge->length));
}

static int check_one(const struct tern_scope *scope, struct tern_mem_slot *slot,
		     const struct tern_sge *sge, u32 use)
{
	if (!sge->length || is_kva(scope, sge))
		return 0;
	tern_mem_peek(slot, scope, sge->lkey, 0);
	return check_element(&slot->map, &slot->view, sge, use);
}

int tern_sgl_check(const struct tern_scope *scope, struct tern_mem_slot *slot,
		   const struct tern_sge *sge, u32 n, u32 use)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < n && !ret; i++)
		ret = check_one(scope, slot, &sge[i], use);
	return ret;
}

/*
 * Open the current element for a copy, which tern_mem_shut() ends. Return: 0 or as
 * tern_sgl_check()
 */
static int open_element(const struct tern_scope *scope, struct tern_mem_slot *slot,
			struct tern_sgl *sgl, u32 use)
{
	const struct tern_sge *sge = &sgl->sge[sgl->at];
	int ret;

	tern_mem_open(slot, scope, sge->lkey, 0);
	ret = check_element(&slot->map, &slot->view, sge, use);
	sgl->open = !ret;
	slot->list = sgl;
	return ret;
}

/*
 * The common case: the next bytes are all of one element, whose STag is the one used last. What
 * a slot keeps is a user or a DMA MR, and local_dma_lkey is no STag of either.
 */
static __always_inline bool may_reopen(const struct tern_scope *scope,
				       struct tern_mem_slot *slot, struct tern_sgl *sgl,
				       u32 access, u32 len)
{
	const struct tern_sge *sge = &sgl->sge[sgl->at];

	if (sgl->at == sgl->num || len > sge->length - sgl->off || !slot->mem ||
	    slot->stag != sge->lkey || slot->pd != scope->pd || slot->stream ||
	    !tern_mem_allows(&slot->view, access, sge->addr, sge->length))
		return false;
	sgl->open = true;
	slot->list = sgl;
	return true;
}

static int read_one(const struct tern_scope *scope, struct tern_mem_slot *slot,
		    struct tern_sgl *sgl, void *dst, u32 len)
{
	u64 addr = tern_sgl_addr(sgl);
	int ret;

	if (is_kva(scope, &sgl->sge[sgl->at])) {
		tern_mem_copy(dst, (void *)(uintptr_t)addr, len);
		return 0;
	}
	ret = open_element(scope, slot, sgl, TERN_USE_LOCAL_READ);
	if (!ret)
		tern_mem_read(&slot->map, addr, dst, len);
	tern_mem_shut(slot);
	return ret;
}

static noinline int gather(const struct tern_scope *scope, struct tern_mem_slot *slot,
			   struct tern_sgl *sgl, void *dst, u32 len)
{
	int ret = 0;
	u32 n;

	while (len && sgl->at < sgl->num && !ret) {
		n = min(len, sgl->sge[sgl->at].length - sgl->off);
		if (n)
			ret = read_one(scope, slot, sgl, dst, n);
		tern_sgl_advance(sgl, n);
		dst += n;
		len -= n;
	}
	return ret ?: len ? -ERANGE : 0;
}

int tern_sgl_read(const struct tern_scope *scope, struct tern_mem_slot *slot,
		  struct tern_sgl *sgl, void *dst, u32 len)
{
	if (!may_reopen(scope, slot, sgl, 0, len))
		return gather(scope, slot, sgl, dst, len);
	tern_sgl_read_open(slot, sgl, dst, len);
	return 0;
}

static int write_one(const struct tern_scope *scope, struct tern_mem_slot *slot,
		     struct tern_sgl *sgl, const void *src, u32 len)
{
	u64 addr = tern_sgl_addr(sgl);
	int ret;

	if (is_kva(scope, &sgl->sge[sgl->at])) {
		tern_mem_copy((void *)(uintptr_t)addr, src, len);
		return 0;
	}
	ret = open_element(scope, slot, sgl, TERN_USE_LOCAL_WRITE);
	if (!ret)
		tern_mem_write(&slot->map, addr, src, len);
	tern_mem_shut(slot);
	return ret;
}

static noinline int scatter(const struct tern_scope *scope, struct tern_mem_slot *slot,
			    struct tern_sgl *sgl, const void *src, u32 len)
{
	int ret = 0;
	u32 n;

	while (len && sgl->at < sgl->num && !ret) {
		n = min(len, sgl->sge[sgl->at].length - sgl->off);
		if (n)
			ret = write_one(scope, slot, sgl, src, n);
		tern_sgl_advance(sgl, n);
		src += n;
		len -= n;
	}
	return ret ?: len ? -ERANGE : 0;
}

int tern_sgl_write_closed(const struct tern_scope *scope, struct tern_mem_slot *slot,
			  struct tern_sgl *sgl, const void *src, u32 len)
{
	if (!may_reopen(scope, slot, sgl, TERN_ACCESS_LOCAL_WRITE, len))
		return scatter(scope, slot, sgl, src, len);
	tern_sgl_write_open(slot, sgl, src, len);
	return 0;
}
