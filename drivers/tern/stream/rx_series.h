/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The short way of the FPDUs in the middle of a long message. */
#ifndef TERN_RX_SERIES_H
#define TERN_RX_SERIES_H

struct tern_fpdu;
struct tern_stream;

/**
 * tern_rx_expect() - what follows the segment that was handled last
 * @s: stream; @s->rx.seg was placed and taken by tern_ddp_advance(), and is not the last of
 *	its message
 * @f: its FPDU
 *
 * Context: the socket lock is held.
 */
void tern_rx_expect(struct tern_stream *s, const struct tern_fpdu *f);

/**
 * tern_rx_take_series() - take the FPDUs at the cursor that are what is expected
 * @s: stream
 * @len: stop after this many bytes; the last FPDU may go beyond them
 *
 * What is not, or fails in any way, changes nothing: the long way finds out why. Stops when the
 * budget of the run is used up.
 *
 * Context: the socket lock and rcu_read_lock() are held. Return: bytes of the FPDUs taken.
 */
u32 tern_rx_take_series(struct tern_stream *s, u32 len);

#endif /* TERN_RX_SERIES_H */
