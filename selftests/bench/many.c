// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Many connections between hosts a and b, whose ends are all in this process:
 *
 *	many -n CONNECTIONS [-d DEPTH] [-r ROUNDS]
 *
 * The first connection talks, ROUNDS pings of 8 bytes; then the others are made, WINDOW at a
 * time, each pings once, and the first one talks again. Each step prints a line, and the
 * program waits for a line of its input before the next: many.sh counts memory between them.
 * DEPTH is that of each queue of a QP. All QPs of a host share CQ, PD and memory.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drive.h"
#include "../verbs/conn.h"

#define PORT		18515
#define WINDOW		64
#define RESOLVE_MS	5000
#define PING		8
#define CQE		4096

static unsigned int connections = 1000, depth = 4, rounds = 2000;

/* a host; @ids are its connections in the order in which they began */
static struct host {
	struct rdma_event_channel *ch;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct rdma_cm_id **ids;
	unsigned int begun;
	unsigned int up;
	uint8_t buf[4096];
} a, b;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* ---- connecting --------------------------------------------------------------- */

static struct sockaddr_in address(const char *ip, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	NEED(inet_pton(AF_INET, ip, &sin.sin_addr) == 1);
	return sin;
}

/* what all QPs of a host share, made with its first id */
static void equip(struct host *h, struct ibv_context *ctx)
{
	if (h->pd)
		return;
	h->pd = ibv_alloc_pd(ctx);
	h->cq = ibv_create_cq(ctx, CQE, NULL, NULL, 0);
	NEED(h->pd && h->cq);
	h->mr = ibv_reg_mr(h->pd, h->buf, sizeof(h->buf), IBV_ACCESS_LOCAL_WRITE);
	NEED(h->mr);
}

static void post_recv(struct host *h, struct rdma_cm_id *id)
{
	struct ibv_sge sge = { (uintptr_t)h->buf, PING, h->mr->lkey };
	struct ibv_recv_wr wr = {
		.wr_id = (uintptr_t)id, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	NEED(!ibv_post_recv(id->qp, &wr, &bad));
}

static void build_qp(struct host *h, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	equip(h, id->verbs);
	attr.send_cq = h->cq;
	attr.recv_cq = h->cq;
	NEED(!rdma_create_qp(id, h->pd, &attr));
	post_recv(h, id);
}

static void begin(void)
{
	struct sockaddr_in from = address(getenv("IP_A"), 0);
	struct sockaddr_in to = address(getenv("IP_B"), PORT);
	struct rdma_cm_id *id;

	NEED(!rdma_create_id(a.ch, &id, NULL, RDMA_PS_TCP));
	a.ids[a.begun++] = id;
	NEED(!rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to,
				RESOLVE_MS));
}

static void step(struct host *h, const struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		NEED(!rdma_resolve_route(event->id, RESOLVE_MS));
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		build_qp(h, event->id);
		NEED(!rdma_connect(event->id, &param));
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		h->ids[h->begun++] = event->id;
		build_qp(h, event->id);
		NEED(!rdma_accept(event->id, &param));
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		h->up++;
		break;
	default:
		fprintf(stderr, "many: %s (status %d), %u up\n",
			rdma_event_str(event->event), event->status, h->up);
		exit(1);
	}
}

static void next_event(struct host *h)
{
	struct rdma_cm_event *event;

	NEED(!rdma_get_cm_event(h->ch, &event));
	step(h, event);
	NEED(!rdma_ack_cm_event(event));
}

static void connect_until(unsigned int n)
{
	struct pollfd fds[] = {
		{ .fd = a.ch->fd, .events = POLLIN }, { .fd = b.ch->fd, .events = POLLIN },
	};

	while (a.up < n || b.up < n) {
		while (a.begun < n && a.begun < a.up + WINDOW)
			begin();
		NEED(poll(fds, 2, 20000) > 0);
		if (fds[0].revents)
			next_event(&a);
		if (fds[1].revents)
			next_event(&b);
	}
}

static void listen_at_b(void)
{
	struct sockaddr_in at = address(getenv("IP_B"), PORT);
	struct rdma_cm_id *id;

	NEED(!enter_netns("b"));
	NEED(!rdma_create_id(b.ch, &id, NULL, RDMA_PS_TCP));
	NEED(!rdma_bind_addr(id, (struct sockaddr *)&at));
	NEED(!rdma_listen(id, 2 * WINDOW));
	NEED(!enter_netns("a"));
}

/* ---- pings -------------------------------------------------------------------- */

static void send_ping(struct host *h, struct rdma_cm_id *id)
{
	struct ibv_sge sge = { (uintptr_t)h->buf + 64, PING, h->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	NEED(!ibv_post_send(id->qp, &wr, &bad));
}

/* the connection that a ping came on; other completions are those of Sends */
static struct rdma_cm_id *await_ping(struct host *h)
{
	struct ibv_wc wc;
	int n;

	do {
		while (!(n = ibv_poll_cq(h->cq, 1, &wc)))
			;
		NEED(n == 1 && wc.status == IBV_WC_SUCCESS);
	} while (wc.opcode != IBV_WC_RECV);
	return (struct rdma_cm_id *)(uintptr_t)wc.wr_id;
}

/* there and back */
static void ping(struct rdma_cm_id *id)
{
	struct rdma_cm_id *there;

	send_ping(&a, id);
	there = await_ping(&b);
	post_recv(&b, there);
	send_ping(&b, there);
	NEED(await_ping(&a) == id);
	post_recv(&a, id);
}

static void talk(void)
{
	double start = now();
	unsigned int i;

	for (i = 0; i < rounds; i++)
		ping(a.ids[0]);
	printf("talks: %.2f us a round trip beside %u\n", (now() - start) / rounds * 1e6,
	       a.up - 1);
}

/* ---- steps -------------------------------------------------------------------- */

static void pause_for_line(const char *word)
{
	char line[8];

	printf("%s\n", word);
	fflush(stdout);
	NEED(fgets(line, sizeof(line), stdin));
}

static void run(void)
{
	unsigned int i;
	double start;

	listen_at_b();
	connect_until(1);
	talk();
	talk();
	pause_for_line("first");
	start = now();
	connect_until(connections);
	printf("connects: %.0f a second\n", (connections - 1) / (now() - start));
	pause_for_line("connected");
	for (i = 0; i < connections; i++)
		ping(a.ids[i]);
	pause_for_line("pinged");
	talk();
	talk();
	printf("done\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:d:r:")) != -1) {
		unsigned int value = atoi(optarg ? optarg : "");

		if (c == 'n')
			connections = value;
		else if (c == 'd')
			depth = value;
		else if (c == 'r')
			rounds = value;
		else
			die("see the top of many.c for options");
	}
	NEED(connections && depth && rounds);
	enter_netns(NULL);
	a.ch = rdma_create_event_channel();
	b.ch = rdma_create_event_channel();
	a.ids = calloc(connections, sizeof(*a.ids));
	b.ids = calloc(connections, sizeof(*b.ids));
	NEED(a.ch && b.ch && a.ids && b.ids);
	run();
	return 0;
}
