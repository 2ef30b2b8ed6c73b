// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Memory checks, in the order of their numbers: the first failure is reported
 * (RFC 5040 7.1).
 */
#include "mem_check.h"

#include "term.h"

/* the answers of tern_mem_check(), by use */
struct mem_codes {
	u32 access;
	int invalid;
	int assoc;
	int denied;
	int wrap;
	int bounds;
};

/*
 * DDP has no code for a missing right, so a Write gets 1/1/00 (Q31). The codes
 * of the LOCAL uses are not sent: each stands for a local protection error.
 */
static const struct mem_codes mem_codes[] = {
	[TERN_USE_WRITE] = {
		.access = TERN_ACCESS_REMOTE_WRITE,
		.invalid = TERN_TERM_DT_INV_STAG,
		.assoc = TERN_TERM_DT_NOT_ASSOC,
		.denied = TERN_TERM_DT_INV_STAG,
		.wrap = TERN_TERM_DT_WRAP,
		.bounds = TERN_TERM_DT_BOUNDS,
	},
	[TERN_USE_READ_SRC] = {
		.access = TERN_ACCESS_REMOTE_READ,
		.invalid = TERN_TERM_RP_INV_STAG,
		.assoc = TERN_TERM_RP_NOT_ASSOC,
		.denied = TERN_TERM_RP_ACCESS,
		.wrap = TERN_TERM_RP_WRAP,
		.bounds = TERN_TERM_RP_BOUNDS,
	},
	[TERN_USE_ATOMIC] = {
		.access = TERN_ACCESS_REMOTE_ATOMIC,
		.invalid = TERN_TERM_RP_INV_STAG,
		.assoc = TERN_TERM_RP_NOT_ASSOC,
		.denied = TERN_TERM_RP_ACCESS,
		.wrap = TERN_TERM_RP_WRAP,
		.bounds = TERN_TERM_RP_BOUNDS,
	},
	[TERN_USE_LOCAL_READ] = {
		.invalid = TERN_TERM_RP_INV_STAG,
		.assoc = TERN_TERM_RP_NOT_ASSOC,
		.denied = TERN_TERM_RP_ACCESS,
		.wrap = TERN_TERM_RP_WRAP,
		.bounds = TERN_TERM_RP_BOUNDS,
	},
	[TERN_USE_LOCAL_WRITE] = {
		.access = TERN_ACCESS_LOCAL_WRITE,
		.invalid = TERN_TERM_RP_INV_STAG,
		.assoc = TERN_TERM_RP_NOT_ASSOC,
		.denied = TERN_TERM_RP_ACCESS,
		.wrap = TERN_TERM_RP_WRAP,
		.bounds = TERN_TERM_RP_BOUNDS,
	},
};

/* S14, S15, S17 and S19; @len is not 0 */
static int check_range(const struct tern_mem_view *view,
		       const struct mem_codes *codes, u64 to, u64 len)
{
	if (tern_mem_wraps(to, len))
		return codes->wrap;
	return tern_mem_holds(view, to, len) ? TERN_TERM_NONE : codes->bounds;
}

/* S18: every failure has the same code (Q14) */
static int check_invalidate(const struct tern_mem_view *view)
{
	if (view->valid && view->assoc && view->invalidatable)
		return TERN_TERM_NONE;
	return TERN_TERM_RP_CANT_INV;
}

/* S20: RFC 7306 8.2: "a ULP Buffer address that is 64-bit aligned" */
static bool is_aligned(const struct tern_mem_view *view, u64 to)
{
	return !((to - view->base + view->skew) % TERN_ATOMIC_LEN);
}

int tern_mem_check(const struct tern_mem_view *view, enum tern_mem_use use,
		   u64 to, u64 len)
{
	const struct mem_codes *codes;
	int term;

	if (use == TERN_USE_INVALIDATE)
		return check_invalidate(view);
	if (!len)
		return TERN_TERM_NONE;
	codes = &mem_codes[use];
	if (!view->valid)
		return codes->invalid;
	if (!view->assoc)
		return codes->assoc;
	if ((view->access & codes->access) != codes->access)
		return codes->denied;
	term = check_range(view, codes, to, len);
	if (term == TERN_TERM_NONE && use == TERN_USE_ATOMIC &&
	    !is_aligned(view, to))
		return TERN_TERM_RO_STREAM;
	return term;
}
