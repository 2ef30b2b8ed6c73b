// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* tern: settings and connections of software RNICs. See tern(8). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <rdma/tern-nl.h>

#include "conn.h"
#include "settings.h"

static const char usage[] =
	"usage: tern [--json] show [DEV]\n"
	"       tern set DEV NAME VALUE [NAME VALUE]...\n"
	"       tern [--json] show connections [--all] [DEV]\n"
	"       tern [--json] monitor\n";

/**
 * struct talk - a request to the netlink family and its answer
 * @sk: socket
 * @family: number of the family
 * @json: print JSON
 * @all: ended connections, too
 * @shown: devices or connections printed
 * @error: the kernel's answer: 0 or a negative errno
 * @text: the kernel's message, "" if there is none
 * @offset: offset of the refused attribute in the request, 0 for none
 * @done: the answer is complete
 * @gone: the family was unregistered
 */
struct talk {
	struct nl_sock *sk;
	int family;
	bool json;
	bool all;
	unsigned int shown;
	int error;
	char text[256];
	unsigned int offset;
	bool done;
	bool gone;
};

/* ---- netlink ---------------------------------------------------------------------- */

static int open_talk(struct talk *c)
{
	int one = 1;

	c->sk = nl_socket_alloc();
	if (!c->sk || genl_connect(c->sk) < 0) {
		fprintf(stderr, "tern: no generic netlink socket: %s\n",
			strerror(errno));
		return -1;
	}
	setsockopt(nl_socket_get_fd(c->sk), SOL_NETLINK, NETLINK_EXT_ACK, &one,
		   sizeof(one));
	setsockopt(nl_socket_get_fd(c->sk), SOL_NETLINK, NETLINK_CAP_ACK, &one,
		   sizeof(one));
	c->family = genl_ctrl_resolve(c->sk, TERN_FAMILY_NAME);
	if (c->family < 0) {
		fprintf(stderr,
			"tern: the kernel module tern is not loaded\n");
		return -1;
	}
	return 0;
}

/* the kernel's message and offset are @skip bytes after the header */
static void keep_text(struct talk *c, struct nlmsghdr *hdr, size_t skip)
{
	struct nlattr *attr;

	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	attr = nlmsg_find_attr(hdr, skip, NLMSGERR_ATTR_MSG);
	if (attr)
		nla_strlcpy(c->text, attr, sizeof(c->text));
	attr = nlmsg_find_attr(hdr, skip, NLMSGERR_ATTR_OFFS);
	if (attr)
		c->offset = nla_get_u32(attr);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *hdr = (void *)((char *)err - NLMSG_HDRLEN);
	struct talk *c = arg;
	size_t skip = sizeof(*err);

	c->error = err->error;
	c->done = true;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - NLMSG_HDRLEN;
	keep_text(c, hdr, skip);
	return NL_STOP;
}

static int on_end(struct nl_msg *msg, void *arg)
{
	struct talk *c = arg;

	c->done = true;
	return NL_OK;
}

/* the last message of a dump says whether it failed */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct talk *c = arg;

	c->done = true;
	if (nlmsg_datalen(hdr) >= (int)sizeof(int))
		c->error = *(int *)nlmsg_data(hdr);
	if (c->error)
		keep_text(c, hdr, sizeof(int));
	return NL_OK;
}

/* send @msg, then read until the answer is complete; 0 or a negative errno */
static int converse(struct talk *c, struct nl_msg *msg, nl_recvmsg_msg_cb_t on_msg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	if (!cb)
		return -ENOMEM;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, c);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_end, c);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, c);
	if (on_msg)
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_msg, c);
	ret = nl_send_auto(c->sk, msg);
	while (ret >= 0 && !c->done)
		ret = nl_recvmsgs(c->sk, cb);
	nl_cb_put(cb);
	return c->error ? c->error : ret < 0 && !c->done ? -EIO : 0;
}

/* @attr: the attribute that holds @dev */
static struct nl_msg *new_request(const struct talk *c, int cmd, int flags,
				  int attr, const char *dev)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, c->family, 0,
			       flags, cmd, TERN_FAMILY_VERSION) &&
	    (!dev || !nla_put_string(msg, attr, dev)))
		return msg;
	fprintf(stderr, "tern: out of memory\n");
	nlmsg_free(msg);
	return NULL;
}

/* one line: the device, the kernel's message, the errno's text */
static void print_error(const struct talk *c, const char *dev, int ret)
{
	fprintf(stderr, "tern: %s%s%s%s%s\n", dev ? dev : "", dev ? ": " : "",
		c->text, c->text[0] ? ": " : "", strerror(-ret));
}

/* ---- commands ------------------------------------------------------------------------ */

static void print_text(struct nlattr **tb)
{
	printf("%s: netdev %s\n", nla_get_string(tb[TERN_A_DEV_NAME]),
	       nla_get_string(tb[TERN_A_DEV_NETDEV]));
	settings_print(tb[TERN_A_DEV_SETTINGS], false);
}

static void print_json(struct nlattr **tb)
{
	printf("{\"index\": %u, \"name\": ",
	       nla_get_u32(tb[TERN_A_DEV_INDEX]));
	print_quoted(nla_get_string(tb[TERN_A_DEV_NAME]));
	printf(", \"ifindex\": %u, \"netdev\": ",
	       nla_get_u32(tb[TERN_A_DEV_IFINDEX]));
	print_quoted(nla_get_string(tb[TERN_A_DEV_NETDEV]));
	printf(", \"settings\": ");
	settings_print(tb[TERN_A_DEV_SETTINGS], true);
	putchar('}');
}

static int on_device(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[TERN_A_DEV_MAX + 1];
	struct talk *c = arg;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, TERN_A_DEV_MAX, NULL) < 0 ||
	    !tb[TERN_A_DEV_NAME] || !tb[TERN_A_DEV_INDEX] ||
	    !tb[TERN_A_DEV_IFINDEX] || !tb[TERN_A_DEV_NETDEV] ||
	    !tb[TERN_A_DEV_SETTINGS])
		return NL_SKIP;
	if (c->json) {
		printf(c->shown ? ",\n " : "");
		print_json(tb);
	} else {
		print_text(tb);
	}
	c->shown++;
	return NL_OK;
}

/* send @msg, free it, and print the answer as a list */
static int list(struct talk *c, struct nl_msg *msg, nl_recvmsg_msg_cb_t each,
		const char *dev)
{
	int ret;

	if (c->json)
		putchar('[');
	ret = converse(c, msg, each);
	if (c->json)
		puts("]");
	nlmsg_free(msg);
	if (ret)
		print_error(c, dev, ret);
	return ret;
}

static int show(struct talk *c, const char *dev)
{
	struct nl_msg *msg;

	msg = new_request(c, TERN_CMD_DEV_GET, dev ? NLM_F_ACK : NLM_F_DUMP,
			  TERN_A_DEV_NAME, dev);
	return msg ? list(c, msg, on_device, dev) : -1;
}

static int on_conn(struct nl_msg *msg, void *arg)
{
	struct talk *c = arg;
	const char *before = c->json && c->shown ? ",\n " : "";

	if (conn_print(nlmsg_hdr(msg), c->all, before, c->json))
		c->shown++;
	return NL_OK;
}

static int show_connections(struct talk *c, const char *dev)
{
	struct nl_msg *msg;

	msg = new_request(c, TERN_CMD_CONN_GET, NLM_F_DUMP, TERN_A_CONN_DEVICE,
			  dev);
	if (!msg)
		return -1;
	if (!c->json)
		conn_print_head();
	return list(c, msg, on_conn, dev);
}

/* a notification of generic netlink itself: was our family unregistered? */
static bool family_unregistered(struct nlmsghdr *hdr)
{
	struct nlattr *attrs[CTRL_ATTR_MAX + 1];
	const struct genlmsghdr *genl = nlmsg_data(hdr);

	return genl->cmd == CTRL_CMD_DELFAMILY &&
	       !genlmsg_parse(hdr, 0, attrs, CTRL_ATTR_MAX, NULL) &&
	       attrs[CTRL_ATTR_FAMILY_NAME] &&
	       !strcmp(nla_data(attrs[CTRL_ATTR_FAMILY_NAME]), TERN_FAMILY_NAME);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct talk *c = arg;

	if (hdr->nlmsg_type == GENL_ID_CTRL) {
		c->gone |= family_unregistered(hdr);
		return NL_OK;
	}
	if (conn_print(hdr, true, "", c->json) && c->json)
		putchar('\n');
	fflush(stdout);
	return NL_OK;
}

static int join(struct talk *c, const char *family, const char *name)
{
	int group = genl_ctrl_resolve_grp(c->sk, family, name);
	int ret = group < 0 ? group : nl_socket_add_membership(c->sk, group);

	if (ret < 0)
		fprintf(stderr, "tern: %s\n", nl_geterror(ret));
	return ret;
}

/* run until killed, or until the module is unloaded; the kernel drops events when we
 * read too slowly */
static int monitor(struct talk *c)
{
	int ret = join(c, "nlctrl", "notify");

	if (ret >= 0)
		ret = join(c, TERN_FAMILY_NAME, TERN_MCGRP_EVENTS);
	if (ret < 0)
		return ret;
	nl_socket_disable_seq_check(c->sk);
	nl_socket_modify_cb(c->sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, c);
	if (!c->json)
		conn_print_head();
	fflush(stdout);
	do {
		ret = nl_recvmsgs_default(c->sk);
		if (ret == -NLE_NOMEM)
			fprintf(stderr, "tern: events were lost\n");
	} while (!c->gone && (ret >= 0 || ret == -NLE_NOMEM || ret == -NLE_INTR));
	fprintf(stderr, "tern: %s\n", c->gone ? "the module was unloaded" :
						nl_geterror(ret));
	return -1;
}

static int put_settings(struct nl_msg *msg, int n, char **words)
{
	struct nlattr *nest = nla_nest_start(msg, TERN_A_DEV_SETTINGS);
	int i;

	if (!nest)
		return -1;
	for (i = 0; i < n; i += 2)
		if (setting_put(msg, words[i], words[i + 1]))
			return -1;
	nla_nest_end(msg, nest);
	return 0;
}

/* if the kernel refused a setting, print which */
static bool blame_setting(const struct talk *c, struct nl_msg *msg,
			  const char *dev)
{
	char *start = (char *)nlmsg_hdr(msg);
	struct nlattr *nest, *attr;

	nest = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN,
			       TERN_A_DEV_SETTINGS);
	attr = (struct nlattr *)(start + c->offset);
	if (!nest || attr <= nest ||
	    c->offset + sizeof(*attr) > nlmsg_hdr(msg)->nlmsg_len)
		return false;
	return setting_blame(dev, nla_type(attr), c->text);
}

/* @words are pairs of name and value; the kernel sets all of them or none */
static int set(struct talk *c, const char *dev, int n, char **words)
{
	struct nl_msg *msg;
	int ret = -1;

	msg = new_request(c, TERN_CMD_DEV_SET, NLM_F_ACK, TERN_A_DEV_NAME, dev);
	if (!msg)
		return -1;
	if (!put_settings(msg, n, words)) {
		ret = converse(c, msg, NULL);
		if (ret && !blame_setting(c, msg, dev))
			print_error(c, dev, ret);
	}
	nlmsg_free(msg);
	return ret;
}

static bool is_show_connections(int argc, char **argv)
{
	return argc >= 2 && argc <= 3 && !strcmp(argv[0], "show") &&
	       !strcmp(argv[1], "connections");
}

static int run(struct talk *c, int argc, char **argv)
{
	if (is_show_connections(argc, argv))
		return show_connections(c, argv[2]);
	if (argc == 1 && !strcmp(argv[0], "monitor"))
		return monitor(c);
	if (argc >= 1 && argc <= 2 && !strcmp(argv[0], "show"))
		return show(c, argv[1]);
	if (argc >= 4 && argc % 2 == 0 && !strcmp(argv[0], "set"))
		return set(c, argv[1], argc - 2, argv + 2);
	fputs(usage, stderr);
	return 2;
}

/* remove the options, wherever they are; Return: how many words are left */
static int take_options(struct talk *c, int argc, char **argv)
{
	int i, n = 0;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			c->json = true;
		else if (!strcmp(argv[i], "--all"))
			c->all = true;
		else
			argv[n++] = argv[i];
	}
	argv[n] = NULL;
	return n;
}

int main(int argc, char **argv)
{
	struct talk c = {};
	int ret;

	argc = take_options(&c, argc, argv);
	if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
		fputs(usage, stdout);
		return 0;
	}
	if (open_talk(&c))
		return 1;
	ret = run(&c, argc, argv);
	nl_socket_free(c.sk);
	return ret < 0 ? 1 : ret;
}
