// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Building and parsing Terminate messages: RFC 5040 4.8. */
#include <stdlib.h>

#include "tap.h"
#include "util.h"

/* offending segments */
static u8 write_seg[14] = {
	0xc1, 0x40, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
};

static u8 send_inv_seg[18] = { 0x41, 0x44, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 7 };
static u8 read_req_seg[46] = {
	0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0,
	1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 9, 5, 6, 7, 8,
};

/* in version 1 */
static u32 build(u8 *out, int code, const u8 *hdr, u32 hdr_len, u32 len)
{
	struct tern_term_seg seg = {
		.hdr = hdr, .hdr_len = hdr_len, .len = len, .rv = 1,
	};

	return tern_term_build(out, code, hdr ? &seg : NULL);
}

static const int all_codes[] = {
	0x0000, 0x0100, 0x0101, 0x0102, 0x0103, 0x0104, 0x0109, 0x01ff,
	0x0205, 0x0206, 0x0207, 0x0208, 0x0209, 0x02ff,
	0x1000, 0x1100, 0x1101, 0x1102, 0x1103, 0x1104,
	0x1201, 0x1202, 0x1203, 0x1204, 0x1205, 0x1206,
	0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007,
};

/* RFC 5040 4.8: HdrCt for a segment that is, or is not, a whole Read Request */
static u8 hdrct_of(int code, bool read_req)
{
	int layer = code >> 12, etype = code >> 8 & 0xf;

	if (layer == 2 || etype == 0)
		return 0;
	return layer == 0 && read_req ? 0xe0 : 0xc0;
}

TEST(term_build__which_copies_go_along,
	"RDMAP-027 RDMAP-030 RDMAP-031 RDMAP-122 RDMAP-123 DDP-093 Q30")
{
	u8 out[TERN_TERMINATE_MAX];

	for (u32 i = 0; i < ARRAY_SIZE(all_codes); i++) {
		int code = all_codes[i];
		u8 some = hdrct_of(code, false), rr = hdrct_of(code, true);

		expect_eq(build(out, code, write_seg, 14, 14), some ? 20 : 4);
		expect_eq(out[2], some);
		expect_eq(build(out, code, send_inv_seg, 18, 18),
			  some ? 24 : 4);
		expect_eq(out[2], some);
		expect_eq(build(out, code, read_req_seg, 46, 46),
			  rr == 0xe0 ? 52 : rr ? 24 : 4);
		expect_eq(out[2], rr);
		expect_eq(build(out, code, NULL, 0, 0), 4);
		expect_eq(out[2], 0);
	}
}

TEST(term_build__bytes, "RDMAP-024 RDMAP-025 RDMAP-028 RDMAP-029")
{
	u8 out[TERN_TERMINATE_MAX], want[TERN_TERMINATE_MAX];
	u32 n = build(out, TERN_TERM_DT_WRAP, write_seg, 14, 0x1234);

	expect_eq(n, from_hex(want, "11 03 C0 00 1234 C140 01020304 "
			      "1112131415161718"));
	expect_bytes(out, want, n);

	n = build(out, TERN_TERM_RP_CANT_INV, send_inv_seg, 18, 300);
	expect_eq(n, from_hex(want, "01 09 C0 00 012C 4144 09090909 00000000 "
			      "00000007 00000000"));
	expect_bytes(out, want, n);

	n = build(out, TERN_TERM_RP_ACCESS, read_req_seg, 46, 46);
	expect_eq(n, from_hex(want, "01 02 E0 00 002E 4141 00000000 00000001 "
			      "00000005 00000000 01020304 0000000000000008 00000009 "
			      "05060708 0000000000000000"));
	expect_bytes(out, want, n);

	n = build(out, TERN_TERM_MPA_CRC, write_seg, 14, 14);
	expect_eq(n, from_hex(want, "20 02 00 00"));
	expect_bytes(out, want, n);
}

TEST(term_build__segment_without_a_whole_header, "Q10 S2")
{
	u8 out[TERN_TERMINATE_MAX];

	for (u32 len = 0; len < 18; len++) {
		expect_eq(build(out, TERN_TERM_RO_STREAM, send_inv_seg, len,
					  len), 4);
		expect_eq(out[2], 0);
	}
	for (u32 len = 0; len < 14; len++)
		expect_eq(build(out, TERN_TERM_RO_STREAM, write_seg, len,
					  len), 4);
}

TEST(term_build__only_a_complete_read_request_has_R, "RDMAP-031 Q30")
{
	u8 out[TERN_TERMINATE_MAX], seg[60] = { 0 };

	memcpy(seg, read_req_seg, 46);
	expect_eq(build(out, TERN_TERM_RO_STREAM, seg, 45, 45), 24);
	expect_eq(build(out, TERN_TERM_RO_STREAM, seg, 47, 47), 24);
	expect_eq(build(out, TERN_TERM_RO_STREAM, seg, 46, 46), 52);
	seg[1] = 0x43;
	expect_eq(build(out, TERN_TERM_RO_OPCODE, seg, 46, 46), 24);
	seg[0] = 0xc1;
	seg[1] = 0x41;
	expect_eq(build(out, TERN_TERM_RO_OPCODE, seg, 46, 46), 20);
}

/* the source of a Read was removed when 100 of its 300 bytes were sent */
TEST(term_build__read_that_failed_half_way, "RDMAP-032 Q30")
{
	u8 out[TERN_TERMINATE_MAX];
	struct tern_term_info info;
	struct tern_tx_msg rest;
	u32 n;

	tern_rdmap_build_read_req(&rest, V1, 5, 0x11, 0x1000 + 100, 300 - 100,
				  0x22, 0x2000 + 100);
	rest.hdr[0] |= TERN_DDP_LAST;
	n = build(out, TERN_TERM_RP_INV_STAG, rest.hdr, rest.hdr_len,
			    rest.hdr_len);
	expect_eq(n, 52);
	expect_eq(tern_term_parse(out, n, &info), 0);
	expect_eq(info.ddp[0], 0x41);
	expect_eq(be32_to_cpu(info.rreq.sink_stag), 0x11);
	expect_eq(be64_to_cpu(info.rreq.sink_to), 0x1064);
	expect_eq(be32_to_cpu(info.rreq.size), 200);
	expect_eq(be32_to_cpu(info.rreq.src_stag), 0x22);
	expect_eq(be64_to_cpu(info.rreq.src_to), 0x2064);
}

TEST(term_build__local_errors_copy_no_header, "RDMAP-121 Q30 Q32")
{
	u8 out[TERN_TERMINATE_MAX];

	expect_eq(build(out, TERN_TERM_LOCAL, NULL, 0, 0), 4);
	expect_eq(get_unaligned_be32(out), 0);
	expect_eq(build(out, TERN_TERM_LOCAL, read_req_seg, 46, 46), 4);
}

TEST(term_parse__undoes_build, "RDMAP-024 Q30")
{
	static const struct {
		const u8 *seg;
		u32 len;
	} offs[] = {
		{ NULL, 0 }, { write_seg, 14 }, { send_inv_seg, 18 },
		{ read_req_seg, 46 },
	};
	struct tern_term_info info;
	u8 out[TERN_TERMINATE_MAX];

	for (u32 i = 0; i < ARRAY_SIZE(all_codes) * 4; i++) {
		int code = all_codes[i / 4];
		const u8 *seg = offs[i % 4].seg;
		u32 len = offs[i % 4].len;
		u8 ct = seg ? hdrct_of(code, len == 46) : 0;
		u32 n = build(out, code, seg, len, len);

		expect_eq(tern_term_parse(out, n, &info), 0);
		expect_eq(info.code, code);
		expect_eq(info.has_len, !!(ct & 0x80));
		expect_eq(info.has_ddp, !!(ct & 0x40));
		expect_eq(info.has_rreq, !!(ct & 0x20));
		if (info.has_len)
			expect_eq(info.seg_len, len);
		if (info.has_ddp)
			expect_bytes(info.ddp, seg, len == 14 ? 14 : 18);
		if (info.has_rreq)
			expect_bytes(&info.rreq, seg + 18, 28);
	}
}

TEST(term_parse__any_length_any_bits, "RDMAP-083 RDMAP-028 Q30")
{
	struct tern_term_info info;

	for (u32 len = 0; len <= 52; len++) {
		u8 *b = malloc(len ? len : 1);

		for (u32 bits = 0; bits < 512; bits++) {
			bool t = bits & 0x100;
			u32 hl = t ? 14 : 18;
			bool d = bits & 0x40 && len >= 6 + hl;

			memset(b, 0xee, len);
			if (len > 2)
				b[2] = (u8)bits;
			if (len > 6)
				b[6] = t ? 0xc1 : 0x41;
			if (len < 4) {
				expect_eq(tern_term_parse(b, len, &info), -EINVAL);
				continue;
			}
			expect_eq(tern_term_parse(b, len, &info), 0);
			expect_eq(info.code, 0xeeee);
			expect_eq(info.has_len, bits & 0x80 && len >= 6);
			expect_eq(info.has_ddp, d);
			expect_eq(info.has_rreq, d && bits & 0x20 && !t && len == 52);
		}
		free(b);
	}
}

/* Only Terminates 0/1, 0/2 and 1/2 (layer/etype) may carry the header of a Read Request. */
TEST(term_names_read__by_kind_and_header, "RDMAP-082 RDMAP-116 Q30")
{
	u8 b[24] = { 0, 0, 0xc0, 0, 0, 46, 0x41, 0x41 };
	struct tern_term_info info;
	u32 msn = 77;

	b[15] = 1;
	put_unaligned_be32(5, b + 16);
	for (u32 kind = 0; kind < 0x100; kind++) {
		bool want = kind == 0x01 || kind == 0x02 || kind == 0x12;

		b[0] = (u8)kind;
		expect_eq(tern_term_parse(b, sizeof(b), &info), 0);
		msn = 77;
		expect_eq(tern_term_names_read(&info, &msn), want);
		expect_eq(msn, want ? 5 : 77);
	}
	b[0] = 0x01;
	expect_eq(tern_term_parse(b, sizeof(b) - 1, &info), 0);
	expect(!tern_term_names_read(&info, &msn));
	b[15] = 0;
	expect_eq(tern_term_parse(b, sizeof(b), &info), 0);
	expect(!tern_term_names_read(&info, &msn));
	b[15] = 1;
	b[6] = 0xc1;
	expect_eq(tern_term_parse(b, sizeof(b), &info), 0);
	expect(!tern_term_names_read(&info, &msn));
}

TEST(term_parse__every_triplet, "RDMAP-026")
{
	struct tern_term_info info;
	u8 b[4] = { 0 };

	for (u32 code = 0; code < 0x10000; code++) {
		b[0] = (u8)(code >> 8);
		b[1] = (u8)code;
		expect_eq(tern_term_parse(b, 4, &info), 0);
		expect_eq(info.code, code);
		expect(tern_term_name(info.code));
	}
}

TEST(term_name__each_code_of_the_table, "RDMAP-026 DDP-096")
{
	u32 known = 0;

	for (u32 i = 0; i < ARRAY_SIZE(all_codes); i++)
		expect(strcmp(tern_term_name(all_codes[i]), "unknown"));
	for (int code = 0; code < 0x10000; code++)
		known += !!strcmp(tern_term_name(code), "unknown");
	/* RDMAP's local catastrophic error has one name for all 256 codes */
	expect_eq(known, ARRAY_SIZE(all_codes) + 255);
	expect(!strcmp(tern_term_name(TERN_TERM_NONE), "unknown"));
}

/* the opcode of the copied segment is read in the version of its direction */
TEST(term_build__read_request_by_the_version_in_force, "RDMAP-031 Q30 rdmap-ext-v2")
{
	u8 out[TERN_TERMINATE_MAX], hdr[46] = { 0x41, 0x91 };
	struct tern_term_seg seg = { .hdr = hdr, .hdr_len = 46, .len = 46 };

	for (seg.rv = 0; seg.rv < 3; seg.rv++)
		expect_eq(tern_term_build(out, TERN_TERM_RO_STREAM, &seg),
			  seg.rv == 2 ? 24 : 52);
	seg.rv = 2;
	hdr[1] = 0x81;
	expect_eq(tern_term_build(out, TERN_TERM_RO_STREAM, &seg), 52);
}

TEST(term_build__no_header_of_an_atomic, "RFC 7306 8.1 rdmap-ext-v2")
{
	static const u8 rdmap[] = { 0x8a, 0x91, 0x92, 0x93, 0x88, 0x8b };
	u8 out[TERN_TERMINATE_MAX], hdr[70] = { 0x41 };
	struct tern_term_seg seg = { .hdr = hdr, .rv = 2 };

	for (u32 i = 0; i < ARRAY_SIZE(rdmap); i++)
		for (u32 len = 18; len <= 70; len++) {
			hdr[1] = rdmap[i];
			seg.hdr_len = len;
			seg.len = len;
			expect_eq(tern_term_build(out, TERN_TERM_RP_ACCESS, &seg),
				  24);
			expect_eq(out[2], 0xc0);
		}
}

TEST(term_names_read__any_request_of_queue_1, "RFC 7306 8.1 Q12 rdmap-ext-v2")
{
	static const u8 rdmap[] = { 0x41, 0x4a, 0x91, 0x8a };
	u8 body[TERN_TERMINATE_MAX], hdr[18] = { 0x41 };
	struct tern_term_seg seg = { .hdr = hdr, .hdr_len = 18, .len = 70 };
	struct tern_term_info info;
	u32 msn = 0;

	put_unaligned_be32(1, hdr + 6);
	put_unaligned_be32(0x12345678, hdr + 10);
	for (u32 i = 0; i < ARRAY_SIZE(rdmap); i++) {
		hdr[1] = rdmap[i];
		seg.rv = rdmap[i] >> 6;
		expect_eq(tern_term_build(body, TERN_TERM_RP_ACCESS, &seg), 24);
		expect_eq(tern_term_parse(body, 24, &info), 0);
		expect(tern_term_names_read(&info, &msn));
		expect_eq(msn, 0x12345678);
	}
	/* an Atomic Response, ours, is no request */
	put_unaligned_be32(3, hdr + 6);
	expect_eq(tern_term_build(body, TERN_TERM_RO_STREAM, &seg), 24);
	expect_eq(tern_term_parse(body, 24, &info), 0);
	expect(!tern_term_names_read(&info, &msn));
}
