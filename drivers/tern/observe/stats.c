// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Counters of a device: per CPU, and summed up when they are read. */
#include "stats.h"

#include "core/term.h"

const struct rdma_stat_desc tern_stat_descs[] = {
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

void tern_stat_term(struct tern_stats __percpu *stats, int code)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (terms[i].code == code)
			this_cpu_inc(stats->v[terms[i].stat]);
}

u64 tern_stat_sum(const struct tern_stats __percpu *stats, enum tern_stat id)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(per_cpu_ptr(stats, cpu)->v[id]);
	return total;
}
