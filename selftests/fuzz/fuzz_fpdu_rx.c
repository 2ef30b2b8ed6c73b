// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The FPDU receiver (RFC 5044 4 and 6). Checked: every split of the stream gives the
 * same result; no byte outside the input is read; the sender's FPDUs are read back; the
 * decoder in core/ref.c agrees with the receiver, and its encoder with the sender.
 *
 * Input: flags, position / 4, seed of the splits, damage offset (2), then
 * either the stream itself or records of length (2) and ULPDU.
 */
#include <stdlib.h>

#include "ref.h"
#include "util.h"

#include "fuzz.h"

#define F_CRC		0x01
#define F_MARKERS	0x02
#define F_RECORDS	0x04	/* records, encoded here */
#define F_DAMAGE	0x08	/* one byte is changed */
#define F_FIX_CRC	0x10	/* CRC fields are corrected */

#define STREAM_MAX	200000

/* what a receiver reports for a stream */
struct outcome {
	u32 fpdus;
	u32 used;
	enum ref_verdict end;
	u64 hash;
	u32 pos;
};

static u8 stream[STREAM_MAX], ulpdu[65536];

static u64 hash(u64 h, const u8 *p, u32 len)
{
	h = (h ^ len) * 0x100000001b3;
	while (len--)
		h = (h ^ *p++) * 0x100000001b3;
	return h;
}

static enum ref_verdict verdict_of(int term)
{
	switch (term) {
	case TERN_TERM_NONE:
		return REF_GOOD;
	case TERN_TERM_MPA_CRC:
		return REF_CRC;
	case TERN_TERM_MPA_MARKER:
		return REF_MARKER;
	default:
		must(false, "code %x of no error in framing", term);
	}
}

/* copy the bytes to a heap block, so that ASan detects reads before and after them */
static u8 *alone(const u8 *p, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	memcpy(copy, p, len);
	return copy;
}

/* call header() with only as many bytes as it asks for (@grow), or with all */
static int header(const struct tern_fpdu_rx *rx, const u8 *p, u32 len,
		  bool grow, struct tern_fpdu *f, int *term)
{
	u32 have = grow ? 0 : len;
	int need;
	u8 *copy;

	for (;;) {
		copy = alone(p, have);
		need = tern_fpdu_rx_header(rx, copy, have, f, term);
		free(copy);
		must(need <= (int)TERN_FPDU_PEEK);
		if (need <= 0)
			return need;
		must(need > (int)have);
		if (need > (int)len)
			return need;
		have = (u32)need;
	}
}

static void verify(const struct tern_fpdu_rx *rx, struct tern_fpdu *f,
		   const u8 *p, struct rng *r)
{
	u32 n;

	for (u32 at = 0; at < f->total; at += n) {
		u8 *copy;

		n = f->total - at;
		if (r)
			n = 1 + rng_below(r, rng_below(r, 2) ? min(n, 8u) : n);
		copy = alone(p + at, n);
		tern_fpdu_rx_verify(rx, f, copy, n);
		free(copy);
	}
}

static void take(const struct tern_fpdu *f, bool markers, const u8 *p,
		 struct outcome *o)
{
	u32 n = gather_ulpdu(f, markers, p, ulpdu);

	must(n == f->ulpdu_len);
	must(f->hdr_len == min_t(u32, n, TERN_HDR_MAX));
	must_bytes(f->hdr, ulpdu, f->hdr_len);
	o->hash = hash(o->hash, ulpdu, n);
	o->fpdus++;
	o->used += f->total;
}

/* decode by the core; @r: split at random */
static struct outcome read_core(struct tern_fpdu_rx rx, u32 len, struct rng *r)
{
	struct outcome o = { .end = REF_MORE };
	struct tern_fpdu f;
	int term = TERN_TERM_NONE;

	while (o.used < len) {
		const u8 *p = stream + o.used;
		int need = header(&rx, p, len - o.used, r, &f, &term);

		if (need < 0)
			o.end = REF_LENGTH;
		if (need || f.total > len - o.used)
			break;
		must(f.verify == (rx.crc || rx.markers));
		if (f.verify)
			verify(&rx, &f, p, r);
		term = tern_fpdu_rx_finish(&rx, &f);
		if (term != TERN_TERM_NONE) {
			o.end = verdict_of(term);
			break;
		}
		take(&f, rx.markers, p, &o);
	}
	o.pos = rx.pos;
	return o;
}

static struct outcome read_ref(struct ref_dir d, u32 len)
{
	struct outcome o = { .end = REF_MORE };
	enum ref_verdict v;
	u32 n, used;

	while (o.used < len) {
		v = ref_decode(&d, stream + o.used, len - o.used, ulpdu, &n,
			       &used);
		if (v != REF_GOOD) {
			o.end = v;
			break;
		}
		o.hash = hash(o.hash, ulpdu, n);
		o.fpdus++;
		o.used += used;
	}
	o.pos = (u32)(d.pos % 512);
	return o;
}

static void must_agree(const struct outcome *a, const struct outcome *b)
{
	must(a->fpdus == b->fpdus);
	must(a->used == b->used);
	must(a->end == b->end);
	must(a->hash == b->hash);
	must(a->pos == b->pos);
}

/* encode a record by the core's sender and by the reference: they must agree */
static u32 encode(struct tern_fpdu_tx *tx, struct ref_dir *d, const u8 *p,
		  u32 len, u8 *out)
{
	static u8 other[70000], seg[65536];
	u32 hdr = p[0] & TERN_DDP_TAGGED ? 14 : 18;
	struct tern_tx_msg msg = raw_msg(p, hdr, len - hdr);
	u32 size, n;

	tx->mulpdu = TERN_ULPDU_MAX;
	size = tern_fpdu_tx_next(tx, &msg);
	n = send_fpdu(tx, &msg, p + hdr, out);
	must(n == size);
	memcpy(seg, p, len);
	seg[0] |= TERN_DDP_LAST;
	if (hdr == 18)
		put_unaligned_be32(0, seg + 14);
	must(ref_encode(d, seg, len, other) == n);
	must_bytes(out, other, n);
	must(!tx->markers || d->pos % 512 == tx->pos);
	return n;
}

static u32 encode_records(const u8 *p, u32 len, struct ref_dir d)
{
	struct tern_fpdu_tx tx = {
		.crc = d.crc, .markers = d.markers, .pos = (u32)d.pos,
	};
	static u8 seg[65536];
	u32 n = 0, want, have;

	while (len > 2 && n < STREAM_MAX - 70000) {
		want = 18 + get_unaligned_be16(p) % 3000;
		have = min(want, len - 2);
		memset(seg, 0x5a, want);
		memcpy(seg, p + 2, have);
		n += encode(&tx, &d, seg, want, stream + n);
		p += 2 + have;
		len -= 2 + have;
	}
	return n;
}

/* correct the CRCs of damaged and raw streams, to reach the checks after the CRC's */
static void fix_crcs(struct tern_fpdu_rx rx, u32 len)
{
	struct tern_fpdu f;
	u32 at = 0;
	int term;

	while (at < len &&
	       !tern_fpdu_rx_header(&rx, stream + at, len - at, &f, &term) &&
	       f.total <= len - at) {
		u8 *end = stream + at + f.total - 4;

		put_unaligned_le32(~ref_crc32c(~0U, stream + at, f.total - 4),
				   end);
		at += f.total;
		rx.pos = (rx.pos + f.total) % 512;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct outcome whole, split, ref;
	struct tern_fpdu_rx rx;
	struct ref_dir d;
	struct rng r;
	u32 len;

	if (size < 5)
		return 0;
	d = (struct ref_dir){
		.crc = data[0] & F_CRC, .markers = data[0] & F_MARKERS,
		.pos = data[0] & F_MARKERS ? data[1] % 128 * 4 : 0,
	};
	tern_fpdu_rx_init(&rx, d.crc, d.markers);
	rx.pos = (u32)d.pos;
	r = rng_seed(data[2]);
	if (data[0] & F_RECORDS) {
		len = encode_records(data + 5, (u32)size - 5, d);
	} else {
		len = (u32)min_t(size_t, size - 5, STREAM_MAX);
		memcpy(stream, data + 5, len);
	}
	if (data[0] & F_DAMAGE && len)
		stream[get_unaligned_be16(data + 3) % len] ^= data[2] | 1;
	if (data[0] & F_FIX_CRC)
		fix_crcs(rx, len);

	whole = read_core(rx, len, NULL);
	split = read_core(rx, len, &r);
	ref = read_ref(d, len);
	must_agree(&whole, &split);
	must_agree(&whole, &ref);
	if (data[0] & F_RECORDS && !(data[0] & F_DAMAGE))
		must(whole.used == len);
	return 0;
}
