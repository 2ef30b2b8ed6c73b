/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stream of a QP: its lock, its states, and the socket's callbacks, which
 * run the engines. What the rest of the module calls is declared in qp.h.
 */
#ifndef TERN_STREAM_H
#define TERN_STREAM_H

struct tern_qp;

/* stop the callbacks for good; Context: process, the stream lock not held */
void tern_stream_detach(struct tern_qp *qp);

#endif /* TERN_STREAM_H */
