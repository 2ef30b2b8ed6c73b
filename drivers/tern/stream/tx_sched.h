/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Where and when the send engine runs. */
#ifndef TERN_TX_SCHED_H
#define TERN_TX_SCHED_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>

#include "core/collect.h"
#include "core/lazy.h"
#include "tx.h"

struct tern_stream;

/**
 * struct tern_tx_sched - when and where the send engine of one stream runs
 * @bh_work: runs the engine in BH context
 * @post: runs it in a process, for a kernel user that posts much
 * @collect: whether @post pays
 * @work: runs it in a process, which can wait for the socket
 * @late: runs it at a time far off, see tern_tx_sched_at()
 * @linger: runs it some microseconds after a doorbell, see tern_tx_doorbell(); some hundred
 *	after @post was queued
 * @doorbells: length of the run of doorbells, see is_batching(); like @polled a
 *	hint that no lock guards
 * @polled: how far the program had polled the CQ of the SQ at the last doorbell
 * @backstop: while TERN_RING_LAZY is shown: looks for posts without a doorbell
 * @served_at: when the last doorbell was served, tern_tx_now(); a hint likewise
 * @lazy_lock: guards @lazy, and what @backstop does with it; taken inside the stream lock
 * @lazy: posts without a doorbell
 */
struct tern_tx_sched {
	struct work_struct bh_work;
	struct work_struct post;
	struct tern_collect collect;
	struct delayed_work work;
	struct delayed_work late;
	struct hrtimer linger;
	u8 doorbells;
	u32 polled;
	struct hrtimer backstop;
	u32 served_at;
	spinlock_t lazy_lock;		/* see above */
	struct tern_lazy lazy;
};

/* module init and exit; Return: 0 or -ENOMEM */
int tern_tx_sched_init(void);
void tern_tx_sched_exit(void);

/* set up what @s->sched has; Context: any */
void tern_tx_sched_setup(struct tern_stream *s);

/* cancel what is scheduled, for good; Context: process */
void tern_tx_sched_cancel(struct tern_stream *s);

/*
 * have a worker run the engines: its share of a CPU is that of a task, where softirq would go
 * on; Context: any
 */
void tern_tx_sched_worker(struct tern_stream *s);

/* schedule the next run as @result of the last one says; Context: any */
void tern_tx_sched(struct tern_stream *s, enum tern_tx_result result);

/*
 * Send one burst, no more since this may be softirq, and schedule the rest. The stream lock is
 * held.
 */
void tern_tx_reply(struct tern_stream *s);

/**
 * tern_tx_sched_at() - run again at a time
 * @s: attached
 * @when: jiffies; the same in each call
 *
 * Context: any.
 */
void tern_tx_sched_at(struct tern_stream *s, unsigned long when);

/**
 * tern_tx_post() - a kernel user has posted: read the send queue
 * @s: the user's
 *
 * Runs the engine in a worker, once for all that is posted until it runs, or by a timer 500 us
 * later; or in a BH item, for as long as posts do not come together (core/collect.h). Context: any.
 */
void tern_tx_post(struct tern_stream *s);

/**
 * tern_tx_doorbell() - a program rang: read all queues of the stream
 * @s: the program's
 * @more: TERN_DOORBELL_MORE
 *
 * Runs the engine in the caller; or, while the program batches Writes and Reads and
 * may sleep until an event, some microseconds later for all that it posts until then
 * without a doorbell. Context: process, may sleep.
 */
void tern_tx_doorbell(struct tern_stream *s, bool more);

/**
 * tern_tx_go_idle() - nothing is due: ask for doorbells again, or start the backstop
 * @s: in RTS
 *
 * Context: the stream lock is held. Return: as tern_sq_go_idle().
 */
bool tern_tx_go_idle(struct tern_stream *s);

/* run in the caller, for some turns, and then in softirq; Context: process, may sleep */
void tern_tx_run_here(struct tern_stream *s);

/**
 * tern_tx_finish() - flush in the caller what is posted
 * @s: a stream that has ended
 * @rung: as for tern_stream_flush()
 *
 * What it takes is flushed when this returns, unless a signal comes: then the rest is flushed
 * in softirq. It waits no longer, whatever a program posts and rings: the end of its QP may be
 * that of a device or a netns. Context: process, may sleep.
 */
void tern_tx_finish(struct tern_stream *s, bool rung);

#endif /* TERN_TX_SCHED_H */
