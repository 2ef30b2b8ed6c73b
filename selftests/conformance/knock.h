/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the tests of frame.c and gate.c have in common: startups that fail. */
#ifndef KNOCK_H
#define KNOCK_H

#include "meet.h"

/* connect to the device, send a frame */
struct peer *knock(uint16_t port, const struct mpa_frame *f);

/* it closes, sends nothing, and its ULP hears nothing */
void expect_refused(struct peer *p);

/* the device, as the initiator, closes without another octet, and tells its ULP
 * that it failed; attempts to connect anew are turned away. Destroys the
 * connection. */
void expect_call_fails(struct meeting *m);

/* its connect() has ended in an error event, whatever became of TCP */
void expect_call_error(struct meeting *m, struct agent_event *ev);

/* it connects once more and sends a plain Request of Rev 1, which m->p then is */
void expect_plain_retry(struct meeting *m);

/* it does not connect once more */
void expect_no_retry(void);

/* connect()s, gets @reply, closes, fails */
void expect_reply_refused(const struct mpa_frame *reply);

/* after all that the device still serves: a whole startup in its role works */
void expect_serves(void);

/* a Reply that the device must like, by what its Request was */
void good_reply(const struct meeting *m, struct mpa_frame *f);

/* a Reply of this Rev, with C and @flags */
void rev_reply(struct mpa_frame *f, uint8_t rev, uint8_t flags);

/* @f is what the device wants: a plain connection goes to Full Operation */
void expect_plain_up(struct meeting *m, const struct mpa_frame *f);

/* with this setting it sends a Request of this Rev and S */
void call_with(struct meeting *m, const char *setting, uint8_t rev, uint8_t s);

/* it asks in an enhanced way by default, or the row is not for it */
void call_enhanced(struct meeting *m);

#endif /* KNOCK_H */
