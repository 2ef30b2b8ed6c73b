// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The layouts of MPA, DDP and RDMAP: see wire.h. */
#include <string.h>

#include "wire.h"

const char mpa_request_key[17] = "MPA ID Req Frame";
const char mpa_reply_key[17] = "MPA ID Rep Frame";

void put16(void *at, uint16_t v)
{
	uint8_t *p = at;

	p[0] = v >> 8;
	p[1] = v;
}

void put32(void *at, uint32_t v)
{
	put16(at, v >> 16);
	put16((uint8_t *)at + 2, v);
}

void put64(void *at, uint64_t v)
{
	put32(at, v >> 32);
	put32((uint8_t *)at + 4, v);
}

uint16_t get16(const void *at)
{
	const uint8_t *p = at;

	return p[0] << 8 | p[1];
}

uint32_t get32(const void *at)
{
	return (uint32_t)get16(at) << 16 | get16((const uint8_t *)at + 2);
}

uint64_t get64(const void *at)
{
	return (uint64_t)get32(at) << 32 | get32((const uint8_t *)at + 4);
}

#define CRC32C_POLY	0x82f63b78	/* reflected */

static void crc32c_fill(uint32_t table[256])
{
	uint32_t c;
	int bit, i;

	for (i = 0; i < 256; i++) {
		c = i;
		for (bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? CRC32C_POLY : 0);
		table[i] = c;
	}
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	static uint32_t table[256];
	const uint8_t *p = data;

	if (!table[1])
		crc32c_fill(table);
	crc = ~crc;
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

void mpa_plain(struct mpa_frame *f, bool reply)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->key, reply ? mpa_reply_key : mpa_request_key, sizeof(f->key));
	f->flags = MPA_C;
	f->rev = 1;
}

void mpa_enhanced(struct mpa_frame *f, bool reply, uint16_t word0, uint16_t word1)
{
	mpa_plain(f, reply);
	f->flags |= MPA_S;
	f->rev = 2;
	f->pd_len = 4;
	put16(f->pd, word0);
	put16(f->pd + 2, word1);
}

void mpa_grant(struct mpa_frame *f, const struct mpa_frame *request)
{
	uint16_t word0, word1;

	if (request->rev < 2 || !(request->flags & MPA_S)) {
		mpa_plain(f, true);
		f->rev = request->rev;
		return;
	}
	word0 = enh_word1(request) & ENH_X;
	word1 = enh_word0(request) & ENH_X;
	if (enh_word0(request) & ENH_A) {
		word0 |= ENH_A | ENH_B;
		word1 |= ENH_C | ENH_D;
	}
	mpa_enhanced(f, true, word0, word1);
}

size_t mpa_encode(const struct mpa_frame *f, void *out)
{
	size_t pd = f->pd_len < MPA_PD_MAX ? f->pd_len : MPA_PD_MAX;
	uint8_t *p = out;

	memcpy(p, f->key, sizeof(f->key));
	p[16] = f->flags;
	p[17] = f->rev;
	put16(p + 18, f->pd_len);
	memcpy(p + MPA_FRAME_HDR, f->pd, pd);
	return MPA_FRAME_HDR + pd;
}

uint16_t enh_word0(const struct mpa_frame *f)
{
	return get16(f->pd);
}

uint16_t enh_word1(const struct mpa_frame *f)
{
	return get16(f->pd + 2);
}

bool seg_decode(struct seg *s, const void *ulpdu, uint32_t len)
{
	const uint8_t *p = ulpdu;
	uint32_t hdr;

	memset(s, 0, sizeof(*s));
	s->ulpdu = p;
	s->ulpdu_len = len;
	if (len < 2)
		return false;
	s->ctrl = p[0];
	s->rdmap = p[1];
	hdr = seg_tagged(s) ? TAGGED_HDR : UNTAGGED_HDR;
	if (len < hdr)
		return false;
	s->stag = get32(p + 2);
	if (seg_tagged(s)) {
		s->to = get64(p + 6);
	} else {
		s->qn = get32(p + 6);
		s->msn = get32(p + 10);
		s->mo = get32(p + 14);
	}
	s->data = p + hdr;
	s->len = len - hdr;
	return true;
}

uint32_t seg_encode(const struct seg *s, void *ulpdu)
{
	uint32_t hdr = seg_tagged(s) ? TAGGED_HDR : UNTAGGED_HDR;
	uint8_t *p = ulpdu;

	p[0] = s->ctrl;
	p[1] = s->rdmap;
	put32(p + 2, s->stag);
	if (seg_tagged(s)) {
		put64(p + 6, s->to);
	} else {
		put32(p + 6, s->qn);
		put32(p + 10, s->msn);
		put32(p + 14, s->mo);
	}
	if (s->len)
		memcpy(p + hdr, s->data, s->len);
	return hdr + s->len;
}

#define TERM_M	0x80
#define TERM_D	0x40
#define TERM_R	0x20
#define TERM_RREQ_LEN	28

/* the copies after the control word and the length */
static bool term_copies(struct term *t, const uint8_t *p, uint32_t len)
{
	if (t->d) {
		if (!len)
			return false;
		t->ddp_hdr_len = p[0] & DDP_TAGGED ? TAGGED_HDR : UNTAGGED_HDR;
		if (len < t->ddp_hdr_len)
			return false;
		t->ddp = p;
		p += t->ddp_hdr_len;
		len -= t->ddp_hdr_len;
	}
	if (t->r) {
		if (len < TERM_RREQ_LEN)
			return false;
		t->rdma = p;
	}
	return true;
}

bool term_decode(struct term *t, const struct seg *s)
{
	const uint8_t *p = s->data;

	memset(t, 0, sizeof(*t));
	if (seg_tagged(s) || seg_op(s) != OP_TERMINATE || s->len < 4)
		return false;
	t->layer = p[0] >> 4;
	t->etype = p[0] & 0x0f;
	t->code = p[1];
	t->m = p[2] & TERM_M;
	t->d = p[2] & TERM_D;
	t->r = p[2] & TERM_R;
	if (!t->m && !t->d && !t->r)
		return true;
	if (s->len < 6)
		return false;
	t->ddp_len = get16(p + 4);
	return term_copies(t, p + 6, s->len - 6);
}
