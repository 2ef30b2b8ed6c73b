// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Memory regions and windows: the kernel keeps all their state. */

#include <errno.h>
#include <stdlib.h>

#include "mr.h"

/* return @mr, or free it and set errno when the command that creates it failed */
static struct ibv_mr *made(struct verbs_mr *mr, int err)
{
	if (!err)
		return &mr->ibv_mr;
	free(mr);
	errno = err;
	return NULL;
}

struct ibv_mr *tern_mr_reg(struct ibv_pd *pd, void *addr, size_t length,
			   uint64_t iova, int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;

	err = ibv_cmd_reg_mr(pd, addr, length, iova, access, mr, &cmd,
			     sizeof(cmd), &resp, sizeof(resp));
	return made(mr, err);
}

struct ibv_mr *tern_mr_reg_dmabuf(struct ibv_pd *pd, uint64_t offset,
				  size_t length, uint64_t iova, int fd,
				  int access)
{
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;

	err = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr,
				    NULL);
	return made(mr, err);
}

int tern_mr_rereg(struct verbs_mr *mr, int flags, struct ibv_pd *pd,
		  void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;

	return ibv_cmd_rereg_mr(mr, flags, addr, length, (uintptr_t)addr,
				access, pd, &cmd, sizeof(cmd), &resp,
				sizeof(resp));
}

int tern_mr_dereg(struct verbs_mr *mr)
{
	int err;

	err = ibv_cmd_dereg_mr(mr);
	if (err)
		return err;
	free(mr);
	return 0;
}

struct ibv_mw *tern_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd;
	struct ibv_mw *mw;
	int err;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;

	err = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (err) {
		free(mw);
		errno = err;
		return NULL;
	}
	return mw;
}

int tern_mw_dealloc(struct ibv_mw *mw)
{
	int err;

	err = ibv_cmd_dealloc_mw(mw);
	if (err)
		return err;
	free(mw);
	return 0;
}
