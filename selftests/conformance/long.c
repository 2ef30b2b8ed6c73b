// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * FPDUs that are longer than TCP's segments (Q53): sent to a peer that agreed to them by
 * hello, to no other, and not before. Any peer's are taken: see size.c and stream.c.
 */
#include <string.h>
#include <unistd.h>

#include "ext.h"
#include "flow.h"

#define LONG		(HELLO_7306 | HELLO_LONG)
#define LONG_MULPDU	(32 * 1024 + UNTAGGED_HDR)
#define EMSS		1448
#define TIMESTAMPS	12	/* size of the TCP option, which is in each segment */
#define LEN		150001

static uint8_t data[LEN];

/* ---- sessions ---- */

/* the device has @features; the fence is shut, and no hello of ours was sent */
static void begin(struct session *s, const char *features)
{
	agent_set("extensions negotiate");
	agent_set(features);
	s->closed_fence = true;
	if (!s->tcp.mss)
		s->tcp.mss = EMSS + TIMESTAMPS;
	session_start(s);
}

static void agree(struct session *s)
{
	begin(s, "features 7306,long-fpdu");
	ext_hello(s, LONG);
}

static struct session agreed(void)
{
	struct session s = SESSION_DEFAULT;

	agree(&s);
	return s;
}

static struct agent_mr source(void)
{
	pattern(data, LEN, 1);
	return flow_mr("lrw", data, LEN);
}

/* ---- what the device sends ---- */

static void note_largest(const struct fpdu *f, void *arg)
{
	uint32_t *largest = arg;

	if (f->seg.ulpdu_len > *largest)
		*largest = f->seg.ulpdu_len;
}

/* Return: the largest ULPDU of a Write of all of @data */
static uint32_t largest_of_a_write(struct session *s)
{
	struct agent_mr mr = source();
	uint32_t largest = 0;

	flow_device_writes(s, &mr, LEN, data, note_largest, &largest);
	return largest;
}

static void must_be_long(struct session *s)
{
	must_eq(largest_of_a_write(s), LONG_MULPDU, "largest ULPDU");
}

static void must_be_short(struct session *s)
{
	must_eq(largest_of_a_write(s), flow_mulpdu(flow_emss(s), s->markers),
		"largest ULPDU");
}

static void long__write(void)
{
	struct session s = agreed();

	must_be_long(&s);
}

static void long__write_marked(void)
{
	struct session s = SESSION_DEFAULT;

	s.markers = true;
	agree(&s);
	must_be_long(&s);
}

static void long__send(void)
{
	struct session s = agreed();
	struct agent_mr mr = source();
	uint32_t done = 0;
	struct fpdu f;

	agent_post(s.conn, 1, AG_SEND, AG_SIGNALED, &mr, 0, LEN, 0, 0);
	while (done < LEN) {
		flow_must_be_framed(&s, &f);
		must_eq(seg_op(&f.seg), OP_SEND, "opcode");
		must_eq(f.seg.mo, done, "MO");
		must_bytes(f.seg.data, data + done, f.seg.len, "payload");
		done += f.seg.len;
		must_eq(seg_last(&f.seg), done == LEN, "L bit");
		if (done < LEN)
			must_eq(f.seg.len, 32 * 1024, "payload");
	}
	flow_must_get_wc(1, "SUCCESS");
}

static void long__read_response(void)
{
	struct session s = agreed();
	struct agent_mr mr = source();
	uint32_t done = 0, largest = 0;
	struct fpdu f;

	send_read_req(s.p, OUR_STAG, OUR_TO, LEN, mr.rkey, mr.va);
	while (done < LEN) {
		flow_must_be_framed(&s, &f);
		must_eq(seg_op(&f.seg), OP_READ_RESP, "opcode");
		must_eq(f.seg.to, OUR_TO + done, "TO");
		must_bytes(f.seg.data, data + done, f.seg.len, "payload");
		done += f.seg.len;
		note_largest(&f, &largest);
	}
	must_eq(largest, LONG_MULPDU, "largest ULPDU");
}

/* ---- which peers, and when ---- */

static void long__not_without_the_setting(void)
{
	struct session s = SESSION_DEFAULT;

	begin(&s, "features 7306");
	if (dut_role() == RESPONDER) {
		send_hello(s.p, 1, HELLO_OFFER, LONG);
		must_get_hello(s.p, HELLO_ANSWER, HELLO_7306);
	} else {
		must_eq(s.offer.features, HELLO_7306, "features offered");
		send_hello(s.p, 1, HELLO_ANSWER, LONG);
	}
	must_be_short(&s);
}

static void long__not_to_a_peer_without(void)
{
	struct session s = SESSION_DEFAULT;

	begin(&s, "features 7306,long-fpdu");
	ext_hello(&s, HELLO_7306);
	must_be_short(&s);
}

static void long__not_to_a_silent_peer(void)
{
	struct session s = SESSION_DEFAULT;

	begin(&s, "features 7306,long-fpdu");
	send_write(s.p, 1, 1, NULL, 0);
	must_be_short(&s);
}

static void long__not_before_the_answer(void)
{
	struct session s = SESSION_DEFAULT;

	begin(&s, "features 7306,long-fpdu");
	must_eq(s.offer.features, LONG, "features offered");
	must_be_short(&s);
	send_hello(s.p, 1, HELLO_ANSWER, LONG);
	must_be_alive(s.p);
	must_be_long(&s);
}

/* posted before the offer came */
static void long__after_the_answer(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = source();
	uint32_t largest = 0, done = 0;
	struct fpdu f;

	begin(&s, "features 7306,long-fpdu");
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 0, LEN, OUR_STAG, OUR_TO);
	must_be_silent(s.p, 50);
	send_hello(s.p, 1, HELLO_OFFER, LONG);
	must_get_hello(s.p, HELLO_ANSWER, LONG);
	for (; done < LEN; done += f.seg.len) {
		flow_must_be_framed(&s, &f);
		must_eq(f.seg.to, OUR_TO + done, "TO");
		must_bytes(f.seg.data, data + done, f.seg.len, "payload");
		note_largest(&f, &largest);
	}
	must_eq(largest, LONG_MULPDU, "largest ULPDU");
}

/* ---- small windows and segments ---- */

static void long__window_of_less_than_an_fpdu(void)
{
	struct session s = SESSION_DEFAULT;

	s.tcp.rcvbuf = 4096;
	agree(&s);
	must_be_long(&s);
}

static void long__smallest_segments(void)
{
	struct session s = SESSION_DEFAULT;

	s.tcp.mss = 88;
	agree(&s);
	must_be_long(&s);
}

/* ---- the length that is set ---- */

/* a device with this setting sends ULPDUs of up to @mulpdu, once both ends agreed */
static void must_be_of(struct session *s, const char *setting, uint32_t mulpdu)
{
	agent_set(setting);
	agree(s);
	must_eq(largest_of_a_write(s), mulpdu, "largest ULPDU");
}

static void long__max_fpdu_8192(void)
{
	struct session s = SESSION_DEFAULT;

	must_be_of(&s, "max-fpdu 8192", 8192 + UNTAGGED_HDR);
}

static void long__max_fpdu_8192_marked(void)
{
	struct session s = SESSION_DEFAULT;

	s.markers = true;
	must_be_of(&s, "max-fpdu 8192", 8192 + UNTAGGED_HDR);
}

/* in a window that is smaller, too */
static void long__max_fpdu_64750(void)
{
	struct session s = SESSION_DEFAULT;

	s.tcp.rcvbuf = 4096;
	must_be_of(&s, "max-fpdu 64750", ULPDU_MAX);
}

static void long__max_fpdu_64750_marked(void)
{
	struct session s = SESSION_DEFAULT;

	s.markers = true;
	s.tcp.mss = 88;
	must_be_of(&s, "max-fpdu 64750", ULPDU_MAX);
}

static void long__max_fpdu_below_a_segment(void)
{
	struct session s = SESSION_DEFAULT;

	must_be_of(&s, "max-fpdu 1024", flow_mulpdu(EMSS, false));
}

/* it limits what the device sends, not what it agrees to and takes */
static void long__max_fpdu_mss(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;

	must_be_of(&s, "max-fpdu mss", flow_mulpdu(EMSS, false));
	mr = agent_mr(ULPDU_MAX, "lrw");
	pattern(data, ULPDU_MAX, 7);
	flow_we_write(&s, &mr, 0, data, ULPDU_MAX - TAGGED_HDR, NULL);
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, ULPDU_MAX - TAGGED_HDR);
}

/* ---- what the device takes ---- */

/* an FPDU in more pieces than any array of the receiver holds, whose CRC is wrong */
static void long__bad_crc_places_nothing(void)
{
	static const struct fpdu_fault fault = { .crc_xor = 1 };
	struct session s = agreed();
	static uint8_t ulpdu[ULPDU_MAX + 64], bytes[2 * ULPDU_MAX];
	struct agent_mr mr = agent_mr(ULPDU_MAX, "lrw");
	uint32_t n;

	pattern(data, ULPDU_MAX, 6);
	n = seg_write(s.p, mr.rkey, mr.va, data, ULPDU_MAX - TAGGED_HDR, true, ulpdu);
	peer_send_pieces(s.p, bytes, fpdu_build(s.p, ulpdu, n, &fault, bytes), 1448);
	must_get_terminate(s.p, 2, 0, 0x02, false, NULL);
	must_be_untouched(&mr);
}

#define T(name, role, needs, rule)	{ #name, "Q53", rule, role, needs, name }

static const struct conform_test tests[] = {
	T(long__write, EITHER, NEED_SET,
	  "Writes have FPDUs of 32 KiB once both ends agreed on them"),
	T(long__write_marked, EITHER, NEED_SET, "likewise with markers"),
	T(long__send, EITHER, NEED_SET, "Sends have FPDUs of 32 KiB, the last one less"),
	T(long__read_response, EITHER, NEED_SET, "Read Responses have FPDUs of 32 KiB"),
	T(long__not_without_the_setting, EITHER, NEED_SET,
	  "a device without the feature neither offers nor sends long FPDUs"),
	T(long__not_to_a_peer_without, EITHER, NEED_SET,
	  "a peer whose hello lacks them gets no long FPDUs"),
	T(long__not_to_a_silent_peer, EITHER, NEED_SET,
	  "a peer that sends no hello gets no long FPDUs"),
	T(long__not_before_the_answer, INITIATOR, NEED_SET,
	  "no long FPDU before the answer, and then at once"),
	T(long__after_the_answer, RESPONDER, NEED_SET,
	  "what waits for the answer has long FPDUs"),
	T(long__window_of_less_than_an_fpdu, EITHER, NEED_SET,
	  "a long FPDU goes through a window that is smaller"),
	T(long__smallest_segments, EITHER, NEED_SET, "a long FPDU goes in segments of 76"),
	T(long__max_fpdu_8192, EITHER, NEED_SET, "FPDUs have the length that was set"),
	T(long__max_fpdu_8192_marked, EITHER, NEED_SET, "likewise with markers"),
	T(long__max_fpdu_64750, EITHER, NEED_SET,
	  "the longest FPDU goes through a window that is smaller"),
	T(long__max_fpdu_64750_marked, EITHER, NEED_SET,
	  "the longest FPDU, with markers, goes in segments of 76"),
	T(long__max_fpdu_below_a_segment, EITHER, NEED_SET,
	  "an FPDU has at least what fits into a segment"),
	T(long__max_fpdu_mss, EITHER, NEED_SET,
	  "a device set to mss agrees to long FPDUs, takes them, and sends none"),
	T(long__bad_crc_places_nothing, EITHER, NEED_SET,
	  "a long FPDU is verified before any of it is placed"),
	{}
};

const struct conform_group long_group = { "long", tests };
