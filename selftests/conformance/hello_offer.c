// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The hello at a device that is the initiator (Q35 to Q42): where it offers, what it makes
 * of an answer, and what it does when none comes. The responder's part is in hello.c.
 */
#include <string.h>
#include <unistd.h>

#include "ext.h"
#include "meet.h"

#define BOTH	(HELLO_7306 | HELLO_V2)

/* ---- startups ---- */

/* the device calls; our Reply lists @types as RTR and has these depths */
static void call_depths(struct meeting *m, int types, int ird, int ord)
{
	struct mpa_frame reply;

	meet_call_enhanced(m);
	meet_enhanced(&reply, true, true, types, ird, ord);
	meet_answer(m, &reply);
}

static void call(struct meeting *m, int types)
{
	call_depths(m, types, 8, 8);
}

/* the device has @mode and has offered in its RTR Write */
static struct meeting offered(const char *mode)
{
	struct meeting m = MEETING_DEFAULT;

	ext_set(mode);
	call(&m, RTR_C);
	must_get_hello(m.p, HELLO_OFFER, BOTH);
	must_be_up(&m);
	return m;
}

/* the device calls without the peer-to-peer model, plain or enhanced, and no FPDU was
 * sent */
static void call_client(struct meeting *m, bool plain)
{
	struct mpa_frame reply;

	agent_set(plain ? "mpa-rev 1" : "p2p off");
	meet_call(m);
	if (plain)
		mpa_plain(&reply, true);
	else
		meet_enhanced(&reply, true, false, 0, 8, 8);
	meet_answer(m, &reply);
	must_be_up(m);
}

static void post_send(const struct meeting *m, uint64_t wr_id)
{
	struct agent_mr mr = agent_mr(64, "l");

	agent_post(m->conn, wr_id, AG_SEND, AG_SIGNALED, &mr, 0, 8, 0, 0);
}

static void post_write_imm(const struct meeting *m, uint64_t wr_id)
{
	const struct agent_imm r = { .op = AG_WRITE_IMM, .flags = AG_SIGNALED,
				     .imm = EXT_IMM, .imm_len = 4 };

	agent_post_imm(m->conn, wr_id, &r);
}

/* ---- where it offers ---- */

static void hello_offer__is_the_rtr_write(void)
{
	struct meeting m = offered("negotiate");

	must_be_silent(m.p, 100);
}

static void hello_offer__assume_offers_too(void)
{
	struct meeting m = offered("assume-7306");

	post_write_imm(&m, 1);
	must_get_imm(m.p, OP_IMM, EXT_IMM_4);
}

static void hello_offer__features_of_the_setting(void)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("extensions negotiate features 7306");
	call(&m, RTR_C);
	must_get_hello(m.p, HELLO_OFFER, HELLO_7306);
}

/* the RTR Write is no hello */
static void no_offer(const char *settings)
{
	struct meeting m = MEETING_DEFAULT;
	struct hello h;
	struct fpdu f;

	agent_set(settings);
	call(&m, RTR_C);
	must_get_op(m.p, &f, OP_WRITE);
	must(!hello_decode(&h, &f.seg), "the RTR is a hello");
	must_eq(f.seg.len, 0, "length of the RTR");
}

static void hello_offer__off(void)
{
	no_offer("extensions off");
}

static void hello_offer__no_features(void)
{
	no_offer("extensions negotiate features none");
}

static void hello_offer__not_with_another_rtr(void)
{
	static const int types[] = { RTR_D, RTR_B };

	for (int i = 0; i < 2; i++) {
		struct meeting m = MEETING_DEFAULT;
		struct fpdu f;

		ext_set("negotiate");
		call(&m, types[i]);
		must_get_rtr(m.p, preferred_rtr(types[i]));
		must_be_up(&m);
		post_send(&m, 1);
		must_get_op(m.p, &f, OP_SEND);
		meet_leave(&m);
	}
}

/* nothing before the program's first message, then the offer in front of it, once */
static void in_front_of_the_first(bool plain)
{
	struct meeting m = MEETING_DEFAULT;
	struct fpdu f;

	ext_set("negotiate");
	call_client(&m, plain);
	must_be_silent(m.p, 150);
	post_send(&m, 1);
	must_get_hello(m.p, HELLO_OFFER, BOTH);
	must_get_op(m.p, &f, OP_SEND);
	post_send(&m, 2);
	must_get_op(m.p, &f, OP_SEND);
}

static void hello_offer__in_front_of_the_first_message(void)
{
	in_front_of_the_first(false);
}

static void hello_offer__in_front_of_the_first_message_plain(void)
{
	in_front_of_the_first(true);
}

/* a program's own Write that would be a hello */
static void hello_offer__is_not_the_programs(void)
{
	const struct hello h = { 1, HELLO_OFFER, BOTH };
	struct session s = SESSION_DEFAULT;
	struct fpdu f;

	ext_set("negotiate");
	session_start(&s);
	agent_post(s.conn, 1, AG_WRITE, AG_SIGNALED, NULL, 0, 0, HELLO_STAG, hello_to(&h));
	must_get_op(s.p, &f, OP_WRITE);
	must_eq(f.seg.len, 0, "length");
	must_eq(f.seg.stag, HELLO_STAG, "STag");
	must_eq(f.seg.to, 0, "TO");
	agent_post(s.conn, 2, AG_WRITE, AG_SIGNALED, NULL, 0, 0, HELLO_STAG, 7);
	must_get_op(s.p, &f, OP_WRITE);
	must_eq(f.seg.to, 7, "TO of another Write");
}

/* ---- answers ---- */

static void hello_offer__answer_permits_7306(void)
{
	struct meeting m = offered("negotiate");

	send_hello(m.p, 1, HELLO_ANSWER, HELLO_7306);
	post_write_imm(&m, 1);
	must_get_imm(m.p, OP_IMM, EXT_IMM_4);
	ext_must_complete(1, "RDMA_WRITE");
}

static void hello_offer__late_answer_counts(void)
{
	struct meeting m = offered("negotiate");

	send_write(m.p, 1, 1, NULL, 0);
	send_hello(m.p, 1, HELLO_ANSWER, HELLO_7306);
	must_be_alive(m.p);
	post_write_imm(&m, 1);
	must_get_imm(m.p, OP_IMM, EXT_IMM_4);
}

/* these features of an answer, to the offer of "features @setting", are no version 2 */
static void no_version_2(const char *setting, uint16_t offer, uint16_t answer)
{
	struct meeting m = MEETING_DEFAULT;

	agent_set("extensions negotiate");
	agent_set(setting);
	call(&m, RTR_C);
	must_get_hello(m.p, HELLO_OFFER, offer);
	must_be_up(&m);
	send_hello(m.p, 1, HELLO_ANSWER, answer);
	/* without a go, and in version 1 */
	must_be_alive(m.p);
	meet_leave(&m);
}

static void hello_offer__answers_without_version_2(void)
{
	no_version_2("features 7306,v2", BOTH, 0);
	no_version_2("features 7306,v2", BOTH, HELLO_7306);
	no_version_2("features 7306,v2", BOTH, HELLO_V2);
	no_version_2("features 7306", HELLO_7306, BOTH);
}

static void hello_offer__repeated_answer(void)
{
	struct meeting m = offered("negotiate");

	send_hello(m.p, 1, HELLO_ANSWER, HELLO_7306);
	send_hello(m.p, 1, HELLO_ANSWER, BOTH);
	must_be_alive(m.p);
	post_write_imm(&m, 1);
	must_get_imm(m.p, OP_IMM, EXT_IMM_4);
}

static void hello_offer__other_hellos_are_no_answer(void)
{
	struct meeting m = offered("negotiate");
	struct agent_wc wc;

	send_hello(m.p, 0, HELLO_ANSWER, BOTH);
	send_hello(m.p, 1, HELLO_OFFER, BOTH);
	send_hello(m.p, 1, HELLO_GO, BOTH);
	must_be_alive(m.p);
	post_write_imm(&m, 1);
	agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
}

/* ---- version 2 ---- */

static void hello_offer__go_at_once(void)
{
	struct meeting m = offered("negotiate");
	struct fpdu f;

	send_hello(m.p, 1, HELLO_ANSWER, BOTH);
	m.p->tx_v2 = true;
	must_get_hello(m.p, HELLO_GO, BOTH);
	m.p->rx_v2 = true;
	must_be_silent(m.p, 50);
	post_send(&m, 1);
	must_get_op(m.p, &f, OP_SEND);
	must_be_alive(m.p);
}

static void hello_offer__unknown_bits_of_the_answer(void)
{
	struct meeting m = offered("negotiate");

	send_hello(m.p, 9, HELLO_ANSWER, 0xffff & ~HELLO_LONG);
	m.p->tx_v2 = true;
	must_get_hello(m.p, HELLO_GO, BOTH);
	m.p->rx_v2 = true;
	must_be_alive(m.p);
}

static void hello_offer__version_1_after_the_answer(void)
{
	struct meeting m = offered("negotiate");

	send_hello(m.p, 1, HELLO_ANSWER, BOTH);
	must_get_hello(m.p, HELLO_GO, BOTH);
	m.p->rx_v2 = true;
	send_write(m.p, 1, 1, NULL, 0);
	must_get_terminate(m.p, 0, 2, 0x05, false, NULL);
}

static void hello_offer__version_2_before_the_answer(void)
{
	struct meeting m = offered("negotiate");

	m.p->tx_v2 = true;
	send_write(m.p, 1, 1, NULL, 0);
	must_get_terminate(m.p, 0, 2, 0x05, false, NULL);
}

/* ---- no answer ---- */

/* the hidden Read of a device that waits: it has no data */
static void must_get_probe(struct peer *p, uint32_t *stag, uint64_t *to)
{
	struct fpdu f;

	must_get_op(p, &f, OP_READ_REQ);
	must_eq(get32(f.seg.data + 12), 0, "size of the Read");
	*stag = get32(f.seg.data);
	*to = get64(f.seg.data + 4);
}

static void hello_offer__silent_peer_is_asked(void)
{
	struct meeting m = offered("negotiate");
	struct agent_wc wc;
	uint32_t stag;
	uint64_t to;

	post_write_imm(&m, 1);
	must_get_probe(m.p, &stag, &to);
	agent_must_get_no_wc(50);
	send_read_resp(m.p, stag, to, NULL, 0);
	agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
}

static void hello_offer__asked_peer_answers(void)
{
	struct meeting m = offered("negotiate");
	uint32_t stag;
	uint64_t to;

	post_write_imm(&m, 1);
	must_get_probe(m.p, &stag, &to);
	send_hello(m.p, 1, HELLO_ANSWER, HELLO_7306);
	send_read_resp(m.p, stag, to, NULL, 0);
	must_get_imm(m.p, OP_IMM, EXT_IMM_4);
	/* the Read itself completes nothing */
	ext_must_complete(1, "RDMA_WRITE");
	agent_must_get_no_wc(20);
	must_be_alive(m.p);
}

/* an ordinary Read makes the peer speak as well */
static void hello_offer__open_read_is_enough(void)
{
	struct meeting m = offered("negotiate");
	struct agent_mr mr = agent_mr(64, "lw");
	struct agent_wc wc;
	struct fpdu f;

	agent_post(m.conn, 1, AG_READ, AG_SIGNALED, &mr, 0, 8, 1, 2);
	post_write_imm(&m, 2);
	must_get_op(m.p, &f, OP_READ_REQ);
	must_eq(get32(f.seg.data + 12), 8, "size of the Read");
	must_be_silent(m.p, 100);
	send_read_resp(m.p, get32(f.seg.data), get64(f.seg.data + 4), "12345678", 8);
	ext_must_complete(1, "RDMA_READ");
	agent_must_get_wc(2, "LOC_QP_OP_ERR", &wc);
}

static void set_rtr_ms(void)
{
	char text[32];

	snprintf(text, sizeof(text), "rtr-ms %d", patience(600));
	agent_set(text);
}

/* no Read may be sent: after the time for an RTR the request fails, not before */
static void must_give_up(struct meeting *m)
{
	struct agent_wc wc;

	post_write_imm(m, 1);
	agent_must_get_no_wc(100);
	must_be_silent(m->p, 1);
	agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
}

static void silent_without_reads(int ird)
{
	struct meeting m = MEETING_DEFAULT;

	ext_set("negotiate");
	set_rtr_ms();
	call_depths(&m, RTR_C, ird, 8);
	must_get_hello(m.p, HELLO_OFFER, BOTH);
	must_be_up(&m);
	must_give_up(&m);
	meet_leave(&m);
}

static void hello_offer__silent_peer_of_ird_0(void)
{
	silent_without_reads(0);
}

static void hello_offer__silent_peer_of_unknown_ird(void)
{
	silent_without_reads(ENH_X);
}

static void hello_offer__device_of_ord_0(void)
{
	struct meeting m = MEETING_DEFAULT;

	ext_set("negotiate");
	set_rtr_ms();
	m.qp.ord = 0;
	call(&m, RTR_C);
	must_get_hello(m.p, HELLO_OFFER, BOTH);
	must_be_up(&m);
	must_give_up(&m);
}

/* the offer goes in front of the request that waits for its answer */
static void hello_offer__silent_plain_peer(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_wc wc;

	ext_set("negotiate");
	set_rtr_ms();
	call_client(&m, true);
	post_write_imm(&m, 1);
	must_get_hello(m.p, HELLO_OFFER, BOTH);
	must_be_silent(m.p, 100);
	agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
}

static void hello_offer__peer_that_sends_first(void)
{
	struct meeting m = offered("negotiate");
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;

	must_receive_send(&m, &mr, 7);
	post_write_imm(&m, 1);
	agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
}

/* the request does not wait on until the Read is answered, or the time is over */
static void hello_offer__first_fpdu_ends_the_wait(void)
{
	struct meeting m = offered("negotiate");
	struct agent_wc wc;
	uint32_t stag;
	uint64_t to;

	post_write_imm(&m, 1);
	must_get_probe(m.p, &stag, &to);
	send_write(m.p, 1, 1, NULL, 0);
	agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
}

/* ---- the end while a request waits for an answer that never comes ---- */

#define CLOSE_MS	100
#define DRAIN_SPANS	15	/* of CLOSE_MS, for what an orderly close still sends */

/* the time for an answer is far longer than a test */
static struct meeting waiting(void)
{
	struct meeting m = MEETING_DEFAULT;

	ext_set("negotiate");
	agent_set("rtr-ms 60000 close-ms 100");
	call_depths(&m, RTR_C, 0, 8);
	must_get_hello(m.p, HELLO_OFFER, BOTH);
	must_be_up(&m);
	post_write_imm(&m, 1);
	agent_must_get_no_wc(50);
	return m;
}

static void must_be_flushed(struct meeting *m, int ms)
{
	struct agent_wc wc;

	must(agent_poll(&wc, patience(ms)), "the request still waits");
	must(!strcmp(wc.status, "WR_FLUSH_ERR"), "it completes with %s", wc.status);
	must(peer_wait_end(m->p, patience(1000)) != PEER_OPEN, "the device does not close");
}

/* it waits as for any request, as long as close-ms allows */
static void hello_offer__disconnect_while_it_waits(void)
{
	struct meeting m = waiting();
	struct agent_event ev;

	agent_disconnect(m.conn);
	must_be_flushed(&m, DRAIN_SPANS * CLOSE_MS + 1000);
	agent_must_get_event("DISCONNECTED", &ev);
}

static void hello_offer__qp_error_while_it_waits(void)
{
	struct meeting m = waiting();

	agent_qp_error(m.conn);
	must_be_flushed(&m, 500);
}

static void hello_offer__peer_closes_while_it_waits(void)
{
	struct meeting m = waiting();

	peer_shutdown(m.p);
	must_be_flushed(&m, 500);
}

/* the time is over soon after the QP is gone */
static void hello_offer__destroy_while_it_waits(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint64_t start;

	ext_set("negotiate");
	agent_set("rtr-ms 300");
	call_depths(&m, RTR_C, 0, 8);
	must_be_up(&m);
	post_write_imm(&m, 1);
	start = now_ms();
	agent_destroy(m.conn);
	must(now_ms() - start < (unsigned int)patience(200), "the destroy waits");
	must(peer_wait_end(m.p, patience(1000)) != PEER_OPEN, "the device does not close");
	usleep(600000);
}

static void hello_offer__is_reported(void)
{
	struct meeting m = offered("negotiate");

	ext_must_know(&m, "-");
	send_write(m.p, 1, 1, NULL, 0);
	must_be_alive(m.p);
	ext_must_know(&m, "[]");
	send_hello(m.p, 1, HELLO_ANSWER, HELLO_7306);
	must_be_alive(m.p);
	ext_must_know(&m, "[\"7306\"]");
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(hello_offer__is_the_rtr_write, "Q35 Q36 EXT-001",
	    "the RTR Write is the offer, and nothing follows it", INITIATOR),
	ROW(hello_offer__assume_offers_too, "Q36 Q39",
	    "a device that assumes RFC 7306 offers, too, and waits for no answer",
	    INITIATOR),
	ROW(hello_offer__features_of_the_setting, "Q35",
	    "the offer has the features of the setting", INITIATOR),
	ROW(hello_offer__off, "Q36 Q39 EXT-002",
	    "a device without the extensions offers nothing", INITIATOR),
	ROW(hello_offer__no_features, "Q36",
	    "a device without features offers nothing", INITIATOR),
	ROW(hello_offer__not_with_another_rtr, "Q36",
	    "with an RTR Read or Send there is no offer", INITIATOR),
	ROW(hello_offer__in_front_of_the_first_message, "Q36",
	    "without an RTR the offer goes in front of the first message, not before",
	    INITIATOR),
	ROW(hello_offer__in_front_of_the_first_message_plain, "Q36",
	    "likewise after a plain startup", INITIATOR),
	ROW(hello_offer__is_not_the_programs, "Q42",
	    "a program's own Write cannot be a hello", EITHER),
	ROW(hello_offer__answer_permits_7306, "Q39 Q40",
	    "RFC 7306 is sent after the answer", INITIATOR),
	ROW(hello_offer__late_answer_counts, "Q40",
	    "an answer after another FPDU counts", INITIATOR),
	ROW(hello_offer__answers_without_version_2, "Q38 Q41",
	    "version 2 needs the offer, and the answer with RFC 7306", INITIATOR),
	ROW(hello_offer__repeated_answer, "Q41",
	    "a second answer is ignored", INITIATOR),
	ROW(hello_offer__other_hellos_are_no_answer, "Q40 Q41",
	    "an offer, a go and version 0 are no answer", INITIATOR),
	ROW(hello_offer__go_at_once, "Q38 V2-002",
	    "the go follows an answer with version 2 at once, then RV is 2", INITIATOR),
	ROW(hello_offer__unknown_bits_of_the_answer, "Q41",
	    "unknown features and a later version are ignored", INITIATOR),
	ROW(hello_offer__version_1_after_the_answer, "Q38 V2-002",
	    "RV 1 after the answer is refused", INITIATOR),
	ROW(hello_offer__version_2_before_the_answer, "Q38 V2-002",
	    "RV 2 without an answer is refused", INITIATOR),
	ROW(hello_offer__silent_peer_is_asked, "Q40",
	    "a Read of no data makes a silent peer speak: its Response means no",
	    INITIATOR),
	ROW(hello_offer__asked_peer_answers, "Q40",
	    "the program sees nothing of that Read", INITIATOR),
	ROW(hello_offer__open_read_is_enough, "Q40",
	    "no second Read is sent where one is open", INITIATOR),
	ROW(hello_offer__silent_peer_of_ird_0, "Q40",
	    "no Read is sent to a peer of IRD 0: after a time the result is no",
	    INITIATOR),
	ROW(hello_offer__silent_peer_of_unknown_ird, "Q40",
	    "no Read is sent to a peer of unknown IRD: after a time the result is no",
	    INITIATOR),
	ROW(hello_offer__device_of_ord_0, "Q40",
	    "a device of ORD 0 sends no Read: after a time the result is no", INITIATOR),
	ROW(hello_offer__silent_plain_peer, "Q36 Q40",
	    "no Read is sent to a plain peer: after a time the result is no", INITIATOR),
	ROW(hello_offer__disconnect_while_it_waits, "Q40",
	    "a disconnect waits for the answer no longer than close-ms allows", INITIATOR),
	ROW(hello_offer__qp_error_while_it_waits, "Q40",
	    "a QP in ERROR flushes a request that waits", INITIATOR),
	ROW(hello_offer__peer_closes_while_it_waits, "Q40",
	    "the peer's FIN flushes a request that waits", INITIATOR),
	ROW(hello_offer__destroy_while_it_waits, "Q40",
	    "a QP is destroyed at once while a request waits", INITIATOR),
	ROW(hello_offer__peer_that_sends_first, "Q40",
	    "another first FPDU means no", INITIATOR),
	ROW(hello_offer__first_fpdu_ends_the_wait, "Q40",
	    "a request that waits fails as soon as the first FPDU means no", INITIATOR),
	{ "hello_offer__is_reported", "Q40",
	  "what was agreed is unknown until the first FPDU, then known", INITIATOR,
	  NEED_SET | NEED_STATE, hello_offer__is_reported },
	{}
};

const struct conform_group hello_offer_group = { "hello_offer", tests };
