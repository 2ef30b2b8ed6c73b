// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Listening and accepting, for all connections that come to an address. */
#include "sock_listen.h"

#include <linux/net.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "charge.h"
#include "sock.h"
#include "sock_open.h"

/**
 * struct tern_listen_sock - a listening TCP socket
 * @sock: the socket
 * @ready: called when a connection waits
 * @arg: its argument
 * @saved_data_ready: TCP's own, which accepted sockets get back
 */
struct tern_listen_sock {
	struct socket *sock;
	void (*ready)(void *arg);
	void *arg;
	void (*saved_data_ready)(struct sock *sk);
};

/*
 * Connections that are not accepted yet inherit this callback, but not
 * sk_user_data.
 */
static void listen_data_ready(struct sock *sk)
{
	struct tern_listen_sock *l;

	read_lock_bh(&sk->sk_callback_lock);
	rcu_read_lock();
	l = rcu_dereference_sk_user_data(sk);
	rcu_read_unlock();
	/* sk_callback_lock keeps it: it changes only under that lock */
	if (l && sk->sk_state == TCP_LISTEN)
		l->ready(l->arg);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void listen_set_callbacks(struct tern_listen_sock *l)
{
	struct sock *sk = l->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	l->saved_data_ready = sk->sk_data_ready;
	sk->sk_data_ready = listen_data_ready;
	__rcu_assign_sk_user_data_with_flags(sk, l, SK_USER_DATA_NOCOPY);
	write_unlock_bh(&sk->sk_callback_lock);
}

static int listen_start(struct tern_listen_sock *l,
			const struct sockaddr_storage *addr, bool v6only,
			int backlog)
{
	int rc;

	sock_set_reuseaddr(l->sock->sk);
	tern_sock_keep_urgent(l->sock->sk);
	if (addr->ss_family == AF_INET6 && v6only) {
		rc = ip6_sock_set_v6only(l->sock->sk);
		if (rc)
			return rc;
	}
	rc = tern_sock_bind(l->sock, addr);
	if (rc)
		return rc;
	listen_set_callbacks(l);
	return kernel_listen(l->sock, backlog);
}

struct tern_listen_sock *tern_listen_sock_open(struct net *net,
					       const struct sockaddr_storage *addr,
					       const struct tern_sock_options *options,
					       bool v6only, int backlog,
					       void (*ready)(void *arg),
					       void *arg)
{
	struct tern_listen_sock *l;
	int rc;

	l = kzalloc_obj(*l, GFP_KERNEL);
	if (!l)
		return ERR_PTR(-ENOMEM);
	l->ready = ready;
	l->arg = arg;
	rc = sock_create_kern(net, addr->ss_family, SOCK_STREAM, IPPROTO_TCP,
			      &l->sock);
	if (rc)
		goto err_free;
	rc = tern_sock_set_options(l->sock->sk, options);
	if (!rc)
		rc = listen_start(l, addr, v6only, backlog);
	if (rc)
		goto err_close;
	return l;

err_close:
	tern_listen_sock_close(l);
	return ERR_PTR(rc);
err_free:
	kfree(l);
	return ERR_PTR(rc);
}

void tern_listen_sock_backlog(struct tern_listen_sock *l, int backlog)
{
	if (backlog > READ_ONCE(l->sock->sk->sk_max_ack_backlog))
		kernel_listen(l->sock, backlog);
}

struct mem_cgroup *tern_listen_sock_charge(const struct tern_listen_sock *l)
{
	return tern_charge_begin(l->sock->sk);
}

/* of the listening socket, or of a child, which inherits the callback */
static void restore_data_ready(struct tern_listen_sock *l, struct sock *sk)
{
	lockdep_assert_held_write(&sk->sk_callback_lock);
	if (sk->sk_data_ready == listen_data_ready)
		sk->sk_data_ready = l->saved_data_ready;
}

static void restore_child(struct tern_listen_sock *l, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	restore_data_ready(l, sk);
	write_unlock_bh(&sk->sk_callback_lock);
}

struct tern_sock *tern_listen_sock_accept(struct tern_listen_sock *l)
{
	struct socket *sock;
	int rc;

	rc = kernel_accept(l->sock, &sock, O_NONBLOCK);
	if (rc)
		return ERR_PTR(rc);
	restore_child(l, sock->sk);
	return tern_sock_wrap(sock);
}

void tern_listen_sock_stop(struct tern_listen_sock *l)
{
	kernel_sock_shutdown(l->sock, SHUT_RDWR);
}

void tern_listen_sock_close(struct tern_listen_sock *l)
{
	struct sock *sk = l->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	restore_data_ready(l, sk);
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(l->sock);
	kfree(l);
}
