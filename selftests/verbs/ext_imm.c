// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Immediate data of 4 bytes, as the verbs API has it: Send with Immediate (RDMAP
 * version 2) and RDMA Write with Immediate (RFC 7306 6).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "ext.h"

#define IMM	0x01020304
#define FAR	32768		/* where a Write's data goes in b's buffer */

/* ibv_post_send() or ibv_wr_*() */
enum way { POST, CALLS };

/* a request of a: the first @len bytes of its buffer, and immediate data */
struct imm_wr {
	enum ibv_wr_opcode op;
	uint64_t id;
	uint32_t len;
	uint32_t imm;
	int flags;
};

static void by_post(const struct imm_wr *r)
{
	struct ibv_sge sge = sge_at(&a, 0, r->len);
	struct ibv_send_wr wr = {
		.wr_id = r->id, .sg_list = &sge, .num_sge = 1, .opcode = r->op,
		.send_flags = r->flags, .imm_data = htonl(r->imm),
		.wr.rdma = { .remote_addr = (uintptr_t)b.buf + FAR, .rkey = b.mr->rkey },
	};

	post(&a, &wr);
}

static void by_calls(const struct imm_wr *r)
{
	struct ibv_qp_ex *qp = batch(&a, r->id, r->flags);

	if (r->op == IBV_WR_SEND_WITH_IMM)
		ibv_wr_send_imm(qp, htonl(r->imm));
	else
		ibv_wr_rdma_write_imm(qp, b.mr->rkey, (uintptr_t)b.buf + FAR,
				      htonl(r->imm));
	if (r->flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qp, a.buf, r->len);
	else
		ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)a.buf, r->len);
	must_eq(ibv_wr_complete(qp), 0);
}

static void request(enum way way, const struct imm_wr *r)
{
	if (way == POST)
		by_post(r);
	else
		by_calls(r);
}

/* ---- sizes ---------------- */

/* the receive has room for the payload and not for a byte more */
static void one_send(enum way way, uint32_t len, int flags)
{
	const struct imm_wr r = {
		IBV_WR_SEND_WITH_IMM, 2, len, IMM + len, IBV_SEND_SIGNALED | flags,
	};

	fill(a.buf, len, len);
	memset(b.buf, 0xee, len + 1);
	post_recv(&b, 1, 0, len);
	request(way, &r);
	expect_imm(&b, 1, IBV_WC_RECV, len, IMM + len);
	expect_sent(&a, 2, IBV_WC_SEND);
	expect(filled(b.buf, len, len));
	expect_eq(b.buf[len], 0xee);
}

static void send_sizes(enum way way)
{
	static const uint32_t sizes[] = { 0, 1, 8, 64, 1433, 5000, 65528 };
	unsigned int i;

	ext_pair();
	for (i = 0; i < ARRAY_LEN(sizes); i++)
		one_send(way, sizes[i], 0);
	one_send(way, 0, IBV_SEND_INLINE);
	one_send(way, 64, IBV_SEND_INLINE);
	pair_down();
}

static void send_post(void)
{
	send_sizes(POST);
}

static void send_calls(void)
{
	send_sizes(CALLS);
}

/* the receive's own buffer keeps its bytes; one completion at each end */
static void one_write(enum way way, uint32_t len, int flags)
{
	const struct imm_wr r = {
		IBV_WR_RDMA_WRITE_WITH_IMM, 2, len, IMM + len, IBV_SEND_SIGNALED | flags,
	};

	fill(a.buf, len, len + 9);
	memset(b.buf, 0xdd, 64);
	memset(b.buf + FAR, 0xee, len + 1);
	post_recv(&b, 1, 0, 64);
	request(way, &r);
	expect_imm(&b, 1, IBV_WC_RECV_RDMA_WITH_IMM, len, IMM + len);
	expect(filled(b.buf + FAR, len, len + 9));
	expect_eq(b.buf[FAR + len], 0xee);
	expect(all_are(b.buf, 64, 0xdd));
	expect_sent(&a, 2, IBV_WC_RDMA_WRITE);
}

static void write_sizes(enum way way)
{
	static const uint32_t sizes[] = { 0, 1, 64, 1434, 5000, 32000 };
	unsigned int i;

	ext_pair();
	for (i = 0; i < ARRAY_LEN(sizes); i++)
		one_write(way, sizes[i], 0);
	one_write(way, 0, IBV_SEND_INLINE);
	one_write(way, 64, IBV_SEND_INLINE);
	expect(no_wc(a.scq));
	expect(no_wc(b.rcq));
	pair_down();
}

static void write_post(void)
{
	write_sizes(POST);
}

static void write_calls(void)
{
	write_sizes(CALLS);
}

/* ---- receives ---------------- */

/* a receive without elements takes immediate data, of a Send without payload too */
static void empty_receives(void)
{
	const struct imm_wr write = {
		IBV_WR_RDMA_WRITE_WITH_IMM, 3, 1000, 7, IBV_SEND_SIGNALED,
	};
	const struct imm_wr send = {
		IBV_WR_SEND_WITH_IMM, 4, 0, 8, IBV_SEND_SIGNALED,
	};

	ext_pair();
	post_recv_sge(&b, 1, NULL, 0);
	post_recv_sge(&b, 2, NULL, 0);
	by_post(&write);
	by_post(&send);
	expect_imm(&b, 1, IBV_WC_RECV_RDMA_WITH_IMM, 1000, 7);
	expect_imm(&b, 2, IBV_WC_RECV, 0, 8);
	expect_sent(&a, 3, IBV_WC_RDMA_WRITE);
	expect_sent(&a, 4, IBV_WC_SEND);
	pair_down();
}

static void shared_receives(void)
{
	struct want want = extended;
	struct ibv_recv_wr recv = {}, *bad;
	const struct imm_wr write = { .op = IBV_WR_RDMA_WRITE_WITH_IMM, .len = 9, .imm = 5 };
	const struct imm_wr send = { .op = IBV_WR_SEND_WITH_IMM, .imm = 6 };

	want.own_srq = true;
	pair_up(&extended, &want);
	for (recv.wr_id = 1; recv.wr_id <= 2; recv.wr_id++)
		must(!ibv_post_srq_recv(b.srq, &recv, &bad));
	by_post(&write);
	by_calls(&send);
	expect_imm(&b, 1, IBV_WC_RECV_RDMA_WITH_IMM, 9, 5);
	expect_imm(&b, 2, IBV_WC_RECV, 0, 6);
	pair_down();
}

#define ROUNDS	300

/* Sends and Writes in turns, each with its number: they take receives in their order */
static void in_order(void)
{
	struct imm_wr r = { .len = 40 };
	uint32_t i, next = 0;

	ext_pair();
	for (i = 0; i < ROUNDS; i++) {
		r.op = i % 3 ? IBV_WR_SEND_WITH_IMM : IBV_WR_RDMA_WRITE_WITH_IMM;
		r.imm = i;
		r.id = i;
		r.flags = i % 16 == 15 ? IBV_SEND_SIGNALED : 0;
		post_recv(&b, i, 64 * (i % 16), 40);
		request(i % 2 ? POST : CALLS, &r);
		if (i % 16 != 15)
			continue;
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
		for (; next <= i; next++)
			expect_imm(&b, next, next % 3 ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM,
				   40, next);
	}
	pair_down();
}

/* RFC 5040 5.5: the receive of immediate data says that earlier Writes are in memory */
static void after_writes(void)
{
	const struct imm_wr empty = { .op = IBV_WR_RDMA_WRITE_WITH_IMM, .imm = 3 };
	int i;

	ext_pair();
	for (i = 0; i < 50; i++) {
		fill(a.buf, 30000, i);
		post_recv_sge(&b, i, NULL, 0);
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 0, 30000, FAR, 0);
		by_post(&empty);
		/* the length is that of the Write directly before */
		expect_imm(&b, i, IBV_WC_RECV_RDMA_WITH_IMM, 30000, 3);
		expect(filled(b.buf + FAR, 30000, i));
	}
	pair_down();
}

/* of both kinds only a solicited one wakes a CQ that is armed so */
static void solicited(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct imm_wr r = { .imm = 1 };
	unsigned int i;

	ext_pair();
	for (i = 0; i < ARRAY_LEN(ops); i++) {
		r.op = ops[i];
		must(!ibv_req_notify_cq(b.rcq, 1));
		post_recv_sge(&b, 1, NULL, 0);
		post_recv_sge(&b, 2, NULL, 0);
		r.flags = 0;
		by_post(&r);
		expect_wc(b.rcq, 1, IBV_WC_SUCCESS);
		expect(!got_event(&b, 50));
		r.flags = IBV_SEND_SOLICITED;
		by_post(&r);
		expect(got_event(&b, patience_ms()));
		expect_wc(b.rcq, 2, IBV_WC_SUCCESS);
	}
	pair_down();
}

/* ---- errors ---------------- */

/* RFC 5041 7.1: without a receive the stream ends; what was written before stays */
static void no_receive(void)
{
	const struct imm_wr write = {
		IBV_WR_RDMA_WRITE_WITH_IMM, 2, 3000, 1, IBV_SEND_SIGNALED,
	};

	ext_pair();
	fill(a.buf, 3000, 4);
	by_post(&write);
	expect_error_state(&b);
	expect_error_state(&a);
	expect(filled(b.buf + FAR, 3000, 4));
	pair_down();
}

/* a Send whose payload is a byte too long; its immediate data needs no room */
static void too_long(void)
{
	const struct imm_wr send = {
		IBV_WR_SEND_WITH_IMM, 2, 101, 1, IBV_SEND_SIGNALED,
	};

	ext_pair();
	memset(b.buf, 0xee, 200);
	post_recv(&b, 1, 0, 100);
	by_post(&send);
	expect_wc(b.rcq, 1, IBV_WC_LOC_LEN_ERR);
	expect_error_state(&a);
	expect(all_are(b.buf + 100, 100, 0xee));
	pair_down();
}

static void no_right_to_write(void)
{
	const struct want readable = {
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | ATOMIC,
	};
	const struct imm_wr write = { .op = IBV_WR_RDMA_WRITE_WITH_IMM, .len = 8, .imm = 1 };

	pair_up(&extended, &readable);
	post_recv(&b, 1, 0, 64);
	by_post(&write);
	expect_wc(b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a);
	expect(all_are(b.buf + FAR, 8, 0));
	pair_down();
}

static const struct tap_test tests[] = {
	{ "send_with_imm__by_ibv_post_send", send_post },
	{ "send_with_imm__by_ibv_wr_calls", send_calls },
	{ "write_with_imm__by_ibv_post_send", write_post },
	{ "write_with_imm__by_ibv_wr_calls", write_calls },
	{ "imm__receives_without_elements", empty_receives },
	{ "imm__receives_of_an_srq", shared_receives },
	{ "imm__sends_and_writes_in_order", in_order },
	{ "write_with_imm__earlier_writes_are_in_memory", after_writes },
	{ "imm__solicited_events", solicited },
	{ "write_with_imm__without_a_receive", no_receive },
	{ "send_with_imm__longer_than_its_receive", too_long },
	{ "write_with_imm__without_the_right", no_right_to_write },
};

const struct tap_theme imm_theme = { tests, ARRAY_LEN(tests) };
