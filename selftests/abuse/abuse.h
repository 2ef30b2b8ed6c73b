/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A hostile program: what its processes and threads share, and one step of it. */
#ifndef ABUSE_ABUSE_H
#define ABUSE_ABUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "../draw.h"
#include "abi.h"

#define KEPT		16	/* of each kind of thing, the last so many */
#define MOST_PROCESSES	2

enum ring_kind { SQ_RING, RQ_RING, CQ_RING };

struct ring {
	uint64_t key;
	uint64_t size;
	uint32_t entries;
	uint32_t stride;
	uint32_t qpn;
	uint32_t kind;
	uint8_t *mapped;
};

/* what a process has: others see it, and use it as if it were theirs */
struct place {
	struct {
		uint64_t value[KEPT];
		unsigned int n;
	} have[THINGS];
	struct ring rings[KEPT];
	unsigned int n_rings;
	int uverbs;
	int cm;
	int netlink;
	uint16_t family;
	uint16_t port;
};

struct program {
	uint64_t seed;
	const char *uverbs;
	const char *device;
	const char *address;
	bool verbose;
	unsigned int n_places;
	struct place places[MOST_PROCESSES];
	/* calls by result: done, refused; to see that a generator is not always refused */
	unsigned int done[128];
	unsigned int refused[128];
};

extern struct program *program;
extern struct place *mine;

/* open the files, once per process */
void place_open(void);
/* do @op with arguments by @s; @careful: all of them good, the newest objects first */
void do_op(unsigned int op, struct series *s, bool careful);
/* write to the rings as another thread uses them */
void spoil(struct series *s, unsigned int times);

/* do_other.c: what is no call with a struct or attributes */
/* Return: 0 or an errno */
int do_other(enum other what, struct series *s, bool careful);
uint64_t own(enum thing type, struct series *s, bool careful, unsigned int skip);
uint64_t handle(enum thing type, struct series *s, bool good, bool careful, unsigned int skip);
void keep(enum thing type, uint64_t value);
uint64_t memory(struct series *s, bool good);
void shift_memory(struct series *s);

#endif /* ABUSE_ABUSE_H */
