/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Tests of the C programs of this folder: tables of tests, in the words of test.h, that
 * kselftest's harness runs.
 */
#ifndef VERBS_TAP_H
#define VERBS_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../test.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

extern unsigned int tap_number;		/* of the running test, from 1; else 0 */

/**
 * struct tap_test - a test
 * @name: object__case, or a sentence
 * @run: the test
 * @seconds: time limit (0: a default), scaled by TERN_TIMEOUT_SCALE
 */
struct tap_test {
	const char *name;
	void (*run)(void);
	unsigned int seconds;
};

/**
 * struct tap_theme - the tests of one file
 * @tests: the table
 * @count: number of tests
 */
struct tap_theme {
	const struct tap_test *tests;
	unsigned int count;
};

/*
 * Run the tests of @themes (NULL-terminated) whose name has one of @n words (0: all),
 * each in a process of its own. Exits with the status, or returns it if the harness
 * refuses to run.
 */
int tap_run(const struct tap_theme *const *themes, int n, char **words);

#endif /* VERBS_TAP_H */
