// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The files in /sys/kernel/debug/tern_near/ are
 *
 *	enter	"STATE ADDRESS PORT FIRST": bring a connection to the state, and return when
 *		it has ended or the writer has a signal. Then FIRST is closed before the rest.
 *	said	words: "listening", "ready", and how it ended
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "near_kernel.h"

static struct dentry *dir;
/* one end at a time */
static DEFINE_MUTEX(enter_lock);
static DEFINE_SPINLOCK(said_lock);
static char said[256];

void near_say(const char *word)
{
	spin_lock(&said_lock);
	strlcat(said, word, sizeof(said));
	strlcat(said, "\n", sizeof(said));
	spin_unlock(&said_lock);
}

static int enter(struct near *n, char *line)
{
	char *name = strsep(&line, " "), *address = strsep(&line, " ");
	char *port = strsep(&line, " ");
	struct sockaddr_storage addr;
	int ret;

	if (!port || !line)
		return -EINVAL;
	n->state = near_find_state(name);
	if (!n->state)
		return -ENOENT;
	ret = inet_pton_with_scope(current->nsproxy->net_ns, AF_INET, address, port, &addr);
	if (ret)
		return ret;
	ret = near_open(n, &addr);
	if (!ret) {
		near_say("ready");
		wait_event_interruptible(n->wait, READ_ONCE(n->over));
	}
	near_close(n, line);
	return ret;
}

static ssize_t enter_write(struct file *file, const char __user *buf, size_t len,
			   loff_t *pos)
{
	char *line = memdup_user_nul(buf, min_t(size_t, len, 128));
	struct near *n = kzalloc(sizeof(*n), GFP_KERNEL);
	int ret = -ENOMEM;

	if (IS_ERR(line)) {
		kfree(n);
		return PTR_ERR(line);
	}
	if (n) {
		init_waitqueue_head(&n->wait);
		mutex_lock(&enter_lock);
		said[0] = 0;
		ret = enter(n, strim(line));
		near_say(ret ? "failed" : "ended");
		mutex_unlock(&enter_lock);
	}
	kfree(n);
	kfree(line);
	return ret ?: len;
}

static const struct file_operations enter_fops = {
	.owner = THIS_MODULE,
	.write = enter_write,
};

static int said_show(struct seq_file *m, void *v)
{
	seq_puts(m, said);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(said);

static int __init near_init(void)
{
	dir = debugfs_create_dir("tern_near", NULL);
	debugfs_create_file("enter", 0200, dir, NULL, &enter_fops);
	debugfs_create_file("said", 0400, dir, NULL, &said_fops);
	return 0;
}

static void __exit near_exit(void)
{
	debugfs_remove_recursive(dir);
}

module_init(near_init);
module_exit(near_exit);
MODULE_DESCRIPTION("A kernel user whose connection is in a given state");
MODULE_LICENSE("Dual BSD/GPL");
