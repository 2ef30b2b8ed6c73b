// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A program that writes anything into the rings that it shares with tern (tern-abi.h),
 * and rings the doorbell at any time. The kernel survives, the QP moves to ERROR, with
 * a completion where that is possible, and another QP is unharmed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

/* ---- indices ------------------------------------------------------------------------ */

static void sq_prod_wild(void)
{
	static const uint32_t wild[] = { 1000, 0x80000000u, -1 };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(wild); i++) {
		vandal_up();
		publish(sq, sq->prod + wild[i]);
		expect_caught();
	}
}

void put_rdma(uint32_t index, uint8_t opcode, uint32_t flags)
{
	struct tern_sqe *sqe = sqe_at(index);

	memset(sqe, 0, sq_stride);
	sqe->opcode = opcode;
	sqe->flags = flags;
	sqe->wr_id = 100 + index;
}

/*
 * While a Read Response is delayed, no entry after it completes, even if it was sent:
 * the queue is full, whatever the producer index says.
 */
static void sq_lapped(void)
{
	uint32_t from, i;

	vandal_up();
	impair("b", "delay 10s");
	from = sq->prod;
	put_rdma(from, TERN_WR_RDMA_READ, TERN_WR_SIGNALED);
	for (i = 1; i < ENTRIES; i++)
		put_rdma(from + i, TERN_WR_RDMA_WRITE, 0);
	publish(sq, from + ENTRIES);
	expect_eq(state_of(&v), IBV_QPS_RTS);
	put_rdma(from, TERN_WR_RDMA_WRITE, TERN_WR_SIGNALED);
	publish(sq, from + ENTRIES + 1);
	expect_error_state(&v);
	mend("b");
	expect_caught();
}

static void rq_prod_wild(void)
{
	static const uint32_t wild[] = { 1000, 0x80000000u, -1 };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(wild); i++) {
		vandal_up();
		publish(rq, rq->prod + wild[i]);
		post_send(&w, 1, 0, 8, 0);
		expect_caught();
	}
}

/* the kernel never reads the words that only it writes */
static void consumers_wild(void)
{
	int i;

	vandal_up();
	sq->cons = 0x12345678;
	rq->cons = 0x87654321;
	sq->silent = -1;
	rq->silent = 0x10;
	sq->flags = -1;
	rq->flags = -1;
	for (i = 0; i < 4; i++) {
		struct tern_sqe *sqe = sqe_at(sq->prod);

		memset(sqe, 0, sizeof(*sqe));
		sqe->opcode = TERN_WR_RDMA_WRITE;
		sqe->flags = TERN_WR_SIGNALED;
		sqe->wr_id = 50 + i;
		publish(sq, sq->prod + 1);
		expect_wc(v.scq, 50 + i, IBV_WC_SUCCESS);
	}
	expect_eq(state_of(&v), IBV_QPS_RTS);
	vandal_down();
}

static void cq_cons_wild(void)
{
	int i;

	vandal_up();
	scq->cons = scq->prod + 5000;
	scq->flags = 0xdeadbeef;
	for (i = 0; i < 8; i++)
		post_rdma(&v, &w, IBV_WR_RDMA_WRITE, i, 0, 8, 0,
			  IBV_SEND_SIGNALED);
	expect_caught();
}

/* the kernel uses a private copy of the CQ's producer index */
static void cq_prod_wild(void)
{
	uint32_t prod;

	vandal_up();
	prod = scq->prod;
	scq->prod = prod + 40;
	post_rdma(&v, &w, IBV_WR_RDMA_WRITE, 9, 0, 8, 0, IBV_SEND_SIGNALED);
	usleep(100000);
	expect_eq(scq->prod, prod + 1);
	vandal_down();
}

/* ---- entries -------------------------------------------------------------------------- */

/* a malformed entry gets a completion with its wr_id, and the QP moves to ERROR */
static void expect_bad_sqe(const struct tern_sqe *bad)
{
	struct tern_sqe *sqe;

	vandal_up();
	sqe = sqe_at(sq->prod);
	memset(sqe, 0, sq_stride);
	*sqe = *bad;
	sqe->wr_id = 77;
	publish(sq, sq->prod + 1);
	expect_wc(v.scq, 77, IBV_WC_LOC_QP_OP_ERR);
	expect_caught();
}

static void sqe_malformed(void)
{
	static const struct tern_sqe bad[] = {
		{ .opcode = 0 },
		{ .opcode = 255 },
		{ .opcode = TERN_WR_REG_MR },
		{ .opcode = TERN_WR_BIND_MW, .num_sge = 1 },
		{ .opcode = TERN_WR_BIND_MW, .flags = TERN_WR_INLINE },
		{ .opcode = TERN_WR_READ_WITH_INV },
		{ .opcode = TERN_WR_RECV },
		{ .opcode = TERN_WR_SEND, .flags = 0x80000000 },
		{ .opcode = TERN_WR_SEND, .flags = 1 << 4 },
		{ .opcode = TERN_WR_SEND, .num_sge = 17 },
		{ .opcode = TERN_WR_SEND, .num_sge = 255 },
		{ .opcode = TERN_WR_SEND, .num_sge = 1, .flags = TERN_WR_INLINE },
		{ .opcode = TERN_WR_SEND, .inline_len = 100000,
		  .flags = TERN_WR_INLINE },
		{ .opcode = TERN_WR_SEND, .inline_len = -1,
		  .flags = TERN_WR_INLINE },
		{ .opcode = TERN_WR_RDMA_READ, .flags = TERN_WR_INLINE },
		{ .opcode = TERN_WR_LOCAL_INV, .num_sge = 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		expect_bad_sqe(&bad[i]);
}

/* an entry that the provider would refuse */
static void sqe_too_long(void)
{
	struct tern_sqe *sqe;

	vandal_up();
	sqe = sqe_at(sq->prod);
	memset(sqe, 0, sq_stride);
	sqe->opcode = TERN_WR_RDMA_WRITE;
	sqe->num_sge = 2;
	sqe->wr_id = 5;
	sqe->sge[0].length = -1;
	sqe->sge[1].length = -1;
	publish(sq, sq->prod + 1);
	expect_wc(v.scq, 5, IBV_WC_LOC_QP_OP_ERR);
	expect_caught();
}

static void rqe_malformed(void)
{
	static const struct tern_rqe bad[] = {
		{ .num_sge = 5 }, { .num_sge = 0xffffffff },
		{ .num_sge = 0x10000 }, { .reserved = 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct tern_rqe *rqe;

		vandal_up();
		rqe = rqe_at(rq->prod);
		memset(rqe, 0, rq_stride);
		*rqe = bad[i];
		rqe->wr_id = 88;
		publish(rq, rq->prod + 1);
		post_send(&w, 1, 0, 8, 0);
		expect_wc(v.rcq, 88, IBV_WC_LOC_QP_OP_ERR);
		expect_caught();
	}
}

/* ---- random data -------------------------------------------------------------------------- */

static uint32_t noise = 4711;

uint32_t draw(void)
{
	noise ^= noise << 13;
	noise ^= noise >> 17;
	return noise ^= noise << 5;
}

static void scribble(void *p, size_t len)
{
	uint32_t *word = p;

	for (; len >= 4; len -= 4)
		*word++ = draw();
}

/* overwrite all rings again and again, and ring the doorbell */
static void scribble_all(void)
{
	int round, i;

	for (round = 0; round < 6; round++) {
		vandal_up();
		for (i = 0; i < 20; i++) {
			scribble((uint8_t *)sq + TERN_RING_DATA, ENTRIES * sq_stride);
			scribble((uint8_t *)rq + TERN_RING_DATA, ENTRIES * rq_stride);
			if (round & 1)
				scribble((uint8_t *)scq, 4096);
			publish(rq, round & 2 ? draw() : rq->prod + draw() % 4);
			publish(sq, round & 4 ? draw() : sq->prod + draw() % 4);
		}
		vandal_down();
	}
}

/* a child changes entries while the kernel reads them */
static void scribble_race(void)
{
	struct tern_sqe *sqe;
	pid_t child;
	int i;

	vandal_up();
	sqe = sqe_at(0);
	/* the rings are shared mappings, so the child writes to the same memory */
	child = fork();
	must(child >= 0);
	if (!child) {
		for (;;) {
			sqe->num_sge = draw() % 18;
			sqe->opcode = draw() % 16;
			sqe->flags = draw() % 16;
			sqe->inline_len = draw() % 300;
		}
	}
	for (i = 0; i < 2000 && state_of(&v) == IBV_QPS_RTS; i++)
		publish(sq, sq->prod + 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	vandal_down();
}

/* ---- doorbells ------------------------------------------------------------------------------ */

static void doorbell_arguments(void)
{
	int fd;

	vandal_up();
	fd = doorbell_fd();
	must(fd >= 0);
	expect_eq(ring(v.qp->qp_num), 0);
	expect_eq(ring(0), ENOENT);
	expect_eq(ring(0xffffffff), ENOENT);
	expect_eq(ring(v.qp->qp_num + 0x1000000), ENOENT);
	expect_eq(ring(v.qp->qp_num | TERN_DOORBELL_MORE), 0);
	expect_eq(ring((v.qp->qp_num + 0x1000000) | TERN_DOORBELL_MORE), ENOENT);
	expect(ioctl(fd, TERN_IOC_DOORBELL, 1ul << 32) && errno == EINVAL);
	expect(ioctl(fd, TERN_IOC_DOORBELL, -1ul) && errno == EINVAL);
	expect(ioctl(fd, 0, 0) && (errno == EINVAL || errno == ENOTTY));
	expect(ioctl(fd, 0xffffffff, v.qp->qp_num) &&
	       (errno == EINVAL || errno == ENOTTY));
	expect_eq(state_of(&v), IBV_QPS_RTS);
	vandal_down();
}

/* QPs of another context cannot be rung */
static void doorbell_of_others(void)
{
	uint32_t qpn;
	int shift;

	vandal_up();
	/* numbers near ours are unused or belong to another context */
	for (shift = -8; shift <= 8; shift++) {
		qpn = v.qp->qp_num + shift;
		if (qpn != v.qp->qp_num && qpn != a.qp->qp_num)
			ring(qpn);
	}
	vandal_down();
}

static void doorbell_after_destroy(void)
{
	uint32_t qpn;
	int i;

	vandal_up();
	qpn = v.qp->qp_num;
	end_free(&v);
	for (i = 0; i < 100; i++)
		must(ring(qpn) == ENOENT);
	expect_unharmed();
	end_free(&w);
	pair_down();
}

static void double_close(void)
{
	int fd, copy;

	vandal_up();
	fd = doorbell_fd();
	must(fd >= 0);
	copy = dup(fd);
	must(!close(copy));
	expect(close(copy) && errno == EBADF);
	/* close the doorbell itself, as a program might do by accident */
	copy = dup(fd);
	must(!close(fd));
	expect(close(fd) && errno == EBADF);
	must(dup2(copy, fd) == fd);
	must(!close(copy));
	expect_eq(ring(v.qp->qp_num), 0);
	vandal_down();
}

/* a child has the parent's files and rings: it may ring and exit */
static void fork_and_ring(void)
{
	struct tern_sqe *sqe;
	int status = -1;
	pid_t child;

	vandal_up();
	child = fork();
	must(child >= 0);
	if (!child) {
		int i, bad = 0;

		for (i = 0; i < 100; i++)
			bad |= ring(v.qp->qp_num);
		_exit(!!bad);
	}
	must(waitpid(child, &status, 0) == child);
	expect_eq(status, 0);
	sqe = sqe_at(sq->prod);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = TERN_WR_RDMA_WRITE;
	sqe->flags = TERN_WR_SIGNALED;
	sqe->wr_id = 3;
	publish(sq, sq->prod + 1);
	expect_wc(v.scq, 3, IBV_WC_SUCCESS);
	vandal_down();
}

/* a ringing child is killed while the parent sends */
static void fork_and_die(void)
{
	pid_t child;
	int i;

	vandal_up();
	for (i = 0; i < 10; i++) {
		child = fork();
		must(child >= 0);
		if (!child) {
			for (;;)
				ring(v.qp->qp_num);
		}
		post_rdma(&v, &w, IBV_WR_RDMA_WRITE, i, 0, 8, 0,
			  IBV_SEND_SIGNALED);
		expect_wc(v.scq, i, IBV_WC_SUCCESS);
		kill(child, SIGKILL);
		must(waitpid(child, NULL, 0) == child);
	}
	vandal_down();
}

/* ---- mappings --------------------------------------------------------------------------------- */

/* the program unmaps its rings: the kernel has its own mapping */
static void unmapped(void)
{
	vandal_up();
	must(!munmap(sq, ring_bytes(ENTRIES, sq_stride)));
	must(!munmap(scq, ring_bytes(CQ_ENTRIES, 64)));
	expect_eq(ring(v.qp->qp_num), 0);
	post_send(&w, 1, 0, 8, 0);	/* finds no receive */
	expect_error_state(&v);
	/* the provider will unmap these ranges again: put other memory there */
	must(mmap(sq, ring_bytes(ENTRIES, sq_stride), PROT_READ | PROT_WRITE,
		  MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == sq);
	must(mmap(scq, ring_bytes(CQ_ENTRIES, 64), PROT_READ | PROT_WRITE,
		  MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == scq);
	vandal_down();
}

/* offsets and sizes that no queue has */
static void wild_mappings(void)
{
	int fd = -1, i, mapped = 0;
	uint64_t at;
	void *p;

	vandal_up();
	fd = v.id->verbs->cmd_fd;
	for (i = 0; i < 2000; i++) {
		at = (uint64_t)(draw() % 64) << 12;
		if (i & 1)
			at = ((uint64_t)draw() << 20) & ~0xfffull;
		p = mmap(NULL, 4096 << draw() % 8, PROT_READ | PROT_WRITE,
			 i & 2 ? MAP_PRIVATE : MAP_SHARED, fd, at);
		if (p != MAP_FAILED)
			mapped++;
	}
	/* a few may match an offset and size of our own rings */
	expect(mapped < 200);
	vandal_down();
}

/* ---- a CQ that is resized ---------------------------------------------------------------------- */

/* a resize with an impossible consumer index is refused and changes nothing */
static void resize_cons_wild(void)
{
	static const uint32_t wild[] = { 1, 5000, 0x80000000u, -300 };
	unsigned int i;
	uint32_t cons;

	vandal_up();
	cons = scq->cons;
	for (i = 0; i < ARRAY_LEN(wild); i++) {
		scq->cons = scq->prod + wild[i];
		expect_eq(ibv_resize_cq(v.scq, 512), EINVAL);
	}
	scq->cons = cons;
	expect_eq(v.scq->cqe, CQ_ENTRIES);
	post_rdma(&v, &w, IBV_WR_RDMA_WRITE, 9, 0, 8, 0, IBV_SEND_SIGNALED);
	expect_wc(v.scq, 9, IBV_WC_SUCCESS);
	vandal_down();
}

/* a consumer index before the first entry: the new ring has only the program's own data */
static void resize_cons_too_old(void)
{
	const struct tern_cqe *cqe;
	uint32_t i;

	vandal_up();
	scq->cons = scq->prod - CQ_ENTRIES;
	must(!ibv_resize_cq(v.scq, 1024));
	refind_scq(1024);
	cqe = (void *)((uint8_t *)scq + TERN_RING_DATA);
	for (i = 0; i < 1024; i++)
		expect(!cqe[i].wr_id || cqe[i].wr_id == 1);
	expect_eq(scq->prod - scq->cons, CQ_ENTRIES);
	vandal_down();
}

/* never returns */
static void scribble_on_and_on(bool at_sq)
{
	for (;;) {
		scribble(scq, TERN_RING_DATA + 64 * 64);
		if (at_sq)
			sq->prod = draw();
		scq->cons = scq->prod - draw() % 8;
	}
}

/* resize once while a child overwrites the old ring */
static void resize_once(int cqe, bool at_sq)
{
	pid_t child = fork();
	int err;

	must(child >= 0);
	if (!child)
		scribble_on_and_on(at_sq);
	usleep(1000);
	if (state_of(&v) == IBV_QPS_RTS)
		publish(sq, sq->prod + 1);
	/* EINVAL is possible: the child writes wrong indices */
	err = ibv_resize_cq(v.scq, cqe);
	kill(child, SIGKILL);
	must(waitpid(child, NULL, 0) == child);
	expect(!err || err == EINVAL);
	if (!err)
		refind_scq(cqe);
}

static void resize_scribbled(void)
{
	static const int sizes[] = { 512, 1024, 2048, 128 };
	unsigned int round, i;

	for (round = 0; round < 4; round++) {
		vandal_up();
		for (i = 0; i < 12; i++)
			resize_once(sizes[i % ARRAY_LEN(sizes)], round & 1);
		vandal_down();
	}
}

/* two children share the context and resize the same CQ at the same time */
static void resize_twice_at_once(void)
{
	pid_t child[2];
	int k, i;

	vandal_up();
	for (k = 0; k < 2; k++) {
		child[k] = fork();
		must(child[k] >= 0);
		for (i = 0; !child[k]; i++)
			ibv_resize_cq(v.scq, i & 1 ? 256 : 700);
	}
	for (i = 0; i < 500; i++) {
		if (state_of(&v) == IBV_QPS_RTS)
			post_rdma(&v, &w, IBV_WR_RDMA_WRITE, i, 0, 8, 0,
				  i % 64 ? 0 : IBV_SEND_SIGNALED);
		usleep(200);
	}
	for (k = 0; k < 2; k++) {
		kill(child[k], SIGKILL);
		must(waitpid(child[k], NULL, 0) == child[k]);
	}
	vandal_down();
}

static const struct tap_test tests[] = {
	{ "a wild producer index in the SQ: ERROR", sq_prod_wild },
	{ "entries posted before older ones completed: ERROR", sq_lapped },
	{ "a wild producer index in the RQ: ERROR", rq_prod_wild },
	{ "the kernel never reads back the words that only it writes", consumers_wild },
	{ "a wild consumer index in the CQ: overflow, ERROR", cq_cons_wild },
	{ "the kernel overwrites a changed producer index of the CQ", cq_prod_wild },
	{ "a malformed SQ entry: a completion with an error, ERROR", sqe_malformed },
	{ "DDP-045: a list of 8 GiB in the SQ: a completion with an error", sqe_too_long },
	{ "a malformed RQ entry: a completion with an error, ERROR", rqe_malformed },
	{ "random data in all rings", scribble_all },
	{ "entries that change while they are read", scribble_race },
	{ "doorbells with bad arguments: ENOENT, EINVAL", doorbell_arguments },
	{ "doorbell__lies_delay_the_liar", doorbell_lies },
	{ "doorbell__no_backstop_outlives_its_qp", backstop_race },
	{ "doorbell__local_entries_without_end_take_little_of_a_cpu", locals_without_end },
	{ "read__is_answered_beside_local_entries_without_end", reads_beside_locals },
	{ "doorbell__returns_while_entries_come_without_end", doorbell_without_end },
	{ "flush__ends_for_a_qp_without_a_connection", flush_without_end },
	{ "doorbells for QPs of other contexts", doorbell_of_others },
	{ "doorbell after destroy: ENOENT", doorbell_after_destroy },
	{ "the doorbell's descriptor is closed twice", double_close },
	{ "a child rings the doorbell", fork_and_ring },
	{ "children killed while they ring", fork_and_die },
	{ "the program unmaps its rings while they are in use", unmapped },
	{ "bind_mw__valid_raw_entry_binds", bind_good },
	{ "bind_mw__each_bad_field_is_refused", bind_bad_fields },
	{ "bind_mw__entries_that_change_while_they_are_read", bind_race },
	{ "atomic__valid_raw_entry_works", atomic_good },
	{ "atomic__each_bad_field_is_refused", atomic_bad_fields },
	{ "atomic__result_where_the_program_may_not_write", atomic_bad_places },
	{ "atomic__operands_that_change_while_they_are_read", atomic_varied },
	{ "atomic__any_field_that_changes_while_it_is_read", atomic_spoilt },
	{ "imm__valid_raw_entry_works", imm_good },
	{ "imm__each_bad_field_is_refused", imm_bad_fields },
	{ "req_notify_cq__no_event_without_a_completion", events_of_nothing },
	{ "req_notify_cq__writing_the_arm_word_raises_no_event", events_by_armed_words },
	{ "req_notify_cq__no_event_after_the_overflow", events_after_overflow },
	{ "modify_srq__no_event_without_a_receive", limits_of_nothing },
	{ "modify_qp__error_again_raises_no_event", error_states_again },
	{ "mmap() at offsets that no queue has", wild_mappings },
	{ "resize_cq__a_wild_consumer_index_is_refused", resize_cons_wild },
	{ "resize_cq__a_false_consumer_index_reveals_no_other_data", resize_cons_too_old },
	{ "resize_cq__while_the_ring_is_overwritten", resize_scribbled },
	{ "resize_cq__by_two_processes_at_once", resize_twice_at_once },
};

int main(int argc, char **argv)
{
	static const struct tap_theme all = { tests, ARRAY_LEN(tests) };

	enter_netns(NULL);
	return tap_run((const struct tap_theme *[]) { &all, NULL }, argc - 1, argv + 1);
}
