// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Work requests of RFC 7306 and RDMAP version 2, and their completions. */
#define _GNU_SOURCE
#include "agent_ext.h"
#include "agent_conn.h"
#include "agent_dev.h"
#include "agent_mem.h"
#include "agent_wr.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define VERBS_IMM_LEN	4

/* ---- tern's library ------------------------------------------------------ */

/* struct terndv_cmp_swap of terndv.h */
struct cmp_swap {
	uint64_t compare;
	uint64_t compare_mask;
	uint64_t swap;
	uint64_t swap_mask;
};

/* functions of terndv.h, by their names there */
static struct {
	bool (*is_supported)(struct ibv_device *device);
	void (*send_imm)(struct ibv_qp_ex *qp, const uint8_t *imm);
	void (*send_inv_imm)(struct ibv_qp_ex *qp, uint32_t stag, const uint8_t *imm);
	void (*write_imm)(struct ibv_qp_ex *qp, uint32_t stag, uint64_t to,
			  const uint8_t *imm);
	void (*fetch_add)(struct ibv_qp_ex *qp, uint32_t stag, uint64_t to, uint64_t add,
			  uint64_t mask);
	void (*cmp_swap)(struct ibv_qp_ex *qp, uint32_t stag, uint64_t to,
			 const struct cmp_swap *operands);
	void (*read_imm)(struct ibv_cq_ex *cq, uint8_t *imm);
	uint32_t (*read_invalidated)(struct ibv_cq_ex *cq);
} dv;

static void look_up(void *library)
{
	dv.is_supported = dlsym(library, "terndv_is_supported");
	dv.send_imm = dlsym(library, "terndv_wr_send_imm");
	dv.send_inv_imm = dlsym(library, "terndv_wr_send_inv_imm");
	dv.write_imm = dlsym(library, "terndv_wr_rdma_write_imm");
	dv.fetch_add = dlsym(library, "terndv_wr_fetch_add");
	dv.cmp_swap = dlsym(library, "terndv_wr_cmp_swap");
	dv.read_imm = dlsym(library, "terndv_wc_read_imm");
	dv.read_invalidated = dlsym(library, "terndv_wc_read_invalidated_rkey");
}

static bool have_library(void)
{
	static bool tried;
	void *library;

	if (!tried) {
		library = dlopen("libtern.so.1", RTLD_NOW);
		if (library)
			look_up(library);
		tried = true;
	}
	return dv.is_supported && dv.send_imm && dv.send_inv_imm && dv.write_imm &&
	       dv.fetch_add && dv.cmp_swap && dv.read_imm && dv.read_invalidated &&
	       dv.is_supported(dev.verbs->device);
}

struct ibv_cq_ex *ext_create_cq(int depth)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = depth,
		.channel = dev.comp,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};

	return have_library() ? ibv_create_cq_ex(dev.verbs, &attr) : NULL;
}

int ext_create_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = dev.pd[0],
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	if (!dev.cq_ex)
		return rdma_create_qp(id, dev.pd[0], attr);
	return rdma_create_qp_ex(id, &ex);
}

/* ---- posting ------------------------------------------------------------- */

enum ext_op { SEND_IMM, SEND_INV_IMM, WRITE_IMM, FETCH_ADD, CMP_SWAP };

/**
 * struct request - a request of the extensions
 * @conn: its connection
 * @op: what it is
 * @wr_id, @flags, @sge, @num_sge, @stag, @to: as of any request
 * @imm, @imm_len: 4 bytes by verbs, 8 by the library
 * @operands: of an atomic; FetchAdd has its addend and mask in swap and swap_mask
 * @masked: it has masks: by the library
 */
struct request {
	struct conn *conn;
	enum ext_op op;
	uint64_t wr_id;
	unsigned int flags;
	struct ibv_sge sge;
	int num_sge;
	uint32_t stag;
	uint64_t to;
	uint8_t imm[EXT_IMM_LEN];
	size_t imm_len;
	struct cmp_swap operands;
	bool masked;
};

static enum ext_op arg_op(struct call *c)
{
	static const char *const names[] = {
		[SEND_IMM] = "send-imm", [SEND_INV_IMM] = "send-inv-imm",
		[WRITE_IMM] = "write-imm", [FETCH_ADD] = "add", [CMP_SWAP] = "swap",
	};
	const char *word = arg_word(c);
	int i;

	for (i = SEND_IMM; i <= CMP_SWAP; i++)
		if (!strcmp(names[i], word))
			return i;
	c->error = EINVAL;
	return SEND_IMM;
}

static void arg_request(struct call *c, struct request *r)
{
	memset(r, 0, sizeof(*r));
	r->conn = arg_conn_qp(c);
	r->wr_id = arg_number(c, UINT64_MAX);
	r->op = arg_op(c);
	r->flags = arg_wr_flags(c);
	r->num_sge = arg_sge(c, &r->sge, r->flags & IBV_SEND_INLINE);
	r->stag = arg_number(c, UINT32_MAX);
	r->to = arg_number(c, UINT64_MAX);
}

static void set_operation(struct ibv_qp_ex *qp, const struct request *r)
{
	switch (r->op) {
	case SEND_IMM:
		dv.send_imm(qp, r->imm);
		break;
	case SEND_INV_IMM:
		dv.send_inv_imm(qp, r->stag, r->imm);
		break;
	case WRITE_IMM:
		dv.write_imm(qp, r->stag, r->to, r->imm);
		break;
	case FETCH_ADD:
		dv.fetch_add(qp, r->stag, r->to, r->operands.swap,
			     r->operands.swap_mask);
		break;
	case CMP_SWAP:
		dv.cmp_swap(qp, r->stag, r->to, &r->operands);
		break;
	}
}

static int post_by_library(const struct request *r)
{
	struct ibv_qp_ex *qp;

	if (!dev.cq_ex)
		return EOPNOTSUPP;
	qp = ibv_qp_to_qp_ex(r->conn->id->qp);
	if (!qp)
		return EOPNOTSUPP;
	ibv_wr_start(qp);
	qp->wr_id = r->wr_id;
	qp->wr_flags = r->flags;
	set_operation(qp, r);
	if (r->flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qp, (void *)(uintptr_t)r->sge.addr, r->sge.length);
	else
		ibv_wr_set_sge_list(qp, r->num_sge, &r->sge);
	return ibv_wr_complete(qp);
}

static int post_by_verbs(const struct request *r)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[CMP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct ibv_sge sge = r->sge;
	struct ibv_send_wr *bad, wr = {
		.wr_id = r->wr_id,
		.opcode = opcodes[r->op],
		.send_flags = r->flags,
		.sg_list = r->num_sge ? &sge : NULL,
		.num_sge = r->num_sge,
	};

	/* verbs have no such request */
	if (r->op == SEND_INV_IMM)
		return EOPNOTSUPP;
	memcpy(&wr.imm_data, r->imm, VERBS_IMM_LEN);
	if (r->op == WRITE_IMM) {
		wr.wr.rdma.remote_addr = r->to;
		wr.wr.rdma.rkey = r->stag;
	} else if (r->op != SEND_IMM) {
		wr.wr.atomic.remote_addr = r->to;
		wr.wr.atomic.rkey = r->stag;
		wr.wr.atomic.swap = r->operands.swap;
		wr.wr.atomic.compare_add = r->op == FETCH_ADD ? r->operands.swap :
								r->operands.compare;
	}
	return ibv_post_send(r->conn->id->qp, &wr, &bad);
}

int cmd_post_imm(struct call *c)
{
	struct request r;
	int error;

	arg_request(c, &r);
	r.imm_len = arg_bytes(c, r.imm, sizeof(r.imm));
	error = arg_end(c);
	if (error)
		return error;
	if (r.op > WRITE_IMM || (r.imm_len != VERBS_IMM_LEN && r.imm_len != EXT_IMM_LEN))
		return EINVAL;
	return r.imm_len == EXT_IMM_LEN ? post_by_library(&r) : post_by_verbs(&r);
}

int cmd_atomic(struct call *c)
{
	struct request r;
	int error;

	arg_request(c, &r);
	r.operands.swap = arg_number(c, UINT64_MAX);
	r.operands.compare = arg_number(c, UINT64_MAX);
	r.masked = c->words[c->next];
	if (r.masked) {
		r.operands.swap_mask = arg_number(c, UINT64_MAX);
		r.operands.compare_mask = arg_number(c, UINT64_MAX);
	}
	error = arg_end(c);
	if (error)
		return error;
	if (r.op < FETCH_ADD)
		return EINVAL;
	return r.masked ? post_by_library(&r) : post_by_verbs(&r);
}

/* ---- completions --------------------------------------------------------- */

static void read_wc(struct ibv_cq_ex *cq, struct ext_wc *ext)
{
	struct ibv_wc *wc = &ext->wc;

	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	wc->qp_num = ibv_wc_read_qp_num(cq);
	wc->opcode = ibv_wc_read_opcode(cq);
	wc->byte_len = ibv_wc_read_byte_len(cq);
	wc->wc_flags = ibv_wc_read_wc_flags(cq);
	if (wc->wc_flags & IBV_WC_WITH_INV)
		ext->invalidated = dv.read_invalidated(cq);
	if (wc->wc_flags & IBV_WC_WITH_IMM) {
		dv.read_imm(cq, ext->imm);
		ext->imm_len = EXT_IMM_LEN;
	}
}

static int poll_by_library(struct ext_wc *ext)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int error = ibv_start_poll(dev.cq_ex, &attr);

	if (error)
		return error == ENOENT ? 0 : -1;
	read_wc(dev.cq_ex, ext);
	ibv_end_poll(dev.cq_ex);
	return 1;
}

int ext_poll(struct ext_wc *ext)
{
	struct ibv_wc *wc = &ext->wc;
	int n;

	memset(ext, 0, sizeof(*ext));
	if (dev.cq_ex)
		return poll_by_library(ext);
	n = ibv_poll_cq(dev.cq, 1, wc);
	if (n <= 0 || wc->status != IBV_WC_SUCCESS)
		return n;
	if (wc->wc_flags & IBV_WC_WITH_IMM) {
		memcpy(ext->imm, &wc->imm_data, VERBS_IMM_LEN);
		ext->imm_len = VERBS_IMM_LEN;
	} else if (wc->wc_flags & IBV_WC_WITH_INV) {
		ext->invalidated = wc->invalidated_rkey;
	}
	return n;
}
