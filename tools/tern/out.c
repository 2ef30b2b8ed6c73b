// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "out.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#include "tern.h"

void out_json(const struct options *opt, struct json_object *value)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE | JSON_C_TO_STRING_SPACED;

	if (opt->pretty)
		flags |= JSON_C_TO_STRING_PRETTY;
	puts(json_object_to_json_string_ext(value, flags));
	json_object_put(value);
}

void out_printable(char *text)
{
	for (; *text; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

struct json_object *out_string(const char *s)
{
	return s ? json_object_new_string(s) : NULL;
}

const char *out_time(uint64_t ago_ms, char *buf, size_t size)
{
	char date[32], zone[8];
	struct timeval tv, ago;
	struct tm tm;

	gettimeofday(&tv, NULL);
	ago = (struct timeval) { ago_ms / 1000, ago_ms % 1000 * 1000 };
	timersub(&tv, &ago, &tv);
	localtime_r(&tv.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(buf, size, "%s.%06ld%s", date, (long)tv.tv_usec, zone);
	return buf;
}
