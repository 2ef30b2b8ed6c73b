/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The words in which every C program of these folders checks:
 *
 *	expect(cond)	if not, the test has failed; it goes on
 *	must(cond)	if not, the test has failed and ends here
 *	skip(why)	the test ends here, because it does not apply
 *
 * expect_eq() and must_eq() compare two integers, expect_bytes() and must_bytes() two
 * buffers; they print what differs. Each takes a printf format and its arguments at the
 * end, which are printed in place of the condition: must(fd >= 0, "socket: %m").
 * expect() and its kind are true if the condition holds. A helper named must_...() ends
 * the test if what it waits for does not come.
 *
 * In a process that a test has made, or a thread, must() ends that process. Helper programs and fuzz
 * targets end at the first failure.
 *
 * Nothing can jump out of a function in the kernel: there a case returns an error, and
 * kv_fail() (kernel/kverbs.h) keeps the reason.
 */
#ifndef TERN_TEST_H
#define TERN_TEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* what a runner defines */

/* failures of the running test */
extern unsigned int test_failures;
/* print a failure */
void test_report(const char *file, int line, const char *text);
/* end the test, or the program */
__attribute__((noreturn)) void test_leave(void);
/* end the test as skipped; @why may go */
__attribute__((noreturn)) void test_skip(const char *why);

#define expect(cond, ...) \
	test_is((cond) || \
		test_false(__FILE__, __LINE__, "expected " #cond, " " __VA_ARGS__))
#define must(cond, ...) \
	((cond) ? (void)0 : \
		  (test_false(__FILE__, __LINE__, "needs " #cond, " " __VA_ARGS__), test_leave()))

#define expect_eq(got, want, ...) \
	test_eq(__FILE__, __LINE__, #got, (long long)(got), (long long)(want), " " __VA_ARGS__)
#define must_eq(got, want, ...) \
	(test_eq(__FILE__, __LINE__, #got, (long long)(got), (long long)(want), \
		 " " __VA_ARGS__) ? (void)0 : test_leave())

#define expect_bytes(got, want, len, ...) \
	test_bytes(__FILE__, __LINE__, #got, got, want, len, " " __VA_ARGS__)
#define must_bytes(got, want, len, ...) \
	(test_bytes(__FILE__, __LINE__, #got, got, want, len, " " __VA_ARGS__) ? \
		(void)0 : test_leave())

/* ---- what the words are made of --------------------------------------------------- */

#define TEST_TEXT	480

/* @fmt begins with a blank; if that is all, @code says what is wrong */
static inline __attribute__((format(printf, 2, 0)))
void test_text(char *text, const char *fmt, va_list args, const char *code)
{
	if (fmt[1])
		vsnprintf(text, TEST_TEXT, fmt + 1, args);
	else
		snprintf(text, TEST_TEXT, "%s", code);
}

static inline bool test_fails(const char *file, int line, const char *text)
{
	const char *base = strrchr(file, '/');

	test_failures++;
	test_report(base ? base + 1 : file, line, text);
	return false;
}

/* a value that need not be used */
static inline bool test_is(bool value)
{
	return value;
}

/* Return: false, as do the other two when they report */
static inline __attribute__((format(printf, 4, 5)))
bool test_false(const char *file, int line, const char *code, const char *fmt, ...)
{
	char text[TEST_TEXT];
	va_list args;

	va_start(args, fmt);
	test_text(text, fmt, args, code);
	va_end(args);
	return test_fails(file, line, text);
}

static inline __attribute__((format(printf, 6, 7)))
bool test_eq(const char *file, int line, const char *code, long long got, long long want,
	     const char *fmt, ...)
{
	char what[TEST_TEXT], text[TEST_TEXT + 120];
	va_list args;

	if (got == want)
		return true;
	va_start(args, fmt);
	test_text(what, fmt, args, code);
	va_end(args);
	snprintf(text, sizeof(text), "%s is %lld (%#llx), not %lld (%#llx)", what, got, got,
		 want, want);
	return test_fails(file, line, text);
}

static inline __attribute__((format(printf, 7, 8)))
bool test_bytes(const char *file, int line, const char *code, const void *got,
		const void *want, size_t len, const char *fmt, ...)
{
	const unsigned char *a = got, *b = want;
	char what[TEST_TEXT], text[TEST_TEXT + 120];
	va_list args;
	size_t i;

	for (i = 0; i < len && a[i] == b[i]; i++)
		;
	if (i == len)
		return true;
	va_start(args, fmt);
	test_text(what, fmt, args, code);
	va_end(args);
	snprintf(text, sizeof(text), "%s: byte %zu of %zu is %#04x, not %#04x", what, i, len,
		 a[i], b[i]);
	return test_fails(file, line, text);
}

static inline __attribute__((noreturn, format(printf, 1, 2)))
void skip(const char *fmt, ...)
{
	char why[TEST_TEXT];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	test_skip(why);
}

#endif /* TERN_TEST_H */
