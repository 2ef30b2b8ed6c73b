/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What the tests of the startup share (RFC 5044 7.1, RFC 6581 9 and 10): startups that
 * fail, and retries. */
#ifndef KNOCK_H
#define KNOCK_H

#include "meet.h"

/* connect to the device, send a frame */
struct peer *knock(uint16_t port, const struct mpa_frame *f);

/* the device closes without sending anything, and its ULP gets no event */
void must_be_refused(struct peer *p);

/* The device, as the initiator, closes without sending another byte and reports an
 * error to its ULP. Its attempts to connect again are refused. Destroys the
 * connection. */
void must_fail_call(struct meeting *m);

/* connect() has ended in an error event, no matter how TCP ended */
void must_get_call_error(struct meeting *m, struct agent_event *ev);

/* the device connects once more and sends a plain Request of Rev 1; that is m->p then */
void must_retry_plain(struct meeting *m);

/* the device does not connect once more */
void must_not_retry(void);

/* the device connects, gets @reply, closes and reports an error */
void must_refuse_reply(const struct mpa_frame *reply);

/* the device still works: a whole startup in its role succeeds */
void must_serve(void);

/* a Reply that the device must accept, by its Request */
void good_reply(const struct meeting *m, struct mpa_frame *f);

/* a Reply of this Rev, with C and @flags */
void rev_reply(struct mpa_frame *f, uint8_t rev, uint8_t flags);

/* @f is what the device accepts: a plain connection reaches Full Operation */
void must_be_up_plain(struct meeting *m, const struct mpa_frame *f);

/* with this setting the device sends a Request of this Rev and S */
void call_with(struct meeting *m, const char *setting, uint8_t rev, uint8_t s);

/* the device sends an enhanced Request by default, or the test is skipped */
void call_enhanced(struct meeting *m);

#endif /* KNOCK_H */
