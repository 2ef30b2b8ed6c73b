// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Lines to the agent and their answers: see agent_line.h. */
#define _GNU_SOURCE
#include "agent_line.h"
#include "conform.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_LEN	(80 * 1024)
#define ANSWER_MS	10000	/* in addition to a command's own time */

int line_errno;

static int fd = -1;
static char command[LINE_MAX_LEN];
static char answer[LINE_MAX_LEN];
static char *words;		/* of the answer, after "ok " or "no ERRNO " */

/* ---- the connection ------------------------------------------------------ */

int line_open(const char *addr, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	int on = 1, error;

	error = getaddrinfo(addr, port, &hints, &found);
	if (error) {
		fprintf(stderr, "tern-conform: %s: %s\n", addr, gai_strerror(error));
		return -1;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen)) {
		fprintf(stderr, "tern-conform: agent at %s port %s: %s\n", addr, port,
			strerror(errno));
		line_close();
	}
	freeaddrinfo(found);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

void line_lost(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	line_close();
	must(false, "agent: %s", text);
}

void line_close(void)
{
	if (fd >= 0)
		close(fd);
	fd = -1;
}

/* read one line, without its newline */
static void read_answer(int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	uint64_t now, end = now_ms() + ms;
	size_t len = 0;

	while (!len || answer[len - 1] != '\n') {
		ssize_t n;

		now = now_ms();
		if (now >= end || poll(&pfd, 1, end - now) <= 0)
			line_lost("no answer within %d ms to: %.80s", ms, command);
		if (len == sizeof(answer))
			line_lost("too long an answer to: %.80s", command);
		n = recv(fd, answer + len, sizeof(answer) - len, 0);
		if (n <= 0)
			line_lost("it left, asked to: %.80s", command);
		len += n;
	}
	answer[len - 1] = '\0';
}

static int errno_of(const char *name)
{
	int i;

	for (i = 1; i < 134; i++) {
		const char *known = strerrorname_np(i);

		if (known && !strcmp(known, name))
			return i;
	}
	return EIO;
}

static enum line_verdict parse_answer(void)
{
	char *end;

	if (!strcmp(answer, "none"))
		return LINE_NONE;
	if (!strcmp(answer, "ok") || !strncmp(answer, "ok ", 3)) {
		words = answer + 2 + (answer[2] == ' ');
		return LINE_OK;
	}
	if (strncmp(answer, "no ", 3))
		line_lost("unexpected answer: %.80s", answer);
	end = strchrnul(answer + 3, ' ');
	words = end + (*end == ' ');
	*end = '\0';
	line_errno = errno_of(answer + 3);
	return LINE_NO;
}

enum line_verdict line_try(int ms, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(command, sizeof(command) - 1, fmt, ap);
	va_end(ap);
	must(fd >= 0, "agent: not connected");
	command[len] = '\n';
	if (send(fd, command, len + 1, MSG_NOSIGNAL) != len + 1)
		line_lost("%s", strerror(errno));
	command[len] = '\0';
	read_answer(ms + patience(ANSWER_MS));
	return parse_answer();
}

void line_refused(void)
{
	must(false, "agent: %s %s: %.120s", strerrorname_np(line_errno) ?: "?", words,
	     command);
}

bool line_answered(enum line_verdict v)
{
	if (v == LINE_NO)
		line_refused();
	return v == LINE_OK;
}

const char *line_rest(void)
{
	return words;
}

const char *line_word(void)
{
	char *at = words, *end = strchrnul(at, ' ');

	words = end + (*end == ' ');
	*end = '\0';
	return at;
}

uint64_t line_number(void)
{
	return strtoull(line_word(), NULL, 10);
}

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

size_t line_bytes(void *buf, size_t max)
{
	const char *hex = line_word();
	size_t i, len = strlen(hex) / 2;
	uint8_t *out = buf;

	if (len > max)
		line_lost("%zu bytes, where %zu are the most", len, max);
	for (i = 0; i < len; i++)
		out[i] = digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]);
	return len;
}

const char *line_hex(const void *data, size_t len)
{
	static char text[2 * LINE_PIECE + 1];
	const uint8_t *at = data;
	size_t i;

	if (!len)
		return "-";
	must(len <= LINE_PIECE, "agent: %zu bytes are too many", len);
	for (i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", at[i]);
	return text;
}
