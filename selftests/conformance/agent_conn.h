/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections: an rdma_cm id and its QP, by numbers that count from 0 since the
 * last reset. Listeners have numbers too, so that nothing else needs to know them.
 */
#ifndef AGENT_CONN_H
#define AGENT_CONN_H

#include "agent_call.h"

#include <stdbool.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

struct conn {
	struct rdma_cm_id *id;	/* NULL once destroyed */
	struct ibv_srq *srq;	/* the shared one, if it receives from that */
};

/* connect from the device's address, not from what routing says (--bind) */
extern bool conn_bind_source;

int cmd_listen(struct call *c);
int cmd_connect(struct call *c);
int cmd_accept(struct call *c);
int cmd_reject(struct call *c);
int cmd_disconnect(struct call *c);
int cmd_destroy(struct call *c);
int cmd_qp(struct call *c);
int cmd_qp_error(struct call *c);
int cmd_srq_limit(struct call *c);

/* the connection that the next word says, or NULL and an error */
struct conn *arg_conn(struct call *c);
/* the same; it must have a QP */
struct conn *arg_conn_qp(struct call *c);

/* take @id in; Return: its number, or -1 when there are too many */
int conn_add(struct rdma_cm_id *id);
/* number of an id, a QP, a QP number; -1: none of ours */
int conn_of_id(const struct rdma_cm_id *id);
int conn_of_qp(const struct ibv_qp *qp);
int conn_of_qpn(uint32_t qpn);

void conn_reset(void);

#endif /* AGENT_CONN_H */
