/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The send queue: an entry from its post to its completion. RFC 5040 5.5(15):
 * operations "MUST be Completed at the Local Peer in the order that they were
 * submitted".
 */
#ifndef TERN_SQ_H
#define TERN_SQ_H

#include <rdma/ib_verbs.h>

#include "cq.h"
#include "queue.h"

/**
 * struct tern_sq_slot - a send queue entry between its start and its completion
 * @wr_id: the user's
 * @opcode: enum tern_wr_opcode
 * @flags: enum tern_wr_flags
 * @status: enum ib_wc_status, valid when @done
 * @done: may complete when all entries before it have
 * @response: its result is in a Response of the peer
 * @len: bytes, for byte_len of Reads
 */
struct tern_sq_slot {
	u64 wr_id;
	u8 opcode;
	u8 status;
	bool done;
	bool response;
	u32 flags;
	u32 len;
};

/**
 * struct tern_wr_row - what a send queue entry of one opcode may have, and what it needs
 * @set: enum tern_op_set; 0 for an unknown opcode
 * @flags: flags besides SIGNALED and FENCE
 * @sge: takes a scatter/gather list
 * @atomic: takes one element of 8 bytes, and operands
 * @tail: immediate data ends the message: see tern_rdmap_build_send_imm()
 * @local: puts nothing on the wire
 * @response: a Read or an atomic: the peer answers it
 * @kernel_only: not for programs
 */
struct tern_wr_row {
	u8 set;
	u8 flags;
	bool sge;
	bool atomic;
	bool tail;
	bool local;
	bool response;
	bool kernel_only;
};

/* the row of enum tern_wr_opcode, or of an unknown one */
const struct tern_wr_row *tern_wr_row(u8 opcode);

/**
 * struct tern_sq - send queue
 * @q: the ring
 * @cq: where it completes
 * @qpn: of the QP, for completions
 * @lock: guards @prod (kernel users' posts); interrupts off
 * @prod: kernel users: next index to fill
 * @slots: entries in progress, by index & (q.size - 1)
 * @head: next entry to start
 * @known: the entries before this index are posted, as the ring said when it was read last
 * @sent: the send engine is done with the entries before this index: TCP took them, or
 *	the stream is flushed
 * @tail: oldest entry without a completion
 * @silent: entries that ended without one, as the ring says
 * @polled: kernel users: completions that were polled; the lock of @cq guards it
 * @stop: in CLOSING: entries from this index on are flushed, not sent
 * @max_wr: entries that were granted
 * @max_sge: elements of an entry
 * @max_inline: bytes of inline payload
 * @sig_all: every entry is signalled
 * @extended: kernel users may post what needs extensions
 * @quiet: its program destroys the QP: entries end without a completion
 * @failed: the flush found an entry that failed: none after it succeeds
 * @shown: enum tern_ring_flags, as last written into the ring, which the program can change;
 *	or see tern_sq_look_again()
 * @vendor_err: the peer's Terminate, for entries that fail; 0 means none
 * @flush_left: entries never started that the flush may still find
 *
 * The stream lock, see tern_stream_lock(), guards what changes after creation,
 * apart from @prod and @polled.
 */
struct tern_sq {
	struct tern_queue q;
	struct tern_cq *cq;
	u32 qpn;
	spinlock_t lock;		/* see above */
	u32 prod;
	struct tern_sq_slot *slots;
	u32 head;
	u32 known;
	u32 sent;
	u32 tail;
	u32 silent;
	u32 polled;
	u32 stop;
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;
	bool sig_all;
	bool extended;
	bool quiet;
	bool failed;
	u8 shown;
	u32 vendor_err;
	u32 flush_left;
};

/**
 * struct tern_wqe - the send queue entry being sent: a private, validated copy
 * @wr_id: returned in the completion
 * @remote_addr: see struct tern_sqe
 * @index: of the entry
 * @opcode: enum tern_wr_opcode
 * @row: of that opcode
 * @flags: enum tern_wr_flags
 * @rkey: see struct tern_sqe
 * @ex: see struct tern_sqe
 * @access: see struct tern_sqe
 * @len: payload bytes; atomic: 8, the bytes of its result
 * @length: BIND_MW: bytes of the window
 * @imm: immediate data in wire order
 * @args: operands of an atomic
 * @sge: where the payload is
 * @num_sge: elements
 * @inline_len: bytes at @inl
 * @inl: with TERN_WR_INLINE, in place of @sge: inline payload
 */
struct tern_wqe {
	u64 wr_id;
	u64 remote_addr;
	const struct tern_wr_row *row;
	u32 index;
	u8 opcode;
	u32 flags;
	u32 rkey;
	u32 ex;
	u32 access;
	u32 len;
	union {
		u64 length;
		u8 imm[8];
	};
	struct tern_atomic_args args;
	u32 num_sge;
	u32 inline_len;
	union {
		struct tern_sge sge[TERN_MAX_SGE];
		u8 inl[TERN_MAX_INLINE];
	};
};

/**
 * tern_sq_init() - set up the send queue of a QP
 * @sq: zeroed; @sq->qpn is set later
 * @ctx: the program's context, NULL for a kernel user
 * @init: what the user asks for, checked
 *
 * Context: process. Return: 0 or as tern_queue_create().
 */
int tern_sq_init(struct tern_sq *sq, struct ib_ucontext *ctx,
		 const struct ib_qp_init_attr *init);

/* undo tern_sq_init(); Context: process, may sleep */
void tern_sq_exit(struct tern_sq *sq);

static inline void tern_sq_show(struct tern_sq *sq, u8 flags)
{
	WRITE_ONCE(sq->shown, flags);
	WRITE_ONCE(sq->q.hdr->flags, flags);
}

/*
 * TERN_RING_BUSY (enum tern_ring_flags): the engine runs, or will run, and
 * reads the queue before it ends. Posts need no doorbell until
 * tern_sq_clear_busy().
 */
static inline void tern_sq_set_busy(struct tern_sq *sq)
{
	tern_sq_show(sq, TERN_RING_BUSY);
}

/*
 * The next flush looks for posts that rang no doorbell. A run that is put off shows TERN_RING_BUSY
 * without the stream lock: if a flush clears the flags at that moment, the ring may say BUSY, and
 * @shown nothing. So the timer of that run calls this.
 */
static inline void tern_sq_look_again(struct tern_sq *sq)
{
	WRITE_ONCE(sq->shown, TERN_RING_BUSY);
}

/* from here on each post rings; the caller reads the queue again after this */
static inline void tern_sq_clear_busy(struct tern_sq *sq)
{
	tern_sq_show(sq, 0);
	smp_mb(); /* flags before prod */
}

/* may the program leave posts for a later doorbell? Without the stream lock a hint */
static inline bool tern_sq_is_lazy(const struct tern_sq *sq)
{
	return READ_ONCE(sq->shown) == TERN_RING_LAZY;
}

/**
 * tern_sq_go_idle() - the engine has nothing to send: make the next post ring
 * @sq: the queue
 * @lazy: posts may ring later, TERN_RING_LAZY: the caller starts a timer after this
 *
 * Context: the stream lock is held. Return: true when the queue is idle; false
 * when an entry was posted before that: the queue stays busy and the engine
 * runs on.
 */
bool tern_sq_go_idle(struct tern_sq *sq, bool lazy);

/**
 * tern_sq_must_ring() - does a kernel user's post need a doorbell?
 * @sq: entries were posted to it
 *
 * Context: any, interrupts on or off.
 */
bool tern_sq_must_ring(const struct tern_sq *sq);

/**
 * tern_sq_is_one_sided() - is the last entry posted a Write, a Read or an atomic?
 * @sq: the queue
 *
 * A Send, unlike these, is meant to wake its receiver. The answer is a hint:
 * the program can write the ring. Context: any.
 */
bool tern_sq_is_one_sided(const struct tern_sq *sq);

/**
 * tern_sq_fetch() - copy the next entry out of the ring, once, and check it
 * @sq: the queue
 * @wqe: private copy
 *
 * The entry stays at sq.head until tern_sq_started(). Context: the stream lock
 * is held. Return: 0; -ENOENT when there is none; -EINVAL when it is malformed
 * (@wqe->wr_id, @opcode and @index are valid); -EOVERFLOW when the program's
 * index is out of range.
 */
int tern_sq_fetch(struct tern_sq *sq, struct tern_wqe *wqe);

/* entries posted and not started; -EOVERFLOW as for tern_sq_fetch() */
int tern_sq_pending(const struct tern_sq *sq);

static inline struct tern_sq_slot *tern_sq_slot(const struct tern_sq *sq, u32 index)
{
	return &sq->slots[index & (sq->q.size - 1)];
}

/**
 * tern_sq_started() - the entry at sq.head is in progress now
 * @sq: the queue
 * @wqe: its copy
 *
 * Context: the stream lock is held.
 */
static inline void tern_sq_started(struct tern_sq *sq, const struct tern_wqe *wqe)
{
	struct tern_sq_slot *slot = tern_sq_slot(sq, wqe->index);

	slot->wr_id = wqe->wr_id;
	slot->opcode = wqe->opcode;
	slot->status = 0;
	slot->done = false;
	slot->response = wqe->row->response;
	slot->flags = wqe->flags;
	slot->len = wqe->len;
	sq->head = wqe->index + 1;
}

/**
 * tern_sq_done() - an entry has its result
 * @sq: the queue
 * @index: of the entry, sq.tail <= @index < sq.head
 * @status: result
 */
void tern_sq_done(struct tern_sq *sq, u32 index, enum ib_wc_status status);

/* tern_sq_done() for the oldest entry that has no result, if there is one */
void tern_sq_fail_oldest(struct tern_sq *sq, enum ib_wc_status status);

/**
 * tern_sq_sent() - TCP took all bytes of some entries
 * @sq: the queue
 * @head: they are those before this index
 *
 * All of them are done, except Reads and atomics, which wait for their Response. Does nothing for
 * entries that a flush took from the engine. tern_sq_complete() has to follow.
 */
void tern_sq_sent(struct tern_sq *sq, u32 head);

/**
 * tern_sq_complete() - write the completions that are due, in order
 * @sq: the queue
 *
 * Context: the stream lock is held. Return: true when there are too many for one call.
 */
bool tern_sq_complete(struct tern_sq *sq);

/**
 * tern_sq_flush() - complete some entries with an error, in order
 * @sq: of a stream that failed or ended
 * @rung: as for tern_stream_flush()
 *
 * From then on each post rings. Context: the stream lock is held. Return: true
 * when entries are left.
 */
bool tern_sq_flush(struct tern_sq *sq, bool rung);

/**
 * tern_sq_post() - kernel users' post_send, up to the doorbell
 * @sq: the queue
 * @wr: what to post
 * @bad_wr: set on failure
 *
 * Context: any, interrupts on or off. Return: 0; -ENOMEM when full, -EINVAL or
 * -EOPNOTSUPP for a bad request, with *@bad_wr set; the earlier requests stay
 * posted.
 */
int tern_sq_post(struct tern_sq *sq, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad_wr);

#endif /* TERN_SQ_H */
