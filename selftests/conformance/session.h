/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * One call that sets up a connection in Full Operation, for tests of what comes after
 * the startup. The device plays dut_role().
 */
#ifndef SESSION_H
#define SESSION_H

#include "agent.h"
#include "conform.h"
#include "peer.h"
#include "wire_ext.h"

/**
 * struct session - options of a connection, and the connection
 * @plain: a plain (Rev 1) startup; else enhanced, client-server (A=0) when we are
 *	the initiator, the model that the device asks for when it is
 * @markers: we ask the device for markers
 * @no_crc: our frame says C=0 (a test sets the device's own setting itself)
 * @rev0: we play an RDMAC peer: Rev 0, M=1, C=1
 * @closed_fence: as the initiator, leave the device's fence shut
 * @tcp: TCP options of our end
 * @qp: options of the device's QP
 * @p: the peer
 * @conn: the agent's connection
 * @port: TCP port of our end, for agent_state()
 * @offer: the hello that the device made as the initiator, or all 0
 *
 * When it is up, the agent has had ESTABLISHED, the RTR (if there was one) is
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
	struct hello offer;
};

#define SESSION_DEFAULT { .qp = AGENT_QP_DEFAULT }

void session_start(struct session *s);

/* the usual session: enhanced, CRC, no markers */
struct session session_default(void);

/* fill @buf with a pattern of @seed in which neighbouring bytes differ */
void pattern(void *buf, size_t len, unsigned int seed);

#endif /* SESSION_H */
