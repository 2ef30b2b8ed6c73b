/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The send engine: builds bursts of FPDUs and hands them to TCP. */
#ifndef TERN_TX_H
#define TERN_TX_H

#include <linux/timekeeping.h>
#include <linux/types.h>

#include "core/fpdu_tx.h"
#include "core/term.h"
#include "mem/sgl.h"
#include "mem/slot.h"
#include "queue/sq.h"
#include "burst.h"

struct tern_stream;

enum tern_tx_source {
	TERN_TX_NONE,		/* between two messages */
	TERN_TX_WQE,		/* a send queue entry */
	TERN_TX_RESPONSE,	/* the oldest inbound Read or atomic */
	TERN_TX_TERMINATE,
	TERN_TX_RTR,		/* likewise a probe: a Read of nothing */
	TERN_TX_HELLO,
};

/**
 * struct tern_tx - send engine of one stream; guarded by the socket lock, except
 * @idle_at
 * @fpdu: framing
 * @msg: message in progress
 * @source: where @msg comes from
 * @wqe: copy of the entry, with @source TERN_TX_WQE
 * @sgl: the part of the payload that is still to be read, of @wqe or of a Read Response
 * @slot: the STag that payload was last read from
 * @imm_follows: the Immediate Data of @wqe, a Write, is the next message
 * @hello_role: enum tern_hello_role, with @source TERN_TX_HELLO
 * @send_msn: next MSN of queue 0
 * @read_msn: next MSN of queue 1
 * @resp_msn: next MSN of queue 3
 * @active: the engine is running: a nested call only sets @again
 * @again: look again before the end
 * @stalled: the entry at the head of the SQ waits for an event of the stream,
 *	which will run the engine
 * @yielded: the burst ends here, and no Response begins in it either: too many entries
 *	sent nothing, the next one fails, and has to complete after the burst, or an atomic
 *	got no turn
 * @locals: entries of this burst that sent nothing
 * @idle_at: when the engine last had nothing to do, tern_tx_now(); a hint
 * @burst: FPDUs built and not yet taken by TCP
 * @burst_head: SQ entries before this index are done when @burst is sent
 * @prefer_wqe: the last message was a Response: it is the SQ's turn
 * @term_code: Terminate to be sent, TERN_TERM_NONE for none
 * @term_seg: the offending segment, if there is one
 * @term_hdr: its headers
 * @term_sent: the one Terminate was built; it is in the burst, or sent
 * @rtr: RTR to be sent first
 * @messages: RDMAP messages whose last FPDU was built
 */
struct tern_tx {
	struct tern_fpdu_tx fpdu;
	struct tern_tx_msg msg;
	enum tern_tx_source source;
	struct tern_wqe wqe;
	struct tern_sgl sgl;
	struct tern_mem_slot slot;
	bool imm_follows;
	u8 hello_role;
	u32 send_msn;
	u32 read_msn;
	u32 resp_msn;
	bool active;
	bool again;
	bool stalled;
	bool yielded;
	u32 locals;
	u32 idle_at;
	struct tern_burst burst;
	u32 burst_head;
	bool prefer_wqe;
	int term_code;
	struct tern_term_seg term_seg;
	u8 term_hdr[TERN_HDR_MAX + 2];
	bool term_sent;
	u8 rtr;
	u64 messages;
};

void tern_tx_init(struct tern_stream *s, u32 mss);

/* in ERROR: drop what is left of a burst. Context: the stream lock is held */
void tern_tx_end(struct tern_stream *s);

/**
 * enum tern_tx_result - why tern_tx_run() ended
 * @TERN_TX_IDLE: nothing is due, or an event will run it again
 * @TERN_TX_MORE: the budget was used up: call again soon
 * @TERN_TX_LOCAL: likewise, and nothing was to be sent, by what a program posts: call again
 *	soon in the process that posted it, which pays for the time, else later
 * @TERN_TX_NOMEM: no memory for a fragment: call again later
 */
enum tern_tx_result {
	TERN_TX_IDLE,
	TERN_TX_MORE,
	TERN_TX_LOCAL,
	TERN_TX_NOMEM,
};

/**
 * tern_tx_run() - send what is due
 * @s: attached
 * @bursts: send at most this many
 *
 * A nested call (TCP may deliver received data inside our own sendmsg) only
 * makes the running call look again. Context: the socket lock is held; does not
 * sleep.
 */
enum tern_tx_result tern_tx_run(struct tern_stream *s, u32 bursts);

/* the engine has nothing to do: a pause of the program begins, see is_batching() in tx_sched.c */
void tern_tx_rest(struct tern_stream *s);

/* ns, for spans of up to 4 s */
static inline u32 tern_tx_now(void)
{
	return ktime_get_mono_fast_ns();
}

#endif /* TERN_TX_H */
