/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Our oldest outstanding Read, which the next Read Response has to fit. */
#ifndef TERN_CORE_READ_OPEN_H
#define TERN_CORE_READ_OPEN_H

#include "ddp.h"

/**
 * struct tern_read_open - our oldest outstanding Read
 * @stag: sink STag that the Request named
 * @to: its sink TO
 * @len: bytes asked for
 * @got: bytes received
 */
struct tern_read_open {
	u32 stag;
	u64 to;
	u32 len;
	u32 got;
};

/**
 * tern_read_match() - does a Read Response segment fit the oldest open Read?
 * @open: NULL when no Read is open
 * @seg: the segment
 *
 * The segment has to continue the oldest Read in STag, offset and length (Q11).
 * Return: TERN_TERM_NONE or the triplet.
 */
int tern_read_match(const struct tern_read_open *open,
		    const struct tern_seg *seg);

#endif /* TERN_CORE_READ_OPEN_H */
