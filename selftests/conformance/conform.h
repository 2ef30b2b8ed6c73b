/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * tern-conform: a scripted iWARP peer over plain TCP, in either role, correct or
 * faulty, against a device whose verbs an agent drives. This header is what a test
 * file sees of the runner; peer.h is the TCP side, agent.h the verbs side, wire.h the
 * layouts.
 *
 * A test is a function that returns when it passes. must() of test.h leaves it (by
 * longjmp), the runner closes what it opened, and the report has the reason and the last
 * bytes of each connection.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../test.h"

/* the role of the device under test in the MPA startup */
enum role {
	NO_ROLE = 0,	/* the test needs no target */
	INITIATOR = 1,
	RESPONDER = 2,
	EITHER = 3,	/* run once in each role, see dut_role() */
};

/* what a test needs of the target beyond verbs; without it the test is skipped */
enum need {
	NEED_SET = 1 << 0,	/* the agent has a --set command (settings) */
	NEED_STATE = 1 << 1,	/* the agent has a --state command (raw values) */
	NEED_SLOW = 1 << 2,	/* takes over 2 s: waits for a timer of the device */
};

/**
 * struct conform_test - a row of a group's table
 * @name: topic__case
 * @ids: the requirement IDs and table rows that it asserts, with blanks between:
 *	"MPA-082 G3"
 * @rule: the rule as one sentence, printed when the test fails
 * @role: of the device under test
 * @needs: OR of enum need
 * @run: the test
 */
struct conform_test {
	const char *name;
	const char *ids;
	const char *rule;
	enum role role;
	unsigned int needs;
	void (*run)(void);
};

/* a group is a file; a row without a name ends its table */
struct conform_group {
	const char *name;
	const struct conform_test *tests;
};

/* the device's role in the running test: INITIATOR or RESPONDER */
enum role dut_role(void);

/* the row of the running test, for a function that serves many rows */
const struct conform_test *current_test(void);

/* The row of a table of data that has the name of the running test. Each row begins
 * with a name, and one without a name ends the table. Leaves the test when there is
 * none. */
const void *row_of_test(const void *rows, size_t size);
#define ROW_OF_TEST(rows) \
	((const __typeof__((rows)[0]) *)row_of_test((rows), sizeof((rows)[0])))

/**
 * struct conform_options - the command line
 * @target: address of the device under test, numeric
 * @local: our address towards it, numeric; by default the one that routing picks
 */
struct conform_options {
	const char *target;
	const char *local;
};

extern struct conform_options options;

/* leave the test as skipped: the agent has no command for "set crc off" or the like */
void skip_hook(const char *command, const char *words) __attribute__((noreturn));

/* milliseconds; patience() scales a wait for what must come, for slow machines */
uint64_t now_ms(void);
int patience(int ms);

/* all groups, in the order in which they run; NULL ends them (groups.c) */
extern const struct conform_group *const conform_groups[];

extern const struct conform_group self_group, self_ext_group,
	frame_group, private_data_group, startup_group, gate_group, answer_group,
	retry_group, enhanced_group, depth_group, rtr_group, first_group, fence_group,
	rdmac_group, marker_group, crc_group, size_group, stream_group, close_group,
	ddp_group, untagged_group, precedence_group, write_group, read_group,
	response_group, send_group, source_group, term_group, term_ddp_group,
	term_end_group, term_recv_group, order_group, security_group, stag_group,
	window_group, imm_group, imm_send_group, atomic_group, atomic_bad_group,
	atomic_post_group, hello_group, hello_offer_group, v2_group, v2_read_group,
	long_group, series_group;

#endif /* CONFORM_H */
