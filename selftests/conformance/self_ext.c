// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The scripted peer's messages of the extensions, checked byte by byte against RFC 7306,
 * the v2 draft and the layout of the hello; what it builds is read back. No target is
 * needed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conform.h"
#include "peer_ext.h"
#include "session.h"

#define IMM	"\x01\x02\x03\x04\x05\x06\x07\x08"
#define ONES	UINT64_MAX

static struct peer new_end(bool v2)
{
	struct peer p = {
		.fd = -1,
		.crc = true,
		.version = 1,
		.tx_v2 = v2,
		.rx_v2 = v2,
		.tx_msn = { 1, 1, 1, 1 },
		.rx_msn = { 1, 1, 1, 1 },
	};

	return p;
}

/* a pair of peers, connected to each other */
static void new_pair(struct peer *a, struct peer *b, bool v2)
{
	int fds[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), "socketpair");
	*a = new_end(v2);
	*b = new_end(v2);
	a->fd = fds[0];
	b->fd = fds[1];
}

static void end_pair(struct peer *a, struct peer *b)
{
	close(a->fd);
	close(b->fd);
	free(a->in);
	free(a->ulpdu);
	free(b->in);
	free(b->ulpdu);
}

/* ---- layouts ---- */

static void self_ext__immediate(void)
{
	static const uint8_t want[] = { 0x41, 0x49, [13] = 1, [18] = 1, 2, 3, 4, 5, 6, 7, 8 };
	struct peer p = new_end(false);
	uint8_t out[64];

	must_eq(seg_imm(&p, OP_IMM_SE, IMM, out), 26, "length");
	must_bytes(out, want, sizeof(want), "Immediate Data");
	must_eq(p.tx_msn[0], 2, "the next MSN of QN 0");
}

static void self_ext__atomic_request(void)
{
	static const uint8_t want[] = {
		0x41, 0x4a, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0,
		0, 0, 0, 2, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
		0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
		0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
		0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78,
	};
	const struct atomic_req a = {
		CMP_SWAP, 0x11121314, 0x21222324, 0x3132333435363738, 0x4142434445464748,
		0x5152535455565758, 0x6162636465666768, 0x7172737475767778,
	};
	struct peer p = new_end(false);
	struct atomic_req back;
	uint8_t out[128];
	struct seg s;

	must_eq(seg_atomic(&p, &a, out), 70, "length");
	must_bytes(out, want, sizeof(want), "Atomic Request");
	must(seg_decode(&s, out, 70), "no segment");
	atomic_decode(&back, s.data);
	must(back.op == a.op && back.id == a.id && back.stag == a.stag &&
	     back.to == a.to && back.data == a.data && back.mask == a.mask &&
	     back.compare == a.compare && back.compare_mask == a.compare_mask,
	     "what was built is not read back");
	must_eq(p.tx_msn[1], 2, "the next MSN of QN 1");
}

static void self_ext__atomic_response(void)
{
	static const uint8_t want[] = { 0x41, 0x4b, [9] = 3, [13] = 1, [18] = 0x11, 0x12,
					0x13, 0x14, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct peer p = new_end(false);
	uint8_t out[64];

	must_eq(seg_atomic_resp(&p, 0x11121314, 0x0102030405060708, out), 30, "length");
	must_bytes(out, want, sizeof(want), "Atomic Response");
	must_eq(p.tx_msn[3], 2, "the next MSN of QN 3");
}

static void self_ext__read_of_version_2(void)
{
	static const uint8_t request[] = { 0x41, 0x91, [9] = 1, [13] = 1, [18] = 1, 2, 3, 4,
					   0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
					   0x25, 0x26, 0x27, 0x28 };
	static const uint8_t response[] = { 0x01, 0x92, [9] = 3, [13] = 1, [17] = 4, 7 };
	struct peer p = new_end(true);
	uint8_t out[64];

	must_eq(seg_read_req_v2(&p, 0x01020304, 0x11121314, 0x2122232425262728, out), 34,
		"length of the Request");
	must_bytes(out, request, sizeof(request), "the Request");
	must_eq(seg_read_resp_v2(&p, 4, "\x07", 1, false, out), 19,
		"length of the Response");
	must_bytes(out, response, sizeof(response), "the Response");
}

static void self_ext__last_segment_of_a_send(void)
{
	static const uint8_t want[] = { 0x41, 0x96, 0x21, 0x22, 0x23, 0x24, [13] = 1,
					[16] = 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct peer p = new_end(true);
	uint8_t out[64];

	must_eq(seg_send_imm_last(&p, OP_SEND_SE_INV_IMM, 0x21222324, 0x1234, IMM,
				  IMM_LEN, out), 26, "length");
	must_bytes(out, want, sizeof(want), "the segment");
}

static void self_ext__opcode_by_version(void)
{
	const struct seg one = { .rdmap = 0x53 }, two = { .rdmap = 0x93 };
	const struct seg reserved = { .rdmap = 0xb3 };

	must_eq(seg_op(&one), OP_SEND, "opcode of 0x53");
	must_eq(seg_op(&two), OP_SEND_IMM, "opcode of 0x93");
	must_eq(seg_op(&reserved), OP_SEND_IMM, "opcode of 0xb3");
}

/* ---- the hello ---- */

static void self_ext__hello(void)
{
	static const uint8_t want[] = { 0xc1, 0x40, 0x74, 0x65, 0x72, 0x6e, 0x68, 0x65,
					0x6c, 0x6c, 1, 3, 0x80, 0x07 };
	const struct hello h = { 1, HELLO_GO, 0x8007 };
	struct peer p = new_end(false);
	struct hello back;
	uint8_t out[64];
	struct seg s;

	must_eq(seg_write(&p, HELLO_STAG, hello_to(&h), NULL, 0, true, out), sizeof(want),
		"length");
	must_bytes(out, want, sizeof(want), "the hello");
	must(seg_decode(&s, out, sizeof(want)) && hello_decode(&back, &s), "no hello");
	must(back.version == 1 && back.role == HELLO_GO && back.features == 0x8007,
	     "version %u, role %u, features %#x", back.version, back.role,
	     back.features);
}

static void self_ext__no_hello(void)
{
	const struct hello h = { 1, HELLO_OFFER, 3 };
	const struct seg good = { .ctrl = 0xc1, .rdmap = 0x40, .stag = HELLO_STAG,
				  .to = hello_to(&h) };
	struct seg bad[5] = { good, good, good, good, good };
	struct hello out;
	int i;

	bad[0].stag++;
	bad[1].to ^= 1ull << 32;
	bad[2].to &= ~0xff000000ull;
	bad[3].len = 1;
	bad[4].rdmap = 0x42;
	must(hello_decode(&out, &good), "a hello is not read");
	for (i = 0; i < 5; i++)
		must(!hello_decode(&out, &bad[i]), "%d was read as a hello", i);
}

/* ---- atomics ---- */

struct arithmetic {
	struct atomic_req a;
	uint64_t old, want;
};

#define ADD(n, m)	{ .op = FETCH_ADD, .data = (n), .mask = (m) }
#define SWAP(n, m, cmp, cmp_m)						\
	{ .op = CMP_SWAP, .data = (n), .mask = (m), .compare = (cmp),	\
	  .compare_mask = (cmp_m) }

static void self_ext__arithmetic(void)
{
	static const struct arithmetic rows[] = {
		{ ADD(1, 0), 41, 42 },
		{ ADD(1, 0), ONES, 0 },
		{ ADD(0x00000001ffffffff, 0x8000000080000000), 0x0000000100000001,
		  0x0000000200000000 },
		{ ADD(1, 0x80), 0xff, 0 },
		{ ADD(0xf0f0, ONES), 0xff00, 0x0ff0 },
		{ SWAP(7, ONES, 5, ONES), 5, 7 },
		{ SWAP(7, ONES, 5, ONES), 6, 6 },
		{ SWAP(0x1234, 0xff, 0xab00, 0xff00), 0xabcd, 0xab34 },
		{ SWAP(0x1234, 0, 0, 0), 0xabcd, 0xabcd },
		{ SWAP(0x1234, ONES, 99, 0), 0xabcd, 0x1234 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must_eq(atomic_result(&rows[i].a, rows[i].old), rows[i].want, "row %zu", i);
}

/* ---- reading back ---- */

static void read_back(bool v2)
{
	const struct atomic_req a = { .op = FETCH_ADD, .id = 9, .to = 8, .data = 1 };
	struct atomic_req got = { 0 };
	struct peer us, them;

	new_pair(&us, &them, v2);
	send_imm(&us, OP_IMM, IMM);
	must_get_imm(&them, OP_IMM, IMM);
	send_atomic(&us, &a);
	must_get_atomic(&them, &got);
	must_eq(got.id, 9, "Request Identifier");
	send_atomic_resp(&them, 9, 77);
	must_get_atomic_resp(&us, 9, 77);
	send_hello(&us, 1, HELLO_OFFER, 3);
	must_get_hello(&them, HELLO_OFFER, 3);
	end_pair(&us, &them);
}

static void self_ext__reader_takes_what_the_writer_makes(void)
{
	read_back(false);
	read_back(true);
}

static void self_ext__version_2_is_read_back(void)
{
	uint8_t data[3000];
	struct peer us, them;
	struct read_v2 r;

	pattern(data, sizeof(data), 4);
	new_pair(&us, &them, true);
	send_send_imm(&us, OP_SEND_IMM, 0, data, sizeof(data), 1000, IMM);
	must_eq(must_get_send_imm(&them, OP_SEND_IMM, 0, data, sizeof(data), IMM), 4,
		"segments");
	send_send_imm(&us, OP_SEND_INV_IMM, 0x55, NULL, 0, 1000, IMM);
	must_eq(must_get_send_imm(&them, OP_SEND_INV_IMM, 0x55, NULL, 0, IMM), 1,
		"segments");
	send_read_req_v2(&us, 3000, 0x77, 0x123456789a);
	must_get_read_req_v2(&them, &r);
	must(r.size == 3000 && r.stag == 0x77 && r.to == 0x123456789a && r.msn == 1,
	     "the Request is not read back");
	send_read_resp_v2(&them, data, sizeof(data));
	must_eq(must_get_read_resp_v2(&us, data, sizeof(data)), 1, "segments");
	end_pair(&us, &them);
}

#define SELF(name, rule) { #name, "-", rule, NO_ROLE, 0, name }

static const struct conform_test tests[] = {
	SELF(self_ext__immediate, "Immediate Data with Solicited Event, RFC 7306 6.2"),
	SELF(self_ext__atomic_request, "an Atomic Request, RFC 7306 5.2.1"),
	SELF(self_ext__atomic_response, "an Atomic Response, RFC 7306 5.2.2"),
	SELF(self_ext__read_of_version_2, "Read Request and Response, v2 draft 6"),
	SELF(self_ext__last_segment_of_a_send, "a Send with Immediate, v2 draft 5"),
	SELF(self_ext__opcode_by_version, "the opcode has 4 bits, in version 2 it has 5"),
	SELF(self_ext__hello, "the hello's STag and TO"),
	SELF(self_ext__no_hello, "what differs from a hello in one field is none"),
	SELF(self_ext__arithmetic, "masked FetchAdd and CmpSwap, RFC 7306 5.1"),
	SELF(self_ext__reader_takes_what_the_writer_makes, "the two directions agree"),
	SELF(self_ext__version_2_is_read_back, "the two directions agree in version 2"),
	{}
};

const struct conform_group self_ext_group = { "self_ext", tests };
