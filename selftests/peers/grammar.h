/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The messages of a hostile peer: right, nearly right, or not at all. */
#ifndef PEERS_GRAMMAR_H
#define PEERS_GRAMMAR_H

#include "../conformance/peer_ext.h"
#include "../draw.h"
#include "welcome.h"

#define MOST_READS	8
/* for a ULPDU that a fault makes longer */
#define ULPDU_ROOM	(ULPDU_MAX + 128)
#define FRAME_ROOM	2048

/**
 * struct known - what the peer knows of the victim
 * @victim: its memory
 * @reads: Read Requests of the victim that wait for an answer, the oldest first
 * @n_reads: how many
 * @offered: extensions that it offers, or answers our offer with
 * @agreed: those that both may use, after our last hello
 * @invalidated: its window is
 * @answers: Terminates by which it may answer what was sent so far (answer.h)
 * @faults: how many faults that has
 * @single: nothing more is sent after the message with the first fault
 */
struct known {
	struct welcome victim;
	struct read_v2 reads[MOST_READS];
	unsigned int n_reads;
	uint16_t offered;
	uint16_t agreed;
	bool invalidated;
	uint32_t answers;
	unsigned int faults;
	bool single;
};

/* send a message; each of its FPDUs has a fault with a probability of @percent */
void grammar_send(struct peer *p, struct known *k, struct series *s, unsigned int percent);

/* spoil the @len bytes of a startup frame, in FRAME_ROOM bytes; Return: how many to send */
size_t grammar_spoil_frame(struct series *s, uint8_t *frame, size_t len);

/* send this ULPDU, as grammar_send() does */
void grammar_send_ulpdu(struct peer *p, struct known *k, struct series *s, unsigned int percent,
			uint8_t *ulpdu, size_t len);

/* print how many messages of each kind were sent, and faults */
void grammar_print(void);

#endif /* PEERS_GRAMMAR_H */
