/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Included before each file of a module for the lane `race`: one time of 16 it pauses where
 * what one thread does becomes another's to see, or to end. So threads meet in orders that a
 * scheduler seldom has.
 */
#ifndef LAB_PAUSES_H
#define LAB_PAUSES_H

#include <linux/delay.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>

/* Up to 256 us. It spins: pauses that slept made fewer threads meet (reliability.rst). */
static __maybe_unused __no_kcsan noinline void lab_pause(void)
{
	u32 r = get_random_u32();

	if (r % 16 == 0)
		udelay(r >> 24);
}

/* The functions' own names, in parentheses, are no macros. */
#define LAB_BEFORE(f, ...)	({ lab_pause(); (f)(__VA_ARGS__); })
#define LAB_AFTER(f, ...)	({ (f)(__VA_ARGS__); lab_pause(); })

#define spin_lock(l)			LAB_BEFORE(spin_lock, l)
#define spin_lock_bh(l)			LAB_BEFORE(spin_lock_bh, l)
#define mutex_lock(l)			LAB_BEFORE(mutex_lock, l)
#define lock_sock(sk)			LAB_BEFORE(lock_sock, sk)
#define kref_get(k)			LAB_BEFORE(kref_get, k)
#define kref_put(k, release)		LAB_BEFORE(kref_put, k, release)
#define refcount_dec_and_test(r)	LAB_BEFORE(refcount_dec_and_test, r)
#define queue_work(q, w)		LAB_BEFORE(queue_work, q, w)
#define queue_delayed_work(q, w, t)	LAB_BEFORE(queue_delayed_work, q, w, t)
#define mod_delayed_work(q, w, t)	LAB_BEFORE(mod_delayed_work, q, w, t)
#define cancel_work_sync(w)		LAB_BEFORE(cancel_work_sync, w)
#define cancel_delayed_work_sync(w)	LAB_BEFORE(cancel_delayed_work_sync, w)
#define disable_work_sync(w)		LAB_BEFORE(disable_work_sync, w)
#define disable_delayed_work_sync(w)	LAB_BEFORE(disable_delayed_work_sync, w)

/* these are macros of the kernel's, and call others */
#undef spin_lock_irqsave
#define spin_lock_irqsave(l, flags) \
	({ lab_pause(); raw_spin_lock_irqsave(spinlock_check(l), flags); })
#undef read_lock_bh
#define read_lock_bh(l)			LAB_BEFORE(_raw_read_lock_bh, l)
#undef write_lock_bh
#define write_lock_bh(l)		LAB_BEFORE(_raw_write_lock_bh, l)

#define spin_unlock(l)			LAB_AFTER(spin_unlock, l)
#define spin_unlock_bh(l)		LAB_AFTER(spin_unlock_bh, l)
#define spin_unlock_irqrestore(l, f)	LAB_AFTER(spin_unlock_irqrestore, l, f)
#define mutex_unlock(l)			LAB_AFTER(mutex_unlock, l)
#define release_sock(sk)		LAB_AFTER(release_sock, sk)
#define rcu_read_unlock()		LAB_AFTER(rcu_read_unlock)

#endif
