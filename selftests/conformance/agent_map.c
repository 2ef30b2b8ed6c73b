// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Ask the iWARP port mapper (iwpmd) for the port of a listener. */
#define _GNU_SOURCE
#include "agent_map.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

#define MAPPER_PORT	3935
#define TRIES		3
#define TRY_MS		300

/* Message types. The first byte has 2 bits of version, 0, then 2 of type, then 4 of IP
 * version. */
enum { REQUEST, ACCEPT, ACK };

/**
 * struct message - a message of the port mapper, as on the wire
 * @kind: version, type, IP version
 * @time: 0
 * @mapped_cp_port: in a Request only, as is @mapped_cp
 * @ap_port, @ap: of the accepting peer: the wanted one; in an Accept the mapped one
 * @cp_port, @cp: of the connecting peer
 * @handle: the answer has the same
 */
struct message {
	uint8_t kind;
	uint8_t time;
	uint16_t mapped_cp_port;
	uint16_t ap_port;
	uint16_t cp_port;
	uint64_t handle;
	uint8_t cp[16];
	uint8_t ap[16];
	uint8_t mapped_cp[16];
};

_Static_assert(sizeof(struct message) == 64, "64 bytes are a request");

/* only a Request has the mapped address of the connecting peer */
#define SHORT_LEN	48

static void set_kind(struct message *m, int type, const struct sockaddr_storage *addr)
{
	m->kind = type << 4 | (addr->ss_family == AF_INET6 ? 6 : 4);
}

static void put_address(uint8_t *out, const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		memcpy(out, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
	else
		memcpy(out, &((const struct sockaddr_in *)addr)->sin_addr, 4);
}

static uint16_t port_of(const struct sockaddr_storage *addr)
{
	/* both address families have the port at the same offset */
	return ((const struct sockaddr_in *)addr)->sin_port;
}

/* a Request as if we connected from the device's own address and port */
static void make_request(struct message *m, const struct sockaddr_storage *addr)
{
	memset(m, 0, sizeof(*m));
	set_kind(m, REQUEST, addr);
	m->ap_port = port_of(addr);
	m->cp_port = port_of(addr);
	m->mapped_cp_port = port_of(addr);
	put_address(m->ap, addr);
	put_address(m->cp, addr);
	put_address(m->mapped_cp, addr);
	if (getrandom(&m->handle, sizeof(m->handle), 0) < 0)
		m->handle = 1;
}

static int open_mapper(const struct sockaddr_storage *addr)
{
	struct timeval limit = { .tv_usec = TRY_MS * 1000 };
	struct sockaddr_storage to = *addr;
	int fd = socket(addr->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	((struct sockaddr_in *)&to)->sin_port = htons(MAPPER_PORT);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (!connect(fd, (struct sockaddr *)&to, addr->ss_family == AF_INET6 ?
		     sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)))
		return fd;
	close(fd);
	return -1;
}

/* Return: the answer to @ask is in @answer; false at once when no mapper listens
 * there */
static bool exchange(int fd, const struct message *ask, struct message *answer)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		if (send(fd, ask, sizeof(*ask), MSG_NOSIGNAL) != sizeof(*ask))
			return false;
		while (recv(fd, answer, sizeof(*answer), 0) >= SHORT_LEN)
			if (answer->handle == ask->handle)
				return true;
		if (errno != EAGAIN)
			return false;
	}
	return false;
}

uint16_t map_port(const struct sockaddr_storage *addr)
{
	uint16_t port = port_of(addr);
	struct message ask, answer;
	int fd = open_mapper(addr);

	if (fd < 0)
		return ntohs(port);
	make_request(&ask, addr);
	memset(&answer, 0, sizeof(answer));
	if (exchange(fd, &ask, &answer) && (answer.kind >> 4 & 3) == ACCEPT) {
		port = answer.ap_port;
		set_kind(&answer, ACK, addr);
		(void)!send(fd, &answer, SHORT_LEN, MSG_NOSIGNAL);
	}
	close(fd);
	return ntohs(port);
}
