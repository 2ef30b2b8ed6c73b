// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* ibv_resize_cq(): a new ring replaces the old one while the CQ is in use. */
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "queue_verbs.h"

/* connect, with CQs of @cqe entries at a */
static void up(int cqe)
{
	const struct want want = { .cqe = cqe, .cap.max_send_wr = 256 };

	pair_up(&want, NULL);
}

/* at any offset of the indices no completion is lost or out of order */
static void keeps_unpolled(void)
{
	static const int sizes[] = { 100, 8, 16, 1024, 9, 8, 8 };
	uint64_t id = 0;
	unsigned int i;

	up(8);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		pile_up(id, 7);
		must(!ibv_resize_cq(a.scq, sizes[i]));
		expect(a.scq->cqe >= sizes[i]);
		expect_pile(id, 7);
		expect(no_wc(a.scq));
		id += 7;
	}
	pair_down();
}

static void holds_more(void)
{
	up(8);
	pile_up(0, 8);
	must(!ibv_resize_cq(a.scq, 200));
	pile_up(8, 192);
	expect_pile(0, 200);
	expect_eq(state_of(&a), IBV_QPS_RTS);
	pair_down();
}

/* the CQ overflows exactly after the granted size */
static void new_size_overflows(void)
{
	struct ibv_async_event event;

	up(64);
	must(!ibv_resize_cq(a.scq, 8));
	expect_eq(a.scq->cqe, 8);
	pile_up(0, 8);
	expect_eq(state_of(&a), IBV_QPS_RTS);
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 8, 0, 8, 0, IBV_SEND_SIGNALED);
	event = next_async(&a, IBV_EVENT_CQ_ERR);
	expect(event.element.cq == a.scq);
	expect_error_state(&a);
	expect_pile(0, 8);
	pair_down();
}

static void refuses_too_few(void)
{
	up(64);
	pile_up(0, 9);
	expect_eq(ibv_resize_cq(a.scq, 8), EINVAL);
	expect_eq(ibv_resize_cq(a.scq, 1), EINVAL);
	expect_eq(a.scq->cqe, 64);
	expect_pile(0, 9);
	must(!ibv_resize_cq(a.scq, 8));
	pile_up(9, 8);
	expect_pile(9, 8);
	pair_down();
}

static void refuses_bad_sizes(void)
{
	struct ibv_device_attr dev;

	up(64);
	must(!ibv_query_device(a.id->verbs, &dev));
	pile_up(0, 5);
	expect_eq(ibv_resize_cq(a.scq, 0), EINVAL);
	expect_eq(ibv_resize_cq(a.scq, -1), EINVAL);
	expect_eq(ibv_resize_cq(a.scq, dev.max_cqe + 1), EINVAL);
	expect_eq(ibv_resize_cq(a.scq, 0x7fffffff), EINVAL);
	expect_eq(a.scq->cqe, 64);
	expect_pile(0, 5);
	must(!ibv_resize_cq(a.scq, dev.max_cqe));
	expect_eq(a.scq->cqe, dev.max_cqe);
	pile_up(5, 5);
	expect_pile(5, 5);
	pair_down();
}

/* both kinds of arming survive a resize, and raise one event */
static void keeps_arming(void)
{
	pair_up(NULL, NULL);
	must(!ibv_req_notify_cq(b.rcq, 0));
	must(!ibv_resize_cq(b.rcq, 500));
	expect(!got_event(&b, 50));
	message(1, 0);
	expect(got_event(&b, patience_ms()));
	must(!ibv_resize_cq(b.rcq, 64));
	message(2, 0);
	expect(!got_event(&b, 50));
	expect_recv(&b, 1, 8);
	expect_recv(&b, 2, 8);
	must(!ibv_req_notify_cq(b.rcq, 1));
	must(!ibv_resize_cq(b.rcq, 32));
	message(3, 0);
	expect(!got_event(&b, 50));
	message(4, IBV_SEND_SOLICITED);
	expect(got_event(&b, patience_ms()));
	expect_recv(&b, 3, 8);
	expect_recv(&b, 4, 8);
	pair_down();
}

/* The command cannot be undone, so the provider fails before it without address space. */
static void without_address_space(void)
{
	struct rlimit old, none = { 0, RLIM_INFINITY };
	int err;

	up(64);
	pile_up(0, 5);
	must(!getrlimit(RLIMIT_AS, &old));
	none.rlim_max = old.rlim_max;
	must(!setrlimit(RLIMIT_AS, &none));
	err = ibv_resize_cq(a.scq, 1000);
	must(!setrlimit(RLIMIT_AS, &old));
	expect_eq(err, ENOMEM);
	expect_eq(a.scq->cqe, 64);
	expect_pile(0, 5);
	pile_up(5, 60);
	expect_pile(5, 60);
	pair_down();
}

/* ---- traffic ----------------------------------------------------------------- */

static volatile bool stop;

struct resizer {
	struct ibv_cq *cq;
	int least;
	unsigned int done;
	int err;
};

static void *resize_on_and_on(void *arg)
{
	static const int factor[] = { 1, 3, 2, 7, 1, 16 };
	struct resizer *r = arg;
	int err;

	while (!stop) {
		err = ibv_resize_cq(r->cq, r->least *
				    factor[r->done % ARRAY_LEN(factor)]);
		if (err)
			r->err = err;
		r->done++;
		usleep(200);
	}
	return NULL;
}

/* send @n messages, at most a window outstanding, and receive by events or polling */
static void exchange(unsigned int n, bool by_event)
{
	unsigned int i, sent = 0, received = 0, completed = 0;
	struct ibv_wc wc;

	for (i = 0; i < 32; i++)
		post_recv(&b, i, 0, 64);
	while (received < n || completed < n) {
		for (; sent < n && sent < received + 32 && sent < completed + 32; sent++)
			post_send(&a, sent, 0, 8, IBV_SEND_SIGNALED);
		while (ibv_poll_cq(a.scq, 1, &wc) == 1) {
			must(wc.status == IBV_WC_SUCCESS);
			must(wc.wr_id == completed++);
		}
		if (by_event && received < n) {
			must(got_event(&b, patience_ms()));
			must(!ibv_req_notify_cq(b.rcq, 0));
		}
		while (ibv_poll_cq(b.rcq, 1, &wc) == 1) {
			must(wc.status == IBV_WC_SUCCESS);
			must(wc.wr_id == received++);
			post_recv(&b, received + 31, 0, 64);
		}
	}
}

static void resize_under_traffic(bool by_event)
{
	static const struct want want = { .cqe = 64 };
	/* static: the threads continue after a failed test */
	static struct resizer at_a, at_b;
	pthread_t t[2];

	pair_up(&want, &want);
	must(!ibv_req_notify_cq(b.rcq, 0));
	at_a = (struct resizer){ .cq = a.scq, .least = 64 };
	at_b = (struct resizer){ .cq = b.rcq, .least = 64 };
	stop = false;
	must(!pthread_create(&t[0], NULL, resize_on_and_on, &at_a));
	must(!pthread_create(&t[1], NULL, resize_on_and_on, &at_b));
	exchange(5000, by_event);
	/* give the threads of a slow machine the time for some resizes */
	while (at_a.done < 20 || at_b.done < 20)
		usleep(1000);
	stop = true;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	expect(!at_a.err && !at_b.err);
	printf("#   a resized %u times, b %u times\n", at_a.done, at_b.done);
	pair_down();
}

static void under_traffic(void)
{
	resize_under_traffic(false);
}

static void under_traffic_armed(void)
{
	resize_under_traffic(true);
}

/* completions arrive while a large ring is copied */
static void while_it_fills(void)
{
	static const struct want want = {
		.cqe = 16384, .cap.max_send_wr = 8192,
	};
	static struct resizer r;
	pthread_t t;
	unsigned int i, n = 8000;

	pair_up(&want, NULL);
	r = (struct resizer){ .cq = a.scq, .least = 16384 };
	stop = false;
	must(!pthread_create(&t, NULL, resize_on_and_on, &r));
	for (i = 0; i < n; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0,
			  IBV_SEND_SIGNALED);
	while (r.done < 20)
		usleep(1000);
	stop = true;
	pthread_join(t, NULL);
	expect_eq(r.err, 0);
	expect_pile(0, n);
	expect(no_wc(a.scq));
	pair_down();
}

static const struct tap_test tests[] = {
	{ "resize_cq__keeps_unpolled_completions_in_order", keeps_unpolled },
	{ "resize_cq__holds_more_completions", holds_more },
	{ "resize_cq__the_new_size_overflows_when_it_is_full", new_size_overflows },
	{ "resize_cq__refuses_less_than_is_unpolled", refuses_too_few },
	{ "resize_cq__refuses_sizes_that_no_cq_can_have", refuses_bad_sizes },
	{ "resize_cq__keeps_the_arming", keeps_arming },
	{ "resize_cq__without_address_space_changes_nothing", without_address_space },
	{ "resize_cq__under_traffic", under_traffic },
	{ "resize_cq__under_traffic_armed", under_traffic_armed },
	{ "resize_cq__while_completions_pile_up", while_it_fills },
};

const struct tap_theme resize_theme = { tests, ARRAY_LEN(tests) };
