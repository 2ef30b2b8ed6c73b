// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Types of RNIC: rows M1 to M25 (RFC 5044 appendix C, figures 15 to 17), row C5, and a
 * version 0 connection. Each row runs in both roles: the device is one of its two
 * types, the peer the other.
 */
#include <stdio.h>
#include <string.h>

#include "meet.h"
#include "peer_ext.h"

enum type { RDMAC, NP, P };

static const char *const type_words[] = {
	[RDMAC] = "rdmac", [NP] = "non-permissive", [P] = "permissive",
};

enum { CLOSED = -1 };

/* IDs that each row asserts whose connection stays open */
#define OPEN	" MPA-012 MPA-085 MPA-086 MPA-137 MPA-138 MPA-140"

/* Columns: number, initiator's type and M, responder's type and M, version, markers to
 * the initiator and to the responder, more IDs. Rows M6 and M11 end by what the
 * initiator does: rdmac__nothing_is_sent_to_a_peer_that_closes tests a responder device in
 * them. */
#define ROWS_OF_VERSION_0(ROW)							\
	ROW(1, RDMAC, 1, RDMAC, 1, 0, 1, 1, OPEN " MPA-139 MPA-224")		\
	ROW(2, RDMAC, 1, NP, 0, CLOSED, 0, 0, " MPA-142 MPA-144 Q1")		\
	ROW(3, RDMAC, 1, NP, 1, CLOSED, 0, 0, " MPA-142 MPA-144 Q1")		\
	ROW(4, RDMAC, 1, P, 0, 0, 1, 1, OPEN " MPA-145 MPA-146")		\
	ROW(5, RDMAC, 1, P, 1, 0, 1, 1, OPEN " MPA-146")			\
	ROW(16, P, 0, RDMAC, 1, 0, 1, 1, OPEN " MPA-141 MPA-145 MPA-147")	\
	ROW(21, P, 1, RDMAC, 1, 0, 1, 1, OPEN " MPA-141 MPA-147")
#define ROWS_OF_INITIATORS(ROW)							\
	ROW(6, NP, 0, RDMAC, 1, CLOSED, 0, 0, " MPA-143 MPA-144")		\
	ROW(11, NP, 1, RDMAC, 1, CLOSED, 0, 0, " MPA-143 MPA-144")
#define ROWS_OF_VERSION_1(ROW)							\
	ROW(7, NP, 0, NP, 0, 1, 0, 0) ROW(8, NP, 0, NP, 1, 1, 0, 1)		\
	ROW(9, NP, 0, P, 0, 1, 0, 0) ROW(10, NP, 0, P, 1, 1, 0, 1)		\
	ROW(12, NP, 1, NP, 0, 1, 1, 0) ROW(13, NP, 1, NP, 1, 1, 1, 1)		\
	ROW(14, NP, 1, P, 0, 1, 1, 0) ROW(15, NP, 1, P, 1, 1, 1, 1)		\
	ROW(17, P, 0, NP, 0, 1, 0, 0) ROW(18, P, 0, NP, 1, 1, 0, 1)		\
	ROW(19, P, 0, P, 0, 1, 0, 0) ROW(20, P, 0, P, 1, 1, 0, 1)		\
	ROW(22, P, 1, NP, 0, 1, 1, 0) ROW(23, P, 1, NP, 1, 1, 1, 1)		\
	ROW(24, P, 1, P, 0, 1, 1, 0) ROW(25, P, 1, P, 1, 1, 1, 1)

/* one end of a row: its type, and whether it asks for markers */
struct end {
	enum type type;
	bool m;
};

static const struct row {
	const char *name;
	int rev;		/* of the Request, unless an RDMAC stack sends it */
	struct end ini;
	struct end rsp;
	int version;
	bool ini_markers;	/* in what it receives */
	bool rsp_markers;
} rows[] = {
#define AS_ROW(n, it, im, rt, rm, v, i, r, ...)					\
	{ "m" #n "__version_and_markers", 1, { it, im }, { rt, rm }, v, i, r },
#define AS_ROW_2(n, it, im, rt, rm, v, i, r, ...) \
	{ "m" #n "__at_revision_2", 2, { it, im }, { rt, rm }, v, i, r },
	ROWS_OF_VERSION_0(AS_ROW)
	ROWS_OF_INITIATORS(AS_ROW)
	ROWS_OF_VERSION_1(AS_ROW)
	ROWS_OF_VERSION_1(AS_ROW_2)
	{}
};

/* ---- frames by type ---- */

static uint8_t flags_of(const struct end *end)
{
	return (end->type == RDMAC || end->m ? MPA_M : 0) | MPA_C;
}

static void build_request(const struct row *row, struct mpa_frame *f)
{
	if (row->ini.type != RDMAC && row->rev == 2)
		meet_enhanced(f, false, false, 0, 8, 8);
	else
		mpa_plain(f, false);
	if (row->ini.type == RDMAC)
		f->rev = 0;
	f->flags |= flags_of(&row->ini);
}

/* the Reply of a responder of the row's type to that Request */
static void build_reply(const struct row *row, const struct mpa_frame *req,
			struct mpa_frame *f)
{
	bool v0 = row->rsp.type == RDMAC || (!req->rev && row->rsp.type == P);

	if (req->flags & MPA_S)
		meet_enhanced(f, true, enh_p2p(req), enh_types(req), 8, 8);
	else
		mpa_plain(f, true);
	f->rev = v0 ? 0 : req->rev ? req->rev : 1;
	f->flags |= v0 ? MPA_M | MPA_C : flags_of(&row->rsp);
}

static void check_frame(const struct mpa_frame *f, int rev, uint8_t flags)
{
	must_eq(f->rev, rev, "Rev");
	must_eq(f->flags & (MPA_M | MPA_C), flags, "M and C");
	must_eq(f->flags & 0x0f, 0, "reserved bits");
}

static void device_is(const struct end *end, int rev)
{
	char words[80];

	snprintf(words, sizeof(words), "rnic %s markers %s mpa-rev %d",
		 type_words[end->type], end->m ? "on" : "off", rev);
	agent_set(words);
}

/* ---- Full Operation ---- */

#define MESSAGE	700	/* long enough to contain a marker */

static void must_have_version(const struct seg *s, int version)
{
	must_eq(s->ctrl & 3, version, "DV");
	must_eq(s->rdmap >> 6, version, "RV");
	must_eq(s->ctrl & 0x3c, 0, "reserved bits of byte 0");
	must_eq(s->rdmap & 0x30, 0, "reserved bits of byte 1");
}

static void check_sends_to_device(struct meeting *m)
{
	struct agent_mr mr = agent_mr(1024, "l");
	uint8_t data[MESSAGE];
	struct agent_wc wc;

	memset(data, 0x3c, sizeof(data));
	agent_recv(m->conn, 1, &mr, 0, 1024);
	send_send(m->p, data, sizeof(data));
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, sizeof(data), "byte_len");
	must_have_memory(&mr, 0, data, sizeof(data));
}

static void check_sends_of_device(struct meeting *m)
{
	struct agent_mr mr = agent_mr(1024, "l");
	unsigned int got = 0, markers = 0;
	struct agent_wc wc;
	struct hello offer;
	struct fpdu f;

	agent_post(m->conn, 2, AG_SEND, AG_SIGNALED, &mr, 0, MESSAGE, 0, 0);
	must_get_first(m->p, &f, OP_SEND, &offer);
	must(m->p->version || !offer.version, "an offer on a connection of version 0");
	for (;;) {
		must_have_version(&f.seg, m->p->version);
		got += f.seg.len;
		markers += f.markers;
		if (seg_last(&f.seg))
			break;
		must_get_op(m->p, &f, OP_SEND);
	}
	must_eq(got, MESSAGE, "bytes of the Send");
	must(m->p->rx_markers == !!markers, "%u markers in the Send", markers);
	agent_must_get_wc(2, "SUCCESS", &wc);
}

/* Frame as the row says, not as peer_agree() derived from the frames, and exchange
 * Sends. */
static void operate(struct meeting *m, const struct row *row)
{
	bool we_send_request = dut_role() == RESPONDER;

	m->p->version = row->version;
	m->p->crc = true;
	m->p->rx_markers = we_send_request ? row->ini_markers : row->rsp_markers;
	m->p->tx_markers = we_send_request ? row->rsp_markers : row->ini_markers;
	if (!we_send_request && m->p->request.flags & MPA_S && enh_p2p(&m->p->request))
		must_get_any_rtr(m->p, enh_types(&m->p->request));
	must_be_up(m);
	check_sends_to_device(m);
	check_sends_of_device(m);
}

/* ---- the device is the responder ---- */

/* rows M2 and M3: the device sends a Reply with a Rev that it supports, then FIN (Q1) */
static void must_refuse_version(const struct row *row, const struct mpa_frame *req)
{
	struct peer *p = peer_connect(agent_listen(), &(struct peer_tcp) {});

	peer_send_frame(p, req);
	must(peer_recv_frame(p, true, &p->reply, patience(1000)), "no Reply came");
	check_frame(&p->reply, 1, flags_of(&row->rsp));
	must_eq(p->reply.flags & (MPA_R | MPA_S), MPA_R, "R and S");
	must_eq(p->reply.pd_len, 0, "PD_Length");
	must_fin_silently(p);
	agent_must_get_no_event(50);
}

static void row_responder(const struct row *row)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req, want;

	device_is(&row->rsp, 2);
	build_request(row, &req);
	build_reply(row, &req, &want);
	if (row->rsp.type == NP && row->ini.type == RDMAC)
		return must_refuse_version(row, &req);
	meet_responder(&m, &req);
	check_frame(&m.p->reply, want.rev, want.flags & (MPA_M | MPA_C));
	operate(&m, row);
}

/* ---- the device is the initiator ---- */

static void row_initiator(const struct row *row)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame reply;

	device_is(&row->ini, row->rev);
	meet_call(&m);
	check_frame(&m.p->request, row->ini.type == RDMAC ? 0 : row->rev,
		    flags_of(&row->ini));
	build_reply(row, &m.p->request, &reply);
	meet_answer(&m, &reply);
	if (row->version == CLOSED) {
		must_fin_silently(m.p);
		return must_have_failed(&m);
	}
	operate(&m, row);
}

static void run_row(void)
{
	const struct row *row = ROW_OF_TEST(rows);

	if (dut_role() == RESPONDER)
		row_responder(row);
	else
		row_initiator(row);
}

/* ---- version 0 ---- */

/* a Permissive device meets an RDMAC peer whose frame says C=@c */
static struct meeting meet_rdmac(bool c)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	agent_set("rnic permissive mpa-rev 1");
	mpa_plain(&f, dut_role() == INITIATOR);
	f.rev = 0;
	f.flags = MPA_M | (c ? MPA_C : 0);
	if (dut_role() == RESPONDER) {
		meet_responder(&m, &f);
		check_frame(&m.p->reply, 0, MPA_M | MPA_C);
	} else {
		meet_call(&m);
		meet_answer(&m, &f);
	}
	m.p->version = 0;
	m.p->crc = true;
	m.p->rx_markers = true;
	m.p->tx_markers = true;
	must_be_up(&m);
	return m;
}

static void c5__crc_is_on_whatever_the_frames_say(void)
{
	struct fpdu_fault fault = { .crc_xor = 0x10 };
	uint8_t ulpdu[128], out[256];
	struct meeting m;
	uint32_t len;

	agent_set("crc off");
	m = meet_rdmac(false);
	check_sends_to_device(&m);
	check_sends_of_device(&m);
	len = seg_write(m.p, 1, 1, NULL, 0, true, ulpdu);
	peer_send(m.p, out, fpdu_build(m.p, ulpdu, len, &fault, out));
	must_get_terminate(m.p, 2, 0, 0x02, false, NULL);
}

/* each kind of message that the device sends */
static void version_0__is_in_every_segment(void)
{
	struct meeting m = meet_rdmac(true);
	struct agent_mr mr = agent_mr(1024, "lrw");
	struct agent_wc wc;
	struct fpdu f;

	check_sends_to_device(&m);
	check_sends_of_device(&m);
	agent_post(m.conn, 3, AG_WRITE, AG_SIGNALED, &mr, 0, 16, 0x7e57, 0);
	must_get_op(m.p, &f, OP_WRITE);
	must_have_version(&f.seg, 0);
	agent_must_get_wc(3, "SUCCESS", &wc);
	agent_post(m.conn, 4, AG_READ, AG_SIGNALED, &mr, 0, 4, 0x7e57, 0);
	must_get_op(m.p, &f, OP_READ_REQ);
	must_have_version(&f.seg, 0);
	send_read_resp(m.p, get32(f.seg.data), get64(f.seg.data + 4), "data", 4);
	agent_must_get_wc(4, "SUCCESS", &wc);
	send_read_req(m.p, 0x51, 0, 16, mr.rkey, mr.va);
	must_get_op(m.p, &f, OP_READ_RESP);
	must_have_version(&f.seg, 0);
	/* a Send without a receive, so that the device sends a Terminate */
	send_rtr(m.p, OP_SEND);
	must_get_fpdu(m.p, &f);
	must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode for a Send without a receive");
	must_have_version(&f.seg, 0);
}

/* @ctrl and @rdmap as the first two bytes of a segment cause this Terminate */
static void must_get_version_error(uint8_t ctrl, uint8_t rdmap, uint8_t layer,
				   uint8_t etype, uint8_t code)
{
	struct meeting m = meet_rdmac(true);
	struct agent_mr mr = agent_mr(64, "lw");
	uint8_t ulpdu[128];
	uint32_t len;

	agent_recv(m.conn, 1, &mr, 0, 64);
	send_rtr(m.p, OP_WRITE);
	if (ctrl & DDP_TAGGED)
		len = seg_write(m.p, mr.rkey, mr.va, "x", 1, true, ulpdu);
	else
		len = seg_send(m.p, OP_SEND, 0, 0, "x", 1, true, ulpdu);
	ulpdu[0] = ctrl;
	ulpdu[1] = rdmap;
	peer_send_fpdu(m.p, ulpdu, len);
	must_get_terminate(m.p, layer, etype, code, false, NULL);
	must_be_untouched(&mr);
	meet_leave(&m);
}

static void version_0__other_dv_ends_a_tagged_segment(void)
{
	for (int dv = 1; dv <= 3; dv++)
		must_get_version_error(DDP_TAGGED | DDP_LAST | dv, OP_WRITE, 1, 1, 0x04);
}

static void version_0__other_dv_ends_an_untagged_segment(void)
{
	for (int dv = 1; dv <= 3; dv++)
		must_get_version_error(DDP_LAST | dv, OP_SEND, 1, 2, 0x06);
}

static void version_0__other_rv_ends_it(void)
{
	for (int rv = 1; rv <= 3; rv++)
		must_get_version_error(DDP_TAGGED | DDP_LAST, rv << 6 | OP_WRITE, 0, 2,
				       0x05);
}

static void version_0__is_told(void)
{
	struct meeting m = meet_rdmac(true);

	must_have_state(m.p, "version", 0);
	must_have_state(m.p, "peer_rev", 0);
}

/* ---- an RDMAC device ---- */

static void rdmac__always_says_rev_0_m_and_c(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;

	agent_set("rnic rdmac crc off markers off");
	if (dut_role() == INITIATOR) {
		meet_call(&m);
		check_frame(&m.p->request, 0, MPA_M | MPA_C);
		must_eq(m.p->request.flags & MPA_S, 0, "S");
		return;
	}
	for (int rev = 0; rev <= 1; rev++) {
		m = (struct meeting)MEETING_DEFAULT;
		mpa_plain(&req, false);
		req.rev = rev;
		meet_responder(&m, &req);
		check_frame(&m.p->reply, 0, MPA_M | MPA_C);
		meet_leave(&m);
	}
}

/* The Non-permissive peer closes when it reads Rev 0 (rows M6, M11): what the program
 * has posted until then waits at the fence and is flushed. */
static void rdmac__nothing_is_sent_to_a_peer_that_closes(void)
{
	struct agent_mr mr = agent_mr(1024, "l");
	struct mpa_frame req;
	struct agent_event ev;
	struct agent_wc wc;
	struct meeting m;

	agent_set("rnic rdmac");
	for (int markers = 0; markers <= 1; markers++) {
		m = (struct meeting)MEETING_DEFAULT;
		mpa_plain(&req, false);
		req.flags |= markers ? MPA_M : 0;
		meet_responder(&m, &req);
		check_frame(&m.p->reply, 0, MPA_M | MPA_C);
		agent_post(m.conn, 5, AG_SEND, AG_SIGNALED, &mr, 0, 64, 0, 0);
		must_be_silent(m.p, 50);
		peer_shutdown(m.p);
		must_close_silently(m.p);
		agent_must_get_wc(5, "WR_FLUSH_ERR", &wc);
		do
			must(agent_event(&ev, patience(1000)), "the ULP hears of no end");
		while (strcmp(ev.name, "DISCONNECTED"));
		must_eq(ev.conn, m.conn, "connection of the event");
		meet_leave(&m);
	}
}

static void rdmac_initiator_gets(uint8_t rev, uint8_t flags)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame reply;

	meet_call(&m);
	mpa_plain(&reply, true);
	reply.rev = rev;
	reply.flags = MPA_M | MPA_C | flags;
	meet_answer(&m, &reply);
	must_close_silently(m.p);
	must_have_failed(&m);
	agent_destroy(m.conn);
}

static void rdmac__reply_of_rev_1_is_a_refusal(void)
{
	agent_set("rnic rdmac");
	rdmac_initiator_gets(1, 0);
	rdmac_initiator_gets(1, MPA_R);
}

static void rdmac__reply_of_rev_0_may_reject(void)
{
	agent_set("rnic rdmac");
	rdmac_initiator_gets(0, MPA_R);
}

/* ---- Rev 2 meets an RDMAC peer ---- */

static void rev_0_reply(struct meeting *m)
{
	struct mpa_frame reply;

	mpa_plain(&reply, true);
	reply.rev = 0;
	reply.flags = MPA_M | MPA_C;
	meet_answer(m, &reply);
}

static void operate_at_version_0(struct meeting *m)
{
	m->p->version = 0;
	m->p->crc = true;
	m->p->rx_markers = true;
	m->p->tx_markers = true;
	must_be_up(m);
	check_sends_to_device(m);
	check_sends_of_device(m);
}

static void rev_2_plain__goes_on_with_version_0_where_permissive(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("rnic permissive enhanced off");
	meet_call(&m);
	check_frame(&m.p->request, 2, MPA_C);
	rev_0_reply(&m);
	operate_at_version_0(&m);
}

/* Wait for an error, or for one more Request, of Rev 1, after the close; Return: a
 * Request came. */
static bool called_again(struct meeting *m)
{
	m->p = peer_accept(patience(3000));
	if (!m->p) {
		must_have_failed(m);
		return false;
	}
	must(peer_recv_frame(m->p, false, &m->p->request, patience(1000)),
	     "no second Request");
	check_frame(&m->p->request, 1, MPA_C);
	must_eq(m->p->request.flags & MPA_S, 0, "S of the second Request");
	return true;
}

static void rev_2_plain__is_closed_where_non_permissive(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("rnic non-permissive enhanced off");
	meet_call(&m);
	rev_0_reply(&m);
	must_fin_silently(m.p);
	if (!called_again(&m))
		return;
	rev_0_reply(&m);
	must_fin_silently(m.p);
	must_have_failed(&m);
}

/* H14, then M16 on the plain retry */
static void rev_2_enhanced__falls_back_to_version_0_where_permissive(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("rnic permissive");
	meet_call_enhanced(&m);
	rev_0_reply(&m);
	must_close_silently(m.p);
	if (!called_again(&m))
		return;
	rev_0_reply(&m);
	operate_at_version_0(&m);
}

#define AS_TEST_0(n, it, im, rt, rm, v, i, r, more)				\
	AS_TEST_OF("__version_and_markers", "M" #n more, EITHER,			\
		   n, it, im, rt, rm, v, i, r)
#define AS_TEST_I(n, it, im, rt, rm, v, i, r, more)				\
	AS_TEST_OF("__version_and_markers", "M" #n more, INITIATOR,		\
		   n, it, im, rt, rm, v, i, r)
#define AS_TEST_1(n, it, im, rt, rm, v, i, r)					\
	AS_TEST_OF("__version_and_markers", "M" #n OPEN, EITHER,			\
		   n, it, im, rt, rm, v, i, r)
#define AS_TEST_2(n, it, im, rt, rm, v, i, r)					\
	AS_TEST_OF("__at_revision_2", "M" #n OPEN, EITHER,			\
		   n, it, im, rt, rm, v, i, r)
#define AS_TEST_OF(case, ids, role, n, it, im, rt, rm, v, i, r)			\
	{ "m" #n case, ids,							\
	  "initiator " #it " M=" #im ", responder " #rt " M=" #rm ": version " #v \
	  ", markers to the initiator " #i ", to the responder " #r,		\
	  role, NEED_SET, run_row },

static const struct conform_test tests[] = {
	ROWS_OF_VERSION_0(AS_TEST_0)
	ROWS_OF_INITIATORS(AS_TEST_I)
	ROWS_OF_VERSION_1(AS_TEST_1)
	ROWS_OF_VERSION_1(AS_TEST_2)
	{ "c5__crc_is_on_whatever_the_frames_say", "C5 MPA-140",
	  "Rev 0 in a frame: both ends generate and check CRCs, also where it says C=0",
	  EITHER, NEED_SET, c5__crc_is_on_whatever_the_frames_say },
	{ "version_0__is_in_every_segment", "MPA-225 MPA-137 MPA-138 MPA-012",
	  "on a version 0 connection DV and RV are 0 in every segment, markers and CRC in both directions",
	  EITHER, NEED_SET, version_0__is_in_every_segment },
	{ "version_0__other_dv_ends_a_tagged_segment", "MPA-225 MPA-138",
	  "a tagged segment of another DV ends a version 0 connection with 1/1/04",
	  EITHER, NEED_SET, version_0__other_dv_ends_a_tagged_segment },
	{ "version_0__other_dv_ends_an_untagged_segment", "MPA-225 MPA-138",
	  "an untagged segment of another DV ends a version 0 connection with 1/2/06",
	  EITHER, NEED_SET, version_0__other_dv_ends_an_untagged_segment },
	{ "version_0__other_rv_ends_it", "MPA-225 MPA-138",
	  "a segment of another RV ends a version 0 connection with 0/2/05",
	  EITHER, NEED_SET, version_0__other_rv_ends_it },
	{ "version_0__is_told", "MPA-146 MPA-147",
	  "that version 0 is in use can be read",
	  EITHER, NEED_SET | NEED_STATE, version_0__is_told },
	{ "rdmac__always_says_rev_0_m_and_c", "MPA-139 G1 G7",
	  "an RDMAC RNIC says Rev 0, M=1, C=1 whatever else it wants and whatever the Request says",
	  EITHER, NEED_SET, rdmac__always_says_rev_0_m_and_c },
	{ "rdmac__nothing_is_sent_to_a_peer_that_closes", "MPA-139 MPA-112 MPA-120 MPA-069",
	  "an RDMAC responder sends nothing to a peer that closes on its Rev 0, and flushes what was posted",
	  RESPONDER, NEED_SET, rdmac__nothing_is_sent_to_a_peer_that_closes },
	{ "rdmac__reply_of_rev_1_is_a_refusal", "MPA-224 M2 M3",
	  "an RDMAC initiator takes a Reply of Rev 1 as a refusal, whatever its R",
	  INITIATOR, NEED_SET, rdmac__reply_of_rev_1_is_a_refusal },
	{ "rdmac__reply_of_rev_0_may_reject", "MPA-224",
	  "a Reply of Rev 0 with R=1 rejects",
	  INITIATOR, NEED_SET, rdmac__reply_of_rev_0_may_reject },
	{ "rev_2_plain__goes_on_with_version_0_where_permissive", "MPA-224 MPA-147",
	  "Rev 2, S=0 answered by Rev 0, R=0: a Permissive initiator goes on with version 0",
	  INITIATOR, NEED_SET, rev_2_plain__goes_on_with_version_0_where_permissive },
	{ "rev_2_plain__is_closed_where_non_permissive", "MPA-224 MPA-144",
	  "Rev 2, S=0 answered by Rev 0, R=0: a Non-permissive initiator closes gracefully; it may retry at Rev 1",
	  INITIATOR, NEED_SET, rev_2_plain__is_closed_where_non_permissive },
	{ "rev_2_enhanced__falls_back_to_version_0_where_permissive", "M16 H14 MPA-147",
	  "an enhanced Request answered by Rev 0: closed; a plain retry by a Permissive initiator leads to version 0",
	  INITIATOR, NEED_SET, rev_2_enhanced__falls_back_to_version_0_where_permissive },
	{}
};

const struct conform_group rdmac_group = { "rdmac", tests };
