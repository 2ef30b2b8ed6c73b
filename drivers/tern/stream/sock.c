// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * One TCP connection under MPA (RFC 5044 5): its lifetime, callbacks, and lock.
 *
 * Lifetime: a tern_sock outlives its socket, which is released when the
 * connection is over (tern_sock_release()). The memory of struct sock stays
 * until the last reference is gone, since a QP that was attached uses the socket
 * lock as its own for as long as it exists.
 *
 * Callbacks: sk_user_data points to the tern_sock from wrap to release, @ops to
 * the owner's callbacks. Both change with sk_callback_lock held for writing,
 * and a callback runs with it held for reading, so a detached owner is never
 * called again.
 */
#include "sock.h"

#include <linux/net.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "charge.h"

#define RETRY_DELAY	msecs_to_jiffies(10)

static struct workqueue_struct *sock_wq;

/* ---- callbacks ---------------------------------------------------------- */

/* @fn may be called again, for what tern_sock_send_locked() finds in the backlog */
static void call_owner(struct tern_sock *s, void (*fn)(void *owner))
{
	bool was = s->in_backlog;

	s->in_backlog = sock_owned_by_user(s->sk);
	fn(s->owner);
	s->in_backlog = was;
}

static void data_ready(struct sock *sk)
{
	struct tern_sock *s;

	read_lock_bh(&sk->sk_callback_lock);
	s = sk->sk_user_data;
	if (s && s->ops)
		call_owner(s, s->ops->data_ready);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void state_change(struct sock *sk)
{
	struct tern_sock *s;

	read_lock_bh(&sk->sk_callback_lock);
	s = sk->sk_user_data;
	if (s && s->ops)
		call_owner(s, s->ops->state_change);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* TCP calls this from its own send path too: the owner is sending already */
static void write_space(struct sock *sk)
{
	struct tern_sock *s;

	read_lock_bh(&sk->sk_callback_lock);
	s = sk->sk_user_data;
	if (s) {
		s->saved_write_space(sk);
		if (s->ops && !s->sending && sk_stream_is_writeable(sk))
			s->ops->write_space(s->owner);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * Return: false when the socket belongs to others: a BPF program may put one that is
 * accepted into a sockmap before we see it
 */
static bool set_callbacks(struct tern_sock *s)
{
	struct sock *sk = s->sk;

	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data) {
		write_unlock_bh(&sk->sk_callback_lock);
		return false;
	}
	s->saved_data_ready = sk->sk_data_ready;
	s->saved_write_space = sk->sk_write_space;
	s->saved_state_change = sk->sk_state_change;
	sk->sk_data_ready = data_ready;
	sk->sk_write_space = write_space;
	sk->sk_state_change = state_change;
	sk->sk_user_data = s;
	write_unlock_bh(&sk->sk_callback_lock);
	return true;
}

static void clear_callbacks(struct tern_sock *s)
{
	struct sock *sk = s->sk;

	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data == s) {
		sk->sk_data_ready = s->saved_data_ready;
		sk->sk_write_space = s->saved_write_space;
		sk->sk_state_change = s->saved_state_change;
		sk->sk_user_data = NULL;
	}
	s->ops = NULL;
	s->owner = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
}

void tern_sock_set_owner(struct tern_sock *s, const struct tern_sock_ops *ops,
			 void *owner)
{
	write_lock_bh(&s->sk->sk_callback_lock);
	s->ops = ops;
	s->owner = owner;
	write_unlock_bh(&s->sk->sk_callback_lock);
}

void tern_sock_clear_owner(struct tern_sock *s, const void *owner)
{
	write_lock_bh(&s->sk->sk_callback_lock);
	if (s->owner == owner) {
		s->ops = NULL;
		s->owner = NULL;
	}
	write_unlock_bh(&s->sk->sk_callback_lock);
}

/* ---- lifetime ----------------------------------------------------------- */

/* nothing is in flight, so no ACK will call write_space: a timer does */
static void retry_write(struct work_struct *work)
{
	struct tern_sock *s = container_of(to_delayed_work(work),
					   struct tern_sock, retry_work);

	tern_sock_lock(s);
	read_lock_bh(&s->sk->sk_callback_lock);
	if (s->ops)
		s->ops->write_space(s->owner);
	read_unlock_bh(&s->sk->sk_callback_lock);
	tern_sock_unlock(s);
	tern_sock_put(s);
}

/*
 * A kernel socket holds no reference on its netns. If it were only released, a
 * connection that is not over would stay in TCP's tables, without the timers
 * that end it, and the cached routes would stay until the memory is freed: a QP
 * may keep it for much longer than the netns, which counts them, exists.
 * disconnect() drops both.
 */
static void close_socket(struct socket *sock)
{
	struct sock *sk = sock->sk;

	lock_sock(sk);
	sk->sk_prot->disconnect(sk, 0);
	release_sock(sk);
	sock_release(sock);
}

void tern_sock_release(struct tern_sock *s)
{
	struct socket *sock;

	clear_callbacks(s);
	lock_sock(s->sk);
	sock = s->sock;
	s->sock = NULL;
	release_sock(s->sk);
	/* no retry is queued any more: sending fails without @sock */
	if (cancel_delayed_work_sync(&s->retry_work))
		tern_sock_put(s);
	if (sock)
		close_socket(sock);
}

static void free_sock(struct kref *ref)
{
	struct tern_sock *s = container_of(ref, struct tern_sock, ref);

	WARN_ON_ONCE(s->sock);
	sock_put(s->sk);
	kfree(s);
}

void tern_sock_get(struct tern_sock *s)
{
	kref_get(&s->ref);
}

void tern_sock_put(struct tern_sock *s)
{
	kref_put(&s->ref, free_sock);
}

/* without the flag TCP may skip an urgent byte by itself, inside an FPDU */
void tern_sock_keep_urgent(struct sock *sk)
{
	lock_sock(sk);
	sock_set_flag(sk, SOCK_URGINLINE);
	release_sock(sk);
}

struct mem_cgroup *tern_sock_charge(const struct tern_sock *s)
{
	return tern_charge_begin(s->sk);
}

struct tern_sock *tern_sock_wrap(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct tern_sock *s;
	int ret;

	ret = tern_charge_sock(sk);
	if (ret)
		goto err_close;
	ret = -ENOMEM;
	s = kzalloc_obj(*s, GFP_KERNEL_ACCOUNT);
	if (!s)
		goto err_close;
	kref_init(&s->ref);
	INIT_DELAYED_WORK(&s->retry_work, retry_write);
	s->sock = sock;
	s->sk = sk;
	sock_hold(sk);

	tcp_sock_set_nodelay(sk);
	/* callbacks send too: in softirq, for no task, and under reclaim */
	sk->sk_allocation = GFP_ATOMIC | __GFP_NOWARN;
	sk->sk_use_task_frag = false;
	tern_sock_keep_urgent(sk);
	ret = -EBUSY;
	if (!set_callbacks(s))
		goto err_free;
	return s;

err_free:
	sock_put(sk);
	kfree(s);
err_close:
	close_socket(sock);
	return ERR_PTR(ret);
}

struct tern_sock *tern_sock_create(struct net *net, int family)
{
	struct socket *sock;
	int rc;

	rc = sock_create_kern(net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	return rc ? ERR_PTR(rc) : tern_sock_wrap(sock);
}

void tern_sock_abort(struct tern_sock *s)
{
	tcp_abort(s->sk, ECONNABORTED);
}

int tern_sock_error(struct tern_sock *s)
{
	return -READ_ONCE(s->sk->sk_err);
}

void tern_sock_queue_retry(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	tern_sock_get(s);
	if (!queue_delayed_work(sock_wq, &s->retry_work, RETRY_DELAY))
		tern_sock_put(s);
}

int tern_sock_init(void)
{
	sock_wq = alloc_workqueue("tern_sock", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return sock_wq ? 0 : -ENOMEM;
}

void tern_sock_exit(void)
{
	destroy_workqueue(sock_wq);
}

/* ---- the lock ----------------------------------------------------------- */

/*
 * In a process TCP charges what it sends and receives to the socket's cgroup with GFP_KERNEL,
 * whatever sk_allocation says. The reclaim for it must not wait for a disk or a file system that
 * uses this connection. No disk uses a program's, whose cgroup may swap; but file systems have
 * work on the workqueue whose worker may wait for this lock.
 */
void tern_sock_lock(struct tern_sock *s)
{
	unsigned int scope = READ_ONCE(s->swaps) ? PF_MEMALLOC_NOFS : PF_MEMALLOC_NOIO;

	scope = memalloc_flags_save(scope);
	lock_sock(s->sk);
	s->scope = scope;
}

/* is the window less than half of the room? Without the lock, this is a hint */
static bool window_is_shut(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 room = max(tcp_space(sk), 0);

	return (1 << READ_ONCE(sk->sk_state)) &
	       (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2) &&
	       2 * tcp_receive_window(tp) < min(room, READ_ONCE(tp->rcv_ssthresh));
}

/*
 * While release_sock() drains the backlog, sk_backlog.len still counts against
 * the window, so our ACKs can advertise a closed window. The callbacks have most often
 * read all data then, so no later read opens the window: without this ACK the
 * stream rests until the peer probes.
 */
static void open_window(struct sock *sk)
{
	local_bh_disable();
	bh_lock_sock(sk);
	/* a new owner of the socket does it when it unlocks */
	if (!sock_owned_by_user(sk) && window_is_shut(sk))
		__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
	bh_unlock_sock(sk);
	local_bh_enable();
}

void tern_sock_unlock(struct tern_sock *s)
{
	unsigned int scope = s->scope;

	release_sock(s->sk);
	/* open_window() looks again */
	if (data_race(window_is_shut(s->sk)))
		open_window(s->sk);
	memalloc_flags_restore(scope);
}

/* sparse cannot follow a lock that is held on only one of two returns */
bool tern_sock_trylock_bh(struct tern_sock *s)
{
	bh_lock_sock(s->sk);
	if (!sock_owned_by_user(s->sk)) {
		__release(&s->sk->sk_lock.slock);
		return true;
	}
	bh_unlock_sock(s->sk);
	return false;
}

void tern_sock_unlock_bh(struct tern_sock *s)
{
	__acquire(&s->sk->sk_lock.slock);
	bh_unlock_sock(s->sk);
}
