// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The n-th allocation of a call is refused, whether tern, the RDMA core or TCP asks for it, for
 * each n until the call makes none so many. The call then works or fails as a whole, ends in
 * time, and works at once when nothing is refused. Run by fail_nth.sh. (selftests/nth refuses
 * calls of tern itself, also outside of a program's system calls.)
 *
 *	fail_nth [WORD...]		only the tests whose name has one of them
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "fail_nth.h"

static const struct want none;

/* ---- refusals -------------------------------------------------------------------- */

#define MOST	4000	/* allocations of one call */

static int nth_fd;		/* of this task */
static unsigned int nth;	/* that the next arm() asks for */
static bool came;		/* it was refused */

static void set_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	must(pwrite(nth_fd, text, len, 0) == len);
}

void arm(void)
{
	set_nth(nth);
}

void disarm(void)
{
	char text[16] = "";
	int err = errno;

	must(pread(nth_fd, text, sizeof(text) - 1, 0) > 0);
	came = nth && !atoi(text);
	set_nth(0);
	errno = err;
}

static void open_nth(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	must(nth_fd >= 0);
}

void each_nth(const struct call *c)
{
	unsigned int failed = 0;
	bool ok;

	open_nth();
	for (nth = 1, came = true; came; nth++) {
		must(nth < MOST);
		ok = c->make();
		failed += !ok;
		must(ok || came, "without a refusal: %m");
		if (c->undo)
			c->undo();
	}
	printf("#   %u allocations, %u of which fail the call\n", nth - 2, failed);
	expect(failed);
	nth = 0;
	must(c->make());
	if (c->undo)
		c->undo();
	close(nth_fd);
}

/* ---- objects of a device ----------------------------------------------------------- */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *comp;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct ibv_mw *mw;

static bool open_device(void)
{
	ctx = ARMED(ibv_open_device(a.id->verbs->device));
	return ctx;
}

static void close_device(void)
{
	if (ctx)
		expect(!ibv_close_device(ctx));
}

static bool make_pd(void)
{
	pd = ARMED(ibv_alloc_pd(a.id->verbs));
	return pd;
}

static void free_pd(void)
{
	if (pd)
		expect(!ibv_dealloc_pd(pd));
}

static bool make_channel(void)
{
	comp = ARMED(ibv_create_comp_channel(a.id->verbs));
	return comp;
}

static void free_channel(void)
{
	if (comp)
		expect(!ibv_destroy_comp_channel(comp));
}

static bool make_cq(void)
{
	cq = ARMED(ibv_create_cq(a.id->verbs, 300, NULL, a.comp, 0));
	return cq;
}

static void free_cq(void)
{
	if (cq)
		expect(!ibv_destroy_cq(cq));
}

static bool resize_cq(void)
{
	static int cqe = 100;

	cqe = 700 - cqe;
	return !ARMED(ibv_resize_cq(a.scq, cqe));
}

static bool make_mr(void)
{
	mr = ARMED(ibv_reg_mr(a.pd, a.buf, a.buf_len, ALL_RIGHTS));
	return mr;
}

static void free_mr(void)
{
	if (mr)
		expect(!ibv_dereg_mr(mr));
}

/* what a refused one leaves can be registered again, and deregistered */
static bool rereg_mr(void)
{
	static size_t less;

	less = 4096 - less;
	return !ARMED(ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, a.buf,
				   a.buf_len - less, 0));
}

static bool make_mw(void)
{
	mw = ARMED(ibv_alloc_mw(a.pd, IBV_MW_TYPE_2));
	return mw;
}

static void free_mw(void)
{
	if (mw)
		expect(!ibv_dealloc_mw(mw));
}

static bool make_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 300, .max_sge = 4 } };

	srq = ARMED(ibv_create_srq(a.pd, &attr));
	return srq;
}

static void free_srq(void)
{
	if (srq)
		expect(!ibv_destroy_srq(srq));
}

static bool make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = a.scq, .recv_cq = a.rcq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 300, .max_recv_wr = 300,
			 .max_send_sge = 4, .max_recv_sge = 4 },
	};

	qp = ARMED(ibv_create_qp(a.pd, &attr));
	return qp;
}

static void free_qp(void)
{
	if (qp)
		expect(!ibv_destroy_qp(qp));
}

static int end_qp(void)		{ return ibv_destroy_qp(qp); }
static int end_cq(void)		{ return ibv_destroy_cq(cq); }
static int end_srq(void)	{ return ibv_destroy_srq(srq); }
static int end_mr(void)		{ return ibv_dereg_mr(mr); }
static int end_mw(void)		{ return ibv_dealloc_mw(mw); }

/* @end what @make makes: a call that fails leaves it as it was, for a second call */
static bool destroys(bool (*make)(void), int (*end)(void))
{
	unsigned int was = nth;

	nth = 0;
	must(make());
	nth = was;
	if (!ARMED(end()))
		return true;
	must(!end(), "a second time: %m");
	return false;
}

#define OBJECT(name, make, undo)					\
	static void name##_test(void)					\
	{								\
		solo_up(NULL);						\
		each_nth(&(struct call) { make, undo });		\
		end_free(&a);						\
	}

OBJECT(device, open_device, close_device)
OBJECT(pd, make_pd, free_pd)
OBJECT(channel, make_channel, free_channel)
OBJECT(cq, make_cq, free_cq)
OBJECT(resize, resize_cq, NULL)
OBJECT(mr, make_mr, free_mr)
OBJECT(rereg, rereg_mr, NULL)
OBJECT(mw, make_mw, free_mw)
OBJECT(srq, make_srq, free_srq)
OBJECT(qp, make_qp, free_qp)

/* few allocate anything */
static void destroy_test(void)
{
	static const struct {
		bool (*make)(void);
		int (*end)(void);
	} each[] = {
		{ make_qp, end_qp }, { make_cq, end_cq }, { make_srq, end_srq },
		{ make_mr, end_mr }, { make_mw, end_mw },
	};
	unsigned int i;

	solo_up(NULL);
	open_nth();
	for (i = 0; i < ARRAY_LEN(each); i++)
		for (nth = 1, came = true; came; nth++)
			expect(destroys(each[i].make, each[i].end) || came);
	close(nth_fd);
	end_free(&a);
}

/* ---- connections ------------------------------------------------------------------- */

static struct end listener;
static int port;

static bool listens(void)
{
	bool ok;

	must(!enter_netns("b"));
	ok = !ARMED(end_listen(&listener, IP_B, new_port()));
	must(!enter_netns(NULL));
	return ok;
}

static void free_listener(void)
{
	end_free(&listener);
}

static bool resolves(void)
{
	bool ok;

	must(!enter_netns("a"));
	ok = !ARMED(end_resolve(&a, IP_B, port, IP_A));
	must(!enter_netns(NULL));
	return ok;
}

static void free_a(void)
{
	end_free(&a);
}

static void listener_up(void)
{
	port = new_port();
	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, port));
	must(!enter_netns(NULL));
}

static void a_up(void)
{
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, port, IP_A));
	must(!enter_netns(NULL));
	must(!end_build(&a, &none));
}

/* When the reply was refused, a asks again by revision 1, as RFC 6581 has it. */
static void reject_request(void)
{
	struct end again;

	must(!end_request(&listener, &again));
	must(!rdma_reject(again.id, NULL, 0));
	end_free(&again);
}

/* Return: whether @e's next event is this; whichever it is comes in time */
static bool next_is(struct end *e, enum rdma_cm_event_type type)
{
	struct pollfd pfds[] = {
		{ .fd = e->ch->fd, .events = POLLIN },
		{ .fd = listener.ch->fd, .events = POLLIN },
	};
	struct rdma_cm_event *event;
	bool is;

	for (;;) {
		must(poll(pfds, ARRAY_LEN(pfds), patience_ms()) > 0,
		     "no event after refusal %u", nth);
		if (pfds[0].revents)
			break;
		reject_request();
	}
	must(!rdma_get_cm_event(e->ch, &event));
	is = event->event == type;
	rdma_ack_cm_event(event);
	return is;
}

/* Return: false if the connection failed at an end; both ends have heard of it */
static bool both_established(void)
{
	bool ok = next_is(&a, RDMA_CM_EVENT_ESTABLISHED);

	return next_is(&b, RDMA_CM_EVENT_ESTABLISHED) && ok;
}

static bool request_came(void)
{
	struct pollfd pfds[] = {
		{ .fd = listener.ch->fd, .events = POLLIN },
		{ .fd = a.ch->fd, .events = POLLIN },
	};

	must(poll(pfds, ARRAY_LEN(pfds), patience_ms()) > 0, "no event");
	return pfds[0].revents;
}

static bool connects(void)
{
	a_up();
	if (ARMED(end_connect(&a, &none)) || !request_came())
		return false;
	must(!end_request(&listener, &b));
	must(!end_build(&b, &none));
	must(!end_accept(&b, &none));
	return both_established();
}

static void free_both(void)
{
	end_free(&a);
	end_free(&b);
}

/* b has a's request, and a QP */
static void request_up(void)
{
	a_up();
	must(!end_connect(&a, &none));
	must(!end_request(&listener, &b));
	must(!end_build(&b, &none));
}

static bool accepts(void)
{
	request_up();
	if (!ARMED(end_accept(&b, &none)))
		return both_established();
	end_free(&b);
	must(!next_is(&a, RDMA_CM_EVENT_ESTABLISHED));
	return false;
}

static bool disconnects(void)
{
	request_up();
	must(!end_accept(&b, &none));
	must(both_established());
	if (ARMED(rdma_disconnect(a.id)))
		must(!rdma_disconnect(a.id), "a second time: %m");
	must(next_is(&b, RDMA_CM_EVENT_DISCONNECTED));
	return !came;
}

static void listen_test(void)
{
	each_nth(&(struct call) { listens, free_listener });
}

#define CONNECTION(name, make, undo)					\
	static void name##_test(void)					\
	{								\
		listener_up();						\
		each_nth(&(struct call) { make, undo });		\
		end_free(&listener);					\
	}

CONNECTION(resolve, resolves, free_a)
CONNECTION(connect, connects, free_both)
CONNECTION(accept, accepts, free_both)
CONNECTION(disconnect, disconnects, free_both)

static const struct tap_test tests[] = {
	{ "ibv_open_device", device_test, 60 },
	{ "ibv_alloc_pd", pd_test, 60 },
	{ "ibv_create_comp_channel", channel_test, 60 },
	{ "ibv_create_cq", cq_test, 60 },
	{ "ibv_resize_cq", resize_test, 60 },
	{ "ibv_reg_mr", mr_test, 60 },
	{ "ibv_rereg_mr", rereg_test, 60 },
	{ "ibv_alloc_mw", mw_test, 60 },
	{ "ibv_create_srq", srq_test, 60 },
	{ "ibv_create_qp", qp_test, 60 },
	{ "ibv_destroy_qp, _cq, _srq, ibv_dereg_mr, ibv_dealloc_mw", destroy_test, 60 },
	{ "rdma_listen", listen_test, 60 },
	{ "rdma_resolve_addr and _route", resolve_test, 60 },
	{ "rdma_connect", connect_test, 60 },
	{ "rdma_accept", accept_test, 60 },
	{ "rdma_disconnect", disconnect_test, 60 },
};

int main(int argc, char **argv)
{
	static const struct tap_theme theme = { tests, ARRAY_LEN(tests) };

	enter_netns(NULL);
	return tap_run((const struct tap_theme *[]) {
			       &theme, &fail_nth_link_theme, NULL }, argc - 1, argv + 1);
}
