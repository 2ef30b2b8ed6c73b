// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * MPA on a stream of bytes: the result is the same however TCP cuts it (RFC 5044 4.3,
 * 5, 6 and 7.1). A socket cannot cause loss and reordering: run these tests under
 * netem for that.
 */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "flow.h"

#define RECV_ID		9
#define BURST_MAX	(64 * 1024)
#define HOLD_MS		100
#define URGENT_MS	1000

/**
 * struct burst - FPDUs to send, and what they do
 * @s: the connection
 * @mr: sink of the Writes
 * @rq: memory of the receive for the final Send
 * @bytes, @len: all FPDUs as on the wire
 * @end: where each FPDU ends in @bytes
 * @nr: number of FPDUs
 * @data, @data_len: the contents of @mr afterwards
 */
struct burst {
	struct session s;
	struct agent_mr mr, rq;
	uint8_t bytes[2 * BURST_MAX];
	size_t len;
	size_t end[256];
	unsigned int nr;
	uint8_t data[BURST_MAX];
	size_t data_len;
};

static struct burst b;

static void add_fpdu(const uint8_t *ulpdu, uint32_t len)
{
	b.len += fpdu_build(b.s.p, ulpdu, len, NULL, b.bytes + b.len);
	b.end[b.nr++] = b.len;
}

/* Build Writes of @data_len bytes in all, and a Send of the first 5 of these bytes. */
static void burst_make(bool markers, size_t data_len)
{
	static const uint32_t lens[] = { 1, 0, 13, 500, 3, 1459, 64, 2, 7001, 14 };
	static uint8_t ulpdu[BURST_MAX + 64];
	uint32_t n, i;

	memset(&b, 0, sizeof(b));
	b.s = markers ? flow_marked_session() : session_default();
	b.mr = agent_mr(BURST_MAX, "lrw");
	b.rq = agent_mr(64, "l");
	agent_recv(b.s.conn, RECV_ID, &b.rq, 0, 64);
	pattern(b.data, BURST_MAX, 1);
	for (i = 0; b.data_len < data_len; i++, b.data_len += n) {
		n = lens[i % (sizeof(lens) / sizeof(lens[0]))];
		if (n > data_len - b.data_len)
			n = data_len - b.data_len;
		add_fpdu(ulpdu, seg_write(b.s.p, b.mr.rkey, b.mr.va + b.data_len,
					  b.data + b.data_len, n, true, ulpdu));
	}
	add_fpdu(ulpdu, seg_send(b.s.p, OP_SEND, 0, 0, b.data, 5, true, ulpdu));
}

static void burst_check(void)
{
	struct agent_wc wc;

	agent_must_get_wc(RECV_ID, "SUCCESS", &wc);
	must_eq(wc.byte_len, 5, "byte_len");
	must_have_memory(&b.rq, 0, b.data, 5);
	must_have_memory(&b.mr, 0, b.data, b.data_len);
	must_be_alive(b.s.p);
}

/* ---- segmentation ---- */

static void in_pieces(bool markers, size_t data_len, size_t piece)
{
	burst_make(markers, data_len);
	peer_send_pieces(b.s.p, b.bytes, b.len, piece);
	burst_check();
}

static void stream__byte_by_byte(void)
{
	in_pieces(false, 700, 1);
}

static void stream__byte_by_byte_marked(void)
{
	in_pieces(true, 700, 1);
}

static void stream__in_segments_of_7_bytes(void)
{
	in_pieces(false, 4000, 7);
}

static void stream__all_at_once(void)
{
	burst_make(false, 60000);
	peer_send(b.s.p, b.bytes, b.len);
	burst_check();
}

static void stream__all_at_once_marked(void)
{
	burst_make(true, 60000);
	peer_send(b.s.p, b.bytes, b.len);
	burst_check();
}

static void cut_at_random(bool markers, unsigned int seed)
{
	size_t at, n;

	burst_make(markers, 50000);
	for (at = 0; at < b.len; at += n) {
		n = 1 + rand_r(&seed) % (rand_r(&seed) % 4 ? 1500 : 20);
		if (n > b.len - at)
			n = b.len - at;
		peer_send_pieces(b.s.p, b.bytes + at, n, n);
	}
	burst_check();
}

static void stream__cut_at_random(void)
{
	cut_at_random(false, 5044);
	agent_reset();
	cut_at_random(false, 6581);
}

static void stream__cut_at_random_marked(void)
{
	cut_at_random(true, 5044);
	agent_reset();
	cut_at_random(true, 6581);
}

/* each cut is @shift bytes after the end of an FPDU */
static void cut_after_ends(size_t shift)
{
	size_t at = 0, to;
	unsigned int i;

	burst_make(false, 20000);
	for (i = 0; i < b.nr; i++) {
		to = b.end[i] + shift;
		if (to <= at || to > b.len)
			continue;
		peer_send_pieces(b.s.p, b.bytes + at, to - at, to - at);
		at = to;
	}
	if (at < b.len)
		peer_send(b.s.p, b.bytes + at, b.len - at);
	burst_check();
}

static void stream__cut_around_the_header(void)
{
	static const size_t shifts[] = { 0, 1, 2, 3, 9, 16, 19 };
	unsigned int i;

	for (i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		cut_after_ends(shifts[i]);
		agent_reset();
	}
}

static void stream__small_window(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	static uint8_t data[30000];

	s.tcp.rcvbuf = 2048;
	session_start(&s);
	pattern(data, sizeof(data), 2);
	mr = flow_mr("l", data, sizeof(data));
	flow_device_writes(&s, &mr, sizeof(data), data, NULL, NULL);
}

/* the device must buffer the largest FPDU whole, however much memory small segments
 * cost */
static void largest_in_pieces(struct session *s, size_t piece)
{
	static uint8_t ulpdu[ULPDU_MAX + 64], data[ULPDU_MAX];
	struct agent_mr mr = agent_mr(ULPDU_MAX, "lrw");
	uint32_t len = ULPDU_MAX - TAGGED_HDR, n;
	size_t bytes;

	pattern(data, len, 6);
	n = seg_write(s->p, mr.rkey, mr.va, data, len, true, ulpdu);
	bytes = fpdu_build(s->p, ulpdu, n, NULL, b.bytes);
	peer_send_pieces(s->p, b.bytes, bytes, piece);
	must_be_alive(s->p);
	must_have_memory(&mr, 0, data, len);
}

static void stream__largest_fpdu_in_small_pieces(void)
{
	struct session s = session_default();

	largest_in_pieces(&s, 24);
}

static void stream__largest_fpdu_over_the_smallest_segments(void)
{
	struct session s = SESSION_DEFAULT;

	s.tcp.mss = 88;
	session_start(&s);
	largest_in_pieces(&s, ULPDU_MAX + 64);
}

/* ---- an FPDU that is not all there ---- */

/* send @bytes without the last @hold, check that the device does nothing, send the
 * rest */
static void hold_back(const uint8_t *bytes, size_t len, size_t hold,
		      const struct agent_mr *mr)
{
	peer_send(b.s.p, bytes, len - hold);
	agent_must_get_no_wc(HOLD_MS);
	must_be_untouched(mr);
	must_be_silent(b.s.p, 1);
	peer_send(b.s.p, bytes + len - hold, hold);
}

static void hold_write(uint32_t len, size_t hold)
{
	static uint8_t ulpdu[BURST_MAX + 64];
	struct peer *p;

	memset(&b, 0, sizeof(b));
	b.s = session_default();
	p = b.s.p;
	b.mr = agent_mr(BURST_MAX, "lrw");
	pattern(b.data, len, 3);
	add_fpdu(ulpdu, seg_write(p, b.mr.rkey, b.mr.va, b.data, len, true, ulpdu));
	hold_back(b.bytes, b.len, hold, &b.mr);
	must_be_alive(p);
	must_have_memory(&b.mr, 0, b.data, len);
}

static void stream__write_without_its_last_byte(void)
{
	hold_write(1000, 1);
}

static void stream__write_without_its_crc(void)
{
	hold_write(1000, 4);
}

static void stream__long_write_without_its_last_byte(void)
{
	hold_write(60000, 1);
}

static void stream__send_without_its_last_byte(void)
{
	uint8_t ulpdu[1024];

	memset(&b, 0, sizeof(b));
	b.s = session_default();
	b.rq = agent_mr(1024, "l");
	agent_recv(b.s.conn, RECV_ID, &b.rq, 0, 1024);
	pattern(b.data, 900, 4);
	add_fpdu(ulpdu, seg_send(b.s.p, OP_SEND, 0, 0, b.data, 900, true, ulpdu));
	hold_back(b.bytes, b.len, 1, &b.rq);
	flow_must_get_wc(RECV_ID, "SUCCESS");
	must_have_memory(&b.rq, 0, b.data, 900);
}

static void stream__request_without_its_last_byte(void)
{
	struct fpdu f;
	uint8_t ulpdu[READ_REQ_LEN];

	memset(&b, 0, sizeof(b));
	b.s = session_default();
	b.mr = agent_mr(64, "lr");
	add_fpdu(ulpdu, seg_read_req(b.s.p, OUR_STAG, OUR_TO, 64, b.mr.rkey, b.mr.va,
				     ulpdu));
	hold_back(b.bytes, b.len, 1, &b.mr);
	must_get_op(b.s.p, &f, OP_READ_RESP);
	must_eq(f.seg.len, 64, "bytes of the Response");
}

/* ---- TCP's urgent pointer ---- */

/* RFC 5044 does not mention it: the device takes the byte like any other, or ends the
 * stream with an error */
static void urgent_byte(size_t at)
{
	uint8_t ulpdu[1024];

	memset(&b, 0, sizeof(b));
	b.s = session_default();
	b.mr = agent_mr(1024, "lrw");
	pattern(b.data, 900, 7);
	add_fpdu(ulpdu, seg_write(b.s.p, b.mr.rkey, b.mr.va, b.data, 900, true, ulpdu));
	if (at)
		peer_send(b.s.p, b.bytes, at);
	peer_send_urgent(b.s.p, b.bytes[at]);
	peer_send(b.s.p, b.bytes + at + 1, b.len - at - 1);
	if (peer_wait_end(b.s.p, URGENT_MS) != PEER_OPEN)
		return;
	must_be_alive(b.s.p);
	must_have_memory(&b.mr, 0, b.data, 900);
}

static void stream__urgent_byte(void)
{
	static const size_t places[] = { 0, 1, 400 };
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		urgent_byte(places[i]);
		agent_reset();
	}
}

/* ---- lengths that no sender may use ---- */

static void stream__length_0(void)
{
	struct session s = session_default();

	peer_send_fpdu(s.p, NULL, 0);
	/* no RFC has a code for it: Q10 */
	must_get_terminate(s.p, 0, 2, 7, false, NULL);
}

static void too_long(uint16_t len)
{
	struct session s = session_default();
	uint8_t header[16] = { 0 };

	if (s.p->tx_markers)
		skip("the device wants markers");
	put16(header, len);
	header[2] = DDP_TAGGED | DDP_LAST | 1;
	header[3] = 0x40 | OP_WRITE;
	peer_send(s.p, header, sizeof(header));
	must_get_terminate(s.p, 2, 0, 3, false, NULL);
}

static void stream__length_64769(void)
{
	too_long(64769);
}

static void stream__length_65535(void)
{
	too_long(65535);
}

/* ---- what the device gives to TCP ---- */

/* what our TCP has received from the device, both numbers at one moment */
struct arrived {
	uint64_t bytes;
	uint32_t segments;
};

static struct arrived arrived_now(const struct session *s)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	must(!getsockopt(s->p->fd, IPPROTO_TCP, TCP_INFO, &info, &len), "TCP_INFO");
	return (struct arrived){ info.tcpi_bytes_received, info.tcpi_data_segs_in };
}

#define TRIES	10

/* The first segment that arrives must have the whole FPDU. If a second one has arrived
 * already (TCP may retransmit), the size of the first is unknown, so the device writes
 * again. */
static void written_in_one_segment(struct session *s, const struct agent_mr *mr,
				   uint32_t len)
{
	struct arrived before, now;
	uint64_t wire = 0, end;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		wire = flow_wire_len(s->p->rx_pos, s->p->rx_markers, len + TAGGED_HDR);
		before = arrived_now(s);
		agent_post(s->conn, 1, AG_WRITE, AG_SIGNALED, mr, 0, len, OUR_STAG, OUR_TO);
		end = now_ms() + patience(1000);
		do {
			now = arrived_now(s);
			must(now_ms() < end, "no FPDU came");
		} while (now.segments == before.segments);
		flow_must_be_framed(s, &(struct fpdu){});
		flow_must_get_wc(1, "SUCCESS");
		if (now.segments - before.segments > 1)
			continue;
		must(now.bytes - before.bytes == wire,
		     "an FPDU of %llu bytes begins with a TCP segment of %llu",
		     (unsigned long long)wire,
		     (unsigned long long)(now.bytes - before.bytes));
		return;
	}
	must(false, "each time, an FPDU of %llu bytes took several segments",
	     (unsigned long long)wire);
}

/* alone in the stream, an FPDU that fits into a segment is sent in one */
static void one_segment(bool markers)
{
	static const uint32_t lens[] = { 0, 1, 100, 700, 1000, 1300 };
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = agent_mr(4096, "l");
	uint32_t len;
	unsigned int i;

	s.markers = markers;
	session_start(&s);
	for (i = 0; i < 2 * sizeof(lens) / sizeof(lens[0]); i++) {
		len = lens[i / 2];
		if (flow_mulpdu(flow_emss(&s), markers) < len + TAGGED_HDR)
			break;
		written_in_one_segment(&s, &mr, len);
	}
	len = flow_mulpdu(flow_emss(&s), markers) - TAGGED_HDR;
	if (len > 4096)
		return;
	written_in_one_segment(&s, &mr, len);
}

static void stream__fpdu_is_one_segment(void)
{
	one_segment(false);
}

static void stream__fpdu_is_one_segment_marked(void)
{
	one_segment(true);
}

/* ---- the switch from frames to FPDUs ---- */

/* FPDUs begin directly after our frame, for any length of its private data */
static void begin(uint16_t pd_len, size_t piece)
{
	struct agent_mr mr;
	uint8_t ulpdu[256], out[512];
	size_t len;

	memset(&b, 0, sizeof(b));
	b.s = (struct session)SESSION_DEFAULT;
	flow_start(&b.s, pd_len, piece);
	flow_device_speaks(&b.s);
	mr = agent_mr(256, "lrw");
	pattern(b.data, 101, 5);
	len = seg_write(b.s.p, mr.rkey, mr.va, b.data, 101, true, ulpdu);
	len = fpdu_build(b.s.p, ulpdu, len, NULL, out);
	peer_send_pieces(b.s.p, out, len, piece ? piece : len);
	must_be_alive(b.s.p);
	must_have_memory(&mr, 0, b.data, 101);
	flow_device_writes(&b.s, &mr, 101, b.data, NULL, NULL);
}

static void stream__begins_after_a_bare_frame(void)
{
	begin(0, 0);
}

static void stream__begins_after_odd_private_data(void)
{
	static const uint16_t lens[] = { 1, 2, 3, 131 };
	unsigned int i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		begin(lens[i], 0);
		agent_reset();
	}
}

static void stream__begins_byte_by_byte(void)
{
	begin(3, 1);
}

static void stream__begins_in_segments_of_11_bytes(void)
{
	begin(30, 11);
}

#define T(name, ids, role, needs, rule)	{ #name, ids, rule, role, needs, name }

static const struct conform_test tests[] = {
	T(stream__byte_by_byte, "MPA-034 MPA-063 MPA-064", EITHER, 0,
	  "TCP segments of one byte change nothing"),
	T(stream__byte_by_byte_marked, "MPA-034 MPA-063 MPA-064 MPA-035", EITHER, NEED_SET,
	  "TCP segments of one byte change nothing, with markers"),
	T(stream__in_segments_of_7_bytes, "MPA-034 MPA-063 MPA-064", EITHER, 0,
	  "TCP segments that never hold an FPDU change nothing"),
	T(stream__all_at_once, "MPA-034 MPA-062 MPA-063 MPA-064 R7", EITHER, 0,
	  "many FPDUs at once are told apart by their lengths"),
	T(stream__all_at_once_marked, "MPA-034 MPA-063 MPA-064 MPA-035", EITHER, NEED_SET,
	  "many marked FPDUs at once are told apart by their lengths"),
	T(stream__cut_at_random, "MPA-063 MPA-064 MPA-067", EITHER, 0,
	  "it does not matter where TCP cuts the stream"),
	T(stream__cut_at_random_marked, "MPA-063 MPA-064 MPA-067", EITHER, NEED_SET,
	  "it does not matter where TCP cuts the stream, with markers"),
	T(stream__cut_around_the_header, "MPA-063 MPA-064", RESPONDER, 0,
	  "a header may come in two TCP segments, or after the end of another FPDU"),
	T(stream__small_window, "MPA-063 MPA-003", EITHER, 0,
	  "a window smaller than an FPDU delays the device's FPDUs and does not spoil them"),
	T(stream__largest_fpdu_in_small_pieces, "MPA-008 MPA-063 MPA-072", EITHER, 0,
	  "the largest FPDU is taken from TCP segments of a few bytes"),
	T(stream__largest_fpdu_over_the_smallest_segments, "MPA-008 MPA-063 MPA-072", EITHER, 0,
	  "the largest FPDU is taken where TCP's segments are the smallest"),
	T(stream__write_without_its_last_byte, "MPA-066 MPA-068 R3", EITHER, 0,
	  "nothing of a Write counts before all of its FPDU is there"),
	T(stream__write_without_its_crc, "MPA-066 MPA-068", EITHER, 0,
	  "nothing of a Write counts before the CRC field of its FPDU is there"),
	T(stream__long_write_without_its_last_byte, "MPA-066 MPA-068 MPA-072", EITHER, 0,
	  "nothing of a long Write counts before all of its FPDU is there"),
	T(stream__send_without_its_last_byte, "MPA-066 MPA-068", EITHER, 0,
	  "nothing of a Send counts before all of its FPDU is there"),
	T(stream__request_without_its_last_byte, "MPA-066 MPA-068", EITHER, 0,
	  "a Read Request is not answered before all of its FPDU is there"),
	T(stream__urgent_byte, "-", EITHER, 0,
	  "TCP's urgent pointer means nothing, or ends the stream: it never stalls it"),
	T(stream__length_0, "MPA-008 R7 Q10", EITHER, 0,
	  "ULPDU_Length 0 is a segment without a header: DDP refuses it"),
	T(stream__length_64769, "MPA-006 MPA-125 R2 Q8", EITHER, 0,
	  "ULPDU_Length over 64768 is refused at once, without waiting for the bytes"),
	T(stream__length_65535, "MPA-006 MPA-125 Q8", EITHER, 0,
	  "ULPDU_Length over 64768 is refused at once, without waiting for the bytes"),
	T(stream__fpdu_is_one_segment, "MPA-061", EITHER, 0,
	  "an FPDU that fits into a TCP segment is given to TCP whole"),
	T(stream__fpdu_is_one_segment_marked, "MPA-061", EITHER, 0,
	  "a marked FPDU that fits into a TCP segment is given to TCP whole"),
	T(stream__begins_after_a_bare_frame, "MPA-073 MPA-074", EITHER, 0,
	  "Full Operation begins with the byte after the frame, in both directions"),
	T(stream__begins_after_odd_private_data, "MPA-073 MPA-074", EITHER, 0,
	  "Full Operation begins with the byte after the private data"),
	T(stream__begins_byte_by_byte, "MPA-073 MPA-080", EITHER, 0,
	  "TCP segments of one byte through the startup change nothing"),
	T(stream__begins_in_segments_of_11_bytes, "MPA-073 MPA-080", EITHER, 0,
	  "TCP segments across the fields of the startup change nothing"),
	{}
};

const struct conform_group stream_group = { "stream", tests };
