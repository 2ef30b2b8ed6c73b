// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The CRC field, and when it must be used: RFC 5044 4.4 and 7.1.1. */
#include <stdio.h>
#include <string.h>

#include "flow.h"

#define RECV_ID		9
#define LONG_LEN	1400

static uint8_t data[64 * 1024];

/* the device's frame: its Request as the initiator, its Reply as the responder */
static const struct mpa_frame *device_frame(const struct session *s)
{
	return dut_role() == INITIATOR ? &s->p->request : &s->p->reply;
}

/* ---- the default, and known FPDUs ---- */

static void crc__is_asked_for_by_default(void)
{
	struct session s = SESSION_DEFAULT;

	s.no_crc = true;
	session_start(&s);
	must(device_frame(&s)->flags & MPA_C, "C=0 in the device's frame");
}

/* a Send of 24 zeros without a marker; the CRC was computed by another program */
static void crc__of_a_known_fpdu_is_taken(void)
{
	static const uint8_t bytes[48] = {
		[1] = 0x2a, 0x41, 0x43, [15] = 1, [44] = 0xb7, 0x24, 0x3e, 0xc3,
	};
	struct session s = SESSION_DEFAULT;

	flow_start(&s, 0, 0);
	flow_device_speaks(&s);
	if (s.p->tx_markers)
		skip("the device wants markers");
	flow_zeros_are_taken(&s, bytes, sizeof(bytes));
}

/* a zero-length Read Request and its Response, all STags and TOs 0 */
static void crc__of_a_known_answer_is_right(void)
{
	static const uint8_t request[52] = {
		[1] = 0x2e, 0x41, 0x41, [11] = 1, [15] = 1,
		[48] = 0xf2, 0xc6, 0xdd, 0x3d,
	};
	static const uint8_t response[20] = {
		[1] = 0x0e, 0xc1, 0x42, [16] = 0x69, 0x75, 0xd6, 0xca,
	};
	struct session s = SESSION_DEFAULT;

	flow_start(&s, 0, 0);
	flow_device_speaks(&s);
	if (s.p->tx_markers)
		skip("the device wants markers");
	peer_send(s.p, request, sizeof(request));
	flow_must_get_bytes(&s, "Read Response", response, sizeof(response));
}

/* ---- when it must be used: rows C1 to C4 ---- */

/* the device's CRCs are right, and it finds a bad one of ours */
static void crc_is_used(struct session *s)
{
	static const struct fpdu_fault fault = { .crc_xor = 0x80000000 };
	struct agent_mr mr = agent_mr(LONG_LEN, "lrw");

	must(s->p->crc, "no end wants CRCs");
	pattern(data, sizeof(data), 1);
	agent_poke(&mr, 0, data, LONG_LEN);
	flow_device_writes(s, &mr, LONG_LEN, data, NULL, NULL);
	mr = agent_mr(LONG_LEN, "lrw");
	flow_we_write(s, &mr, 0, data, LONG_LEN, &fault);
	must_get_terminate(s->p, 2, 0, 2, false, NULL);
	must_be_untouched(&mr);
}

static void start_with(struct session *s, bool device, bool we)
{
	if (!device)
		agent_set("crc off");
	s->no_crc = !we;
	session_start(s);
	/* crc__is_asked_for_by_default reports this */
	if (device && !(device_frame(s)->flags & MPA_C))
		skip("the device does not ask for CRCs");
	/* a responder may say 1 because we do; the result is the same */
	if (!device && (dut_role() == INITIATOR || !we))
		must_eq(device_frame(s)->flags & MPA_C, 0, "C bit of the device");
}

static void crc__both_ends_want_it(void)
{
	struct session s = SESSION_DEFAULT;

	start_with(&s, true, true);
	crc_is_used(&s);
}

static void crc__the_device_wants_it(void)
{
	struct session s = SESSION_DEFAULT;

	start_with(&s, true, false);
	crc_is_used(&s);
}

static void crc__the_peer_wants_it(void)
{
	struct session s = SESSION_DEFAULT;

	start_with(&s, false, true);
	crc_is_used(&s);
}

static void crc__no_end_wants_it(void)
{
	static const struct fpdu_fault fault = { .crc_xor = 0xdeadbeef };
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = agent_mr(LONG_LEN, "lrw");
	unsigned int n;

	/* so that the first FPDU that the device receives is one of these */
	s.closed_fence = true;
	start_with(&s, false, false);
	must(!s.p->crc, "CRC is on");
	pattern(data, LONG_LEN, 2);
	for (n = 0; n < 5; n++)
		flow_we_write(&s, &mr, n, data + n, LONG_LEN - n, &fault);
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, LONG_LEN);
	/* each FPDU has a CRC field, whatever its value, so the next one is found
	 * after it */
	for (n = 0; n < 5; n++)
		flow_device_writes(&s, &mr, LONG_LEN - n, data, NULL, NULL);
}

static void crc__is_used_to_the_end(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = agent_mr(sizeof(data), "lrw");
	unsigned int i;

	start_with(&s, false, true);
	pattern(data, sizeof(data), 3);
	for (i = 0; i < 500; i++)
		flow_we_write(&s, &mr, i * 100, data + i * 100, 100, NULL);
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, 500 * 100);
	agent_poke(&mr, 0, data, sizeof(data));
	for (i = 0; i < 3; i++)
		flow_device_writes(&s, &mr, sizeof(data), data, NULL, NULL);
	crc_is_used(&s);
}

/* ---- what a bad CRC does ---- */

/* A row is a bit to flip in an FPDU: a Write of 5 bytes, then 3 bytes of pad. */
#define FLIP_LEN	5
#define FLIP_FPDU	28

static const struct flip {
	const char *name;
	unsigned int byte;
	uint8_t bit;
} flips[] = {
	{ "crc__flip_in_the_ddp_control", 2, 0x40 },
	{ "crc__flip_in_the_opcode", 3, 0x03 },
	{ "crc__flip_in_the_stag", 7, 0x01 },
	{ "crc__flip_in_the_offset", 15, 0x01 },
	{ "crc__flip_in_the_first_data_byte", 16, 0x80 },
	{ "crc__flip_in_the_last_data_byte", 20, 0x01 },
	{ "crc__flip_in_the_first_pad_byte", 21, 0x10 },
	{ "crc__flip_in_the_last_pad_byte", 23, 0x80 },
	{ "crc__flip_in_its_first_byte", 24, 0x01 },
	{ "crc__flip_in_its_last_byte", 27, 0x80 },
	{ "crc__flip_to_a_shorter_length", 1, 0x10 },
	{ "crc__flip_to_a_longer_length", 1, 0x40 },
	{}
};

static void flip(void)
{
	const struct flip *row = ROW_OF_TEST(flips);
	struct session s = session_default();
	struct agent_mr mr = agent_mr(64, "lrw");
	struct agent_mr rq = agent_mr(64, "l");
	uint8_t ulpdu[64], out[128];
	static const uint8_t more[0x60];
	struct agent_wc wc;
	uint32_t n;

	if (s.p->tx_markers)
		skip("the device wants markers");
	pattern(data, FLIP_LEN, 4);
	agent_recv(s.conn, RECV_ID, &rq, 0, 64);
	n = seg_write(s.p, mr.rkey, mr.va, data, FLIP_LEN, true, ulpdu);
	must_eq(fpdu_build(s.p, ulpdu, n, NULL, out), FLIP_FPDU, "bytes of the FPDU");
	out[row->byte] ^= row->bit;
	peer_send(s.p, out, FLIP_FPDU);
	/* a greater length: the device waits for the rest of the FPDU first */
	if (get16(out) > n)
		peer_send(s.p, more, sizeof(more));
	must_get_terminate(s.p, 2, 0, 2, false, NULL);
	must_be_untouched(&mr);
	must_be_untouched(&rq);
	agent_must_get_wc(RECV_ID, "WR_FLUSH_ERR", &wc);
}

static void crc__bad_one_leaves_memory_alone(void)
{
	static const struct fpdu_fault fault = { .crc_xor = 1 };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(sizeof(data), "lrw");

	pattern(data, sizeof(data), 5);
	flow_we_write(&s, &mr, 0, data, 60000, &fault);
	must_get_terminate(s.p, 2, 0, 2, false, NULL);
	must_be_untouched(&mr);
}

static void crc__bad_one_fills_no_receive(void)
{
	static const struct fpdu_fault fault = { .crc_xor = 0x100 };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(LONG_LEN, "l");
	uint8_t ulpdu[LONG_LEN + 64], out[2 * LONG_LEN + 192];
	uint32_t n;

	pattern(data, LONG_LEN, 6);
	agent_recv(s.conn, RECV_ID, &mr, 0, LONG_LEN);
	n = seg_send(s.p, OP_SEND, 0, 0, data, LONG_LEN, true, ulpdu);
	peer_send(s.p, out, fpdu_build(s.p, ulpdu, n, &fault, out));
	must_get_terminate(s.p, 2, 0, 2, false, NULL);
	must_be_untouched(&mr);
	flow_must_get_wc(RECV_ID, "WR_FLUSH_ERR");
}

/* ---- the pad ---- */

static void crc__covers_a_pad_of_any_value(void)
{
	static const struct fpdu_fault fault = { .pad = 0xff };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(64, "lrw");

	pattern(data, 64, 7);
	flow_we_write(&s, &mr, 0, data, 5, &fault);
	flow_we_write(&s, &mr, 5, data + 5, 6, &fault);
	flow_we_write(&s, &mr, 11, data + 11, 7, &fault);
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, 18);
}

static void crc__of_a_zero_pad_fails_with_another_pad(void)
{
	static const struct fpdu_fault fault = { .pad = 0xff, .pad_not_in_crc = true };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(64, "lrw");

	pattern(data, 64, 8);
	flow_we_write(&s, &mr, 0, data, 7, &fault);
	must_get_terminate(s.p, 2, 0, 2, false, NULL);
	must_be_untouched(&mr);
}

/* what the ULP sees of a connection: its completions and the QP's state */
struct view {
	struct agent_wc wc[4];
	char qp[8];
};

static void take_view(const char *setting, struct view *v)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = agent_mr(64, "lrw");
	struct fpdu f;
	unsigned int i;

	memset(v, 0, sizeof(*v));
	agent_set(setting);
	s.no_crc = !strcmp(setting, "crc off");
	session_start(&s);
	must_eq(s.p->crc, !s.no_crc, "use of CRC");
	agent_recv(s.conn, 1, &mr, 0, 64);
	send_send(s.p, data, 33);
	agent_must_get_wc(1, "SUCCESS", &v->wc[0]);
	agent_post(s.conn, 2, AG_SEND, AG_SIGNALED, &mr, 0, 10, 0, 0);
	agent_must_get_wc(2, "SUCCESS", &v->wc[1]);
	agent_post(s.conn, 3, AG_WRITE, AG_SIGNALED, &mr, 0, 20, OUR_STAG, OUR_TO);
	agent_must_get_wc(3, "SUCCESS", &v->wc[2]);
	agent_post(s.conn, 4, AG_READ, AG_SIGNALED, &mr, 0, 30, OUR_STAG, OUR_TO);
	for (i = 2; i < 5; i++)
		must_get_fpdu(s.p, &f);
	send_read_resp(s.p, get32(f.seg.data), get64(f.seg.data + 4), data, 30);
	agent_must_get_wc(4, "SUCCESS", &v->wc[3]);
	snprintf(v->qp, sizeof(v->qp), "%s", agent_qp_state(s.conn));
	agent_reset();
}

static void crc__is_not_seen_by_the_ulp(void)
{
	struct view on, off;

	take_view("crc on", &on);
	take_view("crc off", &off);
	must_bytes(&off, &on, sizeof(on), "what the ULP sees");
}

#define T(name, ids, role, needs, rule)	{ #name, ids, rule, role, needs, name }
#define FLIP(name)	{ #name, "MPA-050 MPA-066 MPA-124", \
	"a byte changed on the way is seen, and nothing of the FPDU counts", \
	RESPONDER, 0, flip }

static const struct conform_test tests[] = {
	T(crc__is_asked_for_by_default, "MPA-001 MPA-038", EITHER, 0,
	  "a device as it comes asks for CRCs"),
	T(crc__of_a_known_fpdu_is_taken, "MPA-036 MPA-046 MPA-047", EITHER, 0,
	  "the CRC is CRC32c as iSCSI has it, the least significant byte first"),
	T(crc__of_a_known_answer_is_right, "MPA-036 MPA-046 MPA-047 MPA-049", EITHER, 0,
	  "the CRC is CRC32c as iSCSI has it, the least significant byte first"),
	T(crc__both_ends_want_it, "C1 MPA-039 MPA-088", EITHER, 0,
	  "C=1 in both frames: both ends generate and check"),
	T(crc__the_device_wants_it, "C2 C3 MPA-037 MPA-039 MPA-042 MPA-088", EITHER, 0,
	  "C=1 in the device's frame alone: both ends generate and check"),
	T(crc__the_peer_wants_it, "C2 C3 MPA-037 MPA-039 MPA-042 MPA-088", EITHER, NEED_SET,
	  "C=1 in the peer's frame alone: both ends generate and check"),
	T(crc__no_end_wants_it, "C4 MPA-018 MPA-039 MPA-043 MPA-044 MPA-045 MPA-087", EITHER,
	  NEED_SET, "C=0 in both frames: the field is there, and is not checked"),
	T(crc__is_used_to_the_end, "MPA-042", EITHER, NEED_SET,
	  "once agreed on, CRCs are made and checked until the connection ends"),
	T(crc__is_not_seen_by_the_ulp, "MPA-041", EITHER, NEED_SET,
	  "the ULP's completions are the same with CRC and without"),
	FLIP(crc__flip_in_the_ddp_control),
	FLIP(crc__flip_in_the_opcode),
	FLIP(crc__flip_in_the_stag),
	FLIP(crc__flip_in_the_offset),
	FLIP(crc__flip_in_the_first_data_byte),
	FLIP(crc__flip_in_the_last_data_byte),
	FLIP(crc__flip_in_the_first_pad_byte),
	FLIP(crc__flip_in_the_last_pad_byte),
	FLIP(crc__flip_in_its_first_byte),
	FLIP(crc__flip_in_its_last_byte),
	FLIP(crc__flip_to_a_shorter_length),
	FLIP(crc__flip_to_a_longer_length),
	T(crc__bad_one_leaves_memory_alone, "MPA-050 MPA-066 MPA-121 MPA-124 R4", EITHER, 0,
	  "nothing of an FPDU is placed before its CRC is known to be good"),
	T(crc__bad_one_fills_no_receive, "MPA-050 MPA-066 MPA-124", EITHER, 0,
	  "nothing of an FPDU is placed or delivered before its CRC is known to be good"),
	T(crc__covers_a_pad_of_any_value, "MPA-015", EITHER, 0,
	  "what the pad bytes are is of no matter, if the CRC is over them"),
	T(crc__of_a_zero_pad_fails_with_another_pad, "MPA-015 MPA-124", EITHER, 0,
	  "the pad is in the CRC as it was sent"),
	{}
};

const struct conform_group crc_group = { "crc", tests };
