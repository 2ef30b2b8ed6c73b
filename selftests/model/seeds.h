/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Runs of a random test, each with a seed. MODEL_SEED=n runs only that one,
 * MODEL_SEEDS=n at most n, MODEL_SECONDS=n runs more for that long.
 */
#ifndef TERN_MODEL_SEEDS_H
#define TERN_MODEL_SEEDS_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "env.h"

static inline u64 from_env(const char *name, u64 fallback)
{
	const char *v = getenv(name);

	return v ? strtoull(v, NULL, 0) : fallback;
}

/* run seeds 0 to @count - 1, or what the environment says, until one fails */
static inline void for_seeds(u64 count, bool (*run)(u64 seed))
{
	u64 most = from_env("MODEL_SEEDS", count);
	time_t end = time(NULL) + (time_t)from_env("MODEL_SECONDS", 0);
	u64 seed = 0;

	if (getenv("MODEL_SEED")) {
		run(from_env("MODEL_SEED", 0));
		return;
	}
	while ((seed < min(count, most) || time(NULL) < end) && run(seed))
		seed++;
	printf("# %llu seeds\n", (unsigned long long)seed);
}

#endif /* TERN_MODEL_SEEDS_H */
