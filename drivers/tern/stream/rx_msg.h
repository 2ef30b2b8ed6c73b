/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Messages of the peer. Context of all: the socket lock is held. */
#ifndef TERN_RX_MSG_H
#define TERN_RX_MSG_H

#include <linux/types.h>

struct tern_fpdu;
struct tern_rx;
struct tern_seg;
struct tern_stream;

/**
 * tern_rx_take_buffer() - RFC 5041 7.1: does the segment have a buffer, and fit into it?
 * @s: stream
 * @seg: untagged, of which tern_ddp_segment() found no fault
 *
 * The first segment of a Send, or Immediate Data, takes a receive entry. Return:
 * TERN_TERM_NONE or the triplet.
 */
int tern_rx_take_buffer(struct tern_stream *s, const struct tern_seg *seg);

/**
 * tern_rx_message() - place a segment; after the last one, deliver the message
 * @s: stream
 * @f: its FPDU, @s->rx.cur
 * @seg: of which tern_rdmap_segment() found no fault; not of a Write, which rx.c places
 *
 * Return: TERN_TERM_NONE or the triplet.
 */
int tern_rx_message(struct tern_stream *s, const struct tern_fpdu *f,
		    const struct tern_seg *seg);

/**
 * tern_rx_rtr_of() - the RTR that an FPDU is
 * @rx: of the stream
 * @f: whole and verified
 *
 * Return: enum tern_mpa_rtr, NONE for any other FPDU.
 */
u8 tern_rx_rtr_of(const struct tern_rx *rx, const struct tern_fpdu *f);

#endif /* TERN_RX_MSG_H */
