// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Memory windows: create one and bind it with a work request. */
#include "agent_mw.h"
#include "agent_conn.h"
#include "agent_dev.h"
#include "agent_mem.h"

#include <errno.h>

#define WINDOWS_MAX	64

static struct ibv_mw *windows[WINDOWS_MAX];
static int window_count;

static int bind_type1(struct conn *conn, uint64_t wr_id, struct ibv_mw *mw,
		      const struct ibv_mw_bind_info *info)
{
	struct ibv_mw_bind bind = {
		.wr_id = wr_id,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = *info,
	};

	return ibv_bind_mw(conn->id->qp, mw, &bind);
}

static int bind_type2(struct conn *conn, uint64_t wr_id, struct ibv_mw *mw,
		      const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			     .bind_info = *info },
	};
	int error = ibv_post_send(conn->id->qp, &wr, &bad);

	if (!error)
		mw->rkey = wr.bind_mw.rkey;
	return error;
}

int cmd_bind(struct call *c)
{
	struct conn *conn = arg_conn_qp(c);
	uint64_t wr_id = arg_number(c, UINT64_MAX);
	int type = arg_number(c, 2);
	struct ibv_mw_bind_info info = arg_range(c);
	int error = arg_end(c);
	struct ibv_mw *mw;

	if (error)
		return error;
	if (window_count == WINDOWS_MAX)
		return ENOSPC;
	mw = ibv_alloc_mw(dev.pd[0], type == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	if (!mw)
		return errno;
	windows[window_count++] = mw;
	error = type == 1 ? bind_type1(conn, wr_id, mw, &info) :
			    bind_type2(conn, wr_id, mw, &info);
	if (!error)
		say(c, "%u", mw->rkey);
	return error;
}

void mw_reset(void)
{
	while (window_count > 0)
		ibv_dealloc_mw(windows[--window_count]);
}
