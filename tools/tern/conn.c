// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Read a connection from a message of the kernel, and print it as a line. */
#define _GNU_SOURCE
#include "conn.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <netlink/genl/genl.h>

#include "details.h"
#include "dev.h"
#include "out.h"
#include "settings.h"
#include "talk.h"
#include "term.h"
#include "tern.h"

static const struct nla_policy frame_policy[TERN_A_FRAME_MAX + 1] = {
	[1 ... TERN_A_FRAME_MAX] = { .type = NLA_U32 },
};

static const struct nla_policy agreed_policy[TERN_A_AGREED_MAX + 1] = {
	[1 ... TERN_A_AGREED_MAX] = { .type = NLA_U32 },
};

static const struct nla_policy flow_policy[TERN_A_FLOW_MAX + 1] = {
	[1 ... TERN_A_FLOW_MAX] = { .minlen = 4, .maxlen = 8 },
};

static const struct nla_policy conn_policy[CONN_ATTRS] = {
	[TERN_A_CONN_NR] = { .type = NLA_U32 },
	[TERN_A_CONN_DEVICE] = { .type = NLA_STRING },
	[TERN_A_CONN_INDEX] = { .type = NLA_U32 },
	[TERN_A_CONN_QPN] = { .type = NLA_U32 },
	[TERN_A_CONN_STATE] = { .type = NLA_STRING },
	[TERN_A_CONN_ENDED] = { .type = NLA_FLAG },
	[TERN_A_CONN_ROLE] = { .type = NLA_U32 },
	[TERN_A_CONN_LOCAL] = { .minlen = 4, .maxlen = 16 },
	[TERN_A_CONN_REMOTE] = { .minlen = 4, .maxlen = 16 },
	[TERN_A_CONN_LOCAL_PORT] = { .type = NLA_U32 },
	[TERN_A_CONN_REMOTE_PORT] = { .type = NLA_U32 },
	[TERN_A_CONN_OWN] = { .type = NLA_NESTED },
	[TERN_A_CONN_PEER] = { .type = NLA_NESTED },
	[TERN_A_CONN_AGREED] = { .type = NLA_NESTED },
	[TERN_A_CONN_MSS] = { .type = NLA_U32 },
	[TERN_A_CONN_MULPDU] = { .type = NLA_U32 },
	[TERN_A_CONN_TERM_SENT] = { .type = NLA_U32 },
	[TERN_A_CONN_TERM_RECEIVED] = { .type = NLA_U32 },
	[TERN_A_CONN_TERM_FOUND] = { .type = NLA_U32 },
	[TERN_A_CONN_ERROR] = { .type = NLA_U32 },
	[TERN_A_CONN_FEATURES] = { .type = NLA_U32 },
	[TERN_A_CONN_DECIDED] = { .type = NLA_FLAG },
	[TERN_A_CONN_BEGAN_MS] = { .minlen = 4, .maxlen = 8 },
	[TERN_A_CONN_ENDED_MS] = { .minlen = 4, .maxlen = 8 },
	[TERN_A_CONN_FLOW] = { .type = NLA_NESTED },
};

static const struct nest {
	int attr;
	int max;
	const struct nla_policy *policy;
} nests[NESTS] = {
	[OWN] = { TERN_A_CONN_OWN, TERN_A_FRAME_MAX, frame_policy },
	[PEER] = { TERN_A_CONN_PEER, TERN_A_FRAME_MAX, frame_policy },
	[AGREED] = { TERN_A_CONN_AGREED, TERN_A_AGREED_MAX, agreed_policy },
	[FLOW] = { TERN_A_CONN_FLOW, TERN_A_FLOW_MAX, flow_policy },
};

bool conn_read(struct nlmsghdr *hdr, struct conn *c)
{
	static const int needed[] = {
		TERN_A_CONN_NR, TERN_A_CONN_DEVICE, TERN_A_CONN_STATE, TERN_A_CONN_ROLE,
		TERN_A_CONN_LOCAL, TERN_A_CONN_REMOTE,
	};
	struct nlattr *const *tb = c->tb[CONN];
	size_t i;

	memset(c, 0, sizeof(*c));
	if (genlmsg_parse(hdr, 0, c->tb[CONN], TERN_A_CONN_MAX,
			  conn_policy) < 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if (!tb[needed[i]])
			return false;
	for (i = OWN; i < NESTS; i++)
		if (tb[nests[i].attr])
			nla_parse_nested(c->tb[i], nests[i].max, tb[nests[i].attr],
					 nests[i].policy);
	return true;
}

/* ---- values ----------------------------------------------------------------- */

uint32_t conn_number(const struct conn *c, int nest, int attr)
{
	struct nlattr *a = c->tb[nest][attr];

	return a ? nla_get_u32(a) : 0;
}

uint64_t conn_count(const struct conn *c, int nest, int attr)
{
	struct nlattr *a = c->tb[nest][attr];

	return a && nla_len(a) == sizeof(uint64_t) ? nla_get_u64(a) :
						     conn_number(c, nest, attr);
}

const char *conn_role(const struct conn *c)
{
	return conn_number(c, CONN, TERN_A_CONN_ROLE) == TERN_ROLE_INITIATOR ? "initiator" :
									       "responder";
}

const char *conn_address(struct nlattr *attr, char *buf)
{
	int family = nla_len(attr) == 16 ? AF_INET6 : AF_INET;

	return inet_ntop(family, nla_data(attr), buf, INET6_ADDRSTRLEN) ?: "?";
}

/* ---- a line --------------------------------------------------------------------- */

#define COLUMNS	"%-13s %-6s %-9s %-4s %-9s %-5s %-24s %-24s"

void conn_print_head(void)
{
	printf(COLUMNS " %s\n", "State", "Nr", "Device", "QP", "Role", "Rev", "Local:Port",
	       "Remote:Port", "Details");
}

static void end_text(const struct conn *c, int addr, int port, char *out, size_t size)
{
	struct nlattr *attr = c->tb[CONN][addr];
	char buf[INET6_ADDRSTRLEN];
	bool v6 = nla_len(attr) == 16;

	snprintf(out, size, "%s%s%s:%u", v6 ? "[" : "", conn_address(attr, buf), v6 ? "]" : "",
		 conn_number(c, CONN, port));
}

static void print_switches(const struct conn *c)
{
	static const struct {
		int attr;
		const char *name;
	} switches[] = {
		{ TERN_A_AGREED_CRC, "crc" },
		{ TERN_A_AGREED_TX_MARKERS, "tx-markers" },
		{ TERN_A_AGREED_RX_MARKERS, "rx-markers" },
		{ TERN_A_AGREED_P2P, "p2p" },
	};
	size_t i;

	if (!c->tb[CONN][TERN_A_CONN_AGREED])
		return;
	printf(" ird:%u ord:%u", conn_number(c, AGREED, TERN_A_AGREED_IRD),
	       conn_number(c, AGREED, TERN_A_AGREED_ORD));
	for (i = 0; i < ARRAY_SIZE(switches); i++)
		if (conn_number(c, AGREED, switches[i].attr))
			printf(" %s", switches[i].name);
	if (c->tb[AGREED][TERN_A_AGREED_RTR])
		printf(" rtr:%s", rtr_name(conn_number(c, AGREED, TERN_A_AGREED_RTR)));
	if (!conn_number(c, AGREED, TERN_A_AGREED_VERSION))
		printf(" version:0");
}

static void print_extensions(const struct conn *c)
{
	char text[64] = "unknown";

	if (!c->tb[CONN][TERN_A_CONN_FEATURES])
		return;
	if (c->tb[CONN][TERN_A_CONN_DECIDED])
		features_text(conn_number(c, CONN, TERN_A_CONN_FEATURES), text, sizeof(text));
	printf(" extensions:%s", text);
}

static void print_term(const struct conn *c, const char *key, int attr)
{
	uint32_t code = conn_number(c, CONN, attr);
	const char *section = term_section(code);
	char number[16];

	if (!c->tb[CONN][attr])
		return;
	term_number(code, number, sizeof(number));
	printf(" %s:%s(%s%s%s)", key, number, term_name(code), section ? ", " : "",
	       section ?: "");
}

static void print_outcome(const struct conn *c)
{
	if (c->tb[CONN][TERN_A_CONN_MSS])
		printf(" mss:%u mulpdu:%u", conn_number(c, CONN, TERN_A_CONN_MSS),
		       conn_number(c, CONN, TERN_A_CONN_MULPDU));
	print_term(c, "term-found", TERN_A_CONN_TERM_FOUND);
	print_term(c, "term-sent", TERN_A_CONN_TERM_SENT);
	print_term(c, "term-received", TERN_A_CONN_TERM_RECEIVED);
	if (c->tb[CONN][TERN_A_CONN_ERROR])
		printf(" error:%s",
		       strerrorname_np(conn_number(c, CONN, TERN_A_CONN_ERROR)) ?: "?");
}

void conn_print(const struct conn *c)
{
	char local[80], remote[80], nr[12], qpn[12] = "-", rev[12] = "-";
	char device[DEV_NAME_MAX];

	end_text(c, TERN_A_CONN_LOCAL, TERN_A_CONN_LOCAL_PORT, local, sizeof(local));
	end_text(c, TERN_A_CONN_REMOTE, TERN_A_CONN_REMOTE_PORT, remote, sizeof(remote));
	snprintf(nr, sizeof(nr), "%u", conn_number(c, CONN, TERN_A_CONN_NR));
	if (c->tb[CONN][TERN_A_CONN_QPN])
		snprintf(qpn, sizeof(qpn), "%u", conn_number(c, CONN, TERN_A_CONN_QPN));
	if (c->tb[OWN][TERN_A_FRAME_REV])
		snprintf(rev, sizeof(rev), "%u", conn_number(c, OWN, TERN_A_FRAME_REV));
	printf(COLUMNS, nla_get_string(c->tb[CONN][TERN_A_CONN_STATE]), nr,
	       dev_printable(nla_get_string(c->tb[CONN][TERN_A_CONN_DEVICE]), device), qpn,
	       conn_role(c), rev, local, remote);
	print_switches(c);
	print_extensions(c);
	print_outcome(c);
	putchar('\n');
}

/* ---- tern show connections ------------------------------------------------------- */

/**
 * struct listing - of connections
 * @opt: options
 * @list: JSON, NULL for text
 */
struct listing {
	const struct options *opt;
	struct json_object *list;
};

static void add(struct nlmsghdr *hdr, void *arg)
{
	struct listing *l = arg;
	struct json_object *o;
	struct conn c;

	if (!conn_read(hdr, &c) || (c.tb[CONN][TERN_A_CONN_ENDED] && !l->opt->all))
		return;
	if (l->list) {
		o = conn_json(&c);
		if (l->opt->info)
			details_json(&c, o);
		json_object_array_add(l->list, o);
	} else {
		conn_print(&c);
		if (l->opt->info)
			details_print(&c);
	}
}

int show_connections(const struct options *opt, struct talk *t, const char *device)
{
	struct listing l = { opt, opt->json ? json_object_new_array() : NULL };
	struct nl_msg *msg = talk_new(t, TERN_CMD_CONN_GET, NLM_F_DUMP);
	int ret;

	if (!msg)
		return FAILED;
	if (device && nla_put_string(msg, TERN_A_CONN_DEVICE, device) < 0) {
		nlmsg_free(msg);
		complain("the request is too long");
		return FAILED;
	}
	if (!l.list)
		conn_print_head();
	ret = talk_ask(t, msg, add, &l);
	if (ret)
		talk_complain(t, device, ret);
	if (l.list && !ret)
		out_json(opt, l.list);
	return ret ? FAILED : DONE;
}
