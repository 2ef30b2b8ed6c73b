// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The near end of a cell: a program that brings a connection of tern's to a state, prints
 * "ready", and stays there:
 *
 *	near STATE ADDRESS PORT [FIRST]
 *
 * It ends when the connection does. At SIGUSR1 it closes FIRST, then what is left. Status
 * 0: each object could be closed, in the end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../verbs/conn.h"

#define LEN	16384
#define SMALL	64
#define TOKENS	16
#define MR_LEN	(1 << 20)
#define IDLE_MS	100
#define ANY	1	/* STag and TO at the far end, which checks neither */

/**
 * struct state - how a connection gets into a state and stays there
 * @name: as in matrix.sh
 * @want: the end
 * @listen: it is the responder
 * @open: it is connected
 * @enter: after that, once
 * @stay: again and again; false: nothing was to do
 */
struct state {
	const char *name;
	struct want want;
	bool listen;
	bool open;
	bool (*enter)(void);
	bool (*stay)(void);
};

static struct end near, door;
static const struct state *state;
static struct want want;
static volatile sig_atomic_t close_now;
static bool over;	/* a completion says that the connection has ended */

static void on_usr1(int sig)
{
	(void)sig;
	close_now = 1;
}

static bool fail(const char *what)
{
	fprintf(stderr, "near: %s: %s\n", what, strerror(errno));
	return false;
}

/* ---- requests -------------------------------------------------------------------------- */

static bool post(enum ibv_wr_opcode op, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)near.buf, len, near.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = 8;
		wr.wr.atomic.rkey = ANY;
		wr.wr.atomic.compare_add = 1;
	} else if (op == IBV_WR_RDMA_READ) {
		wr.wr.rdma.remote_addr = ANY;
		wr.wr.rdma.rkey = ANY;
	}
	return !ibv_post_send(near.qp, &wr, &bad);
}

static bool post_recv(void)
{
	struct ibv_sge sge = { (uintptr_t)near.buf + LEN, SMALL, near.mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return !(near.srq ? ibv_post_srq_recv(near.srq, &wr, &bad) :
			    ibv_post_recv(near.qp, &wr, &bad));
}

/* Return: the number of good completions of @cq that were polled */
static int polled(struct ibv_cq *cq)
{
	struct ibv_wc wc[TOKENS];
	int n = ibv_poll_cq(cq, TOKENS, wc), i;

	if (n < 0)
		over = true;
	for (i = 0; i < n; i++)
		if (wc[i].status)
			over = true;
	return n;
}

/* ---- what keeps a state ------------------------------------------------------------------ */

/* keep the send queue full of @op; its CQ is as long */
static bool keep_full(enum ibv_wr_opcode op, uint32_t len)
{
	bool some = polled(near.scq) > 0;

	while (!over && post(op, len))
		some = true;
	return some;
}

static bool send_on(void)
{
	return keep_full(IBV_WR_SEND, LEN);
}

static bool read_on(void)
{
	return keep_full(IBV_WR_RDMA_READ, 4096);
}

static bool add_on(void)
{
	return keep_full(IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

/* each message that arrives is answered, and its receive posted again */
static bool echo_on(void)
{
	int i, n = polled(near.rcq);

	polled(near.scq);
	for (i = 0; i < n && !over; i++)
		if (!post_recv() || !post(IBV_WR_SEND, SMALL))
			over = true;
	return n > 0;
}

static bool start_echo(void)
{
	int i;

	for (i = 0; i < 2 * TOKENS; i++)
		if (!post_recv())
			return fail("post to the SRQ");
	for (i = 0; i < TOKENS; i++)
		if (!post(IBV_WR_SEND, SMALL))
			return fail("post");
	return true;
}

/* As many messages as both CQs hold: nothing polls them. More receives are posted. */
static bool fill_cqs(void)
{
	int i;

	for (i = 0; i < 2 * TOKENS; i++)
		if (!post_recv())
			return fail("post a receive");
	for (i = 0; i < near.rcq->cqe && i < 2 * TOKENS; i++)
		if (!post(IBV_WR_SEND, SMALL))
			return fail("post");
	usleep(IDLE_MS * 1000);
	return true;
}

static bool register_on(void)
{
	static void *mem;
	struct ibv_mr *mr;

	if (!mem)
		mem = malloc(MR_LEN);
	mr = ibv_reg_mr(near.pd, mem, MR_LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!mr) {
		over = true;
		return false;
	}
	ibv_dereg_mr(mr);
	return true;
}

/* post until the peer's window is shut, and nothing completes any more */
static bool fill_window(void)
{
	while (keep_full(IBV_WR_SEND, LEN) && !over)
		usleep(IDLE_MS * 1000);
	return !over || fail("fill the window");
}

static bool close_undrained(void)
{
	return fill_window() && !rdma_disconnect(near.id);
}

static bool arm(void)
{
	return !ibv_req_notify_cq(near.scq, 0) && !ibv_req_notify_cq(near.rcq, 0);
}

static const struct state states[] = {
	{ .name = "connecting" },
	{ .name = "request-sent" },
	{ .name = "reply-pending", .listen = true },
	{ .name = "rtr-awaited", .listen = true },
	{ .name = "idle", .open = true },
	{ .name = "heavy-send", .open = true, .stay = send_on },
	{ .name = "heavy-read", .open = true, .stay = read_on },
	{ .name = "atomics", .open = true, .stay = add_on },
	{ .name = "draining", .open = true, .enter = close_undrained },
	{ .name = "srq", .open = true, .want = { .own_srq = true }, .enter = start_echo,
	  .stay = echo_on },
	{ .name = "cq-full", .open = true, .want = { .cqe = TOKENS }, .enter = fill_cqs },
	{ .name = "mr-reg", .open = true, .stay = register_on },
	{ .name = "window-shut", .open = true, .enter = fill_window },
	/* not of the matrix: does a connection work? */
	{ .name = "once", .open = true },
	{ }
};

/* ---- into the state ------------------------------------------------------------------------ */

static bool enter_as_responder(const char *ip, int port)
{
	if (end_listen(&door, ip, port))
		return fail("listen");
	puts("listening");
	fflush(stdout);
	if (end_request(&door, &near) || end_build(&near, &want))
		return fail("take the request");
	if (!strcmp(state->name, "rtr-awaited") && end_accept(&near, &want))
		return fail("accept");
	return true;
}

static bool enter_as_initiator(const char *ip, int port)
{
	if (end_resolve(&near, ip, port, NULL) || end_build(&near, &want) ||
	    end_connect(&near, &want))
		return fail("connect");
	if (!state->open)
		return true;
	if (end_expect(&near, RDMA_CM_EVENT_ESTABLISHED))
		return fail("connect");
	return !state->enter || state->enter();
}

/* one message, and the end */
static bool work_once(void)
{
	if (!post(IBV_WR_SEND, SMALL))
		return fail("post");
	while (!polled(near.scq))
		usleep(1000);
	return !over || fail("send");
}

/* ---- out of it ------------------------------------------------------------------------------- */

/* Return: the connection's events say that it has ended */
static bool has_ended(int ms)
{
	struct pollfd pfd[] = {
		{ .fd = near.ch->fd, .events = POLLIN },
		{ .fd = near.id->verbs->async_fd, .events = POLLIN },
	};
	struct ibv_async_event async;
	struct rdma_cm_event *event;

	if (over)
		return true;
	if (poll(pfd, 2, ms) <= 0)
		return false;
	if (pfd[1].revents && !ibv_get_async_event(near.id->verbs, &async)) {
		printf("%s\n", ibv_event_type_str(async.event_type));
		/* a port that is down ends no connection */
		over = async.event_type != IBV_EVENT_PORT_ERR &&
		       async.event_type != IBV_EVENT_PORT_ACTIVE;
		ibv_ack_async_event(&async);
	}
	if (pfd[0].revents && !rdma_get_cm_event(near.ch, &event)) {
		printf("%s\n", rdma_event_str(event->event));
		over = event->event != RDMA_CM_EVENT_ESTABLISHED;
		rdma_ack_cm_event(event);
	}
	return over;
}

/* @err: of closing an object that others use. It still works, and end_free() closes it. */
static bool refused(int err)
{
	errno = err;
	return err == EBUSY || fail("close what others use");
}

static bool close_cq(void)
{
	if (!refused(ibv_destroy_cq(near.scq)))
		return false;
	return polled(near.scq) >= 0 || fail("poll what was not closed");
}

static bool close_srq(void)
{
	return refused(ibv_destroy_srq(near.srq)) &&
	       (post_recv() || fail("post to what was not closed"));
}

/*
 * The descriptors for events of the CQs and of the QP are closed, with what is queued there. Then
 * both kinds of events come: a QP in ERROR flushes its queues.
 */
static bool close_channels(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!post_recv())
		return fail("post a receive");
	close(near.comp->fd);
	close(near.id->verbs->async_fd);
	if (!arm() || ibv_modify_qp(near.qp, &attr, IBV_QP_STATE))
		return fail("flush");
	usleep(IDLE_MS * 1000);
	return true;
}

/* Return: it was closed, or refused, as it has to be */
static bool close_first(const char *first)
{
	if (!strcmp(first, "mr")) {
		if (ibv_dereg_mr(near.mr))
			return fail("deregister");
		near.mr = NULL;
	} else if (!strcmp(first, "qp")) {
		rdma_destroy_qp(near.id);
		near.qp = NULL;
	} else if (!strcmp(first, "cq")) {
		return close_cq();
	} else if (!strcmp(first, "pd")) {
		return refused(ibv_dealloc_pd(near.pd));
	} else if (!strcmp(first, "srq")) {
		return close_srq();
	} else if (!strcmp(first, "channel")) {
		return close_channels();
	} else if (!strcmp(first, "context")) {
		/* the kernel closes all but the id */
		close(near.id->verbs->cmd_fd);
		exit(0);
	} else if (!strcmp(first, "id")) {
		/* the kernel closes the ids of the channel */
		close(near.ch->fd);
		exit(0);
	}
	return true;
}

static void stay(void)
{
	while (!close_now && !has_ended(state->stay ? 0 : IDLE_MS))
		if (state->stay && !state->stay())
			usleep(1000);
}

static bool enter(char **argv, const char *first)
{
	want = state->want;
	/* any state may have one, which only this event needs */
	want.own_srq |= !strcmp(first, "srq");
	if (!(state->listen ? enter_as_responder(argv[2], atoi(argv[3])) :
			      enter_as_initiator(argv[2], atoi(argv[3]))))
		return false;
	return strcmp(first, "channel") || arm() || fail("arm the CQs");
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_usr1 };
	const char *first = argc > 4 ? argv[4] : "";

	if (argc < 4)
		return 2;
	for (state = states; state->name && strcmp(state->name, argv[1]); state++)
		;
	if (!state->name)
		return 2;
	sigaction(SIGUSR1, &sa, NULL);
	if (!enter(argv, first))
		return 1;
	if (!strcmp(state->name, "once")) {
		if (!work_once())
			return 1;
	} else {
		puts("ready");
		fflush(stdout);
		stay();
		if (close_now && !close_first(first))
			return 1;
	}
	end_free(&near);
	if (door.id)
		end_free(&door);
	return 0;
}
