// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * MPA startup: revisions and types of RNIC (RFC 5044 C), RTR, IRD and ORD (RFC
 * 6581 9).
 */
#include "mpa.h"

#include "mpa_frame.h"

/* the flags of the enhanced data that stand for each RTR type */
static const struct {
	u16 ird;
	u16 ord;
} rtr_flags[TERN_MPA_RTR_COUNT] = {
	[TERN_MPA_RTR_WRITE] = { .ord = TERN_MPA_ORD_WRITE },
	[TERN_MPA_RTR_READ] = { .ord = TERN_MPA_ORD_READ },
	[TERN_MPA_RTR_SEND] = { .ird = TERN_MPA_IRD_SEND },
};

/* ---- both ends ---------------------------------------------------------- */

static u16 depth(u16 word)
{
	return word & TERN_MPA_DEPTH_MASK;
}

static u16 clamp_depth(u16 value)
{
	return min_t(u16, value, TERN_MPA_DEPTH_MAX);
}

/* the RTR types of @opt, as a set of BIT(enum tern_mpa_rtr) */
static u8 own_rtrs(const struct tern_mpa_options *opt)
{
	u8 types = 0;

	for (u32 i = 0; i < ARRAY_SIZE(opt->rtr) && opt->rtr[i]; i++)
		types |= BIT(opt->rtr[i]);
	return types;
}

static bool lists_rtr(const struct tern_mpa_msg *msg, u8 rtr)
{
	return (msg->ird & rtr_flags[rtr].ird) ||
	       (msg->ord & rtr_flags[rtr].ord);
}

/* ask for or grant the peer-to-peer model, with these RTR types */
static void list_rtrs(u8 types, struct tern_mpa_msg *msg)
{
	for (u8 rtr = TERN_MPA_RTR_WRITE; rtr < TERN_MPA_RTR_COUNT; rtr++) {
		if (!(types & BIT(rtr)))
			continue;
		msg->ird |= rtr_flags[rtr].ird;
		msg->ord |= rtr_flags[rtr].ord;
	}
	msg->ird |= TERN_MPA_IRD_P2P;
}

/* RFC 5044 C.2: version 0 forces markers and CRC on both ends (C5) */
static void agree_framing(const struct tern_mpa_options *opt,
			  const struct tern_mpa_msg *peer,
			  struct tern_mpa_params *params)
{
	bool v0 = !params->version;

	params->tx_markers = v0 || (peer->flags & TERN_MPA_F_MARKERS);
	params->rx_markers = v0 || opt->markers;
	params->crc = v0 || opt->crc || (peer->flags & TERN_MPA_F_CRC);
}

static u8 frame_flags(bool markers, bool crc, bool enhanced)
{
	return (u8)((markers ? TERN_MPA_F_MARKERS : 0) |
		    (crc ? TERN_MPA_F_CRC : 0) |
		    (enhanced ? TERN_MPA_F_ENHANCED : 0));
}

/* ---- initiator ---------------------------------------------------------- */

void tern_mpa_request(const struct tern_mpa_options *opt,
		      struct tern_mpa_msg *req)
{
	bool v0 = opt->type == TERN_MPA_RDMAC;

	*req = (struct tern_mpa_msg) {
		.rev = v0 ? 0 : opt->rev,
		.enhanced = !v0 && opt->rev == 2 && opt->enhanced,
	};
	req->flags = frame_flags(v0 || opt->markers, v0 || opt->crc,
				 req->enhanced);
	if (!req->enhanced)
		return;
	req->ird = clamp_depth(opt->ird);
	req->ord = clamp_depth(opt->ord);
	if (opt->p2p)
		list_rtrs(own_rtrs(opt), req);
}

void tern_mpa_fall_back(struct tern_mpa_options *opt)
{
	opt->rev = 1;
	opt->enhanced = false;
	opt->p2p = false;
}

static enum tern_mpa_gate verdict(const struct tern_mpa_msg *reply)
{
	return reply->flags & TERN_MPA_F_REJECT ? TERN_MPA_REJECTED :
						  TERN_MPA_GO;
}

/* a Reply to a Request of revision 0 or 1: H1 to H5, MPA-224 */
static enum tern_mpa_gate gate_plain(const struct tern_mpa_options *opt,
				     const struct tern_mpa_msg *reply)
{
	bool v0 = opt->type == TERN_MPA_RDMAC;

	if (reply->rev == 0 && opt->type == TERN_MPA_NONPERMISSIVE)
		return TERN_MPA_CLOSE;
	if (reply->rev > (v0 ? 0 : 1))
		return TERN_MPA_CLOSE;
	return verdict(reply);
}

/* a Reply of revision 0 or 1 to one of 2: H8, H9, H14, H15, MPA-224 */
static enum tern_mpa_gate gate_lower(const struct tern_mpa_options *opt,
				     const struct tern_mpa_msg *reply)
{
	if (opt->enhanced || (reply->flags & TERN_MPA_F_REJECT))
		return TERN_MPA_RETRY;
	if (reply->rev == 0 && opt->type == TERN_MPA_NONPERMISSIVE)
		return TERN_MPA_RETRY;
	return TERN_MPA_GO;
}

enum tern_mpa_gate tern_mpa_gate_reply(const struct tern_mpa_options *opt,
				       const struct tern_mpa_msg *reply)
{
	if (reply->rev > 2)
		return TERN_MPA_CLOSE;
	if (opt->type == TERN_MPA_RDMAC || opt->rev < 2)
		return gate_plain(opt, reply);
	if (reply->rev < 2)
		return gate_lower(opt, reply);
	if (reply->enhanced == opt->enhanced)
		return verdict(reply);
	return opt->enhanced ? TERN_MPA_RETRY : TERN_MPA_CLOSE;
}

/*
 * Raise our IRD to the Reads that the peer wants to send, up to our limit
 * (O13); above the limit the connection ends (O14).
 */
static int settle_depths(const struct tern_mpa_options *opt,
			 const struct tern_mpa_msg *reply,
			 struct tern_mpa_params *params)
{
	u16 ird = depth(reply->ird), ord = depth(reply->ord);

	if (ird != TERN_MPA_DEPTH_NONE)
		params->ord = min(opt->ord, ird);
	if (ord == TERN_MPA_DEPTH_NONE || ord <= opt->ird)
		return TERN_TERM_NONE;
	if (ord > opt->max_ird)
		return TERN_TERM_MPA_IRD;
	params->ird = ord;
	return TERN_TERM_NONE;
}

/* the first shared type; a Read needs a slot at the peer, no ORD (O17, O18) */
static u8 choose_rtr(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *reply)
{
	for (u32 i = 0; i < ARRAY_SIZE(opt->rtr) && opt->rtr[i]; i++) {
		u8 rtr = opt->rtr[i];

		if (!lists_rtr(reply, rtr))
			continue;
		if (rtr == TERN_MPA_RTR_READ && !depth(reply->ird))
			continue;
		return rtr;
	}
	return TERN_MPA_RTR_NONE;
}

int tern_mpa_settle(const struct tern_mpa_options *opt,
		    const struct tern_mpa_msg *reply,
		    struct tern_mpa_params *params)
{
	int term;

	*params = (struct tern_mpa_params) {
		.version = reply->rev ? 1 : 0,
		.initiator = true,
		.ird = opt->ird,
		.ord = opt->ord,
	};
	agree_framing(opt, reply, params);
	if (!reply->enhanced)
		return TERN_TERM_NONE;

	/* RFC 6581 9.3: depths first, then the RTR */
	term = settle_depths(opt, reply, params);
	if (term != TERN_TERM_NONE)
		return term;
	params->p2p = reply->ird & TERN_MPA_IRD_P2P;
	if (!params->p2p)
		return opt->p2p ? TERN_TERM_MPA_RTR : TERN_TERM_NONE;
	params->rtr = choose_rtr(opt, reply);
	return params->rtr ? TERN_TERM_NONE : TERN_TERM_MPA_RTR;
}

/* ---- responder ---------------------------------------------------------- */

enum tern_mpa_gate tern_mpa_gate_request(const struct tern_mpa_options *opt,
					 const struct tern_mpa_msg *req)
{
	if (opt->type == TERN_MPA_RDMAC)
		return req->rev < 2 ? TERN_MPA_GO : TERN_MPA_CLOSE;
	if (req->rev == 0)
		return opt->type == TERN_MPA_PERMISSIVE ? TERN_MPA_GO :
							   TERN_MPA_REFUSE;
	if (req->rev <= opt->rev)
		return TERN_MPA_GO;
	return req->rev > 2 && opt->rev == 2 ? TERN_MPA_REFUSE :
						TERN_MPA_CLOSE;
}

static u8 serve_version(const struct tern_mpa_options *opt,
			const struct tern_mpa_msg *req)
{
	return opt->type == TERN_MPA_RDMAC || !req->rev ? 0 : 1;
}

static bool asks_p2p(const struct tern_mpa_msg *req)
{
	return req->enhanced && (req->ird & TERN_MPA_IRD_P2P);
}

/*
 * RFC 6581 9.2 lets a Reply list types that the Request did not offer, but some
 * initiators misread that: cxgb4 offers only a Read, tests for a Write first,
 * and ends the stream if the Reply lists both. So list the shared types; if
 * there are none, list all of ours, since at least one has to be listed.
 */
static u8 serve_rtrs(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req)
{
	u8 own = own_rtrs(opt), shared = 0;

	for (u8 rtr = TERN_MPA_RTR_WRITE; rtr < TERN_MPA_RTR_COUNT; rtr++)
		if (lists_rtr(req, rtr))
			shared |= own & BIT(rtr);
	return shared ?: own;
}

/*
 * The frame of any Reply: Rev is the Request's (Q19), M what we ask for, C ours or the
 * Request's (Q21).
 */
static void start_reply(const struct tern_mpa_options *opt,
			const struct tern_mpa_msg *req,
			struct tern_mpa_msg *reply)
{
	bool v0 = !serve_version(opt, req);
	bool crc = opt->crc || (req->flags & TERN_MPA_F_CRC);

	*reply = (struct tern_mpa_msg) {
		.rev = v0 ? 0 : req->rev,
		.enhanced = !v0 && req->enhanced,
	};
	reply->flags = frame_flags(v0 || opt->markers, v0 || crc,
				   reply->enhanced);
	if (reply->enhanced && asks_p2p(req))
		list_rtrs(serve_rtrs(opt, req), reply);
}

/*
 * Our IRD (O1, O2, O8): what the ULP asked for, raised to the Request's ORD as
 * far as max_ird allows, and to 1 if a Read may be the RTR.
 */
static u16 serve_ird(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req, bool read_rtr)
{
	u16 ird = min(depth(req->ord), opt->max_ird);

	if (ird < opt->ird)
		ird = opt->ird;
	if (read_rtr && !ird)
		ird = 1;
	return clamp_depth(ird);
}

/* IRD and ORD of the Reply: rows O1 to O9 */
static void serve_depths(const struct tern_mpa_options *opt,
			 const struct tern_mpa_msg *req,
			 struct tern_mpa_msg *reply,
			 struct tern_mpa_params *params)
{
	u16 ird = depth(req->ird), ord = depth(req->ord);
	bool read_rtr = params->rtr_accept & BIT(TERN_MPA_RTR_READ);

	if (ord == TERN_MPA_DEPTH_NONE) {
		reply->ird |= TERN_MPA_DEPTH_NONE;
	} else {
		params->ird = serve_ird(opt, req, read_rtr);
		reply->ird |= params->ird;
	}
	if (ird == TERN_MPA_DEPTH_NONE) {
		reply->ord |= TERN_MPA_DEPTH_NONE;
	} else {
		params->ord = min(opt->ord, ird);
		reply->ord |= params->ord;
	}
}

void tern_mpa_accept(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply,
		     struct tern_mpa_params *params)
{
	*params = (struct tern_mpa_params) {
		.version = serve_version(opt, req),
		.ird = opt->ird,
		.ord = opt->ord,
	};
	agree_framing(opt, req, params);
	start_reply(opt, req, reply);
	/* cxgb4 sends a Read RTR even on a plain connection */
	if (!reply->enhanced) {
		params->rtr_accept = BIT(TERN_MPA_RTR_READ);
		return;
	}
	params->p2p = asks_p2p(req);
	if (params->p2p)
		params->rtr_accept = serve_rtrs(opt, req);
	serve_depths(opt, req, reply, params);
}

void tern_mpa_reject(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply)
{
	struct tern_mpa_params params;

	tern_mpa_accept(opt, req, reply, &params);
	reply->flags |= TERN_MPA_F_REJECT;
}

void tern_mpa_refuse(const struct tern_mpa_options *opt,
		     const struct tern_mpa_msg *req,
		     struct tern_mpa_msg *reply)
{
	*reply = (struct tern_mpa_msg) {
		.rev = req->rev ? 2 : 1,
		.flags = frame_flags(opt->markers, opt->crc, false) |
			 TERN_MPA_F_REJECT,
	};
}
