// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "out.h"

#include <stdio.h>

#include "tern.h"

void out_json(const struct options *opt, struct json_object *value)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE | JSON_C_TO_STRING_SPACED;

	if (opt->pretty)
		flags |= JSON_C_TO_STRING_PRETTY;
	puts(json_object_to_json_string_ext(value, flags));
	json_object_put(value);
}

struct json_object *out_string(const char *s)
{
	return s ? json_object_new_string(s) : NULL;
}
