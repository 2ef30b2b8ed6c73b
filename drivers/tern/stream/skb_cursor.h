/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A position in a TCP receive queue that moves forward only. A socket buffer is a
 * linear part, fragments and a list of further buffers; an FPDU may span all of them,
 * and several buffers. The receive engine reads ahead with a copy of its cursor before
 * any byte is consumed.
 *
 * A cursor is good only while the socket lock is held and its buffer is in the queue: it is
 * parked before TCP frees what was consumed.
 */
#ifndef TERN_SKB_CURSOR_H
#define TERN_SKB_CURSOR_H

#include <linux/skbuff.h>

/**
 * struct tern_skb_cursor - a position, and the contiguous bytes at it
 * @queue: sk->sk_receive_queue
 * @root: buffer of @queue, or NULL: no position
 * @skb: @root, or a member of its frag_list
 * @data: the next byte
 * @left: contiguous bytes at @data; 0 after tern_skb_cursor_fill() only at the end of the
 *	queue, and before bytes that cannot be read in place: see can_follow()
 * @frag: the next fragment of @skb
 * @ahead: bytes between the next piece of @root and the position
 * @seq: TCP sequence number of the next byte
 */
struct tern_skb_cursor {
	struct sk_buff_head *queue;
	struct sk_buff *root;
	struct sk_buff *skb;
	const u8 *data;
	u32 left;
	u32 frag;
	u32 ahead;
	u32 seq;
};

/**
 * tern_skb_cursor_start() - go to a byte
 * @c: cursor, in any state
 * @queue: sk->sk_receive_queue
 * @skb: buffer of @queue
 * @off: bytes into it, 0..@skb->len
 */
void tern_skb_cursor_start(struct tern_skb_cursor *c, struct sk_buff_head *queue,
			   struct sk_buff *skb, u32 off);

/* forget the position: the buffers may go */
static inline void tern_skb_cursor_reset(struct tern_skb_cursor *c)
{
	c->root = NULL;
}

/* the buffers before the position may go: with no bytes at hand it is in one of them */
static inline void tern_skb_cursor_park(struct tern_skb_cursor *c)
{
	if (!c->left)
		tern_skb_cursor_reset(c);
}

/* is @seq the TCP sequence number of the next byte? */
static inline bool tern_skb_cursor_is_at(const struct tern_skb_cursor *c, u32 seq)
{
	return c->root && c->seq == seq;
}

/* Return: bytes from the cursor to the end of the queue, readable or not */
u32 tern_skb_cursor_avail(const struct tern_skb_cursor *c);

/* for tern_skb_cursor_fill() */
void tern_skb_cursor_next(struct tern_skb_cursor *c);

/*
 * Go to the next piece if this one is used up: before each look at @data and @left but the
 * first one after tern_skb_cursor_start().
 */
static inline void tern_skb_cursor_fill(struct tern_skb_cursor *c)
{
	if (!c->left)
		tern_skb_cursor_next(c);
}

/* move forward by @n of the contiguous bytes */
static inline void tern_skb_cursor_step(struct tern_skb_cursor *c, u32 n)
{
	c->data += n;
	c->left -= n;
	c->seq += n;
}

/**
 * tern_skb_cursor_advance() - move forward
 * @c: started
 * @len: bytes
 *
 * Return: the move was made. If false, the queue has less than @len readable bytes,
 * and the cursor is after the last of them.
 */
static inline bool tern_skb_cursor_advance(struct tern_skb_cursor *c, u32 len)
{
	while (len) {
		u32 n;

		tern_skb_cursor_fill(c);
		n = min(len, c->left);
		if (!n)
			return false;
		tern_skb_cursor_step(c, n);
		len -= n;
	}
	return true;
}

/* copy up to @len bytes without moving; Return: bytes copied, less if that is all */
u32 tern_skb_cursor_copy(const struct tern_skb_cursor *c, void *buf, u32 len);

#endif /* TERN_SKB_CURSOR_H */
