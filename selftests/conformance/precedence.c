// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Two faults in one segment or in two: "the first RDMA Message [...] that experienced
 * an error MUST be captured by the Terminate Message" (RFC 5040 7.1). Within a segment
 * the order of the checks is that of rows S1 to S18 of `requirements`: MPA, DDP's
 * header, DDP's buffer, RDMAP's header, RDMAP's request; within each, first the field
 * that the next check needs.
 */
#include <string.h>

#include "wire_ext.h"
#include "scene.h"

#define BAD_RV	0xc0

/* a Write that fails S11 to S15 if these checks are reached */
static struct seg hopeless_write(struct scene *sc)
{
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag = 0x5a5a5a5a;
	seg.to = UINT64_MAX - 3;
	return seg;
}

/* an untagged segment that fails S4, S5 and S7 to S10 */
static struct seg hopeless_send(struct scene *sc)
{
	struct seg seg = scene_send(sc, SCENE_RECV_LEN + 1);

	seg.rdmap |= 0x8f;
	seg.qn = 77;
	seg.msn += 5;
	seg.mo = 4;
	return seg;
}

static void precedence__crc_before_ddp_version(void)
{
	static const struct fpdu_fault flip = { .crc_xor = 1 };
	struct scene *sc = scene_start();
	struct seg seg = hopeless_write(sc);
	uint8_t ulpdu[64], wire[256];

	if (!sc->p->crc)
		skip("the device agreed to no CRC");
	seg.ctrl |= 2;
	peer_send(sc->p, wire, fpdu_build(sc->p, ulpdu, seg_encode(&seg, ulpdu),
					  &flip, wire));
	scene_must_end(sc, NULL, 0, MPA_CRC_ERROR, VERDICT_NONE);
	scene_must_flush(sc, MPA_CRC_ERROR);
	must_be_untouched(&sc->sink);
}

static void precedence__length_before_version(void)
{
	static const uint8_t ulpdu[13] = { 0xc3, 0xff, 1 };
	struct scene *sc = scene_start();

	scene_refuse_bytes(sc, ulpdu, sizeof(ulpdu), RO_STREAM);
}

static void precedence__version_before_opcode_and_stag(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_write(sc);

	seg.ctrl |= 2;
	seg.rdmap |= 0x8f;
	scene_refuse(sc, &seg, DT_VERSION);
}

static void precedence__version_before_queue(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_send(sc);

	seg.ctrl |= 2;
	scene_refuse(sc, &seg, DU_VERSION);
}

static void precedence__queue_before_msn(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_send(sc);

	scene_refuse(sc, &seg, DU_QN);
}

static void precedence__msn_before_mo(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_send(sc);

	seg.qn = 0;
	scene_refuse(sc, &seg, DU_MSN);
}

static void precedence__msn_before_buffer(void)
{
	struct scene *sc = scene_start_bare();
	struct seg seg = scene_send(sc, 8);

	seg.msn += 5;
	scene_refuse(sc, &seg, DU_MSN);
}

static void precedence__mo_before_length(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_send(sc);

	seg.qn = 0;
	seg.msn = sc->p->tx_msn[0];
	scene_refuse(sc, &seg, DU_MO);
}

static void precedence__length_before_rdmap(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_send(sc);

	seg.qn = 0;
	seg.msn = sc->p->tx_msn[0];
	seg.mo = 0;
	scene_refuse(sc, &seg, DU_TOO_LONG);
}

static void precedence__length_before_invalidate(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, SCENE_RECV_LEN + 1);

	seg_set_op(&seg, OP_SEND_INV);
	seg.stag = 0x5a5a5a5a;
	scene_refuse(sc, &seg, DU_TOO_LONG);
}

static void precedence__rv_before_opcode(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_send(sc, 8);

	seg.rdmap = BAD_RV | 0x0f;
	scene_refuse_placed(sc, &seg, RO_VERSION);
}

static void precedence__rv_before_stag(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_write(sc);

	seg.rdmap = BAD_RV | OP_WRITE;
	scene_refuse(sc, &seg, RO_VERSION);
}

static void precedence__opcode_before_stag(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_write(sc);

	seg_set_op(&seg, 0x0f);
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void precedence__open_read_before_stag(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_write(sc);

	seg_set_op(&seg, OP_READ_RESP);
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void precedence__stag_before_wrap(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_write(sc);

	scene_refuse(sc, &seg, DT_INV_STAG);
}

/* a region of the other PD without any remote right; TO is outside of it */
static void precedence__domain_before_right(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr_pd(100, "l", 1);
	struct seg seg = hopeless_write(sc);

	seg.stag = mr.rkey;
	scene_refuse(sc, &seg, DT_NOT_ASSOC);
}

static void precedence__right_before_bounds(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, "lr");
	struct seg seg = scene_write(sc, 0, 8);

	seg.stag = mr.rkey;
	seg.to = mr.va + 100;
	scene_refuse_either(sc, &seg, DT_INV_STAG, RP_ACCESS);
}

static void precedence__wrap_before_bounds(void)
{
	struct scene *sc = scene_start();
	struct seg seg = scene_write(sc, 0, SCENE_SINK_LEN + 1);

	seg.to = UINT64_MAX - SCENE_SINK_LEN + 1;
	scene_refuse(sc, &seg, DT_WRAP);
}

/* ---- Read Requests ------------------------------------------------------ */

/* a Read Request whose source fails all checks of S17 */
static struct seg hopeless_read(struct scene *sc)
{
	struct seg seg = scene_read(sc, 0, 8);

	put32(sc->body + 16, 0x5a5a5a5a);
	put64(sc->body + 20, UINT64_MAX - 3);
	return seg;
}

static void precedence__request_length_before_rdmap(void)
{
	/* longer than any request of this queue */
	static uint8_t body[ATOMIC_REQ_LEN + 1];
	struct scene *sc = scene_start();
	struct seg seg = hopeless_read(sc);

	memcpy(body, sc->body, READ_BODY_LEN);
	seg.data = body;
	seg.len = sizeof(body);
	seg.rdmap = BAD_RV | 0x0f;
	scene_refuse(sc, &seg, DU_TOO_LONG);
}

static void precedence__request_opcode_before_form(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_read(sc);

	seg_set_op(&seg, OP_SEND);
	seg.len = 20;
	scene_refuse(sc, &seg, RO_OPCODE);
}

static void precedence__request_form_before_source(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_read(sc);

	seg.ctrl &= ~DDP_LAST;
	scene_refuse(sc, &seg, RO_STREAM);
}

static void precedence__source_stag_before_wrap(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_read(sc);

	scene_refuse(sc, &seg, RP_INV_STAG);
}

static void precedence__source_domain_before_right(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr_pd(100, "l", 1);
	struct seg seg = hopeless_read(sc);

	put32(sc->body + 16, mr.rkey);
	scene_refuse(sc, &seg, RP_NOT_ASSOC);
}

static void precedence__source_right_before_wrap(void)
{
	struct scene *sc = scene_start();
	struct agent_mr mr = agent_mr(100, "lw");
	struct seg seg = hopeless_read(sc);

	put32(sc->body + 16, mr.rkey);
	scene_refuse(sc, &seg, RP_ACCESS);
}

static void precedence__source_wrap_before_bounds(void)
{
	struct scene *sc = scene_start();
	struct seg seg = hopeless_read(sc);

	put32(sc->body + 16, sc->sink.rkey);
	scene_refuse(sc, &seg, RP_WRAP);
}

/* ---- two bad segments --------------------------------------------------- */

static void precedence__first_segment_before_second(void)
{
	struct scene *sc = scene_start();
	struct seg first = hopeless_write(sc), second = hopeless_send(sc);
	uint8_t ulpdu[UNTAGGED_HDR + SCENE_DATA_LEN], wire[4 * SCENE_DATA_LEN];
	size_t n;

	n = fpdu_build(sc->p, ulpdu, seg_encode(&first, ulpdu), NULL, wire);
	n += fpdu_build(sc->p, ulpdu, seg_encode(&second, ulpdu), NULL, wire + n);
	peer_send(sc->p, wire, n);
	scene_must_end(sc, NULL, 0, DT_INV_STAG, VERDICT_NONE);
	scene_must_flush(sc, DT_INV_STAG);
}

#define ROW(name, ids, rule, run) \
	{ "precedence__" name, ids " Q13", rule, RESPONDER, 0, precedence__##run }

static const struct conform_test tests[] = {
	ROW("crc_before_ddp_version", "DDP-007 DDP-092 S1 S3",
	    "a damaged segment's fields are not looked at",
	    crc_before_ddp_version),
	ROW("length_before_version", "DDP-043 S2 S3",
	    "a header that is not whole is not looked at",
	    length_before_version),
	ROW("version_before_opcode_and_stag", "DDP-024 DDP-096 S3 S10 S11",
	    "the DDP version decides how the rest reads",
	    version_before_opcode_and_stag),
	ROW("version_before_queue", "DDP-024 DDP-096 S3 S4",
	    "the DDP version comes before the queue", version_before_queue),
	ROW("queue_before_msn", "DDP-078 S4 S5",
	    "the queue comes before its numbers", queue_before_msn),
	ROW("msn_before_mo", "DDP-086 S5 S7", "the message comes before its offset",
	    msn_before_mo),
	ROW("msn_before_buffer", "DDP-086 DDP-079 S5 S6",
	    "a wrong number needs no buffer", msn_before_buffer),
	ROW("mo_before_length", "DDP-084 DDP-085 S7 S8", "offset before length",
	    mo_before_length),
	ROW("length_before_rdmap", "DDP-085 RDMAP-068 S8 S9 S10",
	    "DDP's checks come before RDMAP's", length_before_rdmap),
	ROW("length_before_invalidate", "DDP-085 RDMAP-077 S8 S18",
	    "a Send too long invalidates nothing",
	    length_before_invalidate),
	ROW("rv_before_opcode", "RDMAP-013 S9 S10",
	    "RDMAP's version decides how the opcode reads",
	    rv_before_opcode),
	ROW("rv_before_stag", "RDMAP-013 S9 S11",
	    "the version comes before the STag", rv_before_stag),
	ROW("opcode_before_stag", "RDMAP-012 S10 S11",
	    "the opcode decides what the STag is for",
	    opcode_before_stag),
	ROW("open_read_before_stag", "RDMAP-060 S10 S11",
	    "without a Read no Response has a buffer",
	    open_read_before_stag),
	ROW("stag_before_wrap", "DDP-087 DDP-091 S11 S14",
	    "STag before offset", stag_before_wrap),
	ROW("domain_before_right", "DDP-087 DDP-029 S12 S13",
	    "the rights of another domain's memory are not revealed", domain_before_right),
	ROW("right_before_bounds", "DDP-088 DDP-089 S13 S15",
	    "bounds are not revealed to a peer that may not write",
	    right_before_bounds),
	ROW("wrap_before_bounds", "DDP-091 DDP-090 S14 S15",
	    "a wrap is out of bounds too, and is named as a wrap",
	    wrap_before_bounds),
	ROW("request_length_before_rdmap", "DDP-085 RDMAP-019 S8 S9 S10",
	    "DDP's checks come before RDMAP's on queue 1",
	    request_length_before_rdmap),
	ROW("request_opcode_before_form", "RDMAP-012 RDMAP-019 S10 S16",
	    "the opcode decides the form", request_opcode_before_form),
	ROW("request_form_before_source", "RDMAP-019 RDMAP-054 S16 S17",
	    "a malformed Request names no source",
	    request_form_before_source),
	ROW("source_stag_before_wrap", "RDMAP-054 S17",
	    "STag before offset", source_stag_before_wrap),
	ROW("source_domain_before_right", "RDMAP-054 S17",
	    "the rights of another domain's memory are not revealed",
	    source_domain_before_right),
	ROW("source_right_before_wrap", "RDMAP-054 S17",
	    "right before offset", source_right_before_wrap),
	ROW("source_wrap_before_bounds", "RDMAP-054 S17",
	    "a wrap is named as a wrap", source_wrap_before_bounds),
	ROW("first_segment_before_second", "DDP-092 DDP-094",
	    "of two bad segments the first is reported", first_segment_before_second),
	{}
};

const struct conform_group precedence_group = { "precedence", tests };
