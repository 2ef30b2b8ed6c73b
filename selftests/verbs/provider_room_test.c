// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The provider: when the queues of a QP have room again. A completion makes room when it
 * is polled, an entry without one when the kernel says so.
 */

#include <sys/mman.h>

#include "provider_fake.h"

/* a QP of a kernel that counts the entries that end without a completion */
static struct tern_qp *make_counted_qp_at(uint32_t start)
{
	struct tern_qp *qp = make_qp_at(start, SQ_ENTRIES);
	struct tern_polled *polled;

	expect(!tern_polled_init(&fake_ctx.polled));
	polled = tern_polled_get(&fake_ctx.polled, QPN);
	expect(polled && !polled->sends && !polled->recvs);
	/* the indices of a real queue start at 0, as the counts do */
	polled->sends = start;
	polled->recvs = start;
	qp->sq.ring.polled = &polled->sends;
	qp->rq.ring.polled = &polled->recvs;
	qp->sq.ring.hdr->silent = 0;
	qp->rq.ring.hdr->silent = 0;
	return qp;
}

static struct tern_qp *make_counted_qp(void)
{
	return make_counted_qp_at(0);
}

static void free_all(struct tern_qp *qp, struct tern_cq *cq)
{
	free_qp(qp);
	free_cq(cq);
	tern_polled_free(&fake_ctx.polled);
	memset(&fake_ctx.polled, 0, sizeof(fake_ctx.polled));
}

static int post_send(struct tern_qp *qp)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	return post(qp, &wr);
}

static int post_recv(struct tern_qp *qp)
{
	struct ibv_recv_wr wr = {}, *bad;

	return tern_qp_post_recv(&qp->vqp.qp, &wr, &bad);
}

/* post until there is no room; Return: how many */
static int fill(struct tern_qp *qp, int (*post_one)(struct tern_qp *))
{
	int n = 0, err;

	while (!(err = post_one(qp)))
		n++;
	expect_eq(err, ENOMEM);
	return n;
}

/* the kernel completes the oldest @n entries */
static void end(struct tern_ring *ring, struct tern_cq *cq, uint8_t opcode, int n)
{
	struct tern_cqe cqe = { .qpn = QPN, .opcode = opcode };

	for (; n; n--) {
		expect(take(ring));
		taken(ring);
		complete(cq, &cqe);
	}
}

static void end_sends(struct tern_qp *qp, struct tern_cq *cq, int n)
{
	end(&qp->sq.ring, cq, TERN_WR_SEND, n);
}

static int poll(struct tern_cq *cq, int n)
{
	struct ibv_wc wc[2 * SQ_ENTRIES];

	return tern_cq_poll(&cq->vcq.cq, n, wc);
}

static void room__comes_when_a_completion_is_polled(void)
{
	struct tern_cq *cq = make_cq_at(SQ_ENTRIES, 0);
	struct tern_qp *qp = make_counted_qp();

	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	end_sends(qp, cq, SQ_ENTRIES);
	expect_eq(fill(qp, post_send), 0);
	expect_eq(poll(cq, 3), 3);
	expect_eq(fill(qp, post_send), 3);
	end_sends(qp, cq, 3);
	expect_eq(fill(qp, post_send), 0);
	expect_eq(poll(cq, SQ_ENTRIES), SQ_ENTRIES);
	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	free_all(qp, cq);
}

static void room__comes_without_a_completion_as_the_kernel_says(void)
{
	struct tern_cq *cq = make_cq_at(SQ_ENTRIES, 0);
	struct tern_qp *qp = make_counted_qp();
	int i;

	for (i = 0; i < 5; i++) {
		expect_eq(fill(qp, post_send), SQ_ENTRIES);
		qp->sq.ring.hdr->silent += SQ_ENTRIES;
		qp->sq.ring.hdr->cons += SQ_ENTRIES;
	}
	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	qp->sq.ring.hdr->silent += SQ_ENTRIES - 1;
	qp->sq.ring.hdr->cons += SQ_ENTRIES - 1;
	end_sends(qp, cq, 1);
	expect_eq(fill(qp, post_send), SQ_ENTRIES - 1);
	expect_eq(poll(cq, 1), 1);
	expect_eq(fill(qp, post_send), 1);
	free_all(qp, cq);
}

static void room__of_an_older_kernel_comes_when_an_entry_ends(void)
{
	struct tern_cq *cq = make_cq_at(SQ_ENTRIES, 0);
	struct tern_qp *qp = make_qp();

	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	end_sends(qp, cq, 3);
	expect_eq(fill(qp, post_send), 3);
	expect_eq(poll(cq, SQ_ENTRIES), 3);
	expect_eq(fill(qp, post_send), 0);
	free_all(qp, cq);
}

static void room__of_sends_and_receives_is_counted_apart(void)
{
	struct tern_cq *cq = make_cq_at(2 * SQ_ENTRIES, 0);
	struct tern_qp *qp = make_counted_qp();

	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	expect_eq(fill(qp, post_recv), SQ_ENTRIES);
	end_sends(qp, cq, 2);
	end(&qp->rq.ring, cq, TERN_WR_RECV, 3);
	end(&qp->rq.ring, cq, TERN_WR_RECV_IMM, 1);
	expect_eq(fill(qp, post_recv), 0);
	expect_eq(poll(cq, 1), 1);
	expect_eq(fill(qp, post_send), 1);
	expect_eq(fill(qp, post_recv), 0);
	expect_eq(poll(cq, 5), 5);
	expect_eq(fill(qp, post_send), 1);
	expect_eq(fill(qp, post_recv), 4);
	free_all(qp, cq);
}

static void room__comes_to_who_posts_while_an_extended_poll_reads(void)
{
	struct tern_cq *cq = make_cq_at(SQ_ENTRIES, 0);
	struct tern_qp *qp = make_counted_qp();
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	end_sends(qp, cq, SQ_ENTRIES);
	expect(!ex->start_poll(ex, &attr));
	expect_eq(cq->ring.hdr->cons, 1);
	expect_eq(fill(qp, post_send), 1);
	/* it takes the place of the completion that is being read */
	end(&qp->sq.ring, cq, TERN_WR_RDMA_WRITE, 1);
	expect_eq(ex->read_opcode(ex), IBV_WC_SEND);
	expect(!ex->next_poll(ex));
	expect_eq(cq->ring.hdr->cons, 2);
	expect_eq(fill(qp, post_send), 1);
	ex->end_poll(ex);
	expect_eq(fill(qp, post_send), 0);
	free_all(qp, cq);
}

static void room__of_a_batch_is_the_same(void)
{
	struct tern_cq *cq = make_cq_at(SQ_ENTRIES, 0);
	struct tern_qp *qp = make_counted_qp();
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	end_sends(qp, cq, SQ_ENTRIES);
	ex->wr_start(ex);
	ex->wr_send(ex);
	expect_eq(ex->wr_complete(ex), ENOMEM);
	expect_eq(poll(cq, 1), 1);
	ex->wr_start(ex);
	ex->wr_send(ex);
	expect(!ex->wr_complete(ex));
	free_all(qp, cq);
}

/* they are those of a QP that was destroyed and had the number before */
static void room__of_too_many_completions_spares_what_the_kernel_has(void)
{
	struct tern_cq *cq = make_cq_at(2 * SQ_ENTRIES, 0);
	struct tern_cqe cqe = { .qpn = QPN, .opcode = TERN_WR_SEND };
	struct tern_qp *qp = make_counted_qp();
	int i;

	for (i = 0; i < SQ_ENTRIES; i++)
		complete(cq, &cqe);
	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	expect_eq(poll(cq, SQ_ENTRIES), SQ_ENTRIES);
	expect_eq(fill(qp, post_send), 0);
	end_sends(qp, cq, 1);
	expect_eq(fill(qp, post_send), 1);
	free_all(qp, cq);
}

static void room__is_counted_beyond_32_bits(void)
{
	struct tern_qp *qp = make_counted_qp_at(UINT32_MAX - 2);
	struct tern_cq *cq = make_cq_at(SQ_ENTRIES, 0);
	int i;

	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	for (i = 0; i < 3 * SQ_ENTRIES; i++) {
		end_sends(qp, cq, 1);
		expect_eq(fill(qp, post_send), 0);
		expect_eq(poll(cq, 1), 1);
		expect_eq(fill(qp, post_send), 1);
	}
	free_all(qp, cq);
}

static void room__of_a_number_that_no_qp_has_is_not_counted(void)
{
	static const uint32_t qpns[] = { 0, QPN + 1, TERN_POLLED_PAGE * 2 + 1, 1 << TERN_QPN_BITS,
					 (1 << TERN_QPN_BITS) + QPN, UINT32_MAX };
	struct tern_cq *cq = make_cq_at(SQ_ENTRIES, 0);
	struct tern_qp *qp = make_counted_qp();
	struct tern_cqe cqe = {};
	size_t i;

	expect_eq(fill(qp, post_send), SQ_ENTRIES);
	qp->sq.ring.hdr->cons += SQ_ENTRIES;
	for (i = 0; i < ARRAY_LEN(qpns); i++) {
		cqe.qpn = qpns[i];
		complete(cq, &cqe);
	}
	expect_eq(poll(cq, SQ_ENTRIES), (int)ARRAY_LEN(qpns));
	expect_eq(fill(qp, post_send), 0);
	expect(!tern_polled_get(&fake_ctx.polled, 1 << TERN_QPN_BITS));
	expect(tern_polled_get(&fake_ctx.polled, (1 << TERN_QPN_BITS) - 1));
	free_all(qp, cq);
}

/* of the pages that @polled and what follows it lie in */
static int resident(const struct tern_polled *polled)
{
	size_t page = sysconf(_SC_PAGESIZE), bytes = TERN_POLLED_PAGE * sizeof(*polled), i;
	unsigned char vec[256] = {};
	int n = 0;

	expect(bytes / page < sizeof(vec) && !mincore((void *)polled, bytes, vec));
	for (i = 0; i < sizeof(vec); i++)
		n += vec[i] & 1;
	return n;
}

/*
 * Does the kernel take back memory that is advised so? QEMU's emulation of one program may do
 * nothing, and Linux before 5.18 does nothing with what is locked.
 */
static bool is_taken_back(bool locked)
{
	size_t bytes = TERN_POLLED_PAGE * sizeof(struct tern_polled);
	struct tern_polled *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int advice = MADV_DONTNEED;
	bool taken;

#ifdef MADV_DONTNEED_LOCKED
	if (locked)
		advice = MADV_DONTNEED_LOCKED;
#endif
	expect(p != MAP_FAILED);
	p->sends = 1;
	expect(!locked || !mlock(p, sizeof(*p)));
	taken = !madvise(p, bytes, advice) && !resident(p);
	munmap(p, bytes);
	return taken;
}

static void room__takes_no_memory_for_the_numbers_of_destroyed_qps(void)
{
	const uint32_t first = 3 * TERN_POLLED_PAGE, last = first + TERN_POLLED_PAGE - 1;
	struct tern_polled_table table = {};
	struct tern_polled *a, *b;

	expect(!tern_polled_init(&table));
	a = tern_polled_get(&table, first);
	b = tern_polled_get(&table, last);
	expect_eq(b - a, last - first);
	tern_polled_count(&table, first, false);
	tern_polled_count(&table, last, true);
	tern_polled_put(&table, first);
	expect(resident(a) > 0);
	expect_eq(b->recvs, 1);
	tern_polled_put(&table, last);
	expect(!resident(a) || !is_taken_back(false));

	/* a completion that is late harms nothing */
	tern_polled_count(&table, last, true);
	expect_eq(tern_polled_get(&table, last), b);
	expect(!b->recvs && !b->sends);
	tern_polled_put(&table, last);
	expect(!resident(a) || !is_taken_back(false));

	/* nor in a program that has its memory locked */
	expect_eq(tern_polled_get(&table, first), a);
	expect(!mlock(a, sizeof(*a)));
	tern_polled_put(&table, first);
	expect(!resident(a) || !is_taken_back(true));
	tern_polled_free(&table);
}

static const struct tap_test tests[] = {
	TEST(room__comes_when_a_completion_is_polled),
	TEST(room__comes_without_a_completion_as_the_kernel_says),
	TEST(room__of_an_older_kernel_comes_when_an_entry_ends),
	TEST(room__of_sends_and_receives_is_counted_apart),
	TEST(room__comes_to_who_posts_while_an_extended_poll_reads),
	TEST(room__of_a_batch_is_the_same),
	TEST(room__of_too_many_completions_spares_what_the_kernel_has),
	TEST(room__is_counted_beyond_32_bits),
	TEST(room__of_a_number_that_no_qp_has_is_not_counted),
	TEST(room__takes_no_memory_for_the_numbers_of_destroyed_qps),
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
