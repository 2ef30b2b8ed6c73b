/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * May a range of memory be used? RFC 5041 7.1, RFC 5040 7, RFC 7306 8.2; S11 to
 * S15 and S17 to S20 of Documentation/requirements.rst.
 */
#ifndef TERN_CORE_MEM_CHECK_H
#define TERN_CORE_MEM_CHECK_H

#include "env.h"

/**
 * struct tern_mem_view - what the caller knows of an STag
 * @valid: it exists and is not invalidated
 * @assoc: it belongs to the stream's PD, and is not bound to another stream
 * @access: TERN_ACCESS_* rights
 * @base: first valid TO
 * @len: size in bytes
 * @invalidatable: may be invalidated by this stream's peer
 * @skew: memory address of @base modulo 8: a TO has another alignment than its
 *	address when the region does not begin at TO = address
 */
struct tern_mem_view {
	bool valid;
	bool assoc;
	bool invalidatable;
	u32 access;
	u64 base;
	u64 len;
	u8 skew;
};

#define TERN_ACCESS_LOCAL_WRITE		BIT(0)
#define TERN_ACCESS_REMOTE_WRITE	BIT(1)
#define TERN_ACCESS_REMOTE_READ		BIT(2)
#define TERN_ACCESS_REMOTE_ATOMIC	BIT(3)
#define TERN_ACCESS_MW_BIND		BIT(4)	/* checked at the bind */
#define TERN_ACCESS_REMOTE		(TERN_ACCESS_REMOTE_WRITE | \
					 TERN_ACCESS_REMOTE_READ | \
					 TERN_ACCESS_REMOTE_ATOMIC)

enum tern_mem_use {
	TERN_USE_WRITE,		/* inbound RDMA Write: S11 to S15 */
	TERN_USE_READ_SRC,	/* source of a Read Request: S17 */
	TERN_USE_LOCAL_READ,	/* own send SGE */
	TERN_USE_LOCAL_WRITE,	/* own receive or Read sink SGE */
	TERN_USE_INVALIDATE,	/* Send with Invalidate: S18 */
	TERN_USE_ATOMIC,	/* target of an Atomic Request, 8 bytes: S19, S20 */
};

#define TERN_ATOMIC_LEN	8	/* @len of tern_mem_check() for it */

/* S14: RFC 5040 7.1: the range goes beyond 2^64; it may end there. @len is not 0 */
static inline bool tern_mem_wraps(u64 to, u64 len)
{
	return len - 1 > ~to;
}

/* S15: the range is inside; it does not wrap */
static inline bool tern_mem_holds(const struct tern_mem_view *view, u64 to, u64 len)
{
	u64 off = to - view->base;

	return !(to < view->base || off > view->len || len > view->len - off);
}

/**
 * tern_mem_allows() - the common case of tern_mem_check(), inline
 * @view: the STag
 * @access: TERN_ACCESS_* that the use needs; it needs nothing else
 * @to: first byte
 * @len: bytes, not 0
 *
 * Return: true: tern_mem_check() would find no fault; false: it says which one.
 */
static inline bool tern_mem_allows(const struct tern_mem_view *view, u32 access,
				   u64 to, u64 len)
{
	return view->valid && view->assoc && !(access & ~view->access) &&
	       !tern_mem_wraps(to, len) && tern_mem_holds(view, to, len);
}

/**
 * tern_mem_check() - may this range be used for this?
 * @view: the STag
 * @use: purpose
 * @to: first byte
 * @len: bytes; 0 passes always, except for TERN_USE_INVALIDATE
 *
 * Return: TERN_TERM_NONE or the triplet; for the LOCAL uses any triplet stands
 * for a local protection error.
 */
int tern_mem_check(const struct tern_mem_view *view, enum tern_mem_use use,
		   u64 to, u64 len);

#endif /* TERN_CORE_MEM_CHECK_H */
