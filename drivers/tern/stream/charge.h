/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The memory cgroup that is charged for a connection. Workers, which belong to
 * none, allocate most of its memory. They charge the cgroup of a socket that a
 * process created: the listener's, or the connection's first one.
 */
#ifndef TERN_CHARGE_H
#define TERN_CHARGE_H

struct mem_cgroup;
struct sock;

/**
 * tern_charge_begin() - charge what this task allocates to the cgroup of a socket
 * @sk: socket; the caller holds a reference until tern_charge_end()
 *
 * For GFP_KERNEL_ACCOUNT, and for sockets that tern_charge_sock() is called for.
 * Context: process; may nest. Return: for tern_charge_end().
 */
struct mem_cgroup *tern_charge_begin(const struct sock *sk);
void tern_charge_end(struct mem_cgroup *old);

/**
 * tern_charge_nobody() - charge what this task allocates to no cgroup
 *
 * A charge to a full cgroup waits until memory is reclaimed. This is for a task that holds a lock
 * which other programs need. The buffers of a socket that it creates are charged to its cgroup
 * nevertheless. Context: process; may nest. Return: for tern_charge_end().
 */
struct mem_cgroup *tern_charge_nobody(void);

/**
 * tern_charge_sock() - charge a new socket's buffers as well
 * @sk: just created or accepted; its lock is not held
 *
 * Does nothing outside of tern_charge_begin() and tern_charge_end(), nor where
 * the core charged it already. Context: process, may sleep. Return: 0, or
 * -ENOMEM: what has arrived so far exceeds the limit of the cgroup.
 */
int tern_charge_sock(struct sock *sk);

#endif /* TERN_CHARGE_H */
