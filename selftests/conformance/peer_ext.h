/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Messages of the extensions, as peer.h has those of RFC 5040: built, sent, and read
 * from the device. A function that "leaves the test" does so through must().
 */
#ifndef PEER_EXT_H
#define PEER_EXT_H

#include "peer.h"
#include "wire_ext.h"

/* ---- segments: built into @out as those of peer.h ---- */

uint32_t seg_imm(struct peer *p, enum rdmap_op op, const void *imm, void *out);
uint32_t seg_atomic(struct peer *p, const struct atomic_req *a, void *out);
uint32_t seg_atomic_resp(struct peer *p, uint32_t id, uint64_t old, void *out);
uint32_t seg_read_req_v2(struct peer *p, uint32_t size, uint32_t src_stag,
			 uint64_t src_to, void *out);
uint32_t seg_read_resp_v2(struct peer *p, uint32_t mo, const void *data, uint32_t len,
			  bool last, void *out);
/* the last segment of a Send with Immediate, after @mo bytes of payload */
uint32_t seg_send_imm_last(struct peer *p, enum rdmap_op op, uint32_t inv_stag,
			   uint32_t mo, const void *imm, uint32_t len, void *out);

/* ---- whole messages, sent ---- */

void send_imm(struct peer *p, enum rdmap_op op, const void *imm);
void send_atomic(struct peer *p, const struct atomic_req *a);
void send_atomic_resp(struct peer *p, uint32_t id, uint64_t old);
void send_read_req_v2(struct peer *p, uint32_t size, uint32_t src_stag, uint64_t src_to);
void send_read_resp_v2(struct peer *p, const void *data, uint32_t len);
/* the payload in segments of at most @cut bytes, then the immediate */
void send_send_imm(struct peer *p, enum rdmap_op op, uint32_t inv_stag,
		   const void *data, uint32_t len, uint32_t cut, const void *imm);
void send_hello(struct peer *p, uint8_t version, uint8_t role, uint16_t features);

/* ---- whole messages that the device must send: leave the test if it does not ---- */

/* @op, with these 8 bytes, one segment, no Invalidate STag */
void must_get_imm(struct peer *p, enum rdmap_op op, const void *imm);
void must_get_atomic(struct peer *p, struct atomic_req *a);
void must_get_atomic_resp(struct peer *p, uint32_t id, uint64_t old);

/* a Read Request of version 2 */
struct read_v2 {
	uint32_t msn;
	uint32_t size;
	uint32_t stag;
	uint64_t to;
};

void must_get_read_req_v2(struct peer *p, struct read_v2 *r);
/* a whole Response of @len bytes, compared with @data; Return: its segments */
unsigned int must_get_read_resp_v2(struct peer *p, const void *data, uint32_t len);
/* A Send with Immediate of @len bytes, compared with @data: L is set in the segment of
 * the immediate only. Return: its segments. */
unsigned int must_get_send_imm(struct peer *p, enum rdmap_op op, uint32_t inv_stag,
			       const void *data, uint32_t len, const void *imm);
/* a hello of version 1 with this role and these features */
void must_get_hello(struct peer *p, uint8_t role, uint16_t features);
/* The device's first message on a connection without an RTR is of @op. An initiator may
 * put an offer in front of it (Q36), which goes to @offer, else that is all 0. */
void must_get_first(struct peer *p, struct fpdu *f, enum rdmap_op op, struct hello *offer);

#endif /* PEER_EXT_H */
