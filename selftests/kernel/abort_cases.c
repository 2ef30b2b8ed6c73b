// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A QP that its owner aborts, as some ULPs do at an async event, while its Terminate waits
 * for the send engine. What makes this certain here: a process holds the socket lock when
 * the error is found, and a thread that is to abort the QP already waits for the lock. The
 * engine comes second.
 */
#include <linux/delay.h>
#include <linux/workqueue.h>
#include <net/tcp.h>

#include "kverbs.h"

/**
 * struct late - the end that finds the error
 * @b: end b of the pair
 * @sk: its socket
 * @data_ready: the device's sk_data_ready of it
 * @work: aborts the QP
 * @ret: its result
 */
static struct late {
	struct kv_end *b;
	struct sock *sk;
	void (*data_ready)(struct sock *sk);
	struct work_struct work;
	int ret;
} late;

static void hold_back(struct sock *sk)
{
}

static void set_data_ready(void (*data_ready)(struct sock *sk))
{
	write_lock_bh(&late.sk->sk_callback_lock);
	late.sk->sk_data_ready = data_ready;
	write_unlock_bh(&late.sk->sk_callback_lock);
}

/* an urgent byte: no FPDU can follow it */
static int send_bad_byte(struct kv_end *a)
{
	struct kvec byte = { .iov_base = "!", .iov_len = 1 };
	struct msghdr msg = { .msg_flags = MSG_OOB };
	struct sock *sk = kv_sock(a);
	int ret;

	if (!sk)
		return kv_fail(-ENOTCONN, "end a has no TCP connection");
	ret = kernel_sendmsg(sk->sk_socket, &msg, &byte, 1, 1);
	sock_put(sk);
	return ret == 1 ? 0 : kv_fail(-EPROTO, "the urgent byte: %d", ret);
}

static void abort_fn(struct work_struct *work)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	late.ret = ib_modify_qp(late.b->qp, &attr, IB_QP_STATE);
}

static bool byte_came(void)
{
	return READ_ONCE(tcp_sk(late.sk)->urg_data);
}

static bool abort_waits(void)
{
	return wq_has_sleeper(&late.sk->sk_lock.wq);
}

static int wait_until(bool (*is)(void), const char *what)
{
	unsigned long end = jiffies + kv_timeout();

	while (!is()) {
		if (time_after(jiffies, end))
			return kv_fail(-ETIMEDOUT, "%s", what);
		usleep_range(100, 200);
	}
	return 0;
}

/* the device finds the error now, and its engine may try to run */
static int find_error(void)
{
	int ret;

	lock_sock(late.sk);
	set_data_ready(late.data_ready);
	schedule_work(&late.work);
	ret = wait_until(abort_waits, "the abort does not wait for the socket");
	late.sk->sk_data_ready(late.sk);
	usleep_range(5000, 6000);
	release_sock(late.sk);
	flush_work(&late.work);
	return ret ?: late.ret;
}

static int run(struct kv_test *t)
{
	int ret;

	late.data_ready = late.sk->sk_data_ready;
	set_data_ready(hold_back);
	ret = send_bad_byte(&t->pair.a) ?: wait_until(byte_came, "no urgent byte");
	if (!ret)
		return find_error();
	set_data_ready(late.data_ready);
	return ret;
}

/* the peer learns of the error by the Terminate, not by a reset */
static int terminate_is_sent(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	int ret;

	late = (struct late) { .b = b, .sk = kv_sock(b) };
	if (!late.sk)
		return kv_fail(-ENOTCONN, "end b has no TCP connection");
	INIT_WORK(&late.work, abort_fn);
	ret = run(t) ?: kv_wait_event(b, IB_EVENT_QP_FATAL) ?:
	      kv_wait_event(a, IB_EVENT_QP_FATAL) ?: kv_wait_gone(a) ?:
	      kv_wait_gone(b);
	sock_put(late.sk);
	return ret;
}

const struct kv_case kv_abort_cases[] = {
	{ "abort__terminate_that_waits_is_sent", terminate_is_sent, { .bystander = true } },
	{}
};
