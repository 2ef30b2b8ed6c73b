// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Counters of the core that QPs are bound to: `rdma statistic qp`. A stream counts through a
 * pointer, to the device's counters or to those of such a counter, so that a message costs the
 * same. The core shows the sum as the device's.
 *
 * Who counts holds the stream lock, or is in an RCU read-side section; so a grace period after
 * the pointer has changed nobody counts where it pointed before.
 */
#include "counter.h"

#include <rdma/rdma_counter.h>

#include "device/device.h"
#include "device/grace.h"
#include "stream/state.h"
#include "stream/stream.h"
#include "stream/table.h"
#include "qp.h"

/* newer cores call it; all that we have is made when the first QP is bound */
void tern_counter_init(struct rdma_counter *counter)
{
}

struct rdma_hw_stats *tern_counter_alloc_stats(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(tern_stat_descs, TERN_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static void free_counter(struct tern_counter *c)
{
	free_percpu(c->stats);
	kfree(c);
}

static struct tern_counter *new_counter(struct tern_device *dev, u32 *id)
{
	struct tern_counter *c = kzalloc_obj(*c, GFP_KERNEL);
	int ret = -ENOMEM;

	if (!c)
		return ERR_PTR(ret);
	c->stats = alloc_percpu(struct tern_stats);
	if (c->stats)
		ret = xa_alloc(&dev->counters, id, c, xa_limit_32b, GFP_KERNEL);
	if (ret) {
		free_counter(c);
		return ERR_PTR(ret);
	}
	return c;
}

/*
 * Let the QP count in @stats if it is bound to @from, of which nobody knows more. The core of
 * 6.12 may call us for a QP that tern_destroy_qp() has ended, but not for one that is freed.
 */
static int move(struct ib_qp *ibqp, struct rdma_counter *from, struct rdma_counter *to,
		struct tern_stats __percpu *stats)
{
	struct tern_stream *s = tern_stream_of(ibqp);
	int ret = 0;

	if (!tern_stream_try_get(s))
		return -ENOENT;
	tern_stream_lock(s);
	if (ibqp->counter == from) {
		WRITE_ONCE(s->stats, stats);
		WRITE_ONCE(ibqp->counter, to);
	} else {
		ret = -EINVAL;
	}
	tern_stream_unlock(s);
	tern_stream_put(s);
	return ret;
}

int tern_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct tern_device *dev = to_tern_dev(ibqp->device);
	bool first = !counter->id;
	struct tern_counter *c;
	int ret;

	lockdep_assert_held(&counter->lock);

	c = first ? new_counter(dev, &counter->id) : xa_load(&dev->counters, counter->id);
	if (IS_ERR(c))
		return PTR_ERR(c);
	ret = move(ibqp, NULL, counter, c->stats);
	/* the core frees a counter without its first QP, and calls us no more */
	if (ret && first) {
		xa_erase(&dev->counters, counter->id);
		counter->id = 0;
		free_counter(c);
	}
	return ret;
}

int tern_counter_unbind_qp(struct ib_qp *ibqp)
{
	struct tern_device *dev = to_tern_dev(ibqp->device);
	/* move() looks again */
	struct rdma_counter *counter = READ_ONCE(ibqp->counter);

	return counter ? move(ibqp, counter, NULL, dev->stats) : -EINVAL;
}

int tern_counter_update_stats(struct rdma_counter *counter)
{
	const struct tern_counter *c = xa_load(&to_tern_dev(counter->device)->counters,
					       counter->id);
	enum tern_stat id;

	lockdep_assert_held(&counter->lock);

	for (id = 0; id < TERN_STAT_COUNT; id++)
		counter->stats->value[id] = tern_stat_sum(c->stats, id);
	return 0;
}

/* no QP is bound to it any more, but a doorbell may still count */
int tern_counter_dealloc(struct rdma_counter *counter)
{
	struct tern_device *dev = to_tern_dev(counter->device);
	struct tern_counter *c;
	enum tern_stat id;

	tern_grace_period(dev, true);
	xa_lock(&dev->counters);
	c = __xa_erase(&dev->counters, counter->id);
	for (id = 0; id < TERN_STAT_COUNT; id++)
		dev->past.v[id] += tern_stat_sum(c->stats, id);
	xa_unlock(&dev->counters);
	free_counter(c);
	return 0;
}

void tern_counters_exit(struct tern_device *dev)
{
	struct tern_counter *c;
	unsigned long nr;

	/* the core of 6.12 leaves one if its last QP is bound while it is destroyed */
	xa_for_each(&dev->counters, nr, c)
		free_counter(c);
	xa_destroy(&dev->counters);
}
