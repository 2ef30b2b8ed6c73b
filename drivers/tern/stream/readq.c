// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The slots of RDMA Reads and atomics in flight, inbound and outbound (RFC 5040 5.2,
 * RFC 7306 5.2).
 */
#include "readq.h"

#include <linux/slab.h>

/* one slot beyond the agreed depth, for the RTR Read */
#define RTR_SLOTS	1

int tern_readq_init(struct tern_readq *readq, u32 ird, u32 ord, bool atomics)
{
	readq->in_slots = ird * (atomics ? 2 : 1) + RTR_SLOTS;
	readq->in = kvcalloc(readq->in_slots, sizeof(*readq->in),
			     GFP_KERNEL_ACCOUNT);
	readq->out = kvcalloc(ord + RTR_SLOTS, sizeof(*readq->out),
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

static u32 in_slot(const struct tern_readq *readq, u32 n)
{
	return (readq->in_head + n) % readq->in_slots;
}

static u32 out_slot(const struct tern_readq *readq, u32 n)
{
	return (readq->out_head + n) % (readq->ord + RTR_SLOTS);
}

bool tern_readq_in_full(const struct tern_readq *readq, bool atomic)
{
	if (atomic)
		return readq->in_atomics >= readq->ird;
	return readq->in_count - readq->in_atomics >= readq->ird + readq->in_rtr;
}

struct tern_read_in *tern_readq_in_next(struct tern_readq *readq)
{
	return &readq->in[in_slot(readq, readq->in_count)];
}

void tern_readq_in_push(struct tern_readq *readq)
{
	readq->in_atomics += tern_readq_in_next(readq)->kind == TERN_OPEN_ATOMIC;
	readq->in_count++;
}

void tern_readq_in_pop(struct tern_readq *readq)
{
	/* the RTR Read, if there was one, is always the oldest */
	readq->in_rtr = false;
	readq->in_atomics -= readq->in[readq->in_head].kind == TERN_OPEN_ATOMIC;
	readq->in_head = in_slot(readq, 1);
	readq->in_count--;
}

struct tern_read_out *tern_readq_out_next(struct tern_readq *readq)
{
	return &readq->out[out_slot(readq, readq->out_count)];
}

void tern_readq_out_push(struct tern_readq *readq)
{
	readq->out_count++;
}

struct tern_read_out *tern_readq_out_at(struct tern_readq *readq, u32 n)
{
	return &readq->out[out_slot(readq, n)];
}

void tern_readq_out_pop(struct tern_readq *readq)
{
	readq->out_head = out_slot(readq, 1);
	readq->out_count--;
}
