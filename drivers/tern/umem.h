/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A program's memory, pinned. */
#ifndef TERN_UMEM_H
#define TERN_UMEM_H

#include <linux/refcount.h>
#include <linux/types.h>

struct ib_device;
struct ib_umem;
struct page;

/**
 * struct tern_umem - pinned pages
 * @ref: MRs that have it: two, while one becomes another
 * @ib: the core's part: pins, accounts and unpins
 * @pages: the same, first to last, for access by number
 * @offset: of the first octet within the first page
 */
struct tern_umem {
	refcount_t ref;
	struct ib_umem *ib;
	struct page **pages;
	u32 offset;
};

/**
 * tern_umem_get() - pin a range of the calling program's memory
 * @device: device
 * @start: first address
 * @length: octets, at least 1
 * @access: enum ib_access_flags: writable or not
 *
 * Context: process. Return: the pages, or ERR_PTR() as ib_umem_get().
 */
struct tern_umem *tern_umem_get(struct ib_device *device, u64 start,
				u64 length, int access);

/**
 * tern_umem_share() - the same memory once more, for other rights
 * @umem: pages of the calling program
 * @access: enum ib_access_flags
 *
 * Pages that were pinned to be read only are pinned anew to be written.
 *
 * Context: process. Return: @umem or other pages, or ERR_PTR() as ib_umem_get();
 * -EINVAL when they would have to be another program's.
 */
struct tern_umem *tern_umem_share(struct tern_umem *umem, int access);

/* give it back; behind the last one nobody looks at the pages; Context: process */
void tern_umem_put(struct tern_umem *umem);

#endif /* TERN_UMEM_H */
