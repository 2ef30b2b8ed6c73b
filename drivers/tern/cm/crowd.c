// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Bound the endpoints without a QP (RFC 5044 7.1.2 rules 8 and 10 ask for
 * timeouts alone). A keyed hash of its source puts each into a slot, so that a
 * source cannot choose to share the slot of another and nothing is allocated.
 * Sources that share a slot count as one.
 */
#include "crowd.h"

#include <linux/array_size.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "device/device.h"
#include "cep.h"

#define SLOTS	256
/* tails for each half-open: a program may end many streams at once */
#define TAILS	16
#define KINDS	TERN_CROWD_NONE

/**
 * struct kind - endpoints of one kind
 * @total: their number
 * @count: their number in each slot
 * @ceps: those of each slot, the oldest first
 */
struct kind {
	u32 total;
	u32 count[SLOTS];
	struct list_head ceps[SLOTS];
};

/**
 * struct tern_crowd - a device's endpoints without a QP
 * @lock: guards what follows, and @crowd of the endpoints
 * @next: slot where the next search starts, so that equal slots take turns
 * @key: of the hash
 * @kinds: by enum tern_crowd_kind
 */
struct tern_crowd {
	spinlock_t lock;	/* see above */
	u32 next;
	siphash_key_t key;
	struct kind kinds[KINDS];
};

static void init_kind(struct kind *kind)
{
	u32 slot;

	for (slot = 0; slot < SLOTS; slot++)
		INIT_LIST_HEAD(&kind->ceps[slot]);
}

int tern_crowd_init(struct tern_device *dev)
{
	struct tern_crowd *crowd = kzalloc_obj(*crowd, GFP_KERNEL);
	u32 i;

	if (!crowd)
		return -ENOMEM;
	spin_lock_init(&crowd->lock);
	get_random_bytes(&crowd->key, sizeof(crowd->key));
	for (i = 0; i < ARRAY_SIZE(crowd->kinds); i++)
		init_kind(&crowd->kinds[i]);
	dev->crowd = crowd;
	return 0;
}

void tern_crowd_exit(struct tern_device *dev)
{
	kfree(dev->crowd);
}

void tern_crowd_join(struct tern_cep *cep)
{
	INIT_LIST_HEAD(&cep->crowd.node);
	cep->crowd.kind = TERN_CROWD_NONE;
}

/*
 * A source is an IPv4 address or an IPv6 /64, since a site can give its hosts
 * any address of its /64. All link-local addresses share one /64, so there each
 * address is a source.
 */
static u32 slot_of(const struct tern_crowd *crowd,
		   const struct sockaddr_storage *addr)
{
	const struct in6_addr *in6 = &((struct sockaddr_in6 *)addr)->sin6_addr;
	u64 high, low = 0;

	if (addr->ss_family == AF_INET) {
		high = (__force u32)((struct sockaddr_in *)addr)->sin_addr.s_addr;
	} else {
		high = get_unaligned((const u64 *)in6->s6_addr);
		if (ipv6_addr_type(in6) & IPV6_ADDR_LINKLOCAL)
			low = get_unaligned((const u64 *)(in6->s6_addr + 8));
	}
	return siphash_3u64(addr->ss_family, high, low, &crowd->key) % SLOTS;
}

static void take_out(struct tern_crowd *crowd, struct tern_cep *cep)
{
	struct kind *kind = &crowd->kinds[cep->crowd.kind];

	lockdep_assert_held(&crowd->lock);
	list_del_init(&cep->crowd.node);
	kind->count[cep->crowd.slot]--;
	kind->total--;
	cep->crowd.kind = TERN_CROWD_NONE;
}

static void put_in(struct tern_crowd *crowd, struct tern_cep *cep,
		   enum tern_crowd_kind to)
{
	u32 slot = slot_of(crowd, &cep->addr.remote);
	struct kind *kind = &crowd->kinds[to];

	lockdep_assert_held(&crowd->lock);
	list_add_tail(&cep->crowd.node, &kind->ceps[slot]);
	kind->count[slot]++;
	kind->total++;
	cep->crowd.slot = slot;
	cep->crowd.kind = to;
}

static void move_cep(struct tern_crowd *crowd, struct tern_cep *cep,
		     enum tern_crowd_kind to)
{
	lockdep_assert_held(&crowd->lock);
	if (cep->crowd.kind == to)
		return;
	if (cep->crowd.kind != TERN_CROWD_NONE)
		take_out(crowd, cep);
	if (to != TERN_CROWD_NONE)
		put_in(crowd, cep, to);
}

/* the slot with the most endpoints */
static u32 fullest_slot(struct tern_crowd *crowd, const struct kind *kind)
{
	u32 i, slot, found = crowd->next % SLOTS;

	lockdep_assert_held(&crowd->lock);
	for (i = 0; i < SLOTS; i++) {
		slot = (crowd->next + i) % SLOTS;
		if (kind->count[slot] > kind->count[found])
			found = slot;
	}
	crowd->next = found + 1;
	return found;
}

/* take out the oldest of the fullest slot, if @kind has @most or more */
static struct tern_cep *take_oldest(struct tern_crowd *crowd, struct kind *kind,
				    u32 most)
{
	struct tern_cep *cep;

	lockdep_assert_held(&crowd->lock);
	if (kind->total < most)
		return NULL;
	cep = list_first_entry(&kind->ceps[fullest_slot(crowd, kind)],
			       struct tern_cep, crowd.node);
	/* a listed endpoint has the list's reference, see tern_cep_drop() */
	tern_cep_get(cep);
	/* another listener that searches next has to find another endpoint */
	take_out(crowd, cep);
	return cep;
}

/* evict @cep from its own work: the caller holds another endpoint's lock */
static void crowd_out_later(struct tern_cep *cep)
{
	if (!cep)
		return;
	tern_cep_post(cep, CM_EV_CROWDED);
	tern_cep_put(cep);
}

void tern_crowd_move(struct tern_cep *cep, enum tern_crowd_kind kind)
{
	struct tern_crowd *crowd = cep->dev->crowd;
	struct tern_cep *other = NULL;

	lockdep_assert_held(&cep->lock);
	spin_lock(&crowd->lock);
	if (kind == TERN_CROWD_TAIL && cep->crowd.kind != kind)
		other = take_oldest(crowd, &crowd->kinds[kind],
				    cep->settings.half_open * TAILS);
	move_cep(crowd, cep, kind);
	spin_unlock(&crowd->lock);
	crowd_out_later(other);
}

/* ---- a connection comes ------------------------------------------------- */

struct tern_cep *tern_crowd_let_in(struct tern_cep *cep)
{
	struct tern_crowd *crowd = cep->dev->crowd;
	struct tern_cep *other;

	lockdep_assert_held(&cep->lock);
	spin_lock(&crowd->lock);
	other = take_oldest(crowd, &crowd->kinds[TERN_CROWD_QUIET],
			    cep->settings.half_open);
	/* under the same lock, before another listener counts */
	move_cep(crowd, cep, TERN_CROWD_QUIET);
	spin_unlock(&crowd->lock);
	return other;
}

/* ---- a Request comes ---------------------------------------------------- */

/*
 * Take out an endpoint to make room for @cep: the newest of the fullest slot,
 * since the program has had its Request for the shortest time.
 */
static struct tern_cep *pick_asked(struct tern_crowd *crowd,
				   const struct tern_cep *cep)
{
	struct kind *asked = &crowd->kinds[TERN_CROWD_ASKED];
	u32 own = slot_of(crowd, &cep->addr.remote);
	u32 slot = fullest_slot(crowd, asked);
	struct tern_cep *last;

	lockdep_assert_held(&crowd->lock);
	/*
	 * The search starts at another slot each time, so that sources with one
	 * connection each do not shut others out.
	 */
	if (slot == own)
		return NULL;
	last = list_last_entry(&asked->ceps[slot], struct tern_cep, crowd.node);
	tern_cep_get(last);
	take_out(crowd, last);
	return last;
}

bool tern_crowd_ask(struct tern_cep *cep)
{
	struct tern_crowd *crowd = cep->dev->crowd;
	struct tern_cep *other = NULL;
	bool room;

	lockdep_assert_held(&cep->lock);
	spin_lock(&crowd->lock);
	room = crowd->kinds[TERN_CROWD_ASKED].total < cep->settings.half_open;
	if (!room)
		other = pick_asked(crowd, cep);
	if (room || other)
		move_cep(crowd, cep, TERN_CROWD_ASKED);
	spin_unlock(&crowd->lock);
	crowd_out_later(other);
	return room || other;
}
