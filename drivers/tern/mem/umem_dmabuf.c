// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A dma-buf: memory that its exporter keeps in place while a device is
 * attached. It is accessed through the exporter's mapping for the kernel, since
 * only the exporter knows how the memory may be cached. Exporters that have a
 * call to pin the buffer, since they move it while it is attached, are refused:
 * not all of them pin what is mapped.
 *
 * Peers access it at any time, in softirq, which cannot wait for the buffer's
 * device. So CPU access begins with the registration and ends with it. On a
 * coherent machine that waits only for what the device does at this moment, and
 * no data is missed in between; the program orders the accesses of device and
 * peers, as with any RNIC. On other machines, device and peer see each other's
 * bytes only after a registration has begun or ended in between.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>

#include "umem.h"

TERN_IMPORT_NS("DMA_BUF");

static int check_buf(const struct dma_buf *buf, u64 offset, u64 length,
		     bool writable)
{
	fmode_t need = FMODE_READ | (writable ? FMODE_WRITE : 0);

	if (offset > buf->size || length > buf->size - offset)
		return -EINVAL;
	/* DDP-105: a peer gets no right that the program does not have */
	if (need & ~buf->file->f_mode)
		return -EACCES;
	return buf->ops->vmap && !buf->ops->pin ? 0 : -EOPNOTSUPP;
}

/*
 * Does the mapping miss pages of the buffer? In place of each page of a large
 * folio, udmabuf of Linux 6.12 maps the first one. So a folio's first page that
 * its second does not follow is a sign of that.
 */
static bool misses_pages(const struct tern_umem *umem)
{
	const void *p = umem->vmap.vaddr, *end = p + umem->buf->size;
	struct page *page, *first = NULL;

	if (!is_vmalloc_addr(p))
		return false;
	for (; p < end; p += PAGE_SIZE) {
		page = vmalloc_to_page(p);
		/* memory that is not the system's has none, whatever the exporter says */
		if (page && !pfn_valid(page_to_pfn(page)))
			return true;
		if (first && page != first + 1)
			return true;
		first = page && PageHead(page) ? page : NULL;
		cond_resched();
	}
	return first;
}

static int map_buf(struct tern_umem *umem, struct ib_device *device)
{
	int ret;

	umem->attach = dma_buf_attach(umem->buf, &device->dev);
	if (IS_ERR(umem->attach))
		return PTR_ERR(umem->attach);
	ret = dma_buf_vmap_unlocked(umem->buf, &umem->vmap);
	if (ret)
		goto err_detach;
	ret = umem->vmap.is_iomem || misses_pages(umem) ? -EOPNOTSUPP :
	      dma_buf_begin_cpu_access(umem->buf, umem->dir);
	if (ret)
		goto err_vunmap;
	return 0;

err_vunmap:
	dma_buf_vunmap_unlocked(umem->buf, &umem->vmap);
err_detach:
	dma_buf_detach(umem->buf, umem->attach);
	return ret;
}

struct tern_umem *tern_umem_get_dmabuf(struct ib_device *device, int fd,
				       u64 offset, u64 length, int access)
{
	bool writable = ib_access_writable(access);
	struct tern_umem *umem;
	int ret;

	umem = kzalloc_obj(*umem, GFP_KERNEL_ACCOUNT);
	if (!umem)
		return ERR_PTR(-ENOMEM);
	refcount_set(&umem->ref, 1);
	umem->dir = writable ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE;
	umem->buf = dma_buf_get(fd);
	if (IS_ERR(umem->buf)) {
		ret = PTR_ERR(umem->buf);
		goto err_free;
	}
	ret = check_buf(umem->buf, offset, length, writable);
	if (!ret)
		ret = map_buf(umem, device);
	if (ret)
		goto err_put;
	umem->virt = umem->vmap.vaddr;
	umem->offset = offset;
	return umem;

err_put:
	dma_buf_put(umem->buf);
err_free:
	kfree(umem);
	return ERR_PTR(ret);
}

void tern_umem_unmap_dmabuf(struct tern_umem *umem)
{
	/* the access is over: an error concerns only the exporter */
	dma_buf_end_cpu_access(umem->buf, umem->dir);
	dma_buf_vunmap_unlocked(umem->buf, &umem->vmap);
	dma_buf_detach(umem->buf, umem->attach);
	dma_buf_put(umem->buf);
}
