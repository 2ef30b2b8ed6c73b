// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Where the counts of polled completions are. */

#include <sys/mman.h>

#include <ccan/array_size.h>

#include "polled.h"

#define PAGE_BYTES	(TERN_POLLED_PAGE * sizeof(struct tern_polled))

int tern_polled_init(struct tern_polled_table *table)
{
	return pthread_mutex_init(&table->lock, NULL);
}

void tern_polled_free(struct tern_polled_table *table)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table->pages); i++)
		if (table->pages[i])
			munmap(table->pages[i], PAGE_BYTES);
	pthread_mutex_destroy(&table->lock);
}

/* Those who poll look without the lock. */
static struct tern_polled *get_page(struct tern_polled **at)
{
	struct tern_polled *page = *at;

	if (page)
		return page;
	page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return NULL;
	__atomic_store_n(at, page, __ATOMIC_RELEASE);
	return page;
}

struct tern_polled *tern_polled_get(struct tern_polled_table *table, uint32_t qpn)
{
	uint32_t i = qpn >> TERN_POLLED_BITS;
	struct tern_polled *polled;

	if (qpn >> TERN_QPN_BITS)
		return NULL;
	pthread_mutex_lock(&table->lock);
	polled = get_page(&table->pages[i]);
	if (polled) {
		table->qps[i]++;
		polled += qpn % TERN_POLLED_PAGE;
		__atomic_store_n(&polled->sends, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&polled->recvs, 0, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&table->lock);
	return polled;
}

/* Give the memory back. Not the mapping: a thread that polls may have read its address. */
static void empty(struct tern_polled *page)
{
	if (!madvise(page, PAGE_BYTES, MADV_DONTNEED))
		return;
#ifdef MADV_DONTNEED_LOCKED
	/* after mlockall(), with Linux 5.18 or newer */
	madvise(page, PAGE_BYTES, MADV_DONTNEED_LOCKED);
#endif
}

/*
 * Numbers are given out in turn, so a program that makes connections all day has all of them.
 */
void tern_polled_put(struct tern_polled_table *table, uint32_t qpn)
{
	uint32_t i = qpn >> TERN_POLLED_BITS;

	pthread_mutex_lock(&table->lock);
	if (!--table->qps[i])
		empty(table->pages[i]);
	pthread_mutex_unlock(&table->lock);
}
