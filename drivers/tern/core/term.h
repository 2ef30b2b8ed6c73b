/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Terminate: codes, building and parsing. RFC 5040 4.8 and 7, RFC 5041 7,
 * RFC 5044 8, RFC 6581 8.
 */
#ifndef TERN_CORE_TERM_H
#define TERN_CORE_TERM_H

#include "wire.h"

/* a Terminate triplet as one number; 0 is RDMAP local catastrophic, a real one */
#define TERN_TERM(layer, etype, ecode)	((layer) << 12 | (etype) << 8 | (ecode))
#define TERN_TERM_LAYER(t)		(((t) >> 12) & 0xf)
#define TERN_TERM_ETYPE(t)		(((t) >> 8) & 0xf)
#define TERN_TERM_ECODE(t)		((t) & 0xff)

#define TERN_TERM_NONE			(-1)	/* no error */

enum tern_term_code {
	/* RDMAP, RFC 5040 figure 9 */
	TERN_TERM_LOCAL = TERN_TERM(0, 0, 0x00),
	TERN_TERM_RP_INV_STAG = TERN_TERM(0, 1, 0x00),
	TERN_TERM_RP_BOUNDS = TERN_TERM(0, 1, 0x01),
	TERN_TERM_RP_ACCESS = TERN_TERM(0, 1, 0x02),
	TERN_TERM_RP_NOT_ASSOC = TERN_TERM(0, 1, 0x03),
	TERN_TERM_RP_WRAP = TERN_TERM(0, 1, 0x04),
	TERN_TERM_RP_CANT_INV = TERN_TERM(0, 1, 0x09),
	TERN_TERM_RP_UNSPEC = TERN_TERM(0, 1, 0xff),
	TERN_TERM_RO_VERSION = TERN_TERM(0, 2, 0x05),
	TERN_TERM_RO_OPCODE = TERN_TERM(0, 2, 0x06),
	TERN_TERM_RO_STREAM = TERN_TERM(0, 2, 0x07),
	TERN_TERM_RO_GLOBAL = TERN_TERM(0, 2, 0x08),
	TERN_TERM_RO_CANT_INV = TERN_TERM(0, 2, 0x09),
	TERN_TERM_RO_UNSPEC = TERN_TERM(0, 2, 0xff),
	/* DDP, RFC 5041 7.2 */
	TERN_TERM_DDP_LOCAL = TERN_TERM(1, 0, 0x00),
	TERN_TERM_DT_INV_STAG = TERN_TERM(1, 1, 0x00),
	TERN_TERM_DT_BOUNDS = TERN_TERM(1, 1, 0x01),
	TERN_TERM_DT_NOT_ASSOC = TERN_TERM(1, 1, 0x02),
	TERN_TERM_DT_WRAP = TERN_TERM(1, 1, 0x03),
	TERN_TERM_DT_VERSION = TERN_TERM(1, 1, 0x04),
	TERN_TERM_DU_QN = TERN_TERM(1, 2, 0x01),
	TERN_TERM_DU_NO_BUFFER = TERN_TERM(1, 2, 0x02),
	TERN_TERM_DU_MSN_RANGE = TERN_TERM(1, 2, 0x03),
	TERN_TERM_DU_MO = TERN_TERM(1, 2, 0x04),
	TERN_TERM_DU_TOO_LONG = TERN_TERM(1, 2, 0x05),
	TERN_TERM_DU_VERSION = TERN_TERM(1, 2, 0x06),
	/* LLP (MPA), RFC 5044 8 and RFC 6581 8 */
	TERN_TERM_MPA_CLOSED = TERN_TERM(2, 0, 0x01),
	TERN_TERM_MPA_CRC = TERN_TERM(2, 0, 0x02),
	TERN_TERM_MPA_MARKER = TERN_TERM(2, 0, 0x03),
	TERN_TERM_MPA_FRAME = TERN_TERM(2, 0, 0x04),
	TERN_TERM_MPA_LOCAL = TERN_TERM(2, 0, 0x05),
	TERN_TERM_MPA_IRD = TERN_TERM(2, 0, 0x06),
	TERN_TERM_MPA_RTR = TERN_TERM(2, 0, 0x07),
};

/**
 * struct tern_term_info - a received Terminate
 * @code: TERN_TERM() triplet, any value
 * @seg_len: length of the offending DDP segment, if @has_len
 * @has_len: the M bit was set and the bytes are there
 * @ddp: copied DDP header, 14 or 18 bytes by its T bit, if @has_ddp
 * @has_ddp: the D bit was set and the bytes are there
 * @rreq: copied Read Request header, if @has_rreq
 * @has_rreq: the R bit was set and the bytes are there
 */
struct tern_term_info {
	int code;
	u16 seg_len;
	bool has_len;
	bool has_ddp;
	bool has_rreq;
	u8 ddp[sizeof(struct tern_ddp_untagged)];
	struct tern_read_req rreq;
};

/**
 * struct tern_term_seg - the offending segment, as a Terminate copies it
 * @hdr: its first bytes
 * @hdr_len: valid bytes at @hdr; 0: nothing is copied
 * @len: its length (ULPDU_Length)
 * @rv: RDMAP version that was in force in its direction, for its opcode
 */
struct tern_term_seg {
	const u8 *hdr;
	u32 hdr_len;
	u32 len;
	u8 rv;
};

/**
 * tern_term_build() - body of a Terminate message (after the DDP header)
 * @out: room for TERN_HDR_MAX - 18 = 52 bytes
 * @code: TERN_TERM() triplet
 * @seg: the offending segment, NULL if there is none
 *
 * RFC 5040 figure 10 and 7.1 say what is copied. Where they disagree (Q30): DDP header
 * and segment length together, and the Read Request if that was whole. The
 * RDMAP headers of RFC 7306 and RDMAP version 2 are not copied: RFC 7306 8.1(2)
 * "the Terminated RDMA Header field is set to zero".
 *
 * Return: bytes written: 4, 20, 24 or 52.
 */
u32 tern_term_build(u8 *out, int code, const struct tern_term_seg *seg);

/**
 * tern_term_parse() - parse the body of a Terminate message
 * @body: bytes after the untagged DDP header
 * @len: bytes at @body; 4 to 52 are accepted, the bits of HDRCT are trusted
 *	only as far as @len covers them
 * @info: result
 *
 * Return: 0, or -EINVAL when @len is under 4.
 */
int tern_term_parse(const u8 *body, u32 len, struct tern_term_info *info);

/**
 * tern_term_names_read() - does it report a request on queue 1, and which one
 * @info: a received Terminate
 * @msn: result: MSN of that Read Request of either form, or Atomic Request
 *
 * A copied header counts only where RFC 5040 figure 10 allows one: local
 * catastrophic errors and those of the LLP copy none, and a tagged error (1/1)
 * reports a Write or a Read Response, never a Read Request (Q12).
 *
 * Return: true when it is.
 */
bool tern_term_names_read(const struct tern_term_info *info, u32 *msn);

/**
 * tern_term_name() - what a triplet means, for traces and tools
 * @code: any triplet
 *
 * Return: a static string, "unknown" for a triplet that no RFC defines.
 */
const char *tern_term_name(int code);

#endif /* TERN_CORE_TERM_H */
