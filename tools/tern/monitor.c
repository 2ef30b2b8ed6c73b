// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* tern monitor */
#include <stdio.h>
#include <string.h>
#include <linux/genetlink.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "conn.h"
#include "details.h"
#include "out.h"
#include "program.h"
#include "talk.h"
#include "tern.h"

/**
 * struct watch - what the callback needs
 * @opt: options
 * @gone: the family was unregistered
 */
struct watch {
	const struct options *opt;
	bool gone;
};

/* a notification of generic netlink itself: was our family unregistered? */
static bool family_unregistered(struct nlmsghdr *hdr)
{
	static const struct nla_policy policy[CTRL_ATTR_MAX + 1] = {
		[CTRL_ATTR_FAMILY_NAME] = { .type = NLA_STRING },
	};
	struct nlattr *attrs[CTRL_ATTR_MAX + 1];
	const struct genlmsghdr *genl = nlmsg_data(hdr);

	return genl->cmd == CTRL_CMD_DELFAMILY &&
	       !genlmsg_parse(hdr, 0, attrs, CTRL_ATTR_MAX, policy) &&
	       attrs[CTRL_ATTR_FAMILY_NAME] &&
	       !strcmp(nla_data(attrs[CTRL_ATTR_FAMILY_NAME]), TERN_FAMILY_NAME);
}

/* what happened; NULL of errors, the only news without --all */
static const char *news_of(struct nlmsghdr *hdr)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);

	switch (genl->cmd) {
	case TERN_CMD_CONN_START_NTF:
		return "start";
	case TERN_CMD_CONN_END_NTF:
		return "end";
	default:
		return NULL;
	}
}

static void print_json(const struct options *opt, const struct conn *c, const char *news,
		       const char *time)
{
	struct json_object *o = conn_json(c);

	if (opt->info)
		details_json(c, o);
	if (opt->timestamp)
		json_object_object_add(o, "time", json_object_new_string(time));
	if (news)
		json_object_object_add(o, "event", json_object_new_string(news));
	out_json(opt, o);
}

static void print_text(const struct options *opt, const struct conn *c, const char *news,
		       const char *time)
{
	if (opt->timestamp)
		printf("%s ", time);
	if (news)
		printf("%-5s ", news);
	conn_print(c);
	if (opt->info)
		details_print(c);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct watch *w = arg;
	struct conn c;
	char time[64];

	if (hdr->nlmsg_type == GENL_ID_CTRL) {
		w->gone |= family_unregistered(hdr);
		return NL_OK;
	}
	if (!conn_read(hdr, &c))
		return NL_OK;
	out_time(0, time, sizeof(time));
	if (w->opt->info)
		program_forget();
	(w->opt->json ? print_json : print_text)(w->opt, &c, news_of(hdr), time);
	fflush(stdout);
	return NL_OK;
}

static int join(struct talk *t, const char *family, const char *name)
{
	int group = genl_ctrl_resolve_grp(t->sk, family, name);
	int ret = group < 0 ? group : nl_socket_add_membership(t->sk, group);

	if (ret < 0)
		complain("%s", nl_geterror(ret));
	return ret;
}

/* the kernel drops events when we read too slowly */
static void watch(struct talk *t, struct watch *w)
{
	int ret;

	do {
		ret = nl_recvmsgs_default(t->sk);
		if (ret == -NLE_NOMEM)
			complain("events were lost");
	} while (!w->gone && (ret >= 0 || ret == -NLE_NOMEM || ret == -NLE_INTR));
	complain("%s", w->gone ? "the module was unloaded" : nl_geterror(ret));
}

/* run until killed, or until the module is unloaded */
int monitor(const struct options *opt, int argc, char **argv)
{
	struct watch w = { .opt = opt };
	struct talk t;

	if (argc)
		return wrong_usage("'%s' is one word too many", argv[0]);
	if (talk_open_tern(&t))
		return FAILED;
	if (join(&t, "nlctrl", "notify") >= 0 &&
	    join(&t, TERN_FAMILY_NAME,
		 opt->all ? TERN_MCGRP_CONNECTIONS : TERN_MCGRP_EVENTS) >= 0) {
		nl_socket_disable_seq_check(t.sk);
		nl_socket_modify_cb(t.sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, &w);
		if (!opt->json && opt->all)
			printf("%-5s ", "Event");
		if (!opt->json)
			conn_print_head();
		fflush(stdout);
		watch(&t, &w);
	}
	talk_close(&t);
	return FAILED;
}
