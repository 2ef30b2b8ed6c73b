// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Create, resize, modify and destroy completion queues. */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi.h"
#include "compat.h"
#include "cq.h"
#include "pd.h"

#define WC_FLAGS (IBV_WC_STANDARD_FLAGS | \
		  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
		  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static int bring_up(struct tern_cq *cq, struct ibv_context *ctx,
		    const struct ibv_cq_init_attr_ex *attr)
{
	struct tern_cmd_create_cq_resp resp = {};
	struct tern_cmd_create_cq cmd;
	int err;

	err = tern_compat_create_cq(ctx, attr, &cq->vcq, &cmd, &resp);
	if (err)
		return err;

	err = tern_ring_map(&cq->ring, NULL, ctx->cmd_fd,
			    &resp.drv_payload.ring, sizeof(struct tern_cqe),
			    UINT32_MAX);
	if (err) {
		/* ibv_cmd_destroy_cq() takes locks that libibverbs has not set up yet */
		verbs_init_cq(&cq->vcq.cq, ctx, NULL, NULL);
		ibv_cmd_destroy_cq(&cq->vcq.cq);
	}
	return err;
}

static struct tern_cq *create(struct ibv_context *ctx,
			      const struct ibv_cq_init_attr_ex *attr,
			      bool locks)
{
	struct tern_cq *cq;
	int err;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	err = tern_lock_init(&cq->lock, locks);
	if (err)
		goto err_free;
	err = tern_lazy_cq_init(&cq->lazy);
	if (err)
		goto err_lock;
	err = bring_up(cq, ctx, attr);
	if (err)
		goto err_lazy;
	return cq;

err_lazy:
	tern_lazy_cq_exit(&cq->lazy);
err_lock:
	tern_lock_destroy(&cq->lock);
err_free:
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *tern_cq_create(struct ibv_context *ctx, int cqe,
			      struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = vector,
	};
	struct tern_cq *cq;

	cq = create(ctx, &attr, true);
	return cq ? &cq->vcq.cq : NULL;
}

/* IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN is refused: an overrun is always fatal. */
static int check_init(const struct ibv_cq_init_attr_ex *attr, bool *locks)
{
	if (!check_comp_mask(attr->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS |
					      IBV_CQ_INIT_ATTR_MASK_PD))
		return EINVAL;
	if (!check_comp_mask(attr->wc_flags, WC_FLAGS))
		return EOPNOTSUPP;

	*locks = true;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) {
		if (!check_comp_mask(attr->flags,
				     IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
			return EOPNOTSUPP;
		*locks = !(attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		if (!attr->parent_domain ||
		    !to_tern_pd(attr->parent_domain)->inner)
			return EINVAL;
		*locks &= tern_pd_locks(attr->parent_domain);
	}
	return 0;
}

struct ibv_cq_ex *tern_cq_create_ex(struct ibv_context *ctx,
				    struct ibv_cq_init_attr_ex *attr)
{
	struct tern_cq *cq;
	bool locks;
	int err;

	err = check_init(attr, &locks);
	if (err) {
		errno = err;
		return NULL;
	}

	cq = create(ctx, attr, locks);
	if (!cq)
		return NULL;
	tern_cq_set_ex_ops(&cq->vcq.cq_ex, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

static size_t whole_pages(size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

/* what a mapping of the ring takes that the kernel creates for @cqe completions */
static size_t ring_bytes(int cqe)
{
	size_t entries = 1;

	while (entries < (size_t)cqe)
		entries *= 2;
	return whole_pages(TERN_RING_DATA + entries * sizeof(struct tern_cqe));
}

/* Map the new ring at @place, or where there is room if it is of another size. */
static int map_new(struct tern_ring *ring, void *place, size_t bytes, int cmd_fd,
		   const struct tern_uring *uring)
{
	bool fits = whole_pages(uring->size) == bytes;

	if (!fits)
		munmap(place, bytes);
	/* if this fails, @place may be another thread's by now: leave it */
	return tern_ring_map(ring, fits ? place : NULL, cmd_fd, uring,
			     sizeof(struct tern_cqe), UINT32_MAX);
}

/*
 * The command cannot be undone, so keep a place for the new ring beside the old one before,
 * which no other thread can take.
 */
static int new_ring(struct tern_cq *cq, int cqe, struct tern_ring *ring)
{
	struct tern_cmd_resize_cq_resp resp = {};
	struct tern_cmd_resize_cq cmd;
	size_t bytes = ring_bytes(cqe);
	void *place;
	int err;

	place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (place == MAP_FAILED)
		return errno;
	err = ibv_cmd_resize_cq(&cq->vcq.cq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (err) {
		munmap(place, bytes);
		return err;
	}
	return map_new(ring, place, bytes, cq->vcq.cq.context->cmd_fd,
		       &resp.drv_payload.ring);
}

/*
 * The kernel moves the unpolled completions and the arming to a new ring, so no
 * thread may poll or arm the old ring until then.
 */
int tern_cq_resize(struct ibv_cq *ibcq, int cqe)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	struct tern_ring ring = {};
	int err;

	if (cqe < 1)
		return EINVAL;

	tern_lock_take(&cq->lock);
	err = new_ring(cq, cqe, &ring);
	if (!err) {
		tern_ring_unmap(&cq->ring);
		cq->ring = ring;
	}
	tern_lock_drop(&cq->lock);
	return err;
}

int tern_cq_modify(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

int tern_cq_destroy(struct ibv_cq *ibcq)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	int err;

	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;
	tern_ring_unmap(&cq->ring);
	tern_lazy_cq_exit(&cq->lazy);
	tern_lock_destroy(&cq->lock);
	free(cq);
	return 0;
}
