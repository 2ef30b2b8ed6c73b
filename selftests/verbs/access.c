// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Access control of rdma_cm: unprivileged processes of other users name QPs, ids,
 * addresses and ports that are not theirs, and get the errno of each cell of the tables.
 * Run by access.sh, which creates the hosts and, with tern_kverbs.ko, QPs of a kernel
 * user.
 *
 *	access [WORD...]		only the tests whose name holds one of them
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "access.h"

#define UNUSED_QPN	0xfffffe	/* an unused QP number */

static int kernel_qpn(const char *which)
{
	const char *value = getenv(which);

	return value ? atoi(value) : -1;
}

/* ---- QPs ------------------------------------------------------------------- */

static const struct want none;

/* connect QP @qpn from a's device; Return: 0 or the errno */
static int connect_as(int qpn)
{
	struct rdma_conn_param param = { .qp_num = qpn };
	struct end e;
	int err = 0;

	must(!end_resolve(&e, IP_B, 8600, IP_A));
	if (rdma_connect(e.id, &param))
		err = errno;
	else
		must(!end_expect(&e, RDMA_CM_EVENT_ESTABLISHED));
	end_free(&e);
	return err;
}

/* accept a connection with QP @qpn; Return: 0 or the errno */
static int accept_as(int qpn)
{
	struct rdma_conn_param param = { .qp_num = qpn };
	struct end listener, e;
	int err = 0;

	must(!end_listen(&listener, IP_A, 8601));
	report(0);
	must(!end_request(&listener, &e));
	if (rdma_accept(e.id, &param))
		err = errno;
	else
		must(!end_expect(&e, RDMA_CM_EVENT_ESTABLISHED));
	end_free(&e);
	end_free(&listener);
	return err;
}

/* a QP of our own that belongs to no id */
static struct ibv_qp *lone_qp(struct end *e)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { 8, 8, 1, 1, 0 },
	};

	must(!end_resolve(e, IP_B, 8600, IP_A));
	must(!end_build(e, &none));
	attr.send_cq = e->scq;
	attr.recv_cq = e->rcq;
	return ibv_create_qp(e->pd, &attr);
}

/* Read commands: accept or connect, and the QP number to use; 0 is a QP of its own. */
static void use_any_qp(void)
{
	struct ibv_qp *qp;
	struct end e;
	int qpn;

	for (;;) {
		int accepts = next_word();

		qpn = next_word();
		qp = qpn ? NULL : lone_qp(&e);
		report(accepts ? accept_as(qp ? (int)qp->qp_num : qpn) :
				 connect_as(qp ? (int)qp->qp_num : qpn));
		if (qp) {
			must(!ibv_destroy_qp(qp));
			end_free(&e);
		}
	}
}

/* Report the number of our QP, and connect it after all others have tried to use it. */
static void own_a_qp(void)
{
	struct end e;

	must(!end_resolve(&e, IP_B, 8600, IP_A));
	must(!end_build(&e, &none));
	report(e.qp->qp_num);
	next_word();
	must(state_of(&e) == IBV_QPS_INIT);
	must(!end_connect(&e, &none));
	must(!end_expect(&e, RDMA_CM_EVENT_ESTABLISHED));
	report(0);
	next_word();
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	}
	return ctx;
}

/* a QP of a process in another netns, which sees a's device in the shared mode */
static void own_a_qp_in_b(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { 8, 8, 1, 1, 0 },
	};
	struct ibv_context *ctx = open_device(getenv("DEV_A"));
	struct ibv_qp *qp;
	struct ibv_pd *pd;

	must(ctx);
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	must(pd && attr.send_cq);
	qp = ibv_create_qp(pd, &attr);
	must(qp);
	report(qp->qp_num);
	next_word();
}

static struct end listener;

static void expect_no_request(void)
{
	struct pollfd pfd = { .fd = listener.ch->fd, .events = POLLIN };

	expect(!poll(&pfd, 1, 0));
}

/* Wait for the party's result: a wrong connection would block until we accept it. */
static void expect_no_request_until_done(const struct party *p)
{
	struct pollfd pfds[] = {
		{ .fd = listener.ch->fd, .events = POLLIN },
		{ .fd = p->fd, .events = POLLIN },
	};

	must(poll(pfds, ARRAY_LEN(pfds), 2 * patience_ms()) > 0);
	expect_no_request();
}

static void serve_one(struct end *e)
{
	must(!end_request(&listener, e));
	must(!end_build(e, &none));
	must(!end_accept(e, &none));
}

static void listen_in_b(void)
{
	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, 8600));
	must(!enter_netns(NULL));
}

static int try_connect(struct party *p, int qpn)
{
	struct end e;
	int err;

	party_send(p, 0);
	party_send(p, qpn);
	if (qpn) {
		expect_no_request_until_done(p);
		return party_receive(p);
	}
	serve_one(&e);
	err = party_receive(p);
	end_free(&e);
	return err;
}

static int try_accept(struct party *p, int qpn)
{
	struct end e;
	int err;

	party_send(p, 1);
	party_send(p, qpn);
	must(!party_receive(p));
	must(!enter_netns("b"));
	must(!end_resolve(&e, IP_A, 8601, IP_B));
	must(!enter_netns(NULL));
	must(!end_build(&e, &none));
	must(!end_connect(&e, &none));
	must(!end_expect(&e, qpn ? RDMA_CM_EVENT_REJECTED :
				   RDMA_CM_EVENT_ESTABLISHED));
	err = party_receive(p);
	end_free(&e);
	return err;
}

static struct party intruder, other_user, other_netns;

/* try QPs of each kind of owner; connect and accept return the same errno */
static void each_owner(int (*try)(struct party *p, int qpn))
{
	const struct {
		const char *owner;
		int qpn;
		int err;
	} cells[] = {
		{ "own", 0, 0 },
		{ "other user", party_receive(&other_user), EINVAL },
		{ "other netns", party_receive(&other_netns), EINVAL },
		{ "kernel's, idle", kernel_qpn("KERNEL_IDLE"), EINVAL },
		{ "kernel's, connected", kernel_qpn("KERNEL_BUSY"), EINVAL },
		{ "unused number", UNUSED_QPN, EINVAL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(cells); i++) {
		int err = cells[i].qpn < 0 ? cells[i].err :
					     try(&intruder, cells[i].qpn);

		if (cells[i].qpn < 0)
			printf("#   %s: no such QP here, skipped\n", cells[i].owner);
		if (err != cells[i].err)
			printf("#   %s, QP %d: %s\n", cells[i].owner,
			       cells[i].qpn, strerror(err));
		expect_eq(err, cells[i].err);
	}
}

static void by_owner(int (*try)(struct party *p, int qpn))
{
	struct end e;

	listen_in_b();
	party_start(&other_user, "a", OWNER, own_a_qp);
	party_start(&other_netns, "b", INTRUDER, own_a_qp_in_b);
	party_start(&intruder, "a", INTRUDER, use_any_qp);
	each_owner(try);
	/* the other user's QP is unharmed */
	party_send(&other_user, 0);
	serve_one(&e);
	must(!party_receive(&other_user));
	party_end(&intruder);
	party_end(&other_netns);
	party_end(&other_user);
	end_free(&e);
	end_free(&listener);
}

static void connect_by_owner(void)
{
	by_owner(try_connect);
}

static void accept_by_owner(void)
{
	by_owner(try_accept);
}

/* ---- descriptors ----------------------------------------------------------- */

static int qpn_of_a;
static int uverbs_of_a;

static void child_connects(void)
{
	report(connect_as(qpn_of_a));
}

static void child_without(void)
{
	close(uverbs_of_a);
	report(connect_as(qpn_of_a));
}

static void *thread_connects(void *err)
{
	*(int *)err = enter_netns("a") ? -1 : connect_as(qpn_of_a);
	return NULL;
}

static void qp_up(void)
{
	listen_in_b();
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, 8600, IP_A));
	must(!enter_netns(NULL));
	must(!end_build(&a, &none));
	qpn_of_a = a.qp->qp_num;
	uverbs_of_a = a.id->verbs->cmd_fd;
}

static void qp_down(void)
{
	pair_down();
	end_free(&listener);
}

/* run @does as @uid in a; it reports @err (0: it connects) */
static void expect_may(uid_t uid, void (*does)(void), int err)
{
	struct party p;
	struct end e;

	party_start(&p, "a", uid, does);
	if (!err)
		serve_one(&e);
	expect_eq(party_receive(&p), err);
	if (!err)
		end_free(&e);
	else
		expect_no_request();
	party_end(&p);
}

static void after_fork(void)
{
	qp_up();
	expect_may(0, child_without, EINVAL);
	expect_may(0, child_connects, 0);
	qp_down();
}

/* the open uverbs file gives access, whatever process holds it */
static void after_fork_as_nobody(void)
{
	qp_up();
	expect_may(INTRUDER, child_without, EINVAL);
	expect_may(INTRUDER, child_connects, 0);
	qp_down();
}

static void of_a_thread(void)
{
	pthread_t thread;
	struct end e;
	int err = -1;

	qp_up();
	must(!pthread_create(&thread, NULL, thread_connects, &err));
	serve_one(&e);
	must(!pthread_join(thread, NULL));
	expect_eq(err, 0);
	end_free(&e);
	qp_down();
}

static void gets_uverbs(void)
{
	int fd;

	close(uverbs_of_a);
	report(connect_as(qpn_of_a));
	fd = receive_fd();
	must(fd >= 0);
	report(connect_as(qpn_of_a));
}

static void uverbs_sent(void)
{
	struct party p;
	struct end e;

	qp_up();
	party_start(&p, "a", INTRUDER, gets_uverbs);
	expect_eq(party_receive(&p), EINVAL);
	send_fd(&p, uverbs_of_a);
	serve_one(&e);
	expect_eq(party_receive(&p), 0);
	party_end(&p);
	end_free(&e);
	qp_down();
}

static uint32_t id_of_a;

/* rdma_cm's file works only with the credentials of the process that opened it */
static void gets_rdma_cm(void)
{
	int fd = receive_fd();

	must(fd >= 0);
	close(uverbs_of_a);
	report(raw_connect(fd, id_of_a, qpn_of_a));
}

static void rdma_cm_sent(void)
{
	struct party p;

	qp_up();
	id_of_a = raw_create(a.ch->fd);
	party_start(&p, "a", INTRUDER, gets_rdma_cm);
	send_fd(&p, a.ch->fd);
	expect_eq(party_receive(&p), EACCES);
	party_end(&p);
	expect_no_request();
	qp_down();
}

/* as many as fs.nr_open allows: a search through them takes some time */
#define MANY_FDS	(1 << 20)
#define FDS_OF_A_MESSAGE 253	/* SCM_MAX_FD */
#define SEARCHES	8

/* a dup() for each would take a minute in UML */
static void fill_table(void)
{
	static union {
		struct cmsghdr head;
		char buf[CMSG_SPACE(FDS_OF_A_MESSAGE * sizeof(int))];
	} sent, got;
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr out = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = sent.buf, .msg_controllen = sizeof(sent.buf),
	};
	struct msghdr in = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = got.buf };
	int pair[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	sent.head.cmsg_level = SOL_SOCKET;
	sent.head.cmsg_type = SCM_RIGHTS;
	sent.head.cmsg_len = CMSG_LEN(FDS_OF_A_MESSAGE * sizeof(int));
	do {
		in.msg_controllen = sizeof(got.buf);
		must(sendmsg(pair[0], &out, 0) == 1);
		must(recvmsg(pair[1], &in, 0) == 1);
	} while (!(in.msg_flags & MSG_CTRUNC));
}

/* Read numbers of QPs, try to connect each, and report the errno and the time it took. */
static void searches_long(void)
{
	const struct rlimit limit = { MANY_FDS, MANY_FDS };
	struct end e;

	must(!end_resolve(&e, IP_B, 8600, IP_A));
	must(!setrlimit(RLIMIT_NOFILE, &limit));
	fill_table();
	for (;;) {
		struct rdma_conn_param param = { .qp_num = next_word() };
		long long began = now_us();

		report(0);
		report(rdma_connect(e.id, &param) ? errno : 0);
		report((int)(now_us() - began));
	}
}

static void begin_search(struct party *p)
{
	party_send(p, a.qp->qp_num);
	must(!party_receive(p));
}

static int end_search(struct party *p)
{
	must(party_receive(p) == EINVAL);
	return party_receive(p);
}

static int time_to_destroy(void)
{
	long long began = now_us();

	rdma_destroy_qp(a.id);
	a.qp = NULL;
	return (int)(now_us() - began);
}

/* the search of another program's descriptors, in its first half, ends with the QP */
static void destroyed_in_a_search(void)
{
	int whole = 0, waited = 0, i;
	struct party p;

	party_start(&p, "a", 0, searches_long);
	for (i = 0; i < SEARCHES; i++) {
		qp_up();
		waited -= time_to_destroy();
		qp_down();
		qp_up();
		begin_search(&p);
		whole += end_search(&p);
		begin_search(&p);
		usleep(whole / (i + 1) * i / (2 * SEARCHES));
		waited += time_to_destroy();
		end_search(&p);
		qp_down();
	}
	printf("#   %d us for a search, %d us more to destroy a QP beside it\n",
	       whole / SEARCHES, waited / SEARCHES);
	expect(waited < whole / 2);
	party_end(&p);
}

/* ---- ids ------------------------------------------------------------------- */

/* hold an id, for others to try to use */
static void has_an_id(void)
{
	struct end e;

	must(!end_listen(&e, "0.0.0.0", 8602));
	report(0);
	next_word();
}

#define IDS 256

/* every command for every id: EINVAL for an id of others, ENOENT for an unused one */
static void tries_ids(void)
{
	int fd = raw_open(), others = 0;
	uint32_t own = raw_create(fd), id;
	unsigned int i;

	for (id = 0; id < IDS; id++) {
		if (id == own)
			continue;
		for (i = 0; i < raw_commands; i++) {
			int err = raw_try(fd, i, id);

			others += err == EINVAL;
			if (err == EINVAL || err == ENOENT)
				continue;
			printf("#   %s of id %u: %s\n", raw_name(i), id,
			       strerror(err));
			report(-1);
		}
	}
	/* two other processes have an id each, and all commands must find both */
	must(others >= 2 * (int)raw_commands);
	report(raw_query(fd, own));
}

static void ids_of_others(void)
{
	party_start(&other_user, "a", OWNER, has_an_id);
	party_start(&other_netns, "b", INTRUDER, has_an_id);
	must(!party_receive(&other_user));
	must(!party_receive(&other_netns));
	party_start(&intruder, "a", INTRUDER, tries_ids);
	expect_eq(party_receive(&intruder), 0);
	party_end(&intruder);
	party_end(&other_netns);
	party_end(&other_user);
}

static const struct tap_test tests[] = {
	{ "connect__refuses_qps_of_other_owners (DDP-115, DDP-117, RDMAP-152)", connect_by_owner },
	{ "accept__refuses_qps_of_other_owners", accept_by_owner },
	{ "connect__child_needs_the_uverbs_file", after_fork },
	{ "connect__unprivileged_child_needs_the_uverbs_file", after_fork_as_nobody },
	{ "connect__by_another_thread", of_a_thread },
	{ "connect__by_a_process_that_was_sent_the_uverbs_file", uverbs_sent },
	{ "connect__refuses_a_sent_rdma_cm_file", rdma_cm_sent },
	{ "destroy__does_not_wait_for_a_search_of_others", destroyed_in_a_search },
	{ "command__refuses_ids_of_other_processes", ids_of_others },
};

int main(int argc, char **argv)
{
	static const struct tap_theme theme = { tests, ARRAY_LEN(tests) };

	enter_netns(NULL);
	return tap_run((const struct tap_theme *[]) {
			       &theme, &access_net_theme, NULL }, argc - 1, argv + 1);
}
