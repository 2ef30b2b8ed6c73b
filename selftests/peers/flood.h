/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Many connections at once, which do the same. */
#ifndef PEERS_FLOOD_H
#define PEERS_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum flood_kind - what each connection does, and then stays
 * @FLOOD_SYN: sends its SYN
 * @FLOOD_SILENT: completes TCP's handshake
 * @FLOOD_SLOW: then sends a byte each second: half of them from their Request on, the
 *	others, after the Reply, of a Write to no STag; half of each at its end alone
 * @FLOOD_STARTUPS: sends a Request; half of them send FIN after the Reply
 * @FLOOD_TERMINATES: sends a Request, and after the Reply a storm of Terminates
 * @FLOOD_SCRIPT: sends a Request, Sends, a Write to no STag, and RST, whatever it gets; then
 *	another one begins, until SIGTERM
 * @FLOOD_TINY: the same with packets full of Writes of no bytes, the smallest FPDUs, in place
 *	of the Sends
 * @FLOOD_HOLE: the same, and the first of these packets comes last: TCP hands over all at once
 */
enum flood_kind {
	FLOOD_SYN, FLOOD_SILENT, FLOOD_SLOW, FLOOD_STARTUPS, FLOOD_TERMINATES, FLOOD_SCRIPT,
	FLOOD_TINY, FLOOD_HOLE, FLOOD_KINDS
};

/* all that these send is known before */
static inline bool flood_is_script(enum flood_kind kind)
{
	return kind >= FLOOD_SCRIPT;
}

extern const char *const flood_names[FLOOD_KINDS];

/**
 * struct flood - what to do
 * @kind: of connections
 * @port: of the victim
 * @count: connections, or ports of a script
 * @rate: packets of a script, or SYNs of others, each second; 0: as they go
 * @seconds: after the last SYN, or all of a script
 */
struct flood {
	enum flood_kind kind;
	uint16_t port;
	unsigned int count;
	unsigned int rate;
	unsigned int seconds;
};

/* do it, and print what became of them */
void flood_run(const struct flood *how);

#endif /* PEERS_FLOOD_H */
