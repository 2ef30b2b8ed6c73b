// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Pin a program's memory by address. */
#include "umem.h"

#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

static struct page **list_pages(struct ib_umem *ib)
{
	size_t n = ib_umem_num_pages(ib), i = 0;
	struct sg_page_iter iter;
	struct page **pages;

	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages)
		return NULL;
	for_each_sgtable_page(&ib->sgt_append.sgt, &iter, 0) {
		if (i == n)
			break;
		pages[i++] = sg_page_iter_page(&iter);
		if (!(i % SZ_64K))
			cond_resched();
	}
	if (WARN_ON_ONCE(i < n)) {
		kvfree(pages);
		return NULL;
	}
	return pages;
}

struct tern_umem *tern_umem_get(struct ib_device *device, u64 start,
				u64 length, int access)
{
	struct tern_umem *umem;
	int ret;

	umem = kzalloc_obj(*umem, GFP_KERNEL_ACCOUNT);
	if (!umem)
		return ERR_PTR(-ENOMEM);
	refcount_set(&umem->ref, 1);
	umem->ib = ib_umem_get_va(device, start, length, access);
	if (IS_ERR(umem->ib)) {
		ret = PTR_ERR(umem->ib);
		goto err_free;
	}
	umem->offset = ib_umem_offset(umem->ib);
	umem->pages = list_pages(umem->ib);
	if (!umem->pages) {
		ret = -ENOMEM;
		goto err_release;
	}
	return umem;

err_release:
	ib_umem_release(umem->ib);
err_free:
	kfree(umem);
	return ERR_PTR(ret);
}

struct tern_umem *tern_umem_share(struct tern_umem *umem, int access)
{
	struct ib_umem *ib = umem->ib;

	if (ib->writable || !ib_access_writable(access)) {
		refcount_inc(&umem->ref);
		return umem;
	}
	/* a child process has other memory at these addresses */
	if (ib->owning_mm != current->mm)
		return ERR_PTR(-EINVAL);
	return tern_umem_get(ib->ibdev, ib->address, ib->length, access);
}

void tern_umem_put(struct tern_umem *umem)
{
	if (!refcount_dec_and_test(&umem->ref))
		return;
	if (umem->buf) {
		tern_umem_unmap_dmabuf(umem);
	} else {
		kvfree(umem->pages);
		ib_umem_release(umem->ib);
	}
	kfree(umem);
}
