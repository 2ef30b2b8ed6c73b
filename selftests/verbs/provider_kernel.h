/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Stand-ins for libibverbs' kernel calls, for tests that create and destroy the
 * provider's objects: they count the kernel's objects, fail when told so, and place each
 * ring in a memfd. LeakSanitizer checks our memory. Built by
 * `userspace-provider/build --test`.
 */
#ifndef PROVIDER_KERNEL_H
#define PROVIDER_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi.h"
#include "cq.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "tern.h"

#include "provider_tap.h"

/* ---- the kernel ----------------------------------------------------------- */

enum object { CONTEXT, DOORBELL, PD, CQ, SRQ, QP, MR, OBJECTS };

static struct {
	int alive[OBJECTS];
	int fail[OBJECTS];	/* errno for the next creation */
	int fail_destroy;	/* errno for the next destruction */
	uint32_t abi_version;
	uint32_t features;	/* 0: of a kernel that does not answer it */
	uint32_t doorbell;	/* likewise */
	uint32_t counts_silent;	/* likewise */
	struct tern_uring ring;	/* of the next object */
	struct tern_uring rq;
	uint32_t max_inline;
	uint32_t qpn;		/* of the next QP, 0: 5 */
	uint64_t wc_flags;	/* of the last CQ */
	int doorbell_fd;
} kernel;

static inline int create(enum object object)
{
	int err = kernel.fail[object];

	kernel.fail[object] = 0;
	if (!err)
		kernel.alive[object]++;
	return err;
}

static inline int destroy(enum object object)
{
	int err = kernel.fail_destroy;

	kernel.fail_destroy = 0;
	if (!err)
		kernel.alive[object]--;
	return err;
}

static inline int make_context(struct ib_uverbs_get_context_resp *resp)
{
	struct tern_cmd_alloc_ucontext_resp *ours = (void *)resp;

	ours->drv_payload.abi_version = kernel.abi_version;
	if (kernel.features)
		ours->drv_payload.features = kernel.features;
	if (kernel.doorbell)
		ours->drv_payload.doorbell = kernel.doorbell;
	if (kernel.counts_silent)
		ours->drv_payload.counts_silent = kernel.counts_silent;
	return create(CONTEXT);
}

int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
#ifdef HAVE_GET_CONTEXT_FD_ARR
			struct ibv_fd_arr *fd_arr,
#endif
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size)
{
	expect_eq(resp_size, sizeof(*resp) + sizeof(struct tern_uresp_ucontext));
	return make_context(resp);
}

int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd)
{
	int err;

	/* libibverbs also probes for the ioctl() interface */
	if (cmd->hdr.object_id != TERN_OBJECT_DOORBELL)
		return EPROTONOSUPPORT;

	err = create(DOORBELL);
	expect_eq(cmd->hdr.method_id, TERN_METHOD_DOORBELL_ALLOC);
	expect_eq(cmd->next_attr - cmd->hdr.attrs, 1);
	expect_eq(cmd->hdr.attrs[0].attr_id, TERN_ATTR_DOORBELL_ALLOC_FD);
	if (err)
		return err;
	kernel.doorbell_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	cmd->hdr.attrs[0].data = kernel.doorbell_fd;
	return 0;
}

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	pd->handle = 77;
	return create(PD);
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	return destroy(PD);
}

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
	return create(MR);
}

int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver)
{
	expect(offset == 4097 && length == 3 && iova == 1 && fd == 99);
	expect(access == IBV_ACCESS_REMOTE_READ && !driver);
	return create(MR);
}

int ibv_cmd_dereg_mr(struct verbs_mr *vmr)
{
	return destroy(MR);
}

int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
#ifdef HAVE_CREATE_CQ_PROV_ATTR
			 struct verbs_create_cq_prov_attr *prov_attr,
#endif
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags)
{
	struct tern_cmd_create_cq_resp *ours = (void *)resp;

	expect_eq(resp_size, sizeof(*ours));
	ours->drv_payload.ring = kernel.ring;
	kernel.wc_flags = attr->wc_flags;
	cq->cq.context = context;
	cq->cq.cqe = kernel.ring.entries;
	return create(CQ);
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size)
{
	struct tern_cmd_resize_cq_resp *ours = (void *)resp;

	ours->drv_payload.ring = kernel.ring;
	return kernel.fail[CQ];
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	return destroy(CQ);
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct tern_cmd_create_srq_resp *ours = (void *)resp;

	ours->drv_payload.ring = kernel.ring;
	return create(SRQ);
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	return destroy(SRQ);
}

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	struct tern_cmd_create_qp_resp *ours = (void *)resp;

	expect_eq(resp_size, sizeof(*ours));
	ours->drv_payload.sq = kernel.ring;
	ours->drv_payload.rq = kernel.rq;
	ours->drv_payload.qpn = kernel.qpn ? kernel.qpn : 5;
	ours->drv_payload.max_inline = kernel.max_inline;
	qp->comp_mask = 0;
	qp->qp.context = context;
	qp->qp.srq = attr->srq;
	attr->cap.max_send_wr += 3;
	return create(QP);
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	return destroy(QP);
}

/* ---- the caller ----------------------------------------------------------- */

static const struct verbs_device_ops *driver;
static struct verbs_device device = { .refcount = 1000 };

void verbs_register_driver(const struct verbs_device_ops *ops)
{
	driver = ops;
}

static inline struct tern_uring ring_at(uint32_t page)
{
	long size = sysconf(_SC_PAGESIZE);

	return (struct tern_uring){ .key = page * size, .size = size,
				    .entries = 8, .stride = 320 };
}

/* A context whose command file is a memfd: any ring can be mapped from it. */
static inline struct ibv_context *open_context(void)
{
	struct verbs_context *vctx;
	int fd = memfd_create("uverbs", MFD_CLOEXEC);

	expect(!ftruncate(fd, 16 * sysconf(_SC_PAGESIZE)));
	kernel.abi_version = TERN_ABI_VERSION;
	kernel.ring = ring_at(0);
	kernel.rq = ring_at(1);
	kernel.max_inline = 256;
	vctx = driver->alloc_context(&device.device, fd, NULL);
	return vctx ? &vctx->context : NULL;
}

static inline void close_context(struct ibv_context *ctx)
{
	close(ctx->cmd_fd);
	ibv_close_device(ctx);
	kernel.alive[CONTEXT] = 0;
	kernel.alive[DOORBELL] = 0;
}

static inline bool nothing_left(void)
{
	static const int none[OBJECTS];

	return !memcmp(kernel.alive, none, sizeof(none));
}

static inline struct ibv_pd *alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd = tern_pd_alloc(ctx);

	pd->context = ctx;
	return pd;
}

static inline struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 16, .max_recv_sge = 16 },
	};
}

#endif /* PROVIDER_KERNEL_H */
