/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * What the tests of received segments share: a connection, memory that the peer may
 * write, a posted receive; good segments that a test can change; and the check of how
 * a bad one is refused.
 */
#ifndef SCENE_H
#define SCENE_H

#include "session.h"

/* a Terminate triplet as a number; VERDICT_NONE: there is no second choice */
#define VERDICT(layer, etype, code)	((layer) << 12 | (etype) << 8 | (code))
#define VERDICT_NONE			(-1)

enum verdict {
	RP_INV_STAG = VERDICT(0, 1, 0x00),
	RP_BOUNDS = VERDICT(0, 1, 0x01),
	RP_ACCESS = VERDICT(0, 1, 0x02),
	RP_NOT_ASSOC = VERDICT(0, 1, 0x03),
	RP_WRAP = VERDICT(0, 1, 0x04),
	RP_CANT_INV = VERDICT(0, 1, 0x09),
	RO_VERSION = VERDICT(0, 2, 0x05),
	RO_OPCODE = VERDICT(0, 2, 0x06),
	RO_STREAM = VERDICT(0, 2, 0x07),
	RO_CANT_INV = VERDICT(0, 2, 0x09),
	DT_INV_STAG = VERDICT(1, 1, 0x00),
	DT_BOUNDS = VERDICT(1, 1, 0x01),
	DT_NOT_ASSOC = VERDICT(1, 1, 0x02),
	DT_WRAP = VERDICT(1, 1, 0x03),
	DT_VERSION = VERDICT(1, 1, 0x04),
	DU_QN = VERDICT(1, 2, 0x01),
	DU_NO_BUFFER = VERDICT(1, 2, 0x02),
	DU_MSN = VERDICT(1, 2, 0x03),
	DU_MO = VERDICT(1, 2, 0x04),
	DU_TOO_LONG = VERDICT(1, 2, 0x05),
	DU_VERSION = VERDICT(1, 2, 0x06),
	MPA_CRC_ERROR = VERDICT(2, 0, 0x02),
};

#define SCENE_RECV_ID	1
/* not a multiple of a page, so the byte after the end is mapped memory, too */
#define SCENE_SINK_LEN	3000
#define SCENE_RECV_LEN	1000
#define SCENE_DATA_LEN	4096
#define READ_BODY_LEN	28

/**
 * struct scene - see scene_start()
 * @s: its connection
 * @p: @s.p
 * @sink: memory with local write, remote read and remote write rights
 * @recv: memory of the posted receive, SCENE_RECV_ID
 * @posted: number of work requests that the end of the connection must flush
 * @data: bytes to send, pattern 1
 * @body: body of the Read Request of scene_read()
 */
struct scene {
	struct session s;
	struct peer *p;
	struct agent_mr sink;
	struct agent_mr recv;
	int posted;
	uint8_t data[SCENE_DATA_LEN];
	uint8_t body[READ_BODY_LEN];
};

/* the usual session, with the receive posted */
struct scene *scene_start(void);
/* the usual session without the receive */
struct scene *scene_start_bare(void);
/* on a given session, without the receive */
struct scene *scene_start_on(const struct session *s);
/* post the receive with the first @len bytes of its memory */
void scene_post_recv(struct scene *sc, size_t len);

/* Good segments of one message each, which a test may change before it sends them.
 * They do not advance an MSN. */
struct seg scene_send(struct scene *sc, uint32_t len);
struct seg scene_write(struct scene *sc, uint32_t at, uint32_t len);
/* ... of @len bytes at @at of the sink; a test may change the body in @sc->body */
struct seg scene_read(struct scene *sc, uint32_t at, uint32_t len);
/* change the opcode only */
void seg_set_op(struct seg *seg, int op);

/* send @seg as one good FPDU; its L bit advances the MSN of QN 0 to 3 */
void scene_put(struct scene *sc, const struct seg *seg);

/*
 * Send @seg and a good Write in the same TCP segment, and leave the test unless the
 * device refuses @seg with @verdict: it sends a Terminate, whose copies, if any, are
 * of @seg, then closes; no memory changes; what was posted is flushed and nothing else
 * completes.
 */
void scene_refuse(struct scene *sc, const struct seg *seg, int verdict);
/* the same with one of two triplets */
void scene_refuse_either(struct scene *sc, const struct seg *seg, int verdict,
			 int other);
/* the same when earlier segments were placed: the receive's memory is not checked */
void scene_refuse_placed(struct scene *sc, const struct seg *seg, int verdict);
/* the same for bytes that are no segment */
void scene_refuse_bytes(struct scene *sc, const void *ulpdu, uint32_t len,
			int verdict);

/* The parts, for tests that send by themselves. @ulpdu is the offending segment, or
 * NULL; Responses that were under way are skipped. */
void scene_must_end(struct scene *sc, const void *ulpdu, uint32_t len,
		    int verdict, int other);
/* what was posted is flushed and nothing else completes; for @verdict DU_TOO_LONG the
 * receive may end with a length error */
void scene_must_flush(struct scene *sc, int verdict);

/* send a Send in segments of @cut bytes, without the last segment if not @whole */
void scene_send_cut(struct scene *sc, uint32_t len, uint32_t cut, bool whole);
/* the next completion is the receive @wr_id, with @len bytes */
void scene_must_receive(uint64_t wr_id, uint32_t len);
/* the stream goes on, nothing completed, and no memory changed */
void scene_must_do_nothing(struct scene *sc);

#endif /* SCENE_H */
