/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What goes to standard output. */
#ifndef TERN_TOOL_OUT_H
#define TERN_TOOL_OUT_H

#include <json-c/json.h>

#include <stddef.h>
#include <stdint.h>

struct options;

/* print @value and a newline, and release it */
void out_json(const struct options *opt, struct json_object *value);

/*
 * Root of a container may choose names that a terminal obeys: each byte of @text that is not
 * printed becomes "?". For text, not for JSON, which escapes them.
 */
void out_printable(char *text);

/* NULL for NULL, which is JSON's null */
struct json_object *out_string(const char *s);

/**
 * out_time() - a moment in local time to the microsecond, with its distance from UTC
 * @ago_ms: how long ago it was
 * @buf: result
 * @size: its size
 *
 * Return: @buf.
 */
const char *out_time(uint64_t ago_ms, char *buf, size_t size);

#endif /* TERN_TOOL_OUT_H */
