// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * System calls of verbs with the real module: none for polling, at most one for arming
 * or posting a list. Run by syscalls.sh, which creates the hosts; this process drives
 * both, and a child of it traces it.
 *
 *	syscalls [WORD...]	only the tests whose name holds one of them
 */
#include <errno.h>
#include <unistd.h>

#include "pair.h"
#include "tracer.h"

#define MANY	1000
#define DEPTH	1024
#define BURST	64

static long mark;

/*
 * System calls since the last call of this function. Each test is a process of its own,
 * so the first call starts the tracer and returns 0.
 */
static long since(void)
{
	static bool traced;
	long now, n;

	if (!traced)
		must(!tracer_start());
	now = syscalls();
	n = traced ? now - mark : 0;
	traced = true;
	mark = now;
	return n;
}

static void down(void)
{
	pair_down();
	tracer_stop();
}

static void up(void)
{
	static const struct want want = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_inline_data = 64 },
	};

	pair_up(&want, &want);
}

/* ---- bursts ------------------------------------------------------------------- */

/* fill a list of Writes; only the last is signalled, with wr_id @id */
static void write_list(struct ibv_send_wr *wr, struct ibv_sge *sge, int n,
		       uint64_t id)
{
	int i;

	*sge = sge_at(&a, 0, 8);
	for (i = 0; i < n; i++)
		wr[i] = (struct ibv_send_wr) {
			.wr_id = id, .next = i + 1 < n ? &wr[i + 1] : NULL,
			.sg_list = sge, .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = i + 1 < n ? 0 : IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = (uintptr_t)b.buf,
				     .rkey = b.mr->rkey },
		};
}

/* Return: the system calls of posting the list */
static long cost_of_post(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	long cost;
	int err;

	since();
	err = ibv_post_send(a.qp, wr, &bad);
	cost = since();
	must(!err);
	return cost;
}

static void recv_list(struct ibv_recv_wr *wr, struct ibv_sge *sge, int n)
{
	int i;

	*sge = sge_at(&b, 4096, 64);
	for (i = 0; i < n; i++)
		wr[i] = (struct ibv_recv_wr) {
			.wr_id = i, .next = i + 1 < n ? &wr[i + 1] : NULL,
			.sg_list = sge, .num_sge = 1,
		};
}

/* lists of every length, on a QP at rest */
static void lists(void)
{
	struct ibv_send_wr wr[BURST];
	struct ibv_sge sge;
	int n;

	up();
	for (n = 1; n <= BURST; n++) {
		write_list(wr, &sge, n, n);
		expect(cost_of_post(wr) <= 1);
		expect_wc(a.scq, n, IBV_WC_SUCCESS);
	}
	down();
}

/* one list of each operation, Sends inline among them */
static void mixed_list(void)
{
	struct ibv_send_wr wr[BURST];
	struct ibv_sge sge;
	int i;

	up();
	write_list(wr, &sge, BURST, 1);
	for (i = 0; i < BURST; i++)
		post_recv(&b, i, 4096, 64);
	for (i = 0; i < BURST - 1; i++) {
		wr[i].opcode = i & 1 ? IBV_WR_RDMA_READ : IBV_WR_SEND;
		wr[i].send_flags = i & 2 ? IBV_SEND_FENCE : 0;
		if (!(i & 5))
			wr[i].send_flags |= IBV_SEND_INLINE;
	}
	expect(cost_of_post(wr) <= 1);
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
	for (i = 0; i < BURST / 2; i++)
		expect_recv(&b, i, 8);
	down();
}

/* lists one after another, while the kernel is busy with earlier ones */
static void lists_while_busy(void)
{
	struct ibv_send_wr wr[BURST];
	struct ibv_sge sge;
	int i;

	up();
	for (i = 0; i < DEPTH / BURST; i++) {
		write_list(wr, &sge, BURST, i);
		expect(cost_of_post(wr) <= 1);
	}
	for (i = 0; i < DEPTH / BURST; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	down();
}

/* requests by ibv_wr_*(): at most one system call, in ibv_wr_complete() */
static void batch(void)
{
	static const struct want want = {
		.send_ops = IBV_QP_EX_WITH_RDMA_WRITE,
	};
	struct ibv_qp_ex *ex;
	int i, err;

	pair_up(&want, NULL);
	ex = ibv_qp_to_qp_ex(a.qp);
	must(ex);
	since();
	ibv_wr_start(ex);
	for (i = 0; i < BURST; i++) {
		ex->wr_id = i;
		ex->wr_flags = i + 1 < BURST ? 0 : IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.buf);
		ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buf, 8);
	}
	expect_eq(since(), 0);
	err = ibv_wr_complete(ex);
	expect(since() <= 1);
	must(!err);
	expect_wc(a.scq, BURST - 1, IBV_WC_SUCCESS);
	down();
}

/* ---- receives ------------------------------------------------------------------ */

static void recvs(void)
{
	struct ibv_recv_wr wr[BURST], *bad;
	struct ibv_sge sge;
	int i, err;

	up();
	recv_list(wr, &sge, BURST);
	since();
	err = ibv_post_recv(b.qp, wr, &bad);
	expect_eq(since(), 0);
	must(!err);
	for (i = 0; i < BURST; i++) {
		post_send(&a, i, 0, 8, IBV_SEND_SIGNALED);
		expect_recv(&b, i, 8);
	}
	down();
}

static void srq_recvs(void)
{
	static const struct want want = { .own_srq = true };
	struct ibv_recv_wr wr[BURST], *bad;
	struct ibv_sge sge;
	int err;

	pair_up(NULL, &want);
	recv_list(wr, &sge, BURST);
	since();
	err = ibv_post_srq_recv(b.srq, wr, &bad);
	expect_eq(since(), 0);
	must(!err);
	post_send(&a, 0, 0, 8, IBV_SEND_SIGNALED);
	expect_recv(&b, 0, 8);
	down();
}

/* in ERROR a list takes at most one system call, which makes the kernel flush it */
static void recvs_in_error(void)
{
	struct ibv_recv_wr wr[BURST], *bad;
	struct ibv_sge sge;
	int i, err;

	up();
	rdma_disconnect(b.id);
	expect_error_state(&b);
	recv_list(wr, &sge, BURST);
	since();
	err = ibv_post_recv(b.qp, wr, &bad);
	expect(since() <= 1);
	must(!err);
	for (i = 0; i < BURST; i++)
		expect_wc(b.rcq, i, IBV_WC_WR_FLUSH_ERR);
	down();
}

/* ---- completions ---------------------------------------------------------------- */

/* leave MANY completions in a's send CQ */
static void pile_up(struct ibv_qp *qp)
{
	static struct ibv_send_wr wr[MANY];
	struct ibv_send_wr *bad;
	struct ibv_sge sge;
	int i;

	write_list(wr, &sge, MANY, 7);
	for (i = 0; i < MANY; i++)
		wr[i].send_flags = IBV_SEND_SIGNALED;
	must(!ibv_post_send(qp, wr, &bad));
	/* once a Send after them has arrived, they have completed or will soon */
	post_recv(&b, 1, 0, 64);
	post_send(&a, 0, 0, 8, 0);
	expect_recv(&b, 1, 8);
	usleep(100000);
}

static void poll_empty(void)
{
	struct ibv_wc wc[4];
	int i, n = 0;

	up();
	since();
	for (i = 0; i < MANY; i++)
		n += ibv_poll_cq(a.scq, 1 + i % 4, wc);
	expect_eq(since(), 0);
	expect_eq(n, 0);
	down();
}

/* poll one completion at a time, and 16 at a time */
static void poll_filled(void)
{
	struct ibv_wc wc[16];
	int i, n = 0;

	up();
	pile_up(a.qp);
	since();
	for (i = 0; i < MANY; i++)
		n += ibv_poll_cq(a.scq, i < MANY / 2 ? 1 : 16, wc);
	expect_eq(since(), 0);
	expect_eq(n, MANY);
	down();
}

static void poll_extended(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = DEPTH, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
	};
	struct want want = { .cap = { .max_send_wr = DEPTH } };
	struct ibv_poll_cq_attr attr = {};
	static struct end cqs;
	struct ibv_cq_ex *cq;
	int i, n = 0;

	solo_up(NULL);
	cq = ibv_create_cq_ex(a.id->verbs, &init);
	must(cq);
	end_free(&a);
	cqs.scq = ibv_cq_ex_to_cq(cq);
	cqs.rcq = cqs.scq;
	want.cqs = &cqs;
	pair_up(&want, NULL);
	pile_up(a.qp);
	since();
	for (i = 0; i < MANY && !ibv_start_poll(cq, &attr); i++) {
		do
			n++;
		while (i & 1 && n % 16 && !ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
	for (; i < MANY; i++)
		expect_eq(ibv_start_poll(cq, &attr), ENOENT);
	expect_eq(since(), 0);
	expect_eq(n, MANY);
	down();
	must(!ibv_destroy_cq(cqs.scq));
}

/* ---- arming ---------------------------------------------------------------------- */

static void arm(void)
{
	int i, err = 0;

	up();
	since();
	for (i = 0; i < MANY; i++)
		err |= ibv_req_notify_cq(b.rcq, i & 1);
	expect_eq(since(), 0);
	expect_eq(err, 0);
	post_recv(&b, 1, 0, 64);
	post_send(&a, 1, 0, 8, 0);
	expect(got_event(&b, patience_ms()));
	expect_recv(&b, 1, 8);
	down();
}

/* the loop of a waiting program: event, arm, poll until the CQ is empty */
static void arm_after_event(void)
{
	struct ibv_wc wc;
	int i, err, n;

	up();
	must(!ibv_req_notify_cq(b.rcq, 0));
	for (i = 0; i < 30; i++) {
		post_recv(&b, i, 0, 64);
		post_send(&a, i, 0, 8, 0);
		must(got_event(&b, patience_ms()));
		since();
		err = ibv_req_notify_cq(b.rcq, 0);
		n = ibv_poll_cq(b.rcq, 1, &wc);
		n += ibv_poll_cq(b.rcq, 1, &wc);
		expect_eq(since(), 0);
		must(!err && n == 1);
	}
	down();
}

/*
 * Completions that came before the arming raise no event by themselves. The provider
 * asks the kernel for it once, since some programs do not poll again after arming.
 */
static void arm_late(void)
{
	int i, err;

	up();
	pile_up(a.qp);
	since();
	err = ibv_req_notify_cq(a.scq, 0);
	expect(since() <= 1);
	must(!err);
	expect(got_event(&a, patience_ms()));
	since();
	for (i = 0; i < MANY; i++)
		err |= ibv_req_notify_cq(a.scq, 0);
	expect_eq(since(), 0);
	must(!err);
	down();
}

/* ---- the count itself ------------------------------------------------------------- */

static void counted(void)
{
	int i;

	since();
	expect_eq(since(), 0);
	for (i = 1; i < 5; i++) {
		getppid();
		getppid();
		expect_eq(since(), 2);
	}
	tracer_stop();
}

static const struct tap_test tests[] = {
	{ "tracer__counts_each_system_call", counted },
	{ "poll_cq__empty_without_system_calls", poll_empty },
	{ "poll_cq__filled_without_system_calls", poll_filled },
	{ "poll_cq__extended_without_system_calls", poll_extended },
	{ "req_notify_cq__idle_without_system_calls", arm },
	{ "req_notify_cq__after_an_event_without_system_calls", arm_after_event },
	{ "req_notify_cq__after_completions_with_one_system_call", arm_late },
	{ "post_send__one_system_call_per_list", lists },
	{ "post_send__one_system_call_per_mixed_list", mixed_list },
	{ "post_send__while_busy_one_system_call_per_list", lists_while_busy },
	{ "wr_complete__one_system_call_per_batch", batch },
	{ "post_recv__without_system_calls", recvs },
	{ "post_recv__one_system_call_in_error", recvs_in_error },
	{ "post_srq_recv__without_system_calls", srq_recvs },
};

static const struct tap_theme theme = { tests, ARRAY_LEN(tests) };

int main(int argc, char **argv)
{
	static const struct tap_theme *const themes[] = { &theme, NULL };

	enter_netns(NULL);
	return tap_run(themes, argc - 1, argv + 1);
}
