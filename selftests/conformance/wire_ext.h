/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The bodies of the extensions' messages (RFC 7306 4 to 6; draft-wood-storm-rdmap-ext-v2-00,
 * "v2 draft", 4 to 6), the arithmetic of the atomics, and the hello by which two ends
 * agree on them. As wire.h, this shares nothing with drivers/tern/core.
 */
#ifndef WIRE_EXT_H
#define WIRE_EXT_H

#include "wire.h"

/* bytes after the DDP header */
#define IMM_LEN			8
#define ATOMIC_REQ_LEN		52
#define ATOMIC_RESP_LEN		12
#define READ_REQ_V2_LEN		16

enum atomic_op { FETCH_ADD = 0, CMP_SWAP = 2 };

/**
 * struct atomic_req - the body of an Atomic Request (RFC 7306 5.2.1)
 * @op: the first word: 28 reserved bits, then enum atomic_op
 * @id: Request Identifier
 * @stag, @to: the target
 * @data, @mask: Add or Swap Data, and its mask
 * @compare, @compare_mask: of CmpSwap; FetchAdd has 0 and all ones
 */
struct atomic_req {
	uint32_t op;
	uint32_t id;
	uint32_t stag;
	uint64_t to;
	uint64_t data;
	uint64_t mask;
	uint64_t compare;
	uint64_t compare_mask;
};

void atomic_encode(const struct atomic_req *a, void *body);
void atomic_decode(struct atomic_req *a, const void *body);

/* what the target holds after @a when it held @old */
uint64_t atomic_result(const struct atomic_req *a, uint64_t old);

/* ---- the hello: a zero-length Write with this STag and TO ---- */

#define HELLO_STAG	0x7465726e
#define HELLO_HIGH	0x68656c6cu	/* upper half of the TO */

enum hello_role { HELLO_OFFER = 1, HELLO_ANSWER = 2, HELLO_GO = 3 };

enum hello_feature { HELLO_7306 = 1, HELLO_V2 = 2, HELLO_LONG = 4 };

/**
 * struct hello - the lower half of the TO: 1 byte, 1 byte and 16 bits
 * @version: 1 or more
 * @role: enum hello_role
 * @features: enum hello_feature
 */
struct hello {
	uint8_t version;
	uint8_t role;
	uint16_t features;
};

uint64_t hello_to(const struct hello *h);

/* Return: false when @s is no hello: another message, with payload, another STag or
 * upper half, or version 0 */
bool hello_decode(struct hello *h, const struct seg *s);

#endif /* WIRE_EXT_H */
