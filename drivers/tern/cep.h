/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection endpoint: one connection as iw_cm sees it, from the TCP connect or
 * accept to the last event. This header is what the rest of the module sees of
 * it; cm.c and cep.c are its inside.
 */
#ifndef TERN_CEP_H
#define TERN_CEP_H

#include <linux/types.h>

struct tern_cep;
struct tern_device;
struct tern_qp;

/**
 * enum tern_stream_event - what a QP's stream tells its endpoint
 * @TERN_STREAM_OPEN: responder: the first valid FPDU came (RTR or ULP message)
 * @TERN_STREAM_CLOSING: a close began on either side: the peer's FIN came at an
 *	FPDU boundary, the ULP disconnected, or (with a Terminate triplet) an
 *	error was found. Arms a bound on the drain (core/cm_clock.h); when it runs
 *	out the endpoint calls tern_qp_close(qp, true)
 * @TERN_STREAM_FIN_SENT: all sends are done and our FIN follows them; the
 *	peer's is awaited. Arms a shorter bound; when it runs out the endpoint
 *	calls tern_qp_close(qp, true)
 * @TERN_STREAM_FINISHED: our FIN was sent and nothing more is expected from the
 *	peer: the endpoint takes the socket over, lingers (reading and
 *	discarding) until the FIN is acknowledged and the peer's came, or the same
 *	bound, then releases it; CLOSE is reported to iw_cm at once
 * @TERN_STREAM_FAILED: the stream broke: the endpoint resets the socket and
 *	reports CLOSE
 *
 * OPEN, CLOSING and FIN_SENT come at most once each; the last event is one of
 * FINISHED and FAILED.
 */
enum tern_stream_event {
	TERN_STREAM_OPEN,
	TERN_STREAM_CLOSING,
	TERN_STREAM_FIN_SENT,
	TERN_STREAM_FINISHED,
	TERN_STREAM_FAILED,
};

/**
 * struct tern_stream_terms - errors of a stream, triplets or TERN_TERM_NONE
 * @found: what we found wrong, whether a Terminate can be sent or not
 * @sent: the Terminate that TCP took
 * @received: the peer's
 */
struct tern_stream_terms {
	int found;
	int sent;
	int received;
};

/**
 * tern_cep_stream_event() - the stream reports
 * @cep: endpoint
 * @event: what happened
 * @terms: its errors so far
 *
 * Context: any context in which a BH-safe lock may be taken; the socket lock
 * may be held. Upcalls to iw_cm are made by the endpoint's own work.
 */
void tern_cep_stream_event(struct tern_cep *cep, enum tern_stream_event event,
			   const struct tern_stream_terms *terms);

void tern_cep_get(struct tern_cep *cep);

/* Context: any */
void tern_cep_put(struct tern_cep *cep);

/**
 * tern_cep_abort_qp() - the QP goes away or to ERROR while its connection is
 * starting: abort it at once
 * @qp: not attached yet
 *
 * iw_destroy_cm_id() waits uninterruptibly for our CONNECT_REPLY or
 * ESTABLISHED event: it is given with an error status. Context: process.
 */
void tern_cep_abort_qp(struct tern_qp *qp);

/**
 * tern_cep_abort_device() - abort all endpoints of a device (link delete,
 * netdev or netns gone) and wait until none is left
 *
 * Context: process.
 */
void tern_cep_abort_device(struct tern_device *dev);

#endif /* TERN_CEP_H */
