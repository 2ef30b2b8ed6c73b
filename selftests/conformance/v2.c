// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * RDMAP version 2 as a whole, and its Sends with Immediate (v2 draft 4 and 5). Both ends
 * have agreed on it by hello. The Reads are in v2_read.c.
 */
#include <string.h>

#include "ext.h"
#include "terminate.h"

#define STAG	0x13579bdf
#define TO	0x1020304050607080ull
#define ONES	UINT64_MAX
/* enum ibv_wc_flags */
#define WC_WITH_INV	8

static uint8_t ulpdu[SCENE_DATA_LEN + 64];

/* ---- every message ---- */

static void post_imm(struct scene *sc, enum agent_imm_op op, unsigned int flags,
		     const struct agent_mr *mr, size_t len, size_t imm_len)
{
	const struct agent_imm r = {
		.op = op, .flags = AG_SIGNALED | flags, .mr = mr, .len = len, .rkey = STAG,
		.raddr = TO, .imm = EXT_IMM, .imm_len = imm_len,
	};

	agent_post_imm(sc->s.conn, 1, &r);
}

/* must_get_op() checks that RV is 2 and the T bits and queues are those of each opcode */
static void v2__device_sends_each_message(void)
{
	struct scene *sc = ext_scene_v2_bare();
	struct agent_mr mr = agent_mr(64, "lw");
	struct atomic_req a = { .op = FETCH_ADD, .stag = STAG, .to = TO,
				.compare_mask = ONES };
	struct fpdu f;

	agent_post(sc->s.conn, 1, AG_WRITE, 0, &mr, 0, 8, STAG, TO);
	must_get_op(sc->p, &f, OP_WRITE);
	agent_post(sc->s.conn, 1, AG_SEND, 0, &mr, 0, 8, 0, 0);
	must_get_op(sc->p, &f, OP_SEND);
	agent_post(sc->s.conn, 1, AG_SEND_INV, 0, &mr, 0, 8, STAG, 0);
	must_get_op(sc->p, &f, OP_SEND_INV);
	must_eq(f.seg.stag, STAG, "Invalidate STag");
	post_imm(sc, AG_WRITE_IMM, 0, NULL, 0, 4);
	must_get_imm(sc->p, OP_IMM, EXT_IMM_4);
	post_imm(sc, AG_SEND_IMM, 0, NULL, 0, 4);
	must_get_send_imm(sc->p, OP_SEND_IMM, 0, NULL, 0, EXT_IMM_4);
	agent_post(sc->s.conn, 1, AG_READ, 0, &mr, 0, 8, STAG, TO);
	must_get_op(sc->p, &f, OP_READ_REQ_V2);
	agent_post_atomic(sc->s.conn, 1, 0, &mr, 0, &a, false);
	must_get_op(sc->p, &f, OP_ATOMIC_REQ);
	must_eq(f.seg.rdmap & 0x20, 0, "the reserved bit of byte 1");
	must_be_alive(sc->p);
}

static void v2__device_takes_each_message(void)
{
	struct scene *sc = ext_scene_v2();
	struct agent_mr mr = agent_mr(64, "lra");
	struct atomic_req a = { .op = FETCH_ADD, .id = 5, .stag = mr.rkey, .to = mr.va,
				.data = 1, .compare_mask = ONES };
	uint64_t id;

	for (id = 2; id <= 4; id++)
		agent_recv(sc->s.conn, id, &sc->recv, 0, SCENE_RECV_LEN);
	agent_poke64(&mr, 0, 7);
	send_write(sc->p, sc->sink.rkey, sc->sink.va, sc->data, 10);
	send_send(sc->p, "abc", 3);
	scene_must_receive(1, 3);
	must_have_memory(&sc->sink, 0, sc->data, 10);
	send_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_receive_imm(2, "RECV_RDMA_WITH_IMM", 0);
	send_imm(sc->p, OP_IMM_SE, EXT_IMM);
	ext_must_receive_imm(3, "RECV_RDMA_WITH_IMM", 0);
	send_atomic(sc->p, &a);
	must_get_atomic_resp(sc->p, 5, 7);
	send_read_req_v2(sc->p, 0, 0, 0);
	must_get_read_resp_v2(sc->p, NULL, 0);
	/* the old form of a Read is taken, too */
	must_be_alive(sc->p);
}

static void v2__reserved_bit_is_ignored(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = ext_seg(sc, OP_SEND_IMM, EXT_IMM, IMM_LEN);

	seg.rdmap |= 0x20;
	scene_put(sc, &seg);
	ext_must_receive_imm(SCENE_RECV_ID, "RECV", 0);
}

/* at RV 1 the bit is no part of the opcode: 0x53 is a Send of 8 bytes */
static void v2__no_opcode_of_version_1(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = scene_send(sc, IMM_LEN);

	seg.rdmap = 0x40 | OP_SEND_IMM;
	scene_put(sc, &seg);
	scene_must_receive(SCENE_RECV_ID, IMM_LEN);
}

static void v2__unknown_opcodes(void)
{
	static const int ops[] = { 0x0c, 0x0f, 0x10, 0x17, 0x1f };
	struct scene *sc;
	struct seg seg;
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		sc = ext_scene_v2();
		seg = scene_send(sc, 8);
		seg.rdmap = 0x80 | ops[i];
		ext_refuse(sc, &seg, RO_OPCODE);
		agent_reset();
	}
}

static void v2__message_of_version_1(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = scene_send(sc, 8);

	seg.rdmap = 0x40 | OP_SEND;
	ext_refuse(sc, &seg, RO_VERSION);
}

/* ---- Sends with Immediate that the device receives ---- */

static void take(enum rdmap_op op, uint32_t len, uint32_t cut)
{
	struct scene *sc = ext_scene_v2();

	send_send_imm(sc->p, op, 0, sc->data, len, cut, EXT_IMM);
	ext_must_receive_imm(SCENE_RECV_ID, "RECV", len);
	if (len)
		must_have_memory(&sc->recv, 0, sc->data, len);
	must_have_memory(&sc->recv, len, "\xa5", 1);
}

static void v2__send_imm_is_delivered(void)
{
	take(OP_SEND_IMM, 100, 100);
}

static void v2__send_imm_in_segments(void)
{
	take(OP_SEND_IMM, 999, 300);
}

static void v2__send_imm_of_nothing(void)
{
	take(OP_SEND_IMM, 0, 1);
}

static void v2__send_imm_of_nothing_needs_no_memory(void)
{
	struct scene *sc = ext_scene_v2_bare();

	agent_recv(sc->s.conn, 1, NULL, 0, 0);
	send_send_imm(sc->p, OP_SEND_SE_IMM, 0, NULL, 0, 1, EXT_IMM);
	ext_must_receive_imm(1, "RECV", 0);
}

static void event_of(enum rdmap_op op, bool wakes)
{
	struct scene *sc = ext_scene_v2();

	agent_arm(true);
	send_send_imm(sc->p, op, 0, sc->data, 10, 10, EXT_IMM);
	must(agent_cq_event(wakes ? patience(1000) : 100) == wakes,
	     "the event %s", wakes ? "does not come" : "comes");
}

static void v2__send_imm_without_event(void)
{
	event_of(OP_SEND_IMM, false);
}

static void v2__send_imm_with_event(void)
{
	event_of(OP_SEND_SE_IMM, true);
}

static void invalidates(enum rdmap_op op)
{
	struct scene *sc = ext_scene_v2();
	struct agent_mr mr = agent_mr(4096, "lwb");
	uint32_t stag = agent_bind(sc->s.conn, 2, &mr, 0, 4096, "w"), len;
	uint32_t flags;

	send_send_imm(sc->p, op, stag, sc->data, 50, 20, EXT_IMM);
	flags = ext_must_receive_imm(SCENE_RECV_ID, "RECV", 50);
	must(flags & WC_WITH_INV, "the flags are %#x: nothing invalidated", flags);
	len = seg_write(sc->p, stag, mr.va, sc->data, 8, true, ulpdu);
	sc->posted = 0;
	ext_refuse_bytes(sc, ulpdu, len, DT_INV_STAG);
}

static void v2__send_inv_imm(void)
{
	invalidates(OP_SEND_INV_IMM);
}

static void v2__send_se_inv_imm(void)
{
	invalidates(OP_SEND_SE_INV_IMM);
}

static void v2__stag_that_cannot_be_invalidated(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = ext_seg(sc, OP_SEND_INV_IMM, EXT_IMM, IMM_LEN);

	seg.stag = sc->sink.rkey;
	ext_refuse(sc, &seg, RP_CANT_INV);
}

static void v2__in_order_with_sends(void)
{
	struct scene *sc = ext_scene_v2();

	agent_recv(sc->s.conn, 2, &sc->recv, 0, SCENE_RECV_LEN);
	agent_recv(sc->s.conn, 3, &sc->recv, 0, SCENE_RECV_LEN);
	send_send(sc->p, "abc", 3);
	send_send_imm(sc->p, OP_SEND_IMM, 0, sc->data, 40, 16, EXT_IMM);
	send_send(sc->p, "abcd", 4);
	scene_must_receive(1, 3);
	ext_must_receive_imm(2, "RECV", 40);
	scene_must_receive(3, 4);
}

/* a Write, a Send with Immediate: the memory is there when the receive completes */
static void v2__after_a_write(void)
{
	struct scene *sc = ext_scene_v2();

	send_write(sc->p, sc->sink.rkey, sc->sink.va, sc->data, 900);
	send_send_imm(sc->p, OP_SEND_IMM, 0, sc->data, 10, 10, EXT_IMM);
	ext_must_receive_imm(SCENE_RECV_ID, "RECV", 10);
	must_have_memory(&sc->sink, 0, sc->data, 900);
}

/* ---- those that it refuses ---- */

/* the last segment, after @sent bytes of payload, has @len bytes and this MO */
static void last_of(uint32_t sent, uint32_t mo, uint32_t len, int verdict)
{
	struct scene *sc = ext_scene_v2();
	uint32_t n;

	if (sent) {
		n = seg_send(sc->p, OP_SEND_IMM, 0, 0, sc->data, sent, false, ulpdu);
		peer_send_fpdu(sc->p, ulpdu, n);
	}
	n = seg_send_imm_last(sc->p, OP_SEND_IMM, 0, mo, sc->data, len, ulpdu);
	ext_refuse_bytes(sc, ulpdu, n, verdict);
}

static void v2__last_of_7_bytes(void)
{
	last_of(0, 0, IMM_LEN - 1, RO_STREAM);
}

static void v2__last_of_9_bytes(void)
{
	last_of(20, 20, IMM_LEN + 1, RO_STREAM);
}

static void v2__last_is_empty(void)
{
	last_of(20, 20, 0, RO_STREAM);
}

static void v2__last_has_payload_too(void)
{
	last_of(20, 20, IMM_LEN + 12, RO_STREAM);
}

static void v2__last_at_another_mo(void)
{
	last_of(20, 0, IMM_LEN, DU_MO);
}

static void v2__payload_is_too_long(void)
{
	struct scene *sc = ext_scene_v2_bare();
	uint32_t n;

	scene_post_recv(sc, 10);
	n = seg_send(sc->p, OP_SEND_IMM, 0, 0, sc->data, 11, false, ulpdu);
	ext_refuse_bytes(sc, ulpdu, n, DU_TOO_LONG);
	must_be_untouched(&sc->recv);
}

/* the immediate takes no room of the receive */
static void v2__payload_fills_the_receive(void)
{
	struct scene *sc = ext_scene_v2_bare();

	scene_post_recv(sc, 10);
	send_send_imm(sc->p, OP_SEND_IMM, 0, sc->data, 10, 10, EXT_IMM);
	ext_must_receive_imm(SCENE_RECV_ID, "RECV", 10);
	must_have_memory(&sc->recv, 10, "\xa5", 1);
}

static void v2__without_a_receive(void)
{
	struct scene *sc = ext_scene_v2_bare();
	struct seg seg = ext_seg(sc, OP_SEND_IMM, EXT_IMM, IMM_LEN);

	ext_refuse(sc, &seg, DU_NO_BUFFER);
}

static void v2__on_queue_1(void)
{
	struct scene *sc = ext_scene_v2();
	struct seg seg = ext_seg(sc, OP_SEND_IMM, EXT_IMM, IMM_LEN);

	seg.qn = 1;
	seg.msn = sc->p->tx_msn[1];
	ext_refuse(sc, &seg, RO_OPCODE);
}

/* ---- those that the device sends ---- */

static void device_sends(enum agent_imm_op ag, unsigned int flags, enum rdmap_op op,
			 uint32_t len, size_t imm_len)
{
	static uint8_t data[SCENE_DATA_LEN];
	struct scene *sc = ext_scene_v2_bare();
	struct agent_mr mr = agent_mr(sizeof(data), "l");
	unsigned int n;

	memcpy(data, sc->data, sizeof(data));
	agent_poke(&mr, 0, data, sizeof(data));
	post_imm(sc, ag, flags, len ? &mr : NULL, len, imm_len);
	n = must_get_send_imm(sc->p, op, ag == AG_SEND_INV_IMM ? STAG : 0, data, len,
			      imm_len == 4 ? EXT_IMM_4 : EXT_IMM);
	must(len ? n > 1 : n == 1, "%u segments for %u bytes", n, len);
	ext_must_complete(1, "SEND");
	must_be_alive(sc->p);
}

static void v2__device_sends_imm(void)
{
	device_sends(AG_SEND_IMM, 0, OP_SEND_IMM, 100, 4);
}

static void v2__device_sends_imm_in_segments(void)
{
	device_sends(AG_SEND_IMM, 0, OP_SEND_IMM, SCENE_DATA_LEN, 4);
}

static void v2__device_sends_imm_of_nothing(void)
{
	device_sends(AG_SEND_IMM, 0, OP_SEND_IMM, 0, 4);
}

static void v2__device_sends_imm_solicited(void)
{
	device_sends(AG_SEND_IMM, AG_SOLICITED, OP_SEND_SE_IMM, 100, 4);
}

static void v2__device_sends_all_eight_bytes(void)
{
	device_sends(AG_SEND_IMM, 0, OP_SEND_IMM, 100, 8);
}

static void v2__device_sends_inv_imm(void)
{
	device_sends(AG_SEND_INV_IMM, 0, OP_SEND_INV_IMM, 100, 8);
}

static void v2__device_sends_inv_imm_solicited(void)
{
	device_sends(AG_SEND_INV_IMM, AG_SOLICITED, OP_SEND_SE_INV_IMM, 100, 8);
}

static void v2__local_error(void)
{
	struct scene *sc = ext_scene_v2_bare();
	struct agent_mr mr = agent_mr(100, "l");
	struct agent_wc wc;

	agent_dereg(&mr);
	post_imm(sc, AG_SEND_IMM, 0, &mr, 100, 4);
	must_get_terminate_for(sc->p, TRIPLET(0, 0, 0), NO_TRIPLET, NULL, 0);
	must_close_silently(sc->p);
	agent_must_get_wc(1, "LOC_PROT_ERR", &wc);
}

/* the peer has RFC 7306 alone */
static void v2__not_agreed(void)
{
	struct session s = ext_agree(HELLO_7306);
	const struct agent_imm r = { .op = AG_SEND_IMM, .flags = AG_SIGNALED,
				     .imm = EXT_IMM, .imm_len = 4 };
	struct agent_wc wc;
	struct fpdu f;

	must_be_alive(s.p);
	if (!agent_try_post_imm(s.conn, 1, &r))
		agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
	if (peer_recv_fpdu(s.p, &f, 100))
		must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode of what comes");
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(v2__device_sends_each_message, "V2-002 V2-003 V2-004 V2-009 V2-010 Q38 Q50",
	    "each message of the device has RV 2, and the T bit and queue of its opcode",
	    EITHER),
	ROW(v2__device_takes_each_message, "V2-001 V2-005 V2-007 Q50",
	    "each message of RFC 5040 and 7306 is taken with RV 2", EITHER),
	ROW(v2__reserved_bit_is_ignored, "V2-003 Q43",
	    "the reserved bit is no part of the opcode", RESPONDER),
	ROW(v2__no_opcode_of_version_1, "RDMAP-015 Q43",
	    "at RV 1 the opcode has 4 bits", EITHER),
	ROW(v2__unknown_opcodes, "V2-004 S10",
	    "opcodes that are not assigned are refused", RESPONDER),
	ROW(v2__message_of_version_1, "V2-002 V2-029 Q38 S9",
	    "RV 1 is refused in version 2", EITHER),
	ROW(v2__send_imm_is_delivered, "V2-006 V2-010 V2-013 V2-018",
	    "a Send with Immediate completes a receive with payload and immediate", EITHER),
	ROW(v2__send_imm_in_segments, "V2-006 V2-013 V2-016",
	    "the payload may have many segments", RESPONDER),
	ROW(v2__send_imm_of_nothing, "V2-006 V2-013 V2-019",
	    "a Send with Immediate may have no payload", EITHER),
	ROW(v2__send_imm_of_nothing_needs_no_memory, "V2-006 V2-013 V2-019",
	    "such a one needs a receive, but no memory", RESPONDER),
	ROW(v2__send_imm_without_event, "V2-013",
	    "without SE it does not wake for solicited completions", RESPONDER),
	ROW(v2__send_imm_with_event, "V2-006 V2-013",
	    "with SE it wakes for solicited completions", RESPONDER),
	ROW(v2__send_inv_imm, "V2-006 V2-008 V2-018 Q52",
	    "a Send with Invalidate and Immediate does both", EITHER),
	ROW(v2__send_se_inv_imm, "V2-006 V2-008 V2-018 Q52",
	    "so does the one with Solicited Event", RESPONDER),
	ROW(v2__stag_that_cannot_be_invalidated, "V2-014 V2-029 Q14 S18",
	    "an STag that cannot be invalidated is refused", RESPONDER),
	ROW(v2__in_order_with_sends, "V2-015",
	    "Sends with Immediate take receives in order with Sends", EITHER),
	ROW(v2__after_a_write, "V2-015 V2-033",
	    "the Writes before it are in memory when it completes", EITHER),
	ROW(v2__last_of_7_bytes, "V2-014 V2-017 V2-029 Q48 S16",
	    "an immediate of 7 bytes is refused", EITHER),
	ROW(v2__last_of_9_bytes, "V2-014 V2-017 V2-029 Q48 S16",
	    "an immediate of 9 bytes is refused", RESPONDER),
	ROW(v2__last_is_empty, "V2-014 V2-016 V2-029 Q48 S16",
	    "a last segment without the immediate is refused", RESPONDER),
	ROW(v2__last_has_payload_too, "V2-014 V2-017 V2-029 Q48 S16",
	    "payload in the last segment is refused", RESPONDER),
	ROW(v2__last_at_another_mo, "V2-014 V2-029 Q48 S7",
	    "the MO of the immediate is the length of the payload", RESPONDER),
	ROW(v2__payload_is_too_long, "V2-014 V2-029 S8",
	    "payload that the receive has no room for is refused", RESPONDER),
	ROW(v2__payload_fills_the_receive, "V2-013 V2-018",
	    "the immediate takes no room of the receive", RESPONDER),
	ROW(v2__without_a_receive, "V2-014 V2-029 Q29 S6",
	    "a Send with Immediate without a receive is refused", RESPONDER),
	ROW(v2__on_queue_1, "V2-004 V2-014 V2-029 S10",
	    "a Send with Immediate is taken on queue 0 only", RESPONDER),
	ROW(v2__device_sends_imm, "V2-006 V2-010 V2-012 V2-016 V2-017 Q46 Q48",
	    "L is set only in the segment of the immediate, which holds nothing else",
	    EITHER),
	ROW(v2__device_sends_imm_in_segments, "V2-016 V2-017",
	    "so it is when the payload has many segments", RESPONDER),
	ROW(v2__device_sends_imm_of_nothing, "V2-019",
	    "without payload there is one segment", EITHER),
	ROW(v2__device_sends_imm_solicited, "V2-004 V2-006",
	    "a solicited one has an opcode of its own", RESPONDER),
	ROW(v2__device_sends_all_eight_bytes, "V2-012",
	    "all 8 bytes can be chosen", EITHER),
	ROW(v2__device_sends_inv_imm, "V2-004 V2-006 V2-008",
	    "its STag is in bytes 2 to 5", EITHER),
	ROW(v2__device_sends_inv_imm_solicited, "V2-004 V2-006 V2-008",
	    "a solicited one has an opcode of its own", RESPONDER),
	ROW(v2__local_error, "V2-028 Q32",
	    "an error while it is built is a Terminate without copies", EITHER),
	ROW(v2__not_agreed, "Q40 EXT-002",
	    "without version 2 no Send with Immediate leaves", EITHER),
	{}
};

const struct conform_group v2_group = { "v2", tests };
