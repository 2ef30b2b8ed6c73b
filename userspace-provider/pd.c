// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Protection domains, thread domains, and parent domains, which join the two. */

#include <errno.h>
#include <stdlib.h>

#include "pd.h"

struct ibv_pd *tern_pd_alloc(struct ibv_context *ctx)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct tern_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	err = ibv_cmd_alloc_pd(ctx, &pd->pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	return &pd->pd;
}

static void parent_free(struct tern_pd *parent)
{
	if (parent->td)
		atomic_fetch_sub(&parent->td->users, 1);
	tern_pd_put(parent->inner);
	free(parent);
}

int tern_pd_dealloc(struct ibv_pd *ibpd)
{
	struct tern_pd *pd = to_tern_pd(ibpd);
	int err;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (pd->inner) {
		parent_free(pd);
		return 0;
	}

	err = ibv_cmd_dealloc_pd(ibpd);
	if (err)
		return err;
	free(pd);
	return 0;
}

struct ibv_td *tern_td_alloc(struct ibv_context *ctx,
			     struct ibv_td_init_attr *attr)
{
	struct tern_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = ctx;
	return &td->td;
}

int tern_td_dealloc(struct ibv_td *ibtd)
{
	struct tern_td *td = container_of(ibtd, struct tern_td, td);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

/* The kernel allocates the queues, so the program's allocators are refused. */
struct ibv_pd *tern_pd_alloc_parent(struct ibv_context *ctx,
				    struct ibv_parent_domain_init_attr *attr)
{
	struct tern_pd *parent, *pd;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (!check_comp_mask(attr->comp_mask,
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	pd = to_tern_pd(attr->pd);
	if (pd->inner) {
		errno = EINVAL;
		return NULL;
	}

	parent = calloc(1, sizeof(*parent));
	if (!parent)
		return NULL;
	parent->inner = pd;
	tern_pd_get(pd);
	if (attr->td) {
		parent->td = container_of(attr->td, struct tern_td, td);
		atomic_fetch_add(&parent->td->users, 1);
	}
	ibv_initialize_parent_domain(&parent->pd, attr->pd);
	return &parent->pd;
}
