/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What a target includes: the words of test.h. libFuzzer keeps the input that fails. */
#ifndef TERN_FUZZ_H
#define TERN_FUZZ_H

#include <stdlib.h>

#include "env.h"
#include "../test.h"

unsigned int test_failures;

void test_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, text);
	abort();
}

void test_leave(void)
{
	abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* TERN_FUZZ_H */
