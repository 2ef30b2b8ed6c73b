// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Run the cases. The files in /sys/kernel/debug/tern_kverbs/ are
 *
 *	cases	names, one per line
 *	run	write a name: run the case; the write returns its error
 *	why	messages of the last case
 *	hold	write anything: connect, and wait for the removal of the device
 *	busy	the same with traffic, until both devices are removed
 *	waits	write anything: connect; when kverbs.sh has cut the path, post a request
 *		that waits for an answer, until the device is removed
 *	lost	write anything: Write to the peer and destroy the QP; kverbs.sh cuts the
 *		path before that and restores it afterwards
 *	fin	write anything: end a connection that the peer ends, too; kverbs.sh drops
 *		the FIN
 *	idle	write anything: connect, create one more QP, and report both numbers
 *	go	kverbs.sh writes Y when it has done its step
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "kverbs.h"

static int ns_a = -1;
module_param(ns_a, int, 0444);
MODULE_PARM_DESC(ns_a, "file descriptor of the client's netns; -1: of the loader");
static int ns_b = -1;
module_param(ns_b, int, 0444);
MODULE_PARM_DESC(ns_b, "file descriptor of the server's netns; -1: of the loader");
static char *addr_a = "10.7.0.1";
module_param(addr_a, charp, 0444);
MODULE_PARM_DESC(addr_a, "address of the client's device");
static char *addr_b = "10.7.0.2";
module_param(addr_b, charp, 0444);
MODULE_PARM_DESC(addr_b, "address of the server's device");
static unsigned int scale = 1;
module_param(scale, uint, 0444);
MODULE_PARM_DESC(scale, "how much slower than real this machine is");

static struct dentry *dir;
static struct net *net_a, *net_b;
static struct sockaddr_storage sa_a, sa_b;
/* one case runs at a time; guards why, too, which kv_fail() appends to without it */
static DEFINE_MUTEX(run_lock);
static DEFINE_SPINLOCK(why_lock);
static char why[1024];
static bool go;

static const struct kv_case * const groups[] = {
	kv_send_cases, kv_rdma_cases, kv_reg_cases, kv_poll_cases, kv_cq_cases,
	kv_post_cases, kv_drain_cases, kv_srq_cases, kv_fault_cases,
	kv_window_cases, kv_inside_cases, kv_abort_cases, kv_ulp_cases,
	kv_extension_cases,
};

int kv_fail(int ret, const char *fmt, ...)
{
	unsigned long flags;
	va_list args;
	size_t n;

	spin_lock_irqsave(&why_lock, flags);
	n = strlen(why);
	va_start(args, fmt);
	n += vscnprintf(why + n, sizeof(why) - n, fmt, args);
	va_end(args);
	scnprintf(why + n, sizeof(why) - n, "\n");
	spin_unlock_irqrestore(&why_lock, flags);
	return ret;
}

unsigned long kv_timeout(void)
{
	return 5 * HZ * max(scale, 1U);
}

int kv_wait_go(void)
{
	unsigned long end = jiffies + 4 * kv_timeout();

	while (!READ_ONCE(go)) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "kverbs.sh did not write to go in time");
		usleep_range(1000, 2000);
	}
	WRITE_ONCE(go, false);
	return 0;
}

struct net *kv_net(const struct kv_end *e)
{
	return e == &e->pair->a ? net_a : net_b;
}

const struct sockaddr_storage *kv_addr(const struct kv_end *e)
{
	return e == &e->pair->a ? &sa_a : &sa_b;
}

/* ---- running ----------------------------------------------------------------- */

static struct kv_test *new_test(const char *name)
{
	struct kv_test *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	t->name = name;
	INIT_LIST_HEAD(&t->mems);
	INIT_LIST_HEAD(&t->mrs);
	INIT_LIST_HEAD(&t->ops);
	return t;
}

static void end_test(struct kv_test *t)
{
	kv_pair_destroy(&t->pair);
	kv_pair_destroy(&t->by);
	/* the device may be removed together with the pair */
	kv_mr_release(t, NULL);
	kv_mem_release(t, NULL);
	kv_pair_close(&t->pair);
	kv_pair_close(&t->by);
	kv_op_release(t);
	kvfree(t);
}

static int run_case(const struct kv_case *c)
{
	struct kv_test *t = new_test(c->name);
	int ret;

	if (!t)
		return -ENOMEM;
	why[0] = 0;
	ret = kv_pair_open(t, &t->pair, &c->opts);
	if (!ret && c->opts.bystander)
		ret = kv_pair_open(t, &t->by, &c->opts);
	if (!ret)
		ret = c->run(t);
	if (!ret && c->opts.bystander) {
		ret = kv_pair_works(&t->by);
		if (ret)
			kv_fail(ret, "the other pair of QPs was affected");
	}
	if (ret && !why[0])
		kv_fail(ret, "error %d", ret);
	end_test(t);
	return ret;
}

static const struct kv_case *find_case(const char *name)
{
	const struct kv_case *c;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (c = groups[i]; c->name; c++)
			if (!strcmp(c->name, name))
				return c;
	return NULL;
}

static ssize_t run_write(struct file *file, const char __user *buf,
			 size_t len, loff_t *pos)
{
	const struct kv_case *c;
	char *name;
	int ret;

	name = memdup_user_nul(buf, min_t(size_t, len, 128));
	if (IS_ERR(name))
		return PTR_ERR(name);
	c = find_case(strim(name));
	kfree(name);
	if (!c)
		return -ENOENT;
	mutex_lock(&run_lock);
	ret = run_case(c);
	mutex_unlock(&run_lock);
	return ret ?: len;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.write = run_write,
};

static ssize_t hold_write(struct file *file, const char __user *buf,
			  size_t len, loff_t *pos)
{
	const struct kv_case *c = file_inode(file)->i_private;
	int ret;

	mutex_lock(&run_lock);
	ret = run_case(c);
	/* kverbs.sh must not read this case's words as the next one's */
	if (!ret || ret == -ERESTARTSYS)
		why[0] = 0;
	mutex_unlock(&run_lock);
	return ret ?: len;
}

static const struct file_operations hold_fops = {
	.owner = THIS_MODULE,
	.write = hold_write,
};

static int cases_show(struct seq_file *m, void *v)
{
	const struct kv_case *c;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (c = groups[i]; c->name; c++)
			seq_printf(m, "%s\n", c->name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cases);

static int why_show(struct seq_file *m, void *v)
{
	seq_puts(m, why);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(why);

/* ---- life -------------------------------------------------------------------- */

static struct net *get_ns(int fd)
{
	return fd < 0 ? get_net(current->nsproxy->net_ns) :
			get_net_ns_by_fd(fd);
}

static void make_files(void)
{
	const struct kv_case *c;

	dir = debugfs_create_dir("tern_kverbs", NULL);
	debugfs_create_file("cases", 0400, dir, NULL, &cases_fops);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("why", 0400, dir, NULL, &why_fops);
	debugfs_create_bool("go", 0600, dir, &go);
	for (c = kv_hold_cases; c->name; c++)
		debugfs_create_file(c->name, 0200, dir, (void *)c, &hold_fops);
}

static int __init kverbs_init(void)
{
	int ret;

	net_a = get_ns(ns_a);
	if (IS_ERR(net_a))
		return PTR_ERR(net_a);
	net_b = get_ns(ns_b);
	if (IS_ERR(net_b)) {
		ret = PTR_ERR(net_b);
		goto err_a;
	}
	ret = inet_pton_with_scope(net_a, AF_UNSPEC, addr_a, NULL, &sa_a) ?:
	      inet_pton_with_scope(net_b, AF_UNSPEC, addr_b, NULL, &sa_b);
	if (ret)
		goto err_b;
	make_files();
	return 0;

err_b:
	put_net(net_b);
err_a:
	put_net(net_a);
	return ret;
}

static void __exit kverbs_exit(void)
{
	debugfs_remove_recursive(dir);
	put_net(net_b);
	put_net(net_a);
}

module_init(kverbs_init);
module_exit(kverbs_exit);
MODULE_DESCRIPTION("Tests of kernel verbs");
MODULE_LICENSE("Dual BSD/GPL");
