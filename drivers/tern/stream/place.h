/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Placement: copy the payload of a verified FPDU to the memory it is for. */
#ifndef TERN_PLACE_H
#define TERN_PLACE_H

struct tern_stream;
struct tern_scope;
struct tern_sgl;

/*
 * Both place the segment @s->rx.seg of the verified FPDU @s->rx.cur. @s->rx.payload is
 * at the FPDU's first byte before, and is moved unless the FPDU is in one piece (@s->rx.whole).
 */

/**
 * tern_place_write() - check a segment of an RDMA Write (RFC 5041 7.1), then
 * copy
 * @s: stream
 *
 * Context: the socket lock is held. Return: TERN_TERM_NONE, or the triplet to
 * send, with nothing written.
 */
int tern_place_write(struct tern_stream *s);

/**
 * tern_place_sgl() - copy a segment of a Send or a Read Response
 * @s: attached
 * @scope: keys that @sgl may name
 * @sgl: scatter list, positioned where the payload goes; moves on
 *
 * Context: the socket lock is held. Return: 0, or the error of tern_sgl_write().
 */
int tern_place_sgl(struct tern_stream *s, const struct tern_scope *scope,
		   struct tern_sgl *sgl);

#endif /* TERN_PLACE_H */
