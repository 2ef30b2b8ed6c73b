// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Streams by number, and their references. A QP's number is its stream's: the
 * core, the doorbell and the connection manager find the stream by it.
 */
#include "table.h"

#include <linux/rcupdate.h>

#include "stream.h"

/* QPNs 0 and 1 are special in InfiniBand */
#define QPN_LIMIT	XA_LIMIT(2, 0xffffff)

/* what a CQ lost cannot be made good: each stream that completes there ends */
static void end_overflowed(struct work_struct *work)
{
	struct tern_stream_table *table =
		container_of(to_delayed_work(work), struct tern_stream_table, losses.work);
	struct tern_stream *s;
	u32 qpn = 0;

	WRITE_ONCE(table->losses.not_before, jiffies + TERN_CQ_LOSS_PAUSE);
	while ((s = tern_stream_next(table, qpn))) {
		if (READ_ONCE(s->sq.cq->overflow) || READ_ONCE(s->rq.cq->overflow))
			tern_stream_fatal(s);
		qpn = s->qpn + 1;
		tern_stream_put(s);
		cond_resched();
	}
}

void tern_stream_table_init(struct tern_stream_table *table)
{
	xa_init_flags(&table->streams, XA_FLAGS_ALLOC1);
	INIT_DELAYED_WORK(&table->losses.work, end_overflowed);
	table->losses.not_before = jiffies;
}

void tern_stream_table_exit(struct tern_stream_table *table)
{
	cancel_delayed_work_sync(&table->losses.work);
	WARN_ON(!xa_empty(&table->streams));
	xa_destroy(&table->streams);
}

u64 tern_stream_new_serial(struct tern_stream_table *table)
{
	return atomic64_inc_return(&table->next_serial);
}

int tern_stream_reserve(struct tern_stream_table *table, u32 *qpn)
{
	int ret = xa_alloc_cyclic(&table->streams, qpn, NULL, QPN_LIMIT,
				  &table->next_qpn, GFP_KERNEL);

	/* 1 says that the numbers have wrapped */
	return min(ret, 0);
}

int tern_stream_enter(struct tern_stream_table *table, struct tern_stream *s)
{
	return xa_err(xa_store(&table->streams, s->qpn, s, GFP_KERNEL));
}

void tern_stream_remove(struct tern_stream_table *table, u32 qpn)
{
	xa_erase(&table->streams, qpn);
}

bool tern_stream_try_get(struct tern_stream *s)
{
	return kref_get_unless_zero(&s->ref);
}

/* tern_qp_leaves() waits for a grace period after tern_stream_remove() */
struct tern_stream *tern_stream_find(struct tern_stream_table *table, u32 qpn)
{
	struct tern_stream *s;

	rcu_read_lock();
	s = tern_stream_peek(table, qpn);
	if (s && !tern_stream_try_get(s))
		s = NULL;
	rcu_read_unlock();
	return s;
}

struct tern_stream *tern_stream_next(struct tern_stream_table *table, u32 qpn)
{
	unsigned long at = qpn;
	struct tern_stream *s;

	rcu_read_lock();
	s = xa_find(&table->streams, &at, ULONG_MAX, XA_PRESENT);
	while (s && !tern_stream_try_get(s))
		s = xa_find_after(&table->streams, &at, ULONG_MAX, XA_PRESENT);
	rcu_read_unlock();
	return s;
}

static void release_stream(struct kref *ref)
{
	struct tern_stream *s = container_of(ref, struct tern_stream, ref);

	s->ops->released(s);
}

void tern_stream_get(struct tern_stream *s)
{
	kref_get(&s->ref);
}

void tern_stream_put(struct tern_stream *s)
{
	kref_put(&s->ref, release_stream);
}
