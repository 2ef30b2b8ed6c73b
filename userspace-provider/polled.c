// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Where the counts of polled completions are. */

#include <stdbool.h>
#include <stdlib.h>

#include <ccan/array_size.h>

#include "polled.h"

void tern_polled_free(struct tern_polled_table *table)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table->pages); i++)
		free(table->pages[i]);
}

/* Several threads may create QPs. */
static struct tern_polled *get_page(struct tern_polled **at)
{
	struct tern_polled *page = __atomic_load_n(at, __ATOMIC_ACQUIRE), *made;

	if (page)
		return page;
	made = calloc(TERN_POLLED_PAGE, sizeof(*made));
	if (!made)
		return NULL;
	if (__atomic_compare_exchange_n(at, &page, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	free(made);
	return page;
}

struct tern_polled *tern_polled_get(struct tern_polled_table *table, uint32_t qpn)
{
	struct tern_polled *polled;

	if (qpn >> TERN_QPN_BITS)
		return NULL;
	polled = get_page(&table->pages[qpn >> TERN_POLLED_BITS]);
	if (!polled)
		return NULL;
	polled += qpn % TERN_POLLED_PAGE;
	__atomic_store_n(&polled->sends, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&polled->recvs, 0, __ATOMIC_RELAXED);
	return polled;
}
