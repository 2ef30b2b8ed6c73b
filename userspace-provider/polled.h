/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * How many completions of each QP were polled: its queues have room again when they are,
 * see struct tern_ring_hdr. The counts are kept by QP number, not in the QP: a CQ may
 * have completions of a QP that is being destroyed. So the address space of a count stays until
 * the context is closed; its memory goes when no QP has the number, or one near it.
 */
#ifndef TERN_PROVIDER_POLLED_H
#define TERN_PROVIDER_POLLED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TERN_QPN_BITS		24
#define TERN_POLLED_BITS	12
#define TERN_POLLED_PAGE	(1U << TERN_POLLED_BITS)

/**
 * struct tern_polled - completions of one QP that were polled
 * @sends: of its SQ; the lock of that CQ guards it, if it has one, and the SQ reads it
 * @recvs: likewise, of its RQ or SRQ
 */
struct tern_polled {
	uint32_t sends;
	uint32_t recvs;
};

/**
 * struct tern_polled_table - counts of all QPs of a context
 * @pages: by the upper bits of the QP number; one that there is stays until the end
 * @qps: how many QPs have counts in each page; @lock guards it
 * @lock: also held while a page is emptied
 */
struct tern_polled_table {
	struct tern_polled *pages[1U << (TERN_QPN_BITS - TERN_POLLED_BITS)];
	uint16_t qps[1U << (TERN_QPN_BITS - TERN_POLLED_BITS)];
	pthread_mutex_t lock;
};

/* Return: 0 or an errno */
int tern_polled_init(struct tern_polled_table *table);
void tern_polled_free(struct tern_polled_table *table);

/* The counts of a new QP, which are 0; NULL: no memory, or no such number. */
struct tern_polled *tern_polled_get(struct tern_polled_table *table, uint32_t qpn);

/* The QP is destroyed, and the CQs have no completions of it. */
void tern_polled_put(struct tern_polled_table *table, uint32_t qpn);

/* A completion was polled, and its place in the CQ given back; the lock of the CQ is held. */
static inline void tern_polled_count(struct tern_polled_table *table, uint32_t qpn, bool recv)
{
	struct tern_polled *page;
	uint32_t *count;

	if (qpn >> TERN_QPN_BITS)
		return;
	page = __atomic_load_n(&table->pages[qpn >> TERN_POLLED_BITS], __ATOMIC_ACQUIRE);
	if (!page)
		return;
	page += qpn % TERN_POLLED_PAGE;
	count = recv ? &page->recvs : &page->sends;
	/* what the program does next it does after this, also in another thread */
	__atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

#endif /* TERN_PROVIDER_POLLED_H */
