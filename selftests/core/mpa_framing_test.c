// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Versions, markers and CRC: rows M1 to M25 and C1 to C5 of `requirements`. */
#include "tap.h"
#include "mpa_options.h"

/* ---- versions and markers: RFC 5044 4.3, appendix C --------------------------- */

struct end {
	enum tern_mpa_type type;
	bool m;
};

/*
 * Negotiate between two ends; with @rev 1 the Request is plain, as a Permissive
 * initiator's second one. Return: Full Operation began.
 */
static bool meet(struct end ini, struct end rsp, u8 rev,
		 struct tern_mpa_params *ip, struct tern_mpa_params *rp)
{
	struct tern_mpa_options iw = default_options(), rw = default_options();
	struct tern_mpa_msg req, reply;

	iw.type = ini.type;
	iw.markers = ini.m;
	iw.rev = rev;
	iw.enhanced = rev == 2;
	rw.type = rsp.type;
	rw.markers = rsp.m;
	tern_mpa_request(&iw, &req);
	if (tern_mpa_gate_request(&rw, &req) != TERN_MPA_GO)
		return false;
	tern_mpa_accept(&rw, &req, &reply, rp);
	if (tern_mpa_gate_reply(&iw, &reply) != TERN_MPA_GO)
		return false;
	expect_eq(tern_mpa_settle(&iw, &reply, ip), TERN_TERM_NONE);
	return true;
}

static const struct {
	const char *id;
	struct end ini, rsp;
	int v;			/* -1: close */
	bool i_rx, r_rx;
} m_rows[] = {
	{ "M1", { RDMAC, 1 }, { RDMAC, 1 }, 0, 1, 1 },
	{ "M2", { RDMAC, 1 }, { NP, 0 }, -1, 0, 0 },
	{ "M3", { RDMAC, 1 }, { NP, 1 }, -1, 0, 0 },
	{ "M4", { RDMAC, 1 }, { P, 0 }, 0, 1, 1 },
	{ "M5", { RDMAC, 1 }, { P, 1 }, 0, 1, 1 },
	{ "M6", { NP, 0 }, { RDMAC, 1 }, -1, 0, 0 },
	{ "M7", { NP, 0 }, { NP, 0 }, 1, 0, 0 },
	{ "M8", { NP, 0 }, { NP, 1 }, 1, 0, 1 },
	{ "M9", { NP, 0 }, { P, 0 }, 1, 0, 0 },
	{ "M10", { NP, 0 }, { P, 1 }, 1, 0, 1 },
	{ "M11", { NP, 1 }, { RDMAC, 1 }, -1, 0, 0 },
	{ "M12", { NP, 1 }, { NP, 0 }, 1, 1, 0 },
	{ "M13", { NP, 1 }, { NP, 1 }, 1, 1, 1 },
	{ "M14", { NP, 1 }, { P, 0 }, 1, 1, 0 },
	{ "M15", { NP, 1 }, { P, 1 }, 1, 1, 1 },
	{ "M16", { P, 0 }, { RDMAC, 1 }, 0, 1, 1 },
	{ "M17", { P, 0 }, { NP, 0 }, 1, 0, 0 },
	{ "M18", { P, 0 }, { NP, 1 }, 1, 0, 1 },
	{ "M19", { P, 0 }, { P, 0 }, 1, 0, 0 },
	{ "M20", { P, 0 }, { P, 1 }, 1, 0, 1 },
	{ "M21", { P, 1 }, { RDMAC, 1 }, 0, 1, 1 },
	{ "M22", { P, 1 }, { NP, 0 }, 1, 1, 0 },
	{ "M23", { P, 1 }, { NP, 1 }, 1, 1, 1 },
	{ "M24", { P, 1 }, { P, 0 }, 1, 1, 0 },
	{ "M25", { P, 1 }, { P, 1 }, 1, 1, 1 },
};

static void check_m_row(u32 i, u8 rev)
{
	struct tern_mpa_params ip, rp;
	bool open = meet(m_rows[i].ini, m_rows[i].rsp, rev, &ip, &rp);
	unsigned int before = test_failures;

	expect_eq(open, m_rows[i].v >= 0);
	if (open) {
		expect_eq(ip.version, m_rows[i].v);
		expect_eq(rp.version, m_rows[i].v);
		expect_eq(ip.rx_markers, m_rows[i].i_rx);
		expect_eq(rp.tx_markers, m_rows[i].i_rx);
		expect_eq(rp.rx_markers, m_rows[i].r_rx);
		expect_eq(ip.tx_markers, m_rows[i].r_rx);
		expect(ip.crc && rp.crc);
		expect(ip.initiator && !rp.initiator);
	}
	if (test_failures != before)
		printf("# row %s, revision %u\n", m_rows[i].id, rev);
}

TEST(settle__versions_and_markers,
	"M1 to M25 MPA-085 MPA-086 MPA-137 to MPA-147")
{
	for (u32 i = 0; i < ARRAY_SIZE(m_rows); i++)
		check_m_row(i, 1);
}

TEST(settle__markers_at_revision_2, "M7 to M10, M12 to M15, M17 to M20, M22 to M25")
{
	for (u32 i = 0; i < ARRAY_SIZE(m_rows); i++)
		if (m_rows[i].v == 1)
			check_m_row(i, 2);
}

TEST(request__of_an_rdmac_initiator, "MPA-139: Rev 0, M=1, C=1 whatever the options say")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg req;

	opt.type = RDMAC;
	opt.crc = false;
	tern_mpa_request(&opt, &req);
	expect_eq(req.rev, 0);
	expect_eq(req.flags, TERN_MPA_F_MARKERS | TERN_MPA_F_CRC);
	expect(!req.enhanced);
	/* an RDMAC type cannot retry: its Request is the plainest */
	expect(!tern_mpa_may_retry(&opt));
}

TEST(meet__rdmac_after_a_plain_retry,
	"H14 H16 M6 M11 M16 M21: an enhanced Request first")
{
	static const struct {
		enum tern_mpa_type type;
		bool m, open;
	} rows[] = {
		{ P, 0, true }, { P, 1, true }, { NP, 0, false }, { NP, 1, false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_options iw = default_options(), rw = default_options();
		struct tern_mpa_params ip, rp;
		struct tern_mpa_msg req;
		struct end ini = { rows[i].type, rows[i].m };
		struct end rsp = { RDMAC, 1 };

		iw.type = rows[i].type;
		rw.type = RDMAC;
		tern_mpa_request(&iw, &req);
		expect(req.enhanced);
		expect_eq(tern_mpa_gate_request(&rw, &req), TERN_MPA_CLOSE);
		expect(tern_mpa_may_retry(&iw));
		if (!expect_eq(meet(ini, rsp, 1, &ip, &rp),
			       rows[i].open) || !rows[i].open)
			continue;
		expect_eq(ip.version, 0);
		expect(ip.rx_markers && ip.tx_markers && ip.crc);
	}
}

/* ---- CRC: RFC 5044 4.4 and 7.1 ------------------------------------------------- */

TEST(settle__crc, "C1 to C4 MPA-039 MPA-087 MPA-088 Q21")
{
	for (int q = 0; q < 2; q++) {
		for (int own = 0; own < 2; own++) {
			struct tern_mpa_options iw = default_options();
			struct tern_mpa_options rw = default_options();
			struct tern_mpa_params ip, rp;
			struct tern_mpa_msg req, reply;

			iw.crc = q;
			rw.crc = own;
			tern_mpa_request(&iw, &req);
			tern_mpa_accept(&rw, &req, &reply, &rp);
			expect_eq(!!(reply.flags & TERN_MPA_F_CRC), q || own);
			tern_mpa_settle(&iw, &reply, &ip);
			expect_eq(ip.crc, q || own);
			expect_eq(rp.crc, q || own);
			/* C2: a responder that does not repeat the Request's C */
			reply.flags &= (u8)~TERN_MPA_F_CRC;
			tern_mpa_settle(&iw, &reply, &ip);
			expect_eq(ip.crc, q);
		}
	}
}

TEST(settle__crc_of_revision_0, "C5: on, whatever the frames say")
{
	struct tern_mpa_options opt = default_options();
	struct tern_mpa_msg reply, req = { .rev = 0 };
	struct tern_mpa_params params;

	opt.type = P;
	opt.crc = false;
	tern_mpa_accept(&opt, &req, &reply, &params);
	expect(params.crc);
	reply = (struct tern_mpa_msg) { .rev = 0 };
	opt.rev = 1;
	opt.enhanced = false;
	tern_mpa_settle(&opt, &reply, &params);
	expect(params.crc && params.tx_markers && params.rx_markers);
}
