// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The retry of a connection whose peer closed it after the enhanced Request. It uses
 * another port: TCP may still use the first one, or another socket may have taken it.
 * The peer is this program, over plain TCP (RFC 6581 10).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

#define CRC	0x40
#define RANGE	"/proc/sys/net/ipv4/ip_local_port_range"

static const struct want none;

/* ---- the peer ------------------------------------------------------------------- */

struct frame {
	char key[16];
	uint8_t flags;
	uint8_t rev;
	uint16_t pd_len;
};

static int tcp_listener(const char *netns, const char *ip, int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd, on = 1;

	must(!enter_netns(netns));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	must(fd >= 0 && inet_pton(AF_INET, ip, &at.sin_addr) == 1);
	must(!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	must(!bind(fd, (struct sockaddr *)&at, sizeof(at)));
	must(!listen(fd, 1));
	must(!enter_netns(NULL));
	return fd;
}

static void await(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	must(poll(&pfd, 1, patience_ms()) == 1);
}

static void take(int fd, void *buf, size_t len)
{
	await(fd);
	must(recv(fd, buf, len, MSG_WAITALL) == (ssize_t)len);
}

/* accept a connection and read its Request, which has revision @rev */
static int request(int listener, int rev, int *port)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	struct frame f;
	char pd[512];
	int fd;

	await(listener);
	fd = accept(listener, (struct sockaddr *)&from, &len);
	must(fd >= 0);
	*port = ntohs(from.sin_port);
	take(fd, &f, sizeof(f));
	expect_bytes(f.key, "MPA ID Req Frame", sizeof(f.key));
	expect_eq(f.rev, rev);
	must(ntohs(f.pd_len) <= sizeof(pd));
	if (f.pd_len)
		take(fd, pd, ntohs(f.pd_len));
	return fd;
}

static void accept_plainly(int fd)
{
	struct frame f = { .flags = CRC, .rev = 1 };

	memcpy(f.key, "MPA ID Rep Frame", sizeof(f.key));
	must(send(fd, &f, sizeof(f), MSG_NOSIGNAL) == sizeof(f));
}

/* ---- the tries -------------------------------------------------------------------- */

static int server, first, port;

/* the first Request arrives, from @from_port (0: a port that rdma_cm chooses) */
static void first_try(int at, int from_port)
{
	int seen;

	server = tcp_listener("b", IP_B, at);
	must(!enter_netns("a"));
	must(!end_resolve_from(&a, IP_B, at, IP_A, from_port));
	must(!enter_netns(NULL));
	port = ntohs(rdma_get_src_port(a.id));
	must(!end_build(&a, &none));
	must(!end_connect(&a, &none));
	first = request(server, 2, &seen);
	expect_eq(seen, port);
}

/* another socket listens at the first port before the peer closes */
static void second_try(int at, int from_port)
{
	int taker, fd, seen;

	first_try(at, from_port);
	taker = tcp_listener("a", IP_A, port);
	close(first);
	fd = request(server, 1, &seen);
	expect(seen != port);
	accept_plainly(fd);
	must(!end_expect(&a, RDMA_CM_EVENT_ESTABLISHED));
	expect_eq(state_of(&a), IBV_QPS_RTS);
	close(fd);
	must(!end_expect(&a, RDMA_CM_EVENT_DISCONNECTED));
	close(taker);
	close(server);
	pair_down();
}

static void port_was_taken(void)
{
	second_try(8720, 0);
	second_try(8721, 48721);
}

/* set a's range of ephemeral ports; @old gets the previous range */
static void set_range(const char *range, char *old, size_t size)
{
	FILE *f;

	must(!enter_netns("a"));
	f = fopen(RANGE, "r+");
	must(f);
	if (old)
		must(fgets(old, size, f));
	rewind(f);
	must(fputs(range, f) >= 0 && !fclose(f));
	must(!enter_netns(NULL));
}

/* TCP of a has a connection to port @at of b */
static bool tcp_has(int at)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "ip netns exec a ss -Htan 'dport = :%d' | grep -v TIME-WAIT >&2", at);
	return !system(command);
}

static void expect_nothing_of(int at)
{
	int tries = patience_ms() / 100;

	while (tcp_has(at) && tries--)
		usleep(100000);
	expect(!tcp_has(at));
}

/* all ports are in use: the program gets an error, and no socket is left */
static void no_port_is_left(void)
{
	struct rdma_cm_event *event;
	int takers[2];
	char old[32];

	first_try(8722, 48722);
	takers[0] = tcp_listener("a", IP_A, 48722);
	takers[1] = tcp_listener("a", IP_A, 48723);
	set_range("48722 48723\n", old, sizeof(old));
	close(first);
	event = end_wait(&a, RDMA_CM_EVENT_CONNECT_ERROR);
	set_range(old, NULL, 0);
	must(event);
	expect_eq(event->status, -EADDRNOTAVAIL);
	must(!rdma_ack_cm_event(event));
	expect_nothing_of(8722);
	pair_down();
	close(takers[0]);
	close(takers[1]);
	close(server);
	/* the device still connects */
	pair_up(NULL, NULL);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "fall_back__uses_another_port", port_was_taken },
	{ "fall_back__fails_without_a_free_port", no_port_is_left },
};

const struct tap_theme fallback_theme = { tests, ARRAY_LEN(tests) };
