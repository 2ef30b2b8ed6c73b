// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * tern-conform-agent: drives the verbs of the device under test for tern-conform,
 * one controller at a time, a line for each command and a line for each answer:
 * see tern-conform-agent(8).
 */
#define _GNU_SOURCE
#include "agent_call.h"
#include "agent_conn.h"
#include "agent_dev.h"
#include "agent_event.h"
#include "agent_ext.h"
#include "agent_hook.h"
#include "agent_mem.h"
#include "agent_mw.h"
#include "agent_wr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_storage device_address;

/* ---- commands ------------------------------------------------------------ */

/* destroy everything that the controller made, users before what they use: QPs,
 * windows, memory */
static int reset(void)
{
	conn_reset();
	mw_reset();
	mem_reset();
	event_reset();
	dev_reset();
	return hook_reset();
}

static int cmd_reset(struct call *c)
{
	return arg_end(c) ?: reset();
}

static int cmd_hello(struct call *c)
{
	int error = arg_end(c);

	if (error || !dev.verbs)
		return error ?: ENODEV;
	say(c, "%s %s %s", ibv_get_device_name(dev.verbs->device),
	    hook_set ? "set" : "-", hook_state ? "state" : "-");
	return 0;
}

static const struct command commands[] = {
	{ "hello", cmd_hello }, { "reset", cmd_reset },
	{ "set", cmd_set }, { "state", cmd_state }, { "counter", cmd_counter },
	{ "mr", cmd_mr }, { "dereg", cmd_dereg }, { "peek", cmd_peek },
	{ "bind", cmd_bind }, { "poke", cmd_poke }, { "untouched", cmd_untouched },
	{ "listen", cmd_listen }, { "connect", cmd_connect },
	{ "accept", cmd_accept }, { "reject", cmd_reject },
	{ "disconnect", cmd_disconnect }, { "destroy", cmd_destroy },
	{ "qp", cmd_qp }, { "qp-error", cmd_qp_error },
	{ "srq-limit", cmd_srq_limit },
	{ "event", cmd_event }, { "async", cmd_async },
	{ "recv", cmd_recv }, { "post", cmd_post }, { "poll", cmd_poll },
	{ "post-imm", cmd_post_imm }, { "atomic", cmd_atomic },
	{ "peek64", cmd_peek64 }, { "poke64", cmd_poke64 },
	{ "arm", cmd_arm }, { "cq-event", cmd_cq_event },
	{ NULL, NULL }
};

static int dispatch(struct call *c, const char *name)
{
	const struct command *cmd;

	for (cmd = commands; cmd->name; cmd++)
		if (!strcmp(cmd->name, name))
			return cmd->run(c);
	return EOPNOTSUPP;
}

/* split @line into words and run the command */
static int run_line(struct call *c, char *line)
{
	char *save, *name = strtok_r(line, " ", &save);
	int n = 0;

	memset(c->words, 0, sizeof(c->words));
	c->next = 0;
	c->error = 0;
	c->out_len = 0;
	if (!name)
		return EINVAL;
	while ((c->words[n] = strtok_r(NULL, " ", &save)))
		if (++n > CALL_WORDS_MAX)
			return E2BIG;
	return dispatch(c, name);
}

/* ---- the controller's connection ----------------------------------------- */

static int answer(struct call *c, int result)
{
	static char line[CALL_LINE_MAX + 64];
	const char *text = strerrorname_np(result);
	int len;

	c->out[c->out_len] = '\0';
	if (!result)
		len = snprintf(line, sizeof(line), "ok%s\n", c->out);
	else if (result == CALL_NONE)
		len = snprintf(line, sizeof(line), "none\n");
	else
		len = snprintf(line, sizeof(line), "no %s%s\n", text ?: "EIO",
			       c->out_len ? c->out : "");
	return send(controller, line, len, MSG_NOSIGNAL) == len ? 0 : -1;
}

/* run the complete lines in @in; Return: how many bytes they take, or -1 */
static int serve_lines(struct call *c, char *in, size_t len)
{
	char *line = in, *end;

	while ((end = memchr(line, '\n', in + len - line))) {
		*end = '\0';
		if (answer(c, run_line(c, line)))
			return -1;
		line = end + 1;
	}
	return line - in;
}

static void serve(void)
{
	static char in[CALL_LINE_MAX];
	static struct call c;
	size_t len = 0;

	for (;;) {
		ssize_t n = recv(controller, in + len, sizeof(in) - len, 0);
		int done;

		if (n <= 0)
			return;
		len += n;
		done = serve_lines(&c, in, len);
		/* too long a line: drop the controller */
		if (done < 0 || (!done && len == sizeof(in)))
			return;
		len -= done;
		memmove(in, in + done, len);
	}
}

/* turn an IPv4-mapped IPv6 address (a socket of both families) into an IPv4 address */
static void unmap(struct sockaddr_storage *addr)
{
	struct sockaddr_in6 six = *(struct sockaddr_in6 *)addr;
	struct sockaddr_in *four = (struct sockaddr_in *)addr;

	six.sin6_port = 0;
	if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
		memset(addr, 0, sizeof(*addr));
		four->sin_family = AF_INET;
		memcpy(&four->sin_addr, &six.sin6_addr.s6_addr[12], 4);
	} else {
		memcpy(addr, &six, sizeof(six));
	}
}

static void host(void)
{
	struct sockaddr_storage addr = device_address;
	socklen_t len = sizeof(addr);
	int error, on = 1;

	setsockopt(controller, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(controller, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	if (!addr.ss_family) {
		getsockname(controller, (struct sockaddr *)&addr, &len);
		unmap(&addr);
	}
	error = dev_attach(&addr);
	if (error)
		fprintf(stderr, "tern-conform-agent: no RDMA device: %s\n",
			strerror(error));
	serve();
	close(controller);
	controller = -1;
	error = reset();
	if (error)
		fprintf(stderr, "tern-conform-agent: settings not restored: %s\n",
			strerror(error));
	dev_close();
	dev_detach();
}

static int open_port(int port)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6,
				   .sin6_port = htons(port) };
	int on = 1, off = 0, fd;

	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 4))
		return -1;
	return fd;
}

/* ---- start --------------------------------------------------------------- */

static void usage(void)
{
	fprintf(stderr,
		"Usage: tern-conform-agent [--port N] [--device-address ADDR] [--bind]\n"
		"                          [--set COMMAND] [--state COMMAND]\n");
	exit(2);
}

static void set_address(const char *text)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };
	struct addrinfo *found;

	if (getaddrinfo(text, NULL, &hints, &found)) {
		fprintf(stderr, "tern-conform-agent: no address: %s\n", text);
		exit(2);
	}
	memcpy(&device_address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
}

static int set_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "device-address", required_argument, NULL, 'd' },
		{ "set", required_argument, NULL, 's' },
		{ "state", required_argument, NULL, 't' },
		{ "bind", no_argument, NULL, 'b' },
		{ NULL, 0, NULL, 0 }
	};
	int opt, port = 5040;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'p':
			port = atoi(optarg);
			break;
		case 'd':
			set_address(optarg);
			break;
		case 's':
			hook_set = optarg;
			break;
		case 't':
			hook_state = optarg;
			break;
		case 'b':
			conn_bind_source = true;
			break;
		default:
			usage();
		}
	}
	if (optind != argc || port < 1 || port > 65535)
		usage();
	return port;
}

int main(int argc, char **argv)
{
	int port = set_options(argc, argv), fd = open_port(port);

	if (fd < 0) {
		fprintf(stderr, "tern-conform-agent: port %d: %s\n", port,
			strerror(errno));
		return 1;
	}
	printf("tern-conform-agent: port %d\n", port);
	fflush(stdout);
	for (;;) {
		controller = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (controller >= 0)
			host();
	}
}
