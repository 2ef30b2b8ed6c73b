/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The level of a test: the rows of `requirements` that its IDs name say how much a
 * failure means for a device.
 */
#ifndef LEVEL_H
#define LEVEL_H

#include "conform.h"

/* one bit each, so that --level can name several */
enum level {
	LEVEL_MUST = 1 << 0,	/* MUST, MUST NOT or REQUIRED of an RFC */
	LEVEL_SHOULD = 1 << 1,	/* SHOULD, SHOULD NOT or RECOMMENDED */
	LEVEL_READING = 1 << 2,	/* our reading of what an RFC permits, describes or omits */
	LEVEL_POLICY = 1 << 3,	/* tern's choice where the device may choose */
	LEVEL_SELF = 1 << 4,	/* a test of the scripted peer itself */
	LEVEL_ALL = (1 << 5) - 1,
};

/**
 * struct requirement - a row of `requirements`
 * @id: "MPA-050"
 * @document: "RFC 5044", or another source
 * @section: "4.4", or "-"
 * @word: its word: "MUST NOT", "TABLE"
 */
struct requirement {
	const char *id;
	const char *document;
	const char *section;
	const char *word;
};

/* all rows, in the file's order; the last one has no ID */
extern const struct requirement requirements[];

/* Return: the row of @id, which a blank or the end of the string ends; exits with an
 * error if there is none */
const struct requirement *requirement_of(const char *id);

enum level requirement_level(const struct requirement *r);

/* The level of a test: POLICY or READING if it asserts such a row, since a device that
 * fails may have decided otherwise; else the strongest level among its IDs. */
enum level test_level(const struct conform_test *t);

/* "MUST" */
const char *level_name(enum level level);

/* Return: the levels of a comma-separated list as bits, 0 if a name is unknown */
unsigned int levels_of(const char *list);

#endif /* LEVEL_H */
