// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Atomics, Immediate Data and Sends with Immediate (RFC 7306, RDMAP version 2), between
 * two devices whose extensions kverbs.sh has set.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <net/sock.h>

#include "kverbs.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
		 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

/*
 * struct words - b's words, and where a's results go
 * @mr: b's, of four words
 * @word: them
 * @res: a's memory
 */
struct words {
	struct kv_mr *mr;
	u64 *word;
	struct kv_mem *res;
};

static int open_words(struct kv_test *t, struct words *w, int access)
{
	w->mr = kv_mr(&t->pair.b, 64, 32, 0);
	w->res = kv_mem(&t->pair.a, 4096);
	if (!w->mr || !w->res)
		return -ENOMEM;
	w->word = sg_virt(w->mr->sg);
	return kv_reg(&t->pair.b, w->mr, access);
}

/* post an atomic on word @n; its result goes to a's result @slot */
static int post(struct kv_end *a, struct words *w, struct kv_op *op, u32 n, u32 slot,
		struct ib_atomic_wr *wr)
{
	struct ib_sge s = kv_sge(w->res, 8 * slot, 8);
	const struct ib_send_wr *bad;

	s.lkey = a->pd->local_dma_lkey;
	wr->wr.wr_cqe = &op->cqe;
	wr->wr.send_flags = IB_SEND_SIGNALED;
	wr->wr.sg_list = &s;
	wr->wr.num_sge = 1;
	wr->remote_addr = w->mr->mr->iova + 8 * n;
	wr->rkey = w->mr->mr->rkey;
	return ib_post_send(a->qp, &wr->wr, &bad);
}

static int want(const struct words *w, u32 slot, u64 old, u64 now)
{
	u64 got = ((u64 *)w->res->va)[slot];

	if (got != old || w->word[0] != now)
		return kv_fail(-EPROTO, "result %llx, word %llx, not %llx and %llx", got,
			       w->word[0], old, now);
	return 0;
}

static int fetch_add(struct kv_test *t)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 0x1111,
	};
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 1);
	struct words w;
	int ret = op ? open_words(t, &w, REMOTE) : -ENOMEM;

	if (ret)
		return ret;
	w.word[0] = 0x0102030405060708;
	ret = post(a, &w, op, 0, 0, &wr) ?: kv_ok(a, op) ?:
	      want(&w, 0, 0x0102030405060708, 0x0102030405061819);
	if (!ret && (op->wc.opcode != IB_WC_FETCH_ADD || op->wc.byte_len != 8))
		ret = kv_fail(-EPROTO, "opcode %d, %u bytes", op->wc.opcode,
			      op->wc.byte_len);
	return ret;
}

/* two fields of 32 bits: the carry of the lower one is dropped */
static int masked_add(struct kv_test *t)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.compare_add = 0x0000000100000001,
		.compare_add_mask = 0x8000000080000000,
	};
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 1);
	struct words w;
	int ret = op ? open_words(t, &w, REMOTE) : -ENOMEM;

	if (ret)
		return ret;
	w.word[0] = 0x00000007ffffffff;
	return post(a, &w, op, 0, 0, &wr) ?: kv_ok(a, op) ?:
	       want(&w, 0, 0x00000007ffffffff, 0x0000000800000000);
}

static int cmp_swap(struct kv_test *t)
{
	struct ib_atomic_wr equal = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .compare_add = 5, .swap = 6,
	};
	struct ib_atomic_wr differs = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .compare_add = 5, .swap = 7,
	};
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 2);
	struct words w;
	int ret = op ? open_words(t, &w, REMOTE) : -ENOMEM;

	if (ret)
		return ret;
	w.word[0] = 5;
	return post(a, &w, &op[0], 0, 0, &equal) ?: kv_ok(a, &op[0]) ?: want(&w, 0, 5, 6) ?:
	       post(a, &w, &op[1], 0, 1, &differs) ?: kv_ok(a, &op[1]) ?: want(&w, 1, 6, 6);
}

static int masked_swap(struct kv_test *t)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.compare_add = 0xab, .compare_add_mask = 0xff,
		.swap = 0x1200, .swap_mask = 0xff00,
	};
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 1);
	struct words w;
	int ret = op ? open_words(t, &w, REMOTE) : -ENOMEM;

	if (ret)
		return ret;
	w.word[0] = 0x7777ab;
	return post(a, &w, op, 0, 0, &wr) ?: kv_ok(a, op) ?:
	       want(&w, 0, 0x7777ab, 0x7712ab);
}

#define MANY	64

/* RFC 7306 7: Reads and atomics are answered in the order of their Requests */
static int read_between(struct kv_test *t)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 1,
	};
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 2 * MANY);
	struct words w;
	int ret = op ? open_words(t, &w, REMOTE) : -ENOMEM;
	u64 *res;
	u32 i;

	if (ret)
		return ret;
	res = w.res->va;
	w.word[0] = 0;
	for (i = 0; i < 2 * MANY && !ret; i += 2) {
		struct ib_sge s = kv_sge(w.res, 8 * (i + 1), 8);

		ret = post(a, &w, &op[i], 0, i, &wr) ?:
		      kv_post_rdma(a, &op[i + 1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, &s, 1,
				   w.mr->mr->iova, w.mr->mr->rkey);
	}
	for (i = 0; i < 2 * MANY && !ret; i++) {
		ret = kv_ok(a, &op[i]);
		if (!ret && res[i] != (i + 1) / 2)
			ret = kv_fail(-EPROTO, "answer %u is %llu", i, res[i]);
	}
	return ret;
}

struct writer {
	atomic64_t *word;
	u64 count;
};

/* a program that counts in the word itself, as fast as it can */
static int count_up(void *arg)
{
	struct writer *wr = arg;

	while (!kthread_should_stop()) {
		atomic64_inc(wr->word);
		if (!(++wr->count % 1024))
			cond_resched();
	}
	return 0;
}

/* whole and masked adds to bits 32 to 47, and a swap of bits 48 to 63 */
static int change_upper_half(struct kv_test *t, struct words *w, u16 round)
{
	struct ib_atomic_wr wr[] = {
		{ .wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = BIT_ULL(32) },
		{ .wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		  .compare_add = BIT_ULL(32), .compare_add_mask = BIT_ULL(63) },
		{ .wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		  .swap = (u64)round << 48, .swap_mask = 0xffffULL << 48 },
	};
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 60);
	int i, ret = op ? 0 : -ENOMEM;

	for (i = 0; i < 60 && !ret; i++)
		ret = post(a, w, &op[i], 0, 0, &wr[i % 3]);
	for (i = 0; i < 60 && !ret; i++)
		ret = kv_ok(a, &op[i]);
	return ret;
}

#define ROUNDS	50

/* the CPUs of the target change the word at the same time: nothing is lost */
static int beside_the_cpu(struct kv_test *t)
{
	struct writer wr = {};
	struct task_struct *task;
	struct words w;
	int i, ret = open_words(t, &w, REMOTE);
	u64 want;

	if (ret)
		return ret;
	w.word[0] = 0;
	wr.word = (atomic64_t *)w.word;
	task = kthread_run(count_up, &wr, "kverbs-count");
	if (IS_ERR(task))
		return PTR_ERR(task);
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = change_upper_half(t, &w, i);
	kthread_stop(task);
	want = (u64)(ROUNDS - 1) << 48 | (u64)ROUNDS * 40 << 32 | wr.count;
	if (!ret && w.word[0] != want)
		ret = kv_fail(-EPROTO, "the word is %llx, not %llx", w.word[0], want);
	return ret;
}

static int atomic_refused(struct kv_test *t, int access, u32 n)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 1,
	};
	struct kv_end *a = &t->pair.a;
	struct kv_op *op = kv_ops(t, 1);
	struct words w;
	int ret = op ? open_words(t, &w, access) : -ENOMEM;

	if (ret)
		return ret;
	memset(w.word, 0, 32);
	return post(a, &w, op, n, 0, &wr) ?: kv_want(a, op, IB_WC_REM_ACCESS_ERR) ?:
	       kv_check_zero(w.word, 32);
}

static int no_right(struct kv_test *t)
{
	return atomic_refused(t, REMOTE & ~IB_ACCESS_REMOTE_ATOMIC, 0);
}

static int out_of_bounds(struct kv_test *t)
{
	return atomic_refused(t, REMOTE, 4);
}

/* RFC 7306 5.1: the target is 64-bit aligned; the post refuses any other */
static int unaligned(struct kv_test *t)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 1,
		.wr.num_sge = 1, .remote_addr = 4, .rkey = 1,
	};
	struct kv_mem *res = kv_mem(&t->pair.a, 64);
	const struct ib_send_wr *bad;
	struct ib_sge s;
	int ret;

	if (!res)
		return -ENOMEM;
	s = kv_sge(res, 0, 8);
	wr.wr.sg_list = &s;
	ret = ib_post_send(t->pair.a.qp, &wr.wr, &bad);
	if (ret != -EINVAL)
		return kv_fail(-EPROTO, "the post returned %d", ret);
	return kv_pair_works(&t->pair);
}

/* the memory begins 4 bytes after a 64-bit boundary, so a good TO names a bad address */
static int unaligned_memory(struct kv_test *t)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 1,
	};
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 1);
	struct words w = {
		.mr = kv_mr(b, 68, 32, 0), .res = kv_mem(a, 64),
	};
	int ret;

	if (!op || !w.mr || !w.res)
		return -ENOMEM;
	w.word = sg_virt(w.mr->sg);
	w.mr->mr->iova &= ~7ULL;
	memset(w.word, 0, 32);
	ret = kv_reg(b, w.mr, REMOTE) ?: post(a, &w, op, 0, 0, &wr) ?:
	      kv_want(a, op, IB_WC_REM_OP_ERR);
	return ret ?: kv_check_zero(w.word, 32);
}

/* one completion of a Write and of the immediate after it; with @buffer, it is refused */
static int write_with_imm(struct kv_test *t, u32 len, bool buffer)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, 65536), *theirs = kv_mem(b, 65536);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM, .wr.num_sge = 1,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.ex.imm_data = cpu_to_be32(0x01020304),
	};
	const struct ib_send_wr *bad;
	struct ib_sge s, r;
	int ret;

	if (!ours || !theirs || !op)
		return -ENOMEM;
	s = kv_sge(ours, 0, len);
	r = kv_sge(theirs, 0, 64);
	s.lkey = a->pd->local_dma_lkey;
	wr.wr.wr_cqe = &op[1].cqe;
	wr.wr.sg_list = &s;
	wr.remote_addr = theirs->dma;
	wr.rkey = b->pd->unsafe_global_rkey;
	kv_fill(ours->va, len, 31, 0);
	ret = kv_post_recv(b, &op[0], &r, buffer) ?: ib_post_send(a->qp, &wr.wr, &bad);
	if (!ret && buffer)
		return kv_want(b, &op[0], IB_WC_WR_FLUSH_ERR);
	ret = ret ?: kv_ok(b, &op[0]) ?: kv_ok(a, &op[1]) ?: kv_check(theirs->va, len, 31, 0);
	if (ret)
		return ret;
	if (op[1].wc.opcode != IB_WC_RDMA_WRITE ||
	    op[0].wc.opcode != IB_WC_RECV_RDMA_WITH_IMM ||
	    op[0].wc.wc_flags != IB_WC_WITH_IMM ||
	    op[0].wc.byte_len != len ||
	    op[0].wc.ex.imm_data != cpu_to_be32(0x01020304))
		return kv_fail(-EPROTO, "opcodes %d %d, flags %x, %u bytes, imm %x",
			       op[1].wc.opcode, op[0].wc.opcode, op[0].wc.wc_flags,
			       op[0].wc.byte_len, be32_to_cpu(op[0].wc.ex.imm_data));
	return 0;
}

static int imm_sizes(struct kv_test *t)
{
	return write_with_imm(t, 0, false) ?: write_with_imm(t, 1, false) ?:
	       write_with_imm(t, 65536, false) ?: write_with_imm(t, 0, false);
}

/* a kernel ULP that posts a buffer expects a Send, and looks at no opcode */
static int imm_into_a_buffer(struct kv_test *t)
{
	return write_with_imm(t, 65536, false) ?: write_with_imm(t, 65536, true);
}

static int send_with_imm(struct kv_test *t, u32 len)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, 65536), *theirs = kv_mem(b, 65536);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s, r;
	int ret;

	if (!ours || !theirs || !op)
		return -ENOMEM;
	s = kv_sge(ours, 0, len);
	r = kv_sge(theirs, 0, len);
	kv_fill(ours->va, len, 32, 0);
	ret = kv_post_recv(b, &op[0], &r, 1) ?:
	      kv_post_send(a, &op[1], IB_WR_SEND_WITH_IMM, IB_SEND_SIGNALED, &s, 1,
			   (__force u32)cpu_to_be32(7)) ?:
	      kv_ok(b, &op[0]) ?: kv_ok(a, &op[1]) ?: kv_check(theirs->va, len, 32, 0);
	if (ret)
		return ret;
	if (op[0].wc.opcode != IB_WC_RECV || op[0].wc.wc_flags != IB_WC_WITH_IMM ||
	    op[0].wc.byte_len != len || op[0].wc.ex.imm_data != cpu_to_be32(7))
		return kv_fail(-EPROTO, "opcode %d, flags %x, %u bytes, imm %x",
			       op[0].wc.opcode, op[0].wc.wc_flags, op[0].wc.byte_len,
			       be32_to_cpu(op[0].wc.ex.imm_data));
	return 0;
}

static int send_imm_sizes(struct kv_test *t)
{
	return send_with_imm(t, 0) ?: send_with_imm(t, 1) ?: send_with_imm(t, 65536) ?:
	       kv_pair_works(&t->pair);
}

/*
 * RFC 5041 5.2: a message has less than 2^32 bytes, the 8 of the immediate included. The
 * list has a bad key, so the longest message fails by that before anything is sent.
 */
static int longest_imm(struct kv_test *t, u32 len, enum ib_wc_status status)
{
	struct kv_op *op = kv_ops(t, 1);
	struct ib_sge s = { .lkey = 0xdead00, .length = len };

	if (!op)
		return -ENOMEM;
	return kv_post_send(&t->pair.a, op, IB_WR_SEND_WITH_IMM, IB_SEND_SIGNALED, &s, 1,
			    0) ?: kv_want(&t->pair.a, op, status);
}

static int send_imm_longest(struct kv_test *t)
{
	return longest_imm(t, U32_MAX - 8, IB_WC_LOC_PROT_ERR);
}

static int send_imm_too_long(struct kv_test *t)
{
	return longest_imm(t, U32_MAX - 7, IB_WC_LOC_QP_OP_ERR);
}

/* Reads of both forms give the same */
static int read_v2(struct kv_test *t)
{
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_mem *ours = kv_mem(a, 200000), *theirs = kv_mem(b, 200000);
	struct kv_op *op = kv_ops(t, 2);
	struct ib_sge s[2];

	if (!ours || !theirs || !op)
		return -ENOMEM;
	s[0] = kv_sge(ours, 0, 3);
	s[1] = kv_sge(ours, 3, 200000 - 3);
	kv_fill(theirs->va, 200000, 33, 0);
	return kv_post_rdma(a, &op[0], IB_WR_RDMA_READ, IB_SEND_SIGNALED, s, 2, theirs->dma,
			    b->pd->unsafe_global_rkey) ?:
	       kv_post_rdma(a, &op[1], IB_WR_RDMA_READ, IB_SEND_SIGNALED, NULL, 0,
			    theirs->dma, b->pd->unsafe_global_rkey) ?:
	       kv_ok(a, &op[0]) ?: kv_ok(a, &op[1]) ?:
	       kv_check(ours->va, 200000, 33, 0);
}

/* an atomic of a arrives, and a bad entry of b is posted, while b's socket is held */
static int both_while_held(struct kv_test *t, struct words *w, struct kv_op *op)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 1,
	};
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	/* a list is checked before its message begins, a lone element with its first FPDU */
	struct ib_sge bad[] = {
		{ .lkey = 0xdead00, .length = 60000 },
		{ .lkey = 0xdead00, .length = 60000 },
	};
	struct sock *sk = kv_sock(b);
	int ret;

	if (!sk)
		return kv_fail(-ENOTCONN, "no TCP connection");
	lock_sock(sk);
	ret = post(a, w, &op[0], 0, 1, &wr) ?: kv_wait_backlog(sk) ?:
	      kv_post_send(b, &op[1], IB_WR_SEND, IB_SEND_SIGNALED, bad, 2, 0);
	release_sock(sk);
	sock_put(sk);
	return ret;
}

/* b's entry is due, and fails: after the flush no atomic is performed */
static int after_a_flush(struct kv_test *t)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 1,
	};
	struct kv_end *a = &t->pair.a, *b = &t->pair.b;
	struct kv_op *op = kv_ops(t, 3);
	struct words w;
	int ret = op ? open_words(t, &w, REMOTE) : -ENOMEM;

	if (ret)
		return ret;
	w.word[0] = 0;
	/* after a Response an entry of b is next */
	ret = post(a, &w, &op[0], 0, 0, &wr) ?: kv_ok(a, &op[0]) ?:
	      both_while_held(t, &w, &op[1]) ?:
	      kv_want(b, &op[2], IB_WC_LOC_PROT_ERR) ?: kv_wait(a, &op[1]);
	if (!ret && (op[1].wc.status == IB_WC_SUCCESS || w.word[0] != 1))
		ret = kv_fail(-EPROTO, "status %d, word %llu", op[1].wc.status, w.word[0]);
	return ret;
}

/* extensions are off: the post refuses it, and the QP works */
static int off(struct kv_test *t)
{
	struct kv_op *op = kv_ops(t, 1);
	int ret;

	if (!op)
		return -ENOMEM;
	ret = kv_post_send(&t->pair.a, op, IB_WR_SEND_WITH_IMM, IB_SEND_SIGNALED, NULL, 0,
			   0);
	if (ret != -EOPNOTSUPP)
		return kv_fail(-EPROTO, "the post returned %d", ret);
	return kv_pair_works(&t->pair);
}

/* an atomic without an element: @want says why it is refused, and the QP works */
static int refused_atomic(struct kv_test *t, int want)
{
	struct ib_atomic_wr atomic = { .wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP };
	int ret = ib_post_send(t->pair.a.qp, &atomic.wr, NULL);

	if (ret != want)
		return kv_fail(-EPROTO, "the post returned %d", ret);
	return kv_pair_works(&t->pair);
}

static int no_element(struct kv_test *t)
{
	return refused_atomic(t, -EINVAL);
}

static int off_atomic(struct kv_test *t)
{
	return refused_atomic(t, -EOPNOTSUPP);
}

const struct kv_case kv_extension_cases[] = {
	{ "ext__fetch_add", fetch_add },
	{ "ext__fetch_add_of_two_fields", masked_add },
	{ "ext__cmp_swap", cmp_swap },
	{ "ext__cmp_swap_with_masks", masked_swap },
	{ "ext__reads_and_atomics_in_turns", read_between },
	{ "ext__atomics_beside_the_cpu", beside_the_cpu },
	{ "ext__atomic_without_the_right", no_right },
	{ "ext__atomic_out_of_bounds", out_of_bounds },
	{ "ext__atomic_not_aligned", unaligned },
	{ "ext__atomic_of_memory_not_aligned", unaligned_memory },
	{ "ext__atomic_after_a_flush", after_a_flush },
	{ "ext__atomic_without_an_element", no_element },
	{ "ext__write_with_imm", imm_sizes },
	{ "ext__write_with_imm_into_a_buffer", imm_into_a_buffer },
	{ "ext__send_with_imm", send_imm_sizes },
	{ "ext__send_with_imm_of_the_longest_payload", send_imm_longest },
	{ "ext__send_with_imm_one_byte_too_long", send_imm_too_long },
	{ "ext__read", read_v2 },
	{ "off__send_with_imm", off },
	{ "off__atomic", off_atomic },
	{ }
};
