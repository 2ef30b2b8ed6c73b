// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* TCP's receive window: it reopens in time, and a flush frees memory while it is closed. */
#include <linux/delay.h>
#include <linux/rculist_nulls.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "kverbs.h"

#define BIG	300000
#define WRITES	120

/* the peer first probes a closed window after its RTO, which is longer than STALL */
#define RTO_MIN	(2 * HZ)
#define STALL	HZ

static __be16 port_of(const struct sockaddr_storage *sa)
{
	/* the port is at the same offset in both families */
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

struct sock *kv_sock(const struct kv_end *e)
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

int kv_wait_backlog(struct sock *sk)
{
	unsigned long end = jiffies + kv_timeout();

	while (!READ_ONCE(sk->sk_backlog.tail)) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "no segment came");
		usleep_range(100, 200);
	}
	return 0;
}

/* the window that the peer knows is at least a quarter of the possible one */
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

/* on a busy machine the default of 200 ms may end before the window is reopened */
static int raise_rto(struct kv_end *e, struct kv_pair *p)
{
	struct sock *sk = kv_sock(e);
	int ret;

	if (!sk)
		return kv_fail(-ENOTCONN, "end %s has no TCP connection", e->name);
	lock_sock(sk);
	WRITE_ONCE(inet_csk(sk)->icsk_rto_min, RTO_MIN);
	/* TCP applies the minimum in the first round trip, which is over: do it here */
	tcp_sk(sk)->mdev_max_us = jiffies_to_usecs(RTO_MIN);
	tcp_sk(sk)->rttvar_us = jiffies_to_usecs(RTO_MIN);
	release_sock(sk);
	/* it takes effect with the next round trip */
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
			return kv_fail(-ETIMEDOUT, "the advertised window is %u bytes of %u",
				       tcp_receive_window(tcp_sk(sk)),
				       tcp_sk(sk)->rcv_ssthresh);
		usleep_range(100, 200);
	}
	return 0;
}

/*
 * A process holds the socket lock of end b while Writes arrive. When it releases the lock,
 * TCP processes the backlog, which grows while the peer sends, until the window is closed,
 * since the whole backlog counts against it. A REG_MR of b, which sends nothing, waits for
 * the lock, so the device is the last to release it.
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
	sk = kv_sock(&t->pair.b);
	if (!sk)
		return kv_fail(-ENOTCONN, "end b has no TCP connection");
	ret = hold(t, sk, op);
	ret = ret ?: wait_open(sk);
	for (i = 1; i <= WRITES && !ret; i++)
		ret = kv_ok(&t->pair.a, &op[i]);
	sock_put(sk);
	return ret;
}

/* ---- memory that is freed while the peer's window is closed --------------------- */

#define PIECE	(1024 * 1024)
#define SGES	KV_MAX_SGE
#define READS	100
#define SNDBUF	(128 * 1024)
#define OURS	0x11
#define LATER	0xa5

/* one message, larger than TCP accepts: the engine stops in its middle */
static int post_send(struct kv_test *t, struct kv_op *op, struct kv_mem *src)
{
	struct ib_sge s[SGES];
	int i;

	for (i = 0; i < SGES; i++)
		s[i] = kv_sge(src, 0, PIECE);
	return kv_post_send(&t->pair.a, op, IB_WR_SEND, IB_SEND_SIGNALED, s,
			    SGES, 0);
}

static int post_recv(struct kv_test *t, struct kv_op *op, struct kv_mem *dst)
{
	struct ib_sge d[SGES];
	int i;

	for (i = 0; i < SGES; i++)
		d[i] = kv_sge(dst, 0, PIECE);
	return kv_post_recv(&t->pair.b, op, d, SGES);
}

/* send a well-formed FPDU with a wrong CRC; the caller holds the socket lock */
static int send_bad_fpdu(struct sock *sk)
{
	static u8 fpdu[24] = { 0, 18 };
	struct kvec vec = { .iov_base = fpdu, .iov_len = sizeof(fpdu) };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int n;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, sizeof(fpdu));
	n = tcp_sendmsg_locked(sk, &msg, sizeof(fpdu));
	if (n != sizeof(fpdu))
		return kv_fail(-EIO, "b sent %d bytes", n);
	return tcp_send_head(sk) ? kv_fail(-EAGAIN, "b's TCP keeps the bad FPDU") : 0;
}

static int wait_full(struct sock *sk)
{
	unsigned long end = jiffies + kv_timeout();

	while (sk_stream_is_writeable(sk)) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "a's send buffer never fills");
		usleep_range(1000, 2000);
	}
	return 0;
}

/*
 * End b does not read: we hold its socket lock, and its window is closed. Then it sends a
 * bad FPDU; a flushes @op, and the owner overwrites the memory.
 */
static int give_back(struct kv_test *t, struct kv_op *op, struct kv_mem *src,
		     struct sock *sk)
{
	struct sock *sk_a = kv_sock(&t->pair.a);
	int ret;

	if (!sk_a)
		return kv_fail(-ENOTCONN, "end a has no TCP connection");
	ret = wait_full(sk_a) ?: send_bad_fpdu(sk) ?:
	      kv_want(&t->pair.a, op, IB_WC_WR_FLUSH_ERR);
	sock_put(sk_a);
	memset(src->va, LATER, PIECE);
	return ret;
}

/* when b continues, it receives only data that was read before the flush */
static int nothing_later(struct kv_test *t, struct kv_mem *dst)
{
	int ret = kv_wait_gone(&t->pair.b) ?: kv_wait_gone(&t->pair.a);
	const u8 *at;

	if (ret)
		return ret;
	at = memchr(dst->va, LATER, PIECE);
	if (at)
		return kv_fail(-EBADMSG, "byte %zu was read after the flush",
			       (size_t)(at - (u8 *)dst->va));
	if (!memchr(dst->va, OURS, PIECE))
		return kv_fail(-EBADMSG, "nothing arrived");
	return kv_wait_event(&t->pair.b, IB_EVENT_QP_FATAL);
}

static int send_is_cut(struct kv_test *t)
{
	struct kv_mem *src = kv_mem(&t->pair.a, PIECE);
	struct kv_mem *dst = kv_mem(&t->pair.b, PIECE);
	struct kv_op *op = kv_ops(t, 2);
	struct sock *sk;
	int ret;

	if (!src || !dst || !op)
		return -ENOMEM;
	sk = kv_sock(&t->pair.b);
	if (!sk)
		return kv_fail(-ENOTCONN, "end b has no TCP connection");
	memset(src->va, OURS, PIECE);
	ret = post_recv(t, &op[1], dst);
	lock_sock(sk);
	ret = ret ?: post_send(t, &op[0], src) ?: give_back(t, &op[0], src, sk);
	release_sock(sk);
	sock_put(sk);
	return ret ?: nothing_later(t, dst);
}

/* bound the data that TCP of @e accepts */
static int limit_sndbuf(struct kv_end *e)
{
	struct sock *sk = kv_sock(e);

	if (!sk)
		return kv_fail(-ENOTCONN, "end %s has no TCP connection", e->name);
	lock_sock(sk);
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, SNDBUF);
	release_sock(sk);
	sock_put(sk);
	return 0;
}

static int post_reads(struct kv_test *t, struct kv_op *op, struct kv_mem *src,
		      struct kv_mem *dst)
{
	struct ib_sge d = kv_sge(dst, 0, PIECE);
	int i, ret = 0;

	for (i = 0; i < READS; i++)
		kv_op_init(&op[i], t);
	for (i = 0; i < READS && !ret; i++)
		ret = kv_post_rdma(&t->pair.b, &op[i], IB_WR_RDMA_READ,
				   IB_SEND_SIGNALED, &d, 1, src->dma,
				   t->pair.a.pd->unsafe_global_rkey);
	return ret ?: kv_ok(&t->pair.b, &op[0]);
}

/* while its lock is held a socket handles no ACK, so what it cannot send now stays */
static bool may_send(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	return !tcp_send_head(sk) && tcp_packets_in_flight(tp) < tcp_snd_cwnd(tp);
}

/* take b's socket lock while Read Responses are being sent, and its Requests have left */
static int stop_reading(struct kv_test *t, struct sock *sk, struct kv_op *op,
			struct kv_mem *src, struct kv_mem *dst)
{
	int tries, ret;

	for (tries = 0; tries < 20; tries++) {
		ret = post_reads(t, op, src, dst);
		lock_sock(sk);
		if (ret || (!completion_done(&op[READS - 3].done) && may_send(sk)))
			return ret;
		release_sock(sk);
		ret = kv_ok(&t->pair.b, &op[READS - 1]);
		if (ret)
			break;
	}
	lock_sock(sk);
	return ret ?: kv_fail(-EAGAIN, "b never stopped in the middle, with room to send");
}

/* the memory of a Read Response: a flushed receive reports that the QP failed */
static int response_is_cut(struct kv_test *t)
{
	struct kv_mem *src = kv_mem(&t->pair.a, PIECE);
	struct kv_mem *dst = kv_mem(&t->pair.b, PIECE);
	struct kv_op *op = kv_ops(t, READS + 1);
	struct sock *sk;
	int ret;

	if (!src || !dst || !op)
		return -ENOMEM;
	ret = limit_sndbuf(&t->pair.a) ?:
	      kv_post_recv(&t->pair.a, &op[READS], NULL, 0);
	sk = kv_sock(&t->pair.b);
	if (ret || !sk)
		return ret ?: kv_fail(-ENOTCONN, "end b has no TCP connection");
	memset(src->va, OURS, PIECE);
	ret = stop_reading(t, sk, op, src, dst) ?:
	      give_back(t, &op[READS], src, sk);
	release_sock(sk);
	sock_put(sk);
	return ret ?: nothing_later(t, dst);
}

const struct kv_case kv_window_cases[] = {
	{ "window__opens_after_the_socket_was_held", window_opens },
	{ "flush__stops_reading_a_send", send_is_cut },
	{ "flush__stops_reading_for_a_response", response_is_cut },
	{}
};
