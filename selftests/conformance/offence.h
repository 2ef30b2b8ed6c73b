/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Faults that a device must answer by a Terminate, as rows of a table: term.c has
 * those that RDMAP finds, term_ddp.c those of DDP and below.
 */
#ifndef OFFENCE_H
#define OFFENCE_H

#include "terminate.h"

#define RECV_LEN	64
#define MR_LEN		4096
#define ANY		NO_TRIPLET
#define LOCAL_ERROR	TRIPLET(0, 0, 0)

/* what the Terminate of a row must copy */
#define NO_COPIES	"with neither length nor headers"
#define WITH_DDP	"with the segment's length and its DDP header"
#define WITH_RDMA	"with length, DDP header and Read Request header"

/* IDs that each row asserts, too */
#define TERM_IDS	" RDMAP-024 RDMAP-025 RDMAP-026 RDMAP-027 RDMAP-028 " \
			"RDMAP-029 RDMAP-079 DDP-093 DDP-096"

/**
 * struct offence - how to bring a device to a Terminate
 * @name: name of the test
 * @triplet: the triplet that the Terminate must have
 * @alt: another triplet that it may have, or ANY
 * @commit: build the offending DDP segment; Return: bytes at @out. For LOCAL_ERROR
 *	the device itself makes the error, and there is no segment.
 * @arg: for @commit
 */
struct offence {
	const char *name;
	int triplet;
	int alt;
	uint32_t (*commit)(struct peer *p, unsigned int arg, uint8_t *out);
	unsigned int arg;
};

/* the session of the running offence, with receive 1 of RECV_LEN posted, and bytes to
 * send */
extern struct session offence_session;
extern uint8_t offence_data[RECV_LEN + 1];

/* the test: commit the row of @table that has its name, and get the Terminate */
void offence_terminates(const struct offence *table);

/* a triplet and the end of its counter's name */
struct offence_counter {
	int triplet;
	const char *name;
};

/* the test: for each triplet of @codes, the first row of @table that has it raises the
 * counter; a row without a name ends @codes */
void offence_counted(const struct offence *table, const struct offence_counter *codes);

/* good segments, which a row then changes; each registers the memory that it needs */
uint32_t offence_good_send(struct peer *p, uint8_t *out);
uint32_t offence_good_write(struct peer *p, uint8_t *out);
uint32_t offence_good_read(struct peer *p, uint8_t *out);
/* 8 bytes at @at of @mr */
uint32_t offence_write(struct peer *p, const struct agent_mr *mr, int64_t at,
		       uint8_t *out);
/* the device posts Read 2 of 32 bytes, which waits for its Response */
struct open_read offence_open_read(struct peer *p);

#endif /* OFFENCE_H */
