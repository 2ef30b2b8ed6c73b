// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* rdma_cm's commands without librdmacm, which only uses ids that it created. */
#include "ucma_raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#include "../test.h"
#include "party.h"

#define NOWHERE SIZE_MAX
#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* enum rdma_cm_event_type, whose header conflicts with this one's */
#define ADDR_RESOLVED	0
#define ROUTE_RESOLVED	2

static uint8_t answer[1024];

/* send a command; the address for its answer goes to offset @at_response of @args */
static int command(int fd, uint32_t cmd, void *args, size_t len,
		   size_t at_response)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t args[1024];
	} msg = { .hdr = { cmd, len, sizeof(answer) } };
	uint64_t where = (uintptr_t)answer;

	memcpy(msg.args, args, len);
	if (at_response != NOWHERE)
		memcpy(msg.args + at_response, &where, sizeof(where));
	if (write(fd, &msg, sizeof(msg.hdr) + len) >= 0)
		return 0;
	return errno;
}

#define COMMAND(fd, cmd, args, type) \
	command(fd, cmd, args, sizeof(struct type), offsetof(struct type, response))

int raw_open(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	must(fd >= 0);
	return fd;
}

uint32_t raw_create(int fd)
{
	struct rdma_ucm_create_id args = { .uid = 1, .ps = RDMA_PS_TCP };
	uint32_t id;

	if (COMMAND(fd, RDMA_USER_CM_CMD_CREATE_ID, &args, rdma_ucm_create_id))
		return UINT32_MAX;
	memcpy(&id, answer, sizeof(id));
	return id;
}

int raw_connect(int fd, uint32_t id, uint32_t qpn)
{
	struct rdma_ucm_connect args = {
		.conn_param = { .qp_num = qpn, .valid = 1 }, .id = id,
	};

	return command(fd, RDMA_USER_CM_CMD_CONNECT, &args, sizeof(args), NOWHERE);
}

int raw_query(int fd, uint32_t id)
{
	struct rdma_ucm_query args = { .id = id };

	return COMMAND(fd, RDMA_USER_CM_CMD_QUERY_ROUTE, &args, rdma_ucm_query);
}

static int wait_event(int fd, uint32_t type)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct rdma_ucm_get_event args = {};
	struct rdma_ucm_event_resp *event = (void *)answer;
	int err;

	if (poll(&pfd, 1, 30000) != 1)
		return ETIMEDOUT;
	err = COMMAND(fd, RDMA_USER_CM_CMD_GET_EVENT, &args, rdma_ucm_get_event);
	return err ?: (event->event == type ? 0 : EPROTO);
}

static int resolve_route(int fd, uint32_t id)
{
	struct rdma_ucm_resolve_route args = { .id = id, .timeout_ms = 1000 };

	return command(fd, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &args, sizeof(args),
		       NOWHERE) ?:
	       wait_event(fd, ROUTE_RESOLVED);
}

int raw_resolve(int fd, uint32_t id, const char *ip, int port)
{
	struct rdma_ucm_resolve_ip args = { .id = id, .timeout_ms = 1000 };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	int err;

	if (inet_pton(AF_INET, ip, &in.sin_addr) == 1) {
		memcpy(&args.dst_addr, &in, sizeof(in));
	} else {
		args.dst_addr.sin6_family = AF_INET6;
		args.dst_addr.sin6_port = htons(port);
		inet_pton(AF_INET6, ip, &args.dst_addr.sin6_addr);
	}
	err = command(fd, RDMA_USER_CM_CMD_RESOLVE_IP, &args, sizeof(args), NOWHERE);
	return err ?: wait_event(fd, ADDR_RESOLVED) ?:
	       resolve_route(fd, id);
}

/* ---- every command -------------------------------------------------------------- */

/*
 * All arguments but the id are valid, so that only the id decides: an address (and its
 * size where the command has one), or parameters of a connection.
 */
static const struct {
	const char *name;
	uint32_t cmd;
	size_t len;
	size_t id;
	size_t response;
	size_t address;
	size_t size;
	size_t valid;
	size_t self;
} table[] = {
#define ROW(cmd, type, response, address, size, valid, self)		\
	{ #cmd, RDMA_USER_CM_CMD_##cmd, sizeof(struct type),		\
	  offsetof(struct type, id), response, address, size, valid, self }
#define AT(type, field) offsetof(struct type, field)
#define PLAIN(cmd, type) ROW(cmd, type, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE)
#define ASKS(cmd, type) \
	ROW(cmd, type, AT(type, response), NOWHERE, NOWHERE, NOWHERE, NOWHERE)
#define GOES(cmd, type) \
	ROW(cmd, type, NOWHERE, NOWHERE, NOWHERE, AT(type, conn_param.valid), NOWHERE)
	ASKS(DESTROY_ID, rdma_ucm_destroy_id),
	ROW(BIND_IP, rdma_ucm_bind_ip, NOWHERE, AT(rdma_ucm_bind_ip, addr),
	    NOWHERE, NOWHERE, NOWHERE),
	ROW(RESOLVE_IP, rdma_ucm_resolve_ip, NOWHERE,
	    AT(rdma_ucm_resolve_ip, dst_addr), NOWHERE, NOWHERE, NOWHERE),
	PLAIN(RESOLVE_ROUTE, rdma_ucm_resolve_route),
	ASKS(QUERY_ROUTE, rdma_ucm_query),
	GOES(CONNECT, rdma_ucm_connect),
	PLAIN(LISTEN, rdma_ucm_listen),
	GOES(ACCEPT, rdma_ucm_accept),
	PLAIN(REJECT, rdma_ucm_reject),
	PLAIN(DISCONNECT, rdma_ucm_disconnect),
	ASKS(INIT_QP_ATTR, rdma_ucm_init_qp_attr),
	PLAIN(SET_OPTION, rdma_ucm_set_option),
	PLAIN(NOTIFY, rdma_ucm_notify),
	ROW(JOIN_IP_MCAST, rdma_ucm_join_ip_mcast,
	    AT(rdma_ucm_join_ip_mcast, response),
	    AT(rdma_ucm_join_ip_mcast, addr), NOWHERE, NOWHERE, NOWHERE),
	ROW(MIGRATE_ID, rdma_ucm_migrate_id, AT(rdma_ucm_migrate_id, response),
	    NOWHERE, NOWHERE, NOWHERE, AT(rdma_ucm_migrate_id, fd)),
	ASKS(QUERY, rdma_ucm_query),
	ROW(BIND, rdma_ucm_bind, NOWHERE, AT(rdma_ucm_bind, addr),
	    AT(rdma_ucm_bind, addr_size), NOWHERE, NOWHERE),
	ROW(RESOLVE_ADDR, rdma_ucm_resolve_addr, NOWHERE,
	    AT(rdma_ucm_resolve_addr, dst_addr),
	    AT(rdma_ucm_resolve_addr, dst_size), NOWHERE, NOWHERE),
	ROW(JOIN_MCAST, rdma_ucm_join_mcast, AT(rdma_ucm_join_mcast, response),
	    AT(rdma_ucm_join_mcast, addr), AT(rdma_ucm_join_mcast, addr_size),
	    NOWHERE, NOWHERE),
};

const unsigned int raw_commands = ROWS(table);

const char *raw_name(unsigned int i)
{
	return table[i].name;
}

static void put(uint8_t *args, size_t at, const void *value, size_t len)
{
	if (at != NOWHERE)
		memcpy(args + at, value, len);
}

int raw_try(int fd, unsigned int i, uint32_t id)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	uint16_t size = sizeof(in6);
	uint32_t self = fd;
	uint8_t args[1024] = {}, yes = 1;

	put(args, table[i].id, &id, sizeof(id));
	put(args, table[i].address, &in6, sizeof(in6));
	put(args, table[i].size, &size, sizeof(size));
	put(args, table[i].valid, &yes, sizeof(yes));
	put(args, table[i].self, &self, sizeof(self));
	return command(fd, table[i].cmd, args, table[i].len, table[i].response);
}
