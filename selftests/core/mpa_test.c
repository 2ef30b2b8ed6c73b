// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The tables of checklist-mpa 3, row by row. */
#include "mpa.h"
#include "tap.h"
#include "util.h"

#define X	TERN_MPA_DEPTH_NONE
#define A	TERN_MPA_IRD_P2P
#define B	TERN_MPA_IRD_SEND
#define C	TERN_MPA_ORD_WRITE
#define D	TERN_MPA_ORD_READ

#define NP	TERN_MPA_NONPERMISSIVE
#define P	TERN_MPA_PERMISSIVE
#define RDMAC	TERN_MPA_RDMAC

/* what tern wants out of the box */
static struct tern_mpa_wish default_wish(void)
{
	return (struct tern_mpa_wish) {
		.rev = 2,
		.enhanced = true,
		.crc = true,
		.p2p = true,
		.rtr = { TERN_MPA_RTR_WRITE, TERN_MPA_RTR_READ,
			 TERN_MPA_RTR_SEND },
		.ird = 16,
		.ord = 16,
		.max_ird = 128,
	};
}

static enum tern_mpa_parse parse(enum tern_mpa_kind kind, const u8 *buf,
				 u32 len, struct tern_mpa_msg *msg)
{
	u32 need = 0;

	return tern_mpa_parse(kind, buf, len, &need, msg);
}

/* ---- frames --------------------------------------------------------------- */

TEST(build__request_octets, "MPA-081 MPA-163 MPA-166 vector 1.2/1")
{
	struct tern_mpa_wish wish = default_wish();
	u8 out[TERN_MPA_FRAME_MAX], want[64];
	struct tern_mpa_msg req;
	u32 len;

	tern_mpa_request(&wish, &req);
	len = from_hex(want, "4D50412049442052657120467261 6D65 50 02 0004 C010C010");
	EQ(tern_mpa_build(TERN_MPA_REQUEST, &req, out), len);
	MEM_EQ(out, want, len);
}

TEST(build__reply_octets, "MPA-083 MPA-095 MPA-158")
{
	struct tern_mpa_msg reply = {
		.rev = 1,
		.flags = TERN_MPA_F_CRC | TERN_MPA_F_REJECT,
		.pd = (const u8 *)"abc",
		.pd_len = 3,
	};
	u8 out[TERN_MPA_FRAME_MAX], want[64];
	u32 len;

	len = from_hex(want, "4D504120494420526570 204672616D65 60 01 0003 616263");
	EQ(tern_mpa_build(TERN_MPA_REPLY, &reply, out), len);
	MEM_EQ(out, want, len);
}

TEST(build__enhanced_words, "MPA-164 vectors 1.2/2 to 1.2/4")
{
	static const struct {
		u16 ird, ord;
		const char *hex;
	} rows[] = {
		{ X, X, "3FFF3FFF" },
		{ A | 1, D, "80014000" },
		{ A | 8, C | 4, "80088004" },
	};
	u8 out[TERN_MPA_FRAME_MAX], want[4];

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_msg msg = {
			.rev = 2,
			.enhanced = true,
			.ird = rows[i].ird,
			.ord = rows[i].ord,
		};

		EQ(tern_mpa_build(TERN_MPA_REQUEST, &msg, out), 24);
		from_hex(want, rows[i].hex);
		MEM_EQ(out + 20, want, 4);
	}
}

TEST(build__private_data_limits, "MPA-095 MPA-098 MPA-165: 511, 512, 508, 509")
{
	static const struct {
		bool enhanced;
		u16 len;
		u32 want;
	} rows[] = {
		{ false, 511, 531 }, { false, 512, 532 }, { false, 513, 0 },
		{ true, 508, 532 }, { true, 509, 0 },
	};
	u8 out[TERN_MPA_FRAME_MAX];
	static const u8 pd[513];

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_msg msg = {
			.rev = 2,
			.enhanced = rows[i].enhanced,
			.pd = pd,
			.pd_len = rows[i].len,
		};

		EQ(tern_mpa_build(TERN_MPA_REPLY, &msg, out), rows[i].want);
	}
}

static u32 sample(enum tern_mpa_kind kind, u8 rev, u8 flags, u16 pd_len,
		  u8 *buf)
{
	memcpy(buf, kind == TERN_MPA_REQUEST ? TERN_MPA_KEY_REQ :
					       TERN_MPA_KEY_REP, 16);
	buf[16] = flags;
	buf[17] = rev;
	put_unaligned_be16(pd_len, buf + 18);
	for (u32 i = 0; i < pd_len && i < TERN_MPA_MAX_PD; i++)
		buf[20 + i] = (u8)i;
	return 20 + pd_len;
}

TEST(parse__wrong_key, "K1 MPA-082 MPA-084: each of the 16 octets, at once")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	for (int kind = 0; kind < 2; kind++) {
		for (u32 i = 0; i < 16; i++) {
			sample(kind, 1, 0, 0, buf);
			buf[i] ^= 0x20;
			EQ(parse(kind, buf, i + 1, &msg), TERN_MPA_BAD);
			EQ(parse(kind, buf, 20, &msg), TERN_MPA_BAD);
		}
	}
}

TEST(parse__own_key, "K2 P9 MPA-077")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	sample(TERN_MPA_REQUEST, 2, 0x50, 4, buf);
	EQ(parse(TERN_MPA_REPLY, buf, 20, &msg), TERN_MPA_BAD);
	sample(TERN_MPA_REPLY, 2, 0x50, 4, buf);
	EQ(parse(TERN_MPA_REQUEST, buf, 20, &msg), TERN_MPA_BAD);
}

TEST(parse__length_over_512, "K3 MPA-096: not waiting for the data")
{
	static const u16 bad[] = { 513, 514, 1024, 32768, 65535 };
	struct tern_mpa_msg msg;
	u8 buf[20 + TERN_MPA_MAX_PD];
	u32 need = 0;

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		sample(TERN_MPA_REQUEST, 1, 0, bad[i], buf);
		EQ(parse(TERN_MPA_REQUEST, buf, 20, &msg), TERN_MPA_BAD);
	}
	sample(TERN_MPA_REQUEST, 1, 0, 512, buf);
	EQ(tern_mpa_parse(TERN_MPA_REQUEST, buf, 20, &need, &msg),
	   TERN_MPA_MORE);
	EQ(need, 532);
}

TEST(parse__octet_by_octet, "K5 K6: MORE at each prefix, and how much")
{
	struct tern_mpa_msg msg;
	u8 buf[64];
	u32 need, len = sample(TERN_MPA_REPLY, 2, 0x50, 11, buf);

	for (u32 i = 0; i < len; i++) {
		need = 0;
		EQ(tern_mpa_parse(TERN_MPA_REPLY, buf, i, &need, &msg),
		   TERN_MPA_MORE);
		EQ(need, i < 20 ? 20 : len);
	}
	EQ(parse(TERN_MPA_REPLY, buf, len, &msg), TERN_MPA_WHOLE);
	EQ(msg.pd_len, 7);
	EQ(msg.ird, 0x0001);
	EQ(msg.ord, 0x0203);
	CHECK(msg.pd == buf + 24);
}

TEST(parse__reserved_bits_and_r, "K10 K11 MPA-089 MPA-091 MPA-159")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	sample(TERN_MPA_REQUEST, 1, 0x6f, 3, buf);
	EQ(parse(TERN_MPA_REQUEST, buf, 23, &msg), TERN_MPA_WHOLE);
	EQ(msg.pd_len, 3);
	sample(TERN_MPA_REQUEST, 2, 0x3f, 4, buf);
	EQ(parse(TERN_MPA_REQUEST, buf, 24, &msg), TERN_MPA_WHOLE);
	CHECK(msg.enhanced);
}

TEST(parse__s_with_short_data, "K13 G10 H12")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	for (int kind = 0; kind < 2; kind++) {
		for (u16 pd = 0; pd < 4; pd++) {
			sample(kind, 2, 0x10, pd, buf);
			EQ(parse(kind, buf, 20, &msg), TERN_MPA_BAD);
		}
		sample(kind, 2, 0x10, 4, buf);
		EQ(parse(kind, buf, 24, &msg), TERN_MPA_WHOLE);
		EQ(msg.pd_len, 0);
	}
}

TEST(parse__s_under_revision_1, "G5 G6 H3 reading 4.2: all data is the ULP's")
{
	struct tern_mpa_msg msg;
	u8 buf[64];

	for (u8 rev = 0; rev < 2; rev++) {
		sample(TERN_MPA_REQUEST, rev, 0x10, 9, buf);
		EQ(parse(TERN_MPA_REQUEST, buf, 29, &msg), TERN_MPA_WHOLE);
		CHECK(!msg.enhanced);
		EQ(msg.pd_len, 9);
	}
}

TEST(parse__what_build_wrote, "MPA-095 MPA-163: round trip of any frame")
{
	struct rng r = rng_seed(1);
	u8 out[TERN_MPA_FRAME_MAX], pd[TERN_MPA_MAX_PD];
	struct tern_mpa_msg got;

	rng_fill(&r, pd, sizeof(pd));
	for (int i = 0; i < 2000; i++) {
		enum tern_mpa_kind kind = rng_below(&r, 2);
		struct tern_mpa_msg msg = {
			.rev = 2,
			.flags = (u8)(rng_next(&r) & ~0x10u),
			.enhanced = rng_below(&r, 2),
			.pd = pd,
			.pd_len = (u16)rng_below(&r, 509),
		};
		u32 len;

		if (msg.enhanced) {
			msg.flags |= TERN_MPA_F_ENHANCED;
			msg.ird = (u16)rng_next(&r);
			msg.ord = (u16)rng_next(&r);
		}
		len = tern_mpa_build(kind, &msg, out);
		EQ(parse(kind, out, len, &got), TERN_MPA_WHOLE);
		EQ(got.flags, msg.flags);
		EQ(got.ird, msg.ird);
		EQ(got.ord, msg.ord);
		EQ(got.pd_len, msg.pd_len);
		MEM_EQ(got.pd, pd, msg.pd_len);
	}
}

/* ---- 3.1: gate at the responder -------------------------------------------- */

#define U	1	/* knows revision 1 only */
#define E	2

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
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_msg req = {
			.rev = rows[i].rev,
			.flags = rows[i].s ? TERN_MPA_F_ENHANCED : 0,
			.enhanced = rows[i].rev == 2 && rows[i].s,
		};

		wish.type = rows[i].type;
		wish.rev = rows[i].knows;
		if (!EQ(tern_mpa_gate_request(&wish, &req), rows[i].want))
			printf("# row %s\n", rows[i].id);
	}
}

TEST(accept__revision_and_s_of_the_reply,
	"G1 G2 G4 G7 G8 G9 MPA-207 MPA-208 reading 4.3")
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
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_msg reply, req = {
			.rev = rows[i].req,
			.flags = rows[i].s ? TERN_MPA_F_ENHANCED : 0,
			.enhanced = rows[i].req == 2 && rows[i].s,
		};
		struct tern_mpa_params params;

		wish.type = rows[i].type;
		tern_mpa_accept(&wish, &req, &reply, &params);
		EQ(reply.rev, rows[i].rev);
		EQ(reply.enhanced, rows[i].enhanced);
		EQ(!!(reply.flags & TERN_MPA_F_ENHANCED), rows[i].enhanced);
		EQ(!!(reply.flags & TERN_MPA_F_REJECT), 0);
		EQ(params.version, rows[i].version);
		if (!reply.rev)
			EQ(reply.flags, TERN_MPA_F_MARKERS | TERN_MPA_F_CRC);
	}
}

TEST(refuse__reply, "G3 G14 MPA-142 MPA-143 reading 4.1: Rev 1 or 2, R=1, S=0")
{
	static const struct { u8 req, rev; } rows[] = {
		{ 0, 1 }, { 3, 2 }, { 255, 2 },
	};
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg reply;

	wish.markers = true;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_msg req = { .rev = rows[i].req };

		tern_mpa_refuse(&wish, &req, &reply);
		EQ(reply.rev, rows[i].rev);
		EQ(reply.flags, TERN_MPA_F_MARKERS | TERN_MPA_F_CRC |
				TERN_MPA_F_REJECT);
		EQ(reply.pd_len, 0);
		CHECK(!reply.enhanced);
	}
}

TEST(reject__reply, "MPA-090 MPA-103 MPA-177 MPA-207 O6 readings 4.6, 4.20")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg reply, req = {
		.rev = 2,
		.flags = TERN_MPA_F_ENHANCED,
		.enhanced = true,
		.ird = A | C | 2,
		.ord = X,
	};

	wish.ord = 9;
	tern_mpa_reject(&wish, &req, &reply);
	EQ(reply.rev, 2);
	EQ(reply.flags, TERN_MPA_F_REJECT | TERN_MPA_F_CRC |
			TERN_MPA_F_ENHANCED);
	EQ(reply.ird, A | B | X);
	EQ(reply.ord, C | D | 9);
	req = (struct tern_mpa_msg) { .rev = 1 };
	tern_mpa_reject(&wish, &req, &reply);
	EQ(reply.rev, 1);
	EQ(reply.flags, TERN_MPA_F_REJECT | TERN_MPA_F_CRC);
	CHECK(!reply.enhanced);
}

/* ---- 3.2: gate at the initiator -------------------------------------------- */

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
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_msg reply = {
			.rev = rows[i].rev,
			.flags = (u8)((rows[i].s ? TERN_MPA_F_ENHANCED : 0) |
				      (rows[i].r ? TERN_MPA_F_REJECT : 0)),
			.enhanced = rows[i].rev == 2 && rows[i].s,
		};

		wish.type = rows[i].type;
		wish.rev = rows[i].sent;
		wish.enhanced = rows[i].sent_s;
		if (!EQ(tern_mpa_gate_reply(&wish, &reply), rows[i].want))
			printf("# row %s (%u)\n", rows[i].id, i);
	}
}

TEST(fall_back__asks_plainly, "H9 H13 H16 H18 MPA-161 MPA-210 MPA-212")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg req;

	CHECK(tern_mpa_may_retry(&wish));
	tern_mpa_fall_back(&wish);
	CHECK(!tern_mpa_may_retry(&wish));
	tern_mpa_request(&wish, &req);
	EQ(req.rev, 1);
	EQ(req.flags, TERN_MPA_F_CRC);
	CHECK(!req.enhanced);
}

/* ---- 3.3: versions and markers ----------------------------------------------- */

struct end {
	enum tern_mpa_type type;
	bool m;
};

/*
 * Both ends by the core; the Request is plain, as a Permissive initiator's is
 * when it meets RDMAC. Return: Full Operation began.
 */
static bool meet(struct end ini, struct end rsp, u8 rev,
		 struct tern_mpa_params *ip, struct tern_mpa_params *rp)
{
	struct tern_mpa_wish iw = default_wish(), rw = default_wish();
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
	EQ(tern_mpa_settle(&iw, &reply, ip), TERN_TERM_NONE);
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
	int before = tap_errors;

	EQ(open, m_rows[i].v >= 0);
	if (open) {
		EQ(ip.version, m_rows[i].v);
		EQ(rp.version, m_rows[i].v);
		EQ(ip.rx_markers, m_rows[i].i_rx);
		EQ(rp.tx_markers, m_rows[i].i_rx);
		EQ(rp.rx_markers, m_rows[i].r_rx);
		EQ(ip.tx_markers, m_rows[i].r_rx);
		CHECK(ip.crc && rp.crc);
		CHECK(ip.initiator && !rp.initiator);
	}
	if (tap_errors != before)
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

TEST(request__of_an_rdmac_initiator, "MPA-139: Rev 0, M=1, C=1 whatever is wished")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg req;

	wish.type = RDMAC;
	wish.crc = false;
	tern_mpa_request(&wish, &req);
	EQ(req.rev, 0);
	EQ(req.flags, TERN_MPA_F_MARKERS | TERN_MPA_F_CRC);
	CHECK(!req.enhanced);
	/* there is nothing plainer to ask for */
	CHECK(!tern_mpa_may_retry(&wish));
}

TEST(meet__rdmac_behind_a_plain_retry,
	"H14 H16 M6 M11 M16 M21: an enhanced Request first")
{
	static const struct {
		enum tern_mpa_type type;
		bool m, open;
	} rows[] = {
		{ P, 0, true }, { P, 1, true }, { NP, 0, false }, { NP, 1, false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_wish iw = default_wish(), rw = default_wish();
		struct tern_mpa_params ip, rp;
		struct tern_mpa_msg req;
		struct end ini = { rows[i].type, rows[i].m };
		struct end rsp = { RDMAC, 1 };

		iw.type = rows[i].type;
		rw.type = RDMAC;
		tern_mpa_request(&iw, &req);
		CHECK(req.enhanced);
		EQ(tern_mpa_gate_request(&rw, &req), TERN_MPA_CLOSE);
		CHECK(tern_mpa_may_retry(&iw));
		if (!EQ(meet(ini, rsp, 1, &ip, &rp), rows[i].open) || !rows[i].open)
			continue;
		EQ(ip.version, 0);
		CHECK(ip.rx_markers && ip.tx_markers && ip.crc);
	}
}

/* ---- 3.4: CRC ------------------------------------------------------------------ */

TEST(settle__crc, "C1 to C4 MPA-039 MPA-087 MPA-088 reading 4.6")
{
	for (int q = 0; q < 2; q++) {
		for (int own = 0; own < 2; own++) {
			struct tern_mpa_wish iw = default_wish();
			struct tern_mpa_wish rw = default_wish();
			struct tern_mpa_params ip, rp;
			struct tern_mpa_msg req, reply;

			iw.crc = q;
			rw.crc = own;
			tern_mpa_request(&iw, &req);
			tern_mpa_accept(&rw, &req, &reply, &rp);
			EQ(!!(reply.flags & TERN_MPA_F_CRC), q || own);
			tern_mpa_settle(&iw, &reply, &ip);
			EQ(ip.crc, q || own);
			EQ(rp.crc, q || own);
			/* C2: a responder that echoes its own wish only */
			reply.flags &= (u8)~TERN_MPA_F_CRC;
			tern_mpa_settle(&iw, &reply, &ip);
			EQ(ip.crc, q);
		}
	}
}

TEST(settle__crc_of_revision_0, "C5: on, whatever the frames say")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg reply, req = { .rev = 0 };
	struct tern_mpa_params params;

	wish.type = P;
	wish.crc = false;
	tern_mpa_accept(&wish, &req, &reply, &params);
	CHECK(params.crc);
	reply = (struct tern_mpa_msg) { .rev = 0 };
	wish.rev = 1;
	wish.enhanced = false;
	tern_mpa_settle(&wish, &reply, &params);
	CHECK(params.crc && params.tx_markers && params.rx_markers);
}

/* ---- 3.5: model and RTR ---------------------------------------------------------- */

#define RTR_B	1
#define RTR_C	2
#define RTR_D	4

/* types in our order of preference */
static void take(struct tern_mpa_wish *wish, u32 types)
{
	u32 n = 0;

	memset(wish->rtr, 0, sizeof(wish->rtr));
	if (types & RTR_C)
		wish->rtr[n++] = TERN_MPA_RTR_WRITE;
	if (types & RTR_D)
		wish->rtr[n++] = TERN_MPA_RTR_READ;
	if (types & RTR_B)
		wish->rtr[n++] = TERN_MPA_RTR_SEND;
}

static u16 ird_flags(bool a, u32 types)
{
	return (u16)((a ? A : 0) | (types & RTR_B ? B : 0));
}

static u16 ord_flags(u32 types)
{
	return (u16)((types & RTR_C ? C : 0) | (types & RTR_D ? D : 0));
}

static u8 expected_rtr(u32 shared)
{
	if (shared & RTR_C)
		return TERN_MPA_RTR_WRITE;
	if (shared & RTR_D)
		return TERN_MPA_RTR_READ;
	return shared & RTR_B ? TERN_MPA_RTR_SEND : TERN_MPA_RTR_NONE;
}

/* "F3".."F58" number the Request's B C D, then the responder's, 1 to 7 */
static void check_f_row(u32 offered, u32 taken)
{
	struct tern_mpa_wish iw = default_wish(), rw = default_wish();
	struct tern_mpa_params ip, rp;
	struct tern_mpa_msg req, reply;
	u8 want = expected_rtr(offered & taken);
	int term;

	take(&iw, offered);
	take(&rw, taken);
	tern_mpa_request(&iw, &req);
	EQ(req.ird & ~TERN_MPA_DEPTH_MASK, ird_flags(true, offered));
	EQ(req.ord & ~TERN_MPA_DEPTH_MASK, ord_flags(offered));
	tern_mpa_accept(&rw, &req, &reply, &rp);
	EQ(reply.ird & ~TERN_MPA_DEPTH_MASK, ird_flags(true, taken));
	EQ(reply.ord & ~TERN_MPA_DEPTH_MASK, ord_flags(taken));
	CHECK(rp.p2p);
	EQ(rp.rtr_accept,
	   (taken & RTR_B ? BIT(TERN_MPA_RTR_SEND) : 0) |
	   (taken & RTR_C ? BIT(TERN_MPA_RTR_WRITE) : 0) |
	   (taken & RTR_D ? BIT(TERN_MPA_RTR_READ) : 0));
	term = tern_mpa_settle(&iw, &reply, &ip);
	EQ(term, want ? TERN_TERM_NONE : TERN_TERM_MPA_RTR);
	EQ(ip.rtr, want);
}

TEST(settle__rtr_matrix,
	"F3 to F58 MPA-189 to MPA-202 MPA-204: 8 offers by 7 answers")
{
	for (u32 offered = 0; offered < 8; offered++)
		for (u32 taken = 1; taken < 8; taken++)
			check_f_row(offered, taken);
}

TEST(settle__rows_by_name, "F10 F16 F26 F30 F37 F42 F44 F49 F51 F55 F58")
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
		EQ(expected_rtr(rows[i].offered & rows[i].taken), rows[i].rtr);
}

TEST(accept__client_server, "F1 F2 MPA-191 MPA-193 MPA-196: A=0, B C D ignored")
{
	static const struct { u16 ird, ord; } rows[] = {
		{ 0, 0 }, { B, 0 }, { 0, C | D }, { B, C | D },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_msg reply, req = {
			.rev = 2,
			.enhanced = true,
			.ird = rows[i].ird | 4,
			.ord = rows[i].ord | 4,
		};
		struct tern_mpa_params params;

		tern_mpa_accept(&wish, &req, &reply, &params);
		EQ(reply.ird & ~TERN_MPA_DEPTH_MASK, 0);
		EQ(reply.ord & ~TERN_MPA_DEPTH_MASK, 0);
		CHECK(!params.p2p);
		EQ(params.rtr_accept, 0);
	}
}

TEST(request__client_server, "MPA-191 MPA-192: no flags without the wish")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg req;

	wish.p2p = false;
	tern_mpa_request(&wish, &req);
	EQ(req.ird, 16);
	EQ(req.ord, 16);
}

TEST(settle__faulty_replies, "F59 to F62 reading 4.9")
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
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply = {
			.rev = 2,
			.enhanced = true,
			.ird = rows[i].ird,
			.ord = rows[i].ord,
		};

		wish.p2p = rows[i].p2p;
		if (!EQ(tern_mpa_settle(&wish, &reply, &params),
			rows[i].term) ||
		    !EQ(params.rtr, rows[i].rtr))
			printf("# row %s (%u)\n", rows[i].id, i);
	}
}

TEST(gate_reply__reject_carries_no_rtr, "F63 O16 MPA-180: values as they came")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg msg;
	u8 buf[32];

	sample(TERN_MPA_REPLY, 2, 0x30, 4, buf);
	put_unaligned_be16(A | 3, buf + 20);
	put_unaligned_be16(C | 900, buf + 22);
	EQ(parse(TERN_MPA_REPLY, buf, 24, &msg), TERN_MPA_WHOLE);
	EQ(tern_mpa_gate_reply(&wish, &msg), TERN_MPA_REJECTED);
	EQ(msg.ird, A | 3);
	EQ(msg.ord, C | 900);
}

/* ---- 3.6: IRD and ORD --------------------------------------------------------------- */

TEST(accept__depths, "O1 to O5, O7 to O9 MPA-173 to MPA-176 MPA-185 MPA-187")
{
	static const struct {
		const char *id;
		u16 q_ird, q_ord;
		u16 own_ird, own_ord;
		bool a;
		u16 p_ird, p_ord;	/* in the Reply */
		u16 ird, ord;		/* in force */
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
		{ "4.19", X, X, 8, 4, 1, X, X, 8, 4 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply, req = {
			.rev = 2,
			.enhanced = true,
			.ird = rows[i].q_ird | (rows[i].a ? A : 0),
			.ord = rows[i].q_ord | (rows[i].a ? D : 0),
		};
		int before = tap_errors;

		wish.ird = rows[i].own_ird;
		wish.ord = rows[i].own_ord;
		tern_mpa_accept(&wish, &req, &reply, &params);
		EQ(reply.ird & TERN_MPA_DEPTH_MASK, rows[i].p_ird);
		EQ(reply.ord & TERN_MPA_DEPTH_MASK, rows[i].p_ord);
		EQ(params.ird, rows[i].ird);
		EQ(params.ord, rows[i].ord);
		if (tap_errors != before)
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
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply = {
			.rev = 2,
			.enhanced = true,
			.ird = rows[i].p_ird | A,
			.ord = rows[i].p_ord | C,
		};
		int before = tap_errors;

		wish.ird = rows[i].own_ird;
		wish.ord = rows[i].own_ord;
		EQ(tern_mpa_settle(&wish, &reply, &params), rows[i].term);
		EQ(params.ird, rows[i].ird);
		EQ(params.ord, rows[i].ord);
		if (tap_errors != before)
			printf("# row %s (%u)\n", rows[i].id, i);
	}
}

TEST(settle__read_rtr_needs_a_slot, "O17 O18 F10 MPA-176 reading 4.8")
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
		struct tern_mpa_wish wish = default_wish();
		struct tern_mpa_params params;
		struct tern_mpa_msg reply = {
			.rev = 2,
			.enhanced = true,
			.ird = rows[i].p_ird | ird_flags(true, rows[i].taken),
			.ord = 1 | ord_flags(rows[i].taken),
		};

		wish.ord = rows[i].own_ord;
		if (!EQ(tern_mpa_settle(&wish, &reply, &params),
			rows[i].term) ||
		    !EQ(params.rtr, rows[i].rtr))
			printf("# row %s (%u)\n", rows[i].id, i);
		if (!rows[i].own_ord)
			EQ(params.ord, 0);
	}
}

TEST(settle__plain, "O19 H1: nothing negotiated, the ULP's values stand")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg msg, plain = { .rev = 1 };
	struct tern_mpa_params params;

	wish.ird = 3;
	wish.ord = 5;
	tern_mpa_accept(&wish, &plain, &msg, &params);
	EQ(params.ird, 3);
	EQ(params.ord, 5);
	CHECK(!params.p2p && !msg.enhanced);
	tern_mpa_fall_back(&wish);
	EQ(tern_mpa_settle(&wish, &plain, &params), TERN_TERM_NONE);
	EQ(params.ird, 3);
	EQ(params.ord, 5);
	EQ(params.rtr, TERN_MPA_RTR_NONE);
}

TEST(request__real_depths_stay_real, "MPA-222 reading 4.19: 0x3FFF is clamped")
{
	struct tern_mpa_wish wish = default_wish();
	struct tern_mpa_msg req;

	wish.ird = X;
	wish.ord = 0xffff;
	tern_mpa_request(&wish, &req);
	EQ(req.ird & TERN_MPA_DEPTH_MASK, TERN_MPA_DEPTH_MAX);
	EQ(req.ord & TERN_MPA_DEPTH_MASK, TERN_MPA_DEPTH_MAX);
}

/* ---- 3.7: both ends -------------------------------------------------------------------- */

TEST(path__summary, "P1 to P8")
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
		struct tern_mpa_wish iw = default_wish(), rw = default_wish();
		struct tern_mpa_params ip, rp;
		struct tern_mpa_msg req, reply;

		iw.rev = rows[i].ini;
		iw.enhanced = rows[i].ini == 2;
		iw.p2p = rows[i].p2p;
		rw.rev = rows[i].rsp;
		tern_mpa_request(&iw, &req);
		if (!EQ(tern_mpa_gate_request(&rw, &req), rows[i].gate))
			printf("# row %s\n", rows[i].id);
		if (rows[i].gate != TERN_MPA_GO)
			continue;
		tern_mpa_accept(&rw, &req, &reply, &rp);
		EQ(tern_mpa_gate_reply(&iw, &reply), TERN_MPA_GO);
		EQ(tern_mpa_settle(&iw, &reply, &ip), TERN_TERM_NONE);
		EQ(ip.p2p, rows[i].p2p);
		EQ(rp.p2p, rows[i].p2p);
		EQ(!!ip.rtr, rows[i].p2p);
		CHECK(ip.ord <= rp.ird && rp.ord <= ip.ird);
	}
}
