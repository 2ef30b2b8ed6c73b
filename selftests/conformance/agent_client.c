// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* agent.h as lines of text to tern-conform-agent: see tern-conform-agent(8). */
#define _GNU_SOURCE
#include "agent.h"
#include "conform.h"
#include "report.h"

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

#define LINE_OCTETS	(80 * 1024)
#define PIECE_MAX	32768
#define ANSWER_MS	10000	/* in addition to a command's own time */
#define HOOK_MS		40000
#define USUAL_MS	1000

/* an answer: "ok" and words, "none", or "no" and an errno */
enum verdict { OK, NONE, NO };

static int fd = -1;
static char command[LINE_OCTETS];
static char answer[LINE_OCTETS];
static char *words;		/* of the answer, after "ok " or "no ERRNO " */
static int no_errno;
static char peer_address[NI_MAXHOST];
static unsigned int offers;
static char device[64];

/* ---- the connection ------------------------------------------------------ */

static void __attribute__((noreturn, format(printf, 1, 2))) lost(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	agent_close();
	must(false, "agent: %s", text);
}

void agent_close(void)
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
			lost("no answer within %d ms to: %.80s", ms, command);
		if (len == sizeof(answer))
			lost("too long an answer to: %.80s", command);
		n = recv(fd, answer + len, sizeof(answer) - len, 0);
		if (n <= 0)
			lost("it left, asked to: %.80s", command);
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

static enum verdict parse_answer(void)
{
	char *end;

	if (!strcmp(answer, "none"))
		return NONE;
	if (!strcmp(answer, "ok") || !strncmp(answer, "ok ", 3)) {
		words = answer + 2 + (answer[2] == ' ');
		return OK;
	}
	if (strncmp(answer, "no ", 3))
		lost("unexpected answer: %.80s", answer);
	end = strchrnul(answer + 3, ' ');
	words = end + (*end == ' ');
	*end = '\0';
	no_errno = errno_of(answer + 3);
	return NO;
}

/* Send the command and read its answer, which may take @ms and ANSWER_MS. */
static enum verdict __attribute__((format(printf, 2, 3))) try(int ms, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(command, sizeof(command) - 1, fmt, ap);
	va_end(ap);
	must(fd >= 0, "agent: not connected");
	command[len] = '\n';
	if (send(fd, command, len + 1, MSG_NOSIGNAL) != len + 1)
		lost("%s", strerror(errno));
	command[len] = '\0';
	read_answer(ms + patience(ANSWER_MS));
	return parse_answer();
}

static void __attribute__((noreturn)) refused(void)
{
	must(false, "agent: %s %s: %.120s", strerrorname_np(no_errno) ?: "?", words,
	     command);
}

/* The same, but leave the test when the agent refuses; Return: true for "ok". */
#define ask(ms, ...) answered(try(ms, __VA_ARGS__))

static bool answered(enum verdict v)
{
	if (v == NO)
		refused();
	return v == OK;
}

static const char *word(void)
{
	char *at = words, *end = strchrnul(at, ' ');

	words = end + (*end == ' ');
	*end = '\0';
	return at;
}

static uint64_t number(void)
{
	return strtoull(word(), NULL, 10);
}

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* decode the next word from hex, @max bytes at most; Return: how many */
static size_t bytes(void *buf, size_t max)
{
	const char *hex = word();
	size_t i, len = strlen(hex) / 2;
	uint8_t *out = buf;

	if (len > max)
		lost("%zu bytes, where %zu are the most", len, max);
	for (i = 0; i < len; i++)
		out[i] = digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]);
	return len;
}

/* encode in hex; the buffer is valid until the next call */
static const char *hex(const void *data, size_t len)
{
	static char text[2 * PIECE_MAX + 1];
	const uint8_t *at = data;
	size_t i;

	if (!len)
		return "-";
	must(len <= PIECE_MAX, "agent: %zu bytes are too many", len);
	for (i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", at[i]);
	return text;
}

/* ---- for the runner ------------------------------------------------------ */

static int dial(const char *addr, const char *port)
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
		agent_close();
	}
	freeaddrinfo(found);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd < 0 ? -1 : 0;
}

int agent_open(const char *addr, const char *port)
{
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);

	if (dial(addr, port))
		return -1;
	if (getsockname(fd, (struct sockaddr *)&own, &len) ||
	    getnameinfo((struct sockaddr *)&own, len, peer_address,
			sizeof(peer_address), NULL, 0, NI_NUMERICHOST))
		return -1;
	if (try(patience(HOOK_MS), "hello") != OK) {
		fprintf(stderr, "tern-conform: the agent has no device: %s\n",
			strerror(no_errno));
		agent_close();
		return -1;
	}
	snprintf(device, sizeof(device), "%s", word());
	offers = !strcmp(word(), "set") ? NEED_SET : 0;
	offers |= !strcmp(word(), "state") ? NEED_STATE : 0;
	return 0;
}

void agent_peer_address(const char *addr)
{
	if (addr)
		snprintf(peer_address, sizeof(peer_address), "%s", addr);
}

const char *agent_device(void)
{
	return device;
}

unsigned int agent_offers(void)
{
	return offers;
}

void agent_reset(void)
{
	ask(patience(HOOK_MS), "reset");
}

/* ---- settings, values, counters ------------------------------------------ */

bool agent_try_set(const char *settings)
{
	enum verdict v;

	report_hook("set", settings);
	if (!(offers & NEED_SET))
		skip_hook("set", settings);
	v = try(patience(HOOK_MS), "set %s", settings);
	if (v == NO && no_errno == EOPNOTSUPP)
		skip_hook("set", settings);
	if (v == NO && no_errno != EINVAL)
		refused();
	return v == OK;
}

void agent_set(const char *settings)
{
	if (!agent_try_set(settings))
		refused();
}

bool agent_state(uint16_t port, const char *key, char *value, size_t size)
{
	report_hook("state", key);
	if (!(offers & NEED_STATE))
		skip_hook("state", key);
	if (!ask(patience(HOOK_MS), "state %s %u %s", peer_address, port, key))
		return false;
	snprintf(value, size, "%s", words);
	return true;
}

uint64_t agent_counter(const char *name)
{
	if (!ask(patience(HOOK_MS), "counter %s", name))
		skip("the device has no counter %s", name);
	return number();
}

/* ---- memory -------------------------------------------------------------- */

struct agent_mr agent_mr_pd(size_t len, const char *access, int pd)
{
	struct agent_mr mr = { .len = len, .sink = strchr(access, 'w') };

	ask(0, "mr %zu %s %d", len, *access ? access : "-", pd);
	mr.id = number();
	mr.rkey = number();
	mr.va = number();
	return mr;
}

struct agent_mr agent_mr(size_t len, const char *access)
{
	return agent_mr_pd(len, access, 0);
}

void agent_dereg(const struct agent_mr *mr)
{
	ask(0, "dereg %d", mr->id);
}

void agent_peek(const struct agent_mr *mr, size_t at, void *buf, size_t len)
{
	while (len) {
		size_t piece = len < PIECE_MAX ? len : PIECE_MAX;

		ask(0, "peek %d %zu %zu", mr->id, at, piece);
		if (bytes(buf, piece) != piece)
			lost("too few bytes of memory");
		buf = (uint8_t *)buf + piece;
		at += piece;
		len -= piece;
	}
}

void agent_poke(const struct agent_mr *mr, size_t at, const void *buf, size_t len)
{
	while (len) {
		size_t piece = len < PIECE_MAX ? len : PIECE_MAX;

		ask(0, "poke %d %zu %s", mr->id, at, hex(buf, piece));
		buf = (const uint8_t *)buf + piece;
		at += piece;
		len -= piece;
	}
}

void must_be_untouched(const struct agent_mr *mr)
{
	if (ask(0, "untouched %d", mr->id)) {
		uint64_t at = number(), byte = number();

		must(false, "memory was written: byte %llu is %02llx",
		     (unsigned long long)at, (unsigned long long)byte);
	}
}

void must_have_memory(const struct agent_mr *mr, size_t at, const void *want, size_t len)
{
	static uint8_t got[PIECE_MAX];

	while (len) {
		size_t piece = len < PIECE_MAX ? len : PIECE_MAX;
		char what[64];

		agent_peek(mr, at, got, piece);
		snprintf(what, sizeof(what), "memory from %zu on", at);
		must_bytes(got, want, piece, "%s", what);
		want = (const uint8_t *)want + piece;
		at += piece;
		len -= piece;
	}
}

/* ---- connections --------------------------------------------------------- */

uint16_t agent_listen(void)
{
	ask(0, "listen 0");
	return number();
}

bool agent_event(struct agent_event *ev, int ms)
{
	memset(ev, 0, sizeof(*ev));
	if (!ask(ms, "event %d", ms))
		return false;
	snprintf(ev->name, sizeof(ev->name), "%s", word());
	ev->conn = strtol(word(), NULL, 10);
	ev->status = strtol(word(), NULL, 10);
	ev->ird = number();
	ev->ord = number();
	ev->pd_len = bytes(ev->pd, sizeof(ev->pd));
	return true;
}

void agent_must_get_event(const char *name, struct agent_event *ev)
{
	must(agent_event(ev, patience(USUAL_MS)), "no event, %s awaited", name);
	must(!strcmp(ev->name, name), "event %s (status %d), %s awaited", ev->name,
	     ev->status, name);
}

void agent_must_get_no_event(int ms)
{
	struct agent_event ev;

	must(!agent_event(&ev, ms), "event %s (status %d), none awaited", ev.name, ev.status);
}

/* the words that connect and accept have in common */
static const char *options_text(const struct agent_qp *qp, const void *pd, size_t pd_len)
{
	static const struct agent_qp usual = AGENT_QP_DEFAULT;
	static char text[2 * PIECE_MAX + 64];

	if (!qp)
		qp = &usual;
	snprintf(text, sizeof(text), "%d %d %d %d %d %s", qp->send_depth, qp->recv_depth,
		 qp->ird, qp->ord, qp->srq, hex(pd, pd_len));
	return text;
}

int agent_connect(uint16_t port, const struct agent_qp *qp, const void *pd,
		  size_t pd_len)
{
	ask(0, "connect %s %u %s", peer_address, port, options_text(qp, pd, pd_len));
	return number();
}

int agent_try_accept(int conn, const struct agent_qp *qp, const void *pd, size_t pd_len)
{
	return try(0, "accept %d %s", conn, options_text(qp, pd, pd_len)) == NO ? no_errno : 0;
}

void agent_accept(int conn, const struct agent_qp *qp, const void *pd, size_t pd_len)
{
	if (agent_try_accept(conn, qp, pd, pd_len))
		refused();
}

void agent_reject(int conn, const void *pd, size_t pd_len)
{
	ask(0, "reject %d %s", conn, hex(pd, pd_len));
}

void agent_disconnect(int conn)
{
	ask(0, "disconnect %d", conn);
}

void agent_destroy(int conn)
{
	ask(0, "destroy %d", conn);
}

const char *agent_qp_state(int conn)
{
	static char state[16];

	ask(0, "qp %d", conn);
	snprintf(state, sizeof(state), "%s", word());
	return state;
}

void agent_qp_error(int conn)
{
	ask(0, "qp-error %d", conn);
}

void agent_srq_limit(int n)
{
	ask(0, "srq-limit %d", n);
}

const char *agent_async(int *conn, int ms)
{
	static char name[32];
	int of;

	if (!ask(ms, "async %d", ms))
		return NULL;
	snprintf(name, sizeof(name), "%s", word());
	of = strtol(word(), NULL, 10);
	if (conn)
		*conn = of;
	return name;
}

/* ---- work requests and completions --------------------------------------- */

/* memory as three words, or "-" for none */
static const char *place(const struct agent_mr *mr, size_t at, size_t len)
{
	static char text[64];

	if (!mr)
		return "-";
	snprintf(text, sizeof(text), "%d %zu %zu", mr->id, at, len);
	return text;
}

void agent_recv(int conn, uint64_t wr_id, const struct agent_mr *mr, size_t at, size_t len)
{
	ask(0, "recv %d %llu %s", conn, (unsigned long long)wr_id, place(mr, at, len));
}

int agent_try_post(int conn, uint64_t wr_id, enum agent_op op, unsigned int flags,
		   const struct agent_mr *mr, size_t at, size_t len, uint32_t rkey,
		   uint64_t raddr)
{
	static const char *const names[] = { "send", "send-inv", "write", "read" };
	enum verdict v;

	must(op != AG_READ || !mr || mr->sink,
	     "the sink of the Read lacks the remote write right");
	v = try(0, "post %d %llu %s %u %s %u %llu", conn, (unsigned long long)wr_id,
		names[op], flags, place(mr, at, len), rkey, (unsigned long long)raddr);
	return v == NO ? no_errno : 0;
}

#define BIND_ID	0xb19d

uint32_t agent_bind(int conn, int type, const struct agent_mr *mr, size_t at,
		    size_t len, const char *access)
{
	enum verdict v = try(0, "bind %d %d %d %d %zu %zu %s", conn, BIND_ID, type,
			     mr->id, at, len, access);
	struct agent_wc wc;
	uint32_t stag;

	if (v == NO && (no_errno == EOPNOTSUPP || no_errno == ENOSYS))
		skip("the device has no memory windows");
	if (v != OK)
		refused();
	stag = number();
	agent_must_get_wc(BIND_ID, "SUCCESS", &wc);
	return stag;
}

void agent_post(int conn, uint64_t wr_id, enum agent_op op, unsigned int flags,
		const struct agent_mr *mr, size_t at, size_t len, uint32_t rkey,
		uint64_t raddr)
{
	if (agent_try_post(conn, wr_id, op, flags, mr, at, len, rkey, raddr))
		refused();
}

bool agent_poll(struct agent_wc *wc, int ms)
{
	memset(wc, 0, sizeof(*wc));
	if (!ask(ms, "poll %d", ms))
		return false;
	wc->wr_id = number();
	snprintf(wc->status, sizeof(wc->status), "%s", word());
	snprintf(wc->opcode, sizeof(wc->opcode), "%s", word());
	wc->byte_len = number();
	wc->wc_flags = number();
	wc->invalidated = number();
	wc->conn = strtol(word(), NULL, 10);
	return true;
}

void agent_must_get_wc(uint64_t wr_id, const char *status, struct agent_wc *wc)
{
	must(agent_poll(wc, patience(USUAL_MS)), "no completion, %s of %llu awaited",
	     status, (unsigned long long)wr_id);
	must(wc->wr_id == wr_id && !strcmp(wc->status, status),
	     "completion %s of %llu, %s of %llu awaited", wc->status,
	     (unsigned long long)wc->wr_id, status, (unsigned long long)wr_id);
}

void agent_must_get_no_wc(int ms)
{
	struct agent_wc wc;

	must(!agent_poll(&wc, ms), "completion %s of %llu, none awaited", wc.status,
	     (unsigned long long)wc.wr_id);
}

void agent_arm(bool solicited)
{
	ask(0, "arm %d", solicited);
}

bool agent_cq_event(int ms)
{
	return ask(ms, "cq-event %d", ms);
}
