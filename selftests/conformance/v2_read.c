// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Reads of RDMAP version 2 (v2 draft 6): those that the device answers, and its own. Both
 * ends have agreed on version 2 by hello.
 */
#include <string.h>

#include "ext.h"
#include "terminate.h"

#define STAG		0x13579bdf
#define TO		0x1020304050607080ull
#define BIG		20000
#define READ_LEN	64

static uint8_t big[BIG];
static uint8_t body[READ_REQ_V2_LEN + 1];

/* ---- Reads that are answered ---- */

static void answers(uint32_t at, uint32_t len)
{
	struct scene *sc = ext_scene_v2_bare();
	struct agent_mr mr = agent_mr(BIG, "r");
	unsigned int n;

	pattern(big, sizeof(big), 6);
	agent_poke(&mr, 0, big, sizeof(big));
	send_read_req_v2(sc->p, len, mr.rkey, mr.va + at);
	n = must_get_read_resp_v2(sc->p, big + at, len);
	must(len < BIG ? n == 1 : n > 1, "%u segments for %u bytes", n, len);
	agent_must_get_no_wc(1);
	must_be_alive(sc->p);
}

static void v2_read__is_answered(void)
{
	answers(13, 500);
}

static void v2_read__in_segments(void)
{
	answers(0, BIG);
}

static void v2_read__of_nothing(void)
{
	struct scene *sc = ext_scene_v2_bare();

	/* the source of an empty Read is not checked */
	send_read_req_v2(sc->p, 0, 0xffffffff, UINT64_MAX);
	must_eq(must_get_read_resp_v2(sc->p, NULL, 0), 1, "segments");
	must_be_alive(sc->p);
}

/* a Send with Immediate, then both Reads and an atomic: Responses in this order */
static void v2_read__in_order(void)
{
	struct scene *sc = ext_scene_v2();
	struct agent_mr mr = agent_mr(64, "lra");
	struct atomic_req a = { .op = FETCH_ADD, .id = 5, .stag = mr.rkey, .to = mr.va,
				.data = 0x0101010101010101, .compare_mask = UINT64_MAX };
	struct fpdu f;

	agent_poke64(&mr, 0, 0);
	send_send_imm(sc->p, OP_SEND_IMM, 0, sc->data, 10, 10, EXT_IMM);
	send_read_req_v2(sc->p, 1, mr.rkey, mr.va);
	send_atomic(sc->p, &a);
	send_read_req(sc->p, 1, 2, 1, mr.rkey, mr.va);
	send_read_req_v2(sc->p, 1, mr.rkey, mr.va);
	must_get_read_resp_v2(sc->p, "\0", 1);
	/* the receive completed before any Response was made */
	ext_must_receive_imm(SCENE_RECV_ID, "RECV", 10);
	must_get_atomic_resp(sc->p, 5, 0);
	must_get_op(sc->p, &f, OP_READ_RESP);
	must_eq(f.seg.data[0], 1, "the byte");
	must_get_read_resp_v2(sc->p, "\1", 1);
}

/* ---- Reads that are refused ---- */

static struct seg request(struct scene *sc, const struct agent_mr *mr, int64_t at,
			  uint32_t len)
{
	put32(body, len);
	put32(body + 4, mr->rkey);
	put64(body + 8, mr->va + at);
	return ext_seg(sc, OP_READ_REQ_V2, body, READ_REQ_V2_LEN);
}

static void source(const char *access, int pd, int64_t at, int verdict)
{
	struct scene *sc = ext_scene_v2();
	struct agent_mr mr = agent_mr_pd(4096, access, pd);
	struct seg seg = request(sc, &mr, at, 8);

	ext_refuse(sc, &seg, verdict);
}

static void v2_read__source_outside(void)
{
	source("r", 0, 4096 - 7, RP_BOUNDS);
}

static void v2_read__source_without_right(void)
{
	source("lw", 0, 0, RP_ACCESS);
}

static void v2_read__source_of_another_pd(void)
{
	source("r", 1, 0, RP_NOT_ASSOC);
}

static void v2_read__source_wraps(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = request(sc, &sc->sink, 0, 8);

	put64(body + 8, UINT64_MAX - 3);
	ext_refuse(sc, &seg, RP_WRAP);
}

static void v2_read__source_is_unknown(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = request(sc, &sc->sink, 0, 8);

	put32(body + 4, sc->sink.rkey ^ 1);
	ext_refuse(sc, &seg, RP_INV_STAG);
}

static void v2_read__request_too_short(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = request(sc, &sc->sink, 0, 8);

	seg.len--;
	ext_refuse(sc, &seg, RO_STREAM);
}

static void v2_read__request_too_long(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = request(sc, &sc->sink, 0, 8);

	seg.len++;
	ext_refuse(sc, &seg, DU_TOO_LONG);
}

/* ---- Reads of the device ---- */

static struct agent_mr sink;

/* the device has posted a Read of READ_LEN bytes, as request 1, to the start of sink */
static struct scene *open_read_v2(void)
{
	struct scene *sc = ext_scene_v2_bare();
	struct read_v2 r;

	sink = agent_mr(4096, "lw");
	agent_post(sc->s.conn, 1, AG_READ, AG_SIGNALED, &sink, 0, READ_LEN, STAG, TO);
	must_get_read_req_v2(sc->p, &r);
	must_eq(r.size, READ_LEN, "size");
	must_eq(r.stag, STAG, "source STag");
	must_eq(r.to, TO, "source TO");
	sc->posted++;
	return sc;
}

static void v2_read__device_reads(void)
{
	struct scene *sc = open_read_v2();

	agent_must_get_no_wc(20);
	send_read_resp_v2(sc->p, sc->data, READ_LEN);
	ext_must_complete(1, "RDMA_READ");
	must_have_memory(&sink, 0, sc->data, READ_LEN);
	must_have_memory(&sink, READ_LEN, "\xa5", 1);
}

/* one segment of a Response */
static void put_part(struct scene *sc, uint32_t mo, uint32_t len, bool last)
{
	uint8_t out[256];

	peer_send_fpdu(sc->p, out, seg_read_resp_v2(sc->p, mo, sc->data + mo, len, last,
						    out));
}

static void v2_read__response_in_segments(void)
{
	struct scene *sc = open_read_v2();

	put_part(sc, 0, 30, false);
	put_part(sc, 30, 30, false);
	put_part(sc, 60, READ_LEN - 60, true);
	ext_must_complete(1, "RDMA_READ");
	must_have_memory(&sink, 0, sc->data, READ_LEN);
}

static void v2_read__device_reads_nothing(void)
{
	struct scene *sc = ext_scene_v2_bare();
	struct read_v2 r;

	agent_post(sc->s.conn, 1, AG_READ, AG_SIGNALED, NULL, 0, 0, STAG, TO);
	must_get_read_req_v2(sc->p, &r);
	must_eq(r.size, 0, "size");
	send_read_resp_v2(sc->p, NULL, 0);
	ext_must_complete(1, "RDMA_READ");
}

/* a Response, or a part of it, of @len bytes at @mo is refused */
static void refused(uint32_t mo, uint32_t len, bool last, int verdict)
{
	struct scene *sc = open_read_v2();
	struct seg seg = ext_seg(sc, OP_READ_RESP_V2, sc->data, len);

	seg.mo = mo;
	if (!last)
		seg.ctrl &= ~DDP_LAST;
	ext_refuse(sc, &seg, verdict);
	must_be_untouched(&sink);
}

static void v2_read__response_too_short(void)
{
	refused(0, READ_LEN - 1, true, RO_STREAM);
}

static void v2_read__response_too_long(void)
{
	refused(0, READ_LEN + 1, true, DU_TOO_LONG);
}

static void v2_read__response_without_its_last(void)
{
	refused(0, READ_LEN, false, RO_STREAM);
}

static void v2_read__response_with_a_gap(void)
{
	refused(8, 8, false, DU_MO);
}

static void v2_read__response_of_another_msn(void)
{
	struct scene *sc = open_read_v2();
	struct seg seg = ext_seg(sc, OP_READ_RESP_V2, sc->data, READ_LEN);

	seg.msn++;
	ext_refuse(sc, &seg, DU_MSN);
	must_be_untouched(&sink);
}

static void v2_read__response_of_another_kind(void)
{
	struct scene *sc = open_read_v2();
	struct seg seg = ext_seg(sc, OP_ATOMIC_RESP, sc->data, ATOMIC_RESP_LEN);

	ext_refuse(sc, &seg, RO_OPCODE);
	must_be_untouched(&sink);
}

static void v2_read__response_of_the_old_form(void)
{
	struct scene *sc = open_read_v2();
	struct seg seg = scene_write(sc, 0, READ_LEN);

	seg_set_op(&seg, OP_READ_RESP);
	ext_refuse(sc, &seg, RO_OPCODE);
	must_be_untouched(&sink);
}

static void v2_read__response_to_nothing(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = ext_seg(sc, OP_READ_RESP_V2, sc->data, 8);

	ext_refuse(sc, &seg, DU_NO_BUFFER);
}

/* ---- Terminates that the device gets ---- */

/*
 * An atomic and three Reads of version 2 are open, which share the MSNs of queue 1. A
 * Terminate names the @nth: that one has the reason, the others are flushed.
 */
static void denied(unsigned int nth)
{
	static const struct atomic_req add = { .op = FETCH_ADD, .stag = STAG, .to = TO };
	struct scene *sc = ext_scene_v2_bare();
	uint8_t hdr[UNTAGGED_HDR];
	struct agent_wc wc;
	struct fpdu f;
	uint32_t len = 0;
	unsigned int i;

	sink = agent_mr(4096, "lw");
	for (i = 0; i < 4; i++) {
		if (i == 1)
			agent_post_atomic(sc->s.conn, i, AG_SIGNALED, &sink, 0, &add, false);
		else
			agent_post(sc->s.conn, i, AG_READ, AG_SIGNALED, &sink, 0, READ_LEN,
				   STAG, TO);
		must_get_op(sc->p, &f, i == 1 ? OP_ATOMIC_REQ : OP_READ_REQ_V2);
		if (i == nth) {
			memcpy(hdr, f.seg.ulpdu, sizeof(hdr));
			len = f.seg.ulpdu_len;
		}
	}
	ext_deny(sc, hdr, len);
	for (i = 0; i < 4; i++)
		agent_must_get_wc(i, i == nth ? "REM_ACCESS_ERR" : "WR_FLUSH_ERR", &wc);
}

static void v2_read__atomic_among_them_is_denied(void)
{
	denied(1);
}

static void v2_read__one_of_them_is_denied(void)
{
	denied(2);
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(v2_read__is_answered, "V2-007 V2-010 V2-011 V2-020 V2-027 Q51",
	    "a Read V2 is answered by the device itself on queue 3", EITHER),
	ROW(v2_read__in_segments, "V2-011 V2-020 V2-027",
	    "a long Response has many segments and one L bit", RESPONDER),
	ROW(v2_read__of_nothing, "V2-024 V2-020 Q51",
	    "a Read of nothing is answered by one empty segment", EITHER),
	ROW(v2_read__in_order, "V2-025 V2-031 V2-034 V2-035 V2-036 Q50",
	    "Responses of all kinds leave in the order of their Requests", EITHER),
	ROW(v2_read__source_outside, "V2-024 V2-029 S17",
	    "a source that ends above the region is refused", EITHER),
	ROW(v2_read__source_without_right, "V2-024 V2-029 V2-030 S17",
	    "a source without the right to be read is refused", RESPONDER),
	ROW(v2_read__source_of_another_pd, "V2-024 V2-029 V2-030 S17",
	    "a source of another protection domain is refused", RESPONDER),
	ROW(v2_read__source_wraps, "V2-024 V2-029 S17",
	    "a source whose end wraps 64 bits is refused", RESPONDER),
	ROW(v2_read__source_is_unknown, "V2-024 V2-029 S17",
	    "an unknown source is refused", RESPONDER),
	ROW(v2_read__request_too_short, "V2-023 V2-029 Q48 S16",
	    "a Request of 15 bytes is refused", RESPONDER),
	ROW(v2_read__request_too_long, "V2-023 V2-029 Q48 S8",
	    "a Request of 17 bytes is refused", RESPONDER),
	ROW(v2_read__device_reads, "V2-007 V2-021 V2-022 V2-023 V2-030 Q50",
	    "the device's Read names no sink, and completes with its Response", EITHER),
	ROW(v2_read__response_in_segments, "V2-022",
	    "a Response may have many segments", EITHER),
	ROW(v2_read__device_reads_nothing, "V2-022 Q51",
	    "the device may read nothing", RESPONDER),
	ROW(v2_read__response_too_short, "V2-032 V2-029 Q48",
	    "a Response that ends early is refused", EITHER),
	ROW(v2_read__response_too_long, "V2-032 V2-029 S8",
	    "a Response that is too long is refused", RESPONDER),
	ROW(v2_read__response_without_its_last, "V2-032 V2-029 Q48",
	    "a Response that is whole has its L bit", RESPONDER),
	ROW(v2_read__response_with_a_gap, "V2-029 S7",
	    "a Response with a gap is refused", RESPONDER),
	ROW(v2_read__response_of_another_msn, "V2-022 V2-029 S5",
	    "a Response of another MSN is refused", RESPONDER),
	ROW(v2_read__response_of_another_kind, "V2-021 V2-029 Q49",
	    "an Atomic Response to a Read is refused", RESPONDER),
	ROW(v2_read__response_of_the_old_form, "V2-022 Q49 Q50",
	    "a tagged Response to a Read V2 is refused", RESPONDER),
	ROW(v2_read__response_to_nothing, "V2-021 V2-029 Q49 S6",
	    "a Response without a Request is refused", RESPONDER),
	ROW(v2_read__atomic_among_them_is_denied, "EXT-003 Q12",
	    "a Terminate that names an atomic fails that one of the open requests", EITHER),
	ROW(v2_read__one_of_them_is_denied, "Q12",
	    "a Terminate that names a Read V2 fails that one of the open requests", EITHER),
	{}
};

const struct conform_group v2_read_group = { "v2_read", tests };
