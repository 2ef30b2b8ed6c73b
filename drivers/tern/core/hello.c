// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The hello of both ends: RFC 7306 1.1, RFC 5041 5.2. */
#include "hello.h"

#define KNOWN	(TERN_HELLO_7306 | TERN_HELLO_V2 | TERN_HELLO_LONG)

#define TO_VERSION_SHIFT	24
#define TO_ROLE_SHIFT		16

u64 tern_hello_to(const struct tern_hello_msg *msg)
{
	return (u64)TERN_HELLO_TO_HIGH << 32 |
	       (u32)msg->version << TO_VERSION_SHIFT |
	       (u32)msg->role << TO_ROLE_SHIFT | msg->features;
}

static bool looks_like_hello(u32 stag, u64 to)
{
	return stag == TERN_HELLO_STAG && to >> 32 == TERN_HELLO_TO_HIGH;
}

bool tern_hello_parse(u32 stag, u64 to, struct tern_hello_msg *msg)
{
	msg->version = (u8)(to >> TO_VERSION_SHIFT);
	msg->role = (u8)(to >> TO_ROLE_SHIFT);
	msg->features = (u16)to;
	return looks_like_hello(stag, to) && msg->version &&
	       msg->role >= TERN_HELLO_OFFER && msg->role <= TERN_HELLO_GO;
}

u64 tern_hello_ulp_to(u32 stag, u64 to)
{
	return looks_like_hello(stag, to) ? 0 : to;
}

/* version 2 is made of the opcodes of RFC 7306, too: not without them */
static u16 sound(u16 features)
{
	features &= KNOWN;
	if (!(features & TERN_HELLO_7306))
		features &= ~TERN_HELLO_V2;
	return features;
}

/* how an end begins */
static enum tern_hello_state first_state(const struct tern_hello *h,
					 const struct tern_hello_options *opt)
{
	if (h->extensions == TERN_HELLO_OFF)
		return TERN_HELLO_OVER;
	if (!opt->initiator)
		return TERN_HELLO_LISTENING;
	if (!h->features)
		return TERN_HELLO_OVER;
	switch (opt->rtr) {
	case TERN_MPA_RTR_WRITE:
		return TERN_HELLO_RTR_DUE;
	case TERN_MPA_RTR_NONE:
		return TERN_HELLO_OFFER_DUE;
	default:
		/* the RTR opens the fence: no answer would be the first FPDU */
		return TERN_HELLO_OVER;
	}
}

void tern_hello_init(struct tern_hello *h,
		     const struct tern_hello_options *opt)
{
	*h = (struct tern_hello) {
		.extensions = opt->version ? opt->extensions : TERN_HELLO_OFF,
		.features = sound(opt->features),
		.msg_version = TERN_HELLO_VERSION,
		.tx_rv = opt->version,
		.rx_rv = opt->version,
	};
	h->state = first_state(h, opt);
	h->decided = h->state == TERN_HELLO_OVER;
}

static void fill(const struct tern_hello *h, enum tern_hello_role role,
		 struct tern_hello_msg *msg)
{
	msg->version = h->msg_version;
	msg->role = role;
	msg->features = role == TERN_HELLO_OFFER ? h->features : h->agreed;
}

/* @ulp: the next message is the ULP's */
bool tern_hello_due(const struct tern_hello *h, bool ulp, struct tern_hello_msg *msg)
{
	switch (h->state) {
	case TERN_HELLO_OFFER_DUE:
		if (!ulp)
			return false;
		fallthrough;
	case TERN_HELLO_RTR_DUE:
		fill(h, TERN_HELLO_OFFER, msg);
		return true;
	case TERN_HELLO_ANSWER_DUE:
		fill(h, TERN_HELLO_ANSWER, msg);
		return true;
	case TERN_HELLO_GO_DUE:
		fill(h, TERN_HELLO_GO, msg);
		return true;
	default:
		return false;
	}
}

void tern_hello_sent(struct tern_hello *h, enum tern_hello_role role)
{
	bool v2 = h->agreed & TERN_HELLO_V2;

	switch (role) {
	case TERN_HELLO_OFFER:
		h->state = TERN_HELLO_OFFERED;
		break;
	case TERN_HELLO_ANSWER:
		h->state = v2 ? TERN_HELLO_ANSWERED : TERN_HELLO_OVER;
		if (v2)
			h->tx_rv = TERN_HELLO_RV2;
		break;
	case TERN_HELLO_GO:
		h->state = TERN_HELLO_OVER;
		h->tx_rv = TERN_HELLO_RV2;
		break;
	}
}

static bool has_role(const struct tern_hello_msg *msg,
		     enum tern_hello_role role)
{
	return msg && msg->role == role;
}

/* what both ends have, in the lower version of both */
static void agree(struct tern_hello *h, const struct tern_hello_msg *msg)
{
	h->agreed = sound(h->features & msg->features);
	h->msg_version = min(h->msg_version, msg->version);
}

static void read_answer(struct tern_hello *h, const struct tern_hello_msg *msg)
{
	agree(h, msg);
	if (h->agreed & TERN_HELLO_V2) {
		h->rx_rv = TERN_HELLO_RV2;
		h->state = TERN_HELLO_GO_DUE;
	} else {
		h->state = TERN_HELLO_OVER;
	}
}

static void read_first(struct tern_hello *h, const struct tern_hello_msg *msg)
{
	if (has_role(msg, TERN_HELLO_OFFER)) {
		agree(h, msg);
		h->state = TERN_HELLO_ANSWER_DUE;
	} else {
		h->state = TERN_HELLO_OVER;
	}
}

static void read_go(struct tern_hello *h)
{
	h->rx_rv = TERN_HELLO_RV2;
	h->state = TERN_HELLO_OVER;
}

void tern_hello_fpdu(struct tern_hello *h, const struct tern_hello_msg *msg)
{
	/* the first FPDU decides for either end: an answer, an offer, or no */
	h->decided = true;
	if (h->state == TERN_HELLO_OFFERED && has_role(msg, TERN_HELLO_ANSWER))
		read_answer(h, msg);
	else if (h->state == TERN_HELLO_LISTENING)
		read_first(h, msg);
	else if (h->state == TERN_HELLO_ANSWERED && has_role(msg, TERN_HELLO_GO))
		read_go(h);
}

void tern_hello_timeout(struct tern_hello *h)
{
	if (h->state == TERN_HELLO_OFFERED)
		h->decided = true;
}

u32 tern_hello_rx_sets(const struct tern_hello *h)
{
	u32 sets = TERN_OPS_BASE;

	if (h->extensions != TERN_HELLO_OFF)
		sets |= TERN_OPS_7306;
	if (h->rx_rv == TERN_HELLO_RV2)
		sets |= TERN_OPS_V2;
	return sets;
}

/* a feature that we may send after our next hello, or now */
static enum tern_hello_verdict verdict(const struct tern_hello *h, u16 feature,
				       bool now)
{
	if (now)
		return TERN_HELLO_YES;
	if (!h->decided || h->agreed & feature)
		return TERN_HELLO_UNKNOWN;
	return TERN_HELLO_NO;
}

/* a responder may send it after its answer only */
static bool is_in_force(const struct tern_hello *h, u16 feature)
{
	return h->agreed & feature && h->state != TERN_HELLO_ANSWER_DUE;
}

static bool may_send_7306(const struct tern_hello *h)
{
	return h->extensions == TERN_HELLO_ASSUME_7306 ||
	       is_in_force(h, TERN_HELLO_7306);
}

enum tern_hello_verdict tern_hello_may_send(const struct tern_hello *h,
					    enum tern_op_set set)
{
	switch (set) {
	case TERN_OPS_BASE:
		return TERN_HELLO_YES;
	case TERN_OPS_7306:
		return verdict(h, TERN_HELLO_7306, may_send_7306(h));
	case TERN_OPS_V2:
		return verdict(h, TERN_HELLO_V2, h->tx_rv == TERN_HELLO_RV2);
	}
	return TERN_HELLO_NO;
}

bool tern_hello_may_send_long(const struct tern_hello *h)
{
	return is_in_force(h, TERN_HELLO_LONG);
}

bool tern_hello_wants_probe(const struct tern_hello *h)
{
	return h->state == TERN_HELLO_OFFERED && !h->decided;
}
