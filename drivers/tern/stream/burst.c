// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Page fragments that FPDUs are built into: whole FPDUs per sendmsg (RFC 5044
 * 5.1).
 */
#include "burst.h"

#include <linux/mm.h>
#include <linux/string.h>

#include "core/fpdu_tx.h"
#include "block.h"

/*
 * A fragment with less room than this is replaced, unless no more is needed. So an FPDU
 * of up to this size is in one piece, and so are the headers of each.
 */
#define FRAG_MIN	2048U

static_assert(TERN_FPDU_TX_HEAD <= FRAG_MIN && FRAG_MIN <= PAGE_SIZE);

/* make room for @min bytes in the current block, or get another */
static bool refill(struct tern_burst *b, u32 min)
{
	struct page_frag *f = &b->frag;

	if (f->page && tern_block_has(f, min))
		return true;
	if (f->page)
		tern_block_put(f->page);
	f->page = NULL;
	return tern_block_get(f, min);
}

/* the next @n bytes of the current fragment become part of the burst */
static __always_inline bool append_frag(struct tern_burst *b, u32 n)
{
	struct page_frag *f = &b->frag;
	struct bio_vec *last = b->nr ? &b->bv[b->nr - 1] : NULL;

	if (last && last->bv_page == f->page &&
	    last->bv_offset + last->bv_len == f->offset) {
		last->bv_len += n;
	} else {
		if (b->nr == TERN_BURST_FRAGS)
			return false;
		/* our own reference, so that no other burst builds into it */
		get_page(f->page);
		bvec_set_page(&b->bv[b->nr++], f->page, n, f->offset);
	}
	f->offset += n;
	b->len += n;
	return true;
}

static noinline u8 *reserve_pieces(struct tern_burst *b, u32 size, struct tern_burst_pos *pos,
				   u32 *room)
{
	struct page_frag *f = &b->frag;
	u32 done = 0;

	pos->i = b->nr ? b->nr - 1 : 0;
	pos->off = b->nr ? b->bv[b->nr - 1].bv_len : 0;
	while (done < size) {
		u32 n;

		if (!refill(b, min(size - done, FRAG_MIN)))
			break;
		n = min(size - done, f->size - f->offset);
		if (!append_frag(b, n))
			break;
		done += n;
	}
	if (done < size) {
		tern_burst_trim(b, done);
		return NULL;
	}
	/* they may begin in a new fragment */
	tern_burst_advance(b, pos, 0);
	return tern_burst_at(b, pos, room);
}

/* the first FPDU of a burst is most often in one piece */
u8 *tern_burst_reserve(struct tern_burst *b, u32 size, struct tern_burst_pos *pos, u32 *room)
{
	struct page_frag *f = &b->frag;
	u8 *first;

	if (b->nr || !refill(b, min(size, FRAG_MIN)) || f->size - f->offset < size)
		return reserve_pieces(b, size, pos, room);
	first = (u8 *)page_address(f->page) + f->offset;
	append_frag(b, size);
	*pos = (struct tern_burst_pos) {};
	*room = size;
	return first;
}

void tern_burst_trim(struct tern_burst *b, u32 size)
{
	b->len -= size;
	while (size) {
		struct bio_vec *last = &b->bv[b->nr - 1];
		u32 n = min(size, last->bv_len);

		last->bv_len -= n;
		size -= n;
		if (last->bv_len)
			continue;
		put_page(last->bv_page);
		b->nr--;
	}
}

u8 *tern_burst_at(struct tern_burst *b, const struct tern_burst_pos *pos,
		  u32 *room)
{
	struct bio_vec *bv = &b->bv[pos->i];

	*room = bv->bv_len - pos->off;
	return (u8 *)page_address(bv->bv_page) + bv->bv_offset + pos->off;
}

void tern_burst_advance(struct tern_burst *b, struct tern_burst_pos *pos,
			u32 len)
{
	pos->off += len;
	if (pos->off == b->bv[pos->i].bv_len && pos->i + 1 < b->nr) {
		pos->i++;
		pos->off = 0;
	}
}

void tern_burst_write(struct tern_burst *b, struct tern_burst_pos *pos,
		      const void *src, u32 len)
{
	while (len) {
		u32 room;
		u8 *dst = tern_burst_at(b, pos, &room);
		u32 n = min(len, room);

		memcpy(dst, src, n);
		tern_burst_advance(b, pos, n);
		src += n;
		len -= n;
	}
}

void tern_burst_reset(struct tern_burst *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		put_page(b->bv[i].bv_page);
	b->nr = 0;
	b->len = 0;
	b->sent = 0;
}

void tern_burst_leave(struct tern_burst *b)
{
	if (b->frag.page)
		tern_block_leave(&b->frag);
}
