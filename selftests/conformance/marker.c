// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Markers in both directions: RFC 5044 4.2, 4.3 and error code 3 of section 8. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow.h"

#define MARKED_LEN	4096
#define RECV_ID		9

static uint8_t data[64 * 1024];
static const uint8_t zeros[1024];

/* RFC 5044 figure 5: the first FPDU of a stream, with a ULPDU of 42 bytes */
static const uint8_t figure5[52] = {
	[5] = 0x2a, 0x41, 0x43,
	[19] = 1,
	[48] = 0x52, 0x23, 0x99, 0x83,
};

/* the same without the leading marker */
static const uint8_t figure5_unmarked[48] = {
	[1] = 0x2a, 0x41, 0x43,
	[15] = 1,
	[44] = 0xb7, 0x24, 0x3e, 0xc3,
};

/* RFC 5044 figure 6: the FPDU after a first one of 492 bytes */
static const uint8_t figure6[52] = {
	[1] = 0x2a, 0x41, 0x43,
	[15] = 2,
	[23] = 0x14,
	[48] = 0x84, 0x92, 0x58, 0x98,
};

/* payload of a Send whose FPDU, with the leading marker, has 492 bytes */
#define FIRST_492	464

/* ---- what the device sends ---- */

/* Nothing is sent in either direction, but the device's fence, if any, is open. The next
 * message of the device is its first FPDU: no offer is in front of it (Q36). */
static void start_unspoken(struct session *s)
{
	if (dut_role() == INITIATOR)
		agent_try_set("extensions off");
	s->plain = true;
	flow_start(s, 0, 0);
	if (dut_role() == RESPONDER)
		send_write(s->p, OUR_STAG, 0, NULL, 0);
}

static struct session start_marked_out(void)
{
	struct session s = SESSION_DEFAULT;

	s.markers = true;
	session_start(&s);
	return s;
}

static void marker__stream_begins_with_one(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;

	s.markers = true;
	start_unspoken(&s);
	mr = flow_mr("l", zeros, 24);
	flow_device_sends(&s, &mr, 24);
	flow_must_get_bytes(&s, "first FPDU", figure5, sizeof(figure5));
}

static void marker__stream_begins_without_one(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;

	start_unspoken(&s);
	mr = flow_mr("l", zeros, 24);
	flow_device_sends(&s, &mr, 24);
	flow_must_get_bytes(&s, "first FPDU", figure5_unmarked, sizeof(figure5_unmarked));
}

static void marker__lies_inside_an_fpdu(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	struct fpdu f;

	s.markers = true;
	start_unspoken(&s);
	if (flow_emss(&s) < 512)
		skip("the path's segments are too small for the first FPDU");
	mr = flow_mr("l", zeros, FIRST_492);
	flow_device_sends(&s, &mr, FIRST_492);
	flow_must_be_framed(&s, &f);
	must_eq(f.wire_len, 492, "bytes of the first FPDU");
	flow_device_sends(&s, &mr, 24);
	flow_must_get_bytes(&s, "second FPDU", figure6, sizeof(figure6));
}

static void count_markers(const struct fpdu *f, void *arg)
{
	unsigned int *most = arg;

	if (f->markers > *most)
		*most = f->markers;
}

static void marker__comes_every_512_bytes(void)
{
	static const uint32_t lens[] = { 65535, 1, 40001, 3, 65536, 777, 50002, 0 };
	struct session s = start_marked_out();
	unsigned int i, most = 0;
	struct agent_mr mr;

	pattern(data, sizeof(data), 1);
	mr = flow_mr("l", data, sizeof(data));
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		flow_device_writes(&s, &mr, lens[i], data, count_markers, &most);
	must(s.p->rx_pos > 200000, "too short a stream");
	must(most >= 2 || flow_emss(&s) < 1000, "no FPDU with two markers came");
}

static void marker__names_the_fpdu_that_holds_it(void)
{
	struct session s = start_marked_out();
	struct agent_mr mr = agent_mr(64, "l");
	unsigned int i;

	for (i = 0; i < 60; i++)
		flow_device_writes(&s, &mr, i % 5 == 4 ? 7 : 0, NULL, NULL, NULL);
	must(s.p->rx_pos > 2 * MARKER_SPACING, "too short a stream");
}

static void marker__between_two_fpdus_is_the_later_ones(void)
{
	struct session s = start_marked_out();
	struct agent_mr mr = agent_mr(2 * MARKER_SPACING, "l");
	struct fpdu f;

	flow_device_fills(&s, &mr, 8);
	flow_device_fills(&s, &mr, 0);
	must_be_silent(s.p, 100);
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 0, 5, OUR_STAG, OUR_TO);
	flow_must_be_framed(&s, &f);
	must_bytes(f.bytes, zeros, MARKER_LEN, "marker in front of the FPDU");
	must_eq(get16(f.bytes + MARKER_LEN), TAGGED_HDR + 5, "ULPDU_Length after it");
}

/* the device's FPDU has a marker directly before its CRC field */
static void out_marker_before_crc(uint32_t pad)
{
	struct session s = start_marked_out();
	struct agent_mr mr = agent_mr(MARKER_SPACING, "l");
	struct fpdu f;
	size_t at;

	flow_device_fills(&s, &mr, 32);
	/* 480 bytes of length, ULPDU and pad reach the marker at 512 */
	flow_device_writes(&s, &mr, 480 - 2 - TAGGED_HDR - pad, NULL, NULL, NULL);
	must_eq(s.p->rx_pos % MARKER_SPACING, 8, "position after the FPDU");
	flow_device_fills(&s, &mr, 32);
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, &mr, 0,
		   480 - 2 - TAGGED_HDR - pad, OUR_STAG, OUR_TO);
	flow_must_be_framed(&s, &f);
	at = f.wire_len - 2 * MARKER_LEN;
	must_eq(get16(f.bytes + at + 2), 480, "FPDUPTR right before the CRC field");
	must_eq(f.crc, crc32c(0, f.bytes, at + MARKER_LEN), "CRC that covers it");
}

static void marker__comes_between_data_and_crc(void)
{
	out_marker_before_crc(0);
}

static void marker__comes_between_pad_and_crc(void)
{
	out_marker_before_crc(3);
}

/* ---- both directions ---- */

/* the device asks for markers or not, and so do we */
static void agree_on_markers(bool device, bool we)
{
	struct session s = SESSION_DEFAULT;
	const struct mpa_frame *theirs;
	struct agent_mr mr;

	agent_set(device ? "markers on" : "markers off");
	s.markers = we;
	session_start(&s);
	theirs = dut_role() == INITIATOR ? &s.p->request : &s.p->reply;
	must_eq(!!(theirs->flags & MPA_M), device, "M bit of the device");
	pattern(data, MARKED_LEN, 2);
	mr = agent_mr(MARKED_LEN, "lrw");
	flow_we_write(&s, &mr, 0, data, MARKED_LEN, NULL);
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, MARKED_LEN);
	flow_device_writes(&s, &mr, MARKED_LEN, data, NULL, NULL);
}

static void marker__neither_end_wants_them(void)
{
	agree_on_markers(false, false);
}

static void marker__the_peer_wants_them(void)
{
	agree_on_markers(false, true);
}

static void marker__the_device_wants_them(void)
{
	agree_on_markers(true, false);
}

static void marker__both_ends_want_them(void)
{
	agree_on_markers(true, true);
}

/* ---- what the device receives ---- */

/* the device takes a stream of known bytes */
static void marker__known_stream_is_taken(void)
{
	struct session s = SESSION_DEFAULT;

	agent_set("markers on");
	s.plain = true;
	flow_start(&s, 0, 0);
	flow_device_speaks(&s);
	flow_zeros_are_taken(&s, figure5, sizeof(figure5));
}

static void marker__known_bytes_after_a_first_fpdu(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = agent_mr(MARKED_LEN, "l");
	struct agent_wc wc;

	agent_set("markers on");
	s.plain = true;
	flow_start(&s, 0, 0);
	flow_device_speaks(&s);
	agent_recv(s.conn, RECV_ID, &mr, 0, FIRST_492);
	agent_recv(s.conn, RECV_ID + 1, &mr, 1024, 100);
	send_send(s.p, zeros, FIRST_492);
	must_eq(s.p->tx_pos, 492, "bytes of our first FPDU");
	peer_send(s.p, figure6, sizeof(figure6));
	flow_must_get_wc(RECV_ID, "SUCCESS");
	agent_must_get_wc(RECV_ID + 1, "SUCCESS", &wc);
	must_eq(wc.byte_len, 24, "byte_len");
	must_have_memory(&mr, 1024, zeros, 24);
}

/* the device takes an FPDU with a marker inside and @fault, which must be ignored */
static void takes(const struct fpdu_fault *fault)
{
	struct session s = flow_marked_session();
	struct agent_mr mr = agent_mr(MARKED_LEN, "lrw");

	pattern(data, MARKED_LEN, 3);
	flow_we_write(&s, &mr, 0, data, MARKED_LEN, fault);
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, MARKED_LEN);
}

static void marker__reserved_half_means_nothing(void)
{
	static const struct fpdu_fault fault = { .marker_rsvd = 0xffff };

	takes(&fault);
}

static void marker__low_bits_of_its_pointer_mean_nothing(void)
{
	static const struct fpdu_fault fault = { .marker_xor = 3 };

	takes(&fault);
}

/* a Write of @len bytes at @phase is refused with @code, and nothing is placed */
static void refuses(uint32_t phase, uint32_t len, const struct fpdu_fault *fault,
		    uint8_t code)
{
	struct session s = flow_marked_session();
	struct agent_mr fill = agent_mr(MARKED_LEN, "lrw");
	struct agent_mr mr = agent_mr(MARKED_LEN, "lrw");

	pattern(data, MARKED_LEN, 4);
	flow_we_fill(&s, &fill, phase);
	flow_we_write(&s, &mr, 0, data, len, fault);
	must_get_terminate(s.p, 2, 0, code, false, NULL);
	must_be_untouched(&mr);
	agent_must_get_no_wc(50);
}

static void marker__pointer_elsewhere_is_an_error(void)
{
	static const struct fpdu_fault fault = { .marker_xor = 4 };

	refuses(256, 400, &fault, 3);
}

static void marker__pointer_in_front_is_not_0(void)
{
	static const struct fpdu_fault fault = { .marker_xor = 8 };

	/* this FPDU has no other marker */
	refuses(0, 100, &fault, 3);
}

static void marker__crc_is_checked_before_it(void)
{
	static const struct fpdu_fault fault = { .marker_xor = 4, .crc_xor = 1 };

	refuses(256, 400, &fault, 2);
}

static void marker__wrong_pointer_in_the_last_of_many(void)
{
	static const struct fpdu_fault fault = { .marker_xor = 4,
						 .last_marker_only = true };
	struct session s = flow_marked_session();
	struct agent_mr mr = agent_mr(MARKED_LEN, "lrw");
	struct fpdu f;

	pattern(data, MARKED_LEN, 5);
	flow_we_write(&s, &mr, 0, data, MARKED_LEN, &fault);
	send_read_req(s.p, OUR_STAG, 0, 0, OUR_STAG, 0);
	must_get_fpdu(s.p, &f);
	if (seg_op(&f.seg) == OP_READ_RESP) {
		must_have_memory(&mr, 0, data, MARKED_LEN);
		return;
	}
	must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode");
	must_eq(get16(f.seg.data), 0x2003, "layer, error type and code");
	must_be_untouched(&mr);
}

static void marker__none_is_left_in_the_data_at_any_phase(void)
{
	struct session s = flow_marked_session();
	struct agent_mr fill = agent_mr(2 * MARKER_SPACING, "lrw");
	struct agent_mr mr = agent_mr(sizeof(data), "lrw");
	uint32_t phase, len;
	size_t at = 0;

	pattern(data, sizeof(data), 6);
	for (phase = 0; phase < MARKER_SPACING; phase += 4, at += len) {
		/* an FPDU cannot begin directly after a marker */
		len = phase == 4 ? 0 : 496 + phase / 4 % 4;
		if (!len)
			continue;
		flow_we_fill(&s, &fill, phase);
		flow_we_write(&s, &mr, at, data + at, len, NULL);
	}
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, at);
}

static void in_marker_before(uint32_t phase, uint32_t len)
{
	struct session s = flow_marked_session();
	struct agent_mr mr = agent_mr(MARKED_LEN, "lrw");

	pattern(data, MARKED_LEN, 7);
	flow_we_fill(&s, &mr, phase);
	flow_we_write(&s, &mr, 2048, data, len, NULL);
	flow_we_write(&s, &mr, 3072, data + 512, 600, NULL);
	must_be_alive(s.p);
	must_have_memory(&mr, 2048, data, len);
	must_have_memory(&mr, 3072, data + 512, 600);
}

static void marker__between_two_fpdus_is_taken(void)
{
	/* 6 + 14 + 460 bytes from 32 to 512 */
	in_marker_before(32, 460);
}

static void marker__between_data_and_crc_is_taken(void)
{
	in_marker_before(32, 464);
}

static void marker__between_pad_and_crc_is_taken(void)
{
	in_marker_before(32, 461);
}

/* ---- the wrap of TCP's sequence numbers ---- */

/* Replace @p's TCP connection by a new one to the same address, with our sequence
 * numbers from @isn on. */
static void reconnect(struct peer *p, uint32_t isn)
{
	struct sockaddr_storage us, them;
	socklen_t us_len = sizeof(us), them_len = sizeof(them);
	int on = 1, off = 0, queue = 2 /* TCP_SEND_QUEUE */;
	int fd;

	must(!getsockname(p->fd, (struct sockaddr *)&us, &us_len) &&
	     !getpeername(p->fd, (struct sockaddr *)&them, &them_len), "no names");
	close(p->fd);
	p->fd = -1;
	fd = socket(us.ss_family, SOCK_STREAM, 0);
	must(fd >= 0, "no socket");
	p->fd = fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)))
		skip("the right to choose TCP's sequence numbers (CAP_NET_ADMIN) is missing");
	must(!setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)) &&
	     !setsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &isn, sizeof(isn)) &&
	     !setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)),
	     "cannot choose TCP's sequence numbers");
	((struct sockaddr_in *)&us)->sin_port = 0;
	must(!bind(fd, (struct sockaddr *)&us, us_len) &&
	     !connect(fd, (struct sockaddr *)&them, them_len), "no TCP connection");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* the sequence number of the byte that @p sends next; TCP_REPAIR_QUEUE is still set to
 * the send queue */
static uint32_t sequence(const struct peer *p)
{
	uint32_t seq = 0;
	socklen_t len = sizeof(seq);

	must(!getsockopt(p->fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &len),
	     "cannot read TCP's sequence number");
	return seq;
}

/* Full Operation begins WRAP_AT bytes before sequence number 0 */
#define WRAP_AT		1000

static void marker__counts_on_where_the_sequence_wraps(void)
{
	struct session s = SESSION_DEFAULT;
	struct mpa_frame f;
	struct agent_event ev;
	struct agent_mr mr;

	agent_set("markers on");
	mr = agent_mr(3 * MARKED_LEN, "lrw");
	s.p = peer_connect(agent_listen(), NULL);
	reconnect(s.p, -(1 + MPA_FRAME_HDR + WRAP_AT));
	mpa_plain(&f, false);
	peer_send_frame(s.p, &f);
	agent_must_get_event("CONNECT_REQUEST", &ev);
	agent_accept(ev.conn, &s.qp, NULL, 0);
	must(peer_recv_frame(s.p, true, &f, patience(1000)), "no Reply came");
	peer_agree(s.p, true);
	must(s.p->tx_markers, "the device's frame has M=0, though it wants markers");
	pattern(data, 3 * MARKED_LEN, 8);
	flow_we_write(&s, &mr, 0, data, 600, NULL);
	must(s.p->tx_pos < WRAP_AT, "the wrap is not inside an FPDU");
	flow_we_write(&s, &mr, 600, data + 600, 3 * MARKED_LEN - 600, NULL);
	must_eq(sequence(s.p), (uint32_t)(s.p->tx_pos - WRAP_AT),
		"TCP's sequence number");
	must_be_alive(s.p);
	must_have_memory(&mr, 0, data, 3 * MARKED_LEN);
}

#define T(name, ids, role, needs, rule)	{ #name, ids, rule, role, needs, name }

static const struct conform_test tests[] = {
	T(marker__stream_begins_with_one, "MPA-019 MPA-020 MPA-024 MPA-030 MPA-048 MPA-049",
	  EITHER, 0, "a marked stream begins with a marker of zeros, which is in the CRC"),
	T(marker__stream_begins_without_one, "MPA-031 MPA-085 MPA-013", EITHER, 0,
	  "an unmarked stream begins with ULPDU_Length"),
	T(marker__lies_inside_an_fpdu, "MPA-019 MPA-022 MPA-027 MPA-047", EITHER, 0,
	  "a marker inside an FPDU points back to ULPDU_Length and is in the CRC"),
	T(marker__comes_every_512_bytes, "MPA-020 MPA-022 MPA-024 MPA-026 MPA-027 MPA-032",
	  EITHER, 0,
	  "a marker starts at each 512th byte of the stream and points to its FPDU"),
	T(marker__names_the_fpdu_that_holds_it, "MPA-033", EITHER, 0,
	  "of several FPDUs in 512 bytes the marker names the one that it lies in"),
	T(marker__between_two_fpdus_is_the_later_ones, "MPA-029 MPA-033", EITHER, 0,
	  "a marker between two FPDUs is the later one's: FPDUPTR 0, and in its CRC"),
	T(marker__comes_between_data_and_crc, "MPA-047 MPA-027", EITHER, 0,
	  "a marker between the ULPDU and the CRC field is in this CRC"),
	T(marker__comes_between_pad_and_crc, "MPA-047 MPA-027", EITHER, 0,
	  "a marker between the pad and the CRC field is in this CRC"),
	T(marker__neither_end_wants_them, "MPA-025 MPA-085 MPA-031", EITHER, NEED_SET,
	  "M=0 both ways: no markers in either direction"),
	T(marker__the_peer_wants_them, "MPA-024 MPA-085 MPA-086", EITHER, NEED_SET,
	  "M=1 of the peer alone marks what the device sends"),
	T(marker__the_device_wants_them, "MPA-025 MPA-085 MPA-086", EITHER, NEED_SET,
	  "M=1 of the device alone marks what it receives"),
	T(marker__both_ends_want_them, "MPA-024 MPA-086", EITHER, NEED_SET,
	  "M=1 of both marks both directions"),
	T(marker__known_stream_is_taken, "MPA-019 MPA-035 MPA-048", EITHER, NEED_SET,
	  "the RFC's example of a first FPDU is taken"),
	T(marker__known_bytes_after_a_first_fpdu, "MPA-019 MPA-035 MPA-047", EITHER,
	  NEED_SET, "the RFC's example of a second FPDU is taken"),
	T(marker__reserved_half_means_nothing, "MPA-021", EITHER, NEED_SET,
	  "the reserved half of a marker counts in the CRC and nowhere else"),
	T(marker__low_bits_of_its_pointer_mean_nothing, "MPA-023 R1", EITHER, NEED_SET,
	  "the low two bits of FPDUPTR are read as 0"),
	T(marker__pointer_elsewhere_is_an_error, "MPA-121 MPA-125 MPA-126", EITHER, NEED_SET,
	  "a marker that disagrees with the length of the FPDU before is error 3"),
	T(marker__pointer_in_front_is_not_0, "MPA-029 MPA-125", EITHER, NEED_SET,
	  "a marker between two FPDUs that points elsewhere is error 3"),
	T(marker__crc_is_checked_before_it, "MPA-124 MPA-125 R5", EITHER, NEED_SET,
	  "error 3 needs a good CRC: a bad one is error 2 whatever the marker says"),
	T(marker__wrong_pointer_in_the_last_of_many, "MPA-127 MPA-065", EITHER, NEED_SET,
	  "the later markers of an FPDU may be looked at: error 3, or all is as without them"),
	T(marker__none_is_left_in_the_data_at_any_phase, "MPA-035 MPA-026 MPA-033 MPA-008", EITHER,
	  NEED_SET, "no marker reaches memory, wherever it lies in an FPDU"),
	T(marker__between_two_fpdus_is_taken, "MPA-029 MPA-035", EITHER, NEED_SET,
	  "a marker between two FPDUs belongs to the later one"),
	T(marker__between_data_and_crc_is_taken, "MPA-047 MPA-035", EITHER, NEED_SET,
	  "a marker between the ULPDU and the CRC field belongs to this FPDU"),
	T(marker__between_pad_and_crc_is_taken, "MPA-047 MPA-035", EITHER, NEED_SET,
	  "a marker between the pad and the CRC field belongs to this FPDU"),
	T(marker__counts_on_where_the_sequence_wraps, "MPA-028", RESPONDER, NEED_SET,
	  "the wrap of TCP's sequence number inside an FPDU changes nothing"),
	{}
};

const struct conform_group marker_group = { "marker", tests };
