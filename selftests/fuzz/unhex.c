// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* unhex DIR < lines: each line of hex becomes a file; '#' starts a comment. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t convert(char *line)
{
	size_t n = 0;
	int high = -1;

	for (char *p = line; *p && *p != '#'; p++) {
		int v;

		if (!isxdigit((unsigned char)*p))
			continue;
		v = isdigit((unsigned char)*p) ? *p - '0' :
						 (*p | 0x20) - 'a' + 10;
		if (high < 0) {
			high = v;
			continue;
		}
		line[n++] = (char)(high << 4 | v);
		high = -1;
	}
	return n;
}

int main(int argc, char **argv)
{
	static char line[70000], path[4096];
	int count = 0;

	if (argc != 2)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		size_t n = convert(line);
		FILE *f;

		if (!n)
			continue;
		snprintf(path, sizeof(path), "%s/seed%03d", argv[1], count++);
		f = fopen(path, "w");
		if (!f || fwrite(line, 1, n, f) != n || fclose(f))
			return 1;
	}
	return 0;
}
