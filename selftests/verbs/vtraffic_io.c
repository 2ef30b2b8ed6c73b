// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* vtraffic: payload, waiting and posting. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "vtraffic.h"

struct end e;
const char *ended;
unsigned int test_failures;

void leave(int status, const char *fmt, ...)
{
	va_list args;

	printf("vtraffic: ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(status);
}

void test_report(const char *file, int line, const char *text)
{
	printf("vtraffic: %s:%d: %s\n", file, line, text);
}

void test_leave(void)
{
	fflush(stdout);
	_exit(1);
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* ---- payload ----------------------------------------------------------------- */

uint64_t word(uint32_t seed, uint64_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t)seed << 32 ^ seed;
}

void fill(uint8_t *p, uint32_t len, uint32_t seed)
{
	uint64_t i, w;

	for (i = 0; i + 8 <= len; i += 8) {
		w = word(seed, i);
		memcpy(p + i, &w, 8);
	}
	w = word(seed, i);
	memcpy(p + i, &w, len - i);
}

uint64_t sum_up(const uint8_t *p, uint32_t len)
{
	uint64_t sum = len, i, w;

	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&w, p + i, 8);
		sum = (sum ^ w) * 0x100000001b3ull;
	}
	w = 0;
	memcpy(&w, p + i, len - i);
	return (sum ^ w) * 0x100000001b3ull;
}

/* ---- completions --------------------------------------------------------------- */

static void check_cm(void)
{
	struct pollfd pfd = { .fd = e.ch->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (!ended && poll(&pfd, 1, 0) == 1 && !rdma_get_cm_event(e.ch, &event)) {
		ended = rdma_event_str(event->event);
		rdma_ack_cm_event(event);
	}
}

/*
 * Ignore port events, and LAST_WQE_REACHED of a QP with an SRQ: rdma_cm reports its end,
 * and completions may still be unpolled. Exit on any other event.
 */
static void heed(struct ibv_async_event *event)
{
	enum ibv_event_type type = event->event_type;

	ibv_ack_async_event(event);
	if (type != IBV_EVENT_PORT_ACTIVE && type != IBV_EVENT_PORT_ERR &&
	    type != IBV_EVENT_GID_CHANGE &&
	    type != IBV_EVENT_QP_LAST_WQE_REACHED)
		leave(2, "async event: %s", ibv_event_type_str(type));
}

void doze(int ms)
{
	struct pollfd pfd[] = {
		{ .fd = e.comp->fd, .events = POLLIN },
		{ .fd = ended ? -1 : e.ch->fd, .events = POLLIN },
		{ .fd = e.id->verbs->async_fd, .events = POLLIN },
	};
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *context;
	int n = poll(pfd, 3, ms);

	if (n < 0 && errno == EINTR)
		return;
	must(n >= 0, "poll: %m");
	if (!n)
		leave(1, "no completion for %d ms", ms);
	if (pfd[0].revents) {
		must(!ibv_get_cq_event(e.comp, &cq, &context), "cq event: %m");
		ibv_ack_cq_events(cq, 1);
	}
	if (pfd[1].revents)
		check_cm();
	if (pfd[2].revents && !ibv_get_async_event(e.id->verbs, &event))
		heed(&event);
}

struct ibv_wc next_wc(int ms)
{
	double give_up = now() + ms / 1000.0;
	struct ibv_wc wc;
	unsigned int tries = 0;
	bool armed = false;

	for (;;) {
		/* poll the send CQ first, so that it cannot overflow */
		if (ibv_poll_cq(e.scq, 1, &wc) || ibv_poll_cq(e.rcq, 1, &wc))
			break;
		if (ended)
			leave(2, "%s", ended);
		if (opt.wait == WAIT_POLL) {
			if (++tries % 1000 == 0)
				check_cm();
			if (ms >= 0 && now() > give_up)
				leave(1, "no completion for %d ms", ms);
		} else if (armed) {
			doze(ms);
			armed = false;
		} else {
			/* after arming, poll again before sleeping */
			ibv_req_notify_cq(e.rcq, opt.wait == WAIT_SOLICITED);
			ibv_req_notify_cq(e.scq, 0);
			armed = true;
		}
	}
	if (wc.status != IBV_WC_SUCCESS)
		leave(2, "request %llx: %s", (unsigned long long)wc.wr_id,
		      ibv_wc_status_str(wc.status));
	return wc;
}

/* ---- posting ----------------------------------------------------------------------- */

uint32_t slot_stride(void)
{
	return opt.max + NOTICE;
}

uint8_t *slot_at(uint32_t slot)
{
	return e.buf + (size_t)slot * slot_stride();
}

void post_send(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(e.qp, wr, &bad);

	if (err)
		leave(2, "ibv_post_send: %s", strerror(err));
}

void post_recv(uint32_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot_at(slot),
		.length = slot_stride(), .lkey = e.mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = slot, .sg_list = &sge, .num_sge = 1,
	}, *bad;
	int err = e.srq ? ibv_post_srq_recv(e.srq, &wr, &bad) :
			  ibv_post_recv(e.qp, &wr, &bad);

	if (err)
		leave(2, "ibv_post_recv: %s", strerror(err));
}

void post_message(uint32_t kind, uint32_t slot, uint32_t len, uint64_t sum,
		  unsigned int flags)
{
	struct message msg = {
		.magic = MAGIC, .kind = kind, .slot = slot, .len = len,
		.sum = sum,
	};
	uint8_t *room = slot_at(slot) + opt.max;
	struct ibv_sge sge = {
		.addr = (uintptr_t)room, .length = sizeof(msg),
		.lkey = e.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = 1ull << 32 | slot, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = flags | IBV_SEND_SOLICITED,
	};

	memcpy(room, &msg, sizeof(msg));
	if (e.cap.max_inline_data >= sizeof(msg))
		wr.send_flags |= IBV_SEND_INLINE;
	post_send(&wr);
}
