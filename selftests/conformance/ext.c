// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Connections with the extensions, and what their tests share: see ext.h. */
#include <stdio.h>
#include <string.h>

#include "ext.h"
#include "terminate.h"

/* enum ibv_wc_flags */
#define WC_WITH_IMM	2

static uint8_t ulpdu_buf[UNTAGGED_HDR + SCENE_DATA_LEN];

/* ---- connections ---- */

void ext_set(const char *mode)
{
	char words[64];

	snprintf(words, sizeof(words), "extensions %s features 7306,v2", mode);
	agent_set(words);
}

struct scene *ext_scene_bare(const char *mode)
{
	ext_set(mode);
	return scene_start_bare();
}

struct scene *ext_scene(const char *mode)
{
	ext_set(mode);
	return scene_start();
}

static void make_offer(struct session *s, uint16_t features)
{
	send_hello(s->p, 1, HELLO_OFFER, features);
	must_get_hello(s->p, HELLO_ANSWER, features);
	if (!(features & HELLO_V2))
		return;
	s->p->rx_v2 = true;
	send_hello(s->p, 1, HELLO_GO, features);
	s->p->tx_v2 = true;
}

static void answer_offer(struct session *s, uint16_t features)
{
	must_eq(s->offer.role, HELLO_OFFER, "role of the device's hello");
	send_hello(s->p, 1, HELLO_ANSWER, features);
	if (!(features & HELLO_V2))
		return;
	s->p->tx_v2 = true;
	must_get_hello(s->p, HELLO_GO, features);
	s->p->rx_v2 = true;
}

void ext_hello(struct session *s, uint16_t features)
{
	if (dut_role() == RESPONDER)
		make_offer(s, features);
	else
		answer_offer(s, features);
}

struct session ext_agree(uint16_t features)
{
	struct session s = SESSION_DEFAULT;

	ext_set("negotiate");
	s.closed_fence = true;
	session_start(&s);
	ext_hello(&s, features);
	return s;
}

struct scene *ext_scene_v2_bare(void)
{
	struct session s = ext_agree(HELLO_7306 | HELLO_V2);

	return scene_start_on(&s);
}

struct scene *ext_scene_v2(void)
{
	struct scene *sc = ext_scene_v2_bare();

	scene_post_recv(sc, SCENE_RECV_LEN);
	return sc;
}

/* ---- segments ---- */

struct seg ext_seg(struct scene *sc, enum rdmap_op op, const void *body, uint32_t len)
{
	struct peer copy = *sc->p;
	struct seg seg;

	/* a copy, so that no MSN goes up */
	seg_decode(&seg, ulpdu_buf, seg_untagged(&copy, op, 0, body, len, true, ulpdu_buf));
	seg.data = body;
	return seg;
}

void ext_refuse_bytes(struct scene *sc, const void *ulpdu, uint32_t len, int verdict)
{
	peer_send_fpdu(sc->p, ulpdu, len);
	must_get_terminate_for(sc->p, verdict, VERDICT_NONE, ulpdu, len);
	must_close_silently(sc->p);
	peer_close(sc->p);
	scene_must_flush(sc, verdict);
}

void ext_refuse(struct scene *sc, const struct seg *seg, int verdict)
{
	ext_refuse_bytes(sc, ulpdu_buf, seg_encode(seg, ulpdu_buf), verdict);
	must_be_untouched(&sc->sink);
	must_be_untouched(&sc->recv);
}

void ext_deny(struct scene *sc, const void *hdr, uint32_t len)
{
	uint8_t body[6 + UNTAGGED_HDR], out[128];

	/* layer 0, type 1, code 2, with M and D */
	put32(body, 0x0102c000);
	put16(body + 4, len);
	memcpy(body + 6, hdr, UNTAGGED_HDR);
	peer_send_fpdu(sc->p, out, seg_untagged(sc->p, OP_TERMINATE, 0, body, sizeof(body),
						true, out));
}

/* ---- completions ---- */

uint32_t ext_must_receive_imm(uint64_t wr_id, const char *opcode, uint32_t len)
{
	struct agent_wc wc;

	agent_must_get_wc(wr_id, "SUCCESS", &wc);
	must(!strcmp(wc.opcode, opcode), "completion of %s, not %s", wc.opcode, opcode);
	must_eq(wc.byte_len, len, "byte_len");
	must(wc.wc_flags & WC_WITH_IMM, "the flags are %#x: no immediate", wc.wc_flags);
	must(wc.imm_len, "the agent knows no immediate");
	must_bytes(wc.imm, EXT_IMM, wc.imm_len, "the immediate");
	return wc.wc_flags;
}

void ext_must_complete(uint64_t wr_id, const char *opcode)
{
	struct agent_wc wc;

	agent_must_get_wc(wr_id, "SUCCESS", &wc);
	must(!strcmp(wc.opcode, opcode), "completion of %s, not %s", wc.opcode, opcode);
}

void ext_must_know(const struct meeting *m, const char *want)
{
	char value[64];

	must(agent_state(m->p->port, "extensions", value, sizeof(value)),
	     "the device knows nothing of extensions");
	must(!strcmp(value, want), "extensions are %s, not %s", value, want);
}
