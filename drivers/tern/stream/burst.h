/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A burst: FPDUs built into page fragments, for one sendmsg. TCP takes its own
 * references on the pages; ours are dropped when the burst is sent.
 */
#ifndef TERN_BURST_H
#define TERN_BURST_H

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/types.h>

#define TERN_BURST_BYTES	(64 * 1024 + 128)	/* two long FPDUs, if without markers */
#define TERN_BURST_FRAGS	20

/**
 * struct tern_burst - fragments built and not yet taken by TCP
 * @bv: fragments, each with a page reference of ours
 * @nr: elements in use
 * @len: bytes in them
 * @sent: bytes of them that TCP took
 * @frag: where the next bytes go, while the engine runs
 */
struct tern_burst {
	struct bio_vec bv[TERN_BURST_FRAGS];
	u32 nr;
	u32 len;
	u32 sent;
	struct page_frag frag;
};

/**
 * struct tern_burst_pos - a write position within a burst
 * @i: fragment
 * @off: bytes into it
 */
struct tern_burst_pos {
	u32 i;
	u32 off;
};

/**
 * tern_burst_extend() - make contiguous room at the end, without other memory
 * @b: burst
 * @size: bytes
 *
 * The common case of tern_burst_reserve(). Return: their first, or NULL, with nothing
 * changed.
 */
static inline u8 *tern_burst_extend(struct tern_burst *b, u32 size)
{
	struct page_frag *f = &b->frag;
	u32 at = f->offset;
	struct bio_vec *last;

	if (!b->nr || f->size - at < size)
		return NULL;
	last = &b->bv[b->nr - 1];
	if (last->bv_page != f->page || last->bv_offset + last->bv_len != at)
		return NULL;
	last->bv_len += size;
	f->offset += size;
	b->len += size;
	return (u8 *)page_address(f->page) + at;
}

/**
 * tern_burst_reserve() - make room at the end
 * @b: burst
 * @size: bytes
 * @pos: where they start
 * @room: contiguous bytes there, as for tern_burst_at()
 *
 * Context: any. Return: their first, or NULL if there is no memory, with nothing changed.
 */
u8 *tern_burst_reserve(struct tern_burst *b, u32 size, struct tern_burst_pos *pos, u32 *room);

/* remove the last @size bytes */
void tern_burst_trim(struct tern_burst *b, u32 size);

/*
 * contiguous memory at @pos, *@room bytes of it: at the first byte of a reservation at
 * least TERN_FPDU_TX_HEAD, or all of it
 */
u8 *tern_burst_at(struct tern_burst *b, const struct tern_burst_pos *pos,
		  u32 *room);
void tern_burst_advance(struct tern_burst *b, struct tern_burst_pos *pos,
			u32 len);

/* copy @len bytes to @pos and move it on */
void tern_burst_write(struct tern_burst *b, struct tern_burst_pos *pos,
		      const void *src, u32 len);

/* drop the fragments: all was sent, or never will be */
void tern_burst_reset(struct tern_burst *b);

/* true when TCP has no part of an FPDU without the rest: a burst is whole FPDUs */
static inline bool tern_burst_at_boundary(const struct tern_burst *b)
{
	return !b->sent || b->sent == b->len;
}

/* the engine's run ends: give the current block back. The burst keeps its fragments */
void tern_burst_leave(struct tern_burst *b);

#endif /* TERN_BURST_H */
