// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A server that lends a lock and a counter, and does nothing itself: its clients take the
 * lock by CmpSwap, add 1 to the counter by a Read and a Write, and give the lock back. An
 * example of atomics over rdma_cm, and a test of them: the counter is exact only if the
 * lock excludes.
 *
 *	locks server ADDRESS PORT CLIENTS COUNT	exits with 0 if the counter is CLIENTS * COUNT
 *	locks client ADDRESS PORT COUNT [nolock]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "../test.h"

#define FREE	0	/* of the lock; else its owner */

/* the server's memory */
struct shared {
	uint64_t lock;
	uint64_t counter;
};

/* where it is: private data of the server's accept */
struct place {
	uint64_t addr;
	uint32_t rkey;
} __attribute__((packed));

/* where a client has its results */
struct local {
	uint64_t old;		/* of the lock, before a CmpSwap */
	uint64_t counter;
};

unsigned int test_failures;

void test_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "%s:%d: %s (%s)\n", file, line, text, strerror(errno));
}

void test_leave(void)
{
	exit(1);
}

static struct ibv_qp_init_attr queues = {
	.cap = { .max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	.qp_type = IBV_QPT_RC,
};

/* an endpoint that listens, or is resolved for a connect */
static struct rdma_cm_id *endpoint(char *ip, char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = flags };
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	must(!rdma_getaddrinfo(ip, port, &hints, &info));
	must(!rdma_create_ep(&id, info, NULL, &queues));
	rdma_freeaddrinfo(info);
	return id;
}

/* ---- the server ---------------- */

/* accept a client, and tell it where the memory is */
static void serve_one(struct rdma_cm_id *id, struct shared *shared)
{
	struct place place = { .addr = (uintptr_t)shared };
	struct rdma_conn_param param = {
		.private_data = &place, .private_data_len = sizeof(place),
		.responder_resources = 16,
	};
	struct ibv_mr *mr = ibv_reg_mr(id->pd, shared, sizeof(*shared),
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_REMOTE_ATOMIC);

	must(mr);
	id->context = mr;
	place.rkey = mr->rkey;
	must(!rdma_accept(id, &param));
}

static void wait_for_end(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	must(!rdma_get_cm_event(id->channel, &event));
	must(event->event == RDMA_CM_EVENT_DISCONNECTED, "%s", rdma_event_str(event->event));
	rdma_ack_cm_event(event);
	must(!rdma_dereg_mr(id->context));
	rdma_destroy_ep(id);
}

static int serve(char *ip, char *port, int clients, uint64_t count)
{
	struct shared *shared = aligned_alloc(4096, 4096);
	struct rdma_cm_id *id[16], *listener;
	int i;

	must(shared && clients <= 16);
	memset(shared, 0, sizeof(*shared));
	listener = endpoint(ip, port, RAI_PASSIVE);
	must(!rdma_listen(listener, 16));
	/* all of them first: they are to work at the same time */
	for (i = 0; i < clients; i++)
		must(!rdma_get_request(listener, &id[i]));
	for (i = 0; i < clients; i++)
		serve_one(id[i], shared);
	for (i = 0; i < clients; i++)
		wait_for_end(id[i]);
	rdma_destroy_ep(listener);
	printf("locks: the counter is %llu of %llu, the lock %s\n",
	       (unsigned long long)shared->counter, (unsigned long long)(clients * count),
	       shared->lock == FREE ? "free" : "taken");
	return shared->counter != clients * count || shared->lock != FREE;
}

/* ---- a client ---------------- */

/**
 * struct client - a connection to the server
 * @id: its endpoint
 * @place: of the server's memory
 * @local: our memory
 * @mr: of it
 */
struct client {
	struct rdma_cm_id *id;
	struct place place;
	struct local *local;
	struct ibv_mr *mr;
};

static void wait_done(struct client *c)
{
	struct ibv_wc wc;

	must(rdma_get_send_comp(c->id, &wc) == 1);
	must(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
}

static struct ibv_sge sge_of(struct client *c, uint64_t *word)
{
	return (struct ibv_sge){ (uintptr_t)word, sizeof(*word), c->mr->lkey };
}

/* the lock becomes @new if it is @old; its value before comes into @c->local->old */
static void post_swap(struct client *c, uint64_t old, uint64_t new)
{
	struct ibv_sge sge = sge_of(c, &c->local->old);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {
			.remote_addr = c->place.addr + offsetof(struct shared, lock),
			.rkey = c->place.rkey, .compare_add = old, .swap = new,
		},
	};

	must(!ibv_post_send(c->id->qp, &wr, &bad));
}

static void post_counter(struct client *c, enum ibv_wr_opcode op, int flags)
{
	struct ibv_sge sge = sge_of(c, &c->local->counter);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = flags,
		.wr.rdma = {
			.remote_addr = c->place.addr + offsetof(struct shared, counter),
			.rkey = c->place.rkey,
		},
	};

	must(!ibv_post_send(c->id->qp, &wr, &bad));
}

static void lock(struct client *c, uint64_t me)
{
	do {
		post_swap(c, FREE, me);
		wait_done(c);
	} while (c->local->old != FREE);
}

/*
 * The Write needs no completion of its own: the peer does an atomic after it has placed all
 * Writes that were posted before (RFC 7306 5.4).
 */
static void unlock(struct client *c, uint64_t me)
{
	post_swap(c, me, FREE);
	wait_done(c);
	must(c->local->old == me, "another has the lock: %llu",
	     (unsigned long long)c->local->old);
}

static void add_one(struct client *c, uint64_t me, bool locked)
{
	if (locked)
		lock(c, me);
	post_counter(c, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED);
	wait_done(c);
	c->local->counter++;
	post_counter(c, IBV_WR_RDMA_WRITE, locked ? 0 : IBV_SEND_SIGNALED);
	if (locked)
		unlock(c, me);
	else
		wait_done(c);
}

static void client_up(struct client *c, char *ip, char *port)
{
	struct rdma_conn_param param = { .initiator_depth = 16 };

	c->id = endpoint(ip, port, 0);
	must(!rdma_connect(c->id, &param));
	must(c->id->event->param.conn.private_data_len >= sizeof(c->place));
	memcpy(&c->place, c->id->event->param.conn.private_data, sizeof(c->place));
	c->local = aligned_alloc(4096, 4096);
	must(c->local);
	c->mr = ibv_reg_mr(c->id->pd, c->local, sizeof(*c->local), IBV_ACCESS_LOCAL_WRITE);
	must(c->mr);
}

static int work(char *ip, char *port, uint64_t count, bool locked)
{
	struct client c;

	client_up(&c, ip, port);
	while (count--)
		add_one(&c, getpid(), locked);
	must(!rdma_disconnect(c.id));
	rdma_dereg_mr(c.mr);
	rdma_destroy_ep(c.id);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "server"))
		return serve(argv[2], argv[3], atoi(argv[4]), strtoull(argv[5], NULL, 0));
	if (argc >= 5 && !strcmp(argv[1], "client"))
		return work(argv[2], argv[3], strtoull(argv[4], NULL, 0), argc == 5);
	fprintf(stderr, "usage: see the head of locks.c\n");
	return 2;
}
