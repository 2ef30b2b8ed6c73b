// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Two ends that talk: their engines, and what has to be true of what they send. */
#include "talk.h"

/* what two ends have in common, without the code's way to get there */
u16 talk_common(const struct talk *t)
{
	static const u8 sound[] = { 0, 1, 0, 3, 4, 5, 4, 7 };
	const struct tern_hello_options *a = &t->end[0].opt, *b = &t->end[1].opt;

	if (!a->version || a->extensions == TERN_HELLO_OFF ||
	    b->extensions == TERN_HELLO_OFF || a->rtr > TERN_MPA_RTR_WRITE)
		return 0;
	return sound[sound[a->features & 7] & sound[b->features & 7]];
}

void talk_init(struct talk *t, const struct tern_hello_options opt[2])
{
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < 2; i++) {
		t->end[i].opt = opt[i];
		tern_hello_init(&t->end[i].hello, &opt[i]);
	}
	t->end[0].rtr_due = opt[0].rtr != TERN_MPA_RTR_NONE;
	t->end[1].fence = true;
}

void talk_add(struct talk_end *e, struct talk_msg msg)
{
	e->program[e->count++] = msg;
}

/* ---- sending -------------------------------------------------------------------- */

static void push(struct talk_end *e, struct talk_fpdu fpdu)
{
	must(e->piped < TALK_PIPE);
	e->pipe[e->piped++] = fpdu;
	e->sent++;
}

static void send_hello(struct talk_end *e, const struct tern_hello_msg *msg)
{
	/* offer and answer are the first FPDU of their end */
	if (msg->role != TERN_HELLO_GO)
		expect_eq(e->sent, 0, "hello of role %u", msg->role);
	expect_eq(msg->role == TERN_HELLO_ANSWER, !e->opt.initiator);
	expect(!(e->hellos & BIT(msg->role)), "role %u twice", msg->role);
	e->hellos |= BIT(msg->role);
	push(e, (struct talk_fpdu){
		.to = tern_hello_to(msg), .stag = TERN_HELLO_STAG,
		.set = TERN_OPS_BASE, .rv = tern_hello_tx_rv(&e->hello),
	});
	tern_hello_sent(&e->hello, msg->role);
}

static bool proceed(struct talk_end *e)
{
	if (!e->left)
		return false;
	e->left--;
	push(e, (struct talk_fpdu){
		.set = e->now.set, .rv = e->now_rv, .asks = e->now.asks && !e->left,
	});
	return true;
}

static bool start(struct talk_end *e, struct talk_msg msg)
{
	e->now = msg;
	e->now_rv = tern_hello_tx_rv(&e->hello);
	e->left = msg.fpdus;
	return proceed(e);
}

/* a Write, Read or Send, whose Write may be the offer */
static bool send_rtr(struct talk_end *e)
{
	struct tern_hello_msg msg;

	e->rtr_due = false;
	if (tern_hello_next(&e->hello, &msg)) {
		expect_eq(e->opt.rtr, TERN_MPA_RTR_WRITE);
		send_hello(e, &msg);
		return true;
	}
	return start(e, (struct talk_msg){
		.set = TERN_OPS_BASE, .fpdus = 1, .asks = e->opt.rtr == TERN_MPA_RTR_READ,
	});
}

static bool due_hello(struct talk_end *e)
{
	struct tern_hello_msg msg;

	if (e->left || e->fence)
		return false;
	if (e->rtr_due)
		return send_rtr(e);
	if (!tern_hello_next(&e->hello, &msg))
		return false;
	/* an offer would open the responder's fence before the ULP sends */
	expect(msg.role != TERN_HELLO_OFFER);
	send_hello(e, &msg);
	return true;
}

/* may this end start a message other than a hello? */
static bool may_start(const struct talk_end *e)
{
	struct tern_hello_msg msg;

	return !e->left && !e->fence && !e->rtr_due && !tern_hello_next(&e->hello, &msg);
}

/* an opcode of @set is only sent if both ends want that, or we assume it */
static void check_may(const struct talk *t, const struct talk_end *e, u8 set)
{
	u16 common = talk_common(t);

	if (set == TERN_OPS_7306)
		expect(common & TERN_HELLO_7306 ||
		       e->opt.extensions == TERN_HELLO_ASSUME_7306);
	if (set == TERN_OPS_V2)
		expect(common & TERN_HELLO_V2 && e->hello.tx_rv == TERN_HELLO_RV2);
}

static bool ulp(struct talk *t, struct talk_end *e)
{
	struct tern_hello_msg msg;
	struct talk_msg m;

	if (e->next == e->count || !may_start(e))
		return false;
	if (tern_hello_before_ulp(&e->hello, &msg)) {
		send_hello(e, &msg);
		return true;
	}
	m = e->program[e->next];
	switch (tern_hello_may_send(&e->hello, m.set)) {
	case TERN_HELLO_UNKNOWN:
		return false;
	case TERN_HELLO_NO:
		e->refused |= m.set;
		e->next++;
		return true;
	case TERN_HELLO_YES:
		break;
	}
	check_may(t, e, m.set);
	e->next++;
	return start(e, m);
}

static bool respond(struct talk *t, struct talk_end *e)
{
	u8 set = e->owed[0];

	if (!e->owed_count || !may_start(e))
		return false;
	memmove(e->owed, e->owed + 1, sizeof(e->owed) - 1);
	e->owed[sizeof(e->owed) - 1] = 0;
	e->owed_count--;
	/* what the requester assumed, the Response may assume */
	check_may(t, set == TERN_OPS_7306 ? &t->end[e == t->end] : e, set);
	return start(e, (struct talk_msg){ .set = set, .fpdus = 1 });
}

/* ---- reading -------------------------------------------------------------------- */

static struct talk_fpdu pop(struct talk_end *from)
{
	struct talk_fpdu fpdu = from->pipe[0];

	from->piped--;
	memmove(from->pipe, from->pipe + 1, sizeof(fpdu) * from->piped);
	memset(from->pipe + from->piped, 0, sizeof(fpdu));
	return fpdu;
}

/* an answer and a go say what was agreed on */
static void check_read(const struct talk *t, const struct tern_hello_msg *msg)
{
	if (msg->role != TERN_HELLO_OFFER)
		expect_eq(msg->features, talk_common(t));
}

static bool read_one(struct talk *t, struct talk_end *e, struct talk_end *peer)
{
	struct tern_hello_msg msg;
	struct talk_fpdu fpdu;

	if (!peer->piped)
		return false;
	fpdu = pop(peer);
	expect_eq(fpdu.rv, tern_hello_rx_rv(&e->hello));
	expect(fpdu.set & tern_hello_rx_sets(&e->hello), "set %u", fpdu.set);
	if (tern_hello_parse(fpdu.stag, fpdu.to, &msg)) {
		check_read(t, &msg);
		tern_hello_fpdu(&e->hello, &msg);
	} else {
		tern_hello_fpdu(&e->hello, NULL);
	}
	e->fence = false;
	if (fpdu.asks)
		e->owed[e->owed_count++] = fpdu.set;
	return true;
}

static bool time_out(struct talk *t, struct talk_end *e)
{
	if (!tern_hello_wants_probe(&e->hello))
		return false;
	tern_hello_timeout(&e->hello);
	expect(!tern_hello_wants_probe(&e->hello));
	t->timed_out = true;
	return true;
}

bool talk_step(struct talk *t, int who, enum talk_step step)
{
	struct talk_end *e = &t->end[who];

	switch (step) {
	case TALK_HELLO:
		return due_hello(e);
	case TALK_ULP:
		return ulp(t, e);
	case TALK_RESPOND:
		return respond(t, e);
	case TALK_CONTINUE:
		return proceed(e);
	case TALK_READ:
		return read_one(t, e, &t->end[!who]);
	default:
		return time_out(t, e);
	}
}

/* ---- the end ---------------------------------------------------------------------- */

static void check_result(const struct talk_end *e, u16 agreed)
{
	u8 rv = agreed & TERN_HELLO_V2 ? TERN_HELLO_RV2 : e->opt.version;

	expect(e->fence || tern_hello_decided(&e->hello));
	expect_eq(tern_hello_agreed(&e->hello), agreed);
	expect_eq(tern_hello_may_send_long(&e->hello), !!(agreed & TERN_HELLO_LONG));
	expect_eq(tern_hello_tx_rv(&e->hello), rv);
	expect_eq(tern_hello_rx_rv(&e->hello), rv);
}

/* a request is refused only if the ends do not agree, or gave up too early */
static void check_refused(const struct talk *t, const struct talk_end *e)
{
	u16 common = talk_common(t);

	if (t->timed_out)
		return;
	if (common & TERN_HELLO_7306)
		expect(!(e->refused & TERN_OPS_7306));
	if (common & TERN_HELLO_V2)
		expect(!(e->refused & TERN_OPS_V2));
	expect(!(e->refused & TERN_OPS_BASE));
}

void talk_check_end(const struct talk *t)
{
	const struct talk_end *e = t->end;
	bool offered = e[0].hellos & BIT(TERN_HELLO_OFFER);
	u16 agreed = offered ? talk_common(t) : 0;

	for (int i = 0; i < 2; i++) {
		expect(e[i].next == e[i].count || e[i].fence);
		expect_eq(e[i].owed_count, 0);
		expect(!e[i].rtr_due);
		check_refused(t, &e[i]);
	}
	/* an initiator whose ULP sent nothing has not offered yet */
	if (offered || !e[1].fence) {
		check_result(&e[0], agreed);
		check_result(&e[1], agreed);
	}
}
