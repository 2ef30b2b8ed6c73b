/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A table of tests, in the words of test.h, and TAP for the provider's unit tests. */
#ifndef PROVIDER_TAP_H
#define PROVIDER_TAP_H

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "../test.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

unsigned int test_failures;

void test_report(const char *file, int line, const char *text)
{
	printf("# %s:%d: %s\n", file, line, text);
}

struct tap_test {
	const char *name;
	void (*run)(void);
};

#define TEST(name) { #name, name }

static struct {
	unsigned int nr;
	const char *name;
} tap_running;

static void tap_hangs(int signal)
{
	(void)signal;
	dprintf(STDOUT_FILENO, "# it hangs\nnot ok %u - provider %s\n", tap_running.nr,
		tap_running.name);
	_exit(1);
}

static int tap_run(const struct tap_test *tests, unsigned int count)
{
	unsigned int bad = 0, i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* end a test that hangs after a lost wakeup */
	signal(SIGALRM, tap_hangs);
	alarm(120);
	printf("TAP version 13\n1..%u\n", count);
	for (i = 0; i < count; i++) {
		test_failures = 0;
		tap_running.nr = i + 1;
		tap_running.name = tests[i].name;
		tests[i].run();
		bad += !!test_failures;
		printf("%sok %u - provider %s\n", test_failures ? "not " : "", i + 1,
		       tests[i].name);
	}
	printf("# %u passed, %u failed\n", count - bad, bad);
	return bad ? 1 : 0;
}

#endif /* PROVIDER_TAP_H */
