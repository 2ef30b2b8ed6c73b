// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The verbs of queues: resize, moderation, extended CQs and QPs, SRQs, async events,
 * fork, what the tools report, and batching. Run by queue_verbs.sh, which creates the
 * hosts; this process drives both.
 *
 *	queue_verbs [WORD...]	only the tests whose name holds one of them
 */
#include "queue_verbs.h"

#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void message(uint64_t id, int flags)
{
	post_recv(&b, id, 0, 64);
	post_send(&a, id, 0, 8, flags | IBV_SEND_SIGNALED);
	expect_wc(a.scq, id, IBV_WC_SUCCESS);
}

void pile_up(uint64_t first, int n)
{
	int i;

	for (i = 0; i < n; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, first + i, 0, 8, 0,
			  IBV_SEND_SIGNALED);
	/* the Writes have completed when a Send after them arrives */
	post_recv(&b, first, 0, 64);
	post_send(&a, 0, 0, 8, 0);
	expect_recv(&b, first, 8);
	usleep(20000);
}

void expect_pile(uint64_t first, int n)
{
	int i;

	for (i = 0; i < n; i++)
		expect_wc(a.scq, first + i, IBV_WC_SUCCESS);
}

struct ibv_async_event next_async(struct end *e, enum ibv_event_type type)
{
	struct pollfd pfd = { .fd = e->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event = {};

	must(poll(&pfd, 1, patience_ms()) == 1);
	must(!ibv_get_async_event(e->id->verbs, &event));
	ibv_ack_async_event(&event);
	if (event.event_type != type)
		printf("#   async event: %s, expected %s\n",
		       ibv_event_type_str(event.event_type),
		       ibv_event_type_str(type));
	must(event.event_type == type);
	return event;
}

bool no_async(struct end *e)
{
	struct pollfd pfd = { .fd = e->id->verbs->async_fd, .events = POLLIN };

	return poll(&pfd, 1, 50) == 0;
}

void base_up(struct end *base)
{
	must(!enter_netns("b"));
	must(!end_resolve(base, IP_A, 9999, IP_B));
	must(!enter_netns(NULL));
	must(!end_build(base, &(struct want){}));
}

struct ibv_srq *srq_up(struct end *base, uint32_t max_wr)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = max_wr, .max_sge = 1 },
	};
	struct ibv_srq *srq;

	base_up(base);
	srq = ibv_create_srq(base->pd, &attr);
	must(srq);
	return srq;
}

void srq_post(struct ibv_srq *srq, const struct end *base, uint64_t id)
{
	struct ibv_sge sge = sge_at(base, 64 * id, 64);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	must(!ibv_post_srq_recv(srq, &wr, &bad));
}

long long now_ns(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int shell(const char *fmt, ...)
{
	char command[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	return system(command);
}

static bool holds(const char *line, const char *const *words)
{
	for (; *words; words++) {
		if (!strstr(line, *words))
			return false;
	}
	return true;
}

bool says(const char *command, const char *const *words)
{
	FILE *out = popen(command, "r");
	char line[1024], last[1024] = "";
	bool found = false;

	must(out);
	while (fgets(line, sizeof(line), out)) {
		found |= holds(line, words);
		if (strstr(line, words[0]))
			memcpy(last, line, sizeof(last));
	}
	expect_eq(pclose(out), 0);
	if (!found)
		printf("#   %s: no line has all words from '%s' on; the last with the first: %s\n",
		       command, words[0], last);
	return found;
}

int main(int argc, char **argv)
{
	static const struct tap_theme *const themes[] = {
		&resize_theme, &moderate_theme, &cq_ex_theme, &wr_ex_theme,
		&srq_theme, &fork_theme, &query_theme, &batching_theme,
		&overflow_theme, &room_theme,
		/* last: it deletes the device */
		&event_theme, NULL,
	};

	enter_netns(NULL);
	return tap_run(themes, argc - 1, argv + 1);
}
