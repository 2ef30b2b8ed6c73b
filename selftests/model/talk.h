/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Two ends that talk: each has a hello (core/hello.h), a program of messages of its ULP
 * and a small engine, which does what hello.h asks of the driver's. A pipe in each
 * direction keeps FPDUs in order. The state has no pointers: copies are worlds of their
 * own, equal ones have equal bytes.
 */
#ifndef TERN_MODEL_TALK_H
#define TERN_MODEL_TALK_H

#include "hello.h"
#include "../test.h"

#define TALK_PROGRAM	6
#define TALK_PIPE	48

/**
 * struct talk_msg - a message of a ULP, or a Response
 * @set: enum tern_op_set of its opcode
 * @asks: a request, which a Response of the same set answers
 * @fpdus: number of FPDUs
 */
struct talk_msg {
	u8 set;
	bool asks;
	u8 fpdus;
};

/**
 * struct talk_fpdu - an FPDU in a pipe
 * @set: as in talk_msg
 * @rv: RDMAP version in its header
 * @asks: the last one of a request
 * @stag: of an empty Write, else 0
 * @to: likewise
 */
struct talk_fpdu {
	u64 to;
	u32 stag;
	u8 set;
	u8 rv;
	bool asks;
};

/**
 * struct talk_end - one end
 * @hello: under test
 * @opt: what it began with
 * @program: messages of the ULP; @next is the next one of @count
 * @owed: sets of requests read that a Response is due for
 * @left: FPDUs of the message in progress that are not sent yet
 * @now: message in progress
 * @now_rv: its version
 * @rtr_due: the initiator's RTR is not sent yet
 * @fence: a responder that has read nothing
 * @sent: FPDUs so far
 * @hellos: BIT(enum tern_hello_role) sent
 * @refused: sets of requests that were refused
 * @pipe: FPDUs to the peer; @piped of them, the oldest first
 */
struct talk_end {
	struct tern_hello hello;
	struct tern_hello_options opt;
	struct talk_msg program[TALK_PROGRAM];
	u8 next, count;
	u8 owed[2 * TALK_PROGRAM];
	u8 owed_count;
	struct talk_msg now;
	u8 left;
	u8 now_rv;
	bool rtr_due;
	bool fence;
	u32 sent;
	u32 hellos;
	u32 refused;
	struct talk_fpdu pipe[TALK_PIPE];
	u32 piped;
};

/* end 0 is the initiator */
struct talk {
	struct talk_end end[2];
	bool timed_out;
};

/* what an end may do next */
enum talk_step {
	TALK_HELLO,		/* send the hello that is due, or the RTR */
	TALK_ULP,		/* start the ULP's next message, or refuse it */
	TALK_RESPOND,		/* start a Response */
	TALK_CONTINUE,		/* next FPDU of the message in progress */
	TALK_READ,		/* read an FPDU of the peer */
	TALK_TIMEOUT,		/* the RTR time ends */
	TALK_STEPS,
};

void talk_init(struct talk *t, const struct tern_hello_options opt[2]);
void talk_add(struct talk_end *e, struct talk_msg msg);

/**
 * talk_step() - an end does one step, if it can
 * @t: world
 * @who: 0 or 1
 * @step: what it does
 *
 * Checks that a message read has the version and an opcode that its receiver expects.
 * Return: false if the step is not possible now; nothing was changed then.
 */
bool talk_step(struct talk *t, int who, enum talk_step step);

/* no step is possible but a timeout: check what both ends ended up with */
void talk_check_end(const struct talk *t);

/* the features that both ends can agree on */
u16 talk_common(const struct talk *t);

#endif /* TERN_MODEL_TALK_H */
