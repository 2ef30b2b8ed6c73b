// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The verbs of memory regions: user, DMA and fast-registration. A ULP makes and
 * revokes STags with them (RFC 5040 8.1.1, RDMAP-140 to RDMAP-142).
 */
#include "mr.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "device/device.h"
#include "mem/access.h"
#include "mem/fastreg.h"
#include "mem/stags.h"
#include "mem/umem.h"
#include "ucontext.h"

/* ---- life ---------------------------------------------------------------- */

static struct tern_mr *alloc_mr(struct ib_pd *pd, enum tern_mem_kind kind)
{
	struct tern_device *dev = to_tern_dev(pd->device);
	struct tern_mr *mr;

	if (!atomic_add_unless(&dev->num_mr, 1, TERN_MAX_MR))
		return ERR_PTR(-ENOMEM);
	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr) {
		atomic_dec(&dev->num_mr);
		return ERR_PTR(-ENOMEM);
	}
	tern_mem_init(&mr->mem, kind, pd);
	tern_owned_init(&mr->owned, tern_uctx_of(pd));
	return mr;
}

static void free_mr(struct tern_mr *mr)
{
	struct tern_device *dev = to_tern_dev(mr->mem.map.pd->device);

	if (mr->umem)
		tern_umem_put(mr->umem);
	tern_fastreg_destroy(mr->mem.fast);
	kfree(mr);
	atomic_dec(&dev->num_mr);
}

/* put @mr into the STag table; frees it when that fails */
static struct ib_mr *insert_mr(struct tern_mr *mr)
{
	int ret = tern_mem_insert(&to_tern_dev(mr->mem.map.pd->device)->mem,
				  &mr->mem);

	if (ret) {
		free_mr(mr);
		return ERR_PTR(ret);
	}
	mr->ibmr.lkey = mr->mem.map.stag;
	mr->ibmr.rkey = mr->mem.map.stag;
	tern_mr_joins(mr);
	return &mr->ibmr;
}

/* @mr is complete: its key is valid from now on */
static void open_mr(struct tern_mr *mr)
{
	struct tern_mem_map map;

	spin_lock_bh(&mr->mem.lock);
	map = mr->mem.map;
	map.valid = true;
	tern_mem_set(&mr->mem, &map);
	spin_unlock_bh(&mr->mem.lock);
}

int tern_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct tern_mr *mr = to_tern_mr(ibmr);
	int ret = tern_mr_leaves(mr, udata);

	if (!ret)
		free_mr(mr);
	return ret;
}

/*
 * The TOs of a DMA MR are kernel addresses, without a limit: kernel users are
 * trusted.
 */
struct ib_mr *tern_get_dma_mr(struct ib_pd *pd, int access)
{
	struct tern_mr *mr = alloc_mr(pd, TERN_MEM_DMA);
	struct ib_mr *ibmr;

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->mem.map.kva = true;
	mr->mem.map.len = U64_MAX;
	mr->mem.map.access = tern_access_from_ib(access);
	ibmr = insert_mr(mr);
	if (!IS_ERR(ibmr))
		open_mr(mr);
	return ibmr;
}

/* ---- programs' memory ------------------------------------------------------ */

static int check_user(u64 length, int access)
{
	if (access & ~TERN_IB_ACCESS)
		return -EOPNOTSUPP;
	return length && length <= TERN_MAX_MR_SIZE ? 0 : -EINVAL;
}

/* create a region of @umem, not valid yet; @umem is put when that fails */
static struct tern_mr *make_user(struct ib_pd *pd, struct tern_umem *umem,
				 u64 length, u64 iova, int access)
{
	struct tern_mr *mr = alloc_mr(pd, TERN_MEM_USER);
	struct tern_mem_map *map;
	struct ib_mr *ibmr;

	if (IS_ERR(mr)) {
		tern_umem_put(umem);
		return mr;
	}
	mr->umem = umem;
	mr->access = access;
	mr->iova = iova;
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;
	map = &mr->mem.map;
	map->pages = umem->pages;
	map->virt = umem->virt;
	map->offset = umem->offset;
	map->base = access & IB_ZERO_BASED ? 0 : iova;
	map->len = length;
	map->access = tern_access_from_ib(access);
	ibmr = insert_mr(mr);
	return IS_ERR(ibmr) ? ERR_CAST(ibmr) : mr;
}

/* make_user() and open_mr() for a verb; @umem may be an ERR_PTR() */
static struct ib_mr *reg_user(struct ib_pd *pd, struct tern_umem *umem,
			      u64 length, u64 iova, int access)
{
	struct tern_mr *mr;

	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = make_user(pd, umem, length, iova, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	open_mr(mr);
	return &mr->ibmr;
}

struct ib_mr *tern_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			       u64 iova, int access,
			       TERN_DMAH_PARAM struct ib_udata *udata)
{
	struct tern_umem *umem;
	int ret;

	if (tern_dmah_given())
		return ERR_PTR(-EOPNOTSUPP);
	ret = check_user(length, access);
	if (ret)
		return ERR_PTR(ret);
	umem = tern_umem_get(pd->device, start, length, access);
	return reg_user(pd, umem, length, iova, access);
}

/*
 * An exporter may map its memory uncached or write-combined for the CPU. There some CPUs
 * (arm64) have no atomics: they fault, or are not atomic.
 */
static int check_dmabuf(u64 length, int access)
{
	return access & IB_ACCESS_REMOTE_ATOMIC ? -EOPNOTSUPP : check_user(length, access);
}

struct ib_mr *tern_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				      u64 iova, int fd, int access,
				      TERN_DMAH_PARAM
				      struct uverbs_attr_bundle *attrs)
{
	struct tern_umem *umem;
	int ret;

	if (tern_dmah_given())
		return ERR_PTR(-EOPNOTSUPP);
	ret = check_dmabuf(length, access);
	if (ret)
		return ERR_PTR(ret);
	umem = tern_umem_get_dmabuf(pd->device, fd, offset, length, access);
	return reg_user(pd, umem, length, iova, access);
}

/*
 * A new region with a key of its own replaces the old one. So an old key never
 * opens new memory, new rights or a new PD, and on an error the old region is
 * unchanged. The core deregisters the old one after we return, which waits for
 * running copies and must not fail: tern_mem_close() here fails first if
 * windows are bound to it.
 *
 * A dma-buf is refused, as libibverbs does: the verb names memory by address.
 */
struct ib_mr *tern_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				 u64 length, u64 iova, int access,
				 struct ib_pd *pd, struct ib_udata *udata)
{
	struct tern_mr *old = to_tern_mr(ibmr), *mr;
	bool moves = flags & IB_MR_REREG_TRANS;
	struct tern_umem *umem;
	int ret;

	if (old->umem->buf)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	if (!moves) {
		length = old->mem.map.len;
		iova = old->iova;
	}
	ret = check_user(length, access);
	if (ret)
		return ERR_PTR(ret);
	umem = moves ? tern_umem_get(ibmr->device, start, length, access) :
		       tern_umem_share(old->umem, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = make_user(pd, umem, length, iova, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	ret = tern_mem_close(&old->mem);
	if (ret) {
		tern_dereg_mr(&mr->ibmr, udata);
		return ERR_PTR(ret);
	}
	open_mr(mr);
	return &mr->ibmr;
}

/* ---- fast registration ---------------------------------------------------- */

struct ib_mr *tern_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			    u32 max_num_sg)
{
	struct tern_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > TERN_MAX_FR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = alloc_mr(pd, TERN_MEM_FAST);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->mem.fast = tern_fastreg_create(max_num_sg);
	if (!mr->mem.fast) {
		free_mr(mr);
		return ERR_PTR(-ENOMEM);
	}
	return insert_mr(mr);
}

static int add_block(struct ib_mr *ibmr, u64 addr)
{
	return tern_fastreg_add(to_tern_mr(ibmr)->mem.fast, ib_virt_dma_to_ptr(addr));
}

/*
 * Users put the iova on the wire. The core sets it to the first DMA address,
 * which here is a kernel address, and peers must not learn it. So each mapping
 * gets a random iova with the same offset in the page, and in the block. Below 2^62
 * no region wraps.
 */
static u64 draw_iova(const struct ib_mr *ibmr)
{
	u64 offset = max_t(u64, ibmr->page_size, PAGE_SIZE) - 1;

	return (get_random_u64() >> 2 & ~offset) | (ibmr->iova & offset);
}

/*
 * The mapping takes effect with REG_MR. The offset is kept here, since the user
 * may choose another iova afterwards.
 */
int tern_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		   unsigned int *offset)
{
	struct tern_fastreg *fast = to_tern_mr(ibmr)->mem.fast;
	int n;

	if (!fast || ibmr->page_size < SZ_4K || !is_power_of_2(ibmr->page_size))
		return -EINVAL;
	fast->count = 0;
	n = ib_sg_to_pages(ibmr, sg, nents, offset, add_block);
	ibmr->iova = draw_iova(ibmr);
	fast->block_bits = ilog2(ibmr->page_size);
	fast->offset = ibmr->iova & (ibmr->page_size - 1);
	fast->len = ibmr->length;
	return n;
}
