/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MPA startup: the Request and Reply frames and what both ends agree on. RFC
 * 5044 7.1, RFC 6581; the tables G, H, M, C, F, O and K of checklist-mpa 3 with
 * the readings of its section 4.
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

#define TERN_MPA_FRAME_MAX	(sizeof(struct tern_mpa_frame) + TERN_MPA_MAX_PD)
#define TERN_MPA_ENHANCED_PD	(TERN_MPA_MAX_PD - sizeof(struct tern_mpa_enhanced))

enum tern_mpa_kind {
	TERN_MPA_REQUEST,
	TERN_MPA_REPLY,
};

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
 * struct tern_mpa_wish - what our end wants
 * @type: how to treat revision 0
 * @rev: initiator: revision of the Request; responder: highest one it knows
 * @enhanced: initiator: send enhanced data (with @rev 2)
 * @markers: we want markers in what we receive
 * @crc: we want CRCs
 * @p2p: initiator: ask for the peer-to-peer model
 * @rtr: enum tern_mpa_rtr in order of preference; NONE ends the list
 * @ird: inbound Reads wanted; as long as the ULP has not said, the device's limit
 * @ord: outbound Reads wanted; the same
 * @max_ird: most inbound Reads that can be given
 */
struct tern_mpa_wish {
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
 * struct tern_mpa_msg - a frame, apart from its Key
 * @rev: revision
 * @flags: octet 16 as on the wire
 * @enhanced: @ird and @ord are there (S=1 under revision 2)
 * @ird: first word of the enhanced data, A and B included
 * @ord: second word, C and D included
 * @pd: private data of the ULP, in the caller's buffer
 * @pd_len: octets of it
 */
struct tern_mpa_msg {
	u8 rev;
	u8 flags;
	bool enhanced;
	u16 ird;
	u16 ord;
	const u8 *pd;
	u16 pd_len;
};

/**
 * struct tern_mpa_params - what was agreed on
 * @version: DDP and RDMAP version: 0 or 1
 * @initiator: our end sent the Request
 * @crc: CRC both ways
 * @tx_markers: the peer gets markers
 * @rx_markers: we get markers
 * @p2p: peer-to-peer model
 * @rtr: initiator: RTR to send as the first message, enum tern_mpa_rtr
 * @rtr_accept: responder: RTR types that are taken, BIT(enum tern_mpa_rtr): those
 *	that were listed; READ on a plain connection, where none can be; 0 in the
 *	client-server model
 * @ird: inbound Reads in flight, as the peer was told
 * @ord: outbound Reads in flight for the ULP; may be 0 with @rtr READ, which
 *	then has one slot of its own (row O18)
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

enum tern_mpa_parse {
	TERN_MPA_MORE,		/* more octets are needed */
	TERN_MPA_WHOLE,
	TERN_MPA_BAD,		/* badly formatted: close, nothing is sent */
};

/**
 * tern_mpa_parse() - look at the octets of a frame
 * @kind: what is due
 * @buf: the stream from the frame's first octet
 * @len: octets there, not more than were asked for
 * @need: with TERN_MPA_MORE: octets in all before it is worth a next call
 * @msg: with TERN_MPA_WHOLE: the frame; @msg->pd points into @buf
 *
 * Rows K1 to K3, K6, K10, K11, K13.
 */
enum tern_mpa_parse tern_mpa_parse(enum tern_mpa_kind kind, const u8 *buf,
				   u32 len, u32 *need,
				   struct tern_mpa_msg *msg);

/**
 * tern_mpa_build() - write a frame
 * @kind: which Key
 * @msg: the frame
 * @out: room for TERN_MPA_FRAME_MAX octets
 *
 * Return: octets written, 0 when the private data is too long.
 */
u32 tern_mpa_build(enum tern_mpa_kind kind, const struct tern_mpa_msg *msg,
		   u8 *out);

enum tern_mpa_gate {
	TERN_MPA_GO,		/* this revision can be served */
	TERN_MPA_REFUSE,	/* responder: tern_mpa_refuse(), then FIN */
	TERN_MPA_REJECTED,	/* initiator: the peer's ULP said no */
	TERN_MPA_RETRY,		/* initiator: close; plain may be tried anew */
	TERN_MPA_CLOSE,		/* close, an error */
};

/* rows G1 to G14 */
enum tern_mpa_gate tern_mpa_gate_request(const struct tern_mpa_wish *wish,
					 const struct tern_mpa_msg *req);

/* rows H1 to H15, H17 */
enum tern_mpa_gate tern_mpa_gate_reply(const struct tern_mpa_wish *wish,
				       const struct tern_mpa_msg *reply);

/*
 * Row H16: the peer closed without a Reply; may a plain Request follow? An RDMAC
 * initiator asks plainly as it is.
 */
static inline bool tern_mpa_may_retry(const struct tern_mpa_wish *wish)
{
	return wish->type != TERN_MPA_RDMAC && wish->rev > 1;
}

/* what the next attempt asks for: revision 1, nothing enhanced */
void tern_mpa_fall_back(struct tern_mpa_wish *wish);

/* all of a Request but its private data */
void tern_mpa_request(const struct tern_mpa_wish *wish,
		      struct tern_mpa_msg *req);

/**
 * tern_mpa_accept() - responder: the ULP accepts
 * @wish: ours, with the ULP's ird and ord
 * @req: Request that passed the gate
 * @reply: all of the Reply but its private data
 * @params: what is agreed on with it
 *
 * Rows M, C, F (left half), O1 to O9, O19.
 */
void tern_mpa_accept(const struct tern_mpa_wish *wish,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply,
		     struct tern_mpa_params *params);

/*
 * Responder: the ULP rejects (readings 4.6, 4.20). The words are those that an
 * accept would carry: peers check them before they see the reject. irdma takes no
 * Reply that lists a Read with an IRD of 0, or has an ORD above the Request's IRD;
 * and RFC 6581 9.1 keeps such an ORD for a ULP that rejects because of it.
 */
void tern_mpa_reject(const struct tern_mpa_wish *wish,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply);

/* responder: the revision is refused (reading 4.1) */
void tern_mpa_refuse(const struct tern_mpa_wish *wish,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply);

/**
 * tern_mpa_settle() - initiator: an accepting Reply came
 * @wish: what the Request asked for
 * @reply: Reply that passed the gate
 * @params: what is agreed on; framing is valid in any case
 *
 * Rows M, C, F (right half), F59 to F62, O10 to O19.
 *
 * Return: TERN_TERM_NONE, or the triplet of the Terminate to send instead of
 * the RTR: TERN_TERM_MPA_IRD, TERN_TERM_MPA_RTR.
 */
int tern_mpa_settle(const struct tern_mpa_wish *wish,
		    const struct tern_mpa_msg *reply,
		    struct tern_mpa_params *params);

#endif /* TERN_CORE_MPA_H */
