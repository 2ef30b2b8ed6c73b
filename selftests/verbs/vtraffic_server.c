// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* vtraffic: the server, one connection after the other. */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "vtraffic.h"

/*
 * Slots 0..depth-1 are for receives, the peer writes to the next depth slots and reads
 * from the last.
 */
static void serve_build(const struct hello *hello, struct want *want,
			struct welcome *welcome)
{
	opt.max = hello->max;
	opt.depth = hello->depth;
	if (!opt.depth || opt.depth > MAX_DEPTH || opt.max > 1u << 30)
		leave(1, "hello out of range: %u requests of up to %u bytes", opt.depth,
		      opt.max);
	want->cap.max_recv_wr = 2 * opt.depth;
	want->cap.max_send_wr = 4 * opt.depth;
	want->cap.max_inline_data = sizeof(struct message);
	want->own_srq = opt.srq;
	want->buf_len = (size_t)3 * opt.depth * slot_stride();
	want->map_flags = opt.huge ? MAP_HUGETLB : 0;
	want->pdata = welcome;
	want->pdata_len = sizeof(*welcome);
	must(!end_build(&e, want), "building the QP: %m");
	*welcome = (struct welcome) {
		.addr = (uintptr_t)slot_at(opt.depth),
		.rkey = e.mr->rkey,
	};
	fill(slot_at(2 * opt.depth), opt.depth * slot_stride(), hello->seed);
}

static void serve_message(const struct ibv_wc *wc, long *served)
{
	const uint8_t *p = slot_at(wc->wr_id);
	const struct message *msg = (const void *)p;
	uint64_t sum;
	uint32_t slot;

	if (wc->byte_len == sizeof(*msg) && msg->magic == MAGIC) {
		if (msg->kind == KIND_BYE) {
			*served = -*served - 1;
			return;
		}
		slot = msg->slot;
		if (slot >= opt.depth || msg->len > opt.max)
			leave(1, "a notice of slot %u, %u bytes is out of range", slot,
			      msg->len);
		sum = sum_up(slot_at(opt.depth + slot), msg->len);
		if (sum != msg->sum)
			leave(1, "a Write of %u bytes is damaged", msg->len);
	} else {
		sum = sum_up(p, wc->byte_len);
	}
	post_recv(wc->wr_id);
	post_message(KIND_SUM, wc->wr_id, wc->byte_len, sum, IBV_SEND_SIGNALED);
	++*served;
}

static void __attribute__((noreturn)) never_answer(void)
{
	printf("vtraffic: asked\n");
	fflush(stdout);
	for (;;)
		pause();
}

static long serve(struct end *listener)
{
	struct pollfd pfd = { .fd = listener->ch->fd, .events = POLLIN };
	struct want want = { .ird = 16, .ord = 16 };
	struct welcome welcome;
	struct hello hello;
	struct ibv_wc wc;
	long served = 0;
	uint32_t i;

	must(poll(&pfd, 1, -1) == 1, "poll: %m");
	must(!end_request(listener, &e), "waiting for a client: %m");
	if (opt.unlisten)
		end_free(listener);
	if (opt.ask_only)
		never_answer();
	if (e.got_len < sizeof(hello)) {
		rdma_reject(e.id, NULL, 0);
		end_free(&e);
		return 0;
	}
	memcpy(&hello, e.got, sizeof(hello));
	serve_build(&hello, &want, &welcome);
	for (i = 0; i < opt.depth; i++)
		post_recv(i);
	must(!end_accept(&e, &want), "rdma_accept: %m");
	must(!end_expect(&e, RDMA_CM_EVENT_ESTABLISHED), "establishing: %m");
	while (served >= 0) {
		wc = next_wc(-1);
		if (wc.opcode & IBV_WC_RECV)
			serve_message(&wc, &served);
	}
	must(ended || !end_expect(&e, RDMA_CM_EVENT_DISCONNECTED),
	     "disconnecting: %m");
	ended = NULL;
	end_free(&e);
	return -served - 1;
}

int run_server(void)
{
	struct end listener;
	long total = 0;
	int i;

	must(!end_bind(&listener, opt.addr, opt.port), "listening: %m");
	if (opt.tos >= 0)
		must(!end_set_tos(&listener, opt.tos), "setting the TOS: %m");
	must(!rdma_listen(listener.id, 16), "listening: %m");
	printf("vtraffic: listening\n");
	fflush(stdout);
	for (i = 0; !opt.connections || i < opt.connections; i++)
		total += serve(&listener);
	end_free(&listener);
	leave(0, "served %ld messages", total);
}
