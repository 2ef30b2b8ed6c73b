// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The far end of a cell's connection, over plain TCP with the peer of tern-conform:
 *
 *	far OWN-ADDRESS deaf|stuck|serve|echo
 *	far OWN-ADDRESS knock NEAR-ADDRESS PORT
 *
 *	deaf	accept, read the Request, answer nothing
 *	stuck	accept, send a Reply, then read no more: the window shuts
 *	serve	accept, one connection after the other, and answer Reads and Atomics
 *	echo	the same, and a Send for each Send
 *	knock	connect, send a Request, and nothing after the Reply
 *
 * It prints its port if it listens, and "ready" when the connection is so far. SIGUSR1:
 * RST. SIGUSR2: half of what is due next, then FIN.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../conformance/conform.h"
#include "../conformance/peer_ext.h"

#define POLL_MS		20
#define START_MS	60000
#define SEND_LEN	64
#define READ_MAX	4096

struct conform_options options;
unsigned int test_failures;

static struct peer *far;
/* SIGUSR2 came: nothing more may be sent */
static volatile sig_atomic_t finished;
/* the Request or Reply that the near end waits for was sent */
static volatile sig_atomic_t started;

/* ---- what the peer of tern-conform needs of its runner ---------------------------- */

void test_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "far: %s:%d: %s\n", file, line, text);
}

/* the near end has gone, or what it sends is cut */
void test_leave(void)
{
	exit(1);
}

enum role dut_role(void)
{
	return INITIATOR;
}

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

int patience(int ms)
{
	const char *scale = getenv("TERN_TIMEOUT_SCALE");

	return ms * (scale ? atoi(scale) : 1);
}

/* ---- the ends that a cell asks for -------------------------------------------------- */

static void reset(int sig)
{
	(void)sig;
	if (far)
		peer_reset(far);
	_exit(0);
}

/* a Send of 1000 bytes that ends after 100; or a Reply that ends after 8 */
static void cut(int sig)
{
	static const uint8_t head[100] = { 0x03, 0xfa, 0x41, 0x43 };

	(void)sig;
	if (!far || finished)
		return;
	finished = 1;
	if (started)
		send(far->fd, head, sizeof(head), MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		send(far->fd, mpa_reply_key, 8, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(far->fd, SHUT_WR);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* ---- the startup ------------------------------------------------------------------ */

/* grant what the near end asks for */
static void reply(void)
{
	struct mpa_frame f;

	mpa_grant(&f, &far->request);
	peer_send_frame(far, &f);
	peer_agree(far, false);
	started = 1;
}

static void get_request(void)
{
	struct mpa_frame f;

	do
		far = peer_accept(START_MS);
	while (!far);
	must(peer_recv_frame(far, false, &f, patience(5000)), "no Request");
}

/* connect when the near end listens */
static void knock(const char *port)
{
	struct mpa_frame f;

	far = peer_connect(atoi(port), NULL);
	mpa_enhanced(&f, false, ENH_A | ENH_B | 4, ENH_C | ENH_D | 4);
	peer_send_frame(far, &f);
	started = 1;
	ready();
}

/* ---- full operation --------------------------------------------------------------- */

static void serve_read(const struct seg *s)
{
	static const uint8_t data[READ_MAX];
	uint32_t len = get32(s->data + 12);

	send_read_resp(far, get32(s->data), get64(s->data + 4), data,
		       len < READ_MAX ? len : READ_MAX);
}

static void serve_atomic(const struct seg *s)
{
	struct atomic_req a;

	atomic_decode(&a, s->data);
	send_atomic_resp(far, a.id, 0);
}

/* RFC 7306 is agreed on by the answer to the offer, which is the RTR */
static void serve_write(const struct seg *s)
{
	struct hello h;

	if (hello_decode(&h, s) && h.role == HELLO_OFFER)
		send_hello(far, 1, HELLO_ANSWER, HELLO_7306);
}

static void serve(const struct seg *s, bool echo)
{
	static const uint8_t data[SEND_LEN];

	switch (seg_op(s)) {
	case OP_READ_REQ:
		serve_read(s);
		break;
	case OP_ATOMIC_REQ:
		serve_atomic(s);
		break;
	case OP_WRITE:
		serve_write(s);
		break;
	case OP_SEND:
		if (echo && s->len)
			send_send(far, data, SEND_LEN);
		break;
	}
}

/* until the near end closes */
static void operate(bool echo)
{
	struct fpdu f;

	while (far->end == PEER_OPEN && !finished)
		if (peer_recv_fpdu_raw(far, &f, POLL_MS) && !finished)
			serve(&f.seg, echo);
	peer_wait_end(far, finished ? START_MS : 0);
	peer_close(far);
	far = NULL;
}

static void operate_always(bool echo)
{
	for (;;) {
		get_request();
		reply();
		ready();
		operate(echo);
		started = 0;
	}
}

static void accept_and(const char *how)
{
	const struct peer_tcp small = { .rcvbuf = 4096 };
	bool stuck = !strcmp(how, "stuck");

	printf("port %u\n", peer_listen(stuck ? &small : NULL));
	fflush(stdout);
	if (!strcmp(how, "serve") || !strcmp(how, "echo"))
		operate_always(how[0] == 'e');
	get_request();
	if (stuck)
		reply();
	ready();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 5) {
		fprintf(stderr, "far: bad arguments\n");
		return 2;
	}
	signal(SIGUSR1, reset);
	signal(SIGUSR2, cut);
	options.local = argv[1];
	if (argc == 3)
		accept_and(argv[2]);
	options.target = argv[3];
	knock(argv[4]);
	peer_wait_end(far, START_MS);
	for (;;)
		pause();
}
