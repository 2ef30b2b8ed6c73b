// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Creating and destroying the provider's objects against stand-ins for libibverbs'
 * kernel calls: the errors that a caller gets, and that a failure at any step leaks
 * nothing (LeakSanitizer checks our memory, the stand-ins count the kernel's objects).
 * Built by `userspace-provider/build --test`.
 */

#define _GNU_SOURCE
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
	struct tern_uring ring;	/* of the next object */
	struct tern_uring rq;
	uint32_t max_inline;
	uint64_t wc_flags;	/* of the last CQ */
	int doorbell_fd;
} kernel;

static int create(enum object object)
{
	int err = kernel.fail[object];

	kernel.fail[object] = 0;
	if (!err)
		kernel.alive[object]++;
	return err;
}

static int destroy(enum object object)
{
	int err = kernel.fail_destroy;

	kernel.fail_destroy = 0;
	if (!err)
		kernel.alive[object]--;
	return err;
}

static int make_context(struct ib_uverbs_get_context_resp *resp)
{
	struct tern_cmd_alloc_ucontext_resp *ours = (void *)resp;

	ours->drv_payload.abi_version = kernel.abi_version;
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
	ours->drv_payload.qpn = 5;
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

static struct tern_uring ring_at(uint32_t page)
{
	long size = sysconf(_SC_PAGESIZE);

	return (struct tern_uring){ .key = page * size, .size = size,
				    .entries = 8, .stride = 320 };
}

/* A context whose command file is a memfd: any ring can be mapped from it. */
static struct ibv_context *open_context(void)
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

static void close_context(struct ibv_context *ctx)
{
	close(ctx->cmd_fd);
	ibv_close_device(ctx);
	kernel.alive[CONTEXT] = 0;
	kernel.alive[DOORBELL] = 0;
}

static bool nothing_left(void)
{
	static const int none[OBJECTS];

	return !memcmp(kernel.alive, none, sizeof(none));
}

static struct ibv_pd *alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd = tern_pd_alloc(ctx);

	pd->context = ctx;
	return pd;
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 16, .max_recv_sge = 16 },
	};
}

/* ---- tests ---------------------------------------------------------------- */

static void match__by_private_driver_id_then_by_name(void)
{
	expect(!strcmp(driver->name, "tern"));
	expect_eq(driver->match_table[0].kind, VERBS_MATCH_DRIVER_ID);
	expect_eq(driver->match_table[0].u.driver_id, TERN_DRIVER_ID);
	expect(!strcmp(driver->match_table[1].u.modalias,
		       "rdma_device:*Ntern*"));
	expect_eq(driver->match_table[2].kind, VERBS_MATCH_SENTINEL);
	expect_eq(driver->match_min_abi_version, TERN_ABI_VERSION);
	expect_eq(driver->match_max_abi_version, TERN_ABI_VERSION);
}

static void context__opens_and_closes_its_doorbell(void)
{
	struct ibv_context *ctx = open_context();

	expect(ctx && to_tern_context(ctx)->doorbell == kernel.doorbell_fd);
	close_context(ctx);
	expect(fcntl(kernel.doorbell_fd, F_GETFD) == -1 && errno == EBADF);
}

static void context__a_failure_sets_errno(void)
{
	int fd = open("/dev/null", O_RDWR);

	kernel.abi_version = TERN_ABI_VERSION;
	kernel.fail[CONTEXT] = EMFILE;
	expect(!driver->alloc_context(&device.device, fd, NULL));
	expect_eq(errno, EMFILE);

	fd = open("/dev/null", O_RDWR);
	kernel.fail[DOORBELL] = EOPNOTSUPP;
	expect(!driver->alloc_context(&device.device, fd, NULL));
	expect_eq(errno, EOPNOTSUPP);

	fd = open("/dev/null", O_RDWR);
	kernel.abi_version = TERN_ABI_VERSION + 1;
	expect(!driver->alloc_context(&device.device, fd, NULL));
	expect_eq(errno, EPROTO);
	memset(kernel.alive, 0, sizeof(kernel.alive));
}

static void cq__a_failure_at_any_step_undoes_the_others(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_cq *cq;

	kernel.fail[CQ] = EMFILE;
	expect(!tern_cq_create(ctx, 8, NULL, 0) && errno == EMFILE);
	kernel.ring.entries = 7;
	expect(!tern_cq_create(ctx, 8, NULL, 0) && errno == EPROTO);
	kernel.ring = ring_at(0);
	kernel.ring.key = 1;
	expect(!tern_cq_create(ctx, 8, NULL, 0) && errno == EINVAL);
	expect(!kernel.alive[CQ]);

	kernel.ring = ring_at(0);
	cq = tern_cq_create(ctx, 8, NULL, 0);
	expect(cq && kernel.alive[CQ] == 1);
	kernel.fail_destroy = EBUSY;
	expect_eq(tern_cq_destroy(cq), EBUSY);
	expect(to_tern_cq(cq)->ring.hdr);
	expect(!tern_cq_destroy(cq));
	close_context(ctx);
	expect(nothing_left());
}

static void cq_ex__refuses_fields_and_flags_that_tern_lacks(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 8 };
	struct ibv_context *ctx = open_context();
	struct ibv_cq_ex *cq;

	attr.wc_flags = IBV_WC_EX_WITH_CVLAN;
	expect(!tern_cq_create_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.wc_flags = 0;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	expect(!tern_cq_create_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.comp_mask = 1 << 5;
	expect(!tern_cq_create_ex(ctx, &attr) && errno == EINVAL);

	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	attr.wc_flags = IBV_WC_STANDARD_FLAGS |
			IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	cq = tern_cq_create_ex(ctx, &attr);
	expect(cq && cq->start_poll && cq->read_completion_ts);
	expect(kernel.wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	expect(!cq->read_completion_wallclock_ns && !cq->read_cvlan);
	expect(!ex_to_tern_cq(cq)->lock.needed);
	expect(!tern_cq_destroy(ibv_cq_ex_to_cq(cq)));
	close_context(ctx);
	expect(nothing_left());
}

static void cq__resize_moves_to_the_new_ring_at_its_consumer_index(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_cq *cq = tern_cq_create(ctx, 8, NULL, 0);
	struct tern_ring_hdr *old = to_tern_cq(cq)->ring.hdr;
	uint32_t cons = 123;

	/* the provider refuses impossible sizes without calling the kernel */
	kernel.fail[CQ] = EPROTO;
	expect_eq(tern_cq_resize(cq, 0), EINVAL);
	expect_eq(tern_cq_resize(cq, -1), EINVAL);
	kernel.fail[CQ] = EINVAL;
	expect_eq(tern_cq_resize(cq, 1), EINVAL);
	expect_eq(to_tern_cq(cq)->ring.hdr, old);
	kernel.fail[CQ] = 0;

	kernel.ring = ring_at(2);
	kernel.ring.entries = 4;
	expect(pwrite(ctx->cmd_fd, &cons, sizeof(cons), kernel.ring.key +
		      offsetof(struct tern_ring_hdr, cons)) == sizeof(cons));
	expect(!tern_cq_resize(cq, 4));
	expect_eq(to_tern_cq(cq)->ring.index, 123);
	expect_eq(to_tern_cq(cq)->ring.mask, 3);
	expect(!pthread_spin_trylock(&to_tern_cq(cq)->lock.spin));
	pthread_spin_unlock(&to_tern_cq(cq)->lock.spin);
	expect(!tern_cq_destroy(cq));
	close_context(ctx);
	expect(nothing_left());
}

static void srq__a_failure_at_any_step_undoes_the_others(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 4 } };
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_srq_attr limits = {};
	struct ibv_srq *srq;

	kernel.fail[SRQ] = ENOMEM;
	expect(!tern_srq_create(pd, &attr) && errno == ENOMEM);
	kernel.ring.stride = 64;
	expect(!tern_srq_create(pd, &attr) && errno == EPROTO);
	expect(!kernel.alive[SRQ]);
	kernel.ring = ring_at(0);
	srq = tern_srq_create(pd, &attr);
	expect(srq && to_tern_srq(srq)->rq.max_sge == 4);
	srq->context = ctx;
	expect_eq(tern_srq_modify(srq, &limits, IBV_SRQ_MAX_WR), EOPNOTSUPP);
	expect(tern_srq_modify(srq, &limits, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT) ==
	       EOPNOTSUPP);
	expect(!tern_srq_destroy(srq));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void qp__a_failure_at_any_step_undoes_the_others(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr attr = qp_attr();

	kernel.fail[QP] = ENOSPC;
	expect(!tern_qp_create(pd, &attr) && errno == ENOSPC);
	kernel.ring.size = 64;
	expect(!tern_qp_create(pd, &attr) && errno == EPROTO);
	kernel.ring = ring_at(0);
	kernel.rq.key = 1;
	expect(!tern_qp_create(pd, &attr) && errno == EINVAL);
	kernel.rq = ring_at(1);
	kernel.max_inline = kernel.ring.stride + 1 - offsetof(struct tern_sqe, sge);
	expect(!tern_qp_create(pd, &attr) && errno == EPROTO);
	expect(!kernel.alive[QP]);

	attr.qp_type = IBV_QPT_UD;
	expect(!tern_qp_create(pd, &attr) && errno == EOPNOTSUPP);
	expect_eq(attr.cap.max_send_wr, 4);
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void qp__returns_the_granted_capacities(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_qp *qp;

	attr.sq_sig_all = 1;
	qp = tern_qp_create(pd, &attr);
	expect(qp && attr.cap.max_send_wr == 7);
	expect_eq(to_tern_qp(qp)->sq.ring.limit, 7);
	expect_eq(to_tern_qp(qp)->rq.ring.limit, 4);
	expect(to_tern_qp(qp)->qpn == 5 && to_tern_qp(qp)->max_inline == 256);
	expect_eq(to_tern_qp(qp)->always, TERN_WR_SIGNALED);
	expect(!ibv_qp_to_qp_ex(qp));
	kernel.fail_destroy = EBUSY;
	expect_eq(tern_qp_destroy(qp), EBUSY);
	expect(!tern_qp_destroy(qp));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void qp__with_an_srq_has_no_receive_ring(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_recv_wr wr = {}, *bad = NULL;
	struct ibv_srq srq = {};
	struct ibv_qp *qp;

	attr.srq = &srq;
	kernel.rq = (struct tern_uring){};
	qp = tern_qp_create(pd, &attr);
	expect(qp && !to_tern_qp(qp)->rq.ring.hdr);
	expect(tern_qp_post_recv(qp, &wr, &bad) == EINVAL && bad == &wr);
	expect(!tern_qp_destroy(qp));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void qp_ex__has_the_requested_wr_calls(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4 },
	};
	struct ibv_qp *qp;

	expect(!tern_qp_create_ex(ctx, &attr) && errno == EINVAL);
	attr.pd = pd;
	attr.comp_mask |= IBV_QP_INIT_ATTR_PD;
	expect(!tern_qp_create_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ;
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	expect(!tern_qp_create_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	qp = tern_qp_create_ex(ctx, &attr);
	expect(qp && ibv_qp_to_qp_ex(qp) && ibv_qp_to_qp_ex(qp)->wr_send);
	expect(!tern_qp_destroy(qp));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void pd__queues_of_a_thread_domain_take_no_locks(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_td_init_attr td_attr = {};
	struct ibv_pd *pd = alloc_pd(ctx), *parent;
	struct ibv_td *td = tern_td_alloc(ctx, &td_attr);
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };
	struct ibv_qp_init_attr init = qp_attr();
	struct ibv_qp *qp;

	parent = tern_pd_alloc_parent(ctx, &attr);
	expect(parent && parent->handle == pd->handle);
	expect_eq(parent->context, ctx);
	qp = tern_qp_create(parent, &init);
	expect(qp && !to_tern_qp(qp)->sq.lock.needed);
	expect(!to_tern_qp(qp)->rq.lock.needed);
	expect(!tern_qp_destroy(qp));
	qp = tern_qp_create(pd, &init);
	expect(qp && to_tern_qp(qp)->sq.lock.needed);
	expect(!tern_qp_destroy(qp));

	expect_eq(tern_td_dealloc(td), EBUSY);
	expect_eq(tern_pd_dealloc(pd), EBUSY);
	expect_eq(kernel.alive[PD], 1);
	expect(!tern_pd_dealloc(parent));
	expect(!tern_td_dealloc(td));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static void pd__a_parent_domain_refuses_what_it_cannot_do(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx), *parent;
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_td_init_attr td_attr = { .comp_mask = 1 };

	expect(!tern_td_alloc(ctx, &td_attr) && errno == EOPNOTSUPP);
	expect(!tern_pd_alloc_parent(ctx, &attr) && errno == EINVAL);
	attr.pd = pd;
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	expect(!tern_pd_alloc_parent(ctx, &attr) && errno == EOPNOTSUPP);
	attr.comp_mask = 0;
	parent = tern_pd_alloc_parent(ctx, &attr);
	expect(parent && tern_pd_locks(parent));
	attr.pd = parent;
	expect(!tern_pd_alloc_parent(ctx, &attr) && errno == EINVAL);
	expect(!tern_pd_dealloc(parent));
	kernel.fail_destroy = EBUSY;
	expect_eq(tern_pd_dealloc(pd), EBUSY);
	expect(!tern_pd_dealloc(pd));
	kernel.fail[PD] = ENOMEM;
	expect(!tern_pd_alloc(ctx) && errno == ENOMEM);
	close_context(ctx);
	expect(nothing_left());
}

static void mr__registers_and_deregisters_a_dmabuf(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_pd *pd = alloc_pd(ctx);
	struct ibv_mr *mr;

	kernel.fail[MR] = EBADF;
	expect(!tern_mr_reg_dmabuf(pd, 4097, 3, 1, 99, IBV_ACCESS_REMOTE_READ));
	expect_eq(errno, EBADF);
	mr = tern_mr_reg_dmabuf(pd, 4097, 3, 1, 99, IBV_ACCESS_REMOTE_READ);
	expect(mr && kernel.alive[MR] == 1);
	kernel.fail_destroy = EBUSY;
	expect_eq(tern_mr_dereg(verbs_get_mr(mr)), EBUSY);
	expect(!tern_mr_dereg(verbs_get_mr(mr)));
	expect(!tern_pd_dealloc(pd));
	close_context(ctx);
	expect(nothing_left());
}

static const struct tap_test tests[] = {
	TEST(match__by_private_driver_id_then_by_name),
	TEST(context__opens_and_closes_its_doorbell),
	TEST(context__a_failure_sets_errno),
	TEST(cq__a_failure_at_any_step_undoes_the_others),
	TEST(cq_ex__refuses_fields_and_flags_that_tern_lacks),
	TEST(cq__resize_moves_to_the_new_ring_at_its_consumer_index),
	TEST(srq__a_failure_at_any_step_undoes_the_others),
	TEST(qp__a_failure_at_any_step_undoes_the_others),
	TEST(qp__returns_the_granted_capacities),
	TEST(qp__with_an_srq_has_no_receive_ring),
	TEST(qp_ex__has_the_requested_wr_calls),
	TEST(pd__queues_of_a_thread_domain_take_no_locks),
	TEST(pd__a_parent_domain_refuses_what_it_cannot_do),
	TEST(mr__registers_and_deregisters_a_dmabuf),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
