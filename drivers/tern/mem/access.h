/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The rights of regions, windows and QPs. */
#ifndef TERN_ACCESS_H
#define TERN_ACCESS_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* enum ib_access_flags that a region may have */
#define TERN_IB_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_OPTIONAL)

/* TERN_ACCESS_* of enum ib_access_flags, for regions, windows and QPs */
u32 tern_access_from_ib(int access);

#endif /* TERN_ACCESS_H */
