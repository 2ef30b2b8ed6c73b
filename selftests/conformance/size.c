// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The layout and the size of FPDUs: RFC 5044 3, 4.1 and 4.5. The MSS option of our SYN
 * chooses the device's EMSS for each connection. A TCP that keeps a segment below half
 * of the largest window offered, as Linux does, raises it in mid-stream: we let the
 * window grow. A peer cannot shrink the path MTU; the setting "mtu N" does, if the
 * agent has it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow.h"

#define RECV_ID		9
#define TIMESTAMPS	12	/* size of the TCP option, which is in each segment */

static uint8_t data[ULPDU_MAX];

/* ---- layout ---- */

static void size__pad_is_0_and_not_counted(void)
{
	struct session s = session_default();
	struct agent_mr mr;
	uint32_t len;

	pattern(data, 64, 1);
	mr = flow_mr("l", data, 64);
	for (len = 0; len < 9; len++)
		must_eq(flow_device_writes(&s, &mr, len, data, NULL, NULL), 1, "FPDUs");
}

static void check_version(const struct fpdu *f, void *arg)
{
	(void)arg;
	must_eq(f->seg.ctrl & 0x03, 1, "DDP version");
	must_eq(f->seg.rdmap >> 6, 1, "RDMAP version");
}

static void versions_of(bool plain)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");
	struct fpdu f;

	s.plain = plain;
	session_start(&s);
	flow_device_writes(&s, &mr, 64, NULL, check_version, NULL);
	flow_device_sends(&s, &mr, 64);
	must_get_fpdu(s.p, &f);
	check_version(&f, NULL);
}

static void size__version_is_1_after_revision_1(void)
{
	versions_of(true);
}

static void size__version_is_1_after_an_enhanced_startup(void)
{
	versions_of(false);
}

/* a Send of several segments, each in an FPDU of its own */
static void size__one_segment_in_each_fpdu(void)
{
	struct session s = session_default();
	uint32_t done = 0, len = 20001;
	struct agent_mr mr;
	struct fpdu f;

	pattern(data, len, 2);
	mr = flow_mr("l", data, len);
	agent_post(s.conn, 1, AG_SEND, AG_SIGNALED, &mr, 0, len, 0, 0);
	while (done < len) {
		flow_must_be_framed(&s, &f);
		must_eq(seg_op(&f.seg), OP_SEND, "opcode");
		must_eq(f.seg.qn, 0, "queue");
		must_eq(f.seg.msn, s.p->rx_msn[0], "MSN");
		must_eq(f.seg.mo, done, "MO");
		must(f.seg.len && f.seg.len <= len - done, "wrong length");
		must_bytes(f.seg.data, data + done, f.seg.len, "payload");
		done += f.seg.len;
		must_eq(seg_last(&f.seg), done == len, "L bit");
	}
	flow_must_get_wc(1, "SUCCESS");
}

/* ---- MULPDU ---- */

struct sizes {
	uint32_t mulpdu;
	unsigned int short_ones;
	uint32_t largest;
};

static void note_size(const struct fpdu *f, void *arg)
{
	struct sizes *sizes = arg;

	if (f->seg.ulpdu_len > sizes->largest)
		sizes->largest = f->seg.ulpdu_len;
	must(f->seg.ulpdu_len <= ULPDU_MAX, "ULPDU of %u bytes", f->seg.ulpdu_len);
	if (sizes->mulpdu)
		must(f->seg.ulpdu_len <= sizes->mulpdu,
		     "ULPDU of %u bytes, MULPDU is %u", f->seg.ulpdu_len,
		     sizes->mulpdu);
	if (!seg_last(&f->seg) && f->seg.ulpdu_len < sizes->mulpdu)
		sizes->short_ones++;
}

/* a long Write: each ULPDU but the last one has MULPDU */
static void check_sizes(struct session *s, const struct agent_mr *mr, uint32_t len,
			uint32_t mulpdu)
{
	struct sizes sizes = { .mulpdu = mulpdu };
	unsigned int n = flow_device_writes(s, mr, len, NULL, note_size, &sizes);

	must_eq(sizes.largest, mulpdu, "largest ULPDU");
	/* MPA may use less for a partly filled segment, but not often */
	must(sizes.short_ones <= n / 8, "%u of %u ULPDUs are shorter than MULPDU",
	     sizes.short_ones, n);
}

/* A row is the EMSS, then MULPDU without and with markers: RFC 5044 4.5. */
static const struct mss_row {
	const char *name;
	uint32_t emss, plain, marked;
} rows[] = {
	{ "size__emss_76", 76, 128, 128 },
	{ "size__emss_128", 128, 128, 128 },
	{ "size__emss_140", 140, 134, 130 },
	{ "size__emss_512", 512, 506, 502 },
	{ "size__emss_536", 536, 530, 522 },
	{ "size__emss_1220", 1220, 1214, 1202 },
	{ "size__emss_1439", 1439, 1430, 1418 },
	{ "size__emss_1440", 1440, 1434, 1422 },
	{ "size__emss_1448", 1448, 1442, 1430 },
	{ "size__emss_4348", 4348, 4342, 4306 },
	{ "size__emss_8948", 8948, 8942, 8870 },
	{ "size__emss_16332", 16332, 16326, 16198 },
	{ "size__emss_32728", 32728, 32722, 32466 },
};

static const struct mss_row *this_row(void)
{
	const char *name = current_test()->name;
	unsigned int i;
	size_t len;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		len = strlen(rows[i].name);
		if (!strncmp(name, rows[i].name, len) && (!name[len] || name[len] == '_'))
			return &rows[i];
	}
	must(false, "no row for this test");
}

static void sizes_at(const struct mss_row *row, bool marked)
{
	struct session s = SESSION_DEFAULT;
	uint32_t mulpdu = marked ? row->marked : row->plain;
	uint32_t len = row->emss * 12 + 5;
	struct agent_mr mr;

	s.markers = marked;
	s.tcp.mss = row->emss + TIMESTAMPS;
	session_start(&s);
	if (flow_emss(&s) != row->emss)
		skip("EMSS is %u here, not %u", flow_emss(&s), row->emss);
	mr = agent_mr(len, "l");
	check_sizes(&s, &mr, len, mulpdu);
}

static void row_plain(void)
{
	sizes_at(this_row(), false);
}

static void row_marked(void)
{
	sizes_at(this_row(), true);
}

#define BIG	(512 * 1024)

/*
 * TCP keeps a segment below half of the peer's window, which grows as the peer reads:
 * send some data both ways first.
 */
static void sizes_of_path(bool marked)
{
	static const uint8_t bytes[60000];
	struct session s = SESSION_DEFAULT;
	struct sizes any = { .mulpdu = 0 };
	struct agent_mr mr;
	unsigned int i;

	s.markers = marked;
	s.tcp.rcvbuf = 2 * BIG;
	session_start(&s);
	mr = agent_mr(BIG, "lrw");
	for (i = 0; i < 2; i++)
		flow_device_writes(&s, &mr, BIG, NULL, note_size, &any);
	for (i = 0; i < 16; i++)
		flow_we_write(&s, &mr, 0, bytes, sizeof(bytes), NULL);
	check_sizes(&s, &mr, BIG, flow_mulpdu(flow_emss(&s), marked));
}

static void size__of_a_long_write(void)
{
	sizes_of_path(false);
}

static void size__of_a_long_write_marked(void)
{
	sizes_of_path(true);
}

static void set_window(struct session *s, int clamp, int rcvbuf)
{
	must(!setsockopt(s->p->fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf)) &&
	     !setsockopt(s->p->fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp,
			 sizeof(clamp)), "window: %s", strerror(errno));
}

static void size__follows_a_segment_size_that_grows(void)
{
	struct session s = SESSION_DEFAULT;
	uint32_t full = flow_mulpdu(1448, false);
	struct sizes small = { .mulpdu = 0 };
	struct agent_mr mr = agent_mr(60000, "l");

	s.tcp.rcvbuf = 2048;
	s.tcp.mss = 1448 + TIMESTAMPS;
	session_start(&s);
	if (flow_emss(&s) != 1448)
		skip("EMSS is %u here, not 1448", flow_emss(&s));
	flow_device_writes(&s, &mr, 6000, NULL, note_size, &small);
	if (small.largest == full)
		skip("the window does not bound the device's segments");
	must(small.largest < full, "ULPDU of %u bytes", small.largest);
	set_window(&s, 60000, 1024 * 1024);
	/* the device learns of the larger window in a few acknowledgements */
	flow_device_writes(&s, &mr, 20000, NULL, NULL, NULL);
	check_sizes(&s, &mr, 60000, full);
}

#define LOW_MTU		1300	/* above the minimum of IPv6 */
#define LOW_SEGMENT	(LOW_MTU - 40)

static void shrink_path(void)
{
	agent_set("mtu 1300");
}

static void note_longest(const struct fpdu *f, void *arg)
{
	size_t *longest = arg;

	if (f->wire_len > *longest)
		*longest = f->wire_len;
}

static void size__follows_a_path_that_shrinks(void)
{
	struct session s = session_default();
	struct agent_mr mr = agent_mr(60000, "l");
	size_t longest = 0;

	flow_device_writes(&s, &mr, 60000, NULL, note_longest, &longest);
	if (longest <= LOW_SEGMENT)
		skip("FPDUs are of %zu bytes as it is", longest);
	shrink_path();
	/* TCP learns of the new MTU when it sends */
	flow_device_writes(&s, &mr, 60000, NULL, NULL, NULL);
	longest = 0;
	flow_device_writes(&s, &mr, 60000, NULL, note_longest, &longest);
	must(longest <= LOW_SEGMENT, "an FPDU of %zu bytes, MTU %d", longest, LOW_MTU);
	must(longest > LOW_SEGMENT - 40, "no FPDU over %zu bytes, MTU %d", longest,
	     LOW_MTU);
}

#define QUEUED		8
#define QUEUED_LEN	60000

/* Post Writes that follow one another in our memory; TCP has taken some of them. */
static struct session writes_that_wait(void)
{
	struct session s = SESSION_DEFAULT;
	struct agent_mr mr;
	int i;

	s.tcp.rcvbuf = 16384;
	/* a larger MSS would let them all fit into the device's send buffer */
	s.tcp.mss = 1448 + TIMESTAMPS;
	session_start(&s);
	pattern(data, QUEUED_LEN, 9);
	mr = flow_mr("l", data, QUEUED_LEN);
	for (i = 0; i < QUEUED; i++)
		agent_post(s.conn, i, AG_WRITE, AG_SIGNALED, &mr, 0, QUEUED_LEN, OUR_STAG,
			   OUR_TO + i * QUEUED_LEN);
	/* wait until our window is full */
	usleep(100000);
	return s;
}

static void size__change_leaves_what_tcp_has_alone(void)
{
	struct session s = writes_that_wait();
	size_t done = 0, longest = 0, last = 0;
	struct fpdu f;
	int i;

	shrink_path();
	while (done < QUEUED * QUEUED_LEN) {
		flow_must_be_framed(&s, &f);
		must_eq(seg_op(&f.seg), OP_WRITE, "opcode");
		must_eq(f.seg.to, OUR_TO + done, "TO");
		must_bytes(f.seg.data, data + done % QUEUED_LEN, f.seg.len, "payload");
		done += f.seg.len;
		note_longest(&f, &longest);
		if (!seg_last(&f.seg))
			last = f.wire_len;
	}
	for (i = 0; i < QUEUED; i++)
		flow_must_get_wc(i, "SUCCESS");
	if (longest <= LOW_SEGMENT)
		skip("FPDUs are of %zu bytes as it is", longest);
	must(last <= LOW_SEGMENT, "an FPDU of %zu bytes at the end, MTU %d", last,
	     LOW_MTU);
}

/* ---- what the device takes ---- */

static void feed_sizes(struct session *s)
{
	static const uint32_t sizes[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 110, 111, 112, 113, 492, 493, 494, 495, 1000,
		1427, 1428, 1429, 1430, 4097, 9001, 16383, 32770, 50003, 64747, 64748,
		64749, 64750, 64751, 64752, 64753, ULPDU_MAX - TAGGED_HDR
	};
	struct agent_mr mr = agent_mr(sizeof(data), "lrw");
	unsigned int i;

	pattern(data, sizeof(data), 3);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		flow_we_write(s, &mr, 0, data, sizes[i], NULL);
	must_be_alive(s->p);
	must_have_memory(&mr, 0, data, ULPDU_MAX - TAGGED_HDR);
	/* the largest size again, alone in the stream: it is placed as a whole */
	pattern(data, sizeof(data), 4);
	flow_we_write(s, &mr, 0, data, ULPDU_MAX - TAGGED_HDR, NULL);
	must_be_alive(s->p);
	must_have_memory(&mr, 0, data, ULPDU_MAX - TAGGED_HDR);
}

static void size__any_up_to_64768_is_taken(void)
{
	struct session s = session_default();

	feed_sizes(&s);
}

static void size__any_up_to_64768_is_taken_marked(void)
{
	struct session s = flow_marked_session();

	feed_sizes(&s);
}

static void size__of_a_received_send_is_exact(void)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 5, 7, 499, 500, 501, 1425, 4095 };
	struct session s = session_default();
	struct agent_mr mr = agent_mr(4096, "l");
	struct agent_wc wc;
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pattern(data, 4096, i);
		agent_recv(s.conn, RECV_ID + i, &mr, 0, 4096);
		send_send(s.p, data, sizes[i]);
		agent_must_get_wc(RECV_ID + i, "SUCCESS", &wc);
		must_eq(wc.byte_len, sizes[i], "byte_len");
		must_have_memory(&mr, 0, data, sizes[i]);
	}
}

#define T(name, ids, role, needs, rule)	{ #name, ids, rule, role, needs, name }
#define ROW_IDS	"MPA-004 MPA-005 MPA-006 MPA-054 MPA-058 MPA-059 "
#define ROW(name, extra)							\
	{ #name, ROW_IDS "MPA-052" extra,					\
	  "ULPDUs are as large as the segment size allows, without markers",	\
	  EITHER, 0, row_plain },						\
	{ #name "_marked", ROW_IDS "MPA-051" extra,				\
	  "ULPDUs are as large as the segment size and markers allow",		\
	  RESPONDER, 0, row_marked }

static const struct conform_test tests[] = {
	T(size__pad_is_0_and_not_counted, "MPA-003 MPA-013 MPA-014 MPA-016 MPA-017", EITHER, 0,
	  "pad bytes are 0, fill to a multiple of 4 and are not in ULPDU_Length"),
	T(size__version_is_1_after_revision_1, "MPA-012", EITHER, 0,
	  "DDP and RDMAP say version 1 on a connection of MPA revision 1"),
	T(size__version_is_1_after_an_enhanced_startup, "MPA-012", EITHER, 0,
	  "DDP and RDMAP say version 1 on a connection of MPA revision 2"),
	T(size__one_segment_in_each_fpdu, "MPA-003 MPA-013 MPA-017", EITHER, 0,
	  "each FPDU holds one DDP segment, whole"),
	ROW(size__emss_76, " MPA-056"),
	ROW(size__emss_128, " MPA-056"),
	ROW(size__emss_140, ""),
	ROW(size__emss_512, ""),
	ROW(size__emss_536, ""),
	ROW(size__emss_1220, ""),
	ROW(size__emss_1439, ""),
	ROW(size__emss_1440, ""),
	ROW(size__emss_1448, ""),
	ROW(size__emss_4348, ""),
	ROW(size__emss_8948, ""),
	ROW(size__emss_16332, ""),
	ROW(size__emss_32728, ""),
	T(size__of_a_long_write, "MPA-005 MPA-006 MPA-007 MPA-052 MPA-054 MPA-059",
	  EITHER, 0, "ULPDUs are as large as the path allows, and never over 64768"),
	T(size__of_a_long_write_marked, "MPA-005 MPA-006 MPA-007 MPA-051 MPA-054",
	  EITHER, 0, "marked ULPDUs are as large as the path allows, and never over 64768"),
	T(size__follows_a_segment_size_that_grows, "MPA-004 MPA-053 MPA-055 MPA-059 DDP-001",
	  EITHER, 0, "the size of ULPDUs follows TCP's segment size in mid-stream"),
	T(size__follows_a_path_that_shrinks, "MPA-004 MPA-055 DDP-001", EITHER, NEED_SET,
	  "the size of ULPDUs follows a path MTU that shrinks in mid-stream"),
	T(size__change_leaves_what_tcp_has_alone, "DDP-001 DDP-002", EITHER, NEED_SET,
	  "what was segmented before the MTU shrank is sent as it was, each byte once"),
	T(size__any_up_to_64768_is_taken, "MPA-008 MPA-010 MPA-072", EITHER, 0,
	  "an FPDU of any size up to a ULPDU of 64768 bytes is taken"),
	T(size__any_up_to_64768_is_taken_marked, "MPA-008 MPA-010 MPA-035 MPA-072", EITHER,
	  NEED_SET, "a marked FPDU of any size up to a ULPDU of 64768 bytes is taken"),
	T(size__of_a_received_send_is_exact, "MPA-010", EITHER, 0,
	  "the length of a message is known to the byte"),
	{}
};

const struct conform_group size_group = { "size", tests };
