// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lifetime: a tern_sock outlives its socket. The socket is released when the
 * connection is over (tern_sock_release()) or with the last reference; struct
 * sock stays as memory and lock until then, since a QP takes the socket lock as
 * its own lock for as long as it exists.
 *
 * Callbacks: sk_user_data points to us from wrap to release; @ops says who is
 * told. Both change under sk_callback_lock held for writing, and a callback
 * runs with it held for reading, so a detached owner is never called again.
 */
#include <linux/bvec.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "sock.h"

/* a whole FPDU has to fit into the receive queue before any of it is taken */
#define RCVBUF_MIN	(512 * 1024)
#define RETRY_DELAY	msecs_to_jiffies(10)

static struct workqueue_struct *sock_wq;

/* ---- callbacks ---------------------------------------------------------- */

static void data_ready(struct sock *sk)
{
	struct tern_sock *s;

	read_lock_bh(&sk->sk_callback_lock);
	s = sk->sk_user_data;
	if (s && s->ops)
		s->ops->data_ready(s->owner);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void state_change(struct sock *sk)
{
	struct tern_sock *s;

	read_lock_bh(&sk->sk_callback_lock);
	s = sk->sk_user_data;
	if (s && s->ops)
		s->ops->state_change(s->owner);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* TCP calls this from its own send path too; the sender knows that already */
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

static void set_callbacks(struct tern_sock *s)
{
	struct sock *sk = s->sk;

	write_lock_bh(&sk->sk_callback_lock);
	s->saved_data_ready = sk->sk_data_ready;
	s->saved_write_space = sk->sk_write_space;
	s->saved_state_change = sk->sk_state_change;
	sk->sk_data_ready = data_ready;
	sk->sk_write_space = write_space;
	sk->sk_state_change = state_change;
	sk->sk_user_data = s;
	write_unlock_bh(&sk->sk_callback_lock);
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

/* nothing is in flight, so no ACK will call write_space: look again by time */
static void retry(struct work_struct *work)
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

void tern_sock_release(struct tern_sock *s)
{
	struct socket *sock;

	clear_callbacks(s);
	lock_sock(s->sk);
	sock = s->sock;
	s->sock = NULL;
	release_sock(s->sk);
	if (sock)
		sock_release(sock);
}

static void release_work(struct work_struct *work)
{
	struct tern_sock *s = container_of(work, struct tern_sock,
					   release_work);

	tern_sock_release(s);
	sock_put(s->sk);
	kfree(s);
}

static void queue_release(struct kref *ref)
{
	struct tern_sock *s = container_of(ref, struct tern_sock, ref);

	queue_work(sock_wq, &s->release_work);
}

void tern_sock_get(struct tern_sock *s)
{
	kref_get(&s->ref);
}

void tern_sock_put(struct tern_sock *s)
{
	kref_put(&s->ref, queue_release);
}

static void grow_rcvbuf(struct sock *sk)
{
	int max = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]);

	if (sk->sk_rcvbuf < min(max, RCVBUF_MIN))
		WRITE_ONCE(sk->sk_rcvbuf, min(max, RCVBUF_MIN));
}

struct tern_sock *tern_sock_wrap(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct tern_sock *s;

	s = kzalloc_obj(*s, GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	kref_init(&s->ref);
	INIT_WORK(&s->release_work, release_work);
	INIT_DELAYED_WORK(&s->retry_work, retry);
	s->sock = sock;
	s->sk = sk;
	sock_hold(sk);

	tcp_sock_set_nodelay(sk);
	/* TCP sends from our callbacks, on behalf of no task, under reclaim */
	sk->sk_allocation = GFP_ATOMIC | __GFP_NOWARN;
	sk->sk_use_task_frag = false;
	grow_rcvbuf(sk);
	set_callbacks(s);
	return s;
}

struct tern_sock *tern_sock_create(struct net *net, int family)
{
	struct tern_sock *s;
	struct socket *sock;
	int rc;

	rc = sock_create_kern(net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (rc)
		return ERR_PTR(rc);
	s = tern_sock_wrap(sock);
	if (IS_ERR(s))
		sock_release(sock);
	return s;
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

void tern_sock_lock(struct tern_sock *s)
{
	lock_sock(s->sk);
}

/* the peer knows of less than half of the room that there is: a hint unlocked */
static bool window_is_shut(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 room = max(tcp_space(sk), 0);

	return (1 << READ_ONCE(sk->sk_state)) &
	       (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2) &&
	       2 * tcp_receive_window(tp) < min(room, READ_ONCE(tp->rcv_ssthresh));
}

/*
 * release_sock() works through what came meanwhile, the backlog, and all of that
 * counts against the window until it is through. We read it there and then, so
 * each ACK tells of less room, a peer that goes on finds the window shut in the
 * end, and nothing is left that would make TCP open it: the next read would, if
 * something came. Without this the stream rests until the peer's probe.
 */
static void open_window(struct sock *sk)
{
	local_bh_disable();
	bh_lock_sock(sk);
	/* else it is for the one who has the socket now */
	if (!sock_owned_by_user(sk) && window_is_shut(sk))
		__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
	bh_unlock_sock(sk);
	local_bh_enable();
}

void tern_sock_unlock(struct tern_sock *s)
{
	release_sock(s->sk);
	if (window_is_shut(s->sk))
		open_window(s->sk);
}

/* sparse cannot follow a lock that is taken on one of two ways out */
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

/* ---- the stream --------------------------------------------------------- */

static void queue_retry(struct tern_sock *s)
{
	tern_sock_get(s);
	if (!queue_delayed_work(sock_wq, &s->retry_work, RETRY_DELAY))
		tern_sock_put(s);
}

int tern_sock_send_locked(struct tern_sock *s, struct bio_vec *bv,
			  unsigned int nr, size_t skip, size_t len, bool more)
{
	struct msghdr msg = {
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_SPLICE_PAGES,
	};
	int rc;

	sock_owned_by_me(s->sk);
	if (!s->sock)
		return -EPIPE;
	if (more)
		msg.msg_flags |= MSG_MORE;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, nr, skip + len);
	iov_iter_advance(&msg.msg_iter, skip);
	s->sending = true;
	rc = tcp_sendmsg_locked(s->sk, &msg, len);
	s->sending = false;
	if (rc == -EAGAIN && tcp_rtx_and_write_queues_empty(s->sk))
		queue_retry(s);
	return rc;
}

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

void tern_sock_discard_locked(struct tern_sock *s)
{
	tern_sock_read_locked(s, take_all, NULL);
}

bool tern_sock_writable_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	if (!s->sock || sk_stream_is_writeable(s->sk))
		return true;
	/* the lock is ours, so no ACK can slip in between */
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
	return s->sk->sk_shutdown & RCV_SHUTDOWN && !s->sk->sk_err;
}

bool tern_sock_dead_locked(struct tern_sock *s)
{
	sock_owned_by_me(s->sk);
	return !s->sock || s->sk->sk_err || s->sk->sk_state == TCP_CLOSE;
}

/* the window follows what the queue may hold, with TCP's overhead for it */
void tern_sock_expect_locked(struct tern_sock *s, u32 len)
{
	struct sock *sk = s->sk;

	sock_owned_by_me(sk);
	if (sk->sk_rcvbuf < 4 * len) {
		WRITE_ONCE(sk->sk_rcvbuf, 4 * len);
		tcp_sk(sk)->window_clamp = tcp_win_from_space(sk, 4 * len);
	}
}

void tern_sock_abort(struct tern_sock *s)
{
	tcp_abort(s->sk, ECONNABORTED);
}

int tern_sock_error(struct tern_sock *s)
{
	return -READ_ONCE(s->sk->sk_err);
}

/* ---- startup ------------------------------------------------------------ */

static int addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
					    sizeof(struct sockaddr_in6);
}

static __be16 addr_port(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ?
	       ((const struct sockaddr_in *)addr)->sin_port :
	       ((const struct sockaddr_in6 *)addr)->sin6_port;
}

static int bind_to(struct socket *sock, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage copy = *addr;

	return kernel_bind(sock, tern_sockaddr(&copy), addr_len(&copy));
}

int tern_sock_connect(struct tern_sock *s, const struct tern_sock_addr *addr)
{
	struct sockaddr_storage to = addr->remote;
	int rc;

	/* leave the choice of a port to connect(), which knows the peer */
	if (!addr_port(&addr->local))
		inet_set_bit(BIND_ADDRESS_NO_PORT, s->sk);
	else
		sock_set_reuseaddr(s->sk);
	rc = bind_to(s->sock, &addr->local);
	if (rc)
		return rc;
	rc = kernel_connect(s->sock, tern_sockaddr(&to), addr_len(&to),
			    O_NONBLOCK);
	return rc == -EINPROGRESS ? 0 : rc;
}

void tern_sock_set_tos(struct tern_sock *s, u8 tos)
{
	ip_sock_set_tos(s->sk, tos);
#if IS_ENABLED(CONFIG_IPV6)
	lock_sock(s->sk);
	if (s->sk->sk_family == AF_INET6)
		inet6_sk(s->sk)->tclass = tos;
	release_sock(s->sk);
#endif
}

static void unmap(struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (void *)addr;
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (addr->ss_family != AF_INET6 || !ipv6_addr_v4mapped(&in6->sin6_addr))
		return;
	in.sin_port = in6->sin6_port;
	in.sin_addr.s_addr = in6->sin6_addr.s6_addr32[3];
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, &in, sizeof(in));
}

int tern_sock_names(struct tern_sock *s, struct tern_sock_addr *addr)
{
	int rc;

	memset(addr, 0, sizeof(*addr));
	rc = kernel_getsockname(s->sock, (struct sockaddr *)&addr->local);
	if (rc < 0)
		return rc;
	rc = kernel_getpeername(s->sock, (struct sockaddr *)&addr->remote);
	if (rc < 0)
		return rc;
	unmap(&addr->local);
	unmap(&addr->remote);
	return 0;
}

enum tern_sock_phase tern_sock_phase(struct tern_sock *s)
{
	switch (inet_sk_state_load(s->sk)) {
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return TERN_SOCK_CONNECTING;
	case TCP_CLOSE:
		return TERN_SOCK_DEAD;
	default:
		return TERN_SOCK_OPEN;
	}
}

int tern_sock_recv(struct tern_sock *s, void *buf, size_t len, bool peek)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (peek ? MSG_PEEK : 0);
	struct msghdr msg = {};

	return kernel_recvmsg(s->sock, &msg, &vec, 1, len, flags);
}

int tern_sock_send(struct tern_sock *s, const void *buf, size_t len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int rc;

	rc = kernel_sendmsg(s->sock, &msg, &vec, 1, len);
	if (rc < 0)
		return rc;
	/* the send buffer of a starting connection holds any frame */
	return rc == len ? 0 : -ENOBUFS;
}

/* ---- listening ---------------------------------------------------------- */

/**
 * struct tern_listen_sock - a listening TCP socket
 * @sock: the socket
 * @ready: whom to tell
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
 * Also the callback of connections that nobody has accepted: they inherit it,
 * but not sk_user_data.
 */
static void listen_data_ready(struct sock *sk)
{
	struct tern_listen_sock *l;

	read_lock_bh(&sk->sk_callback_lock);
	rcu_read_lock();
	l = rcu_dereference_sk_user_data(sk);
	rcu_read_unlock();
	/* the lock keeps it: it changes under that lock only */
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
	grow_rcvbuf(l->sock->sk);
	if (addr->ss_family == AF_INET6 && v6only) {
		rc = ip6_sock_set_v6only(l->sock->sk);
		if (rc)
			return rc;
	}
	rc = bind_to(l->sock, addr);
	if (rc)
		return rc;
	listen_set_callbacks(l);
	return kernel_listen(l->sock, backlog);
}

struct tern_listen_sock *tern_listen_sock_open(struct net *net,
					       const struct sockaddr_storage *addr,
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

static void restore_child(struct tern_listen_sock *l, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_data_ready == listen_data_ready)
		sk->sk_data_ready = l->saved_data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

struct tern_sock *tern_listen_sock_accept(struct tern_listen_sock *l)
{
	struct socket *sock;
	struct tern_sock *s;
	int rc;

	rc = kernel_accept(l->sock, &sock, O_NONBLOCK);
	if (rc)
		return ERR_PTR(rc);
	restore_child(l, sock->sk);
	s = tern_sock_wrap(sock);
	if (IS_ERR(s))
		sock_release(sock);
	return s;
}

void tern_listen_sock_close(struct tern_listen_sock *l)
{
	struct sock *sk = l->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_data_ready == listen_data_ready)
		sk->sk_data_ready = l->saved_data_ready;
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(l->sock);
	kfree(l);
}
