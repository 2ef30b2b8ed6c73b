// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Access checks: keys, bounds, rights of MR and QP (RFC 5040 7 and 8, RFC 5041 7). */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "pair.h"

#define LOCAL IBV_ACCESS_LOCAL_WRITE

/* ---- local ------------------------------------------------------------------ */

static void local_send(struct ibv_sge sge)
{
	struct ibv_send_wr wr = {
		.wr_id = 3, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};

	post(&a, &wr);
	expect_wc(a.scq, 3, IBV_WC_LOC_PROT_ERR);
	expect_error_state(&a);
}

static void local_wrong_key(void)
{
	struct ibv_sge sge;

	pair_up(NULL, NULL);
	sge = sge_at(&a, 0, 8);
	sge.lkey ^= 0x10100;
	local_send(sge);
	pair_down();
	/* the low byte of the key is checked too */
	pair_up(NULL, NULL);
	sge = sge_at(&a, 0, 8);
	sge.lkey ^= 1;
	local_send(sge);
	pair_down();
}

/* lkey 0 is the kernel users' key for all memory; it is invalid for a program */
static void local_dma_lkey(void)
{
	struct ibv_sge sge;

	pair_up(NULL, NULL);
	sge = sge_at(&a, 0, 8);
	sge.lkey = 0;
	local_send(sge);
	pair_down();
}

static void local_bounds(void)
{
	pair_up(NULL, NULL);
	local_send(sge_at(&a, a.buf_len - 7, 8));
	pair_down();
	pair_up(NULL, NULL);
	local_send(sge_at(&a, -1, 8));
	pair_down();
	pair_up(NULL, NULL);
	local_send((struct ibv_sge) { .addr = -4ull, .length = 8,
				      .lkey = a.mr->lkey });
	pair_down();
}

static void local_deregistered(void)
{
	struct ibv_sge sge;

	pair_up(NULL, NULL);
	sge = sge_at(&a, 0, 8);
	must(!ibv_dereg_mr(a.mr));
	a.mr = NULL;
	local_send(sge);
	pair_down();
}

static void local_other_pd(void)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_sge sge;

	pair_up(NULL, NULL);
	pd = ibv_alloc_pd(a.id->verbs);
	must(pd);
	mr = ibv_reg_mr(pd, a.buf, 4096, ALL_RIGHTS);
	must(mr);
	sge = sge_at(&a, 0, 8);
	sge.lkey = mr->lkey;
	local_send(sge);
	must(!ibv_dereg_mr(mr));
	must(!ibv_dealloc_pd(pd));
	pair_down();
}

/*
 * No byte arrives of a list whose last element is bad. With @after_good, a good Send before
 * it arrives in full.
 */
static void send_bad_end(enum ibv_wr_opcode op, uint32_t len, bool after_good)
{
	struct ibv_sge good = sge_at(&a, 0, 8);
	struct ibv_sge bad[] = { sge_at(&a, 0, len - 4), sge_at(&a, 50000, 4) };
	struct ibv_send_wr second = {
		.wr_id = 3, .sg_list = bad, .num_sge = 2, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)b.buf + 64, b.mr->rkey },
	};
	struct ibv_send_wr first = {
		.next = &second, .wr_id = 2, .sg_list = &good, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};

	bad[1].lkey ^= 0x10100;
	memset(a.buf, 0xaa, len);
	memset(b.buf, 0x55, b.buf_len);
	if (after_good)
		post_recv(&b, 8, 0, 8);
	post_recv(&b, 9, 64, 60000);
	post(&a, after_good ? &first : &second);
	if (after_good) {
		expect_wc(a.scq, 2, IBV_WC_SUCCESS);
		expect_recv(&b, 8, 8);
		expect(all_are(b.buf, 8, 0xaa));
	}
	expect_wc(a.scq, 3, IBV_WC_LOC_PROT_ERR);
	expect_wc(b.rcq, 9, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a);
	expect(all_are(b.buf + 8, b.buf_len - 8, 0x55));
}

static void bad_end_of_lengths(bool after_good)
{
	static const struct want two = { .cap.max_send_sge = 2 };
	/* a full FPDU carries 1424 bytes of a Send, 1428 of a Write */
	static const uint32_t lens[] = { 8, 1424, 1425, 1428, 1429, 2849, 40000 };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(lens); i++) {
		pair_up(&two, NULL);
		send_bad_end(IBV_WR_SEND, lens[i], after_good);
		pair_down();
		pair_up(&two, NULL);
		send_bad_end(IBV_WR_RDMA_WRITE, lens[i], after_good);
		pair_down();
	}
}

static void local_bad_end(void)
{
	bad_end_of_lengths(false);
}

static void local_bad_end_after_good(void)
{
	bad_end_of_lengths(true);
}

static void local_write_right(void)
{
	static const struct want ro = { .access = IBV_ACCESS_REMOTE_READ };

	/* a Read's sink */
	pair_up(&ro, NULL);
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 3, 0, 8, 0, IBV_SEND_SIGNALED);
	expect_wc(a.scq, 3, IBV_WC_LOC_PROT_ERR);
	pair_down();
	/* a receive's buffer */
	pair_up(NULL, &ro);
	post_recv(&b, 4, 0, 64);
	post_send(&a, 4, 0, 8, 0);
	expect_wc(b.rcq, 4, IBV_WC_LOC_PROT_ERR);
	expect_error_state(&a);
	pair_down();
}

static void recv_wrong_key(void)
{
	struct ibv_sge sge;

	pair_up(NULL, NULL);
	sge = sge_at(&b, 0, 64);
	sge.lkey ^= 0x10100;
	post_recv_sge(&b, 4, &sge, 1);
	post_send(&a, 4, 0, 8, 0);
	expect_wc(b.rcq, 4, IBV_WC_LOC_PROT_ERR);
	expect_error_state(&b);
	expect_error_state(&a);
	pair_down();
}

/* ---- remote ------------------------------------------------------------------- */

/* the peer refuses a Read: the requester gets REM_ACCESS_ERR */
static void refused_read(uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = sge_at(&a, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 6, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	post(&a, &wr);
	post_recv(&a, 7, 0, 64);
	expect_wc(a.scq, 6, IBV_WC_REM_ACCESS_ERR);
	expect_wc(a.rcq, 7, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a);
	expect_error_state(&b);
}

/* a refused Write fails both ends and changes nothing */
static void refused_write(uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = sge_at(&a, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 6, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	memset(b.buf, 0x55, b.buf_len);
	memset(a.buf, 0xaa, 8);
	post_recv(&a, 7, 0, 64);
	post_recv(&b, 8, 0, 64);
	post(&a, &wr);
	next_wc(a.scq);
	expect_wc(a.rcq, 7, IBV_WC_WR_FLUSH_ERR);
	expect_wc(b.rcq, 8, IBV_WC_WR_FLUSH_ERR);
	expect_error_state(&a);
	expect_error_state(&b);
	expect(all_are(b.buf, b.buf_len, 0x55));
}

#define AT(off) ((uintptr_t)b.buf + (off))

static void remote_wrong_key(void)
{
	static const uint32_t masks[] = { 0x10100, 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(masks); i++) {
		pair_up(NULL, NULL);
		refused_read(AT(0), b.mr->rkey ^ masks[i]);
		pair_down();
		pair_up(NULL, NULL);
		refused_write(AT(0), b.mr->rkey ^ masks[i]);
		pair_down();
	}
}

static void remote_bounds(void)
{
	static const int64_t at[] = { 65536 - 7, -1, 1ll << 40 };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(at); i++) {
		pair_up(NULL, NULL);
		refused_read(AT(at[i]), b.mr->rkey);
		pair_down();
		pair_up(NULL, NULL);
		refused_write(AT(at[i]), b.mr->rkey);
		pair_down();
	}
	pair_up(NULL, NULL);
	refused_write(-4ull, b.mr->rkey);
	pair_down();
}

static void remote_deregistered(void)
{
	uint32_t rkey;

	pair_up(NULL, NULL);
	rkey = b.mr->rkey;
	must(!ibv_dereg_mr(b.mr));
	b.mr = NULL;
	refused_read(AT(0), rkey);
	pair_down();
}

static void remote_other_pd(void)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	pd = ibv_alloc_pd(b.id->verbs);
	must(pd);
	mr = ibv_reg_mr(pd, b.buf, 4096, ALL_RIGHTS);
	must(mr);
	refused_read(AT(0), mr->rkey);
	must(!ibv_dereg_mr(mr));
	must(!ibv_dealloc_pd(pd));
	pair_down();
}

static void mr_rights(void)
{
	static const struct want no_read = {
		.access = LOCAL | IBV_ACCESS_REMOTE_WRITE,
	};
	static const struct want no_write = {
		.access = LOCAL | IBV_ACCESS_REMOTE_READ,
	};

	pair_up(NULL, &no_read);
	refused_read(AT(0), b.mr->rkey);
	pair_down();
	pair_up(NULL, &no_write);
	refused_write(AT(0), b.mr->rkey);
	pair_down();
}

static void limit_qp(int access)
{
	struct ibv_qp_attr attr = { .qp_access_flags = access };

	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS));
}

static void qp_rights(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	pair_up(NULL, NULL);
	limit_qp(IBV_ACCESS_REMOTE_WRITE);
	must(!ibv_query_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS, &init));
	expect_eq(attr.qp_access_flags & (IBV_ACCESS_REMOTE_READ |
					  IBV_ACCESS_REMOTE_WRITE),
		  IBV_ACCESS_REMOTE_WRITE);
	refused_read(AT(0), b.mr->rkey);
	pair_down();
	pair_up(NULL, NULL);
	limit_qp(IBV_ACCESS_REMOTE_READ);
	refused_write(AT(0), b.mr->rkey);
	pair_down();
}

static int said(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(qp, &attr, IBV_QP_ACCESS_FLAGS, &init));
	return attr.qp_access_flags;
}

/* move @qp to INIT with @access, using rdma_cm's attributes and @more */
static void to_init(struct ibv_qp *qp, int access, int more)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = access,
	};

	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS | more));
}

static struct ibv_qp *own_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = a.scq, .recv_cq = a.rcq, .qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_qp *qp = ibv_create_qp(a.pd, &attr);

	must(qp);
	return qp;
}

/* INIT sets the rights that it names, except that rdma_cm's first INIT gives both */
static void init_rights(void)
{
	enum { RW = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE };
	struct ibv_qp *qp;

	if (over_siw)
		skip("siw does not report access flags");
	solo_up(NULL);
	expect_eq(said(a.qp), RW);
	to_init(a.qp, 0, 0);
	expect_eq(said(a.qp), 0);
	qp = own_qp();
	to_init(qp, 0, IBV_QP_PKEY_INDEX);
	expect_eq(said(qp), 0);
	to_init(qp, IBV_ACCESS_REMOTE_READ, 0);
	expect_eq(said(qp), IBV_ACCESS_REMOTE_READ);
	to_init(qp, 0, 0);
	expect_eq(said(qp), 0);
	must(!ibv_destroy_qp(qp));
	pair_down();
}

static void access_event(void)
{
	pair_up(NULL, NULL);
	drop_async(&b);
	refused_write(AT(0), b.mr->rkey ^ 0x10100);
	expect_async(&b, IBV_EVENT_QP_ACCESS_ERR);
	pair_down();
}

/* a peer cannot invalidate the key of a program's MR */
static void invalidate_refused(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED,
	};

	pair_up(NULL, NULL);
	sge = sge_at(&a, 0, 8);
	wr.invalidate_rkey = b.mr->rkey;
	post_recv(&b, 1, 0, 64);
	post(&a, &wr);
	next_wc(a.scq);
	expect_error_state(&b);
	expect_error_state(&a);
	expect_wc(b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
	pair_down();
}

/* no key is reused soon */
static void fresh_keys(void)
{
	uint32_t keys[200];
	struct ibv_mr *mr;
	unsigned int i, j;

	solo_up(NULL);
	for (i = 0; i < ARRAY_LEN(keys); i++) {
		mr = ibv_reg_mr(a.pd, a.buf, 4096, LOCAL);
		must(mr);
		keys[i] = mr->rkey;
		must(!ibv_dereg_mr(mr));
	}
	for (i = 0; i < ARRAY_LEN(keys); i++) {
		for (j = 0; j < i; j++)
			expect(keys[i] != keys[j]);
	}
	pair_down();
}

/* ---- registration ---------------------------------------------------------------- */

static void refused_mr(void *addr, size_t len, int access, int err)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr(a.pd, addr, len, access);
	expect(!mr);
	if (mr)
		ibv_dereg_mr(mr);
	else
		expect_eq(errno, err);
}

/* a program cannot register memory with a right that it does not have itself */
static void registrations(void)
{
	uint8_t *hole, *ro;
	struct ibv_mr *mr;

	solo_up(NULL);
	hole = mmap(NULL, 12288, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(hole != MAP_FAILED && ro != MAP_FAILED);
	must(!munmap(hole + 4096, 4096));
	refused_mr(hole, 12288, LOCAL, EFAULT);
	refused_mr(ro, 4096, LOCAL, EFAULT);
	refused_mr(a.buf, 0, LOCAL, EINVAL);
	refused_mr(a.buf, 4096, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	refused_mr(a.buf, (size_t)-4096, LOCAL, EINVAL);
	mr = ibv_reg_mr(a.pd, ro, 4096, IBV_ACCESS_REMOTE_READ);
	expect(mr);
	if (mr)
		expect(!ibv_dereg_mr(mr));
	pair_down();
}

/* unknown access flags and those of features that tern lacks are refused */
static void unknown_access(void)
{
	uint32_t flag;

	solo_up(NULL);
	for (flag = IBV_ACCESS_FLUSH_PERSISTENT << 1; flag; flag <<= 1) {
		if (!(flag & IBV_ACCESS_OPTIONAL_RANGE))
			refused_mr(a.buf, 4096, LOCAL | flag, EINVAL);
	}
	refused_mr(a.buf, 4096, LOCAL | IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
	refused_mr(a.buf, 4096, LOCAL | IBV_ACCESS_FLUSH_GLOBAL, EOPNOTSUPP);
	refused_mr(a.buf, 4096, LOCAL | IBV_ACCESS_FLUSH_PERSISTENT, EOPNOTSUPP);
	pair_down();
}

/* an MR with a chosen IOVA, whose offset in its page is that of the memory */
static void iova(void)
{
	static const uint64_t bases[] = { 0x123456789010ull, 0x10 };
	struct ibv_mr *mr;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bases); i++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = {
			.wr_id = 1, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
		};

		pair_up(NULL, NULL);
		mr = ibv_reg_mr_iova(b.pd, b.buf + 16, 8192, bases[i],
				     ALL_RIGHTS);
		must(mr);
		fill(b.buf + 16, 8192, 8);
		sge = sge_at(&a, 0, 8192);
		wr.wr.rdma.remote_addr = bases[i];
		wr.wr.rdma.rkey = mr->rkey;
		post(&a, &wr);
		expect_wc(a.scq, 1, IBV_WC_SUCCESS);
		expect(filled(a.buf, 8192, 8));
		must(!ibv_dereg_mr(mr));
		pair_down();
	}
}

static const struct tap_test tests[] = {
	{ "a wrong local key: LOC_PROT_ERR", local_wrong_key },
	{ "local_dma_lkey__is_not_for_programs", local_dma_lkey },
	{ "a list whose last element is bad: nothing of it arrives", local_bad_end },
	{ "a list whose last element is bad, after a good Send: the Send arrives",
	  local_bad_end_after_good },
	{ "a local buffer out of bounds: LOC_PROT_ERR", local_bounds },
	{ "a deregistered local key: LOC_PROT_ERR", local_deregistered },
	{ "a local key of another PD: LOC_PROT_ERR", local_other_pd },
	{ "LOCAL_WRITE is needed to read into and to receive into", local_write_right },
	{ "a receive with a wrong key: LOC_PROT_ERR", recv_wrong_key },
	{ "a wrong remote key: REM_ACCESS_ERR, nothing written", remote_wrong_key },
	{ "remote memory out of bounds: REM_ACCESS_ERR, nothing written", remote_bounds },
	{ "a deregistered remote key: REM_ACCESS_ERR", remote_deregistered },
	{ "a remote key of another PD: REM_ACCESS_ERR", remote_other_pd },
	{ "REMOTE_READ and REMOTE_WRITE are enforced on the MR", mr_rights },
	{ "REMOTE_READ and REMOTE_WRITE are enforced on the QP", qp_rights },
	{ "modify_qp__init_without_rights_grants_none", init_rights },
	{ "a refused access raises QP_ACCESS_ERR at the target", access_event },
	{ "SEND_WITH_INV of a user MR is refused", invalidate_refused },
	{ "a fresh key at each registration", fresh_keys },
	{ "DDP-105, DDP-118, RDMAP-153: memory that the program may not use is not registered",
	  registrations },
	{ "each unknown access flag of an MR has its errno", unknown_access },
	{ "MRs at a chosen iova", iova },
};

const struct tap_theme rights_theme = { tests, ARRAY_LEN(tests) };
