/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The streams of a device by their numbers, and references on them. */
#ifndef TERN_TABLE_H
#define TERN_TABLE_H

#include <linux/atomic.h>
#include <linux/xarray.h>

#include "queue/cq.h"

struct tern_stream;

/**
 * struct tern_stream_table - the streams of a device
 * @streams: QPN to struct tern_stream; read under RCU
 * @next_qpn: where the search for a free QPN continues
 * @next_serial: the last serial number given
 * @losses: moves those to ERROR one of whose CQs overflowed
 */
struct tern_stream_table {
	struct xarray streams;
	u32 next_qpn;
	atomic64_t next_serial;
	struct tern_cq_losses losses;
};

/* @table: zeroed */
void tern_stream_table_init(struct tern_stream_table *table);

/* warns when a stream is left in it; Context: process, no CQ of the device is left either */
void tern_stream_table_exit(struct tern_stream_table *table);

/**
 * tern_stream_new_serial() - a number that no other stream of the device ever has
 * @table: streams of the device
 *
 * Unlike the QPN and the address of a QP, which are used again.
 */
u64 tern_stream_new_serial(struct tern_stream_table *table);

/**
 * tern_stream_reserve() - reserve a QPN; tern_stream_find() does not find it yet
 * @table: the device's
 * @qpn: result
 *
 * Context: process, may sleep. Return: 0 or negative: all are taken, or -ENOMEM.
 */
int tern_stream_reserve(struct tern_stream_table *table, u32 *qpn);

/* enter @s at @s->qpn, reserved; Context: process. Return: 0 or negative */
int tern_stream_enter(struct tern_stream_table *table, struct tern_stream *s);

/*
 * Free @qpn, reserved or entered. A lookup that found the stream before may use
 * its memory until a grace period has passed, or as long as it has a reference.
 */
void tern_stream_remove(struct tern_stream_table *table, u32 qpn);

/* find a stream by number, with a reference; Context: any. Return: NULL if none */
struct tern_stream *tern_stream_find(struct tern_stream_table *table, u32 qpn);

/* likewise the one with the lowest number from @qpn on */
struct tern_stream *tern_stream_next(struct tern_stream_table *table, u32 qpn);

/* find a stream without a reference; Context: RCU read side */
static inline struct tern_stream *
tern_stream_peek(struct tern_stream_table *table, u32 qpn)
{
	return xa_load(&table->streams, qpn);
}

/* Context: any. The last put calls struct tern_stream_ops @released */
void tern_stream_get(struct tern_stream *s);
/* of one whose memory stays. Return: false if the last reference is gone */
bool tern_stream_try_get(struct tern_stream *s);
void tern_stream_put(struct tern_stream *s);

#endif /* TERN_TABLE_H */
