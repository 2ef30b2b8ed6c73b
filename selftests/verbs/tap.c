// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Run tables of tests by kselftest's harness: a process and a timeout for each, KTAP. */
#define _GNU_SOURCE
#include "tap.h"

#include <errno.h>
#include <setjmp.h>
#include <time.h>
#include <unistd.h>

#define TH_LOG_STREAM stdout
#include <kselftest_harness.h>

unsigned int test_failures, tap_number;

static sigjmp_buf end_of_test;
static pid_t test_tid;
static char skipped[128];	/* why the test does not apply */

/* not in a process that the test made, nor in a thread of it */
static bool is_test(void)
{
	return gettid() == test_tid;
}

/* a process that the test made says nothing else of a system call that failed */
void test_report(const char *file, int line, const char *text)
{
	int err = errno;

	printf("#   %s:%d: %s", file, line, text);
	if (!is_test())
		printf(" (%s)", strerror(err));
	printf("\n");
}

void test_leave(void)
{
	if (is_test())
		siglongjmp(end_of_test, 1);
	fflush(stdout);
	_exit(1);
}

void test_skip(const char *why)
{
	if (!is_test())
		_exit(1);
	snprintf(skipped, sizeof(skipped), "%s", why);
	siglongjmp(end_of_test, 1);
}

#define TEST_SECONDS 20

/* a test of a table, with the harness's data about it */
struct entry {
	struct __test_metadata meta;
	const struct tap_test *test;
	unsigned int number;
};

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* run one test; the harness has forked */
static void run_one(struct __test_metadata *meta,
		    struct __fixture_variant_metadata *variant)
{
	struct entry *entry = (struct entry *)meta;
	long start = now_ms();

	(void)variant;
	tap_number = entry->number;
	test_tid = gettid();
	if (!sigsetjmp(end_of_test, 1))
		entry->test->run();
	printf("#   %ld ms\n", now_ms() - start);
	if (test_failures) {
		meta->exit_code = KSFT_FAIL;
	} else if (skipped[0]) {
		snprintf(meta->results->reason, sizeof(meta->results->reason),
			 "%s", skipped);
		meta->exit_code = KSFT_SKIP;
	}
}

static void add(const struct tap_test *test, unsigned int number)
{
	const char *scale = getenv("TERN_TIMEOUT_SCALE");
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		exit(KSFT_FAIL);
	entry->test = test;
	entry->number = number;
	entry->meta.name = test->name;
	entry->meta.fn = run_one;
	entry->meta.fixture = &_fixture_global;
	entry->meta.termsig = -1;
	entry->meta.timeout = (test->seconds ?: TEST_SECONDS) * (scale ? atoi(scale) : 1);
	__register_test(&entry->meta);
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
	char *no_options[] = { program_invocation_short_name, NULL };
	unsigned int i, number = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	_fixture_global.name = program_invocation_short_name;
	for (; *themes; themes++) {
		for (i = 0; i < (*themes)->count; i++) {
			if (chosen(&(*themes)->tests[i], n, words))
				add(&(*themes)->tests[i], ++number);
		}
	}
	return test_harness_run(1, no_options);
}
