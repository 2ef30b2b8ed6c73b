/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The hello: how two ends agree on RFC 7306, on RDMAP version 2 and on long FPDUs.
 * RFC 7306 1.1 leaves that to the ULP. A hello is an RDMA Write without payload, of one
 * FPDU. RFC 5041 5.2 forbids to check the STag and TO of such a Write, so every
 * peer takes it and ignores it; a tern peer reads it.
 *
 *	STag	0x7465726e
 *	TO	0x68656c6c, version (8 bits), role (8 bits), features (16 bits)
 *
 * The initiator offers: with a Write as RTR that Write is the offer, without an
 * RTR the offer goes directly in front of the ULP's first message, because
 * alone it would open the responder's fence at a time that no ULP chose. With a
 * Read or a Send as RTR there is no offer. A responder whose first FPDU read is
 * an offer answers with what both ends have, as the first FPDU that it sends.
 * If that has version 2, the initiator sends a go.
 *
 * A direction changes to version 2 directly after its last hello: the
 * responder's after the answer, the initiator's after the go. So the version of
 * each message is known to its receiver.
 */
#ifndef TERN_CORE_HELLO_H
#define TERN_CORE_HELLO_H

#include "mpa.h"
#include "wire.h"

#define TERN_HELLO_STAG		0x7465726e
#define TERN_HELLO_TO_HIGH	0x68656c6c	/* high half of the TO */
#define TERN_HELLO_VERSION	1		/* highest one we know */

/* features: the bits of the uapi's enum tern_feature */
#define TERN_HELLO_7306		BIT(0)
#define TERN_HELLO_V2		BIT(1)		/* only with TERN_HELLO_7306 */
#define TERN_HELLO_LONG		BIT(2)		/* FPDUs longer than the MSS */

/* settings: the values of the uapi's enum tern_extensions */
#define TERN_HELLO_OFF		0
#define TERN_HELLO_NEGOTIATE	1
#define TERN_HELLO_ASSUME_7306	2

/* RDMAP version of a direction after its last hello, if v2 was agreed on */
#define TERN_HELLO_RV2		2

/**
 * enum tern_hello_role - what a hello says
 * @TERN_HELLO_OFFER: initiator: features that it has
 * @TERN_HELLO_ANSWER: responder: those that both ends have
 * @TERN_HELLO_GO: initiator: its next message has version 2
 */
enum tern_hello_role {
	TERN_HELLO_OFFER = 1,
	TERN_HELLO_ANSWER = 2,
	TERN_HELLO_GO = 3,
};

/**
 * struct tern_hello_msg - a hello
 * @version: of the hello, from 1; an answer has the lower one of both ends
 * @role: enum tern_hello_role
 * @features: TERN_HELLO_7306 and so on; unknown bits may be set in one read
 */
struct tern_hello_msg {
	u8 version;
	u8 role;
	u16 features;
};

/**
 * struct tern_hello_options - what our end has, and the connection
 * @extensions: TERN_HELLO_OFF, _NEGOTIATE or _ASSUME_7306
 * @features: what we offer or grant; TERN_HELLO_V2 counts only with
 *	TERN_HELLO_7306. Without any, an initiator makes no offer
 * @version: DDP and RDMAP version of the connection, 0 or 1. Version 0 has no
 *	extensions, whatever @extensions says
 * @initiator: our end sent the MPA Request
 * @rtr: initiator: enum tern_mpa_rtr that it sends
 */
struct tern_hello_options {
	u8 extensions;
	u16 features;
	u8 version;
	bool initiator;
	u8 rtr;
};

/* what one end may still send or read */
enum tern_hello_state {
	TERN_HELLO_OVER,	/* nothing */
	TERN_HELLO_RTR_DUE,	/* initiator: its RTR will be the offer */
	TERN_HELLO_OFFER_DUE,	/* initiator: the ULP's first message brings it */
	TERN_HELLO_OFFERED,	/* initiator: an answer may come, even late */
	TERN_HELLO_GO_DUE,	/* initiator: the answer has version 2 */
	TERN_HELLO_LISTENING,	/* responder: no FPDU was read yet */
	TERN_HELLO_ANSWER_DUE,	/* responder: the first FPDU was an offer */
	TERN_HELLO_ANSWERED,	/* responder: with version 2: a go may come */
};

/**
 * enum tern_hello_verdict - what a request at the head of the send queue does
 * @TERN_HELLO_UNKNOWN: it waits
 * @TERN_HELLO_NO: it fails
 * @TERN_HELLO_YES: it goes
 */
enum tern_hello_verdict {
	TERN_HELLO_UNKNOWN,
	TERN_HELLO_NO,
	TERN_HELLO_YES,
};

/**
 * struct tern_hello - one end of a connection
 * @state: what may still be sent or read
 * @extensions: as in the options; TERN_HELLO_OFF on version 0
 * @features: those of ours that count
 * @agreed: those of both ends, once @decided
 * @msg_version: version of the hello that is due
 * @decided: @agreed is final, unless an answer comes late
 * @tx_rv: RDMAP version of the next message that we start: 0, 1 or 2
 * @rx_rv: RDMAP version of the next message of the peer
 *
 * The caller serialises all calls, from both directions. Only functions of
 * hello.h write the fields.
 */
struct tern_hello {
	enum tern_hello_state state;
	u8 extensions;
	u16 features;
	u16 agreed;
	u8 msg_version;
	bool decided;
	u8 tx_rv;
	u8 rx_rv;
};

/* ---- the message -------------------------------------------------------- */

/* the TO of a hello, in CPU order; its STag is TERN_HELLO_STAG */
u64 tern_hello_to(const struct tern_hello_msg *msg);

/**
 * tern_hello_parse() - read a Write without payload
 * @stag: STag of the Write
 * @to: its TO, in CPU order
 * @msg: result
 *
 * Only a whole message is a hello: the caller leaves out a segment without L,
 * and one that continues a Write.
 *
 * Return: false if this is any other Write without payload, which is nothing to
 * complain about; @msg is undefined then.
 */
bool tern_hello_parse(u32 stag, u64 to, struct tern_hello_msg *msg);

/*
 * The TO to send with a ULP's own Write without payload: 0 if the peer might
 * read it as a hello, else @to. On every connection: the peer may listen.
 */
u64 tern_hello_ulp_to(u32 stag, u64 to);

/* ---- one end ------------------------------------------------------------ */

/* begin, when the MPA startup is done and no FPDU was sent or read yet */
void tern_hello_init(struct tern_hello *h,
		     const struct tern_hello_options *opt);

/* for the two that follow */
bool tern_hello_due(const struct tern_hello *h, bool ulp, struct tern_hello_msg *msg);

/**
 * tern_hello_next() - is a hello to be sent in front of the next message?
 * @h: our end
 * @msg: result: the hello to send; unchanged if there is none
 *
 * The sending engine asks before it starts a message, and whenever it has
 * nothing to send: an answer and a go do not wait for a message of the ULP. With
 * TERN_MPA_RTR_WRITE the hello is the RTR; if there is none, the RTR is any
 * Write without payload. The answer has to be the first FPDU of a responder; it
 * is, since a responder sends nothing before it has read an FPDU (RFC 5044
 * 7.1.2), and asks after each one that it reads.
 *
 * Return: true if @msg is to be sent now, then tern_hello_sent().
 */
static inline bool tern_hello_next(const struct tern_hello *h, struct tern_hello_msg *msg)
{
	return h->state != TERN_HELLO_OVER && tern_hello_due(h, false, msg);
}

/**
 * tern_hello_before_ulp() - is a hello to be sent in front of a ULP's message?
 * @h: our end
 * @msg: as above
 *
 * As tern_hello_next(), but on a connection without an RTR also true for the
 * offer. The engine asks when a request of the ULP is at the head of the send
 * queue, before tern_hello_may_send(): if that says wait, the offer goes alone
 * and the request after the answer. Return: as above.
 */
static inline bool tern_hello_before_ulp(const struct tern_hello *h,
					 struct tern_hello_msg *msg)
{
	return h->state != TERN_HELLO_OVER && tern_hello_due(h, true, msg);
}

/**
 * tern_hello_sent() - a hello is sent
 * @h: our end
 * @role: of the hello that tern_hello_next() or _before_ulp() gave
 *
 * Called when the FPDU of the hello is built and before TCP has all of it, so
 * that what the peer sends in return finds the new state. The hello itself has
 * the version from before the call.
 */
void tern_hello_sent(struct tern_hello *h, enum tern_hello_role role);

/**
 * tern_hello_fpdu() - an FPDU was read
 * @h: our end
 * @msg: what tern_hello_parse() made of it, or NULL for any other FPDU
 *
 * Called in order for each FPDU that passed all checks, the segments of long
 * messages and a Terminate included. A hello that is repeated, late or of the
 * wrong role counts as any other FPDU.
 *
 * Afterwards tern_hello_next() may have a hello, tern_hello_rx_rv() another
 * version for the next FPDU, and waiting requests a verdict.
 */
void tern_hello_fpdu(struct tern_hello *h, const struct tern_hello_msg *msg);

/*
 * Nothing came in the RTR time after the offer: the result is no; an answer
 * that comes later still counts. Without an open offer: no effect.
 */
void tern_hello_timeout(struct tern_hello *h);

/**
 * tern_hello_rx_sets() - which opcodes are taken from the peer now
 * @h: our end
 *
 * What we agree on limits what we send, never what we take: RFC 7306 1.1 leaves
 * room for peers that send its opcodes without any agreement. Version 2 forms
 * are taken only when the peer's direction has version 2.
 *
 * Return: mask of enum tern_op_set.
 */
u32 tern_hello_rx_sets(const struct tern_hello *h);

/**
 * tern_hello_may_send() - may a message with an opcode of @set be sent?
 * @h: our end
 * @set: one of enum tern_op_set
 *
 * RFC 7306 may be sent by a responder that has sent its answer, by an initiator
 * that has read it, with TERN_HELLO_ASSUME_7306 always; version 2 when our
 * direction has it. A verdict of no may become yes if an answer comes late.
 *
 * Return: enum tern_hello_verdict.
 */
enum tern_hello_verdict tern_hello_may_send(const struct tern_hello *h,
					    enum tern_op_set set);

/*
 * May FPDUs longer than the MSS be sent? A responder sends its answer first. They are
 * taken from any peer: RFC 5044 bounds only what is sent.
 */
bool tern_hello_may_send_long(const struct tern_hello *h);

/*
 * Initiator: the offer is sent and nothing was read since. Only then can a
 * message that the peer has to answer, a Read, bring the result earlier than
 * tern_hello_timeout().
 */
bool tern_hello_wants_probe(const struct tern_hello *h);

/* RDMAP version of the next message that we start: 0, 1 or 2 */
static inline u8 tern_hello_tx_rv(const struct tern_hello *h)
{
	return h->tx_rv;
}

/* RDMAP version that the next FPDU of the peer has to have: 0, 1 or 2 */
static inline u8 tern_hello_rx_rv(const struct tern_hello *h)
{
	return h->rx_rv;
}

/* is tern_hello_agreed() final? Only a late answer changes it after that. */
static inline bool tern_hello_decided(const struct tern_hello *h)
{
	return h->decided;
}

/* features that both ends have; 0 until that is decided */
static inline u16 tern_hello_agreed(const struct tern_hello *h)
{
	return h->agreed;
}

#endif /* TERN_CORE_HELLO_H */
