// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Extensions of RDMAP as programs use them: atomics and immediate data (RFC 7306), Sends
 * with immediate data (RDMAP version 2), by libibverbs and terndv.h. Run by ext.sh.
 *
 *	ext [WORD...]	only the tests whose name holds one of them
 */
#define _GNU_SOURCE
#include "ext.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <string.h>

struct ext_library ext;

static void *name(void *library, const char *function)
{
	return dlvsym(library, function, "TERN_1.1");
}

static bool load(void)
{
	void *lib = dlopen("libtern.so.1", RTLD_NOW);

	if (!lib)
		return false;
	ext.send_imm = name(lib, "terndv_wr_send_imm");
	ext.send_inv_imm = name(lib, "terndv_wr_send_inv_imm");
	ext.write_imm = name(lib, "terndv_wr_rdma_write_imm");
	ext.fetch_add = name(lib, "terndv_wr_fetch_add");
	ext.cmp_swap = name(lib, "terndv_wr_cmp_swap");
	ext.read_imm = name(lib, "terndv_wc_read_imm");
	ext.read_key = name(lib, "terndv_wc_read_invalidated_rkey");
	return ext.send_imm && ext.send_inv_imm && ext.write_imm && ext.fetch_add &&
	       ext.cmp_swap && ext.read_imm && ext.read_key;
}

/* ---- pairs ---------------- */

const struct want extended = {
	.access = BINDABLE | ATOMIC,
	.cap = { .max_send_sge = 2, .max_inline_data = 64 },
	.send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
		    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		    IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
		    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
};

void set_extensions(void)
{
	set_device("a", "extensions negotiate features 7306,v2");
	set_device("b", "extensions negotiate features 7306,v2");
}

void ext_pair(void)
{
	pair_up(&extended, &extended);
}

uint64_t *word(const struct end *e, unsigned int n)
{
	return (uint64_t *)e->buf + n;
}

uint64_t word_at(const struct end *e, unsigned int n)
{
	return (uintptr_t)word(e, n);
}

/* ---- requests ---------------- */

int try_atomic(struct end *e, const struct atomic *at)
{
	struct ibv_sge sge = sge_at(e, 8 * at->result, 8);
	struct ibv_send_wr wr = {
		.wr_id = at->id, .sg_list = &sge, .num_sge = 1, .opcode = at->op,
		.send_flags = IBV_SEND_SIGNALED | at->flags,
		.wr.atomic = {
			.remote_addr = at->addr, .rkey = at->rkey,
			.compare_add = at->compare_add, .swap = at->swap,
		},
	};

	return try_send(e, &wr);
}

void post_atomic(struct end *e, const struct atomic *at)
{
	must_eq(try_atomic(e, at), 0);
}

struct atomic fetch_add_of(unsigned int n, uint64_t add, unsigned int result)
{
	return (struct atomic){
		.op = IBV_WR_ATOMIC_FETCH_AND_ADD, .id = result, .result = result,
		.rkey = b.mr->rkey, .addr = word_at(&b, n), .compare_add = add,
	};
}

struct atomic cmp_swap_of(unsigned int n, uint64_t compare, uint64_t swap,
			  unsigned int result)
{
	return (struct atomic){
		.op = IBV_WR_ATOMIC_CMP_AND_SWP, .id = result, .result = result,
		.rkey = b.mr->rkey, .addr = word_at(&b, n), .compare_add = compare,
		.swap = swap,
	};
}

struct ibv_qp_ex *batch(struct end *e, uint64_t id, unsigned int flags)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);

	must(qp);
	ibv_wr_start(qp);
	next_of(qp, id, flags);
	return qp;
}

void next_of(struct ibv_qp_ex *qp, uint64_t id, unsigned int flags)
{
	qp->wr_id = id;
	qp->wr_flags = flags;
}

/* ---- completions ---------------- */

void expect_imm(struct end *e, uint64_t id, enum ibv_wc_opcode opcode, uint32_t len,
		uint32_t imm)
{
	struct ibv_wc wc = next_wc(e->rcq);

	expect_eq(wc.status, IBV_WC_SUCCESS);
	expect_eq(wc.wr_id, id);
	expect_eq(wc.opcode, opcode);
	expect_eq(wc.wc_flags, IBV_WC_WITH_IMM);
	expect_eq(wc.byte_len, len);
	expect_eq(ntohl(wc.imm_data), imm);
	expect_eq(wc.qp_num, e->qp->qp_num);
}

void expect_sent(struct end *e, uint64_t id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = next_wc(e->scq);

	expect_eq(wc.status, IBV_WC_SUCCESS);
	expect_eq(wc.wr_id, id);
	expect_eq(wc.opcode, opcode);
}

void expect_refused(struct end *e, enum ibv_wc_status status, uint32_t term)
{
	struct ibv_wc wc = next_wc(e->scq);

	expect_eq(wc.status, status);
	expect_eq(wc.vendor_err, term);
	expect_error_state(e);
}

int main(int argc, char **argv)
{
	static const struct tap_theme *const themes[] = {
		&imm_theme, &imm_dv_theme, &gate_theme, &atomic_theme,
		&atomic_rights_theme, &storm_theme, NULL,
	};

	enter_netns(NULL);
	if (!load()) {
		printf("Bail out! libtern.so.1 lacks a function of TERN_1.1\n");
		return 1;
	}
	return tap_run(themes, argc - 1, argv + 1);
}
