/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The layouts of MPA, DDP and RDMAP as the RFCs draw them (RFC 5044 4 and 7.1.1,
 * RFC 5041 4, RFC 5040 4, RFC 6581 6), written and read byte by byte. On purpose this
 * shares nothing with drivers/tern/core: a mistake passes only if both make it.
 * wire_ext.h has the bodies of the extensions.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* big-endian fields */
void put16(void *at, uint16_t v);
void put32(void *at, uint32_t v);
void put64(void *at, uint64_t v);
uint16_t get16(const void *at);
uint32_t get32(const void *at);
uint64_t get64(const void *at);

/* CRC32c: start with 0, pass the result on. The least significant byte of the end
 * value goes on the wire first (RFC 3720). */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* ---- MPA startup frame ---- */

#define MPA_M	0x80
#define MPA_C	0x40
#define MPA_R	0x20
#define MPA_S	0x10

#define ENH_A	0x8000	/* first word: control flag, peer-to-peer */
#define ENH_B	0x4000	/* first word: zero-length Send */
#define ENH_C	0x8000	/* second word: zero-length Write */
#define ENH_D	0x4000	/* second word: zero-length Read */
#define ENH_X	0x3fff	/* IRD or ORD is not negotiated */

#define MPA_FRAME_HDR	20
#define MPA_PD_MAX	512

extern const char mpa_request_key[17], mpa_reply_key[17];

/**
 * struct mpa_frame - a Request or Reply
 * @key: bytes 0 to 15
 * @flags: byte 16
 * @rev: byte 17
 * @pd_len: bytes 18, 19
 * @pd: private data, the enhanced words included
 */
struct mpa_frame {
	uint8_t key[16];
	uint8_t flags;
	uint8_t rev;
	uint16_t pd_len;
	uint8_t pd[MPA_PD_MAX];
};

/* a plain frame: Rev 1, C=1, no private data */
void mpa_plain(struct mpa_frame *f, bool reply);

/* an enhanced one: Rev 2, S=1, C=1, and the two words */
void mpa_enhanced(struct mpa_frame *f, bool reply, uint16_t word0, uint16_t word1);

/* a Reply that grants what @request asks for: the depths of its queues, its model */
void mpa_grant(struct mpa_frame *f, const struct mpa_frame *request);

/* Write the frame to @out; Return: its bytes. A pd_len over MPA_PD_MAX is written as
 * it is, followed by MPA_PD_MAX bytes. */
size_t mpa_encode(const struct mpa_frame *f, void *out);

uint16_t enh_word0(const struct mpa_frame *f);
uint16_t enh_word1(const struct mpa_frame *f);

/* ---- DDP and RDMAP ---- */

#define DDP_TAGGED	0x80
#define DDP_LAST	0x40

enum rdmap_op {
	OP_WRITE = 0,
	OP_READ_REQ = 1,
	OP_READ_RESP = 2,
	OP_SEND = 3,
	OP_SEND_INV = 4,
	OP_SEND_SE = 5,
	OP_SEND_SE_INV = 6,
	OP_TERMINATE = 7,
	/* RFC 7306 */
	OP_IMM = 0x08,
	OP_IMM_SE = 0x09,
	OP_ATOMIC_REQ = 0x0a,
	OP_ATOMIC_RESP = 0x0b,
	/* RDMAP version 2 */
	OP_READ_REQ_V2 = 0x11,
	OP_READ_RESP_V2 = 0x12,
	OP_SEND_IMM = 0x13,
	OP_SEND_INV_IMM = 0x14,
	OP_SEND_SE_IMM = 0x15,
	OP_SEND_SE_INV_IMM = 0x16,
};

#define TAGGED_HDR	14
#define UNTAGGED_HDR	18
#define READ_REQ_LEN	46
#define TERM_MAX	70
#define ULPDU_MAX	64768

/**
 * struct seg - a decoded DDP segment
 * @ctrl: byte 0
 * @rdmap: byte 1
 * @stag: tagged: the STag; untagged: bytes 2 to 5, Invalidate STag
 * @to: tagged
 * @qn, @msn, @mo: untagged
 * @data: what follows the DDP header
 * @len: bytes of @data
 * @ulpdu, @ulpdu_len: the whole segment
 */
struct seg {
	uint8_t ctrl;
	uint8_t rdmap;
	uint32_t stag;
	uint64_t to;
	uint32_t qn;
	uint32_t msn;
	uint32_t mo;
	const uint8_t *data;
	uint32_t len;
	const uint8_t *ulpdu;
	uint32_t ulpdu_len;
};

static inline bool seg_tagged(const struct seg *s) { return s->ctrl & DDP_TAGGED; }
static inline bool seg_last(const struct seg *s) { return s->ctrl & DDP_LAST; }
/* the opcode has 4 bits, in RDMAP version 2 it has 5 */
static inline int seg_op(const struct seg *s)
{
	return s->rdmap & (s->rdmap >> 6 == 2 ? 0x1f : 0x0f);
}

/* Return: false when the segment is too short for its header */
bool seg_decode(struct seg *s, const void *ulpdu, uint32_t len);

/* write the DDP header of @s (tagged or not by its T bit) and its data; Return: bytes */
uint32_t seg_encode(const struct seg *s, void *ulpdu);

/* a decoded RDMAP Terminate: RFC 5040 4.8 */
struct term {
	uint8_t layer;
	uint8_t etype;
	uint8_t code;
	bool m, d, r;
	uint16_t ddp_len;	/* DDP Segment Length */
	const uint8_t *ddp;	/* terminated DDP header, or NULL */
	uint32_t ddp_hdr_len;
	const uint8_t *rdma;	/* terminated Read Request header (28), or NULL */
};

bool term_decode(struct term *t, const struct seg *s);

#endif /* WIRE_H */
