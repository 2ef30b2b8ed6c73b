// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Events that a program raises by itself. Each takes kernel memory that is charged to
 * no one until it is fetched, so a call that works in a loop must raise none.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "hostile.h"

#define LOOPS 1000

/* call REQ_NOTIFY_CQ directly: the provider does so only when completions are new */
static void req_notify(struct ibv_cq *cq)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_req_notify_cq cmd;
	} req = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
			.in_words = sizeof(req) / 4,
		},
		.cmd.cq_handle = cq->handle,
	};

	must(write(cq->context->cmd_fd, &req, sizeof(req)) == sizeof(req));
}

/* fetch and acknowledge all pending completion events; Return: their number */
static int events(struct end *e)
{
	int n = 0;

	while (got_event(e, n ? 0 : 200))
		n++;
	return n;
}

static int asyncs(struct end *e)
{
	struct pollfd pfd = { .fd = e->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int n = 0;

	while (poll(&pfd, 1, n ? 0 : 200) == 1 &&
	       !ibv_get_async_event(e->id->verbs, &event)) {
		ibv_ack_async_event(&event);
		n++;
	}
	return n;
}

/* complete and poll four requests, which may raise an event */
static void complete_some(void)
{
	int i;

	for (i = 0; i < 3; i++)
		post_rdma(&v, &w, IBV_WR_RDMA_WRITE, i, 0, 8, 0,
			  IBV_SEND_SIGNALED);
	post_rdma(&v, &w, IBV_WR_RDMA_READ, i, 0, 8, 0, IBV_SEND_SIGNALED);
	for (i = 0; i <= 3; i++)
		expect_wc(v.scq, i, IBV_WC_SUCCESS);
}

/* all completions are polled, but the consumer index says otherwise */
void events_of_nothing(void)
{
	static const uint32_t lies[] = { 0, 1, -1, 0x80000000u };
	unsigned int k;
	uint32_t cons;
	int i, n = 0;

	vandal_up();
	complete_some();
	cons = scq->cons;
	for (k = 0; k < ARRAY_LEN(lies); k++) {
		scq->cons = scq->prod + lies[k];
		scq->event = -1;
		for (i = 0; i < LOOPS; i++)
			req_notify(v.scq);
		n += events(&v);
	}
	/* the completions were new only once */
	expect(n <= 1);
	scq->cons = cons;
	complete_some();
	expect_eq(events(&v), 1);
	vandal_down();
}

/* the program writes the arm word, but an event still needs a completion */
void events_by_armed_words(void)
{
	uint32_t cons;
	int i;

	vandal_up();
	complete_some();
	cons = scq->cons;
	for (i = 0; i < LOOPS; i++) {
		scq->flags = TERN_CQ_ARM_NEXT;
		scq->event = i;
		scq->cons = i;
		ring(v.qp->qp_num);
		req_notify(v.scq);
	}
	expect(events(&v) <= 1);
	scq->cons = cons;
	vandal_down();
}

/* completions lost to a full CQ raise one event */
void events_after_overflow(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	int i;

	vandal_up();
	scq->cons = scq->prod + 5000;
	post_rdma(&v, &w, IBV_WR_RDMA_WRITE, 1, 0, 8, 0, IBV_SEND_SIGNALED);
	expect_error_state(&v);
	events(&v);
	/* each post is flushed, and its completion lost */
	for (i = 0; i < LOOPS; i++) {
		scq->flags = TERN_CQ_ARM_NEXT;
		if (!ibv_post_send(v.qp, &wr, &bad))
			req_notify(v.scq);
	}
	expect(events(&v) <= 1);
	asyncs(&v);
	expect_caught();
}

/* an empty SRQ is below every limit: arming it again raises no second event */
void limits_of_nothing(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .srq_limit = 1 };
	struct ibv_srq *srq;
	int i;

	vandal_up();
	srq = ibv_create_srq(v.pd, &init);
	must(srq);
	for (i = 0; i < LOOPS; i++)
		must(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	expect_eq(asyncs(&v), 1);
	for (i = 0; i < LOOPS; i++) {
		attr.srq_limit = i & 1;
		must(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	}
	expect_eq(asyncs(&v), 0);
	must(!ibv_destroy_srq(srq));
	vandal_down();
}

/* a QP with an SRQ raises LAST_WQE_REACHED only once */
void error_states_again(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr qp_init = {
		.qp_type = IBV_QPT_RC, .cap = { 4, 0, 1, 0, 0 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	struct ibv_qp *qp;
	int i;

	vandal_up();
	qp_init.srq = ibv_create_srq(v.pd, &init);
	qp_init.send_cq = v.scq;
	qp_init.recv_cq = v.rcq;
	must(qp_init.srq);
	qp = ibv_create_qp(v.pd, &qp_init);
	must(qp);
	for (i = 0; i < LOOPS; i++) {
		must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
		ibv_post_send(qp, &wr, &bad);
		while (ibv_poll_cq(v.scq, 1, &(struct ibv_wc) {}))
			;
	}
	/* one LAST_WQE_REACHED */
	expect_eq(asyncs(&v), 1);
	must(!ibv_destroy_qp(qp));
	must(!ibv_destroy_srq(qp_init.srq));
	vandal_down();
}
