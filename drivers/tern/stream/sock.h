/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A TCP connection; the files sock*.c are the only users of struct socket. Its callbacks
 * go to one owner at a time: during startup the connection endpoint, then the stream,
 * and the endpoint again while it lingers.
 */
#ifndef TERN_SOCK_H
#define TERN_SOCK_H

#include <linux/kref.h>
#include <linux/net.h>
#include <net/sock.h>

struct bio_vec;
struct mem_cgroup;
struct net;

/**
 * struct tern_sock_ops - callbacks to the owner of a socket
 * @data_ready: bytes or FIN are in the receive queue
 * @write_space: the send buffer has room again
 * @state_change: the TCP state changed (FIN, RST, established)
 *
 * The socket's callback lock is held for reading, bottom halves are off. So is
 * the socket lock: in softirq by bh_lock_sock() with no user owner, in process
 * context inside release_sock()'s backlog or lock_sock(). So callbacks may use
 * the *_locked() functions, take only BH-safe locks, and never sleep.
 */
struct tern_sock_ops {
	void (*data_ready)(void *owner);
	void (*write_space)(void *owner);
	void (*state_change)(void *owner);
};

/**
 * struct tern_sock - one TCP connection
 * @ref: references; the socket is released before the first one is put
 * @sock: the socket, NULL once released
 * @sk: the same, with a reference: its memory stays until @ref drops to 0
 * @ops: owner's callbacks, guarded by sk->sk_callback_lock; NULL when detached
 * @owner: argument of @ops, guarded likewise
 * @sending: tern_sock_send_locked() runs; guarded by the socket lock
 * @in_backlog: a callback runs for a packet that came while a process owned the socket;
 *	guarded likewise
 * @swaps: of a program's stream: reclaim may swap, see tern_sock_lock()
 * @scope: what tern_sock_lock() has changed, for tern_sock_unlock(); the owner's
 * @saved_data_ready: TCP's own callback
 * @saved_write_space: TCP's own
 * @saved_state_change: TCP's own
 * @retry_work: calls write_space after TCP found no memory with nothing in
 *	flight; holds a reference while it is queued
 */
struct tern_sock {
	struct kref ref;
	struct socket *sock;
	struct sock *sk;
	const struct tern_sock_ops *ops;
	void *owner;
	void (*saved_data_ready)(struct sock *sk);
	void (*saved_write_space)(struct sock *sk);
	void (*saved_state_change)(struct sock *sk);
	bool sending;
	bool in_backlog;
	bool swaps;
	unsigned int scope;
	struct delayed_work retry_work;
};

/**
 * tern_sock_wrap() - take a kernel TCP socket over
 * @sock: the socket; owned by the result, released on failure
 *
 * Sets TCP_NODELAY, SOCK_URGINLINE, sk_use_task_frag = false, sk_allocation =
 * GFP_ATOMIC | __GFP_NOWARN, and our callbacks (no owner yet). Context:
 * process. Return: the tern_sock with one reference, or ERR_PTR(): -ENOMEM, or
 * -EBUSY when a BPF sockmap has the socket.
 */
struct tern_sock *tern_sock_wrap(struct socket *sock);

/**
 * tern_sock_create() - a new TCP socket in a netns
 * @net: where; the socket holds no reference on it, see tern_sock_release()
 * @family: AF_INET or AF_INET6
 *
 * Context: process. Return: the wrapped socket, or ERR_PTR().
 */
struct tern_sock *tern_sock_create(struct net *net, int family);

/* tern_charge_begin() for the cgroup that is charged for @s */
struct mem_cgroup *tern_sock_charge(const struct tern_sock *s);

void tern_sock_get(struct tern_sock *s);

/* Context: any, but not under the socket lock, whose memory it may free */
void tern_sock_put(struct tern_sock *s);

/**
 * tern_sock_release() - detach the owner and release the socket now
 * @s: socket
 *
 * The structure and its lock stay valid while references are held; every
 * operation on the stream fails from here on. A kernel socket keeps no
 * reference on its netns, so this must happen before the netns ends;
 * idempotent. A connection that is not over is reset, unless both FINs were
 * sent and all that is missing is the acknowledgment of ours. After the return
 * no timer of it or of ours runs, and the socket holds no route of its netns.
 * Context: process, the socket lock is not held.
 */
void tern_sock_release(struct tern_sock *s);

/*
 * Keep urgent data in line; call it before the socket connects or listens.
 * Accepted sockets inherit it. Context: process.
 */
void tern_sock_keep_urgent(struct sock *sk);

/*
 * Make room for a whole FPDU. Call it only when the peer's MPA frame was good:
 * until then a peer gets no more buffer than TCP gives to any. Context:
 * process.
 */
void tern_sock_grow_rcvbuf(struct tern_sock *s);

/* module init and exit; after exit() all sockets are released */
int tern_sock_init(void);
void tern_sock_exit(void);

/* ---- the owner ------------------------------------------------------------ */

/**
 * tern_sock_set_owner() - route callbacks
 * @s: socket
 * @ops: NULL to detach: after the return no callback runs or will run
 * @owner: their argument
 *
 * Context: process or BH; not from inside a callback of the same socket.
 */
void tern_sock_set_owner(struct tern_sock *s, const struct tern_sock_ops *ops,
			 void *owner);

/* as tern_sock_set_owner(s, NULL, NULL), if @owner is the owner */
void tern_sock_clear_owner(struct tern_sock *s, const void *owner);

/* ---- the stream; the socket lock is held in all *_locked() -------------- */

/*
 * lock_sock() / release_sock() of the socket; process context. Between them reclaim enters no
 * file system and, but for a program's stream, does no I/O.
 */
void tern_sock_lock(struct tern_sock *s);
void tern_sock_unlock(struct tern_sock *s);

/**
 * tern_sock_trylock_bh() - take the socket from BH context
 * @s: socket
 *
 * Return: false when a process owns it. Undo with tern_sock_unlock_bh().
 */
bool tern_sock_trylock_bh(struct tern_sock *s);
void tern_sock_unlock_bh(struct tern_sock *s);

/**
 * tern_sock_send_locked() - hand page fragments to TCP, never waiting
 * @s: socket
 * @bv: fragments; TCP refers to their pages, or copies; the caller keeps its own references
 * @nr: how many
 * @skip: bytes of @bv already sent
 * @len: bytes to send after @skip
 * @more: more will follow at once
 *
 * Return: bytes taken (maybe fewer than @len), -EAGAIN when the send buffer is
 * full (write_space will be called), or the socket's error.
 */
int tern_sock_send_locked(struct tern_sock *s, struct bio_vec *bv,
			  unsigned int nr, size_t skip, size_t len, bool more);

/* nothing is in flight, so no ACK will come: a timer calls write_space; the lock is held */
void tern_sock_queue_retry(struct tern_sock *s);

/**
 * tern_sock_read_locked() - offer the receive queue to an actor
 * @s: socket
 * @actor: see tcp_read_sock(); 0 or less ends the walk
 * @arg: desc->arg.data of the actor
 *
 * Return: bytes consumed, or the first negative answer of the actor.
 */
int tern_sock_read_locked(struct tern_sock *s, sk_read_actor_t actor,
			  void *arg);

/**
 * tern_sock_take_urgent_locked() - did the peer use TCP's urgent pointer?
 * @s: socket
 *
 * An urgent byte stays in its place among the others. tern_sock_read_locked()
 * stops before it until this is called.
 *
 * Return: whether there was an urgent pointer since the last call.
 */
bool tern_sock_take_urgent_locked(struct tern_sock *s);

/* consume and drop what was received, urgent or not */
void tern_sock_discard_locked(struct tern_sock *s);

/* room in the send buffer: false arms write_space */
bool tern_sock_writable_locked(struct tern_sock *s);

/* EMSS now, bytes */
u32 tern_sock_mss_locked(struct tern_sock *s);

/* the same without the lock, also of a connection that is gone */
u32 tern_sock_mss(const struct tern_sock *s);

/**
 * struct tern_sock_flow - what TCP knows of a connection
 * @tx_bytes: bytes sent, each counted once
 * @rx_bytes: bytes that came in order
 * @retransmits: segments that were sent again
 * @rtt_us: smoothed round trip time (RFC 6298), 0 before it was measured
 * @rttvar_us: its variation
 * @cwnd: congestion window, segments
 * @path_error: what the network last reported and TCP survived, an errno, or 0
 */
struct tern_sock_flow {
	u64 tx_bytes;
	u64 rx_bytes;
	u32 retransmits;
	u32 rtt_us;
	u32 rttvar_us;
	u32 cwnd;
	int path_error;
};

/*
 * As of now, or when the connection ended, until tern_sock_release(). The owner of the socket
 * may change some values while others are read. Context: any but hardirq.
 */
void tern_sock_flow(struct tern_sock *s, struct tern_sock_flow *flow);

/* bytes received and not consumed */
u32 tern_sock_pending_locked(struct tern_sock *s);

/* send our FIN after all that was sent; idempotent */
void tern_sock_shutdown_locked(struct tern_sock *s);

/* all that we sent, FIN included, was acknowledged, or the connection is dead */
bool tern_sock_drained_locked(struct tern_sock *s);

/* TCP took bytes that the peer has not acknowledged */
bool tern_sock_unacked_locked(struct tern_sock *s);

/*
 * bytes that the peer acknowledged, with @both also those that came from it,
 * modulo 2^32; Context: any, no lock needed
 */
u32 tern_sock_moved(const struct tern_sock *s, bool both);

/**
 * tern_sock_resend_locked() - how soon does TCP's timer send bytes again?
 * @s: socket
 *
 * The answer is less than TCP's own timeout (RFC 6298), so that a caller that
 * waits this long acts first, but at least a round trip after the bytes were
 * sent. With the peer's window shut, the time counts from the last sending of
 * anything. Fast retransmission and TCP's tail loss probe are ignored.
 *
 * Return: microseconds; 0: now, or it has done so already; S64_MAX: never,
 * since nothing but our FIN is unacknowledged.
 */
s64 tern_sock_resend_locked(struct tern_sock *s);

/* true when the peer's FIN or RST was seen and the receive queue is empty */
bool tern_sock_eof_locked(struct tern_sock *s);

/* the peer's FIN came (bytes before it may still be in the queue) */
bool tern_sock_fin_seen_locked(struct tern_sock *s);

/* TCP gave the connection up: RST, timeout, or it was released */
bool tern_sock_dead_locked(struct tern_sock *s);

/*
 * The next @len bytes are read as a whole: make room for them in the receive queue. Until
 * they are there, data_ready is called only if the room runs out; FIN and RST call
 * state_change as ever.
 */
void tern_sock_expect_locked(struct tern_sock *s, u32 len);

/* RST at once; callbacks may still come until the owner is detached */
void tern_sock_abort(struct tern_sock *s);

/* pending error of the socket (negative) or 0 */
int tern_sock_error(struct tern_sock *s);

#endif /* TERN_SOCK_H */
