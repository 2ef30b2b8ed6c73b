/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The lock and the state machine of a stream, for its engines and its QP. */
#ifndef TERN_STATE_H
#define TERN_STATE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "core/mpa.h"
#include "core/qp_fsm.h"

struct tern_stream;
struct tern_term_seg;

/**
 * tern_stream_lock() - take the stream lock: the socket lock, or, before there
 * is a socket, @lock
 * @s: stream
 *
 * It guards all state of the engines, the send queue's slots and @state. The
 * socket's callbacks hold it when they run. Context: process; the holder sleeps only
 * where TCP charges a cgroup that is at its limit, see tern_sock_lock().
 */
void tern_stream_lock(struct tern_stream *s);
void tern_stream_unlock(struct tern_stream *s);

#ifdef CONFIG_LOCKDEP
void tern_stream_assert_locked(const struct tern_stream *s);
#else
static inline void tern_stream_assert_locked(const struct tern_stream *s)
{
}
#endif

/* what was agreed on, zero before a connection; Context: process, without the lock */
struct tern_mpa_params tern_stream_params(struct tern_stream *s);

/**
 * tern_stream_step() - step the state machine and execute its actions
 * @s: the stream
 * @event: what happened
 *
 * Context: the stream lock is held.
 */
void tern_stream_step(struct tern_stream *s, enum tern_qp_event event);

/*
 * Step the state machine if TCP is over and nothing that it received is left: the worker takes
 * the rest of a run first. Context: the socket lock is held.
 */
void tern_stream_step_if_dead(struct tern_stream *s);

/* responder: the first valid FPDU came; Context: the socket lock is held */
void tern_stream_opened(struct tern_stream *s);

/* raise an async event of the QP; Context: any */
void tern_stream_async_event(struct tern_stream *s, enum ib_event_type type);

/**
 * tern_stream_error() - we found an error: Terminate, flush, async event
 * @s: attached
 * @code: triplet to send, TERN_TERM_NONE for none
 * @seg: the offending segment, or NULL
 *
 * Context: the stream lock is held.
 */
void tern_stream_error(struct tern_stream *s, int code,
		       const struct tern_term_seg *seg);

/**
 * tern_stream_complete() - write completions of entries that have their results
 * @s: nothing is done for one that is over
 *
 * Some hundred entries at most, in order; softirq does the rest. Context: the stream
 * lock is held.
 */
void tern_stream_complete(struct tern_stream *s);

/**
 * tern_stream_flush() - complete some of the posted entries in error
 * @s: in TERMINATE or ERROR, or going there
 * @rung: something was posted, or the flush begins: flush what was posted until
 *	now. Else only what is left of that.
 *
 * Some hundred entries at most, in order. Context: the stream lock is held. Return:
 * true when more is left: call again soon, with the lock released in between.
 */
bool tern_stream_flush(struct tern_stream *s, bool rung);

/* run the send engine soon; Context: any, interrupts on or off */
void tern_stream_kick(struct tern_stream *s);

#endif /* TERN_STATE_H */
