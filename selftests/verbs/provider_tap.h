/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks, a table of tests and TAP for the provider's unit tests. */
#ifndef PROVIDER_TAP_H
#define PROVIDER_TAP_H

#include <stdio.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static unsigned int failures;

#define expect(cond) do { \
	if (!(cond)) { \
		failures++; \
		printf("# %s:%d: expected %s\n", __func__, __LINE__, #cond); \
	} \
} while (0)

struct tap_test {
	const char *name;
	void (*run)(void);
};

#define TEST(name) { #name, name }

static int tap_run(const struct tap_test *tests, unsigned int count)
{
	unsigned int bad = 0, i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* end a test that hangs after a lost wakeup */
	alarm(120);
	printf("TAP version 13\n1..%u\n", count);
	for (i = 0; i < count; i++) {
		failures = 0;
		tests[i].run();
		bad += !!failures;
		printf("%sok %u - provider %s\n", failures ? "not " : "", i + 1,
		       tests[i].name);
	}
	printf("# %u passed, %u failed\n", count - bad, bad);
	return bad ? 1 : 0;
}

#endif /* PROVIDER_TAP_H */
