// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The peer-to-peer model and the RTR message (RFC 6581 9.2): rows F1 to F63 and O17 of
 * `requirements`.
 */
#include "tap.h"
#include "mpa_options.h"

#define RTR_B	1
#define RTR_C	2
#define RTR_D	4

/* set the accepted RTR types, in tern's order of preference */
static void take(struct tern_mpa_options *opt, u32 types)
{
	u32 n = 0;

	memset(opt->rtr, 0, sizeof(opt->rtr));
	if (types & RTR_C)
		opt->rtr[n++] = TERN_MPA_RTR_WRITE;
	if (types & RTR_D)
		opt->rtr[n++] = TERN_MPA_RTR_READ;
	if (types & RTR_B)
		opt->rtr[n++] = TERN_MPA_RTR_SEND;
}

static u16 ird_flags(bool a, u32 types)
{
	return (u16)((a ? A : 0) | (types & RTR_B ? B : 0));
}

static u16 ord_flags(u32 types)
{
	return (u16)((types & RTR_C ? C : 0) | (types & RTR_D ? D : 0));
}

/* the Reply lists the common types, or all of the responder's if there is none */
static u32 expected_list(u32 offered, u32 taken)
{
	return offered & taken ? offered & taken : taken;
}

static u8 expected_rtr(u32 shared)
{
	if (shared & RTR_C)
		return TERN_MPA_RTR_WRITE;
	if (shared & RTR_D)
		return TERN_MPA_RTR_READ;
	return shared & RTR_B ? TERN_MPA_RTR_SEND : TERN_MPA_RTR_NONE;
}

/* rows F3 to F58: all values of the Request's B, C, D and of the responder's, 1 to 7 */
static void check_f_row(u32 offered, u32 taken)
{
	struct tern_mpa_options iw = default_options(), rw = default_options();
	struct tern_mpa_params ip, rp;
	struct tern_mpa_msg req, reply;
	u8 want = expected_rtr(offered & taken);
	u32 list = expected_list(offered, taken);
	int term;

	take(&iw, offered);
	take(&rw, taken);
	tern_mpa_request(&iw, &req);
	expect_eq(req.ird & ~TERN_MPA_DEPTH_MASK, ird_flags(true, offered));
	expect_eq(req.ord & ~TERN_MPA_DEPTH_MASK, ord_flags(offered));
	tern_mpa_accept(&rw, &req, &reply, &rp);
	expect_eq(reply.ird & ~TERN_MPA_DEPTH_MASK, ird_flags(true, list));
	expect_eq(reply.ord & ~TERN_MPA_DEPTH_MASK, ord_flags(list));
	expect(rp.p2p);
	expect_eq(rp.rtr_accept,
		  (list & RTR_B ? BIT(TERN_MPA_RTR_SEND) : 0) |
		  (list & RTR_C ? BIT(TERN_MPA_RTR_WRITE) : 0) |
		  (list & RTR_D ? BIT(TERN_MPA_RTR_READ) : 0));
	term = tern_mpa_settle(&iw, &reply, &ip);
	expect_eq(term, want ? TERN_TERM_NONE : TERN_TERM_MPA_RTR);
	expect_eq(ip.rtr, want);
}

TEST(settle__rtr_matrix,
	"F3 to F58 MPA-189 to MPA-202 MPA-204: 8 offers by 7 answers")
{
	for (u32 offered = 0; offered < 8; offered++)
		for (u32 taken = 1; taken < 8; taken++)
			check_f_row(offered, taken);
}

TEST(expected_rtr__agrees_with_the_decision_table,
	"F10 F16 F26 F30 F37 F42 F44 F49 F51 F55 F58")
{
	static const struct {
		u32 offered, taken;
		u8 rtr;
	} rows[] = {
		{ RTR_D, RTR_D, TERN_MPA_RTR_READ },
		{ RTR_D, RTR_B | RTR_C | RTR_D, TERN_MPA_RTR_READ },
		{ RTR_C | RTR_D, RTR_C | RTR_D, TERN_MPA_RTR_WRITE },
		{ RTR_C | RTR_D, RTR_B | RTR_C | RTR_D, TERN_MPA_RTR_WRITE },
		{ RTR_B, RTR_B | RTR_C | RTR_D, TERN_MPA_RTR_SEND },
		{ RTR_B | RTR_D, RTR_B | RTR_D, TERN_MPA_RTR_READ },
		{ RTR_B | RTR_D, RTR_B | RTR_C | RTR_D, TERN_MPA_RTR_READ },
		{ RTR_B | RTR_C, RTR_B | RTR_D, TERN_MPA_RTR_SEND },
		{ RTR_B | RTR_C, RTR_B | RTR_C | RTR_D, TERN_MPA_RTR_WRITE },
		{ RTR_B | RTR_C | RTR_D, RTR_B, TERN_MPA_RTR_SEND },
		{ RTR_B | RTR_C | RTR_D, RTR_B | RTR_C | RTR_D,
		  TERN_MPA_RTR_WRITE },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		expect_eq(expected_rtr(rows[i].offered & rows[i].taken), rows[i].rtr);
}

/* cxgb4 prefers a Write if the Reply lists one, and the stream then ends */
TEST(accept__lists_a_read_that_was_offered_alone,
	"F16 MPA-197: a Read offered alone is all that is listed")
{
	struct tern_mpa_msg reply, req = enhanced(A | 0x20, D | 0x20);
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_params params;

	opt.ird = 0;
	opt.ord = 1;
	tern_mpa_accept(&opt, &req, &reply, &params);
	expect_eq(reply.ird, A | 0x20);
	expect_eq(reply.ord, D | 1);
	expect_eq(params.rtr_accept, BIT(TERN_MPA_RTR_READ));
}

TEST(reject__lists_what_an_accept_would, "MPA-195 MPA-197 MPA-200 Q25")
{
	for (u32 offered = 0; offered < 8; offered++) {
		for (u32 taken = 1; taken < 8; taken++) {
			struct tern_mpa_msg reply, req =
				enhanced(ird_flags(true, offered) | 4,
					 ord_flags(offered) | 4);
			struct tern_mpa_options opt = default_options();
			u32 list = expected_list(offered, taken);

			take(&opt, taken);
			tern_mpa_reject(&opt, &req, &reply);
			expect_eq(reply.ird & ~TERN_MPA_DEPTH_MASK,
				  ird_flags(true, list));
			expect_eq(reply.ord & ~TERN_MPA_DEPTH_MASK, ord_flags(list));
		}
	}
}

TEST(accept__client_server, "F1 F2 MPA-191 MPA-193 MPA-196: A=0, B C D ignored")
{
	static const struct { u16 ird, ord; } rows[] = {
		{ 0, 0 }, { B, 0 }, { 0, C | D }, { B, C | D },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_msg reply, req =
			enhanced(rows[i].ird | 4,
				 rows[i].ord | 4);
		struct tern_mpa_params params;

		tern_mpa_accept(&opt, &req, &reply, &params);
		expect_eq(reply.ird & ~TERN_MPA_DEPTH_MASK, 0);
		expect_eq(reply.ord & ~TERN_MPA_DEPTH_MASK, 0);
		expect(!params.p2p);
		expect_eq(params.rtr_accept, 0);
	}
}

TEST(accept__plain, "O19 MPA-220: the RTR Read of a peer that cannot negotiate")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg reply, req = { .rev = 1, .flags = TERN_MPA_F_CRC };
	struct tern_mpa_params params;

	tern_mpa_accept(&opt, &req, &reply, &params);
	expect(!params.p2p);
	expect_eq(params.rtr_accept, BIT(TERN_MPA_RTR_READ));
	expect_eq(params.ird, opt.ird);
}

TEST(request__client_server, "MPA-191 MPA-192: no flags unless asked for")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg req;

	opt.p2p = false;
	tern_mpa_request(&opt, &req);
	expect_eq(req.ird, 16);
	expect_eq(req.ord, 16);
}

TEST(settle__faulty_replies, "F59 to F62 Q23")
{
	static const struct {
		const char *id;
		bool p2p;
		u16 ird, ord;
		int term;
		u8 rtr;
	} rows[] = {
		{ "F59", 1, 16, 16, TERN_TERM_MPA_RTR, 0 },
		{ "F59", 1, B | 16, C | D | 16, TERN_TERM_MPA_RTR, 0 },
		{ "F60", 1, A | 16, 16, TERN_TERM_MPA_RTR, 0 },
		{ "F61", 0, A | 16, C | 16, TERN_TERM_NONE,
		  TERN_MPA_RTR_WRITE },
		{ "F61", 0, A | B | 16, 16, TERN_TERM_NONE,
		  TERN_MPA_RTR_SEND },
		{ "F62", 0, A | 16, 16, TERN_TERM_MPA_RTR, 0 },
		{ "F1", 0, B | 16, C | 16, TERN_TERM_NONE, 0 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply = enhanced(rows[i].ird, rows[i].ord);

		opt.p2p = rows[i].p2p;
		if (!expect_eq(tern_mpa_settle(&opt, &reply, &params), rows[i].term) ||
		    !expect_eq(params.rtr, rows[i].rtr))
			printf("# row %s (%u)\n", rows[i].id, i);
	}
}

TEST(gate_reply__reject_carries_no_rtr, "F63 O16 MPA-180: values as they came")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg msg;
	u8 buf[32];

	sample(TERN_MPA_REPLY, 2, 0x30, 4, buf);
	put_unaligned_be16(A | 3, buf + 20);
	put_unaligned_be16(C | 900, buf + 22);
	expect_eq(parse(TERN_MPA_REPLY, buf, 24, &msg), TERN_MPA_WHOLE);
	expect_eq(tern_mpa_gate_reply(&opt, &msg), TERN_MPA_REJECTED);
	expect_eq(msg.ird, A | 3);
	expect_eq(msg.ord, C | 900);
}

TEST(settle__read_rtr_needs_a_slot, "O17 O18 F10 MPA-176 Q7")
{
	static const struct {
		const char *id;
		u16 p_ird, own_ord;
		u32 taken;
		int term;
		u8 rtr;
	} rows[] = {
		{ "O17", 0, 4, RTR_D, TERN_TERM_MPA_RTR, 0 },
		{ "O17", 0, 0, RTR_D, TERN_TERM_MPA_RTR, 0 },
		{ "O18", 1, 0, RTR_D, TERN_TERM_NONE, TERN_MPA_RTR_READ },
		{ "O18", X, 0, RTR_D, TERN_TERM_NONE, TERN_MPA_RTR_READ },
		{ "F42", 0, 4, RTR_B | RTR_D, TERN_TERM_NONE,
		  TERN_MPA_RTR_SEND },
		{ "F42", 1, 4, RTR_B | RTR_D, TERN_TERM_NONE,
		  TERN_MPA_RTR_READ },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply =
			enhanced(rows[i].p_ird | ird_flags(true, rows[i].taken),
				 1 | ord_flags(rows[i].taken));

		opt.ord = rows[i].own_ord;
		if (!expect_eq(tern_mpa_settle(&opt, &reply, &params), rows[i].term) ||
		    !expect_eq(params.rtr, rows[i].rtr))
			printf("# row %s (%u)\n", rows[i].id, i);
		if (!rows[i].own_ord)
			expect_eq(params.ord, 0);
	}
}
