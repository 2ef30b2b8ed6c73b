// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Rights: from verbs' names to the core's. */
#include "access.h"

#include "core/mem_check.h"

u32 tern_access_from_ib(int access)
{
	u32 rights = 0;

	if (access & IB_ACCESS_LOCAL_WRITE)
		rights |= TERN_ACCESS_LOCAL_WRITE;
	if (access & IB_ACCESS_REMOTE_WRITE)
		rights |= TERN_ACCESS_REMOTE_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		rights |= TERN_ACCESS_REMOTE_READ;
	if (access & IB_ACCESS_REMOTE_ATOMIC)
		rights |= TERN_ACCESS_REMOTE_ATOMIC;
	if (access & IB_ACCESS_MW_BIND)
		rights |= TERN_ACCESS_MW_BIND;
	return rights;
}
