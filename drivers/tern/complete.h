/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completions of the send side, in posting order (RFC 5040 5.5(15)), and the flush
 * when the stream ends.
 */
#ifndef TERN_COMPLETE_H
#define TERN_COMPLETE_H

#include <rdma/ib_verbs.h>

#include "sq.h"

struct tern_qp;

/**
 * tern_sq_started() - the entry at sq.head is taken in hand
 * @sq: the queue
 * @wqe: its validated copy
 *
 * Context: the socket lock is ours.
 */
void tern_sq_started(struct tern_sq *sq, const struct tern_wqe *wqe);

/**
 * tern_sq_done() - an entry has its result
 * @sq: the queue
 * @index: of the entry, sq.tail <= @index < sq.head
 * @status: result
 */
void tern_sq_done(struct tern_sq *sq, u32 index, enum ib_wc_status status);

/* the oldest entry in progress, if any, has @status */
void tern_sq_fail_oldest(struct tern_sq *sq, enum ib_wc_status status);

/**
 * tern_sq_sent() - TCP took all octets of the entries before @head
 *
 * All of them but Reads, which wait for their Response, are done.
 */
void tern_sq_sent(struct tern_sq *sq, u32 head);

/**
 * tern_sq_complete() - write the completions that are due, in order
 *
 * Context: the stream lock is ours.
 */
void tern_sq_complete(struct tern_sq *sq);

/**
 * tern_flush() - complete some of what there is in error
 * @qp: in TERMINATE or ERROR, or going there
 * @rung: something was posted, or the flush begins: what was posted until now is
 *	meant. Else only what is left of that.
 *
 * Some hundred entries at most, in order. Context: the stream lock is ours. Return:
 * true when more is left: call again soon, with the lock released in between.
 */
bool tern_flush(struct tern_qp *qp, bool rung);

#endif /* TERN_COMPLETE_H */
