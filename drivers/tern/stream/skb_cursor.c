// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Read ahead in TCP's receive queue: FPDUs that span socket buffers. */
#include "skb_cursor.h"

#include <net/tcp.h>

/*
 * Go to the byte after this buffer's last one. TCP may queue a retransmission
 * whole although it has its first bytes already: skip those in the next buffer,
 * as tcp_recv_skb() does.
 */
static bool to_next(struct tern_skb_cursor *c)
{
	u32 seq = TCP_SKB_CB(c->skb)->seq + c->skb->len;

	if (skb_queue_is_last(c->queue, c->skb))
		return false;
	c->skb = c->skb->next;
	c->off = min(seq - TCP_SKB_CB(c->skb)->seq, c->skb->len);
	return true;
}

u32 tern_skb_cursor_avail(const struct tern_skb_cursor *c, u32 limit)
{
	struct tern_skb_cursor at = *c;
	u32 n = at.skb->len - at.off;

	while (n < limit && to_next(&at))
		n += at.skb->len - at.off;
	return min(n, limit);
}

u32 tern_skb_cursor_peek(const struct tern_skb_cursor *c, void *buf, u32 len)
{
	struct tern_skb_cursor at = *c;
	u32 done = 0;

	do {
		u32 n = min(len - done, at.skb->len - at.off);

		if (skb_copy_bits(at.skb, at.off, buf + done, n))
			break;
		done += n;
	} while (done < len && to_next(&at));
	return done;
}

void tern_skb_cursor_advance(struct tern_skb_cursor *c, u32 len)
{
	u32 n;

	while (len >= (n = c->skb->len - c->off) && to_next(c))
		len -= n;
	c->off += len;
}

/* visit bytes of one buffer, in its linear part and its fragments */
static int walk_skb(struct sk_buff *skb, u32 off, u32 len,
		    int (*fn)(void *arg, const u8 *data, u32 n), void *arg)
{
	struct skb_seq_state st;
	const u8 *data;
	u32 done = 0, n;
	int ret = 0;

	/* a shortcut: all of it is in the linear part */
	if (off + len <= skb_headlen(skb))
		return fn(arg, skb->data + off, len);

	skb_prepare_seq_read(skb, off, off + len, &st);
	while (done < len && (n = skb_seq_read(done, &data, &st))) {
		n = min(n, len - done);
		ret = fn(arg, data, n);
		if (ret)
			break;
		done += n;
	}
	skb_abort_seq_read(&st);
	return ret;
}

int tern_skb_cursor_walk(const struct tern_skb_cursor *c, u32 skip, u32 len,
			 int (*fn)(void *arg, const u8 *data, u32 n),
			 void *arg)
{
	struct tern_skb_cursor at = *c;
	int ret = 0;

	tern_skb_cursor_advance(&at, skip);
	do {
		u32 n = min(len, at.skb->len - at.off);

		if (n)
			ret = walk_skb(at.skb, at.off, n, fn, arg);
		len -= n;
	} while (len && !ret && to_next(&at));
	return ret;
}
