// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Binding memory windows of b (window.h). */
#include "window.h"

const struct want bindable = { .access = BINDABLE };

uint64_t at(size_t off)
{
	return (uintptr_t)b.buf + off;
}

struct ibv_mw *window(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(b.pd, type);

	must(mw);
	return mw;
}

void drop(struct ibv_mw *mw)
{
	must(!ibv_dealloc_mw(mw));
}

struct ibv_mw_bind_info range(size_t off, uint64_t len, int access)
{
	return (struct ibv_mw_bind_info){
		.mr = b.mr, .addr = at(off), .length = len,
		.mw_access_flags = access,
	};
}

void expect_done(struct end *e, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = next_wc(e->scq);

	if (wc.status != IBV_WC_SUCCESS)
		printf("#   %s\n", ibv_wc_status_str(wc.status));
	must(wc.status == IBV_WC_SUCCESS);
	expect_eq(wc.opcode, opcode);
}

void post_bind2(struct end *e, struct ibv_mw *mw, uint32_t key,
		struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = {
		.wr_id = 20, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = key, .bind_info = info },
	};

	post(e, &wr);
}

uint32_t bind2(struct end *e, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	mw->rkey = ibv_inc_rkey(mw->rkey);
	post_bind2(e, mw, mw->rkey, info);
	expect_done(e, IBV_WC_BIND_MW);
	return mw->rkey;
}

int post_bind1(struct end *e, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind bind = {
		.wr_id = 10, .send_flags = IBV_SEND_SIGNALED, .bind_info = info,
	};

	return ibv_bind_mw(e->qp, mw, &bind);
}

uint32_t bind1(struct end *e, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	uint32_t old = mw->rkey;

	must(!post_bind1(e, mw, info));
	expect(mw->rkey != old);
	expect_done(e, IBV_WC_BIND_MW);
	return mw->rkey;
}
