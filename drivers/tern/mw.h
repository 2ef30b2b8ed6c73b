/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory windows: keys for peers to a range of a user MR, made and changed by
 * work requests. A type 1 window is good on all QPs of its PD; a type 2 window
 * on the QP that bound it (type 2B of verbs), and its peer may invalidate it.
 */
#ifndef TERN_MW_H
#define TERN_MW_H

#include <rdma/ib_verbs.h>

#include "mem.h"

struct tern_scope;
struct tern_wqe;

/**
 * struct tern_mw - memory window
 * @ibmw: the core's part
 * @mem: its entry in the STag table, which outlives it by a grace period
 */
struct tern_mw {
	struct ib_mw ibmw;
	struct tern_mem *mem;
};

/**
 * tern_mw_bind() - execute BIND_MW
 * @scope: of the QP that asks
 * @wqe: @rkey: the new key, whose index names the window; @ex: key of the
 *	region; @remote_addr, @length: range of it, in its TOs; @access: enum
 *	ib_access_flags
 *
 * A length of 0 unbinds a type 1 window. What fails changes nothing.
 *
 * Context: the stream lock is ours. Return: 0, or -EINVAL: the window is not of
 * the QP's PD, or is of type 2 and bound; the region is not a user MR of that
 * PD, does not allow windows or these rights, or the range is not in it.
 */
int tern_mw_bind(const struct tern_scope *scope, const struct tern_wqe *wqe);

/* verbs */
int tern_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int tern_dealloc_mw(struct ib_mw *ibmw);

#endif /* TERN_MW_H */
