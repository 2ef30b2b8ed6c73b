/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One startup, frame by frame, for tests of the startup itself; session.h is for
 * tests of what comes after it.
 */
#ifndef MEET_H
#define MEET_H

#include "agent.h"
#include "conform.h"
#include "peer.h"

/**
 * struct meeting - a startup and how far it got
 * @qp: of the device's QP
 * @pd: private data that the device's ULP gives
 * @pd_len: octets of it
 * @tcp: of our end
 * @p: the peer; the frames are in @p->request and @p->reply
 * @conn: the agent's connection
 * @called: the device is the responder: its CONNECT_REQUEST event
 * @up: its ESTABLISHED event
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

/* RTR types, as the tables write them: B C D */
#define RTR_B	4	/* Send */
#define RTR_C	2	/* Write */
#define RTR_D	1	/* Read */
#define RTR_ALL	(RTR_B | RTR_C | RTR_D)

/* ---- enhanced frames ---- */

/* the enhanced words from their fields; @types: RTR_* */
void meet_enhanced(struct mpa_frame *f, bool reply, bool p2p, int types, int ird,
		   int ord);
bool enh_p2p(const struct mpa_frame *f);
int enh_types(const struct mpa_frame *f);
int enh_ird(const struct mpa_frame *f);
int enh_ord(const struct mpa_frame *f);

/* append octets to the private data of @f */
void mpa_add_pd(struct mpa_frame *f, const void *data, size_t len);

/* the setting "rtr" with these types, Write first, then Read, then Send */
void set_rtr(int types);

/* ---- the device is the responder ---- */

/* connect, send @req, see CONNECT_REQUEST */
void meet_knock(struct meeting *m, const struct mpa_frame *req);
/* the ULP accepts; the Reply, with R=0, is read and agreed on */
void meet_accept(struct meeting *m);
/* both */
void meet_responder(struct meeting *m, const struct mpa_frame *req);
/* the same with a peer-to-peer Request that offers @types; the RTR is due */
void meet_p2p(struct meeting *m, int types);
/* skip the test unless the Reply lists @type */
void need_type(const struct meeting *m, int type);

/* ---- the device is the initiator ---- */

/* it connects; its Request is read */
void meet_call(struct meeting *m);
/* ... and is enhanced, or the test is skipped: it may be that the device is not */
void meet_call_enhanced(struct meeting *m);
/* @reply is sent and agreed on */
void meet_answer(struct meeting *m, const struct mpa_frame *reply);
/* an accepting enhanced Reply in the model it asks for, with these depths */
void meet_answer_depths(struct meeting *m, int ird, int ord);

/* ---- how it goes on ---- */

/*
 * An enhanced startup in dut_role() with our IRD and ORD, up to a connection on
 * which both may send: client-server where the choice is ours.
 */
void meet_depths(struct meeting *m, int ird, int ord);

/*
 * a zero-length message of @op: OP_WRITE, OP_READ_REQ or OP_SEND; the Response to
 * a Read is awaited
 */
void send_rtr(struct peer *p, enum rdmap_op op);
/* the device's first message is one; a Read is answered */
void expect_rtr(struct peer *p, enum rdmap_op op);
/* it is one of @types */
void expect_any_rtr(struct peer *p, int types);
/* ... and was read already */
void take_rtr(struct peer *p, const struct fpdu *f, int types);
/* the RTR type that an initiator takes out of @shared, by Q22 */
enum rdmap_op preferred_rtr(int shared);

/* the ULP is told that the connection is there */
void expect_up(struct meeting *m);
/* the device's connect() ends in an error event */
void expect_failed(struct meeting *m);
/* the ULP is told something, but never that the connection is there */
void expect_not_up(struct meeting *m);

/* one message of 7 octets reaches the ULP as @wr_id, into @mr of 64 octets or more */
void expect_send_received(struct meeting *m, const struct agent_mr *mr, uint64_t wr_id);
/* one of the ULP reaches us */
void expect_send_sent(struct meeting *m);

/* it ends, for a test that meets again */
void meet_leave(struct meeting *m);

/* leave the test unless state @key of the connection is this number */
void expect_state(struct peer *p, const char *key, long want);

#endif /* MEET_H */
