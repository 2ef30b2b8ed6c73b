/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * RDMA Reads and atomics in flight, both ways: where the send and receive engines meet.
 * Inbound Requests wait here for the send engine (IRD slots), outbound ones for
 * their Response (ORD). The socket lock guards all of it.
 */
#ifndef TERN_READQ_H
#define TERN_READQ_H

#include "core/read_open.h"
#include "mem/sgl.h"
#include "uapi/rdma/tern-abi.h"

/* one slot beyond the agreed depth, for the RTR Read */
#define TERN_RTR_SLOTS	1

/**
 * struct tern_read_in - a Request of the peer
 * @kind: Read, Read V2 or atomic
 * @sink_stag: Read: where the Response goes
 * @sink_to: Read: offset in it
 * @src: our memory, as the peer names it
 * @msn: its number on queue 1, for a Terminate
 * @atomic: atomic: what to do
 * @seg_len: length of the Request, for a Terminate
 * @hdr: its DDP header, for a Terminate
 */
struct tern_read_in {
	enum tern_open_kind kind;
	u32 sink_stag;
	u64 sink_to;
	struct tern_sge src;
	u32 msn;
	struct tern_atomic atomic;
	u32 seg_len;
	struct tern_ddp_untagged hdr;
};

/**
 * struct tern_read_out - a Read or atomic of ours that waits for its Response
 * @open: what tern_read_match() and tern_response_match() match
 * @slot: its send queue index
 * @hidden: the RTR Read, or a probe: no entry, no completion
 * @msn: of the Request on queue 1
 * @inv_stag: local STag to invalidate when the data is there, 0 for none
 * @sge: where the data goes
 * @sgl: the part of @sge that is still to be filled
 */
struct tern_read_out {
	struct tern_read_open open;
	u32 slot;
	bool hidden;
	u32 msn;
	u32 inv_stag;
	struct tern_sge sge[TERN_MAX_SGE];
	struct tern_sgl sgl;
};

/**
 * struct tern_readq - both queues of one stream
 * @in: inbound slots
 * @in_slots: how many there are
 * @ird: most Reads among them, and most atomics
 * @in_head: slot of the oldest
 * @in_count: slots in use
 * @in_atomics: those of atomics
 * @in_rtr: an RTR Read is among @in
 * @out: outbound slots
 * @ord: how many, and one more for an RTR Read
 * @out_head: slot of the oldest
 * @out_count: slots in use
 */
struct tern_readq {
	struct tern_read_in *in;
	u32 in_slots;
	u32 ird;
	u32 in_head;
	u32 in_count;
	u32 in_atomics;
	bool in_rtr;
	struct tern_read_out *out;
	u32 ord;
	u32 out_head;
	u32 out_count;
};

/**
 * tern_readq_init() - allocate the slots of a stream
 * @readq: zeroed
 * @ird: inbound Requests the peer was told
 * @ord: outbound Reads and atomics the peer takes
 * @atomics: the peer may send atomics
 *
 * One more slot in each direction is for an RTR Read (Q7). RFC 7306 5.2.2 wants room for
 * the atomics in addition to the Reads, and MPA tells one number: there are @ird slots
 * for each. Context: process. Return: 0 or -ENOMEM.
 */
int tern_readq_init(struct tern_readq *readq, u32 ird, u32 ord, bool atomics);
void tern_readq_exit(struct tern_readq *readq);

/* ---- inbound ------------------------------------------------------------- */

/* true when all slots for Reads, or those for atomics, are taken */
static inline bool tern_readq_in_full(const struct tern_readq *readq, bool atomic)
{
	if (atomic)
		return readq->in_atomics >= readq->ird;
	return readq->in_count - readq->in_atomics >= readq->ird + readq->in_rtr;
}

/* the slot to fill in, one of a kind that is not full; tern_readq_in_push() adds it */
static inline struct tern_read_in *tern_readq_in_next(struct tern_readq *readq)
{
	return &readq->in[(readq->in_head + readq->in_count) % readq->in_slots];
}

static inline void tern_readq_in_push(struct tern_readq *readq)
{
	readq->in_atomics += tern_readq_in_next(readq)->kind == TERN_OPEN_ATOMIC;
	readq->in_count++;
}

/* the oldest inbound Read or NULL */
static inline struct tern_read_in *tern_readq_in_first(struct tern_readq *readq)
{
	return readq->in_count ? &readq->in[readq->in_head] : NULL;
}

static inline void tern_readq_in_pop(struct tern_readq *readq)
{
	/* the RTR Read, if there was one, is always the oldest */
	readq->in_rtr = false;
	readq->in_atomics -= readq->in[readq->in_head].kind == TERN_OPEN_ATOMIC;
	readq->in_head = (readq->in_head + 1) % readq->in_slots;
	readq->in_count--;
}

/* ---- outbound ------------------------------------------------------------ */

/* the @n-th oldest, @n < out_count */
static inline struct tern_read_out *tern_readq_out_at(struct tern_readq *readq, u32 n)
{
	return &readq->out[(readq->out_head + n) % (readq->ord + TERN_RTR_SLOTS)];
}

/* true when all ORD slots are taken: no other Read or atomic of the ULP may start */
static inline bool tern_readq_out_full(const struct tern_readq *readq)
{
	return readq->out_count >= readq->ord;
}

/* the slot to fill in; tern_readq_out_push() adds it to the queue */
static inline struct tern_read_out *tern_readq_out_next(struct tern_readq *readq)
{
	return tern_readq_out_at(readq, readq->out_count);
}

static inline void tern_readq_out_push(struct tern_readq *readq)
{
	readq->out_count++;
}

/* the oldest outbound Read or NULL */
static inline struct tern_read_out *tern_readq_out_first(struct tern_readq *readq)
{
	return readq->out_count ? &readq->out[readq->out_head] : NULL;
}

static inline void tern_readq_out_pop(struct tern_readq *readq)
{
	readq->out_head = (readq->out_head + 1) % (readq->ord + TERN_RTR_SLOTS);
	readq->out_count--;
}

#endif /* TERN_READQ_H */
