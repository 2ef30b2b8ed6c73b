// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The ways to send a segment that no TCP has: each sends it, and what else it wants. */
#include <stdio.h>
#include <string.h>

#include "../conformance/conform.h"
#include "spoil.h"
#include "tcp.h"

#define MOST		1460
#define BYTES		48
#define PIECES		4

static struct {
	struct segment s;
	uint8_t data[MOST];
	bool any;
} late;

/* @len bytes of @s, from @from on */
static struct segment part(const struct segment *s, size_t from, size_t len)
{
	struct segment p = *s;

	p.seq += from;
	p.data += from;
	p.len = len;
	return p;
}

/* other bytes in the place of those of @s */
static void send_other(struct series *of, const struct segment *s)
{
	uint8_t data[MOST];
	struct segment other = *s;
	size_t i;

	for (i = 0; i < s->len; i++)
		data[i] = draw(of);
	other.data = data;
	segment_send(&other);
}

static void twice(struct series *of, const struct segment *s)
{
	size_t n = 1 + draw(of) % 3;

	segment_send(s);
	while (n--)
		segment_send(s);
}

static void other_later(struct series *of, const struct segment *s)
{
	segment_send(s);
	send_other(of, s);
}

static void other_first(struct series *of, const struct segment *s)
{
	send_other(of, s);
	segment_send(s);
}

/* a repeated segment that begins earlier, with other bytes there */
static void overlapping(struct series *of, const struct segment *s)
{
	size_t back = 1 + draw(of) % 80;
	uint8_t data[MOST];
	struct segment o = *s;

	if (back + s->len > MOST)
		back = MOST - s->len;
	memset(data, draw(of), back);
	memcpy(data + back, s->data, s->len);
	o.seq -= back;
	o.data = data;
	o.len += back;
	segment_send(&o);
}

static void by_bytes(struct series *of, const struct segment *s)
{
	size_t at, from = draw(of) % s->len;
	struct segment p = part(s, 0, from);

	if (from)
		segment_send(&p);
	for (at = from; at < s->len && at < from + BYTES; at++) {
		p = part(s, at, 1);
		segment_send(&p);
	}
	p = part(s, at, s->len - at);
	if (p.len)
		segment_send(&p);
}

static void backwards(struct series *of, const struct segment *s)
{
	size_t end = s->len, from, i;
	struct segment p;

	for (i = 0; i < PIECES && end; i++, end = from) {
		from = i + 1 < PIECES ? draw(of) % end : 0;
		p = part(s, from, end - from);
		segment_send(&p);
	}
}

static void held_back(struct series *of, const struct segment *s)
{
	(void)of;
	spoil_flush();
	late.s = *s;
	memcpy(late.data, s->data, s->len);
	late.s.data = late.data;
	late.any = true;
}

static void urgent(struct series *of, const struct segment *s)
{
	struct segment u = *s;

	u.flags |= TH_URG;
	u.urgent = chance(of, 70) ? draw(of) % (s->len + 2) : draw(of);
	segment_send(&u);
}

static void wrong_ack(struct series *of, const struct segment *s)
{
	struct segment w = *s;

	w.ack += chance(of, 50) ? draw(of) % 100000 : -(draw(of) % 100000);
	segment_send(&w);
	segment_send(s);
}

static void wrong_sack(struct series *of, const struct segment *s)
{
	size_t blocks = 1 + draw(of) % 3, i;
	struct segment w = *s;

	w.options[0] = 1;
	w.options[1] = 1;
	w.options[2] = TCPOPT_SACK;
	w.options[3] = 2 + 8 * blocks;
	w.n_options = 4 + 8 * blocks;
	for (i = 0; i < blocks; i++) {
		put32(w.options + 4 + 8 * i, s->ack + draw(of) % 4000 - 2000);
		put32(w.options + 8 + 8 * i, s->ack + draw(of) % 4000 - 2000);
	}
	if (w.len + w.n_options > MOST)
		w.len = 0;
	segment_send(&w);
	segment_send(s);
}

static void odd_options(struct series *of, const struct segment *s)
{
	struct segment w = *s;
	size_t i;

	w.n_options = 4 + draw(of) % 24;
	for (i = 0; i < w.n_options; i++)
		w.options[i] = chance(of, 50) ? draw(of) % 9 : draw(of);
	if (w.len + w.n_options + 4 > MOST)
		w.len = 0;
	segment_send(&w);
	segment_send(s);
}

/* bytes that are not due yet, with or without a hole in front of them */
static void ahead(struct series *of, const struct segment *s)
{
	uint64_t most = chance(of, 50) ? 3000 : 200000;
	struct segment a = *s;

	a.seq += s->len + draw(of) % most;
	send_other(of, &a);
	segment_send(s);
}

static void shut_window(struct series *of, const struct segment *s)
{
	struct segment w = *s;

	w.window = draw(of) % 3;
	segment_send(&w);
}

/* flags that no segment has here */
static void wrong_flags(struct series *of, const struct segment *s)
{
	static const uint8_t flags[] = { 0, TH_SYN, TH_SYN | TH_ACK, TH_FIN, 0xff, TH_PUSH };
	struct segment w = *s;

	w.flags = flags[draw(of) % sizeof(flags)];
	w.len = chance(of, 50) ? w.len : 0;
	w.seq += chance(of, 30) ? draw(of) % 1000 : 0;
	segment_send(&w);
	segment_send(s);
}

/* in the window, but not where it counts: RFC 5961 */
static void near_reset(struct series *of, const struct segment *s)
{
	struct segment r = *s;

	r.flags = TH_RST;
	r.seq += 1 + draw(of) % 1000;
	r.len = 0;
	segment_send(&r);
	segment_send(s);
}

static void fin_ahead(struct series *of, const struct segment *s)
{
	struct segment f = *s;

	f.flags |= TH_FIN;
	f.seq += s->len + draw(of) % 1000;
	f.len = 0;
	segment_send(&f);
	segment_send(s);
}

static void fin_inside(struct series *of, const struct segment *s)
{
	struct segment f = part(s, 0, draw(of) % s->len);

	f.flags |= TH_FIN;
	segment_send(&f);
	segment_send(s);
}

static void reset_inside(struct series *of, const struct segment *s)
{
	struct segment p = part(s, 0, draw(of) % s->len);
	struct segment r = part(s, p.len, 0);

	if (p.len)
		segment_send(&p);
	r.flags = TH_RST | TH_ACK;
	segment_send(&r);
}

static const struct {
	const char *name;
	void (*send)(struct series *of, const struct segment *s);
	uint8_t weight;
	bool changes;		/* the other end may read something else */
} ways[] = {
	{ "twice", twice, 6, false },
	{ "other bytes later", other_later, 6, true },
	{ "other bytes first", other_first, 1, true },
	{ "overlapping", overlapping, 6, true },
	{ "by bytes", by_bytes, 6, false },
	{ "backwards", backwards, 6, false },
	{ "held back", held_back, 6, false },
	{ "urgent", urgent, 3, true },
	{ "wrong ack", wrong_ack, 4, false },
	{ "wrong SACK", wrong_sack, 4, false },
	{ "odd options", odd_options, 3, false },
	{ "bytes ahead", ahead, 1, true },
	{ "shut window", shut_window, 4, false },
	{ "wrong flags", wrong_flags, 3, true },
	{ "RST nearby", near_reset, 3, false },
	{ "FIN ahead", fin_ahead, 1, true },
	{ "FIN inside", fin_inside, 1, true },
	{ "RST inside", reset_inside, 1, true },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static unsigned int used[WAYS];
static bool changed;

void spoil_begin(void)
{
	late.any = false;
	changed = false;
}

bool spoil_has_changed(void)
{
	return changed;
}

void spoil_flush(void)
{
	if (late.any)
		segment_send(&late.s);
	late.any = false;
}

void spoil_send(struct series *of, bool spoiled, const struct segment *s)
{
	bool was_late = late.any;
	unsigned int way;

	if (spoiled) {
		way = draw_row(of, &ways[0].weight, sizeof(ways[0]), WAYS);
		used[way]++;
		changed = changed || ways[way].changes;
		say("  segment of %zu: %s", s->len, ways[way].name);
		ways[way].send(of, s);
	} else {
		segment_send(s);
	}
	if (was_late)
		spoil_flush();
}

void tcp_print(void)
{
	unsigned int i;

	for (i = 0; i < WAYS; i++)
		printf("# segments %s: %u\n", ways[i].name, used[i]);
}
