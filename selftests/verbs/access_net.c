// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Addresses of another netns, and ports of other users: see access.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "access.h"

static const struct want none;

/* ---- another netns' loopback ------------------------------------------------ */

static int qpns[2];
static const char *any;

/* a process in c, which has no device, tries the QPs of the other two netns */
static void from_c(void)
{
	unsigned int i;
	uint32_t id;
	int fd;

	fd = raw_open();
	id = raw_create(fd);
	must(!raw_resolve(fd, id, any, 8603));
	for (i = 0; i < ARRAY_LEN(qpns); i++)
		report(raw_connect(fd, id, qpns[i]));
}

static int tcp_listener(const char *netns, const char *ip, int port)
{
	int fd;

	must(!enter_netns(netns));
	fd = tcp_bound(ip, port, false);
	must(fd >= 0 && !listen(fd, 5));
	must(!enter_netns(NULL));
	return fd;
}

static void expect_no_connection(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	expect(!poll(&pfd, 1, 0));
	close(fd);
}

static void has_qp(const char *from, const char *to)
{
	struct end e;

	must(!end_resolve(&e, to, 8600, from));
	must(!end_build(&e, &none));
	report(e.qp->qp_num);
	next_word();
}

static void has_qp_of_a(void)
{
	has_qp(IP_A, IP_B);
}

static void has_qp_of_b(void)
{
	has_qp(IP_B, IP_A);
}

/* try a QP of each device: rdma_cm may choose either for the wildcard address */
static void loopback_of_others(const char *from, const char *at)
{
	int in_a = tcp_listener("a", at, 8603);
	int in_b = tcp_listener("b", at, 8603);
	struct party of_a, of_b, intruder;
	int i, refused = 0;

	party_start(&of_a, "a", 0, has_qp_of_a);
	party_start(&of_b, "b", 0, has_qp_of_b);
	qpns[0] = party_receive(&of_a);
	qpns[1] = party_receive(&of_b);
	any = from;
	party_start(&intruder, "c", INTRUDER, from_c);
	for (i = 0; i < 2; i++) {
		int err = party_receive(&intruder);

		expect(err == EADDRNOTAVAIL || err == EINVAL);
		refused += err == EADDRNOTAVAIL;
	}
	expect(refused);
	party_end(&intruder);
	party_end(&of_b);
	party_end(&of_a);
	expect_no_connection(in_a);
	expect_no_connection(in_b);
}

static void loopback_ipv4(void)
{
	loopback_of_others("0.0.0.0", "127.0.0.1");
}

static void loopback_ipv6(void)
{
	loopback_of_others("::", "::1");
}

/* ---- ports ------------------------------------------------------------------ */

static int port_to_take;
static const char *ip_from, *ip_to;

static void takes_port(void)
{
	struct end e;
	int err = 0;

	must(!end_resolve_from(&e, ip_to, 8600, ip_from, port_to_take));
	must(!end_build(&e, &none));
	if (end_connect(&e, &none))
		err = errno;
	report(err);
}

static void expect_port(int port, int err)
{
	struct party p;

	port_to_take = port;
	party_start(&p, "a", INTRUDER, takes_port);
	expect_eq(party_receive(&p), err);
	party_end(&p);
}

/* ports outside and inside the range of ephemeral ports */
static void ports_of(const char *from, const char *to)
{
	static const int ports[] = { 8604, 40404 };
	unsigned int i;
	int fd;

	ip_from = from;
	ip_to = to;
	for (i = 0; i < ARRAY_LEN(ports); i++) {
		must(!enter_netns("a"));
		fd = tcp_bound(from, ports[i], false);
		must(fd >= 0);
		expect_port(ports[i], EADDRINUSE);
		must(!listen(fd, 5));
		expect_port(ports[i], EADDRINUSE);
		close(fd);
		/* SO_REUSEADDR does not share the port of a listening socket */
		must(!enter_netns("a"));
		fd = tcp_bound(from, ports[i], true);
		must(fd >= 0 && !listen(fd, 5));
		expect_port(ports[i], EADDRINUSE);
		close(fd);
		must(!enter_netns(NULL));
		expect_port(ports[i], 0);
	}
}

static void ports_of_others(void)
{
	ports_of(IP_A, IP_B);
}

static void ports_of_others_ipv6(void)
{
	ports_of(IP6_A, IP6_B);
}

/* ---- ports of servers ----------------------------------------------------------- */

static const enum rdma_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB };
static enum rdma_port_space space;
static const char *ip_of_server;

/* a server in that port space; rdma_cm gives the ports of each to any user */
static void listens(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(8605) };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;

	must(ch && inet_pton(AF_INET, ip_of_server, &addr.sin_addr) == 1);
	must(!rdma_create_id(ch, &id, NULL, space));
	must(!rdma_bind_addr(id, (struct sockaddr *)&addr));
	report(rdma_listen(id, 4) ? errno : 0);
	next_word();
}

static void expect_server(struct party *p, enum rdma_port_space ps, const char *ip, int uid,
			  int err)
{
	space = ps;
	ip_of_server = ip;
	party_start(p, "b", uid, listens);
	expect_eq(party_receive(p), err);
}

/* @first and @second: the addresses of the two servers */
static void servers_at(const char *first, const char *second)
{
	struct party owner, intruder;
	unsigned int i, k;

	for (i = 0; i < ARRAY_LEN(spaces); i++) {
		expect_server(&owner, spaces[i], first, OWNER, 0);
		for (k = 0; k < ARRAY_LEN(spaces); k++) {
			/* rdma_cm refuses to bind within a space */
			if (i == k)
				continue;
			expect_server(&intruder, spaces[k], second, INTRUDER, EADDRINUSE);
			party_end(&intruder);
		}
		party_end(&owner);
		expect_server(&intruder, spaces[i], second, INTRUDER, 0);
		party_end(&intruder);
	}
}

static void servers_of_others(void)
{
	servers_at(IP_B, IP_B);
}

static void wildcard_servers_of_others(void)
{
	servers_at("0.0.0.0", "0.0.0.0");
	servers_at("0.0.0.0", IP_B);
	servers_at(IP_B, "0.0.0.0");
}

static const struct tap_test tests[] = {
	{ "netns__refuses_loopback_of_another_netns_ipv4", loopback_ipv4 },
	{ "netns__refuses_loopback_of_another_netns_ipv6", loopback_ipv6 },
	{ "port__refuses_ports_of_other_sockets", ports_of_others },
	{ "port__refuses_ports_of_other_sockets_ipv6", ports_of_others_ipv6 },
	{ "port__refuses_ports_of_servers_of_other_port_spaces", servers_of_others },
	{ "port__refuses_ports_of_wildcard_servers_of_other_port_spaces",
	  wildcard_servers_of_others },
};

const struct tap_theme access_net_theme = { tests, ARRAY_LEN(tests) };
