// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "tap.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

unsigned int tap_failures;
const char *tap_skip;
sigjmp_buf tap_out;

void tap_complain(const char *func, int line, const char *fmt, ...)
{
	va_list args;

	tap_failures++;
	printf("#   %s:%d: ", func, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

#define TEST_SECONDS 20

static int scale(void)
{
	const char *s = getenv("TERN_TIMEOUT_SCALE");

	return s ? atoi(s) : 1;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void too_long(int sig)
{
	(void)sig;
	tap_complain(__func__, __LINE__, "the test hangs");
	siglongjmp(tap_out, 1);
}

static bool run_one(const struct tap_test *test, unsigned int number)
{
	long start = now_ms();

	tap_failures = 0;
	tap_skip = NULL;
	alarm(TEST_SECONDS * scale());
	if (!sigsetjmp(tap_out, 1))
		test->run();
	alarm(0);
	if (tap_failures)
		printf("not ok %u %s\n", number, test->name);
	else if (tap_skip)
		printf("ok %u %s # SKIP %s\n", number, test->name, tap_skip);
	else
		printf("ok %u %s # %ld ms\n", number, test->name,
		       now_ms() - start);
	return !tap_failures;
}

static bool chosen(const struct tap_test *test, int n, char **words)
{
	int i;

	for (i = 0; i < n; i++) {
		if (strstr(test->name, words[i]))
			return true;
	}
	return n == 0;
}

int tap_run(const struct tap_theme *const *themes, int n, char **words)
{
	unsigned int i, number = 0, bad = 0;

	signal(SIGALRM, too_long);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (; *themes; themes++) {
		for (i = 0; i < (*themes)->count; i++) {
			if (chosen(&(*themes)->tests[i], n, words))
				bad += !run_one(&(*themes)->tests[i], ++number);
		}
	}
	printf("1..%u\n", number);
	return bad ? 1 : 0;
}
