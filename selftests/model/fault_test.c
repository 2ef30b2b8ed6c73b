// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * One bad segment per test, after good traffic, with all framings: the receiver finds the
 * exact code (rows R and S of `requirements`), places and takes nothing of it or after it,
 * and sends a Terminate that describes it.
 */
#include <stdlib.h>

#include "ref.h"
#include "tap.h"
#include "world.h"

/**
 * struct plan - a bad segment to send
 * @from: its sender
 * @to: the end that must detect it
 * @ulpdu: the bad segment
 * @len: its ULPDU_Length
 * @spoil: damages the finished FPDU, or NULL
 */
struct plan {
	struct host *from, *to;
	u8 ulpdu[256];
	u32 len;
	void (*spoil)(struct plan *p, u8 *fpdu, u32 len);
};

static u8 wire[66000];

static struct region *region(struct plan *p, enum region_kind kind)
{
	return &p->to->sh.region[kind];
}

/* an untagged header and @len bytes of payload */
static void untagged(struct plan *p, u8 ddp, u8 op, u32 qn, u32 msn, u32 len)
{
	u8 v = p->from->version.dv;

	memset(p->ulpdu, 0xaa, sizeof(p->ulpdu));
	p->ulpdu[0] = ddp | v;
	p->ulpdu[1] = (u8)(v << 6 | op);
	put_unaligned_be32(0, p->ulpdu + 2);
	put_unaligned_be32(qn, p->ulpdu + 6);
	put_unaligned_be32(msn, p->ulpdu + 10);
	put_unaligned_be32(0, p->ulpdu + 14);
	p->len = 18 + len;
}

static void tagged(struct plan *p, u8 ddp, u8 op, u32 stag, u64 to, u32 len)
{
	u8 v = p->from->version.dv;

	memset(p->ulpdu, 0xaa, sizeof(p->ulpdu));
	p->ulpdu[0] = ddp | v;
	p->ulpdu[1] = (u8)(v << 6 | op);
	put_unaligned_be32(stag, p->ulpdu + 2);
	put_unaligned_be64(to, p->ulpdu + 6);
	p->len = 14 + len;
}

/* a Send of @len bytes, with a posted receive of that size */
static void send_seg(struct plan *p, u32 len)
{
	shell_post_recv(&p->to->sh, len);
	untagged(p, TERN_DDP_LAST, TERN_OP_SEND, 0, p->from->send_msn, len);
}

static void write_seg(struct plan *p, enum region_kind kind, u64 off, u32 len)
{
	struct region *reg = region(p, kind);

	tagged(p, 0xc0, TERN_OP_WRITE, reg->stag, reg->view.base + off, len);
}

static void read_seg(struct plan *p, u32 stag, u64 to, u32 size)
{
	untagged(p, TERN_DDP_LAST, TERN_OP_READ_REQ, 1, p->from->read_msn, 28);
	put_unaligned_be32(size, p->ulpdu + 30);
	put_unaligned_be32(stag, p->ulpdu + 34);
	put_unaligned_be64(to, p->ulpdu + 38);
}

static void read_src(struct plan *p, enum region_kind kind, u64 off, u32 size)
{
	struct region *reg = region(p, kind);

	read_seg(p, reg->stag, reg->view.base + off, size);
}

/* post a Read of 64 bytes at @to; this is a Response to it */
static void resp_seg(struct plan *p, u32 len)
{
	struct region *sink = region(p, R_SINK);

	shell_open_read(&p->to->sh, sink->stag, sink->view.base, 64,
			sink->data);
	tagged(p, 0xc0, TERN_OP_READ_RESP, sink->stag, sink->view.base, len);
}

/* encode the segment and write it to the pipe */
static void emit(struct plan *p)
{
	struct tern_fpdu_tx *tx = &p->from->tx;
	struct ref_dir d = {
		.markers = tx->markers, .crc = tx->crc, .pos = tx->pos,
	};
	u32 n = ref_encode(&d, p->ulpdu, p->len, wire);

	if (p->spoil)
		p->spoil(p, wire, n);
	tx->pos = (u32)(d.pos % 512);
	host_push(p->from, wire, n);
}

/* DDP-094: a good Write right after the bad segment */
static void emit_follower(struct plan *p)
{
	p->spoil = NULL;
	write_seg(p, R_BIG, 0, 100);
	emit(p);
}

static void arrive_all(struct host *from)
{
	while (from->visible < from->pipe_len && !test_failures)
		host_arrive(from);
}

/* check which headers the Terminate copies: RFC 5040 4.8, Q30 */
static void check_copies(const struct plan *p, int code)
{
	const struct tern_term_info *info = &p->from->sh.peer_term;
	u32 hdr = p->len && p->ulpdu[0] & 0x80 ? 14 : 18;
	bool copied = code >> 12 < 2 && p->len >= hdr;
	bool rreq = copied && code >> 12 == 0 && hdr == 18 &&
		    (p->ulpdu[1] & 0xf) == 1 && p->len == 46;

	expect_eq(info->has_len, copied);
	expect_eq(info->has_ddp, copied);
	expect_eq(info->has_rreq, rreq);
	if (copied)
		expect(info->seg_len == p->len && !memcmp(info->ddp, p->ulpdu, hdr));
	if (rreq)
		expect_bytes(&info->rreq, p->ulpdu + 18, 28);
}

static void answer(const struct plan *p, int code)
{
	struct shell *s = &p->to->sh;
	struct msg *m = host_new_msg(p->to, TERN_OP_TERMINATE, 0);

	struct tern_term_seg seg = shell_bad_segment(s);

	tern_rdmap_build_terminate(&m->tx, p->to->version, s->term, &seg);
	host_queue(p->to, m);
	while (p->to->lane[0] || p->to->lane[1])
		host_emit(p->to);
	arrive_all(p->to);
	expect(p->from->sh.got_term);
	expect_eq(p->from->sh.peer_term.code, code);
	check_copies(p, code);
}

static struct world *good_traffic(u64 seed)
{
	struct setup how = {
		.crc = seed & 1, .markers = { seed & 2, seed & 2 },
		.version = seed & 4 ? 0 : 1, .late_msn = seed & 8,
	};
	struct world *w = world_new(seed, &how);

	world_run(w, 200);
	world_drain(w);
	world_check_done(w);
	return w;
}

static void run_one(void (*plant)(struct plan *p), int code, u64 seed)
{
	struct world *w = good_traffic(seed);
	struct plan p = { .from = &w->end[0], .to = &w->end[1] };
	struct plan follower = p;
	u32 recvs, accepted;

	plant(&p);
	accepted = p.from->rec_count;
	emit(&p);
	emit_follower(&follower);
	recvs = p.to->sh.recv_tail - p.to->sh.recv_head;
	arrive_all(p.from);
	expect_eq(p.to->sh.term, code);
	expect_eq(p.to->sh.accepted, accepted);
	expect_eq(p.to->sh.recv_tail - p.to->sh.recv_head, recvs);
	world_check_memory(w);
	answer(&p, code);
	if (test_failures)
		printf("# seed %llu: got %s\n", (unsigned long long)seed,
		       tern_term_name(p.to->sh.term));
	world_free(w);
}

static void run(void (*plant)(struct plan *p), int code, bool needs_crc)
{
	for (u64 seed = 0; seed < 16 && !test_failures; seed++)
		if (!needs_crc || seed & 1)
			run_one(plant, code, seed);
}

#define FAULT(name, code, ids)						\
	static void name##_plant(struct plan *p);			\
	TEST(fault__##name, ids)					\
	{								\
		run(name##_plant, code, false);				\
	}								\
	static void name##_plant(struct plan *p)

/* ---- FPDU (S1) ---------------------------------------------------------- */

static void spoil_crc(struct plan *p, u8 *fpdu, u32 len)
{
	(void)p;
	fpdu[len - 5] ^= 0x10;
}

static void bad_crc_plant(struct plan *p)
{
	write_seg(p, R_BIG, 0, 64);
	p->spoil = spoil_crc;
}

TEST(fault__bad_crc, "MPA-050 R4 S1")
{
	run(bad_crc_plant, TERN_TERM_MPA_CRC, true);
}

static void spoil_length(struct plan *p, u8 *fpdu, u32 len)
{
	(void)len;
	put_unaligned_be16(64769, fpdu + (p->from->tx.markers &&
					  !p->from->tx.pos ? 4 : 0));
}

FAULT(length_over_the_limit, TERN_TERM_MPA_MARKER, "R2 Q8 S1")
{
	write_seg(p, R_BIG, 0, 64);
	p->spoil = spoil_length;
}

FAULT(length_zero, TERN_TERM_RO_STREAM, "R2 Q8 S2")
{
	p->len = 0;
}

/* ---- DDP ---------------------------------------------------------------- */

FAULT(tagged_header_cut_short, TERN_TERM_RO_STREAM, "S2 Q10")
{
	write_seg(p, R_BIG, 0, 0);
	p->len = 13;
}

FAULT(untagged_header_cut_short, TERN_TERM_RO_STREAM, "S2 Q10")
{
	send_seg(p, 0);
	p->len = 17;
}

FAULT(ddp_version_tagged, TERN_TERM_DT_VERSION, "DDP-024 S3")
{
	write_seg(p, R_BIG, 0, 8);
	p->ulpdu[0] ^= 1;
}

FAULT(ddp_version_untagged, TERN_TERM_DU_VERSION, "DDP-024 S3")
{
	send_seg(p, 8);
	p->ulpdu[0] ^= 2;
}

FAULT(queue_3, TERN_TERM_DU_QN, "DDP-078 S4")
{
	untagged(p, 0x40, TERN_OP_SEND, 3, 1, 8);
}

FAULT(queue_far_out, TERN_TERM_DU_QN, "DDP-078 S4")
{
	untagged(p, 0x40, TERN_OP_SEND, ~0U, 1, 8);
}

FAULT(msn_ahead, TERN_TERM_DU_MSN_RANGE, "DDP-086 S5")
{
	send_seg(p, 8);
	put_unaligned_be32(p->from->send_msn + 1, p->ulpdu + 10);
}

FAULT(msn_again, TERN_TERM_DU_MSN_RANGE, "DDP-086 DDP-059 S5")
{
	send_seg(p, 8);
	put_unaligned_be32(p->from->send_msn - 1, p->ulpdu + 10);
}

FAULT(no_receive_buffer, TERN_TERM_DU_NO_BUFFER, "DDP-079 S6 Q29")
{
	untagged(p, 0x40, TERN_OP_SEND, 0, p->from->send_msn, 0);
}

FAULT(more_reads_than_ird, TERN_TERM_DU_NO_BUFFER, "RDMAP-113 S6")
{
	p->to->sh.ird = 0;
	read_src(p, R_BIG, 0, 8);
}

FAULT(first_segment_with_offset, TERN_TERM_DU_MO, "DDP-084 S7")
{
	send_seg(p, 8);
	put_unaligned_be32(8, p->ulpdu + 14);
}

FAULT(gap_in_a_message, TERN_TERM_DU_MO, "DDP-084 S7 Q9")
{
	send_seg(p, 60);
	p->ulpdu[0] &= ~TERN_DDP_LAST;
	p->len = 18 + 20;
	emit(p);
	p->ulpdu[0] |= TERN_DDP_LAST;
	put_unaligned_be32(21, p->ulpdu + 14);
}

FAULT(one_byte_too_long, TERN_TERM_DU_TOO_LONG, "DDP-085 RDMAP-068 S8")
{
	send_seg(p, 64);
	p->len++;
}

FAULT(too_long_by_its_second_segment, TERN_TERM_DU_TOO_LONG, "DDP-085 S8")
{
	send_seg(p, 60);
	p->ulpdu[0] &= ~TERN_DDP_LAST;
	emit(p);
	p->ulpdu[0] |= TERN_DDP_LAST;
	put_unaligned_be32(60, p->ulpdu + 14);
	p->len = 19;
}

/* ---- RDMAP -------------------------------------------------------------- */

FAULT(rdmap_version, TERN_TERM_RO_VERSION, "RDMAP-127 S9")
{
	send_seg(p, 8);
	p->ulpdu[1] ^= 0x40;
}

FAULT(rdmap_version_2, TERN_TERM_RO_VERSION, "RDMAP-127 S9")
{
	write_seg(p, R_BIG, 0, 8);
	p->ulpdu[1] ^= 0x80;
}

FAULT(opcode_of_7306, TERN_TERM_RO_OPCODE, "RDMAP-126 S10")
{
	send_seg(p, 8);
	p->ulpdu[1] = (p->ulpdu[1] & 0xf0) | TERN_OP_IMM;
}

FAULT(opcode_unknown, TERN_TERM_RO_OPCODE, "RDMAP-126 S10")
{
	write_seg(p, R_BIG, 0, 8);
	p->ulpdu[1] |= 0xf;
}

FAULT(write_untagged, TERN_TERM_RO_OPCODE, "RDMAP-126 S10")
{
	send_seg(p, 8);
	p->ulpdu[1] = p->ulpdu[1] & 0xf0;
}

FAULT(send_tagged, TERN_TERM_RO_OPCODE, "RDMAP-126 S10")
{
	write_seg(p, R_BIG, 0, 8);
	p->ulpdu[1] |= TERN_OP_SEND;
}

FAULT(read_request_on_queue_0, TERN_TERM_RO_OPCODE, "RDMAP-126 S10")
{
	read_src(p, R_BIG, 0, 8);
	shell_post_recv(&p->to->sh, 100);
	put_unaligned_be32(0, p->ulpdu + 6);
	put_unaligned_be32(p->from->send_msn, p->ulpdu + 10);
}

FAULT(opcode_change_in_a_send, TERN_TERM_RO_OPCODE, "Q10 S10")
{
	send_seg(p, 0);
	p->ulpdu[0] &= ~TERN_DDP_LAST;
	emit(p);
	p->ulpdu[0] |= TERN_DDP_LAST;
	p->ulpdu[1] += 2;
}

FAULT(opcode_change_in_a_write, TERN_TERM_RO_OPCODE, "Q10 S10")
{
	write_seg(p, R_BIG, 0, 0);
	p->ulpdu[0] &= ~TERN_DDP_LAST;
	emit(p);
	resp_seg(p, 64);
}

FAULT(read_request_short, TERN_TERM_RO_STREAM, "S16 Q10")
{
	read_src(p, R_BIG, 0, 8);
	p->len = 45;
}

FAULT(read_request_long, TERN_TERM_DU_TOO_LONG, "S8 Q10")
{
	read_src(p, R_BIG, 0, 8);
	p->len = 47;
}

FAULT(read_request_not_last, TERN_TERM_RO_STREAM, "S16")
{
	read_src(p, R_BIG, 0, 8);
	p->ulpdu[0] &= ~TERN_DDP_LAST;
}

FAULT(terminate_short, TERN_TERM_RO_STREAM, "RDMAP-083 S16")
{
	untagged(p, 0x40, TERN_OP_TERMINATE, 2, 1, 3);
}

FAULT(terminate_long, TERN_TERM_DU_TOO_LONG, "RDMAP-083 S8")
{
	untagged(p, 0x40, TERN_OP_TERMINATE, 2, 1, 53);
}

/* ---- RDMA Write --------------------------------------------------------- */

FAULT(write_unknown_stag, TERN_TERM_DT_INV_STAG, "DDP-087 S11")
{
	write_seg(p, R_BIG, 0, 8);
	p->ulpdu[5] ^= 7;
	p->ulpdu[2] ^= 1;
}

FAULT(write_invalidated_stag, TERN_TERM_DT_INV_STAG, "DDP-103 S11")
{
	region(p, R_INVALIDATABLE)->view.valid = false;
	write_seg(p, R_INVALIDATABLE, 0, 8);
}

FAULT(write_foreign_stag, TERN_TERM_DT_NOT_ASSOC, "DDP-029 DDP-098 S12")
{
	write_seg(p, R_FOREIGN, 0, 8);
}

FAULT(write_without_the_right, TERN_TERM_DT_INV_STAG, "DDP-088 Q31 S13")
{
	write_seg(p, R_READ_ONLY, 0, 8);
}

FAULT(write_wraps, TERN_TERM_DT_WRAP, "DDP-091 S14")
{
	write_seg(p, R_TOP, region(p, R_TOP)->view.len - 7, 8);
}

FAULT(write_one_past_the_end, TERN_TERM_DT_BOUNDS, "DDP-090 S15")
{
	write_seg(p, R_BIG, region(p, R_BIG)->view.len - 7, 8);
}

FAULT(write_one_before_the_base, TERN_TERM_DT_BOUNDS, "DDP-089 S15")
{
	write_seg(p, R_BIG, ~0ULL, 8);
}

/* ---- RDMA Read ---------------------------------------------------------- */

FAULT(read_unknown_stag, TERN_TERM_RP_INV_STAG, "RDMAP-131 S17")
{
	read_seg(p, 0, 0, 8);
}

FAULT(read_foreign_stag, TERN_TERM_RP_NOT_ASSOC, "RDMAP-132 S17")
{
	read_src(p, R_FOREIGN, 0, 8);
}

FAULT(read_without_the_right, TERN_TERM_RP_ACCESS, "DDP-112 S17")
{
	read_src(p, R_WRITE_ONLY, 0, 8);
}

FAULT(read_wraps, TERN_TERM_RP_WRAP, "RDMAP-135 S17")
{
	read_src(p, R_TOP, 1, (u32)region(p, R_TOP)->view.len);
}

FAULT(read_one_past_the_end, TERN_TERM_RP_BOUNDS, "RDMAP-134 S17")
{
	read_src(p, R_BIG, 1, (u32)region(p, R_BIG)->view.len);
}

FAULT(read_one_before_the_base, TERN_TERM_RP_BOUNDS, "RDMAP-133 S17")
{
	read_src(p, R_READ_ONLY, ~0ULL, 8);
}

FAULT(response_to_nothing, TERN_TERM_RO_OPCODE, "RDMAP-060 Q11")
{
	tagged(p, 0xc0, TERN_OP_READ_RESP, region(p, R_SINK)->stag,
	       region(p, R_SINK)->view.base, 8);
}

FAULT(response_to_another_stag, TERN_TERM_DT_INV_STAG, "RDMAP-063 Q11")
{
	resp_seg(p, 64);
	put_unaligned_be32(region(p, R_BIG)->stag, p->ulpdu + 2);
}

FAULT(response_elsewhere, TERN_TERM_DT_BOUNDS, "RDMAP-063 Q11")
{
	resp_seg(p, 64);
	put_unaligned_be64(region(p, R_SINK)->view.base + 1, p->ulpdu + 6);
}

FAULT(response_short, TERN_TERM_RO_STREAM, "RDMAP-063 Q11")
{
	resp_seg(p, 63);
}

FAULT(response_long, TERN_TERM_RO_STREAM, "RDMAP-063 Q11")
{
	resp_seg(p, 65);
}

FAULT(response_without_L, TERN_TERM_RO_STREAM, "Q11")
{
	resp_seg(p, 64);
	p->ulpdu[0] &= ~TERN_DDP_LAST;
}

/* ---- Send with Invalidate ----------------------------------------------- */

static void invalidate(struct plan *p, u32 stag)
{
	send_seg(p, 8);
	p->ulpdu[1]++;
	put_unaligned_be32(stag, p->ulpdu + 2);
}

FAULT(invalidate_unknown_stag, TERN_TERM_RP_CANT_INV, "RDMAP-128 S18")
{
	invalidate(p, 4711);
}

FAULT(invalidate_foreign_stag, TERN_TERM_RP_CANT_INV, "RDMAP-129 S18")
{
	region(p, R_FOREIGN)->view.invalidatable = true;
	invalidate(p, region(p, R_FOREIGN)->stag);
}

FAULT(invalidate_shared_stag, TERN_TERM_RP_CANT_INV, "RDMAP-143 Q14 S18")
{
	invalidate(p, region(p, R_BIG)->stag);
}

FAULT(invalidate_twice, TERN_TERM_RP_CANT_INV, "RDMAP-128 S18")
{
	region(p, R_INVALIDATABLE)->view.valid = false;
	invalidate(p, region(p, R_INVALIDATABLE)->stag);
}
