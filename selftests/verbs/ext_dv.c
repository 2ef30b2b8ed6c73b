// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Immediate data of 8 bytes, and Send with Invalidate and Immediate: terndv.h sends them
 * (b to a), and a's extended CQ reads them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ext.h"

static const uint8_t eight[TERNDV_IMM_SIZE] = {
	0x81, 0x72, 0x63, 0x54, 0x45, 0x36, 0x27, 0x18,
};

/* the first four of them */
static const uint32_t four = 0x81726354;
static const uint8_t padded[TERNDV_IMM_SIZE] = { 0x81, 0x72, 0x63, 0x54 };

/* a's receive CQ, and for want.cqs */
static struct ibv_cq_ex *recv_ex;
static struct end cqs;

/* open a's device with an end of its own, create its CQs, then connect */
static void up(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 64, .wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct want want = extended;

	solo_up(NULL);
	recv_ex = ibv_create_cq_ex(a.id->verbs, &attr);
	must(recv_ex);
	cqs.scq = ibv_create_cq(a.id->verbs, 64, NULL, NULL, 0);
	cqs.rcq = ibv_cq_ex_to_cq(recv_ex);
	must(cqs.scq);
	end_free(&a);
	want.cqs = &cqs;
	pair_up(&want, &extended);
}

static void down(void)
{
	pair_down();
	must(!ibv_destroy_cq(cqs.scq));
	must(!ibv_destroy_cq(cqs.rcq));
}

/* poll at a's next receive, until ibv_end_poll() */
static void start(void)
{
	struct ibv_poll_cq_attr attr = {};
	time_t end = time(NULL) + patience_ms() / 1000;
	int err;

	while ((err = ibv_start_poll(recv_ex, &attr)) == ENOENT && time(NULL) < end)
		usleep(100);
	must_eq(err, 0);
	expect_eq(recv_ex->status, IBV_WC_SUCCESS);
}

/* a's next receive has these 8 bytes, of which plain verbs see four */
static void expect_eight(enum ibv_wc_opcode opcode, uint32_t len, const uint8_t *imm)
{
	uint8_t got[TERNDV_IMM_SIZE];

	start();
	expect_eq(ibv_wc_read_opcode(recv_ex), opcode);
	expect_eq(ibv_wc_read_wc_flags(recv_ex), IBV_WC_WITH_IMM);
	expect_eq(ibv_wc_read_byte_len(recv_ex), len);
	expect_eq(ntohl(ibv_wc_read_imm_data(recv_ex)), four);
	ext.read_imm(recv_ex, got);
	expect_bytes(got, imm, sizeof(got));
	ibv_end_poll(recv_ex);
}

static void payload(struct ibv_qp_ex *qp, uint32_t len)
{
	ibv_wr_set_sge(qp, b.mr->lkey, (uintptr_t)b.buf, len);
}

static void eight_bytes(void)
{
	struct ibv_qp_ex *qp;

	up();
	fill(b.buf, 5000, 3);
	post_recv(&a, 1, 0, 5000);
	post_recv_sge(&a, 2, NULL, 0);
	qp = batch(&b, 1, IBV_SEND_SIGNALED);
	ext.send_imm(qp, eight);
	payload(qp, 5000);
	next_of(qp, 2, IBV_SEND_SIGNALED);
	ext.write_imm(qp, a.mr->rkey, (uintptr_t)a.buf + 8192, eight);
	payload(qp, 3000);
	must_eq(ibv_wr_complete(qp), 0);
	expect_eight(IBV_WC_RECV, 5000, eight);
	expect_eight(IBV_WC_RECV_RDMA_WITH_IMM, 3000, eight);
	expect_sent(&b, 1, IBV_WC_SEND);
	expect_sent(&b, 2, IBV_WC_RDMA_WRITE);
	expect(filled(a.buf, 5000, 3));
	expect(filled(a.buf + 8192, 3000, 3));
	down();
}

/* those of plain verbs come first, and zeros follow, after a message with all eight too */
static void four_bytes(void)
{
	struct ibv_qp_ex *qp;
	int i;

	up();
	for (i = 0; i < 3; i++)
		post_recv_sge(&a, 1, NULL, 0);
	qp = batch(&b, 1, 0);
	ext.send_imm(qp, eight);
	next_of(qp, 2, 0);
	ibv_wr_send_imm(qp, htonl(four));
	next_of(qp, 3, 0);
	ibv_wr_rdma_write_imm(qp, a.mr->rkey, (uintptr_t)a.buf, htonl(four));
	must_eq(ibv_wr_complete(qp), 0);
	expect_eight(IBV_WC_RECV, 0, eight);
	expect_eight(IBV_WC_RECV, 0, padded);
	expect_eight(IBV_WC_RECV_RDMA_WITH_IMM, 0, padded);
	down();
}

/* the other direction: a is the initiator of the connection, b polls plainly */
static void from_the_initiator(void)
{
	struct ibv_qp_ex *qp;

	up();
	post_recv(&b, 1, 0, 64);
	qp = batch(&a, 2, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	ext.send_imm(qp, eight);
	ibv_wr_set_inline_data(qp, "eleven byte", 11);
	must_eq(ibv_wr_complete(qp), 0);
	expect_imm(&b, 1, IBV_WC_RECV, 11, four);
	expect_bytes(b.buf, "eleven byte", 11);
	expect_sent(&a, 2, IBV_WC_SEND);
	down();
}

/* ---- with a key that becomes invalid ---------------- */

/* bind a window of @e to its whole buffer; Return: the key */
static uint32_t bind_all(struct end *e, struct ibv_mw *mw)
{
	struct ibv_mw_bind_info info = {
		.mr = e->mr, .addr = (uintptr_t)e->buf, .length = e->buf_len,
		.mw_access_flags = BOTH,
	};

	return bind2(e, mw, info);
}

static struct ibv_mw *window_of(struct end *e)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->pd, IBV_MW_TYPE_2);

	must(mw);
	return mw;
}

static void send_inv_imm(struct end *e, uint32_t key, uint32_t len)
{
	struct ibv_qp_ex *qp = batch(e, 9, IBV_SEND_SIGNALED);

	ext.send_inv_imm(qp, key, eight);
	ibv_wr_set_sge(qp, e->mr->lkey, (uintptr_t)e->buf, len);
	must_eq(ibv_wr_complete(qp), 0);
}

/* terndv has both, the field of the verbs API has the key */
static void inv_imm(void)
{
	uint8_t got[TERNDV_IMM_SIZE];
	struct ibv_mw *mw;
	uint32_t key;

	up();
	mw = window_of(&a);
	key = bind_all(&a, mw);
	expect_reach(&b, key, (uintptr_t)a.buf, 100);
	fill(b.buf, 2000, 8);
	post_recv(&a, 7, 0, 2000);
	send_inv_imm(&b, key, 2000);
	start();
	expect_eq(recv_ex->wr_id, 7);
	expect_eq(ibv_wc_read_opcode(recv_ex), IBV_WC_RECV);
	expect_eq(ibv_wc_read_wc_flags(recv_ex), IBV_WC_WITH_IMM | IBV_WC_WITH_INV);
	expect_eq(ibv_wc_read_byte_len(recv_ex), 2000);
	ext.read_imm(recv_ex, got);
	expect_bytes(got, eight, sizeof(got));
	expect_eq(ext.read_key(recv_ex), key);
	expect_eq(ibv_wc_read_invalidated_rkey(recv_ex), key);
	ibv_end_poll(recv_ex);
	expect_sent(&b, 9, IBV_WC_SEND);
	expect(filled(a.buf, 2000, 8));
	expect_no_read(&b, key, (uintptr_t)a.buf, TERM(0, 1, 0));
	must(!ibv_dealloc_mw(mw));
	down();
}

/* likewise for ibv_poll_cq(), of a message without payload */
static void inv_imm_plain(void)
{
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	up();
	mw = window_of(&b);
	key = bind_all(&b, mw);
	post_recv_sge(&b, 7, NULL, 0);
	send_inv_imm(&a, key, 0);
	wc = next_wc(b.rcq);
	expect_eq(wc.status, IBV_WC_SUCCESS);
	expect_eq(wc.wc_flags, IBV_WC_WITH_IMM | IBV_WC_WITH_INV);
	expect_eq(wc.invalidated_rkey, key);
	expect_eq(wc.byte_len, 0);
	expect_sent(&a, 9, IBV_WC_SEND);
	/* the window is unbound and can be bound again */
	bind_all(&b, mw);
	must(!ibv_dealloc_mw(mw));
	down();
}

/* a key that cannot be invalidated ends the stream: the immediate data is not told */
static void inv_imm_refused(void)
{
	up();
	post_recv(&b, 7, 0, 64);
	send_inv_imm(&a, b.mr->rkey, 8);
	expect_wc(b.rcq, 7, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a);
	expect_error_state(&b);
	down();
}

static const struct tap_test tests[] = {
	{ "imm__eight_bytes_by_terndv", eight_bytes },
	{ "imm__four_bytes_and_four_zeros_by_verbs", four_bytes },
	{ "imm__eight_bytes_inline_from_the_initiator", from_the_initiator },
	{ "send_inv_imm__tells_key_and_immediate_data", inv_imm },
	{ "send_inv_imm__plain_verbs_have_the_key", inv_imm_plain },
	{ "send_inv_imm__a_key_that_stays_valid", inv_imm_refused },
};

const struct tap_theme imm_dv_theme = { tests, ARRAY_LEN(tests) };
