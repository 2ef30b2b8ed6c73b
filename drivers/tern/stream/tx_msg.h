/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Which message the send engine sends next, and its headers. */
#ifndef TERN_TX_MSG_H
#define TERN_TX_MSG_H

#include <linux/types.h>

#include "core/rdmap.h"

struct tern_stream;

/* versions of the next message; Context: the socket lock is held */
struct tern_rdmap_version tern_tx_version(const struct tern_stream *s);

/**
 * tern_tx_start_message() - set s->tx.msg and s->tx.source up
 * @s: attached, between two messages
 *
 * A Terminate goes first, the RTR and a hello before what the ULP sends; Responses and
 * send queue entries take turns. An entry that fails is completed here. Sets
 * s->tx.stalled when the entry at the head has to wait, and s->tx.yielded
 * when the burst has to be sent before the next message, or too many entries sent
 * nothing; the caller clears both at the beginning of a burst. Context: the socket
 * lock is held. Return: false when nothing is to be sent now.
 */
bool tern_tx_start_message(struct tern_stream *s);

#endif /* TERN_TX_MSG_H */
