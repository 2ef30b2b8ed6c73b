/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * What both ends of a stream agree on by hello, and the wait of a request that needs it
 * (Documentation/wire.rst).
 */
#ifndef TERN_AGREE_H
#define TERN_AGREE_H

#include "core/hello.h"

struct tern_stream;
struct tern_wqe;

/**
 * struct tern_agree_options - what a stream may agree on
 * @extensions: enum tern_extensions
 * @features: enum tern_feature that are offered or granted
 * @max_fpdu: payload of a Send in a long FPDU; 0: send none that is longer than a segment
 * @wait_ms: time that a request waits for the result
 * @may_probe: the peer told how many Reads it takes
 */
struct tern_agree_options {
	u8 extensions;
	u16 features;
	u32 max_fpdu;
	u32 wait_ms;
	bool may_probe;
};

/**
 * struct tern_agree - the hello of one stream; guarded by the socket lock
 * @hello: its state
 * @max_fpdu: as in the options
 * @wait_ms: time that a request waits for the result
 * @deadline: jiffies when the wait ends, with @waiting
 * @waiting: a request waits
 * @probed: no hidden Read, which a peer must answer, is to be sent: it was, or may not
 */
struct tern_agree {
	struct tern_hello hello;
	u32 max_fpdu;
	u32 wait_ms;
	unsigned long deadline;
	bool waiting;
	bool probed;
};

/* the stream begins; its parameters are set */
void tern_agree_init(struct tern_stream *s, const struct tern_agree_options *opt);

/**
 * tern_agree_may_send() - may this entry be sent now?
 * @s: in RTS or CLOSING
 * @wqe: the entry at the head of the send queue
 *
 * If that is not known yet, the send engine runs again when it is, after
 * @s->agree.wait_ms at the latest. Context: the socket lock is held. Return: YES, NO, or
 * UNKNOWN: the entry waits.
 */
enum tern_hello_verdict tern_agree_may_send(struct tern_stream *s,
					    const struct tern_wqe *wqe);

/**
 * tern_agree_wants_probe() - send a Read of nothing, so that the peer says something?
 * @s: the entry at the head of its send queue waits
 */
bool tern_agree_wants_probe(const struct tern_stream *s);

/**
 * tern_agree_mulpdu() - largest ULPDU that may be sent now
 * @s: attached
 *
 * It changes with TCP's segment size, and once when both ends agreed on long FPDUs.
 */
u32 tern_agree_mulpdu(const struct tern_stream *s);

#endif /* TERN_AGREE_H */
