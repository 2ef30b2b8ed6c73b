// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Creating and destroying the provider's contexts, CQs, SRQs, domains and MRs: the errors
 * that a caller gets, and that a failure at any step leaks nothing.
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "provider_kernel.h"

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

/* after the next munmap() another thread takes what address space is left */
static bool others_are_greedy;

static void take_address_space(rlim_t bytes)
{
	struct rlimit limit;

	expect(!getrlimit(RLIMIT_AS, &limit));
	limit.rlim_cur = bytes;
	expect(!setrlimit(RLIMIT_AS, &limit));
}

static rlim_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	expect(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	return (rlim_t)pages * sysconf(_SC_PAGESIZE);
}

/* in place of libc's */
int munmap(void *addr, size_t len)
{
	rlim_t taken = others_are_greedy ? address_space() : 0;
	int ret = syscall(SYS_munmap, addr, len);

	if (others_are_greedy)
		take_address_space(taken - len);
	others_are_greedy = false;
	return ret;
}

static void cq__resize_needs_no_address_space_after_the_command(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_cq *cq = tern_cq_create(ctx, 8, NULL, 0);
	int err;

	kernel.ring = ring_at(2);
	others_are_greedy = true;
	err = tern_cq_resize(cq, 8);
	take_address_space(RLIM_INFINITY);
	expect(!others_are_greedy);
	expect_eq(err, 0);
	to_tern_cq(cq)->ring.hdr->prod = 7;
	expect(!tern_cq_destroy(cq));
	close_context(ctx);
	expect(nothing_left());
}

static void cq__resize_takes_a_ring_of_another_size_than_expected(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct ibv_context *ctx = open_context();
	struct ibv_cq *cq = tern_cq_create(ctx, 8, NULL, 0);

	kernel.ring = ring_at(2);
	kernel.ring.size = 2 * page;
	expect(!tern_cq_resize(cq, 8));
	expect_eq(to_tern_cq(cq)->ring.size, 2 * page);
	to_tern_cq(cq)->ring.hdr->prod = 7;
	kernel.ring = ring_at(0);
	expect(!tern_cq_resize(cq, page / 32));
	expect_eq(to_tern_cq(cq)->ring.size, page);
	kernel.ring.key = 1;
	expect_eq(tern_cq_resize(cq, 8), EINVAL);
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

static void pd__queues_of_a_thread_domain_take_no_locks(void)
{
	struct ibv_context *ctx = open_context();
	struct ibv_td_init_attr td_attr = {};
	struct ibv_pd *pd = alloc_pd(ctx), *parent;
	struct ibv_td *td = tern_td_alloc(ctx, &td_attr);
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr init = qp_attr();
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	parent = tern_pd_alloc_parent(ctx, &attr);
	expect(parent && parent->handle == pd->handle);
	expect_eq(parent->context, ctx);
	qp = tern_qp_create(parent, &init);
	expect(qp && !to_tern_qp(qp)->sq.lock.needed);
	expect(!to_tern_qp(qp)->rq.lock.needed);
	expect_eq(tern_pd_dealloc(parent), EBUSY);
	expect(!tern_qp_destroy(qp));
	srq = tern_srq_create(parent, &srq_attr);
	expect(srq);
	expect_eq(tern_pd_dealloc(parent), EBUSY);
	expect(!tern_srq_destroy(srq));
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
	TEST(cq__resize_needs_no_address_space_after_the_command),
	TEST(cq__resize_takes_a_ring_of_another_size_than_expected),
	TEST(srq__a_failure_at_any_step_undoes_the_others),
	TEST(pd__queues_of_a_thread_domain_take_no_locks),
	TEST(pd__a_parent_domain_refuses_what_it_cannot_do),
	TEST(mr__registers_and_deregisters_a_dmabuf),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
