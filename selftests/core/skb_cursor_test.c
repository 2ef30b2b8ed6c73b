// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * stream/skb_cursor.c over queues that are built by hand: the same bytes in every split
 * into buffers, linear parts, fragments and lists, also with retransmitted overlaps.
 */
#include "skb_cursor.h"

#include <net/tcp.h>
#include <stdlib.h>

#include "tap.h"
#include "util.h"

#define STREAM	48
#define MANY	20000

/* sequence numbers wrap inside the stream */
#define FIRST_SEQ	(0U - STREAM / 2)

static u8 stream[STREAM];

static void fill_stream(void)
{
	for (u32 i = 0; i < STREAM; i++)
		stream[i] = (u8)(i * 7 + 1);
}

/* an exact copy, so that ASan sees a read that goes too far */
static u8 *copy_of(u32 off, u32 len)
{
	u8 *p = malloc(len);

	memcpy(p, stream + off, len);
	return p;
}

static struct sk_buff *new_skb(u32 off, u32 headlen)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));

	skb->seq = FIRST_SEQ + off;
	skb->len = headlen;
	skb->data = copy_of(off, headlen);
	return skb;
}

static void add_frag(struct sk_buff *root, struct sk_buff *skb, u32 off, u32 len)
{
	skb->info.frags[skb->info.nr_frags++] = (skb_frag_t) {
		.page = copy_of(off, len),
		.size = len,
	};
	skb->len += len;
	skb->data_len += len;
	if (skb == root)
		return;
	root->len += len;
	root->data_len += len;
}

static void add_member(struct sk_buff *root, struct sk_buff *skb)
{
	struct sk_buff **at = &root->info.frag_list;

	while (*at)
		at = &(*at)->next;
	*at = skb;
	root->len += skb->len;
	root->data_len += skb->len;
}

static void add_root(struct sk_buff_head *q, struct sk_buff *skb)
{
	if (q->last)
		q->last->next = skb;
	else
		q->first = skb;
	q->last = skb;
}

static void free_skb(struct sk_buff *skb)
{
	for (u32 i = 0; i < skb->info.nr_frags; i++)
		free(skb->info.frags[i].page);
	free(skb->data);
	free(skb);
}

static void free_list(struct sk_buff *skb)
{
	while (skb) {
		struct sk_buff *next = skb->next;

		free_list(skb->info.frag_list);
		free_skb(skb);
		skb = next;
	}
}

static void free_first(struct sk_buff_head *q)
{
	struct sk_buff *skb = q->first;

	q->first = skb_peek_next(skb, q);
	if (!q->first)
		q->last = NULL;
	free_list(skb->info.frag_list);
	free_skb(skb);
}

static void free_queue(struct sk_buff_head *q)
{
	while (q->first)
		free_first(q);
}

/* where the next bytes of a queue go */
enum piece { ROOT, OVERLAP, MEMBER, FRAG, KINDS };

/* append stream[@off..@off + @len) as @kind; the first is always a buffer */
static void append(struct sk_buff_head *q, struct sk_buff **tail, u32 off, u32 len,
		   enum piece kind)
{
	if (kind == FRAG && q->last && (*tail)->info.nr_frags == MAX_SKB_FRAGS)
		kind = ROOT;
	if (!q->last || kind == ROOT || kind == OVERLAP) {
		u32 back = kind == OVERLAP ? min(off, 3U) : 0;

		*tail = new_skb(off - back, len + back);
		add_root(q, *tail);
	} else if (kind == MEMBER) {
		*tail = new_skb(off, len);
		add_member(q->last, *tail);
	} else {
		add_frag(q->last, *tail, off, len);
	}
}

/* the pieces end after the bytes that are set in @cuts; @kinds: of each, two bits */
static struct sk_buff_head build(u64 cuts, u64 kinds, u32 len)
{
	struct sk_buff_head q = {};
	struct sk_buff *tail = NULL;
	u32 from = 0;

	for (u32 i = 0; i < len; i++) {
		if (i < len - 1 && !(cuts >> i & 1))
			continue;
		append(&q, &tail, from, i + 1 - from, kinds & 3);
		kinds >>= 2;
		from = i + 1;
	}
	return q;
}

/* a cursor at @off of the stream, started in its own buffer */
static struct tern_skb_cursor start_at(struct sk_buff_head *q, u32 off)
{
	struct tern_skb_cursor c = {};
	struct sk_buff *skb = q->first;
	u32 seq = FIRST_SEQ + off;

	while (skb != q->last && seq - skb->seq >= skb->len)
		skb = skb->next;
	tern_skb_cursor_start(&c, q, skb, seq - skb->seq);
	return c;
}

/* the cursor says that it is at @off, and has the rest of the stream */
static void expect_at(struct tern_skb_cursor *c, u32 off, u32 len)
{
	u8 got[STREAM];

	tern_skb_cursor_fill(c);
	expect(tern_skb_cursor_is_at(c, FIRST_SEQ + off));
	if (c->queue->last)
		expect_eq(tern_skb_cursor_avail(c), len - off);
	expect_eq(!c->left, off == len);
	expect_eq(tern_skb_cursor_copy(c, got, sizeof(got)), len - off);
	expect(!memcmp(got, stream + off, len - off));
}

/* as tcp_read_sock() frees what was consumed */
static void free_consumed(struct sk_buff_head *q, u32 seq)
{
	while (q->first && !before(seq, q->first->seq + q->first->len))
		free_first(q);
}

/*
 * Three FPDUs of @size, @size and the rest, each read ahead and then passed; the
 * buffers before the cursor are freed.
 */
static void consume_fpdus(struct sk_buff_head *q, u32 size, u32 len)
{
	struct tern_skb_cursor c = start_at(q, 0);

	for (u32 off = 0; off < len; ) {
		u32 n = off < 2 * size ? min(size, len - off) : len - off;

		expect_at(&c, off, len);
		expect(tern_skb_cursor_advance(&c, n));
		off += n;
		tern_skb_cursor_park(&c);
		free_consumed(q, FIRST_SEQ + off);
		if (q->first && !tern_skb_cursor_is_at(&c, FIRST_SEQ + off))
			c = start_at(q, off);
	}
	expect(!tern_skb_cursor_is_at(&c, FIRST_SEQ + len));
}

static void check_queue(struct sk_buff_head *q, u32 size, u32 len)
{
	for (u32 off = 0; off <= len; off++) {
		struct tern_skb_cursor c = start_at(q, off);

		expect_at(&c, off, len);
	}
	consume_fpdus(q, size, len);
}

TEST(skb_cursor__every_split_of_a_short_stream, "MPA-063")
{
	const u32 len = 7;

	fill_stream();
	for (u64 cuts = 0; cuts < 1U << (len - 1); cuts++) {
		u32 pieces = (u32)__builtin_popcountll(cuts) + 1;

		for (u64 kinds = 0; kinds < 1U << (2 * pieces); kinds += 4) {
			struct sk_buff_head q = build(cuts, kinds, len);

			check_queue(&q, 2, len);
			free_queue(&q);
		}
	}
}

TEST(skb_cursor__random_splits, "MPA-063")
{
	struct rng rng = rng_seed(1);

	fill_stream();
	for (u32 i = 0; i < MANY; i++) {
		/* pieces of 1 byte, of some, and of many */
		u64 cuts = rng_next(&rng) | (u64)rng_next(&rng) << 32;
		u64 kinds = rng_next(&rng) | (u64)rng_next(&rng) << 32;
		u32 rare = rng_below(&rng, 3);
		struct sk_buff_head q;

		while (rare--)
			cuts &= rng_next(&rng) | (u64)rng_next(&rng) << 32;
		/* only so many kinds: the rest are buffers */
		q = build(cuts, kinds, STREAM);
		check_queue(&q, 1 + rng_below(&rng, STREAM / 2), STREAM);
		free_queue(&q);
	}
}

TEST(skb_cursor__one_byte_a_buffer, "MPA-063")
{
	struct sk_buff_head q;

	fill_stream();
	q = build(~0ULL, 0, STREAM);
	check_queue(&q, 5, STREAM);
	free_queue(&q);
}

TEST(skb_cursor__empty_parts, "MPA-063")
{
	struct sk_buff_head q = {};
	struct sk_buff *root;

	fill_stream();
	root = new_skb(0, 0);
	add_frag(root, root, 0, 0);
	add_frag(root, root, 0, 9);
	add_frag(root, root, 9, 0);
	add_member(root, new_skb(9, 0));
	add_member(root, new_skb(9, 4));
	add_root(&q, root);
	/* a buffer without data, and one whose data all came before */
	add_root(&q, new_skb(13, 0));
	add_root(&q, new_skb(9, 4));
	check_queue(&q, 4, 13);
	free_queue(&q);
}

TEST(skb_cursor__adjacent_fragments_are_one_piece, "MPA-063")
{
	struct tern_skb_cursor c;
	struct sk_buff_head q = {};
	struct sk_buff *root;

	fill_stream();
	root = new_skb(0, 3);
	add_frag(root, root, 3, 30);
	root->info.frags[0].size = 10;
	for (u32 i = 1; i < 3; i++) {
		root->info.frags[i] = (skb_frag_t) {
			.page = root->info.frags[0].page,
			.off = 10 * i,
			.size = 10,
		};
	}
	root->info.nr_frags = 3;
	add_frag(root, root, 33, 7);
	add_root(&q, root);

	c = start_at(&q, 3);
	expect_eq(c.left, 30);
	c = start_at(&q, 16);
	expect_eq(c.left, 17);
	for (u32 off = 0; off <= 40; off++) {
		c = start_at(&q, off);
		expect_at(&c, off, 40);
	}
	/* they were one allocation */
	root->info.frags[1].page = NULL;
	root->info.frags[2].page = NULL;
	free_queue(&q);
}

TEST(skb_cursor__goes_no_further_than_the_queue, "MPA-063")
{
	struct sk_buff_head q;
	struct tern_skb_cursor c;

	fill_stream();
	q = build(0x1248, 0x1b, STREAM);
	c = start_at(&q, 0);
	expect(!tern_skb_cursor_advance(&c, STREAM + 1));
	expect_at(&c, STREAM, STREAM);
	expect(tern_skb_cursor_advance(&c, 0));
	expect(!tern_skb_cursor_advance(&c, 1));
	free_queue(&q);
}

TEST(skb_cursor__stops_before_device_memory, "MPA-063")
{
	struct tern_skb_cursor c;
	struct sk_buff_head q = {};
	struct sk_buff *device;
	u8 got[STREAM];

	fill_stream();
	device = new_skb(6, 2);
	add_root(&q, new_skb(0, 6));
	add_frag(device, device, 8, 10);
	device->unreadable = true;
	add_root(&q, device);
	add_root(&q, new_skb(18, 4));

	c = start_at(&q, 0);
	expect_eq(tern_skb_cursor_avail(&c), 22);
	/* the linear part is the CPU's */
	expect_eq(tern_skb_cursor_copy(&c, got, sizeof(got)), 8);
	expect(tern_skb_cursor_advance(&c, 8));
	expect_eq(c.left, 0);
	expect(!tern_skb_cursor_advance(&c, 1));
	/* started inside of it */
	c = start_at(&q, 12);
	expect_eq(tern_skb_cursor_avail(&c), 10);
	expect_eq(tern_skb_cursor_copy(&c, got, sizeof(got)), 0);
	free_queue(&q);
}

/* @c reads 8 of the 22 bytes, and never goes on at a wrong place */
static void expect_stop(struct sk_buff_head *q)
{
	struct tern_skb_cursor c = start_at(q, 0);
	u8 got[STREAM];

	expect_eq(tern_skb_cursor_avail(&c), 22);
	expect_eq(tern_skb_cursor_copy(&c, got, sizeof(got)), 8);
	expect(!memcmp(got, stream, 8));
	expect(!tern_skb_cursor_advance(&c, 22));
	expect_eq(c.left, 0);
	expect(tern_skb_cursor_is_at(&c, FIRST_SEQ + 8));
}

TEST(skb_cursor__stops_before_a_net_iov, "MPA-063")
{
	struct sk_buff_head q = {};
	struct sk_buff *root;

	fill_stream();
	root = new_skb(0, 8);
	root->info.nr_frags = 1;
	root->info.frags[0].size = 10;
	root->len += 10;
	root->data_len += 10;
	add_root(&q, root);
	add_root(&q, new_skb(18, 4));
	expect_stop(&q);
	free_queue(&q);
}

TEST(skb_cursor__stops_before_a_list_inside_a_list, "MPA-063")
{
	struct sk_buff_head q = {};
	struct sk_buff *root, *member;

	fill_stream();
	root = new_skb(0, 6);
	member = new_skb(6, 2);
	member->info.frag_list = new_skb(8, 5);
	member->len += 5;
	member->data_len += 5;
	add_member(root, member);
	add_member(root, new_skb(13, 5));
	add_root(&q, root);
	add_root(&q, new_skb(18, 4));
	expect_stop(&q);
	free_queue(&q);
}

TEST(skb_cursor__stops_before_a_hole, "MPA-063")
{
	struct sk_buff_head q = {};

	fill_stream();
	add_root(&q, new_skb(0, 8));
	add_root(&q, new_skb(18, 4));
	expect_stop(&q);
	free_queue(&q);
}

TEST(skb_cursor__has_no_position_after_a_reset, "MPA-063")
{
	struct sk_buff_head q;
	struct tern_skb_cursor c;

	fill_stream();
	q = build(0, 0, STREAM);
	c = start_at(&q, 5);
	expect(tern_skb_cursor_is_at(&c, FIRST_SEQ + 5));
	expect(!tern_skb_cursor_is_at(&c, FIRST_SEQ + 6));
	tern_skb_cursor_reset(&c);
	expect(!tern_skb_cursor_is_at(&c, FIRST_SEQ + 5));
	free_queue(&q);
}
