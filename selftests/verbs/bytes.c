// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Each byte of a Send, Write and Read arrives where it belongs, and no other byte changes:
 * every offset and length up to a page, lists of random elements, and buffers that are
 * rewritten when they complete. Run by bytes.sh, over several kinds of wire.
 *
 *	bytes [WORD...]		only the tests whose name holds one of them
 *
 * TERN_SET_BYTES=N: of the square of all offsets and lengths each Nth length (1: all), and
 * TERN_SET_OFFSETS=M: each Mth offset; without it some 5 lengths of each offset.
 * TERN_SET_SEED and TERN_SET_LISTS: of the random lists, and how many.
 */
#include <time.h>

#include "bytes.h"
#include "move.h"

#define PAGE	4096u
#define SECONDS	60

static const enum ibv_wr_opcode ops[] = {
	IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
};

static unsigned long setting(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

/* ---- every offset and length ------------------------------------------------------- */

/* a move writes one of these, of which it may touch two pages */
#define PLACE	(3 * PAGE)
#define SOURCE	(2 * PAGE)

static uint32_t places;

static void place(enum ibv_wr_opcode op, uint32_t from, uint32_t to, uint32_t len)
{
	const struct move move = {
		.op = op, .froms = 1, .tos = 1,
		.from = { { from, len } },
		.to = { { SOURCE + places * PLACE + to, len } },
	};

	move_post(&move);
	if (++places == MOVE_BATCH) {
		moves_check();
		places = 0;
	}
}

/*
 * Of one length, each @step-th offset: that of the sink steps by an odd number, so it takes
 * every value, too, if @step is 1.
 */
static void one_length(enum ibv_wr_opcode op, uint32_t len, uint32_t step)
{
	uint32_t off;

	for (off = 0; off < PAGE; off += step)
		place(op, off, (off * 1021 + len) % PAGE, len);
}

/*
 * Of each offset the length that ends one byte before a page's border, at it, and after it,
 * in turn at the source and at the sink; and one more length, so that every length is met
 * once, and every residue of 64 of the offset with every one of the length.
 */
static void some_lengths(enum ibv_wr_opcode op)
{
	uint32_t off, high, low, len, other;
	int beside;

	for (off = 0; off < PAGE; off++) {
		high = off / 64;
		low = off % 64;
		other = (off * 1021 + 7) % PAGE;
		place(op, off, other, 1 + (low + high) % 64 * 64 + high);
		for (beside = -1; beside <= 1; beside++) {
			len = PAGE - off + beside;
			if (!len || len > PAGE)
				continue;
			if ((off + beside) & 1)
				place(op, off, other, len);
			else
				place(op, other, off, len);
		}
	}
}

static void every_place(enum ibv_wr_opcode op)
{
	uint32_t step = setting("TERN_SET_BYTES", 0), offsets = setting("TERN_SET_OFFSETS", 1);
	uint32_t len;

	moves_up(SOURCE + MOVE_BATCH * PLACE, SOURCE);
	places = 0;
	if (!step)
		some_lengths(op);
	for (len = 1; step && len <= PAGE; len += step)
		one_length(op, len, offsets);
	moves_check();
	moves_down();
}

static void send_places(void)
{
	every_place(IBV_WR_SEND);
}

static void write_places(void)
{
	every_place(IBV_WR_RDMA_WRITE);
}

static void read_places(void)
{
	every_place(IBV_WR_RDMA_READ);
}

/* ---- random lists ------------------------------------------------------------------ */

#define LISTS		8		/* in a batch */
#define LIST_SOURCE	(64 * PAGE)
#define LIST_ROOM	(64 * PAGE)	/* for each, in the sink */
#define ELEMENT_MAX	12000		/* LIST_ROOM holds 16 with gaps */
#define GAP_MAX		4000

static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % below;
}

/* short and long ones equally often, some of nothing */
static uint32_t draw_length(void)
{
	return draw((ELEMENT_MAX >> draw(14)) + 1);
}

/* elements of anything */
static int draw_sources(struct piece *list, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		list[i].len = draw_length();
		list[i].off = draw(LIST_SOURCE - list[i].len + 1);
	}
	return n;
}

/*
 * Cut @len bytes from @off on into up to @n elements with gaps: the last one takes what is
 * left, or a byte more than a Send has.
 */
static int draw_sinks(struct piece *list, int n, uint32_t off, uint32_t len, bool longer)
{
	int i;

	for (i = 0; i < n; i++) {
		off += draw(GAP_MAX >> draw(12));
		list[i] = (struct piece) { off, i + 1 < n ? draw(len + 1) : len };
		off += list[i].len;
		len -= list[i].len;
	}
	list[n - 1].len += longer && draw(4) == 0;
	return n;
}

static uint32_t sum_of(const struct piece *list, int n)
{
	uint32_t sum = 0;

	while (n--)
		sum += list++->len;
	return sum;
}

static void one_list(int nr)
{
	enum ibv_wr_opcode op = ops[draw(ARRAY_LEN(ops))];
	uint32_t sink = LIST_SOURCE + nr * LIST_ROOM;
	struct move m = { .op = op };

	m.froms = draw_sources(m.from, op == IBV_WR_RDMA_READ ? 1 : 1 + draw(MOVE_LIST));
	m.tos = draw_sinks(m.to, op == IBV_WR_RDMA_WRITE ? 1 : 1 + draw(MOVE_LIST), sink,
			   sum_of(m.from, m.froms), op == IBV_WR_SEND);
	move_post(&m);
}

static void random_lists(void)
{
	uint32_t seed = setting("TERN_SET_SEED", time(NULL));
	unsigned long left = setting("TERN_SET_LISTS", 400);
	int i;

	printf("#   TERN_SET_SEED=%u\n", seed);
	/* a generator of this kind has to begin with something else than 0 */
	random_state = seed * 2654435761u | 1;
	moves_up(LIST_SOURCE + LISTS * LIST_ROOM, LIST_SOURCE);
	while (left) {
		for (i = 0; i < LISTS && left; i++, left--)
			one_list(i);
		moves_check();
	}
	moves_down();
}

static const struct tap_test tests[] = {
	{ "places: Send from and to each offset", send_places, SECONDS },
	{ "places: Write from and to each offset", write_places, SECONDS },
	{ "places: Read from and to each offset", read_places, SECONDS },
	{ "lists: of random elements", random_lists, SECONDS },
};

static const struct tap_theme move_theme = { tests, ARRAY_LEN(tests) };

int main(int argc, char **argv)
{
	enter_netns(NULL);
	return tap_run((const struct tap_theme *[]) { &move_theme, &rewrite_theme, NULL },
		       argc - 1, argv + 1);
}
