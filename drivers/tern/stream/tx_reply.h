/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Responses to the peer's Reads and atomics. Context of all: the socket lock is held. */
#ifndef TERN_TX_REPLY_H
#define TERN_TX_REPLY_H

#include <linux/types.h>

struct tern_stream;

/**
 * tern_tx_start_response() - answer the peer's oldest Request
 * @s: attached, between two messages
 *
 * An atomic is performed here. If the memory may not be used any more, the stream ends
 * with a Terminate.
 *
 * Return: false when there is none to answer, or it failed.
 */
bool tern_tx_start_response(struct tern_stream *s);

/**
 * tern_tx_read_response() - check the source of the Response in progress, and copy from it
 * @s: its source is TERN_TX_RESPONSE
 * @dst: where to
 * @len: bytes
 *
 * All that is left of the source is checked, when it is opened: see tern_mem_open().
 *
 * Return: TERN_TERM_NONE, or the triplet when the memory may not be read any more.
 */
int tern_tx_read_response(struct tern_stream *s, u8 *dst, u32 len);

/**
 * tern_tx_response_failed() - a Response cannot be sent, or not to its end
 * @s: the peer's oldest Request is the one that it answers
 * @term: triplet of the Terminate, which names that Request
 * @done: bytes that were sent
 */
void tern_tx_response_failed(struct tern_stream *s, int term, u32 done);

#endif /* TERN_TX_REPLY_H */
