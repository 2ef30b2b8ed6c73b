/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The send engine: builds bursts of FPDUs and hands them to TCP. */
#ifndef TERN_TX_H
#define TERN_TX_H

#include <linux/timekeeping.h>
#include <linux/types.h>

struct tern_qp;

void tern_tx_init(struct tern_qp *qp, u32 mss);

/* free what is left of a burst; Context: the engine does not run any more */
void tern_tx_exit(struct tern_qp *qp);

/**
 * enum tern_tx_result - why tern_tx_run() ended
 * @TERN_TX_IDLE: nothing is due, or an event will run it again
 * @TERN_TX_MORE: the budget was used up: call again soon
 * @TERN_TX_NOMEM: no memory for a fragment: call again later
 */
enum tern_tx_result {
	TERN_TX_IDLE,
	TERN_TX_MORE,
	TERN_TX_NOMEM,
};

/**
 * tern_tx_run() - send what is due
 * @qp: attached
 * @bursts: send at most this many
 *
 * A nested call (TCP may deliver received data inside our own sendmsg) only
 * makes the running call look again. Context: the socket lock is held; does not
 * sleep.
 */
enum tern_tx_result tern_tx_run(struct tern_qp *qp, u32 bursts);

/**
 * tern_tx_cut() - read no more of the message that is being sent
 * @qp: attached or not; its stream ends
 *
 * A flush calls it, since completing an entry returns its memory to the owner:
 * what the owner writes there next must not go to a peer that keeps its window
 * shut. The same holds for a Response, whose memory a kernel user may free when
 * its QP was flushed. Context: the stream lock is held.
 */
void tern_tx_cut(struct tern_qp *qp);

/* ns, for spans of up to 4 s */
static inline u32 tern_tx_now(void)
{
	return ktime_get_mono_fast_ns();
}

/* true when TCP has no part of an FPDU without the rest: a FIN may follow */
bool tern_tx_at_boundary(const struct tern_qp *qp);

#endif /* TERN_TX_H */
