// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * One bug for each checker of the checked kernel, a data race, and a look that is too old when
 * its turn comes: uml-selftest and race-selftest check that the lanes find them. Nothing else
 * uses this module.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *bug = "";
module_param(bug, charp, 0444);

static int forty = 40;
module_param(forty, int, 0444);

static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);
static DEFINE_SPINLOCK(spin);

static noinline void planted_order(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);
	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

static noinline void planted_sleep(void)
{
	spin_lock(&spin);
	msleep(20);
	spin_unlock(&spin);
}

static noinline void planted_freed(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[8], 1);
}

static noinline void planted_shift(void)
{
	forty = 1 << READ_ONCE(forty);
}

struct timed {
	struct timer_list timer;
};

static void never(struct timer_list *t)
{
}

static noinline void planted_timer(void)
{
	struct timed *t = kzalloc(sizeof(*t), GFP_KERNEL);

	timer_setup(&t->timer, never, 0);
	mod_timer(&t->timer, jiffies + 1000 * HZ);
	kfree(t);
}

static noinline void planted_leak(void)
{
	char *p = kmalloc(192, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
}

static int shared;

static int count_plain(void *unused)
{
	while (!kthread_should_stop()) {
		shared++;
		cond_resched();
	}
	return 0;
}

static int count_marked(void *unused)
{
	while (!kthread_should_stop()) {
		WRITE_ONCE(shared, READ_ONCE(shared) + 1);
		cond_resched();
	}
	return 0;
}

/* two threads beside one another */
static void both(int (*count)(void *unused))
{
	struct task_struct *threads[2];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = kthread_run(count, NULL, "planted/%u", i);
	ssleep(2);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
}

static noinline void planted_race(void)
{
	both(count_plain);
}

static noinline void planted_marked(void)
{
	both(count_marked);
}

static void hold(void)
{
	spin_lock(&spin);
	spin_unlock(&spin);
}

/* The functions' own names, in parentheses, are no macros: the lane `race` has no pause here. */
static void hold_unpaused(void)
{
	(spin_lock)(&spin);
	(spin_unlock)(&spin);
}

/* turns of another thread, and those that came after a look and before the next */
static unsigned int turns, between;

static int look_twice(void *holds)
{
	void (*a_hold)(void) = holds;
	unsigned int seen, i;

	while (!kthread_should_stop()) {
		seen = READ_ONCE(turns);
		for (i = 0; i < 5; i++)
			a_hold();
		between += READ_ONCE(turns) - seen;
		usleep_range(20, 40);
	}
	return 0;
}

static void take_turns(void (*holds)(void))
{
	struct task_struct *thread = kthread_run(look_twice, holds, "planted");
	unsigned int i;

	if (IS_ERR(thread))
		return;
	for (i = 1; i <= 200; i++) {
		msleep(20);
		WRITE_ONCE(turns, i);
	}
	kthread_stop(thread);
	pr_warn("%s%u of 200 turns came between two looks\n",
		between > 20 ? "BUG: " : "", between);
}

static noinline void planted_split(void)
{
	take_turns(hold);
}

static noinline void planted_unpaused(void)
{
	take_turns(hold_unpaused);
}

static noinline void planted_oops(void)
{
	char *p = NULL;

	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[8], 1);
}

static const struct {
	const char *name;
	void (*plant)(void);
} bugs[] = {
	{ "order", planted_order },
	{ "sleep", planted_sleep },
	{ "freed", planted_freed },
	{ "shift", planted_shift },
	{ "timer", planted_timer },
	{ "leak", planted_leak },
	{ "race", planted_race },
	{ "marked", planted_marked },
	{ "split", planted_split },
	{ "unpaused", planted_unpaused },
	{ "oops", planted_oops },
};

static int __init planted_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(bug, bugs[i].name)) {
			bugs[i].plant();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("Bugs that the lab's checkers must find");
MODULE_LICENSE("Dual BSD/GPL");
