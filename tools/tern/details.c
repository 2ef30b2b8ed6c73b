// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#define _GNU_SOURCE
#include "details.h"

#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "out.h"
#include "program.h"
#include "tern.h"

/* the numbers of the flow, in the order in which they are printed */
static const struct {
	const char *name;
	int attr;
} numbers[] = {
	{ "tx_bytes", TERN_A_FLOW_TX_BYTES },
	{ "tx_messages", TERN_A_FLOW_TX_MESSAGES },
	{ "rx_bytes", TERN_A_FLOW_RX_BYTES },
	{ "rx_messages", TERN_A_FLOW_RX_MESSAGES },
	{ "rtt_us", TERN_A_FLOW_RTT_US },
	{ "rttvar_us", TERN_A_FLOW_RTTVAR_US },
	{ "retransmits", TERN_A_FLOW_RETRANSMITS },
	{ "cwnd", TERN_A_FLOW_CWND },
};

/* the owner of its QP, which an ended connection has no more */
static struct program owner_of(const struct conn *c)
{
	if (c->tb[CONN][TERN_A_CONN_ENDED] || !c->tb[CONN][TERN_A_CONN_QPN])
		return (struct program) {};
	return program_of(conn_number(c, CONN, TERN_A_CONN_INDEX),
			  conn_number(c, CONN, TERN_A_CONN_QPN));
}

static const char *time_of(const struct conn *c, int attr, char *buf, size_t size)
{
	if (!c->tb[CONN][attr])
		return NULL;
	return out_time(conn_count(c, CONN, attr), buf, size);
}

static const char *path_error(const struct conn *c)
{
	if (!c->tb[FLOW][TERN_A_FLOW_PATH_ERROR])
		return NULL;
	return strerrorname_np(conn_number(c, FLOW, TERN_A_FLOW_PATH_ERROR)) ?: "?";
}

/* "tx_bytes" is printed as "tx-bytes" */
static void print_number(const char *name, uint64_t value)
{
	putchar(' ');
	for (; *name; name++)
		putchar(*name == '_' ? '-' : *name);
	printf(":%llu", (unsigned long long)value);
}

static void print_text(const char *name, const char *text)
{
	if (text && *text)
		printf(" %s:%s", name, text);
}

void details_print(const struct conn *c)
{
	struct program owner = owner_of(c);
	char time[64];
	size_t i;

	printf("   ");
	print_text("since", time_of(c, TERN_A_CONN_BEGAN_MS, time, sizeof(time)));
	print_text("until", time_of(c, TERN_A_CONN_ENDED_MS, time, sizeof(time)));
	print_text("program", owner.name);
	if (owner.pid)
		print_number("pid", owner.pid);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (c->tb[FLOW][numbers[i].attr])
			print_number(numbers[i].name, conn_count(c, FLOW, numbers[i].attr));
	print_text("path-error", path_error(c));
	putchar('\n');
}

static void add(struct json_object *o, const char *key, struct json_object *value)
{
	json_object_object_add(o, key, value);
}

void details_json(const struct conn *c, struct json_object *o)
{
	struct program owner = owner_of(c);
	struct json_object *value;
	char time[64];
	size_t i;

	add(o, "since", out_string(time_of(c, TERN_A_CONN_BEGAN_MS, time, sizeof(time))));
	add(o, "until", out_string(time_of(c, TERN_A_CONN_ENDED_MS, time, sizeof(time))));
	add(o, "program", out_string(*owner.name ? owner.name : NULL));
	add(o, "pid", owner.pid ? json_object_new_int64(owner.pid) : NULL);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		value = NULL;
		if (c->tb[FLOW][numbers[i].attr])
			value = json_object_new_uint64(conn_count(c, FLOW, numbers[i].attr));
		add(o, numbers[i].name, value);
	}
	add(o, "path_error", out_string(path_error(c)));
}
