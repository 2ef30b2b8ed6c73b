// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A plain TCP server in the place of the victim, to compare with:
 *
 *	sink ADDRESS PORT
 *
 * It accepts connections, reads what comes and drops it.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

#define EVENTS	64

unsigned int test_failures;

void test_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "sink: %s:%d: %s\n", file, line, text);
}

void test_leave(void)
{
	exit(1);
}

static int start_listening(const char *address, const char *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	must(inet_pton(AF_INET, address, &at.sin_addr) == 1, "address %s", address);
	must(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, 64),
	     "listen: %m");
	return fd;
}

static void watch(int set, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	must(!epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), "epoll_ctl: %m");
}

static void take(int set, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		watch(set, fd);
}

static void drop(int fd)
{
	static char bytes[65536];

	if (read(fd, bytes, sizeof(bytes)) <= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS];
	int set = epoll_create1(EPOLL_CLOEXEC), listener, i, n;

	must(argc == 3 && set >= 0, "see the top of sink.c");
	listener = start_listening(argv[1], argv[2]);
	watch(set, listener);
	while ((n = epoll_wait(set, events, EVENTS, -1)) >= 0)
		for (i = 0; i < n; i++)
			if (events[i].data.fd == listener)
				take(set, listener);
			else
				drop(events[i].data.fd);
	return 1;
}
