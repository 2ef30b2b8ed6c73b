// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The provider: mapping and filling rings, and receive entries. */

#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>

#include "provider_fake.h"

/* ---- rings ---------------------------------------------------------------- */

static void ring__refuses_impossible_sizes(void)
{
	_Alignas(64) uint8_t memory[TERN_RING_DATA + 8 * 128] = {};
	struct tern_uring bad[] = {
		shape(0, 128), shape(3, 128), shape(8, 0), shape(8, 160),
		shape(8, 64), shape(8, 128), shape(0x80000000, 128),
	};
	struct tern_uring good = shape(8, 128);
	struct tern_ring ring;
	size_t i;

	bad[5].size--;
	bad[6].size = 4096;
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		expect(tern_ring_attach(&ring, memory, &bad[i], 128, 8) ==
		       EPROTO);
		expect_eq(tern_ring_map(&ring, NULL, -1, &bad[i], 128, 8), EPROTO);
	}
	expect(!tern_ring_attach(&ring, memory, &good, 128, 100));
	expect_eq(ring.limit, 8);
	expect(!tern_ring_attach(&ring, memory, &good, 128, 5));
	expect_eq(ring.limit, 5);
}

static void ring__entries_follow_the_control_words(void)
{
	struct tern_ring ring;
	uint32_t i;

	make_ring(&ring, 4, 128, 4, 0);
	for (i = 0; i < 4; i++)
		expect((uint8_t *)tern_ring_entry(&ring, i) ==
		       (uint8_t *)ring.hdr + 256 + i * 128);
	expect_eq(tern_ring_entry(&ring, 4), tern_ring_entry(&ring, 0));
	expect_eq(tern_ring_entry(&ring, UINT32_MAX), tern_ring_entry(&ring, 3));
	free(ring.hdr);
}

/* QEMU's emulation of one program takes the advice and does nothing. */
static bool fork_heeds_madvise(long page)
{
	unsigned char vec, *p = mmap(NULL, page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 1;
	pid_t pid;

	expect(p != MAP_FAILED && !madvise(p, page, MADV_DONTFORK));
	pid = fork();
	if (!pid)
		_exit(mincore(p, page, &vec) ? 0 : 1);
	expect_eq(waitpid(pid, &status, 0), pid);
	munmap(p, page);
	return !status;
}

/*
 * Where libibverbs protects memory from fork(), the child must not have the parent's
 * mapping. (Newer kernels copy pinned pages, and libibverbs protects nothing.)
 */
static void ring__is_mapped_at_its_key_and_not_inherited_by_fork(void)
{
	long page = sysconf(_SC_PAGESIZE);
	bool guarded = ibv_is_fork_initialized() == IBV_FORK_ENABLED && fork_heeds_madvise(page);
	struct tern_uring uring = shape(8, 64);
	int fd = memfd_create("queue", MFD_CLOEXEC), status = 0;
	uint32_t prod = 0;
	unsigned char vec;
	struct tern_ring ring;
	pid_t pid;

	uring.key = page;
	uring.size = page;
	expect(!ftruncate(fd, 2 * page));
	expect(!tern_ring_map(&ring, NULL, fd, &uring, 64, 8));
	tern_ring_publish(&ring, 7);
	expect(pread(fd, &prod, sizeof(prod), page) == sizeof(prod) && prod == 7);

	pid = fork();
	if (!pid)
		_exit(mincore(ring.hdr, page, &vec) || !guarded ? 0 : 1);
	expect_eq(waitpid(pid, &status, 0), pid);
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	expect_eq(ring.hdr->prod, 7);

	tern_ring_unmap(&ring);
	expect(!ring.hdr);
	tern_ring_unmap(&ring);
	expect_eq(tern_ring_map(&ring, NULL, -1, &uring, 64, 8), EBADF);
	close(fd);
}

/* ---- ibv_post_recv(), ibv_post_srq_recv() --------------------------------- */

static int post_recv(struct tern_qp *qp, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad = NULL;
	int err = tern_qp_post_recv(&qp->vqp.qp, wr, &bad);

	expect(!err || bad == wr);
	return err;
}

static void recv__an_entry_holds_the_list_without_a_doorbell(void)
{
	struct ibv_sge sge[TERN_MAX_SGE];
	struct ibv_recv_wr wr = { .wr_id = 0x1122334455667788, .sg_list = sge,
				  .num_sge = TERN_MAX_SGE };
	struct tern_qp *qp = make_qp();
	struct tern_rqe *rqe;
	int i;

	for (i = 0; i < TERN_MAX_SGE; i++)
		sge[i] = (struct ibv_sge){ ~0ULL - i, i, i + 7 };
	for (i = 0; i < SQ_ENTRIES; i++)
		expect(!post_recv(qp, &wr));
	expect_eq(post_recv(qp, &wr), ENOMEM);
	for (i = 0; (rqe = take(&qp->rq.ring)); i++) {
		expect(rqe->wr_id == wr.wr_id && rqe->reserved == 0);
		expect_eq(rqe->num_sge, TERN_MAX_SGE);
		expect_bytes(rqe->sge, sge, sizeof(sge));
		taken(&qp->rq.ring);
	}
	expect(i == SQ_ENTRIES && bell.rings == 0);
	free_qp(qp);
}

static void recv__the_doorbell_rings_only_when_the_kernel_asks(void)
{
	struct ibv_recv_wr wr = {};
	struct tern_qp *qp = make_qp();

	qp->rq.ring.hdr->flags = TERN_RING_BUSY;
	expect(!post_recv(qp, &wr) && bell.rings == 0);
	qp->rq.ring.hdr->flags = TERN_RING_KICK;
	expect(!post_recv(qp, &wr) && bell.rings == 1 && bell.qpn == QPN);
	bell.answer = EIO;
	expect_eq(post_recv(qp, &wr), EIO);
	free_qp(qp);
}

/* the device is removed between the post and its doorbell: the entry completes */
static void recv__a_post_that_was_flushed_has_not_failed(void)
{
	struct ibv_recv_wr wr = {};
	struct tern_qp *qp = make_qp();

	flushed = &qp->rq.ring;
	qp->rq.ring.hdr->flags = TERN_RING_KICK;
	bell.answer = ENOENT;
	bell.then = flush_ring;
	expect_eq(post_recv(qp, &wr), 0);
	bell.then = NULL;
	expect_eq(post_recv(qp, &wr), ENOENT);
	free_qp(qp);
}

static void recv__requests_before_a_bad_one_are_posted(void)
{
	struct ibv_sge sge[TERN_MAX_SGE + 1] = {};
	struct ibv_recv_wr wrs[2] = {
		{ .next = &wrs[1] },
		{ .sg_list = sge, .num_sge = TERN_MAX_SGE + 1 },
	}, *bad = NULL;
	struct tern_qp *qp = make_qp();

	expect_eq(tern_qp_post_recv(&qp->vqp.qp, wrs, &bad), EINVAL);
	expect(bad == &wrs[1] && qp->rq.ring.hdr->prod == 1);
	wrs[1].num_sge = -1;
	expect_eq(post_recv(qp, &wrs[1]), EINVAL);
	free_qp(qp);
}

static void recv__a_qp_with_an_srq_takes_no_receives(void)
{
	struct tern_qp *qp = make_qp();
	struct tern_srq srq = {};
	struct ibv_recv_wr wr = {};

	qp->vqp.qp.srq = &srq.srq;
	expect_eq(post_recv(qp, &wr), EINVAL);
	free_qp(qp);
}

static void srq__receives_never_ring(void)
{
	struct ibv_recv_wr wr = { .wr_id = 42 }, *bad = NULL;
	struct tern_srq srq = {};
	struct tern_rqe *rqe;

	make_ring(&srq.rq.ring, 2, 64, 2, UINT32_MAX);
	tern_lock_init(&srq.rq.lock, true);
	srq.rq.ring.hdr->flags = TERN_RING_KICK;
	memset(&bell, 0, sizeof(bell));
	expect(!tern_srq_post_recv(&srq.srq, &wr, &bad) && !bad);
	expect(!tern_srq_post_recv(&srq.srq, &wr, &bad) && !bad);
	expect(tern_srq_post_recv(&srq.srq, &wr, &bad) == ENOMEM && bad == &wr);
	rqe = take(&srq.rq.ring);
	expect(rqe->wr_id == 42 && rqe->num_sge == 0);
	expect_eq(bell.rings, 0);
	tern_lock_destroy(&srq.rq.lock);
	free(srq.rq.ring.hdr);
}

static const struct tap_test tests[] = {
	TEST(ring__refuses_impossible_sizes),
	TEST(ring__entries_follow_the_control_words),
	TEST(ring__is_mapped_at_its_key_and_not_inherited_by_fork),
	TEST(recv__an_entry_holds_the_list_without_a_doorbell),
	TEST(recv__the_doorbell_rings_only_when_the_kernel_asks),
	TEST(recv__a_post_that_was_flushed_has_not_failed),
	TEST(recv__requests_before_a_bad_one_are_posted),
	TEST(recv__a_qp_with_an_srq_takes_no_receives),
	TEST(srq__receives_never_ring),
};

int main(void)
{
	/* before the first mapping, as libibverbs demands */
	if (ibv_fork_init())
		return 1;
	return tap_run(tests, ARRAY_LEN(tests));
}
