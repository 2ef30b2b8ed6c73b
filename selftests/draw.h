/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Numbers that depend on a seed and on what they are for, so that a seed can be replayed. */
#ifndef SELFTESTS_DRAW_H
#define SELFTESTS_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series {
	uint64_t state;
};

/* the finalizer of splitmix64, a public-domain generator's formula */
static inline uint64_t draw(struct series *s)
{
	uint64_t z = s->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline struct series series_of(uint64_t seed, uint64_t of)
{
	struct series s = { (seed + 1) * 0x9e3779b97f4a7c15 + of * 0xd1342543de82ef95 };

	draw(&s);
	return s;
}

static inline bool chance(struct series *s, unsigned int percent)
{
	return draw(s) % 100 < percent;
}

/*
 * The index of a row, drawn by the weights of @n rows: @weight is the first one's, and rows are
 * @size bytes apart.
 */
static inline unsigned int draw_row(struct series *s, const uint8_t *weight, size_t size,
				    unsigned int n)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < n; i++)
		sum += weight[i * size];
	at = draw(s) % sum;
	for (i = 0; at >= weight[i * size]; i++)
		at -= weight[i * size];
	return i;
}

#endif /* SELFTESTS_DRAW_H */
