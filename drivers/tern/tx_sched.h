/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where and when the send engine runs. */
#ifndef TERN_TX_SCHED_H
#define TERN_TX_SCHED_H

#include "tx.h"

struct tern_qp;

int tern_tx_sched_init(void);
void tern_tx_sched_exit(void);

void tern_tx_sched_init_qp(struct tern_qp *qp);

/* cancel what is scheduled, for good; Context: process */
void tern_tx_sched_exit_qp(struct tern_qp *qp);

/* run the engine soon; Context: any, interrupts on or off */
void tern_tx_kick(struct tern_qp *qp);

/* schedule the next run as @result of the last one says; Context: any */
void tern_tx_sched(struct tern_qp *qp, enum tern_tx_result result);

/**
 * tern_tx_doorbell() - a program rang: look at all queues of the QP
 * @qp: the program's
 *
 * Runs the engine in the caller; or, while the program batches Writes and Reads, some
 * microseconds later for all that it posts until then without a doorbell. Context:
 * process, may sleep.
 */
void tern_tx_doorbell(struct tern_qp *qp);

/* run in the caller; Context: process, may sleep */
void tern_tx_run_here(struct tern_qp *qp);

#endif /* TERN_TX_SCHED_H */
