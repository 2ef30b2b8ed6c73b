/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Segments, and the ways to send them that no TCP has. */
#ifndef PEERS_SPOIL_H
#define PEERS_SPOIL_H

#include "../draw.h"
#include "packet.h"

/* a good segment of the connection */
struct segment segment_of(uint32_t seq, const uint8_t *data, size_t len);
void segment_send(const struct segment *s);

/* a connection begins; Return: what it sent may not be what the other end reads */
void spoil_begin(void);
bool spoil_has_changed(void);

/* send @s as it is, or by one of the ways */
void spoil_send(struct series *of, bool spoiled, const struct segment *s);
/* send what was held back */
void spoil_flush(void);

#endif /* PEERS_SPOIL_H */
