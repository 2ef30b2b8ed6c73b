// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Negotiation of IRD and ORD (RFC 6581 9.1): rows O1 to O19 of `requirements`. */
#include "tap.h"
#include "mpa_options.h"

TEST(accept__depths, "O1 to O5, O7 to O9 MPA-173 to MPA-176 MPA-185 MPA-187")
{
	static const struct {
		const char *id;
		u16 q_ird, q_ord;
		u16 own_ird, own_ord;
		bool a;
		u16 p_ird, p_ord;	/* in the Reply */
		u16 ird, ord;		/* agreed */
	} rows[] = {
		{ "O1", 16, 8, 8, 4, 0, 8, 4, 8, 4 },
		{ "O1", 16, 8, 16, 4, 0, 16, 4, 16, 4 },
		{ "O1", 16, 40, 8, 4, 0, 40, 4, 40, 4 },
		{ "O2", 16, 1000, 8, 4, 0, 128, 4, 128, 4 },
		{ "O2", 16, 0x3ffe, 8, 4, 0, 128, 4, 128, 4 },
		{ "O3", 16, X, 8, 4, 0, X, 4, 8, 4 },
		{ "O4", 4, 8, 8, 4, 0, 8, 4, 8, 4 },
		{ "O5", 2, 8, 8, 4, 0, 8, 2, 8, 2 },
		{ "O7", X, 8, 8, 4, 0, 8, X, 8, 4 },
		{ "O8", 16, 0, 0, 4, 1, 1, 4, 1, 4 },
		{ "O8", 16, 0, 5, 4, 1, 5, 4, 5, 4 },
		{ "O8", 16, 0, 0, 4, 0, 0, 4, 0, 4 },
		{ "O9", 0, 8, 8, 4, 0, 8, 0, 8, 0 },
		{ "Q24", X, X, 8, 4, 1, X, X, 8, 4 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply, req =
			enhanced(rows[i].q_ird | (rows[i].a ? A : 0),
				 rows[i].q_ord | (rows[i].a ? D : 0));
		unsigned int before = test_failures;

		opt.ird = rows[i].own_ird;
		opt.ord = rows[i].own_ord;
		tern_mpa_accept(&opt, &req, &reply, &params);
		expect_eq(reply.ird & TERN_MPA_DEPTH_MASK, rows[i].p_ird);
		expect_eq(reply.ord & TERN_MPA_DEPTH_MASK, rows[i].p_ord);
		expect_eq(params.ird, rows[i].ird);
		expect_eq(params.ord, rows[i].ord);
		if (test_failures != before)
			printf("# row %s (%u)\n", rows[i].id, i);
	}
}

TEST(settle__depths, "O10 to O15 MPA-181 to MPA-183 MPA-186 MPA-188")
{
	static const struct {
		const char *id;
		u16 p_ird, p_ord;
		u16 own_ird, own_ord;
		u16 ird, ord;
		int term;
	} rows[] = {
		{ "O10", 8, 4, 16, 16, 16, 8, TERN_TERM_NONE },
		{ "O10", 40, 4, 16, 16, 16, 16, TERN_TERM_NONE },
		{ "O10", 0, 4, 16, 16, 16, 0, TERN_TERM_NONE },
		{ "O11", X, 4, 16, 16, 16, 16, TERN_TERM_NONE },
		{ "O12", 16, 16, 16, 16, 16, 16, TERN_TERM_NONE },
		{ "O13", 16, 17, 16, 16, 17, 16, TERN_TERM_NONE },
		{ "O13", 16, 128, 16, 16, 128, 16, TERN_TERM_NONE },
		{ "O14", 16, 129, 16, 16, 16, 16, TERN_TERM_MPA_IRD },
		{ "O14", 4, 0x3ffe, 16, 16, 16, 4, TERN_TERM_MPA_IRD },
		{ "O15", 16, X, 16, 16, 16, 16, TERN_TERM_NONE },
		{ "O15", X, X, 3, 5, 3, 5, TERN_TERM_NONE },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply = enhanced(rows[i].p_ird | A, rows[i].p_ord | C);
		unsigned int before = test_failures;

		opt.ird = rows[i].own_ird;
		opt.ord = rows[i].own_ord;
		expect_eq(tern_mpa_settle(&opt, &reply, &params), rows[i].term);
		expect_eq(params.ird, rows[i].ird);
		expect_eq(params.ord, rows[i].ord);
		if (test_failures != before)
			printf("# row %s (%u)\n", rows[i].id, i);
	}
}

TEST(settle__plain, "O19 H1: nothing negotiated, the ULP's values stand")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg msg, plain = { .rev = 1 };
	struct tern_mpa_params params;

	opt.ird = 3;
	opt.ord = 5;
	tern_mpa_accept(&opt, &plain, &msg, &params);
	expect_eq(params.ird, 3);
	expect_eq(params.ord, 5);
	expect(!params.p2p && !msg.enhanced);
	tern_mpa_fall_back(&opt);
	expect_eq(tern_mpa_settle(&opt, &plain, &params), TERN_TERM_NONE);
	expect_eq(params.ird, 3);
	expect_eq(params.ord, 5);
	expect_eq(params.rtr, TERN_MPA_RTR_NONE);
}

TEST(request__clamps_depths_to_0x3ffe, "MPA-222 Q24: 0x3FFF is clamped")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg req;

	opt.ird = X;
	opt.ord = 0xffff;
	tern_mpa_request(&opt, &req);
	expect_eq(req.ird & TERN_MPA_DEPTH_MASK, TERN_MPA_DEPTH_MAX);
	expect_eq(req.ord & TERN_MPA_DEPTH_MASK, TERN_MPA_DEPTH_MAX);
}
