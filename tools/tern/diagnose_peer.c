// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The test connection of tern diagnose: rping moves data, and the kernel says what the
 * connection agreed on, or why there is none.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <netlink/netlink.h>

#include "conn.h"
#include "dev.h"
#include "finding.h"
#include "settings.h"
#include "talk.h"
#include "term.h"
#include "tern.h"

#define RPING_SECONDS	"30"

/**
 * struct attempt - the newest connection to the peer
 * @address: of the peer
 * @port: likewise
 * @nr: number of the connection, 0 if there is none
 * @device: whose it is
 * @error: errno of its end, or 0
 * @term: the Terminate or the error that ended it, -1 for none
 * @agreed: the values below are known
 * @crc: CRC is used
 * @p2p: peer-to-peer
 * @rtr: ready-to-receive message, 0 for none
 */
struct attempt {
	const char *address;
	uint32_t port;
	uint32_t nr;
	char device[DEV_NAME_MAX];
	int error;
	int term;
	bool agreed;
	bool crc;
	bool p2p;
	uint32_t rtr;
};

static int term_of(const struct conn *c)
{
	static const int attrs[] = {
		TERN_A_CONN_TERM_RECEIVED, TERN_A_CONN_TERM_SENT, TERN_A_CONN_TERM_FOUND,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (c->tb[CONN][attrs[i]])
			return conn_number(c, CONN, attrs[i]);
	return -1;
}

/* @arg: struct attempt */
static void take_newest(struct nlmsghdr *hdr, void *arg)
{
	struct attempt *a = arg;
	char address[INET6_ADDRSTRLEN];
	struct conn c;

	if (!conn_read(hdr, &c) || conn_number(&c, CONN, TERN_A_CONN_NR) <= a->nr ||
	    conn_number(&c, CONN, TERN_A_CONN_REMOTE_PORT) != a->port ||
	    strcmp(conn_address(c.tb[CONN][TERN_A_CONN_REMOTE], address), a->address))
		return;
	a->nr = conn_number(&c, CONN, TERN_A_CONN_NR);
	nla_strlcpy(a->device, c.tb[CONN][TERN_A_CONN_DEVICE], sizeof(a->device));
	a->error = conn_number(&c, CONN, TERN_A_CONN_ERROR);
	a->term = term_of(&c);
	a->agreed = c.tb[CONN][TERN_A_CONN_AGREED];
	a->crc = conn_number(&c, AGREED, TERN_A_AGREED_CRC);
	a->p2p = conn_number(&c, AGREED, TERN_A_AGREED_P2P);
	a->rtr = conn_number(&c, AGREED, TERN_A_AGREED_RTR);
}

static void look_up(struct talk *t, struct attempt *a)
{
	struct nl_msg *msg = talk_new(t, TERN_CMD_CONN_GET, NLM_F_DUMP);

	if (msg)
		talk_ask(t, msg, take_newest, a);
}

/* ---- the route --------------------------------------------------------------------- */

/* numeric addresses of the peer, and of this end for it; Return: 0 or an errno */
static int find_route(const struct addrinfo *to, char *remote, char *local, socklen_t size)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = 0;

	getnameinfo(to->ai_addr, to->ai_addrlen, remote, size, NULL, 0, NI_NUMERICHOST);
	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen) ||
	    getsockname(fd, (struct sockaddr *)&from, &len))
		error = errno;
	else
		getnameinfo((struct sockaddr *)&from, len, local, size, NULL, 0,
			    NI_NUMERICHOST);
	if (fd >= 0)
		close(fd);
	return error;
}

/* ---- rping ------------------------------------------------------------------------- */

/* Return: its exit status, 127 if there is no rping, 124 if it hung */
static int run_rping(const char *address, const char *port)
{
	int null, status = 0;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		if (null < 0)
			_exit(1);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execlp("timeout", "timeout", RPING_SECONDS, "rping", "-c", "-a", address, "-p",
		       port, "-C", "2", NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- results ----------------------------------------------------------------------- */

static const struct {
	int error;
	const char *todo;
} advice[] = {
	{ ECONNREFUSED, "start rping -s there, before each test" },
	{ ECONNRESET, "start rping -s there, before each test; if it runs, see its dmesg" },
	{ ETIMEDOUT, "check address, cable and firewalls: something drops the packets" },
	{ EHOSTUNREACH, "check address and cable: the peer does not answer ARP" },
	{ ENETUNREACH, "add a route to the peer" },
	{ EREMOTEIO, "compare tern show here and there; troubleshooting.rst has other makes" },
	{ EPROTO, "compare tern show here and there; troubleshooting.rst has other makes" },
};

static const char *advice_for(int error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(advice); i++)
		if (advice[i].error == error)
			return advice[i].todo;
	return "tern show connections -a -i has what is known of it";
}

static void report_failure(struct findings *f, const struct attempt *a, int status)
{
	if (status == 127)
		found(f, "peer", FAIL, "apt install rdmacm-utils", "rping is not installed");
	else if (!a->nr)
		found(f, "peer", FAIL, "check the route: ip route get ADDRESS",
		      "%s port %u: no device of tern tried to connect", a->address, a->port);
	else if (a->term >= 0)
		found(f, "peer", FAIL, advice_for(a->error), "%s port %u: %s: %s", a->address,
		      a->port, strerror(a->error), term_name(a->term));
	else if (a->error)
		found(f, "peer", FAIL, advice_for(a->error), "%s port %u: %s", a->address,
		      a->port, strerror(a->error));
	else
		found(f, "peer", FAIL, "look at the output of rping there",
		      "%s port %u: rping failed with status %d", a->address, a->port, status);
}

static void report_settings(struct findings *f, struct talk *t, const struct attempt *a)
{
	struct device dev;

	if (!a->agreed || dev_get(t, a->device, &dev))
		return;
	if (a->crc == !!dev.settings.value[TERN_A_SETTINGS_CRC])
		found(f, "crc", OK, NULL, "%s, as set", a->crc ? "on" : "off");
	else
		found(f, "crc", WARN, "set it off at both ends, or on here",
		      "on, since the peer asks for it; off is set here");
	if (a->p2p == !!dev.settings.value[TERN_A_SETTINGS_P2P])
		found(f, "rtr", OK, NULL, "%s, as set", a->rtr ? rtr_name(a->rtr) : "none");
	else
		found(f, "rtr", WARN, "let the client send first; see p2p in tern(8)",
		      "the peer does not take the peer-to-peer model that is set here");
}

static void try_peer(struct findings *f, struct talk *t, const struct addrinfo *to,
		     const char *port)
{
	char remote[INET6_ADDRSTRLEN + 16], local[sizeof(remote)];
	struct attempt a = { .address = remote, .port = strtoul(port, NULL, 10), .term = -1 };
	int error = find_route(to, remote, local, sizeof(remote));
	uint32_t before;
	int status;

	if (error) {
		found(f, "peer", FAIL, advice_for(error), "%s: %s", remote, strerror(error));
		return;
	}
	look_up(t, &a);
	before = a.nr;
	status = run_rping(remote, port);
	look_up(t, &a);
	if (a.nr == before)
		a.nr = 0;
	if (status || !a.nr) {
		report_failure(f, &a, status);
		return;
	}
	found(f, "peer", OK, NULL, "%s port %s: data moved both ways, by %s from %s", remote,
	      port, a.device, local);
	report_settings(f, t, &a);
}

void check_peer(struct findings *f, const char *address, const char *port)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV,
	};
	struct addrinfo *to;
	struct talk t;
	int ret = getaddrinfo(address, port, &hints, &to);

	if (ret) {
		found(f, "peer", FAIL, "give an address, or a name that resolves", "%s: %s",
		      address, gai_strerror(ret));
		return;
	}
	if (!talk_open_tern(&t)) {
		try_peer(f, &t, to, port);
		talk_close(&t);
	}
	freeaddrinfo(to);
}
