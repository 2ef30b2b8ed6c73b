/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The scope of a QP: which keys it and its peer may use, and which they may
 * invalidate.
 */
#ifndef TERN_SCOPE_H
#define TERN_SCOPE_H

#include <linux/types.h>

struct ib_pd;
struct tern_mem_map;
struct tern_mem_table;
struct tern_mem_view;

/**
 * struct tern_scope - the keys that a QP and its peer may use
 * @keys: the device's table
 * @pd: keys of other protection domains are refused
 * @stream: serial number of the stream, never 0: a key that belongs to another stream
 *	is refused to the peer of this one
 * @kernel: of a kernel user: lkey 0 is local_dma_lkey
 *
 * A QP has its scopes from creation to its end, unchanged.
 */
struct tern_scope {
	struct tern_mem_table *keys;
	struct ib_pd *pd;
	u64 stream;
	bool kernel;
};

/*
 * What tern_mem_check() needs to check a use by the peer of @stream; 0: by a work
 * request of any QP of @pd, also if the map is for one stream.
 */
void tern_mem_view(const struct tern_mem_map *map, const struct ib_pd *pd,
		   u64 stream, struct tern_mem_view *view);

/* likewise, with @view->skew, which only TERN_USE_ATOMIC needs */
void tern_mem_view_atomic(const struct tern_mem_map *map, const struct ib_pd *pd,
			  u64 stream, struct tern_mem_view *view);

/**
 * tern_mem_invalidate_local() - execute LOCAL_INV or the end of READ_WITH_INV
 * @scope: of the QP that executes it
 * @stag: fast-registration MR of the QP's PD, or type 2 window bound to the QP;
 *	it may be invalid already
 *
 * Context: any but hard interrupt. Return: 0 or -EINVAL.
 */
int tern_mem_invalidate_local(const struct tern_scope *scope, u32 stag);

/**
 * tern_mem_invalidate_remote() - the peer sent SEND_WITH_INV
 * @scope: of the QP that received it
 * @stag: what the peer named: it must be valid, of the QP's PD, and registered
 *	or bound through this QP
 *
 * Context: as above. Return: 0 or -EINVAL (TERN_TERM_RP_CANT_INV is due).
 */
int tern_mem_invalidate_remote(const struct tern_scope *scope, u32 stag);

#endif /* TERN_SCOPE_H */
