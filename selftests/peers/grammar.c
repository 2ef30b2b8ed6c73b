// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Messages of all opcodes by the functions of tern-conform's peer, and faults in their
 * fields, lengths, checksums and markers.
 */
#include <stdio.h>
#include <string.h>

#include "../conformance/conform.h"
#include "answer.h"
#include "grammar.h"
#include "tcp.h"

#define SEGMENT		1200	/* bytes of a message in one FPDU, mostly */
#define LONG_FPDU	9000
#define STORM		60

static uint8_t room[ULPDU_ROOM];

/* an FPDU before it is built */
struct draft {
	uint8_t *ulpdu;
	size_t len;
	struct fpdu_fault fault;
	unsigned int flips;
	uint32_t answers;
	const struct known *known;
};

/* ---- numbers ------------------------------------------------------------------------- */

/* small numbers, and those beside limits, more often than others */
static uint64_t odd_number(struct series *s)
{
	static const uint64_t odd[] = {
		0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		0x7fffffffffffffff, 0xfffffffffffffff0, UINT64_MAX,
	};
	unsigned int shift;

	if (chance(s, 60))
		return odd[draw(s) % (sizeof(odd) / sizeof(odd[0]))];
	shift = draw(s) % 64;
	return draw(s) >> shift;
}

static void flip_bit(struct series *s, uint8_t *data, size_t len)
{
	size_t at = draw(s) % len;

	data[at] ^= 1 << draw(s) % 8;
}

static uint32_t odd_stag(const struct known *k, struct series *s)
{
	const struct welcome *v = &k->victim;
	const uint32_t stags[] = {
		v->all, v->reads, v->local, v->window, v->all + 1, v->all ^ 0x100, 0,
		PEER_STAG, HELLO_STAG, draw(s),
	};

	return stags[draw(s) % (sizeof(stags) / sizeof(stags[0]))];
}

/* an address beside an end of the victim's memory */
static uint64_t odd_to(const struct known *k, struct series *s)
{
	uint64_t near = k->victim.addr + (chance(s, 50) ? k->victim.len : 0);

	return chance(s, 70) ? near + draw(s) % 5000 - 2500 : odd_number(s);
}

/* ---- faults ---------------------------------------------------------------------------- */

static bool is_tagged(const struct draft *d)
{
	return d->ulpdu[0] & DDP_TAGGED;
}

static void tagged(struct series *s, struct draft *d)
{
	(void)s;
	d->ulpdu[0] ^= DDP_TAGGED;
}

static void last(struct series *s, struct draft *d)
{
	(void)s;
	d->ulpdu[0] ^= DDP_LAST;
}

static void reserved(struct series *s, struct draft *d)
{
	d->ulpdu[0] ^= 4 << draw(s) % 4;
}

static void ddp_version(struct series *s, struct draft *d)
{
	d->ulpdu[0] ^= 1 << draw(s) % 2;
}

static void opcode(struct series *s, struct draft *d)
{
	d->ulpdu[1] = (d->ulpdu[1] & 0xe0) | draw(s) % 32;
}

static void version(struct series *s, struct draft *d)
{
	d->ulpdu[1] ^= 0x40 << draw(s) % 2;
}

static void stag(struct series *s, struct draft *d)
{
	put32(d->ulpdu + 2, odd_stag(d->known, s));
}

static void offset(struct series *s, struct draft *d)
{
	if (is_tagged(d))
		put64(d->ulpdu + 6, odd_to(d->known, s));
	else
		put32(d->ulpdu + 14, get32(d->ulpdu + 14) +
		      (chance(s, 50) ? draw(s) % 5 - 2 : odd_number(s)));
}

static void queue(struct series *s, struct draft *d)
{
	if (!is_tagged(d))
		put32(d->ulpdu + 6, chance(s, 70) ? draw(s) % 5 : odd_number(s));
}

static void number(struct series *s, struct draft *d)
{
	if (!is_tagged(d))
		put32(d->ulpdu + 10, get32(d->ulpdu + 10) +
		      (chance(s, 60) ? draw(s) % 5 - 2 : odd_number(s)));
}

/* a word of the body: sizes, STags and addresses of requests */
static void body(struct series *s, struct draft *d)
{
	size_t words = d->len > UNTAGGED_HDR ? (d->len - UNTAGGED_HDR) / 4 : 0;
	uint8_t *at = d->ulpdu + UNTAGGED_HDR + (words ? draw(s) % words * 4 : 0);

	if (!words)
		return;
	put32(at, chance(s, 40) ? odd_stag(d->known, s) :
	      chance(s, 50) ? get32(at) + draw(s) % 9 - 4 : odd_number(s));
}

static void shorter(struct series *s, struct draft *d)
{
	size_t most = chance(s, 50) ? UNTAGGED_HDR + 4 : d->len + 1;

	d->len = draw(s) % (most < d->len + 1 ? most : d->len + 1);
}

static void longer(struct series *s, struct draft *d)
{
	size_t most = chance(s, 80) ? 64 : 8000, more = 1 + draw(s) % most;

	if (d->len + more > ULPDU_MAX)
		return;
	memset(d->ulpdu + d->len, draw(s), more);
	d->len += more;
}

static void length(struct series *s, struct draft *d)
{
	d->fault.length_delta = chance(s, 60) ? (int)(draw(s) % 9) - 4 : (int)(draw(s) % 65536);
}

static void crc(struct series *s, struct draft *d)
{
	d->fault.crc_xor = 1u << draw(s) % 32;
}

static void marker(struct series *s, struct draft *d)
{
	d->fault.marker_xor = chance(s, 50) ? draw(s) % 64 : draw(s);
	d->fault.marker_rsvd = chance(s, 30) ? draw(s) : 0;
	d->fault.last_marker_only = chance(s, 50);
}

static void pad(struct series *s, struct draft *d)
{
	d->fault.pad = draw(s);
	d->fault.pad_not_in_crc = chance(s, 50);
}

static void any_byte(struct series *s, struct draft *d)
{
	size_t i, at, n = 1 + draw(s) % 4;

	for (i = 0; i < n && d->len; i++) {
		at = draw(s) % (d->len < 64 ? d->len : 64);
		d->ulpdu[at] = draw(s);
	}
}

static void flips(struct series *s, struct draft *d)
{
	d->flips = 1 + draw(s) % 8;
}

/* the segment ends early: also what comes after it is then out of place */
#define IF_SHORTER	(RO_STREAM | DT_BOUNDS | DU_MO)
/* what was empty has an STag that counts now */
#define IF_LONGER	(RO_STREAM | DT_STAG | DT_NOT_ASSOC | DT_BOUNDS | DT_WRAP | DU_MO | \
			 DU_TOO_LONG)

/*
 * @answers: Terminates of the FPDU with this fault alone, or of later ones that do not fit
 * together with it
 */
static const struct {
	const char *name;
	void (*plant)(struct series *s, struct draft *d);
	uint32_t answers;
} faults[] = {
	{ "T", tagged, RO_OPCODE | RO_STREAM | DU_QN | DU_NO_BUFFER | DU_MSN | DU_MO },
	{ "L", last, RO_OPCODE | RO_STREAM | DU_MSN },
	{ "reserved", reserved, 0 },
	{ "DDP version", ddp_version, DT_VERSION | DU_VERSION },
	{ "opcode", opcode, RP_CANT_INV | RO_OPCODE | RO_STREAM | DT_STAG | DT_BOUNDS |
			    DU_TOO_LONG },
	{ "version", version, RO_VERSION },
	{ "STag", stag, RP_CANT_INV | RO_OPCODE | DT_STAG | DT_NOT_ASSOC },
	{ "offset", offset, DT_BOUNDS | DT_WRAP | DU_MO },
	{ "queue", queue, RO_OPCODE | DU_QN | DU_NO_BUFFER | DU_MSN | DU_MO | DU_TOO_LONG },
	{ "MSN", number, DU_MSN },
	{ "body", body, RP_STAG | RP_BOUNDS | RP_ACCESS | RP_NOT_ASSOC | RP_WRAP | RO_OPCODE |
			RO_STREAM },
	{ "body", body, RP_STAG | RP_BOUNDS | RP_ACCESS | RP_NOT_ASSOC | RP_WRAP | RO_OPCODE |
			RO_STREAM },
	{ "shorter", shorter, IF_SHORTER },
	{ "longer", longer, IF_LONGER },
	{ "length", length, OF_MPA | IF_SHORTER | IF_LONGER },
	{ "CRC", crc, MPA_CRC },
	{ "marker", marker, MPA_MARKER },
	{ "pad", pad, MPA_CRC },
	{ "any byte", any_byte, OF_RDMAP_DDP },
	{ "bits", flips, OF_MPA },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static unsigned int planted[FAULTS];

/* Return: there is one */
static bool plant(struct series *s, struct draft *d)
{
	unsigned int i = draw(s) % FAULTS;

	/* without a header there is no field */
	if (!d->len || d->len < (is_tagged(d) ? TAGGED_HDR : UNTAGGED_HDR))
		return false;
	planted[i]++;
	say("  fault: %s", faults[i].name);
	faults[i].plant(s, d);
	d->answers = faults[i].answers;
	return true;
}

/* more may be answered by these */
static void expect_answers(const struct peer *p, struct known *k, uint32_t answers)
{
	/* without a CRC bytes may pass for an FPDU that is none */
	if (!p->crc && answers & MPA_CRC)
		answers = ANY_ANSWER;
	k->answers |= answers;
}

void grammar_send_ulpdu(struct peer *p, struct known *k, struct series *s, unsigned int percent,
			uint8_t *ulpdu, size_t len)
{
	static uint8_t out[2 * ULPDU_ROOM];
	struct draft d = { .ulpdu = ulpdu, .len = len, .known = k };
	unsigned int n_faults = 0;
	size_t n;

	while (chance(s, percent) && !(k->single && k->faults + n_faults))
		n_faults += plant(s, &d);
	k->faults += n_faults;
	expect_answers(p, k, n_faults > 1 ? ANY_ANSWER : d.answers);
	n = fpdu_build(p, d.ulpdu, d.len, &d.fault, out);
	say("> FPDU: %#x, %zu bytes", d.ulpdu[1], d.len);
	while (d.flips--)
		flip_bit(s, out, n);
	peer_send(p, out, n);
}

/* more private data than there may be, and all of it comes */
static size_t too_long_frame(struct series *s, uint8_t *frame)
{
	size_t n = MPA_PD_MAX + 1 + draw(s) % (FRAME_ROOM - MPA_FRAME_HDR - MPA_PD_MAX);

	put16(frame + 18, n);
	memset(frame + MPA_FRAME_HDR, draw(s), n);
	return MPA_FRAME_HDR + n;
}

size_t grammar_spoil_frame(struct series *s, uint8_t *frame, size_t len)
{
	size_t i, n = 1 + draw(s) % 3;

	for (i = 0; i < n; i++) {
		switch (draw(s) % 7) {
		case 0:		/* anywhere */
			flip_bit(s, frame, len);
			break;
		case 1:		/* the flags */
			frame[16] ^= 1 << draw(s) % 8;
			break;
		case 2:		/* the revision */
			frame[17] = draw(s) % 4;
			break;
		case 3:		/* the length of the private data */
			put16(frame + 18, get16(frame + 18) + draw(s) % 9 - 4);
			break;
		case 4:
			put16(frame + 18, odd_number(s));
			break;
		case 5:
			return too_long_frame(s, frame);
		default:
			return 1 + draw(s) % len;
		}
	}
	return len;
}

/* ---- messages -------------------------------------------------------------------------- */

/* what a message is made with */
struct making {
	struct peer *p;
	struct known *k;
	struct series *s;
	unsigned int percent;
};

static void fpdu(struct making *m, size_t len)
{
	grammar_send_ulpdu(m->p, m->k, m->s, m->percent, room, len);
}

static void may_get(struct making *m, uint32_t answers)
{
	expect_answers(m->p, m->k, answers);
}

/* a good peer would not send this */
static void is_fault(struct making *m, uint32_t answers)
{
	m->k->faults++;
	may_get(m, answers);
}

static const uint8_t *payload(struct making *m)
{
	static uint8_t data[ULPDU_MAX];

	memset(data, draw(m->s), sizeof(data));
	return data;
}

static uint32_t draw_length(struct making *m, uint32_t most)
{
	if (chance(m->s, 15))
		return 0;
	most = chance(m->s, 80) ? 200 : most;
	return draw(m->s) % most;
}

/* where in the victim's memory a message begins: all of it is inside, or it may cross an end */
static uint64_t draw_to(struct making *m)
{
	if (chance(m->s, m->percent)) {
		is_fault(m, DT_BOUNDS | DT_WRAP | RP_BOUNDS | RP_WRAP);
		return odd_to(m->k, m->s);
	}
	return m->k->victim.addr + draw(m->s) % 40000;
}

/* how much of a message the next FPDU has */
static uint32_t cut(struct making *m, uint32_t left)
{
	uint32_t most = chance(m->s, 10) ? LONG_FPDU : SEGMENT;

	return left < most ? left : 1 + draw(m->s) % most;
}

static void send_family(struct making *m)
{
	/* the window can be invalidated once */
	bool invalidates = chance(m->s, m->k->invalidated ? m->percent / 8 : 8);
	uint32_t inv = invalidates ? m->k->victim.window : 0;
	enum rdmap_op op = invalidates ? OP_SEND_INV : OP_SEND;
	uint32_t len = draw_length(m, VICTIM_RECV), at = 0, n;

	/* more than a receive has room for */
	if (chance(m->s, m->percent / 2))
		len = draw(m->s) % (3 * VICTIM_RECV);
	if (len > VICTIM_RECV)
		is_fault(m, DU_TOO_LONG);
	if (invalidates && m->k->invalidated)
		is_fault(m, RP_CANT_INV);
	if (invalidates) {
		/* the victim may not have bound it yet */
		may_get(m, RP_CANT_INV);
		m->k->invalidated = true;
	}
	/* with Solicited Event */
	op += chance(m->s, 30) ? OP_SEND_SE - OP_SEND : 0;

	do {
		n = cut(m, len - at);
		fpdu(m, seg_send(m->p, op, inv, at, payload(m), n, at + n == len, room));
		at += n;
	} while (at < len);
}

static void write_message(struct making *m)
{
	uint32_t len = draw_length(m, 16000), at = 0, n;
	uint64_t to = draw_to(m);

	do {
		n = cut(m, len - at);
		fpdu(m, seg_write(m->p, m->k->victim.all, to + at, payload(m), n,
				  at + n == len, room));
		at += n;
	} while (at < len);
}

static void read_request(struct making *m)
{
	const struct welcome *v = &m->k->victim;
	uint32_t stag = chance(m->s, 50) ? v->reads : v->all, len = draw_length(m, 16000);
	uint64_t to = draw_to(m);

	if (m->p->tx_v2)
		fpdu(m, seg_read_req_v2(m->p, len, stag, to, room));
	else
		fpdu(m, seg_read_req(m->p, PEER_STAG, draw(m->s), len, stag, to, room));
}

/* the answer to the oldest Read of the victim, or to none */
static void read_response(struct making *m)
{
	struct known *k = m->k;
	struct read_v2 r = { .stag = k->victim.all, .to = k->victim.addr, .size = 100 };
	uint32_t at = 0, n;

	if (!k->n_reads) {
		is_fault(m, RO_OPCODE | DT_STAG);
	} else {
		r = k->reads[0];
		memmove(k->reads, k->reads + 1, --k->n_reads * sizeof(r));
	}
	/* the victim's answer to our hello came too late for us, and it goes by it */
	if (!m->p->tx_v2 && !r.stag)
		is_fault(m, RO_OPCODE);
	if (r.size > 30000)
		r.size = 30000;
	/* more or less than was asked for */
	if (m->percent && chance(m->s, 50)) {
		is_fault(m, RO_STREAM | DU_TOO_LONG);
		r.size = chance(m->s, 70) ? r.size + draw(m->s) % 3000 : draw(m->s) % (r.size + 1);
	}
	do {
		n = cut(m, r.size - at);
		/* the Request of version 2 names no sink */
		if (m->p->tx_v2 && !r.stag)
			fpdu(m, seg_read_resp_v2(m->p, at, payload(m), n, at + n == r.size, room));
		else
			fpdu(m, seg_read_resp(m->p, r.stag, r.to + at, payload(m), n,
					      at + n == r.size, room));
		at += n;
	} while (at < r.size);
}

static bool has_7306(const struct making *m)
{
	return m->k->agreed & HELLO_7306;
}

static void atomic(struct making *m)
{
	struct atomic_req a = { .stag = m->k->victim.all, .compare_mask = UINT64_MAX };

	a.op = chance(m->s, 50) ? FETCH_ADD : CMP_SWAP;
	a.id = draw(m->s);
	a.to = m->k->victim.addr + draw(m->s) % 1000 * 8;
	a.data = draw(m->s);
	a.mask = odd_number(m->s);
	if (!has_7306(m))
		is_fault(m, RO_OPCODE);
	fpdu(m, seg_atomic(m->p, &a, room));
}

static void atomic_response(struct making *m)
{
	uint32_t id = draw(m->s);

	is_fault(m, RO_OPCODE | RO_STREAM | DU_QN | DU_NO_BUFFER);
	fpdu(m, seg_atomic_resp(m->p, id, draw(m->s), room));
}

static void immediate(struct making *m)
{
	enum rdmap_op op = chance(m->s, 50) ? OP_IMM : OP_IMM_SE;

	if (!has_7306(m))
		is_fault(m, RO_OPCODE);
	fpdu(m, seg_imm(m->p, op, payload(m), room));
}

static void send_immediate(struct making *m)
{
	enum rdmap_op op = chance(m->s, 50) ? OP_SEND_IMM : OP_SEND_SE_IMM;
	uint32_t len = draw_length(m, 2000), n = cut(m, len);

	/* invalidate an STag, which is 0 here */
	if (chance(m->s, m->percent)) {
		op += OP_SEND_INV_IMM - OP_SEND_IMM;
		is_fault(m, RP_CANT_INV);
	}
	if (n == len && n)
		fpdu(m, seg_send(m->p, op, 0, 0, payload(m), n, false, room));
	fpdu(m, seg_send_imm_last(m->p, op, 0, n == len ? n : 0, payload(m), IMM_LEN, room));
}

static void terminate(struct making *m)
{
	unsigned int times = chance(m->s, 30) ? 1 + draw(m->s) % STORM : 1;
	uint8_t body[4 + 6 + UNTAGGED_HDR + 28];
	size_t i, len = chance(m->s, 60) ? 4 : draw(m->s) % sizeof(body);

	is_fault(m, RO_STREAM | DU_TOO_LONG);
	while (times--) {
		for (i = 0; i < sizeof(body); i++)
			body[i] = draw(m->s);
		if (chance(m->s, 70)) {
			body[0] = draw(m->s) % 3 << 4;
			body[0] |= draw(m->s) % 3;
		}
		if (len == 4)
			body[2] = 0;
		fpdu(m, seg_untagged(m->p, OP_TERMINATE, 0, body, len, true, room));
	}
}

static void hello(struct making *m)
{
	struct hello h;

	h.version = 1 + draw(m->s) % 2;
	h.role = 1 + draw(m->s) % 3;
	h.features = draw(m->s) % 8;
	/* it may change what both agree on */
	may_get(m, ANY_ANSWER);
	fpdu(m, seg_write(m->p, HELLO_STAG, hello_to(&h), NULL, 0, true, room));
}

/* no FPDU at all */
static void noise(struct making *m)
{
	size_t i, n = 1 + draw(m->s) % 600;

	if (!m->percent)
		return;
	for (i = 0; i < n; i++)
		room[i] = draw(m->s);
	is_fault(m, OF_MPA);
	peer_send(m->p, room, n);
}

static const struct {
	const char *name;
	void (*make)(struct making *m);
	uint8_t weight;
} kinds[] = {
	{ "Send", send_family, 14 },
	{ "Write", write_message, 12 },
	{ "Read Request", read_request, 10 },
	{ "Read Response", read_response, 20 },
	{ "Atomic Request", atomic, 6 },
	{ "Atomic Response", atomic_response, 1 },
	{ "Immediate Data", immediate, 5 },
	{ "Send with Immediate", send_immediate, 2 },
	{ "Terminate", terminate, 1 },
	{ "hello", hello, 1 },
	{ "noise", noise, 1 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static unsigned int sent[KINDS];

/* What a good peer would not send now ends the connection: it is mostly left out. */
static bool is_due(unsigned int kind, const struct making *m)
{
	if (chance(m->s, m->percent))
		return true;
	if (kinds[kind].make == read_response)
		return m->k->n_reads;
	if (kinds[kind].make == send_immediate)
		return m->p->tx_v2;
	if (kinds[kind].make == atomic || kinds[kind].make == immediate)
		return has_7306(m);
	return kinds[kind].make != atomic_response && kinds[kind].make != terminate;
}

void grammar_send(struct peer *p, struct known *k, struct series *s, unsigned int percent)
{
	struct making m = { .p = p, .k = k, .s = s, .percent = percent };
	unsigned int i = draw_row(s, &kinds[0].weight, sizeof(kinds[0]), KINDS);

	if (!is_due(i, &m))
		return;
	sent[i]++;
	say("%s", kinds[i].name);
	kinds[i].make(&m);
}

void grammar_print(void)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		printf("# messages %s: %u\n", kinds[i].name, sent[i]);
	for (i = 0; i < FAULTS; i++)
		printf("# faults %s: %u\n", faults[i].name, planted[i]);
}
