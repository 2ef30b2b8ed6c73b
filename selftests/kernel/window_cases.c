// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* TCP's window below a QP. */
#include <linux/delay.h>
#include <linux/rculist_nulls.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "kverbs.h"

#define BIG	300000
#define WRITES	120

/* the peer's first probe of a shut window comes behind its RTO, more than that */
#define RTO_MIN	(2 * HZ)
#define STALL	HZ

static __be16 port_of(const struct sockaddr_storage *sa)
{
	/* the same place in both families */
	return ((const struct sockaddr_in *)sa)->sin_port;
}

static bool is_of(const struct sock *sk, const struct kv_end *e)
{
	const struct rdma_addr *addr = &e->id->route.addr;

	return net_eq(sock_net(sk), kv_net(e)) &&
	       sk->sk_state == TCP_ESTABLISHED &&
	       sk->sk_num == ntohs(port_of(&addr->src_addr)) &&
	       sk->sk_dport == port_of(&addr->dst_addr);
}

/* the connection below an end's QP, with a reference */
static struct sock *find_sock(const struct kv_end *e)
{
	struct inet_hashinfo *h = kv_net(e)->ipv4.tcp_death_row.hashinfo;
	struct hlist_nulls_node *node;
	struct sock *sk, *found = NULL;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i <= h->ehash_mask && !found; i++)
		sk_nulls_for_each_rcu(sk, node, &h->ehash[i].chain)
			if (is_of(sk, e) &&
			    refcount_inc_not_zero(&sk->sk_refcnt)) {
				found = sk;
				break;
			}
	rcu_read_unlock();
	return found;
}

/* the peer knows of the room that there is, or of a good part of it */
static bool is_open(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool open;

	local_bh_disable();
	bh_lock_sock(sk);
	open = 4 * tcp_receive_window(tp) >= tp->rcv_ssthresh;
	bh_unlock_sock(sk);
	local_bh_enable();
	return open;
}

/* 200 ms would be over before a busy machine has run what opens the window */
static int raise_rto(struct kv_end *e, struct kv_pair *p)
{
	struct sock *sk = find_sock(e);
	int ret;

	if (!sk)
		return kv_fail(-ENOTCONN, "end %s has no TCP connection", e->name);
	lock_sock(sk);
	WRITE_ONCE(inet_csk(sk)->icsk_rto_min, RTO_MIN);
	/* a floor of the first round trip alone, which is past: as if it had been */
	tcp_sk(sk)->mdev_max_us = jiffies_to_usecs(RTO_MIN);
	tcp_sk(sk)->rttvar_us = jiffies_to_usecs(RTO_MIN);
	release_sock(sk);
	/* it counts from the next round trip on */
	ret = kv_pair_works(p) ?: kv_pair_works(p);
	if (!ret && READ_ONCE(inet_csk(sk)->icsk_rto) < RTO_MIN)
		ret = kv_fail(-EPROTO, "the RTO is %u ms",
			      jiffies_to_msecs(inet_csk(sk)->icsk_rto));
	sock_put(sk);
	return ret;
}

static int wait_open(struct sock *sk)
{
	unsigned long end = jiffies + STALL;

	while (!is_open(sk)) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "the peer knows of %u octets of %u",
				       tcp_receive_window(tcp_sk(sk)),
				       tcp_sk(sk)->rcv_ssthresh);
		usleep_range(100, 200);
	}
	return 0;
}

/*
 * A process holds the socket of end b while Writes come. What it does not let
 * in, the backlog, TCP works through when it lets go, and so long as the peer
 * goes on, there is more: until the window is shut, since a backlog counts
 * against it up to its end. At b a REG_MR waits for the socket meanwhile, work
 * that sends nothing: the socket's last user is the device.
 */
static int hold(struct kv_test *t, struct sock *sk, struct kv_op *op)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *src = kv_mem(a, BIG), *dst = kv_mem(b, BIG);
	struct kv_mr *m = kv_mr(b, 0, 4096, 1);
	struct ib_sge s;
	int i, ret;

	if (!src || !dst || !m)
		return -ENOMEM;
	s = kv_sge(src, 0, BIG);
	lock_sock(sk);
	ret = kv_post_reg(b, &op[0], IB_SEND_SIGNALED, m, m->mr->rkey, 0);
	for (i = 1; i <= WRITES && !ret; i++)
		ret = kv_post_rdma(a, &op[i], IB_WR_RDMA_WRITE,
				   IB_SEND_SIGNALED, &s, 1, dst->dma,
				   b->pd->unsafe_global_rkey);
	usleep_range(5000, 6000);
	release_sock(sk);
	return ret ?: kv_ok(b, &op[0]);
}

static int window_opens(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, WRITES + 1);
	int i, ret = op ? raise_rto(&t->pair.a, &t->pair) : -ENOMEM;
	struct sock *sk;

	if (ret)
		return ret;
	sk = find_sock(&t->pair.b);
	if (!sk)
		return kv_fail(-ENOTCONN, "end b has no TCP connection");
	ret = hold(t, sk, op);
	ret = ret ?: wait_open(sk);
	for (i = 1; i <= WRITES && !ret; i++)
		ret = kv_ok(&t->pair.a, &op[i]);
	sock_put(sk);
	return ret;
}

const struct kv_case kv_window_cases[] = {
	{ "window__opens_behind_a_held_socket", window_opens },
	{}
};
