// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Messages of the extensions, built and read: see peer_ext.h. */
#include <stdlib.h>

#include "conform.h"
#include "peer_ext.h"

#define SEG_ROOM	128	/* of a message of fixed size */

/* ---- segments ---- */

uint32_t seg_imm(struct peer *p, enum rdmap_op op, const void *imm, void *out)
{
	return seg_untagged(p, op, 0, imm, IMM_LEN, true, out);
}

uint32_t seg_atomic(struct peer *p, const struct atomic_req *a, void *out)
{
	uint8_t body[ATOMIC_REQ_LEN];

	atomic_encode(a, body);
	return seg_untagged(p, OP_ATOMIC_REQ, 0, body, sizeof(body), true, out);
}

uint32_t seg_atomic_resp(struct peer *p, uint32_t id, uint64_t old, void *out)
{
	uint8_t body[ATOMIC_RESP_LEN];

	put32(body, id);
	put64(body + 4, old);
	return seg_untagged(p, OP_ATOMIC_RESP, 0, body, sizeof(body), true, out);
}

uint32_t seg_read_req_v2(struct peer *p, uint32_t size, uint32_t src_stag,
			 uint64_t src_to, void *out)
{
	uint8_t body[READ_REQ_V2_LEN];

	put32(body, size);
	put32(body + 4, src_stag);
	put64(body + 8, src_to);
	return seg_untagged(p, OP_READ_REQ_V2, 0, body, sizeof(body), true, out);
}

uint32_t seg_read_resp_v2(struct peer *p, uint32_t mo, const void *data, uint32_t len,
			  bool last, void *out)
{
	return seg_untagged(p, OP_READ_RESP_V2, mo, data, len, last, out);
}

uint32_t seg_send_imm_last(struct peer *p, enum rdmap_op op, uint32_t inv_stag,
			   uint32_t mo, const void *imm, uint32_t len, void *out)
{
	return seg_send(p, op, inv_stag, mo, imm, len, true, out);
}

/* ---- sending ---- */

void send_imm(struct peer *p, enum rdmap_op op, const void *imm)
{
	uint8_t out[SEG_ROOM];

	peer_send_fpdu(p, out, seg_imm(p, op, imm, out));
}

void send_atomic(struct peer *p, const struct atomic_req *a)
{
	uint8_t out[SEG_ROOM];

	peer_send_fpdu(p, out, seg_atomic(p, a, out));
}

void send_atomic_resp(struct peer *p, uint32_t id, uint64_t old)
{
	uint8_t out[SEG_ROOM];

	peer_send_fpdu(p, out, seg_atomic_resp(p, id, old, out));
}

void send_read_req_v2(struct peer *p, uint32_t size, uint32_t src_stag, uint64_t src_to)
{
	uint8_t out[SEG_ROOM];

	peer_send_fpdu(p, out, seg_read_req_v2(p, size, src_stag, src_to, out));
}

void send_read_resp_v2(struct peer *p, const void *data, uint32_t len)
{
	uint8_t *out = malloc(len + SEG_ROOM);

	must(out, "no memory");
	peer_send_fpdu(p, out, seg_read_resp_v2(p, 0, data, len, true, out));
	free(out);
}

void send_send_imm(struct peer *p, enum rdmap_op op, uint32_t inv_stag,
		   const void *data, uint32_t len, uint32_t cut, const void *imm)
{
	uint8_t *out = malloc(len + SEG_ROOM);
	uint32_t at, piece;

	must(out, "no memory");
	for (at = 0; at < len; at += piece) {
		piece = len - at < cut ? len - at : cut;
		peer_send_fpdu(p, out, seg_send(p, op, inv_stag, at,
						(const uint8_t *)data + at, piece, false,
						out));
	}
	peer_send_fpdu(p, out, seg_send_imm_last(p, op, inv_stag, len, imm, IMM_LEN, out));
	free(out);
}

void send_hello(struct peer *p, uint8_t version, uint8_t role, uint16_t features)
{
	const struct hello h = { version, role, features };

	send_write(p, HELLO_STAG, hello_to(&h), NULL, 0);
}

/* ---- what the device must send ---- */

/* the one segment of a message of fixed size */
static void must_get_one(struct peer *p, struct fpdu *f, enum rdmap_op op, uint32_t len)
{
	must_get_op(p, f, op);
	must_eq(f->seg.len, len, "bytes after the DDP header");
	must(seg_last(&f->seg), "no L bit");
	must_eq(f->seg.mo, 0, "MO");
	must_eq(f->seg.stag, 0, "the Invalidate STag");
	must_eq(f->seg.rdmap & 0x30 & ~op, 0, "reserved bits of byte 1");
}

void must_get_imm(struct peer *p, enum rdmap_op op, const void *imm)
{
	struct fpdu f;

	must_get_one(p, &f, op, IMM_LEN);
	must_bytes(f.seg.data, imm, IMM_LEN, "the immediate");
}

void must_get_atomic(struct peer *p, struct atomic_req *a)
{
	struct fpdu f;

	must_get_one(p, &f, OP_ATOMIC_REQ, ATOMIC_REQ_LEN);
	atomic_decode(a, f.seg.data);
}

void must_get_atomic_resp(struct peer *p, uint32_t id, uint64_t old)
{
	struct fpdu f;

	must_get_one(p, &f, OP_ATOMIC_RESP, ATOMIC_RESP_LEN);
	must_eq(get32(f.seg.data), id, "the Original Request Identifier");
	must_eq(get64(f.seg.data + 4), old, "the Original Remote Data Value");
}

void must_get_read_req_v2(struct peer *p, struct read_v2 *r)
{
	struct fpdu f;

	must_get_one(p, &f, OP_READ_REQ_V2, READ_REQ_V2_LEN);
	r->msn = f.seg.msn;
	r->size = get32(f.seg.data);
	r->stag = get32(f.seg.data + 4);
	r->to = get64(f.seg.data + 8);
}

unsigned int must_get_read_resp_v2(struct peer *p, const void *data, uint32_t len)
{
	unsigned int segments = 0;
	uint32_t done = 0;
	struct fpdu f;

	do {
		must_get_op(p, &f, OP_READ_RESP_V2);
		must_eq(f.seg.mo, done, "MO");
		must_eq(f.seg.stag, 0, "the Invalidate STag");
		must(f.seg.len <= len - done, "more than %u bytes", len);
		must_bytes(f.seg.data, (const uint8_t *)data + done, f.seg.len,
			   "the Response from %u on", done);
		done += f.seg.len;
		segments++;
	} while (!seg_last(&f.seg));
	must_eq(done, len, "length of the Response");
	return segments;
}

unsigned int must_get_send_imm(struct peer *p, enum rdmap_op op, uint32_t inv_stag,
			       const void *data, uint32_t len, const void *imm)
{
	unsigned int segments = 1;
	uint32_t done = 0;
	struct fpdu f;

	for (;; segments++) {
		must_get_op(p, &f, op);
		must_eq(f.seg.mo, done, "MO");
		must_eq(f.seg.stag, inv_stag, "the Invalidate STag");
		if (seg_last(&f.seg))
			break;
		must(f.seg.len && f.seg.len <= len - done, "a segment of %u bytes",
		     f.seg.len);
		must_bytes(f.seg.data, (const uint8_t *)data + done, f.seg.len,
			   "the payload from %u on", done);
		done += f.seg.len;
	}
	must_eq(done, len, "length of the payload");
	must_eq(f.seg.len, IMM_LEN, "bytes of the last segment");
	must_bytes(f.seg.data, imm, IMM_LEN, "the immediate");
	return segments;
}

void must_get_hello(struct peer *p, uint8_t role, uint16_t features)
{
	struct hello h;
	struct fpdu f;

	must_get_op(p, &f, OP_WRITE);
	must(hello_decode(&h, &f.seg), "a Write of %u bytes, STag %#x, TO %#llx: no hello",
	     f.seg.len, f.seg.stag, (unsigned long long)f.seg.to);
	must(seg_last(&f.seg), "no L bit");
	must_eq(h.version, 1, "version of the hello");
	must_eq(h.role, role, "role of the hello");
	must_eq(h.features, features, "features of the hello");
}

void must_get_first(struct peer *p, struct fpdu *f, enum rdmap_op op, struct hello *offer)
{
	must_get_fpdu(p, f);
	if (hello_decode(offer, &f->seg) && dut_role() == INITIATOR) {
		must_be_op(p, &f->seg, OP_WRITE);
		must_eq(offer->role, HELLO_OFFER, "role of the device's first hello");
		must_get_fpdu(p, f);
	}
	must_be_op(p, &f->seg, op);
}
