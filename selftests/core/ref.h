/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A second implementation of MPA framing, written byte by byte from RFC 5044 4,
 * simple and slow. The core must agree with it; it shares no code with core/.
 */
#ifndef TERN_TEST_REF_H
#define TERN_TEST_REF_H

#include <stdbool.h>
#include <stdint.h>

enum ref_verdict {
	REF_GOOD,
	REF_MORE,		/* the input ends inside the FPDU */
	REF_LENGTH,		/* ULPDU_Length over 64768 */
	REF_CRC,
	REF_MARKER,
};

/**
 * struct ref_dir - one direction's framing
 * @markers: markers are in the stream
 * @crc: the CRC field is checked
 * @pos: bytes since the start of Full Operation, not modulo 512
 */
struct ref_dir {
	bool markers;
	bool crc;
	uint64_t pos;
};

uint32_t ref_crc32c(uint32_t crc, const uint8_t *p, uint32_t len);

/* Return: bytes written to @out; advances @d->pos */
uint32_t ref_encode(struct ref_dir *d, const uint8_t *ulpdu, uint32_t len,
		    uint8_t *out);

/*
 * The FPDU at the head of @in. @ulpdu has room for 64768 bytes; *@used is its
 * length on the wire. Advances @d->pos if the result is REF_GOOD.
 */
enum ref_verdict ref_decode(struct ref_dir *d, const uint8_t *in, uint32_t len,
			    uint8_t *ulpdu, uint32_t *ulpdu_len,
			    uint32_t *used);

#endif /* TERN_TEST_REF_H */
