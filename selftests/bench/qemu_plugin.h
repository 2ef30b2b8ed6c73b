/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * What plugin.c uses of QEMU's interface for plugins: functions that did not change between
 * versions 1 (QEMU 7.2) and 4 (10.0). Debian packages no header for it.
 */
#ifndef BENCH_QEMU_PLUGIN_H
#define BENCH_QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;

/* the last argument of a callback that looks at no register */
enum { NO_REGS = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
		void (*fn)(plugin_id id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
		void (*fn)(unsigned int cpu, void *arg), int flags, void *arg);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

#endif /* BENCH_QEMU_PLUGIN_H */
