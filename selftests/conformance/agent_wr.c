// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Post receives and work requests, poll the CQ. */
#define _GNU_SOURCE
#include "agent_wr.h"
#include "agent_conn.h"
#include "agent_dev.h"
#include "agent_ext.h"
#include "agent_mem.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* ---- posting ------------------------------------------------------------- */

int cmd_recv(struct call *c)
{
	struct conn *conn = arg_conn_qp(c);
	struct ibv_sge sge = { 0 };
	struct ibv_recv_wr *bad, wr = { .wr_id = arg_number(c, UINT64_MAX) };
	int error;

	wr.num_sge = arg_sge(c, &sge, 0);
	wr.sg_list = wr.num_sge ? &sge : NULL;
	error = arg_end(c);
	if (error)
		return error;
	if (conn->srq)
		return ibv_post_srq_recv(conn->srq, &wr, &bad);
	return ibv_post_recv(conn->id->qp, &wr, &bad);
}

static enum ibv_wr_opcode arg_opcode(struct call *c)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode opcode;
	} ops[] = {
		{ "send", IBV_WR_SEND }, { "send-inv", IBV_WR_SEND_WITH_INV },
		{ "write", IBV_WR_RDMA_WRITE }, { "read", IBV_WR_RDMA_READ },
	};
	const char *word = arg_word(c);
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, word))
			return ops[i].opcode;
	c->error = EINVAL;
	return IBV_WR_SEND;
}

unsigned int arg_wr_flags(struct call *c)
{
	static const unsigned int flags[] = {
		IBV_SEND_SIGNALED, IBV_SEND_SOLICITED, IBV_SEND_FENCE,
		IBV_SEND_INLINE,
	};
	unsigned int i, out = 0, in = arg_number(c, 15);

	for (i = 0; i < 4; i++)
		if (in & 1u << i)
			out |= flags[i];
	return out;
}

int cmd_post(struct call *c)
{
	struct conn *conn = arg_conn_qp(c);
	struct ibv_send_wr *bad, wr = { .wr_id = arg_number(c, UINT64_MAX) };
	struct ibv_sge sge = { 0 };
	uint32_t stag;
	int error;

	wr.opcode = arg_opcode(c);
	wr.send_flags = arg_wr_flags(c);
	/* the library copies inline data now, so the range must lie in the MR */
	wr.num_sge = arg_sge(c, &sge, wr.send_flags & IBV_SEND_INLINE);
	wr.sg_list = wr.num_sge ? &sge : NULL;
	stag = arg_number(c, UINT32_MAX);
	wr.wr.rdma.remote_addr = arg_number(c, UINT64_MAX);
	if (wr.opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = stag;
	else
		wr.wr.rdma.rkey = stag;
	error = arg_end(c);
	return error ?: ibv_post_send(conn->id->qp, &wr, &bad);
}

/* ---- completions --------------------------------------------------------- */

#define NAME(x) [IBV_WC_##x] = #x

static const char *const statuses[] = {
	NAME(SUCCESS), NAME(LOC_LEN_ERR), NAME(LOC_QP_OP_ERR), NAME(LOC_EEC_OP_ERR),
	NAME(LOC_PROT_ERR), NAME(WR_FLUSH_ERR), NAME(MW_BIND_ERR), NAME(BAD_RESP_ERR),
	NAME(LOC_ACCESS_ERR), NAME(REM_INV_REQ_ERR), NAME(REM_ACCESS_ERR),
	NAME(REM_OP_ERR), NAME(RETRY_EXC_ERR), NAME(RNR_RETRY_EXC_ERR),
	NAME(LOC_RDD_VIOL_ERR), NAME(REM_INV_RD_REQ_ERR), NAME(REM_ABORT_ERR),
	NAME(INV_EECN_ERR), NAME(INV_EEC_STATE_ERR), NAME(FATAL_ERR),
	NAME(RESP_TIMEOUT_ERR), NAME(GENERAL_ERR),
};

static const char *opcode_name(const struct ibv_wc *wc)
{
	static const char *const sends[] = {
		NAME(SEND), NAME(RDMA_WRITE), NAME(RDMA_READ), NAME(COMP_SWAP),
		NAME(FETCH_ADD), NAME(BIND_MW), NAME(LOCAL_INV),
	};

	if (wc->status != IBV_WC_SUCCESS)
		return "-";
	if (wc->opcode & IBV_WC_RECV)
		return wc->opcode == IBV_WC_RECV ? "RECV" : "RECV_RDMA_WITH_IMM";
	if (wc->opcode < sizeof(sends) / sizeof(*sends))
		return sends[wc->opcode];
	return "OTHER";
}

static void tell(struct call *c, const struct ext_wc *ext)
{
	const struct ibv_wc *wc = &ext->wc;
	const char *status = "OTHER";

	if (wc->status < sizeof(statuses) / sizeof(*statuses))
		status = statuses[wc->status];
	say(c, "%llu %s %s", (unsigned long long)wc->wr_id, status, opcode_name(wc));
	say(c, "%u %u %u %d", wc->byte_len, wc->wc_flags, ext->invalidated,
	    conn_of_qpn(wc->qp_num));
	say_bytes(c, ext->imm, ext->imm_len);
}

/*
 * Poll the CQ in intervals, do not sleep on its channel: arming it belongs to the
 * tests of arming.
 */
int cmd_poll(struct call *c)
{
	uint64_t end = clock_ms() + arg_number(c, CALL_MS_MAX);
	struct timespec nap = { .tv_nsec = 50000 };
	int n, error = arg_end(c) ?: dev_open();
	struct ext_wc wc;

	if (error)
		return error;
	for (;;) {
		n = ext_poll(&wc);
		if (n)
			break;
		if (clock_ms() >= end)
			return CALL_NONE;
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 1000000)
			nap.tv_nsec *= 2;
	}
	if (n < 0)
		return EIO;
	tell(c, &wc);
	return 0;
}

int cmd_arm(struct call *c)
{
	int solicited = arg_number(c, 1);
	int error = arg_end(c) ?: dev_open();

	if (error)
		return error;
	dev.spoilt = true;
	return ibv_req_notify_cq(dev.cq, solicited);
}

int cmd_cq_event(struct call *c)
{
	int ms = arg_number(c, CALL_MS_MAX);
	int error = arg_end(c) ?: dev_open();
	struct ibv_cq *cq;
	void *context;

	if (error)
		return error;
	if (!wait_readable(dev.comp->fd, ms))
		return CALL_NONE;
	if (ibv_get_cq_event(dev.comp, &cq, &context))
		return errno;
	ibv_ack_cq_events(cq, 1);
	return 0;
}
