// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The connection model and the RTR (RFC 6581 9.2): rows F1 to F63 of `requirements`.
 * Each of rows F3 to F58 runs in both roles. As the responder the device takes the
 * row's types and the test checks its Reply; as the initiator it offers the row's
 * types and the test checks its first message.
 */
#include <stdio.h>
#include <string.h>

#include "meet.h"
#include "peer_ext.h"

/* the initiator's first message */
enum first { NONE, WRITE, READ, SEND };

static const enum rdmap_op op_of[] = {
	[WRITE] = OP_WRITE, [READ] = OP_READ_REQ, [SEND] = OP_SEND,
};

#define BCD(b, c, d)	((b) * RTR_B + (c) * RTR_C + (d) * RTR_D)

/* number, B C D of the Request, B C D that the responder takes, first message */
#define F_ROWS(ROW)								\
	ROW(3, 0, 0, 0, 0, 0, 1, NONE) ROW(4, 0, 0, 0, 0, 1, 0, NONE)		\
	ROW(5, 0, 0, 0, 0, 1, 1, NONE) ROW(6, 0, 0, 0, 1, 0, 0, NONE)		\
	ROW(7, 0, 0, 0, 1, 0, 1, NONE) ROW(8, 0, 0, 0, 1, 1, 0, NONE)		\
	ROW(9, 0, 0, 0, 1, 1, 1, NONE)						\
	ROW(10, 0, 0, 1, 0, 0, 1, READ) ROW(11, 0, 0, 1, 0, 1, 0, NONE)		\
	ROW(12, 0, 0, 1, 0, 1, 1, READ) ROW(13, 0, 0, 1, 1, 0, 0, NONE)		\
	ROW(14, 0, 0, 1, 1, 0, 1, READ) ROW(15, 0, 0, 1, 1, 1, 0, NONE)		\
	ROW(16, 0, 0, 1, 1, 1, 1, READ)						\
	ROW(17, 0, 1, 0, 0, 0, 1, NONE) ROW(18, 0, 1, 0, 0, 1, 0, WRITE)	\
	ROW(19, 0, 1, 0, 0, 1, 1, WRITE) ROW(20, 0, 1, 0, 1, 0, 0, NONE)	\
	ROW(21, 0, 1, 0, 1, 0, 1, NONE) ROW(22, 0, 1, 0, 1, 1, 0, WRITE)	\
	ROW(23, 0, 1, 0, 1, 1, 1, WRITE)					\
	ROW(24, 0, 1, 1, 0, 0, 1, READ) ROW(25, 0, 1, 1, 0, 1, 0, WRITE)	\
	ROW(26, 0, 1, 1, 0, 1, 1, WRITE) ROW(27, 0, 1, 1, 1, 0, 0, NONE)	\
	ROW(28, 0, 1, 1, 1, 0, 1, READ) ROW(29, 0, 1, 1, 1, 1, 0, WRITE)	\
	ROW(30, 0, 1, 1, 1, 1, 1, WRITE)					\
	ROW(31, 1, 0, 0, 0, 0, 1, NONE) ROW(32, 1, 0, 0, 0, 1, 0, NONE)		\
	ROW(33, 1, 0, 0, 0, 1, 1, NONE) ROW(34, 1, 0, 0, 1, 0, 0, SEND)		\
	ROW(35, 1, 0, 0, 1, 0, 1, SEND) ROW(36, 1, 0, 0, 1, 1, 0, SEND)		\
	ROW(37, 1, 0, 0, 1, 1, 1, SEND)						\
	ROW(38, 1, 0, 1, 0, 0, 1, READ) ROW(39, 1, 0, 1, 0, 1, 0, NONE)		\
	ROW(40, 1, 0, 1, 0, 1, 1, READ) ROW(41, 1, 0, 1, 1, 0, 0, SEND)		\
	ROW(42, 1, 0, 1, 1, 0, 1, READ) ROW(43, 1, 0, 1, 1, 1, 0, SEND)		\
	ROW(44, 1, 0, 1, 1, 1, 1, READ)						\
	ROW(45, 1, 1, 0, 0, 0, 1, NONE) ROW(46, 1, 1, 0, 0, 1, 0, WRITE)	\
	ROW(47, 1, 1, 0, 0, 1, 1, WRITE) ROW(48, 1, 1, 0, 1, 0, 0, SEND)	\
	ROW(49, 1, 1, 0, 1, 0, 1, SEND) ROW(50, 1, 1, 0, 1, 1, 0, WRITE)	\
	ROW(51, 1, 1, 0, 1, 1, 1, WRITE)					\
	ROW(52, 1, 1, 1, 0, 0, 1, READ) ROW(53, 1, 1, 1, 0, 1, 0, WRITE)	\
	ROW(54, 1, 1, 1, 0, 1, 1, WRITE) ROW(55, 1, 1, 1, 1, 0, 0, SEND)	\
	ROW(56, 1, 1, 1, 1, 0, 1, READ) ROW(57, 1, 1, 1, 1, 1, 0, WRITE)	\
	ROW(58, 1, 1, 1, 1, 1, 1, WRITE)

static const struct row {
	const char *name;
	int offered;
	int taken;
	enum first first;
} rows[] = {
#define AS_ROW(n, b, c, d, tb, tc, td, first) \
	{ "f" #n "__model_and_rtr", BCD(b, c, d), BCD(tb, tc, td), first },
	F_ROWS(AS_ROW)
	{}
};

/* ---- F3 to F58, the device is the responder: the Reply, and what follows ---- */

static bool several(int types)
{
	return types & (types - 1);
}

/*
 * RFC 6581 9.2: a Reply lists one or more types that the responder takes. It need not
 * list all of them, and may list types that were not offered (MPA-197, MPA-198). If
 * the responder takes several of the offered types, it must list one of these
 * (MPA-199).
 */
static int usable_types(const struct mpa_frame *reply, const struct row *row)
{
	int types = enh_types(reply), shared = row->offered & row->taken;

	must(enh_p2p(reply), "A of the Reply is 0");
	must(types, "B C D of the Reply are 0");
	must(!(types & ~row->taken), "the Reply lists %d, of %d that are taken",
	     types, row->taken);
	if (several(shared))
		must(types & shared, "the Reply lists %d, of %d that both take none",
		     types, shared);
	return types & shared;
}

static void row_responder(const struct row *row)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;
	int usable;

	set_rtr(row->taken);
	meet_enhanced(&req, false, true, row->offered, 8, 8);
	meet_responder(&m, &req);
	usable = usable_types(&m.p->reply, row);
	if (!usable) {
		uint8_t out[TERM_MAX + 64];
		uint32_t len = seg_terminate(m.p, 2, 0, 0x07, out);

		peer_send_fpdu(m.p, out, len);
		must_close_silently(m.p);
		return must_not_be_up(&m);
	}
	send_rtr(m.p, preferred_rtr(usable));
	must_be_up(&m);
	must_be_alive(m.p);
}

/* ---- F3 to F58, the device is the initiator: the first message ---- */

static void row_initiator(const struct row *row)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame reply;

	set_rtr(row->offered);
	meet_call_enhanced(&m);
	must(enh_p2p(&m.p->request), "A of the Request is 0");
	must_eq(enh_types(&m.p->request), row->offered, "B C D of the Request");
	meet_enhanced(&reply, true, true, row->taken, 8, 8);
	meet_answer(&m, &reply);
	if (row->first == NONE) {
		must_get_terminate(m.p, 2, 0, 0x07, false, NULL);
		return must_have_failed(&m);
	}
	must_get_rtr(m.p, op_of[row->first]);
	must_be_up(&m);
	must_be_alive(m.p);
}

static void run_row(void)
{
	const struct row *row = ROW_OF_TEST(rows);

	if (dut_role() == RESPONDER)
		row_responder(row);
	else
		row_initiator(row);
}

/* ---- F1, F2: client-server ---- */

static void send_of_ulp_is_first(struct meeting *m)
{
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;
	struct hello offer;
	struct fpdu f;

	agent_post(m->conn, 7, AG_SEND, AG_SIGNALED, &mr, 0, 5, 0, 0);
	must_get_first(m->p, &f, OP_SEND, &offer);
	must_eq(f.seg.len, 5, "length of the ULP's Send");
	agent_must_get_wc(7, "SUCCESS", &wc);
}

static void client_server_responder(int types)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;
	struct mpa_frame req;

	meet_enhanced(&req, false, false, types, 8, 8);
	meet_responder(&m, &req);
	must(!enh_p2p(&m.p->reply), "A of the Reply is 1");
	must_eq(enh_types(&m.p->reply), 0, "B C D of the Reply");
	must_be_up(&m);
	agent_recv(m.conn, 1, &mr, 0, 64);
	send_send(m.p, "hello", 5);
	agent_must_get_wc(1, "SUCCESS", &wc);
	send_of_ulp_is_first(&m);
	meet_leave(&m);
}

static void client_server_initiator(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame reply;

	agent_set("p2p off");
	meet_call_enhanced(&m);
	must(!enh_p2p(&m.p->request), "A of the Request is 1");
	must_eq(enh_types(&m.p->request), 0, "B C D of the Request");
	meet_enhanced(&reply, true, false, 0, 8, 8);
	meet_answer(&m, &reply);
	must_be_up(&m);
	must_be_silent(m.p, 100);
	send_of_ulp_is_first(&m);
}

static void f1__client_server_has_no_rtr(void)
{
	if (dut_role() == RESPONDER)
		client_server_responder(0);
	else
		client_server_initiator();
}

static void f2__flags_without_a_are_ignored(void)
{
	for (int types = 1; types <= RTR_ALL; types++)
		client_server_responder(types);
}

/* when the frames did not agree on B, a zero-length Send is a message of the ULP */
static void f2__zero_length_send_is_no_rtr(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_mr mr = agent_mr(64, "l");
	struct mpa_frame req;
	struct agent_wc wc;

	meet_enhanced(&req, false, false, RTR_B, 8, 8);
	meet_responder(&m, &req);
	must_be_up(&m);
	agent_recv(m.conn, 1, &mr, 0, 64);
	send_send(m.p, NULL, 0);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must_eq(wc.byte_len, 0, "byte_len");
}

/* ---- F59 to F63: Replies that do not match the Request ---- */

/* the device asks for peer-to-peer with all types, or for client-server */
static void call(struct meeting *m, bool p2p)
{
	agent_set(p2p ? "p2p on" : "p2p off");
	meet_call_enhanced(m);
	must_eq(enh_p2p(&m->p->request), p2p, "A of the Request");
}

static void answer(struct meeting *m, bool p2p, int types, int ird)
{
	struct mpa_frame reply;

	meet_enhanced(&reply, true, p2p, types, ird, 8);
	meet_answer(m, &reply);
}

static void f59__model_not_granted(void)
{
	for (int types = 0; types <= RTR_ALL; types += RTR_ALL) {
		struct meeting m = MEETING_DEFAULT;

		call(&m, true);
		answer(&m, false, types, 8);
		must_get_terminate(m.p, 2, 0, 0x07, false, NULL);
		must_have_failed(&m);
	}
}

static void f60__no_type_granted(void)
{
	struct meeting m = MEETING_DEFAULT;

	call(&m, true);
	answer(&m, true, 0, 8);
	must_get_terminate(m.p, 2, 0, 0x07, false, NULL);
	must_have_failed(&m);
}

static void f61__model_not_asked_for(void)
{
	for (int types = 1; types <= RTR_ALL; types++) {
		struct meeting m = MEETING_DEFAULT;

		call(&m, false);
		answer(&m, true, types, 8);
		must_get_rtr(m.p, preferred_rtr(types));
		must_be_up(&m);
		must_be_alive(m.p);
		meet_leave(&m);
	}
}

static void f62__model_not_asked_for_and_no_type(void)
{
	struct meeting m = MEETING_DEFAULT;

	call(&m, false);
	answer(&m, true, 0, 8);
	must_get_terminate(m.p, 2, 0, 0x07, false, NULL);
	must_have_failed(&m);
}

/* a rejecting Reply may have any flags: no FPDU follows */
static void f63__flags_of_a_reject_are_information(void)
{
	static const struct {
		bool p2p;
		int types;
	} replies[] = { { true, RTR_ALL }, { true, 0 }, { false, RTR_ALL } };

	for (int i = 0; i < 3; i++) {
		struct meeting m = MEETING_DEFAULT;
		struct mpa_frame reply;

		meet_call_enhanced(&m);
		meet_enhanced(&reply, true, replies[i].p2p, replies[i].types, 8, 8);
		reply.flags |= MPA_R;
		meet_answer(&m, &reply);
		must_close_silently(m.p);
		must_have_failed(&m);
		agent_destroy(m.conn);
	}
}

/* a responder may list fewer or more types than it was offered (MPA-198) */
static void reply__may_list_types_that_were_not_offered(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame req;

	meet_enhanced(&req, false, true, RTR_C, 8, 8);
	meet_responder(&m, &req);
	must(enh_p2p(&m.p->reply), "A of the Reply is 0");
	must(enh_types(&m.p->reply), "no type is listed");
	if (enh_types(&m.p->reply) & RTR_C)
		send_rtr(m.p, OP_WRITE);
	else
		skip("the device does not take an RTR Write");
	must_be_up(&m);
}

#define IDS_NONE	"MPA-168 MPA-172 MPA-200 MPA-202"
#define IDS_WRITE	"MPA-197 MPA-199 MPA-201"
#define IDS_READ	IDS_WRITE
#define IDS_SEND	IDS_WRITE
#define AS_TEST(n, b, c, d, tb, tc, td, first)					\
	{ "f" #n "__model_and_rtr",						\
	  "F" #n " MPA-190 MPA-195 " IDS_##first,				\
	  "Request A B C D = 1 " #b " " #c " " #d ", responder takes B C D = "	\
	  #tb " " #tc " " #td ": the Reply lists of these at least one, an "	\
	  "offered one if it can; the initiator answers the row's Reply by RTR "	\
	  #first " (NONE: Terminate 2/0/07, close)",				\
	  BCD(b, c, d) ? EITHER : RESPONDER, NEED_SET, run_row },

static const struct conform_test tests[] = {
	{ "f1__client_server_has_no_rtr", "F1 MPA-191 MPA-192 MPA-196 MPA-203",
	  "A=0 is answered by A=B=C=D=0; any message of the ULP is the first one, its own RTR",
	  EITHER, NEED_SET, f1__client_server_has_no_rtr },
	{ "f2__flags_without_a_are_ignored", "F2 MPA-193 MPA-196 MPA-192",
	  "B, C and D of a Request with A=0 mean nothing: client-server",
	  RESPONDER, 0, f2__flags_without_a_are_ignored },
	{ "f2__zero_length_send_is_no_rtr", "F2 MPA-193",
	  "with A=0 a zero-length Send is a message of the ULP, B or not",
	  RESPONDER, 0, f2__zero_length_send_is_no_rtr },
	F_ROWS(AS_TEST)
	{ "f59__model_not_granted", "F59 MPA-169 MPA-202",
	  "Reply A=0 to A=1: the wanted model is not granted: Terminate 2/0/07, flags ignored",
	  INITIATOR, NEED_SET, f59__model_not_granted },
	{ "f60__no_type_granted", "F60 MPA-202 P7",
	  "Reply A=1 without a type: Terminate 2/0/07",
	  INITIATOR, NEED_SET, f60__no_type_granted },
	{ "f61__model_not_asked_for", "F61 MPA-201",
	  "Reply A=1 to A=0: an RTR of a listed type goes first, then on",
	  INITIATOR, NEED_SET, f61__model_not_asked_for },
	{ "f62__model_not_asked_for_and_no_type", "F62 MPA-202",
	  "Reply A=1 without a type to A=0: Terminate 2/0/07",
	  INITIATOR, NEED_SET, f62__model_not_asked_for_and_no_type },
	{ "f63__flags_of_a_reject_are_information", "F63",
	  "a rejecting Reply is followed by no RTR and no Terminate, whatever its flags",
	  INITIATOR, 0, f63__flags_of_a_reject_are_information },
	{ "reply__may_list_types_that_were_not_offered", "MPA-194 MPA-198 MPA-199",
	  "a Reply lists at least one type that it takes",
	  RESPONDER, 0, reply__may_list_types_that_were_not_offered },
	{}
};

const struct conform_group rtr_group = { "rtr", tests };
