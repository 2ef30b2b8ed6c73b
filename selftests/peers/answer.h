/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Terminates as bits of a set: which may answer what a peer has sent (RFC 5040 4.8 and 7,
 * RFC 5041 7, RFC 5044 8).
 */
#ifndef PEERS_ANSWER_H
#define PEERS_ANSWER_H

#include "../conformance/wire.h"

/* layer, error type, code */
#define RP_STAG		(1u << 0)	/* 0/1/00 */
#define RP_BOUNDS	(1u << 1)	/* 0/1/01 */
#define RP_ACCESS	(1u << 2)	/* 0/1/02 */
#define RP_NOT_ASSOC	(1u << 3)	/* 0/1/03 */
#define RP_WRAP		(1u << 4)	/* 0/1/04 */
#define RP_CANT_INV	(1u << 5)	/* 0/1/09 */
#define RO_VERSION	(1u << 6)	/* 0/2/05 */
#define RO_OPCODE	(1u << 7)	/* 0/2/06 */
#define RO_STREAM	(1u << 8)	/* 0/2/07: no other code fits */
#define DT_STAG		(1u << 9)	/* 1/1/00 */
#define DT_BOUNDS	(1u << 10)	/* 1/1/01 */
#define DT_NOT_ASSOC	(1u << 11)	/* 1/1/02 */
#define DT_WRAP		(1u << 12)	/* 1/1/03 */
#define DT_VERSION	(1u << 13)	/* 1/1/04 */
#define DU_QN		(1u << 14)	/* 1/2/01 */
#define DU_NO_BUFFER	(1u << 15)	/* 1/2/02 */
#define DU_MSN		(1u << 16)	/* 1/2/03 */
#define DU_MO		(1u << 17)	/* 1/2/04 */
#define DU_TOO_LONG	(1u << 18)	/* 1/2/05 */
#define DU_VERSION	(1u << 19)	/* 1/2/06 */
#define MPA_CRC		(1u << 20)	/* 2/0/02 */
#define MPA_MARKER	(1u << 21)	/* 2/0/03: or a length */
#define ANSWERS		22

#define OF_RDMAP_DDP	((1u << 20) - 1)
#define OF_MPA		(MPA_CRC | MPA_MARKER)

/* 0/0/00: the victim's program has made the error, nothing that was sent is one */
#define OWN_ERROR	(1u << 31)
/* each other one, also those without a bit */
#define ANY_ANSWER	(~OWN_ERROR)

static inline bool may_be_any(uint32_t answers)
{
	return (answers & ANY_ANSWER) == ANY_ANSWER;
}

/* Return: @t is one of @answers */
bool answer_is_of(const struct term *t, uint32_t answers);

#endif /* PEERS_ANSWER_H */
