// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Which revisions are accepted and which refused (RFC 5044 7.1, RFC 6581 10): rows G, H
 * and P of `requirements`.
 */
#include "tap.h"
#include "mpa_options.h"

#define U	1	/* supports only revision 1 */
#define E	2

/* ---- gate at the responder ------------------------------------------------- */

TEST(gate_request__table, "G1 to G14 MPA-093 MPA-162 MPA-209 MPA-211")
{
	static const struct {
		const char *id;
		u8 rev;
		bool s;
		enum tern_mpa_type type;
		u8 knows;
		enum tern_mpa_gate want;
	} rows[] = {
		{ "G1", 0, 0, RDMAC, E, TERN_MPA_GO },
		{ "G1", 0, 1, RDMAC, E, TERN_MPA_GO },
		{ "G2", 0, 0, P, U, TERN_MPA_GO },
		{ "G2", 0, 1, P, E, TERN_MPA_GO },
		{ "G3", 0, 0, NP, U, TERN_MPA_REFUSE },
		{ "G3", 0, 0, NP, E, TERN_MPA_REFUSE },
		{ "G4", 1, 0, NP, U, TERN_MPA_GO },
		{ "G4", 1, 0, NP, E, TERN_MPA_GO },
		{ "G4", 1, 0, P, E, TERN_MPA_GO },
		{ "G5", 1, 1, NP, U, TERN_MPA_GO },
		{ "G6", 1, 1, NP, E, TERN_MPA_GO },
		{ "G7", 1, 0, RDMAC, E, TERN_MPA_GO },
		{ "G8", 2, 0, NP, E, TERN_MPA_GO },
		{ "G9", 2, 1, NP, E, TERN_MPA_GO },
		{ "G11", 2, 1, NP, U, TERN_MPA_CLOSE },
		{ "G12", 2, 0, NP, U, TERN_MPA_CLOSE },
		{ "G13", 2, 0, RDMAC, E, TERN_MPA_CLOSE },
		{ "G13", 2, 1, RDMAC, E, TERN_MPA_CLOSE },
		{ "G14", 3, 0, NP, E, TERN_MPA_REFUSE },
		{ "G14", 255, 1, P, E, TERN_MPA_REFUSE },
		{ "G14", 3, 0, NP, U, TERN_MPA_CLOSE },
		{ "G14", 255, 0, NP, U, TERN_MPA_CLOSE },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_msg req = {
			.rev = rows[i].rev,
			.flags = rows[i].s ? TERN_MPA_F_ENHANCED : 0,
			.enhanced = rows[i].rev == 2 && rows[i].s,
		};

		opt.type = rows[i].type;
		opt.rev = rows[i].knows;
		if (!expect_eq(tern_mpa_gate_request(&opt, &req), rows[i].want))
			printf("# row %s\n", rows[i].id);
	}
}

TEST(accept__revision_and_s_of_the_reply,
	"G1 G2 G4 G7 G8 G9 MPA-207 MPA-208 Q19")
{
	static const struct {
		enum tern_mpa_type type;
		u8 req;
		bool s;
		u8 rev;
		bool enhanced;
		u8 version;
	} rows[] = {
		{ RDMAC, 0, 0, 0, 0, 0 }, { P, 0, 0, 0, 0, 0 },
		{ NP, 1, 0, 1, 0, 1 }, { NP, 1, 1, 1, 0, 1 },
		{ RDMAC, 1, 0, 0, 0, 0 }, { NP, 2, 0, 2, 0, 1 },
		{ NP, 2, 1, 2, 1, 1 }, { P, 2, 1, 2, 1, 1 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_msg reply, req = {
			.rev = rows[i].req,
			.flags = rows[i].s ? TERN_MPA_F_ENHANCED : 0,
			.enhanced = rows[i].req == 2 && rows[i].s,
		};
		struct tern_mpa_params params;

		opt.type = rows[i].type;
		tern_mpa_accept(&opt, &req, &reply, &params);
		expect_eq(reply.rev, rows[i].rev);
		expect_eq(reply.enhanced, rows[i].enhanced);
		expect_eq(!!(reply.flags & TERN_MPA_F_ENHANCED), rows[i].enhanced);
		expect_eq(!!(reply.flags & TERN_MPA_F_REJECT), 0);
		expect_eq(params.version, rows[i].version);
		if (!reply.rev)
			expect_eq(reply.flags, TERN_MPA_F_MARKERS | TERN_MPA_F_CRC);
	}
}

TEST(refuse__reply, "G3 G14 MPA-142 MPA-143 Q1: Rev 1 or 2, R=1, S=0")
{
	static const struct { u8 req, rev; } rows[] = {
		{ 0, 1 }, { 3, 2 }, { 255, 2 },
	};
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg reply;

	opt.markers = true;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_msg req = { .rev = rows[i].req };

		tern_mpa_refuse(&opt, &req, &reply);
		expect_eq(reply.rev, rows[i].rev);
		expect_eq(reply.flags, TERN_MPA_F_MARKERS | TERN_MPA_F_CRC |
				       TERN_MPA_F_REJECT);
		expect_eq(reply.pd_len, 0);
		expect(!reply.enhanced);
	}
}

TEST(reject__reply, "MPA-090 MPA-103 MPA-177 MPA-207 O6 Q21 Q25")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg reply, req = {
		.rev = 2,
		.flags = TERN_MPA_F_ENHANCED,
		.enhanced = true,
		.ird = A | C | 2,
		.ord = X,
	};

	opt.ord = 9;
	tern_mpa_reject(&opt, &req, &reply);
	expect_eq(reply.rev, 2);
	expect_eq(reply.flags, TERN_MPA_F_REJECT | TERN_MPA_F_CRC |
			       TERN_MPA_F_ENHANCED);
	expect_eq(reply.ird, A | B | X);
	expect_eq(reply.ord, C | D | 2);
	req = (struct tern_mpa_msg) { .rev = 1 };
	tern_mpa_reject(&opt, &req, &reply);
	expect_eq(reply.rev, 1);
	expect_eq(reply.flags, TERN_MPA_F_REJECT | TERN_MPA_F_CRC);
	expect(!reply.enhanced);
}

/* irdma as an initiator checks the depths before R: bad ones would hide the reject */
TEST(reject__words_of_an_accept, "MPA-175 MPA-176 MPA-177 O1 O2 O4 O5 O8 Q25")
{
	static const struct {
		u16 q_ird, q_ord, own_ird, own_ord, p_ird, p_ord;
	} rows[] = {
		{ 32, 32, 128, 128, 128, 32 },
		{ 1000, 1000, 128, 128, 128, 128 },
		{ 0, 0, 128, 128, 128, 0 },
		{ 32, 32, 0, 0, 32, 0 },
		{ 32, 0, 0, 0, 1, 0 },
		{ X, X, 128, 128, X, X },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_msg reply, req =
			enhanced(A | rows[i].q_ird, D | rows[i].q_ord);
		struct tern_mpa_options opt = default_options();
		unsigned int before = test_failures;

		opt.ird = rows[i].own_ird;
		opt.ord = rows[i].own_ord;
		tern_mpa_reject(&opt, &req, &reply);
		expect_eq(reply.ird, A | rows[i].p_ird);
		expect_eq(reply.ord, D | rows[i].p_ord);
		if (test_failures != before)
			printf("# row %u\n", i);
	}
}

/* ---- gate at the initiator ------------------------------------------------- */

TEST(gate_reply__table, "H1 to H17 MPA-144 MPA-224")
{
	static const struct {
		const char *id;
		enum tern_mpa_type type;
		u8 sent;
		bool sent_s;
		u8 rev;
		bool s, r;
		enum tern_mpa_gate want;
	} rows[] = {
		{ "H1", NP, 1, 0, 1, 0, 0, TERN_MPA_GO },
		{ "H2", NP, 1, 0, 1, 0, 1, TERN_MPA_REJECTED },
		{ "H3", NP, 1, 0, 1, 1, 0, TERN_MPA_GO },
		{ "H3", NP, 1, 0, 1, 1, 1, TERN_MPA_REJECTED },
		{ "H4", P, 1, 0, 0, 0, 0, TERN_MPA_GO },
		{ "H4", P, 1, 0, 0, 1, 0, TERN_MPA_GO },
		{ "H4", NP, 1, 0, 0, 0, 0, TERN_MPA_CLOSE },
		{ "H4", NP, 1, 0, 0, 0, 1, TERN_MPA_CLOSE },
		{ "H5", NP, 1, 0, 2, 0, 0, TERN_MPA_CLOSE },
		{ "H5", NP, 1, 0, 2, 1, 1, TERN_MPA_CLOSE },
		{ "H6", NP, 2, 0, 2, 0, 0, TERN_MPA_GO },
		{ "H6", NP, 2, 0, 2, 0, 1, TERN_MPA_REJECTED },
		{ "H7", NP, 2, 0, 2, 1, 0, TERN_MPA_CLOSE },
		{ "H7", NP, 2, 0, 2, 1, 1, TERN_MPA_CLOSE },
		{ "H8", NP, 2, 0, 1, 0, 0, TERN_MPA_GO },
		{ "H9", NP, 2, 0, 1, 0, 1, TERN_MPA_RETRY },
		{ "H9", NP, 2, 0, 0, 0, 1, TERN_MPA_RETRY },
		{ "H10", NP, 2, 1, 2, 1, 0, TERN_MPA_GO },
		{ "H11", NP, 2, 1, 2, 1, 1, TERN_MPA_REJECTED },
		{ "H13", NP, 2, 1, 2, 0, 0, TERN_MPA_RETRY },
		{ "H13", NP, 2, 1, 2, 0, 1, TERN_MPA_RETRY },
		{ "H14", NP, 2, 1, 1, 0, 0, TERN_MPA_RETRY },
		{ "H14", P, 2, 1, 0, 0, 0, TERN_MPA_RETRY },
		{ "H15", NP, 2, 1, 1, 0, 1, TERN_MPA_RETRY },
		{ "H15", P, 2, 1, 0, 0, 1, TERN_MPA_RETRY },
		{ "H17", NP, 1, 0, 3, 0, 0, TERN_MPA_CLOSE },
		{ "H17", NP, 2, 1, 3, 1, 1, TERN_MPA_CLOSE },
		{ "H17", P, 2, 0, 255, 0, 0, TERN_MPA_CLOSE },
		{ "MPA-224", RDMAC, 0, 0, 0, 0, 0, TERN_MPA_GO },
		{ "MPA-224", RDMAC, 0, 0, 0, 0, 1, TERN_MPA_REJECTED },
		{ "MPA-224", RDMAC, 0, 0, 1, 0, 0, TERN_MPA_CLOSE },
		{ "MPA-224", P, 2, 0, 0, 0, 0, TERN_MPA_GO },
		{ "MPA-224", NP, 2, 0, 0, 0, 0, TERN_MPA_RETRY },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options opt = default_options();
		struct tern_mpa_msg reply = {
			.rev = rows[i].rev,
			.flags = (u8)((rows[i].s ? TERN_MPA_F_ENHANCED : 0) |
				      (rows[i].r ? TERN_MPA_F_REJECT : 0)),
			.enhanced = rows[i].rev == 2 && rows[i].s,
		};

		opt.type = rows[i].type;
		opt.rev = rows[i].sent;
		opt.enhanced = rows[i].sent_s;
		if (!expect_eq(tern_mpa_gate_reply(&opt, &reply), rows[i].want))
			printf("# row %s (%u)\n", rows[i].id, i);
	}
}

TEST(fall_back__sends_a_plain_request_of_rev_1, "H9 H13 H16 H18 MPA-161 MPA-210 MPA-212")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg req;

	expect(tern_mpa_may_retry(&opt));
	tern_mpa_fall_back(&opt);
	expect(!tern_mpa_may_retry(&opt));
	tern_mpa_request(&opt, &req);
	expect_eq(req.rev, 1);
	expect_eq(req.flags, TERN_MPA_F_CRC);
	expect(!req.enhanced);
}

/* ---- both ends ------------------------------------------------------------------------- */

TEST(path__each_pair_connects_or_closes, "P1 to P8")
{
	static const struct {
		const char *id;
		u8 ini, rsp;
		bool p2p;
		enum tern_mpa_gate gate;
	} rows[] = {
		{ "P1", 1, U, 0, TERN_MPA_GO },
		{ "P2 P3", 1, E, 0, TERN_MPA_GO },
		{ "P4", 2, E, 0, TERN_MPA_GO },
		{ "P5", 2, U, 0, TERN_MPA_CLOSE },
		{ "P6", 2, E, 1, TERN_MPA_GO },
		{ "P8", 2, U, 1, TERN_MPA_CLOSE },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options iw = default_options(), rw = default_options();
		struct tern_mpa_params ip, rp;
		struct tern_mpa_msg req, reply;

		iw.rev = rows[i].ini;
		iw.enhanced = rows[i].ini == 2;
		iw.p2p = rows[i].p2p;
		rw.rev = rows[i].rsp;
		tern_mpa_request(&iw, &req);
		if (!expect_eq(tern_mpa_gate_request(&rw, &req), rows[i].gate))
			printf("# row %s\n", rows[i].id);
		if (rows[i].gate != TERN_MPA_GO)
			continue;
		tern_mpa_accept(&rw, &req, &reply, &rp);
		expect_eq(tern_mpa_gate_reply(&iw, &reply), TERN_MPA_GO);
		expect_eq(tern_mpa_settle(&iw, &reply, &ip), TERN_TERM_NONE);
		expect_eq(ip.p2p, rows[i].p2p);
		expect_eq(rp.p2p, rows[i].p2p);
		expect_eq(!!ip.rtr, rows[i].p2p);
		expect(ip.ord <= rp.ird && rp.ord <= ip.ird);
	}
}
