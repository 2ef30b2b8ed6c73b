// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The hello: its layout, the offer, the answer, and the result at both ends. */
#include "hello_end.h"
#include "tap.h"

/* ---- the message ---------------------------------------------------------------- */

TEST(to__has_version_role_and_features, "RFC 7306 1.1: the layout of the TO")
{
	struct tern_hello_msg msg = { .version = 1, .role = TERN_HELLO_GO, .features = 0x8005 };

	expect_eq(TERN_HELLO_STAG, 0x7465726e);
	expect_eq(tern_hello_to(&msg), 0x68656c6c01038005);
	msg = (struct tern_hello_msg){ .version = 0xff, .role = 1 };
	expect_eq(tern_hello_to(&msg), 0x68656c6cff010000);
}

TEST(parse__reads_what_was_built, "each role; versions and bits that we do not know, too")
{
	static const struct tern_hello_msg msgs[] = {
		{ 1, TERN_HELLO_OFFER, 0x0003 },
		{ 2, TERN_HELLO_ANSWER, 0xffff },
		{ 0xff, TERN_HELLO_GO, 0x8000 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++) {
		struct tern_hello_msg got;

		must(tern_hello_parse(TERN_HELLO_STAG, tern_hello_to(&msgs[i]), &got));
		expect(!memcmp(&got, &msgs[i], sizeof(got)));
	}
}

TEST(parse__any_other_write_is_no_hello, "RFC 5041 5.2: it is taken without a look")
{
	static const struct {
		u32 stag;
		u64 to;
	} others[] = {
		{ 0, 0 },
		{ TERN_HELLO_STAG, 0 },
		{ TERN_HELLO_STAG ^ 1, 0x68656c6c01010003 },
		{ TERN_HELLO_STAG, 0x68656c6d01010003 },
		{ TERN_HELLO_STAG, 0x08656c6c01010003 },
		{ TERN_HELLO_STAG, 0x68656c6c00010003 },	/* version 0 */
		{ TERN_HELLO_STAG, 0x68656c6c01000003 },	/* role 0 */
		{ TERN_HELLO_STAG, 0x68656c6c01040003 },	/* role 4 */
		{ TERN_HELLO_STAG, 0x68656c6c01810003 },
	};
	struct tern_hello_msg msg;

	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		expect(!tern_hello_parse(others[i].stag, others[i].to, &msg), "row %u", i);
}

TEST(ulp_to__a_ulps_own_write_is_never_a_hello, "with this STag and high half: TO 0")
{
	expect_eq(tern_hello_ulp_to(TERN_HELLO_STAG, 0x68656c6c01010003), 0);
	expect_eq(tern_hello_ulp_to(TERN_HELLO_STAG, 0x68656c6cffffffff), 0);
	expect_eq(tern_hello_ulp_to(TERN_HELLO_STAG, 0x68656c6c00000000), 0);
	expect_eq(tern_hello_ulp_to(TERN_HELLO_STAG, 0x68656c6d01010003), 0x68656c6d01010003);
	expect_eq(tern_hello_ulp_to(TERN_HELLO_STAG + 1, 0x68656c6c01010003),
		  0x68656c6c01010003);
}

/* ---- the offer ------------------------------------------------------------------ */

TEST(offer__is_the_rtr_write, "MPA-206: the first message of all, once")
{
	struct tern_hello h = initiator(BOTH);

	must_send(&h, TERN_HELLO_OFFER, BOTH);
	expect(is_quiet(&h));
	expect(!tern_hello_decided(&h));
	expect_rv(&h, 1, 1);
}

TEST(offer__does_not_follow_a_read_or_send_rtr, "the peer may send before it reads an offer")
{
	static const u8 rtrs[] = { TERN_MPA_RTR_READ, TERN_MPA_RTR_SEND };

	for (u32 i = 0; i < ARRAY_SIZE(rtrs); i++) {
		struct tern_hello h = begin(options(true, rtrs[i], ALL));

		expect(is_quiet(&h));
		expect_no(&h);
		expect(!tern_hello_wants_probe(&h));
		tern_hello_fpdu(&h, ANSWER(ALL));
		expect_no(&h);
		expect(is_quiet(&h));
	}
}

TEST(offer__without_rtr_goes_directly_before_the_ulps_message,
	"never alone: it would open the peer's fence")
{
	struct tern_hello h = begin(options(true, TERN_MPA_RTR_NONE, BOTH));
	struct tern_hello_msg msg;

	expect(!tern_hello_next(&h, &msg));
	expect_may(&h, U, U);
	expect(!tern_hello_wants_probe(&h));
	must(tern_hello_before_ulp(&h, &msg));
	expect_eq(msg.version, 1);
	expect_eq(msg.role, TERN_HELLO_OFFER);
	expect_eq(msg.features, BOTH);
	tern_hello_sent(&h, TERN_HELLO_OFFER);
	expect(is_quiet(&h));
	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect_eq(tern_hello_agreed(&h), BOTH);
}

TEST(offer__waits_for_the_ulp_while_an_extended_request_waits_for_it,
	"the request of the ULP brings the offer, and goes after the answer")
{
	struct tern_hello h = begin(options(true, TERN_MPA_RTR_NONE, TERN_HELLO_7306));
	struct tern_hello_msg msg;

	must(tern_hello_before_ulp(&h, &msg));
	expect_may(&h, U, U);
	tern_hello_sent(&h, TERN_HELLO_OFFER);
	expect_may(&h, U, U);
	tern_hello_fpdu(&h, ANSWER(TERN_HELLO_7306));
	expect_may(&h, Y, N);
}

TEST(offer__needs_something_to_offer, "unknown bits are nothing, v2 without RFC 7306, too")
{
	static const u16 nothing[] = { 0, TERN_HELLO_V2, 0xfff8, 0xfff8 | TERN_HELLO_V2 };

	for (u32 i = 0; i < ARRAY_SIZE(nothing); i++) {
		struct tern_hello h = initiator(nothing[i]);

		expect(is_quiet(&h));
		expect_no(&h);
	}
}

TEST(offer__has_only_what_we_know, "unknown bits are masked, v2 only with RFC 7306")
{
	struct tern_hello h = initiator(0xffff);

	must_send(&h, TERN_HELLO_OFFER, ALL);
	h = initiator(TERN_HELLO_V2 | TERN_HELLO_LONG);
	must_send(&h, TERN_HELLO_OFFER, TERN_HELLO_LONG);
}

/* ---- the answer ----------------------------------------------------------------- */

TEST(answer__is_the_first_message_of_a_responder, "if its first FPDU read is an offer")
{
	struct tern_hello h = responder(BOTH);

	expect(is_quiet(&h));
	expect(!tern_hello_decided(&h));
	expect_may(&h, U, U);
	tern_hello_fpdu(&h, OFFER(BOTH));
	expect(tern_hello_decided(&h));
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
	expect_agreed(&h, BOTH);
}

TEST(answer__is_the_intersection, "each set of features at either end; v2 only with RFC 7306")
{
	for (u16 offer = 0; offer < 8; offer++) {
		for (u16 ours = 0; ours < 8; ours++) {
			struct tern_hello h = responder(ours);

			tern_hello_fpdu(&h, OFFER(offer));
			expect_eq(tern_hello_agreed(&h), common(offer, ours));
			must_send(&h, TERN_HELLO_ANSWER, common(offer, ours));
		}
	}
}

TEST(answer__masks_unknown_bits, "of the offer")
{
	struct tern_hello h = responder(BOTH);

	tern_hello_fpdu(&h, OFFER(0xfffb));
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
	h = responder(0xffff);
	tern_hello_fpdu(&h, OFFER(0xffff));
	must_send(&h, TERN_HELLO_ANSWER, ALL);
}

TEST(answer__has_the_lower_version, "of both; a go, too")
{
	struct tern_hello_msg offer = { 2, TERN_HELLO_OFFER, BOTH };
	struct tern_hello_msg answer = { 0xff, TERN_HELLO_ANSWER, BOTH };
	struct tern_hello h = responder(BOTH);

	tern_hello_fpdu(&h, &offer);
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
	h = offered(BOTH);
	tern_hello_fpdu(&h, &answer);
	must_send(&h, TERN_HELLO_GO, BOTH);
	expect_rv(&h, 2, 2);
}

TEST(answer__does_not_follow_any_other_first_fpdu, "then no offer counts any more")
{
	const struct tern_hello_msg *firsts[] = { OTHER, ANSWER(ALL), GO(ALL) };

	for (u32 i = 0; i < ARRAY_SIZE(firsts); i++) {
		struct tern_hello h = responder(ALL);

		tern_hello_fpdu(&h, firsts[i]);
		expect(is_quiet(&h));
		expect_no(&h);
		tern_hello_fpdu(&h, OFFER(ALL));
		expect(is_quiet(&h));
		expect_no(&h);
	}
}

TEST(answer__is_sent_once, "a repeated offer changes neither answer nor result")
{
	struct tern_hello h = responder(ALL);

	tern_hello_fpdu(&h, OFFER(TERN_HELLO_7306));
	tern_hello_fpdu(&h, OFFER(ALL));
	must_send(&h, TERN_HELLO_ANSWER, TERN_HELLO_7306);
	tern_hello_fpdu(&h, OFFER(ALL));
	expect_agreed(&h, TERN_HELLO_7306);
	expect_rv(&h, 1, 1);
	h = answered(BOTH);
	tern_hello_fpdu(&h, OFFER(TERN_HELLO_7306));
	expect_agreed(&h, BOTH);
	expect_rv(&h, 2, 1);
}

TEST(answer__is_due_whatever_comes_after_the_offer, "more FPDUs in the same burst")
{
	struct tern_hello h = responder(BOTH);

	tern_hello_fpdu(&h, OFFER(BOTH));
	tern_hello_fpdu(&h, OTHER);
	tern_hello_fpdu(&h, OTHER);
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
}

/* ---- the initiator reads --------------------------------------------------------- */

TEST(result__is_the_answers, "each set of features at either end")
{
	for (u16 ours = 0; ours < 8; ours++) {
		for (u16 theirs = 0; theirs < 8; theirs++) {
			struct tern_hello h = initiator(ours);
			struct tern_hello_msg msg;

			if (!tern_hello_next(&h, &msg))
				continue;
			tern_hello_sent(&h, TERN_HELLO_OFFER);
			tern_hello_fpdu(&h, ANSWER(theirs));
			expect(tern_hello_decided(&h));
			expect_eq(tern_hello_agreed(&h), common(ours, theirs));
		}
	}
}

TEST(result__masks_what_was_not_offered, "an answer grants no more than the offer")
{
	struct tern_hello h = offered(TERN_HELLO_7306);

	tern_hello_fpdu(&h, ANSWER(0xffff));
	expect_agreed(&h, TERN_HELLO_7306);
	expect_rv(&h, 1, 1);
	h = offered(BOTH);
	tern_hello_fpdu(&h, ANSWER(TERN_HELLO_V2));
	expect_no(&h);
	expect(is_quiet(&h));
}

TEST(result__is_no_after_any_other_fpdu, "no answer will follow; hellos of a wrong role, too")
{
	const struct tern_hello_msg *firsts[] = { OTHER, OFFER(ALL), GO(ALL) };

	for (u32 i = 0; i < ARRAY_SIZE(firsts); i++) {
		struct tern_hello h = offered(ALL);

		tern_hello_fpdu(&h, firsts[i]);
		expect_no(&h);
		expect(is_quiet(&h));
		expect(!tern_hello_wants_probe(&h));
	}
}

TEST(result__is_no_after_the_rtr_time, "of silence")
{
	struct tern_hello h = offered(ALL);

	expect_may(&h, U, U);
	tern_hello_timeout(&h);
	expect_no(&h);
	expect(!tern_hello_wants_probe(&h));
}

TEST(result__of_a_late_answer_still_counts, "after another FPDU, and after the RTR time")
{
	struct tern_hello other = offered(BOTH), late = offered(BOTH);

	tern_hello_fpdu(&other, OTHER);
	tern_hello_fpdu(&other, OTHER);
	tern_hello_fpdu(&other, ANSWER(BOTH));
	expect_may(&other, Y, U);
	must_send(&other, TERN_HELLO_GO, BOTH);
	expect_agreed(&other, BOTH);
	expect_rv(&other, 2, 2);

	tern_hello_timeout(&late);
	tern_hello_fpdu(&late, ANSWER(TERN_HELLO_7306));
	expect_may(&late, Y, N);
	expect_agreed(&late, TERN_HELLO_7306);
}

TEST(result__of_a_repeated_answer_is_ignored, "the first one counts")
{
	struct tern_hello h = offered(BOTH);

	tern_hello_fpdu(&h, ANSWER(TERN_HELLO_7306));
	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect_agreed(&h, TERN_HELLO_7306);
	expect_rv(&h, 1, 1);
	h = offered(BOTH);
	tern_hello_fpdu(&h, ANSWER(BOTH));
	tern_hello_fpdu(&h, ANSWER(0));
	must_send(&h, TERN_HELLO_GO, BOTH);
	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect_agreed(&h, BOTH);
	expect_rv(&h, 2, 2);
}

TEST(result__needs_an_offer_that_was_sent, "an answer before it is any other FPDU")
{
	struct tern_hello h = begin(options(true, TERN_MPA_RTR_NONE, BOTH));
	struct tern_hello_msg msg;

	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect_no(&h);
	expect(!tern_hello_wants_probe(&h));
	must(tern_hello_before_ulp(&h, &msg));
	tern_hello_sent(&h, TERN_HELLO_OFFER);
	expect_no(&h);
	expect(!tern_hello_wants_probe(&h));
	tern_hello_fpdu(&h, ANSWER(TERN_HELLO_7306));
	expect_agreed(&h, TERN_HELLO_7306);
}

TEST(timeout__ends_only_the_wait_for_an_answer, "no offer, or an answer: nothing to end")
{
	struct tern_hello before = begin(options(true, TERN_MPA_RTR_NONE, BOTH));
	struct tern_hello after = offered(BOTH), other = responder(BOTH);

	tern_hello_timeout(&before);
	expect(!tern_hello_decided(&before));
	tern_hello_timeout(&other);
	expect(!tern_hello_decided(&other));
	tern_hello_fpdu(&after, ANSWER(BOTH));
	tern_hello_timeout(&after);
	must_send(&after, TERN_HELLO_GO, BOTH);
	expect_agreed(&after, BOTH);
}

TEST(probe__is_of_use_only_while_an_answer_may_decide, "RFC 5040 5.2.1: a Read is answered")
{
	struct tern_hello h = initiator(BOTH), r = responder(BOTH);

	expect(!tern_hello_wants_probe(&h));
	must_send(&h, TERN_HELLO_OFFER, BOTH);
	expect(tern_hello_wants_probe(&h));
	tern_hello_fpdu(&h, ANSWER(0));
	expect(!tern_hello_wants_probe(&h));
	expect(!tern_hello_wants_probe(&r));
	tern_hello_fpdu(&r, OFFER(BOTH));
	expect(!tern_hello_wants_probe(&r));
	must_send(&r, TERN_HELLO_ANSWER, BOTH);
	expect(!tern_hello_wants_probe(&r));
}
