/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A stream: an MPA connection on a socket, with its engines and queues. A QP
 * embeds one.
 */
#ifndef TERN_STREAM_H
#define TERN_STREAM_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <rdma/ib_verbs.h>

#include "core/mpa.h"
#include "core/qp_fsm.h"
#include "mem/scope.h"
#include "observe/stats.h"
#include "queue/rq.h"
#include "queue/sq.h"
#include "agree.h"
#include "readq.h"
#include "rx.h"
#include "setup.h"
#include "tx.h"
#include "tx_sched.h"
#include "user.h"

struct tern_sock;
struct tern_stream;

/**
 * struct tern_stream_ops - what only a QP can do for its stream
 * @async_event: raise an async event of the QP; Context: any
 * @released: the last reference is gone; Context: any
 */
struct tern_stream_ops {
	void (*async_event)(struct tern_stream *s, enum ib_event_type type);
	void (*released)(struct tern_stream *s);
};

/**
 * struct tern_stream - a stream, with what its engines need of the QP
 * @ops: what it calls of its QP
 * @stats: counters, of the device or of what the QP is bound to (verbs/counter.c); read
 *	under the stream lock, or under RCU
 * @ctx: the program's context, NULL for a kernel user
 * @scope: keys that its send queue, and its peer, may name
 * @recv_scope: keys that its receive entries may name: those of an SRQ are of the SRQ's
 *	PD
 * @qpn: its number, the QP's
 * @ref: references of iw_cm, of the endpoint and of doorbells in flight; destroy waits
 *	until the last is dropped
 * @lock: the stream lock before there is a socket, see tern_stream_lock(); changes of
 *	@setup and @access are made under it, always, and @params is set once, under both
 *	locks; BH-safe, taken inside the socket lock
 * @state: guarded by the stream lock; read without it where a stale value is
 *	good enough
 * @sock: the connection, set once at attach (release), good until destroy
 * @setup: who connects it, and how
 * @params: what MPA agreed on, the depths at most TERN_MAX_RD_ATOM
 * @access: TERN_ACCESS_* rights of the peer (qp_access_flags)
 * @terms: its errors
 * @sq: send queue, and where it completes
 * @rq: receive side, and where it completes
 * @tx: send engine
 * @rx: receive engine
 * @readq: Reads and atomics in flight
 * @agree: what the hello agreed on
 * @sched: when @tx runs
 */
struct tern_stream {
	const struct tern_stream_ops *ops;
	struct tern_stats __percpu *stats;
	const struct ib_ucontext *ctx;
	struct tern_scope scope;
	struct tern_scope recv_scope;
	u32 qpn;
	struct kref ref;
	spinlock_t lock;		/* see above */
	enum tern_qp_state state;
	struct tern_sock *sock;
	struct tern_setup setup;
	struct tern_mpa_params params;
	u32 access;
	struct tern_stream_terms terms;
	struct tern_sq sq;
	struct tern_rq rq;
	struct tern_tx tx;
	struct tern_rx rx;
	struct tern_readq readq;
	struct tern_agree agree;
	struct tern_tx_sched sched;
};

/*
 * The stream failed or ended: what was posted is flushed, and what arrives is
 * discarded. Context: the stream lock is held; without it this is a hint.
 */
static inline bool tern_stream_is_over(const struct tern_stream *s)
{
	enum tern_qp_state state = READ_ONCE(s->state);

	return state == QP_TERMINATE || state == QP_ERROR;
}

/**
 * tern_stream_init() - a stream in IDLE, with one reference
 * @s: zeroed, but for @ops, @stats, @ctx, @scope and @recv_scope
 *
 * Its queues and its number are set up after this. Context: process.
 */
void tern_stream_init(struct tern_stream *s);

/*
 * Release what the stream has, its queues excepted: nothing refers to it any more,
 * and tern_tx_sched_cancel() was called. Context: process.
 */
void tern_stream_exit(struct tern_stream *s);

/**
 * tern_stream_attach() - Full Operation begins: IDLE to RTS
 * @s: bound to its user
 * @sock: its connection (it takes a reference); callbacks are routed to it
 * @params: what MPA agreed on, its depths at most TERN_MAX_RD_ATOM
 * @agree: what a hello may agree on
 * @reply: responder: the Reply, which is sent before any FPDU; initiator: NULL
 *
 * Responder: no FPDU is sent until the first valid one came. Initiator: after the
 * Reply was read; the RTR goes out first. Context: process, socket lock not held.
 * Return: 0, even if the Reply could not be sent, which ends the stream; -ENOMEM, or
 * -EINVAL when the stream is no longer in IDLE.
 */
int tern_stream_attach(struct tern_stream *s, struct tern_sock *sock,
		       const struct tern_mpa_params *params,
		       const struct tern_agree_options *agree,
		       const struct kvec *reply);

/**
 * tern_stream_close() - the ULP, the user or the device ends the stream
 * @s: attached or not
 * @abrupt: false: send what is queued, then FIN; true: flush now
 *
 * Context: process. The user learns of the end by an event.
 */
void tern_stream_close(struct tern_stream *s, bool abrupt);

/**
 * tern_stream_be_quiet() - the program destroys the QP
 * @s: attached or not; tern_stream_close() follows
 *
 * What is posted ends without a completion: nobody could poll it, but it would take the room of
 * other QPs' completions in the CQ, and its event. Context: process.
 */
void tern_stream_be_quiet(struct tern_stream *s);

/* CQ overflow and other faults of our own; Context: process */
void tern_stream_fatal(struct tern_stream *s);

/* stop the callbacks for good; Context: process, the stream lock not held */
void tern_stream_detach(struct tern_stream *s);

/**
 * tern_stream_features() - extensions that both ends agreed on so far
 * @s: in any state
 * @features: result: enum tern_feature, 0 before anything is agreed on
 *
 * Context: any; without the stream lock the result may be of a moment ago.
 * Return: @features is final: a hello was answered, no answer will come, or the
 * connection has no extensions (they are off, or it has version 0).
 */
bool tern_stream_features(const struct tern_stream *s, u16 *features);

/**
 * struct tern_stream_messages - RDMAP messages of a stream, the RTR, hellos and
 * Terminates included
 * @sent: those that the send engine has built
 * @received: those that were delivered
 */
struct tern_stream_messages {
	u64 sent;
	u64 received;
};

/* Context: any; without the stream lock the result may be of a moment ago */
struct tern_stream_messages tern_stream_messages(const struct tern_stream *s);

#endif /* TERN_STREAM_H */
