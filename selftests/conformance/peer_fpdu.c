// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * FPDUs and segments of the scripted peer, built and read. A marker is due where the
 * position in the stream of Full Operation is a multiple of 512; all bytes of an FPDU
 * go through that one rule, in both directions (RFC 5044 4.2 to 4.4).
 */
#include <stdlib.h>
#include <string.h>

#include "conform.h"
#include "peer.h"

#define MARKER_STEP	512
#define MARKER_LEN	4
#define CRC_LEN		4
#define FPDU_MS		2000
#define REST_MS		1000	/* time for the rest of an FPDU that has begun */
#define END_MS		3000	/* a device may wait a while for our FIN */

static size_t pad_len(size_t len)
{
	return -(len + 2) & 3;
}

/* ---- building ---- */

static bool marker_due(uint64_t pos)
{
	return pos % MARKER_STEP == 0;
}

/* copy @body to @out, with zeros where markers go; Return: bytes in @out */
static size_t lay(bool markers, uint64_t pos, const uint8_t *body, size_t len,
		  uint8_t *out)
{
	uint8_t *to = out;

	while (len--) {
		if (markers && marker_due(pos)) {
			memset(to, 0, MARKER_LEN);
			to += MARKER_LEN;
			pos += MARKER_LEN;
		}
		*to++ = *body++;
		pos++;
	}
	return to - out;
}

/* fill in the markers of @out, which begins at @pos and has @len bytes before the CRC
 * field */
static void fill_markers(uint64_t pos, uint8_t *out, size_t len,
			 const struct fpdu_fault *fault)
{
	size_t head = marker_due(pos) ? MARKER_LEN : 0;
	size_t at = -pos % MARKER_STEP;
	uint16_t ptr;

	for (; at < len; at += MARKER_STEP) {
		ptr = at < head ? 0 : at - head;
		if (!fault->last_marker_only || at + MARKER_STEP >= len)
			ptr ^= fault->marker_xor;
		put16(out + at, fault->marker_rsvd);
		put16(out + at + 2, ptr);
	}
}

static void put_crc(uint8_t *at, uint32_t crc)
{
	at[0] = crc;
	at[1] = crc >> 8;
	at[2] = crc >> 16;
	at[3] = crc >> 24;
}

static uint32_t get_crc(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

size_t fpdu_build(struct peer *p, const void *ulpdu, size_t len,
		  const struct fpdu_fault *fault, void *out)
{
	static const struct fpdu_fault good;
	size_t pad = pad_len(len), body_len = 2 + len + pad + CRC_LEN;
	uint8_t *body = calloc(1, body_len);
	uint32_t crc = 0;
	size_t total;

	must(body, "no memory");
	if (!fault)
		fault = &good;
	put16(body, len + fault->length_delta);
	if (len)
		memcpy(body + 2, ulpdu, len);
	memset(body + 2 + len, fault->pad_not_in_crc ? 0 : fault->pad, pad);
	total = lay(p->tx_markers, p->tx_pos, body, body_len, out);
	if (p->tx_markers)
		fill_markers(p->tx_pos, out, total - CRC_LEN, fault);
	if (p->crc)
		crc = crc32c(0, out, total - CRC_LEN);
	if (fault->pad_not_in_crc) {
		memset(body + 2 + len, fault->pad, pad);
		lay(p->tx_markers, p->tx_pos, body, body_len, out);
		if (p->tx_markers)
			fill_markers(p->tx_pos, out, total - CRC_LEN, fault);
	}
	put_crc((uint8_t *)out + total - CRC_LEN, crc ^ fault->crc_xor);
	free(body);
	p->tx_pos += total;
	return total;
}

void peer_send_fpdu(struct peer *p, const void *ulpdu, size_t len)
{
	uint8_t *out = malloc(2 * len + 64);
	size_t n;

	must(out, "no memory");
	n = fpdu_build(p, ulpdu, len, NULL, out);
	peer_send(p, out, n);
	free(out);
}

/* ---- reading ---- */

/* a position in received bytes, @at of which were read */
struct walk {
	struct peer *p;
	uint64_t end_ms;
	size_t at;
	const uint8_t *bytes;
	size_t have;
	size_t head;
	struct fpdu *f;
};

static bool walk_need(struct walk *w, size_t len)
{
	uint64_t now = now_ms();

	w->have = peer_look(w->p, w->at + len, w->end_ms > now ? w->end_ms - now : 0,
			    &w->bytes);
	return w->have >= w->at + len;
}

static bool walk_marker(struct walk *w)
{
	const uint8_t *marker;
	size_t ptr;

	if (!walk_need(w, MARKER_LEN))
		return false;
	marker = w->bytes + w->at;
	ptr = w->at < w->head ? 0 : w->at - w->head;
	w->f->markers++;
	if (get16(marker) || get16(marker + 2) != ptr)
		w->f->markers_ok = false;
	w->at += MARKER_LEN;
	return true;
}

/* copy the next @len bytes that belong to no marker to @out */
static bool walk_copy(struct walk *w, uint8_t *out, size_t len)
{
	size_t n;

	while (len) {
		uint64_t pos = w->p->rx_pos + w->at;

		n = len;
		if (w->p->rx_markers) {
			if (marker_due(pos) && !walk_marker(w))
				return false;
			pos = w->p->rx_pos + w->at;
			if (n > MARKER_STEP - pos % MARKER_STEP)
				n = MARKER_STEP - pos % MARKER_STEP;
		}
		if (!walk_need(w, n))
			return false;
		memcpy(out, w->bytes + w->at, n);
		w->at += n;
		out += n;
		len -= n;
	}
	return true;
}

static bool all_zero(const uint8_t *at, size_t len)
{
	while (len--)
		if (*at++)
			return false;
	return true;
}

/* read the ULPDU, pad and CRC field that follow the length; Return: false when cut
 * short */
static bool walk_fpdu(struct walk *w, size_t *len)
{
	struct peer *p = w->p;
	uint8_t field[4];

	if (!walk_copy(w, field, 2))
		return false;
	*len = get16(field);
	free(p->ulpdu);
	p->ulpdu = malloc(*len + 4);
	must(p->ulpdu, "no memory");
	if (!walk_copy(w, p->ulpdu, *len + pad_len(*len)) ||
	    !walk_copy(w, field, CRC_LEN))
		return false;
	w->f->crc = get_crc(field);
	w->f->pad_ok = all_zero(p->ulpdu + *len, pad_len(*len));
	return true;
}

enum got { GOT_NONE, GOT_PART, GOT_BAD_HEADER, GOT_FPDU };

static enum got receive(struct peer *p, struct fpdu *f, int ms)
{
	struct walk w = { .p = p, .end_ms = now_ms() + ms, .f = f };
	size_t len;

	memset(f, 0, sizeof(*f));
	f->markers_ok = true;
	w.head = p->rx_markers && marker_due(p->rx_pos) ? MARKER_LEN : 0;
	if (!walk_need(&w, 1))
		return GOT_NONE;
	if (w.end_ms < now_ms() + patience(REST_MS))
		w.end_ms = now_ms() + patience(REST_MS);
	if (!walk_fpdu(&w, &len))
		return GOT_PART;
	f->bytes = w.bytes;
	f->wire_len = w.at;
	f->crc_ok = f->crc == crc32c(0, w.bytes, w.at - CRC_LEN);
	peer_take(p, w.at);
	p->rx_pos += w.at;
	return seg_decode(&f->seg, p->ulpdu, len) ? GOT_FPDU : GOT_BAD_HEADER;
}

bool peer_recv_fpdu_raw(struct peer *p, struct fpdu *f, int ms)
{
	return receive(p, f, ms) == GOT_FPDU;
}

bool peer_recv_fpdu(struct peer *p, struct fpdu *f, int ms)
{
	enum got got = receive(p, f, ms);

	if (got == GOT_NONE)
		return false;
	must(got != GOT_PART, "what the device sent is no whole FPDU");
	must(f->markers_ok, "a marker of the device's FPDU is wrong");
	must(f->crc_ok || !p->crc, "CRC field of the device's FPDU is wrong (%#x)",
	     f->crc);
	must(f->pad_ok, "pad bytes of the device's FPDU are not 0");
	must(got != GOT_BAD_HEADER, "the device's segment is shorter than its header");
	return true;
}

/* ---- segments ---- */

uint8_t peer_tx_rv(const struct peer *p)
{
	return p->tx_v2 ? 2 : p->version;
}

uint8_t peer_rx_rv(const struct peer *p)
{
	return p->rx_v2 ? 2 : p->version;
}

/* Return: the queue of an untagged message */
static unsigned int queue_of(int op)
{
	switch (op) {
	case OP_READ_REQ:
	case OP_ATOMIC_REQ:
	case OP_READ_REQ_V2:
		return 1;
	case OP_TERMINATE:
		return 2;
	case OP_ATOMIC_RESP:
	case OP_READ_RESP_V2:
		return 3;
	default:
		return 0;
	}
}

static struct seg new_seg(struct peer *p, enum rdmap_op op, bool tagged, bool last)
{
	struct seg s = {
		.ctrl = (tagged ? DDP_TAGGED : 0) | (last ? DDP_LAST : 0) | p->version,
		.rdmap = peer_tx_rv(p) << 6 | op,
	};

	return s;
}

static uint32_t tagged(struct peer *p, enum rdmap_op op, uint32_t stag, uint64_t to,
		       const void *data, uint32_t len, bool last, void *out)
{
	struct seg s = new_seg(p, op, true, last);

	s.stag = stag;
	s.to = to;
	s.data = data;
	s.len = len;
	return seg_encode(&s, out);
}

static uint32_t untagged(struct peer *p, struct seg *s, const void *data, uint32_t len,
			 void *out)
{
	s->qn = queue_of(seg_op(s));
	s->msn = p->tx_msn[s->qn];
	s->data = data;
	s->len = len;
	if (seg_last(s))
		p->tx_msn[s->qn]++;
	return seg_encode(s, out);
}

uint32_t seg_untagged(struct peer *p, enum rdmap_op op, uint32_t mo, const void *data,
		      uint32_t len, bool last, void *out)
{
	struct seg s = new_seg(p, op, false, last);

	s.mo = mo;
	return untagged(p, &s, data, len, out);
}

uint32_t seg_write(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		   uint32_t len, bool last, void *out)
{
	return tagged(p, OP_WRITE, stag, to, data, len, last, out);
}

uint32_t seg_read_resp(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		       uint32_t len, bool last, void *out)
{
	return tagged(p, OP_READ_RESP, stag, to, data, len, last, out);
}

uint32_t seg_send(struct peer *p, enum rdmap_op op, uint32_t inv_stag, uint32_t mo,
		  const void *data, uint32_t len, bool last, void *out)
{
	struct seg s = new_seg(p, op, false, last);

	s.stag = inv_stag;
	s.mo = mo;
	return untagged(p, &s, data, len, out);
}

uint32_t seg_read_req(struct peer *p, uint32_t sink_stag, uint64_t sink_to,
		      uint32_t size, uint32_t src_stag, uint64_t src_to, void *out)
{
	uint8_t body[READ_REQ_LEN - UNTAGGED_HDR];

	put32(body, sink_stag);
	put64(body + 4, sink_to);
	put32(body + 12, size);
	put32(body + 16, src_stag);
	put64(body + 20, src_to);
	return seg_untagged(p, OP_READ_REQ, 0, body, sizeof(body), true, out);
}

uint32_t seg_terminate(struct peer *p, uint8_t layer, uint8_t etype, uint8_t code,
		       void *out)
{
	uint8_t body[4] = { layer << 4 | etype, code };

	return seg_untagged(p, OP_TERMINATE, 0, body, sizeof(body), true, out);
}

static void *seg_room(uint32_t len)
{
	void *out = malloc(len + READ_REQ_LEN);

	must(out, "no memory");
	return out;
}

void send_write(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		uint32_t len)
{
	void *out = seg_room(len);

	peer_send_fpdu(p, out, seg_write(p, stag, to, data, len, true, out));
	free(out);
}

void send_send(struct peer *p, const void *data, uint32_t len)
{
	void *out = seg_room(len);

	peer_send_fpdu(p, out, seg_send(p, OP_SEND, 0, 0, data, len, true, out));
	free(out);
}

void send_read_req(struct peer *p, uint32_t sink_stag, uint64_t sink_to,
		   uint32_t size, uint32_t src_stag, uint64_t src_to)
{
	uint8_t out[READ_REQ_LEN];

	peer_send_fpdu(p, out, seg_read_req(p, sink_stag, sink_to, size, src_stag,
					    src_to, out));
}

void send_read_resp(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		    uint32_t len)
{
	void *out = seg_room(len);

	peer_send_fpdu(p, out, seg_read_resp(p, stag, to, data, len, true, out));
	free(out);
}

/* ---- what the device must do ---- */

void must_get_fpdu(struct peer *p, struct fpdu *f)
{
	must(peer_recv_fpdu(p, f, patience(FPDU_MS)), "the device sent no FPDU (%s)",
	     p->end == PEER_OPEN ? "it is still open" : "it closed");
}

void must_be_op(struct peer *p, const struct seg *s, enum rdmap_op op)
{
	unsigned int qn = queue_of(op);

	must_eq(seg_op(s), op, "the opcode");
	must_eq(s->ctrl & 3, p->version, "the DDP version");
	must_eq(s->rdmap >> 6, peer_rx_rv(p), "the RDMAP version");
	must_eq(seg_tagged(s), op == OP_WRITE || op == OP_READ_RESP, "the T bit");
	if (seg_tagged(s))
		return;
	must_eq(s->qn, qn, "the queue number");
	must_eq(s->msn, p->rx_msn[qn], "the MSN");
	if (seg_last(s))
		p->rx_msn[qn]++;
}

void must_get_op(struct peer *p, struct fpdu *f, enum rdmap_op op)
{
	must_get_fpdu(p, f);
	must_be_op(p, &f->seg, op);
}

/* copy what @t points to, so that it outlives the next receive */
static void keep_term(struct term *t, const struct seg *s)
{
	static uint8_t copy[UNTAGGED_HDR + TERM_MAX];
	struct seg kept = *s;

	must(s->len <= TERM_MAX, "the Terminate is %u bytes long", s->ulpdu_len);
	memcpy(copy, s->data, s->len);
	kept.data = copy;
	must(term_decode(t, &kept), "the Terminate is shorter than its bits say");
}

void must_get_terminate(struct peer *p, uint8_t layer, uint8_t etype, uint8_t code,
			bool skip_others, struct term *t)
{
	struct term own;
	struct fpdu f;
	const uint8_t *at;
	size_t n;

	if (!t)
		t = &own;
	do
		must_get_fpdu(p, &f);
	while (skip_others && seg_op(&f.seg) != OP_TERMINATE);
	must_be_op(p, &f.seg, OP_TERMINATE);
	keep_term(t, &f.seg);
	must(t->layer == layer && t->etype == etype && t->code == code,
	     "Terminate %u/%u/%02x, not %u/%u/%02x", t->layer, t->etype, t->code,
	     layer, etype, code);
	n = peer_look(p, 1, patience(END_MS), &at);
	must(!n, "the device sent %zu bytes after its Terminate", n);
	must(p->end != PEER_OPEN, "the device did not close after its Terminate");
}

void must_be_alive(struct peer *p)
{
	struct fpdu f;

	send_read_req(p, 1, 1, 0, 1, 1);
	must_get_op(p, &f, OP_READ_RESP);
	must_eq(f.seg.len, 0, "the Read Response's length");
	must_eq(f.seg.stag, 1, "the Read Response's STag");
	must_eq(f.seg.to, 1, "the Read Response's TO");
	must(seg_last(&f.seg), "the Read Response is not the last segment");
}
