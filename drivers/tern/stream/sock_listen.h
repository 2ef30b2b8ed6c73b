/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A listening TCP socket. */
#ifndef TERN_SOCK_LISTEN_H
#define TERN_SOCK_LISTEN_H

#include <linux/types.h>

struct mem_cgroup;
struct net;
struct sockaddr_storage;
struct tern_sock;
struct tern_sock_options;
struct tern_listen_sock;

/**
 * tern_listen_sock_open() - listen on an address
 * @net: in this netns; no reference is held, see tern_sock_release()
 * @addr: local address and port
 * @options: TOS and VRF of the socket, and of those that it accepts
 * @v6only: IPv6: take no IPv4 connections
 * @backlog: connections that may wait to be accepted
 * @ready: called from softirq when a connection waits
 * @arg: its argument
 *
 * Context: process. Return: the listener, or ERR_PTR().
 */
struct tern_listen_sock *tern_listen_sock_open(struct net *net,
					       const struct sockaddr_storage *addr,
					       const struct tern_sock_options *options,
					       bool v6only, int backlog,
					       void (*ready)(void *arg),
					       void *arg);

/* raise the backlog */
void tern_listen_sock_backlog(struct tern_listen_sock *l, int backlog);

/* tern_charge_begin() for the cgroup of the listening socket */
struct mem_cgroup *tern_listen_sock_charge(const struct tern_listen_sock *l);

/* Return: a connection, -EAGAIN when none waits, or an error */
struct tern_sock *tern_listen_sock_accept(struct tern_listen_sock *l);

/* accept no more, and let others listen there; Context: process */
void tern_listen_sock_stop(struct tern_listen_sock *l);

/* after the return @ready neither runs nor will run */
void tern_listen_sock_close(struct tern_listen_sock *l);

#endif /* TERN_SOCK_LISTEN_H */
