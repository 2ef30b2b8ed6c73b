// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Bodies of the extensions' messages, atomics, the hello: see wire_ext.h. */
#include <string.h>

#include "wire_ext.h"

void atomic_encode(const struct atomic_req *a, void *body)
{
	uint8_t *p = body;

	put32(p, a->op);
	put32(p + 4, a->id);
	put32(p + 8, a->stag);
	put64(p + 12, a->to);
	put64(p + 20, a->data);
	put64(p + 28, a->mask);
	put64(p + 36, a->compare);
	put64(p + 44, a->compare_mask);
}

void atomic_decode(struct atomic_req *a, const void *body)
{
	const uint8_t *p = body;

	a->op = get32(p);
	a->id = get32(p + 4);
	a->stag = get32(p + 8);
	a->to = get64(p + 12);
	a->data = get64(p + 20);
	a->mask = get64(p + 28);
	a->compare = get64(p + 36);
	a->compare_mask = get64(p + 44);
}

/* RFC 7306 5.1.1: bit by bit; the carry out of a bit whose mask is set is dropped */
static uint64_t masked_add(uint64_t old, uint64_t add, uint64_t mask)
{
	uint64_t sum = 0;
	int bit, n, carry = 0;

	for (bit = 0; bit < 64; bit++) {
		n = (old >> bit & 1) + (add >> bit & 1) + carry;
		sum |= (uint64_t)(n & 1) << bit;
		carry = mask >> bit & 1 ? 0 : n >> 1;
	}
	return sum;
}

/* RFC 7306 5.1.2: bit by bit */
static uint64_t masked_swap(const struct atomic_req *a, uint64_t old)
{
	uint64_t new = 0;
	int bit;

	for (bit = 0; bit < 64; bit++)
		if (a->compare_mask >> bit & 1 &&
		    (a->compare >> bit & 1) != (old >> bit & 1))
			return old;
	for (bit = 0; bit < 64; bit++)
		new |= ((a->mask >> bit & 1 ? a->data : old) >> bit & 1) << bit;
	return new;
}

uint64_t atomic_result(const struct atomic_req *a, uint64_t old)
{
	if ((a->op & 15) == FETCH_ADD)
		return masked_add(old, a->data, a->mask);
	return masked_swap(a, old);
}

uint64_t hello_to(const struct hello *h)
{
	uint8_t to[8];

	put32(to, HELLO_HIGH);
	to[4] = h->version;
	to[5] = h->role;
	put16(to + 6, h->features);
	return get64(to);
}

bool hello_decode(struct hello *h, const struct seg *s)
{
	uint8_t to[8];

	put64(to, s->to);
	memset(h, 0, sizeof(*h));
	if (!seg_tagged(s) || seg_op(s) != OP_WRITE || s->len ||
	    s->stag != HELLO_STAG || get32(to) != HELLO_HIGH || !to[4])
		return false;
	h->version = to[4];
	h->role = to[5];
	h->features = get16(to + 6);
	return true;
}
