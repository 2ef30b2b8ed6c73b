/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A minimal TAP helper for userspace tests of the core. Each file is a program;
 * TEST(function__case, "the requirement IDs it checks").
 */
#ifndef TERN_TAP_H
#define TERN_TAP_H

#include <stdio.h>
#include <string.h>

#define TAP_MAX		200

static struct {
	const char *name;
	const char *ids;
	void (*run)(void);
} tap_tests[TAP_MAX];
static int tap_count;
static int tap_errors;

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

/* a test continues after a failed check; only the first few are printed */
static inline int tap_check(int good, const char *file, int line,
			    const char *what, long long got, long long want)
{
	if (!good && tap_errors++ < 5)
		printf("# %s:%d: %s: got %lld (0x%llx), want %lld (0x%llx)\n",
		       file, line, what, got, got, want, want);
	return good;
}

#define CHECK(cond) \
	tap_check(!!(cond), __FILE__, __LINE__, #cond, 0, 1)
#define EQ(got, want) ({						\
	long long got_ = (long long)(got), want_ = (long long)(want);	\
	tap_check(got_ == want_, __FILE__, __LINE__, #got, got_, want_); })

static inline int tap_mem(const char *file, int line, const void *got,
			  const void *want, size_t len)
{
	const unsigned char *a = got, *b = want;

	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i])
			return tap_check(0, file, line, "octet differs",
					 a[i], b[i]);
	return 1;
}

#define MEM_EQ(got, want, len)	tap_mem(__FILE__, __LINE__, got, want, len)

int main(void)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", tap_count);
	for (int i = 0; i < tap_count; i++) {
		tap_errors = 0;
		tap_tests[i].run();
		failed += !!tap_errors;
		printf("%sok %d - %s (%s)\n", tap_errors ? "not " : "", i + 1,
		       tap_tests[i].name, tap_tests[i].ids);
	}
	return !!failed;
}

#endif /* TERN_TAP_H */
