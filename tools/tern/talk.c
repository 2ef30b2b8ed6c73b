// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "talk.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <rdma/tern-nl.h>

#include "tern.h"

/* ---- sockets ---------------------------------------------------------------------- */

static int open_socket(struct talk *t, int protocol, const char *what)
{
	int one = 1, ret;

	memset(t, 0, sizeof(*t));
	t->sk = nl_socket_alloc();
	ret = t->sk ? nl_connect(t->sk, protocol) : -NLE_NOMEM;
	if (ret < 0) {
		complain("no %s netlink socket: %s", what, nl_geterror(ret));
		talk_close(t);
		return -1;
	}
	setsockopt(nl_socket_get_fd(t->sk), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl_socket_get_fd(t->sk), SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return 0;
}

int talk_open(struct talk *t)
{
	if (open_socket(t, NETLINK_GENERIC, "generic"))
		return -1;
	t->family = genl_ctrl_resolve(t->sk, TERN_FAMILY_NAME);
	if (t->family >= 0)
		return 0;
	talk_close(t);
	return -ENOENT;
}

int talk_open_tern(struct talk *t)
{
	int ret = talk_open(t);

	if (ret == -ENOENT)
		complain("the kernel module tern is not loaded");
	return ret;
}

int talk_open_rdma(struct talk *t)
{
	return open_socket(t, NETLINK_RDMA, "RDMA");
}

void talk_close(struct talk *t)
{
	nl_socket_free(t->sk);
	t->sk = NULL;
}

/* ---- answers ---------------------------------------------------------------------- */

/* the kernel's message and offset are @skip bytes after the header */
static void keep_text(struct talk *t, struct nlmsghdr *hdr, size_t skip)
{
	struct nlattr *attr;

	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	attr = nlmsg_find_attr(hdr, skip, NLMSGERR_ATTR_MSG);
	if (attr)
		nla_strlcpy(t->text, attr, sizeof(t->text));
	attr = nlmsg_find_attr(hdr, skip, NLMSGERR_ATTR_OFFS);
	if (attr)
		t->offset = nla_get_u32(attr);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *hdr = (void *)((char *)err - NLMSG_HDRLEN);
	struct talk *t = arg;
	size_t skip = sizeof(*err);

	t->error = err->error;
	t->done = true;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - NLMSG_HDRLEN;
	keep_text(t, hdr, skip);
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;

	t->done = true;
	return NL_OK;
}

/* the last message of a dump says whether it failed */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct talk *t = arg;

	t->done = true;
	if (nlmsg_datalen(hdr) >= (int)sizeof(int))
		t->error = *(int *)nlmsg_data(hdr);
	if (t->error)
		keep_text(t, hdr, sizeof(int));
	return NL_OK;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;

	if (t->each)
		t->each(nlmsg_hdr(msg), t->arg);
	return NL_OK;
}

static int converse(struct talk *t, struct nl_msg *msg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	if (!cb)
		return -ENOMEM;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, t);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, t);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, t);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, t);
	ret = nl_send_auto(t->sk, msg);
	while (ret >= 0 && !t->done)
		ret = nl_recvmsgs(t->sk, cb);
	nl_cb_put(cb);
	return t->error ? t->error : ret < 0 && !t->done ? -EIO : 0;
}

int talk_ask(struct talk *t, struct nl_msg *msg,
	     void (*each)(struct nlmsghdr *hdr, void *arg), void *arg)
{
	int ret;

	t->text[0] = '\0';
	t->offset = 0;
	t->error = 0;
	t->done = false;
	t->each = each;
	t->arg = arg;
	ret = converse(t, msg);
	nlmsg_free(msg);
	return ret;
}

struct nl_msg *talk_new(const struct talk *t, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, t->family, 0, flags, cmd,
			       TERN_FAMILY_VERSION))
		return msg;
	complain("out of memory");
	nlmsg_free(msg);
	return NULL;
}

void talk_complain(const struct talk *t, const char *what, int error)
{
	complain("%s%s%s%s%s", what ? what : "", what ? ": " : "", t->text,
		 t->text[0] ? ": " : "", strerror(-error));
}
