/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What stands behind a test: the rows of `requirements` that its IDs name, and so
 * how much a failure says about a device.
 */
#ifndef LEVEL_H
#define LEVEL_H

#include "conform.h"

/* a bit each, so that --level can name several */
enum level {
	LEVEL_MUST = 1 << 0,	/* an RFC's MUST, MUST NOT or REQUIRED */
	LEVEL_SHOULD = 1 << 1,	/* its SHOULD, SHOULD NOT or RECOMMENDED */
	LEVEL_READING = 1 << 2,	/* how we read what an RFC permits, describes or omits */
	LEVEL_POLICY = 1 << 3,	/* tern's choice in what is left to the device */
	LEVEL_SELF = 1 << 4,	/* of the scripted peer itself */
	LEVEL_ALL = (1 << 5) - 1,
};

/**
 * struct requirement - a row of `requirements`
 * @id: "MPA-050"
 * @document: "RFC 5044", or what else it is from
 * @section: "4.4", or "-"
 * @word: its level there: "MUST NOT", "TABLE"
 */
struct requirement {
	const char *id;
	const char *document;
	const char *section;
	const char *word;
};

/* all, in the file's order; the last one has no ID */
extern const struct requirement requirements[];

/* the row of @id, which ends with a blank or the text; leaves with an error if none */
const struct requirement *requirement_of(const char *id);

enum level requirement_level(const struct requirement *r);

/* The level of a test: that of a POLICY or a READING, if it asserts one, since a
 * device that fails may have decided otherwise; else the strongest among its IDs. */
enum level test_level(const struct conform_test *t);

/* "MUST" */
const char *level_name(enum level level);

/* a list of names with commas between as bits, 0 if one is unknown */
unsigned int levels_of(const char *list);

#endif /* LEVEL_H */
