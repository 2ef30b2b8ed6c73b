// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * How connections begin: connect, and sending and receiving MPA frames (RFC 5044
 * 7.1), before the socket has a stream.
 */
#include "sock_open.h"

#include <linux/net.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/sock.h>
#include <net/tcp.h>

/* this many unanswered probes end a connection */
#define KEEPALIVE_PROBES	3

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

/* TCP owns the two bits of ECN (RFC 3168), which ip_sock_set_tos() knows */
static void set_tos(struct sock *sk, u8 tos)
{
	ip_sock_set_tos(sk, tos);
#if IS_ENABLED(CONFIG_IPV6)
	lock_sock(sk);
	if (sk->sk_family == AF_INET6)
		inet6_sk(sk)->tclass = tos & ~INET_ECN_MASK;
	release_sock(sk);
#endif
}

int tern_sock_set_options(struct sock *sk, const struct tern_sock_options *options)
{
	if (options->tos_set)
		set_tos(sk, options->tos);
	return options->vrf ? sock_bindtoindex(sk, options->vrf, true) : 0;
}

int tern_sock_bind(struct socket *sock, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage copy = *addr;

	return kernel_bind(sock, tern_sockaddr(&copy), addr_len(&copy));
}

void tern_sock_clear_port(struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = 0;
	else
		((struct sockaddr_in6 *)addr)->sin6_port = 0;
}

/*
 * rdma_cm chooses ports without regard to TCP's: connections to other peers may
 * have this one, and then bind() refuses it. connect(), choosing from a range
 * of one port, shares it with connections that got it from connect(), and with
 * no other socket.
 */
static int leave_to_connect(struct sock *sk, u16 port)
{
	u32 range = (u32)port << 16 | port;
	int low, high;

	/* a port outside of the netns's range would be ignored */
	inet_get_local_port_range(sock_net(sk), &low, &high);
	if (port < low || port > high)
		return -EADDRINUSE;
	return ip_setsockopt(sk, SOL_IP, IP_LOCAL_PORT_RANGE,
			     KERNEL_SOCKPTR(&range), sizeof(range));
}

/* Return: 0, 1 when connect() has to choose the requested port, or an error */
static int bind_local(struct tern_sock *s, const struct sockaddr_storage *local)
{
	u16 port = ntohs(addr_port(local));
	struct sockaddr_storage addr = *local;
	int rc;

	if (port) {
		/* as usual: connections in TIME_WAIT do not block the port */
		sock_set_reuseaddr(s->sk);
		rc = tern_sock_bind(s->sock, local);
		if (rc != -EADDRINUSE)
			return rc;
		rc = leave_to_connect(s->sk, port);
		if (rc)
			return rc;
		tern_sock_clear_port(&addr);
	}
	inet_set_bit(BIND_ADDRESS_NO_PORT, s->sk);
	return tern_sock_bind(s->sock, &addr) ?: !!port;
}

int tern_sock_connect(struct tern_sock *s, const struct tern_sock_addr *addr,
		      const struct tern_sock_options *options)
{
	struct sockaddr_storage to = addr->remote;
	int left, rc;

	rc = tern_sock_set_options(s->sk, options);
	if (rc)
		return rc;
	left = bind_local(s, &addr->local);
	if (left < 0)
		return left;
	rc = kernel_connect(s->sock, tern_sockaddr(&to), addr_len(&to),
			    O_NONBLOCK);
	/* connect() could not share the port: give the error of bind() */
	if (left && rc == -EADDRNOTAVAIL)
		return -EADDRINUSE;
	return rc == -EINPROGRESS ? 0 : rc;
}

/* a socket of IPv6 link-local addresses is bound to the netdev, not to its VRF */
int tern_sock_vrf(const struct tern_sock *s)
{
	return l3mdev_master_ifindex_by_index(sock_net(s->sk),
					      READ_ONCE(s->sk->sk_bound_dev_if));
}

void tern_sock_set_keepalive(struct tern_sock *s, unsigned int seconds)
{
	if (!seconds)
		return;
	tcp_sock_set_keepidle(s->sk, seconds);
	tcp_sock_set_keepintvl(s->sk, seconds);
	tcp_sock_set_keepcnt(s->sk, KEEPALIVE_PROBES);
	sock_set_keepalive(s->sk);
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

int tern_sock_send_frame_locked(struct tern_sock *s, const void *buf, size_t len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int rc;

	sock_owned_by_me(s->sk);
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	/* for this frame alone TCP would allocate and clear a fragment of the socket, of 32 KiB */
	s->sk->sk_use_task_frag = true;
	rc = tcp_sendmsg_locked(s->sk, &msg, len);
	s->sk->sk_use_task_frag = false;
	if (rc < 0)
		return rc;
	/* the send buffer of a starting connection holds any frame */
	return rc == len ? 0 : -ENOBUFS;
}

int tern_sock_send_frame(struct tern_sock *s, const void *buf, size_t len)
{
	int rc;

	tern_sock_lock(s);
	rc = tern_sock_send_frame_locked(s, buf, len);
	tern_sock_unlock(s);
	return rc;
}
