/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Connections whose device has the extensions: switched on by its settings, or agreed on
 * by hello (Q35 to Q41). Devices without such settings skip these tests.
 */
#ifndef EXT_H
#define EXT_H

#include "agent_request.h"
#include "meet.h"
#include "peer_ext.h"
#include "scene.h"

/* the 8 bytes of immediate data that tests send, and what verbs send of them */
#define EXT_IMM		"\x11\x22\x33\x44\x55\x66\x77\x88"
#define EXT_IMM_4	"\x11\x22\x33\x44\0\0\0\0"

/* Set the device, for connections to come: "off", "negotiate" or "assume-7306". It has
 * the features RFC 7306 and version 2. */
void ext_set(const char *mode);

/* a scene of such a connection, without a hello of ours; _bare: without the receive */
struct scene *ext_scene(const char *mode);
struct scene *ext_scene_bare(const char *mode);

/* a session that agreed by hello on @features, and is in version 2 if they say so */
struct session ext_agree(uint16_t features);
/* a scene of a session in version 2 */
struct scene *ext_scene_v2(void);
struct scene *ext_scene_v2_bare(void);

/* On a session with closed_fence: answer the device's offer, or make one and get the
 * answer. Both directions are in version 2 then if @features have it. */
void ext_hello(struct session *s, uint16_t features);

/* Send @seg; the device refuses it with @verdict and a Terminate that has the segment's
 * length and DDP header and nothing else; what was posted is flushed, no memory
 * changes. */
void ext_refuse(struct scene *sc, const struct seg *seg, int verdict);
/* the same for bytes, when memory may have changed */
void ext_refuse_bytes(struct scene *sc, const void *ulpdu, uint32_t len, int verdict);

/* Terminate: the device's request of @len bytes with this DDP header has no right to what
 * it names. */
void ext_deny(struct scene *sc, const void *hdr, uint32_t len);

/* an untagged segment of @op with @body, which a test may change before it sends it; it
 * advances no MSN */
struct seg ext_seg(struct scene *sc, enum rdmap_op op, const void *body, uint32_t len);

/* the next completion is the receive @wr_id with @opcode, @len bytes and the immediate
 * EXT_IMM; Return: its wc_flags */
uint32_t ext_must_receive_imm(uint64_t wr_id, const char *opcode, uint32_t len);
/* the next completion is @wr_id, of @opcode, and good */
void ext_must_complete(uint64_t wr_id, const char *opcode);

/* the state of "extensions", as the hook prints it, is @want */
void ext_must_know(const struct meeting *m, const char *want);

#endif /* EXT_H */
