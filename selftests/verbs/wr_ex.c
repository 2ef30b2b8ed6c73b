// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* ibv_wr_*(), and queues of a parent domain, which use no locks. */
#include <errno.h>
#include <string.h>

#include "queue_verbs.h"

#define OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV |	\
	     IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |	\
	     IBV_QP_EX_WITH_LOCAL_INV)

static struct ibv_qp_ex *ex;

static void up(void)
{
	static const struct want want = {
		.send_ops = OPS,
		.cap = { .max_send_wr = 16, .max_send_sge = 16,
			 .max_inline_data = 256 },
	};

	pair_up(&want, NULL);
	ex = ibv_qp_to_qp_ex(a.qp);
	must(ex);
	fill(a.buf, 8192, 5);
	memset(b.buf, 0, 8192);
}

static void begin(uint64_t id, unsigned int flags)
{
	ibv_wr_start(ex);
	ex->wr_id = id;
	ex->wr_flags = flags;
}

/* set wr_id and flags of the next request of a batch */
static void next(uint64_t id, unsigned int flags)
{
	ex->wr_id = id;
	ex->wr_flags = flags;
}

static uint64_t at_b(size_t off)
{
	return (uintptr_t)b.buf + off;
}

static void set(size_t off, uint32_t len)
{
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buf + off, len);
}

/* one request of each kind in a batch, the Read signalled: all take effect */
static void batch(void)
{
	struct ibv_wc wc;

	up();
	post_recv(&b, 1, 16384, 4096);
	post_recv(&b, 2, 20480, 4096);
	begin(1, 0);
	ibv_wr_send(ex);
	set(0, 1000);
	next(2, 0);
	ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
	set(0, 4000);
	next(3, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	ibv_wr_rdma_read(ex, b.mr->rkey, at_b(0));
	set(8192, 4000);
	next(4, IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED);
	ibv_wr_send(ex);
	set(8192, 4000);
	expect(no_wc(a.scq));
	must(!ibv_wr_complete(ex));
	wc = next_wc(a.scq);
	expect(wc.wr_id == 3 && wc.opcode == IBV_WC_RDMA_READ && !wc.status);
	expect_wc(a.scq, 4, IBV_WC_SUCCESS);
	expect_recv(&b, 1, 1000);
	expect_recv(&b, 2, 4000);
	expect(filled(b.buf, 4000, 5) && filled(a.buf + 8192, 4000, 5));
	expect(filled(b.buf + 16384, 1000, 5) && filled(b.buf + 20480, 4000, 5));
	pair_down();
}

static void lists(void)
{
	struct ibv_sge sge[16];
	int i;

	up();
	for (i = 0; i < 16; i++)
		sge[i] = sge_at(&a, 100 * i, 100);
	begin(1, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
	ibv_wr_set_sge_list(ex, 16, sge);
	must(!ibv_wr_complete(ex));
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
	/* a Read into several buffers */
	for (i = 0; i < 16; i++)
		sge[i] = sge_at(&a, 8192 + 100 * i, 100);
	begin(2, IBV_SEND_SIGNALED);
	ibv_wr_rdma_read(ex, b.mr->rkey, at_b(0));
	ibv_wr_set_sge_list(ex, 16, sge);
	must(!ibv_wr_complete(ex));
	expect_wc(a.scq, 2, IBV_WC_SUCCESS);
	expect(filled(a.buf + 8192, 1600, 5));
	/* a Write without elements */
	begin(3, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
	ibv_wr_set_sge_list(ex, 0, NULL);
	must(!ibv_wr_complete(ex));
	expect_wc(a.scq, 3, IBV_WC_SUCCESS);
	pair_down();
}

/* inline data is copied by the call: the buffer may change at once */
static void inline_data(void)
{
	uint8_t mine[256];
	struct ibv_data_buf list[3] = {
		{ mine, 100 }, { mine + 100, 0 }, { mine + 100, 156 },
	};

	up();
	post_recv(&b, 1, 4096, 256);
	fill(mine, sizeof(mine), 7);
	begin(1, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
	ibv_wr_set_inline_data(ex, mine, 256);
	next(2, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 3, list);
	memset(mine, 0xee, sizeof(mine));
	must(!ibv_wr_complete(ex));
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(a.scq, 2, IBV_WC_SUCCESS);
	expect_recv(&b, 1, 256);
	expect(filled(b.buf, 256, 7) && filled(b.buf + 4096, 256, 7));
	pair_down();
}

static void aborted(void)
{
	int i;

	up();
	for (i = 0; i < 40; i++) {
		begin(100, IBV_SEND_SIGNALED);
		ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
		set(0, 8);
		next(101, IBV_SEND_SIGNALED);
		ibv_wr_send(ex);
		ibv_wr_abort(ex);
	}
	expect(no_wc(a.scq));
	expect(!b.buf[0] && !b.buf[1] && !b.buf[2] && !b.buf[3]);
	begin(1, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
	set(0, 8);
	must(!ibv_wr_complete(ex));
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
	expect(filled(b.buf, 8, 5));
	pair_down();
}

static void spoil(int how)
{
	static struct ibv_sge list[17];
	static uint8_t data[257];
	unsigned int i;

	switch (how) {
	case 0:
		ibv_wr_set_sge_list(ex, 17, list);
		break;
	case 1:
		ibv_wr_set_inline_data(ex, data, a.cap.max_inline_data + 1);
		break;
	case 2:
		ex->wr_flags = 1 << 20;
		ibv_wr_send(ex);
		break;
	case 3:
		for (i = 0; i < a.cap.max_send_wr; i++)
			ibv_wr_send(ex);
		break;
	}
}

/* with a bad request in a batch, ibv_wr_complete() fails and nothing is posted */
static void bad_in_the_middle(void)
{
	static const int errors[] = { EINVAL, EINVAL, EINVAL, ENOMEM };
	unsigned int i;

	up();
	for (i = 0; i < ARRAY_LEN(errors); i++) {
		begin(100, IBV_SEND_SIGNALED);
		ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
		set(0, 8);
		next(101, IBV_SEND_SIGNALED);
		ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
		spoil(i);
		next(102, IBV_SEND_SIGNALED);
		ibv_wr_rdma_write(ex, b.mr->rkey, at_b(0));
		set(0, 8);
		expect_eq(ibv_wr_complete(ex), errors[i]);
	}
	expect(no_wc(a.scq));
	expect_bytes(b.buf, "\0\0\0\0\0\0\0\0", 8);
	expect_eq(state_of(&a), IBV_QPS_RTS);
	pair_down();
}

/* keys of user MRs cannot be invalidated: the request completes with an error */
static void invalidations_complete(void)
{
	up();
	begin(1, 0);
	ibv_wr_local_inv(ex, a.mr->lkey);
	must(!ibv_wr_complete(ex));
	expect(next_wc(a.scq).status != IBV_WC_SUCCESS);
	expect_error_state(&a);
	pair_down();
	up();
	post_recv(&b, 1, 0, 64);
	begin(1, IBV_SEND_SIGNALED);
	ibv_wr_send_inv(ex, b.mr->rkey);
	set(0, 8);
	must(!ibv_wr_complete(ex));
	expect_error_state(&b);
	expect_error_state(&a);
	pair_down();
}

static void ops_refused(void)
{
	static const uint64_t none[] = {
		IBV_QP_EX_WITH_TSO, 1ull << 40,
	};
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	unsigned int i;

	solo_up(NULL);
	attr.pd = a.pd;
	attr.send_cq = a.scq;
	attr.recv_cq = a.rcq;
	for (i = 0; i < ARRAY_LEN(none); i++) {
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND | none[i];
		expect(!ibv_create_qp_ex(a.id->verbs, &attr));
		expect_eq(errno, EOPNOTSUPP);
	}
	/* a QP created without send_ops has no ibv_wr_*() calls */
	expect(!ibv_qp_to_qp_ex(a.qp) || !ibv_qp_to_qp_ex(a.qp)->wr_start);
	pair_down();
}

/* ---- parent domains ------------------------------------------------------------ */

/* a's end creates all objects under a parent domain; @base keeps the device open */
static void parent_domain(void)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = {};
	struct end base = {}, under;
	struct want want = { .share = &under, .own_srq = true };
	struct ibv_td *td;

	solo_up(NULL);
	base = a;
	memset(&a, 0, sizeof(a));
	td = ibv_alloc_td(base.id->verbs, &td_attr);
	must(td);
	attr.pd = base.pd;
	attr.td = td;
	under = base;
	under.pd = ibv_alloc_parent_domain(base.id->verbs, &attr);
	must(under.pd);
	pair_up(&want, NULL);
	message(1, 0);
	expect_recv(&b, 1, 8);
	pile_up(10, 20);
	expect_pile(10, 20);
	expect_eq(ibv_dealloc_td(td), EBUSY);
	expect_eq(ibv_dealloc_pd(base.pd), EBUSY);
	pair_down();
	must(!ibv_dealloc_pd(under.pd));
	must(!ibv_dealloc_td(td));
	end_free(&base);
}

/* a parent domain keeps its PD busy, although the kernel does not know it */
static void parent_domain_holds(void)
{
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_pd *parent;

	solo_up(NULL);
	attr.pd = ibv_alloc_pd(a.id->verbs);
	must(attr.pd);
	parent = ibv_alloc_parent_domain(a.id->verbs, &attr);
	must(parent);
	must(ibv_dealloc_pd(attr.pd) == EBUSY);
	must(!ibv_dealloc_pd(parent));
	must(!ibv_dealloc_pd(attr.pd));
	pair_down();
}

static void *no_alloc(struct ibv_pd *pd, void *context, size_t size,
		      size_t alignment, uint64_t type)
{
	(void)pd, (void)context, (void)size, (void)alignment, (void)type;
	return IBV_ALLOCATOR_USE_DEFAULT;
}

static void no_free(struct ibv_pd *pd, void *context, void *p, uint64_t type)
{
	(void)pd, (void)context, (void)p, (void)type;
}

static void parent_domain_refused(void)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		.alloc = no_alloc, .free = no_free,
	};
	struct ibv_td_init_attr td_attr = { .comp_mask = 1 };

	solo_up(NULL);
	attr.pd = a.pd;
	expect(!ibv_alloc_parent_domain(a.id->verbs, &attr));
	expect_eq(errno, EOPNOTSUPP);
	attr.comp_mask = 0;
	attr.pd = NULL;
	expect(!ibv_alloc_parent_domain(a.id->verbs, &attr));
	expect_eq(errno, EINVAL);
	expect(!ibv_alloc_td(a.id->verbs, &td_attr));
	expect_eq(errno, EOPNOTSUPP);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "wr__a_batch_of_each_operation", batch },
	{ "wr__lists_of_sixteen_and_of_none", lists },
	{ "wr__inline_data_is_taken_at_once", inline_data },
	{ "wr__abort_posts_nothing", aborted },
	{ "wr__a_bad_request_drops_its_batch", bad_in_the_middle },
	{ "wr__invalidations_of_user_mrs_fail", invalidations_complete },
	{ "wr__operations_not_offered_are_refused", ops_refused },
	{ "parent_domain__its_queues_work", parent_domain },
	{ "parent_domain__holds_its_pd", parent_domain_holds },
	{ "parent_domain__refuses_what_it_cannot_do", parent_domain_refused },
};

const struct tap_theme wr_ex_theme = { tests, ARRAY_LEN(tests) };
