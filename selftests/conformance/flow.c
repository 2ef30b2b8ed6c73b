// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Steps that the tests of MPA share (RFC 5044 4): FPDUs of a chosen phase, long
 * messages of the device, checks of their layout. See flow.h. */
#include "flow.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "peer_ext.h"

#define WAIT_MS		1000

static uint8_t ulpdu[ULPDU_MAX + 64];
static uint8_t wire[2 * ULPDU_MAX];

/* ---- arithmetic ---- */

size_t flow_wire_len(uint64_t pos, bool markers, uint32_t ulpdu_len)
{
	size_t left = (2 + ulpdu_len + 3) / 4 * 4 + 4;
	size_t len = 0;
	size_t run;

	if (!markers)
		return left;
	while (left) {
		if ((pos + len) % MARKER_SPACING == 0)
			len += MARKER_LEN;
		run = MARKER_SPACING - (pos + len) % MARKER_SPACING;
		if (run > left)
			run = left;
		len += run;
		left -= run;
	}
	return len;
}

uint32_t flow_ulpdu_to(uint64_t pos, bool markers, uint32_t phase)
{
	uint32_t n;

	/* a ULPDU of 4k + 2 bytes needs no pad, so each size ends at another phase */
	for (n = TAGGED_HDR; n < 2 * MARKER_SPACING; n += 4)
		if ((pos + flow_wire_len(pos, markers, n)) % MARKER_SPACING == phase)
			return n;
	must(false, "no FPDU ends at %u", phase);
}

uint32_t flow_mulpdu(uint32_t emss, bool markers)
{
	int32_t n = emss - 6 - emss % 4;

	if (markers)
		n -= 4 * ((emss + 511) / 512);
	if (n < 128)
		return 128;
	return n > ULPDU_MAX ? ULPDU_MAX : n;
}

uint32_t flow_emss(const struct session *s)
{
	socklen_t len = sizeof(int);
	int mss = 0;

	must(!getsockopt(s->p->fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len),
	     "TCP_MAXSEG: %s", strerror(errno));
	return mss;
}

/* ---- what the device sends ---- */

static void check_markers(const struct fpdu *f, uint64_t pos)
{
	size_t front = pos % MARKER_SPACING ? 0 : MARKER_LEN;
	size_t at = (MARKER_SPACING - pos % MARKER_SPACING) % MARKER_SPACING;
	unsigned int n = 0;

	for (; at < f->wire_len; at += MARKER_SPACING, n++) {
		must_eq(get16(f->bytes + at), 0, "reserved half of a marker");
		must_eq(get16(f->bytes + at + 2), at ? at - front : 0,
			"FPDUPTR of a marker");
	}
	must_eq(f->markers, n, "number of markers");
}

void flow_must_be_framed(struct session *s, struct fpdu *f)
{
	uint64_t pos = s->p->rx_pos;

	must(peer_recv_fpdu_raw(s->p, f, patience(WAIT_MS)), "no FPDU came");
	must_eq(f->wire_len, flow_wire_len(pos, s->p->rx_markers, f->seg.ulpdu_len),
		"bytes of the FPDU on the wire");
	if (s->p->rx_markers)
		check_markers(f, pos);
	must(f->pad_ok, "a pad byte is not 0");
	must(!s->p->crc || f->crc_ok, "the CRC is wrong");
}

unsigned int flow_device_writes(struct session *s, const struct agent_mr *mr,
				uint32_t len, const uint8_t *data, flow_each each,
				void *arg)
{
	uint32_t done = 0;
	unsigned int n = 0;
	struct fpdu f;

	agent_post(s->conn, 77, AG_WRITE, AG_SIGNALED, mr, 0, len, OUR_STAG, OUR_TO);
	do {
		flow_must_be_framed(s, &f);
		must_eq(seg_op(&f.seg), OP_WRITE, "opcode");
		must_eq(f.seg.stag, OUR_STAG, "STag");
		must_eq(f.seg.to, OUR_TO + done, "TO");
		must(f.seg.len <= len - done, "more payload than was posted");
		if (data)
			must_bytes(f.seg.data, data + done, f.seg.len, "payload");
		done += f.seg.len;
		must_eq(seg_last(&f.seg), done == len, "L bit");
		if (each)
			each(&f, arg);
		n++;
	} while (done < len);
	flow_must_get_wc(77, "SUCCESS");
	return n;
}

void flow_device_sends(struct session *s, const struct agent_mr *mr, uint32_t len)
{
	agent_post(s->conn, 78, AG_SEND, AG_SIGNALED, mr, 0, len, 0, 0);
	flow_must_get_wc(78, "SUCCESS");
}

void flow_device_fills(struct session *s, const struct agent_mr *mr, uint32_t phase)
{
	uint32_t n;

	if (s->p->rx_pos % MARKER_SPACING == phase)
		return;
	n = flow_ulpdu_to(s->p->rx_pos, s->p->rx_markers, phase);
	flow_device_writes(s, mr, n - TAGGED_HDR, NULL, NULL, NULL);
	must_eq(s->p->rx_pos % MARKER_SPACING, phase, "phase of the device's stream");
}

void flow_must_get_bytes(struct session *s, const char *what, const void *want,
			 size_t len)
{
	uint64_t end = now_ms() + patience(WAIT_MS);
	uint8_t got[1024];
	size_t n, have = 0;

	must(len <= sizeof(got), "more bytes than can be compared");
	while (have < len && now_ms() < end) {
		n = peer_recv(s->p, got + have, len - have, 100);
		have += n;
	}
	must_eq(have, len, "bytes received");
	must_bytes(got, want, len, "%s", what);
}

/* ---- what we send ---- */

void flow_we_write(struct session *s, const struct agent_mr *mr, size_t at,
		   const void *data, uint32_t len, const struct fpdu_fault *fault)
{
	uint32_t n = seg_write(s->p, mr->rkey, mr->va + at, data, len, true, ulpdu);

	peer_send(s->p, wire, fpdu_build(s->p, ulpdu, n, fault, wire));
}

void flow_we_fill(struct session *s, const struct agent_mr *mr, uint32_t phase)
{
	static const uint8_t fill[2 * MARKER_SPACING];
	uint32_t n;

	if (s->p->tx_pos % MARKER_SPACING == phase)
		return;
	n = flow_ulpdu_to(s->p->tx_pos, s->p->tx_markers, phase);
	flow_we_write(s, mr, 0, fill, n - TAGGED_HDR, NULL);
	must_eq(s->p->tx_pos % MARKER_SPACING, phase, "phase of our stream");
}

/* ---- the agent ---- */

struct agent_mr flow_mr(const char *access, const void *data, size_t len)
{
	struct agent_mr mr = agent_mr(len, access);

	agent_poke(&mr, 0, data, len);
	return mr;
}

void flow_must_get_wc(uint64_t wr_id, const char *status)
{
	struct agent_wc wc;

	agent_must_get_wc(wr_id, status, &wc);
}

/* ---- startup ---- */

static uint8_t add_flags(const struct session *s, uint8_t flags)
{
	return (flags & ~(s->no_crc ? MPA_C : 0)) | (s->markers ? MPA_M : 0);
}

static void send_frame_pieces(struct peer *p, struct mpa_frame *f, uint16_t pd_len,
			      size_t piece)
{
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];
	size_t len;

	pattern(f->pd + f->pd_len, pd_len, 5);
	f->pd_len += pd_len;
	len = mpa_encode(f, out);
	peer_send_pieces(p, out, len, piece ? piece : len);
}

/* a Reply that accepts the device's Request */
static void make_reply(const struct mpa_frame *request, struct mpa_frame *f)
{
	uint16_t model = enh_word0(request) & ENH_A;

	if (request->rev < 2 || !(request->flags & MPA_S)) {
		mpa_plain(f, true);
		f->rev = request->rev;
		return;
	}
	must(!model || enh_word1(request) & ENH_C, "the device offers no RTR Write");
	mpa_enhanced(f, true, model | 8, (model ? ENH_C : 0) | 8);
}

static bool peer_to_peer(const struct peer *p)
{
	return p->reply.flags & MPA_S && enh_word0(&p->reply) & ENH_A;
}

static void start_device_initiator(struct session *s, uint16_t pd_len, size_t piece)
{
	struct agent_event ev;
	struct mpa_frame f;
	struct fpdu rtr;

	if (s->plain)
		agent_set("mpa-rev 1");
	s->conn = agent_connect(peer_listen(&s->tcp), &s->qp, NULL, 0);
	s->p = peer_accept(patience(WAIT_MS));
	must(s->p, "the device does not connect");
	must(peer_recv_frame(s->p, false, &f, patience(WAIT_MS)), "no Request came");
	make_reply(&f, &s->p->reply);
	s->p->reply.flags = add_flags(s, s->p->reply.flags);
	send_frame_pieces(s->p, &s->p->reply, pd_len, piece);
	peer_agree(s->p, false);
	agent_must_get_event("ESTABLISHED", &ev);
	if (peer_to_peer(s->p))
		must_get_op(s->p, &rtr, OP_WRITE);
}

static void start_device_responder(struct session *s, uint16_t pd_len, size_t piece)
{
	struct agent_event ev;
	struct mpa_frame f;

	s->p = peer_connect(agent_listen(), &s->tcp);
	mpa_plain(&s->p->request, false);
	s->p->request.flags = add_flags(s, s->p->request.flags);
	send_frame_pieces(s->p, &s->p->request, pd_len, piece);
	agent_must_get_event("CONNECT_REQUEST", &ev);
	must_eq(ev.pd_len, pd_len, "length of private data");
	s->conn = ev.conn;
	agent_accept(s->conn, &s->qp, NULL, 0);
	must(peer_recv_frame(s->p, true, &f, patience(WAIT_MS)), "no Reply came");
	peer_agree(s->p, true);
	agent_must_get_event("ESTABLISHED", &ev);
}

void flow_start(struct session *s, uint16_t pd_len, size_t piece)
{
	if (dut_role() == INITIATOR)
		start_device_initiator(s, pd_len, piece);
	else
		start_device_responder(s, pd_len, piece);
	s->port = s->p->port;
}

struct session flow_marked_session(void)
{
	struct session s = SESSION_DEFAULT;

	agent_set("markers on");
	session_start(&s);
	must(s.p->tx_markers, "the device's frame has M=0, though it wants markers");
	return s;
}

void flow_device_speaks(struct session *s)
{
	struct fpdu f;

	if (dut_role() == RESPONDER || peer_to_peer(s->p))
		return;
	agent_post(s->conn, 79, AG_WRITE, AG_SIGNALED, NULL, 0, 0, OUR_STAG, OUR_TO);
	flow_must_get_wc(79, "SUCCESS");
	must_get_first(s->p, &f, OP_WRITE, &s->offer);
}

void flow_zeros_are_taken(struct session *s, const void *bytes, size_t len)
{
	static const uint8_t zeros[24];
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;

	agent_recv(s->conn, 1, &mr, 0, 64);
	peer_send(s->p, bytes, len);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, sizeof(zeros), "byte_len");
	must_have_memory(&mr, 0, zeros, sizeof(zeros));
}
