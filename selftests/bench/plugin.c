// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A plugin of QEMU (TCG): how often each block of instructions was executed between two
 * marks (mark.h). It writes lines "ADDRESS INSTRUCTIONS TIMES", in hexadecimal and twice
 * decimal, to PREFIX.1 at the first end mark, to PREFIX.2 at the next.
 *
 *	-plugin plugin.so,out=PREFIX
 *
 * Built with -DAPI=n: the version of QEMU's interface to ask for. One CPU.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"
#include "qemu_plugin.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = API;

/* a block as it was translated; one address may have several */
struct block {
	uint64_t addr;
	uint64_t insns;
	uint64_t times;
	struct block *next;
};

static struct block *blocks;
static const char *prefix = "count";

static void executed(unsigned int cpu, void *arg)
{
	struct block *b = arg;

	(void)cpu;
	b->times++;
}

static void begin_mark(unsigned int cpu, void *arg)
{
	(void)cpu;
	(void)arg;
	for (struct block *b = blocks; b; b = b->next)
		b->times = 0;
}

static void end_mark(unsigned int cpu, void *arg)
{
	static int number;
	char name[4096];
	FILE *f;

	(void)cpu;
	(void)arg;
	snprintf(name, sizeof(name), "%s.%d", prefix, ++number);
	f = fopen(name, "w");
	if (!f) {
		perror(name);
		exit(1);
	}
	for (struct block *b = blocks; b; b = b->next)
		if (b->times)
			fprintf(f, "%llx %llu %llu\n", (unsigned long long)b->addr,
				(unsigned long long)b->insns, (unsigned long long)b->times);
	fclose(f);
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	struct block *b = calloc(1, sizeof(*b));

	(void)id;
	if (!b)
		abort();
	b->addr = qemu_plugin_tb_vaddr(tb);
	b->insns = qemu_plugin_tb_n_insns(tb);
	b->next = blocks;
	blocks = b;
	if (b->addr == MARK_BEGIN)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, begin_mark, NO_REGS, NULL);
	else if (b->addr == MARK_END)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, end_mark, NO_REGS, NULL);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, NO_REGS, b);
}

/* @info: what QEMU is; nothing of it is used */
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			prefix = strdup(argv[i] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
