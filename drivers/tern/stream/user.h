/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The user of a stream: an endpoint, which connects it, and learns of its open, its
 * errors and its end.
 */
#ifndef TERN_USER_H
#define TERN_USER_H

#include <linux/types.h>

#include "core/term.h"

struct tern_stream;
struct tern_stream_user;

/**
 * enum tern_stream_event - what a stream reports to its user
 * @TERN_STREAM_OPEN: responder: the first valid FPDU came (RTR or ULP message)
 * @TERN_STREAM_CLOSING: a close began on either side: the peer's FIN came at an
 *	FPDU boundary, the ULP disconnected, or (with a Terminate triplet) an
 *	error was found. Arms a bound on the drain (core/cm_clock.h); when it runs
 *	out the user calls tern_stream_close(s, true)
 * @TERN_STREAM_FIN_SENT: all is sent and our FIN follows; the stream waits for
 *	the peer's. Arms a shorter bound; when it runs out the user calls
 *	tern_stream_close(s, true)
 * @TERN_STREAM_FINISHED: our FIN was sent and nothing more is expected from the
 *	peer: the user takes the socket over and lingers (reads and discards)
 *	until the FIN is acknowledged and the peer's came, or the same bound
 *	runs out, then releases it; CLOSE is reported to iw_cm at once
 * @TERN_STREAM_FAILED: the stream broke: the user resets the socket and
 *	reports CLOSE
 *
 * OPEN, CLOSING and FIN_SENT come at most once each; the last event is one of
 * FINISHED and FAILED.
 */
enum tern_stream_event {
	TERN_STREAM_OPEN,
	TERN_STREAM_CLOSING,
	TERN_STREAM_FIN_SENT,
	TERN_STREAM_FINISHED,
	TERN_STREAM_FAILED,
};

/**
 * struct tern_stream_terms - errors of a stream, triplets or TERN_TERM_NONE
 * @found: what we found wrong, whether a Terminate can be sent or not
 * @sent: the Terminate that TCP took
 * @received: the peer's
 */
struct tern_stream_terms {
	int found;
	int sent;
	int received;
};

#define TERN_NO_TERMS ((struct tern_stream_terms) { \
	TERN_TERM_NONE, TERN_TERM_NONE, TERN_TERM_NONE })

/**
 * struct tern_stream_user_ops - the calls from a stream to its user
 * @get: take a reference; Context: any
 * @put: drop one; Context: any
 * @event: an event, with the stream's errors so far. The socket lock may be
 *	held, so the user notes what happened and acts in a context of its own.
 *	Context: any in which a BH-safe lock may be taken
 * @abort: the QP goes away or to ERROR while its connection is starting: abort it at
 *	once. (iw_destroy_cm_id() waits uninterruptibly for the CONNECT_REPLY or
 *	ESTABLISHED event, which is given with an error status.) Context: process, no
 *	lock is held
 */
struct tern_stream_user_ops {
	void (*get)(struct tern_stream_user *user);
	void (*put)(struct tern_stream_user *user);
	void (*event)(struct tern_stream_user *user, enum tern_stream_event event,
		      const struct tern_stream_terms *terms);
	void (*abort)(struct tern_stream_user *user, struct tern_stream *s);
};

/**
 * struct tern_stream_user - an endpoint, which connects a stream
 * @ops: what the stream calls
 */
struct tern_stream_user {
	const struct tern_stream_user_ops *ops;
};

/* no startup has begun; Context: the lock of the setup, @s->lock, is held */
bool tern_stream_is_free(const struct tern_stream *s);

/**
 * tern_stream_bind() - a startup begins for this stream
 * @s: stream
 * @user: endpoint
 *
 * Takes a reference on @user. Context: process. Return: 0, -EISCONN when the
 * stream has a user already or is not in IDLE.
 */
int tern_stream_bind(struct tern_stream *s, struct tern_stream_user *user);

/* the startup failed: forget @user (drops the reference); the stream stays IDLE */
void tern_stream_unbind(struct tern_stream *s, struct tern_stream_user *user);

/* end a startup in progress; Context: process, at most the lock of a context is held */
void tern_stream_abort_startup(struct tern_stream *s);

#endif /* TERN_USER_H */
