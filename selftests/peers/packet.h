/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* TCP segments to and from the victim, over a packet socket. */
#ifndef PEERS_PACKET_H
#define PEERS_PACKET_H

#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>

#define TCP_HDR		20

/**
 * struct place - where the peer is
 * @netdev: its network device
 * @own: its IPv4 or IPv6 address
 * @other: that of the victim
 * @other_mac: and its link-layer address
 */
struct place {
	const char *netdev;
	const char *own;
	const char *other;
	const char *other_mac;
};

struct segment {
	uint8_t flags;
	uint32_t seq;
	uint32_t ack;
	uint16_t window;
	uint16_t urgent;
	const uint8_t *data;
	size_t len;
	uint8_t options[40];
	size_t n_options;
};

void packet_open(const struct place *place);

void packet_send(const struct segment *s, uint16_t from, uint16_t to);

/* Return: the TCP header of the next packet to us that is there, or comes until @end; @len
 * bytes with its data */
const uint8_t *packet_next(uint64_t end, size_t *len);

#endif /* PEERS_PACKET_H */
