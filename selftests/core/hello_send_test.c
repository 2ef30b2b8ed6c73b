// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* After the hello: the version of each direction, what may be sent, what is taken. */
#include "hello_end.h"
#include "tap.h"

/* ---- the go, and the version of each direction ---------------------------------------- */

TEST(go__follows_an_answer_with_v2_at_once, "without a message of the ULP")
{
	struct tern_hello h = offered(ALL);

	tern_hello_fpdu(&h, ANSWER(BOTH));
	must_send(&h, TERN_HELLO_GO, BOTH);
	expect_agreed(&h, BOTH);
}

TEST(go__does_not_follow_an_answer_without_v2, "nothing would change after it")
{
	static const u16 without[] = { 0, TERN_HELLO_7306, TERN_HELLO_7306 | TERN_HELLO_LONG };

	for (u32 i = 0; i < ARRAY_SIZE(without); i++) {
		struct tern_hello h = offered(ALL);

		tern_hello_fpdu(&h, ANSWER(without[i]));
		expect_agreed(&h, without[i]);
		expect_rv(&h, 1, 1);
	}
}

TEST(rv__of_the_responder_changes_directly_after_the_answer, "and the peer's after the go")
{
	struct tern_hello h = responder(BOTH);

	expect_rv(&h, 1, 1);
	tern_hello_fpdu(&h, OFFER(BOTH));
	expect_rv(&h, 1, 1);
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
	expect_rv(&h, 2, 1);
	tern_hello_fpdu(&h, OTHER);
	expect_rv(&h, 2, 1);
	tern_hello_fpdu(&h, GO(BOTH));
	expect_rv(&h, 2, 2);
	tern_hello_fpdu(&h, GO(BOTH));
	tern_hello_fpdu(&h, OTHER);
	expect_rv(&h, 2, 2);
}

TEST(rv__of_the_initiator_changes_directly_after_the_go, "and the peer's after the answer")
{
	struct tern_hello h = offered(BOTH);

	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect_rv(&h, 1, 2);
	tern_hello_fpdu(&h, OTHER);
	expect_rv(&h, 1, 2);
	must_send(&h, TERN_HELLO_GO, BOTH);
	expect_rv(&h, 2, 2);
}

TEST(rv__stays_without_v2, "in both directions and at both ends")
{
	struct tern_hello h = answered(TERN_HELLO_7306 | TERN_HELLO_LONG);

	expect_rv(&h, 1, 1);
	tern_hello_fpdu(&h, GO(BOTH));
	expect_rv(&h, 1, 1);
	expect_agreed(&h, TERN_HELLO_7306 | TERN_HELLO_LONG);
}

TEST(rv__ignores_a_go_before_the_answer, "the peer cannot know yet what was agreed on")
{
	struct tern_hello h = responder(BOTH);

	tern_hello_fpdu(&h, OFFER(BOTH));
	tern_hello_fpdu(&h, GO(BOTH));
	expect_rv(&h, 1, 1);
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
	expect_rv(&h, 2, 1);
	tern_hello_fpdu(&h, GO(BOTH));
	expect_rv(&h, 2, 2);
}

TEST(rv__ignores_a_second_answer_as_go, "at a responder only a go changes the peer's direction")
{
	struct tern_hello h = answered(BOTH);

	tern_hello_fpdu(&h, ANSWER(BOTH));
	tern_hello_fpdu(&h, OFFER(BOTH));
	expect_rv(&h, 2, 1);
}

TEST(rv__changes_by_a_go_of_any_version_and_features, "it is read, never checked")
{
	struct tern_hello_msg go = { 9, TERN_HELLO_GO, 0xfff0 };
	struct tern_hello h = answered(BOTH);

	tern_hello_fpdu(&h, &go);
	expect_rv(&h, 2, 2);
}

/* ---- what may be sent, and what is taken -------------------------------------------------- */

TEST(may_send__of_a_responder, "RFC 7306 once the answer is sent, v2 then, too")
{
	struct tern_hello h = responder(BOTH);

	expect_may(&h, U, U);
	tern_hello_fpdu(&h, OFFER(BOTH));
	expect_may(&h, U, U);
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
	expect_may(&h, Y, Y);
	tern_hello_fpdu(&h, GO(BOTH));
	expect_may(&h, Y, Y);
}

TEST(may_send__of_an_initiator, "RFC 7306 once the answer is read, v2 after the go")
{
	struct tern_hello h = initiator(BOTH);

	expect_may(&h, U, U);
	must_send(&h, TERN_HELLO_OFFER, BOTH);
	expect_may(&h, U, U);
	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect_may(&h, Y, U);
	must_send(&h, TERN_HELLO_GO, BOTH);
	expect_may(&h, Y, Y);
}

TEST(may_send__only_what_was_agreed_on, "the rest is refused when the result is known")
{
	struct tern_hello h = responder(TERN_HELLO_7306);

	tern_hello_fpdu(&h, OFFER(BOTH));
	expect_may(&h, U, N);
	must_send(&h, TERN_HELLO_ANSWER, TERN_HELLO_7306);
	expect_may(&h, Y, N);
	h = answered(TERN_HELLO_LONG);
	expect_may(&h, N, N);
	h = answered(0);
	expect_may(&h, N, N);
	h = offered(TERN_HELLO_7306);
	tern_hello_fpdu(&h, ANSWER(TERN_HELLO_7306));
	expect_may(&h, Y, N);
	h = offered(ALL);
	tern_hello_fpdu(&h, ANSWER(TERN_HELLO_LONG));
	expect_may(&h, N, N);
}

TEST(may_send_long__once_agreed_on, "a responder after its answer, an initiator after reading it")
{
	struct tern_hello h = responder(ALL);

	expect(!tern_hello_may_send_long(&h));
	tern_hello_fpdu(&h, OFFER(TERN_HELLO_LONG));
	expect(!tern_hello_may_send_long(&h));
	must_send(&h, TERN_HELLO_ANSWER, TERN_HELLO_LONG);
	expect(tern_hello_may_send_long(&h));
	h = initiator(ALL);
	expect(!tern_hello_may_send_long(&h));
	must_send(&h, TERN_HELLO_OFFER, ALL);
	expect(!tern_hello_may_send_long(&h));
	tern_hello_fpdu(&h, ANSWER(ALL));
	/* the go changes the version alone */
	expect(tern_hello_may_send_long(&h));
	must_send(&h, TERN_HELLO_GO, ALL);
	expect(tern_hello_may_send_long(&h));
}

TEST(may_send_long__only_if_both_have_it, "whatever else was agreed on, or assumed")
{
	struct tern_hello h = answered(BOTH);

	expect(!tern_hello_may_send_long(&h));
	h = offered(ALL);
	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect(!tern_hello_may_send_long(&h));
	h = offered(BOTH);
	tern_hello_fpdu(&h, ANSWER(ALL));
	expect(!tern_hello_may_send_long(&h));
	h = offered(ALL);
	tern_hello_fpdu(&h, OTHER);
	expect(!tern_hello_may_send_long(&h));
	tern_hello_fpdu(&h, ANSWER(TERN_HELLO_LONG));
	expect(tern_hello_may_send_long(&h));
}

static struct tern_hello assuming(bool is_initiator, u8 rtr, u16 features)
{
	struct tern_hello_options opt = options(is_initiator, rtr, features);

	opt.extensions = TERN_HELLO_ASSUME_7306;
	return begin(opt);
}

TEST(may_send__rfc_7306_from_the_start_if_assumed, "RFC 7306 1.1: hardware that never says so")
{
	struct tern_hello h = assuming(true, TERN_MPA_RTR_WRITE, BOTH);

	expect_may(&h, Y, U);
	must_send(&h, TERN_HELLO_OFFER, BOTH);
	expect_may(&h, Y, U);
	tern_hello_fpdu(&h, OTHER);
	expect_may(&h, Y, N);
	expect_eq(tern_hello_agreed(&h), 0);
	h = assuming(false, TERN_MPA_RTR_NONE, BOTH);
	expect_may(&h, Y, U);
	tern_hello_fpdu(&h, OTHER);
	expect_may(&h, Y, N);
	h = assuming(true, TERN_MPA_RTR_READ, BOTH);
	expect_may(&h, Y, N);
}

TEST(may_send__negotiates_also_if_assumed, "v2 is sent only when it is agreed on")
{
	struct tern_hello h = assuming(true, TERN_MPA_RTR_WRITE, BOTH);

	must_send(&h, TERN_HELLO_OFFER, BOTH);
	tern_hello_fpdu(&h, ANSWER(BOTH));
	must_send(&h, TERN_HELLO_GO, BOTH);
	expect_may(&h, Y, Y);
	h = assuming(false, TERN_MPA_RTR_NONE, BOTH);
	tern_hello_fpdu(&h, OFFER(BOTH));
	expect_may(&h, Y, U);
	must_send(&h, TERN_HELLO_ANSWER, BOTH);
	expect_may(&h, Y, Y);
}

#define SETS_7306	(TERN_OPS_BASE | TERN_OPS_7306)
#define SETS_V2		(TERN_OPS_BASE | TERN_OPS_7306 | TERN_OPS_V2)

TEST(rx_sets__has_rfc_7306_on_any_stream, "RFC 7306 1.1: before a hello, after no, without one")
{
	struct tern_hello h = offered(BOTH);

	expect_eq(tern_hello_rx_sets(&h), SETS_7306);
	tern_hello_fpdu(&h, OTHER);
	expect_eq(tern_hello_rx_sets(&h), SETS_7306);
	h = responder(0);
	expect_eq(tern_hello_rx_sets(&h), SETS_7306);
	tern_hello_fpdu(&h, OTHER);
	expect_eq(tern_hello_rx_sets(&h), SETS_7306);
	h = begin(options(true, TERN_MPA_RTR_SEND, 0));
	expect_eq(tern_hello_rx_sets(&h), SETS_7306);
}

TEST(rx_sets__has_v2_after_the_last_hello_of_the_direction, "not when only ours has it")
{
	struct tern_hello h = answered(BOTH);

	expect_eq(tern_hello_rx_sets(&h), SETS_7306);
	tern_hello_fpdu(&h, GO(BOTH));
	expect_eq(tern_hello_rx_sets(&h), SETS_V2);
	h = offered(BOTH);
	expect_eq(tern_hello_rx_sets(&h), SETS_7306);
	tern_hello_fpdu(&h, ANSWER(BOTH));
	expect_eq(tern_hello_rx_sets(&h), SETS_V2);
	must_send(&h, TERN_HELLO_GO, BOTH);
	expect_eq(tern_hello_rx_sets(&h), SETS_V2);
}

/* ---- connections without extensions --------------------------------------------------------- */

/* nothing is said, answered, sent or taken, whatever comes */
static void expect_none(struct tern_hello_options opt)
{
	const struct tern_hello_msg *fpdus[] = { OFFER(ALL), ANSWER(ALL), GO(ALL), OTHER };
	struct tern_hello h = begin(opt);

	for (u32 i = 0; i <= ARRAY_SIZE(fpdus); i++) {
		expect_agreed(&h, 0);
		expect_may(&h, N, N);
		expect_rv(&h, opt.version, opt.version);
		expect_eq(tern_hello_rx_sets(&h), TERN_OPS_BASE);
		expect(!tern_hello_wants_probe(&h));
		tern_hello_timeout(&h);
		if (i < ARRAY_SIZE(fpdus))
			tern_hello_fpdu(&h, fpdus[i]);
	}
}

TEST(off__no_hello_and_no_extension, "in either role")
{
	struct tern_hello_options opt = options(true, TERN_MPA_RTR_WRITE, ALL);

	opt.extensions = TERN_HELLO_OFF;
	expect_none(opt);
	opt.rtr = TERN_MPA_RTR_NONE;
	expect_none(opt);
	opt.initiator = false;
	expect_none(opt);
}

TEST(version_0__no_hello_and_no_extension, "whatever is set, also if RFC 7306 is assumed")
{
	for (u8 ext = TERN_HELLO_OFF; ext <= TERN_HELLO_ASSUME_7306; ext++) {
		struct tern_hello_options opt = options(true, TERN_MPA_RTR_WRITE, ALL);

		opt.extensions = ext;
		opt.version = 0;
		expect_none(opt);
		opt.initiator = false;
		opt.rtr = TERN_MPA_RTR_NONE;
		expect_none(opt);
	}
}

/* ---- both ends --------------------------------------------------------------------------- */

TEST(both__agree, "each set of features, with and without an RTR")
{
	for (u16 f = 0; f < 64 * 2; f++) {
		u16 mine = f & 7, yours = f >> 3 & 7, both = common(mine, yours);
		struct tern_hello i = begin(options(true, f >> 6 ? TERN_MPA_RTR_WRITE :
							  TERN_MPA_RTR_NONE, mine));
		struct tern_hello r = responder(yours);
		struct tern_hello_msg msg;

		if (!tern_hello_before_ulp(&i, &msg))
			continue;
		tern_hello_sent(&i, TERN_HELLO_OFFER);
		tern_hello_fpdu(&r, &msg);
		must(tern_hello_next(&r, &msg));
		tern_hello_sent(&r, TERN_HELLO_ANSWER);
		tern_hello_fpdu(&i, &msg);
		if (tern_hello_next(&i, &msg)) {
			tern_hello_sent(&i, TERN_HELLO_GO);
			tern_hello_fpdu(&r, &msg);
		}
		expect_agreed(&i, both);
		expect_agreed(&r, both);
		expect_rv(&i, both & TERN_HELLO_V2 ? 2 : 1, both & TERN_HELLO_V2 ? 2 : 1);
		expect_rv(&r, both & TERN_HELLO_V2 ? 2 : 1, both & TERN_HELLO_V2 ? 2 : 1);
	}
}
