// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* ibv_create_cq_ex(), polling extended CQs, and the clock of their timestamps. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "queue_verbs.h"

#define TIMES (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
	       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define ALL_FIELDS (IBV_WC_STANDARD_FLAGS | TIMES)

/* holds the extended CQs of a's device, for want.cqs */
static struct end cqs;
static struct ibv_cq_ex *send_ex, *recv_ex;

static struct ibv_cq_ex *make(struct ibv_cq_init_attr_ex *attr)
{
	errno = 0;
	attr->cqe = attr->cqe ?: 64;
	return ibv_create_cq_ex(a.id->verbs, attr);
}

/* Open a's device with an end of its own, create extended CQs, and connect with them. */
static void ex_up(uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.wc_flags = wc_flags, .cqe = 16,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = flags,
	};
	struct want want = {
		.cqs = &cqs, .access = ALL_RIGHTS | IBV_ACCESS_MW_BIND,
	};

	solo_up(NULL);
	send_ex = make(&attr);
	recv_ex = make(&attr);
	must(send_ex && recv_ex);
	end_free(&a);
	cqs.scq = ibv_cq_ex_to_cq(send_ex);
	cqs.rcq = ibv_cq_ex_to_cq(recv_ex);
	pair_up(&want, NULL);
}

static void ex_down(void)
{
	pair_down();
	must(!ibv_destroy_cq(cqs.scq));
	must(!ibv_destroy_cq(cqs.rcq));
}

/* wait for the next completion and start polling at it */
static void start(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {};
	long long end = now_ns(CLOCK_MONOTONIC) + patience_ms() * 1000000LL;
	int err;

	while ((err = ibv_start_poll(cq, &attr)) == ENOENT &&
	       now_ns(CLOCK_MONOTONIC) < end)
		usleep(100);
	must(!err);
}

static void expect_no_addresses(struct ibv_cq_ex *cq)
{
	expect_eq(ibv_wc_read_src_qp(cq), 0);
	expect_eq(ibv_wc_read_slid(cq), 0);
	expect_eq(ibv_wc_read_sl(cq), 0);
	expect_eq(ibv_wc_read_dlid_path_bits(cq), 0);
}

static void fields(void)
{
	ex_up(ALL_FIELDS, 0);
	post_recv(&a, 7, 0, 64);
	post_send(&b, 1, 0, 33, 0);
	start(recv_ex);
	expect_eq(recv_ex->wr_id, 7);
	expect_eq(recv_ex->status, IBV_WC_SUCCESS);
	expect_eq(ibv_wc_read_opcode(recv_ex), IBV_WC_RECV);
	expect_eq(ibv_wc_read_byte_len(recv_ex), 33);
	expect_eq(ibv_wc_read_qp_num(recv_ex), a.qp->qp_num);
	expect_eq(ibv_wc_read_wc_flags(recv_ex), 0);
	expect_eq(ibv_wc_read_vendor_err(recv_ex), 0);
	expect_no_addresses(recv_ex);
	expect_eq(ibv_next_poll(recv_ex), ENOENT);
	ibv_end_poll(recv_ex);
	ex_down();
}

/* bind a window to all of a's memory; Return: its key */
static uint32_t bind_window(struct ibv_mw *mw)
{
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = a.mr, .addr = (uintptr_t)a.buf,
				.length = a.buf_len,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		},
	};

	post(&a, &wr);
	start(send_ex);
	expect_eq(send_ex->status, IBV_WC_SUCCESS);
	expect_eq(ibv_wc_read_opcode(send_ex), IBV_WC_BIND_MW);
	ibv_end_poll(send_ex);
	return wr.bind_mw.rkey;
}

static void invalidated(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV,
	};
	struct ibv_mw *mw;

	ex_up(ALL_FIELDS, 0);
	mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
	must(mw);
	wr.invalidate_rkey = bind_window(mw);
	sge = sge_at(&b, 0, 8);
	post_recv(&a, 7, 0, 64);
	post(&b, &wr);
	start(recv_ex);
	expect_eq(recv_ex->wr_id, 7);
	expect_eq(recv_ex->status, IBV_WC_SUCCESS);
	expect_eq(ibv_wc_read_wc_flags(recv_ex), IBV_WC_WITH_INV);
	expect_eq(ibv_wc_read_invalidated_rkey(recv_ex), wr.invalidate_rkey);
	expect_eq(ibv_wc_read_byte_len(recv_ex), 8);
	ibv_end_poll(recv_ex);
	/* the key is invalid now */
	expect_no_read(&b, wr.invalidate_rkey, (uintptr_t)a.buf, TERM(0, 1, 0));
	must(!ibv_dealloc_mw(mw));
	ex_down();
}

static void walk(void)
{
	int i;

	ex_up(IBV_WC_STANDARD_FLAGS, 0);
	for (i = 0; i < 40; i++) {
		post_rdma(&a, &b, IBV_WR_RDMA_READ, 3 * i, 0, 5, 0,
			  IBV_SEND_SIGNALED);
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 3 * i + 1, 0, 5, 0,
			  IBV_SEND_SIGNALED);
		post_rdma(&a, &b, IBV_WR_RDMA_READ, 3 * i + 2, 0, 6, 0,
			  IBV_SEND_SIGNALED);
		usleep(i & 1 ? 0 : 2000);
		start(send_ex);
		expect_eq(send_ex->wr_id, 3 * i);
		expect_eq(ibv_wc_read_opcode(send_ex), IBV_WC_RDMA_READ);
		expect_eq(ibv_wc_read_byte_len(send_ex), 5);
		if (ibv_next_poll(send_ex)) {
			ibv_end_poll(send_ex);
			start(send_ex);
		}
		expect_eq(send_ex->wr_id, 3 * i + 1);
		expect_eq(ibv_wc_read_opcode(send_ex), IBV_WC_RDMA_WRITE);
		ibv_end_poll(send_ex);
		/* ibv_poll_cq() continues after the last entry of the extended poll */
		expect_wc(a.scq, 3 * i + 2, IBV_WC_SUCCESS);
	}
	ex_down();
}

static void failures(void)
{
	struct ibv_poll_cq_attr bad = { .comp_mask = 1 };

	ex_up(ALL_FIELDS, 0);
	expect_eq(ibv_start_poll(recv_ex, &bad), EINVAL);
	bad.comp_mask = 0;
	expect_eq(ibv_start_poll(recv_ex, &bad), ENOENT);
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 5, 0, 8, 1 << 20,
		  IBV_SEND_SIGNALED);
	start(send_ex);
	expect_eq(send_ex->wr_id, 5);
	expect_eq(send_ex->status, IBV_WC_REM_ACCESS_ERR);
	expect(ibv_wc_read_vendor_err(send_ex));
	ibv_end_poll(send_ex);
	ex_down();
}

/* both times of a completion lie between two readings of the clocks */
static void one_timestamp(uint64_t *last)
{
	long long mono = now_ns(CLOCK_MONOTONIC), wall = now_ns(CLOCK_REALTIME);
	long long late_mono, late_wall, asked, slack;
	uint64_t ts, wallclock;

	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 0, 8, 0, IBV_SEND_SIGNALED);
	start(send_ex);
	ts = ibv_wc_read_completion_ts(send_ex);
	asked = now_ns(CLOCK_MONOTONIC);
	wallclock = ibv_wc_read_completion_wallclock_ns(send_ex);
	slack = 10000000 + now_ns(CLOCK_MONOTONIC) - asked;
	ibv_end_poll(send_ex);
	late_mono = now_ns(CLOCK_MONOTONIC);
	late_wall = now_ns(CLOCK_REALTIME);
	expect(ts >= (uint64_t)mono && ts <= (uint64_t)late_mono);
	expect(ts >= *last);
	/* the clocks are read one after the other: allow for the time of the call */
	expect(wallclock + slack >= (uint64_t)wall);
	expect(wallclock <= (uint64_t)late_wall + slack);
	*last = ts;
}

static void timestamps(void)
{
	struct ibv_values_ex now = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_device_attr_ex dev = {};
	uint64_t last = 0;
	long long clock;
	int i;

	ex_up(TIMES, 0);
	for (i = 0; i < 20; i++)
		one_timestamp(&last);
	must(!ibv_query_device_ex(a.id->verbs, NULL, &dev));
	expect(dev.completion_timestamp_mask == UINT64_MAX);
	/* kHz: a tick is a nanosecond */
	expect_eq(dev.hca_core_clock, 1000000);
	must(!ibv_query_rt_values_ex(a.id->verbs, &now));
	expect_eq(now.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	clock = now.raw_clock.tv_sec * 1000000000LL + now.raw_clock.tv_nsec;
	expect(clock >= (long long)last);
	expect(clock <= now_ns(CLOCK_MONOTONIC));
	now.comp_mask = 1u << 31;
	expect_eq(ibv_query_rt_values_ex(a.id->verbs, &now), EINVAL);
	ex_down();
}

/* creation with @attr fails with @err, or succeeds where @err is 0 */
static void expect_refused(struct ibv_cq_init_attr_ex attr, int err)
{
	struct ibv_cq_ex *cq = make(&attr);

	expect_eq(cq ? 0 : errno, err);
	if (cq)
		must(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

#define WITH(...) ((struct ibv_cq_init_attr_ex){ __VA_ARGS__ })

static void refused(void)
{
	static const uint64_t none[] = {
		IBV_WC_EX_WITH_CVLAN, IBV_WC_EX_WITH_FLOW_TAG,
		IBV_WC_EX_WITH_TM_INFO, 1ull << 40,
	};
	unsigned int i;

	solo_up(NULL);
	for (i = 0; i < ARRAY_LEN(none); i++)
		expect_refused(WITH(.wc_flags = none[i]), EOPNOTSUPP);
	expect_refused(WITH(.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
			    .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN),
		       EOPNOTSUPP);
	expect_refused(WITH(.comp_mask = 1u << 30), EINVAL);
	/* the parent domain must not be a plain PD */
	expect_refused(WITH(.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
			    .parent_domain = a.pd), EINVAL);
	expect_refused(WITH(.cqe = 0x7fffffff), EINVAL);
	expect_refused(WITH(.comp_vector = 10000), EINVAL);
	expect_refused(WITH(.wc_flags = ALL_FIELDS), 0);
	pair_down();
}

/* a CQ without locks can be polled, armed and resized */
static void single_threaded(void)
{
	int i;

	ex_up(ALL_FIELDS, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	for (i = 0; i < 30; i++) {
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0,
			  IBV_SEND_SIGNALED);
		must(!ibv_req_notify_cq(a.scq, 0));
		if (i % 8 == 7)
			must(!ibv_resize_cq(a.scq, 16 << (i / 8)));
		start(send_ex);
		expect_eq(send_ex->wr_id, i);
		ibv_end_poll(send_ex);
	}
	ex_down();
}

/* the CQ is full: what is posted while one completion is read takes that one's place */
static void room_while_read(void)
{
	int size;

	ex_up(ALL_FIELDS, 0);
	size = a.scq->cqe;
	pile_up(0, size);
	start(send_ex);
	expect_eq(send_ex->wr_id, 0);
	pile_up(size, 1);
	expect_eq(ibv_wc_read_opcode(send_ex), IBV_WC_RDMA_WRITE);
	ibv_end_poll(send_ex);
	expect_pile(1, size);
	expect(no_async(&a));
	ex_down();
}

static const struct tap_test tests[] = {
	{ "cq_ex__reads_every_field", fields },
	{ "cq_ex__reads_the_key_that_the_peer_invalidated", invalidated },
	{ "cq_ex__alternates_with_plain_polls", walk },
	{ "cq_ex__empty_cq_and_failed_completion", failures },
	{ "cq_ex__timestamps_match_query_rt_values", timestamps },
	{ "cq_ex__refuses_what_it_cannot_do", refused },
	{ "cq_ex__single_threaded", single_threaded },
	{ "cq_ex__has_room_while_a_completion_is_read", room_while_read },
};

const struct tap_theme cq_ex_theme = { tests, ARRAY_LEN(tests) };
