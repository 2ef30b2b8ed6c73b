/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Connections: an rdma_cm id and its QP, numbered from 0 since the last reset.
 * Listeners have numbers too, so one set of commands serves both.
 */
#ifndef AGENT_CONN_H
#define AGENT_CONN_H

#include "agent_call.h"

#include <stdbool.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

struct conn {
	struct rdma_cm_id *id;	/* NULL after it was destroyed */
	struct ibv_srq *srq;	/* the shared one, or NULL when the QP has its own receives */
};

/* connect from the device's address instead of the one that routing picks (--bind) */
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

/* the connection whose number is the next word; NULL sets an error */
struct conn *arg_conn(struct call *c);
/* the same, and it must have a QP */
struct conn *arg_conn_qp(struct call *c);

/* give @id a number; Return: the number, or -1 when there are too many */
int conn_add(struct rdma_cm_id *id);
/* Return: the number of this id, QP or QP number; -1: unknown */
int conn_of_id(const struct rdma_cm_id *id);
int conn_of_qp(const struct ibv_qp *qp);
int conn_of_qpn(uint32_t qpn);

void conn_reset(void);

#endif /* AGENT_CONN_H */
