/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What vtraffic's client and server share: options, payload, queues. */
#ifndef VTRAFFIC_H
#define VTRAFFIC_H

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../test.h"
#include "conn.h"

enum mode { MODE_SEND, MODE_WRITE, MODE_READ, MODE_MIXED, MODE_COUNT };
enum wait_for { WAIT_POLL, WAIT_EVENT, WAIT_SOLICITED, WAIT_COUNT };

struct options {
	const char *addr;
	const char *from;
	int port;
	int tos;		/* -1: not set */
	enum mode mode;
	enum wait_for wait;
	long count;
	int seconds;
	uint32_t seed;
	uint32_t max;
	uint32_t depth;
	uint32_t sges;
	int connections;
	bool srq;
	bool connect_only;
	bool ask_only;
	bool unlisten;
	bool destroy;
	bool huge;
	bool verbose;
};

extern struct options opt;
extern struct end e;		/* the one connection */
/* what ended the connection; earlier completions are still polled */
extern const char *ended;

#define MAX_DEPTH 64
#define LIST 16			/* SGEs of a request at most */
#define NOTICE 64		/* room for a struct message in each slot */

/* the client's private data: what it asks of the server */
struct hello {
	uint32_t seed;
	uint32_t max;
	uint32_t depth;
};

/* the server's private data: where its slots are */
struct welcome {
	uint64_t addr;
	uint32_t rkey;
};

enum kind { KIND_WRITTEN, KIND_SUM, KIND_BYE };

/* client: KIND_WRITTEN, BYE; server: KIND_SUM. Other Sends are plain payload */
struct message {
	uint32_t magic;
	uint32_t kind;
	uint32_t slot;
	uint32_t len;
	uint64_t sum;
};

#define MAGIC 0x76747266

/* print a line and exit */
void leave(int status, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

double now(void);

/* word @i (eight bytes) of the payload of @seed */
uint64_t word(uint32_t seed, uint64_t i);
void fill(uint8_t *p, uint32_t len, uint32_t seed);
uint64_t sum_up(const uint8_t *p, uint32_t len);

/* sleep until a CQ may have completions or the connection ends; exit after @ms */
void doze(int ms);
/* wait up to @ms (-1: for ever) for the next completion, which must be successful */
struct ibv_wc next_wc(int ms);

uint32_t slot_stride(void);
uint8_t *slot_at(uint32_t slot);
void post_send(struct ibv_send_wr *wr);
void post_recv(uint32_t slot);
/* send a struct message from the NOTICE room of @slot, inline if it fits */
void post_message(uint32_t kind, uint32_t slot, uint32_t len, uint64_t sum,
		  unsigned int flags);

int run_server(void);

#endif /* VTRAFFIC_H */
