// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Counters, summed up when they are read. */
#include "stats.h"

#include <rdma/ib_verbs.h>

#include "core/term.h"
#include "device.h"

static const struct rdma_stat_desc descs[] = {
#define X(id, text, event) [TERN_STAT_##id] = { .name = text },
	TERN_STATS(X)
#undef X
#define X(id, tail) [TERN_STAT_TERM_SENT_##id] = { .name = "term_sent_" tail },
	TERN_TERM_STATS(X)
#undef X
};

static const struct {
	int code;
	enum tern_stat stat;
} terms[] = {
#define X(id, tail) { TERN_TERM_##id, TERN_STAT_TERM_SENT_##id },
	TERN_TERM_STATS(X)
#undef X
};

void tern_stat_term(struct tern_device *dev, int code)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (terms[i].code == code)
			this_cpu_inc(dev->stats->v[terms[i].stat]);
}

static u64 sum(const struct tern_device *dev, enum tern_stat id)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(per_cpu_ptr(dev->stats, cpu)->v[id]);
	return total;
}

struct rdma_hw_stats *tern_alloc_hw_port_stats(struct ib_device *ibdev,
					       u32 port_num)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int tern_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		      u32 port_num, int index)
{
	const struct tern_device *dev = to_tern_dev(ibdev);
	enum tern_stat id;

	if (!port_num)
		return -EOPNOTSUPP;
	for (id = 0; id < TERN_STAT_COUNT; id++)
		stats->value[id] = sum(dev, id);
	return TERN_STAT_COUNT;
}
