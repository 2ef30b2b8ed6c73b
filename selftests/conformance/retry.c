// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* When an initiator connects again with a plain Request (RFC 6581 10): rows H9, H13 to
 * H16 and Q3. */
#include <string.h>

#include "knock.h"
#include "session.h"

#define REPLY_MS	2000
#define ENHANCED	"mpa-rev 2"	/* the default of a device with this setting */

/* a plain connection comes up on the retry */
static void must_retry(struct meeting *m)
{
	struct mpa_frame f;

	must_retry_plain(m);
	rev_reply(&f, 1, 0);
	must_be_up_plain(m, &f);
}

/* this Reply to an enhanced Request: the device sends no FPDU, closes, and retries
 * once with a plain Request */
static void retry_after(uint8_t rev, uint8_t flags)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	agent_set(ENHANCED);
	call_enhanced(&m);
	rev_reply(&f, rev, flags);
	peer_send_frame(m.p, &f);
	must_close_silently(m.p);
	must_retry(&m);
}

/* The same for a device that may give up instead of retrying. */
static void no_startup_after(uint8_t rev, uint8_t flags)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	call_enhanced(&m);
	rev_reply(&f, rev, flags);
	peer_send_frame(m.p, &f);
	must_fail_call(&m);
}

static void retry__plain_reply_to_enhanced(void)
{
	no_startup_after(2, 0);
	no_startup_after(1, 0);
	no_startup_after(0, MPA_M);
}

static void retry__after_plain_reply(void)
{
	retry_after(2, 0);
	retry_after(2, MPA_R);
	retry_after(1, 0);
	retry_after(0, MPA_M);
}

static void retry__after_rev_refusal(void)
{
	retry_after(1, MPA_R);
	retry_after(0, MPA_R | MPA_M);
}

static void retry__of_plain_2_after_rev_refusal(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	call_with(&m, "enhanced off", 2, 0);
	rev_reply(&f, 1, MPA_R);
	peer_send_frame(m.p, &f);
	must_close_silently(m.p);
	must_retry(&m);
}

static void retry__of_plain_2_after_close(void)
{
	struct meeting m = MEETING_DEFAULT;

	call_with(&m, "enhanced off", 2, 0);
	peer_close(m.p);
	must_retry(&m);
}

static void retry_after_close(void (*end)(struct peer *p))
{
	struct meeting m = MEETING_DEFAULT;

	agent_set(ENHANCED);
	call_enhanced(&m);
	end(m.p);
	must_retry(&m);
}

static void retry__after_close(void)
{
	retry_after_close(peer_close);
}

static void retry__after_reset(void)
{
	retry_after_close(peer_reset);
}

/* a device that retries reports the close after its retry, any other at once */
static void retry__close_on_enhanced_is_reported(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_event ev;

	call_enhanced(&m);
	peer_close(m.p);
	must_get_call_error(&m, &ev);
}

static void retry__one_retry_only(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_event ev;

	agent_set(ENHANCED);
	call_enhanced(&m);
	peer_close(m.p);
	must_retry_plain(&m);
	peer_close(m.p);
	must_not_retry();
	must_get_call_error(&m, &ev);
}

static void retry__no_retry_of_rev_1(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_event ev;

	call_with(&m, "mpa-rev 1", 1, 0);
	peer_close(m.p);
	must_not_retry();
	must_get_call_error(&m, &ev);
}

/* connect() to the port of an earlier connection; Return: Rev of its first Request */
static uint8_t call_again(struct meeting *m, uint16_t port)
{
	m->conn = agent_connect(port, &m->qp, NULL, 0);
	m->p = peer_accept(patience(REPLY_MS));
	must(m->p, "the device does not connect");
	must(peer_recv_frame(m->p, false, &m->p->request, patience(REPLY_MS)),
	     "no Request");
	return m->p->request.rev;
}

static void retry__plain_peer_is_remembered(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint16_t port = peer_listen(NULL), other = peer_listen(NULL);
	struct mpa_frame f;

	agent_set(ENHANCED);
	must_eq(call_again(&m, port), 2, "Rev of the first Request");
	peer_close(m.p);
	must_retry(&m);
	must_eq(call_again(&m, port), 1, "Rev of the next Request");
	rev_reply(&f, 1, 0);
	must_be_up_plain(&m, &f);
	must_eq(call_again(&m, other), 2, "Rev of a Request to another port");
}

/* A machine that has no room, or restarts, sends RST too, so RST does not say what it
 * supports. */
static void retry__reset_is_not_remembered(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint16_t port = peer_listen(NULL);

	agent_set(ENHANCED);
	must_eq(call_again(&m, port), 2, "Rev of the first Request");
	peer_reset(m.p);
	must_retry(&m);
	must_eq(call_again(&m, port), 2, "Rev of the next Request");
}

static void retry__failed_retry_is_not_remembered(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint16_t port = peer_listen(NULL);
	struct agent_event ev;

	agent_set(ENHANCED);
	must_eq(call_again(&m, port), 2, "Rev of the first Request");
	peer_close(m.p);
	must_retry_plain(&m);
	peer_close(m.p);
	must_get_call_error(&m, &ev);
	must_eq(call_again(&m, port), 2, "Rev of the next Request");
}

static const struct conform_test tests[] = {
	{ "retry__plain_reply_to_enhanced", "H13 H14 K12",
	  "No plain Reply to an enhanced Request makes a connection.",
	  INITIATOR, 0, retry__plain_reply_to_enhanced },
	{ "retry__close_on_enhanced_is_reported", "H16 MPA-212",
	  "A peer that closes on an enhanced Request, and on a plain one, is an error.",
	  INITIATOR, 0, retry__close_on_enhanced_is_reported },
	{ "retry__after_plain_reply", "H13 H14 Q3",
	  "A plain Reply to an enhanced Request: close, then one plain try.",
	  INITIATOR, NEED_SET, retry__after_plain_reply },
	{ "retry__after_rev_refusal", "H15 Q3",
	  "A rejecting Reply of a lower Rev is followed by one plain try.",
	  INITIATOR, NEED_SET, retry__after_rev_refusal },
	{ "retry__of_plain_2_after_rev_refusal", "H9 Q3",
	  "A plain Request of Rev 2 that was refused is followed by one of Rev 1.",
	  INITIATOR, NEED_SET, retry__of_plain_2_after_rev_refusal },
	{ "retry__of_plain_2_after_close", "H9 Q3",
	  "A plain Request of Rev 2 that was closed on is followed by one of Rev 1.",
	  INITIATOR, NEED_SET, retry__of_plain_2_after_close },
	{ "retry__after_close", "H16 P5 P8 MPA-212 Q3",
	  "A peer that closes on an enhanced Request gets a plain one.",
	  INITIATOR, NEED_SET, retry__after_close },
	{ "retry__after_reset", "H16 MPA-212 Q3",
	  "A peer that resets on an enhanced Request gets a plain one.",
	  INITIATOR, NEED_SET, retry__after_reset },
	{ "retry__one_retry_only", "H16 Q3",
	  "There is one plain try for each connect().",
	  INITIATOR, NEED_SET, retry__one_retry_only },
	{ "retry__no_retry_of_rev_1", "P1",
	  "A Request of Rev 1 that was closed on is not repeated.",
	  INITIATOR, NEED_SET, retry__no_retry_of_rev_1 },
	{ "retry__plain_peer_is_remembered", "H16 Q3",
	  "For a while a peer that took a plain Request only is asked so at once.",
	  INITIATOR, NEED_SET, retry__plain_peer_is_remembered },
	{ "retry__reset_is_not_remembered", "H16 Q3",
	  "A peer that reset on an enhanced Request is asked so again next time.",
	  INITIATOR, NEED_SET, retry__reset_is_not_remembered },
	{ "retry__failed_retry_is_not_remembered", "H16 Q3",
	  "A peer that took no Request at all is asked in the enhanced way next time.",
	  INITIATOR, NEED_SET, retry__failed_retry_is_not_remembered },
	{}
};

const struct conform_group retry_group = { "retry", tests };
