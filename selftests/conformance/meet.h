/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * One startup, frame by frame, for the tests of the startup itself. session.h is for
 * the tests of what comes after it.
 */
#ifndef MEET_H
#define MEET_H

#include "agent.h"
#include "conform.h"
#include "peer.h"

/**
 * struct meeting - a startup and how far it got
 * @qp: options of the device's QP
 * @pd: private data of the device's ULP
 * @pd_len: its length in bytes
 * @tcp: options of our end's TCP
 * @p: our peer; @p->request and @p->reply hold the frames
 * @conn: the agent's connection
 * @called: its CONNECT_REQUEST event, when the device is the responder
 * @up: the device's ESTABLISHED event
 */
struct meeting {
	struct agent_qp qp;
	const void *pd;
	size_t pd_len;
	struct peer_tcp tcp;
	struct peer *p;
	int conn;
	struct agent_event called;
	struct agent_event up;
};

#define MEETING_DEFAULT { .qp = AGENT_QP_DEFAULT }

/* RTR types by the flags B, C and D of RFC 6581 */
#define RTR_B	4	/* Send */
#define RTR_C	2	/* Write */
#define RTR_D	1	/* Read */
#define RTR_ALL	(RTR_B | RTR_C | RTR_D)

/* ---- enhanced frames ---- */

/* set the two enhanced words from their fields; @types: RTR_* */
void meet_enhanced(struct mpa_frame *f, bool reply, bool p2p, int types, int ird,
		   int ord);
bool enh_p2p(const struct mpa_frame *f);
int enh_types(const struct mpa_frame *f);
int enh_ird(const struct mpa_frame *f);
int enh_ord(const struct mpa_frame *f);

/* append @len bytes to the private data of @f */
void mpa_add_pd(struct mpa_frame *f, const void *data, size_t len);

/* set "rtr" to these types, in the order Write, Read, Send */
void set_rtr(int types);

/* ---- the device is the responder ---- */

/* connect, send @req, get the CONNECT_REQUEST event */
void meet_knock(struct meeting *m, const struct mpa_frame *req);
/* the ULP accepts; read the Reply, which has R=0, and agree on it */
void meet_accept(struct meeting *m);
/* meet_knock(), then meet_accept() */
void meet_responder(struct meeting *m, const struct mpa_frame *req);
/* meet_responder() with a peer-to-peer Request that offers @types; then an RTR is due */
void meet_p2p(struct meeting *m, int types);
/* skip the test unless the Reply lists @type */
void need_type(const struct meeting *m, int type);

/* ---- the device is the initiator ---- */

/* the device connects; read its Request */
void meet_call(struct meeting *m);
/* ... which is enhanced, or the test is skipped */
void meet_call_enhanced(struct meeting *m);
/* send @reply and agree on it */
void meet_answer(struct meeting *m, const struct mpa_frame *reply);
/* send an enhanced Reply that accepts, in the model of the Request, with these depths */
void meet_answer_depths(struct meeting *m, int ird, int ord);

/* ---- how it goes on ---- */

/*
 * An enhanced startup in dut_role() with our IRD and ORD, until both ends may send;
 * client-server where we choose.
 */
void meet_depths(struct meeting *m, int ird, int ord);

/*
 * Send a zero-length message of @op: OP_WRITE, OP_READ_REQ or OP_SEND; after a Read
 * wait for the Response.
 */
void send_rtr(struct peer *p, enum rdmap_op op);
/* the device's first message is such a one; a Read is answered */
void must_get_rtr(struct peer *p, enum rdmap_op op);
/* the device's first message is an RTR of one of @types */
void must_get_any_rtr(struct peer *p, int types);
/* ... and was received already, as @f */
void take_rtr(struct peer *p, const struct fpdu *f, int types);
/* the RTR type that an initiator picks among @shared, by Q22 */
enum rdmap_op preferred_rtr(int shared);

/* the ULP gets ESTABLISHED */
void must_be_up(struct meeting *m);
/* the device's connect() ends in an error event */
void must_have_failed(struct meeting *m);
/* the ULP gets an event, but never ESTABLISHED */
void must_not_be_up(struct meeting *m);

/* a message of 7 bytes of ours reaches the ULP as @wr_id, in @mr of 64 bytes or more */
void must_receive_send(struct meeting *m, const struct agent_mr *mr, uint64_t wr_id);
/* a Send of the ULP reaches us */
void must_send(struct meeting *m);

/* end the connection, for a test that starts another */
void meet_leave(struct meeting *m);

/* leave the test unless state @key of the connection is this number */
void must_have_state(struct peer *p, const char *key, long want);

#endif /* MEET_H */
