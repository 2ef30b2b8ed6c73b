// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* A connection as a JSON object: a table of its keys. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "out.h"
#include "settings.h"
#include "term.h"
#include "tern.h"

#define DEPTH_MASK	0x3fff

/* ---- values: @attr is what the key is about, and is there ------------------------- */

static struct json_object *number(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_int64(nla_get_u32(attr));
}

/* without the control flags */
static struct json_object *depth(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_int64(nla_get_u32(attr) & DEPTH_MASK);
}

static struct json_object *on_off(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_boolean(nla_get_u32(attr));
}

static struct json_object *string(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_string(nla_get_string(attr));
}

static struct json_object *address(const struct conn *c, struct nlattr *attr)
{
	char buf[INET6_ADDRSTRLEN];

	return json_object_new_string(conn_address(attr, buf));
}

static struct json_object *hex_byte(const struct conn *c, struct nlattr *attr)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "0x%02x", nla_get_u32(attr));
	return json_object_new_string(buf);
}

static struct json_object *rtr(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_string(rtr_name(nla_get_u32(attr)));
}

static struct json_object *errno_name(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_string(strerrorname_np(nla_get_u32(attr)) ?: "?");
}

static struct json_object *triplet(const struct conn *c, struct nlattr *attr)
{
	char buf[16];

	term_number(nla_get_u32(attr), buf, sizeof(buf));
	return json_object_new_string(buf);
}

static struct json_object *meaning(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_string(term_name(nla_get_u32(attr)));
}

static struct json_object *section(const struct conn *c, struct nlattr *attr)
{
	return out_string(term_section(nla_get_u32(attr)));
}

static struct json_object *role(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_string(conn_role(c));
}

static struct json_object *ended(const struct conn *c, struct nlattr *attr)
{
	return json_object_new_boolean(!!c->tb[CONN][TERN_A_CONN_ENDED]);
}

/* the revision of the connection is that of the Reply */
static struct json_object *revision(const struct conn *c, struct nlattr *attr)
{
	bool initiator = conn_number(c, CONN, TERN_A_CONN_ROLE) == TERN_ROLE_INITIATOR;

	return json_object_new_int64(conn_number(c, initiator ? PEER : OWN, TERN_A_FRAME_REV));
}

static struct json_object *extensions(const struct conn *c, struct nlattr *attr)
{
	return c->tb[CONN][TERN_A_CONN_DECIDED] ? features_json(nla_get_u32(attr)) : NULL;
}

/* the control flags of an enhanced frame: those of "ABCD" that are set */
static struct json_object *control(const struct conn *c, struct nlattr *attr)
{
	int nest = attr == c->tb[OWN][TERN_A_FRAME_IRD] ? OWN : PEER;
	uint32_t ord = conn_number(c, nest, TERN_A_FRAME_ORD);
	uint32_t ird = nla_get_u32(attr);
	char buf[8];

	snprintf(buf, sizeof(buf), "%s%s%s%s", ird & 0x8000 ? "A" : "", ird & 0x4000 ? "B" : "",
		 ord & 0x8000 ? "C" : "", ord & 0x4000 ? "D" : "");
	return json_object_new_string(*buf ? buf : "-");
}

/* ---- keys ------------------------------------------------------------------------ */

/* a key is null without its attribute */
static const struct key {
	const char *name;
	int nest;
	int attr;
	struct json_object *(*value)(const struct conn *c, struct nlattr *attr);
} keys[] = {
	{ "nr", CONN, TERN_A_CONN_NR, number },
	{ "device", CONN, TERN_A_CONN_DEVICE, string },
	{ "qp", CONN, TERN_A_CONN_QPN, number },
	{ "state", CONN, TERN_A_CONN_STATE, string },
	{ "ended", CONN, TERN_A_CONN_NR, ended },
	{ "role", CONN, TERN_A_CONN_ROLE, role },
	{ "local", CONN, TERN_A_CONN_LOCAL, address },
	{ "local_port", CONN, TERN_A_CONN_LOCAL_PORT, number },
	{ "remote", CONN, TERN_A_CONN_REMOTE, address },
	{ "remote_port", CONN, TERN_A_CONN_REMOTE_PORT, number },
	{ "mpa_rev", CONN, TERN_A_CONN_AGREED, revision },
	{ "version", AGREED, TERN_A_AGREED_VERSION, number },
	{ "crc", AGREED, TERN_A_AGREED_CRC, on_off },
	{ "tx_markers", AGREED, TERN_A_AGREED_TX_MARKERS, on_off },
	{ "rx_markers", AGREED, TERN_A_AGREED_RX_MARKERS, on_off },
	{ "p2p", AGREED, TERN_A_AGREED_P2P, on_off },
	{ "rtr", AGREED, TERN_A_AGREED_RTR, rtr },
	{ "ird", AGREED, TERN_A_AGREED_IRD, number },
	{ "ord", AGREED, TERN_A_AGREED_ORD, number },
	{ "extensions", CONN, TERN_A_CONN_FEATURES, extensions },
	{ "own_flags", OWN, TERN_A_FRAME_FLAGS, hex_byte },
	{ "own_rev", OWN, TERN_A_FRAME_REV, number },
	{ "own_ird", OWN, TERN_A_FRAME_IRD, depth },
	{ "own_ord", OWN, TERN_A_FRAME_ORD, depth },
	{ "own_control", OWN, TERN_A_FRAME_IRD, control },
	{ "own_pd_len", OWN, TERN_A_FRAME_PD_LEN, number },
	{ "peer_flags", PEER, TERN_A_FRAME_FLAGS, hex_byte },
	{ "peer_rev", PEER, TERN_A_FRAME_REV, number },
	{ "peer_ird", PEER, TERN_A_FRAME_IRD, depth },
	{ "peer_ord", PEER, TERN_A_FRAME_ORD, depth },
	{ "peer_control", PEER, TERN_A_FRAME_IRD, control },
	{ "peer_pd_len", PEER, TERN_A_FRAME_PD_LEN, number },
	{ "mss", CONN, TERN_A_CONN_MSS, number },
	{ "mulpdu", CONN, TERN_A_CONN_MULPDU, number },
	{ "term_found", CONN, TERN_A_CONN_TERM_FOUND, triplet },
	{ "term_found_name", CONN, TERN_A_CONN_TERM_FOUND, meaning },
	{ "term_found_section", CONN, TERN_A_CONN_TERM_FOUND, section },
	{ "term_sent", CONN, TERN_A_CONN_TERM_SENT, triplet },
	{ "term_sent_name", CONN, TERN_A_CONN_TERM_SENT, meaning },
	{ "term_sent_section", CONN, TERN_A_CONN_TERM_SENT, section },
	{ "term_received", CONN, TERN_A_CONN_TERM_RECEIVED, triplet },
	{ "term_received_name", CONN, TERN_A_CONN_TERM_RECEIVED, meaning },
	{ "term_received_section", CONN, TERN_A_CONN_TERM_RECEIVED, section },
	{ "error", CONN, TERN_A_CONN_ERROR, errno_name },
};

struct json_object *conn_json(const struct conn *c)
{
	struct json_object *o = json_object_new_object();
	struct nlattr *attr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		attr = c->tb[keys[i].nest][keys[i].attr];
		json_object_object_add(o, keys[i].name, attr ? keys[i].value(c, attr) : NULL);
	}
	return o;
}
