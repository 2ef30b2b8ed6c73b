// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Two ends, their messages and pipes: see world.h. */
#include <stdlib.h>

#include "world.h"

/* ---- set-up ------------------------------------------------------------- */

static const u32 rights_of[R_COUNT] = {
	[R_BIG] = TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE |
		  TERN_ACCESS_REMOTE_READ,
	[R_TOP] = TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE |
		  TERN_ACCESS_REMOTE_READ,
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
	h->version = how->version;
	shell_init(&h->sh, how->crc, how->markers[!i], how->version);
	h->sh.on_deliver = check_delivery;
	h->sh.ctx = h;
	h->sh.ird = WORLD_ORD;
	tern_fpdu_tx_init(&h->tx, how->crc, how->markers[i], 1460);
	h->send_msn = 1;
	h->read_msn = 1;
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
		w->end[!i].sh.ddp.q[TERN_QN_SEND].msn = ~0U - 3;
		w->end[!i].sh.ddp.q[TERN_QN_READ_REQ].msn = ~0U;
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

static void new_send(struct host *h)
{
	struct rng *r = &h->world->r;
	u8 opcode = (u8)(TERN_OP_SEND + rng_below(r, 4));
	u32 len = random_len(r, 30000);
	struct msg *m;

	if (h->peer->sh.recv_tail - h->peer->sh.recv_head == SHELL_QUEUE)
		return;
	if (tern_op_table[opcode].has_inv && (h->inv_out || h->inv_writes))
		opcode = TERN_OP_SEND_SE;
	m = host_new_msg(h, opcode, len);
	if (tern_op_table[opcode].has_inv) {
		m->inv_stag = h->peer->sh.region[R_INVALIDATABLE].stag;
		h->inv_out = true;
	}
	tern_rdmap_build_send(&m->tx, h->version, opcode, m->inv_stag,
			      h->send_msn++, len);
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
	struct msg *m;

	if (h->sh.read_tail - h->sh.read_head == WORLD_ORD)
		return;
	m = host_new_msg(h, TERN_OP_READ_REQ, 0);
	tern_rdmap_build_read_req(&m->tx, h->version, h->read_msn++,
				  sink->stag, sink->view.base + off, len,
				  src->stag, from);
	shell_open_read(&h->sh, sink->stag, sink->view.base + off, len,
			sink->data + off);
	host_queue(h, m);
}

/* queue the Response to the oldest Read, with the current data */
static void new_read_resp(struct host *h)
{
	struct read_slot *s = &h->sh.slot[h->sh.slot_head % SHELL_QUEUE];
	struct region *src = shell_find(&h->sh, s->src_stag);
	struct msg *m = host_new_msg(h, TERN_OP_READ_RESP, s->size);

	m->target = shell_find(&h->peer->sh, s->sink_stag);
	m->target_off = (u32)(s->sink_to - m->target->view.base);
	memcpy(m->payload, src->data + (s->src_to - src->view.base), s->size);
	tern_rdmap_build_read_resp(&m->tx, h->version, s->sink_stag,
				   s->sink_to, s->size);
	h->sh.slot_head++;
	host_queue(h, m);
}

void host_new_message(struct host *h)
{
	switch (rng_below(&h->world->r, 3)) {
	case 0:
		return new_write(h);
	case 1:
		return new_send(h);
	default:
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
		n += tern_fpdu_tx_payload(&h->tx, p - run, run, out + n);
	}
	return n + tern_fpdu_tx_end(&h->tx, out + n);
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
	size = tern_fpdu_tx_size(&h->tx, &m->tx);
	n = write_fpdu(h, m, h->pipe + h->pipe_len);
	expect_eq(n, size);
	h->pipe_len += n;
	add_record(h, m, sent, m->tx.sent - sent);
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

static bool answers(struct host *h)
{
	if (h->sh.slot_head == h->sh.slot_tail)
		return false;
	new_read_resp(h);
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
