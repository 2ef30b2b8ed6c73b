/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * How a TCP connection begins: addresses, connect, the bytes of MPA's frames.
 * Context: process, the socket lock is not held.
 */
#ifndef TERN_SOCK_OPEN_H
#define TERN_SOCK_OPEN_H

#include <linux/socket.h>
#include <linux/types.h>

#include "sock.h"

struct tern_sock_addr {
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
};

/**
 * struct tern_sock_options - what a user asked of a socket
 * @vrf: ifindex of the VRF that it belongs to, or 0
 * @tos: IPv4 TOS or IPv6 traffic class of all that it sends
 * @tos_set: the user asked for @tos
 */
struct tern_sock_options {
	int vrf;
	u8 tos;
	bool tos_set;
};

/* both for a fresh socket that will listen: those that it accepts inherit the options */
int tern_sock_set_options(struct sock *sk, const struct tern_sock_options *options);
int tern_sock_bind(struct socket *sock, const struct sockaddr_storage *addr);

/**
 * tern_sock_connect() - bind and begin to connect; never waits
 * @s: fresh socket
 * @addr: from and to; a local port of 0 is chosen by TCP
 * @options: set before the route is looked up
 *
 * Return: 0 when the connection is under way or established; -EADDRINUSE when
 * another socket has the local port, unless only connections to other peers
 * have it, all by connect(); or another error.
 */
int tern_sock_connect(struct tern_sock *s, const struct tern_sock_addr *addr,
		      const struct tern_sock_options *options);

/* ifindex of the VRF that the socket belongs to, or 0; Context: any */
int tern_sock_vrf(const struct tern_sock *s);

/* an idle connection whose peer is gone ends after 4 * @seconds; 0: never */
void tern_sock_set_keepalive(struct tern_sock *s, unsigned int seconds);

/**
 * tern_sock_names() - both ends' addresses
 * @s: connected socket
 * @addr: result; an IPv4-mapped IPv6 address is given as IPv4
 *
 * Return: 0 or -ENOTCONN.
 */
int tern_sock_names(struct tern_sock *s, struct tern_sock_addr *addr);

/* any port; Context: any */
void tern_sock_clear_port(struct sockaddr_storage *addr);

enum tern_sock_phase {
	TERN_SOCK_CONNECTING,
	TERN_SOCK_OPEN,		/* established, or a half is closed */
	TERN_SOCK_DEAD,
};

enum tern_sock_phase tern_sock_phase(struct tern_sock *s);

/**
 * tern_sock_recv() - take bytes out of the receive queue; never waits
 * @s: socket
 * @buf: where to
 * @len: no more than this is consumed
 * @peek: consume nothing
 *
 * Return: bytes, 0 at the peer's FIN, -EAGAIN when the queue is empty, or the
 * connection's error.
 */
int tern_sock_recv(struct tern_sock *s, void *buf, size_t len, bool peek);

/*
 * Send a small frame as a whole, now; Return: 0 or an error. With _locked, the socket
 * lock is held. Context: process
 */
int tern_sock_send_frame(struct tern_sock *s, const void *buf, size_t len);
int tern_sock_send_frame_locked(struct tern_sock *s, const void *buf, size_t len);

#endif /* TERN_SOCK_OPEN_H */
