/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connection in Full Operation in one call, for tests of what comes after the
 * startup. The device plays dut_role().
 */
#ifndef SESSION_H
#define SESSION_H

#include "agent.h"
#include "conform.h"
#include "peer.h"

/**
 * struct session - how to start, and what came of it
 * @plain: a plain (Rev 1) startup; else enhanced, client-server (A=0) when we are
 *	the initiator, what the device asks for when it is
 * @markers: we ask the device for markers
 * @no_crc: our frame says C=0 (the device's own setting is the test's matter)
 * @rev0: we play an RDMAC peer: Rev 0, M=1, C=1
 * @closed_fence: we are the initiator and do not open the device's fence
 * @tcp: of our end
 * @qp: of the device's QP
 * @p: the peer
 * @conn: the agent's connection
 * @port: TCP port of our end, for agent_state()
 *
 * When it is up: ESTABLISHED was seen at the agent, the RTR (if there was one) is
 * received, the device's fence is open (by a zero-length Write), tx_msn and rx_msn
 * are right, no completion is left.
 */
struct session {
	bool plain;
	bool markers;
	bool no_crc;
	bool rev0;
	bool closed_fence;
	struct peer_tcp tcp;
	struct agent_qp qp;
	struct peer *p;
	int conn;
	uint16_t port;
};

#define SESSION_DEFAULT { .qp = AGENT_QP_DEFAULT }

void session_start(struct session *s);

/* the usual one: enhanced, CRC, no markers */
struct session session_default(void);

/* octets that differ for each place: a pattern of @seed */
void pattern(void *buf, size_t len, unsigned int seed);

#endif /* SESSION_H */
