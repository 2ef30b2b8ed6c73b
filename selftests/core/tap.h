/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The runner of userspace tests of the core: TAP. Each file is a program;
 * TEST(function__case, "the requirement IDs it checks"), with the words of test.h.
 */
#ifndef TERN_TAP_H
#define TERN_TAP_H

#include <setjmp.h>

#include "../test.h"

#define TAP_MAX		200
#define TAP_REPORTS	5	/* of one test */

static struct {
	const char *name;
	const char *ids;
	void (*run)(void);
} tap_tests[TAP_MAX];
static int tap_count;
static jmp_buf tap_end;
unsigned int test_failures;

static inline void tap_add(const char *name, const char *ids,
			   void (*run)(void))
{
	tap_tests[tap_count].name = name;
	tap_tests[tap_count].ids = ids;
	tap_tests[tap_count++].run = run;
}

#define TEST(fn, ids)							\
	static void fn(void);						\
	__attribute__((constructor)) static void fn##_add(void)		\
	{								\
		tap_add(#fn, ids, fn);					\
	}								\
	static void fn(void)

void test_report(const char *file, int line, const char *text)
{
	if (test_failures <= TAP_REPORTS)
		printf("# %s:%d: %s\n", file, line, text);
}

void test_leave(void)
{
	longjmp(tap_end, 1);
}

static void tap_run(void (*run)(void))
{
	if (!setjmp(tap_end))
		run();
}

int main(void)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", tap_count);
	for (int i = 0; i < tap_count; i++) {
		test_failures = 0;
		tap_run(tap_tests[i].run);
		failed += !!test_failures;
		printf("%sok %d - %s (%s)\n", test_failures ? "not " : "", i + 1,
		       tap_tests[i].name, tap_tests[i].ids);
	}
	return !!failed;
}

#endif /* TERN_TAP_H */
