/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The lock of one queue. It is skipped when the program promises to use the queue
 * from one thread at a time (a thread domain, or a single-threaded CQ).
 */
#ifndef TERN_PROVIDER_LOCK_H
#define TERN_PROVIDER_LOCK_H

#include <pthread.h>
#include <stdbool.h>

struct tern_lock {
	pthread_spinlock_t spin;
	bool needed;
};

static inline int tern_lock_init(struct tern_lock *lock, bool needed)
{
	lock->needed = needed;
	return pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
}

static inline void tern_lock_destroy(struct tern_lock *lock)
{
	pthread_spin_destroy(&lock->spin);
}

static inline void tern_lock_take(struct tern_lock *lock)
{
	if (lock->needed)
		pthread_spin_lock(&lock->spin);
}

static inline void tern_lock_drop(struct tern_lock *lock)
{
	if (lock->needed)
		pthread_spin_unlock(&lock->spin);
}

#endif /* TERN_PROVIDER_LOCK_H */
