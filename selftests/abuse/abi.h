/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What a program may ask of tern's kernel side, as data: abi.c has the table. */
#ifndef ABUSE_ABI_H
#define ABUSE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOWHERE		UINT16_MAX
#define MAX_FIELDS	12
#define ARENA		(256 * 1024)	/* bytes of memory that a program may write to */
#define ARENA_AT	0x100000000ull	/* and where it is */

/* what a program has: handles, descriptors, numbers and mappings */
enum thing {
	NO_THING,
	PD, MR, MW, CQ, QP, SRQ, AH,		/* handles of a uverbs file */
	ID,					/* of an rdma_cm file */
	CHANNEL, DOORBELL, ASYNC, DMABUF,	/* descriptors */
	LKEY, RKEY, QPN,
	WINDOW, BOUND,				/* a window's key, and those that it was bound by */
	THINGS,
};

enum via {
	WRITE,		/* a command written to the uverbs file */
	WRITE_EX,	/* likewise, an extended one */
	IOCTL,		/* a method of the uverbs file; a field is an attribute */
	CM,		/* a command written to the rdma_cm file */
	NETLINK,	/* of tern's generic family; a field is an attribute */
	OTHER,		/* enum other */
};

enum other {
	RING_DOORBELL, MAP_RING, UNMAP_RING, SPOIL_RING, POST, POST_BIND, POST_RECEIVE, MAKE_DMABUF,
	CLOSE_FD, REOPEN, FORK, KILL_ITSELF, WAIT_EVENT, SHIFT_MEMORY,
};

/* what belongs into a field, or, of an ioctl(), into an attribute */
enum kind {
	HANDLE,		/* @type; good: one of our own, bad: stale, foreign, random */
	NUMBER,		/* good: 1..@good; bad: 0, more, the extremes */
	FLAGS,		/* good: some bits of @good; bad: any */
	FIXED,		/* good: @good; bad: any */
	MEMORY,		/* good: mapped memory; bad: read-only, unmapped, changing. It is also
			 * written to offset @good */
	ADDRESS,	/* good: a socket address of ours; bad: any bytes */
	INPUT,		/* ioctl(): struct tern_qp_options, of qp_options[] or bytes, mostly zero */
	OUTPUT,		/* ioctl(): bytes that it writes; @type: the first word is one */
	NEW,		/* ioctl(): a handle or descriptor that the call makes */
};

struct field {
	uint16_t at;	/* offset; of an ioctl() or netlink, the number of the attribute */
	uint16_t len;
	uint8_t kind;
	uint8_t type;	/* enum thing */
	uint64_t good;
};

struct op {
	const char *name;
	uint8_t via;
	uint8_t weight;		/* how often it is drawn */
	uint32_t code;		/* ioctl(): object << 16 | method */
	uint16_t in;		/* bytes of the command without its head */
	uint16_t response;	/* offset of the answer's address */
	uint16_t tail;		/* up to so many bytes of any kind follow */
	uint8_t makes;		/* enum thing: the first word of the answer is one */
	struct field f[MAX_FIELDS];
};

/* a field of struct tern_qp_options, its bit of the mask, and its values */
struct option {
	uint16_t at;
	uint16_t len;
	uint32_t bit;
	uint32_t least;
	uint32_t most;
	bool tame;	/* two ends that differ in it can connect */
};

extern const struct option qp_options[];
extern const unsigned int n_qp_options;
extern const struct op ops[];
extern const unsigned int n_ops;
/* what every program begins with: names of ops, so that later steps meet live objects */
extern const char *const opening[];
extern const unsigned int n_opening;

#endif /* ABUSE_ABI_H */
