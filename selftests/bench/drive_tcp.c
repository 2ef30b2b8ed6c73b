// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Plain TCP between the ends of drive.c, to compare with. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "drive.h"
#include "../verbs/conn.h"

#define PORT 18600

static int a, b;
static char *out, *in;

static struct sockaddr_in address(const char *ip, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	NEED(inet_pton(AF_INET, ip, &sin.sin_addr) == 1);
	return sin;
}

static void set(int fd, int level, int option)
{
	int one = 1;

	NEED(!setsockopt(fd, level, option, &one, sizeof(one)));
}

void tcp_up(void)
{
	struct sockaddr_in to = address(getenv("IP_B"), PORT);
	int listener;

	NEED(!enter_netns("b"));
	listener = socket(AF_INET, SOCK_STREAM, 0);
	NEED(listener >= 0);
	set(listener, SOL_SOCKET, SO_REUSEADDR);
	NEED(!bind(listener, (struct sockaddr *)&to, sizeof(to)));
	NEED(!listen(listener, 1));
	NEED(!enter_netns("a"));
	a = socket(AF_INET, SOCK_STREAM, 0);
	NEED(a >= 0 && !connect(a, (struct sockaddr *)&to, sizeof(to)));
	b = accept(listener, NULL, NULL);
	NEED(b >= 0);
	set(a, IPPROTO_TCP, TCP_NODELAY);
	set(b, IPPROTO_TCP, TCP_NODELAY);
	out = calloc(1, opt.size);
	in = calloc(1, opt.size);
	NEED(out && in);
}

/* send what the socket takes of @left bytes */
static size_t push(size_t left)
{
	ssize_t n = send(a, out, left < opt.size ? left : opt.size, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	NEED(n > 0);
	return n;
}

static size_t pull(int flags)
{
	ssize_t n = recv(b, in, opt.size, flags);

	if (n < 0 && errno == EAGAIN)
		return 0;
	NEED(n > 0);
	return n;
}

/* up to DEPTH messages are under way */
void tcp_run(unsigned int messages)
{
	size_t to_push = (size_t)messages * opt.size, window = (size_t)opt.depth * opt.size;
	size_t under_way = 0, n;

	while (to_push || under_way) {
		n = 1;
		while (to_push && under_way < window && n) {
			n = push(to_push);
			to_push -= n;
			under_way += n;
		}
		under_way -= pull(0);
		while (under_way && (n = pull(MSG_DONTWAIT)))
			under_way -= n;
	}
}

static void pass(int from, int to)
{
	NEED(send(from, out, opt.size, 0) == (ssize_t)opt.size);
	NEED(recv(to, in, opt.size, MSG_WAITALL) == (ssize_t)opt.size);
}

void tcp_ping(unsigned int messages)
{
	for (; messages > 1; messages -= 2) {
		pass(a, b);
		pass(b, a);
	}
}
