/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tests of the C programs of this folder: tables of tests, expect() and must().
 * kselftest's harness runs them.
 */
#ifndef VERBS_TAP_H
#define VERBS_TAP_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

extern unsigned int tap_failures;	/* of the running test */
extern unsigned int tap_number;		/* of the running test, from 1; else 0 */
extern const char *tap_skip;		/* why the test does not apply, or NULL */
extern sigjmp_buf tap_out;		/* must() jumps here */

void tap_complain(const char *func, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* check @cond; the test continues and fails */
#define expect(cond) do {						\
	if (!(cond))							\
		tap_complain(__func__, __LINE__, "expected %s", #cond);	\
} while (0)

/* check that two integers are equal; the test continues and fails */
#define expect_eq(a, b) do {						\
	long long a_ = (long long)(a), b_ = (long long)(b);		\
	if (a_ != b_)							\
		tap_complain(__func__, __LINE__, "%s is %lld, not %lld",\
			     #a, a_, b_);				\
} while (0)

/* check @cond; the test ends here and fails */
#define must(cond) do {							\
	if (!(cond)) {							\
		tap_complain(__func__, __LINE__, "needs %s", #cond);	\
		siglongjmp(tap_out, 1);					\
	}								\
} while (0)

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
