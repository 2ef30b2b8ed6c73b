// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The bits of Terminates. */
#include "answer.h"

/* in the order of the bits: layer, error type, and two digits of the code */
static const uint16_t triplets[ANSWERS] = {
	0x0100, 0x0101, 0x0102, 0x0103, 0x0104, 0x0109, 0x0205, 0x0206, 0x0207,
	0x1100, 0x1101, 0x1102, 0x1103, 0x1104, 0x1201, 0x1202, 0x1203, 0x1204, 0x1205, 0x1206,
	0x2002, 0x2003,
};

bool answer_is_of(const struct term *t, uint32_t answers)
{
	unsigned int i, triplet = t->layer << 12 | t->etype << 8 | t->code;

	if (!triplet)
		return answers & OWN_ERROR;
	if (may_be_any(answers))
		return true;
	for (i = 0; i < ANSWERS; i++)
		if (triplets[i] == triplet)
			return answers & 1u << i;
	return false;
}
