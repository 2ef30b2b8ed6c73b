// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * STags that cannot be guessed (RFC 5040 8.1.1(8), RFC 5042 6.1.x), and streams that
 * an attack on another one does not affect: RFC 5040 8.1.1(10), 8.1.2(7) and (8).
 */
#include <stdlib.h>
#include <string.h>

#include "terminate.h"

#define ROOM		4096
#define SAMPLES		200
#define REUSES		40
#define SINK		0x51
/* 200 random draws from 256 values give some 139 different ones, and practically never
 * fewer than 100 */
#define MIN_VALUES	100

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void draw(uint32_t *stags)
{
	unsigned int i;

	for (i = 0; i < SAMPLES; i++)
		stags[i] = agent_mr(ROOM, "lrw").rkey;
}

/* Return: how many values the byte at bit @shift of the STags takes */
static unsigned int values_of(const uint32_t *stags, unsigned int shift)
{
	bool seen[256] = {};
	unsigned int i, n = 0;

	for (i = 0; i < SAMPLES; i++) {
		n += !seen[stags[i] >> shift & 0xff];
		seen[stags[i] >> shift & 0xff] = true;
	}
	return n;
}

static void spread_over_all_bits(void)
{
	uint32_t stags[SAMPLES];
	unsigned int shift;

	draw(stags);
	for (shift = 0; shift < 32; shift += 8)
		must(values_of(stags, shift) >= MIN_VALUES,
		     "the byte at bit %u has %u values in %u STags", shift,
		     values_of(stags, shift), SAMPLES);
}

/* no difference of consecutive STags occurs twice, so differences predict nothing */
static void differences_do_not_repeat(void)
{
	uint32_t stags[SAMPLES], steps[SAMPLES - 1];
	unsigned int i;

	draw(stags);
	for (i = 0; i < SAMPLES - 1; i++)
		steps[i] = stags[i + 1] - stags[i];
	qsort(steps, SAMPLES - 1, sizeof(*steps), by_value);
	for (i = 1; i < SAMPLES - 1; i++)
		must(steps[i] != steps[i - 1], "STags differ by %#x more than once",
		     steps[i]);
	qsort(stags, SAMPLES, sizeof(*stags), by_value);
	for (i = 1; i < SAMPLES; i++)
		must(stags[i] != stags[i - 1], "two MRs have the STag %#x", stags[i]);
}

/* memory registered again and again never gets an earlier STag */
static void reuse_changes_the_stag(void)
{
	uint32_t stags[REUSES];
	struct agent_mr mr;
	unsigned int i;

	for (i = 0; i < REUSES; i++) {
		mr = agent_mr(ROOM, "lrw");
		stags[i] = mr.rkey;
		agent_dereg(&mr);
	}
	qsort(stags, REUSES, sizeof(*stags), by_value);
	for (i = 1; i < REUSES; i++)
		must(stags[i] != stags[i - 1], "the STag %#x came back", stags[i]);
}

/* values close to a valid STag, and special ones, are all unknown */
static void guessed_stags_are_refused(void)
{
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	const uint32_t guesses[] = {
		0, 1, 0xffffffff, mr.rkey + 1, mr.rkey - 1, mr.rkey + 0x100,
		mr.rkey - 0x100, mr.rkey ^ 0x80000000, ~mr.rkey, mr.rkey & 0xffffff00,
		__builtin_bswap32(mr.rkey),
	};
	struct session s;
	unsigned int i;

	for (i = 0; i < sizeof(guesses) / sizeof(*guesses); i++) {
		if (guesses[i] == mr.rkey)
			continue;
		s = session_default();
		send_write(s.p, guesses[i], mr.va, "x", 1);
		must_get_terminate(s.p, 1, 1, 0, false, NULL);
		agent_destroy(s.conn);
	}
	must_be_untouched(&mr);
}

/* ---- one stream under attack, another at work ---- */

static void other_stream_lives_on(void)
{
	struct session victim = session_default();
	struct session other = session_default();
	struct agent_mr mr = agent_mr(ROOM, "lrw");
	struct agent_wc wc;
	struct fpdu f;

	agent_recv(other.conn, 1, &mr, 0, 64);
	send_write(victim.p, WILD_STAG, 0, "x", 1);
	must_get_terminate(victim.p, 1, 1, 0, false, NULL);
	send_send(other.p, "works", 5);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.conn, other.conn, "connection of the completion");
	send_read_req(other.p, SINK, 0, 5, mr.rkey, mr.va);
	must_get_op(other.p, &f, OP_READ_RESP);
	must_bytes(f.seg.data, "works", 5, "the Response");
	must(!strcmp(agent_qp_state(other.conn), "RTS"), "the QP left RTS");
}

/* one stream uses all its slots for Reads; the other has its own slots */
static void read_slots_are_not_shared(void)
{
	struct session greedy = SESSION_DEFAULT, other;
	struct agent_mr source, mr;
	struct fpdu f;
	int i;

	greedy.qp.ird = 4;
	source = session_stuck(&greedy);
	for (i = 1; i < greedy.qp.ird; i++)
		send_read_req(greedy.p, SINK, 0, STUCK_LEN, source.rkey, source.va);
	other = session_default();
	mr = agent_mr(ROOM, "lr");
	for (i = 0; i < other.qp.ird; i++)
		send_read_req(other.p, SINK + i, 0, 16, mr.rkey, mr.va);
	for (i = 0; i < other.qp.ird; i++) {
		must_get_op(other.p, &f, OP_READ_RESP);
		must_eq(f.seg.stag, SINK + i, "STag of the Response");
	}
}

#define SHARED	4

/* two streams that receive from one queue of SHARED entries */
static void start_sharers(struct session *greedy, struct session *other)
{
	*greedy = *other = (struct session)SESSION_DEFAULT;
	greedy->qp.srq = SHARED;
	other->qp.srq = SHARED;
	session_start(greedy);
	session_start(other);
}

/* RFC 5040 8.1.2: before the queue that several streams share is empty, the program
 * can tell which stream uses it up, by the limit event and by the QP of each
 * completion. */
static void completions_tell_which_stream_uses_the_srq(void)
{
	struct agent_mr mr = agent_mr(ROOM, "l");
	struct session greedy, other;
	const char *event;
	struct agent_wc wc;
	int i;

	start_sharers(&greedy, &other);
	for (i = 0; i < SHARED; i++)
		agent_recv(i & 1 ? other.conn : greedy.conn, i, &mr, i * 64, 64);
	agent_srq_limit(2);
	send_send(other.p, "mine", 4);
	agent_must_get_wc(0, "SUCCESS", &wc);
	must_eq(wc.conn, other.conn, "connection of the completion");
	send_send(greedy.p, "more", 4);
	agent_must_get_wc(1, "SUCCESS", &wc);
	event = agent_async(NULL, 20);
	must(!event, "%s, but two receives are left", event);
	send_send(greedy.p, "more", 4);
	event = agent_async(NULL, patience(1000));
	must(event && !strcmp(event, "SRQ_LIMIT_REACHED"), "the event is %s",
	     event ? event : "missing");
	agent_must_get_wc(2, "SUCCESS", &wc);
	must_eq(wc.conn, greedy.conn, "connection of the completion");
	/* one receive is left, for the stream that sends first */
	send_send(other.p, "mine", 4);
	agent_must_get_wc(3, "SUCCESS", &wc);
	must_eq(wc.conn, other.conn, "connection of the completion");
}

/* A stream that finds the queue empty ends alone; the others go on when there is a
 * receive. */
static void emptying_the_srq_ends_one_stream(void)
{
	struct agent_mr mr = agent_mr(ROOM, "l");
	struct session greedy, other;
	struct agent_wc wc;
	int i;

	start_sharers(&greedy, &other);
	for (i = 0; i < SHARED; i++)
		agent_recv(other.conn, i, &mr, i * 64, 64);
	for (i = 0; i < SHARED + 1; i++)
		send_send(greedy.p, "more", 4);
	must_get_terminate(greedy.p, 1, 2, 2, false, NULL);
	for (i = 0; i < SHARED; i++) {
		agent_must_get_wc(i, "SUCCESS", &wc);
		must_eq(wc.conn, greedy.conn, "connection of the completion");
	}
	must(!strcmp(agent_qp_state(other.conn), "RTS"), "the other QP left RTS");
	agent_recv(greedy.conn, 9, &mr, 0, 64);
	send_send(other.p, "mine", 4);
	agent_must_get_wc(9, "SUCCESS", &wc);
	must_eq(wc.conn, other.conn, "connection of the completion");
}

static const struct conform_test tests[] = {
	{ "stag__spread_over_all_bits", "RDMAP-145 RDMAP-144",
	  "STags are spread over the whole range of 32 bits", RESPONDER, 0,
	  spread_over_all_bits },
	{ "stag__differences_do_not_repeat", "RDMAP-144",
	  "one STag says nothing about the next one", RESPONDER, 0, differences_do_not_repeat },
	{ "stag__reuse_changes_the_stag", "RDMAP-144",
	  "registering again gives a new STag", RESPONDER, 0, reuse_changes_the_stag },
	{ "stag__guessed_stags_are_refused", "RDMAP-144 DDP-103",
	  "STags that look like a good one, and special ones, are unknown", RESPONDER, 0,
	  guessed_stags_are_refused },
	{ "stag__other_stream_lives_on", "RDMAP-119 RDMAP-087",
	  "the end of one stream leaves another alone", EITHER, 0, other_stream_lives_on },
	{ "stag__read_slots_are_not_shared", "RDMAP-156 RDMAP-148",
	  "a stream that takes all its Read slots takes none from another", RESPONDER, 0,
	  read_slots_are_not_shared },
	{ "stag__completions_tell_which_stream_uses_the_srq", "RDMAP-157 DDP-120",
	  "a program is told that its shared receive queue runs low, and whose messages took it",
	  RESPONDER, 0, completions_tell_which_stream_uses_the_srq },
	{ "stag__emptying_the_srq_ends_one_stream", "DDP-079 RDMAP-119",
	  "a stream that finds the shared receive queue empty is ended, and it alone",
	  RESPONDER, 0, emptying_the_srq_ends_one_stream },
	{}
};

const struct conform_group stag_group = { "stag", tests };
