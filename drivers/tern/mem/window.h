/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Memory windows: keys for peers to a range of a user MR, made and changed by
 * work requests. A type 1 window is good on all QPs of its PD; a type 2 window
 * on the QP that bound it (type 2B of verbs), and its peer may invalidate it.
 */
#ifndef TERN_WINDOW_H
#define TERN_WINDOW_H

#include <linux/types.h>

struct tern_scope;

/**
 * struct tern_bind - what a BIND_MW work request asks for
 * @key: the new key, whose index names the window
 * @region: key of the region
 * @to: first TO of the range in the region
 * @len: bytes of the range; 0 unbinds a type 1 window
 * @access: enum ib_access_flags
 */
struct tern_bind {
	u32 key;
	u32 region;
	u64 to;
	u64 len;
	u32 access;
};

/**
 * tern_window_bind() - execute BIND_MW
 * @scope: of the QP that asks
 * @bind: what it asks for
 *
 * A request that fails changes nothing.
 *
 * Context: any but hard interrupt.
 * Return: 0, or -EINVAL: the window is not of the scope's PD, or is of type 2 and bound;
 * the region is not a user MR of that PD, does not allow windows or these rights, or the
 * range is not in it.
 */
int tern_window_bind(const struct tern_scope *scope,
		     const struct tern_bind *bind);

#endif /* TERN_WINDOW_H */
