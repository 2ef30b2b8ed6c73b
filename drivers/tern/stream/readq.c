// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The slots of RDMA Reads in flight, inbound and outbound (RFC 5040 5.2). */
#include "readq.h"

#include <linux/slab.h>

/* one slot beyond the agreed depth, for the RTR Read */
#define RTR_SLOTS	1

int tern_readq_init(struct tern_readq *rq, u32 ird, u32 ord)
{
	rq->in = kvcalloc(ird + RTR_SLOTS, sizeof(*rq->in),
			  GFP_KERNEL_ACCOUNT);
	rq->out = kvcalloc(ord + RTR_SLOTS, sizeof(*rq->out),
			   GFP_KERNEL_ACCOUNT);
	if (!rq->in || !rq->out) {
		tern_readq_exit(rq);
		return -ENOMEM;
	}
	rq->ird = ird;
	rq->ord = ord;
	return 0;
}

void tern_readq_exit(struct tern_readq *rq)
{
	kvfree(rq->in);
	kvfree(rq->out);
	memset(rq, 0, sizeof(*rq));
}

static u32 in_slot(const struct tern_readq *rq, u32 n)
{
	return (rq->in_head + n) % (rq->ird + RTR_SLOTS);
}

static u32 out_slot(const struct tern_readq *rq, u32 n)
{
	return (rq->out_head + n) % (rq->ord + RTR_SLOTS);
}

bool tern_readq_in_full(const struct tern_readq *rq)
{
	return rq->in_count >= rq->ird + rq->in_rtr;
}

void tern_readq_in_push(struct tern_readq *rq, const struct tern_read_in *rd)
{
	rq->in[in_slot(rq, rq->in_count++)] = *rd;
}

struct tern_read_in *tern_readq_in_first(struct tern_readq *rq)
{
	return rq->in_count ? &rq->in[rq->in_head] : NULL;
}

void tern_readq_in_pop(struct tern_readq *rq)
{
	/* the RTR Read, if there was one, is always the oldest */
	rq->in_rtr = false;
	rq->in_head = in_slot(rq, 1);
	rq->in_count--;
}

struct tern_read_out *tern_readq_out_next(struct tern_readq *rq)
{
	return &rq->out[out_slot(rq, rq->out_count)];
}

void tern_readq_out_push(struct tern_readq *rq)
{
	rq->out_count++;
}

struct tern_read_out *tern_readq_out_at(struct tern_readq *rq, u32 n)
{
	return &rq->out[out_slot(rq, n)];
}

struct tern_read_out *tern_readq_out_first(struct tern_readq *rq)
{
	return rq->out_count ? &rq->out[rq->out_head] : NULL;
}

void tern_readq_out_pop(struct tern_readq *rq)
{
	rq->out_head = out_slot(rq, 1);
	rq->out_count--;
}
