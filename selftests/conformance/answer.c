// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* What an initiator does with a Reply, by the Rev of its Request: rows H1 to H18 (RFC
 * 5044 7.1.1, RFC 6581 10). */
#include <string.h>

#include "knock.h"
#include "session.h"

#define RES_S		0x10	/* where S is in Rev 2, a reserved bit in Rev 1 */
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const uint8_t high_revs[] = { 3, 4, 128, 255 };

static void must_be_rejected(struct meeting *m, const struct mpa_frame *f, size_t skip)
{
	struct agent_event ev;

	peer_send_frame(m->p, f);
	agent_must_get_event("REJECTED", &ev);
	must_eq(ev.pd_len, f->pd_len - skip, "the length that the ULP sees");
	must_bytes(ev.pd, f->pd + skip, f->pd_len - skip, "private data");
	must_fin_silently(m->p);
	must_not_retry();
}

/* the device sends a Request, then gets a Reply that it must accept, or take as a
 * reject */
static void plain_exchange(const char *setting, uint8_t sent, uint8_t rev, uint8_t flags)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	call_with(&m, setting, sent, 0);
	rev_reply(&f, rev, flags);
	mpa_add_pd(&f, "four bytes, and more", 20);
	if (flags & MPA_R)
		must_be_rejected(&m, &f, 0);
	else
		must_be_up_plain(&m, &f);
}

static void answer__reply_1_to_1(void)
{
	plain_exchange("mpa-rev 1", 1, 1, 0);
}

static void answer__reject_1_to_1(void)
{
	plain_exchange("mpa-rev 1", 1, 1, MPA_R);
}

static void answer__reply_1_to_1_with_reserved_bit(void)
{
	plain_exchange("mpa-rev 1", 1, 1, RES_S);
	plain_exchange("mpa-rev 1", 1, 1, RES_S | MPA_R);
}

static void answer__reply_2_to_plain_2(void)
{
	plain_exchange("enhanced off", 2, 2, 0);
}

static void answer__reject_2_to_plain_2(void)
{
	plain_exchange("enhanced off", 2, 2, MPA_R);
}

static void answer__reply_1_to_plain_2(void)
{
	plain_exchange("enhanced off", 2, 1, 0);
}

static void refused_exchange(const char *setting, uint8_t sent, uint8_t rev, uint8_t flags)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	call_with(&m, setting, sent, 0);
	rev_reply(&f, rev, flags);
	if (flags & MPA_S)
		mpa_add_pd(&f, "\0\10\0\10", 4);
	peer_send_frame(m.p, &f);
	must_close_silently(m.p);
	must_eq(m.p->end, PEER_FIN, "FIN");
	must_fail_call(&m);
}

static void answer__reply_0_to_1(void)
{
	agent_set("rnic non-permissive");
	refused_exchange("mpa-rev 1", 1, 0, MPA_M);
}

static void answer__reply_2_to_1(void)
{
	refused_exchange("mpa-rev 1", 1, 2, 0);
	refused_exchange("mpa-rev 1", 1, 2, MPA_S);
	refused_exchange("mpa-rev 1", 1, 2, MPA_R);
}

static void answer__enhanced_reply_to_plain_2(void)
{
	refused_exchange("enhanced off", 2, 2, MPA_S);
	refused_exchange("enhanced off", 2, 2, MPA_S | MPA_R);
}

static void answer__enhanced_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	call_enhanced(&m);
	good_reply(&m, &f);
	mpa_add_pd(&f, "data", 4);
	meet_answer(&m, &f);
	must_be_up(&m);
	must_eq(m.up.pd_len, 4, "the length that the ULP sees");
	must_bytes(m.up.pd, "data", 4, "private data");
	if (!enh_p2p(&m.p->request))
		return;
	must_get_any_rtr(m.p, enh_types(&m.p->request));
	must_be_alive(m.p);
}

static void answer__enhanced_reject(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	call_enhanced(&m);
	good_reply(&m, &f);
	f.flags |= MPA_R;
	mpa_add_pd(&f, "data", 4);
	must_be_rejected(&m, &f, 4);
}

static void answer__enhanced_reply_without_ird_and_ord(void)
{
	struct mpa_frame f;
	uint16_t len;

	for (len = 0; len < 4; len++) {
		struct meeting m = MEETING_DEFAULT;

		call_enhanced(&m);
		good_reply(&m, &f);
		f.pd_len = len;
		f.flags |= len & 1 ? MPA_R : 0;
		peer_send_frame(m.p, &f);
		must_fail_call(&m);
	}
}

static void answer__reply_of_rev_over_2(void)
{
	unsigned int i;

	for (i = 0; i < COUNT(high_revs); i++) {
		struct meeting m = MEETING_DEFAULT;
		struct mpa_frame f;

		meet_call(&m);
		good_reply(&m, &f);
		f.rev = high_revs[i];
		f.flags |= i & 1 ? MPA_R : 0;
		peer_send_frame(m.p, &f);
		must_fail_call(&m);
	}
}

static void answer__reply_of_rev_over_2_to_plain(void)
{
	refused_exchange("enhanced off", 2, 3, 0);
	refused_exchange("mpa-rev 1", 1, 3, 0);
}

static void answer__no_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct agent_event ev;

	agent_set("reply-ms 300");
	meet_call(&m);
	must_close_silently(m.p);
	agent_must_get_event("UNREACHABLE", &ev);
	must_not_retry();
}

static void answer__no_reply_to_a_plain_one(void)
{
	agent_set("mpa-rev 1");
	answer__no_reply();
}

static const struct conform_test tests[] = {
	{ "answer__reply_1_to_1", "H1 P3 MPA-161",
	  "A plain Reply to a plain Request of Rev 1 makes a plain connection.",
	  INITIATOR, NEED_SET, answer__reply_1_to_1 },
	{ "answer__reject_1_to_1", "H2",
	  "A Reply with R to a plain Request rejects; its data reaches the ULP.",
	  INITIATOR, NEED_SET, answer__reject_1_to_1 },
	{ "answer__reply_1_to_1_with_reserved_bit", "H3 MPA-091",
	  "Bit 0x10 of a Reply of Rev 1 is not looked at.",
	  INITIATOR, NEED_SET, answer__reply_1_to_1_with_reserved_bit },
	{ "answer__reply_0_to_1", "H4 M6 K12 MPA-093 MPA-143 MPA-144",
	  "A non-permissive initiator closes gracefully on a Reply of Rev 0.",
	  INITIATOR, NEED_SET, answer__reply_0_to_1 },
	{ "answer__reply_2_to_1", "H5 K12 MPA-093",
	  "A Rev that was not offered is closed on.",
	  INITIATOR, NEED_SET, answer__reply_2_to_1 },
	{ "answer__reply_2_to_plain_2", "H6",
	  "A plain Reply to a plain Request of Rev 2 makes a plain connection.",
	  INITIATOR, NEED_SET, answer__reply_2_to_plain_2 },
	{ "answer__reject_2_to_plain_2", "H6 MPA-210",
	  "A Reply with R to a plain Request of Rev 2 rejects.",
	  INITIATOR, NEED_SET, answer__reject_2_to_plain_2 },
	{ "answer__enhanced_reply_to_plain_2", "H7",
	  "An enhanced Reply to a plain Request is badly formatted.",
	  INITIATOR, NEED_SET, answer__enhanced_reply_to_plain_2 },
	{ "answer__reply_1_to_plain_2", "H8",
	  "Rev 1 is taken as the answer to a plain Request of Rev 2.",
	  INITIATOR, NEED_SET, answer__reply_1_to_plain_2 },
	{ "answer__enhanced_reply", "H10 P6",
	  "An enhanced Reply to an enhanced Request: the data after the words is the ULP's.",
	  INITIATOR, 0, answer__enhanced_reply },
	{ "answer__enhanced_reject", "H11",
	  "An enhanced Reply with R rejects; the data after the words is the ULP's.",
	  INITIATOR, 0, answer__enhanced_reject },
	{ "answer__enhanced_reply_without_ird_and_ord", "H12 K13 MPA-109",
	  "S with less than 4 bytes of private data is badly formatted.",
	  INITIATOR, 0, answer__enhanced_reply_without_ird_and_ord },
	{ "answer__reply_of_rev_over_2", "H17 K12 MPA-093",
	  "A Reply of a Rev over 2 is closed on.",
	  INITIATOR, 0, answer__reply_of_rev_over_2 },
	{ "answer__reply_of_rev_over_2_to_plain", "H17 K12 MPA-093",
	  "A Reply of a Rev over 2 to a plain Request is closed on.",
	  INITIATOR, NEED_SET, answer__reply_of_rev_over_2_to_plain },
	{ "answer__no_reply", "H18 MPA-117",
	  "Without a Reply in time: the end, an error, no second try.",
	  INITIATOR, NEED_SET, answer__no_reply },
	{ "answer__no_reply_to_a_plain_one", "H18 MPA-117",
	  "The same after a plain Request.",
	  INITIATOR, NEED_SET, answer__no_reply_to_a_plain_one },
	{}
};

const struct conform_group answer_group = { "answer", tests };
