// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A file server and its client, plain TCP programs in the calls that
 * librspreload knows; nothing in here knows of RDMA.
 *
 *	rsockets_file serve ADDRESS PORT		with poll(), all at once
 *	rsockets_file fork ADDRESS PORT			one connection, in a child
 *	rsockets_file get ADDRESS PORT NAME...		to stdout
 *	rsockets_file put ADDRESS PORT NAME...		from stdin
 *
 * A connection is a line, "get NAME" or "put NAME", then the file's bytes up
 * to the end of the stream. A put is answered with the number of bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

#define MOST_CONNS	64
#define LINE		128
#define CHUNK		65536

enum state { READ_LINE, READ_FILE, WRITE_FILE, ANSWER, OVER };

struct conn {
	int fd;
	int file;
	enum state state;
	char line[LINE];
	size_t have;		/* of the line, then of the chunk */
	size_t done;		/* of the chunk */
	size_t total;
	char chunk[CHUNK];
};

unsigned int test_failures;

void test_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

void test_leave(void)
{
	exit(1);
}

/* ---- one connection -------------------------------------------------------- */

static void over(struct conn *c)
{
	c->state = OVER;
}

static void open_file(struct conn *c)
{
	bool put = !strncmp(c->line, "put ", 4);

	c->have = 0;
	c->file = put ? open(c->line + 4, O_WRONLY | O_CREAT | O_TRUNC, 0644) :
			open(c->line + 4, O_RDONLY);
	if (c->file < 0)
		over(c);
	else
		c->state = put ? READ_FILE : WRITE_FILE;
}

/* read byte by byte: the data after the line belongs to the file */
static bool read_line(struct conn *c)
{
	ssize_t n = recv(c->fd, c->line + c->have, 1, 0);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0 || c->have == LINE - 1) {
		over(c);
	} else if (c->line[c->have++] == '\n') {
		c->line[c->have - 1] = 0;
		open_file(c);
	}
	return true;
}

static bool read_file(struct conn *c)
{
	ssize_t n = recv(c->fd, c->chunk, CHUNK, 0);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n < 0) {
		over(c);
	} else if (!n) {
		c->have = snprintf(c->chunk, CHUNK, "%zu\n", c->total);
		c->state = ANSWER;
	} else {
		must(write(c->file, c->chunk, n) == n, "write: %m");
		c->total += n;
	}
	return true;
}

/* send the rest of the chunk; done when nothing is left */
static bool write_chunk(struct conn *c)
{
	ssize_t n = send(c->fd, c->chunk + c->done, c->have - c->done, MSG_NOSIGNAL);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n < 0)
		over(c);
	else
		c->done += n;
	return true;
}

static bool write_file(struct conn *c)
{
	if (c->done == c->have) {
		ssize_t n = read(c->file, c->chunk, CHUNK);

		must(n >= 0, "read: %m");
		c->have = n;
		c->done = 0;
		if (!n) {
			over(c);
			return true;
		}
	}
	return write_chunk(c);
}

static bool answer(struct conn *c)
{
	bool moved = write_chunk(c);

	if (c->state == ANSWER && c->done == c->have)
		over(c);
	return moved;
}

/* step: false when the socket would block */
static bool step(struct conn *c)
{
	switch (c->state) {
	case READ_LINE:
		return read_line(c);
	case READ_FILE:
		return read_file(c);
	case WRITE_FILE:
		return write_file(c);
	case ANSWER:
		return answer(c);
	default:
		return false;
	}
}

static struct conn *conn_new(int fd)
{
	struct conn *c = calloc(1, sizeof(*c));

	must(c, "calloc: %m");
	c->fd = fd;
	c->file = -1;
	return c;
}

static void conn_free(struct conn *c)
{
	shutdown(c->fd, SHUT_RDWR);
	close(c->fd);
	if (c->file >= 0)
		close(c->file);
	free(c);
}

/* ---- the servers ----------------------------------------------------------- */

static struct sockaddr_in address(char **argv)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_port = htons(atoi(argv[1]));
	must(inet_pton(AF_INET, argv[0], &sin.sin_addr) == 1, "%s: no address", argv[0]);
	return sin;
}

static int listen_at(char **argv)
{
	struct sockaddr_in sin = address(argv);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	must(fd >= 0, "socket: %m");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	must(!bind(fd, (struct sockaddr *)&sin, sizeof(sin)), "bind: %m");
	must(!listen(fd, MOST_CONNS), "listen: %m");
	return fd;
}

static int accept_one(int listener)
{
	int fd = accept(listener, NULL, NULL);

	must(fd >= 0, "accept: %m");
	return fd;
}

static short wants(const struct conn *c)
{
	return c->state == WRITE_FILE || c->state == ANSWER ? POLLOUT : POLLIN;
}

/* take_one: the new connection has no data before the next poll() */
static struct conn *take_one(struct pollfd *listener)
{
	struct conn *c = conn_new(accept_one(listener->fd));

	fcntl(c->fd, F_SETFL, O_NONBLOCK);
	return c;
}

static void serve(char **argv)
{
	struct pollfd fds[MOST_CONNS + 1] = { { .events = POLLIN } };
	struct conn *conns[MOST_CONNS + 1] = { };
	int n = 0;	/* in places 1 to n */

	fds[0].fd = listen_at(argv);
	for (;;) {
		must(poll(fds, n + 1, -1) >= 0, "poll: %m");
		for (int i = n; i; i--) {
			while (fds[i].revents && step(conns[i]))
				;
			if (conns[i]->state == OVER) {
				conn_free(conns[i]);
				conns[i] = conns[n];
				fds[i] = fds[n--];
			} else {
				fds[i].events = wants(conns[i]);
			}
		}
		if (fds[0].revents && n < MOST_CONNS) {
			conns[++n] = take_one(&fds[0]);
			fds[n].fd = conns[n]->fd;
			fds[n].events = POLLIN;
		}
	}
}

/* close the listener first: a port has room for one */
static int serve_in_child(char **argv)
{
	int listener = listen_at(argv), fd = accept_one(listener), status;
	struct conn *c;

	close(listener);
	if (!fork()) {
		c = conn_new(fd);
		while (step(c))
			;
		conn_free(c);
		exit(0);
	}
	if (wait(&status) < 0 || status) {
		fprintf(stderr, "the child's status is %d\n", status);
		return 1;
	}
	return 0;
}

/* ---- the client ------------------------------------------------------------ */

static void write_all(int fd, const char *buf, size_t n)
{
	while (n) {
		ssize_t done = send(fd, buf, n, MSG_NOSIGNAL);

		must(done >= 0, "send: %m");
		buf += done;
		n -= done;
	}
}

/* copy_out: copy all data until the peer closes */
static void copy_out(int fd)
{
	static char buf[CHUNK];

	for (;;) {
		fd_set set;
		ssize_t n;

		FD_ZERO(&set);
		FD_SET(fd, &set);
		must(select(fd + 1, &set, NULL, NULL, NULL) >= 0, "select: %m");
		n = recv(fd, buf, sizeof(buf), 0);
		must(n >= 0, "recv: %m");
		if (!n)
			return;
		must(write(1, buf, n) == n, "write: %m");
	}
}

/* A dead peer is noticed only when there is data to send: rsockets' completions do not
 * wake a thread that waits for credits.
 */
static void keep_alive(int fd)
{
	int on = 1, seconds = 1;

	must(!setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) &&
	     !setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds)),
	     "keepalive: %m");
}

static void ask(const char *verb, char **argv, const char *name)
{
	struct sockaddr_in sin = address(argv);
	static char buf[CHUNK];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t n;

	must(fd >= 0, "socket: %m");
	must(!connect(fd, (struct sockaddr *)&sin, sizeof(sin)), "connect: %m");
	keep_alive(fd);
	n = snprintf(buf, sizeof(buf), "%s %s\n", verb, name);
	write_all(fd, buf, n);
	if (!strcmp(verb, "put")) {
		while ((n = read(0, buf, sizeof(buf))) > 0)
			write_all(fd, buf, n);
		must(!shutdown(fd, SHUT_WR), "shutdown: %m");
	}
	copy_out(fd);
	close(fd);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 4 && !strcmp(argv[1], "serve"))
		serve(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "fork"))
		return serve_in_child(argv + 2);
	if (argc < 5)
		return 2;
	for (int i = 4; i < argc; i++)
		ask(argv[1], argv + 2, argv[i]);
	return 0;
}
