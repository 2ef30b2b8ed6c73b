// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The TCP side of the scripted peer. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conform.h"
#include "peer.h"

#define LISTENERS	64
#define ROOM_STEP	4096
#define CONNECT_MS	3000	/* leaves time to send a SYN twice */
#define SEND_MS		3000
#define CLOSE_MS	1000

static struct peer *peers;
static int listeners[LISTENERS];
static unsigned int nr_listeners;

/* ---- the last bytes, for the report ---- */

static void trace_add(struct trace *t, const uint8_t *data, size_t len)
{
	if (len > TRACE_LEN) {
		t->total += len - TRACE_LEN;
		data += len - TRACE_LEN;
		len = TRACE_LEN;
	}
	while (len--)
		t->bytes[t->total++ % TRACE_LEN] = *data++;
}

static void trace_print(const char *what, const struct trace *t)
{
	uint64_t at = t->total > TRACE_LEN ? t->total - TRACE_LEN : 0;
	unsigned int column = 0;

	printf("#   %s %llu bytes%s\n", what, (unsigned long long)t->total,
	       at ? ", the last of them:" : t->total ? ":" : "");
	for (; at < t->total; at++, column++) {
		if (column % 32 == 0)
			printf("%s#     %06llx ", column ? "\n" : "",
			       (unsigned long long)at);
		printf("%s%02x", column % 4 ? "" : " ", t->bytes[at % TRACE_LEN]);
	}
	if (column)
		printf("\n");
}

void peers_trace(void)
{
	static const char *const ends[] = { "open", "FIN received", "RST received" };
	const struct peer *p;

	for (p = peers; p; p = p->next) {
		printf("#   TCP port %u (%s)\n", p->port, ends[p->end]);
		trace_print("sent", &p->sent);
		trace_print("received", &p->received);
	}
}

/* ---- making and ending connections ---- */

static void resolve(const char *host, uint16_t port, struct sockaddr_storage *sa,
		    socklen_t *len)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	struct addrinfo *ai;
	int err;

	err = getaddrinfo(host, NULL, &hints, &ai);
	must(!err, "address %s: %s", host, gai_strerror(err));
	memcpy(sa, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	freeaddrinfo(ai);
	if (sa->ss_family == AF_INET6)
		((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)sa)->sin_port = htons(port);
}

static uint16_t local_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	must(!getsockname(fd, (struct sockaddr *)&sa, &len), "getsockname: %m");
	if (sa.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&sa)->sin6_port);
	return ntohs(((struct sockaddr_in *)&sa)->sin_port);
}

static void set_option(int fd, int level, int option, int value)
{
	must(!setsockopt(fd, level, option, &value, sizeof(value)), "setsockopt: %m");
}

static int new_socket(int family, const struct peer_tcp *how)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket: %m");
	if (how && how->mss)
		set_option(fd, IPPROTO_TCP, TCP_MAXSEG, how->mss);
	if (how && how->rcvbuf)
		set_option(fd, SOL_SOCKET, SO_RCVBUF, how->rcvbuf);
	return fd;
}

/* the runner closes @fd from now on */
static struct peer *new_peer(int fd)
{
	struct peer *p = calloc(1, sizeof(*p));
	unsigned int qn;

	must(p, "no memory");
	p->fd = fd;
	p->crc = true;
	p->version = 1;
	for (qn = 0; qn < 4; qn++)
		p->tx_msn[qn] = 1;
	memcpy(p->rx_msn, p->tx_msn, sizeof(p->rx_msn));
	p->next = peers;
	peers = p;
	return p;
}

static bool wait_for(int fd, short events, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	uint64_t end = now_ms() + ms;
	int left, n;

	do {
		left = end > now_ms() ? end - now_ms() : 0;
		n = poll(&pfd, 1, left);
		must(n >= 0 || errno == EINTR, "poll: %s", strerror(errno));
	} while (n < 0);
	return n;
}

struct peer *peer_connect(uint16_t port, const struct peer_tcp *how)
{
	struct sockaddr_storage sa;
	socklen_t len;
	struct peer *p;
	int err = 0;

	resolve(options.local, 0, &sa, &len);
	p = new_peer(new_socket(sa.ss_family, how));
	must(!bind(p->fd, (struct sockaddr *)&sa, len), "bind: %m");
	resolve(options.target, port, &sa, &len);
	must(!connect(p->fd, (struct sockaddr *)&sa, len) || errno == EINPROGRESS,
	     "connect: %m");
	must(wait_for(p->fd, POLLOUT, patience(CONNECT_MS)),
	     "TCP connection to port %u: time out", port);
	len = sizeof(err);
	must(!getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &err, &len), "getsockopt: %m");
	must(!err, "TCP connection to port %u: %s", port, strerror(err));
	set_option(p->fd, IPPROTO_TCP, TCP_NODELAY, 1);
	p->port = local_port(p->fd);
	return p;
}

/* let the last of listeners[] listen at a port of the kernel's choice; Return: the
 * port */
static uint16_t listen_somewhere(const struct peer_tcp *how)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd;

	resolve(options.local, 0, &sa, &len);
	fd = new_socket(sa.ss_family, how);
	listeners[nr_listeners++] = fd;
	must(!bind(fd, (struct sockaddr *)&sa, len), "bind: %m");
	must(!listen(fd, LISTENERS), "listen: %m");
	return local_port(fd);
}

/* Never reuse a port: a device remembers for a while that the peer at a port needed a
 * plain Request. */
uint16_t peer_listen(const struct peer_tcp *how)
{
	static bool served[UINT16_MAX + 1];
	uint16_t port;

	must(nr_listeners < LISTENERS, "too many listeners");
	while (served[port = listen_somewhere(how)])
		close(listeners[--nr_listeners]);
	served[port] = true;
	return port;
}

struct peer *peer_accept(int ms)
{
	struct pollfd pfds[LISTENERS];
	struct peer *p;
	unsigned int i;
	int fd;

	for (i = 0; i < nr_listeners; i++)
		pfds[i] = (struct pollfd){ .fd = listeners[i], .events = POLLIN };
	if (poll(pfds, nr_listeners, ms) <= 0)
		return NULL;
	for (i = 0; !pfds[i].revents; i++)
		;
	fd = accept4(listeners[i], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	must(fd >= 0, "accept: %m");
	p = new_peer(fd);
	set_option(p->fd, IPPROTO_TCP, TCP_NODELAY, 1);
	p->port = local_port(fd);
	return p;
}

void peer_close(struct peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

void peer_reset(struct peer *p)
{
	struct linger off = { .l_onoff = 1, .l_linger = 0 };

	if (p->fd >= 0)
		setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
	peer_close(p);
}

void peer_shutdown(struct peer *p)
{
	must(!shutdown(p->fd, SHUT_WR) || errno == ENOTCONN, "shutdown: %s",
	     strerror(errno));
}

void peers_close(void)
{
	struct peer *p;

	for (p = peers; p; p = p->next)
		peer_reset(p);
	while (nr_listeners)
		close(listeners[--nr_listeners]);
}

void peers_free(void)
{
	struct peer *p;

	while (peers) {
		p = peers;
		peers = p->next;
		free(p->in);
		free(p->ulpdu);
		free(p);
	}
}

/* ---- bytes ---- */

static void send_all(struct peer *p, const void *data, size_t len, int flags)
{
	const uint8_t *at = data;
	ssize_t n;

	while (len) {
		n = send(p->fd, at, len, MSG_NOSIGNAL | flags);
		if (n < 0 && errno == EAGAIN) {
			must(wait_for(p->fd, POLLOUT, patience(SEND_MS)),
			     "the device takes no more bytes");
			continue;
		}
		if (n < 0 && (errno == ECONNRESET || errno == EPIPE)) {
			p->cut = true;
			return;
		}
		must(n >= 0, "send: %s", strerror(errno));
		trace_add(&p->sent, at, n);
		at += n;
		len -= n;
	}
}

void peer_send(struct peer *p, const void *data, size_t len)
{
	send_all(p, data, len, 0);
}

void peer_send_urgent(struct peer *p, uint8_t byte)
{
	send_all(p, &byte, 1, MSG_OOB);
}

/*
 * TCP may hold back a small segment to join it with the next one (auto corking): wait
 * until it has left before the next one is written.
 */
static void wait_sent(struct peer *p)
{
	uint64_t end = now_ms() + patience(SEND_MS);
	int unsent = 0;

	while (!ioctl(p->fd, SIOCOUTQNSD, &unsent) && unsent && now_ms() < end)
		usleep(100);
}

void peer_send_pieces(struct peer *p, const void *data, size_t len, size_t piece)
{
	const uint8_t *at = data;
	size_t n;

	for (; len; at += n, len -= n) {
		n = len < piece ? len : piece;
		peer_send(p, at, n);
		wait_sent(p);
	}
}

static void make_room(struct peer *p)
{
	if (p->in_used) {
		p->in_len -= p->in_used;
		memmove(p->in, p->in + p->in_used, p->in_len);
		p->in_used = 0;
	}
	if (p->in_room - p->in_len >= ROOM_STEP)
		return;
	p->in_room = p->in_room * 2 + ROOM_STEP;
	p->in = realloc(p->in, p->in_room);
	must(p->in, "no memory");
}

/* Return: false when nothing came, or the stream ended */
static bool receive_more(struct peer *p, int ms)
{
	ssize_t n;

	if (p->end != PEER_OPEN || p->fd < 0 || !wait_for(p->fd, POLLIN, ms))
		return false;
	make_room(p);
	n = recv(p->fd, p->in + p->in_len, p->in_room - p->in_len, 0);
	if (n <= 0) {
		p->end = n || p->cut ? PEER_RST : PEER_FIN;
		return false;
	}
	trace_add(&p->received, p->in + p->in_len, n);
	p->in_len += n;
	return true;
}

size_t peer_look(struct peer *p, size_t want, int ms, const uint8_t **at)
{
	uint64_t end = now_ms() + ms;
	uint64_t now;

	while (p->in_len - p->in_used < want) {
		now = now_ms();
		if (!receive_more(p, now < end ? end - now : 0))
			break;
	}
	*at = p->in + p->in_used;
	return p->in_len - p->in_used;
}

void peer_take(struct peer *p, size_t len)
{
	p->in_used += len;
}

size_t peer_recv(struct peer *p, void *buf, size_t len, int ms)
{
	const uint8_t *at;
	size_t n = peer_look(p, 1, ms, &at);

	if (n > len)
		n = len;
	if (n)
		memcpy(buf, at, n);
	peer_take(p, n);
	return n;
}

enum peer_end peer_wait_end(struct peer *p, int ms)
{
	uint64_t end = now_ms() + ms;
	uint64_t now;

	do {
		p->in_used = p->in_len;
		now = now_ms();
	} while (receive_more(p, now < end ? end - now : 0));
	return p->end;
}

static void no_bytes(struct peer *p, int ms)
{
	const uint8_t *at;
	size_t n = peer_look(p, 1, ms, &at);

	must(!n, "the device sent %zu bytes instead of closing", n);
}

void must_close_silently(struct peer *p)
{
	no_bytes(p, patience(CLOSE_MS));
	must(p->end != PEER_OPEN, "the device did not close within %d ms",
	     patience(CLOSE_MS));
}

void must_fin_silently(struct peer *p)
{
	must_close_silently(p);
	must(p->end == PEER_FIN, "the device sent RST, not FIN");
}

void must_be_silent(struct peer *p, int ms)
{
	const uint8_t *at;
	size_t n = peer_look(p, 1, ms, &at);

	must(!n, "the device sent %zu bytes instead of nothing", n);
	must(p->end == PEER_OPEN, "the device closed (%s)",
	     p->end == PEER_FIN ? "FIN" : "RST");
}
