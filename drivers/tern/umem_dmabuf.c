// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A dma-buf: memory that its exporter keeps in place for as long as somebody is
 * attached. It is used by the kernel's mapping, for only the exporter knows how
 * such memory may be cached. Exporters that move what is attached, and have a call
 * to pin it, are refused: not all of them pin what is mapped.
 *
 * Peers come at any time, in softirq, where nothing may wait for the buffer's
 * device: CPU access begins with the registration and ends with it. On a coherent
 * machine that is a wait for what the device does at this moment, and nothing
 * is missed in between; who owns the buffer when is the program's to order, as
 * with any RNIC. On another machine, device and peer see each other's octets
 * only across a registration.
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
	/* DDP-105: a peer gets no right that the program has not itself */
	if (need & ~buf->file->f_mode)
		return -EACCES;
	return buf->ops->vmap && !buf->ops->pin ? 0 : -EOPNOTSUPP;
}

/*
 * Maybe no mapping of the buffer: udmabuf of Linux 6.12 maps the first page of a
 * large folio in place of each of the others. So that page, wherever the next one
 * does not follow, is in doubt.
 */
static bool misses_pages(const struct tern_umem *umem)
{
	const void *p = umem->vmap.vaddr, *end = p + umem->buf->size;
	struct page *page, *first = NULL;

	if (!is_vmalloc_addr(p))
		return false;
	for (; p < end; p += PAGE_SIZE) {
		page = vmalloc_to_page(p);
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
	/* its errors are the exporter's: the access is over */
	dma_buf_end_cpu_access(umem->buf, umem->dir);
	dma_buf_vunmap_unlocked(umem->buf, &umem->vmap);
	dma_buf_detach(umem->buf, umem->attach);
	dma_buf_put(umem->buf);
}
