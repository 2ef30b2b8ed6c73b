// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * IBV_ATOMIC_GLOB: atomics are exact against those of other QPs, PDs and devices, and
 * against the CPU's own. Eight QPs, each in a PD of its own, four of them with a's device
 * as the target and four with b's, have two words as their target, which this program
 * changes too. No operation may be lost: each word has the exact sum at the end, and no QP
 * sees the count that it adds to go back.
 *
 *	word 0, bits 0 to 31:	FetchAdd of three QPs, masked FetchAdd of two, __atomic_*
 *	bits 32 to 47:		the same masked FetchAdds: a field of its own
 *	bits 48 to 63:		masked CmpSwap of one QP, which owns these bits
 *	word 1:			CmpSwap loops of two QPs, and of this program
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ext.h"

#define RACERS		8
#define DEPTH		16		/* atomics of a QP at once */
#define LOW		0xffffffffull
#define FIELDS		0x8000800080000000ull	/* the highest bit of each */
#define OWN		0xffff000000000000ull
#define OWN_ONE		0x0001000000000000ull
#define BURST		65536
#define MOST		0x80000000ull	/* operations of the program: no carry out of bit 31 */

enum role { ADDS, ADDS_MASKED, SWAPS_OWN, SWAPS_LOOP };

/**
 * struct racer - a QP with its atomics
 * @role: what it does
 * @from: its end
 * @to: the other one, whose device does the atomics
 * @peer: both, of one connection
 * @mr: the words, in @to's PD
 * @base: where @mr has them: one of two mappings
 * @posted: operations
 * @done: those that have completed
 * @swapped: CmpSwaps that found what they compare with
 * @guess: CmpSwap: the word, as it was last seen
 * @last: FetchAdd: the count that was last seen, and 1
 */
struct racer {
	enum role role;
	struct end *from;
	struct end *to;
	struct end peer[2];
	struct ibv_mr *mr;
	uint64_t *base;
	uint64_t posted;
	uint64_t done;
	uint64_t swapped;
	uint64_t guess;
	uint64_t last;
};

static struct racer racers[RACERS];
static uint64_t each;			/* operations of a racer */
static uint64_t *words[2];		/* the same memory, mapped twice */
static uint64_t cpu_adds, cpu_swaps;	/* of the program */
static bool over;			/* all racers are done */

static const enum role roles[RACERS] = {
	ADDS, ADDS_MASKED, SWAPS_LOOP, ADDS, ADDS, ADDS_MASKED, SWAPS_LOOP, SWAPS_OWN,
};

/* ---- the racers ---------------- */

static void post_add(struct ibv_qp_ex *qp, const struct racer *r, uint64_t addr)
{
	if (r->role == ADDS)
		ibv_wr_atomic_fetch_add(qp, r->mr->rkey, addr, 1);
	else
		ext.fetch_add(qp, r->mr->rkey, addr, 1ull << 32 | 1, FIELDS);
}

static void post_swap(struct ibv_qp_ex *qp, const struct racer *r, uint64_t addr)
{
	struct terndv_cmp_swap own = {
		.compare = r->guess, .compare_mask = OWN,
		.swap = r->guess + OWN_ONE, .swap_mask = OWN,
	};

	if (r->role == SWAPS_LOOP)
		ibv_wr_atomic_cmp_swp(qp, r->mr->rkey, addr + 8, r->guess, r->guess + 1);
	else
		ext.cmp_swap(qp, r->mr->rkey, addr, &own);
}

static bool is_adder(const struct racer *r)
{
	return r->role == ADDS || r->role == ADDS_MASKED;
}

static void post_one(struct racer *r)
{
	unsigned int slot = r->posted % DEPTH;
	struct ibv_qp_ex *qp = batch(r->from, slot, IBV_SEND_SIGNALED);
	uint64_t addr = (uintptr_t)r->base;

	if (is_adder(r))
		post_add(qp, r, addr);
	else
		post_swap(qp, r, addr);
	ibv_wr_set_sge(qp, r->from->mr->lkey, word_at(r->from, slot), 8);
	must_eq(ibv_wr_complete(qp), 0);
	r->posted++;
}

/* a CmpSwap needs the result of the one before */
static void post_more(struct racer *r)
{
	uint64_t depth = is_adder(r) ? DEPTH : 1;

	while (r->posted < each && r->posted - r->done < depth)
		post_one(r);
}

static void saw_count(struct racer *r, uint64_t old)
{
	must((old & LOW) >= r->last, "%llu after %llu", (unsigned long long)(old & LOW),
	     (unsigned long long)r->last);
	r->last = (old & LOW) + 1;
}

static void saw_word(struct racer *r, uint64_t old)
{
	uint64_t mask = r->role == SWAPS_OWN ? OWN : UINT64_MAX, one = mask & -mask;

	if (((old ^ r->guess) & mask) == 0) {
		r->swapped++;
		r->guess = old + one;
	} else {
		must(r->role == SWAPS_LOOP, "bits of one QP were changed by others");
		r->guess = old;
	}
}

static int take_results(struct racer *r)
{
	struct ibv_wc wc[DEPTH];
	int n = ibv_poll_cq(r->from->scq, DEPTH, wc), i;

	for (i = 0; i < n; i++, r->done++) {
		uint64_t old = *word(r->from, wc[i].wr_id);

		must_eq(wc[i].status, IBV_WC_SUCCESS);
		if (is_adder(r))
			saw_count(r, old);
		else
			saw_word(r, old);
	}
	return n;
}

/* ---- threads ---------------- */

/* every second racer, until all of those are done */
static void *drive(void *arg)
{
	time_t end = time(NULL) + 2 * each / 1000 + patience_ms() / 100;
	struct racer *r;
	bool left = true;
	int n;

	while (left) {
		must(time(NULL) < end, "the storm does not end");
		left = false;
		n = 0;
		for (r = arg; r < racers + RACERS; r += 2) {
			post_more(r);
			n += take_results(r);
			left |= r->done < each;
		}
		if (!n)
			sched_yield();
	}
	return NULL;
}

/*
 * Atomics of the CPU as long as there are others. Bursts are long: an operation of the
 * kernel that is not atomic loses one only if both run at the same moment.
 */
static void *compute(void *arg)
{
	uint64_t *word = arg, value;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		if (cpu_adds < MOST) {
			__atomic_fetch_add(&word[0], 1, __ATOMIC_RELAXED);
			cpu_adds++;
		}
		if (cpu_adds % 1024)
			continue;
		value = __atomic_load_n(&word[1], __ATOMIC_RELAXED);
		cpu_swaps += __atomic_compare_exchange_n(&word[1], &value, value + 1, false,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (cpu_adds % BURST == 0)
			sched_yield();
	}
	return NULL;
}

static void run(void)
{
	pthread_t driver[2], program;
	int i;

	must(!pthread_create(&program, NULL, compute, words[0]));
	for (i = 0; i < 2; i++)
		must(!pthread_create(&driver[i], NULL, drive, racers + i));
	for (i = 0; i < 2; i++)
		must(!pthread_join(driver[i], NULL));
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	must(!pthread_join(program, NULL));
}

/* ---- the words ---------------- */

static void map_words(void)
{
	int fd = memfd_create("words", MFD_CLOEXEC), i;

	must(fd >= 0);
	must(!ftruncate(fd, 4096));
	for (i = 0; i < 2; i++) {
		words[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		must(words[i] != MAP_FAILED);
	}
	close(fd);
}

static void racer_up(struct racer *r, int i)
{
	struct want want = extended;

	want.ird = DEPTH;
	want.ord = DEPTH;
	want.buf_len = 4096;
	connect_ends(&r->peer[0], &r->peer[1], IP_A, IP_B, &want, &want);
	r->role = roles[i];
	r->from = &r->peer[i >= RACERS / 2];
	r->to = &r->peer[i < RACERS / 2];
	r->base = words[i % 2];
	r->mr = ibv_reg_mr(r->to->pd, r->base, 4096, IBV_ACCESS_LOCAL_WRITE | ATOMIC);
	must(r->mr);
}

static void racer_down(struct racer *r)
{
	must(!ibv_dereg_mr(r->mr));
	end_free(&r->peer[0]);
	end_free(&r->peer[1]);
}

static uint64_t total(enum role role, bool swapped)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < RACERS; i++) {
		if (racers[i].role == role)
			n += swapped ? racers[i].swapped : racers[i].done;
	}
	return n;
}

static void expect_exact(const uint64_t *word)
{
	uint64_t masked = total(ADDS_MASKED, false);
	uint64_t own = total(SWAPS_OWN, true), loops = total(SWAPS_LOOP, true);

	expect_eq(word[0] & LOW, cpu_adds + total(ADDS, false) + masked);
	expect_eq(word[0] >> 32 & 0xffff, masked & 0xffff);
	expect_eq(word[0] >> 48, own & 0xffff);
	expect_eq(own, each);
	expect_eq(word[1], cpu_swaps + loops);
	printf("#   %llu operations of a QP; loops: %llu swaps; the program: %llu, %llu\n",
	       (unsigned long long)each, (unsigned long long)loops,
	       (unsigned long long)cpu_adds, (unsigned long long)cpu_swaps);
}

static void storm(void)
{
	const char *count = getenv("TERN_SET_STORM");
	int i;

	each = count ? strtoull(count, NULL, 0) : 10000;
	map_words();
	for (i = 0; i < RACERS; i++)
		racer_up(&racers[i], i);
	run();
	expect_exact(words[1]);
	expect(total(SWAPS_LOOP, true) > 0 && cpu_adds > each && cpu_swaps > 0);
	for (i = 0; i < RACERS; i++)
		racer_down(&racers[i]);
}

static const struct tap_test tests[] = {
	{ "atomic__storm_of_qps_pds_devices_and_the_program", storm, 60 },
};

const struct tap_theme storm_theme = { tests, ARRAY_LEN(tests) };
