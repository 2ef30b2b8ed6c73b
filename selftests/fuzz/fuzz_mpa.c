// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * MPA frames and negotiation (RFC 5044 7.1, RFC 6581). Checked: a frame is whole, bad or
 * incomplete at the same byte however it is split, and no byte outside the input is
 * read; a whole frame that is built again parses the same; for any frame of the peer the
 * agreed parameters are within our options; two ends of ours agree on the same.
 *
 * Input: kind and types, our options (8), the peer's options (8), the frame.
 */
#include <stdlib.h>

#include "mpa.h"
#include "mpa_frame.h"
#include "fuzz.h"
#include "fuzz_options.h"
#include "util.h"

#define HEAD	17

struct verdict {
	enum tern_mpa_parse parse;
	u32 used;
	struct tern_mpa_msg msg;
};

/* parse a copy in a heap block, so that ASan detects reads before and after it */
static enum tern_mpa_parse parse_alone(enum tern_mpa_kind kind, const u8 *p,
				       u32 len, u32 *need,
				       struct tern_mpa_msg *msg)
{
	enum tern_mpa_parse verdict;
	u8 *copy = malloc(len + !len);

	memcpy(copy, p, len);
	verdict = tern_mpa_parse(kind, copy, len, need, msg);
	if (verdict == TERN_MPA_WHOLE) {
		must(msg->pd >= copy && msg->pd + msg->pd_len <= copy + len);
		msg->pd = p + (msg->pd - copy);
	}
	free(copy);
	return verdict;
}

/* read as the driver does: never more than the parser asks for */
static struct verdict read_frame(enum tern_mpa_kind kind, const u8 *p, u32 len,
				 u32 step)
{
	struct verdict v = { .parse = TERN_MPA_MORE };
	u32 need = 0;

	while (1) {
		v.parse = parse_alone(kind, p, v.used, &need, &v.msg);
		if (v.parse != TERN_MPA_MORE || v.used == len)
			return v;
		must(need > v.used && need <= TERN_MPA_FRAME_MAX);
		v.used += min(min(step, need - v.used), len - v.used);
	}
}

static void check_params(const struct tern_mpa_options *opt,
			 const struct tern_mpa_params *p)
{
	must(p->ird <= 128 && p->ord <= opt->ord);
	must(p->ird >= opt->ird);
	must(p->version <= 1);
	if (!p->version)
		must(p->crc && p->tx_markers && p->rx_markers);
	if (opt->crc)
		must(p->crc);
	if (p->version)
		must(p->rx_markers == opt->markers);
	/* RFC 5044 appendix C: the versions of each type of RNIC */
	if (opt->type == TERN_MPA_RDMAC)
		must(!p->version);
	if (opt->type == TERN_MPA_NONPERMISSIVE)
		must(p->version);
}

/* check the initiator's result for any Reply */
static void judge_reply(const struct tern_mpa_options *opt,
			const struct tern_mpa_msg *reply)
{
	struct tern_mpa_params params;
	int term;

	if (tern_mpa_gate_reply(opt, reply) != TERN_MPA_GO)
		return;
	term = tern_mpa_settle(opt, reply, &params);
	check_params(opt, &params);
	must(params.initiator);
	if (term != TERN_TERM_NONE) {
		must(term == TERN_TERM_MPA_IRD || term == TERN_TERM_MPA_RTR);
		must(params.rtr == TERN_MPA_RTR_NONE);
	}
	if (!reply->enhanced)
		must(term == TERN_TERM_NONE && !params.p2p && !params.rtr);
}

static void check_reply(const struct tern_mpa_msg *req,
			const struct tern_mpa_msg *reply)
{
	u8 out[TERN_MPA_FRAME_MAX];
	struct tern_mpa_msg back;
	u32 need, len;

	len = tern_mpa_build(TERN_MPA_REPLY, reply, out);
	must(len == (reply->enhanced ? 24 : 20));
	must(parse_alone(TERN_MPA_REPLY, out, len, &need, &back) == TERN_MPA_WHOLE);
	must(back.ird == reply->ird && back.ord == reply->ord);
	must(reply->rev <= 2 && !(reply->flags & 0x0f));
	if (reply->enhanced)
		must(req->enhanced && !((reply->ird ^ req->ird) & TERN_MPA_IRD_P2P));
}

/* check the responder's results for any Request */
static void judge_request(const struct tern_mpa_options *opt,
			  const struct tern_mpa_msg *req)
{
	struct tern_mpa_params params;
	struct tern_mpa_msg reply;

	switch (tern_mpa_gate_request(opt, req)) {
	case TERN_MPA_GO:
		tern_mpa_accept(opt, req, &reply, &params);
		check_params(opt, &params);
		check_reply(req, &reply);
		must(!(reply.flags & TERN_MPA_F_REJECT) && !params.rtr);
		if (reply.enhanced && (req->ird & TERN_MPA_DEPTH_MASK) !=
				      TERN_MPA_DEPTH_NONE)
			must(params.ord <= (req->ird & TERN_MPA_DEPTH_MASK));
		tern_mpa_reject(opt, req, &reply);
		check_reply(req, &reply);
		must(reply.flags & TERN_MPA_F_REJECT);
		break;
	case TERN_MPA_REFUSE:
		tern_mpa_refuse(opt, req, &reply);
		check_reply(req, &reply);
		must(reply.flags & TERN_MPA_F_REJECT && !reply.enhanced);
		break;
	default:
		break;
	}
}

/* both ends have agreed on the same parameters */
static void compare(const struct tern_mpa_msg *req,
		    const struct tern_mpa_params *ip,
		    const struct tern_mpa_params *rp)
{
	must(ip->version == rp->version && ip->crc == rp->crc);
	must(ip->tx_markers == rp->rx_markers);
	must(rp->tx_markers == ip->rx_markers);
	must(ip->p2p == rp->p2p && !!ip->rtr == ip->p2p);
	if (ip->rtr)
		must(rp->rtr_accept & BIT(ip->rtr));
	if (req->enhanced)
		must(ip->ord <= rp->ird && rp->ord <= ip->ird);
}

/*
 * One attempt to connect. Return: what the initiator does next; a close without a Reply
 * is TERN_MPA_RETRY.
 */
static enum tern_mpa_gate attempt(const struct tern_mpa_options *iw,
				  const struct tern_mpa_options *rw)
{
	struct tern_mpa_params ip, rp;
	struct tern_mpa_msg req, reply;
	enum tern_mpa_gate gate;

	tern_mpa_request(iw, &req);
	gate = tern_mpa_gate_request(rw, &req);
	if (gate == TERN_MPA_CLOSE)
		return TERN_MPA_RETRY;
	if (gate == TERN_MPA_REFUSE)
		tern_mpa_refuse(rw, &req, &reply);
	else
		tern_mpa_accept(rw, &req, &reply, &rp);
	gate = tern_mpa_gate_reply(iw, &reply);
	if (gate != TERN_MPA_GO)
		return gate;
	must(!(reply.flags & TERN_MPA_F_REJECT));
	if (tern_mpa_settle(iw, &reply, &ip) == TERN_TERM_NONE)
		compare(&req, &ip, &rp);
	return TERN_MPA_GO;
}

static bool is_rdmac(const struct tern_mpa_options *opt)
{
	return opt->type == TERN_MPA_RDMAC;
}

/*
 * Connect two ends of ours, with the retry. RFC 5044 appendix C, figures 15 to 17: that
 * succeeds unless one is RDMAC and the other Non-permissive.
 */
static void meet(struct tern_mpa_options iw, const struct tern_mpa_options *rw)
{
	bool strict = iw.type == TERN_MPA_NONPERMISSIVE ||
		      rw->type == TERN_MPA_NONPERMISSIVE;
	enum tern_mpa_gate gate = attempt(&iw, rw);

	if (gate == TERN_MPA_RETRY && tern_mpa_may_retry(&iw)) {
		tern_mpa_fall_back(&iw);
		gate = attempt(&iw, rw);
	}
	if (strict && (is_rdmac(&iw) || is_rdmac(rw)))
		must(gate != TERN_MPA_GO);
	else
		must(gate == TERN_MPA_GO);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct tern_mpa_options ours, theirs;
	enum tern_mpa_kind kind;
	struct verdict v, w;
	u32 len;

	if (size < HEAD || size > 2 * TERN_MPA_FRAME_MAX)
		return 0;
	kind = data[0] & 1;
	ours = read_options(data + 1);
	theirs = read_options(data + 9);
	len = (u32)size - HEAD;

	meet(ours, &theirs);
	v = read_frame(kind, data + HEAD, len, UINT32_MAX);
	for (u32 step = 1; step < 40; step += 6) {
		w = read_frame(kind, data + HEAD, len, step);
		must(w.parse == v.parse);
		if (v.parse == TERN_MPA_WHOLE)
			must(w.used == v.used && w.msg.pd == v.msg.pd &&
			     w.msg.pd_len == v.msg.pd_len);
	}
	if (v.parse != TERN_MPA_WHOLE)
		return 0;
	if (kind == TERN_MPA_REPLY)
		judge_reply(&ours, &v.msg);
	else
		judge_request(&ours, &v.msg);
	return 0;
}
