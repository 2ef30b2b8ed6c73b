// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The states, and what keeps a kernel user in them. */
#include <linux/delay.h>

#include "near_kernel.h"

#define SMALL	64
#define QUIET_MS	100
#define ANY	1	/* STag and TO at the far end, which checks neither */

int near_post(struct near *n, enum ib_wr_opcode opcode, u32 len)
{
	struct ib_sge sge = {
		.addr = n->dma, .length = len, .lkey = n->pd->local_dma_lkey,
	};
	struct ib_rdma_wr rdma = { .remote_addr = ANY, .rkey = ANY };
	struct ib_atomic_wr atomic = { .remote_addr = 8, .rkey = ANY, .compare_add = 1 };
	struct ib_send_wr *wr = opcode == IB_WR_ATOMIC_FETCH_AND_ADD ? &atomic.wr : &rdma.wr;

	wr->wr_cqe = &n->cqe;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->opcode = opcode;
	wr->send_flags = IB_SEND_SIGNALED;
	return ib_post_send(n->qp, wr, NULL);
}

static int post_recv(struct near *n)
{
	struct ib_sge sge = {
		.addr = n->dma, .length = SMALL, .lkey = n->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &n->recv_cqe, .sg_list = &sge, .num_sge = 1 };

	return n->srq ? ib_post_srq_recv(n->srq, &wr, NULL) : ib_post_recv(n->qp, &wr, NULL);
}

static int post_many(struct near *n, int count, enum ib_wr_opcode opcode, u32 len)
{
	int ret = 0;

	while (count-- && !ret)
		ret = near_post(n, opcode, len);
	return ret;
}

/* an error of a post in a handler: the QP is in ERROR, and a completion tells */

static void send_on(struct near *n, const struct ib_wc *wc)
{
	near_post(n, IB_WR_SEND, NEAR_LEN);
}

static int start_sends(struct near *n)
{
	return post_many(n, NEAR_DEPTH / 2, IB_WR_SEND, NEAR_LEN);
}

static void read_on(struct near *n, const struct ib_wc *wc)
{
	near_post(n, IB_WR_RDMA_READ, 4096);
}

static int start_reads(struct near *n)
{
	return post_many(n, NEAR_DEPTH / 2, IB_WR_RDMA_READ, 4096);
}

static void add_on(struct near *n, const struct ib_wc *wc)
{
	near_post(n, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
}

static int start_atomics(struct near *n)
{
	return post_many(n, NEAR_DEPTH / 2, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
}

/* ---- receives ------------------------------------------------------------------------ */

static void echo_on(struct near *n)
{
	if (!post_recv(n))
		near_post(n, IB_WR_SEND, SMALL);
}

static int start_echo(struct near *n)
{
	int i, ret = 0;

	for (i = 0; i < NEAR_RECVS && !ret; i++)
		ret = post_recv(n);
	return ret ?: post_many(n, NEAR_TOKENS, IB_WR_SEND, SMALL);
}

/* as many Sends, and as many messages that come back, as fill the CQ */
static int fill_cq(struct near *n)
{
	int i, ret = 0;

	for (i = 0; i < NEAR_RECVS && !ret; i++)
		ret = post_recv(n);
	ret = ret ?: post_many(n, n->cq->cqe / 2, IB_WR_SEND, SMALL);
	msleep(QUIET_MS);
	return ret;
}

/* ---- registration -------------------------------------------------------------------- */

static int post_reg(struct near *n)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &n->cqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = n->mr,
		.key = n->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ,
	};

	return ib_post_send(n->qp, &wr.wr, NULL);
}

static void register_on(struct near *n, const struct ib_wc *wc)
{
	struct ib_send_wr wr = {
		.wr_cqe = &n->cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = n->mr->rkey,
	};

	if (wc->opcode == IB_WC_REG_MR) {
		ib_post_send(n->qp, &wr, NULL);
		return;
	}
	ib_update_fast_reg_key(n->mr, n->mr->rkey + 1);
	post_reg(n);
}

/* ---- a shut window ------------------------------------------------------------------- */

/* post until nothing completes any more */
static int fill_window(struct near *n)
{
	int before, ret;

	ret = post_many(n, NEAR_DEPTH, IB_WR_SEND, NEAR_LEN);
	do {
		before = atomic_read(&n->good);
		if (msleep_interruptible(QUIET_MS))
			return -ERESTARTSYS;
	} while (!ret && atomic_read(&n->good) != before);
	return ret;
}

static int close_undrained(struct near *n)
{
	return fill_window(n) ?: rdma_disconnect(n->id);
}

static const struct near_state states[] = {
	{ .name = "connecting" },
	{ .name = "request-sent" },
	{ .name = "reply-pending", .listen = true },
	{ .name = "rtr-awaited", .listen = true, .accept = true },
	{ .name = "idle", .open = true },
	{ .name = "heavy-send", .open = true, .enter = start_sends, .next = send_on },
	{ .name = "heavy-read", .open = true, .enter = start_reads, .next = read_on },
	{ .name = "atomics", .open = true, .enter = start_atomics, .next = add_on },
	{ .name = "draining", .open = true, .enter = close_undrained, .next = send_on },
	{ .name = "srq", .open = true, .srq = true, .enter = start_echo,
	  .next_recv = echo_on },
	{ .name = "cq-full", .open = true, .direct = true, .enter = fill_cq },
	{ .name = "mr-reg", .open = true, .enter = post_reg, .next = register_on },
	{ .name = "window-shut", .open = true, .enter = fill_window, .next = send_on },
	{ }
};

const struct near_state *near_find_state(const char *name)
{
	const struct near_state *s;

	for (s = states; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}
