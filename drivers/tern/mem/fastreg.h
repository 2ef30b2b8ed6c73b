/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Fast registration: a kernel user lists the blocks of a region by a call, and a
 * work request makes them valid. It chooses their size, which need not be that of the kernel's
 * pages: NVMe and iSER have blocks of 4 KiB on each kernel.
 */
#ifndef TERN_FASTREG_H
#define TERN_FASTREG_H

#include <linux/types.h>

struct tern_scope;

/**
 * struct tern_fastreg - block lists of a fast-registration region
 * @blocks: the list of the registration in force, which the region's map points to
 * @mapped: the list for the next REG_MR. It is filled in while the region may still be
 *	valid, with its LOCAL_INV posted and not executed
 * @max: elements of each list
 * @count: elements in @mapped
 * @block_bits: log2 of the size of a block of @mapped
 * @offset: of the first byte of @mapped in its first block
 * @len: bytes that @mapped describes
 */
struct tern_fastreg {
	void **blocks;
	void **mapped;
	u32 max;
	u32 count;
	u8 block_bits;
	u32 offset;
	u64 len;
};

/**
 * tern_fastreg_create() - allocate the lists
 * @max: blocks, at least 1
 *
 * Context: process.
 * Return: lists with nothing mapped, or NULL.
 */
struct tern_fastreg *tern_fastreg_create(u32 max);

/* @fast may be NULL */
void tern_fastreg_destroy(struct tern_fastreg *fast);

/* append to @fast->mapped; Return: 0, or -ENOMEM when it is full */
int tern_fastreg_add(struct tern_fastreg *fast, void *block);

/**
 * tern_fastreg_register() - execute REG_MR: make a mapped region valid
 * @scope: of the kernel user's QP, whose peer alone may use and invalidate the region
 *	from now on
 * @lkey: a key of the region: only its index is used
 * @key: the key from now on: the same index, any low 8 bits
 * @iova: first TO
 * @access: enum ib_access_flags
 *
 * Context: any but hard interrupt.
 * Return: 0, or -EINVAL: no such region in the scope's PD, it is valid already, nothing
 * was mapped, or bad rights.
 */
int tern_fastreg_register(const struct tern_scope *scope, u32 lkey, u32 key,
			  u64 iova, u32 access);

#endif /* TERN_FASTREG_H */
