/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * tern-conform: a scripted iWARP peer over plain TCP that plays either role,
 * well and badly, against a device whose verbs an agent drives. This header is
 * what a file of tests sees of the runner; peer.h is the TCP side, agent.h the
 * verbs side, wire.h the octets.
 *
 * A test is a function that returns when all is well; expect() leaves it (by
 * longjmp) at the first thing that is not, and the runner closes what it opened.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* the part that the device under test plays in the MPA startup */
enum role {
	NO_ROLE = 0,	/* the test needs no target */
	INITIATOR = 1,
	RESPONDER = 2,
	EITHER = 3,	/* run once in each role, see dut_role() */
};

/* what a test needs of the target beyond verbs; without it, it is skipped */
enum need {
	NEED_SET = 1 << 0,	/* the agent's --set command works (settings) */
	NEED_STATE = 1 << 1,	/* the agent's --state command works (raw values) */
	NEED_SLOW = 1 << 2,	/* takes over 2 s: a timer of the device runs out */
};

/**
 * struct conform_test - a row of a group's table
 * @name: topic__case
 * @ids: the requirement IDs and table rows that it asserts, blanks between:
 *	"MPA-082 G3"
 * @rule: one sentence that says the rule, printed when it fails
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

/* a group is a file; its table ends with a row without a name */
struct conform_group {
	const char *name;
	const struct conform_test *tests;
};

/* the role that the running test has given the device: INITIATOR or RESPONDER */
enum role dut_role(void);

/* its row, for a function that runs many */
const struct conform_test *current_test(void);

/* The row of a table of data that has its name. A row begins with a name, and one
 * without ends the table. Leaves the test when there is none. */
const void *row_of_test(const void *rows, size_t size);
#define ROW_OF_TEST(rows) \
	((const __typeof__((rows)[0]) *)row_of_test((rows), sizeof((rows)[0])))

/**
 * struct conform_options - the command line
 * @target: address of the device under test, numeric
 * @local: our address towards it, numeric; found out when not given
 */
struct conform_options {
	const char *target;
	const char *local;
};

extern struct conform_options options;

/* leave the test as failed, saying why and showing the last octets */
void fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* leave the test as skipped */
void skip(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* leave the test as skipped: the agent has no hook for "set crc off" */
void skip_hook(const char *command, const char *words) __attribute__((noreturn));

#define expect(cond, ...) \
	do { if (!(cond)) fail(__FILE__, __LINE__, __VA_ARGS__); } while (0)

#define expect_eq(what, got, want)						\
	do {									\
		uint64_t got_ = (got), want_ = (want);				\
										\
		expect(got_ == want_, "%s is %#llx, not %#llx", (what),		\
		       (unsigned long long)got_, (unsigned long long)want_);	\
	} while (0)

/* compare octets, saying the first that differs */
void expect_octets(const char *what, const void *got, const void *want,
		   size_t len);

/* milliseconds; a slow machine multiplies the waits for what must come */
uint64_t now_ms(void);
int patience(int ms);

/* all of them, in the order in which they run, NULL behind the last (groups.c) */
extern const struct conform_group *const conform_groups[];

extern const struct conform_group self_group, frame_group, private_data_group,
	startup_group, gate_group, answer_group, retry_group, enhanced_group, depth_group,
	rtr_group, first_group, fence_group, rdmac_group, marker_group, crc_group,
	size_group, stream_group, close_group, ddp_group, untagged_group, precedence_group,
	write_group, read_group, response_group, send_group, source_group, term_group,
	term_ddp_group, term_end_group, term_recv_group, order_group, security_group,
	stag_group, window_group;

#endif /* CONFORM_H */
