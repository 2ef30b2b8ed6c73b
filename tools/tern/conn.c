// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netlink/genl/genl.h>
#include <rdma/tern-nl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "settings.h"

#define DEPTH_MASK	0x3fff

/* room for a triplet or the flags of a frame */
#define TEXT		24

/**
 * struct conn - a connection's attributes
 * @tb: attributes of the connection
 * @own, @peer: attributes of the frames, all NULL without a frame
 * @agreed: what was agreed on, all NULL before that
 */
struct conn {
	struct nlattr *tb[TERN_A_CONN_MAX + 1];
	struct nlattr *own[TERN_A_FRAME_MAX + 1];
	struct nlattr *peer[TERN_A_FRAME_MAX + 1];
	struct nlattr *agreed[TERN_A_AGREED_MAX + 1];
};

static bool parse(struct nlmsghdr *hdr, struct conn *c)
{
	memset(c, 0, sizeof(*c));
	if (genlmsg_parse(hdr, 0, c->tb, TERN_A_CONN_MAX, NULL) < 0 ||
	    !c->tb[TERN_A_CONN_NR] || !c->tb[TERN_A_CONN_DEVICE] ||
	    !c->tb[TERN_A_CONN_STATE] || !c->tb[TERN_A_CONN_ROLE] ||
	    !c->tb[TERN_A_CONN_LOCAL] || !c->tb[TERN_A_CONN_REMOTE])
		return false;
	if (c->tb[TERN_A_CONN_OWN])
		nla_parse_nested(c->own, TERN_A_FRAME_MAX,
				 c->tb[TERN_A_CONN_OWN], NULL);
	if (c->tb[TERN_A_CONN_PEER])
		nla_parse_nested(c->peer, TERN_A_FRAME_MAX,
				 c->tb[TERN_A_CONN_PEER], NULL);
	if (c->tb[TERN_A_CONN_AGREED])
		nla_parse_nested(c->agreed, TERN_A_AGREED_MAX,
				 c->tb[TERN_A_CONN_AGREED], NULL);
	return true;
}

/* ---- values ----------------------------------------------------------------- */

static const char *role_name(const struct conn *c)
{
	return nla_get_u32(c->tb[TERN_A_CONN_ROLE]) == TERN_ROLE_INITIATOR ?
	       "initiator" : "responder";
}

static const char *address(struct nlattr *attr, char *buf)
{
	int family = nla_len(attr) == 4 ? AF_INET : AF_INET6;

	return inet_ntop(family, nla_data(attr), buf, INET6_ADDRSTRLEN) ?: "?";
}

static uint32_t number(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

/* layer/type/code */
static const char *triplet(struct nlattr *attr, char *buf)
{
	uint32_t t = number(attr);

	if (!attr)
		return NULL;
	snprintf(buf, TEXT, "%u/%u/%02x", t >> 12 & 0xf, t >> 8 & 0xf,
		 t & 0xff);
	return buf;
}

static const char *hex_byte(struct nlattr *attr, char *buf)
{
	if (!attr)
		return NULL;
	snprintf(buf, TEXT, "0x%02x", number(attr));
	return buf;
}

static const char *error_name(struct nlattr *attr)
{
	return attr ? strerrorname_np(number(attr)) ?: "?" : NULL;
}

static const char *rtr_name(const struct conn *c)
{
	struct nlattr *rtr = c->agreed[TERN_A_AGREED_RTR];

	return rtr ? setting_rtr_name(number(rtr)) : NULL;
}

/* the control flags of an enhanced frame: those of "ABCD" that are set */
static const char *control(struct nlattr **frame, char *buf)
{
	uint32_t ird = number(frame[TERN_A_FRAME_IRD]);
	uint32_t ord = number(frame[TERN_A_FRAME_ORD]);

	if (!frame[TERN_A_FRAME_IRD])
		return NULL;
	snprintf(buf, TEXT, "%s%s%s%s", ird & 0x8000 ? "A" : "",
		 ird & 0x4000 ? "B" : "", ord & 0x8000 ? "C" : "",
		 ord & 0x4000 ? "D" : "");
	return *buf ? buf : "-";
}

/* ---- text --------------------------------------------------------------------- */

#define COLUMNS	"%-13s %-6s %-9s %-4s %-9s %-5s %-24s %-24s"

void conn_print_head(void)
{
	printf(COLUMNS " %s\n", "State", "Nr", "Device", "QP", "Role", "Rev",
	       "Local:Port", "Remote:Port", "Details");
}

static void print_end(struct nlattr *addr, struct nlattr *port, char *out,
		      size_t size)
{
	char buf[INET6_ADDRSTRLEN];
	bool v6 = nla_len(addr) != 4;

	snprintf(out, size, "%s%s%s:%u", v6 ? "[" : "", address(addr, buf),
		 v6 ? "]" : "", number(port));
}

static void print_switches(const struct conn *c)
{
	struct nlattr *const *a = c->agreed;
	const char *rtr = rtr_name(c);

	if (!c->tb[TERN_A_CONN_AGREED])
		return;
	printf(" ird:%u ord:%u", number(a[TERN_A_AGREED_IRD]),
	       number(a[TERN_A_AGREED_ORD]));
	if (number(a[TERN_A_AGREED_CRC]))
		printf(" crc");
	if (number(a[TERN_A_AGREED_TX_MARKERS]))
		printf(" tx-markers");
	if (number(a[TERN_A_AGREED_RX_MARKERS]))
		printf(" rx-markers");
	if (number(a[TERN_A_AGREED_P2P]))
		printf(" p2p");
	if (rtr)
		printf(" rtr:%s", rtr);
	if (!number(a[TERN_A_AGREED_VERSION]))
		printf(" version:0");
}

static void print_extensions(const struct conn *c)
{
	struct nlattr *features = c->tb[TERN_A_CONN_FEATURES];

	if (!features)
		return;
	printf(" extensions:");
	if (c->tb[TERN_A_CONN_DECIDED])
		features_print(number(features), false);
	else
		printf("unknown");
}

static void print_outcome(const struct conn *c)
{
	char buf[TEXT];

	if (c->tb[TERN_A_CONN_MSS])
		printf(" mss:%u mulpdu:%u", number(c->tb[TERN_A_CONN_MSS]),
		       number(c->tb[TERN_A_CONN_MULPDU]));
	if (triplet(c->tb[TERN_A_CONN_TERM_FOUND], buf))
		printf(" term-found:%s", buf);
	if (triplet(c->tb[TERN_A_CONN_TERM_SENT], buf))
		printf(" term-sent:%s", buf);
	if (triplet(c->tb[TERN_A_CONN_TERM_RECEIVED], buf))
		printf(" term-received:%s", buf);
	if (c->tb[TERN_A_CONN_ERROR])
		printf(" error:%s", error_name(c->tb[TERN_A_CONN_ERROR]));
}

static void print_text(const struct conn *c)
{
	struct nlattr *const *tb = c->tb;
	char local[80], remote[80], nr[12], qpn[12] = "-", rev[12] = "-";

	print_end(tb[TERN_A_CONN_LOCAL], tb[TERN_A_CONN_LOCAL_PORT], local,
		  sizeof(local));
	print_end(tb[TERN_A_CONN_REMOTE], tb[TERN_A_CONN_REMOTE_PORT], remote,
		  sizeof(remote));
	snprintf(nr, sizeof(nr), "%u", number(tb[TERN_A_CONN_NR]));
	if (tb[TERN_A_CONN_QPN])
		snprintf(qpn, sizeof(qpn), "%u", number(tb[TERN_A_CONN_QPN]));
	if (c->own[TERN_A_FRAME_REV])
		snprintf(rev, sizeof(rev), "%u",
			 number(c->own[TERN_A_FRAME_REV]));
	printf(COLUMNS, nla_get_string(tb[TERN_A_CONN_STATE]), nr,
	       nla_get_string(tb[TERN_A_CONN_DEVICE]), qpn, role_name(c), rev,
	       local, remote);
	print_switches(c);
	print_extensions(c);
	print_outcome(c);
	putchar('\n');
}

/* ---- JSON ----------------------------------------------------------------------- */

static void json_number(const char *key, struct nlattr *attr, uint32_t mask)
{
	if (attr)
		printf(", \"%s\": %u", key, number(attr) & mask);
	else
		printf(", \"%s\": null", key);
}

static void json_switch(const char *key, struct nlattr *attr)
{
	printf(", \"%s\": %s", key,
	       !attr ? "null" : number(attr) ? "true" : "false");
}

/* our words need no escaping */
static void json_word(const char *key, const char *word)
{
	if (word)
		printf(", \"%s\": \"%s\"", key, word);
	else
		printf(", \"%s\": null", key);
}

static void json_frame(const char *whose, struct nlattr **frame)
{
	char key[32], buf[TEXT];

	snprintf(key, sizeof(key), "%s_flags", whose);
	json_word(key, hex_byte(frame[TERN_A_FRAME_FLAGS], buf));
	snprintf(key, sizeof(key), "%s_rev", whose);
	json_number(key, frame[TERN_A_FRAME_REV], UINT32_MAX);
	snprintf(key, sizeof(key), "%s_ird", whose);
	json_number(key, frame[TERN_A_FRAME_IRD], DEPTH_MASK);
	snprintf(key, sizeof(key), "%s_ord", whose);
	json_number(key, frame[TERN_A_FRAME_ORD], DEPTH_MASK);
	snprintf(key, sizeof(key), "%s_control", whose);
	json_word(key, control(frame, buf));
	snprintf(key, sizeof(key), "%s_pd_len", whose);
	json_number(key, frame[TERN_A_FRAME_PD_LEN], UINT32_MAX);
}

static void json_identity(const struct conn *c)
{
	struct nlattr *const *tb = c->tb;
	char buf[INET6_ADDRSTRLEN];

	printf("{\"nr\": %u, \"device\": ", number(tb[TERN_A_CONN_NR]));
	print_quoted(nla_get_string(tb[TERN_A_CONN_DEVICE]));
	json_number("qp", tb[TERN_A_CONN_QPN], UINT32_MAX);
	json_word("state", nla_get_string(tb[TERN_A_CONN_STATE]));
	printf(", \"ended\": %s", tb[TERN_A_CONN_ENDED] ? "true" : "false");
	json_word("role", role_name(c));
	json_word("local", address(tb[TERN_A_CONN_LOCAL], buf));
	json_number("local_port", tb[TERN_A_CONN_LOCAL_PORT], UINT32_MAX);
	json_word("remote", address(tb[TERN_A_CONN_REMOTE], buf));
	json_number("remote_port", tb[TERN_A_CONN_REMOTE_PORT], UINT32_MAX);
}

static void json_extensions(const struct conn *c)
{
	struct nlattr *features = c->tb[TERN_A_CONN_FEATURES];

	printf(", \"extensions\": ");
	if (features && c->tb[TERN_A_CONN_DECIDED])
		features_print(number(features), true);
	else
		printf("null");
}

/* the revision of the connection is that of the Reply */
static struct nlattr *reply_rev(struct conn *c)
{
	if (!c->tb[TERN_A_CONN_AGREED])
		return NULL;
	return nla_get_u32(c->tb[TERN_A_CONN_ROLE]) == TERN_ROLE_INITIATOR ?
	       c->peer[TERN_A_FRAME_REV] : c->own[TERN_A_FRAME_REV];
}

static void print_json(struct conn *c)
{
	struct nlattr **a = c->agreed;
	char buf[TEXT];

	json_identity(c);
	json_number("mpa_rev", reply_rev(c), UINT32_MAX);
	json_number("version", a[TERN_A_AGREED_VERSION], UINT32_MAX);
	json_switch("crc", a[TERN_A_AGREED_CRC]);
	json_switch("tx_markers", a[TERN_A_AGREED_TX_MARKERS]);
	json_switch("rx_markers", a[TERN_A_AGREED_RX_MARKERS]);
	json_switch("p2p", a[TERN_A_AGREED_P2P]);
	json_word("rtr", rtr_name(c));
	json_number("ird", a[TERN_A_AGREED_IRD], UINT32_MAX);
	json_number("ord", a[TERN_A_AGREED_ORD], UINT32_MAX);
	json_extensions(c);
	json_frame("own", c->own);
	json_frame("peer", c->peer);
	json_number("mss", c->tb[TERN_A_CONN_MSS], UINT32_MAX);
	json_number("mulpdu", c->tb[TERN_A_CONN_MULPDU], UINT32_MAX);
	json_word("term_found", triplet(c->tb[TERN_A_CONN_TERM_FOUND], buf));
	json_word("term_sent", triplet(c->tb[TERN_A_CONN_TERM_SENT], buf));
	json_word("term_received",
		  triplet(c->tb[TERN_A_CONN_TERM_RECEIVED], buf));
	json_word("error", error_name(c->tb[TERN_A_CONN_ERROR]));
	putchar('}');
}

bool conn_print(struct nlmsghdr *hdr, bool all, const char *before, bool json)
{
	struct conn c;

	if (!parse(hdr, &c) || (c.tb[TERN_A_CONN_ENDED] && !all))
		return false;
	fputs(before, stdout);
	if (json)
		print_json(&c);
	else
		print_text(&c);
	return true;
}
