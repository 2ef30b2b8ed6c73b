// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The victim of the hostile peer: a program that does what programs do.
 *
 *	victim PORT CONTROL ADDRESS...
 *
 * It accepts connections at the addresses, and opens one for each line "PORT ASK ADDRESS" that
 * arrives at the Unix socket CONTROL. It tells its memory in its private data, posts receives,
 * Reads, a Send and a Write, receives again, and ends what lasts longer than LIFE_MS. The peer
 * may ask for something else (welcome.h): a rejection, an end at once, no answer, receives
 * alone. It fails when a byte changes that is beside what a peer, a receive or a Read may write
 * to.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "../test.h"
#include "welcome.h"

#define RECVS		16
#define SENDS		16
#define LIFE_MS		1000
#define TICK_MS		100

#define SOURCE_LEN	8192
#define GUARD		1024
#define GUARD_BYTE	0x5a
#define READS		3
#define AREAS		(1 + RECVS + 1 + READS)

unsigned int test_failures;

struct conn {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mw *window;
	enum ask ask;
	bool atomics;
	uint64_t born;
	bool leaving;
	struct conn *next;
};

static struct conn *conns;
static struct rdma_event_channel *events;

static const uint32_t read_len[READS] = { 100, 20000, 3000 };

/* the memory: what the peer may reach, then areas for ourselves; a guard after each */
static struct {
	size_t recv[RECVS];
	size_t source;
	size_t sink[READS];
	size_t guard[AREAS];
	unsigned int areas;
	size_t len;
} plan;

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint8_t *memory;
	struct ibv_mr *all, *reads, *local;
} device;

void test_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "victim: %s:%d: %s\n", file, line, text);
}

void test_leave(void)
{
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/* ---- memory ------------------------------------------------------------------------------ */

static size_t area(size_t len)
{
	size_t at = plan.len;

	plan.guard[plan.areas++] = at + len;
	plan.len = at + len + GUARD;
	return at;
}

static void plan_memory(void)
{
	unsigned int i;

	area(VICTIM_LEN);
	for (i = 0; i < RECVS; i++)
		plan.recv[i] = area(VICTIM_RECV);
	plan.source = area(SOURCE_LEN);
	for (i = 0; i < READS; i++)
		plan.sink[i] = area(read_len[i]);
}

/* one MR has them all: it is not its bounds that protect them */
static void look_at_guards(void)
{
	unsigned int i, k;

	for (i = 0; device.memory && i < plan.areas; i++)
		for (k = 0; k < GUARD; k++)
			must(device.memory[plan.guard[i] + k] == GUARD_BYTE,
			     "byte %u after area %u of the memory has changed", k, i);
}

/* all connections are of one device, and share its memory */
static void device_take(struct ibv_context *context)
{
	const int local = IBV_ACCESS_LOCAL_WRITE;
	const int all = local | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

	unsigned int i;

	if (device.context)
		return;
	device.context = context;
	device.memory = mmap(NULL, plan.len, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	must(device.memory != MAP_FAILED, "mmap: %m");
	for (i = 0; i < plan.areas; i++)
		memset(device.memory + plan.guard[i], GUARD_BYTE, GUARD);
	device.pd = ibv_alloc_pd(context);
	must(device.pd, "ibv_alloc_pd: %m");
	device.all = ibv_reg_mr(device.pd, device.memory, VICTIM_LEN, all);
	device.reads = ibv_reg_mr(device.pd, device.memory, VICTIM_LEN, IBV_ACCESS_REMOTE_READ);
	device.local = ibv_reg_mr(device.pd, device.memory, plan.len, local);
	must(device.all && device.reads && device.local, "ibv_reg_mr: %m");
}

static struct welcome welcome_of(const struct conn *c)
{
	return (struct welcome) {
		.addr = (uintptr_t)device.memory, .len = VICTIM_LEN, .all = device.all->rkey,
		.reads = device.reads->rkey, .local = device.local->rkey,
		.window = ibv_inc_rkey(c->window->rkey),
	};
}

static void post_recv(struct conn *c, unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)device.memory + plan.recv[slot],
		.length = VICTIM_RECV, .lkey = device.local->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	ibv_post_recv(c->id->qp, &wr, &bad);
}

static void post(struct conn *c, enum ibv_wr_opcode opcode, size_t at, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)device.memory + at, .length = len,
		.lkey = device.local->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1, .wr_id = RECVS + opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = 0x1000, .rkey = PEER_STAG },
	}, *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = 0x1000;
		wr.wr.atomic.rkey = PEER_STAG;
		wr.wr.atomic.compare_add = 1;
	}
	ibv_post_send(c->id->qp, &wr, &bad);
}

static void bind_window(struct conn *c)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW, .wr_id = RECVS,
		.bind_mw = {
			.mw = c->window, .rkey = ibv_inc_rkey(c->window->rkey),
			.bind_info = {
				.mr = device.all, .addr = (uintptr_t)device.memory,
				.length = VICTIM_LEN,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ |
						   IBV_ACCESS_REMOTE_WRITE,
			},
		},
	}, *bad;

	ibv_post_send(c->id->qp, &wr, &bad);
}

/* what a program does with a connection: in each direction something of each kind */
static void use(struct conn *c)
{
	bind_window(c);
	post(c, IBV_WR_RDMA_READ, plan.sink[0], read_len[0]);
	post(c, IBV_WR_RDMA_READ, plan.sink[1], read_len[1]);
	post(c, IBV_WR_SEND, plan.source, 300);
	post(c, IBV_WR_RDMA_WRITE, plan.source, 5000);
	post(c, IBV_WR_RDMA_READ, plan.sink[2], read_len[2]);
	if (c->atomics)
		post(c, IBV_WR_ATOMIC_FETCH_AND_ADD, plan.source, 8);
}

/* ---- connections -------------------------------------------------------------------------- */

static struct conn *conn_new(struct rdma_cm_id *id, unsigned int ask)
{
	struct conn *c = calloc(1, sizeof(*c));

	must(c, "no memory");
	c->id = id;
	c->ask = ask & ~ASK_ATOMICS;
	c->atomics = ask & ASK_ATOMICS;
	c->born = now_ms();
	c->next = conns;
	id->context = c;
	conns = c;
	return c;
}

/* CQ, QP, window and receives; Return: 0 or -1 */
static int conn_build(struct conn *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECVS, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	unsigned int i;

	device_take(c->id->verbs);
	c->cq = ibv_create_cq(device.context, SENDS + RECVS, NULL, NULL, 0);
	c->window = ibv_alloc_mw(device.pd, IBV_MW_TYPE_2);
	must(c->cq && c->window, "a CQ or a window: %m");
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	if (rdma_create_qp(c->id, device.pd, &attr))
		return -1;
	for (i = 0; i < RECVS; i++)
		post_recv(c, i);
	return 0;
}

static void conn_free(struct conn *c)
{
	struct conn **at = &conns;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	if (c->window)
		ibv_dealloc_mw(c->window);
	if (c->cq)
		ibv_destroy_cq(c->cq);
	rdma_destroy_id(c->id);
	free(c);
}

static void conn_poll(struct conn *c)
{
	struct ibv_wc wc[8];
	int i, n;

	while (c->cq && (n = ibv_poll_cq(c->cq, 8, wc)) > 0)
		for (i = 0; i < n; i++) {
			if (wc[i].wr_id < RECVS && wc[i].status == IBV_WC_SUCCESS)
				post_recv(c, wc[i].wr_id);
			else if (wc[i].status != IBV_WC_SUCCESS &&
				 wc[i].status != IBV_WC_WR_FLUSH_ERR)
				printf("victim: request %u: %s\n", (unsigned int)wc[i].wr_id,
				       ibv_wc_status_str(wc[i].status));
		}
}

/* build it, then rdma_connect() or rdma_accept(); Return: the id is still wanted */
static bool conn_start(struct conn *c,
		       int (*start)(struct rdma_cm_id *id, struct rdma_conn_param *param))
{
	struct rdma_conn_param param = { .responder_resources = 8, .initiator_depth = 8 };
	struct welcome w;

	if (conn_build(c))
		return false;
	w = welcome_of(c);
	param.private_data = &w;
	param.private_data_len = sizeof(w);
	return !start(c->id, &param);
}

/* Return: the id is still wanted */
static bool on_request(struct conn *c)
{
	if (c->ask == ASK_IGNORE)
		return true;
	if (c->ask == ASK_REJECT) {
		rdma_reject(c->id, NULL, 0);
		return false;
	}
	return conn_start(c, rdma_accept);
}

static bool on_established(struct conn *c)
{
	if (c->ask == ASK_DESTROY)
		return false;
	if (c->ask != ASK_QUIET)
		use(c);
	if (c->ask == ASK_LEAVE)
		rdma_disconnect(c->id);
	return true;
}

static bool on_event(struct conn *c, enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:	return on_request(c);
	case RDMA_CM_EVENT_ADDR_RESOLVED:	return !rdma_resolve_route(c->id, 1000);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:	return conn_start(c, rdma_connect);
	case RDMA_CM_EVENT_ESTABLISHED:		return on_established(c);
	default:				return false;
	}
}

static void take_event(void)
{
	struct rdma_cm_event *event, copy;
	uint8_t ask = ASK_SERVE;
	struct conn *c;

	if (rdma_get_cm_event(events, &event))
		return;
	copy = *event;
	if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST && copy.param.conn.private_data_len)
		ask = *(const uint8_t *)copy.param.conn.private_data;
	/* an id must have no event when it is destroyed */
	rdma_ack_cm_event(event);
	if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		c = conn_new(copy.id, ask);
	else
		c = copy.id->context;
	if (c && !on_event(c, copy.event))
		conn_free(c);
}

static struct sockaddr_storage at_port(const char *address, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *found;
	struct sockaddr_storage at = { 0 };

	must(!getaddrinfo(address, port, &hints, &found), "address %s, port %s", address, port);
	memcpy(&at, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return at;
}

static void take_line(int control)
{
	char line[80] = "", port[6], address[INET6_ADDRSTRLEN];
	struct sockaddr_storage at;
	unsigned int ask;
	struct rdma_cm_id *id;

	if (recv(control, line, sizeof(line) - 1, 0) <= 0 ||
	    sscanf(line, "%5s %u %45s", port, &ask, address) != 3)
		return;
	at = at_port(address, port);
	must(!rdma_create_id(events, &id, NULL, RDMA_PS_TCP), "rdma_create_id: %m");
	conn_new(id, ask);
	must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&at, 1000), "resolving: %m");
}

/* disconnect what lasts too long, then give it up */
static void tick(void)
{
	struct conn *c, *next;

	look_at_guards();
	for (c = conns; c; c = next) {
		uint64_t age = now_ms() - c->born;

		next = c->next;
		conn_poll(c);
		if (age > 2 * LIFE_MS) {
			conn_free(c);
		} else if (age > LIFE_MS && !c->leaving) {
			c->leaving = true;
			rdma_disconnect(c->id);
		}
	}
}

/* ---- main --------------------------------------------------------------------------------- */

static int open_control(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	must(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)), "%s: %m", path);
	return fd;
}

static void start_listening(const char *address, const char *port)
{
	struct sockaddr_storage at = at_port(address, port);
	struct rdma_cm_id *id;

	must(!rdma_create_id(events, &id, NULL, RDMA_PS_TCP) &&
	     !rdma_bind_addr(id, (struct sockaddr *)&at) && !rdma_listen(id, 64), "listen: %m");
}

int main(int argc, char **argv)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	uint64_t ticked = 0;
	int i;

	must(argc > 3, "see the top of victim.c");
	plan_memory();
	events = rdma_create_event_channel();
	must(events && !fcntl(events->fd, F_SETFL, O_NONBLOCK), "rdma_create_event_channel: %m");
	for (i = 3; i < argc; i++)
		start_listening(argv[i], argv[1]);
	fds[0].fd = events->fd;
	fds[1].fd = open_control(argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("victim: ready\n");
	while (poll(fds, 2, TICK_MS / 10) >= 0 || errno == EINTR) {
		struct conn *c;

		if (fds[0].revents)
			take_event();
		if (fds[1].revents)
			take_line(fds[1].fd);
		for (c = conns; c; c = c->next)
			conn_poll(c);
		if (now_ms() - ticked >= TICK_MS) {
			tick();
			ticked = now_ms();
		}
	}
	return test_failures ? 1 : 0;
}
