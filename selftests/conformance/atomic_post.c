// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Atomic Requests that the device sends, and what it makes of the Responses: RFC 7306
 * 5.2. The device assumes that its peer serves them, so no hello is said.
 */
#include <string.h>

#include "ext.h"
#include "terminate.h"

#define ONES	UINT64_MAX
#define STAG	0x13579bdf
#define TO	0x1020304050607080ull
#define OLD	0x0102030405060708ull
#define READ_LEN	8

static const struct atomic_req an_add = {
	.op = FETCH_ADD, .stag = STAG, .to = TO, .data = 0x1122334455667788,
	.compare_mask = ONES,
};

static const struct atomic_req a_swap = {
	.op = CMP_SWAP, .stag = STAG, .to = TO, .data = 0x1122334455667788, .mask = ONES,
	.compare = 0x99aabbccddeeff00, .compare_mask = ONES,
};

/* the device posts @a as @wr_id, with its result in the first word of @mr */
static void post(struct scene *sc, uint64_t wr_id, const struct agent_mr *mr,
		 const struct atomic_req *a, bool masked)
{
	agent_post_atomic(sc->s.conn, wr_id, AG_SIGNALED, mr, 0, a, masked);
}

static void must_be_request(const struct atomic_req *got, const struct atomic_req *want)
{
	must_eq(got->op, want->op, "the first word");
	must_eq(got->stag, want->stag, "Remote STag");
	must_eq(got->to, want->to, "Remote TO");
	must_eq(got->data, want->data, "Add or Swap Data");
	must_eq(got->mask, want->mask, "Add or Swap Mask");
	must_eq(got->compare, want->compare, "Compare Data");
	must_eq(got->compare_mask, want->compare_mask, "Compare Mask");
}

/* a whole operation: the Request has these fields, the old value arrives */
static void whole(const struct atomic_req *a, bool masked, const char *opcode)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(64, "l");
	struct atomic_req got;
	struct agent_wc wc;

	post(sc, 1, &mr, a, masked);
	must_get_atomic(sc->p, &got);
	must_be_request(&got, a);
	agent_must_get_no_wc(50);
	send_atomic_resp(sc->p, got.id, OLD);
	agent_must_get_wc(1, "SUCCESS", &wc);
	must(!strcmp(wc.opcode, opcode), "completion of %s, not %s", wc.opcode, opcode);
	must_eq(wc.byte_len, 8, "byte_len");
	must_eq(agent_peek64(&mr, 0), OLD, "the result");
	must_eq(agent_peek64(&mr, 8), 0xa5a5a5a5a5a5a5a5, "what follows the result");
}

static void atomic_post__fetch_add(void)
{
	whole(&an_add, false, "FETCH_ADD");
}

static void atomic_post__cmp_swap(void)
{
	whole(&a_swap, false, "COMP_SWAP");
}

static void atomic_post__masked_add(void)
{
	struct atomic_req a = an_add;

	a.mask = 0x8000000080000000;
	whole(&a, true, "FETCH_ADD");
}

static void atomic_post__masked_swap(void)
{
	struct atomic_req a = a_swap;

	a.mask = 0x00ff00ff00ff00ff;
	a.compare_mask = 0xff00ff00ff00ff00;
	whole(&a, true, "COMP_SWAP");
}

/* refused when it is posted, or fails; no Request leaves */
static void unaligned(const struct atomic_req *like)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(64, "l");
	struct atomic_req a = *like;
	struct agent_wc wc;
	struct fpdu f;

	a.to += 4;
	if (!agent_try_post_atomic(sc->s.conn, 1, AG_SIGNALED, &mr, 0, &a, false)) {
		must(agent_poll(&wc, patience(1000)), "no completion");
		must(strcmp(wc.status, "SUCCESS"), "it succeeded");
	}
	if (peer_recv_fpdu(sc->p, &f, 100))
		must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode of what comes");
}

static void atomic_post__unaligned_add(void)
{
	unaligned(&an_add);
}

static void atomic_post__unaligned_swap(void)
{
	unaligned(&a_swap);
}

static void atomic_post__off(void)
{
	struct scene *sc = ext_scene_bare("off");
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;
	struct fpdu f;

	if (!agent_try_post_atomic(sc->s.conn, 1, AG_SIGNALED, &mr, 0, &an_add, false))
		agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
	if (peer_recv_fpdu(sc->p, &f, 100))
		must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode of what comes");
}

static void atomic_post__local_error(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;

	agent_dereg(&mr);
	post(sc, 1, &mr, &an_add, false);
	must_get_terminate_for(sc->p, TRIPLET(0, 0, 0), NO_TRIPLET, NULL, 0);
	must_close_silently(sc->p);
	agent_must_get_wc(1, "LOC_PROT_ERR", &wc);
}

/* ---- several ---- */

/* a Read, an atomic, a Read: one sequence of MSNs, which must_get_op() checks */
static void atomic_post__in_order_with_reads(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(64, "lw");
	struct open_read r[2];
	struct atomic_req got;

	agent_post(sc->s.conn, 1, AG_READ, AG_SIGNALED, &mr, 8, READ_LEN, STAG, TO);
	post(sc, 2, &mr, &an_add, false);
	agent_post(sc->s.conn, 3, AG_READ, AG_SIGNALED, &mr, 16, READ_LEN, STAG, TO);
	r[0] = must_get_read_request(sc->p);
	must_get_atomic(sc->p, &got);
	r[1] = must_get_read_request(sc->p);
	send_read_resp(sc->p, r[0].stag, r[0].to, sc->data, READ_LEN);
	send_atomic_resp(sc->p, got.id, OLD);
	send_read_resp(sc->p, r[1].stag, r[1].to, sc->data, READ_LEN);
	ext_must_complete(1, "RDMA_READ");
	ext_must_complete(2, "FETCH_ADD");
	ext_must_complete(3, "RDMA_READ");
}

/* our IRD, the device's ORD, is 2 */
static void atomic_post__not_more_than_ord(void)
{
	struct session s = SESSION_DEFAULT;
	struct atomic_req got[3];
	struct agent_mr mr;
	struct scene *sc;
	int i;

	ext_set("assume-7306");
	s.qp.ord = 2;
	session_start(&s);
	sc = scene_start_on(&s);
	mr = agent_mr(64, "l");
	for (i = 0; i < 3; i++)
		post(sc, i, &mr, &an_add, false);
	must_get_atomic(sc->p, &got[0]);
	must_get_atomic(sc->p, &got[1]);
	must_be_silent(sc->p, 100);
	send_atomic_resp(sc->p, got[0].id, OLD);
	must_get_atomic(sc->p, &got[2]);
	send_atomic_resp(sc->p, got[1].id, OLD);
	send_atomic_resp(sc->p, got[2].id, OLD);
	for (i = 0; i < 3; i++)
		ext_must_complete(i, "FETCH_ADD");
}

static void atomic_post__fence(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(64, "l");
	struct atomic_req got;
	struct fpdu f;

	post(sc, 1, &mr, &an_add, false);
	agent_post(sc->s.conn, 2, AG_SEND, AG_SIGNALED | AG_FENCE, &mr, 0, 8, 0, 0);
	must_get_atomic(sc->p, &got);
	must_be_silent(sc->p, 100);
	send_atomic_resp(sc->p, got.id, OLD);
	must_get_op(sc->p, &f, OP_SEND);
	ext_must_complete(1, "FETCH_ADD");
	ext_must_complete(2, "SEND");
}

/* a Send after an atomic leaves before the Response, and completes after it */
static void atomic_post__completes_in_order(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(64, "l");
	struct atomic_req got;
	struct fpdu f;

	post(sc, 1, &mr, &an_add, false);
	agent_post(sc->s.conn, 2, AG_SEND, AG_SIGNALED, &mr, 0, 8, 0, 0);
	must_get_atomic(sc->p, &got);
	must_get_op(sc->p, &f, OP_SEND);
	agent_must_get_no_wc(50);
	send_atomic_resp(sc->p, got.id, OLD);
	ext_must_complete(1, "FETCH_ADD");
	ext_must_complete(2, "SEND");
}

/* ---- Responses that are refused ---- */

static struct agent_mr result;

/* the device has posted an atomic, as request 1, whose Request is in @got */
static struct scene *open_atomic(struct atomic_req *got)
{
	struct scene *sc = ext_scene_bare("assume-7306");

	result = agent_mr(64, "lw");
	post(sc, 1, &result, &an_add, false);
	must_get_atomic(sc->p, got);
	sc->posted++;
	return sc;
}

/* a good Response, which a test may change */
static struct seg response(struct scene *sc, const struct atomic_req *got)
{
	static uint8_t body[ATOMIC_RESP_LEN + 1];

	put32(body, got->id);
	put64(body + 4, OLD);
	return ext_seg(sc, OP_ATOMIC_RESP, body, ATOMIC_RESP_LEN);
}

static void refuse_response(struct scene *sc, const struct seg *seg, int verdict)
{
	ext_refuse(sc, seg, verdict);
	must_be_untouched(&result);
}

static void atomic_post__response_of_another_msn(void)
{
	struct atomic_req got;
	struct scene *sc = open_atomic(&got);
	struct seg seg = response(sc, &got);

	seg.msn++;
	refuse_response(sc, &seg, DU_MSN);
}

static void atomic_post__response_with_another_id(void)
{
	struct atomic_req got;
	struct scene *sc = open_atomic(&got);
	struct seg seg;

	got.id ^= 1;
	seg = response(sc, &got);
	refuse_response(sc, &seg, RO_STREAM);
}

static void atomic_post__response_too_short(void)
{
	struct atomic_req got;
	struct scene *sc = open_atomic(&got);
	struct seg seg = response(sc, &got);

	seg.len--;
	refuse_response(sc, &seg, RO_STREAM);
}

static void atomic_post__response_too_long(void)
{
	struct atomic_req got;
	struct scene *sc = open_atomic(&got);
	struct seg seg = response(sc, &got);

	seg.len++;
	refuse_response(sc, &seg, DU_TOO_LONG);
}

static void atomic_post__response_on_queue_1(void)
{
	struct atomic_req got;
	struct scene *sc = open_atomic(&got);
	struct seg seg = response(sc, &got);

	seg.qn = 1;
	seg.msn = sc->p->tx_msn[1];
	refuse_response(sc, &seg, RO_OPCODE);
}

static void atomic_post__response_to_nothing(void)
{
	struct scene *sc = ext_scene("assume-7306");
	struct atomic_req none = { .id = 0 };
	struct seg seg = response(sc, &none);

	ext_refuse(sc, &seg, DU_NO_BUFFER);
}

static void atomic_post__second_response(void)
{
	struct atomic_req got;
	struct scene *sc = open_atomic(&got);
	struct seg seg;

	send_atomic_resp(sc->p, got.id, OLD);
	ext_must_complete(1, "FETCH_ADD");
	sc->posted = 0;
	seg = response(sc, &got);
	ext_refuse(sc, &seg, DU_NO_BUFFER);
}

/* the Response to the Read after it comes first */
static void atomic_post__response_of_the_next_read(void)
{
	struct atomic_req got;
	struct scene *sc = open_atomic(&got);
	uint8_t ulpdu[128];
	struct open_read r;
	uint32_t len;

	agent_post(sc->s.conn, 2, AG_READ, AG_SIGNALED, &result, 8, READ_LEN, STAG, TO);
	sc->posted++;
	r = must_get_read_request(sc->p);
	len = seg_read_resp(sc->p, r.stag, r.to, sc->data, READ_LEN, true, ulpdu);
	ext_refuse_bytes(sc, ulpdu, len, RO_OPCODE);
	must_be_untouched(&result);
}

/* ---- Terminates that the device gets ---- */

static void atomic_post__refused_by_the_peer(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(64, "l");
	struct agent_wc wc;
	struct fpdu f;

	post(sc, 1, &mr, &an_add, false);
	must_get_op(sc->p, &f, OP_ATOMIC_REQ);
	must_eq(f.seg.ulpdu_len, ATOMIC_REQ_LEN + UNTAGGED_HDR, "length of the Request");
	ext_deny(sc, f.seg.ulpdu, f.seg.ulpdu_len);
	agent_must_get_wc(1, "REM_ACCESS_ERR", &wc);
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(atomic_post__fetch_add,
	    "EXT-005 EXT-006 EXT-007 EXT-008 EXT-014 EXT-019 EXT-025 EXT-027 EXT-031 "
	    "EXT-032 EXT-037 EXT-045 EXT-056",
	    "a FetchAdd is one Request of exact form, and completes with its Response",
	    EITHER),
	ROW(atomic_post__cmp_swap, "EXT-014 EXT-020 EXT-027 EXT-032 EXT-037 EXT-045 EXT-056",
	    "a CmpSwap of plain verbs has masks of ones", EITHER),
	ROW(atomic_post__masked_add, "EXT-018 EXT-031",
	    "the mask of a FetchAdd is sent", RESPONDER),
	ROW(atomic_post__masked_swap, "EXT-020",
	    "the masks of a CmpSwap are sent", RESPONDER),
	ROW(atomic_post__unaligned_add, "EXT-015 EXT-030",
	    "a FetchAdd that is not at a multiple of 8 is not sent", RESPONDER),
	ROW(atomic_post__unaligned_swap, "EXT-022 EXT-030",
	    "a CmpSwap that is not at a multiple of 8 is not sent", RESPONDER),
	ROW(atomic_post__off, "EXT-002 EXT-004",
	    "a device without the extensions sends no Atomic Request", EITHER),
	ROW(atomic_post__local_error, "EXT-072 Q32",
	    "an error while a Request is built is a Terminate without copies", RESPONDER),
	ROW(atomic_post__in_order_with_reads, "EXT-014 EXT-025 EXT-038 EXT-058",
	    "Reads and Atomics leave in order, with one sequence of MSNs", EITHER),
	ROW(atomic_post__not_more_than_ord, "EXT-025 EXT-044 Q44",
	    "as many Atomics as ORD are under way at once", EITHER),
	ROW(atomic_post__fence, "EXT-045 EXT-056",
	    "a fenced request waits for the Response to an atomic", RESPONDER),
	ROW(atomic_post__completes_in_order, "EXT-056",
	    "a later Send completes after the atomic", RESPONDER),
	ROW(atomic_post__response_of_another_msn, "EXT-046 EXT-073 EXT-074 S5",
	    "a Response of another MSN is refused", EITHER),
	ROW(atomic_post__response_with_another_id, "EXT-046 EXT-073 Q49",
	    "a Response with another identifier is refused", RESPONDER),
	ROW(atomic_post__response_too_short, "EXT-046 EXT-073 Q48 S16",
	    "a Response of 11 bytes is refused", RESPONDER),
	ROW(atomic_post__response_too_long, "EXT-046 EXT-073 Q48 S8",
	    "a Response of 13 bytes is refused", RESPONDER),
	ROW(atomic_post__response_on_queue_1, "EXT-046 EXT-042 EXT-075 S10",
	    "a Response is taken on queue 3 only", RESPONDER),
	ROW(atomic_post__response_to_nothing, "EXT-046 EXT-073 Q49 S6",
	    "a Response without a Request is refused", EITHER),
	ROW(atomic_post__second_response, "EXT-041 EXT-046 Q49 S6",
	    "a Request has one Response", RESPONDER),
	ROW(atomic_post__response_of_the_next_read, "EXT-046 EXT-047 EXT-058 Q49 Q11",
	    "a Read Response where an Atomic Response is due is refused", RESPONDER),
	ROW(atomic_post__refused_by_the_peer, "EXT-003 Q12",
	    "an atomic that the peer refused fails with the reason", EITHER),
	{}
};

const struct conform_group atomic_post_group = { "atomic_post", tests };
