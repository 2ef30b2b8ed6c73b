/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The receive engine: takes FPDUs out of the TCP receive queue. */
#ifndef TERN_RX_H
#define TERN_RX_H

#include <linux/types.h>

struct tern_qp;

void tern_rx_init(struct tern_qp *qp);

/**
 * tern_rx_run() - process every whole FPDU in the receive queue
 * @qp: attached
 *
 * Sets @qp->rx.reply when the send engine has something new to do. Context: the
 * socket lock is held; does not sleep.
 */
void tern_rx_run(struct tern_qp *qp);

#endif /* TERN_RX_H */
