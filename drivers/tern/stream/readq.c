// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The slots of RDMA Reads and atomics in flight, inbound and outbound (RFC 5040 5.2,
 * RFC 7306 5.2).
 */
#include "readq.h"

#include <linux/slab.h>

int tern_readq_init(struct tern_readq *readq, u32 ird, u32 ord, bool atomics)
{
	readq->in_slots = ird * (atomics ? 2 : 1) + TERN_RTR_SLOTS;
	readq->in = kvcalloc(readq->in_slots, sizeof(*readq->in),
			     GFP_KERNEL_ACCOUNT);
	readq->out = kvcalloc(ord + TERN_RTR_SLOTS, sizeof(*readq->out),
			      GFP_KERNEL_ACCOUNT);
	if (!readq->in || !readq->out) {
		tern_readq_exit(readq);
		return -ENOMEM;
	}
	readq->ird = ird;
	readq->ord = ord;
	return 0;
}

void tern_readq_exit(struct tern_readq *readq)
{
	kvfree(readq->in);
	kvfree(readq->out);
	memset(readq, 0, sizeof(*readq));
}
