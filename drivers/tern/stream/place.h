/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Placement: copy the payload of a verified FPDU to the memory it is for. */
#ifndef TERN_PLACE_H
#define TERN_PLACE_H

#include "core/ddp.h"
#include "core/fpdu_rx.h"
#include "skb_cursor.h"

struct tern_stream;
struct tern_scope;
struct tern_sgl;

/**
 * struct tern_place_src - where the payload is
 * @fpdu: the FPDU
 * @at: its first byte in the receive queue
 * @seg: its segment; the payload starts at @seg->hdr_len
 */
struct tern_place_src {
	const struct tern_fpdu *fpdu;
	struct tern_skb_cursor at;
	const struct tern_seg *seg;
};

/**
 * tern_place_write() - check a segment of an RDMA Write (RFC 5041 7.1), then
 * copy
 * @s: stream
 * @src: payload
 *
 * Context: the socket lock is held. Return: TERN_TERM_NONE, or the triplet to
 * send, with nothing written.
 */
int tern_place_write(struct tern_stream *s, const struct tern_place_src *src);

/**
 * tern_place_sgl() - copy a segment of a Send or a Read Response
 * @s: attached
 * @src: payload
 * @scope: keys that @sgl may name
 * @sgl: scatter list, positioned where the payload goes; moves on
 *
 * Return: 0, or the error of tern_sgl_write().
 */
int tern_place_sgl(struct tern_stream *s, const struct tern_place_src *src,
		   const struct tern_scope *scope, struct tern_sgl *sgl);

#endif /* TERN_PLACE_H */
