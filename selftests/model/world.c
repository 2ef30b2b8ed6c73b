// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Two ends, their messages and pipes: see world.h. */
#include <stdlib.h>

#include "world.h"

/* ---- set-up ------------------------------------------------------------- */

static const u32 rights_of[R_COUNT] = {
	[R_BIG] = TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE |
		  TERN_ACCESS_REMOTE_READ | TERN_ACCESS_REMOTE_ATOMIC,
	[R_TOP] = TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE |
		  TERN_ACCESS_REMOTE_READ | TERN_ACCESS_REMOTE_ATOMIC,
	[R_READ_ONLY] = TERN_ACCESS_REMOTE_READ,
	[R_WRITE_ONLY] = TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE,
	[R_FOREIGN] = TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE |
		      TERN_ACCESS_REMOTE_READ,
	[R_INVALIDATABLE] = TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE,
	[R_SINK] = TERN_ACCESS_LOCAL_WRITE,
};

static u64 random_base(struct rng *r)
{
	return ((u64)rng_next(r) << 28) + rng_next(r);
}

static void add_regions(struct host *h, struct rng *r)
{
	for (u32 i = 0; i < R_COUNT; i++) {
		u32 len = i == R_BIG ? 200000 : 4000 + rng_below(r, 9000);
		u64 base = i == R_TOP ? -(u64)len : random_base(r);
		struct region *reg = &h->sh.region[i];

		shell_add_region(&h->sh, i, (rng_next(r) << 3) | i,
				 rights_of[i], base, len);
		reg->view.assoc = i != R_FOREIGN;
		reg->view.invalidatable = i == R_INVALIDATABLE;
		reg->view.skew = (u8)rng_below(r, 8);
		rng_fill(r, reg->data, len);
		h->shadow[i] = malloc(len);
		memcpy(h->shadow[i], reg->data, len);
	}
}

static void check_delivery(void *ctx, const struct delivery *d)
{
	struct host *to = ctx;
	struct host *from = to->peer;
	struct region *reg = &to->sh.region[R_INVALIDATABLE];
	struct msg *m;

	expect(from->sends_seen < from->sends_count);
	if (!test_failures) {
		m = from->sends[from->sends_seen++];
		expect_eq(d->opcode, m->opcode);
		expect_eq(d->len, m->tx.len);
		expect_eq(d->inv_stag, m->inv_stag);
		expect_bytes(d->imm, m->imm, TERN_IMM_LEN);
		expect_bytes(d->buf.data, m->payload, d->len);
		expect_eq(reg->view.valid, !m->inv_stag);
		if (m->inv_stag) {
			/* register the region again with a new STag */
			reg->stag += 8;
			reg->view.valid = true;
			from->inv_out = false;
		}
	}
	free(d->buf.data);
}

static void init_host(struct world *w, u32 i, const struct setup *how)
{
	struct host *h = &w->end[i];

	h->world = w;
	h->peer = &w->end[!i];
	h->sets = TERN_OPS_BASE | how->sets;
	h->version = tern_rdmap_version_of(how->version);
	if (h->sets & TERN_OPS_V2)
		h->version.rv = 2;
	shell_init(&h->sh, how->crc, how->markers[!i], how->version);
	h->sh.ddp.sets = h->sets;
	h->sh.ddp.rv = h->version.rv;
	h->sh.on_deliver = check_delivery;
	h->sh.ctx = h;
	h->sh.ird = WORLD_ORD;
	tern_fpdu_tx_init(&h->tx, how->crc, how->markers[i], 1460);
	h->send_msn = 1;
	h->read_msn = 1;
	h->response_msn = 1;
	h->pipe = malloc(WORLD_PIPE);
	add_regions(h, &w->r);
}

struct world *world_new(u64 seed, const struct setup *how)
{
	struct world *w = calloc(1, sizeof(*w));

	w->r = rng_seed(seed);
	for (u32 i = 0; i < 2; i++)
		init_host(w, i, how);
	for (u32 i = 0; i < 2 && how->late_msn; i++) {
		w->end[i].send_msn = ~0U - 3;
		w->end[i].read_msn = ~0U;
		w->end[i].response_msn = ~0U - 1;
		w->end[!i].sh.ddp.q[TERN_QN_SEND].msn = ~0U - 3;
		w->end[!i].sh.ddp.q[TERN_QN_READ_REQ].msn = ~0U;
		w->end[!i].sh.ddp.q[TERN_QN_RESPONSE].msn = ~0U - 1;
	}
	return w;
}

void world_free(struct world *w)
{
	for (u32 i = 0; i < 2; i++) {
		struct host *h = &w->end[i];

		for (u32 k = 0; k < h->all_count; k++) {
			free(h->all[k]->payload);
			free(h->all[k]);
		}
		for (u32 k = 0; k < R_COUNT; k++)
			free(h->shadow[k]);
		free(h->pipe);
		shell_exit(&h->sh);
	}
	free(w);
}

/* ---- new messages ------------------------------------------------------- */

static u32 random_len(struct rng *r, u32 room)
{
	switch (rng_below(r, 8)) {
	case 0:
		return 0;
	case 1:
		return rng_below(r, room + 1);
	case 2:
		return min(rng_below(r, 30000), room);
	default:
		return min(rng_below(r, 2200), room);
	}
}

struct msg *host_new_msg(struct host *h, u8 opcode, u32 len)
{
	struct msg *m = calloc(1, sizeof(*m));

	m->opcode = opcode;
	m->payload = malloc(len + 1);
	rng_fill(&h->world->r, m->payload, min(len, 4000u));
	for (u32 i = 4000; i < len; i++)
		m->payload[i] = m->payload[i - 4000] + 1;
	h->all[h->all_count++] = m;
	return m;
}

void host_queue(struct host *h, struct msg *m)
{
	bool tagged = tern_op_table[m->opcode].tagged;
	struct msg **p = &h->lane[tagged ? LANE_TAGGED : LANE_UNTAGGED];

	while (*p)
		p = &(*p)->next;
	*p = m;
}

static void new_write(struct host *h)
{
	static const u8 kinds[] = { R_BIG, R_TOP, R_WRITE_ONLY,
				    R_INVALIDATABLE };
	struct rng *r = &h->world->r;
	u32 kind = kinds[rng_below(r, ARRAY_SIZE(kinds))];
	struct region *reg = &h->peer->sh.region[kind];
	u32 off = rng_below(r, (u32)reg->view.len);
	u32 len = random_len(r, (u32)reg->view.len - off);
	struct msg *m;

	if (kind == R_INVALIDATABLE) {
		if (h->inv_out)
			return;
		h->inv_writes++;
	}
	m = host_new_msg(h, TERN_OP_WRITE, len);
	m->target = reg;
	m->target_off = off;
	tern_rdmap_build_write(&m->tx, h->version, reg->stag,
			       reg->view.base + off, len);
	host_queue(h, m);
}

/* a Send of any type, or Immediate Data */
static u8 send_opcode(struct host *h)
{
	struct rng *r = &h->world->r;
	u8 first = TERN_OP_SEND, kind = (u8)rng_below(r, 4);

	if (h->sets & TERN_OPS_7306 && !rng_below(r, 4))
		return (u8)(TERN_OP_IMM + kind % 2);
	if (h->sets & TERN_OPS_V2 && rng_below(r, 2))
		first = TERN_OP_SEND_IMM;
	if (tern_op_table[first + kind].has_inv && (h->inv_out || h->inv_writes))
		kind = 2;
	return first + kind;
}

static void build_send(struct host *h, struct msg *m, u32 len)
{
	u32 msn = h->send_msn++;

	if (!tern_op_table[m->opcode].imm) {
		tern_rdmap_build_send(&m->tx, h->version, m->opcode, m->inv_stag,
				      msn, len);
		return;
	}
	rng_fill(&h->world->r, m->imm, TERN_IMM_LEN);
	if (tern_op_table[m->opcode].payload)
		tern_rdmap_build_send_imm(&m->tx, h->version, m->opcode,
					  m->inv_stag, msn, len, m->imm);
	else
		tern_rdmap_build_imm(&m->tx, h->version, m->opcode, msn, m->imm);
}

static void new_send(struct host *h)
{
	struct rng *r = &h->world->r;
	u8 opcode = send_opcode(h);
	u32 len = tern_op_table[opcode].payload ? random_len(r, 30000) : 0;
	struct msg *m;

	if (h->peer->sh.recv_tail - h->peer->sh.recv_head == SHELL_QUEUE)
		return;
	m = host_new_msg(h, opcode, len);
	if (tern_op_table[opcode].has_inv) {
		m->inv_stag = h->peer->sh.region[R_INVALIDATABLE].stag;
		h->inv_out = true;
	}
	build_send(h, m, len);
	shell_post_recv(&h->peer->sh, len + rng_below(r, 2) * 100);
	h->sends[h->sends_count++] = m;
	host_queue(h, m);
}

static void new_read(struct host *h)
{
	static const u8 srcs[] = { R_BIG, R_TOP, R_READ_ONLY };
	static const u8 sinks[] = { R_BIG, R_TOP, R_SINK };
	struct rng *r = &h->world->r;
	struct region *src = &h->peer->sh.region[srcs[rng_below(r, 3)]];
	struct region *sink = &h->sh.region[sinks[rng_below(r, 3)]];
	u32 room = (u32)min(src->view.len, sink->view.len);
	u32 len = random_len(r, room);
	u64 from = src->view.base + rng_below(r, (u32)src->view.len - len + 1);
	u32 off = rng_below(r, (u32)sink->view.len - len + 1);
	/* new_response() uses the sink of version 2 too, where it is not on the wire */
	struct tern_read_open open = {
		.stag = sink->stag, .to = sink->view.base + off, .len = len,
	};
	struct msg *m;

	if (h->sets & TERN_OPS_V2 && rng_below(r, 2)) {
		open.kind = TERN_OPEN_READ_V2;
		m = host_new_msg(h, TERN_OP_READ_REQ_V2, 0);
		tern_rdmap_build_read_req_v2(&m->tx, h->version, h->read_msn++,
					     len, src->stag, from);
	} else {
		m = host_new_msg(h, TERN_OP_READ_REQ, 0);
		tern_rdmap_build_read_req(&m->tx, h->version, h->read_msn++,
					  open.stag, open.to, len, src->stag,
					  from);
	}
	shell_open_request(&h->sh, &open, sink->data + off);
	host_queue(h, m);
}

static void new_atomic(struct host *h)
{
	struct rng *r = &h->world->r;
	struct region *target = &h->peer->sh.region[rng_below(r, 2) ? R_BIG : R_TOP];
	struct region *sink = &h->sh.region[R_SINK];
	u32 words = (u32)(target->view.len - target->view.skew) / 8 - 1;
	u32 off = 8 + 8 * rng_below(r, words) - target->view.skew;
	u32 at = rng_below(r, (u32)sink->view.len - 7);
	struct tern_atomic a = {
		.op = rng_below(r, 2) ? TERN_ATOMIC_CMP_SWAP :
					TERN_ATOMIC_FETCH_ADD,
		.id = rng_next(r), .stag = target->stag,
		.to = target->view.base + off, .data = rng_next(r),
		.data_mask = rng_next(r), .compare = rng_next(r),
		.compare_mask = rng_below(r, 4),
	};
	struct tern_read_open open = {
		.kind = TERN_OPEN_ATOMIC, .id = a.id, .stag = sink->stag,
		.to = sink->view.base + at,
	};
	struct msg *m = host_new_msg(h, TERN_OP_ATOMIC_REQ, 0);

	tern_rdmap_build_atomic_req(&m->tx, h->version, h->read_msn++, &a);
	shell_open_request(&h->sh, &open, sink->data + at);
	host_queue(h, m);
}

/* execute it in memory and in the shadow, which are equal between two inputs */
static void execute(struct host *h, const struct tern_atomic *a, struct msg *m)
{
	struct region *reg = shell_find(&h->sh, a->stag);
	u64 off = a->to - reg->view.base, val;
	u8 *shadow = h->shadow[reg - h->sh.region];

	expect_eq(off % 8, (8 - reg->view.skew) % 8);
	memcpy(&val, shadow + off, 8);
	expect_bytes(&val, reg->data + off, 8);
	memcpy(m->payload, &val, 8);
	tern_rdmap_build_atomic_resp(&m->tx, h->version, h->response_msn++, a->id,
				     val);
	val = tern_atomic_apply(val, a);
	memcpy(shadow + off, &val, 8);
	memcpy(reg->data + off, &val, 8);
}

static void fill_response(struct host *h, const struct read_slot *s,
			  struct msg *m)
{
	struct region *src = shell_find(&h->sh, s->src_stag);

	memcpy(m->payload, src->data + (s->src_to - src->view.base), s->size);
	if (s->kind == TERN_OPEN_READ)
		tern_rdmap_build_read_resp(&m->tx, h->version, s->sink_stag,
					   s->sink_to, s->size);
	else
		tern_rdmap_build_read_resp_v2(&m->tx, h->version,
					      h->response_msn++, s->size);
}

/* queue the Response to the oldest request, with the current data */
static void new_response(struct host *h)
{
	static const u8 opcodes[] = {
		[TERN_OPEN_READ] = TERN_OP_READ_RESP,
		[TERN_OPEN_READ_V2] = TERN_OP_READ_RESP_V2,
		[TERN_OPEN_ATOMIC] = TERN_OP_ATOMIC_RESP,
	};
	struct read_slot *s = &h->sh.slot[h->sh.slot_head++ % SHELL_QUEUE];
	struct open_read *o = &h->peer->sh.read[h->responses++ % SHELL_QUEUE];
	struct msg *m = host_new_msg(h, opcodes[s->kind], s->size + 8);

	m->target = shell_find(&h->peer->sh, o->open.stag);
	m->target_off = (u32)(o->open.to - m->target->view.base);
	if (s->kind == TERN_OPEN_ATOMIC)
		execute(h, &s->atomic, m);
	else
		fill_response(h, s, m);
	h->last_response = m;
	host_queue(h, m);
}

void host_new_message(struct host *h)
{
	bool full = h->sh.read_tail - h->sh.read_head == WORLD_ORD;

	switch (rng_below(&h->world->r, 3)) {
	case 0:
		return new_write(h);
	case 1:
		return new_send(h);
	default:
		if (full)
			return;
		if (h->sets & TERN_OPS_7306 && rng_below(&h->world->r, 2))
			return new_atomic(h);
		return new_read(h);
	}
}

/* ---- the pipe ----------------------------------------------------------- */

static void add_record(struct host *h, struct msg *m, u32 off, u32 len)
{
	h->rec[h->rec_count++] = (struct record){
		.end = h->pipe_len, .msg = m, .off = off, .len = len,
	};
}

/* write an FPDU that must not change memory: the shadow does not expect it */
void host_push(struct host *h, const u8 *bytes, u32 len)
{
	memcpy(h->pipe + h->pipe_len, bytes, len);
	h->pipe_len += len;
	add_record(h, NULL, 0, 0);
}

static void change_mulpdu(struct host *h, struct rng *r)
{
	if (!rng_below(r, 12))
		h->tx.mulpdu = tern_fpdu_mulpdu(rng_below(r, 4000),
						h->tx.markers);
	else if (!rng_below(r, 80))
		h->tx.mulpdu = tern_fpdu_mulpdu(rng_below(r, 66000),
						h->tx.markers);
}

static u32 write_fpdu(struct host *h, struct msg *m, u8 *out)
{
	const u8 *p = m->payload + m->tx.sent;
	u32 n = tern_fpdu_tx_begin(&h->tx, &m->tx, out), run;

	while ((run = tern_fpdu_tx_run(&h->tx))) {
		if (rng_below(&h->world->r, 2))
			run = 1 + rng_below(&h->world->r, run);
		memcpy(out + n, p, run);
		p += run;
		n += run;
		n += tern_fpdu_tx_payload(&h->tx, run, out + n);
	}
	return tern_fpdu_tx_finish(&h->tx, out, n);
}

static struct msg **pick_lane(struct host *h)
{
	u32 first = rng_below(&h->world->r, LANES);

	for (u32 i = 0; i < LANES; i++)
		if (h->lane[(first + i) % LANES])
			return &h->lane[(first + i) % LANES];
	return NULL;
}

void host_emit(struct host *h)
{
	struct msg **lane = pick_lane(h), *m;
	u32 sent, size, n;

	if (!lane)
		return;
	m = *lane;
	change_mulpdu(h, &h->world->r);
	sent = m->tx.sent;
	size = tern_fpdu_tx_next(&h->tx, &m->tx);
	n = write_fpdu(h, m, h->pipe + h->pipe_len);
	expect_eq(n, size);
	h->pipe_len += n;
	add_record(h, m, sent, m->opcode == TERN_OP_ATOMIC_RESP ? 8 :
			       m->tx.sent - sent);
	if (!tern_tx_msg_done(&m->tx))
		return;
	*lane = m->next;
	if (m->target == &h->peer->sh.region[R_INVALIDATABLE])
		h->inv_writes--;
}

/* update the shadow from the messages of the FPDUs that the receiver accepted */
static void apply(struct host *from)
{
	struct host *to = from->peer;

	while (from->applied < to->sh.accepted && !test_failures) {
		struct record *rec = &from->rec[from->applied++];
		struct msg *m = rec->msg;

		expect(from->applied <= from->rec_count);
		if (m && m->target)
			memcpy(to->shadow[m->target - to->sh.region] +
			       m->target_off + rec->off,
			       m->payload + rec->off, rec->len);
		expect(rec->end <= from->used);
	}
}

static u32 random_chunk(struct rng *r, u32 left)
{
	switch (rng_below(r, 6)) {
	case 0:
		return left;
	case 1:
		return min(left, 1u);
	case 2:
		return min(left, 1 + rng_below(r, 9));
	default:
		return min(left, 1 + rng_below(r, 3000));
	}
}

/* deliver one more chunk to the peer */
void host_arrive(struct host *from)
{
	struct host *to = from->peer;
	struct rng *r = &from->world->r;

	from->visible += random_chunk(r, from->pipe_len - from->visible);
	from->used += shell_input(&to->sh, from->pipe + from->used,
				  from->visible - from->used, r);
	apply(from);
}

/* ---- runs --------------------------------------------------------------- */

/* Responses on different lanes would overtake each other */
static bool must_wait(const struct host *h)
{
	const struct read_slot *s = &h->sh.slot[h->sh.slot_head % SHELL_QUEUE];
	const struct msg *last = h->last_response;

	return last && !tern_tx_msg_done(&last->tx) &&
	       (last->opcode == TERN_OP_READ_RESP) != (s->kind == TERN_OPEN_READ);
}

static bool answers(struct host *h)
{
	if (h->sh.slot_head == h->sh.slot_tail || must_wait(h))
		return false;
	new_response(h);
	return true;
}

static void step(struct host *h)
{
	switch (rng_below(&h->world->r, 6)) {
	case 0:
		if (h->pipe_len < WORLD_PIPE / 4 && h->all_count < 3000)
			host_new_message(h);
		return;
	case 1:
		answers(h);
		return;
	case 2:
	case 3:
		return host_emit(h);
	default:
		return host_arrive(h);
	}
}

void world_run(struct world *w, u32 steps)
{
	while (steps-- && !test_failures)
		step(&w->end[rng_below(&w->r, 2)]);
}

static bool busy(struct host *h)
{
	if (answers(h))
		return true;
	if (h->lane[0] || h->lane[1]) {
		host_emit(h);
		return true;
	}
	if (h->visible == h->pipe_len)
		return false;
	host_arrive(h);
	return true;
}

void world_drain(struct world *w)
{
	bool more = true;

	while (more && !test_failures) {
		more = busy(&w->end[0]);
		more |= busy(&w->end[1]);
	}
}

void world_check_memory(struct world *w)
{
	for (u32 i = 0; i < 2; i++) {
		struct host *h = &w->end[i];

		for (u32 k = 0; k < R_COUNT; k++)
			expect_bytes(h->shadow[k], h->sh.region[k].data,
				     h->sh.region[k].view.len);
	}
}

void world_check_done(struct world *w)
{
	for (u32 i = 0; i < 2; i++) {
		struct host *h = &w->end[i];

		expect_eq(h->sh.term, TERN_TERM_NONE);
		expect_eq(h->used, h->pipe_len);
		expect_eq(h->applied, h->rec_count);
		expect_eq(h->sends_seen, h->sends_count);
		expect_eq(h->sh.read_head, h->sh.read_tail);
		expect_eq(h->sh.recv_head, h->sh.recv_tail);
	}
	world_check_memory(w);
}
