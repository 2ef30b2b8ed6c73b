// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * An id that connects answers no request, and a request is answered once: rdma_cm passes each
 * such call on to iw_cm, which refuses it and changes nothing.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"

#define PORT	8600

static const struct want none;

/* @e is left with a QP, but its id without: librdmacm moves an id's own to the error state */
static uint32_t part_from_qp(struct end *e)
{
	must(!end_build(e, &none));
	e->id->qp = NULL;
	return e->qp->qp_num;
}

static void expect_refused(struct end *e, uint32_t qpn)
{
	struct rdma_conn_param param = { .qp_num = qpn };

	expect(rdma_accept(e->id, &param));
	expect_eq(errno, EINVAL);
	expect(rdma_reject(e->id, NULL, 0));
	expect_eq(errno, EINVAL);
}

static void request_at_b(struct end *listener)
{
	struct rdma_conn_param param = {};

	must(!enter_netns("b"));
	must(!end_listen(listener, IP_B, PORT));
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, PORT, IP_A));
	must(!enter_netns(NULL));
	param.qp_num = part_from_qp(&a);
	must(!rdma_connect(a.id, &param));
	must(!end_request(listener, &b));
}

static atomic_bool destroyed;

static void *destroy_a(void *unused)
{
	expect(!rdma_destroy_id(a.id));
	destroyed = true;
	return NULL;
}

static void while_connecting(void)
{
	struct end listener;
	pthread_t thread;

	need_mended_core();
	request_at_b(&listener);
	expect_refused(&a, a.qp->qp_num);
	/* who destroys the id waits for the reply */
	must(!pthread_create(&thread, NULL, destroy_a, NULL));
	usleep(200000);
	expect(!destroyed);
	must(!rdma_reject(b.id, NULL, 0));
	must(!pthread_join(thread, NULL));
	expect(destroyed);
	end_free(&b);
	end_free(&listener);
}

static bool has_event(struct end *e)
{
	struct pollfd p = { .fd = e->ch->fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void accepted_twice(void)
{
	struct rdma_conn_param param = {};
	struct end listener;

	need_mended_core();
	request_at_b(&listener);
	param.qp_num = part_from_qp(&b);
	/* b is established when a's first FPDU arrives */
	impair("b", "delay 5s");
	expect(!rdma_accept(b.id, &param));
	expect_refused(&b, b.qp->qp_num);
	expect_refused(&b, a.qp->qp_num);
	expect_refused(&b, 0xfffffe);
	expect(!has_event(&b));
	mend("b");
	must(!end_expect(&a, RDMA_CM_EVENT_ESTABLISHED));
	must(!end_expect(&b, RDMA_CM_EVENT_ESTABLISHED));
	expect_refused(&b, b.qp->qp_num);
	post_recv(&b, 1, 0, 64);
	post_send(&a, 2, 0, 64, IBV_SEND_SIGNALED);
	expect_wc(a.scq, 2, IBV_WC_SUCCESS);
	expect_recv(&b, 1, 64);
	end_free(&listener);
}

static void rejected_twice(void)
{
	struct end listener;

	need_mended_core();
	request_at_b(&listener);
	must(!rdma_reject(b.id, NULL, 0));
	expect_refused(&b, a.qp->qp_num);
	must(!end_expect(&a, RDMA_CM_EVENT_REJECTED));
	end_free(&b);
	end_free(&listener);
}

static const struct tap_test tests[] = {
	{ "a connecting id answers no request, and is destroyed when the reply comes",
	  while_connecting },
	{ "a request is accepted once, before and after it is established", accepted_twice },
	{ "a request is rejected once", rejected_twice },
};

const struct tap_theme answer_theme = { tests, ARRAY_LEN(tests) };
