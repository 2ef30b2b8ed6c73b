// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The receiving side of the model and of the fuzz targets: see shell.h. */
#include <stdlib.h>

#include "../test.h"
#include "shell.h"

void shell_init(struct shell *s, bool crc, bool markers, u8 version)
{
	memset(s, 0, sizeof(*s));
	tern_fpdu_rx_init(&s->rx, crc, markers);
	tern_ddp_rx_init(&s->ddp, version);
	s->term = TERN_TERM_NONE;
	s->ird = 4;
}

void shell_exit(struct shell *s)
{
	for (u32 i = 0; i < SHELL_REGIONS; i++)
		free(s->region[i].data);
	for (; s->recv_head != s->recv_tail; s->recv_head++)
		free(s->recv[s->recv_head % SHELL_QUEUE].data);
}

void shell_add_region(struct shell *s, u32 at, u32 stag, u32 access, u64 base,
		      u32 len)
{
	s->region[at] = (struct region){
		.view = { .valid = true, .assoc = true, .access = access,
			  .base = base, .len = len },
		.stag = stag,
		.data = calloc(1, len),
	};
}

struct region *shell_find(struct shell *s, u32 stag)
{
	for (u32 i = 0; i < SHELL_REGIONS; i++)
		if (s->region[i].data && s->region[i].stag == stag)
			return &s->region[i];
	return NULL;
}

static struct tern_mem_view view_of(struct shell *s, u32 stag)
{
	struct region *r = shell_find(s, stag);

	return r ? r->view : (struct tern_mem_view){ 0 };
}

void shell_post_recv(struct shell *s, u32 len)
{
	s->recv[s->recv_tail++ % SHELL_QUEUE] = (struct recv_buf){
		.len = len, .data = malloc(len ? len : 1),
	};
}

void shell_open_request(struct shell *s, const struct tern_read_open *open,
			u8 *sink)
{
	s->read[s->read_tail++ % SHELL_QUEUE] = (struct open_read){
		.open = *open, .sink = sink,
	};
}

void shell_open_read(struct shell *s, u32 stag, u64 to, u32 len, u8 *sink)
{
	struct tern_read_open open = { .stag = stag, .to = to, .len = len };

	shell_open_request(s, &open, sink);
}

/* the oldest open request, or NULL */
static struct tern_read_open *first_open(struct shell *s)
{
	if (s->read_head == s->read_tail)
		return NULL;
	return &s->read[s->read_head % SHELL_QUEUE].open;
}

/* copy the payload after the DDP header, range by range, without markers */
static void place(struct shell *s, const struct tern_fpdu *f, const u8 *fpdu,
		  const struct tern_seg *seg, u8 *dst)
{
	struct tern_fpdu_range range;
	u32 off = f->ulpdu_len - seg->len;

	while (tern_fpdu_range_next(f, s->rx.markers, &off, &range)) {
		memcpy(dst, fpdu + range.fpdu_off, range.len);
		dst += range.len;
		s->placed += range.len;
	}
}

static int take_write(struct shell *s, const struct tern_fpdu *f,
		      const u8 *fpdu, const struct tern_seg *seg)
{
	struct region *r = shell_find(s, seg->stag);
	struct tern_mem_view view = view_of(s, seg->stag);
	int term = tern_mem_check(&view, TERN_USE_WRITE, seg->to, seg->len);

	if (term == TERN_TERM_NONE && seg->len)
		place(s, f, fpdu, seg, r->data + (seg->to - view.base));
	return term;
}

static int take_read_resp(struct shell *s, const struct tern_fpdu *f,
			  const u8 *fpdu, const struct tern_seg *seg)
{
	struct open_read *o = &s->read[s->read_head % SHELL_QUEUE];
	int term = seg->tagged ? tern_read_match(first_open(s), seg) :
				 tern_response_match(first_open(s), seg);

	if (term != TERN_TERM_NONE)
		return term;
	if (seg->len)
		place(s, f, fpdu, seg, o->sink + o->open.got);
	o->open.got += seg->len;
	if (seg->last)
		s->read_head++;
	return term;
}

static int take_atomic_resp(struct shell *s, const struct tern_seg *seg)
{
	int term = tern_response_match(first_open(s), seg);

	if (term == TERN_TERM_NONE)
		memcpy(s->read[s->read_head++ % SHELL_QUEUE].sink, &seg->aresp.old,
		       sizeof(seg->aresp.old));
	return term;
}

static void deliver(struct shell *s, const struct tern_seg *seg)
{
	struct delivery d = {
		.opcode = seg->opcode, .len = seg->mo + seg->len,
		.buf = s->recv[s->recv_head++ % SHELL_QUEUE],
	};

	if (seg->row->imm)
		memcpy(d.imm, seg->imm, TERN_IMM_LEN);
	if (seg->row->has_inv) {
		d.inv_stag = seg->inv_stag;
		shell_find(s, seg->inv_stag)->view.valid = false;
	}
	if (s->on_deliver)
		s->on_deliver(s->ctx, &d);
	else
		free(d.buf.data);
}

static int take_send(struct shell *s, const struct tern_fpdu *f,
		     const u8 *fpdu, const struct tern_seg *seg)
{
	if (seg->row->has_inv) {
		struct tern_mem_view view = view_of(s, seg->inv_stag);
		int term = tern_mem_check(&view, TERN_USE_INVALIDATE, 0, 0);

		if (term != TERN_TERM_NONE)
			return term;
	}
	if (seg->len)
		place(s, f, fpdu, seg,
		      s->recv[s->recv_head % SHELL_QUEUE].data + seg->mo);
	if (seg->last)
		deliver(s, seg);
	return TERN_TERM_NONE;
}

static int take_read_req(struct shell *s, const struct tern_seg *seg)
{
	struct tern_mem_view view = view_of(s, seg->rreq.src_stag);
	int term = tern_mem_check(&view, TERN_USE_READ_SRC, seg->rreq.src_to,
				  seg->rreq.size);

	if (term != TERN_TERM_NONE)
		return term;
	s->slot[s->slot_tail++ % SHELL_QUEUE] = (struct read_slot){
		.kind = seg->opcode == TERN_OP_READ_REQ ? TERN_OPEN_READ :
							  TERN_OPEN_READ_V2,
		.sink_stag = seg->rreq.sink_stag,
		.sink_to = seg->rreq.sink_to,
		.size = seg->rreq.size,
		.src_stag = seg->rreq.src_stag,
		.src_to = seg->rreq.src_to,
	};
	return TERN_TERM_NONE;
}

static int take_atomic_req(struct shell *s, const struct tern_seg *seg)
{
	const struct tern_atomic *a = &seg->atomic;
	struct tern_mem_view view = view_of(s, a->stag);
	int term = tern_mem_check(&view, TERN_USE_ATOMIC, a->to, TERN_ATOMIC_LEN);

	if (term != TERN_TERM_NONE)
		return term;
	must(a->op == 0 || a->op == 2);
	must(view.access & TERN_ACCESS_REMOTE_ATOMIC);
	must(a->to - view.base <= view.len - 8);
	must((a->to - view.base + view.skew) % 8 == 0);
	s->slot[s->slot_tail++ % SHELL_QUEUE] = (struct read_slot){
		.kind = TERN_OPEN_ATOMIC, .atomic = *a,
	};
	return TERN_TERM_NONE;
}

static int take_terminate(struct shell *s, const struct tern_fpdu *f,
			  const struct tern_seg *seg)
{
	must(!tern_term_parse(f->hdr + sizeof(struct tern_ddp_untagged), seg->len,
			      &s->peer_term));
	s->got_term = true;
	return TERN_TERM_NONE;
}

static int take(struct shell *s, const struct tern_fpdu *f, const u8 *fpdu,
		const struct tern_seg *seg)
{
	switch (seg->opcode) {
	case TERN_OP_WRITE:
		return take_write(s, f, fpdu, seg);
	case TERN_OP_READ_RESP:
	case TERN_OP_READ_RESP_V2:
		return take_read_resp(s, f, fpdu, seg);
	case TERN_OP_ATOMIC_RESP:
		return take_atomic_resp(s, seg);
	case TERN_OP_READ_REQ:
	case TERN_OP_READ_REQ_V2:
		return take_read_req(s, seg);
	case TERN_OP_ATOMIC_REQ:
		return take_atomic_req(s, seg);
	case TERN_OP_TERMINATE:
		return take_terminate(s, f, seg);
	default:
		return take_send(s, f, fpdu, seg);
	}
}

/* S6: Return: the queue has a buffer for this segment; *@len is its length */
static bool find_buffer(struct shell *s, const struct tern_seg *seg, u64 *len)
{
	switch (tern_ddp_slot(seg, len)) {
	case TERN_SLOT_RECV:
		*len = s->recv[s->recv_head % SHELL_QUEUE].len;
		return s->recv_head != s->recv_tail;
	case TERN_SLOT_READ:
	case TERN_SLOT_ATOMIC:
		return s->slot_tail - s->slot_head < s->ird;
	case TERN_SLOT_RESPONSE:
		*len = tern_response_room(first_open(s), seg);
		return first_open(s);
	default:
		return !s->got_term;
	}
}

static int check_segment(struct shell *s, const struct tern_fpdu *f, struct tern_seg *seg)
{
	u64 buf_len = 0;
	bool have;
	int term = tern_ddp_segment(&s->ddp, f->hdr, f->hdr_len, f->ulpdu_len, seg);

	if (term != TERN_TERM_NONE)
		return term;
	if (!seg->tagged) {
		have = find_buffer(s, seg, &buf_len);
		term = tern_ddp_untagged(&s->ddp, seg, have, buf_len);
		if (term != TERN_TERM_NONE)
			return term;
	}
	return tern_rdmap_segment(&s->ddp, f->hdr, f->hdr_len, seg);
}

/* what tern_ddp_repeats() takes passes all checks but those of the buffer */
static void expect_same(int term, const struct tern_seg *short_cut, const struct tern_seg *seg)
{
	if (term == TERN_TERM_DU_NO_BUFFER || term == TERN_TERM_DU_TOO_LONG)
		return;
	must(term == TERN_TERM_NONE);
	must(!memcmp(short_cut, seg, sizeof(*seg)));
}

static int check_fpdu(struct shell *s, const struct tern_fpdu *f, const u8 *fpdu)
{
	struct tern_seg *seg = &s->seg, short_cut;
	bool repeats;
	int term;

	memcpy(&short_cut, seg, sizeof(*seg));
	repeats = tern_ddp_repeats(&s->ddp, f->hdr, f->hdr_len, f->ulpdu_len, &short_cut);
	term = check_segment(s, f, seg);
	if (repeats)
		expect_same(term, &short_cut, seg);
	if (term == TERN_TERM_NONE)
		term = take(s, f, fpdu, seg);
	if (term == TERN_TERM_NONE)
		tern_ddp_advance(&s->ddp, seg);
	return term;
}

static void verify(struct shell *s, struct tern_fpdu *f, const u8 *fpdu,
		   struct rng *r)
{
	u32 at = 0, n;

	for (; f->verify && at < f->total; at += n) {
		n = f->total - at;
		if (r && rng_below(r, 4))
			n = 1 + rng_below(r, min(n, 1500u));
		tern_fpdu_rx_verify(&s->rx, f, fpdu + at, n);
	}
}

static void end_stream(struct shell *s, int term, const struct tern_fpdu *f)
{
	s->term = term;
	if (!f)
		return;
	memcpy(s->bad_hdr, f->hdr, f->hdr_len);
	s->bad_hdr_len = f->hdr_len;
	s->bad_len = f->ulpdu_len;
}

struct tern_term_seg shell_bad_segment(const struct shell *s)
{
	return (struct tern_term_seg){
		.hdr = s->bad_hdr, .hdr_len = s->bad_hdr_len,
		.len = s->bad_len, .rv = s->ddp.rv,
	};
}

/* Return: length of the FPDU at the head, 0 if it is incomplete or bad */
static u32 input_one(struct shell *s, const u8 *buf, u32 len, struct rng *r)
{
	struct tern_fpdu f;
	int term = TERN_TERM_NONE;
	int need = tern_fpdu_rx_header(&s->rx, buf, len, &f, &term);

	if (need < 0)
		end_stream(s, term, NULL);
	must(need <= 0 || need > (int)len);
	if (need || len < f.total)
		return 0;
	verify(s, &f, buf, r);
	term = tern_fpdu_rx_finish(&s->rx, &f);
	if (term != TERN_TERM_NONE) {
		end_stream(s, term, NULL);
		return 0;
	}
	term = check_fpdu(s, &f, buf);
	if (term != TERN_TERM_NONE) {
		end_stream(s, term, &f);
		return 0;
	}
	s->accepted++;
	return f.total;
}

u32 shell_input(struct shell *s, const u8 *buf, u32 len, struct rng *r)
{
	u32 used = 0, n;

	/* R8, DDP-094: nothing is processed after a failure */
	while (s->term == TERN_TERM_NONE && !s->got_term && used < len) {
		n = input_one(s, buf + used, len - used, r);
		if (!n)
			break;
		used += n;
	}
	return used;
}
