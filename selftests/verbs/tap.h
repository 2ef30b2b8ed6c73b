/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For the C programs of this folder: a table of tests whose names are sentences,
 * expect and must. kselftest's harness runs them.
 */
#ifndef VERBS_TAP_H
#define VERBS_TAP_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

extern unsigned int tap_failures;	/* of the test that runs */
extern unsigned int tap_number;		/* its number, from 1; 0 outside */
extern const char *tap_skip;		/* why it does not apply, or NULL */
extern sigjmp_buf tap_out;		/* where a test that cannot go on ends */

void tap_complain(const char *func, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* the test goes on, and fails */
#define expect(cond) do {						\
	if (!(cond))							\
		tap_complain(__func__, __LINE__, "expected %s", #cond);	\
} while (0)

/* two integers are the same */
#define expect_eq(a, b) do {						\
	long long a_ = (long long)(a), b_ = (long long)(b);		\
	if (a_ != b_)							\
		tap_complain(__func__, __LINE__, "%s is %lld, not %lld",\
			     #a, a_, b_);				\
} while (0)

/* the test ends here, and fails */
#define must(cond) do {							\
	if (!(cond)) {							\
		tap_complain(__func__, __LINE__, "needs %s", #cond);	\
		siglongjmp(tap_out, 1);					\
	}								\
} while (0)

/**
 * struct tap_test - one of them
 * @name: a sentence
 * @run: the test
 * @seconds: that it may take (0: enough for most); TERN_TIMEOUT_SCALE times that
 */
struct tap_test {
	const char *name;
	void (*run)(void);
	unsigned int seconds;
};

/**
 * struct tap_theme - the tests of one file
 * @tests: them
 * @count: how many they are
 */
struct tap_theme {
	const struct tap_test *tests;
	unsigned int count;
};

/*
 * Run those of the @themes (NULL-terminated) whose name holds one of @n words
 * (0: all), each in a process of its own. Ends with the exit status, or returns it
 * where the harness refuses to run.
 */
int tap_run(const struct tap_theme *const *themes, int n, char **words);

#endif /* VERBS_TAP_H */
