/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Requests to the kernel and their answers: the family tern, and the RDMA core's. */
#ifndef TERN_TOOL_TALK_H
#define TERN_TOOL_TALK_H

#include <stdbool.h>
#include <stddef.h>

struct nl_msg;
struct nl_sock;
struct nlattr;
struct nlmsghdr;

/**
 * struct talk - a socket, and the kernel's last answer
 * @sk: socket
 * @family: number of the family tern
 * @text: the kernel's message, "" if there is none
 * @offset: offset of the refused attribute in the request, 0 for none
 * @error: the kernel's answer: 0 or a negative errno
 * @done: the answer is complete
 * @each: called with each message of the answer
 * @arg: its second argument
 */
struct talk {
	struct nl_sock *sk;
	int family;
	char text[256];
	unsigned int offset;
	int error;
	bool done;
	void (*each)(struct nlmsghdr *hdr, void *arg);
	void *arg;
};

/* Return: 0; -ENOENT without a message if the module is not loaded; -1 with one */
int talk_open(struct talk *t);

/* likewise; complain in every case */
int talk_open_tern(struct talk *t);

/* a socket of the RDMA core's netlink; Return: 0, or -1 with a message on stderr */
int talk_open_rdma(struct talk *t);

void talk_close(struct talk *t);

/* a request of the family tern, NULL and a message on stderr without memory */
struct nl_msg *talk_new(const struct talk *t, int cmd, int flags);

/**
 * talk_ask() - send a request, release it, and read the whole answer
 * @t: socket
 * @msg: request; the caller added a reference to use it afterwards
 * @each: called with each message of the answer, may be NULL
 * @arg: its second argument
 *
 * Return: 0 or a negative errno.
 */
int talk_ask(struct talk *t, struct nl_msg *msg,
	     void (*each)(struct nlmsghdr *hdr, void *arg), void *arg);

/* complain of @error: what was asked, the kernel's message, and the errno's text */
void talk_complain(const struct talk *t, const char *what, int error);

#endif /* TERN_TOOL_TALK_H */
