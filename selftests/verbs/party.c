// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* A process of another user, which a test controls by words over a socket. */
#define _GNU_SOURCE
#include "party.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conn.h"
#include "tap.h"

static int to_test;	/* in the party */

static void become(const char *netns, uid_t uid)
{
	must(!enter_netns(netns));
	if (uid) {
		must(!setgroups(0, NULL));
		must(!setresgid(uid, uid, uid));
		must(!setresuid(uid, uid, uid));
	}
	/* die with the test; setresuid() would clear an earlier setting */
	must(!prctl(PR_SET_PDEATHSIG, SIGKILL));
}

void party_start(struct party *p, const char *netns, uid_t uid, void (*does)(void))
{
	int fds[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	fflush(stdout);
	p->pid = fork();
	must(p->pid >= 0);
	if (!p->pid) {
		close(fds[0]);
		to_test = fds[1];
		become(netns, uid);
		does();
		next_word();
	}
	close(fds[1]);
	p->fd = fds[0];
}

void party_end(struct party *p)
{
	close(p->fd);
	kill(p->pid, SIGKILL);
	must(waitpid(p->pid, NULL, 0) == p->pid);
}

void party_send(struct party *p, int word)
{
	must(write(p->fd, &word, sizeof(word)) == sizeof(word));
}

int party_receive(struct party *p)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	int word = -1;

	must(poll(&pfd, 1, 2 * patience_ms()) == 1);
	must(read(p->fd, &word, sizeof(word)) == sizeof(word));
	return word;
}

void report(int word)
{
	must(write(to_test, &word, sizeof(word)) == sizeof(word));
}

/* Return: the next word; exits at the end of the socket, which is the end of the test */
int next_word(void)
{
	int word;

	if (read(to_test, &word, sizeof(word)) != sizeof(word))
		_exit(0);
	return word;
}

/* ---- descriptors ---------------------------------------------------------------- */

union rights {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

void send_fd(struct party *p, int fd)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	union rights u = {
		.head = { .cmsg_len = CMSG_LEN(sizeof(int)),
			  .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS },
	};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof(u),
	};

	memcpy(CMSG_DATA(&u.head), &fd, sizeof(fd));
	must(sendmsg(p->fd, &msg, 0) == 1);
}

int receive_fd(void)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union rights u;
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof(u),
	};
	int fd = -1;

	if (recvmsg(to_test, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* ---- objects --------------------------------------------------------------------- */

int tcp_bound(const char *ip, int port, bool reuse)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	bool v4 = inet_pton(AF_INET, ip, &in.sin_addr) == 1;
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM, 0), on = reuse;

	if (fd < 0 || (!v4 && inet_pton(AF_INET6, ip, &in6.sin6_addr) != 1))
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (v4 ? bind(fd, (struct sockaddr *)&in, sizeof(in)) :
		 bind(fd, (struct sockaddr *)&in6, sizeof(in6)))
		return -1;
	return fd;
}
