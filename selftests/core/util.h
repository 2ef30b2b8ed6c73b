/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Helpers of the tests, the model and the fuzz targets. */
#ifndef TERN_TEST_UTIL_H
#define TERN_TEST_UTIL_H

#include "ddp.h"
#include "fpdu_rx.h"
#include "fpdu_tx.h"
#include "mem_check.h"
#include "rdmap.h"
#include "read_open.h"

/* versions in force in a direction */
#define V0	tern_rdmap_version_of(0)
#define V1	tern_rdmap_version_of(1)
#define V2	((struct tern_rdmap_version){ .dv = 1, .rv = 2 })

/* reproducible random numbers: xorshift64* */
struct rng {
	u64 s;
};

static inline u32 rng_next(struct rng *r)
{
	r->s ^= r->s >> 12;
	r->s ^= r->s << 25;
	r->s ^= r->s >> 27;
	return (u32)((r->s * 0x2545f4914f6cdd1dULL) >> 32);
}

static inline struct rng rng_seed(u64 seed)
{
	struct rng r = { seed * 0x9e3779b97f4a7c15ULL + 1 };

	rng_next(&r);
	return r;
}

/* Return: a number in 0..n-1 */
static inline u32 rng_below(struct rng *r, u32 n)
{
	return (u32)((u64)rng_next(r) * n >> 32);
}

static inline void rng_fill(struct rng *r, u8 *p, u32 len)
{
	for (u32 i = 0; i < len; i++)
		p[i] = (u8)rng_next(r);
}

static inline int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* convert hex like "00 2a 4143" to bytes; Return: their number */
static inline u32 from_hex(u8 *out, const char *s)
{
	u32 n = 0;

	for (; *s; s++) {
		if (*s == ' ')
			continue;
		out[n++] = (u8)(hex_digit(s[0]) << 4 | hex_digit(s[1]));
		s++;
	}
	return n;
}

/* the headers of the next FPDU of @msg; Return: bytes at @out */
static inline u32 begin_fpdu(struct tern_fpdu_tx *tx, struct tern_tx_msg *msg, u8 *out)
{
	tern_fpdu_tx_next(tx, msg);
	return tern_fpdu_tx_begin(tx, msg, out);
}

/* send one FPDU of @msg by the core; Return: bytes at @out */
static inline u32 send_fpdu(struct tern_fpdu_tx *tx, struct tern_tx_msg *msg,
			    const u8 *payload, u8 *out)
{
	const u8 *p = payload ? payload + msg->sent : NULL;
	u32 n = begin_fpdu(tx, msg, out);
	u32 run;

	while ((run = tern_fpdu_tx_run(tx))) {
		memcpy(out + n, p, run);
		p += run;
		n += run;
		n += tern_fpdu_tx_payload(tx, run, out + n);
	}
	return tern_fpdu_tx_finish(tx, out, n);
}

/* what follows the payload, by itself; Return: bytes at @out */
static inline u32 end_of_fpdu(struct tern_fpdu_tx *tx, u8 *out)
{
	u32 n = tern_fpdu_tx_pad(tx, out);

	return n + tern_fpdu_tx_end(tx, out + n);
}

/* a message with the given headers and @len bytes of payload */
static inline struct tern_tx_msg raw_msg(const u8 *hdr, u32 hdr_len, u32 len)
{
	struct tern_tx_msg msg = { .hdr_len = hdr_len, .len = len };

	memcpy(msg.hdr, hdr, hdr_len);
	return msg;
}

/* the ULPDU of a verified FPDU, markers removed; Return: bytes at @out */
static inline u32 gather_ulpdu(const struct tern_fpdu *f, bool markers,
			       const u8 *fpdu, u8 *out)
{
	struct tern_fpdu_range r;
	u32 off = 0, n = 0;

	while (tern_fpdu_range_next(f, markers, &off, &r)) {
		memcpy(out + n, fpdu + r.fpdu_off, r.len);
		n += r.len;
	}
	return n;
}

#endif /* TERN_TEST_UTIL_H */
