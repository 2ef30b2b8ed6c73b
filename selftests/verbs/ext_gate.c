// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Who has extensions: what the device tells, and what a request gets that the connection
 * has no extension for.
 */
#include "ext.h"

/* the same by both calls */
static enum ibv_atomic_cap atomic_cap(void)
{
	struct ibv_device_attr_ex attr_ex;
	struct ibv_device_attr attr;

	must(!ibv_query_device(a.id->verbs, &attr));
	must(!ibv_query_device_ex(a.id->verbs, NULL, &attr_ex));
	expect_eq(attr_ex.orig_attr.atomic_cap, attr.atomic_cap);
	return attr.atomic_cap;
}

/* Documentation/decisions.rst: atomics are exact against those of programs, too */
static void told(void)
{
	solo_up(NULL);
	expect_eq(atomic_cap(), IBV_ATOMIC_GLOB);
	set_device("a", "extensions off");
	expect_eq(atomic_cap(), IBV_ATOMIC_NONE);
	set_device("a", "extensions assume-7306");
	expect_eq(atomic_cap(), IBV_ATOMIC_GLOB);
	set_extensions();
	pair_down();
}

static const enum ibv_wr_opcode ops[] = {
	IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD,
	IBV_WR_ATOMIC_CMP_AND_SWP,
};

static void post_op(enum ibv_wr_opcode op)
{
	struct ibv_sge sge = sge_at(&a, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (op == IBV_WR_RDMA_WRITE_WITH_IMM) {
		wr.wr.rdma.remote_addr = word_at(&b, 0);
		wr.wr.rdma.rkey = b.mr->rkey;
	} else if (op != IBV_WR_SEND_WITH_IMM) {
		wr.wr.atomic.remote_addr = word_at(&b, 0);
		wr.wr.atomic.rkey = b.mr->rkey;
	}
	post(&a, &wr);
}

/* the request completes with this status: success, or an error that ends the connection */
static void one(enum ibv_wr_opcode op, enum ibv_wc_status status)
{
	ext_pair();
	post_recv(&b, 1, 64, 64);
	post_op(op);
	expect_wc(a.scq, 1, status);
	if (status == IBV_WC_SUCCESS)
		expect_eq(state_of(&a), IBV_QPS_RTS);
	else
		expect_error_state(&b);
	pair_down();
}

static void off_at(const char *host)
{
	unsigned int i;

	set_device(host, "extensions off");
	for (i = 0; i < ARRAY_LEN(ops); i++)
		one(ops[i], IBV_WC_LOC_QP_OP_ERR);
	set_extensions();
}

static void off_here(void)
{
	off_at("a");
}

static void off_there(void)
{
	off_at("b");
}

/* without version 2 the others work, and Send with Immediate does not */
static void only_7306(void)
{
	unsigned int i;

	set_device("b", "features 7306");
	one(ops[0], IBV_WC_LOC_QP_OP_ERR);
	for (i = 1; i < ARRAY_LEN(ops); i++)
		one(ops[i], IBV_WC_SUCCESS);
	set_extensions();
}

/* The peer's answer needs a while: what is posted before it has come waits for it. */
static void early(void)
{
	struct atomic at;

	impair("b", "delay 200ms");
	ext_pair();
	at = fetch_add_of(0, 1, 2);
	post_recv(&b, 1, 64, 64);
	post_atomic(&a, &at);
	post_op(IBV_WR_SEND_WITH_IMM);
	/* packets in it are lost, and TCP repeats them */
	mend("b");
	expect_sent(&a, 2, IBV_WC_FETCH_ADD);
	expect_sent(&a, 1, IBV_WC_SEND);
	expect_imm(&b, 1, IBV_WC_RECV, 8, 0);
	expect_eq(*word(&b, 0), 1);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "query_device__atomics_hold_for_programs_too", told },
	{ "off__each_request_fails", off_here },
	{ "off__at_the_peer_each_request_fails", off_there, 60 },
	{ "features__rfc_7306_without_version_2", only_7306 },
	{ "extensions__requests_wait_for_the_answer", early },
};

const struct tap_theme gate_theme = { tests, ARRAY_LEN(tests) };
