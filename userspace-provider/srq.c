// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Create, modify, query and destroy shared receive queues. */

#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "pd.h"
#include "srq.h"

static int bring_up(struct tern_srq *srq, struct ibv_pd *pd,
		    struct ibv_srq_init_attr *attr)
{
	struct tern_cmd_create_srq_resp resp = {};
	struct tern_cmd_create_srq cmd;
	int err;

	err = ibv_cmd_create_srq(pd, &srq->srq, attr, &cmd.ibv_cmd,
				 sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		return err;

	err = tern_queue_create(&srq->rq, pd->context->cmd_fd,
				&resp.drv_payload.ring,
				offsetof(struct tern_rqe, sge),
				attr->attr.max_wr, attr->attr.max_sge,
				tern_pd_locks(pd));
	if (err)
		ibv_cmd_destroy_srq(&srq->srq);
	return err;
}

struct ibv_srq *tern_srq_create(struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr)
{
	struct tern_srq *srq;
	int err;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;

	err = bring_up(srq, pd, attr);
	if (err) {
		free(srq);
		errno = err;
		return NULL;
	}
	srq->pd = to_tern_pd(pd);
	tern_pd_get(srq->pd);
	return &srq->srq;
}

/* The ring is mapped once and cannot be resized: only the limit can change. */
int tern_srq_modify(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct ibv_modify_srq cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return EOPNOTSUPP;
	return ibv_cmd_modify_srq(srq, attr, mask, &cmd, sizeof(cmd));
}

int tern_srq_query(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int tern_srq_destroy(struct ibv_srq *ibsrq)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;
	tern_queue_destroy(&srq->rq);
	tern_pd_put(srq->pd);
	free(srq);
	return 0;
}
