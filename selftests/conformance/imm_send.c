// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * RDMA Writes with Immediate that the device sends: a Write, then Immediate Data (RFC
 * 7306 6). The device assumes that its peer takes them, so no hello is said.
 */
#include <string.h>

#include "ext.h"
#include "terminate.h"

#define STAG	0x13579bdf
#define TO	0x1020304050607081ull
#define BIG	20000

static struct agent_mr source(struct scene *sc, size_t len)
{
	struct agent_mr mr = agent_mr(len, "l");

	agent_poke(&mr, 0, sc->data, len < sizeof(sc->data) ? len : sizeof(sc->data));
	return mr;
}

static void post(struct scene *sc, uint64_t wr_id, unsigned int flags,
		 const struct agent_mr *mr, size_t len, const void *imm, size_t imm_len)
{
	const struct agent_imm r = {
		.op = AG_WRITE_IMM, .flags = AG_SIGNALED | flags, .mr = mr, .len = len,
		.rkey = STAG, .raddr = TO, .imm = imm, .imm_len = imm_len,
	};

	agent_post_imm(sc->s.conn, wr_id, &r);
}

/* the Write of @len bytes comes, whole; Return: its segments */
static unsigned int must_get_write(struct peer *p, uint32_t len)
{
	unsigned int segments = 0;
	uint32_t done = 0;
	struct fpdu f;

	do {
		must_get_op(p, &f, OP_WRITE);
		must_eq(f.seg.stag, STAG, "STag");
		must_eq(f.seg.to, TO + done, "TO");
		done += f.seg.len;
		segments++;
	} while (!seg_last(&f.seg));
	must_eq(done, len, "length of the Write");
	return segments;
}

static void imm_send__write_then_immediate(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = source(sc, 100);

	post(sc, 1, 0, &mr, 100, EXT_IMM, 4);
	must_get_write(sc->p, 100);
	must_get_imm(sc->p, OP_IMM, EXT_IMM_4);
	ext_must_complete(1, "RDMA_WRITE");
	agent_must_get_no_wc(20);
}

static void imm_send__write_in_segments(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = source(sc, BIG);

	post(sc, 1, 0, &mr, BIG, EXT_IMM, 4);
	must(must_get_write(sc->p, BIG) > 1, "the Write has one segment");
	must_get_imm(sc->p, OP_IMM, EXT_IMM_4);
	ext_must_complete(1, "RDMA_WRITE");
	agent_must_get_no_wc(20);
}

static void imm_send__solicited(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = source(sc, 100);

	post(sc, 1, AG_SOLICITED, &mr, 100, EXT_IMM, 4);
	must_get_write(sc->p, 100);
	must_get_imm(sc->p, OP_IMM_SE, EXT_IMM_4);
}

static void imm_send__of_nothing(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");

	post(sc, 1, 0, NULL, 0, EXT_IMM, 4);
	must_get_imm(sc->p, OP_IMM, EXT_IMM_4);
	ext_must_complete(1, "RDMA_WRITE");
	must_be_alive(sc->p);
}

static void imm_send__all_eight_bytes(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = source(sc, 100);

	post(sc, 1, 0, &mr, 100, EXT_IMM, 8);
	must_get_write(sc->p, 100);
	must_get_imm(sc->p, OP_IMM, EXT_IMM);
	ext_must_complete(1, "RDMA_WRITE");
}

static void imm_send__inline(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = source(sc, 32);

	post(sc, 1, AG_INLINE, &mr, 32, EXT_IMM, 4);
	must_get_write(sc->p, 32);
	must_get_imm(sc->p, OP_IMM, EXT_IMM_4);
}

static void imm_send__in_order_with_sends(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = source(sc, 100);
	struct fpdu f;
	int i;

	for (i = 0; i < 2; i++) {
		agent_post(sc->s.conn, 2 * i, AG_SEND, AG_SIGNALED, &mr, 0, 10, 0, 0);
		post(sc, 2 * i + 1, 0, &mr, 20, EXT_IMM, 4);
	}
	/* their MSNs are those of one queue: must_get_op() checks them */
	for (i = 0; i < 2; i++) {
		must_get_op(sc->p, &f, OP_SEND);
		must_get_write(sc->p, 20);
		must_get_imm(sc->p, OP_IMM, EXT_IMM_4);
	}
	for (i = 0; i < 2; i++) {
		ext_must_complete(2 * i, "SEND");
		ext_must_complete(2 * i + 1, "RDMA_WRITE");
	}
}

static void imm_send__fenced(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(100, "lw");
	struct open_read r;

	agent_post(sc->s.conn, 1, AG_READ, AG_SIGNALED, &mr, 0, 8, STAG, TO);
	post(sc, 2, AG_FENCE, NULL, 0, EXT_IMM, 4);
	r = must_get_read_request(sc->p);
	must_be_silent(sc->p, 100);
	send_read_resp(sc->p, r.stag, r.to, sc->data, 8);
	must_get_imm(sc->p, OP_IMM, EXT_IMM_4);
	ext_must_complete(1, "RDMA_READ");
	ext_must_complete(2, "RDMA_WRITE");
}

/* its memory is gone when the device builds the Write */
static void imm_send__local_error(void)
{
	struct scene *sc = ext_scene_bare("assume-7306");
	struct agent_mr mr = agent_mr(100, "l");
	struct agent_wc wc;

	agent_dereg(&mr);
	post(sc, 1, 0, &mr, 100, EXT_IMM, 4);
	must_get_terminate_for(sc->p, TRIPLET(0, 0, 0), NO_TRIPLET, NULL, 0);
	must_close_silently(sc->p);
	agent_must_get_wc(1, "LOC_PROT_ERR", &wc);
}

/* the post is refused, or the request fails; nothing of it leaves */
static void imm_send__off(void)
{
	struct scene *sc = ext_scene_bare("off");
	struct agent_mr mr = source(sc, 100);
	const struct agent_imm r = {
		.op = AG_WRITE_IMM, .flags = AG_SIGNALED, .mr = &mr, .len = 100,
		.rkey = STAG, .raddr = TO, .imm = EXT_IMM, .imm_len = 4,
	};
	struct agent_wc wc;
	struct fpdu f;

	if (!agent_try_post_imm(sc->s.conn, 1, &r))
		agent_must_get_wc(1, "LOC_QP_OP_ERR", &wc);
	if (peer_recv_fpdu(sc->p, &f, 100))
		must_eq(seg_op(&f.seg), OP_TERMINATE, "opcode of what comes");
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(imm_send__write_then_immediate,
	    "EXT-005 EXT-006 EXT-007 EXT-008 EXT-059 EXT-063 EXT-064 EXT-067 EXT-068 "
	    "EXT-071 Q46",
	    "a Write with Immediate is a Write, then Immediate Data, and completes once",
	    EITHER),
	ROW(imm_send__write_in_segments, "EXT-059 EXT-069",
	    "the Immediate Data come after the last segment of the Write", RESPONDER),
	ROW(imm_send__solicited, "EXT-005 EXT-059",
	    "a solicited one sends Immediate Data with SE", EITHER),
	ROW(imm_send__of_nothing, "EXT-060 EXT-068",
	    "a Write of nothing with Immediate is Immediate Data alone", EITHER),
	ROW(imm_send__all_eight_bytes, "EXT-063 EXT-068 Q46",
	    "all 8 bytes can be chosen", EITHER),
	ROW(imm_send__inline, "EXT-059",
	    "the Write's payload may be inline", RESPONDER),
	ROW(imm_send__in_order_with_sends, "EXT-069 EXT-071",
	    "Sends and Immediate Data leave in the order of the program", EITHER),
	ROW(imm_send__fenced, "EXT-071",
	    "a fenced one waits for the Read before it", RESPONDER),
	ROW(imm_send__local_error, "EXT-072 V2-028 Q32",
	    "an error while it is built is a Terminate without copies", EITHER),
	ROW(imm_send__off, "EXT-002 EXT-004",
	    "a device without the extensions sends none of it", EITHER),
	{}
};

const struct conform_group imm_send_group = { "imm_send", tests };
