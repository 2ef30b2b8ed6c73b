// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions: user, DMA and fast-registration. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "device.h"
#include "mr.h"
#include "qp.h"
#include "umem.h"

#define ACCESS_SUPPORTED						\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_OPTIONAL)

u32 tern_access_from_ib(int access)
{
	u32 rights = 0;

	if (access & IB_ACCESS_LOCAL_WRITE)
		rights |= TERN_ACCESS_LOCAL_WRITE;
	if (access & IB_ACCESS_REMOTE_WRITE)
		rights |= TERN_ACCESS_REMOTE_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		rights |= TERN_ACCESS_REMOTE_READ;
	if (access & IB_ACCESS_REMOTE_ATOMIC)
		rights |= TERN_ACCESS_REMOTE_ATOMIC;
	return rights;
}

/* ---- life ---------------------------------------------------------------- */

static struct tern_mr *alloc_mr(struct ib_pd *pd)
{
	struct tern_device *dev = to_tern_dev(pd->device);
	struct tern_mr *mr;

	if (!atomic_add_unless(&dev->num_mr, 1, TERN_MAX_MR))
		return ERR_PTR(-ENOMEM);
	mr = kzalloc_obj(*mr, GFP_KERNEL);
	if (!mr) {
		atomic_dec(&dev->num_mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->mem.pd = pd;
	return mr;
}

static void free_mr(struct tern_mr *mr)
{
	struct tern_device *dev = to_tern_dev(mr->mem.pd->device);

	if (mr->umem)
		tern_umem_put(mr->umem);
	else
		kvfree(mr->mem.pages);
	kfree(mr);
	atomic_dec(&dev->num_mr);
}

/* make it findable; frees @mr when that fails */
static struct ib_mr *insert_mr(struct tern_mr *mr)
{
	int ret = tern_mem_insert(to_tern_dev(mr->mem.pd->device), &mr->mem);

	if (ret) {
		free_mr(mr);
		return ERR_PTR(ret);
	}
	mr->ibmr.lkey = mr->mem.stag;
	mr->ibmr.rkey = mr->mem.stag;
	if (!mr->mem.fast) {
		/* the other fields are final: tern_mem_find() acquires */
		smp_store_release(&mr->mem.valid, true);
	}
	return &mr->ibmr;
}

int tern_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct tern_mr *mr = to_tern_mr(ibmr);

	tern_mem_remove(to_tern_dev(mr->mem.pd->device), &mr->mem);
	free_mr(mr);
	return 0;
}

/*
 * TOs of a DMA MR are kernel addresses, all of them: what a kernel user may do
 * with them is its own business.
 */
struct ib_mr *tern_get_dma_mr(struct ib_pd *pd, int access)
{
	struct tern_mr *mr = alloc_mr(pd);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->mem.kva = true;
	mr->mem.len = U64_MAX;
	mr->mem.access = tern_access_from_ib(access);
	return insert_mr(mr);
}

struct ib_mr *tern_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			       u64 iova, int access,
			       TERN_DMAH_PARAM struct ib_udata *udata)
{
	struct tern_umem *umem;
	struct tern_mr *mr;

	if (tern_dmah_given() || access & ~ACCESS_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!length || length > TERN_MAX_MR_SIZE)
		return ERR_PTR(-EINVAL);
	mr = alloc_mr(pd);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	umem = tern_umem_get(pd->device, start, length, access);
	if (IS_ERR(umem)) {
		free_mr(mr);
		return ERR_CAST(umem);
	}
	mr->umem = umem;
	mr->mem.pages = umem->pages;
	mr->mem.offset = umem->offset;
	mr->mem.base = access & IB_ZERO_BASED ? 0 : iova;
	mr->mem.len = length;
	mr->mem.access = tern_access_from_ib(access);
	return insert_mr(mr);
}

/* ---- fast registration: mapping, by the kernel user's calls --------------- */

struct ib_mr *tern_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			    u32 max_num_sg)
{
	struct tern_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > TERN_MAX_FR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = alloc_mr(pd);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->mem.fast = true;
	mr->fr_max = max_num_sg;
	mr->mem.pages = kvcalloc(max_num_sg, sizeof(*mr->mem.pages),
				 GFP_KERNEL);
	if (!mr->mem.pages) {
		free_mr(mr);
		return ERR_PTR(-ENOMEM);
	}
	return insert_mr(mr);
}

static int add_page(struct ib_mr *ibmr, u64 addr)
{
	struct tern_mr *mr = to_tern_mr(ibmr);

	if (mr->fr_count == mr->fr_max)
		return -ENOMEM;
	mr->mem.pages[mr->fr_count++] = ib_virt_dma_to_page(addr);
	return 0;
}

/* the offset is kept here: the user may choose another iova afterwards */
int tern_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		   unsigned int *offset)
{
	struct tern_mr *mr = to_tern_mr(ibmr);
	int n;

	if (!mr->mem.fast || READ_ONCE(mr->mem.valid) ||
	    ibmr->page_size != PAGE_SIZE)
		return -EINVAL;
	mr->fr_count = 0;
	n = ib_sg_to_pages(ibmr, sg, nents, offset, add_page);
	mr->mem.offset = offset_in_page(ibmr->iova);
	mr->mem.len = ibmr->length;
	return n;
}

/* ---- fast registration: validity, by work requests ------------------------ */

static struct tern_mem *find_fast(struct tern_qp *qp, u32 stag)
{
	struct tern_mem *mem = tern_mem_lookup(qp->dev, stag);

	return mem && mem->fast && mem->pd == qp->ibqp.pd ? mem : NULL;
}

static int make_valid(struct tern_qp *qp, struct tern_mem *mem, u32 key,
		      u64 iova, u32 access)
{
	struct tern_mr *mr;

	if (!mem || READ_ONCE(mem->valid) || key >> 8 != mem->index)
		return -EINVAL;
	mr = container_of(mem, struct tern_mr, mem);
	if (!mr->fr_count || access & ~ACCESS_SUPPORTED)
		return -EINVAL;
	mem->base = iova;
	mem->access = tern_access_from_ib(access);
	mem->qp = qp;
	WRITE_ONCE(mem->stag, key);
	/* the other fields are final: tern_mem_find() acquires */
	smp_store_release(&mem->valid, true);
	return 0;
}

int tern_mr_reg(struct tern_qp *qp, u32 lkey, u32 key, u64 iova, u32 access)
{
	int ret;

	rcu_read_lock();
	ret = make_valid(qp, find_fast(qp, lkey), key, iova, access);
	rcu_read_unlock();
	return ret;
}

int tern_mr_invalidate_local(struct tern_qp *qp, u32 stag)
{
	struct tern_mem *mem;
	int ret = -EINVAL;

	rcu_read_lock();
	mem = find_fast(qp, stag);
	if (mem && READ_ONCE(mem->stag) == stag) {
		WRITE_ONCE(mem->valid, false);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}

int tern_mr_invalidate_remote(struct tern_qp *qp, u32 stag)
{
	struct tern_mem *mem;
	int ret = -EINVAL;

	rcu_read_lock();
	mem = find_fast(qp, stag);
	if (mem && READ_ONCE(mem->stag) == stag && READ_ONCE(mem->valid) &&
	    READ_ONCE(mem->qp) == qp) {
		WRITE_ONCE(mem->valid, false);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}
