// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Queues: signalling, events, overflow, flush, drain, SRQ (RFC 5040 6). */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"

/* ---- signalling ----------------------------------------------------------- */

/* 10 unsignalled, 1 signalled: one completion; long enough to lap the ring */
static void unsignalled(void)
{
	static const struct want want = { .cap.max_send_wr = 16 };
	int round, i;

	pair_up(&want, NULL);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 10; i++)
			post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0, 0);
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 100 + round, 0, 8, 0,
			  IBV_SEND_SIGNALED);
		expect_wc(a.scq, 100 + round, IBV_WC_SUCCESS);
	}
	expect(no_wc(a.scq));
	pair_down();
}

static void signal_all(void)
{
	static const struct want want = { .sig_all = true };
	int i;

	pair_up(&want, NULL);
	for (i = 0; i < 5; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0, 0);
	for (i = 0; i < 5; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	pair_down();
}

/* an unsignalled request that fails still gets a completion */
static void unsignalled_error(void)
{
	pair_up(NULL, NULL);
	a.mr->lkey ^= 0x1100;
	post_send(&a, 5, 0, 8, 0);
	a.mr->lkey ^= 0x1100;
	expect_wc(a.scq, 5, IBV_WC_LOC_PROT_ERR);
	pair_down();
}

/*
 * The requests of a list share packets; what precedes a failing one, of @len bytes, arrives all
 * the same.
 */
static void fail_in_a_list(uint32_t len)
{
	enum ibv_wc_status want[] = { IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR,
				      IBV_WC_WR_FLUSH_ERR };
	struct ibv_send_wr wr[3];
	struct ibv_sge sge[3];
	int i;

	pair_up(NULL, NULL);
	for (i = 0; i < 3; i++) {
		post_recv(&b, i, 0, 64);
		sge[i] = sge_at(&a, 0, i == 1 ? len : 8);
		wr[i] = (struct ibv_send_wr) {
			.wr_id = i,
			.next = i < 2 ? &wr[i + 1] : NULL,
			.sg_list = &sge[i],
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
		};
	}
	sge[1].lkey ^= 0x1100;
	post(&a, wr);
	for (i = 0; i < 3; i++)
		expect_wc(a.scq, i, want[i]);
	expect_recv(&b, 0, 8);
	expect_wc(b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
	pair_down();
}

static void error_in_a_list(void)
{
	fail_in_a_list(8);
}

/* several FPDUs, of an element that is checked when it is opened */
static void long_error_in_a_list(void)
{
	fail_in_a_list(100000);
}

/* ---- completion events ------------------------------------------------------- */

static void message(uint64_t id, int flags)
{
	post_recv(&b, id, 0, 64);
	post_send(&a, id, 0, 8, flags | IBV_SEND_SIGNALED);
	expect_wc(a.scq, id, IBV_WC_SUCCESS);
}

static void event_once(void)
{
	pair_up(NULL, NULL);
	message(1, 0);
	expect(!got_event(&b, 100));		/* not armed */
	expect_recv(&b, 1, 8);
	must(!ibv_req_notify_cq(b.rcq, 0));
	message(2, 0);
	expect(got_event(&b, patience_ms()));
	message(3, 0);
	expect(!got_event(&b, 100));		/* one event for each arming */
	expect_recv(&b, 2, 8);
	expect_recv(&b, 3, 8);
	must(!ibv_req_notify_cq(b.rcq, 0));
	message(4, 0);
	expect(got_event(&b, patience_ms()));
	expect_recv(&b, 4, 8);
	pair_down();
}

static void event_solicited(void)
{
	pair_up(NULL, NULL);
	must(!ibv_req_notify_cq(b.rcq, 1));
	message(1, 0);
	expect(!got_event(&b, 100));
	message(2, IBV_SEND_SOLICITED);
	expect(got_event(&b, patience_ms()));
	expect_recv(&b, 1, 8);
	expect_recv(&b, 2, 8);
	/* arming for solicited completions does not narrow an arming for any */
	must(!ibv_req_notify_cq(b.rcq, 0));
	must(!ibv_req_notify_cq(b.rcq, 1));
	message(3, 0);
	expect(got_event(&b, patience_ms()));
	expect_recv(&b, 3, 8);
	pair_down();
}

static void event_on_error(void)
{
	pair_up(NULL, NULL);
	must(!ibv_req_notify_cq(b.rcq, 1));
	post_recv(&b, 1, 0, 4);
	post_send(&a, 1, 0, 64, 0);
	expect(got_event(&b, patience_ms()));
	expect_wc(b.rcq, 1, IBV_WC_LOC_LEN_ERR);
	pair_down();
}

/* ---- overflow ------------------------------------------------------------------ */

static void cq_overflow(void)
{
	static const struct want small = {
		.cqe = 4, .cap.max_send_wr = 64, .sig_all = true,
	};
	static const struct want same = { .share = &a, .cqs = &a };
	struct end c = {}, d = {}, e = {}, f = {};
	int i, size;

	connect_ends(&c, &d, IP_A, IP_B, NULL, NULL);
	pair_up(&small, NULL);
	connect_ends(&e, &f, IP_A, IP_B, &same, NULL);
	size = a.scq->cqe;
	must(size >= 4 && size < 60);
	for (i = 0; i < size; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0, 0);
	usleep(100000);
	expect_eq(state_of(&a), IBV_QPS_RTS);
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0, 0);
	expect_async(&a, IBV_EVENT_CQ_ERR);
	expect_error_state(&a);
	expect_error_state(&b);
	/* each QP of that CQ fails too */
	expect_error_state(&e);
	expect_error_state(&f);
	/* earlier completions are kept */
	for (i = 0; i < size; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	/* a QP of other CQs still works */
	post_rdma(&c, &d, IBV_WR_RDMA_READ, 1, 0, 8, 0, IBV_SEND_SIGNALED);
	expect_wc(c.scq, 1, IBV_WC_SUCCESS);
	end_free(&c);
	end_free(&d);
	end_free(&e);
	end_free(&f);
	pair_down();
}

/* ---- full queues and bad requests ------------------------------------------------ */

static int fill_recvs(struct end *e)
{
	struct ibv_sge sge = sge_at(e, 0, 8);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int n = 0, err;

	while (!(err = ibv_post_recv(e->qp, &wr, &bad)) && n < 1000)
		wr.wr_id = ++n;
	expect_eq(err, ENOMEM);
	return n;
}

static void recv_queue_full(void)
{
	static const struct want want = { .cap.max_recv_wr = 10 };

	int i, n;

	pair_up(NULL, &want);
	n = fill_recvs(&b);
	expect_eq(n, b.cap.max_recv_wr);
	for (i = 0; i < n; i++) {
		post_send(&a, i, 0, 8, 0);
		expect_recv(&b, i, 8);
	}
	expect_eq(fill_recvs(&b), n);
	pair_down();
}

/* a list that is one too long: all but the last request are posted, bad_wr is the last */
static void send_queue_full(void)
{
	static const struct want want = { .cap.max_send_wr = 10 };
	static struct ibv_send_wr wr[65];
	struct ibv_send_wr *bad = NULL;
	unsigned int i, n;

	pair_up(&want, NULL);
	n = a.cap.max_send_wr;
	must(n >= 10 && n <= 64);
	memset(wr, 0, sizeof(wr));
	for (i = 0; i <= n; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].wr.rdma.rkey = b.mr->rkey;
		wr[i].wr.rdma.remote_addr = (uintptr_t)b.buf;
		wr[i].next = i < n ? &wr[i + 1] : NULL;
	}
	expect_eq(ibv_post_send(a.qp, wr, &bad), ENOMEM);
	expect(bad == &wr[n]);
	for (i = 0; i < n; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	expect(no_wc(a.scq));
	pair_down();
}

static void bad_requests(void)
{
	struct ibv_sge sge[17];
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = sge };
	struct ibv_recv_wr rwr = { .sg_list = sge, .num_sge = 17 }, *bad;
	int i;

	pair_up(NULL, NULL);
	for (i = 0; i < 17; i++)
		sge[i] = sge_at(&a, 0, 8);
	wr.num_sge = 1;
	wr.opcode = 99;
	expect_eq(try_send(&a, &wr), EINVAL);
	wr.opcode = IBV_WR_TSO;
	expect_eq(try_send(&a, &wr), EOPNOTSUPP);
	/* RFC 7306 5.1: the target is 64-bit aligned */
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.remote_addr = 4;
	expect_eq(try_send(&a, &wr), EINVAL);
	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 17;
	expect_eq(try_send(&a, &wr), EINVAL);
	wr.num_sge = 1;
	sge[0].length = a.cap.max_inline_data + 1;
	wr.send_flags = IBV_SEND_INLINE;
	expect_eq(try_send(&a, &wr), EINVAL);
	expect_eq(ibv_post_recv(a.qp, &rwr, &bad), EINVAL);
	expect(bad == &rwr);
	/* the refused requests had no effect */
	sge[0].length = 8;
	wr.send_flags = IBV_SEND_SIGNALED;
	post_recv(&b, 1, 0, 64);
	post(&a, &wr);
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
	expect_recv(&b, 1, 8);
	expect(no_wc(a.scq));
	pair_down();
}

static void write_in_two(uint32_t first, uint32_t second, enum ibv_wc_status status)
{
	static const struct want want = { .cap.max_send_sge = 2 };
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = sge, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
	};

	pair_up(&want, NULL);
	sge[0] = sge_at(&a, 0, first);
	sge[1] = sge_at(&a, 0, second);
	wr.wr.rdma.rkey = b.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
	memset(b.buf, 0x55, 8);
	post(&a, &wr);
	expect_wc(a.scq, 1, status);
	expect_error_state(&b);
	expect_bytes(b.buf, "\x55\x55\x55\x55\x55\x55\x55\x55", 8);
	pair_down();
}

/* from 2^32 bytes on the error is about the length, below that about the memory */
static void message_of_4_gib(void)
{
	write_in_two(1u << 31, 1u << 31, IBV_WC_LOC_QP_OP_ERR);
	write_in_two(1u << 31, (1u << 31) - 1, IBV_WC_LOC_PROT_ERR);
}

/* ---- ends of queues ------------------------------------------------------------- */

static void to_error(struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	must(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE));
}

static void flush_in_order(void)
{
	int i;

	pair_up(NULL, NULL);
	for (i = 0; i < 16; i++) {
		post_recv(&a, i, 0, 64);
		post_recv(&b, i, 0, 64);
	}
	must(!rdma_disconnect(a.id));
	must(!end_expect(&b, RDMA_CM_EVENT_DISCONNECTED));
	must(!rdma_disconnect(b.id));
	must(!end_expect(&a, RDMA_CM_EVENT_DISCONNECTED));
	for (i = 0; i < 16; i++) {
		expect_wc(a.rcq, i, IBV_WC_WR_FLUSH_ERR);
		expect_wc(b.rcq, i, IBV_WC_WR_FLUSH_ERR);
	}
	expect(no_wc(a.rcq));
	expect(no_wc(b.rcq));
	expect_error_state(&a);
	pair_down();
}

static void flush_by_peer_death(void)
{
	int i;

	pair_up(NULL, NULL);
	for (i = 0; i < 16; i++)
		post_recv(&b, i, 0, 64);
	end_free(&a);
	for (i = 0; i < 16; i++)
		expect_wc(b.rcq, i, IBV_WC_WR_FLUSH_ERR);
	must(!end_expect(&b, RDMA_CM_EVENT_DISCONNECTED));
	expect_error_state(&b);
	pair_down();
}

/* with late Responses all is flushed: Reads, requests after them, and later posts */
static void drain_by_error(void)
{
	int i;

	pair_up(NULL, NULL);
	impair("b", "delay 10s");
	for (i = 0; i < 16; i++)
		post_rdma(&a, &b, i & 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
			  i, 0, 8, 0, IBV_SEND_SIGNALED);
	usleep(50000);
	post_send(&a, 16, 0, 8, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	to_error(&a);
	post_send(&a, 17, 0, 8, IBV_SEND_SIGNALED);
	for (i = 0; i < 18; i++)
		expect_wc(a.scq, i, IBV_WC_WR_FLUSH_ERR);
	expect(no_wc(a.scq));
	mend("b");
	pair_down();
}

/* more than TCP's send buffer on a slow link, so that only a part is sent */
static void begun_and_cut_off(void)
{
	enum { LONG = 32 << 20 };
	static const struct want want = { .buf_len = LONG };

	pair_up(&want, &want);
	post_recv(&b, 1, 0, LONG);
	impair("a", "rate 100mbit");
	post_send(&a, 1, 0, LONG, IBV_SEND_SIGNALED);
	expect(no_wc(a.scq));
	to_error(&a);
	expect_wc(a.scq, 1, IBV_WC_WR_FLUSH_ERR);
	/* deleting the qdisc earlier would drop the packets that end b's stream */
	expect_wc(b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&b);
	mend("a");
	pair_down();
}

/* RFC 5040 6: requests posted before the close complete, later ones are flushed */
static void close_by_sqd(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	int i;

	solo_up(NULL);
	expect_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), EINVAL);
	pair_down();
	pair_up(NULL, NULL);
	impair("b", "delay 100ms");
	for (i = 0; i < 16; i++)
		post_recv(&b, i, 0, 64);
	for (i = 0; i < 16; i += 2) {
		post_rdma(&a, &b, IBV_WR_RDMA_READ, i, 0, 8, 0, IBV_SEND_SIGNALED);
		post_send(&a, i + 1, 0, 8, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	}
	must(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
	expect_eq(state_of(&a), IBV_QPS_SQD);
	post_send(&a, 16, 0, 8, IBV_SEND_SIGNALED);
	for (i = 0; i < 16; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	expect_wc(a.scq, 16, IBV_WC_WR_FLUSH_ERR);
	for (i = 0; i < 8; i++)
		expect_recv(&b, i, 8);
	expect_wc(b.rcq, 8, IBV_WC_WR_FLUSH_ERR);
	must(!end_expect(&b, RDMA_CM_EVENT_DISCONNECTED));
	mend("b");
	expect_error_state(&a);
	expect_error_state(&b);
	pair_down();
}

static void posts_in_error(void)
{
	int i;

	pair_up(NULL, NULL);
	to_error(&a);
	for (i = 0; i < 100; i++) {
		post_send(&a, i, 0, 8, i & 1 ? IBV_SEND_SIGNALED : 0);
		expect_wc(a.scq, i, IBV_WC_WR_FLUSH_ERR);
		post_recv(&a, i, 0, 8);
		expect_wc(a.rcq, i, IBV_WC_WR_FLUSH_ERR);
	}
	pair_down();
}

static void recv_too_short(void)
{
	pair_up(NULL, NULL);
	memset(b.buf, 0, 4096);
	post_recv(&b, 1, 0, 100);
	post_recv(&b, 2, 0, 100);
	fill(a.buf, 101, 3);
	post_send(&a, 1, 0, 101, 0);
	expect_wc(b.rcq, 1, IBV_WC_LOC_LEN_ERR);
	expect_wc(b.rcq, 2, IBV_WC_WR_FLUSH_ERR);
	expect(!b.buf[100]);
	expect_error_state(&a);
	expect_error_state(&b);
	pair_down();
}

static void no_recv(void)
{
	pair_up(NULL, NULL);
	post_send(&a, 1, 0, 8, IBV_SEND_SIGNALED);
	expect_error_state(&b);
	expect_error_state(&a);
	next_wc(a.scq);
	pair_down();
}

/* ---- SRQ --------------------------------------------------------------------------- */

static struct ibv_srq *srq;

static void srq_post(uint64_t id)
{
	struct ibv_sge sge = sge_at(&b, 64 * id, 64);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	must(!ibv_post_srq_recv(srq, &wr, &bad));
}

/* build an end for the PD and buffer of the SRQ first, then the SRQ */
static void srq_up(struct end *base, uint32_t max_wr)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = max_wr, .max_sge = 1 },
	};

	must(!enter_netns("b"));
	must(!end_resolve(base, IP_A, 9999, IP_B));
	must(!enter_netns(NULL));
	must(!end_build(base, &(struct want){}));
	srq = ibv_create_srq(base->pd, &attr);
	must(srq);
}

static void srq_two_qps(void)
{
	struct end base = {}, c = {}, d = {};
	struct want want = { .share = &base };
	int i;

	srq_up(&base, 32);
	want.srq = srq;
	pair_up(NULL, &want);
	connect_ends(&c, &d, IP_A, IP_B, NULL, &want);
	for (i = 0; i < 8; i++)
		srq_post(i);
	for (i = 0; i < 8; i++) {
		struct end *from = i & 1 ? &c : &a, *to = i & 1 ? &d : &b;

		fill(from->buf, 32, i);
		post_send(from, i, 0, 32, IBV_SEND_SIGNALED);
		expect_wc(from->scq, i, IBV_WC_SUCCESS);
		expect_recv(to, i, 32);
		expect(filled(b.buf + 64 * i, 32, i));
	}
	/* a QP's end does not take entries from the SRQ */
	srq_post(8);
	must(!rdma_disconnect(c.id));
	must(!end_expect(&d, RDMA_CM_EVENT_DISCONNECTED));
	expect(no_wc(d.rcq));
	post_send(&a, 1, 0, 16, IBV_SEND_SIGNALED);
	expect_recv(&b, 8, 16);
	end_free(&c);
	end_free(&d);
	pair_down();
	must(!ibv_destroy_srq(srq));
	end_free(&base);
}

static void srq_limit(void)
{
	struct end base = {};
	struct want want = { .share = &base };
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	int i;

	srq_up(&base, 32);
	want.srq = srq;
	pair_up(NULL, &want);
	for (i = 0; i < 6; i++)
		srq_post(i);
	must(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	must(!ibv_query_srq(srq, &attr));
	expect_eq(attr.srq_limit, 3);
	expect(attr.max_wr >= 32);
	for (i = 0; i < 4; i++) {
		post_send(&a, i, 0, 8, IBV_SEND_SIGNALED);
		expect_recv(&b, i, 8);
	}
	expect_async(&b, IBV_EVENT_SRQ_LIMIT_REACHED);
	/* the event disarmed the limit */
	must(!ibv_query_srq(srq, &attr));
	expect_eq(attr.srq_limit, 0);
	pair_down();
	must(!ibv_destroy_srq(srq));
	end_free(&base);
}

static void srq_full(void)
{
	struct end base = {};
	struct ibv_srq_attr attr;
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	unsigned int n = 0;
	int err;

	srq_up(&base, 10);
	must(!ibv_query_srq(srq, &attr));
	sge = sge_at(&base, 0, 8);
	while (!(err = ibv_post_srq_recv(srq, &wr, &bad)) && n < 1000)
		n++;
	expect_eq(err, ENOMEM);
	expect_eq(n, attr.max_wr);
	must(!ibv_destroy_srq(srq));
	end_free(&base);
}

static const struct tap_test tests[] = {
	{ "unsignalled sends complete silently, ring after ring", unsignalled },
	{ "sq_sig_all signals every send", signal_all },
	{ "an unsignalled send that fails completes with its error", unsignalled_error },
	{ "send__before_a_failing_one_of_its_list_succeeds", error_in_a_list },
	{ "send__before_a_failing_long_one_of_its_list_succeeds", long_error_in_a_list },
	{ "an armed CQ raises one event", event_once },
	{ "a CQ armed for solicited events waits for one", event_solicited },
	{ "an error raises the event of a CQ armed for solicited ones", event_on_error },
	{ "MPA-223, RDMAP-147: CQ overflow raises CQ_ERR and ends the CQ's QPs, no other",
	  cq_overflow },
	{ "a full receive queue refuses with ENOMEM", recv_queue_full },
	{ "a full send queue refuses with ENOMEM and names the request", send_queue_full },
	{ "requests that tern cannot do: EINVAL or EOPNOTSUPP, by kind", bad_requests },
	{ "DDP-045: a message of 2^32 bytes is refused", message_of_4_gib },
	{ "disconnect flushes all receives, in order", flush_in_order },
	{ "the death of the peer flushes all receives, in order", flush_by_peer_death },
	{ "ERROR drains the send queue, in order", drain_by_error },
	{ "a Send that was begun and is cut off is flushed", begun_and_cut_off },
	{ "SQD closes the connection after the posted requests are done", close_by_sqd },
	{ "posts in ERROR are flushed at once", posts_in_error },
	{ "a Send longer than the receive: LOC_LEN_ERR, QP to ERROR", recv_too_short },
	{ "a Send that finds no receive ends both QPs", no_recv },
	{ "two QPs receive from one SRQ, which outlives them", srq_two_qps },
	{ "SRQ limit event, once", srq_limit },
	{ "a full SRQ refuses with ENOMEM", srq_full },
};

const struct tap_theme queue_theme = { tests, ARRAY_LEN(tests) };
