// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Charge the memory of connections to the memory cgroup of a program. */
#include "charge.h"

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <net/sock.h>

#ifdef CONFIG_MEMCG

struct mem_cgroup *tern_charge_begin(const struct sock *sk)
{
	/* the socket holds a reference on it until tern_charge_end() */
	return set_active_memcg(sk->sk_memcg);
}

void tern_charge_end(struct mem_cgroup *old)
{
	set_active_memcg(old);
}

/* root_mem_cgroup, which is not exported by all kernels; it never goes */
static struct mem_cgroup *root_group(void)
{
	struct mem_cgroup *memcg, *parent;

	if (mem_cgroup_disabled())
		return NULL;
	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	while ((parent = parent_mem_cgroup(memcg)))
		memcg = parent;
	rcu_read_unlock();
	return memcg;
}

struct mem_cgroup *tern_charge_nobody(void)
{
	return set_active_memcg(root_group());
}

/*
 * The core charges an accepted socket to the task that accepts it, and has no
 * call to charge another cgroup. TCP uncharges by the page what it charged, so
 * the pages that the socket has already are scheduled a second time, charged to
 * the cgroup, and the first ones are returned without a cgroup.
 */
static int move_pages(struct sock *sk, struct mem_cgroup *memcg)
{
	int pages = sk_mem_pages(sk->sk_forward_alloc +
				 atomic_read(&sk->sk_rmem_alloc));

	sk->sk_memcg = memcg;
	if (!pages)
		return 0;
	if (!__sk_mem_schedule(sk, pages << PAGE_SHIFT, SK_MEM_RECV)) {
		sk->sk_memcg = NULL;
		return -ENOMEM;
	}
	sk->sk_memcg = NULL;
	__sk_mem_reclaim(sk, pages << PAGE_SHIFT);
	sk->sk_memcg = memcg;
	return 0;
}

int tern_charge_sock(struct sock *sk)
{
	struct mem_cgroup *memcg = current->active_memcg;
	int ret;

	if (!memcg || !mem_cgroup_sockets_enabled)
		return 0;
	lock_sock(sk);
	if (sk->sk_memcg) {
		release_sock(sk);
		return 0;
	}
	/* put when the socket is freed */
	css_get(&memcg->css);
	ret = move_pages(sk, memcg);
	if (ret)
		css_put(&memcg->css);
	release_sock(sk);
	return ret;
}

#else

struct mem_cgroup *tern_charge_begin(const struct sock *sk)
{
	return NULL;
}

void tern_charge_end(struct mem_cgroup *old)
{
}

struct mem_cgroup *tern_charge_nobody(void)
{
	return NULL;
}

int tern_charge_sock(struct sock *sk)
{
	return 0;
}

#endif /* CONFIG_MEMCG */
