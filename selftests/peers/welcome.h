/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What the victim and its hostile peer tell one another in private data. */
#ifndef PEERS_WELCOME_H
#define PEERS_WELCOME_H

#include <stdint.h>

/* what a peer wants the victim to do with a connection: the first byte of the private data
 * of its Request, or of the line that has the victim connect */
enum ask { ASK_SERVE, ASK_REJECT, ASK_LEAVE, ASK_DESTROY, ASK_IGNORE, ASK_QUIET, ASKS };

/* added to an ask: the peer will agree on RFC 7306; without it an atomic is an error of the
 * victim's program */
#define ASK_ATOMICS	0x80

/**
 * struct welcome - the victim's private data: its memory, one range with several STags
 * @addr: its address
 * @len: bytes
 * @all: remote reads, writes, and atomics
 * @reads: remote reads
 * @local: no remote right
 * @window: a window of type 2, which a Send may invalidate
 */
struct welcome {
	uint64_t addr;
	uint32_t len;
	uint32_t all;
	uint32_t reads;
	uint32_t local;
	uint32_t window;
};

#define VICTIM_LEN	65536
#define VICTIM_RECV	4096
/* STag of the sinks and sources that the victim believes the peer to have */
#define PEER_STAG	0x70656572

#endif /* PEERS_WELCOME_H */
