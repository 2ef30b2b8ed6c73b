// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Who may be the port mapper of iw_cm, and what becomes of an answer that is late. iw_cm asks
 * it before each listen and connect, also for tern, which maps no port. Its netlink is in the
 * initial network namespace only.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>

#include "pair.h"

#define PORT		8610
#define ANSWER_S	10	/* the kernel waits so long for an answer */
#define VERSION		4
#define NOBODY		65534
#define MAPPER		"iWarpPortMapperUser"

/* iw_cm takes the mapper's port for an int, and one below 0 for none: half of libnl's are */
static struct nl_sock *mapper_socket(void)
{
	struct nl_sock *sk = nl_socket_alloc();

	must(sk);
	nl_socket_set_local_port(sk, getpid());
	must(!nl_connect(sk, NETLINK_RDMA));
	return sk;
}

/* the next message; the caller frees it */
static struct nlmsghdr *next_message(struct nl_sock *sk)
{
	struct sockaddr_nl from;
	unsigned char *buf;

	must(nl_recv(sk, &from, &buf, NULL) > 0);
	return (struct nlmsghdr *)buf;
}

/* like next_message(), less what the kernel says of the messages before */
static struct nlmsghdr *next_request(struct nl_sock *sk)
{
	struct nlmsghdr *hdr;

	while ((hdr = next_message(sk))->nlmsg_type < NLMSG_MIN_TYPE)
		free(hdr);
	return hdr;
}

static struct nl_msg *message(int op)
{
	struct nl_msg *msg =
		nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_IWCM, op), NLM_F_REQUEST);

	must(msg);
	return msg;
}

static void send_message(struct nl_sock *sk, struct nl_msg *msg)
{
	must(nl_send_auto(sk, msg) > 0);
	nlmsg_free(msg);
}

/* Return: what the kernel says of the last message, 0 or an errno */
static int verdict(struct nl_sock *sk)
{
	struct nlmsghdr *hdr = next_message(sk);
	int err;

	must(hdr->nlmsg_type == NLMSG_DONE || hdr->nlmsg_type == NLMSG_ERROR);
	err = -*(int *)nlmsg_data(hdr);
	free(hdr);
	return err;
}

/* "the port mapper is here": from now on the kernel asks again */
static void say_hello(struct nl_sock *sk)
{
	struct nl_msg *msg = message(RDMA_NL_IWPM_HELLO);

	must(!nla_put_u16(msg, IWPM_NLA_HELLO_ABI_VERSION, VERSION));
	send_message(sk, msg);
}

static void answer_registration(struct nl_sock *sk, struct nlmsghdr *request)
{
	struct nl_msg *msg = message(RDMA_NL_IWPM_REG_PID);
	struct nlattr *device = nlmsg_find_attr(request, 0, IWPM_NLA_REG_IBDEV_NAME);

	must(device);
	must(!nla_put_u32(msg, IWPM_NLA_RREG_PID_SEQ, request->nlmsg_seq));
	must(!nla_put_string(msg, IWPM_NLA_RREG_IBDEV_NAME, nla_get_string(device)));
	must(!nla_put_string(msg, IWPM_NLA_RREG_ULIB_NAME, MAPPER));
	must(!nla_put_u16(msg, IWPM_NLA_RREG_ULIB_VER, VERSION));
	must(!nla_put_u16(msg, IWPM_NLA_RREG_PID_ERR, 0));
	send_message(sk, msg);
}

/* the port is mapped to itself */
static void answer_mapping(struct nl_sock *sk, struct nlmsghdr *request)
{
	struct nl_msg *msg = message(RDMA_NL_IWPM_ADD_MAPPING);
	struct nlattr *addr = nlmsg_find_attr(request, 0, IWPM_NLA_MANAGE_ADDR);

	must(addr);
	must(!nla_put_u32(msg, IWPM_NLA_RMANAGE_MAPPING_SEQ, request->nlmsg_seq));
	must(!nla_put(msg, IWPM_NLA_RMANAGE_ADDR, nla_len(addr), nla_data(addr)));
	must(!nla_put(msg, IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR, nla_len(addr), nla_data(addr)));
	must(!nla_put_u16(msg, IWPM_NLA_RMANAGE_MAPPING_ERR, 0));
	send_message(sk, msg);
}

/* Return: seconds that the call took */
static int listen_in_b(struct end *listener)
{
	time_t began = time(NULL);

	must(!enter_netns("b"));
	must(!end_listen(listener, IP_B, PORT));
	must(!enter_netns(NULL));
	return time(NULL) - began;
}

static void not_for_users(void)
{
	struct nl_sock *sk;

	need_mended_core();
	must(!setuid(NOBODY));
	sk = mapper_socket();
	expect_eq(nl_socket_add_membership(sk, RDMA_NL_GROUP_IWPM), -NLE_PERM);
	expect(!nl_socket_add_membership(sk, RDMA_NL_GROUP_NOTIFY));
	say_hello(sk);
	expect_eq(verdict(sk), EPERM);
	send_message(sk, message(RDMA_NL_IWPM_REMOTE_INFO));
	expect_eq(verdict(sk), EPERM);
}

static struct nl_sock *mapper(void)
{
	struct nl_sock *sk = mapper_socket();

	must(!nl_socket_add_membership(sk, RDMA_NL_GROUP_IWPM));
	say_hello(sk);
	return sk;
}

static void late_answer(void)
{
	struct nlmsghdr *request;
	struct end listener;
	struct nl_sock *sk;

	need_mended_core();
	sk = mapper();
	expect(listen_in_b(&listener) >= ANSWER_S - 1);
	request = next_request(sk);
	must_eq(RDMA_NL_GET_OP(request->nlmsg_type), RDMA_NL_IWPM_HELLO);
	free(request);
	request = next_request(sk);
	must_eq(RDMA_NL_GET_OP(request->nlmsg_type), RDMA_NL_IWPM_REG_PID);
	answer_registration(sk, request);
	expect_eq(verdict(sk), EINVAL);
	end_free(&listener);
}

/* each is noted before the answer, which ends the call that waits for it */
static unsigned int answered;

static void *serve(void *sk)
{
	for (;;) {
		struct nlmsghdr *request = next_request(sk);

		switch (RDMA_NL_GET_OP(request->nlmsg_type)) {
		case RDMA_NL_IWPM_REG_PID:
			answered |= 1 << RDMA_NL_IWPM_REG_PID;
			answer_registration(sk, request);
			break;
		case RDMA_NL_IWPM_ADD_MAPPING:
			answered |= 1 << RDMA_NL_IWPM_ADD_MAPPING;
			answer_mapping(sk, request);
			break;
		}
		free(request);
	}
}

static void timely_answers(void)
{
	struct end listener;
	pthread_t thread;

	need_mended_core();
	must(!pthread_create(&thread, NULL, serve, mapper()));
	expect(listen_in_b(&listener) < ANSWER_S - 1);
	expect_eq(answered, 1 << RDMA_NL_IWPM_REG_PID | 1 << RDMA_NL_IWPM_ADD_MAPPING);
	end_free(&listener);
}

static const struct tap_test tests[] = {
	{ "mapper__is_no_user_without_privileges", not_for_users },
	{ "mapper__answers_too_late", late_answer, 30 },
	{ "mapper__answers_in_time", timely_answers, 30 },
};

const struct tap_theme mapper_theme = { tests, ARRAY_LEN(tests) };
