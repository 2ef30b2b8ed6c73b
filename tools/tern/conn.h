/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Connections: tern show connections, tern monitor. */
#ifndef TERN_TOOL_CONN_H
#define TERN_TOOL_CONN_H

#include <stdbool.h>
#include <netlink/attr.h>
#include <rdma/tern-nl.h>

struct json_object;
struct nlmsghdr;
struct options;
struct talk;

/* nests of attributes of a connection; a frame's are all NULL without it */
enum { CONN, OWN, PEER, AGREED, FLOW, NESTS };

#define CONN_ATTRS	(TERN_A_CONN_MAX + 1)

/**
 * struct conn - a connection's attributes
 * @tb: by nest and number
 */
struct conn {
	struct nlattr *tb[NESTS][CONN_ATTRS];
};

/* Return: true if what every connection has is there */
bool conn_read(struct nlmsghdr *hdr, struct conn *c);

/* the names of the columns of conn_print() */
void conn_print_head(void);
void conn_print(const struct conn *c);

struct json_object *conn_json(const struct conn *c);

/* value of an attribute, 0 without it */
uint32_t conn_number(const struct conn *c, int nest, int attr);

/* likewise of a "uint" of the spec: 4 bytes, or 8 where the kernel needs them */
uint64_t conn_count(const struct conn *c, int nest, int attr);

const char *conn_role(const struct conn *c);
const char *conn_address(struct nlattr *attr, char *buf);

/* @device: NULL for all; Return: exit status */
int show_connections(const struct options *opt, struct talk *t, const char *device);

#endif /* TERN_TOOL_CONN_H */
