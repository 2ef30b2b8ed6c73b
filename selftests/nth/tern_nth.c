// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Refuse the n-th call of a point of tern (points.h). In /sys/kernel/debug/tern_nth/:
 *
 *	points	read: a line per point that was reached, "FILE:LINE NAME CALLS REFUSED"
 *	fail	write "FILE:LINE NAME N": refuse the N-th call of that point from now on,
 *		once; write "-": none. Read: the order that is still open
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "points.h"

#define POINTS	256
#define NAME	64

struct point {
	char name[NAME];
	unsigned int calls;
	unsigned int refused;
};

static struct point points[POINTS];
static int n_points;
static char wanted[NAME];
static unsigned int left;
static DEFINE_RAW_SPINLOCK(lock);
static struct dentry *dir;

/* Called with the lock held. Return: 1 for the first point, and so on; 0: no room. */
static int number_of(const char *name)
{
	int i;

	for (i = 0; i < n_points; i++)
		if (!strcmp(points[i].name, name))
			return i + 1;
	if (n_points == POINTS)
		return 0;
	strscpy(points[n_points].name, name);
	return ++n_points;
}

bool tern_nth(int *id, const char *file, int line, const char *what)
{
	const char *slash = strrchr(file, '/');
	unsigned long flags;
	struct point *p;
	char name[NAME];
	bool refuse = false;

	/* with the folder */
	while (slash && slash > file && slash[-1] != '/')
		slash--;
	raw_spin_lock_irqsave(&lock, flags);
	if (!*id) {
		snprintf(name, sizeof(name), "%s:%d %s", slash ?: file, line, what);
		*id = number_of(name);
	}
	if (!WARN_ON_ONCE(!*id)) {
		p = &points[*id - 1];
		p->calls++;
		if (left && !strcmp(p->name, wanted) && !--left) {
			p->refused++;
			refuse = true;
		}
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return refuse;
}
EXPORT_SYMBOL(tern_nth);

static int points_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < READ_ONCE(n_points); i++)
		seq_printf(m, "%s %u %u\n", points[i].name, points[i].calls,
			   points[i].refused);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(points);

static ssize_t fail_read(struct file *file, char __user *buf, size_t len,
			 loff_t *pos)
{
	char text[NAME + 16];
	int n;

	raw_spin_lock_irq(&lock);
	n = left ? snprintf(text, sizeof(text), "%s %u\n", wanted, left) : 0;
	raw_spin_unlock_irq(&lock);
	return simple_read_from_buffer(buf, len, pos, text, n);
}

static ssize_t fail_write(struct file *file, const char __user *buf,
			  size_t len, loff_t *pos)
{
	char text[NAME + 16], *last;
	unsigned int n = 0;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	last = strrchr(strim(text), ' ');
	if (strcmp(text, "-")) {
		if (!last || kstrtouint(last + 1, 10, &n) || !n)
			return -EINVAL;
		*last = '\0';
	}
	raw_spin_lock_irq(&lock);
	strscpy(wanted, text);
	left = n;
	raw_spin_unlock_irq(&lock);
	return len;
}

static const struct file_operations fail_fops = {
	.owner = THIS_MODULE,
	.read = fail_read,
	.write = fail_write,
};

static int __init tern_nth_init(void)
{
	dir = debugfs_create_dir("tern_nth", NULL);
	debugfs_create_file("points", 0400, dir, NULL, &points_fops);
	debugfs_create_file("fail", 0600, dir, NULL, &fail_fops);
	return 0;
}

static void __exit tern_nth_exit(void)
{
	debugfs_remove_recursive(dir);
}

module_init(tern_nth_init);
module_exit(tern_nth_exit);
MODULE_DESCRIPTION("Refuse the n-th call of a point of tern");
MODULE_AUTHOR("The tern authors");
MODULE_LICENSE("Dual BSD/GPL");
