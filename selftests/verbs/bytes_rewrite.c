// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Buffers that are rewritten the moment they complete: the peer gets the old bytes, and
 * what has arrived does not change any more.
 */
#include <string.h>

#include "bytes.h"
#include "pair.h"

#define DEPTH		4		/* messages under way */
#define LONGEST		(256u << 10)	/* more than TCP takes at once */
#define SINKS		(DEPTH * LONGEST)
#define REWRITTEN	0x55
#define SECONDS		60

static const uint32_t lengths[] = { 1, 63, 1500, 4096, 65536, LONGEST };

/**
 * struct kind - a kind of message
 * @received: it consumes a receive
 */
struct kind {
	enum ibv_wr_opcode op;
	int flags;
	uint32_t max;
	bool received;
};

static uint8_t *source(struct end *e, int i)
{
	return e->buf + i * LONGEST;
}

static uint8_t *sink(struct end *e, int i)
{
	return e->buf + SINKS + i * LONGEST;
}

static void post_kind(const struct kind *k, int i, uint32_t len)
{
	bool read = k->op == IBV_WR_RDMA_READ;
	struct ibv_sge sge = sge_at(&a, (read ? sink(&a, i) : source(&a, i)) - a.buf, len);
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = k->op,
		.send_flags = k->flags | IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = (uintptr_t)(read ? source(&b, i) : sink(&b, i)),
		.wr.rdma.rkey = b.mr->rkey,
	};

	if (k->received)
		post_recv(&b, i, sink(&b, i) - b.buf, len);
	post(&a, &wr);
}

/* without a pause, in which the bytes would leave */
static void await(uint64_t id)
{
	struct ibv_wc wc = {};

	while (!ibv_poll_cq(a.scq, 1, &wc))
		;
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.wr_id, id);
}

/* the bytes of message @i have arrived; the program uses the memory for others */
static void take(struct end *e, int i, uint32_t len, uint32_t seed)
{
	must(filled(sink(e, i), len, seed), "message %d of %u bytes is damaged", i, len);
	memset(sink(e, i), REWRITTEN, len);
}

static void expect_untouched(struct end *e, uint32_t len)
{
	int i;

	for (i = 0; i < DEPTH; i++)
		expect(all_are(sink(e, i), len, REWRITTEN), "message %d arrives again", i);
}

/* an empty Send, which arrives after all before it */
static void last_send(void)
{
	post_recv(&b, DEPTH, 0, 0);
	post_send(&a, DEPTH, 0, 0, IBV_SEND_SIGNALED);
}

/* Reads place the bytes at a, and have done so when they complete */
static void one_length(const struct kind *k, uint32_t len)
{
	bool read = k->op == IBV_WR_RDMA_READ;
	struct end *from = read ? &b : &a;
	int i;

	for (i = 0; i < DEPTH; i++) {
		fill(source(from, i), len, len + i);
		post_kind(k, i, len);
	}
	last_send();
	for (i = 0; i < DEPTH; i++) {
		await(i);
		if (read)
			take(&a, i, len, len + i);
		memset(source(from, i), ~REWRITTEN, len);
	}
	await(DEPTH);
	for (i = 0; k->received && i < DEPTH; i++)
		must_eq(next_wc(b.rcq).wr_id, i);
	expect_recv(&b, DEPTH, 0);
	for (i = 0; !read && i < DEPTH; i++)
		take(&b, i, len, len + i);
	last_send();
	await(DEPTH);
	expect_recv(&b, DEPTH, 0);
	expect_untouched(read ? &a : &b, len);
}

static void each_length(const struct kind *k)
{
	const struct want want = { .buf_len = 2 * SINKS, .cap.max_inline_data = 64 };
	unsigned int i;

	pair_up(&want, &want);
	for (i = 0; i < ARRAY_LEN(lengths) && lengths[i] <= k->max; i++)
		one_length(k, lengths[i]);
	pair_down();
}

static void sends(void)
{
	each_length(&(struct kind) { IBV_WR_SEND, 0, LONGEST, true });
	each_length(&(struct kind) { IBV_WR_SEND, IBV_SEND_INLINE, 63, true });
	each_length(&(struct kind) { IBV_WR_SEND_WITH_IMM, 0, LONGEST, true });
}

static void writes(void)
{
	each_length(&(struct kind) { IBV_WR_RDMA_WRITE, 0, LONGEST, false });
	each_length(&(struct kind) { IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, 63, false });
	each_length(&(struct kind) { IBV_WR_RDMA_WRITE_WITH_IMM, 0, LONGEST, true });
}

static void reads(void)
{
	each_length(&(struct kind) { IBV_WR_RDMA_READ, 0, LONGEST, false });
}

static const struct tap_test tests[] = {
	{ "rewritten: buffers of Sends", sends, SECONDS },
	{ "rewritten: buffers of Writes", writes, SECONDS },
	{ "rewritten: buffers of Reads, at both ends", reads, SECONDS },
};

const struct tap_theme rewrite_theme = { tests, ARRAY_LEN(tests) };
