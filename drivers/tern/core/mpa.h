/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * MPA startup: what both ends ask for and agree on: RFC 5044 7.1 and C, RFC 6581.
 * G, H, M, C, F, O and Q are rows of Documentation/requirements.rst. Frames are
 * built and parsed by mpa_frame.h.
 *
 * Initiator:	tern_mpa_request(), build, send; parse the Reply,
 *		tern_mpa_gate_reply(), on TERN_MPA_GO tern_mpa_settle()
 * Responder:	parse the Request, tern_mpa_gate_request(), on TERN_MPA_GO ask
 *		the ULP, then tern_mpa_accept() or tern_mpa_reject(), build, send
 */
#ifndef TERN_CORE_MPA_H
#define TERN_CORE_MPA_H

#include "term.h"
#include "wire.h"

struct tern_mpa_msg;

/* types of RNIC, RFC 5044 appendix C */
enum tern_mpa_type {
	TERN_MPA_NONPERMISSIVE,
	TERN_MPA_PERMISSIVE,
	TERN_MPA_RDMAC,
};

/* Ready To Receive indications, RFC 6581 9.2 */
enum tern_mpa_rtr {
	TERN_MPA_RTR_NONE,
	TERN_MPA_RTR_WRITE,
	TERN_MPA_RTR_READ,
	TERN_MPA_RTR_SEND,
	TERN_MPA_RTR_COUNT,
};

/**
 * struct tern_mpa_options - what our end asks for
 * @type: how to treat revision 0
 * @rev: initiator: revision of the Request; responder: highest one it serves
 * @enhanced: initiator: send enhanced data (with @rev 2)
 * @markers: ask for markers in what we receive
 * @crc: ask for CRCs
 * @p2p: initiator: ask for the peer-to-peer model
 * @rtr: enum tern_mpa_rtr in order of preference; NONE ends the list
 * @ird: inbound Reads wanted; the device's limit until the ULP says
 * @ord: outbound Reads wanted; likewise
 * @max_ird: most inbound Reads that we can grant
 */
struct tern_mpa_options {
	enum tern_mpa_type type;
	u8 rev;
	bool enhanced;
	bool markers;
	bool crc;
	bool p2p;
	u8 rtr[TERN_MPA_RTR_COUNT - 1];
	u16 ird;
	u16 ord;
	u16 max_ird;
};

/**
 * struct tern_mpa_params - what both ends agreed on
 * @version: DDP and RDMAP version: 0 or 1
 * @initiator: our end sent the Request
 * @crc: CRC in both directions
 * @tx_markers: we send markers
 * @rx_markers: we receive markers
 * @p2p: peer-to-peer model
 * @rtr: initiator: RTR to send as the first message, enum tern_mpa_rtr
 * @rtr_accept: responder: RTR types to accept, BIT(enum tern_mpa_rtr): those
 *	that the Reply listed; READ on a plain connection, where none can be
 *	listed; 0 in the client-server model
 * @ird: inbound Reads at once, as told to the peer
 * @ord: outbound Reads at once for the ULP; may be 0 with @rtr READ, which
 *	has one slot of its own (O18)
 */
struct tern_mpa_params {
	u8 version;
	bool initiator;
	bool crc;
	bool tx_markers;
	bool rx_markers;
	bool p2p;
	u8 rtr;
	u8 rtr_accept;
	u16 ird;
	u16 ord;
};

enum tern_mpa_gate {
	TERN_MPA_GO,		/* this revision is served */
	TERN_MPA_REFUSE,	/* responder: tern_mpa_refuse(), then FIN */
	TERN_MPA_REJECTED,	/* initiator: the peer's ULP rejected */
	TERN_MPA_RETRY,		/* initiator: close; may retry plain */
	TERN_MPA_CLOSE,		/* close with an error */
};

/* which Requests are served, by type and revision: rows G1 to G14 */
enum tern_mpa_gate tern_mpa_gate_request(const struct tern_mpa_options *opt,
					 const struct tern_mpa_msg *req);

/* which Replies are taken, by type and revision: rows H1 to H15, H17 */
enum tern_mpa_gate tern_mpa_gate_reply(const struct tern_mpa_options *opt,
				       const struct tern_mpa_msg *reply);

/*
 * H16: may a plain Request follow when the peer closed without a Reply? Not for
 * an RDMAC initiator, whose Request is plain already.
 */
static inline bool tern_mpa_may_retry(const struct tern_mpa_options *opt)
{
	return opt->type != TERN_MPA_RDMAC && opt->rev > 1;
}

/* the next attempt is plain: revision 1, nothing enhanced */
void tern_mpa_fall_back(struct tern_mpa_options *opt);

/* fill in a Request, except its private data */
void tern_mpa_request(const struct tern_mpa_options *opt,
		      struct tern_mpa_msg *req);

/**
 * tern_mpa_accept() - responder: the ULP accepts
 * @opt: ours, with the ULP's ird and ord
 * @req: Request that passed the gate
 * @reply: result: the Reply, except its private data
 * @params: result: what both ends agree on
 *
 * Markers and CRC: rows M and C; RTR: F1 to F58; depths: O1 to O9, O19.
 */
void tern_mpa_accept(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply,
		     struct tern_mpa_params *params);

/*
 * Responder: the ULP rejects (Q21, Q25). The enhanced words are those of an
 * accept, because peers check them before the reject flag: irdma refuses a
 * Reply that lists a Read with an IRD of 0, or whose ORD is above the Request's
 * IRD. RFC 6581 9.1 keeps such an ORD for a ULP that rejects because of it.
 */
void tern_mpa_reject(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply);

/* responder: refuse the revision (Q1) */
void tern_mpa_refuse(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply);

/**
 * tern_mpa_settle() - initiator: an accepting Reply came
 * @opt: what the Request asked for
 * @reply: Reply that passed the gate
 * @params: result: what both ends agree on; framing is valid also on an error
 *
 * Markers and CRC: rows M and C; RTR: F1 to F62; depths: O10 to O19.
 *
 * Return: TERN_TERM_NONE, or the triplet of the Terminate to send instead of
 * the RTR: TERN_TERM_MPA_IRD, TERN_TERM_MPA_RTR.
 */
int tern_mpa_settle(const struct tern_mpa_options *opt,
		    const struct tern_mpa_msg *reply,
		    struct tern_mpa_params *params);

#endif /* TERN_CORE_MPA_H */
