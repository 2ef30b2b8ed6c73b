// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The whole receive stack below the model's shell: fpdu_rx, ddp, RDMAP's rules, memory
 * checks, building and parsing Terminates. Checked: every split of the stream gives the
 * same end and the same memory; memory without access rights is unchanged; no more is
 * placed than arrived; the error code is a known one, and its Terminate is parsed back;
 * a second implementation decides where a Write may be placed.
 *
 * Input: flags, position / 4, seed of the splits, number of receives and of open
 * requests, and the kind of the first of these; then the stream itself, or records: help, region, length, ULPDU. "help" corrects single
 * fields, so that later checks are reached.
 */
#include <stdlib.h>

#include "ref.h"
#include "shell.h"

#include "fuzz.h"

#define F_CRC		0x01
#define F_MARKERS	0x02
#define F_RAW		0x04
#define F_VERSION_0	0x08
#define F_7306		0x10	/* not with F_VERSION_0 */
#define F_V2		0x20	/* with F_7306 */

#define H_VERSION	0x01	/* DV and RV */
#define H_MSN		0x02
#define H_MO		0x04
#define H_STAG		0x08	/* tagged STag, and TO near its region */
#define H_QN		0x10
#define H_SOURCE	0x20	/* the source of a Read Request, an Atomic's target */
#define H_INV		0x40
#define H_RESPONSE	0x80	/* STag and TO of the Reads' sink */

#define STREAM_MAX	100000

enum { ALL, READ_ONLY, FOREIGN, INVALID, TOP, MINE, SINK, KINDS };

static const struct {
	u32 stag, access, len;
	u64 base;
} kinds[KINDS] = {
	{ 0x100, 15, 300, 0x1000 },
	{ 0x200, TERN_ACCESS_REMOTE_READ, 200, 0x2000 },
	{ 0x300, 7, 200, 0x3000 },
	{ 0x400, 7, 200, 0x4000 },
	{ 0x500, 7, 200, 0xffffffffffffff38 },
	{ 0x600, 15, 200, 0 },
	{ 0x700, TERN_ACCESS_LOCAL_WRITE, 200, 0x7000 },
};

static u8 stream[STREAM_MAX], ulpdu[65536];

static u64 hash(u64 h, const void *data, u32 len)
{
	const u8 *p = data;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3;
	return h;
}

/* add a delivered Send to the hash of the end state */
static void on_deliver(void *ctx, const struct delivery *d)
{
	u64 *h = ctx;

	must(d->len <= d->buf.len);
	*h = hash(*h, &d->opcode, 1);
	*h = hash(*h, &d->inv_stag, sizeof(d->inv_stag));
	*h = hash(*h, d->imm, sizeof(d->imm));
	*h = hash(*h, d->buf.data, d->len);
	free(d->buf.data);
}

static u8 sets_of(const u8 *in)
{
	if (!(in[0] & F_7306) || in[0] & F_VERSION_0)
		return TERN_OPS_BASE;
	return TERN_OPS_BASE | TERN_OPS_7306 | (in[0] & F_V2 ? TERN_OPS_V2 : 0);
}

/* RV and DV: 2 and 1 in version 2 */
static struct tern_rdmap_version version_of(const u8 *in)
{
	if (sets_of(in) & TERN_OPS_V2)
		return V2;
	return tern_rdmap_version_of(!(in[0] & F_VERSION_0));
}

/* Reads alone without RFC 7306, else the kinds in turn */
static void open_requests(struct shell *s, const u8 *in)
{
	u32 kinds_open = s->ddp.sets == TERN_OPS_BASE ? 1 : 3;

	for (u32 i = 0; i < in[3] / 8 % 4; i++) {
		struct tern_read_open open = {
			.kind = (in[3] / 32 + i) % kinds_open,
			.stag = kinds[SINK].stag, .to = kinds[SINK].base + 30 * i,
			.len = 30 * i, .id = i,
		};

		shell_open_request(s, &open, s->region[SINK].data + 30 * i);
	}
}

static void set_up(struct shell *s, const u8 *in, u64 *delivered)
{
	shell_init(s, in[0] & F_CRC, in[0] & F_MARKERS, !(in[0] & F_VERSION_0));
	s->rx.pos = in[0] & F_MARKERS ? in[1] % 128 * 4 : 0;
	s->ddp.sets = sets_of(in);
	s->ddp.rv = version_of(in).rv;
	s->on_deliver = on_deliver;
	s->ctx = delivered;
	for (u32 i = 0; i < KINDS; i++) {
		shell_add_region(s, i, kinds[i].stag, kinds[i].access,
				 kinds[i].base, kinds[i].len);
		memset(s->region[i].data, (int)(0x10 + i), kinds[i].len);
	}
	s->region[FOREIGN].view.assoc = false;
	s->region[INVALID].view.valid = false;
	s->region[MINE].view.invalidatable = true;
	s->region[MINE].view.skew = 4;
	for (u32 i = 0; i < in[3] % 8; i++)
		shell_post_recv(s, 40 * i);
	open_requests(s, in);
}

/* ---- records to a stream ------------------------------------------------ */

struct maker {
	struct ref_dir d;
	struct tern_rdmap_version version;
	u32 msn[TERN_QN_COUNT];
	u32 mo[TERN_QN_COUNT];
	u32 len;
};

/* where the STag of the source or target is in a request, and its TO after that */
static u8 *source_of(const struct maker *m, u8 *p)
{
	u8 opcode;

	tern_rdmap_opcode(p[1], m->version.rv, &opcode);
	switch (opcode) {
	case TERN_OP_ATOMIC_REQ:
		return p + 26;
	case TERN_OP_READ_REQ_V2:
		return p + 22;
	default:
		return p + 34;
	}
}

static void help_source(const struct maker *m, const u8 *kind, u8 *p)
{
	u8 *source = source_of(m, p);
	u64 to = kinds[*kind % KINDS].base + (u64)(s32)(source[11] - 8);

	put_unaligned_be32(kinds[*kind % KINDS].stag, source);
	put_unaligned_be64(to, source + 4);
	if (source == p + 34)
		put_unaligned_be32(get_unaligned_be32(p + 30) % 512, p + 30);
	if (source == p + 22)
		put_unaligned_be32(get_unaligned_be32(p + 18) % 512, p + 18);
}

static void help_untagged(struct maker *m, u8 help, const u8 *kind, u8 *p)
{
	u32 qn = get_unaligned_be32(p + 6) % 4;

	if (help & H_QN)
		put_unaligned_be32(qn, p + 6);
	if (help & H_MSN)
		put_unaligned_be32(m->msn[qn], p + 10);
	if (help & H_MO)
		put_unaligned_be32(m->mo[qn], p + 14);
	if (help & H_INV)
		put_unaligned_be32(kinds[*kind % KINDS].stag, p + 2);
	if (help & H_SOURCE)
		help_source(m, kind, p);
}

static void help_tagged(u8 help, const u8 *kind, u8 *p)
{
	const u64 base = kinds[*kind % KINDS].base;

	if (help & H_STAG) {
		put_unaligned_be32(kinds[*kind % KINDS].stag, p + 2);
		put_unaligned_be64(base + (u64)(s32)(p[13] - 8), p + 6);
	}
	if (help & H_RESPONSE) {
		put_unaligned_be32(kinds[SINK].stag, p + 2);
		put_unaligned_be64(kinds[SINK].base + p[13] % 128, p + 6);
	}
}

/* compute MSN and MO of the queue's next segment, as if this one was good */
static void count_on(struct maker *m, const u8 *p, u32 len)
{
	u32 qn = get_unaligned_be32(p + 6) % 4;

	m->mo[qn] += len > 18 ? len - 18 : 0;
	if (p[0] & TERN_DDP_LAST) {
		m->msn[qn]++;
		m->mo[qn] = 0;
	}
}

static void add_record(struct maker *m, const u8 *in, u32 len)
{
	u8 help = in[0];

	memset(ulpdu, 0, 80);
	memcpy(ulpdu, in + 3, len);
	if (help & H_VERSION) {
		ulpdu[0] = (u8)((ulpdu[0] & 0xfc) | m->version.dv);
		ulpdu[1] = (u8)((ulpdu[1] & 0x3f) | m->version.rv << 6);
	}
	if (ulpdu[0] & TERN_DDP_TAGGED) {
		help_tagged(help, in + 1, ulpdu);
	} else {
		help_untagged(m, help, in + 1, ulpdu);
		count_on(m, ulpdu, len);
	}
	m->len += ref_encode(&m->d, ulpdu, len, stream + m->len);
}

static u32 make_stream(const u8 *in, u32 size)
{
	struct maker m = {
		.d = { .crc = in[0] & F_CRC, .markers = in[0] & F_MARKERS,
		       .pos = in[0] & F_MARKERS ? in[1] % 128 * 4 : 0 },
		.version = version_of(in),
		.msn = { 1, 1, 1, 1 },
	};

	in += 4;
	size -= 4;
	while (size > 3 && m.len < STREAM_MAX - 1000) {
		u32 len = min((u32)in[2], size - 3);

		add_record(&m, in, len);
		in += 3 + len;
		size -= 3 + len;
	}
	return m.len;
}

/* ---- checks ------------------------------------------------------------- */

static void must_be_filled(const struct shell *s, u32 kind)
{
	for (u32 i = 0; i < kinds[kind].len; i++)
		must(s->region[kind].data[i] == 0x10 + kind);
}

/* build the Terminate for the error and parse it back */
static void must_terminate(const struct shell *s)
{
	struct tern_term_seg seg = shell_bad_segment(s);
	u8 body[TERN_TERMINATE_MAX];
	struct tern_term_info info;
	u32 n;

	if (s->term == TERN_TERM_NONE)
		return;
	must(strcmp(tern_term_name(s->term), "unknown"));
	n = tern_term_build(body, s->term, &seg);
	must(n == 4 || n == 20 || n == 24 || n == 52);
	must(!tern_term_parse(body, n, &info));
	must(info.code == s->term);
	must(info.has_len == (n > 4) && info.has_ddp == (n > 4));
	must(info.has_rreq == (n == 52));
	if (info.has_ddp)
		must_bytes(info.ddp, s->bad_hdr, n == 20 ? 14 : 18);
}

/*
 * Check a Write again in the simplest way. Return: the region it is placed into, KINDS
 * if it has no payload, -1 if it is bad.
 */
static int where_it_lands(const u8 *p, u32 len, struct tern_rdmap_version v)
{
	unsigned __int128 to = get_unaligned_be64(p + 6), end = to + len - 14;

	if (len < 14 || (p[0] & 0x83) != (0x80 | v.dv) ||
	    (p[1] & (v.rv == 2 ? 0xdf : 0xcf)) != v.rv << 6)
		return -1;
	if (len == 14)
		return KINDS;
	for (int i = 0; i < KINDS; i++)
		if (get_unaligned_be32(p + 2) == kinds[i].stag &&
		    (i == ALL || i == TOP || i == MINE) &&
		    to >= kinds[i].base &&
		    end <= (unsigned __int128)kinds[i].base + kinds[i].len)
			return i;
	return -1;
}

/* memory is unchanged except for the payload of the Write in ulpdu[] */
static void must_hold_write(const struct shell *s, int kind, u32 len)
{
	if (kind >= 0 && kind < KINDS) {
		u8 *p = s->region[kind].data +
			(get_unaligned_be64(ulpdu + 6) - kinds[kind].base);

		must_bytes(p, ulpdu + 14, len - 14);
		memset(p, 0x10 + kind, len - 14);
	}
	for (u32 i = 0; i < KINDS; i++)
		must_be_filled(s, i);
}

/* if the first FPDU is a Write, where_it_lands() and the stack agree about it */
static void must_agree_on_first(const u8 *in, u32 len)
{
	struct ref_dir d = {
		.crc = in[0] & F_CRC, .markers = in[0] & F_MARKERS,
		.pos = in[0] & F_MARKERS ? in[1] % 128 * 4 : 0,
	};
	u64 delivered = 0;
	struct shell s;
	u32 n, used;
	int kind;

	memset(ulpdu, 0, 64);
	if (ref_decode(&d, stream, len, ulpdu, &n, &used) != REF_GOOD) {
		used = 0;
		n = 0;
	}
	set_up(&s, in, &delivered);
	shell_input(&s, stream, used ? used : len, NULL);
	must(used || !s.accepted);
	if (n >= 14 && ulpdu[0] & 0x80 && !(ulpdu[1] & 0xf)) {
		kind = where_it_lands(ulpdu, n, version_of(in));
		must(s.accepted == (kind >= 0));
		must_hold_write(&s, kind, n);
	}
	shell_exit(&s);
}

static u64 end_state(const struct shell *s)
{
	u64 h = hash(0, &s->term, sizeof(s->term));

	h = hash(h, &s->accepted, sizeof(s->accepted));
	h = hash(h, &s->placed, sizeof(s->placed));
	h = hash(h, &s->got_term, 1);
	h = hash(h, &s->rx.pos, sizeof(s->rx.pos));
	h = hash(h, s->bad_hdr, s->bad_hdr_len);
	for (u32 i = 0; i < KINDS; i++)
		h = hash(h, s->region[i].data, kinds[i].len);
	for (u32 q = 0; q < TERN_QN_COUNT; q++)
		h = hash(h, &s->ddp.q[q].msn, sizeof(u32));
	return h;
}

static u64 run_whole(const u8 *in, u32 len)
{
	u64 delivered = 0, h;
	struct shell s;

	set_up(&s, in, &delivered);
	shell_input(&s, stream, len, NULL);
	must_be_filled(&s, READ_ONLY);
	must_be_filled(&s, FOREIGN);
	must_be_filled(&s, INVALID);
	if (in[3] / 8 % 4 == 0)
		must_be_filled(&s, SINK);
	must(s.placed <= len);
	must_terminate(&s);
	h = end_state(&s);
	shell_exit(&s);
	return h ^ delivered;
}

static u64 run_split(const u8 *in, u32 len)
{
	struct rng r = rng_seed(in[2]);
	u32 used = 0, seen = 0;
	u64 delivered = 0, h;
	struct shell s;

	set_up(&s, in, &delivered);
	while (seen < len) {
		seen += 1 + rng_below(&r, min(len - seen, 90u));
		seen = min(seen, len);
		used += shell_input(&s, stream + used, seen - used, &r);
	}
	h = end_state(&s);
	shell_exit(&s);
	return h ^ delivered;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 len;

	if (size < 5)
		return 0;
	if (data[0] & F_RAW) {
		len = (u32)min_t(size_t, size - 4, STREAM_MAX);
		memcpy(stream, data + 4, len);
	} else {
		len = make_stream(data, (u32)size);
	}
	must_agree_on_first(data, len);
	must(run_whole(data, len) == run_split(data, len));
	return 0;
}
