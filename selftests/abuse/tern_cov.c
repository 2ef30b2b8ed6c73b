// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Which blocks of tern have run: the compiler calls __sanitizer_cov_trace_pc() in each, of a
 * tern that was built with -fsanitize-coverage=trace-pc. /sys/kernel/debug/tern_cov/covered
 * has a line for each block that did, the name of its function; `count` there, how many they are.
 * The kernel need not have KCOV: this is its hook alone, for one module.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

void __sanitizer_cov_trace_pc(void);

/* a flag for each byte of tern's text; tern_cov cannot go before tern, which calls it */
static u8 *ran;
static unsigned long base, size;
static struct dentry *dir;

/* in any context: no lock, and a store that others may do too */
notrace void __sanitizer_cov_trace_pc(void)
{
	unsigned long at = (unsigned long)__builtin_return_address(0) - READ_ONCE(base);

	if (at < READ_ONCE(size))
		WRITE_ONCE(ran[at], 1);
}
EXPORT_SYMBOL(__sanitizer_cov_trace_pc);

static int on_module(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = data;

	if (action != MODULE_STATE_COMING || strcmp(mod->name, "tern") || ran)
		return NOTIFY_DONE;
	ran = vzalloc(mod->mem[MOD_TEXT].size);
	if (!ran)
		return NOTIFY_DONE;
	WRITE_ONCE(base, (unsigned long)mod->mem[MOD_TEXT].base);
	/* ran and base before the size that lets them be used */
	smp_wmb();
	WRITE_ONCE(size, mod->mem[MOD_TEXT].size);
	return NOTIFY_OK;
}

static struct notifier_block nb = { .notifier_call = on_module };

static int covered_show(struct seq_file *m, void *unused)
{
	unsigned long i;

	for (i = 0; i < size; i++) {
		if (READ_ONCE(ran[i]))
			seq_printf(m, "%ps\n", (void *)(base + i - 1));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(covered);

static int count_show(struct seq_file *m, void *unused)
{
	unsigned long i, n = 0;

	for (i = 0; i < size; i++)
		n += READ_ONCE(ran[i]);
	seq_printf(m, "%lu\n", n);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(count);

static int __init tern_cov_init(void)
{
	int ret = register_module_notifier(&nb);

	if (ret)
		return ret;
	dir = debugfs_create_dir("tern_cov", NULL);
	debugfs_create_file("covered", 0400, dir, NULL, &covered_fops);
	debugfs_create_file("count", 0400, dir, NULL, &count_fops);
	return 0;
}

static void __exit tern_cov_exit(void)
{
	debugfs_remove_recursive(dir);
	unregister_module_notifier(&nb);
	vfree(ran);
}

module_init(tern_cov_init);
module_exit(tern_cov_exit);
MODULE_DESCRIPTION("Which blocks of tern have run");
MODULE_AUTHOR("The tern authors");
MODULE_LICENSE("Dual BSD/GPL");
