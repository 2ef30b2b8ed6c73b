/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who is charged for a connection's memory. Most of it is allocated by workers, which
 * belong to nobody: they act for the memory cgroup of a socket that a process made,
 * the listener's or the connection's first one.
 */
#ifndef TERN_CHARGE_H
#define TERN_CHARGE_H

struct mem_cgroup;
struct sock;

/**
 * tern_charge_begin() - charge what this task allocates to the cgroup of a socket
 * @sk: with a reference until tern_charge_end()
 *
 * For GFP_KERNEL_ACCOUNT, and for sockets that tern_charge_sock() is called for.
 * Context: process; may nest. Return: for tern_charge_end().
 */
struct mem_cgroup *tern_charge_begin(const struct sock *sk);
void tern_charge_end(struct mem_cgroup *old);

/**
 * tern_charge_sock() - charge a new socket's buffers as well
 * @sk: just made or accepted; its lock is not held
 *
 * Does nothing outside of tern_charge_begin() and tern_charge_end(), nor where the
 * core charged it already. Context: process, may sleep. Return: 0, or -ENOMEM: the
 * cgroup may not have what has arrived so far.
 */
int tern_charge_sock(struct sock *sk);

#endif /* TERN_CHARGE_H */
