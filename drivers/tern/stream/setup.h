/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The setup of a stream: who connects it, what the program requests of the
 * connection, and what the last startup exchanged.
 */
#ifndef TERN_SETUP_H
#define TERN_SETUP_H

#include <linux/types.h>

#include "uapi/rdma/tern-abi.h"
#include "user.h"

struct tern_stream;

/**
 * struct tern_startup - the last startup of a stream, also when it failed
 * @own: our frame, raw
 * @peer: the peer's frame, raw
 * @initiator: @own is the Request
 * @retried: it is the plain attempt after an enhanced one
 * @terms: Terminates in place of our, or the peer's, first FPDU
 */
struct tern_startup {
	struct tern_mpa_side own;
	struct tern_mpa_side peer;
	bool initiator;
	bool retried;
	struct tern_stream_terms terms;
};

/**
 * struct tern_setup - who connects a stream, and how; it changes under the stream's
 * lock, struct tern_stream @lock, and is read without it where it cannot change
 * @user: the endpoint that connects or has connected the stream, with a reference
 * @options: what to use in place of the device's settings; they do not change while
 *	a @user is set
 * @report: the last startup, written by @user
 */
struct tern_setup {
	struct tern_stream_user *user;
	struct tern_qp_options options;
	struct tern_startup report;
};

/* @setup: zeroed */
void tern_setup_init(struct tern_setup *setup);

/* drop the reference on the user; Context: any, the stream has ended */
void tern_setup_exit(struct tern_setup *setup);

/**
 * tern_stream_set_options() - set the options of the next connection
 * @s: the stream
 * @options: checked
 *
 * Context: process. Return: 0, -EISCONN when a startup has begun.
 */
int tern_stream_set_options(struct tern_stream *s,
			    const struct tern_qp_options *options);

/* write a new report, or its @terms; Context: any in which a BH-safe lock may be taken */
void tern_stream_report(struct tern_stream *s, const struct tern_startup *report);
void tern_stream_report_terms(struct tern_stream *s,
			      const struct tern_stream_terms *terms);

#endif /* TERN_SETUP_H */
