/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* JSON on standard output. */
#ifndef TERN_TOOL_OUT_H
#define TERN_TOOL_OUT_H

#include <json-c/json.h>

struct options;

/* print @value and a newline, and release it */
void out_json(const struct options *opt, struct json_object *value);

/* NULL for NULL, which is JSON's null */
struct json_object *out_string(const char *s);

#endif /* TERN_TOOL_OUT_H */
