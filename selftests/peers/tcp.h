/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The hostile peer's own TCP, over a packet socket, with an address that its host does not
 * have. It serves one connection at a time and is what peer.h of tern-conform sends and
 * reads by: peer_send(), peer_look(), peer_take().
 */
#ifndef PEERS_TCP_H
#define PEERS_TCP_H

#include "../conformance/peer.h"

/**
 * struct tcp_manner - how a connection is spoiled
 * @percent: of the segments that are not sent as they should be
 * @window: that we advertise
 * @mute: acknowledge nothing that arrives
 * @polite: answer segments of earlier connections by a RST
 * @mss: that we advertise, and the most that we send
 */
struct tcp_manner {
	unsigned int percent;
	uint16_t window;
	bool mute;
	bool polite;
	uint16_t mss;
};

/* a new connection, by the numbers of @seed; Return: NULL if the other end refuses or is
 * silent for @ms */
struct peer *tcp_connect(uint64_t seed, const struct tcp_manner *manner, uint16_t port, int ms);
/* take a connection that the other end opens to @port */
struct peer *tcp_accept(uint64_t seed, const struct tcp_manner *manner, uint16_t port, int ms);

/* send FIN and wait up to @ms for the other's; send RST */
void tcp_finish(int ms);
void tcp_reset(void);
/* forget the connection */
void tcp_end(void);

/* print how many segments were spoiled, in each way */
void tcp_print(void);

/* a line of what is done, for verbose */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* PEERS_TCP_H */
