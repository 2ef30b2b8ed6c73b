/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * One end of an RDMA connection, or both ends in one process: each id is created in the
 * network namespace of its host, and rdma_cm keeps it there.
 */
#ifndef VERBS_CONN_H
#define VERBS_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/**
 * struct want - parameters of an end
 * @cap: of the QP; 0 is a default
 * @cqe: size of each CQ (0: enough for @cap)
 * @access: rights of the buffer's MR (0: all)
 * @buf_len: bytes of the buffer (0: 64 KiB)
 * @map_flags: of mmap() for the buffer, beside the usual ones; with MAP_HUGETLB the buffer
 *	is of whole pages of 2 MiB
 * @sig_all: every send request is signalled
 * @send_ops: IBV_QP_EX_WITH_*: operations that are posted by ibv_wr_*()
 * @srq: receive from this SRQ, of the PD of @share
 * @own_srq: receive from an SRQ of its own, of @cap.max_recv_wr entries
 * @share: take PD and buffer of this end
 * @cqs: complete to the CQs of this end
 * @ird: Reads of the peer that may be outstanding
 * @ord: our own Reads that may be outstanding
 * @no_reads: none may be outstanding, in either direction
 * @pdata: private data of our connect, accept or reject
 * @pdata_len: length of @pdata in bytes
 */
struct want {
	struct ibv_qp_cap cap;
	int cqe;
	int access;
	size_t buf_len;
	int map_flags;
	bool sig_all;
	uint64_t send_ops;
	struct ibv_srq *srq;
	bool own_srq;
	const struct end *share;
	const struct end *cqs;
	uint8_t ird;
	uint8_t ord;
	bool no_reads;
	const void *pdata;
	uint8_t pdata_len;
};

/**
 * struct end - one end
 * @got: private data that the peer sent
 * @got_ird: IRD of the connection's event
 * @got_ord: ORD of the connection's event
 */
struct end {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp;
	struct ibv_cq *scq;
	struct ibv_cq *rcq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t buf_len;
	bool owns;
	uint8_t got[256];
	uint8_t got_len;
	uint8_t got_ird;
	uint8_t got_ord;
};

#define ALL_RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		    IBV_ACCESS_REMOTE_WRITE)

/* milliseconds that a step may take, scaled by TERN_TIMEOUT_SCALE */
int patience_ms(void);

/* Return: 0 or -1; no name is the namespace that the program was started in */
int enter_netns(const char *name);

int end_resolve(struct end *e, const char *ip, int port, const char *from);
/* the same from port @from_port */
int end_resolve_from(struct end *e, const char *ip, int port, const char *from,
		     int from_port);
/* end_listen() less rdma_listen() */
int end_bind(struct end *e, const char *ip, int port);
int end_listen(struct end *e, const char *ip, int port);
/* before it connects or listens */
int end_set_tos(struct end *e, uint8_t tos);

/* create PD, CQs, buffer and QP for @e->id */
int end_build(struct end *e, const struct want *want);

/* the next event, which the caller acknowledges; NULL if it is not of @type */
struct rdma_cm_event *end_wait(struct end *e, enum rdma_cm_event_type type);
/* the same, acknowledged; keeps private data, IRD and ORD in @e. Return: 0 or -1 */
int end_expect(struct end *e, enum rdma_cm_event_type type);

int end_connect(struct end *e, const struct want *want);
/* take the next connect request of @listener; its id becomes @e's */
int end_request(struct end *listener, struct end *e);
int end_accept(struct end *e, const struct want *want);

void end_free(struct end *e);

#endif /* VERBS_CONN_H */
