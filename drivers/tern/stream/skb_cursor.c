// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Read TCP's receive queue in contiguous pieces, without search and without copy. */
#include "skb_cursor.h"

#include <net/tcp.h>

/* a piece begins at @data: skip what lies before the position */
static void set_piece(struct tern_skb_cursor *c, const void *data, u32 len)
{
	u32 n = min(len, c->ahead);

	c->ahead -= n;
	c->data = data + n;
	c->left = len - n;
}

/* skip the fragments that lie wholly before the position */
static noinline void skip_frags(struct tern_skb_cursor *c)
{
	const struct skb_shared_info *info = skb_shinfo(c->skb);
	u32 i, ahead = c->ahead, nr = info->nr_frags;

	for (i = 0; i < nr && ahead >= skb_frag_size(&info->frags[i]); i++)
		ahead -= skb_frag_size(&info->frags[i]);
	c->ahead = ahead;
	c->frag = i;
}

static void enter_skb(struct tern_skb_cursor *c, struct sk_buff *skb)
{
	c->skb = skb;
	c->frag = 0;
	set_piece(c, skb->data, skb_headlen(skb));
	if (c->ahead)
		skip_frags(c);
}

/*
 * Can the CPU read the rest of this buffer, in one level of lists? Not if it is in a
 * device's memory; and a reassembled packet whose fragments were reassembled before
 * has lists in the members of its list.
 */
static bool can_follow(const struct tern_skb_cursor *c)
{
	const struct skb_shared_info *info = skb_shinfo(c->skb);

	if (!skb_frags_readable(c->skb) || (c->skb != c->root && info->frag_list))
		return false;
	return c->frag == info->nr_frags || !skb_frag_is_net_iov(&info->frags[c->frag]);
}

/* skb_frag_address() of what has a page, as all but a net_iov do */
static const u8 *frag_data(const skb_frag_t *frag)
{
	return page_address(skb_frag_page(frag)) + skb_frag_off(frag);
}

/*
 * A sender's pages are often adjacent: one piece of several fragments costs one
 * checksum and one copy. Return: bytes of the next fragments that follow @end in memory.
 */
static u32 join_frags(struct tern_skb_cursor *c, const u8 *end)
{
	const struct skb_shared_info *info = skb_shinfo(c->skb);
	u32 i, nr = info->nr_frags;
	const u8 *at = end;

	for (i = c->frag; i < nr; i++) {
		const skb_frag_t *frag = &info->frags[i];

		if (skb_frag_is_net_iov(frag) || frag_data(frag) != at)
			break;
		at += skb_frag_size(frag);
	}
	c->frag = i;
	return at - end;
}

/* without kmap(): 64-bit kernels have no high memory */
static bool next_frag(struct tern_skb_cursor *c)
{
	const struct skb_shared_info *info = skb_shinfo(c->skb);
	const skb_frag_t *frag;
	const u8 *data;
	u32 len;

	if (c->frag == info->nr_frags)
		return false;
	frag = &info->frags[c->frag++];
	data = frag_data(frag);
	len = skb_frag_size(frag);
	set_piece(c, data, len + join_frags(c, data + len));
	return true;
}

static bool next_member(struct tern_skb_cursor *c)
{
	struct sk_buff *skb = c->skb == c->root ? skb_shinfo(c->root)->frag_list :
						  c->skb->next;

	if (!skb)
		return false;
	enter_skb(c, skb);
	return true;
}

/*
 * TCP may queue a retransmission whole although it has its first bytes already: skip
 * those, as tcp_recv_skb() does. A buffer after a hole is skipped whole.
 */
static bool next_root(struct tern_skb_cursor *c)
{
	struct sk_buff *skb = skb_peek_next(c->root, c->queue);

	if (!skb)
		return false;
	c->root = skb;
	c->ahead = min(c->seq - TCP_SKB_CB(skb)->seq, skb->len);
	enter_skb(c, skb);
	return true;
}

void tern_skb_cursor_next(struct tern_skb_cursor *c)
{
	while (!c->left && can_follow(c) &&
	       (next_frag(c) || next_member(c) || next_root(c)))
		;
}

void tern_skb_cursor_start(struct tern_skb_cursor *c, struct sk_buff_head *queue,
			   struct sk_buff *skb, u32 off)
{
	c->queue = queue;
	c->root = skb;
	c->ahead = off;
	c->seq = TCP_SKB_CB(skb)->seq + off;
	enter_skb(c, skb);
	tern_skb_cursor_next(c);
}

u32 tern_skb_cursor_avail(const struct tern_skb_cursor *c)
{
	const struct sk_buff *last = skb_peek_tail(c->queue);

	return TCP_SKB_CB(last)->seq + last->len - c->seq;
}

u32 tern_skb_cursor_copy(const struct tern_skb_cursor *c, void *buf, u32 len)
{
	struct tern_skb_cursor at = *c;
	u32 done = 0;

	while (done < len && at.left) {
		u32 n = min(len - done, at.left);

		memcpy(buf + done, at.data, n);
		done += n;
		tern_skb_cursor_step(&at, n);
		tern_skb_cursor_fill(&at);
	}
	return done;
}
