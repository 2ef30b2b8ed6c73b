/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * How many RDMA Reads are under way at once: IRD and ORD as they show on the wire
 * (RFC 6581 9.1).
 */
#ifndef INFLIGHT_H
#define INFLIGHT_H

#include "meet.h"

/*
 * TCP settings of our end with which a large Response stays with the device: a small
 * window, and segments of such a size that TCP takes little ahead, on any link
 */
#define NARROW_TCP	{ .rcvbuf = 8192, .mss = 1400 }

/*
 * Build @n Read Requests of @size bytes each from @mr, to be sent in one go. @out has
 * room for READS_MAX(@n). Return: their bytes.
 */
size_t build_reads(struct peer *p, const struct agent_mr *mr, int n, uint32_t size,
		   void *out);
#define READS_MAX(n)	((n) * 128)

/* the Responses to the Reads with MSN @msn to @msn + @n - 1 come, whole and in order */
void must_get_responses(struct peer *p, uint32_t msn, int n, uint32_t size);

/* @n small Reads in one burst are answered */
void must_serve_reads(struct peer *p, int n);

/*
 * The device takes exactly @n Reads at once: while @n are under way one more is an
 * error, after the first Response it is not. Ends the connection. @m->tcp is
 * NARROW_TCP.
 */
void must_have_ird(struct meeting *m, int n);

/*
 * When more Reads are posted, exactly @n of them are under way at once; all are
 * answered in the end.
 */
void must_have_ord(struct meeting *m, int n);

#endif /* INFLIGHT_H */
