/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Numbers that depend on a seed and on what they are for, so that a seed can be replayed. */
#ifndef PEERS_SERIES_H
#define PEERS_SERIES_H

#include <stdbool.h>
#include <stdint.h>

struct series {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t draw(struct series *s)
{
	uint64_t z = s->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline struct series series_of(uint64_t seed, uint64_t of)
{
	struct series s = { seed << 20 ^ of };

	s.state = draw(&s);
	return s;
}

static inline bool chance(struct series *s, unsigned int percent)
{
	return draw(s) % 100 < percent;
}

#endif /* PEERS_SERIES_H */
