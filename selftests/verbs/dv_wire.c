// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Options as a scripted peer sees them: the peer is a TCP socket that reads and writes
 * MPA frames byte by byte (RFC 5044 7.1, RFC 6581).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "dv.h"

#define KEY_LEN 16
#define FRAME_LEN 20
#define ENHANCED_LEN 4

/* the frame after its Key: flags, revision, length; then the enhanced data */
struct mpa_frame {
	uint8_t flags;
	uint8_t rev;
	uint16_t pd_len;
	uint16_t ird;
	uint16_t ord;
};

/* ---- sockets ---------------------------------------------------------------------- */

static struct sockaddr_in at(const char *ip, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	must(inet_pton(AF_INET, ip, &in.sin_addr) == 1);
	return in;
}

static int tcp_listen(int port)
{
	struct sockaddr_in in = at(IP_B, port);
	int fd, on = 1;

	must(!enter_netns("b"));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	must(!bind(fd, (struct sockaddr *)&in, sizeof(in)));
	must(!listen(fd, 8));
	must(!enter_netns(NULL));
	return fd;
}

static int tcp_connect(int port)
{
	struct sockaddr_in in = at(IP_B, port);
	int fd;

	must(!enter_netns("a"));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fd >= 0);
	must(!connect(fd, (struct sockaddr *)&in, sizeof(in)));
	must(!enter_netns(NULL));
	return fd;
}

static bool ready(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

static int tcp_accept(int fd)
{
	int conn;

	must(ready(fd, patience_ms()));
	conn = accept(fd, NULL, NULL);
	must(conn >= 0);
	return conn;
}

/* ---- frames ------------------------------------------------------------------------- */

static void get(int fd, void *to, size_t len)
{
	must(ready(fd, patience_ms()));
	must(recv(fd, to, len, MSG_WAITALL) == (ssize_t)len);
}

static struct mpa_frame read_frame(int fd, const char *key)
{
	uint8_t raw[FRAME_LEN];
	struct mpa_frame f = {};

	get(fd, raw, FRAME_LEN);
	must_bytes(raw, key, KEY_LEN);
	f.flags = raw[16];
	f.rev = raw[17];
	f.pd_len = raw[18] << 8 | raw[19];
	if (f.flags & TERNDV_MPA_ENHANCED) {
		must(f.pd_len >= ENHANCED_LEN);
		get(fd, raw, ENHANCED_LEN);
		f.ird = raw[0] << 8 | raw[1];
		f.ord = raw[2] << 8 | raw[3];
	}
	return f;
}

static struct mpa_frame read_request(int fd)
{
	return read_frame(fd, "MPA ID Req Frame");
}

static struct mpa_frame read_reply(int fd)
{
	return read_frame(fd, "MPA ID Rep Frame");
}

static void write_frame(int fd, const char *key, const struct mpa_frame *f)
{
	bool enhanced = f->flags & TERNDV_MPA_ENHANCED;
	uint8_t raw[FRAME_LEN + ENHANCED_LEN] = {};
	size_t len = FRAME_LEN + (enhanced ? ENHANCED_LEN : 0);

	memcpy(raw, key, KEY_LEN);
	raw[16] = f->flags;
	raw[17] = f->rev;
	raw[19] = enhanced ? ENHANCED_LEN : 0;
	raw[20] = f->ird >> 8;
	raw[21] = f->ird;
	raw[22] = f->ord >> 8;
	raw[23] = f->ord;
	must(write(fd, raw, len) == (ssize_t)len);
}

static void accept_plainly(int fd)
{
	write_frame(fd, "MPA ID Rep Frame",
		    &(struct mpa_frame){ .flags = TERNDV_MPA_CRC, .rev = 1 });
}

/* ---- tern's initiator, from a ---------------------------------------------------------- */

static void begin(int port, const struct terndv_qp_init_attr *w)
{
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, port, IP_A));
	must(!enter_netns(NULL));
	must(!end_build(&a, &(struct want){}));
	must(!w || !dv.modify_qp(a.qp, w));
	must(!end_connect(&a, &(struct want){}));
}

static const struct terndv_qp_init_attr p2p = { .comp_mask = TERNDV_QP_P2P, .p2p = true };

static void expect_p2p_request(const struct mpa_frame *f)
{
	expect_eq(f->rev, 2);
	expect(f->flags & TERNDV_MPA_ENHANCED);
	expect(f->ird & TERNDV_MPA_IRD_P2P && f->ird & TERNDV_MPA_IRD_SEND);
	expect(f->ord & TERNDV_MPA_ORD_WRITE && f->ord & TERNDV_MPA_ORD_READ);
}

/* wait as long as a retry would take: there is none */
static void expect_no_retry(int fd)
{
	struct terndv_qp_attr attr;

	expect(!ready(fd, 300));
	must(!dv.query_qp(a.qp, &attr, sizeof(attr)));
	expect(!attr.connected && !attr.retried);
	expect_eq(attr.own.rev, 2);
	expect(attr.asked.p2p);
}

/*
 * No retry without peer-to-peer, which the program demands: if the peer's program waits
 * too, both would wait for ever.
 */
static void no_retry_when_closed(void)
{
	int port = new_port(), fd = tcp_listen(port), conn;
	struct mpa_frame f;

	begin(port, &p2p);
	conn = tcp_accept(fd);
	f = read_request(conn);
	expect_p2p_request(&f);
	close(conn);
	must(!end_expect(&a, RDMA_CM_EVENT_REJECTED));
	expect_no_retry(fd);
	pair_down();
	close(fd);
}

static void no_retry_when_plain(void)
{
	int port = new_port(), fd = tcp_listen(port), conn;
	struct rdma_cm_event *event;

	begin(port, &p2p);
	conn = tcp_accept(fd);
	read_request(conn);
	accept_plainly(conn);
	event = end_wait(&a, RDMA_CM_EVENT_CONNECT_ERROR);
	must(event);
	rdma_ack_cm_event(event);
	expect_no_retry(fd);
	pair_down();
	close(conn);
	close(fd);
}

/*
 * A peer of revision 1 and three programs. Without an option the device retries with a
 * plain Request, and then asks plainly at once; a program that demands peer-to-peer
 * still asks for it.
 */
static void retry_by_default(void)
{
	int port = new_port(), fd = tcp_listen(port), conn;
	struct terndv_qp_attr attr;
	struct mpa_frame f;

	begin(port, NULL);
	conn = tcp_accept(fd);
	f = read_request(conn);
	expect_p2p_request(&f);
	close(conn);
	conn = tcp_accept(fd);
	f = read_request(conn);
	expect_eq(f.rev, 1);
	expect(!(f.flags & TERNDV_MPA_ENHANCED));
	accept_plainly(conn);
	must(!end_expect(&a, RDMA_CM_EVENT_ESTABLISHED));
	must(!dv.query_qp(a.qp, &attr, sizeof(attr)));
	expect(attr.connected && attr.retried && !attr.p2p);
	expect_eq(attr.mpa_rev, 1);
	close(conn);
	pair_down();

	begin(port, NULL);
	conn = tcp_accept(fd);
	expect_eq(read_request(conn).rev, 1);
	close(conn);
	pair_down();

	begin(port, &p2p);
	conn = tcp_accept(fd);
	f = read_request(conn);
	expect_p2p_request(&f);
	close(conn);
	pair_down();
	close(fd);
}

/* ---- tern's responder, at b -------------------------------------------------------------- */

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* the device's own timeout is 10 s */
static void rtr_timeout(void)
{
	static const struct mpa_frame request = {
		.flags = TERNDV_MPA_CRC | TERNDV_MPA_ENHANCED,
		.rev = 2,
		.ird = TERNDV_MPA_IRD_P2P | TERNDV_MPA_IRD_SEND | 4,
		.ord = TERNDV_MPA_ORD_WRITE | TERNDV_MPA_ORD_READ | 4,
	};
	static const struct terndv_qp_init_attr w = {
		.comp_mask = TERNDV_QP_RTR_TIMEOUT,
		.rtr_timeout_ms = 300,
	};
	struct end listener;
	int port = new_port(), fd;
	uint8_t byte;
	long start;

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, port));
	fd = tcp_connect(port);
	write_frame(fd, "MPA ID Req Frame", &request);
	must(!end_request(&listener, &b));
	must(!end_build(&b, &(struct want){}));
	must(!dv.modify_qp(b.qp, &w));
	start = now_ms();
	must(!end_accept(&b, &(struct want){}));
	expect(read_reply(fd).ird & TERNDV_MPA_IRD_P2P);
	must(ready(fd, patience_ms()));
	expect(recv(fd, &byte, 1, 0) <= 0);
	expect(now_ms() - start >= 250);
	expect_error_state(&b);
	close(fd);
	end_free(&listener);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "MPA-153: option p2p: no retry without it when the peer closes",
	  no_retry_when_closed },
	{ "MPA-153: option p2p: no retry without it when the Reply is plain", no_retry_when_plain },
	{ "MPA-161: p2p by the device: a plain retry; the next connect is plain at once",
	  retry_by_default },
	{ "MPA-153: option rtr_timeout_ms ends the wait for an RTR", rtr_timeout },
};

const struct tap_theme dv_wire_theme = { tests, ARRAY_LEN(tests) };
