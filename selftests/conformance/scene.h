/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the tests of received segments have in common: a connection, memory that
 * the peer may hit, a receive that waits; good segments to be spoilt; and the one
 * check of how a bad one is refused.
 */
#ifndef SCENE_H
#define SCENE_H

#include "session.h"

/* a Terminate triplet as a number; VERDICT_NONE where there is no second choice */
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
/* not a multiple of a page: an octet too far is still in mapped memory */
#define SCENE_SINK_LEN	3000
#define SCENE_RECV_LEN	1000
#define SCENE_DATA_LEN	4096
#define READ_BODY_LEN	28

/**
 * struct scene - see scene_start()
 * @s: the connection
 * @p: @s.p
 * @sink: memory with local write, remote read and remote write rights
 * @recv: memory of the receive that waits, SCENE_RECV_ID
 * @posted: work requests that the end of the connection must flush
 * @data: octets to send, pattern 1
 * @body: of the Read Request of scene_read()
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

/* the usual session, and a receive */
struct scene *scene_start(void);
/* without the receive */
struct scene *scene_start_bare(void);
/* on a session of one's own making; without the receive */
struct scene *scene_start_on(const struct session *s);
/* post the receive, @len octets of it */
void scene_post_recv(struct scene *sc, size_t len);

/* good segments, one message each: change them before they are sent. None of these
 * counts an MSN. */
struct seg scene_send(struct scene *sc, uint32_t len);
struct seg scene_write(struct scene *sc, uint32_t at, uint32_t len);
/* ... of @len octets at @at of the sink; the body may be changed in @sc->body */
struct seg scene_read(struct scene *sc, uint32_t at, uint32_t len);
/* the opcode alone */
void seg_set_op(struct seg *seg, int op);

/* send it as one good FPDU; a message on QN 0 to 2 is counted behind its L */
void scene_put(struct scene *sc, const struct seg *seg);

/*
 * Send it, a good Write right behind it in the same TCP segment, and leave the test
 * unless it is refused with @verdict: a Terminate, whose copies, where it has any,
 * are of this segment; then the end; no memory is touched; what was posted is
 * flushed and nothing else completes.
 */
void scene_refuse(struct scene *sc, const struct seg *seg, int verdict);
/* one of two triplets */
void scene_refuse_either(struct scene *sc, const struct seg *seg, int verdict,
			 int other);
/* earlier segments have placed something: the receive's memory is not looked at */
void scene_refuse_placed(struct scene *sc, const struct seg *seg, int verdict);
/* the same for octets that are no segment */
void scene_refuse_octets(struct scene *sc, const void *ulpdu, uint32_t len,
			 int verdict);

/* the parts, for tests that send by themselves: @ulpdu is the offending segment, or
 * NULL; Responses that were on their way are skipped */
void scene_expect_end(struct scene *sc, const void *ulpdu, uint32_t len,
		      int verdict, int other);
/* what was posted is flushed, the first of @verdict DU_TOO_LONG may be a length
 * error; nothing else completes */
void scene_expect_flushed(struct scene *sc, int verdict);

/* a Send in segments of @cut octets, without its last one if not @whole */
void scene_send_cut(struct scene *sc, uint32_t len, uint32_t cut, bool whole);
/* the next completion is the receive @wr_id, with @len octets */
void scene_expect_recv(uint64_t wr_id, uint32_t len);
/* the stream goes on, nothing completed, and no memory was touched */
void scene_expect_nothing_done(struct scene *sc);

#endif /* SCENE_H */
