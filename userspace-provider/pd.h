/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Protection domains, thread domains, and parent domains, which join the two. */
#ifndef TERN_PROVIDER_PD_H
#define TERN_PROVIDER_PD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <infiniband/driver.h>

/**
 * struct tern_td - a promise to use its objects from one thread at a time
 * @td: what libibverbs sees
 * @users: parent domains that hold it
 */
struct tern_td {
	struct ibv_td td;
	atomic_int users;
};

/**
 * struct tern_pd - a protection domain, or a parent domain around one
 * @pd: what libibverbs sees; a parent domain has the handle of its @inner
 * @inner: the protection domain of a parent domain, else NULL
 * @td: the thread domain of a parent domain, or NULL
 * @users: parent domains around this one, its QPs and SRQs. The kernel counts those of a
 *	parent domain as @inner's. MRs and windows are not counted: nothing here follows
 *	their pointer to a parent domain
 */
struct tern_pd {
	struct ibv_pd pd;
	struct tern_pd *inner;
	struct tern_td *td;
	atomic_int users;
};

static inline struct tern_pd *to_tern_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct tern_pd, pd);
}

/* for a QP or SRQ of @pd, or a parent domain around it */
static inline void tern_pd_get(struct tern_pd *pd)
{
	atomic_fetch_add(&pd->users, 1);
}

static inline void tern_pd_put(struct tern_pd *pd)
{
	atomic_fetch_sub(&pd->users, 1);
}

/* do queues created in @pd need locks? */
static inline bool tern_pd_locks(struct ibv_pd *pd)
{
	return !to_tern_pd(pd)->td;
}

struct ibv_pd *tern_pd_alloc(struct ibv_context *ctx);
int tern_pd_dealloc(struct ibv_pd *pd);
struct ibv_td *tern_td_alloc(struct ibv_context *ctx,
			     struct ibv_td_init_attr *attr);
int tern_td_dealloc(struct ibv_td *td);
struct ibv_pd *tern_pd_alloc_parent(struct ibv_context *ctx,
				    struct ibv_parent_domain_init_attr *attr);

#endif /* TERN_PROVIDER_PD_H */
