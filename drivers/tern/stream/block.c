// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Blocks that were sent, and are built into again when TCP has released them. */
#include "block.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/shrinker.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

/*
 * A long FPDU, of 32 KiB and its headers, is in one piece of the larger block, so that its CRC and
 * its copy take one call each. Blocks of that order are taken if they are there. Where struct
 * page_frag counts in 16 bits, it has no room for 64 KiB.
 */
#define BLOCK_ORDER	get_order(SZ_32K)
#define LARGE_ORDER	(sizeof_field(struct page_frag, size) == sizeof(u16) ? BLOCK_ORDER : \
								       get_order(SZ_64K))
/* what is in flight on a fast path: 2 MiB, a bound for what a CPU keeps beside the open ones */
#define RING_SIZE	32
/* a program's run, and one in softirq that interrupts it */
#define OPEN_BLOCKS	2
/* a ring from which no block was taken for so long is emptied */
#define RING_IDLE	(2 * HZ)
/* blocks are released in about the order in which they were sent */
#define RING_TRIES	4

/**
 * struct tern_block_ring - the blocks that a CPU sent last
 * @lock: guards the others, but @used and @open; a CPU takes its own, the shrinker takes all
 * @idle: empties the ring when it is not used
 * @watched: @idle is queued, and so is its next look; read without the lock
 * @used: a block was taken since the last look; a hint that no lock guards
 * @open: blocks that runs left, or NULL; each with a reference, and in its page_private() the
 *	bytes that are in use. Changed by atomic exchange: each run takes one and leaves one
 * @page: the oldest is at @first; each with a reference of the ring
 * @first: index in @page
 * @nr: blocks in @page
 */
struct tern_block_ring {
	spinlock_t lock; /* see above */
	struct delayed_work idle;
	bool watched;
	bool used;
	struct page *open[OPEN_BLOCKS];
	struct page *page[RING_SIZE];
	u32 first;
	u32 nr;
};

static DEFINE_PER_CPU(struct tern_block_ring, rings);
static struct shrinker *shrinker;

static struct page **slot_at(struct tern_block_ring *r, u32 i)
{
	return &r->page[(r->first + i) % RING_SIZE];
}

static struct page *pop_oldest(struct tern_block_ring *r)
{
	struct page *page = *slot_at(r, 0);

	r->first = (r->first + 1) % RING_SIZE;
	r->nr--;
	return page;
}

/* only the ring refers to it: nobody can take another reference from now on */
static bool is_released(struct page *page)
{
	return page_ref_count(page) == 1;
}

/* a block that is released; the oldest one takes its place, and so is still found first */
static struct page *pop_released(struct tern_block_ring *r)
{
	u32 i;

	for (i = 0; i < min_t(u32, r->nr, RING_TRIES); i++) {
		struct page **slot = slot_at(r, i);

		if (is_released(*slot)) {
			swap(*slot, *slot_at(r, 0));
			return pop_oldest(r);
		}
	}
	return NULL;
}

static bool alloc_block(struct page_frag *frag)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	int order;

	frag->page = NULL;
	for (order = LARGE_ORDER; !frag->page && order >= BLOCK_ORDER; order--) {
		gfp_t block = gfp | __GFP_COMP | __GFP_NORETRY;

		/* wake who makes pages free for the common size alone */
		if (order > BLOCK_ORDER)
			block &= ~__GFP_KSWAPD_RECLAIM;
		frag->page = alloc_pages(block, order);
	}
	if (!frag->page)
		frag->page = alloc_page(gfp);
	return frag->page;
}

/* the block that was left last */
static bool take_open(struct tern_block_ring *r, struct page_frag *frag)
{
	struct page *page = NULL;
	u32 i;

	for (i = OPEN_BLOCKS; i-- && !page;)
		if (READ_ONCE(r->open[i]))
			page = xchg(&r->open[i], NULL);
	if (!page)
		return false;
	frag->page = page;
	frag->offset = page_private(page);
	frag->size = page_size(page);
	set_page_private(page, 0);
	return true;
}

static bool leave_open(struct tern_block_ring *r, struct page_frag *frag)
{
	u32 i;

	set_page_private(frag->page, frag->offset);
	for (i = 0; i < OPEN_BLOCKS; i++)
		if (!READ_ONCE(r->open[i]) && !cmpxchg(&r->open[i], NULL, frag->page))
			return true;
	set_page_private(frag->page, 0);
	return false;
}

bool tern_block_get(struct page_frag *frag, u32 min)
{
	struct tern_block_ring *r = raw_cpu_ptr(&rings);
	bool taken = take_open(r, frag);

	WRITE_ONCE(r->used, true);
	if (taken && tern_block_has(frag, min))
		return true;
	if (taken)
		tern_block_put(frag->page);
	spin_lock_bh(&r->lock);
	frag->page = pop_released(r);
	spin_unlock_bh(&r->lock);
	if (!frag->page && !alloc_block(frag))
		return false;
	frag->offset = 0;
	frag->size = page_size(frag->page);
	return true;
}

/* the ring has a block: look after it; the lock is held */
static void watch(struct tern_block_ring *r)
{
	if (r->watched)
		return;
	WRITE_ONCE(r->watched, true);
	queue_delayed_work(system_dfl_wq, &r->idle, RING_IDLE);
}

static noinline void watch_locked(struct tern_block_ring *r)
{
	spin_lock_bh(&r->lock);
	watch(r);
	spin_unlock_bh(&r->lock);
}

void tern_block_put(struct page *page)
{
	struct tern_block_ring *r = raw_cpu_ptr(&rings);
	struct page *old = NULL;

	/* a page that stood in for a block makes room for one */
	if (page_size(page) < PAGE_SIZE << BLOCK_ORDER) {
		put_page(page);
		return;
	}
	spin_lock_bh(&r->lock);
	if (r->nr == RING_SIZE)
		old = pop_oldest(r);
	*slot_at(r, r->nr++) = page;
	watch(r);
	spin_unlock_bh(&r->lock);
	if (old)
		put_page(old);
}

void tern_block_leave(struct page_frag *frag)
{
	struct tern_block_ring *r = raw_cpu_ptr(&rings);
	struct page *left = frag->page;

	/* other runs left theirs while this one had its own */
	if (!leave_open(r, frag))
		tern_block_put(left);
	/* idle_fn() clears @watched before it reads @open: one of both sees the other's store */
	else if (!READ_ONCE(r->watched))
		watch_locked(r);
	frag->page = NULL;
}

/* Return: blocks freed, which others may still refer to */
static u32 empty_ring(struct tern_block_ring *r)
{
	struct page *page[RING_SIZE + OPEN_BLOCKS];
	struct page_frag open;
	u32 i, nr = 0;

	spin_lock_bh(&r->lock);
	while (r->nr)
		page[nr++] = pop_oldest(r);
	spin_unlock_bh(&r->lock);
	/* runs may leave others at this moment */
	for (i = 0; i < OPEN_BLOCKS && take_open(r, &open); i++)
		page[nr++] = open.page;
	for (i = 0; i < nr; i++)
		put_page(page[i]);
	return nr;
}

static bool still_used(struct tern_block_ring *r)
{
	bool used;

	spin_lock_bh(&r->lock);
	used = READ_ONCE(r->used);
	WRITE_ONCE(r->used, false);
	WRITE_ONCE(r->watched, used);
	spin_unlock_bh(&r->lock);
	return used;
}

static void idle_fn(struct work_struct *work)
{
	struct delayed_work *idle = to_delayed_work(work);
	struct tern_block_ring *r = container_of(idle, struct tern_block_ring, idle);

	if (still_used(r)) {
		queue_delayed_work(system_dfl_wq, idle, RING_IDLE);
		return;
	}
	/* pairs with cmpxchg() in leave_open(): @watched is cleared before @open is read */
	smp_mb();
	empty_ring(r);
}

static unsigned long count_ring(const struct tern_block_ring *r)
{
	/* an estimate, without the lock */
	unsigned long nr = data_race(r->nr);
	u32 i;

	for (i = 0; i < OPEN_BLOCKS; i++)
		nr += !!READ_ONCE(r->open[i]);
	return nr;
}

static unsigned long count_blocks(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long nr = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		nr += count_ring(per_cpu_ptr(&rings, cpu));
	return nr ?: SHRINK_EMPTY;
}

static unsigned long scan_blocks(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long nr = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		nr += empty_ring(per_cpu_ptr(&rings, cpu));
	return nr ?: SHRINK_STOP;
}

int tern_block_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tern_block_ring *r = per_cpu_ptr(&rings, cpu);

		spin_lock_init(&r->lock);
		INIT_DELAYED_WORK(&r->idle, idle_fn);
	}
	shrinker = shrinker_alloc(0, "tern-blocks");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count_blocks;
	shrinker->scan_objects = scan_blocks;
	shrinker_register(shrinker);
	return 0;
}

void tern_block_exit(void)
{
	int cpu;

	shrinker_free(shrinker);
	for_each_possible_cpu(cpu) {
		disable_delayed_work_sync(&per_cpu_ptr(&rings, cpu)->idle);
		empty_ring(per_cpu_ptr(&rings, cpu));
	}
}
