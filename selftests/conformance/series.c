// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Long messages whose segments arrive together, so that a device may take those in the
 * middle a shorter way: each is checked all the same (RFC 5041 5.2, 5.3 and 7.1).
 */
#include <string.h>

#include "terminate.h"

#define ROOM	4096
#define LEN	50	/* payload of a segment */
#define COUNT	40	/* segments of a message */
#define BAD	25	/* the one that is wrong */
#define TOTAL	(COUNT * LEN)

/* the connection, memory that the peer may write, and what is sent in one call */
struct train {
	struct session s;
	struct agent_mr mr;
	uint8_t bytes[TOTAL];
	uint8_t wire[2 * COUNT * 160];
	size_t len;
};

static struct train train_start(void)
{
	struct train t = { .s = session_default(), .mr = agent_mr(ROOM, "lw") };

	pattern(t.bytes, sizeof(t.bytes), 1);
	return t;
}

static void add(struct train *t, const void *ulpdu, uint32_t len,
		const struct fpdu_fault *fault)
{
	t->len += fpdu_build(t->s.p, ulpdu, len, fault, t->wire + t->len);
}

/* segment @i of a Send, at @mo */
static void add_send(struct train *t, unsigned int i, uint32_t mo)
{
	uint8_t out[ROOM];

	add(t, out, seg_send(t->s.p, OP_SEND, 0, mo, t->bytes + i * LEN, LEN, i == COUNT - 1,
			     out), NULL);
}

/* segment @i of a Write to @mr, at @at */
static void add_write(struct train *t, unsigned int i, const struct agent_mr *mr, uint64_t at)
{
	uint8_t out[ROOM];

	add(t, out, seg_write(t->s.p, mr->rkey, mr->va + at, t->bytes + i * LEN, LEN,
			      i == COUNT - 1, out), NULL);
}

static void go(struct train *t)
{
	peer_send(t->s.p, t->wire, t->len);
}

static void must_be_refused(struct train *t, int triplet)
{
	struct terminate term;

	recv_terminate(t->s.p, false, &term);
	must_eq(term.triplet, triplet, "the Terminate");
	must_close_silently(t->s.p);
}

/* the first @n bytes of the message are at @at of @mr, and nothing follows them */
static void must_end_at(const struct train *t, const struct agent_mr *mr, size_t at, size_t n)
{
	uint8_t fill[LEN];

	memset(fill, AGENT_FILL, sizeof(fill));
	must_have_memory(mr, at, t->bytes, n);
	must_have_memory(mr, at + n, fill, sizeof(fill));
}

static void series__send(void)
{
	struct train t = train_start();
	struct agent_wc wc;
	unsigned int i;

	agent_recv(t.s.conn, 1, &t.mr, 0, TOTAL);
	for (i = 0; i < COUNT; i++)
		add_send(&t, i, i * LEN);
	go(&t);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, TOTAL, "byte_len");
	must_end_at(&t, &t.mr, 0, TOTAL);
}

static void series__writes_between_the_segments_of_a_send(void)
{
	struct train t = train_start();
	struct agent_mr other = agent_mr(ROOM, "lw");
	struct agent_wc wc;
	unsigned int i;

	agent_recv(t.s.conn, 1, &t.mr, 0, TOTAL);
	/* two of each: the second may be taken the shorter way */
	for (i = 0; i < COUNT; i += 2) {
		add_send(&t, i, i * LEN);
		add_send(&t, i + 1, (i + 1) * LEN);
		add_write(&t, i, &other, i * LEN);
		add_write(&t, i + 1, &other, (i + 1) * LEN);
	}
	go(&t);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_be_alive(t.s.p);
	must_end_at(&t, &t.mr, 0, TOTAL);
	must_end_at(&t, &other, 0, TOTAL);
}

static void series__write_goes_on_elsewhere(void)
{
	struct train t = train_start();
	struct agent_mr other = agent_mr(ROOM, "lw");
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		add_write(&t, i, i < BAD ? &t.mr : &other, i * LEN);
	go(&t);
	must_be_alive(t.s.p);
	must_end_at(&t, &t.mr, 0, BAD * LEN);
	must_have_memory(&other, BAD * LEN, t.bytes + BAD * LEN, TOTAL - BAD * LEN);
}

static void series__offset_skips(void)
{
	struct train t = train_start();
	unsigned int i;

	agent_recv(t.s.conn, 1, &t.mr, 0, TOTAL + LEN);
	for (i = 0; i < COUNT; i++)
		add_send(&t, i, i * LEN + (i >= BAD));
	go(&t);
	must_be_refused(&t, TRIPLET(1, 2, 4));
	must_end_at(&t, &t.mr, 0, BAD * LEN);
}

static void series__crc_is_wrong(void)
{
	static const struct fpdu_fault crc = { .crc_xor = 1 };
	struct train t = train_start();
	uint8_t out[ROOM];
	unsigned int i;

	agent_recv(t.s.conn, 1, &t.mr, 0, TOTAL);
	for (i = 0; i < COUNT; i++)
		add(&t, out, seg_send(t.s.p, OP_SEND, 0, i * LEN, t.bytes + i * LEN, LEN,
				      i == COUNT - 1, out), i == BAD ? &crc : NULL);
	go(&t);
	must_be_refused(&t, TRIPLET(2, 0, 2));
	must_end_at(&t, &t.mr, 0, BAD * LEN);
}

static void series__send_exceeds_its_buffer(void)
{
	struct train t = train_start();
	unsigned int i;

	agent_recv(t.s.conn, 1, &t.mr, 0, BAD * LEN + LEN - 1);
	for (i = 0; i < COUNT; i++)
		add_send(&t, i, i * LEN);
	go(&t);
	must_be_refused(&t, TRIPLET(1, 2, 5));
	must_end_at(&t, &t.mr, 0, BAD * LEN);
}

static void series__write_exceeds_its_region(void)
{
	struct train t = train_start();
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		add_write(&t, i, &t.mr, ROOM - BAD * LEN - LEN + 1 + i * LEN);
	go(&t);
	must_be_refused(&t, TRIPLET(1, 1, 1));
	must_have_memory(&t.mr, ROOM - BAD * LEN - LEN + 1, t.bytes, BAD * LEN);
}

static void answer(struct train *t, const struct open_read *r, unsigned int other_from)
{
	uint8_t out[ROOM];
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		add(t, out, seg_read_resp(t->s.p, r->stag + (i >= other_from), r->to + i * LEN,
					  t->bytes + i * LEN, LEN, i == COUNT - 1, out), NULL);
	go(t);
}

static void series__response(void)
{
	struct train t = train_start();
	struct open_read r;
	struct agent_wc wc;

	agent_post(t.s.conn, 1, AG_READ, AG_SIGNALED, &t.mr, 0, TOTAL, 0x77, 0);
	r = must_get_read_request(t.s.p);
	answer(&t, &r, COUNT);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_end_at(&t, &t.mr, 0, TOTAL);
}

static void series__stag_of_a_response_changes(void)
{
	struct train t = train_start();
	struct open_read r;

	agent_post(t.s.conn, 1, AG_READ, AG_SIGNALED, &t.mr, 0, TOTAL, 0x77, 0);
	r = must_get_read_request(t.s.p);
	answer(&t, &r, BAD);
	must_be_refused(&t, TRIPLET(1, 1, 0));
	must_end_at(&t, &t.mr, 0, BAD * LEN);
}

/* one segment more than the Read asked for */
static void series__response_exceeds_its_read(void)
{
	struct train t = train_start();
	struct open_read r;

	agent_post(t.s.conn, 1, AG_READ, AG_SIGNALED, &t.mr, 0, BAD * LEN, 0x77, 0);
	r = must_get_read_request(t.s.p);
	answer(&t, &r, COUNT);
	must_be_refused(&t, TRIPLET(0, 2, 7));
	must_end_at(&t, &t.mr, 0, (BAD - 1) * LEN);
}

#define T(name, ids, role, rule)	{ #name, ids, rule, role, 0, name }

static const struct conform_test tests[] = {
	T(series__send, "DDP-046", EITHER, "a Send of many segments arrives as it was sent"),
	T(series__writes_between_the_segments_of_a_send, "Q34", EITHER,
	  "segments of a Write between those of a Send go where they belong"),
	T(series__write_goes_on_elsewhere, "DDP-087", EITHER,
	  "each segment of a Write goes to the STag that it names"),
	T(series__offset_skips, "DDP-084", EITHER, "a gap inside a Send is refused"),
	T(series__crc_is_wrong, "MPA-066 MPA-130", EITHER,
	  "nothing is taken from a segment with a wrong CRC on, however many came before"),
	T(series__send_exceeds_its_buffer, "DDP-085", EITHER,
	  "a Send is refused where it leaves its buffer"),
	T(series__write_exceeds_its_region, "DDP-090", EITHER,
	  "a Write is refused where it leaves its region"),
	T(series__response, "RDMAP-104", EITHER,
	  "a Read Response of many segments arrives as it was sent"),
	T(series__stag_of_a_response_changes, "RDMAP-063 Q11", EITHER,
	  "a Read Response does not change its STag"),
	T(series__response_exceeds_its_read, "RDMAP-060 Q11", EITHER,
	  "a Read Response is refused where it ought to end"),
	{}
};

const struct conform_group series_group = { "series", tests };
