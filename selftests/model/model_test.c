// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Random traffic between two cores, also with damaged bytes. A run that fails prints its
 * seed: MODEL_SEED=n runs only that one, MODEL_SEEDS=n at most n, MODEL_SECONDS=n runs
 * more for that long.
 */
#include <stdlib.h>
#include <time.h>

#include "tap.h"
#include "world.h"

static u64 from_env(const char *name, u64 fallback)
{
	const char *v = getenv(name);

	return v ? strtoull(v, NULL, 0) : fallback;
}

static struct setup setup_of(u64 seed)
{
	static const u8 sets[] = { 0, TERN_OPS_7306, TERN_OPS_7306 | TERN_OPS_V2 };

	return (struct setup){
		.crc = seed & 1,
		.markers = { seed & 2, seed & 4 },
		.version = seed % 16 == 13 ? 0 : 1,
		.sets = seed % 16 == 13 ? 0 : sets[seed / 16 % 3],
		.late_msn = seed & 8,
	};
}

/* report the result of a run and free its world */
static bool settle(struct world *w, u64 seed)
{
	if (test_failures)
		printf("# MODEL_SEED=%llu\n", (unsigned long long)seed);
	world_free(w);
	return !test_failures;
}

/* run seeds 0 to @count - 1, or what the environment says, until one fails */
static void for_seeds(u64 count, bool (*run)(u64 seed))
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

static bool traffic(u64 seed)
{
	struct setup how = setup_of(seed);
	struct world *w = world_new(seed, &how);

	world_run(w, 1200);
	world_drain(w);
	world_check_done(w);
	return settle(w, seed);
}

TEST(model__random_traffic_arrives_intact,
	"DDP-004 DDP-014 DDP-015 DDP-018 DDP-020 DDP-032 DDP-035 DDP-040 "
	"DDP-046 DDP-047 DDP-055 DDP-056 DDP-059 DDP-060 DDP-061 "
	"RDMAP-022 RDMAP-036 RDMAP-037 RDMAP-049 RDMAP-053 RDMAP-056 "
	"RDMAP-061 RDMAP-062 RDMAP-067 RDMAP-069 RDMAP-078 "
	"RFC 7306 5 RFC 7306 6 rdmap-ext-v2 "
	"MPA-010 MPA-034 MPA-053 MPA-063 MPA-068 MPA-086 MPA-225")
{
	for_seeds(250, traffic);
}

/* the FPDU that byte @at of the pipe belongs to */
static u32 fpdu_of(const struct host *h, u32 at, u32 *start)
{
	u32 k = 0;

	*start = 0;
	for (; h->rec[k].end <= at; k++)
		*start = h->rec[k].end;
	return k;
}

/* send enough bytes for any length that a flipped bit can produce */
static void flood(struct host *h)
{
	u32 goal = h->pipe_len + TERN_FPDU_MAX + 100;

	while (h->pipe_len < goal && !test_failures) {
		struct region *big = &h->peer->sh.region[R_BIG];
		struct msg *m = host_new_msg(h, TERN_OP_WRITE, 60000);

		m->target = big;
		tern_rdmap_build_write(&m->tx, h->version, big->stag,
				       big->view.base, 60000);
		host_queue(h, m);
		while (h->lane[0] || h->lane[1])
			host_emit(h);
	}
}

struct damage {
	u32 at;
	u8 mask;
};

/*
 * Run until end 0 has sent bytes that end 1 has not seen, and flip one bit of the byte
 * that @pick chooses.
 */
static struct world *damaged(u64 seed, const struct setup *how,
			     u32 (*pick)(struct host *h, struct rng *r),
			     struct damage *dmg)
{
	struct world *w = world_new(seed, how);
	struct host *h = &w->end[0];

	world_run(w, 100 + rng_below(&w->r, 300));
	flood(h);
	dmg->at = pick(h, &w->r);
	dmg->mask = (u8)(1 << rng_below(&w->r, 8));
	h->pipe[dmg->at] ^= dmg->mask;
	return w;
}

static u32 pick_any(struct host *h, struct rng *r)
{
	return h->visible + rng_below(r, h->pipe_len - h->visible -
				      TERN_FPDU_MAX - 50);
}

static bool flip(u64 seed)
{
	struct setup how = setup_of(seed | 1);
	u32 start, bad, off;
	struct damage dmg;
	struct world *w = damaged(seed, &how, pick_any, &dmg);
	struct host *h = &w->end[0];
	int term;

	bad = fpdu_of(h, dmg.at, &start);
	flood(h);
	world_drain(w);
	term = h->peer->sh.term;
	off = dmg.at - start - (how.markers[0] && start % 512 == 0 ? 4 : 0);
	/* a length over the limit is reported before the CRC is checked */
	expect(term == TERN_TERM_MPA_CRC || (off < 2 && term == TERN_TERM_MPA_MARKER));
	expect_eq(h->peer->sh.accepted, bad);
	world_check_memory(w);
	return settle(w, seed);
}

TEST(model__flipped_bit_ends_the_stream_and_places_nothing,
	"MPA-050 MPA-066 MPA-068 DDP-007 DDP-092 DDP-094 R4 R8")
{
	for_seeds(250, flip);
}

/* one of the two pointer bytes of a marker */
static u32 pick_marker(struct host *h, struct rng *r)
{
	u32 at = pick_any(h, r);

	return ((at + 511) & ~511u) + 2 + rng_below(r, 2);
}

static bool flip_marker(u64 seed)
{
	struct setup how = setup_of(seed);
	struct damage dmg;
	struct world *w;
	u32 start, bad;

	how.crc = false;
	how.markers[0] = true;
	w = damaged(seed, &how, pick_marker, &dmg);
	bad = fpdu_of(&w->end[0], dmg.at, &start);
	world_drain(w);
	/* MPA-023: the low two bits of a marker's pointer are ignored */
	if (dmg.at % 512 == 3 && dmg.mask < 4) {
		world_check_done(w);
	} else {
		expect_eq(w->end[1].sh.term, TERN_TERM_MPA_MARKER);
		expect_eq(w->end[1].sh.accepted, bad);
		world_check_memory(w);
	}
	return settle(w, seed);
}

TEST(model__damaged_marker_ends_the_stream_and_places_nothing,
	"MPA-023 MPA-065 MPA-066 R5")
{
	for_seeds(100, flip_marker);
}

/* the stream ends at any byte: an incomplete FPDU is not placed */
static bool cut(u64 seed)
{
	struct setup how = setup_of(seed);
	struct world *w = world_new(seed, &how);
	struct host *h = &w->end[0];
	u32 start;

	world_run(w, 400);
	flood(h);
	h->pipe_len = pick_any(h, &w->r);
	while (h->visible < h->pipe_len && !test_failures)
		host_arrive(h);
	expect_eq(h->peer->sh.term, TERN_TERM_NONE);
	expect_eq(h->peer->sh.accepted, fpdu_of(h, h->pipe_len, &start));
	world_check_memory(w);
	return settle(w, seed);
}

TEST(model__cut_stream_places_whole_fpdus_only, "MPA-068 DDP-061 Q27")
{
	for_seeds(60, cut);
}
