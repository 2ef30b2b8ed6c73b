/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A position in a TCP receive queue: an FPDU that spans socket buffers is read
 * along the queue before any of it is consumed. A cursor is good only while the
 * socket lock is held.
 */
#ifndef TERN_SKB_CURSOR_H
#define TERN_SKB_CURSOR_H

#include <linux/skbuff.h>

/**
 * struct tern_skb_cursor - a position
 * @queue: sk->sk_receive_queue
 * @skb: buffer
 * @off: bytes into it
 */
struct tern_skb_cursor {
	struct sk_buff_head *queue;
	struct sk_buff *skb;
	u32 off;
};

/* bytes from the cursor to the end of the queue, counted up to @limit */
u32 tern_skb_cursor_avail(const struct tern_skb_cursor *c, u32 limit);

/* copy up to @len bytes without moving; Return: bytes copied */
u32 tern_skb_cursor_peek(const struct tern_skb_cursor *c, void *buf, u32 len);

/* move on by @len bytes, which must be there */
void tern_skb_cursor_advance(struct tern_skb_cursor *c, u32 len);

/**
 * tern_skb_cursor_walk() - visit bytes in contiguous pieces
 * @c: start, not moved
 * @skip: bytes to pass over first
 * @len: bytes to visit; they must be there
 * @fn: called for each piece; any answer but 0 ends the walk
 * @arg: its argument
 *
 * Return: 0 or what @fn answered.
 */
int tern_skb_cursor_walk(const struct tern_skb_cursor *c, u32 skip, u32 len,
			 int (*fn)(void *arg, const u8 *data, u32 n),
			 void *arg);

#endif /* TERN_SKB_CURSOR_H */
