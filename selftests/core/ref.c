// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The second implementation of MPA framing: see ref.h. */
#include "ref.h"

uint32_t ref_crc32c(uint32_t crc, const uint8_t *p, uint32_t len)
{
	while (len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return crc;
}

/* ---- encoder ------------------------------------------------------------ */

struct enc {
	uint8_t *out;
	uint32_t n;
	uint64_t pos;
	uint64_t len_pos;	/* of ULPDU_Length; UINT64_MAX before it */
	bool markers;
};

static void put_raw(struct enc *e, uint8_t byte)
{
	e->out[e->n++] = byte;
	e->pos++;
}

static void put(struct enc *e, uint8_t byte)
{
	if (e->markers && e->pos % 512 == 0) {
		uint64_t ptr = e->len_pos == UINT64_MAX ?
			       0 : e->pos - e->len_pos;

		put_raw(e, 0);
		put_raw(e, 0);
		put_raw(e, (uint8_t)(ptr >> 8));
		put_raw(e, (uint8_t)ptr);
	}
	if (e->len_pos == UINT64_MAX)
		e->len_pos = e->pos;
	put_raw(e, byte);
}

/* RFC 5044 4.4: a marker directly before the CRC field is covered by the CRC */
static void put_crc(struct enc *e, bool crc_on)
{
	uint32_t crc, end;

	put(e, 0);
	end = e->n - 1;
	crc = crc_on ? ~ref_crc32c(~0U, e->out, end) : 0;
	e->out[end] = (uint8_t)crc;
	for (int i = 1; i < 4; i++)
		put_raw(e, (uint8_t)(crc >> (8 * i)));
}

uint32_t ref_encode(struct ref_dir *d, const uint8_t *ulpdu, uint32_t len,
		    uint8_t *out)
{
	struct enc e = {
		.out = out, .pos = d->pos, .len_pos = UINT64_MAX,
		.markers = d->markers,
	};

	put(&e, (uint8_t)(len >> 8));
	put(&e, (uint8_t)len);
	for (uint32_t i = 0; i < len; i++)
		put(&e, ulpdu[i]);
	for (uint32_t i = len + 2; i % 4; i++)
		put(&e, 0);
	put_crc(&e, d->crc);
	d->pos = e.pos;
	return e.n;
}

/* ---- decoder ------------------------------------------------------------ */

struct dec {
	const uint8_t *in;
	uint32_t len;
	uint32_t at;
	uint64_t pos;
	uint64_t len_pos;
	bool markers;
	bool marker_bad;
};

static int get_raw(struct dec *d)
{
	if (d->at == d->len)
		return -1;
	d->pos++;
	return d->in[d->at++];
}

/* Return: -1 at the end of the input */
static int get_marker(struct dec *d)
{
	uint64_t want = d->len_pos == UINT64_MAX ? 0 : d->pos - d->len_pos;
	int byte = 0;
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		byte = get_raw(d);
		if (byte < 0)
			return -1;
		v = v << 8 | (uint32_t)byte;
	}
	if ((v & 0xfffc) != want)
		d->marker_bad = true;
	return 0;
}

static int get(struct dec *d)
{
	if (d->markers && d->pos % 512 == 0 && get_marker(d) < 0)
		return -1;
	if (d->len_pos == UINT64_MAX)
		d->len_pos = d->pos;
	return get_raw(d);
}

/* read the CRC field into *@got; *@end is where the range of the CRC ends */
static bool get_crc(struct dec *d, uint32_t *got, uint32_t *end)
{
	*got = 0;
	for (int i = 0; i < 4; i++) {
		int byte = get(d);

		if (byte < 0)
			return false;
		if (!i)
			*end = d->at - 1;
		*got |= (uint32_t)byte << (8 * i);
	}
	return true;
}

enum ref_verdict ref_decode(struct ref_dir *dir, const uint8_t *in,
			    uint32_t len, uint8_t *ulpdu, uint32_t *ulpdu_len,
			    uint32_t *used)
{
	struct dec d = {
		.in = in, .len = len, .pos = dir->pos,
		.len_pos = UINT64_MAX, .markers = dir->markers,
	};
	int hi = get(&d), lo = get(&d);
	uint32_t n, crc, end = 0;

	if (hi < 0 || lo < 0)
		return REF_MORE;
	n = (uint32_t)hi << 8 | (uint32_t)lo;
	if (n > 64768)
		return REF_LENGTH;
	for (uint32_t i = 0; i < n || (i + 2) % 4; i++) {
		int byte = get(&d);

		if (byte < 0)
			return REF_MORE;
		if (i < n)
			ulpdu[i] = (uint8_t)byte;
	}
	if (!get_crc(&d, &crc, &end))
		return REF_MORE;
	if (dir->crc && crc != (uint32_t)~ref_crc32c(~0U, in, end))
		return REF_CRC;
	if (d.marker_bad)
		return REF_MARKER;
	*ulpdu_len = n;
	*used = d.at;
	dir->pos = d.pos;
	return REF_GOOD;
}
