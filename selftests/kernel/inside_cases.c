// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Segments of the peer that TCP processes inside tcp_sendmsg(). While a process holds the
 * socket lock, segments wait in the backlog, which TCP processes after each 16 segments
 * that it queues for sending. Here a segment has one MSS, the Send is one burst of some
 * 40, and the peer answers the first one at once, in softirq.
 */
#include <linux/delay.h>
#include <net/tcp.h>

#include "kverbs.h"

#define LEN	56000	/* less than a burst, which tern gives TCP at once */
#define SNDBUF	(1024 * 1024)

/**
 * struct inside - the pair's sockets and their events
 * @a: the socket that sends
 * @b: the socket that receives, and calls @answer once, at the first segment
 * @data_ready: the device's sk_data_ready of a and b
 * @state_change: the device's sk_state_change of a and b
 * @answer: how b answers; NULL: the device itself answers
 * @t: the case
 * @op: a second Send, which @answer posts
 * @start: TCP's sequence number of the Send
 * @answered: b has received the first segment
 * @seen: a callback of a has been called after that
 * @seen_at: number of bytes that TCP had accepted at that time
 * @end: how a's stream ended at b: 0: not yet, 1: FIN, or an error
 * @ret: result of @answer
 */
static struct inside {
	struct sock *a;
	struct sock *b;
	void (*data_ready[2])(struct sock *sk);
	void (*state_change[2])(struct sock *sk);
	void (*answer)(struct sock *sk);
	struct kv_test *t;
	struct kv_op *op;
	u32 start;
	bool answered;
	bool seen;
	u32 seen_at;
	int end;
	int ret;
} in;

/* ---- callbacks, called with the socket lock held ------------------------------------ */

static void see(struct sock *sk)
{
	if (sk == in.b || !in.answered || in.seen)
		return;
	in.seen = true;
	in.seen_at = tcp_sk(sk)->write_seq - in.start;
}

static void data_ready(struct sock *sk)
{
	see(sk);
	if (sk == in.b && !in.answered) {
		in.answered = true;
		if (in.answer)
			in.answer(sk);
	}
	in.data_ready[sk == in.b](sk);
}

static void state_change(struct sock *sk)
{
	see(sk);
	if (sk == in.b && !in.end)
		WRITE_ONCE(in.end, -sk->sk_err ?: !!(sk->sk_shutdown & RCV_SHUTDOWN));
	in.state_change[sk == in.b](sk);
}

static void hook(struct sock *sk)
{
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	in.data_ready[sk == in.b] = sk->sk_data_ready;
	in.state_change[sk == in.b] = sk->sk_state_change;
	sk->sk_data_ready = data_ready;
	sk->sk_state_change = state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

/* the device may have restored TCP's own callbacks */
static void unhook(struct sock *sk)
{
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_data_ready == data_ready)
		sk->sk_data_ready = in.data_ready[sk == in.b];
	if (sk->sk_state_change == state_change)
		sk->sk_state_change = in.state_change[sk == in.b];
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

/* ---- the Send ----------------------------------------------------------------------- */

/* one MSS per segment, and a send buffer that holds the whole Send */
static void cut_into_segments(struct sock *sk)
{
	lock_sock(sk);
	sk->sk_gso_max_segs = 1;
	tcp_sk(sk)->gso_segs = 1;
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, SNDBUF);
	in.start = tcp_sk(sk)->write_seq;
	release_sock(sk);
}

/* post, and hold the socket until the device waits for it: so it sends from a process */
static int post(struct kv_op *op, struct kv_mem *src)
{
	struct ib_sge s = kv_sge(src, 0, LEN);
	unsigned long end = jiffies + kv_timeout();
	int ret;

	lock_sock(in.a);
	ret = kv_post_send(&in.t->pair.a, op, IB_WR_SEND, IB_SEND_SIGNALED, &s, 1, 0);
	while (!ret && !wq_has_sleeper(&in.a->sk_lock.wq)) {
		if (time_after(jiffies, end))
			ret = kv_fail(-ETIMEDOUT, "the device does not wait for the socket");
		usleep_range(1000, 2000);
	}
	release_sock(in.a);
	return ret;
}

static int watch(struct kv_test *t, void (*answer)(struct sock *sk), struct kv_op *op)
{
	in = (struct inside) { .t = t, .op = op, .answer = answer };
	in.a = kv_sock(&t->pair.a);
	in.b = kv_sock(&t->pair.b);
	if (!in.a || !in.b)
		return kv_fail(-ENOTCONN, "an end has no TCP connection");
	cut_into_segments(in.a);
	hook(in.a);
	hook(in.b);
	return 0;
}

static void unwatch(void)
{
	if (in.a && in.b) {
		unhook(in.a);
		unhook(in.b);
	}
	if (in.a)
		sock_put(in.a);
	if (in.b)
		sock_put(in.b);
}

static int was_inside(void)
{
	if (in.ret)
		return kv_fail(in.ret, "the answer failed: %d", in.ret);
	if (in.seen && in.seen_at && in.seen_at < LEN)
		return 0;
	return kv_fail(-EAGAIN, "a saw the answer: %d, after %u bytes: not inside the Send",
		       in.seen, in.seen_at);
}

/* each Send has completed exactly once */
static int once(struct kv_op *op, int n)
{
	int i;

	usleep_range(20000, 30000);
	for (i = 0; i < n; i++)
		if (atomic_read(&op[i].hits) != 1)
			return kv_fail(-EPROTO, "%d completions of Send %d",
				       atomic_read(&op[i].hits), i);
	return 0;
}

/* ---- FIN ----------------------------------------------------------------------------- */

/* a Send that is posted before the peer's FIN is still sent, even in the same burst */
static void post_and_fin(struct sock *sk)
{
	in.ret = kv_post_send(&in.t->pair.a, in.op, IB_WR_SEND, IB_SEND_SIGNALED,
			      NULL, 0, 0);
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	sk->sk_prot->shutdown(sk, SEND_SHUTDOWN);
}

static int fin_comes(struct kv_test *t, struct kv_op *op, struct kv_mem *src,
		     struct kv_mem *dst)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct ib_sge d = kv_sge(dst, 0, LEN);

	kv_fill(src->va, LEN, 1, 0);
	return kv_post_recv(b, &op[2], &d, 1) ?: kv_post_recv(b, &op[3], NULL, 0) ?:
	       watch(t, post_and_fin, &op[1]) ?: post(&op[0], src) ?:
	       kv_ok(a, &op[0]) ?: kv_ok(a, &op[1]) ?:
	       kv_ok(b, &op[2]) ?: kv_ok(b, &op[3]) ?:
	       kv_check(dst->va, LEN, 1, 0) ?: kv_wait_gone(a) ?: kv_wait_gone(b) ?:
	       was_inside() ?: once(op, 2);
}

/* ---- RST ----------------------------------------------------------------------------- */

static void reset(struct sock *sk)
{
	in.ret = kv_post_send(&in.t->pair.a, in.op, IB_WR_SEND, IB_SEND_SIGNALED,
			      NULL, 0, 0);
	sk->sk_prot->disconnect(sk, 0);
	/* tcp_disconnect() wakes programs, but does not call the device */
	sk->sk_state_change(sk);
}

static int rst_comes(struct kv_test *t, struct kv_op *op, struct kv_mem *src,
		     struct kv_mem *dst)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct ib_sge d = kv_sge(dst, 0, LEN);
	int i, ret;

	ret = kv_post_recv(b, &op[2], &d, 1) ?: watch(t, reset, &op[1]) ?:
	      post(&op[0], src) ?: kv_wait(a, &op[0]) ?: kv_wait(a, &op[1]) ?:
	      kv_wait_gone(a) ?: kv_wait_gone(b) ?: was_inside();
	for (i = 0; i < 2 && !ret; i++)
		if (op[i].wc.status != IB_WC_WR_FLUSH_ERR)
			ret = kv_fail(-EPROTO, "Send %d ends with '%s'", i,
				      ib_wc_status_msg(op[i].wc.status));
	return ret ?: once(op, 2);
}

/* ---- Terminate ----------------------------------------------------------------------- */

static int wait_end(void)
{
	unsigned long end = jiffies + kv_timeout();

	while (!READ_ONCE(in.end)) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "b sees neither FIN nor reset");
		usleep_range(1000, 2000);
	}
	return in.end == -ECONNRESET ? 0 :
	       kv_fail(-EPROTO, "b sees %d (1: FIN), expected a reset", in.end);
}

/*
 * b has no receive posted, and sends a Terminate. It arrives before tcp_sendmsg() returned
 * how much of the burst it took, so a FIN could be in the middle of an FPDU: a resets the
 * connection.
 */
static int terminate_comes(struct kv_test *t, struct kv_op *op, struct kv_mem *src,
			   struct kv_mem *dst)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	int ret;

	ret = watch(t, NULL, NULL) ?: post(&op[0], src) ?: kv_wait(a, &op[0]) ?:
	      kv_wait_gone(a) ?: kv_wait_gone(b) ?: was_inside();
	if (!ret && op[0].wc.status == IB_WC_SUCCESS)
		ret = kv_fail(-EPROTO, "the Send succeeded");
	return ret ?: wait_end() ?: once(op, 1);
}

static int run(struct kv_test *t,
	       int (*comes)(struct kv_test *t, struct kv_op *op, struct kv_mem *src,
			    struct kv_mem *dst))
{
	struct kv_mem *src = kv_mem(&t->pair.a, LEN), *dst = kv_mem(&t->pair.b, LEN);
	struct kv_op *op = kv_ops(t, 4);
	int ret;

	if (!src || !dst || !op)
		return -ENOMEM;
	in = (struct inside) {};
	ret = comes(t, op, src, dst);
	unwatch();
	return ret;
}

static int fin_inside(struct kv_test *t)
{
	return run(t, fin_comes);
}

static int rst_inside(struct kv_test *t)
{
	return run(t, rst_comes);
}

static int terminate_inside(struct kv_test *t)
{
	return run(t, terminate_comes);
}

const struct kv_case kv_inside_cases[] = {
	{ "send__the_peers_fin_arrives_in_its_middle", fin_inside },
	{ "send__the_peers_rst_arrives_in_its_middle", rst_inside },
	{ "send__the_peers_terminate_arrives_in_its_middle", terminate_inside },
	{}
};
