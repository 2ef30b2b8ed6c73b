/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Pinned memory of a program: by address, or a dma-buf. */
#ifndef TERN_UMEM_H
#define TERN_UMEM_H

#include <linux/dma-direction.h>
#include <linux/iosys-map.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct dma_buf;
struct dma_buf_attachment;
struct ib_device;
struct ib_umem;
struct page;

/**
 * struct tern_umem - pinned memory
 * @ref: MRs that use it: two while rereg_mr replaces one by another
 * @ib: the core's part: pins, accounts and unpins; NULL: a dma-buf
 * @pages: the same, first to last, for access by number
 * @offset: of the first byte within the first page, or from @virt
 * @virt: dma-buf: its address in the kernel's mapping; else NULL, as all that
 *	follows
 * @buf: the dma-buf
 * @attach: keeps it in place
 * @vmap: its exporter's mapping for the kernel
 * @dir: direction of the CPU access that was begun
 */
struct tern_umem {
	refcount_t ref;
	struct ib_umem *ib;
	struct page **pages;
	u64 offset;
	void *virt;
	struct dma_buf *buf;
	struct dma_buf_attachment *attach;
	struct iosys_map vmap;
	enum dma_data_direction dir;
};

/**
 * tern_umem_get() - pin a range of the calling program's memory
 * @device: device
 * @start: first address
 * @length: bytes, at least 1
 * @access: enum ib_access_flags: writable or not
 *
 * Context: process. Return: the pages, or ERR_PTR() as ib_umem_get().
 */
struct tern_umem *tern_umem_get(struct ib_device *device, u64 start,
				u64 length, int access);

/**
 * tern_umem_get_dmabuf() - map a range of a dma-buf and keep it in place
 * @device: device
 * @fd: of the calling program
 * @offset: of the first byte
 * @length: bytes, at least 1
 * @access: enum ib_access_flags: writable or not
 *
 * Context: process, waits for the buffer's device. Return: the memory, or
 * ERR_PTR(): -EBADF or -EINVAL: @fd is no dma-buf; -EINVAL: the range is not in
 * it; -EACCES: not open for @access; -EOPNOTSUPP: the kernel cannot map it as
 * memory, or its exporter moves it unless it is pinned; else the exporter's
 * error.
 */
struct tern_umem *tern_umem_get_dmabuf(struct ib_device *device, int fd,
				       u64 offset, u64 length, int access);

/* tern_umem_put()'s part for a dma-buf */
void tern_umem_unmap_dmabuf(struct tern_umem *umem);

/**
 * tern_umem_share() - the same memory again, for other rights
 * @umem: pages of the calling program
 * @access: enum ib_access_flags
 *
 * Pages that were pinned for reading only are pinned again for writing.
 *
 * Context: process. Return: @umem or other pages, or ERR_PTR() as ib_umem_get();
 * -EINVAL when they had to be pinned again, but are another program's.
 */
struct tern_umem *tern_umem_share(struct tern_umem *umem, int access);

/* drop a reference; after the last the memory is unpinned; Context: process */
void tern_umem_put(struct tern_umem *umem);

#endif /* TERN_UMEM_H */
