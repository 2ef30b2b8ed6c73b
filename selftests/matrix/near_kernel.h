/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * tern_near: the near end of a cell as a kernel user, what near.c is as a program. The
 * process that writes to /sys/kernel/debug/tern_near/enter is the user's thread.
 */
#ifndef NEAR_KERNEL_H
#define NEAR_KERNEL_H

#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define NEAR_LEN	16384
#define NEAR_DEPTH	64
#define NEAR_TOKENS	16
#define NEAR_MR_PAGES	64
#define NEAR_RECVS	(2 * NEAR_TOKENS)

struct near_state;

/*
 * struct near - one end
 * @door: the id that listens
 * @cqe, @recv_cqe: of all requests, and of all receives
 * @good: requests that completed well
 * @ready: an event or completion that the startup waits for came
 * @connected: ESTABLISHED came
 * @over: the connection has ended, or is about to
 * @stop: nothing is to be posted any more
 */
struct near {
	const struct near_state *state;
	struct rdma_cm_id *door;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	struct scatterlist *sg;
	void *buf;
	u64 dma;
	struct ib_cqe cqe;
	struct ib_cqe recv_cqe;
	wait_queue_head_t wait;
	enum rdma_cm_event_type event;
	atomic_t good;
	bool ready;
	bool connected;
	bool over;
	bool stop;
};

/*
 * struct near_state - how a connection gets into a state and stays there
 * @listen: it is the responder
 * @accept: and accepts
 * @open: it is connected
 * @srq: it receives from an SRQ
 * @direct: nobody polls its CQ
 * @enter: when it is connected
 * @next, @next_recv: a request, or a receive, completed well
 */
struct near_state {
	const char *name;
	bool listen;
	bool accept;
	bool open;
	bool srq;
	bool direct;
	int (*enter)(struct near *n);
	void (*next)(struct near *n, const struct ib_wc *wc);
	void (*next_recv)(struct near *n);
};

/* near_state.c */
const struct near_state *near_find_state(const char *name);
int near_post(struct near *n, enum ib_wr_opcode opcode, u32 len);

/* near_conn.c: Return: 0 or an error, -ERESTARTSYS when the thread has a signal */
int near_open(struct near *n, const struct sockaddr_storage *addr);
/* @first: "mr" or "qp", or anything */
void near_close(struct near *n, const char *first);

/* near_main.c: a word for matrix.sh */
void near_say(const char *word);

#endif /* NEAR_KERNEL_H */
