// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The stream of bytes of a TCP connection: sending and reading it, what TCP knows of it,
 * and the room for what is received. The socket lock is held, but for what sock.h says.
 */
#include "sock.h"

#include <linux/bvec.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp.h>

/* a whole FPDU has to fit into the receive queue before any of it is taken */
#define RCVBUF_MIN	(512 * 1024)

/* ---- sending --------------------------------------------------------------- */

/* TCP copied into a fragment of 32 KiB, and keeps it for the next copy: give it back */
static void drop_frag(struct sock *sk)
{
	struct page_frag *frag = &sk->sk_frag;

	if (frag->page)
		put_page(frag->page);
	frag->page = NULL;
}

/*
 * When tcp_sendmsg_locked() has filled 16 packets it handles the backlog. Inside of the
 * backlog that would be packets after the one that TCP is not done with. Options may make
 * a segment as short as a quarter of the MSS.
 */
static size_t send_limit(const struct tern_sock *s)
{
	return s->in_backlog ? 4 * tcp_sk(s->sk)->mss_cache : SIZE_MAX;
}

/*
 * A peer decides how long what we send stays, and each piece of a block keeps all its 64 KiB,
 * of which TCP counts the piece. So when many may stay, TCP copies the small ones, and when much
 * stays, all but the large ones. Up to UNACKED_BYTES TCP keeps up to 32 times what it counts, and
 * 4 times of the rest; twice that if each burst lies in two blocks. A copy between two pieces has
 * a fragment of 32 KiB of its own.
 */
#define UNACKED_BLOCKS	64
#define UNACKED_BYTES	SZ_256K

static bool must_copy(const struct tern_sock *s, size_t len)
{
	if (len >= SZ_16K || (len >= SZ_2K && s->sk->sk_wmem_queued <= UNACKED_BYTES))
		return false;
	return tcp_send_head(s->sk) || tcp_sk(s->sk)->packets_out > UNACKED_BLOCKS;
}

int tern_sock_send_locked(struct tern_sock *s, struct bio_vec *bv,
			  unsigned int nr, size_t skip, size_t len, bool more)
{
	size_t limit = send_limit(s);
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int rc;

	sock_owned_by_me(s->sk);
	if (!s->sock)
		return -EPIPE;
	if (!must_copy(s, len)) {
		msg.msg_flags |= MSG_SPLICE_PAGES;
		drop_frag(s->sk);
	}
	if (more || len > limit)
		msg.msg_flags |= MSG_MORE;
	len = min(len, limit);
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, nr, skip + len);
	if (skip)
		iov_iter_advance(&msg.msg_iter, skip);
	s->sending = true;
	rc = tcp_sendmsg_locked(s->sk, &msg, len);
	s->sending = false;
	if (rc == -EAGAIN && tcp_rtx_and_write_queues_empty(s->sk))
		tern_sock_queue_retry(s);
	return rc;
}

/* ---- reading --------------------------------------------------------------- */

int tern_sock_read_locked(struct tern_sock *s, sk_read_actor_t actor,
			  void *arg)
{
	read_descriptor_t desc = { .arg.data = arg, .count = INT_MAX };

	sock_owned_by_me(s->sk);
	return s->sock ? tcp_read_sock(s->sk, &desc, actor) : 0;
}

static int take_all(read_descriptor_t *desc, struct sk_buff *skb,
		    unsigned int offset, size_t len)
{
	return len;
}

bool tern_sock_take_urgent_locked(struct tern_sock *s)
{
	struct tcp_sock *tp = tcp_sk(s->sk);

	sock_owned_by_me(s->sk);
	if (likely(!tp->urg_data))
		return false;
	/* tcp_read_sock() ignores SOCK_URGINLINE, and would end there */
	WRITE_ONCE(tp->urg_data, 0);
	return true;
}

void tern_sock_discard_locked(struct tern_sock *s)
{
	tern_sock_expect_locked(s, 1);
	tern_sock_take_urgent_locked(s);
	tern_sock_read_locked(s, take_all, NULL);
}

/* ---- what TCP knows -------------------------------------------------------- */

bool tern_sock_writable_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	if (!s->sock || sk_stream_is_writeable(s->sk))
		return true;
	/* the lock is held, so no ACK can make room before the flag is set */
	set_bit(SOCK_NOSPACE, &s->sock->flags);
	return false;
}

u32 tern_sock_mss_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	return tcp_sk(s->sk)->mss_cache;
}

u32 tern_sock_mss(const struct tern_sock *s)
{
	return READ_ONCE(tcp_sk(s->sk)->mss_cache);
}

static struct tern_sock_flow read_flow(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/* srtt_us is 8 times, mdev_us 4 times the value */
	return (struct tern_sock_flow) {
		.tx_bytes = tp->bytes_sent - tp->bytes_retrans,
		.rx_bytes = tp->bytes_received,
		.retransmits = tp->total_retrans,
		.rtt_us = tp->srtt_us >> 3,
		.rttvar_us = tp->mdev_us >> 2,
		.cwnd = tcp_snd_cwnd(tp),
		.path_error = READ_ONCE(sk->sk_err_soft),
	};
}

/*
 * Any user may ask for these. One that owned the socket for it, and lost its CPU, would hold
 * the connection up.
 */
void tern_sock_flow(struct tern_sock *s, struct tern_sock_flow *flow)
{
	local_bh_disable();
	bh_lock_sock(s->sk);
	/* an owner may write them at this moment */
	*flow = data_race(read_flow(s->sk));
	bh_unlock_sock(s->sk);
	local_bh_enable();
}

u32 tern_sock_pending_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	return s->sock ? tcp_inq(s->sk) : 0;
}

void tern_sock_shutdown_locked(struct tern_sock *s)
{
	struct sock *sk = s->sk;

	sock_owned_by_me(sk);
	if (sk->sk_shutdown & SEND_SHUTDOWN)
		return;
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	sk->sk_prot->shutdown(sk, SEND_SHUTDOWN);
}

bool tern_sock_drained_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	return (1 << s->sk->sk_state) &
	       (TCPF_FIN_WAIT2 | TCPF_TIME_WAIT | TCPF_CLOSE);
}

/* all but our FIN, which carries no data */
static bool all_acknowledged(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 fin = !!((1 << sk->sk_state) &
		     (TCPF_FIN_WAIT1 | TCPF_CLOSING | TCPF_LAST_ACK));

	return sk->sk_state == TCP_CLOSE ||
	       tp->write_seq - tp->snd_una <= fin;
}

bool tern_sock_unacked_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	return !all_acknowledged(s->sk);
}

u32 tern_sock_moved(const struct tern_sock *s, bool both)
{
	const struct tcp_sock *tp = tcp_sk(s->sk);
	u32 moved = READ_ONCE(tp->snd_una);

	return both ? moved + READ_ONCE(tp->rcv_nxt) : moved;
}

/*
 * Return: TCP's retransmission timeout, less a quarter of what it exceeds the round
 * trip by, in microseconds.
 */
static s64 resend_patience(const struct sock *sk)
{
	s64 rto = jiffies_to_usecs(inet_csk(sk)->icsk_rto);
	s64 rtt = min_t(s64, tcp_sk(sk)->srtt_us >> 3, rto);

	return rto - (rto - rtt) / 4;
}

s64 tern_sock_resend_locked(struct tern_sock *s)
{
	const struct sk_buff *oldest = tcp_rtx_queue_head(s->sk);
	struct sock *sk = s->sk;
	s64 waited;

	sock_owned_by_me(sk);
	if (all_acknowledged(sk))
		return S64_MAX;
	if (inet_csk(sk)->icsk_retransmits)
		return 0;
	/* with an empty retransmit queue, the peer's window is shut */
	if (oldest)
		waited = tcp_clock_us() - tcp_skb_timestamp_us(oldest);
	else
		waited = jiffies_to_usecs(tcp_jiffies32 - tcp_sk(sk)->lsndtime);
	return max(resend_patience(sk) - waited, 0LL);
}

bool tern_sock_eof_locked(struct tern_sock *s)
{
	struct sock *sk = s->sk;

	sock_owned_by_me(sk);
	if (!(sk->sk_shutdown & RCV_SHUTDOWN) && sk->sk_state != TCP_CLOSE)
		return false;
	return !tern_sock_pending_locked(s);
}

bool tern_sock_fin_seen_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	/* RCV_SHUTDOWN comes with a RST, too */
	return sock_flag(s->sk, SOCK_DONE);
}

bool tern_sock_dead_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	return !s->sock || s->sk->sk_err || s->sk->sk_state == TCP_CLOSE;
}

/* ---- room for what comes --------------------------------------------------- */

/* let the window grow with the queue, less TCP's overhead */
static void grow_rcvbuf(struct sock *sk, int size)
{
	sock_owned_by_me(sk);
	if (sk->sk_rcvbuf < size) {
		WRITE_ONCE(sk->sk_rcvbuf, size);
		tcp_sk(sk)->window_clamp = tcp_win_from_space(sk, size);
	}
}

void tern_sock_grow_rcvbuf(struct tern_sock *s)
{
	int max = READ_ONCE(sock_net(s->sk)->ipv4.sysctl_tcp_rmem[2]);

	tern_sock_lock(s);
	grow_rcvbuf(s->sk, min(max, RCVBUF_MIN));
	tern_sock_unlock(s);
}

/*
 * Below sk_rcvlowat TCP does not call data_ready, and acknowledges every second segment
 * even if the window does not advance. Else the bytes that are left in the queue would
 * delay the ACK, and a sender that waits for it would rest 40 ms inside an FPDU.
 */
static void set_rcvlowat(struct sock *sk, u32 len)
{
	if (sk->sk_rcvlowat != len)
		WRITE_ONCE(sk->sk_rcvlowat, len);
}

/*
 * TCP counts the memory that packets take, which may be many times their bytes: take what
 * it has learned of that, within bounds, since the peer chooses its packets.
 */
static void make_room(struct sock *sk, int len)
{
	grow_rcvbuf(sk, clamp(tcp_space_from_win(sk, 2 * len), 4 * len, 32 * len));
}

void tern_sock_expect_locked(struct tern_sock *s, u32 len)
{
	if (len > 1)
		make_room(s->sk, len);
	set_rcvlowat(s->sk, len);
}
