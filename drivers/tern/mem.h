/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The STag table. An STag is 24 random bits of index and 8 bits of key; the
 * index finds the entry, the whole STag must match. Lookup is under RCU; whoever
 * takes an entry out waits for a grace period before its pages go, so a reader
 * needs no reference (design 17).
 */
#ifndef TERN_MEM_H
#define TERN_MEM_H

#include <linux/rhashtable.h>
#include <rdma/ib_verbs.h>

#include "core/ddp.h"

struct tern_device;

/**
 * struct tern_mem - what an STag stands for
 * @node: in the device's table
 * @index: STag >> 8
 * @stag: the whole STag now; kernel users rotate the low 8 bits
 * @valid: not invalidated
 * @pd: owner
 * @access: TERN_ACCESS_* rights
 * @base: first TO (iova)
 * @len: octets
 * @pages: the pages, first to last; NULL if @kva
 * @offset: of @base within the first page
 * @kva: DMA MR: TOs are kernel addresses
 * @fast: fast-registration MR: kernel users make it valid and invalid
 * @qp: fast-registration MR: the only QP whose peer may invalidate it, or NULL
 *
 * Fields but @node, @index and @pd change only while the entry is not in use
 * (invalid), and are read under rcu_read_lock().
 */
struct tern_mem {
	struct rhash_head node;
	u32 index;
	u32 stag;
	bool valid;
	bool kva;
	bool fast;
	struct ib_pd *pd;
	u32 access;
	u64 base;
	u64 len;
	struct page **pages;
	u32 offset;
	struct tern_qp *qp;
};

struct tern_mem_table {
	struct rhashtable ht;
};

int tern_mem_table_init(struct tern_mem_table *t);
void tern_mem_table_exit(struct tern_mem_table *t);

/**
 * tern_mem_insert() - draw a fresh STag and make @mem findable
 *
 * Context: process. Return: 0, -ENOMEM or -ENOSPC.
 */
int tern_mem_insert(struct tern_device *dev, struct tern_mem *mem);

/**
 * tern_mem_remove() - take @mem out of the table and wait until no reader has it
 *
 * Context: process, sleeps for a grace period (expedited).
 */
void tern_mem_remove(struct tern_device *dev, struct tern_mem *mem);

/**
 * tern_mem_find() - look an STag up
 *
 * Context: rcu_read_lock() held; the result is good until it is released.
 * Return: the entry (its whole STag matches and it is valid), or NULL.
 */
struct tern_mem *tern_mem_find(struct tern_device *dev, u32 stag);

/* as tern_mem_find(), by index alone: the entry may be invalid */
struct tern_mem *tern_mem_lookup(struct tern_device *dev, u32 stag);

/* what core/ddp needs to judge; @mem may be NULL */
void tern_mem_view(const struct tern_mem *mem, const struct ib_pd *pd,
		   struct tern_mem_view *view);

/**
 * tern_mem_read() - copy out of registered memory
 * @mem: checked entry, rcu_read_lock() held since the lookup
 * @to: first octet; [@to, @to + @len) was checked against the entry
 * @dst: kernel memory
 * @len: octets
 */
void tern_mem_read(const struct tern_mem *mem, u64 to, void *dst, size_t len);

/* tern_mem_write() - copy into registered memory; as tern_mem_read() */
void tern_mem_write(const struct tern_mem *mem, u64 to, const void *src,
		    size_t len);

#endif /* TERN_MEM_H */
