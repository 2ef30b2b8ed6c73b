// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory windows.
 *
 * A bound window has a copy of its region's pages, and keeps the region: while
 * its count of windows is not zero it cannot be deregistered. The pages go a
 * grace period behind that, so nobody who found them through the window is left.
 */
#include "mw.h"

#include <linux/slab.h>

#include "device.h"
#include "qp.h"

#define WINDOW_ACCESS							\
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |		\
	 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED)

static bool is_window(const struct tern_mem *mem)
{
	return mem->kind == TERN_MEM_MW1 || mem->kind == TERN_MEM_MW2;
}

/* ---- life ---------------------------------------------------------------- */

static int insert_window(struct tern_device *dev, struct tern_mw *mw)
{
	struct ib_mw *ibmw = &mw->ibmw;
	int ret;

	mw->mem = kzalloc_obj(*mw->mem, GFP_KERNEL_ACCOUNT);
	if (!mw->mem)
		return -ENOMEM;
	tern_mem_init(mw->mem, ibmw->type == IB_MW_TYPE_1 ? TERN_MEM_MW1 :
							    TERN_MEM_MW2,
		      ibmw->pd);
	mw->mem->map.window = true;
	ret = tern_mem_insert(&dev->mem, mw->mem);
	if (ret)
		kfree(mw->mem);
	return ret;
}

int tern_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct tern_mw *mw = container_of(ibmw, struct tern_mw, ibmw);
	struct tern_device *dev = to_tern_dev(ibmw->device);
	int ret;

	if (!atomic_add_unless(&dev->num_mw, 1, TERN_MAX_MW))
		return -ENOMEM;
	ret = insert_window(dev, mw);
	if (ret) {
		atomic_dec(&dev->num_mw);
		return ret;
	}
	ibmw->rkey = mw->mem->map.stag;
	return 0;
}

/*
 * Nobody is waited for: closing it ended the copies through it, and its pages are its
 * region's. Who has found it still may look at it for a grace period.
 */
int tern_dealloc_mw(struct ib_mw *ibmw)
{
	struct tern_mw *mw = container_of(ibmw, struct tern_mw, ibmw);
	struct tern_device *dev = to_tern_dev(ibmw->device);
	int ret = tern_mem_close(mw->mem);

	if (ret)
		return ret;
	tern_mem_unlist(&dev->mem, mw->mem);
	kfree_rcu(mw->mem, rcu);
	atomic_dec(&dev->num_mw);
	return 0;
}

/* ---- binding --------------------------------------------------------------- */

/* RFC 5041 8.3(4): the peer gets no right that the program has not itself */
static bool allows(const struct tern_mem *region,
		   const struct tern_scope *scope, const struct tern_wqe *wqe)
{
	u32 use = wqe->access & (IB_ACCESS_REMOTE_WRITE |
				 IB_ACCESS_REMOTE_ATOMIC) ?
		  TERN_USE_LOCAL_WRITE : TERN_USE_LOCAL_READ;
	struct tern_mem_view view;

	if (region->kind != TERN_MEM_USER || region->map.stag != wqe->ex ||
	    !(region->map.access & TERN_ACCESS_MW_BIND))
		return false;
	tern_mem_view(&region->map, scope->pd, 0, &view);
	return tern_mem_check(&view, use, wqe->remote_addr, wqe->length) ==
	       TERN_TERM_NONE;
}

static struct tern_mem_map map_window(const struct tern_mem *mem,
				      const struct tern_mem *region,
				      const struct tern_scope *scope,
				      const struct tern_wqe *wqe)
{
	return (struct tern_mem_map) {
		.stag = wqe->rkey,
		.valid = true,
		.window = true,
		.access = tern_access_from_ib(wqe->access),
		.pd = mem->map.pd,
		.stream = mem->kind == TERN_MEM_MW2 ? scope->stream : 0,
		.base = wqe->access & IB_ZERO_BASED ? 0 : wqe->remote_addr,
		.len = wqe->length,
		.pages = region->map.pages,
		.virt = region->map.virt,
		.offset = region->map.offset +
			  (wqe->remote_addr - region->map.base),
	};
}

static int bind_to(struct tern_mem *mem, struct tern_mem *region,
		   const struct tern_scope *scope, const struct tern_wqe *wqe)
{
	struct tern_mem_map map;
	bool good;

	spin_lock_nested(&region->lock, SINGLE_DEPTH_NESTING);
	good = allows(region, scope, wqe);
	if (good) {
		region->windows++;
		map = map_window(mem, region, scope, wqe);
	}
	spin_unlock(&region->lock);
	if (!good)
		return -EINVAL;
	tern_mem_revoke(mem);
	mem->region = region;
	tern_mem_set(mem, &map);
	return 0;
}

static void unbind(struct tern_mem *mem, u32 key)
{
	struct tern_mem_map map;

	tern_mem_revoke(mem);
	map = mem->map;
	map.stag = key;
	tern_mem_set(mem, &map);
}

static int bind_locked(const struct tern_scope *scope, struct tern_mem *mem,
		       const struct tern_wqe *wqe)
{
	struct tern_mem *region;

	lockdep_assert_held(&mem->lock);
	if (mem->closed || wqe->access & ~WINDOW_ACCESS)
		return -EINVAL;
	if (mem->kind == TERN_MEM_MW2 && (mem->map.valid || !wqe->length))
		return -EINVAL;
	if (!wqe->length) {
		unbind(mem, wqe->rkey);
		return 0;
	}
	region = tern_mem_lookup(scope->keys, wqe->ex);
	/* a window is no region, least of all its own */
	if (!region || is_window(region))
		return -EINVAL;
	return bind_to(mem, region, scope, wqe);
}

int tern_mw_bind(const struct tern_scope *scope, const struct tern_wqe *wqe)
{
	struct tern_mem *mem;
	int ret = -EINVAL;

	rcu_read_lock();
	mem = tern_mem_lookup(scope->keys, wqe->rkey);
	if (mem && is_window(mem) && mem->map.pd == scope->pd) {
		spin_lock_bh(&mem->lock);
		ret = bind_locked(scope, mem, wqe);
		spin_unlock_bh(&mem->lock);
	}
	rcu_read_unlock();
	return ret;
}
