/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* One end of a hello in each situation, for the tests of core/hello.c. */
#ifndef TERN_HELLO_END_H
#define TERN_HELLO_END_H

#include "hello.h"
#include "../test.h"

#define ALL	(TERN_HELLO_7306 | TERN_HELLO_V2 | TERN_HELLO_LONG)
#define BOTH	(TERN_HELLO_7306 | TERN_HELLO_V2)

/* any FPDU that is no hello */
#define OTHER	NULL

#define HELLO(r, f)	(&(const struct tern_hello_msg){ \
	.version = TERN_HELLO_VERSION, .role = (r), .features = (f) })
#define OFFER(f)	HELLO(TERN_HELLO_OFFER, f)
#define ANSWER(f)	HELLO(TERN_HELLO_ANSWER, f)
#define GO(f)		HELLO(TERN_HELLO_GO, f)

static inline struct tern_hello begin(struct tern_hello_options opt)
{
	struct tern_hello h;

	memset(&h, 0xff, sizeof(h));
	tern_hello_init(&h, &opt);
	return h;
}

static inline struct tern_hello_options options(bool initiator, u8 rtr,
						u16 features)
{
	return (struct tern_hello_options){
		.extensions = TERN_HELLO_NEGOTIATE,
		.features = features,
		.version = 1,
		.initiator = initiator,
		.rtr = rtr,
	};
}

static inline struct tern_hello initiator(u16 features)
{
	return begin(options(true, TERN_MPA_RTR_WRITE, features));
}

static inline struct tern_hello responder(u16 features)
{
	return begin(options(false, TERN_MPA_RTR_NONE, features));
}

/* no hello is due, not even in front of the ULP's message */
static inline bool is_quiet(const struct tern_hello *h)
{
	struct tern_hello_msg msg;

	return !tern_hello_next(h, &msg) && !tern_hello_before_ulp(h, &msg);
}

/* send the hello that is due; it has to be @role with @features */
static inline void must_send(struct tern_hello *h, enum tern_hello_role role,
			     u16 features)
{
	struct tern_hello_msg msg = {}, again = {};

	must(tern_hello_next(h, &msg));
	must(tern_hello_before_ulp(h, &again));
	expect(!memcmp(&msg, &again, sizeof(msg)));
	expect_eq(msg.version, 1);
	expect_eq(msg.role, role);
	expect_eq(msg.features, features);
	tern_hello_sent(h, role);
}

static inline struct tern_hello offered(u16 features)
{
	struct tern_hello h = initiator(features);

	must_send(&h, TERN_HELLO_OFFER, features);
	return h;
}

/* a responder with @features that has answered an offer of ALL */
static inline struct tern_hello answered(u16 features)
{
	struct tern_hello h = responder(features);

	tern_hello_fpdu(&h, OFFER(ALL));
	must_send(&h, TERN_HELLO_ANSWER, features);
	return h;
}

#define U	TERN_HELLO_UNKNOWN
#define N	TERN_HELLO_NO
#define Y	TERN_HELLO_YES

/* what RFC 7306 and version 2 may do; RFC 5040 always goes */
static inline void expect_may(const struct tern_hello *h, enum tern_hello_verdict by_7306,
			      enum tern_hello_verdict by_v2)
{
	expect_eq(tern_hello_may_send(h, TERN_OPS_BASE), TERN_HELLO_YES);
	expect_eq(tern_hello_may_send(h, TERN_OPS_7306), by_7306);
	expect_eq(tern_hello_may_send(h, TERN_OPS_V2), by_v2);
}

static inline void expect_rv(const struct tern_hello *h, u8 tx, u8 rx)
{
	expect_eq(tern_hello_tx_rv(h), tx);
	expect_eq(tern_hello_rx_rv(h), rx);
}

/* the result is no */
static inline void expect_no(const struct tern_hello *h)
{
	expect(tern_hello_decided(h));
	expect_eq(tern_hello_agreed(h), 0);
	expect_may(h, N, N);
	expect_rv(h, 1, 1);
}

/* the result is @features, and nothing is due */
static inline void expect_agreed(const struct tern_hello *h, u16 features)
{
	expect(tern_hello_decided(h));
	expect_eq(tern_hello_agreed(h), features);
	expect(is_quiet(h));
}

/* what two ends agree on; written without the code's way to get there */
static inline u16 common(u16 a, u16 b)
{
	static const u16 sound[] = { 0, 1, 0, 3, 4, 5, 4, 7 };

	return sound[sound[a & 7] & sound[b & 7]];
}

#endif /* TERN_HELLO_END_H */
