// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The hello between two ends: whatever the order in which both send and read, the
 * version and the set of opcodes of each message are known to its receiver, both ends
 * agree on what both have, and no request waits for ever. And between one end and a
 * peer that says anything at any time.
 */
#include "seeds.h"
#include "tap.h"
#include "talk.h"
#include "util.h"

/* ---- all orders ------------------------------------------------------------------- */

#define SEEN	(1u << 16)

static u64 seen[SEEN];
static u32 seen_count;
static u64 worlds;	/* situations looked at */

static u64 hash(const void *data, size_t len)
{
	const u8 *p = data;
	u64 h = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	return h | 1;
}

static u64 hash_end(const struct talk_end *e)
{
	u64 h = hash(e, offsetof(struct talk_end, pipe));

	return h * 31 + hash(e->pipe, e->piped * sizeof(e->pipe[0]));
}

static bool is_new(const struct talk *t)
{
	u64 h = (hash_end(&t->end[0]) * 31 + hash_end(&t->end[1]) * 17 + t->timed_out) | 1;
	u32 at = (u32)(h >> 20) % SEEN;

	while (seen[at] && seen[at] != h)
		at = (at + 1) % SEEN;
	if (seen[at])
		return false;
	seen[at] = h;
	must(++seen_count < SEEN / 2);
	return true;
}

static void explore(const struct talk *t)
{
	bool moved = false;
	struct talk next;

	if (test_failures || !is_new(t))
		return;
	worlds++;
	for (int step = 0; step < TALK_STEPS * 2; step++) {
		next = *t;
		if (!talk_step(&next, step & 1, step / 2))
			continue;
		moved = true;
		explore(&next);
	}
	if (!moved)
		talk_check_end(t);
}

static void explore_all(const struct talk *t)
{
	memset(seen, 0, sizeof(seen));
	seen_count = 0;
	explore(t);
}

static const u8 sets[] = { TERN_OPS_BASE, TERN_OPS_7306, TERN_OPS_V2 };

/* @n: in base 3 the sets of the messages of both programs, each with a Response */
static void add_programs(struct talk *t, u32 n, u32 each)
{
	for (u32 i = 0; i < 2 * each; i++, n /= ARRAY_SIZE(sets)) {
		struct talk_msg m = { .asks = true, .fpdus = 1 + (i & 1) };

		m.set = sets[n % ARRAY_SIZE(sets)];
		talk_add(&t->end[i / each], m);
	}
}

static struct tern_hello_options options(int who, u8 extensions, u16 features, u8 rtr)
{
	return (struct tern_hello_options){
		.extensions = extensions,
		.features = features,
		.version = 1,
		.initiator = !who,
		.rtr = who ? TERN_MPA_RTR_NONE : rtr,
	};
}

/* an end that assumes RFC 7306 has a peer that takes it */
static bool is_sane(const struct tern_hello_options opt[2])
{
	for (int i = 0; i < 2; i++)
		if (opt[i].extensions == TERN_HELLO_ASSUME_7306 &&
		    opt[!i].extensions == TERN_HELLO_OFF)
			return false;
	return true;
}

static void explore_programs(const struct tern_hello_options opt[2])
{
	struct talk t;
	u32 each, programs;

	talk_init(&t, opt);
	/* more messages where there is something to agree on */
	each = talk_common(&t) ? 2 : 1;
	programs = each == 2 ? 81 : 9;
	for (u32 n = 0; n < programs && !test_failures; n++) {
		talk_init(&t, opt);
		add_programs(&t, n, each);
		explore_all(&t);
		if (test_failures)
			printf("# extensions %u %u features %u %u rtr %u program %u of %u\n",
			       opt[0].extensions, opt[1].extensions, opt[0].features,
			       opt[1].features, opt[0].rtr, n, each);
	}
}

#define FEATURES	3
#define EXTENSIONS	3

TEST(hello__every_order_of_two_programs, "RFC 7306 1.1: all settings, each RTR")
{
	static const u8 features[FEATURES] = { 0, TERN_HELLO_7306, 3 };
	u32 all = TERN_MPA_RTR_COUNT * FEATURES * FEATURES * EXTENSIONS * EXTENSIONS;

	for (u32 n = 0; n < all && !test_failures; n++) {
		u8 rtr = n % TERN_MPA_RTR_COUNT;
		u32 f = n / TERN_MPA_RTR_COUNT % (FEATURES * FEATURES);
		u32 e = n / TERN_MPA_RTR_COUNT / (FEATURES * FEATURES);
		struct tern_hello_options opt[] = {
			options(0, e % EXTENSIONS, features[f % FEATURES], rtr),
			options(1, e / EXTENSIONS, features[f / FEATURES], rtr),
		};

		if (is_sane(opt))
			explore_programs(opt);
	}
	printf("# %llu situations\n", (unsigned long long)worlds);
}

/* ---- random programs -------------------------------------------------------------- */

static struct talk_msg any_msg(struct rng *r)
{
	return (struct talk_msg){
		.set = sets[rng_below(r, ARRAY_SIZE(sets))],
		.asks = rng_below(r, 2),
		.fpdus = 1 + rng_below(r, 3),
	};
}

static void any_talk(struct talk *t, struct rng *r)
{
	struct tern_hello_options opt[2];
	u8 rtr = rng_below(r, TERN_MPA_RTR_COUNT);
	u8 version = !!rng_below(r, 8);

	do {
		for (int i = 0; i < 2; i++) {
			opt[i] = options(i, rng_below(r, 8) ? 1 + rng_below(r, 2) : 0,
					 rng_below(r, 2) ? 7 : (u16)rng_next(r), rtr);
			opt[i].version = version;
		}
	} while (!is_sane(opt));
	talk_init(t, opt);
	for (int i = 0; i < 2; i++)
		for (u32 n = rng_below(r, TALK_PROGRAM + 1); n; n--)
			talk_add(&t->end[i], any_msg(r));
}

/* one possible step; a timeout only if there is no other, or now and then */
static bool any_step(struct talk *t, struct rng *r)
{
	u32 first = rng_below(r, 2 * TALK_TIMEOUT);

	if (!rng_below(r, 100) && talk_step(t, 0, TALK_TIMEOUT))
		return true;
	for (u32 i = 0; i < 2 * TALK_TIMEOUT; i++) {
		u32 step = (first + i) % (2 * TALK_TIMEOUT);

		if (talk_step(t, step & 1, step / 2))
			return true;
	}
	return talk_step(t, 0, TALK_TIMEOUT);
}

static bool random_talk(u64 seed)
{
	struct rng r = rng_seed(seed);
	struct talk t;

	any_talk(&t, &r);
	while (!test_failures && any_step(&t, &r))
		;
	if (!test_failures)
		talk_check_end(&t);
	if (test_failures)
		printf("# MODEL_SEED=%llu\n", (unsigned long long)seed);
	return !test_failures;
}

TEST(hello__random_programs, "longer messages and programs, all features, versions 0 and 1")
{
	for_seeds(50000, random_talk);
}

/* ---- any peer --------------------------------------------------------------------- */

/**
 * struct watch - one end and what it did
 * @hello: under test
 * @opt: what it began with
 * @asked: the first FPDU read was an offer
 * @read: any FPDU was read
 * @sent: BIT(enum tern_hello_role) sent
 */
struct watch {
	struct tern_hello hello;
	struct tern_hello_options opt;
	bool asked;
	bool read;
	u32 sent;
};

static void read_any(struct watch *w, struct rng *r)
{
	struct tern_hello_msg msg = {
		.version = 1 + rng_below(r, 255),
		.role = 1 + rng_below(r, 3),
		.features = rng_below(r, 2) ? 3 : (u16)rng_next(r),
	};
	bool other = !rng_below(r, 3);

	if (!w->read)
		w->asked = !other && msg.role == TERN_HELLO_OFFER;
	w->read = true;
	tern_hello_fpdu(&w->hello, other ? NULL : &msg);
}

static void send_any(struct watch *w, struct rng *r)
{
	struct tern_hello_msg msg;
	bool due = rng_below(r, 2) ? tern_hello_next(&w->hello, &msg) :
				     tern_hello_before_ulp(&w->hello, &msg);

	if (!due)
		return;
	expect(w->opt.version && w->opt.extensions != TERN_HELLO_OFF);
	expect(!(w->sent & BIT(msg.role)), "role %u twice", msg.role);
	expect_eq(msg.version, 1);
	expect_eq(msg.role != TERN_HELLO_ANSWER, w->opt.initiator);
	if (msg.role == TERN_HELLO_ANSWER)
		expect(w->asked);
	else if (msg.role == TERN_HELLO_GO)
		expect(w->sent & BIT(TERN_HELLO_OFFER) && msg.features & TERN_HELLO_V2);
	w->sent |= BIT(msg.role);
	tern_hello_sent(&w->hello, msg.role);
}

/* what no peer can do */
static void check_change(const struct tern_hello *was, const struct watch *w)
{
	const struct tern_hello *is = &w->hello;
	u16 agreed = tern_hello_agreed(is);

	expect(tern_hello_decided(is) || !tern_hello_decided(was));
	expect(!(agreed & ~w->opt.features & 0xffff) && agreed < 8);
	expect(!(agreed & TERN_HELLO_V2) || agreed & TERN_HELLO_7306);
	/* a result may come late, but only once */
	expect(!tern_hello_agreed(was) || agreed == tern_hello_agreed(was));
	expect(tern_hello_tx_rv(is) >= tern_hello_tx_rv(was));
	expect(tern_hello_rx_rv(is) >= tern_hello_rx_rv(was));
	if (tern_hello_tx_rv(is) == TERN_HELLO_RV2)
		expect(agreed & TERN_HELLO_V2 && w->sent & ~BIT(TERN_HELLO_OFFER));
	if (tern_hello_rx_rv(is) == TERN_HELLO_RV2)
		expect(agreed & TERN_HELLO_V2);
	/* after the hello that says so, ours or the peer's */
	if (tern_hello_may_send_long(is))
		expect(agreed & TERN_HELLO_LONG &&
		       w->sent & (BIT(TERN_HELLO_OFFER) | BIT(TERN_HELLO_ANSWER)));
	expect(!tern_hello_may_send_long(was) || tern_hello_may_send_long(is));
	for (u32 i = 0; i < ARRAY_SIZE(sets); i++)
		expect(tern_hello_may_send(was, sets[i]) != TERN_HELLO_YES ||
		       tern_hello_may_send(is, sets[i]) == TERN_HELLO_YES);
}

static bool any_peer(u64 seed)
{
	struct rng r = rng_seed(seed);
	bool initiator = rng_below(&r, 2);
	struct watch w = { .opt = options(!initiator, rng_below(&r, 3), (u16)rng_next(&r),
					  rng_below(&r, TERN_MPA_RTR_COUNT)) };

	w.opt.version = !!rng_below(&r, 8);
	tern_hello_init(&w.hello, &w.opt);
	for (int i = 0; i < 12 && !test_failures; i++) {
		struct tern_hello was = w.hello;
		u32 what = rng_below(&r, 10);

		if (what < 5)
			send_any(&w, &r);
		else if (what < 9)
			read_any(&w, &r);
		else
			tern_hello_timeout(&w.hello);
		check_change(&was, &w);
	}
	if (test_failures)
		printf("# MODEL_SEED=%llu\n", (unsigned long long)seed);
	return !test_failures;
}

TEST(hello__any_peer_changes_only_what_it_may, "hellos of any role, version and features")
{
	for_seeds(200000, any_peer);
}
