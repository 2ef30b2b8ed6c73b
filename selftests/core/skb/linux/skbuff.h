/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* As much of the kernel's socket buffers as stream/skb_cursor.c needs. */
#ifndef TERN_TEST_SKBUFF_H
#define TERN_TEST_SKBUFF_H

#include "env.h"

#include <string.h>

#define MAX_SKB_FRAGS	17

#define skb_frag_t	struct skb_frag

struct page;
struct sk_buff;

struct skb_frag {
	u8 *page;	/* its first byte; NULL: a net_iov */
	u32 off;
	u32 size;
};

struct skb_shared_info {
	u8 nr_frags;
	struct sk_buff *frag_list;
	skb_frag_t frags[MAX_SKB_FRAGS];
};

struct sk_buff {
	struct sk_buff *next;
	u32 len;
	u32 data_len;
	u32 seq;	/* of TCP_SKB_CB() */
	bool unreadable;
	u8 *data;
	struct skb_shared_info info;
};

/* the kernel's is a ring; the tests go forward only, so that this one ends */
struct sk_buff_head {
	struct sk_buff *first;
	struct sk_buff *last;
};

static inline struct skb_shared_info *skb_shinfo(struct sk_buff *skb)
{
	return &skb->info;
}

static inline u32 skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline struct page *skb_frag_page(const skb_frag_t *frag)
{
	return (struct page *)frag->page;
}

static inline u8 *page_address(struct page *page)
{
	return (u8 *)page;
}

static inline u32 skb_frag_off(const skb_frag_t *frag)
{
	return frag->off;
}

static inline u32 skb_frag_size(const skb_frag_t *frag)
{
	return frag->size;
}

static inline bool skb_frags_readable(const struct sk_buff *skb)
{
	return !skb->unreadable;
}

static inline bool skb_frag_is_net_iov(const skb_frag_t *frag)
{
	return !frag->page;
}

static inline struct sk_buff *skb_peek_next(struct sk_buff *skb,
					    const struct sk_buff_head *queue)
{
	return queue->last == skb ? NULL : skb->next;
}

static inline struct sk_buff *skb_peek_tail(const struct sk_buff_head *queue)
{
	return queue->last;
}

#endif /* TERN_TEST_SKBUFF_H */
